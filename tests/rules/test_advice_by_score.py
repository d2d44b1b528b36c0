"""No advice costs a run what its scores gained: patience, fewer epochs, what is kept already."""

from dataclasses import replace
from typing import Any

import pytest

from runlens import fixes
from runlens.engine import diagnose
from runlens.knowledge import in_force
from runlens.knowledge.snippets import in_words
from runlens.rules.evaluation.overfit_advice import fixes_of, keep_best
from runlens.rules.rule import drawn
from runlens.run import BEST_SAVED, Event, Run
from runlens.signals import Signals
from tests.rules.said import ask, bad


def scored(score: str, **more: Any) -> Run:
    """Return a run of ten epochs with an evaluation each, and its accuracy."""
    curves = {"train_loss": "/10 10:2 100:0.5", "eval_loss": "/10 10:1 20:0.9 100:1.4"}
    return drawn(
        "r", noise=0, task="classification", steps_per_epoch=10,
        eval_accuracy=f"/10 {score}", **{**curves, **more},
    ).run()  # fmt: skip


NO_GAIN = "10:0.5 20:0.7 30:0.69 60:0.69 100:0.6"
LONG_WAIT = "10:0.5 20:0.7 30:0.65 50:0.68 60:0.75 70:0.7 100:0.6"


@pytest.mark.parametrize(
    ("score", "patience"),
    [
        (NO_GAIN, 3),  # what most examples say
        (LONG_WAIT, 4),  # from 20 to 60: three evaluations would have ended it at 50
        ("10:0.5 100:0.8", 0),  # best at the end: nothing is to be stopped
        ("10:0.5 20:0.7 30:0.6 80:0.6 90:0.75 100:0.6", 0),  # one worse, and the wait was longer
    ],
)
def test_patience_is_that_with_which_the_run_reaches_its_best(score: str, patience: int) -> None:
    """A curve that waits long for its next best is stopped too early by three evaluations."""
    assert in_force.patience(scored(score), "eval_accuracy") == patience


def test_patience_of_what_is_not_logged_is_the_usual_one() -> None:
    """Nothing is known of its waits; of three evaluations none stops anything."""
    assert in_force.patience(scored(NO_GAIN), "eval_f1") == in_force.PATIENCE
    few = scored(NO_GAIN, eval_loss="/10 80:1 90:1.2 100:1.4")
    assert in_force.patience(few, "eval_loss") == 0


@pytest.mark.parametrize(
    ("framework", "score", "said", "unsaid"),
    [
        ("pytorch", NO_GAIN, "stop after three evaluations", "val_loss"),
        ("pytorch", LONG_WAIT, "stop after 4 evaluations", "three"),
        ("pytorch", "10:0.5 100:0.8", "save the weights whenever it improves", "stop"),
        ("keras", LONG_WAIT, "patience=4", "patience=3"),
        ("keras", "10:0.5 100:0.8", "save_best_only=True", "EarlyStopping"),
        ("lightning", "10:0.5 100:0.8", "ModelCheckpoint", "EarlyStopping"),
    ],
)
def test_words_name_the_patience_of_the_score(
    framework: str, score: str, said: str, unsaid: str
) -> None:
    """The loss of the same run would stop it three evaluations behind step 20."""
    run = replace(scored(score), framework=framework)
    told = in_words(run, keep_best(run, "eval_accuracy")[0]).what
    assert said in told
    assert unsaid not in told


def test_the_trainer_is_told_that_patience_and_none_that_never_stops() -> None:
    """EarlyStoppingCallback takes it as a number."""
    long, never = (
        replace(scored(one), framework="transformers") for one in (LONG_WAIT, "10:0.5 100:0.8")
    )
    (fix,) = fixes.early_stopping(long, "eval_accuracy")
    assert (fix.new, "4 evaluations" in fix.why) == (4, True)
    assert fixes.early_stopping(never, "eval_accuracy") == ()


def test_no_fewer_epochs_where_early_stopping_is_set() -> None:
    """It ends the run by itself; without it the plan is what goes on too long."""
    for patience, made in ((5, 0), (None, 1)):
        config = {"num_train_epochs": 10, "early_stopping_patience": patience}
        run = scored(NO_GAIN, config={key: one for key, one in config.items() if one})
        assert len(fixes.shorter(run, Signals(run), 20)) == made


def test_what_a_log_says_is_kept_is_not_advised() -> None:
    """It saved its best model whenever there was one."""
    run = scored(NO_GAIN)
    saved = Event("checkpoint", 20, data={"path": BEST_SAVED})
    keeping = replace(run, events=(*run.events, saved))
    said = [
        any(fix.setting == "load_best_model_at_end" for fix in fixes_of(one, Signals(one), 20))
        for one in (run, keeping)
    ]
    assert said == [True, False]


def test_the_checkpoint_of_the_best_evaluation_is_not_called_the_nearest() -> None:
    """It is the one."""
    run = scored(NO_GAIN)
    for saved, why in ((20, "eval loss was best there"), (18, "the nearest one saved before")):
        event = Event("checkpoint", saved, data={"path": f"checkpoint-{saved}"})
        kept = replace(run, events=(event,))
        assert why in fixes_of(kept, Signals(kept), 20)[0].why


@pytest.mark.parametrize(
    ("more", "epochs"),
    [
        ({}, 6),  # eval loss is best at step 300
        ({"eval_f1": "50:0.5 600:0.7 1000:0.7"}, 12),
        ({"eval_f1": "50:0.5 1000:0.8"}, None),  # it gains to the end
        ({"eval_f1": "50:0.7 1000:0.5"}, 6),
    ],
)
def test_memorized_rows_end_no_run_before_its_score_was_best(
    more: dict[str, str], epochs: int | None
) -> None:
    """Loss says that the model is surer of its errors, the score that it makes fewer."""
    case = bad("zero-loss", "memorised, evaluation worse", num_train_epochs=20)
    case = replace(case, curves={**case.curves, **more}, noise=0)
    found = ask("zero-loss", case.run()).findings[0]
    new = {fix.setting: fix.new for fix in found.fixes}
    assert new.get("num_train_epochs") == epochs


@pytest.mark.parametrize(("lost", "told"), [("", True), (" 80:nan 100:nan", False)])
def test_scores_of_weights_that_are_nan_are_no_overfitting(lost: str, *, told: bool) -> None:
    """0.81 falls to 0.51 as no answer is computed; a fall beside a finite loss is one."""
    run = drawn(
        "nan", noise=0, task="classification", train_loss=f"/10 10:2 70:0.5{lost or ' 100:0.4'}",
        eval_accuracy="/10 10:0.7 20:0.81 70:0.8 80:0.51 100:0.5 130:0.45",
    ).run()  # fmt: skip
    assert bool(ask("hockey-stick", run).findings) is told


def test_a_score_is_not_compared_with_itself() -> None:
    """An error rate that names no split is no training beside itself."""
    run = drawn("eer", noise=0, task="other", eer="/10 10:25.9 20:25 130:32").run()
    (found,) = ask("hockey-stick", run).findings
    assert "while" not in found.title


@pytest.mark.parametrize(("step", "advised"), [(20, False), (120, True), (100, True)])
def test_a_trainer_that_chose_the_same_checkpoint_is_told_nothing(
    step: int, *, advised: bool
) -> None:
    """Its state names the best checkpoint; another step means that it went by something else."""
    config = {"best_model_checkpoint": f"out/checkpoint-{step}"}
    run = replace(scored(NO_GAIN, config=config), framework="transformers")
    made = fixes_of(run, Signals(run), 20, "eval_accuracy")
    assert any(fix.setting == "metric_for_best_model" for fix in made) is advised


def test_words_for_the_first_of_rows_that_count_from_0() -> None:
    """Nobody retrains up to step 0: the first row is the first evaluation."""
    run = drawn(
        "rows", noise=0, task="other", train_loss="/1 0:1.45 1:1.35 9:1.26",
        eval_loss="/1 0:1.695 9:1.9",
    ).run()  # fmt: skip
    told = " ".join(part for one in diagnose(run).do_first.steps for part in one)
    assert "the first evaluation (step 0)" in told
    assert "retrain up to that evaluation" in told


@pytest.mark.parametrize("end", ["100:0.5", "90:0.5 100:1.5"])
def test_a_last_row_that_leaps_is_no_level(end: str) -> None:
    """A training loss that had come down to 0.5 did not fall to 1.5."""
    run = scored("10:0.5 100:0.5", train_loss=f"/10 10:2 20:1.8 {end}")
    (found,) = ask("hockey-stick", run).findings
    assert "fell to 0.500" in found.title


def test_a_loss_below_zero_is_not_trained_for_longer() -> None:
    """One that may be a likelihood is: then time, or weights of the classes, can help."""
    for loss, longer in (("10:-1 100:-1e9", False), ("10:1.5 100:1.45", True)):
        run = drawn(
            "one", noise=0, task="classification", train_loss=f"/10 {loss}",
            eval_loss=f"/10 {loss}", eval_accuracy="/10 10:0.251732 100:0.251732",
        ).run()  # fmt: skip
        said = " ".join(
            fix.why for one in ask("stuck-at-chance", run).findings for fix in one.fixes
        )
        assert ("train for longer" in said) is longer
