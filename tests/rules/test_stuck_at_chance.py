"""Chance by settings, by accuracy, by a known vocabulary; and where it cannot be known."""

from math import log
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.loss import chance
from runlens.rules.loss.stuck_at_chance import RULE
from runlens.rules.rule import drawn
from runlens.run import Run, Setting, State
from runlens.signals import Signals

LN4 = "0:1.386 900:1.386"


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


def test_level_alone_is_unmet() -> None:
    """A loss of ln 4 without a number of classes says nothing."""
    run = drawn("who knows", task="classification", noise=0.005, train_loss=LN4).run()
    assert ask(run).status == "unmet"


def test_wrong_setting_gives_way_to_loss_and_accuracy() -> None:
    """200 classes by the settings, but loss ln 4 and an accuracy of 25 percent."""
    run = drawn(
        "percent",
        task="classification",
        noise=0.003,
        config={"num_labels": 200},
        train_loss=LN4,
        eval_accuracy="50:25 900:25",
    ).run()
    finding = ask(run).findings[0]
    assert "ln 4" in finding.title


def test_known_vocabulary_is_enough_where_nothing_moves() -> None:
    """A flat loss of ln 50,257 is GPT-2 at chance; a moving one is not."""
    run = drawn("gpt2", task="pretrain", noise=0.0005, train_loss="0:10.825 900:10.825").run()
    assert ask(run).findings[0].severity == "critical"
    moving = drawn("moving", task="pretrain", train_loss="0:11.2 900:10.5", noise=0.0005).run()
    assert ask(moving).status == "unmet"


@pytest.mark.parametrize(
    ("config", "curve", "status"),
    [
        ({"nmb_prototypes": 50}, "0:4.3 100:3.912 900:3.912", "found"),
        ({"nmb_prototypes": 50}, "0:4.3 100:3.93 900:3.90", "unmet"),  # it moves
        ({"nmb_prototypes": 60}, "0:4.3 100:3.912 900:3.912", "unmet"),
        ({"warmup": 0, "amp": True, "name": "a"}, "0:4.3 100:0.0 900:0.0", "unmet"),
    ],
)
def test_a_number_of_the_settings_explains_a_loss_that_no_longer_moves(
    config: dict[str, Setting], curve: str, status: str
) -> None:
    """Whatever the run trains, and whatever it calls what it chooses from."""
    run = drawn("swav", task="other", noise=0, config=config, train_loss=curve).run()
    assert ask(run).status == status


def test_an_empty_curve_has_no_level() -> None:
    """A run of an unknown task that logged no loss."""
    assert ask(drawn("none", task="other", reward="0:1 900:2").run()).status == "unmet"


def test_first_steps_of_a_long_plan_are_unmet() -> None:
    """A tenth of the plan must be done."""
    state = State(done_steps=400, planned_steps=9_000)
    config: dict[str, Setting] = {"vocab_size": 50257}
    run = drawn(
        "begun", task="pretrain", config=config, state=state, train_loss="0:10.8 400:10.8"
    ).run()
    assert ask(run).status == "unmet"


@pytest.mark.parametrize(
    ("task", "config", "level"),
    [
        ("classification", {"id2label.0": "no", "id2label.1": "yes"}, log(2)),
        ("contrastive", {"per_device_train_batch_size": 32, "num_processes": 4}, log(128)),
        ("dpo", {}, log(2)),
        ("dpo", {"loss_type": "hinge"}, 1.0),
        ("dpo", {"loss_type": "ipo", "beta": 0.1}, 25.0),
    ],
)
def test_chance_of_each_task(task: str, config: dict[str, Setting], level: float) -> None:
    """Loss at chance follows from the settings."""
    run = drawn("any", task=task, config=config, train_loss="0:1 100:1").run()  # type: ignore[arg-type]
    known = chance.of_run(run)
    assert known is not None
    assert known.level == pytest.approx(level)


def test_windows_lower_the_chance_of_a_language_model() -> None:
    """47 of 48 tokens are predicted in a window of 48."""
    known = chance.of_vocabulary(509, 48)
    assert known is not None
    assert known.lowest == pytest.approx(log(509) * 47 / 48)


def test_epochs_of_a_long_plan_are_no_first_steps() -> None:
    """40 of 400 epochs are thousands of updates; 40 of 400 steps may be a slow start."""
    text = "0:2.3026 10:2.3026 20:2.3026 30:2.3026"
    for state, status in (
        (State("running", done_epochs=39.0, planned_epochs=400.0), "found"),
        (State("running", done_epochs=0.9, planned_epochs=10.0), "unmet"),
    ):
        run = drawn("d", task="classification", noise=1e-5, state=state, train_loss=text).run()
        assert ask(run).status == status


def test_an_unknown_task_that_never_left_a_guess_is_an_info() -> None:
    """A constant ln 6 from the first row on is said; what fell to it may be done."""
    stays = drawn("stays", task="other", noise=2e-3, train_loss="0:1.80 100:1.792 900:1.792")
    fell = drawn("fell", task="other", noise=2e-3, train_loss="0:3.6 100:1.792 900:1.792")
    for case, severities in ((stays, ["info"]), (fell, [])):
        run = case.run()
        outcome = RULE.check(run, Signals(run), RULE.limits)
        assert [one.severity for one in outcome.findings] == severities


def test_evaluations_that_lie_still_name_the_number_of_classes() -> None:
    """Of the same rows each time: ln 4 to the digit, where single batches scatter about it."""
    for evals, status in (("50:1.3863 900:1.3863", "found"), ("50:1.37 900:1.37", "unmet")):
        train = {"train_loss": "0:1.394 900:1.394", "eval_loss": evals}
        noise = {"train_loss": 0.002}
        run = drawn("named", noise=noise, task="classification", **train).run()  # type: ignore[arg-type]
        assert ask(run).status == status


def test_the_mean_of_a_wild_beginning_is_no_onset() -> None:
    """A loss that swings about chance is not there yet; what follows is calm."""
    swing = " ".join(f"{n}:{1.9 if n % 4 else 0.87}" for n in range(40, 98, 2))
    later = " ".join(f"{n}:{1.416 if n % 4 else 1.356}" for n in range(98, 502, 2))
    config: dict[str, Setting] = {"num_labels": 4}
    curve = f"0:2.6 10:2.3 20:2.1 30:1.9 38:1.7 {swing} {later}"
    run = drawn("wild", noise=0, task="classification", config=config, train_loss=curve).run()
    (found,) = ask(run).findings
    assert found.onset.step is not None
    assert abs(found.onset.step - 98) <= 10


def test_a_contrastive_loss_at_ln_of_a_usual_batch() -> None:
    """CLIP's is ln N, SimCLR's ln(2N - 1); other levels are those of a temperature."""
    for level, status in ((log(256), "found"), (log(127), "found"), (5.40, "unmet")):
        curve = f"0:{level} 900:{level}"
        case = drawn("pairs", task="contrastive", noise=0.0005, train_loss=curve)
        run = case.run()
        assert examine(RULE, run, Signals(run)).status == status


def test_one_answer_of_a_model_of_nan_is_left_to_the_nan() -> None:
    """Its accuracy is that of one class at each evaluation; why is told by nan-loss."""
    run = drawn(
        "lost",
        noise={},
        task="classification",
        train_loss="0:1.8 200:0.6 210:nan 900:nan",
        eval_loss="50:1.7 200:1.62 250:nan 900:nan",
        eval_accuracy="50:0.198 900:0.198",
    ).run()
    outcome = ask(run)
    assert "nan-loss" in outcome.yields_to


@pytest.mark.parametrize(
    ("precision", "evals", "severity"),
    [(3 / 7, 3, ""), (9 / 49, 1, ""), (9 / 49, 2, "info"), (9 / 49, 4, "warning")],
)
def test_a_precision_that_is_the_square_of_the_accuracy_is_of_one_answer(
    precision: float, evals: int, severity: str
) -> None:
    """As scikit-learn weights it, whatever the losses are."""
    step = np.arange(1, evals + 1)
    series = {
        "eval_loss": columns(step, np.linspace(0.9, 0.2, evals)),
        "eval_accuracy": columns(step, np.full(evals, 3 / 7)),
        "eval_precision": columns(step, np.full(evals, precision)),
    }
    run = Run("s", "s", History(series), task="classification")
    findings = ask(run).findings
    assert (findings[0].severity if findings else "") == severity
    assert not findings or "square of its accuracy" in findings[0].seen


def test_one_answer_of_the_commonest_class_scores_alike_in_training() -> None:
    """A good model may stay at 0.957 in evaluation, not to the last digit in both."""
    for train, status in ((0.957, "found"), (0.971, "unmet")):
        run = drawn(
            "commonest",
            noise={},
            task="classification",
            train_loss="0:0.226 250:0.193",
            train_accuracy=f"0:{train} 250:{train}",
            eval_loss="50:0.212 250:0.194",
            eval_accuracy="50:0.957 250:0.957",
        ).run()
        assert ask(run).status == status


@pytest.mark.parametrize(
    ("area", "found"),
    [("50:0.6 300:0.69 350:0.5 900:0.5", True), ("50:0.6 300:0.69 350:0.51 900:0.52", False),
     ("50:0.6 870:0.69 880:0.5 900:0.5", False)],
)  # fmt: skip
def test_an_area_of_exactly_one_half_at_the_end_is_one_output_for_all(
    area: str, *, found: bool
) -> None:
    """Different outputs are ranked somehow; three evaluations may be rounded."""
    falls = "0:300 300:0.68 900:0.675"
    outcome = ask(drawn("area", noise=0, task="other", train_loss=falls, roc_auc=area).run())
    assert bool(outcome.findings) is found
    if found:
        assert outcome.findings[0].onset.step == 350
        assert "at each of 56 evaluations, from step 350 on: 0.5" in outcome.findings[0].title


@pytest.mark.parametrize(("name", "found"), [("roc_auc", True), ("baseline_roc_auc", False)])
def test_an_area_of_a_baseline_is_one_half_by_definition(name: str, *, found: bool) -> None:
    """Whoever always gives the answer of the most rows learns nothing, and is not meant to."""
    curves: dict[str, Any] = {"train_loss": "0:300 300:0.68 900:0.675", name: "50:0.5 900:0.5"}
    run = drawn("baseline", noise=0, task="other", **curves).run()
    assert bool(ask(run).findings) is found


@pytest.mark.parametrize(("others", "found"), [(1, True), (9, False)])
def test_one_half_among_many_areas_of_one_evaluation_is_a_table(
    others: int, *, found: bool
) -> None:
    """Of ten that lie about one half some lie at it; the other of two is one of its own."""
    areas: dict[str, Any] = {f"m{n}/roc_auc": f"50:{0.53 + n / 50} 50:0.5" for n in range(others)}
    areas["m/roc_auc"] = "50:0.5 50:0.5"
    run = drawn("areas", noise=0, task="other", **areas).run()
    assert len(run.curve("m/roc_auc")) == 1
    assert bool(ask(run).findings) is found


@pytest.mark.parametrize(
    ("errors", "told"),
    [
        ("1:0.8975 4:0.8975 5:0.8925 6:0.8975 7:0.8975 8:0.8925 /1", "critical"),
        ("1:0.8 8:0.62 /1", ""),  # more are right than a guess has
        ("1:2.3 8:2.31 /1", ""),  # no share of the answers
    ],
)
def test_an_error_rate_says_how_many_classes_a_guess_has(errors: str, told: str) -> None:
    """Of a run whose task is not known; at the same losses."""
    run = drawn(
        "errors", noise=0, task="other", te_err=errors,
        train_loss="1:2.4018 2:2.3057 3:2.3036 4:2.3048 5:2.3085 6:2.3085 7:2.3073 8:2.3054 /1",
        eval_loss="1:2.3056 2:2.3173 3:2.3076 4:2.3293 5:2.307 6:2.3138 7:2.3142 8:2.3101 /1",
    ).run()  # fmt: skip
    found = ask(run).findings
    assert (found[0].severity if found else "") == told
