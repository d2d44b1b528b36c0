"""Places as they are found: files that vanish, crowds of logs, nothing that may be written."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.run import Problem
from runlens.sources import READERS, find
from runlens.sources.merging import candidates
from runlens.sources.reading import StoreReader
from tests.cli.places import FIXTURES, digest
from tests.sources.writers import console, events, log_rows, losses, state, tracked

GOOD = losses(1)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@pytest.mark.parametrize("name", ["gone", "gone.wandb", "gone.db"])
def test_a_file_that_vanished_is_a_problem(reader: object, name: str, tmp_path: Path) -> None:
    """Between finding and reading it, a checkpoint may be rotated away."""
    path = tmp_path / name
    problems: list[Problem] = []
    if isinstance(reader, StoreReader):
        problems = [p for one in reader.read_all(path) for p in one.problems]
    else:
        (known,) = [one for one in READERS if one is reader and not isinstance(one, StoreReader)]
        problems = known.read(path).problems
    assert problems
    assert all(problem.where and problem.text for problem in problems)


def test_what_vanishes_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is read from what is left; the loss is told."""
    state(tmp_path, log_rows(GOOD))
    rotated = state(tmp_path / "checkpoint-100", log_rows(GOOD[:10]))
    names = find(tmp_path)
    rotated.unlink()
    monkeypatch.setattr("runlens.sources._looked", lambda *_: (names, []))
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == GOOD.tolist()
    (problem,) = run.problems
    assert problem.where == "checkpoint-100/trainer_state.json"
    assert problem.lost == "the whole file"


def test_logs_that_are_too_much_alike_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not every pair can be compared, the overview says so."""
    monkeypatch.setattr(candidates, "ALL", 4)
    for number in range(6):
        events(tmp_path / "logs", GOOD, launch=number)
    runs = read_all(tmp_path)
    assert len(runs) == 6
    told = [problem.text for run in runs for problem in run.problems]
    assert told == ["holds 6 logs that are like more than 4 others; not all were compared"]


def test_many_runs_are_grouped_as_few_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many logs only likely pairs are compared; what comes of it is the same."""
    for number in range(6):
        place, values = tmp_path / f"{number}", losses(number)
        state(place / "outputs", log_rows(values))
        events(place / "outputs/runs/a", values[:25], launch=2 * number)
        events(place / "outputs/runs/b", values[20:], first=21, launch=2 * number + 1)
        tracked(tmp_path / "wandb", values, f"id{number}", launch=number)
        console(place / "train.log", values)
    few = [(run.name, run.sources, run.segments) for run in read_all(tmp_path)]
    monkeypatch.setattr(candidates, "ALL", 4)
    many = [(run.name, run.sources, run.segments) for run in read_all(tmp_path)]
    assert many == few
    assert [len(sources) for _, sources, _ in few] == [5] * 6


@pytest.mark.parametrize("name", ["healthy-resume", "killed", "crashed", "healthy-grpo"])
def test_reading_leaves_a_run_as_it_was(name: str) -> None:
    """Contents and times of all files and folders."""
    place = FIXTURES / name
    before = digest(place)
    read(place)
    assert digest(place) == before


def test_a_deep_tree_is_walked_to_its_end(tmp_path: Path) -> None:
    """As deep as a path may be."""
    folder = tmp_path
    for _ in range(300):
        folder /= "deeper"
    state(folder, log_rows(GOOD))
    assert len(read(tmp_path).curve("train_loss")) == len(GOOD)


def test_a_folder_that_cannot_be_listed_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies beside it is read; alone, it is one clear line."""
    state(tmp_path / "open", log_rows(GOOD))
    state(tmp_path / "closed", log_rows(losses(2)))
    import os

    listed = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert len(read_all(tmp_path)) == 1
    with pytest.raises(NothingReadable):
        read_all(tmp_path / "closed")
