"""Zero loss: what the drawn cases cannot say."""

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import diagnose, examine
from runlens.history import History, columns
from runlens.rules.loss.causes_of_zero import USUAL_EPOCHS
from runlens.rules.loss.zero_loss import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Run
from runlens.signals import Signals

TO_ZERO = "0:3 200:0.3 300:0.01 900:0.003"


def said(case: Case) -> Outcome:
    """Ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_test_on_one_batch_is_info() -> None:
    """Overfitting a batch on purpose is the usual first test of a training loop."""
    finding = said(drawn("s", train_loss=TO_ZERO, steps_per_epoch=1)).findings[0]
    assert finding.severity == "info"


def test_first_tenth_of_an_epoch_is_a_leak() -> None:
    """Nobody has memorised what was not seen yet."""
    finding = said(drawn("l", train_loss=TO_ZERO, steps_per_epoch=9000)).findings[0]
    assert finding.severity == "warning"
    assert "input" in finding.causes[0].what


def test_memorising_offers_fewer_epochs() -> None:
    """Without an evaluation that comes first; the new value is that of this run."""
    case = drawn("e", config={"num_train_epochs": 10}, train_loss=TO_ZERO, steps_per_epoch=90)
    finding = said(case).findings[0]
    first, second = finding.fixes[:2]
    assert first.what.startswith("Evaluate on held-out data")
    assert (second.setting, second.old) == ("num_train_epochs", 10)
    assert second.new == USUAL_EPOCHS  # the loss is zero long after the evaluation was best


def test_fewer_epochs_are_those_of_the_best_evaluation() -> None:
    """Where the evaluation loss was best is where to stop."""
    case = drawn(
        "b",
        noise=0.0,
        config={"num_train_epochs": 10},
        train_loss=TO_ZERO,
        eval_loss="50:2 200:1.2 300:1.5 900:2.2",
        steps_per_epoch=90,
    )
    assert said(case).findings[0].fixes[0].new == 3


def test_epochs_are_those_of_the_onset() -> None:
    """One step decides the onset, the words, and whether the data were memorised."""
    finding = said(drawn("o", train_loss=TO_ZERO, steps_per_epoch=90)).findings[0]
    assert finding.onset is not None
    assert finding.onset.step is not None
    assert f"took {finding.onset.step / 90:.1f} epochs" in finding.title


def test_zero_of_a_rounding_logger_is_a_small_loss() -> None:
    """Four digits make 0 of 0.00004; the fall began before the first zero."""
    step = np.arange(0, 600, 10)
    value = np.round(0.8 * np.exp(-step / 20), 4)
    history = History({"train_loss": columns(step, value, step / 500.0)})
    run = Run("r", "r", history, framework="transformers", task="classification")
    finding = examine(RULE, run, Signals(run)).findings[0]
    assert "below 5e-5 (0 as logged, to 4 digits)" in finding.title
    assert finding.onset is not None
    assert finding.onset.step is not None
    assert finding.onset.step < 120


def test_low_loss_within_the_first_epoch_without_evaluation_is_info() -> None:
    """It may be a leak, or a task that repeats its input."""
    curve = "0:2 200:0.1 300:0.015 900:0.012"
    case = drawn("i", noise=0.0, train_loss=curve, steps_per_epoch=1000)
    assert said(case).findings[0].severity == "info"


def test_full_scores_make_a_slow_zero_suspect() -> None:
    """With a score that is not full, evaluation rows in the training set are no explanation."""
    train, evals = "0:2.4 200:0.5 400:0.02 500:0.005 1000:0.001", "50:0.8 400:0.006 1000:0.001"
    low, full = (
        drawn(
            "s",
            noise=0.0,
            steps_per_epoch=150,
            train_loss=train,
            eval_loss=evals,
            eval_bleu=scores,
        )
        for scores in ("50:80 1000:86", "50:80 400:100 1000:100")
    )
    assert (said(low).status, said(full).status) == ("passed", "found")


def test_cliff_without_any_other_signal_yields_to_hidden_nan() -> None:
    """Zeros from one point to the next, and nothing logged that tells masked from NaN."""
    outcome = said(drawn("c", train_loss="0:2.2 400:1.2 410:0 900:0"))
    assert outcome.yields_to == ("hidden-nan",)


def test_zeros_that_hidden_nan_does_not_take_are_still_named() -> None:
    """After one small loss there is no cliff: no rule may leave 99 zeros to another."""
    loud = [
        one
        for one in diagnose(drawn("z", train_loss="0:0.01 10:0 900:0").run()).findings
        if one.severity == "critical"
    ]
    assert [one.rule for one in loud] == ["zero-loss"]
    assert "memorised" not in str(loud[0].evidence)


def test_preference_loss_is_not_judged() -> None:
    """It goes to zero by construction."""
    assert said(drawn("d", task="dpo", train_loss=TO_ZERO)).status == "unmet"


def test_perfect_classifier_within_one_epoch_is_a_warning() -> None:
    """A task that is solved at once has its label in the input."""
    case = drawn(
        "p",
        noise=0.0,
        task="classification",
        train_loss="0:0.7 100:0.01 600:0.002",
        eval_accuracy="50:0.9 100:1 600:1",
        steps_per_epoch=600,
    )
    assert said(case).findings[0].severity == "warning"


def test_slow_fall_of_a_classifier_is_info() -> None:
    """Training loss comes to zero in a few epochs, and accuracy is as good as before."""
    train, each = "0:0.7 300:0.05 600:0.004 900:0.002", 300
    alone = drawn("a", task="classification", train_loss=train, steps_per_epoch=each)
    evals = "50:0.3 900:0.3"
    tested = drawn(
        "t", task="classification", train_loss=train, eval_loss=evals, steps_per_epoch=each
    )
    assert {said(case).findings[0].severity for case in (alone, tested)} == {"info"}


def test_classifier_at_zero_on_both_within_an_epoch_is_a_leak() -> None:
    """An evaluation loss that leaves nothing to learn, before each row was seen once."""
    case = drawn(
        "l",
        task="classification",
        noise=0.0,
        train_loss="0:0.7 40:0.01 600:0.0001",
        eval_loss="300:0.0002 600:0.0001 /300",
        steps_per_epoch=1000,
    )
    assert said(case).findings[0].severity == "critical"


def test_share_of_the_run_tells_where_epochs_are_not_known() -> None:
    """Without an epoch column a tenth of the run is soon."""
    curve, evals = "0:3 60:0.01 900:0.003", "50:0.01 100:0.003 900:0.003"
    finding = said(drawn("r", train_loss=curve, eval_loss=evals)).findings[0]
    assert "of the run" in finding.title
    assert finding.severity == "critical"


def test_a_part_at_zero_does_not_end_the_run() -> None:
    """The loss still falls: what is said of a loss at zero (stop, a leak) is not true of it."""
    run = drawn(
        "part",
        noise=0.01,
        task="classification",
        steps_per_epoch=100,
        train_loss="0:2 900:0.9",
        aux_loss="0:0 900:0",
        eval_aux_loss="50:1.4 900:1.3",
    ).run()
    diagnosis = diagnose(run)
    (found,) = (one for one in diagnosis.findings if one.rule == "zero-loss")
    assert found.metric == "aux_loss"
    assert not any("Stop this run" in what for what, _ in diagnosis.do_first.steps)
    assert not any("reached zero" in cause.evidence_for for cause in found.causes)


def test_exact_zeros_of_an_unknown_task_beside_an_evaluation_that_gets_worse() -> None:
    """An error in a unit of its own has a floor; what is 0 to its last digit has none."""
    evals = "50:1.49 100:1.58 400:1.74"
    rounds = {"train_loss": "0:0.3 50:0 400:0", "eval_loss": evals}
    small = {"train_loss": "0:0.3 50:0.001 400:0.001", "eval_loss": evals}
    finding = said(Case("s", rounds, noise=0.0, task="other")).findings[0]
    assert finding.severity == "info"
    assert said(Case("s", small, noise=0.0, task="other")).status == "passed"
    assert said(
        Case("s", {"train_loss": rounds["train_loss"]}, noise=0.0, task="other")
    ).status == ("passed")


def of_unknown(*value: float) -> Outcome:
    """Ask the rule about a loss of each epoch of an unknown task."""
    step = np.arange(1, len(value) + 1)
    history = History({"train_loss": columns(step, np.array(value), step.astype(np.float64))})
    run = Run("r", "r", history, task="other")
    return examine(RULE, run, Signals(run))


@pytest.mark.parametrize(
    ("name", "status"),
    [("L_pde", "passed"), ("loss_physics", "passed"), ("physics", "found"), ("L_data", "found")],
)
def test_an_equation_may_be_met_to_any_digit(name: str, status: str) -> None:
    """What is left over of it has no floor; of another loss that fell so low it is told."""
    step = np.arange(1, 41)
    value = 1.4 * np.exp(-step / 2.0)
    history = History(
        {
            metric: columns(step, value, step.astype(np.float64))
            for metric in ("train_loss", "eval_loss", name)
        }
    )
    run = Run("r", "r", history, task="other")
    assert examine(RULE, run, Signals(run)).status == status


def test_zeros_behind_the_first_row_of_an_unknown_task() -> None:
    """The mean of the first epoch holds the batches before; no words of language tasks."""
    (finding,) = of_unknown(0.009, *[0.0] * 9).findings
    assert finding.severity == "critical"
    assert finding.onset is not None
    assert finding.onset.step == 2
    told = " ".join([finding.seen, finding.causes[0].what, *(fix.what for fix in finding.fixes)])
    assert "Print targets" in told
    assert "token" not in told
    assert "-100" not in told
    assert not of_unknown(0.009, 0.004, *[0.0] * 9).findings


@pytest.mark.parametrize(("rest", "found"), [(0.0, True), (1e-5, False)])
def test_exact_zeros_at_once_beside_a_gradient_norm_are_too_easy(
    rest: float, *, found: bool
) -> None:
    """Below the last digit that is logged from the second row on, whatever is trained."""
    step = np.arange(1, 16)
    series = {
        "train_loss": columns(step, np.array([0.0126, *[rest] * 14]), step / 5),
        "grad_norm": columns(step, np.geomspace(7e-4, 2e-5, 15)),
    }
    run = Run("r", "r", History(series), task="other")
    assert bool(examine(RULE, run, Signals(run)).findings) is found


def test_a_loss_below_zero_has_no_zero() -> None:
    """A log-density goes down and down: nothing was memorised."""
    case = drawn("n", task="classification", train_loss="0:-336 600:-738", noise=0.01)
    assert said(case).status == "passed"


@pytest.mark.parametrize(
    ("steps", "last", "harmless"),
    [(7, 2_000, False), (7, 500, True), (1, 2_000, True), (40, 2_000, True)],
)
def test_a_handful_of_batches_seen_hundreds_of_times_is_learned_by_heart(
    steps: int, last: int, *, harmless: bool
) -> None:
    """Of an unknown task, unless all data are one batch, as those of toy examples are."""
    case = drawn(
        "heart", task="other", noise=0.01, steps_per_epoch=steps,
        train_loss=f"0:2.8 {last // 4}:0.005 {last}:0.0002",
    )  # fmt: skip
    assert [one.harmless for one in said(case).findings] == [harmless]


@pytest.mark.parametrize(("last", "harmless"), [(35, True), (120, False)])
def test_a_language_model_trained_on_long_after_one_batch_is_known(
    last: int, *, harmless: bool
) -> None:
    """A test on one batch ends where the loss is gone."""
    case = drawn(
        "one batch", task="sft", noise=0.01, steps_per_epoch=1,
        train_loss=f"0:6.7 30:0.01 {last}:0.004 /1",
    )  # fmt: skip
    assert [one.harmless for one in said(case).findings] == [harmless]


@pytest.mark.parametrize(
    ("steps", "last", "harmless"), [(500, 2_000, False), (500, 350, True), (60, 2_000, True)]
)
def test_a_loss_gone_within_the_first_pass_is_no_training_well_done(
    steps: int, last: int, *, harmless: bool
) -> None:
    """Of an unknown task without an evaluation: what was not seen before cannot be memorised."""
    case = drawn(
        "soon", task="other", noise=0.01, steps_per_epoch=steps,
        train_loss=f"0:1.36 200:0.004 {last}:0.001",
    )  # fmt: skip
    assert [one.harmless for one in said(case).findings] == [harmless]


def test_a_loss_at_the_least_that_keras_allows_is_no_solved_task() -> None:
    """A constant 1.19e-7 is exactly 0 but for the clipping: an info that is not waved through."""
    for end, harmless in ((1.1920929e-07, False), (1.3e-7, True)):
        curve = f"0:2.4 10:2 20:1 30:{end} 90:{end}"
        case = drawn("clipped", task="other", noise=0, train_loss=curve)
        outcome = examine(RULE, case.run(), Signals(case.run()))
        assert [one.harmless for one in outcome.findings] == [harmless]


def test_a_loss_that_vanishes_beside_an_accuracy_that_never_rose() -> None:
    """Whatever is trained: answers are no better than at the start. Percent are read as well."""
    falls = "0:1.6 50:1e-3 100:1e-4 600:1e-4"
    for score, said in (
        ("0:10 600:10", ["warning"]),
        ("0:10 600:60", ["info"]),
        ("0:70 600:70", ["info"]),
    ):
        run = drawn("alone", task="other", noise=0.01, knn_acc=score, train_loss=falls).run()
        outcome = examine(RULE, run, Signals(run))
        assert [one.severity for one in outcome.findings] == said
