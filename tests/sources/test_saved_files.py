"""Files of weights that a log names, an early stop in its words, and what to go on from then."""

from pathlib import Path

import pytest

from runlens.engine import diagnose
from runlens.sources.console.events import checkpoint
from tests.sources.written import run_of

SAID = "2024-01-01 10:00:00,000 - INFO - trainer - "


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("  [Saved] stage1_best.pt", "stage1_best.pt"),
        (f"{SAID}model has been saved in  ./save/model_epoch3.pkl", "./save/model_epoch3.pkl"),
        (f"{SAID}Best performance so far. Copying weights to 'out/best.th'.", "out/best.th"),
    ],
)
def test_a_file_that_was_saved_is_a_checkpoint(line: str, path: str) -> None:
    """Whatever the words around its name are."""
    assert checkpoint(line) == (None, path)


@pytest.mark.parametrize(
    "line", ["[Saved] everything", "the model has been saved in time", "Copying weights to disk"]
)
def test_words_are_no_file(line: str) -> None:
    """A file has a folder, an ending or a number."""
    assert checkpoint(line) is None


def rows(last: int, planned: int = 20) -> str:
    """Write a loss an epoch."""
    return "".join(f"Epoch {n}/{planned} loss {2 / n:.3f}\n" for n in range(1, last + 1))


def test_a_patience_that_ran_out_ends_a_run_as_configured(tmp_path: Path) -> None:
    """AllenNLP says so; the weights that it loads then are its best."""
    said = f"{SAID}Ran out of patience.  Stopping training.\n{SAID}loading best weights\n"
    run = run_of(tmp_path, "train.log", rows(8) + said)
    assert (run.state.kind, run.state.sure) == ("finished", "certain")


def test_a_patience_that_still_runs_ends_nothing(tmp_path: Path) -> None:
    """A row behind it shows that the training went on."""
    said = "EarlyStopping patience: 3 of 5\n"
    run = run_of(tmp_path, "train.log", rows(8) + said)
    assert run.state.kind != "finished"


GAVE_UP = "[EARLY STOP] log_pi +0.003 > 0.0. Policy collapsed. Saving emergency checkpoint.\n"


def test_what_a_program_saved_as_it_gave_up_is_not_resumed_from(tmp_path: Path) -> None:
    """These are the weights that it gave up on; it names what it watched, and the bound."""
    text = rows(4) + "[Saved] best.pt\n" + rows(8)[len(rows(4)) :]
    made = diagnose(run_of(tmp_path, "train.log", f"{text}{GAVE_UP}[Saved] emergency.pt\n"))
    steps = [what for what, _ in made.do_first.steps]
    assert any(what.startswith("Go back to best.pt") for what in steps)
    assert not any("emergency" in what for what in steps)
    cause = made.incidents[0].findings[0].causes[0]
    assert cause.what == "A check of the program's own: log_pi +0.003 > 0.0"
    assert any("Plot log_pi" in what for what in steps)


def test_without_an_earlier_file_it_is_begun_anew(tmp_path: Path) -> None:
    """And the file of the end is not offered either."""
    made = diagnose(run_of(tmp_path, "train.log", f"{rows(8)}{GAVE_UP}[Saved] emergency.pt\n"))
    steps = [what for what, _ in made.do_first.steps]
    assert any(what.startswith("Restart") for what in steps)
    assert not any("emergency" in what for what in steps)
