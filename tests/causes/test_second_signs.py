"""What loss, scores and first rows say together of a cause, and where the same proves nothing."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.causes import data
from runlens.causes.scene import Scene
from runlens.diagnosis import Diagnosis
from runlens.engine import diagnose
from runlens.report.once import Top
from runlens.rules.rule import Case, drawn
from runlens.run import Run
from runlens.signals import Signals

TRAINED = "/1 1:2.8 6:0.3 30:0.06"


def told(run: Run | Case) -> Diagnosis:
    """Diagnose a run, drawn where it is a case."""
    return diagnose(run.run() if isinstance(run, Case) else run)


def lead(one: Diagnosis, rule: str) -> str:
    """Return the first cause of a finding by its kind; "" for none."""
    causes = next(found.causes for found in one.findings if found.rule == rule)
    return causes[0].kind if causes else ""


def softmaxed(classes: int = 10, **other: str) -> Case:
    """Draw a classifier whose loss takes probabilities for logits."""
    curves: dict[str, Any] = {
        "train_loss": "0:2.3025 100:2.30 300:1.85 900:1.52",
        "eval_loss": "50:2.3025 100:2.30 300:1.861 900:1.521",
        "eval_accuracy": "50:0.1 100:0.12 300:0.6 900:0.94",
    }
    config: dict[str, Any] = {} if classes == 10 else {"num_labels": classes}
    return drawn("x", noise=0, task="classification", config=config, **curves | other)


def test_loss_and_accuracy_that_add_up_to_one_sum_name_a_second_softmax() -> None:
    """The cause is sure, says what would show that it is wrong, and no rate is blamed."""
    one = told(softmaxed())
    cause = one.findings[0].causes[0]
    assert (cause.kind, cause.rank) == ("loss-function", "most likely")
    assert cause.falsifier
    assert "1.461" in one.verdict.sentence


@pytest.mark.parametrize(
    "case",
    [
        softmaxed(4),  # of few classes a loss of logits falls as accuracy rises
        softmaxed(eval_accuracy="50:0.1 100:0.12 300:0.6 900:0.72"),  # of answers hardly sure
        softmaxed(eval_accuracy="50:0.1 100:0.12 300:0.6 900:0.7"),
        softmaxed(train_loss="0:2.1 100:2.0 300:1.85 900:1.52"),  # classes not known
        softmaxed(eval_accuracy="800:0.9 900:0.94", eval_loss="800:1.56 900:1.521"),  # no course
    ],
)
def test_other_losses_name_none(case: Case) -> None:
    """Of few classes, of another slope, of classes that nobody knows, of no course."""
    assert not any("oftmax" in found.title + found.heading for found in told(case).findings)


def test_a_smoothed_loss_may_stand_as_high() -> None:
    """Label smoothing has a floor of its own."""
    case = softmaxed()
    case = replace(case, config={"num_labels": 10, "label_smoothing_factor": 0.1})
    assert not any("oftmax" in found.heading for found in told(case).findings)


def test_a_score_that_is_written_twice_is_none_of_training() -> None:
    """A log that says "saved the best model (acc=0.94)" repeats it; another score is another."""
    curves: dict[str, Any] = {
        "train_loss": "/1 1:0.9 10:0.4",
        "eval_accuracy": "/1 1:0.4 8:0.75 10:0.3",
    }

    def gap(trained: str) -> bool:
        case = drawn("x", noise=0, task="classification", **curves, train_accuracy=trained)
        return any(found.rule == "eval-gap" for found in told(case).findings)

    assert not gap("/1 1:0.4 8:0.75")
    assert gap("/1 1:0.45 8:0.8")
    assert gap("/1 1:0.9 8:0.9")


def scored(trained: str, held: str) -> Diagnosis:
    """Diagnose a run of ten epochs by the accuracies of training and evaluation."""
    curves: dict[str, Any] = {
        "train_accuracy": trained,
        "eval_accuracy": held,
        "train_loss": "/1 1:0.5 10:0.01",
    }
    case = drawn("x", noise=0, task="classification", steps_per_epoch=1, **curves)
    return told(case)


def test_a_gap_that_was_there_after_the_first_pass_is_of_no_later_one() -> None:
    """Where it opens from pass to pass it is of more of them; where it narrows it is not."""
    narrows = scored("/1 1:0.87 4:0.99 10:1", "/1 1:0.23 4:0.58 10:0.64")
    opens = scored("/1 1:0.5 4:0.9 10:1", "/1 1:0.45 4:0.58 10:0.58")
    assert lead(narrows, "eval-gap") != "memorised"
    assert lead(opens, "eval-gap") == "memorised"
    (cause, *_) = next(one.causes for one in opens.findings if one.rule == "eval-gap")
    assert (cause.what, cause.rank) == (data.STANDS, "likely")  # fewer passes lower no score


def test_few_evaluations_end_at_the_last_and_not_at_their_middle() -> None:
    """A median of all three would be none of the end."""
    one = scored("/3 1:0.87 4:0.99 7:1", "/3 1:0.23 4:0.58 7:0.64")
    assert "accuracy ends at 0.64 against 1, 3 evaluations" in one.verdict.sentence + " " + (
        one.verdict.second
    )


def lost(first: int, epoch: float, rate: str = "1:5e-4 40:1e-5") -> Diagnosis:
    """Diagnose a loss of 0 and a norm of NaN at each point, from a step and an epoch on."""
    curves: dict[str, Any] = {
        "train_loss": f"/1 {first}:0 40:0",
        "grad_norm": f"/1 {first}:nan 40:nan",
    }
    case = drawn(
        "x", noise=0, task="other", steps_per_epoch=1 / epoch, framework="",
        **curves, learning_rate=f"/1 {rate}",
    )  # fmt: skip
    return told(case)


def test_a_loss_of_step_1_is_computed_before_any_update() -> None:
    """No rate made it NaN; of an epoch, and of a later step, one may have."""
    said = next(f for f in lost(1, 0.25).findings if f.rule == "hidden-nan")
    assert any("Learning rate too high" in out.what for out in said.ruled_out)
    assert "tenth of the rate" not in said.causes[0].experiment
    assert "overflow in low precision" in said.causes[0].evidence_for
    for other in (lost(1, 1.0), lost(5, 0.25)):
        said = next(f for f in other.findings if f.rule == "hidden-nan")
        assert not any("Learning rate too high" in out.what for out in said.ruled_out)
        assert "tenth of the rate" in said.causes[0].experiment


def chance_of(first: float) -> str:
    """Return what is usual where a classifier of 15 stands at a guess, by its first loss."""
    case = drawn(
        "x", noise=0.002, task="classification", config={"num_labels": 15},
        train_loss=f"0:{first} 10:2.705 900:2.705",
    )  # fmt: skip
    return next(f.causes[0].evidence_for for f in told(case).findings if f.causes)


def test_what_came_down_to_a_guess_was_moved_by_its_updates() -> None:
    """A rate that is too low is usual where nothing moved, and not where a loss fell so far."""
    assert "too low" not in chance_of(3.4)
    assert "too low" in chance_of(2.72)


def test_a_cause_stands_below_the_note_that_it_is_of() -> None:
    """Of two notes the verdict tells one: the cause of the other would explain another thing."""
    case = drawn(
        "x", noise={"eval_loss": 0.25}, task="classification",
        train_loss="/1 0:0.71 14:0.3", eval_loss="/1 0:0.69 14:0.88",
        train_accuracy="/1 0:0.51 14:0.92", eval_accuracy="/1 0:0.51 14:0.83",
    )  # fmt: skip
    one = told(case)
    top = Top.of(one)
    why = [text for name, text in top.facts if name == "Why"]
    shown = [f for f in one.findings if f.title in f"{one.verdict.sentence} {one.verdict.second}"]
    assert all(shown and shown[0].causes and shown[0].causes[0].what[:20] in text for text in why)


def test_what_swings_does_not_swing_for_rows_that_come_again() -> None:
    """The passes explain a gap that leads, and no oscillation."""
    case = drawn(
        "x", noise=0, task="classification", steps_per_epoch=50,
        train_loss="0:2 900:0.1", eval_loss="50:1 900:1.8",
    )  # fmt: skip
    run = case.run()
    found = next(f for f in diagnose(run).findings if f.rule == "hockey-stick")
    swings = replace(found, rule="oscillation", causes=())
    assert list(data.MEMORISED.signs(Scene(run, Signals(run), [found])))
    assert not list(data.MEMORISED.signs(Scene(run, Signals(run), [swings, found])))


def areas(recall: float, precision: float) -> bool:
    """Whether one area near a half is told, beside these scores."""
    case = drawn(
        "x", noise=0, task="classification", eval_auc="/1 1:0.501 1:0.501",
        eval_recall=f"/1 1:{recall} 1:{recall}", eval_precision=f"/1 1:{precision} 1:{precision}",
        eval_accuracy="/1 1:0.573 1:0.573",
    )  # fmt: skip
    return any(found.rule == "stuck-at-chance" for found in told(case).findings)


def test_one_area_near_a_half_needs_a_second_sign() -> None:
    """That all rows are called one class is one."""
    assert areas(1.0, 0.573)
    assert not areas(0.9, 0.573)
    assert not areas(1.0, 0.6)


def parts_of(cls_loss: str, box_loss: str, total: str) -> str:
    """Return what a plateau says of the parts of its loss."""
    case = drawn("x", noise=0, task="other", cls_loss=cls_loss, box_loss=box_loss, train_loss=total)
    return next(f.seen for f in told(case).findings if f.rule == "plateau")


def test_a_part_that_came_to_nothing_is_told_beside_a_sum_that_stands() -> None:
    """Only where the parts add up to the loss in each row, and the other one is left."""
    gone = "0:4 100:0.001 900:0.0008"
    box, both = "0:8 100:5 900:4.98", "0:12 100:5.001 900:4.9808"
    assert "Its part cls loss went from 4.000" in parts_of(gone, box, both)
    assert "part" not in parts_of(gone, box, "0:13 50:6 100:5.6 900:5.58")
    assert "part" not in parts_of("0:4 100:1 900:0.99", box, "0:12 100:6 900:5.97")


@pytest.mark.parametrize(("first", "other", "gap"), [(2.8, "0.9", True), (0.6, "0.9", False)])
def test_a_mean_over_many_labels_says_little_of_whole_rows(
    first: float, other: str, gap: bool
) -> None:
    """Such a loss begins as a coin's does, beside an F1; one of many classes begins higher."""
    case = drawn(
        "x", noise=0, task="classification", train_loss=f"/1 1:{first} 6:0.12 30:0.05",
        eval_accuracy="/1 1:0.1 6:0.4 30:0.5", eval_f1=f"/1 1:0.4 6:0.8 30:{other}",
    )  # fmt: skip
    assert any(found.rule == "eval-gap" for found in told(case).findings) == gap
