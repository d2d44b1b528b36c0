"""Examines very many mutants in several processes: ``make fuzz N=100000 SEED=1``.

    python -m tests.fuzz.long_run 100000 [SEED [PROCESSES [strangers]]]

With `strangers` whole runs are examined in which every text is hostile, all of them in all forms.

Prints how far it is, failures as they come, then a summary; exit code 1 where a mutant failed. A
failure names the mutant by number and seed, from which it can be made again.
"""

import faulthandler
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial

from tests.fuzz.mutants import Outcome, run

PART = 250  # mutants that a process takes at a time
PART_LIMIT = 900.0  # seconds; a part takes two, on a loaded machine some twenty
TOLD = 60  # failures printed
MOST_MEMORY = 4 * 2**30  # bytes a process may ask for before it is refused more
REPORTED = 10.0  # seconds between two lines of progress


def examined(numbers: range, seed: int, *, strangers: bool = False) -> Outcome:
    """Examine some mutants; a hang in compiled code, which no signal stops, ends the process."""
    faulthandler.dump_traceback_later(PART_LIMIT, exit=True)
    try:
        return run(numbers, seed, strangers=strangers)
    finally:
        faulthandler.cancel_dump_traceback_later()


def limit_memory() -> None:
    """Let a process that wants too much memory fail, and not the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def examine_all(
    count: int, seed: int, processes: int | None = None, *, strangers: bool = False
) -> Outcome:
    """Examine as many mutants as asked for, on all cores or on fewer."""
    parts = [range(first, min(first + PART, count)) for first in range(0, count, PART)]
    outcome, began, told = Outcome(), time.monotonic(), time.monotonic()
    with ProcessPoolExecutor(processes, initializer=limit_memory) as pool:
        waiting = {
            pool.submit(partial(examined, part, seed, strangers=strangers)): part for part in parts
        }
        for done in as_completed(waiting):
            part = waiting[done]
            before = len(outcome.failures)
            try:
                outcome.add(done.result())
            except BrokenProcessPool:
                outcome.failures.append(f"a process died at mutants {part.start} to {part.stop}")
            for failure in outcome.failures[before:TOLD]:
                print(failure, flush=True)
            if time.monotonic() - told > REPORTED:
                told = time.monotonic()
                rate = outcome.mutants / (told - began)
                failed = len(outcome.failures)
                print(f"{outcome.mutants:,} mutants, {rate:.0f}/s, {failed} failed", flush=True)
    return outcome


def main() -> None:
    """Examine and report."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    strangers = "strangers" in sys.argv
    processes = int(sys.argv[3]) if len(sys.argv) > 3 else None
    began = time.monotonic()
    outcome = examine_all(count, seed, processes, strangers=strangers)
    took = time.monotonic() - began
    counts = ", ".join(f"{kind} {number:,}" for kind, number in sorted(outcome.kinds.items()))
    print(f"{outcome.mutants:,} mutants in {took:.0f} s ({count / took:.0f}/s): {counts}")
    print(
        f"{outcome.readable:,} held a run, {outcome.diagnosed:,} were diagnosed, "
        f"{outcome.rendered:,} rendered, {len(outcome.failures):,} failed; "
        f"slowest {outcome.slowest:.2f} CPU s, at most {outcome.memory:.0f} MiB"
    )
    sys.exit(bool(outcome.failures))


if __name__ == "__main__":
    main()
