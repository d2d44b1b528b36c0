"""One event has one step, one number one name, and nothing found is ruled out beside it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Finding
from runlens.engine import diagnose
from runlens.report.once import Once
from runlens.rules.loss import chance, surroundings
from runlens.rules.rule import drawn
from runlens.run import Event, Run

STAIR = "0:3 300:1.5 400:1.5 401:4 800:4"


def told(run: Run) -> dict[str, Finding]:
    """Diagnose a run; return its findings by rule."""
    return {one.rule: one for one in diagnose(run).findings}


def test_a_finding_is_not_ruled_out_by_another() -> None:
    """A loss spikes and comes back, and rises for good later: both are said."""
    curve = "0:3 300:1.5 500:1.4 510:5 520:1.4 700:1.3 710:4 900:4"
    found = told(drawn("both", train_loss=curve).run())
    assert {"loss-spike", "divergence"} <= found.keys()
    assert "came down again" in found["loss-spike"].seen
    out = {one.what for rule in ("loss-spike", "divergence") for one in found[rule].ruled_out}
    assert not {"Loss spike", "Divergence"} & out


def test_what_stays_up_did_not_recover() -> None:
    """Nothing of the rise is undone; and no spike was found, so one is ruled out."""
    found = told(drawn("up", train_loss=STAIR).run())["divergence"]
    assert found.seen.startswith("The loss did not recover in the remaining")
    assert "Loss spike" in {one.what for one in found.ruled_out}


def test_what_came_down_by_half_says_that_it_did_not_come_down_to_its_best() -> None:
    """A fact of the end, where a spike would have been over."""
    found = told(drawn("half", train_loss="0:4 400:1 410:4.6 500:2.4 900:2.4 1000:2.4").run())
    assert found["divergence"].seen == "It came down again, but not to its earlier best."


@pytest.mark.parametrize(("gap", "words"), [(100, "from step 500 on"), (110, "by step 500 at")])
def test_behind_a_gap_of_the_log_a_change_is_dated_at_the_latest(gap: int, words: str) -> None:
    """More than ten logging intervals without a row: it may have begun in any of them."""
    curve = drawn("gap", train_loss="0:3 800:1").run().curve("train_loss")
    kept = curve.at((curve.step <= 500 - gap) | (curve.step >= 500))
    at = int(np.argmax(kept.step == 500))
    assert surroundings.since(kept, at).startswith(words)


def test_a_hidden_nan_is_no_passed_check_of_nan() -> None:
    """The loss is a number at all points, and the logger wrote it."""
    run = drawn(
        "hidden",
        train_loss="0:2.2 400:1.2 410:0 900:0",
        grad_norm="0:1 400:1 410:nan 900:nan",
        config={"logging_nan_inf_filter": True},
    ).run()
    made = diagnose(run)
    assert "hidden-nan" in {one.rule for one in made.findings}
    assert "nan-loss" not in made.reasons("passed")
    assert "not finite from step 410 on" in made.reasons("unmet")["nan-loss"]


@pytest.mark.parametrize(
    ("scheduler", "seen"),
    [
        (
            "linear",
            "the rate did not follow the configured linear schedule either. It stayed at 1e-3.",
        ),
        ("constant", "constant, gives another rate."),
    ],
)
def test_a_rate_that_did_not_decay_is_told_beside_its_scheduler(scheduler: str, seen: str) -> None:
    """The schedule of the configuration was not in use before the jump either."""
    run = drawn(
        "jump",
        noise=0.0,
        train_loss="0:2 900:1",
        learning_rate="0:1e-3 400:1e-3 410:2e-2 900:2e-2",
        config={"lr_scheduler_type": scheduler, "learning_rate": 1e-3},
    ).run()
    found = told(run)["schedule-mismatch"]
    assert found.seen.endswith(seen)
    assert found.causes[0].what == "Something other than the scheduler set the rate"
    assert {one.kind for one in found.causes} == {"rate-leaves-plan"}


def test_no_warm_up_is_advised_where_the_rate_left_its_plan() -> None:
    """It jumped in mid-run."""
    rate: dict[str, Any] = {"learning_rate": "0:1e-3 400:1e-3 401:5e-2 800:5e-2"}
    config = {"learning_rate": 1e-3, "warmup_steps": 0}
    found = told(drawn("left", train_loss=STAIR, config=config, **rate).run())["divergence"]
    assert "warmup_steps" not in {fix.setting for fix in found.fixes}


@pytest.mark.parametrize(("at", "words"), [(300, "from step 300"), (250, "at step 310")])
def test_a_resume_is_named_by_its_checkpoint(at: int, words: str) -> None:
    """What is logged first comes a logging interval later; a checkpoint far before is another."""
    saved = Event("checkpoint", at, data={"path": f"out/checkpoint-{at}"})
    run = drawn(
        "resumed",
        train_loss="0:3 300:1.6 600:1.3",
        learning_rate="0:0 50:1e-3 300:8e-4 310:0 360:1e-3 600:7e-4",
    ).run()
    found = told(replace(run, events=(saved, Event("resume", 310))))["resume-jump"]
    assert found.title.startswith(f"The resume {words} went wrong.")


def test_chance_is_named_with_the_range_that_it_lies_in() -> None:
    """Short sequences count a token that is not predicted."""
    wide, exact = chance.of_vocabulary(512, 32), chance.of_classes(4)
    assert wide
    assert exact
    assert wide.name == "ln 512 = 6.238 (down to 6.043 for short sequences)"
    assert exact.name == "ln 4 = 1.386"


@pytest.mark.parametrize(
    ("norm", "words"),
    [
        ("0:1 300:inf 301:1 900:1", "was infinite at 1 of"),
        ("0:1 300:nan 340:nan 341:1 900:1", "was NaN while the loss was finite, at all"),
    ],
)
def test_norms_that_are_not_finite_in_a_row_are_told_as_one(norm: str, words: str) -> None:
    """From where to where, not one for example."""
    run = drawn("row", noise=0.0, train_loss="0:2 900:1", grad_norm=norm, config={"fp16": False})
    found = told(run.run())["nan-grad"]
    assert words in found.title
    assert found.seen == "The backward pass overflowed or failed."


def test_training_on_more_rows_is_advised_once() -> None:
    """Where the first evaluation is the best, more rows are all that helps."""
    known: dict[str, Any] = {"num_train_epochs": 40}
    curves: dict[str, Any] = {
        "train_loss": "0:0.7 600:0.001",
        "eval_loss": "0:0.98 50:0.975 600:1.25",
    }
    made = diagnose(drawn("rows", config=known, task="regression", **curves).run())
    steps = [what for what, _ in made.do_first.steps]
    assert sum("ore " in what and "rows" in what for what in steps) == 1
    assert not any("training data" in what for what in steps)


def test_one_line_of_a_log_by_two_ranks_is_quoted_once() -> None:
    """Each process prints it under its own number."""
    once = Once()
    once.tell("""The log says "[rank1]: KeyError: '_orig_mod.wte'".""")
    assert once.knows("""the log says "[rank3]: KeyError: '_orig_mod.wte'" """.strip())
    assert not once.knows("""the log says "[rank3]: KeyError: 'wpe'" """.strip())


def test_settings_that_keep_the_best_are_no_second_try() -> None:
    """They are worth it in any case; what regularises is tried if fewer epochs do not help."""
    config = {"num_train_epochs": 20, "weight_decay": 0.0, "load_best_model_at_end": False}
    curves: dict[str, Any] = {
        "train_loss": "0:2.2 300:1.1 600:0.2",
        "eval_loss": "50:2 200:1.3 600:2.2",
    }
    run = drawn("overfit", config=config, steps_per_epoch=30, **curves).run()
    second = " ".join(line for _, line in diagnose(run).do_first.otherwise)
    assert "weight_decay" in second
    assert "load_best" not in second
