"""Evaluation flat: what the drawn cases cannot say."""

from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import diagnose, examine
from runlens.history import History, columns
from runlens.rules.evaluation.eval_flat import RULE
from runlens.rules.rule import drawn
from runlens.run import Run, State, Task
from runlens.signals import Signals
from tests.rules.near_more import lagging

LEARNS = "0:5.7 600:1.4"


def said(metric: str, course: str, train_loss: str = LEARNS) -> Outcome:
    """Ask the rule about a run with a score and no evaluation loss."""
    case = drawn("s", noise=0, train_loss=train_loss, eval_dice=course).run()
    curves = {"train_loss": case.curve("train_loss"), metric: case.curve("eval_dice")}
    series = {name: columns(one.step, one.value, one.epoch) for name, one in curves.items()}
    run = Run("s", "s", History(series), task="other")
    return examine(RULE, run, Signals(run))


def test_a_score_of_nothing_is_told_with_the_fall_of_the_training_loss() -> None:
    """The numbers are those of the run, and nothing is said of a loss that was not logged."""
    (finding,) = said("eval_dice", "50:0 600:0").findings
    assert finding.title.startswith("Eval dice was 0 in 12 evaluations, from step 50 on")
    assert "5." in finding.title
    assert "1.4" in finding.title
    assert finding.severity == "warning"
    assert "eval loss" not in finding.title + finding.seen


@pytest.mark.parametrize(
    ("name", "course"),
    [
        ("eval_dice", "50:0.001 600:0.009"),  # rises
        ("eval_dice", "50:0.0102 600:0.0101"),  # above nothing
        ("eval_exact_match", "50:0 600:0"),  # strict
        ("eval_best_dice", "50:0 600:0"),  # a record, no measurement
        ("eval_wer", "50:0 600:0"),  # less is better
        ("eval_dice", "500:0 600:0"),  # the end alone
        ("eval_matthews_correlation", "50:-0.01 600:0.005"),  # about 0, as guesses are
    ],
)
def test_scores_that_say_nothing(name: str, course: str) -> None:
    """Each of them is usual in good runs."""
    assert not said(name, course).findings


@pytest.mark.parametrize(
    ("name", "course", "told"),
    [
        ("mAP", "50:0 600:0", "was 0 in 12 evaluations"),  # a name without a split
        ("target_mAP", "50:0 600:0", ""),  # what is asked for
        ("bleu", "50:0 600:0", "was 0 in 12 evaluations"),
        ("eval_wer", "50:1 600:1", "was 1 in 12 evaluations"),
        ("eval_wer", "50:100 600:100", "was 100 in 12 evaluations"),
        ("eval_cer", "50:0.995 600:0.999", "never fell below 0.995"),
        ("eval_wer", "50:1 600:0.985", ""),  # something is right
        ("eval_wer", "50:1.4 600:1.2", ""),  # an answer that is too long is on its way
        ("accuracy", "50:0 600:0", ""),  # who knows of what
        ("mAP", "50:0.02 600:0.02", ""),
    ],
)
def test_nothing_is_right_in_any_words(name: str, course: str, told: str) -> None:
    """Rates of errors that are whole, and scores that do not say of which set they are."""
    findings = said(name, course).findings
    assert bool(findings) == bool(told)
    assert not told or told in findings[0].title


def test_a_score_of_nothing_beside_a_loss_that_stays_is_not_of_the_evaluation() -> None:
    """Nothing was learned that could arrive there; from a fall of 15 % on something was."""
    (finding,) = said("eval_dice", "50:0 600:0", "0:2 600:1.75").findings
    assert (finding.severity, finding.causes) == ("info", ())
    assert "nothing shows that the run had the time to learn" in finding.seen
    assert not said("eval_dice", "50:0.002 600:0.001", "0:2 600:1.75").findings
    assert said("eval_dice", "50:0.0099 600:0.0099", "0:2 600:1.6").findings


def of_accuracy(*value: float) -> Outcome:
    """Ask the rule about evaluations of a run that logs nothing else."""
    step = np.arange(1, len(value) + 1)
    run = Run("s", "s", History({"eval_accuracy": columns(step, np.array(value))}), task="other")
    return examine(RULE, run, Signals(run))


def test_a_score_that_is_the_same_to_the_last_digit() -> None:
    """Whatever else is logged: what is evaluated does not change."""
    (finding,) = of_accuracy(*[0.110204] * 6).findings
    assert "was 0.110204 at each of 6 evaluations, from step 1 on" in finding.title
    assert of_accuracy(*[11.0204] * 6).findings  # in percent
    (finding,) = of_accuracy(*[0.110204] * 5, 0.110209).findings
    assert "the same to the fourth digit" in finding.title


@pytest.mark.parametrize(
    ("error", "ends", "found"),
    [(521.5, 90.0, True), (521.5, 206.0, False), (0.0, 90.0, False)],
)
def test_an_error_that_never_moves_while_the_loss_does(
    error: float, ends: float, *, found: bool
) -> None:
    """All outputs are one number; where the loss stands as well, or nothing is wrong, it may."""
    step = np.arange(1, 9)
    series = {
        "eval_loss": columns(step, np.linspace(206.0, ends, 8)),
        "eval_mse": columns(step, np.full(8, error)),
    }
    run = Run("s", "s", History(series), task="regression")
    titles = [one.title for one in examine(RULE, run, Signals(run)).findings]
    assert any("Eval mse was 521.5 at each of 8 evaluations" in one for one in titles) is found


@pytest.mark.parametrize(
    "value",
    [
        [0.110204] * 5,  # too few
        [0.110204] * 5 + [0.110225],
        [14 / 15] * 9,  # of a set of 15 samples
        [98 / 99] * 9,
        [0.9012] * 9,  # little is left to gain
        [1.0] * 9,
    ],
)
def test_scores_that_may_stay_where_they_are(value: list[float]) -> None:
    """By chance, of few samples, or as all is solved."""
    assert not of_accuracy(*value).findings
    assert of_accuracy(*[97 / 101] * 9).findings == ()  # solved, of however many
    assert of_accuracy(*[77 / 101] * 9).findings


def test_a_score_of_zero_at_each_evaluation_is_one_without_a_loss_too() -> None:
    """Whatever the table calls it; one answer that is right, or five evaluations, are no fault."""
    for name, value, found in (
        ("eval_accuracy", [0.0] * 6, 1),
        ("F1", [0.0] * 6, 1),
        ("F1", [0.0] * 5, 0),
        ("F1", [0.0] * 5 + [0.004], 0),
    ):
        step = np.arange(1, len(value) + 1)
        run = Run("s", "s", History({name: columns(step, np.array(value))}), task="other")
        findings = examine(RULE, run, Signals(run)).findings
        assert len(findings) == found
        assert not findings or f"was 0 in {len(value)} evaluations" in findings[0].title


@pytest.mark.parametrize(
    ("loss", "right", "begins", "train", "found"),
    [
        (0.71, 0.53, 0.7, 0.61, True),
        (0.71, 53.0, 0.7, 0.61, True),  # in percent
        (0.69, 0.53, 0.7, 0.61, False),  # better than a coin
        (0.71, 0.61, 0.7, 0.61, False),
        (0.71, 0.53, 0.7, 0.67, False),  # nor did training learn anything
        (0.71, 0.53, 0.9, 0.61, True),
        (0.71, 0.53, 0.95, 0.61, False),  # of more classes
    ],
)
def test_evaluations_of_a_coin_while_training_learns(
    loss: float, right: float, begins: float, train: float, found: bool
) -> None:
    """Two classes: no evaluation loss below ln 2, and half of the answers are right."""
    step = np.arange(1, 13)
    series = {
        "train_loss": columns(step, np.linspace(begins, train, 12)),
        "eval_loss": columns(step, np.linspace(loss, loss + 0.02, 12)),
        "eval_accuracy": columns(step, right * (1 + 0.01 * np.cos(step))),
    }
    run = Run("s", "s", History(series), task="classification")
    titles = [one.title for one in examine(RULE, run, Signals(run)).findings]
    assert any("never better than a coin" in title for title in titles) is found


def memorised(score: list[float], end: float = 0.01, metric: str = "eval_accuracy") -> Outcome:
    """Ask about scores beside a training loss that falls from 2 to `end`."""
    step = np.arange(1, len(score) + 1)
    series = {
        "train_loss": columns(step, np.geomspace(2.0, end, len(score))),
        metric: columns(step, np.array(score)),
    }
    run = Run("s", "s", History(series), task="classification")
    return examine(RULE, run, Signals(run))


STANDS = [0.12, 0.1, 0.07, 0.17, 0.2, 0.31, *[0.29, 0.31, 0.28, 0.3, 0.27] * 4]


@pytest.mark.parametrize("metric", ["eval_accuracy", "train_accuracy"])
def test_a_low_accuracy_that_stands_while_the_training_rows_are_memorized(metric: str) -> None:
    """Named after training too: of its rows no more than loss / ln 2 can be wrong."""
    (finding,) = memorised(STANDS, 1e-3, metric).findings
    assert finding.onset.step == 6
    assert "accuracy stood at 0.28 (median of the last 3)" in finding.title.lower()
    for other in (
        [one + 0.3 for one in STANDS],  # most answers are right
        [*STANDS[:6], *np.linspace(0.3, 0.45, 20)],  # it goes on
        [*np.linspace(0.05, 0.3, 20), *STANDS[-6:]],  # it stands for the last quarter alone
        STANDS[2:13],  # too few
    ):
        assert not memorised(other, 1e-3, metric).findings
    assert not memorised(STANDS, 0.2, metric).findings  # training has more to learn


@pytest.mark.parametrize(("per", "what"), [(1, "evaluation mode"), (0.5, "memorized")])
def test_rows_that_were_seen_once_are_not_memorized(per: float, what: str) -> None:
    """A score that stands from the first evaluation on, after one pass or two."""
    curves: dict[str, Any] = {
        "train_loss": "/1 1:1.8 3:0.8 8:0.2 16:0.05",
        "eval_loss": "/1 1:2.4 16:4.6",
        "eval_accuracy": "/1 1:0.15 16:0.14",
    }
    run = drawn("first", task="classification", steps_per_epoch=per, **curves).run()
    (finding,) = examine(RULE, run, Signals(run)).findings
    assert what in finding.causes[0].what.lower()
    assert ("memorizing is not the reason" in finding.seen) is (per == 1)


def test_an_accuracy_that_the_loss_allows_is_that_of_training() -> None:
    """At a loss of 0.3 nearly nine of twenty rows may be wrong."""
    own = [0.12, 0.1, 0.2, 0.31, *[0.3, 0.29, 0.28] * 7]
    assert not memorised(own, 0.3, "train_accuracy").findings


def test_a_score_that_never_rose_while_the_training_rows_were_learned_by_heart() -> None:
    """Nine tenths of its loss are gone, and fewer answers are right than at first."""
    low = [0.17, 0.02, 0.1, 0.08, 0.09, 0.1, 0.09, 0.08]
    (finding,) = memorised(low).findings
    assert "it was 0.17 at the first of 8 evaluations and 0.09 at the end" in finding.title
    assert memorised([100 * one for one in low]).findings
    for other in (
        [0.02, *low[1:-3], 0.17, 0.18, 0.17],  # it rose
        [0.05, *np.linspace(0.01, 0.047, 14)],  # on its way again
        [0.6, 0.5, 0.58, 0.55, 0.57, 0.53, 0.55, 0.56],  # most answers are right
        low[:5],  # too few
    ):
        assert not memorised(other).findings
    assert memorised([0.52, *low[1:-3], 0.48, 0.49, 0.48]).findings  # a little below half
    guessed = [0.099, 0.104, 0.1, 0.102, 0.105, 0.103, 0.106, 0.107, 0.108]
    assert memorised(guessed).findings  # by less than one of a hundred
    assert not memorised([0.05 * k + 0.06 for k in range(8)]).findings
    assert not memorised(low, end=0.5).findings  # training has much to learn


@pytest.mark.parametrize(("order", "found"), [((1, 2, 3, 4, 6, 5), 0), ((1, 2, 4, 3, 6, 5), 1)])
def test_a_low_score_is_on_its_way_where_its_rise_is_no_chance(
    order: tuple[int, ...], found: int
) -> None:
    """Of six evaluations in a random order 1 in 20 and fewer rise as far."""
    step = np.arange(1, 7) * 100
    series = {
        "train_loss": columns(step, np.linspace(5.0, 1.0, 6)),
        "eval_dice": columns(step, np.array(order) / 1000),
    }
    run = Run("s", "s", History(series), task="other")
    assert len(examine(RULE, run, Signals(run)).findings) == found


def test_accuracy_that_gains_a_fifth_of_what_training_gains_excuses_nothing() -> None:
    """A third does."""
    for accuracy, status in ((0.18, "found"), (0.20, "passed")):
        run = lagging(accuracy).run()
        assert examine(RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(("best", "found"), [(1.75, True), (1.33, False)])
def test_rows_that_made_other_rows_better_are_not_only_memorized(best: float, found: bool) -> None:
    """An accuracy of twenty rows is coarse: their loss shows what was learned."""
    step = np.arange(1, 13)
    series = {
        "train_loss": columns(step, np.geomspace(2.0, 0.05, 12)),
        "eval_accuracy": columns(step, np.array([0.3, 0.2, 0.3, 0.25, 0.35, 0.3] * 2)),
        "eval_loss": columns(step, np.linspace(1.8, best, 12)),
    }
    run = Run("s", "s", History(series), task="classification")
    titles = [one.title for one in examine(RULE, run, Signals(run)).findings]
    assert any("never rose" in title for title in titles) is found


def worst(task: Task = "other", epochs: float = 10.0, **metrics: tuple[float, ...]) -> Outcome:
    """Ask about evaluations over some epochs, the last of them at step 600; the loss stays."""
    found = {}
    for name, row in {"train_loss": (2.0, 2.1, 2.0, 2.1), **metrics}.items():
        step = np.linspace(0, 600, len(row) + 1).astype(int)[1:]
        found[name] = columns(step, np.array(row), step / 600 * epochs)
    run = Run("s", "s", History(found), task=task, state=State(done_steps=600))
    return examine(RULE, run, Signals(run))


ZERO = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("metrics", "severity"),
    [
        ({"eval_map": ZERO}, "warning"),
        ({"eval_map": ZERO, "eval_accuracy": (0.9, 0.9, 0.9)}, "warning"),  # a frequent class
        ({"eval_wer": (1.0, 1.0, 1.0)}, "warning"),
        ({"eval_wer": (100.0, 100.0, 100.0)}, "warning"),
        ({"eval_map": ZERO[:2]}, "warning"),
        ({"eval_map": ZERO[:1]}, ""),  # too few
        ({"eval_map": (0.0, 0.0, 0.001)}, ""),
        ({"eval_wer": (1.0, 1.02, 1.0)}, ""),  # is on its way
        ({"eval_map": ZERO, "eval_f1": (0.1, 0.2, 0.2)}, ""),  # something is right
        ({"eval_em": ZERO}, ""),  # strict
        ({"eval_best_map": ZERO}, ""),
    ],
)
def test_the_worst_value_late_in_a_run(metrics: Any, severity: str) -> None:
    """Whatever the loss does; no other score may be better."""
    findings = worst(**metrics).findings
    assert (findings[0].severity if findings else "") == severity


def test_the_score_of_the_whole_set_is_told() -> None:
    """Not that of one sample."""
    (finding,) = worst(eval_sample_wer=(1.0,) * 3, eval_wer=(1.0,) * 3).findings
    assert finding.title.startswith("Eval wer was 1 in 3 evaluations")


def test_early_in_a_run_it_is_a_slow_start() -> None:
    """Below ten epochs, or three tenths of the plan, nothing is said; of few updates an info."""
    assert not worst(epochs=9, eval_map=ZERO).findings
    case = drawn("s", noise=0, train_loss="0:2 300:2", eval_map="100:0 300:0").run()
    curves = {name: case.curve(name) for name in ("train_loss", "eval_map")}

    def told(state: State) -> str:
        series = {name: columns(one.step, one.value, one.epoch) for name, one in curves.items()}
        run = Run("s", "s", History(series), task="other", state=state)
        findings = examine(RULE, run, Signals(run)).findings
        return findings[0].severity if findings else ""

    assert not told(State(done_steps=300, planned_steps=1200))
    assert told(State(done_steps=300, planned_steps=900)) == "info"  # of 300 updates
    assert not told(State(done_steps=300))  # five evaluations, and nothing says how late
    many = drawn("s", noise=0, train_loss="0:2 300:2", eval_map="0:0 300:0").run()
    curves = {name: many.curve(name) for name in ("train_loss", "eval_map")}
    assert told(State(done_steps=300)) == "info"


def test_a_score_of_nothing_that_training_has_as_well_is_not_blamed_on_the_evaluation() -> None:
    """An output that is never right in training either: the evaluation shows what is there."""
    losses: dict[str, Any] = {"train_loss": "0:2 600:0.5", "eval_dice": "50:0 600:0"}
    for own, told in ("", True), ("0:0 600:0", False), ("0:0 600:0.4", True):
        mine: dict[str, Any] = {"dice": own} if own else {}
        run = drawn("s", noise=0, **losses, **mine).run()
        (finding,) = examine(RULE, run, Signals(run)).findings
        assert bool(finding.causes) is told


@pytest.mark.parametrize(
    ("train", "evals", "told"),
    [
        (
            "0:0.04 150:0.0036 300:0.0035 1000:0.001",
            "0:0.006 100:0.0031 200:0.00295 1000:0.003",
            True,
        ),
        (
            "0:0.04 150:0.0036 300:0.0035 1000:0.003",
            "0:0.006 100:0.0031 200:0.00295 1000:0.003",
            False,
        ),
        (
            "0:0.04 150:0.0036 300:0.0035 1000:0.001",
            "0:0.006 100:0.0031 600:0.00295 1000:0.003",
            False,
        ),
        (
            "0:0.04 150:0.0036 300:0.0035 1000:0.001",
            "0:0.006 100:0.0031 200:0.00295 1000:0.0034",
            False,
        ),
        ("0:0.04 150:0.0036 300:0.0035 1000:0.001", "0:0.006 100:0.003 170:0.00295", False),  # few
    ],
)
def test_evaluation_that_was_best_early_and_stands(train: str, evals: str, *, told: bool) -> None:
    """Nothing is lost, and nothing of what training gains carries over."""
    run = drawn("s", noise=0, task="other", train_loss=train, eval_loss=f"/10 {evals}").run()
    diagnosis = diagnose(run)
    flat = next((one for one in diagnosis.findings if one.rule == "eval-flat"), None)
    assert (flat is not None and "none of" in flat.title) is told
    if flat:
        assert flat.title.startswith("Eval loss did not improve from step 200 on")
        assert "differs from training" not in str(diagnosis.causes)
