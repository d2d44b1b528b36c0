"""Judges many units at once, in processes; what kills a worker is found out and set aside.

Runs on a server are fetched by threads of this process, since they wait for the network, and
judged by the processes. Neither queue grows: a unit is taken when there is room for it.
"""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from multiprocessing import connection, get_all_start_methods, get_context, parent_process
from types import TracebackType
from typing import Any, Self

from runlens.auditing.plan import Unit
from runlens.auditing.work import Job, Judged, fetch, judge
from runlens.errors import CannotStart, RunLensError
from runlens.nights import Unread

THREADS = 8  # runs fetched at once
AHEAD = 3  # units a worker that are under way or wait for it
KILLS = 2  # workers that a unit may kill by itself
MOST_MEMORY = 1_500_000_000  # bytes of a worker, after which all are replaced
PATIENCE = 1_800.0  # seconds without any result, after which the workers are taken for hung
SILENT = 2 * THREADS  # runs on end of which a server says nothing, after which it is not asked
NOT_ASKED = "was not asked for: the server had stopped to answer"
LOOK = 5.0  # seconds between looks at the clock
KILLED = "killed the process that read it, twice"
WHAT_TO_DO = "give it more memory with --jobs 1, or report it; it is tried again when it changes"

METHOD = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"

Judge = Callable[[Unit, Job], Judged]


def results(
    units: Iterable[Unit],
    job: Job,
    jobs: int | None = None,
    *,
    judge: Judge = judge,
    fetching: bool = True,
) -> Iterator[Judged]:
    """Judge units, in the order in which they come to their end.

    Args:
        units: taken as there is room for them.
        job: how they are judged.
        jobs: processes; as many as there are cores where it is not given.
        judge: what the workers do, a function of a module.
        fetching: whether units on a server are fetched; else the cache has them, or nobody.

    Raises:
        CannotStart: where no worker process can be started.

    """
    with _Workers(jobs or os.cpu_count() or 1, judge) as workers, _Fetching(job) as threads:
        rest = iter(units)
        while True:
            while workers.room and threads.room and (unit := next(rest, None)):
                threads.add(unit) if unit.remote and fetching else workers.add(unit, job)
            if not (workers.flight or threads.flight or workers.broken):
                return
            under_way: list[Future[Any]] = [*workers.flight, *threads.flight]
            wait(under_way, LOOK, FIRST_COMPLETED)
            for fetched in threads.done():
                if isinstance(fetched, Judged):
                    yield fetched
                else:
                    workers.add(fetched, job)
            yield from workers.done()
            yield from _one_by_one(workers, job)


def _one_by_one(workers: "_Workers", job: Job) -> Iterator[Judged]:
    """Judge what was under way when a worker died; alone, so that the guilty one is known."""
    for unit in workers.suspects():
        yield alone(unit, workers, job)


def alone(unit: Unit, workers: "_Workers", job: Job) -> Judged:
    """Judge one unit while no other is judged; set it aside where it kills workers."""
    for _ in range(KILLS):
        workers.add(unit, job)
        while workers.flight:
            wait(workers.flight, LOOK, FIRST_COMPLETED)
            for judged in workers.done():
                return judged
        workers.suspects()
    return Judged(unit, unread=Unread(unit.place, KILLED, WHAT_TO_DO), aside=True)


class _Fetching:
    """Threads that bring runs from a server into the cache."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._stack = ExitStack()
        self._threads: ThreadPoolExecutor | None = None
        self.flight: set[Future[Unit | Judged]] = set()
        self._silent = 0  # runs on end of which the server said nothing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._threads:
            self._threads.shutdown(wait=kind is None, cancel_futures=True)
        self._stack.close()

    @property
    def room(self) -> bool:
        """Whether a unit may be added."""
        return len(self.flight) < 2 * THREADS

    def add(self, unit: Unit) -> None:
        """Fetch a unit as soon as a thread is free."""
        if self._threads is None:
            from runlens.sources.wandb_api import connected

            with suppress(RunLensError):  # each fetch tells of it
                self._stack.enter_context(connected())  # one connection for all
            self._threads = ThreadPoolExecutor(THREADS)
        self.flight.add(self._threads.submit(self._fetch, unit))

    def _fetch(self, unit: Unit) -> Unit | Judged:
        if self._silent >= SILENT:
            return Judged(unit, unread=Unread(unit.place, NOT_ASKED, "it is tried next time"))
        return fetch(unit, self._job)

    def done(self) -> Iterator[Unit | Judged]:
        """Hand out what is fetched, and why it is not."""
        for future in [one for one in self.flight if one.done()]:
            self.flight.remove(future)
            found = future.result()
            lost = isinstance(found, Judged) and found.silent
            self._silent = self._silent + 1 if lost else 0 if self._silent < SILENT else SILENT
            yield found


class _Workers:
    """Processes that judge, replaced when one of them died, hangs, or has grown too large."""

    def __init__(self, jobs: int, judge: Judge) -> None:
        self._jobs = jobs
        self._judge = judge
        self._pool: ProcessPoolExecutor | None = None
        self.broken: list[Unit] = []
        self._large = False
        self._heard = time.monotonic()
        self.flight: dict[Future[Judged], Unit] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop(kill=kind is not None)

    @property
    def room(self) -> bool:
        """Whether a unit may be added: not while the workers are to be replaced."""
        if self._large and not self.flight:
            self._stop()
        return not self._large and len(self.flight) < AHEAD * self._jobs

    def add(self, unit: Unit, job: Job) -> None:
        """Hand a unit to the workers."""
        if not self.flight:
            self._heard = time.monotonic()
        try:
            self.flight[self._started().submit(self._judge, unit, job)] = unit
        except BrokenProcessPool:
            self.broken.append(unit)

    def done(self) -> Iterator[Judged]:
        """Hand out what is judged."""
        for future in [one for one in self.flight if one.done()]:
            unit = self.flight.pop(future)
            self._heard = time.monotonic()
            try:
                judged = future.result()
            except BrokenProcessPool:
                self.broken.append(unit)
                continue
            self._large |= judged.memory > MOST_MEMORY
            yield judged
        if self.flight and time.monotonic() - self._heard > PATIENCE:
            self._kill()  # their futures break

    def suspects(self) -> list[Unit]:
        """Return the units one of which killed a worker, and begin with new workers."""
        if not self.broken:
            return []
        units = [*self.broken, *self.flight.values()]
        self.broken, self.flight = [], {}
        self._stop()
        return units

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = _pool(self._jobs)
        return self._pool

    def _stop(self, *, kill: bool = False) -> None:
        if self._pool:
            if kill:
                self._kill()
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool, self._large = None, False

    def _kill(self) -> None:
        processes = getattr(self._pool, "_processes", None) or {}
        for process in list(processes.values()):
            process.kill()


def prepare() -> None:
    """Begin to import what workers need, where there will be some: it goes on meanwhile."""
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker  # not on Windows

        get_context(METHOD).set_forkserver_preload([f"{__package__}.needed"])  # once for all
        with suppress(OSError):  # it is tried again, and told of, when the workers start
            resource_tracker.ensure_running()  # it unblocks Ctrl-C when it starts
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:  # Ctrl-C is ours, while it imports too: the server of workers inherits the block
                forkserver.ensure_running()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Start workers that share nothing with this process, and see that they live."""
    prepare()
    context = get_context(METHOD)
    for _ in range(KILLS):
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
        try:
            pool.submit(os.getpid).result()
        except BrokenProcessPool:
            pool.shutdown(wait=True, cancel_futures=True)
            continue
        return pool
    raise CannotStart(
        "no worker process can be started; in a script of your own, call runlens.audit below"
        ' if __name__ == "__main__", and see that there is memory'
    )


def _begin() -> None:
    """Prepare a worker: Ctrl-C is the parent's; where the parent is gone, so is the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
