"""Causes that are told by where a fault began, and by what the run had shown before it."""

from typing import Any

import numpy as np
import pytest

from runlens.causes import HYPOTHESES, data, experiments, guesses, judge, plan
from runlens.causes.scene import Scene
from runlens.engine import diagnose
from runlens.rules.rule import drawn
from runlens.run import Run, State
from tests.causes.weighed import scene

STUCK = "not-learning 1 warning"
TURNED = "hockey-stick 1 critical"


def signs(kind: str, found: str, run: Run, **more: Any) -> str:
    """Return what a cause says of a run: the weight of each sign, its name and its words."""
    one = scene(run, found)
    one = Scene(one.run, one.signals, one.findings, **more)
    (cause,) = (one for one in HYPOTHESES if one.kind == kind)
    with np.errstate(all="ignore"):
        told = [sign for sign in cause.signs(one) if sign]
    return "; ".join(f"{sign.weight:g} {sign.what}: {sign.text}" for sign in told)


def epochs(**curves: Any) -> Run:
    """Draw a run of which each row is an epoch."""
    return drawn("x", noise=0.0, task="classification", steps_per_epoch=1, **curves).run()


def rows(*values: float) -> str:
    """Write values at steps 0, 10, 20, so that each is a point."""
    return " ".join(f"{10 * at}:{value}" for at, value in enumerate(values))


def planned(done: int, **more: Any) -> Run:
    """Draw a loss that does not fall in a plan of some updates."""
    state = State("finished", "", "certain", done_steps=done, planned_steps=more.pop("plan", done))
    curve = f"0:3.302 {done}:3.301"
    return drawn("x", noise=0.0, state=state, **{"train_loss": curve, **more}).run()


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (planned(20), "3 Too few updates to learn anything: the plan was 20 updates in all; "),
        (planned(50), "2 "),
        (planned(60), "1 "),
        (planned(20, steps_per_epoch=1000), "20 updates in all, over 2.0"),
        (planned(20, steps_per_epoch=1), "20 updates in all, one for each pass"),
        (planned(200), ""),  # as many as a usual fine-tuning has
        (planned(20, plan=400), ""),  # cut: what ended it is the cause
        (planned(20, framework="unknown"), ""),  # its steps may be epochs
    ],
)
def test_hardly_any_updates_are_a_cause(run: Run, told: str) -> None:
    """Only of a plan that is done, and only where a step is known to be an update."""
    said = signs("few-updates", STUCK, run)
    assert said.startswith(told) or (told and told in said)
    assert bool(said) is bool(told)


def test_hardly_any_updates_come_first_and_so_does_more_of_them() -> None:
    """The loss of eleven updates at the rate of a fine-tuning stands, whatever the code does."""
    first = judge(scene(planned(20, learning_rate="0:2e-5 20:2e-6"), STUCK))[0][0]
    assert (first.kind, first.rank) == ("few-updates", "most likely")
    assert first.pointed
    assert first.experiment == plan.TRAIN_ON
    assert judge(scene(planned(100), STUCK))[0][0].kind != "few-updates"


@pytest.mark.parametrize(
    ("loss", "blamed"),
    [
        (rows(0.141, 0.097, 0.083, 0.505, 0.49, 0.485, 0.485), False),  # it was learning
        (rows(0.141, 0.139, 0.45, 0.505, 0.49, 0.485, 0.485), True),
    ],
)
def test_a_loss_that_fell_first_was_not_thrown_by_its_first_updates(
    loss: str, *, blamed: bool
) -> None:
    """What threw it came later; and rows of epochs are no updates."""
    run = epochs(train_loss=loss)
    assert ("the first updates took" in signs("rate-too-high", "divergence 30 critical", run)) is (
        blamed
    )


def test_the_first_rows_of_a_log_of_epochs_are_epochs() -> None:
    """Each has many updates."""
    state = State("finished", "", "certain", done_steps=50, done_epochs=51)
    run = drawn("x", noise=0.0, state=state, train_loss=rows(0.1, *[0.5] * 5)).run()
    assert "the first epochs took" in signs("rate-too-high", "divergence 10 critical", run)


@pytest.mark.parametrize(("name", "weight"), [("MSE", "1 "), ("mask loss", "3 ")])
def test_an_error_that_is_not_called_a_loss_gives_hints_alone(name: str, weight: str) -> None:
    """It may be measured on held-out rows, and rises there while training rows are memorized."""
    run = drawn("x", noise=0.0, train_loss=rows(0.07, 0.15, 0.16, 0.16, 0.16, 0.16)).run()
    run = Run(run.id, run.name, run.history, run.config, run.state, taken={"train_loss": name})
    said = signs("rate-too-high", "divergence 10 critical", run)
    assert f"{weight}: the first updates took" in said


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "1 : train loss ended at 0.485 (median), above its first of 0.141"),
        ({"learning_rate": rows(*[1e-4] * 8)}, ""),  # known: it speaks for itself
        ({"train_loss": rows(0.5, 0.1, 0.083, 0.505, 0.49, 0.485, 0.485, 0.485)}, ""),
    ],
)
def test_weights_that_were_thrown_are_worse_than_new_ones(more: dict[str, str], told: str) -> None:
    """Other data of one task seldom are."""
    loss = rows(0.141, 0.097, 0.083, 0.505, 0.49, 0.485, 0.485, 0.485)
    run = epochs(**{"train_loss": loss, **more})
    said = signs("rate-too-high", "divergence 30 critical", run)
    assert (told in said) if told else ("above its first" not in said)


def test_one_report_does_not_exclude_and_name_different_data() -> None:
    """A jump to the end is named by the cause; the rule's own word for it is not ruled out."""
    found = diagnose(epochs(train_loss=rows(0.141, 0.097, 0.083, *[0.49] * 7)))
    named = {cause.kind for cause in found.causes}
    out = {one.what for finding in found.findings for one in finding.ruled_out}
    assert not ("data-shift" in named and "A data change at an epoch boundary" in out)


@pytest.mark.parametrize(
    ("loss", "where"),
    [
        ("0:2.2 490:1.2 500:nan 900:nan", "the steps around step 500"),
        ("0:2.2 10:nan 900:nan", "the first steps"),
    ],
)
def test_a_nan_is_repeated_where_it_was(loss: str, where: str) -> None:
    """What was finite for epochs is finite again in the first steps."""
    begins = loss.split()[-2].partition(":")[0]
    one = scene(drawn("x", noise=0.0, train_loss=loss).run(), f"nan-loss {begins} critical")
    assert where in experiments.of_nan(one)


PASSED: dict[str, Any] = {
    "steps_per_epoch": 50,
    "train_loss": "0:0.05 400:0.02",
    "eval_loss": "50:0.16 400:0.27",
}


@pytest.mark.parametrize(
    ("score", "weight"),
    [
        ({}, "4 "),
        ({"eval_accuracy": "50:0.75 400:0.7"}, "1 "),
        ({"eval_accuracy": "50:0.74 400:0.7"}, "4 "),  # a frequent class may have as much
        ({"eval_map": "50:0.5 400:0.5"}, "1 "),
        ({"eval_map": "50:0.49 400:0.5"}, "4 "),
        ({"eval_wer": "50:0.9 400:0.9"}, "4 "),  # the share of errors
    ],
)
def test_a_good_score_of_the_first_evaluation_refutes_a_broken_one(
    score: dict[str, Any], weight: str
) -> None:
    """Other labels or other inputs give no such score, whatever the losses beside it are."""
    run = drawn("x", noise=0.0, task="classification", **PASSED, **score).run()
    said = signs("evaluation", TURNED, run)
    assert said.startswith(f"{weight}: eval loss was 0.160 at the first evaluation")
    assert ("; yet eval" in said) is (weight == "1 ")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "2 : train accuracy was 0.14 by step 50, and eval accuracy 0.009"),
        ({"steps_per_epoch": 10}, "1 : train accuracy"),  # seen before: memorized, it may be
        ({"steps_per_epoch": None}, "1 : train accuracy"),
        ({"eval_accuracy": "50:0.08 400:0.08"}, ""),
        ({"train_accuracy": "0:0.08 400:0.09"}, ""),  # next to nothing
        ({"train_accuracy": "0:0.2 400:0.005"}, ""),  # it did not stay
        ({"train_accuracy": "100:0.14 400:0.14"}, ""),
        ({"train_accuracy": "0:14 400:14", "eval_accuracy": "50:0.9 400:0.9"}, "2 : train acc"),
    ],
)
def test_scores_that_part_at_once(more: dict[str, Any], told: str) -> None:
    """Rows that are new to both differ in what they are; those that came again need not."""
    curves: dict[str, Any] = {
        "train_loss": "0:4.1 400:3.9",
        "train_accuracy": "0:0.14 400:0.14",
        "eval_accuracy": "50:0.009 400:0.005",
        "steps_per_epoch": 50,
        **more,
    }
    run = drawn("x", noise=0.0, task="classification", **curves).run()
    said = signs("evaluation", STUCK, run)
    assert said.startswith(told)
    assert bool(said) is bool(told)


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, data.MEMORISED_SOON),
        ({"eval_accuracy": "50:0.9 400:0.88"}, data.BEGUN_WELL),
        ({"eval_accuracy": "50:0.2 350:0.4 400:0.4"}, data.SURER),
        ({"eval_accuracy": "50:0.8 350:0.95 400:0.95"}, data.SURER),
        ({"eval_accuracy": "50:0.2 400:0.2"}, data.MEMORISED_SOON),
    ],
)
def test_what_an_early_turn_of_the_loss_says(more: dict[str, Any], name: str) -> None:
    """A model that was good after one pass had learned elsewhere; a score may rise for long."""
    run = drawn("x", noise=0.0, task="classification", **PASSED, **more).run()
    assert signs("memorised", "hockey-stick 50 critical", run).startswith(f"2 {name}: the run made")


def test_certainty_makes_no_loss_better() -> None:
    """An evaluation whose loss still falls lags for another reason than too many passes."""
    run = drawn(
        "x",
        noise=0.0,
        task="classification",
        steps_per_epoch=50,
        train_loss="0:1.6 100:0.23 500:0.006",
        train_accuracy="0:0.63 100:1 500:1",
        eval_loss="50:1.68 500:1.04 /50",
        eval_accuracy="50:0.18 250:0.36 500:0.37 /50",
    ).run()
    assert signs("memorised", "eval-gap 50 info", run).startswith(f"2 {data.STANDS}: the run made")


@pytest.mark.parametrize(
    ("evals", "name"),
    [("0:2.2 100:1.007 400:1.009", data.STANDS), ("0:2.2 100:1 400:1.1", "")],
)
def test_fewer_passes_lower_no_loss_that_stands_at_its_best(evals: str, name: str) -> None:
    """A gap beside it is of rows that tell too little."""
    run = drawn("x", noise=0.0, task="other", train_loss="0:8.8 400:0.04", eval_loss=evals).run()
    assert signs("memorised", "eval-gap 100 warning", run).startswith(f"2 {name}: train loss fell")


@pytest.mark.parametrize(("steps", "told"), [(100, True), (1000, False), (None, False)])
def test_a_loss_that_is_zero_within_the_first_pass_is_not_memorized(
    steps: int | None, *, told: bool
) -> None:
    """However many passes came after."""
    loss, norm = "0:0.013 190:0.01 200:0 2000:0", "0:1 2000:1"
    curves: dict[str, Any] = {"steps_per_epoch": steps, "train_loss": loss, "grad_norm": norm}
    run = drawn("x", noise=0.0, task="other", **curves).run()
    assert ("the loss was 0 after" in signs("memorised", "zero-loss 200 critical", run)) is told


@pytest.mark.parametrize(("steps", "both"), [(None, True), (50, False)])
def test_a_flat_evaluation_is_open_where_the_passes_are_not_known(
    steps: int | None, *, both: bool
) -> None:
    """Rows that come again are learned alone as well."""
    curves: dict[str, Any] = {"train_loss": "0:2.1 400:1.6", "eval_loss": "50:2 400:2"}
    run = drawn("x", noise=0.0, task="other", steps_per_epoch=steps, **curves).run()
    found = "eval-flat 50 warning"
    assert signs("evaluation", found, run).startswith("1 : " if both else "2 : ")
    assert bool(signs("memorised", found, run)) is both


EQUAL = np.log(4)


def evaluated(*values: float, **more: Any) -> Run:
    """Draw evaluations of four answers, and a training loss that never fell."""
    told = " ".join(f"{50 * (at + 1)}:{value:.9g}" for at, value in enumerate(values))
    curves: dict[str, Any] = {"train_loss": "0:1.387 900:1.389", "eval_loss": told, **more}
    return drawn("x", noise=0.0, task="other", **curves).run()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((1.3863, 1.3862, 1.3856, 1.3861, *[EQUAL] * 9), True),
        ((1.3863, 1.3862, 1.3856, 1.3861, *[EQUAL + 1e-5] * 9), False),  # not to all digits
        ((*[EQUAL] * 13,), False),  # from the first on: it never learned
        ((1.3863, 1.3863, 1.3863, 1.3863, *[EQUAL] * 9), False),  # nothing was known before
        ((1.3863, 1.3862, 1.3856, *[EQUAL, 1.3862] * 5), False),  # it comes and goes
        ((0.05, 0.04, 0.03, 0.02, *[0.01] * 9), False),  # of no number
        ((9.1, 9.0, 8.9, 8.8, *[9.2] * 9), False),  # of too many answers to name one
    ],
)
def test_weights_that_large_steps_killed_answer_all_alike(
    values: tuple[float, ...], *, told: bool
) -> None:
    """They had known something; one that never learned stands there from the start."""
    rate: dict[str, Any] = {"learning_rate": "0:1e-5 250:5e-5 900:1e-6"}
    found = "stuck-at-chance 50 critical"
    said = signs("rate-too-high", found, evaluated(*values, **rate))
    assert ("was ln 4 to all digits from step 250 on, at a rate of 5e-5" in said) is told
    bare = signs("rate-too-high", found, evaluated(*values))
    assert bare.endswith("was ln 4 to all digits from step 250 on") is told


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((1.0986, 1.0987, 1.0986, 1.0985, 1.0986, 1.0985, 1.0986, 1.2), "75"),
        ((1.09, 1.11, 1.095, 1.1, 1.105, 1.09, 1.11, 1.1), ""),  # as wrong labels leave it
        ((1.05,) * 8, ""),  # of no number
        ((3.2189,) * 8, ""),  # of too many
    ],
)
def test_equal_odds_to_four_digits_are_of_no_input(values: tuple[float, ...], told: str) -> None:
    """Where batches differ, the same loss shows that outputs do not."""
    one = scene(
        drawn("x", noise=0.0, task="other", train_loss=rows(*values)).run(),
        "stuck-at-chance 0 warning",
    )
    said = guesses.one_answer(one)
    reached = said is None or said.usual != guesses.UNREACHED
    assert reached is not bool(told)
    assert reached or said is None or said.seen.startswith(told)


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (rows(40, 20, 10, 7, -40, -40.1, np.nan, np.nan), True),
        (rows(2, 1, 0.4, 0.1, -0.3, -0.6, np.nan, np.nan), False),  # a density, bit by bit
        (rows(-1, -20, -30, -40, -50, -60, np.nan, np.nan), False),  # from the start
        (rows(40, -20, -30, -40, -50, -60, np.nan, np.nan), False),  # too soon to tell
        (rows(40, 20, 10, 7, 6, 5, np.nan, np.nan), False),
    ],
)
def test_a_loss_that_leaps_below_zero_has_no_bound(loss: str, *, told: bool) -> None:
    """Neither a cross-entropy nor a squared error can."""
    run = drawn("x", noise=0.0, task="other", train_loss=loss).run()
    said = signs("loss-function", "nan-loss 60 critical", run)
    assert ("train loss leaped from 7.000 to −40.00 at step 40" in said) is told


@pytest.mark.parametrize(
    ("train", "said"),
    [
        ("/50 50:19.2 100:19.5 150:18.96 500:19.0", "train loss went from"),
        ("/50 50:19.2 100:19.0 150:16.0 500:12.0", ""),  # learned by heart, bit by bit
        ("/50 50:1.2 100:1.15 150:1.1 500:1.02", ""),  # a tuned model begins near its end
    ],
)
def test_rows_of_which_hardly_anything_was_learned_are_not_known_by_heart(
    train: str, said: str
) -> None:
    """The loss of rows that are memorized falls by more than the evaluation gets worse."""
    level = 1.0 if train.startswith("/50 50:1.2") else 14.25
    rise = 1.25 if said else 1.06
    evals = f"/50 50:{1.15 * level} 100:{level} 150:{1.05 * level} 500:{rise * level}"
    run = drawn(
        "little", noise=0.001, task="regression", steps_per_epoch=50, train_loss=train,
        eval_loss=evals,
    ).run()  # fmt: skip
    out = {one.what: one.why for i in diagnose(run).incidents for one in i.findings[0].ruled_out}
    assert out.get("Too many passes over the data", "").startswith(said)
    assert bool(said) is ("Too many passes over the data" in out)


def test_a_good_start_is_no_reason_for_an_evaluation_that_falls_away() -> None:
    """Where little was learned of the training rows, they are of another kind."""
    curves = {**PASSED, "train_loss": "0:0.62 400:0.45", "eval_accuracy": "50:0.9 400:0.6"}
    run = drawn("x", noise=0.0, task="classification", **curves).run()
    assert signs("memorised", "hockey-stick 50 critical", run).startswith(f"2 {data.NOT_HELD}")


@pytest.mark.parametrize(
    ("evals", "said"),
    [
        ("/1 1:1.97 16:3.4", "What is learned of the training rows does not hold"),
        ("/1 1:1.97 5:0.6 16:1.4", "Too many passes over the data"),
    ],
)
def test_what_was_best_at_the_first_evaluation_was_not_lost_by_passes(
    evals: str, said: str
) -> None:
    """Nothing of the training rows ever held for those of the evaluation."""
    run = drawn(
        "first", noise=0.001, task="classification", train_loss="/1 1:1.8 4:0.5 16:0.13",
        eval_loss=evals,
    ).run()  # fmt: skip
    (cause, *_) = diagnose(run).incidents[0].findings[0].causes
    assert cause.what.startswith(said)
