"""What a cache gives back is what was kept, or nothing."""

import json
import os
import subprocess
import sys
import textwrap
import time
import tracemalloc
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlens import diagnose, read_all
from runlens.auditing import cache as cache_module
from runlens.auditing import versions
from runlens.auditing.cache import Cache
from runlens.history import Columns, History, Observation
from runlens.run import Configured, Event, Problem, Run, Segment, State
from runlens.settings import Settings

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
NAMES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """Return an empty cache."""
    return Cache(tmp_path / "cache")


def same(one: Run, other: Run) -> bool:
    """Whether two runs are the same, to the last bit of the last number."""
    plain = [field.name for field in fields(Run) if field.name != "history"]
    columns: Any = zip(one.history.joined, other.history.joined, strict=True)
    return (
        all(repr(getattr(one, name)) == repr(getattr(other, name)) for name in plain)
        and list(one.history.lengths.items()) == list(other.history.lengths.items())
        and one.history.sources == other.history.sources
        and all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in columns)
    )


def made(name: str = "a", points: int = 50) -> Run:
    """Draw a run with something of everything."""
    rows = [
        Observation(metric, step, value / (step + 1), step / 10, 1.7e9 + step, step // 30, source)
        for metric, value, source in (("train_loss", 3.0, "log"), ("grad_norm", 0.1, "state"))
        for step in range(points)
    ]
    return Run(
        id=name,
        name=name,
        history=History.of(rows),
        config={"lr": Configured(1e-3, "config.yaml"), "x": Configured(float("nan"), "args")},
        state=State("crashed", "a traceback", "certain", 1, 50, 100, 5.0, 10.0, 1.7e9),
        events=(Event("exit", 49, 1.7e9, "Killed", "log:3", {"code": 137, "last": True}),),
        problems=(Problem("log", "cut", "1 line"),),
        sources=("log", "state"),
        framework="trl",
        task="sft",
        task_why="SFTTrainer",
        segments=(Segment(0, 0, 29, 1.7e9), Segment(1, 30, 49)),
        log_tail=("last\x00line \udcff",),
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_is_judged_alike_from_the_cache(cache: Cache, name: str) -> None:
    """Every word and number of the full diagnosis."""
    runs = read_all(FIXTURES / name)
    assert cache.save(name, runs)
    loaded = cache.load(name)
    assert loaded is not None
    assert all(same(one, other) for one, other in zip(runs, loaded, strict=True))
    for one, other in zip(runs, loaded, strict=True):
        judged = [json.dumps(diagnose(run).to_dict(full=True)) for run in (one, other)]
        assert judged[0] == judged[1]


FLOATS = st.floats(width=64) | st.floats(width=32) | st.just(float("nan"))
LOGGED = st.lists(
    st.builds(
        Observation,
        st.sampled_from(["train_loss", "eval_loss", "grad_norm"]),
        st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9),
        FLOATS,
        FLOATS,
        FLOATS,
        st.integers(0, 300),
        st.sampled_from(["a", "b"]),
    ),
    max_size=30,
)
SETTINGS = st.one_of(st.text(), st.integers(), FLOATS, st.booleans(), st.none())


@settings(deadline=None, max_examples=60)
@given(st.lists(LOGGED, max_size=3), st.dictionaries(st.text(), SETTINGS, max_size=4))
def test_any_runs_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory,
    logged: list[list[Observation]],
    config: dict[str, Any],
) -> None:
    """None, one or several; empty histories; any number and any setting."""
    known = {key: Configured(value, key) for key, value in config.items()}
    runs = [replace(made(), history=History.of(rows), config=known) for rows in logged]
    cache = Cache(tmp_path_factory.mktemp("cache"))
    assert cache.save("key", runs)
    loaded = cache.load("key")
    assert loaded is not None
    assert len(loaded) == len(runs)
    assert all(same(one, other) for one, other in zip(runs, loaded, strict=True))


def test_the_bits_of_a_nan_are_kept(cache: Cache) -> None:
    """Which NaN it is, is nobody's business but the writer's."""
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    steps, zeros = np.arange(2), np.zeros(2, dtype=np.int16)
    run = replace(made(), history=History({"x": Columns(steps, odd, odd, odd, zeros, zeros)}))
    cache.save("key", [run])
    assert same(run, (cache.load("key") or [])[0])


def test_an_unknown_key_is_nothing(cache: Cache) -> None:
    """And a key is exact."""
    cache.save("a", [made()])
    assert cache.load("b") is None
    assert cache.load("a ") is None


def entry(cache: Cache) -> Path:
    """Return the one file of a cache."""
    (path,) = cache.folder.glob("*/*.npz")
    return path


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_damaged_entry_is_nothing_and_goes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A byte that changed, a file that was cut: never other numbers, never an error."""
    cache = Cache(tmp_path_factory.mktemp("cache"))
    run = made(points=8)
    cache.save("key", [run])
    whole = bytearray(entry(cache).read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        del whole[at:]
    else:
        whole[at] ^= data.draw(st.integers(1, 255))
    entry(cache).write_bytes(whole)
    loaded = cache.load("key")
    if loaded is None:
        assert list(cache.folder.glob("*/*.npz")) == []
    else:
        assert same(loaded[0], run)
    assert cache.save("key", [run])
    assert same((cache.load("key") or [])[0], run)


def test_no_entry_is_unpickled(cache: Cache, tmp_path: Path) -> None:
    """Who can write into the folder cannot run code by it."""
    import zipfile

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    cache.save("key", [made()])
    path = entry(cache)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            if name != "value.npy":
                archive.writestr(name, content)
        with archive.open("value.npy", "w") as file:
            np.lib.format.write_array(file, np.array([Evil()], dtype=object), allow_pickle=True)
    assert cache.load("key") is None
    assert not (tmp_path / "ran").exists()


def test_what_was_used_last_stays_when_space_runs_out(cache: Cache) -> None:
    """Loading is using."""
    for number in range(6):
        cache.save(f"{number}", [made()])
        os.utime(newest(cache), (number, number))
    cache.load("0")
    cache.most_age = float("inf")
    cache.most_bytes = 3 * newest(cache).stat().st_size + 100
    cache.trim()
    kept = [number for number in range(6) if cache.load(f"{number}")]
    assert kept == [0, 4, 5]


def newest(cache: Cache) -> Path:
    """Return the entry that was written last."""
    return max(cache.folder.glob("*/*.npz"), key=lambda path: path.stat().st_mtime_ns)


def test_the_bounds_are_kept_while_entries_are_written(tmp_path: Path) -> None:
    """Nobody has to ask for it."""
    cache = Cache(tmp_path / "cache", most_bytes=100_000)
    for number in range(60):
        cache.save(f"{number}", [made(points=200 + number)])
    kept = sum(path.stat().st_size for path in cache.folder.glob("*/*"))
    assert 50_000 < kept < 110_000


def test_what_was_not_used_for_long_goes(tmp_path: Path) -> None:
    """And so does what a killed process left half written."""
    cache = Cache(tmp_path / "cache", most_age=86_400.0)
    cache.save("old", [made()])
    left = entry(cache).with_suffix(".0.new")
    fresh = entry(cache).with_suffix(".1.new")
    left.write_bytes(b"half")
    fresh.write_bytes(b"being written")
    os.utime(entry(cache), (1, time.time() - 90_000))
    os.utime(left, (1, time.time() - 7_200))
    cache.trim()
    assert cache.load("old") is None
    assert list(cache.folder.glob("*/*")) == [fresh]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """The audit goes on, without a cache."""
    (tmp_path / "file").write_text("no folder")
    cache = Cache(tmp_path / "file" / "cache")
    assert cache.save("key", [made()]) is False
    assert cache.load("key") is None
    cache.trim()


def test_a_failed_write_leaves_nothing(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle of an entry."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache_module, "_plain", full)
    assert cache.save("key", [made()]) is False
    assert list(cache.folder.glob("*/*")) == []


CROWD = """
    import sys
    sys.path.insert(0, {root!r})
    from pathlib import Path
    from runlens.auditing.cache import Cache
    from tests.auditing.test_cache import made, same
    cache = Cache(Path({folder!r}), most_bytes=60_000)
    runs = [made(str(number), points=100 + number) for number in range(12)]
    for turn in range(8):
        for number, run in enumerate(runs):
            loaded = cache.load(str(number))
            assert loaded is None or same(loaded[0], run)
            assert cache.save(str(number), [run])
"""


def test_processes_share_a_cache(tmp_path: Path) -> None:
    """One writes what the other reads and a third one throws out."""
    code = textwrap.dedent(CROWD.format(root=str(ROOT), folder=str(tmp_path / "cache")))
    crowd = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [one.wait(120) for one in crowd] == [0, 0, 0]


def test_limits_change_the_judgement_and_columns_the_reading() -> None:
    """A changed limit reads nothing anew; a changed column does."""
    plain = Settings()
    limits = Settings(limits={"hockey-stick": {"rise": 0.2}})
    columns = Settings(columns={"train_loss": "mine"})
    assert versions.judging(plain) == versions.judging(Settings())
    assert versions.reading(plain) == versions.reading(limits)
    assert versions.judging(plain) != versions.judging(limits)
    assert versions.reading(plain) != versions.reading(columns)
    assert versions.judging(plain) != versions.judging(columns)


def test_saving_a_run_of_many_metrics_makes_few_copies(tmp_path: Path) -> None:
    """All columns of 200 metrics joined were as much again as the run itself; they stay apart."""
    step = np.arange(5_000)
    drawn = np.random.default_rng(1)
    nothing = np.zeros(len(step), np.int16)
    metrics = {
        f"m{at}": Columns(
            step,
            drawn.random(len(step)),
            drawn.random(len(step)),
            drawn.random(len(step)),
            nothing,
            nothing,
        )
        for at in range(200)
    }
    run = Run("wide", "wide", History(metrics, ["a"]))
    tracemalloc.start()
    assert Cache(tmp_path).save("wide", [run])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 8 * 200 * len(step)
