"""An audit that is killed at any point and started again leaves the store of an undisturbed one.

`benchmarks/audit.py --kills 100` does the same at many more points.
"""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import runlens
from tests.auditing.trees import NIGHT, content, over, rewritten, state, tree

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
SHOWN = ("hang", "nan-loss", "healthy-grpo", "healthy-dpo", "killed-rank")
RUNS = 14


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a tree of small and of whole runs, one of them unreadable."""
    root = tree(tmp_path_factory.mktemp("killed") / "runs", RUNS - len(SHOWN))
    for name in SHOWN:
        shutil.copytree(FIXTURES / name, root / name)
    (root / "empty").mkdir()
    (root / "empty" / "trainer_state.json").touch()
    return root


@pytest.fixture(scope="module")
def undisturbed(source: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what an audit without accidents leaves."""
    store = source.parent / "undisturbed.db"
    runlens.audit(source, store=store, cache=source.parent / "cache", jobs=2, now=NIGHT)
    return content(store)


def _command(store: Path, source: Path, *at: int) -> list[str]:
    words = [store, source.parent / "cache", source, *at]
    return [sys.executable, "-m", "tests.auditing.killed", *map(str, words)]


@pytest.mark.parametrize("at", [0, 1, 7, RUNS, RUNS + 1])
def test_killed_after_so_many_stored_results(
    at: int, source: Path, undisturbed: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    """Nothing is lost, nothing is doubled, and the night is the same one."""
    store = tmp_path / "audit.db"
    killed = subprocess.run(_command(store, source, at), cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    again = runlens.audit(source, store=store, cache=source.parent / "cache", jobs=2, now=NIGHT)
    assert again.night.number == 1
    assert content(store) == undisturbed


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_a_drawn_moment(
    seed: int, source: Path, undisturbed: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    """Wherever that is: in the plan, in a transaction, while the night is closed."""
    store = tmp_path / "audit.db"
    with subprocess.Popen(_command(store, source), cwd=ROOT) as process:
        time.sleep(random.Random(seed).uniform(0.3, 2.5))
        process.kill()
    if not over(store):
        runlens.audit(source, store=store, cache=source.parent / "cache", jobs=2, now=NIGHT)
    assert content(store) == undisturbed


def test_killed_twice_with_a_run_that_went_on_meanwhile(tmp_path: Path) -> None:
    """The second night too goes on where it was, with what changed until then."""
    root, store, cache = tree(tmp_path / "runs", 6), tmp_path / "audit.db", tmp_path / "cache"
    other = tmp_path / "undisturbed.db"
    for place in (store, other):
        runlens.audit(root, store=place, cache=cache, jobs=2, now=NIGHT)
    rewritten(root / "run-01")
    state(root / "run-09", nan_from=5)
    for at in (0, 1):
        subprocess.run(_command(store, root, at), cwd=ROOT, check=False)
    ended = [
        runlens.audit(root, store=one, cache=cache, jobs=2, now=NIGHT) for one in (store, other)
    ]
    assert [one.night.number for one in ended] == [2, 2]
    assert content(store) == content(other)
