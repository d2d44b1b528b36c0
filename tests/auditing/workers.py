"""What workers do in tests: they judge, and some of them die of it."""

import os
import signal
import time
from pathlib import Path

from runlens.auditing import work
from runlens.auditing.plan import Unit
from runlens.auditing.work import Job, Judged


def deadly(unit: Unit, job: Job) -> Judged:
    """Die of a run that is called deadly; judge the others."""
    if "deadly" in unit.place:
        os.kill(os.getpid(), signal.SIGKILL)
    return work.judge(unit, job)


def unlucky(unit: Unit, job: Job) -> Judged:
    """Die of a run once, as under an operating system that is short of memory."""
    once = Path(unit.source).parent / "died"
    if "unlucky" in unit.place and not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work.judge(unit, job)


def heavy(unit: Unit, job: Job) -> Judged:
    """Judge, and say that the process has become too large; tell which one it was."""
    judged = work.judge(unit, job)
    with (Path(unit.source).parent / "processes").open("a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    return judged._replace(memory=10**12)


def asleep(unit: Unit, job: Job) -> Judged:
    """Never come to an end."""
    time.sleep(600)
    return work.judge(unit, job)
