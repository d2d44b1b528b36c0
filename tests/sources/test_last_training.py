"""The last training of a log has hardly begun: the one before it is judged, and a line says so."""

import json
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.comparing import places
from runlens.errors import SeveralRuns
from runlens.settings import Settings
from runlens.sources import judged_by_default
from tests.cli.places import lens

ERROR = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"


def a_log(tmp_path: Path, *epochs: int, end: str = "") -> Path:
    """Write a log of trainings, each with so many epochs."""
    log = tmp_path / "train.log"
    rows = [f"Epoch {i} loss: {3 - i / 20:.4f}\n" for many in epochs for i in range(1, many + 1)]
    log.write_text("".join(rows) + end)
    return log


def test_the_training_before_a_last_one_that_is_too_short_is_judged(tmp_path: Path) -> None:
    """In text and JSON, each with a line; both are there to be asked for."""
    log = a_log(tmp_path, 30, 2)
    assert [run.name for run in read_all(log)] == ["train.log (1 of 2)", "train.log (2 of 2)"]
    document = json.loads(lens("diagnose", log, "--format", "json").stdout)
    assert document["run"]["name"] == "train.log (1 of 2)"
    said = "ends in a training too short to judge: train.log (2 of 2) with 2 rows"
    assert any(one["text"].startswith(said) for one in document["problems"])
    text = " ".join(lens("diagnose", log, "--no-html").stdout.split())
    assert "train.log (1 of 2)" in text
    assert said in text
    named = lens("diagnose", log, "--no-html", "--run", "train.log (2 of 2)").stdout
    assert "train.log (2 of 2)" in named
    every = lens("diagnose", log, "--no-html", "--all").stdout
    assert "train.log (1 of 2)" in every
    assert "train.log (2 of 2)" in every
    assert read(log).last_step == 30


def test_an_overview_tells_of_the_last_that_is_too_short(tmp_path: Path) -> None:
    """Of those that remain the last is compared; where one run is asked for, these are several."""
    log = a_log(tmp_path, 30, 20, 3, 1)
    text = " ".join(lens("diagnose", log, "--no-html").stdout.split())
    assert "2 runs:" in text
    said = "trainings too short to judge: train.log (3 of 4) with 3 rows and train.log (4 of 4)"
    assert said in text
    with pytest.raises(SeveralRuns, match="2 runs lie here"):
        read(log)
    assert places.chosen(str(log), Settings(), last=True).name == "train.log (2 of 4)"
    assert lens("similar", log).exit_code == 2


def test_commands_for_one_run_take_it_as_well(tmp_path: Path) -> None:
    """Unless another is named."""
    log = a_log(tmp_path, 30, 2)
    assert lens("fix", log).exit_code != 2
    assert lens("fix", log, "--run", "train.log (2 of 2)").exit_code != 2


def test_nothing_is_passed_over_that_can_be_judged(tmp_path: Path) -> None:
    """Four rows, an error at the end, or nothing longer before them."""
    assert len(judged_by_default(read_all(a_log(tmp_path, 30, 4)))) == 2
    assert len(judged_by_default(read_all(a_log(tmp_path, 30, 2, end=ERROR)))) == 2
    assert len(judged_by_default(read_all(a_log(tmp_path, 3, 2)))) == 2
    assert len(judged_by_default(read_all(a_log(tmp_path, 2, 30)))) == 2
    assert len(judged_by_default(read_all(a_log(tmp_path, 30)))) == 1


def test_a_training_without_a_main_curve_is_judged_no_better(tmp_path: Path) -> None:
    """Where none has one, the longest curve says how long each is."""
    log = tmp_path / "train.log"
    first = [f"Epoch {n} acc: 0.{n + 1} dice: 0.{n}2" for n in range(1, 9)]
    for loss, kept in ((" val_loss: 0.5", 2), ("", 1)):
        last = [f"Epoch {n} acc: 0.{n + 3} dice: 0.{n}1{loss}" for n in (1, 2)]
        log.write_text("\n".join([*first, *last, ""]))
        assert len(judged_by_default(read_all(log))) == kept
