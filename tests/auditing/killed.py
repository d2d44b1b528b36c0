"""One night in a process of its own, which ends by kill -9 at a given point.

    python -m tests.auditing.killed STORE CACHE SOURCE [AT]

AT is the number of stored results after which it kills itself; without it the night is whole.
"""

import os
import signal
import sys

import runlens
from runlens.auditing.engine import Progress
from tests.auditing.trees import NIGHT


def night(store: str, cache: str, source: str, at: int = -1) -> None:
    """Run it."""

    def told(progress: Progress) -> None:
        if progress.done == at:
            os.kill(os.getpid(), signal.SIGKILL)

    runlens.audit(source, store=store, cache=cache, jobs=2, now=NIGHT, on_result=told)


if __name__ == "__main__":
    place, folder, tree, *point = sys.argv[1:]
    night(place, folder, tree, *map(int, point))
