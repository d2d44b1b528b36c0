"""Where a NaN begins: in one part of a loss, in one place of the epoch, at one row of means."""

from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.rules.rule import drawn
from runlens.run import Configured, Event, Run, State

TOTAL = "0:2.4 100:1.1 110:nan 200:nan"
WHOLE = "0:1.2 100:0.6 110:0.6 200:0.4"


def first_cause(run: Run) -> tuple[str, str, str]:
    """Return kind, name and evidence of the first cause of the gravest incident."""
    cause = diagnose(run).incidents[0].findings[0].causes[0]
    return cause.kind, cause.what, cause.evidence_for


def test_a_sum_is_lost_with_one_of_its_parts() -> None:
    """The part is named, and what stands beside it; where all are lost it is none of them."""
    parts: dict[str, Any] = {"kl_loss": WHOLE, "rec_loss": WHOLE, "aux_loss": TOTAL}
    run = drawn("one part", task="other", noise=0, train_loss=TOTAL, **parts).run()
    kind, what, why = first_cause(run)
    assert (kind, what) == ("loss-function", "One part of the loss, aux loss")
    assert why == "at step 110 aux loss is no number either, while kl loss and rec loss are numbers"
    fixes = [fix.what for fix in diagnose(run).incidents[0].findings[0].fixes]
    assert fixes[0] == "Print what that part of the loss is computed from at step 110"
    assert not any("learning rate" in fix for fix in fixes)
    every: dict[str, Any] = dict.fromkeys(parts, TOTAL)
    assert (
        first_cause(drawn("all", task="other", noise=0, train_loss=TOTAL, **every).run())[0] != kind
    )


def test_one_place_of_the_epoch_says_nothing_where_every_row_lies_there() -> None:
    """A log with a row an epoch has all of its rows at one place."""
    lost = "0:2 20:1.8 30:nan 40:1.6 80:1.4 90:nan 100:1.2 150:1.1 160:nan 170:1 200:0.9"
    for every, said in ((10, False), (60, True)):
        run = drawn("rows", noise=0, train_loss=lost, steps_per_epoch=every).run()
        if said:
            lost_at = "0:2 20:1.8 30:nan 40:1.6 80:1.4 90:nan 100:1.2 140:1.1 150:nan 160:1 200:0.9"
            run = drawn("rows", noise=0, train_loss=lost_at, steps_per_epoch=every).run()
        whats = [c.what for i in diagnose(run).incidents for f in i.findings for c in f.causes]
        assert ("One bad sample that comes back each epoch" in whats) is said


def test_means_of_epochs_do_not_show_that_a_loss_had_not_been_rising() -> None:
    """An explosion has room within an epoch; every row had been seen before."""
    curve = "/2 0:3 80:0.4 82:nan 90:nan"
    run = drawn("means", task="other", noise=0, train_loss=curve, eval_loss=curve).run()
    assert first_cause(run)[0] == "unknown"
    alone = drawn("steps", task="other", noise=0, train_loss=curve).run()
    assert first_cause(alone)[0] == "bad-batch"


@pytest.mark.parametrize(
    ("lost", "norm", "kind", "said"),
    [
        ("inf 510:nan 900:nan", "1 510:nan 900:nan", "unknown", True),
        ("nan 900:nan", "1 510:nan 900:nan", "bad-batch", False),
        ("nan 510:inf 520:nan 900:nan", "1 510:nan 900:nan", "bad-batch", False),
        ("inf 510:nan 900:nan", "90 510:nan 900:nan", "", False),  # it exploded
    ],
)
def test_a_loss_that_is_infinite_first_may_come_of_an_operation(
    lost: str, norm: str, kind: str, said: bool
) -> None:
    """A log of 0 fits as well as an odd batch does; what is NaN at once does not come of it."""
    course = f"0:3 400:1.5 490:1.5 500:{lost}"
    norms = f"0:1 480:1 490:{norm.replace(' ', ' 500:nan ', 1)}"
    run = drawn("x", task="other", noise=0, train_loss=course, grad_norm=norms).run()
    first = first_cause(run)
    assert first[0] == kind or not kind
    assert ("logarithm of 0" in first[2]) is said
    assert ("few unusual batches" in str(first)) is (kind != "")


def test_a_check_of_the_program_is_no_patience() -> None:
    """What it saw is quoted, and the run is not simply started again."""
    text = "[EARLY STOP] log_pi +0.003 > 0.0 at step 140. Policy collapsed."
    state = State("stopped_early", text, "certain", done_steps=140, planned_steps=400)
    stop = Event("early_stop", 140, text=text)
    run = drawn("gave up", train_loss="0:2.2 140:0.4", events=(stop,), state=state).run()
    kind, what, why = first_cause(run)
    assert (kind, what) == ("by-hand", "A check of the program's own: log_pi +0.003 > 0.0")
    assert "Policy collapsed" in why
    assert not [
        fix
        for one in diagnose(run).incidents
        for f in one.findings
        for fix in f.fixes
        if "heckpoint" in fix.what
    ]


def test_a_launch_before_anything_was_trained_resumes_nothing() -> None:
    """A counter that begins twice at the start of a log is no resume."""
    rises = "0:0.07 10:0.12 100:0.14 200:0.16"
    run = drawn("twice", noise=0.01, train_loss=rises, events=(Event("launch", 1),)).run()
    whats = [c.kind for i in diagnose(run).incidents for f in i.findings for c in f.causes]
    assert "resume-state" not in whats


@pytest.mark.parametrize(("first", "out"), [("0", True), ("0.4", False)])
def test_losses_that_were_never_numbers_came_before_any_update(first: str, out: bool) -> None:
    """The first logged mean of the Trainer is exactly 0 where none of its losses was a number."""
    run = drawn(
        "lost", noise=0, train_loss=f"/100 100:{first} 200:0 1000:0",
        grad_norm=f"/100 100:{'nan' if out else 1} 200:nan 1000:nan",
    ).run()  # fmt: skip
    lead = diagnose(run).incidents[0].findings[0]
    assert ("Learning rate too high" in {one.what for one in lead.ruled_out}) is out
    whats = {cause.what for cause in lead.causes}
    assert not out or not whats & {"A few unusual batches", "Warm-up missing or too short"}


@pytest.mark.parametrize(("first", "thrown"), [("9.39", True), ("4.6", False)])
def test_a_loss_that_fell_to_a_guess_at_once_was_moved(first: str, thrown: bool) -> None:
    """Weights that no optimizer holds do not bring a loss of 9.39 down to 4.5."""
    flat = "/10 10:4.5 200:4.5"
    run = drawn(
        "guess", noise=0, task="classification", train_loss=f"/10 10:{first} 20:4.51 200:4.51",
        eval_loss=flat, eval_accuracy=flat.replace("4.5", "0.0111"),
    ).run()  # fmt: skip
    told = {cause.what for i in diagnose(run).incidents for f in i.findings for cause in f.causes}
    killed = "Updates so large that the model now gives one answer to all"
    assert (killed in told) is thrown
    assert ("The optimizer does not hold the model's parameters" in told) is not thrown


def test_a_row_of_a_whole_epoch_is_not_before_any_update() -> None:
    """One bad row within the first epoch gives the same log; a row of the first step does not."""
    for per, kind in ((1, "unknown"), (100, "precision")):
        run = drawn(
            "first",
            task="classification",
            noise=0,
            steps_per_epoch=per,
            train_loss="/1 1:nan 8:nan",
            eval_loss="/1 1:nan 8:nan",
        ).run()
        assert first_cause(run)[0] == kind


@pytest.mark.parametrize(
    ("limit", "losses", "first"),
    [
        (0, (4.3, 4.0, 21.6), "No gradient clipping"),
        (0, (4.3, 4.0, 21.4), "Not known"),  # a batch that is harder than another
        (1.0, (4.3, 4.0, 28.0), "Not known"),
    ],
)
def test_a_loss_that_leaps_before_a_nan_while_clipping_is_off(
    limit: float, losses: tuple[float, ...], first: str
) -> None:
    """Steps that nothing bounds grew, and then the weights were lost."""
    train = columns(np.arange(1, 21), np.array([*losses, *[np.nan] * (20 - len(losses))]))
    config = {"max_grad_norm": Configured(limit, "here")}
    run = Run("x", "x", History({"train_loss": train}), config=config)
    assert diagnose(run).incidents[0].findings[0].causes[0].what == first


def test_a_spike_that_was_over_is_no_recovery_of_a_loss_that_is_lost() -> None:
    """Nothing came back after the NaN, whatever came back before it."""
    losses = np.r_[np.linspace(9, 3, 24), 14.0, np.linspace(3, 2.7, 5), np.full(20, np.nan)]
    run = Run("x", "x", History({"train_loss": columns(np.arange(50) * 5, losses)}))
    told = [one.evidence_for for one in diagnose(run).incidents[0].findings[0].causes]
    assert told
    assert not any("recovered" in said for said in told)


@pytest.mark.parametrize(
    ("half", "train", "likely"),
    [
        (True, "/1 1:2.2 60:1.2 61:nan 90:nan", "fp16 overflow"),
        (False, "/1 1:2.2 60:1.2 61:nan 90:nan", "A few unusual batches"),
        # back at the next row: the update of that batch was skipped
        (True, "/1 1:2.2 60:1.2 61:nan 62:1.2 90:1.1", "An empty or fully masked sequence"),
        (True, "/1 1:2.2 60:1.2 61:nan 63:nan", "A few unusual batches"),  # too few to tell
    ],
)
def test_a_loss_in_half_precision_that_stays_lost_is_of_no_single_batch(
    half: bool, train: str, likely: str
) -> None:
    """A loss scaler skips the update of an odd batch, and the next batch has a loss."""
    run = drawn(
        "half", noise=0.01, train_loss=train, grad_norm="/1 1:1 60:0.9", config={"fp16": half}
    ).run()
    first = next(i for i in diagnose(run).incidents if i.severity == "critical").findings[0]
    assert first.causes[0].what.startswith(likely)
    assert first.causes[0].rank in {"likely", "most likely"}
