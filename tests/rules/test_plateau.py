"""Plateaus by task: which level counts, and who knows it."""

from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.loss.plateau import RULE
from runlens.rules.loss.shelf import still_of
from runlens.rules.rule import drawn
from runlens.run import Run, Setting, State, Task
from runlens.signals import Signals
from tests.rules.said import explained

RATE = "0:2e-5 900:2e-5"


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


@pytest.mark.parametrize(("masked", "status"), [(False, "found"), (None, "passed")])
def test_level_of_chat_data_needs_chat_data(masked: bool | None, status: str) -> None:
    """2.9 is high where prompts are masked, and usual for raw text."""
    config = {} if masked is None else {"train_on_inputs": masked}
    curve = "0:4.5 80:2.95 900:2.9"
    run = drawn("level", 0, config=config, train_loss=curve, learning_rate=RATE).run()  # type: ignore[arg-type]
    assert ask(run).status == status


def test_rate_that_is_gone_early_is_the_cause() -> None:
    """A learning rate that decays within a tenth of the run is named first."""
    rate = "0:1e-3 10:1e-3 60:1e-5 900:1e-9"
    run = drawn(
        "gone",
        task="pretrain",
        config={"vocab_size": 509},
        train_loss="0:6.2 60:5.4 900:5.38",
        learning_rate=rate,
    ).run()
    assert explained("plateau", run).causes[0].kind == "rate-zero"


def test_trained_language_model_has_no_limit() -> None:
    """Going on with a model that is far below chance is never loud."""
    run = drawn(
        "continued",
        task="pretrain",
        noise=0.005,
        config={"vocab_size": 32000},
        train_loss="0:3.4 60:3 900:2.98",
        learning_rate=RATE,
    ).run()
    assert all(finding.severity == "info" for finding in ask(run).findings)


@pytest.mark.parametrize("config", [{}, {"vocab_size": 50265}])
def test_a_sum_over_accumulated_batches_is_judged_against_its_own_start(
    config: dict[str, int],
) -> None:
    """Sixteen times 10.9 is no loss of a token: no level of text counts, half of the start does."""
    run = drawn(
        "summed",
        task="pretrain",
        config=config,
        train_loss="0:174 100:110 900:104 3000:103",
        learning_rate="0:3e-4 3000:3e-4",
    ).run()
    assert "of its start" in ask(run).findings[0].evidence[0].source
    low = drawn("low", task="pretrain", config=config, train_loss="0:174 100:60 3000:58").run()
    assert ask(low).status == "passed"


def test_a_standstill_beside_evaluations_that_improve_passes() -> None:
    """Held-out data decide."""
    train = "0:5.2 80:4.3 900:4.25"
    alone = drawn("alone", train_loss=train, learning_rate=RATE)
    beside = drawn("b", train_loss=train, learning_rate=RATE, eval_loss="50:1.4 900:1.06")
    assert ask(alone.run()).status == "found"
    assert "eval loss improved" in ask(beside.run()).reason


def test_evidence_says_what_the_limit_is() -> None:
    """A number alone cannot be argued with."""
    run = drawn("title", train_loss="0:5.2 100:4.3 900:4.3", learning_rate=RATE).run()
    assert "fine-tuning on raw text ends below 3.2" in ask(run).findings[0].evidence[0].source


def test_a_preference_loss_that_is_a_sum_has_no_level() -> None:
    """Ten pairs added up start at ten times ln 2: nothing is flat above ln 2."""
    case = drawn("summed", task="dpo", noise=0.01, train_loss="0:6.93 300:3.5 2000:3.47")
    outcome = RULE.check(case.run(), Signals(case.run()), RULE.limits)
    assert outcome.status != "found"


def of(task: Task, curve: str, done: int = 0, **config: Setting) -> Run:
    """Draw a run without noise; `done`: the steps of a plan of 3,600 after which it crashed."""
    state = State("crashed", done_steps=done, planned_steps=3600) if done else None
    return drawn("x", noise=0.0, task=task, config=config, state=state, train_loss=curve).run()


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (of("regression", "0:8 80:4.5 900:4.48"), "warning"),
        (of("regression", "0:8 80:4.4 900:4.35"), "loss ends at"),
        (of("regression", "0:8 80:6 900:5.8 ~0.06/70"), "warning"),
        (of("regression", "0:8 80:6 900:5.5"), "loss gained"),
        (of("regression", "0:8 80:5 900:5.7"), "warning"),
        (of("regression", "0:8 80:5 900:6.2"), "loss rose by"),
        (of("regression", "0:5 80:4.84 900:4.82"), "warning"),
        (of("regression", "0:5 80:4.88 900:4.87"), "too little for a plateau"),
        (of("regression", "0:8 10:5 70:4.9"), "info"),
        (of("regression", "0:8 10:5 110:4.9"), "warning"),
        (of("regression", "0:8 10:5 100:4.9"), "info"),
        (of("regression", "0:8 10:5 60:4.9"), "only 7 values"),
        (of("regression", "0:8 80:1 900:1"), "warning"),  # constant to the last digit
        (of("regression", "0:8 80:1 900:0.999"), "loss ends at"),
        (of("other", "0:8 80:2.9 900:2.85"), "info"),
        (of("other", "0:8 80:2.75 900:2.7"), "loss ends at"),
        (of("asr", "0:9 80:2.8 900:2.75"), "warning"),
        (of("asr", "0:9 80:2.65 900:2.6"), "loss ends at"),
        (of("dpo", "0:0.72 80:0.686 900:0.684"), "warning"),
        (of("dpo", "0:0.72 80:0.682 900:0.68"), "loss ends at"),
        (of("sft", "0:5.5 80:3.3 900:3.25"), "warning"),
        (of("sft", "0:5.4 80:3.3 900:3.25"), "loss ends at"),
        (of("sft", "0:5.4 80:3.9 900:3.85"), "warning"),
        (of("sft", "0:5.4 80:2.6 900:2.55", chat_template="chatml"), "warning"),
        (of("sft", "0:5.4 80:2.5 900:2.45", chat_template="chatml"), "loss ends at"),
        (of("pretrain", "0:9 80:5.2 900:5.1"), "warning"),
        (of("pretrain", "0:5 80:3.75 900:3.7"), "loss ends at"),
        (of("pretrain", "0:5 80:3.9 900:3.85"), "warning"),
        (of("regression", "0:8 80:5 900:4.95", done=890), "info"),
        (of("regression", "0:8 80:5 900:4.95", done=900), "warning"),
    ],
)
def test_a_plateau_is_told_from_its_look_alikes_at_the_limits(run: Run, said: str) -> None:
    """The last number that is one, and the first that is not."""
    made = ask(run)
    assert said in (made.findings[0].severity if made.findings else made.reason)


@pytest.mark.parametrize(
    ("curve", "words"),
    [("0:8 80:6 900:5.9", "fell by only 1"), ("0:8 80:5 900:5.7", "on, at 5.627")],
)
def test_a_plateau_is_told_with_the_first_and_the_last_number(curve: str, words: str) -> None:
    """How it began, how little it fell, and what evaluation said at the end."""
    case = drawn("x", noise=0.0, task="regression", train_loss=curve, eval_loss="50:9 850:9 900:7")
    (finding,) = ask(case.run()).findings
    assert "began at 8.000" in finding.seen
    assert words in finding.title
    assert {one.what: one.value for one in finding.evidence}["Last eval loss"] == 7


def test_a_loss_that_creeps_in_noise_stands_from_where_it_reached_its_later_level() -> None:
    """Within its noise of the median of its last three quarters, not of its last fifth."""
    curve = "0:2.1 120:1.97 900:1.94"
    case = drawn("creeps", noise=0.02, task="classification", train_loss=curve)
    found = ask(case.run()).findings[0].onset.step
    assert found is not None
    assert 50 <= found <= 150


@pytest.mark.parametrize(
    ("level", "last", "severity"),
    [
        (0.13, 100, ""),  # less than half of what a coin leaves
        (0.45, 100, "info"),  # ten epochs
        (0.45, 140, "warning"),
    ],
)
def test_few_epochs_of_a_classifier_are_no_warning(level: float, last: int, severity: str) -> None:
    """The first row of few is the mean of an epoch, in which most was learned."""
    curve = f"0:{1.2 * level} 10:{1.05 * level} 20:{level} {last}:{level}"
    run = drawn("epochs", noise=0.001, task="classification", train_loss=curve).run()
    found = ask(run).findings
    assert (found[0].severity if found else "") == severity


def test_few_points_of_a_frozen_loss_are_a_warning() -> None:
    """To the last digit the same: that is no chance."""
    curve = "0:8 10:5 80:5"
    assert ask(drawn("frozen", noise=0.0, train_loss=curve).run()).findings[0].severity == "warning"


@pytest.mark.parametrize(
    ("curve", "knee"),
    [
        ("0:4 100:2.8 1000:2.6", 10),  # it drifts on; most of its fall lies before the bend
        ("0:4 100:3.4 1000:2.6", 51),  # less than two thirds
        ("0:4 100:2.6 1000:2.6", 10),
    ],
)
def test_where_a_fall_ends(curve: str, knee: int) -> None:
    """At the bend of its first half where what follows only drifts."""
    value = drawn("falls", noise=0, train_loss=curve).run().curve("train_loss").value
    assert abs(still_of(value).knee - knee) <= 3


def test_what_falls_ever_faster_has_no_bend() -> None:
    """It never came to a level, so it stands where it began."""
    assert still_of(4.0 - np.linspace(0.0, 1.0, 40) ** 2).knee == 0


@pytest.mark.parametrize(
    ("end", "evals", "status"),
    [
        (0.466, "20:0.6 100:0.5 900:0.5", "passed"),
        (
            0.466,
            "20:0.6 100:0.48 900:0.47",
            "found",
        ),  # evaluation lies beside it: more can be learned
        (0.466, "20:0.57 300:0.57 900:0.5", "passed"),  # it still gains: held-out data improve
        (0.466, "20:0.5 900:0.5", "found"),  # it never learned anything
        (0.4745, "20:0.6 100:0.5 900:0.5", "found"),  # training stands still as well: it is stuck
    ],
)
def test_training_that_fits_on_where_evaluation_gains_nothing(
    end: float, evals: str, status: str
) -> None:
    """A table of few columns: what is left is in the data, and no rate would take it away."""
    run = drawn(
        "ceiling",
        noise={"train_loss": 0.005, "eval_loss": 0.003},
        task="classification",
        train_loss=f"0:0.66 80:0.475 900:{end}",
        eval_loss=f"{evals} /50",
    ).run()
    assert ask(run).status == status


@pytest.mark.parametrize(
    ("right", "status"),
    [
        ("0:0.9 100:0.97 900:0.98", "passed"),
        ("0:0.5 100:0.94 900:0.945", "found"),  # one in eighteen is wrong
        ("0:0.5 100:0.95 900:0.955", "passed"),
        ("0:0.97 100:0.97 900:0.975", "found"),  # a frequent class: as right from the first on
        ("0:90 100:97 900:98", "passed"),  # in percent
    ],
)
def test_a_flat_loss_of_a_task_that_is_solved_is_at_its_floor(right: str, status: str) -> None:
    """A cross-entropy of probabilities ends at 1.46 for ten classes: nearly all are right."""
    run = drawn(
        "floor",
        noise={"train_loss": 0.001},
        task="classification",
        train_loss="0:1.73 100:1.5 900:1.466",
        train_accuracy=right,
    ).run()
    assert ask(run).status == status


@pytest.mark.parametrize(("rise", "least", "most"), [(0.0, 6, 10), (0.5, 0, 0)])
def test_noise_that_moves_the_smoothed_curve_is_no_rise(rise: float, least: int, most: int) -> None:
    """A range of the smoothed curve that noise explains leaves a classifier's loss flat."""
    step = np.arange(10, 510, 10)
    level = np.interp(step, [10, 50, 250, 500], [1.1, 0.78, 0.78, 0.78 + rise])
    found = 0
    for seed in range(10):
        noisy = level + np.random.default_rng(seed).normal(0, 0.11, len(step))
        run = Run("s", "s", History({"train_loss": columns(step, noisy)}), task="classification")
        found += ask(run).status == "found"
    assert least <= found <= most


@pytest.mark.parametrize(("noise", "status"), [(0.0002, "passed"), (0.004, "found")])
def test_a_loss_that_falls_from_point_to_point_is_slow_and_not_flat(
    noise: float, status: str
) -> None:
    """2 % in three quarters of the run, at each point a little."""
    curve = "0:5.7 200:3.45 900:3.35"
    config = {"train_on_inputs": False}
    run = drawn("slow", noise=noise, config=config, train_loss=curve, learning_rate=RATE).run()
    assert ask(run).status == status


@pytest.mark.parametrize(
    ("first", "noise", "evals", "severity"),
    [
        (2.9, 0.01, "", "info"),  # a model that was trained before may begin there
        (2.9, 0.01, "50:2.5 900:2.5 /50", "warning"),  # evaluation does not improve either
        (9.0, 0.01, "", "warning"),  # no trained model begins there
        (9.0, 0.04, "", "info"),  # under the noise it may still fall
    ],
)
def test_of_an_unknown_task_a_standstill_needs_a_second_sign(
    first: float, noise: float, evals: str, severity: str
) -> None:
    """A share of its start is no level that anybody knows."""
    more: dict[str, Any] = {"eval_loss": evals} if evals else {}
    curve = f"0:{first} 80:{0.8 * first} 900:{0.795 * first}"
    shaken = {"train_loss": noise, "eval_loss": 0.002}
    run = drawn("unknown", noise=shaken, task="other", train_loss=curve, **more).run()
    assert [one.severity for one in ask(run).findings] == [severity]


@pytest.mark.parametrize(
    ("moves", "evals", "severity"),
    [
        (4e-4, "0:0.5 900:0.51", ["info"]),
        (4e-4, "0:0.5 900:0.45", []),  # evaluation gets better
        (4e-4, "0:0.5 60:0.51", []),  # of few evaluations
        (4e-3, "0:0.5 900:0.51", []),  # it moves
        (2e-5, "0:0.5 900:0.45", ["warning"]),
    ],
)
def test_a_loss_that_hardly_moves_beside_evaluations_best_at_first_is_noted(
    moves: float, evals: str, severity: list[str]
) -> None:
    """Far below its start a constant answer and all there is to learn look alike."""
    swings = " ".join(f"{at}:{1 + moves * (at % 60 == 0)}" for at in range(60, 931, 30))
    run = drawn(
        "still", noise=0, task="other", train_loss=f"0:15 {swings} /30", eval_loss=f"{evals} /30"
    ).run()
    assert [one.severity for one in ask(run).findings] == severity
