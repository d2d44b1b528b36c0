"""Many units at once: all results come, whatever becomes of a worker."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from runlens.auditing import schedule, work
from runlens.auditing.plan import Chosen, Unit, planned
from runlens.auditing.work import Job, Judged, judge
from runlens.errors import CannotStart
from runlens.sources import read_all
from tests.auditing import workers
from tests.auditing.trees import state, tree

ROOT = Path(__file__).parents[2]


def _units(root: Path) -> list[Unit]:
    return planned(str(root), Chosen({}, "")).changed


def _rows(results: Iterator[Judged]) -> dict[str, object]:
    return {judged.unit.place: judged.rows for judged in results}


def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    """Every unit once, each as it is judged alone."""
    units = _units(tree(tmp_path / "t", 7))
    found = list(schedule.results(units, Job(), 2))
    assert len(found) == 7
    assert _rows(iter(found)) == {unit.place: judge(unit, Job()).rows for unit in units}


def test_a_run_that_kills_its_worker_is_set_aside_and_the_others_go_on(tmp_path: Path) -> None:
    """It is known by being judged alone; who was beside it is not blamed."""
    root = tree(tmp_path / "t", 8)
    for name in ("deadly-1", "deadly-2"):
        state(root / name)
    found = list(schedule.results(_units(root), Job(), 2, judge=workers.deadly))
    aside = {Path(one.unit.place).name for one in found if one.aside}
    assert aside == {"deadly-1", "deadly-2"}
    assert all("killed the process" in one.unread.why for one in found if one.unread)
    assert sum(len(one.rows) for one in found) == 8


def test_a_worker_that_dies_once_costs_nothing(tmp_path: Path) -> None:
    """The system may have been short of memory."""
    root = tree(tmp_path / "t", 5)
    state(root / "unlucky")
    found = list(schedule.results(_units(root), Job(), 2, judge=workers.unlucky))
    assert sum(len(one.rows) for one in found) == 6
    assert not any(one.unread for one in found)


def test_workers_that_grew_are_replaced(tmp_path: Path) -> None:
    """When what they have under way is done."""
    units = _units(tree(tmp_path / "t", 12))
    assert len(list(schedule.results(units, Job(), 1, judge=workers.heavy))) == 12
    processes = (tmp_path / "processes").read_text(encoding="ascii").split()
    assert len(processes) == 12
    assert len(set(processes)) > 2


def test_units_are_taken_as_there_is_room(tmp_path: Path) -> None:
    """Memory must not grow with the number of runs."""
    units = _units(tree(tmp_path / "t", 30))
    taken, most, given = 0, 0, 0

    def counted() -> Iterator[Unit]:
        nonlocal taken
        for unit in units:
            taken += 1
            yield unit

    for given, _ in enumerate(schedule.results(counted(), Job(), 1), 1):
        most = max(most, taken - given)
    assert given == 30
    assert most <= 2 * schedule.AHEAD


def test_runs_on_a_server_are_fetched_by_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight wait for the network at once, the processes judge; a lost one stops no other."""
    state(tmp_path / "run")
    names: set[str] = set()
    together = threading.Barrier(schedule.THREADS, timeout=20)

    def fetched(place: str, **_kept: object) -> tuple[object, bool]:
        together.wait()
        names.add(threading.current_thread().name)
        if place.endswith("/3"):
            raise OSError("dropped")
        return read_all(tmp_path / "run")[0], not place.endswith("/5")

    monkeypatch.setattr("runlens.sources.wandb_api.fetched", fetched)
    monkeypatch.setattr("runlens.sources.wandb_api.connected", threading.Lock)
    units = [Unit("wandb:a/b", f"wandb:a/b/{n}", "1") for n in range(16)]
    found = list(schedule.results(units, Job(cache=str(tmp_path / "cache")), 2))
    assert len(names) == schedule.THREADS
    assert [one.unit.place for one in found if one.unread] == ["wandb:a/b/3"]
    assert [one.unit.place for one in found if one.unit.part] == ["wandb:a/b/5"]
    assert {row.key for one in found for row in one.rows} == {
        unit.place for unit in units if not unit.place.endswith("/3")
    }


def test_no_worker_survives_its_parent(tmp_path: Path) -> None:
    """Also not when that gets kill -9, as a machine short of memory does."""
    tree(tmp_path / "t", 40)
    script = (
        "import sys, itertools, psutil\n"
        "from runlens.auditing import schedule\n"
        "from runlens.auditing.plan import Chosen, planned\n"
        "from runlens.auditing.work import Job\n"
        "if __name__ == '__main__':\n"
        "    units = planned(sys.argv[1], Chosen({}, '')).changed\n"
        "    for _ in schedule.results(itertools.cycle(units), Job(), 2):\n"
        "        pids = [child.pid for child in psutil.Process().children(recursive=True)]\n"
        "        print(*pids, flush=True)\n"
    )
    path = tmp_path / "endless.py"
    path.write_text(script, encoding="utf-8")
    command = [sys.executable, str(path), str(tmp_path / "t")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        os.kill(process.pid, signal.SIGKILL)
    assert len(pids) >= 2
    for _ in range(100):
        alive = [pid for pid in pids if _runs(pid)]
        if not alive:
            break
        time.sleep(0.1)
    assert not alive


def _runs(pid: int) -> bool:
    """Whether a process still runs; it may end between two questions."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.skipif(schedule.METHOD != "forkserver", reason="the server of workers is POSIX's")
def test_an_interrupt_while_workers_are_made_ready_is_no_traceback() -> None:
    """A terminal sends Ctrl-C to all processes; once, that of the server of workers told of it."""
    script = (
        "import os, signal, time\n"
        "from runlens.auditing import schedule\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "schedule.prepare()\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "for _ in range(40):\n"
        "    os.killpg(0, signal.SIGINT)\n"
        "    time.sleep(0.02)\n"
        "if __name__ == '__main__':\n"
        "    with schedule._pool(1) as pool:\n"
        "        print(pool.submit(max, 1, 2).result())\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, start_new_session=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_a_broken_start_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a script that starts an audit while it is imported."""
    monkeypatch.setattr(schedule, "_begin", os.abort)
    with pytest.raises(CannotStart, match="no worker process can be started"):
        list(schedule.results(_units(tree(tmp_path, 1)), Job(), 1))


def test_what_hangs_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that gives nothing for long is killed, and the run with it."""
    monkeypatch.setattr(schedule, "PATIENCE", 0.5)
    monkeypatch.setattr(schedule, "LOOK", 0.1)
    units = _units(tree(tmp_path / "t", 1))
    (judged,) = schedule.results(units, Job(), 1, judge=workers.asleep)
    assert judged.aside
    assert work.judge(units[0], Job()).rows
