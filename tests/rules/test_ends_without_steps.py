"""Ends of runs that log no step, or no setting that a cure would change."""

from pathlib import Path

import pytest

from runlens.engine import diagnose
from runlens.rules.cases import message
from runlens.rules.rule import drawn
from runlens.run import State
from tests.sources.written import run_of

RAISED = (
    "\nClassification Report:\nTraceback (most recent call last):\n"
    '  File "fit.py", line 78, in <module>\n    print(classification_report(y, p, names=c))\n'
    "TypeError: object of type 'numpy.int64' has no len()\n"
)
RESULTS = (
    "Images loaded\nTrain/test split: 8012 train, 2003 test\nModel trained\nAccuracy: 72.79%\n"
)


def test_results_alone_have_no_step(tmp_path: Path) -> None:
    """The single point that each number was read as is no step of a training."""
    made = diagnose(run_of(tmp_path, "train.log", RESULTS + RAISED))
    title = made.incidents[0].findings[0].title
    assert title == "The run crashed with a TypeError after its results were logged."
    assert made.do_first.steps[0][0].startswith("Convert it before that call")


def test_a_step_that_was_logged_is_told(tmp_path: Path) -> None:
    """Rows have one."""
    rows = "".join(f"step {n} loss {2 / n:.3f}\n" for n in range(1, 4))
    made = diagnose(run_of(tmp_path, "train.log", rows + RAISED))
    assert "at step 3" in made.incidents[0].findings[0].title


FIX = "Use fewer data workers and a smaller dataset_num_proc, or request more memory."


@pytest.mark.parametrize(
    ("framework", "config", "named"),
    [("", {}, False), ("trl", {}, True), ("", {"dataloader_num_workers": 4}, True)],
)
def test_settings_of_a_trainer_are_offered_where_there_is_one(
    framework: str, config: dict[str, int], *, named: bool
) -> None:
    """Another program has no workers, or calls them otherwise."""
    run = drawn(
        "killed",
        state=State("killed", "Killed", "certain", 137, done_steps=160, planned_steps=400),
        events=(message("Killed", "kill", 5, 160, fix=FIX),),
        config=dict(config),
        framework=framework,
        train_loss="0:2.2 160:1.6",
    ).run()
    said = [fix.what for one in diagnose(run).findings for fix in one.fixes]
    assert any("dataset_num_proc" in what for what in said) is named
    assert any("out of memory" in what for what in said) is not named
