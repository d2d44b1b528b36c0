"""What a nightly audit costs, and whether one that is killed leaves the store of one that is not.

    python benchmarks/audit.py [speed growth idle same api faults] [--kills 100] [--runs 5000]

- `speed`: local runs a second on two processes, over ../shared/corpus, corpus_b and bench;
- `growth`: nights of up to --runs runs: time, memory, and the second night, unchanged;
- `idle`: CPU of a second night of 1,000 unchanged runs, in a process of its own;
- `same`: whether the places of a tree give the runs of the tree;
- `api`: 1,000 runs of 1,000 rows behind 100 ms, every 15th faulty: fetched alone, then audited;
- `faults`: the same project with every tenth request failing: no run may be lost;
- `--kills N`: N nights that are killed at drawn points and started again.

All but `kills` are done where none is named. Wall times mean little on a machine that is shared:
CPU is given beside them.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import psutil

import runlens
from runlens.auditing.engine import Progress
from runlens.auditing.pages import Pages
from runlens.auditing.plan import Chosen, planned
from runlens.cli.audit import run_page
from runlens.nights import Audit
from runlens.run import Run

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
FIXTURES = ROOT / "fixtures"
MEGABYTE = 2**20
LATENCY = 0.1  # seconds
SECTIONS = ("speed", "growth", "idle", "same", "api", "faults")


class Night:
    """One night, with what it took: seconds, CPU of all processes, and their largest memory."""

    def __init__(
        self,
        *sources: str | Path,
        store: Path,
        cache: Path | bool = False,
        pages: Path | None = None,
    ) -> None:
        """Audit, and watch."""
        made = Pages(str(pages), run_page) if pages else None
        self.workers: dict[int, float] = {}  # CPU seconds by process
        self.largest = self.own = self.all = 0  # bytes: of a worker, of this process, of all
        self._looked = 0.0
        self._before = {pid: cpu for pid, cpu, _ in _children()}
        began, cpu = time.perf_counter(), time.process_time()
        self.audit: Audit = runlens.audit(
            *sources, store=store, cache=cache, jobs=2, on_result=self._look, pages=made
        )
        self.seconds = time.perf_counter() - began
        self.at_end = psutil.Process().memory_info().rss
        self.cpu = time.process_time() - cpu + sum(self.workers.values())

    def _look(self, progress: Progress) -> None:
        if progress.done < progress.total and time.perf_counter() - self._looked < 1 / 4:
            return
        self._looked = time.perf_counter()
        total = psutil.Process().memory_info().rss
        self.own = max(self.own, total)
        for pid, cpu, memory in _children():
            total += memory
            self.workers[pid] = cpu - self._before.get(pid, 0.0)
            self.largest = max(self.largest, memory)
        self.all = max(self.all, total)

    def __str__(self) -> str:
        runs = self.audit.night.read
        each = f", {runs / self.seconds:.1f} a second" if runs else ""
        milli = f" ({1000 * self.cpu / runs:.0f} ms a run)" if runs else ""
        return (
            f"{len(self.audit.runs):,} runs in {self.seconds:.1f} s{each}; CPU {self.cpu:.1f} s"
            f"{milli}; memory while reading {megabytes(self.all)} (this process"
            f" {megabytes(self.own)}, largest worker {megabytes(self.largest)}), this process with"
            f" all rows {megabytes(self.at_end)}"
        )


def megabytes(amount: int) -> str:
    """Return an amount of memory in words."""
    return f"{amount / MEGABYTE:.0f} MB"


def _children() -> Iterator[tuple[int, float, int]]:
    """Yield (process, CPU seconds, bytes) of all that this process started."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            used = child.cpu_times()
            yield child.pid, used.user + used.system, child.memory_info().rss


def speed(folder: Path) -> None:
    """Print how fast real runs are read and judged."""
    for name in ("corpus", "corpus_b", "bench"):
        if (SHARED / name).is_dir():
            night = Night(SHARED / name, store=folder / f"{name}.db")
            ideal = 2 * night.audit.night.read / night.cpu
            print(f"{name}: {night}; two cores of one's own: {ideal:.0f} a second")


def copies(folder: Path, runs: int) -> Path:
    """Make a tree of `runs` runs of hard links to the fixtures."""
    made = [one.place for one in planned(str(FIXTURES), Chosen({}, "")).changed]
    small = folder / "fixtures"
    if not small.exists():
        for number, place in enumerate(sorted(made)):
            shutil.copytree(place, small / f"{number:03}")
    first = sorted(small.iterdir())
    root = folder / f"runs-{runs}"
    for number in range(runs):
        target = root / f"{number // 100:03}" / f"run-{number:05}"
        shutil.copytree(first[number % len(first)], target, copy_function=os.link)
    return root


def fresh(root: Path, store: Path) -> tuple[str, float]:
    """Return a night in a process of its own, in words, and its seconds of CPU."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_night, root, store).result()


def _night(root: Path, store: Path) -> tuple[str, float]:
    night = Night(root, store=store)
    return str(night), night.cpu


def growth(folder: Path, most: int) -> None:
    """Print nights of more and more runs, the first and the second of each."""
    for runs in sorted({most // 10, most // 5, most}):
        root, store = copies(folder, runs), folder / f"growth-{runs}.db"
        told, spent = zip(*(fresh(root, store) for _ in range(2)), strict=True)
        print(f"{runs:,} runs, first night: {told[0]}")
        print(
            f"{runs:,} runs, second night: {told[1]}; {spent[1] / spent[0]:.1%} of the first's CPU"
        )
        shutil.rmtree(root)


def idle(folder: Path) -> None:
    """Print the CPU of a whole command that finds 1,000 runs unchanged."""
    root, store = copies(folder, 1_000), folder / "idle.db"
    script = "import sys, runlens; runlens.audit(sys.argv[1], store=sys.argv[2], cache=False)"
    for night in ("first", "second"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", script, str(root), str(store)]
        subprocess.run(command, check=True, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if night == "second":
            print(f"1,000 unchanged runs: {spent:.2f} s of CPU")
    shutil.rmtree(root)


def same() -> None:
    """Print how the runs of the places of a tree differ from the runs of the tree."""
    for root in (FIXTURES, SHARED / "bench"):
        if root.is_dir():
            units = planned(str(root), Chosen({}, "")).changed
            split = Counter(
                _content(run)
                for unit in units
                for run in runlens.sources.read_all(unit.readable, only=unit.parts)
            )
            whole = Counter(_content(run) for run in runlens.read_all(root))
            more, less = sum((split - whole).values()), sum((whole - split).values())
            print(
                f"{root.name}: {len(units)} places, {split.total()} runs; read as one:"
                f" {whole.total()}; only in places {more}, only in the whole {less}"
            )


def _content(run: Run) -> tuple[object, ...]:
    curves = [(name, run.curve(name).value) for name in run.history.metrics]
    sums = [(name, len(v), float(np.nansum(v[np.isfinite(v)]))) for name, v in curves]
    return (*sorted(sums), run.state.kind, len(run.events))


@contextmanager
def serving(**how: float) -> Iterator[str]:
    """Serve a project from a process of its own, and point the client there."""
    options = [f"--{name}={value}" for name, value in how.items()]
    command = [sys.executable, "-m", "tests.wandb_server", *options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        url = server.stdout.readline().strip()
        os.environ |= {"WANDB_BASE_URL": url, "WANDB_API_KEY": "0" * 40}
        yield "wandb:team/bench"
        server.stdin.close()


def requests() -> int:
    """Return how many requests the server got so far, this one not among them."""
    with urlopen(f"{os.environ['WANDB_BASE_URL']}/requests") as answer:  # noqa: S310 - of ours
        known: dict[str, int] = json.load(answer)
    known.pop("/requests", None)
    return sum(known.values())


def api(folder: Path, runs: int) -> None:
    """Print how long runs take over the network: fetched alone, then audited with pages."""
    from runlens.sources.wandb_api import connected, fetch_all, listed

    with serving(runs=runs, rows=1000, latency=LATENCY, faulty=runs // 15) as source:
        began, cpu = time.perf_counter(), time.process_time()
        with connected():
            got = sum(
                isinstance(one.run, Run) for one in fetch_all(r.place for r in listed(source))
            )
        alone, asked = time.perf_counter() - began, requests()
        spent = time.process_time() - cpu
        print(f"{got:,} runs fetched alone: {alone:.1f} s, CPU {spent:.1f} s, {asked:,} requests")
        how = {"store": folder / "api.db", "cache": folder / "cache", "pages": folder / "site"}
        first = Night(source, **how)
        audited = requests() - asked
        print(f"audited: {first}; {first.seconds / alone:.2f} times fetching alone")
        print(f"{len(first.audit.pages)} pages; {audited:,} requests, {audited - asked:+,}")
        second = Night(source, **how)
        again = requests() - asked - audited
        print(f"second night: {second}; {second.seconds / first.seconds:.1%} of the first")
        print(f"{again:,} requests, {again / audited:.2%} of the first night's")


def faults(folder: Path, runs: int) -> None:
    """Print what is lost where every tenth request fails."""
    with serving(runs=runs, rows=1000, failing=0.1) as source:
        night = Night(source, store=folder / "faults.db", cache=folder / "cache-faults")
    print(f"10 % of requests failing: {night}; {len(night.audit.unread)} runs lost")


def kills(folder: Path, count: int) -> None:
    """Print at how many drawn points a kill -9 changed the store."""
    from tests.auditing.trees import NIGHT, content, over, state, tree

    root, cache = tree(folder / "killed", 12), folder / "cache-kills"
    for name in ("hang", "nan-loss", "healthy-grpo", "killed-rank", "crashed"):
        shutil.copytree(FIXTURES / name, root / name)
    state(root / "empty").joinpath("trainer_state.json").write_text("")
    how: dict[str, Any] = {"cache": cache, "jobs": 2, "now": NIGHT}
    runlens.audit(root, store=folder / "warm.db", **how)
    began = time.perf_counter()
    runlens.audit(root, store=folder / "undisturbed.db", **how)
    usual = 2 * (time.perf_counter() - began) + 1  # starting Python takes its time too
    wanted = content(folder / "undisturbed.db")
    drawn, wrong, after = random.Random(14), [], 0
    for number in range(count):
        store = folder / f"killed-{number}.db"
        at = drawn.randint(0, 18) if number % 2 else -1
        delay = drawn.uniform(0.2, usual)
        words = [store, cache, root, at]
        command = [sys.executable, "-m", "tests.auditing.killed", *map(str, words)]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
            if at < 0:
                try:
                    process.wait(delay)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
        after += over(store)
        if not over(store):
            runlens.audit(root, store=store, **how)
        if content(store) != wanted:
            wrong.append(f"at {at}" if at >= 0 else f"after {delay:.2f} s")
    print(
        f"{count} nights killed ({after} of them when all was done): {len(wrong)} stores differ"
        + "".join(f"\n  {one}" for one in wrong)
    )


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], metavar="SECTION")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--api", type=int, default=1_000, help="runs of the project")
    given = parser.parse_args()
    asked = given.sections or ([] if given.kills else SECTIONS)
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory(prefix="runlens-audit-") as name:
        folder = Path(name)
        if "speed" in asked:
            speed(folder)
        if "growth" in asked:
            growth(folder, given.runs)
        if "idle" in asked:
            idle(folder)
        if "same" in asked:
            same()
        if "api" in asked:
            api(folder, given.api)
        if "faults" in asked:
            faults(folder, given.api)
        if given.kills:
            kills(folder, given.kills)


if __name__ == "__main__":
    main()
