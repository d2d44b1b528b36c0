"""Overfitting on several evaluation sets, and what is no overfitting."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.diagnosis import Finding
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.metrics import base
from runlens.rules.evaluation.hockey_stick import RULE
from runlens.rules.evaluation.sets import bottom_of
from runlens.rules.rule import Case, drawn
from runlens.run import Run, Setting, Task
from runlens.signals import Signals
from runlens.weights import to_go_on_from
from runlens.wording import loss

TRAIN = "0:2 600:0.3"
FALLS = "50:1.8 600:1.0"
BENDS = "50:1.8 250:1.2 600:1.5"
BENDS_MORE = "50:1.8 250:1.2 600:2.2"


def test_the_worst_evaluation_set_is_named() -> None:
    """One finding for all sets; its metric and text name the set that rose most."""
    sets = {"eval_loss:web": BENDS, "eval_loss:math": BENDS_MORE, "eval_loss:code": FALLS}
    run = Case("sets", {"train_loss": TRAIN, **sets}, noise=0.005).run()
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert [one.metric for one in outcome.findings] == ["eval_loss:math"]
    assert "(math)" in outcome.findings[0].title
    assert "2 of 3 evaluation sets" in outcome.findings[0].seen


def test_a_set_of_training_rows_is_not_judged() -> None:
    """An evaluation on training data cannot overfit."""
    sets = {"eval_loss:train": BENDS_MORE, "eval_loss:test": FALLS}
    run = Case("on training rows", {"train_loss": TRAIN, **sets}, noise=0.005).run()
    assert RULE.check(run, Signals(run), RULE.limits).status == "passed"


def test_nothing_learned_is_no_overfitting() -> None:
    """Wild training loss that never fell: evaluation loss rises, yet nothing is memorised."""
    case = drawn(
        "wild",
        train_loss="0:1.5 600:1.5",
        eval_loss="50:0.7 600:5",
        noise={"train_loss": 0.2, "eval_loss": 0.05},
    )
    outcome = RULE.check(case.run(), Signals(case.run()), RULE.limits)
    assert "did not fall" in outcome.reason
    assert "not-learning" in outcome.yields_to
    assert "verfit" not in outcome.findings[0].title


def test_an_evaluation_that_got_worse_is_named_once() -> None:
    """The second sentence goes on with it."""
    case = drawn("x", noise=0, train_loss="0:2 100:1.5 600:1.5", eval_loss="50:1.8 150:1.2 600:1.5")
    (found,) = RULE.check(case.run(), Signals(case.run()), RULE.limits).findings
    assert "got worse from step 150 on. It rose 25" in found.title


def test_onset_of_many_evaluations_is_the_lowest_one() -> None:
    """Smoothing finds the bottom, the onset is the lowest evaluation there."""
    run = drawn("many", noise=0.002, train_loss="0:2 2000:0.1", eval_loss="50:2 700:1 2000:2").run()
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert outcome.findings[0].onset.step == 700


def judged(accuracy: str, samples: float = 0.0, noise: float = 0.001) -> Finding:
    """Return what is said of a rise of eval loss beside an accuracy, of a set of that size."""
    more = {"eval_runtime": "50:10 600:10"} if samples else {}
    pace = {"eval_throughput_samples": f"50:{samples / 10:g} 600:{samples / 10:g}"} if more else {}
    metrics = {
        "train_loss": TRAIN,
        "eval_loss": "50:0.9 250:0.6 600:0.9",
        "eval_accuracy": accuracy,
    }
    run = Case("c", metrics | more | pace, task="classification", noise=noise).run()
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    return found


def test_accuracy_that_still_improves_is_over_confidence() -> None:
    """Fewer epochs would cost score: an info, and the best step of the score is named."""
    found = judged("50:0.6 250:0.80 600:0.88", samples=1_000)
    assert (found.severity, "over-confident" in found.title) == ("info", True)
    assert any("was best at step" in fix.why for fix in found.fixes)
    assert "num_train_epochs" not in {fix.setting for fix in found.fixes}


@pytest.mark.parametrize(
    ("accuracy", "samples", "noise"),
    [
        ("50:0.6 250:0.80 600:0.80", 1_000, 0.001),  # flat
        ("50:0.6 250:0.79 600:0.82", 196, 0.001),  # six samples of 196
        ("50:0.6 250:0.80 600:0.83", 0, 0.05),  # within its own noise
    ],
)
def test_a_gain_of_chance_is_still_overfitting(accuracy: str, samples: int, noise: float) -> None:
    """Two standard errors of the set, twice its noise: below that nothing has improved."""
    found = judged(accuracy, samples, noise)
    assert (found.severity != "info", "overfits" in found.title) == (True, True)
    assert any(row.what.startswith("Improvement in eval accuracy") for row in found.evidence)


@pytest.mark.parametrize(("of", "loud"), [(180, True), (18_000, False)])
def test_shares_say_themselves_of_how_many_samples_they_are(of: int, *, loud: bool) -> None:
    """Though no setting says so: two hundredths of 180 samples are chance."""
    case = drawn(
        "x",
        noise=0.0,
        task="classification",
        train_loss=TRAIN,
        eval_loss="50:0.9 250:0.6 600:0.68",
        eval_accuracy="50:0.6 250:0.777 600:0.8",
    )
    run = case.run()
    curve = run.curve("eval_accuracy")
    shares = np.round(curve.value * of) / of
    rows = columns(curve.step, shares)
    others = {
        name: columns(run.curve(name).step, run.curve(name).value)
        for name in ("train_loss", "eval_loss")
    }
    run = replace(run, history=History(others | {"eval_accuracy": rows}))
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert (outcome.findings[0].severity != "info") is loud


ABOVE = "50:0.9 250:0.6 600:1.2"
RISES, FLAT, BACK = "50:0.6 250:0.7 600:0.8", "50:0.6 250:0.7 600:0.7", "50:0.6 250:0.7 600:0.5"


def loudness(
    curves: dict[str, str],
    config: dict[str, Setting] | None = None,
    task: Task = "classification",
) -> str:
    """Return how loud an evaluation loss is told that ends above its first value."""
    losses = {} if any(base(name) == "eval_loss" for name in curves) else {"eval_loss": ABOVE}
    every = {"train_loss": TRAIN, **losses, **curves}
    run = Case("s", every, task=task, noise=0.001, config=config or {}).run()
    outcome = RULE.check(run, Signals(run), RULE.limits)
    return outcome.findings[0].severity if outcome.findings else outcome.status


@pytest.mark.parametrize(
    ("curves", "wanted"),
    [
        ({"eval_rougel": RISES}, "info"),
        ({"eval_accuracy": FLAT, "eval_overall_f1": RISES}, "info"),  # F1 before accuracy
        ({"eval_f1": FLAT, "eval_per_f1": RISES}, "warning"),  # whole set before a class
        ({"eval_per_f1": RISES, "eval_loc_f1": RISES}, "warning"),  # which class would speak?
        ({"eval_mmlu_acc": RISES}, "warning"),  # another task
        ({"eval_token_accuracy": RISES}, "warning"),  # follows the loss
        ({"eval_f1": BACK}, "critical"),
        ({"eval_f1": "50:0.6 250:0.7 600:0.65"}, "warning"),  # five points of seventy
        ({"eval_cer": "50:0.4 250:0.3 600:0.5"}, "critical"),  # 30 % of what was right
        ({"eval_cer": "50:0.4 250:0.3 600:0.4"}, "warning"),
        ({"eval_wer": "50:1.4 250:1.3 600:1.9"}, "critical"),  # more errors than words
        ({"eval_cer": "50:0.4 250:0.3 600:0.2"}, "info"),
        ({"eval_bleu": "50:20 250:30 600:30.5"}, "warning"),  # half a point of 100
        ({"eval_loss:a": ABOVE, "eval_a_f1": RISES, "eval_b_f1": BACK}, "info"),
        ({"eval_loss:a": ABOVE, "eval_loss:b": FALLS, "eval_b_f1": RISES}, "warning"),
    ],
)
def test_the_score_of_the_set_decides(curves: dict[str, str], wanted: str) -> None:
    """It rises: over-confident. It stays: no answer got worse. It falls far: critical."""
    assert loudness(curves) == wanted


@pytest.mark.parametrize(
    ("task", "end", "wanted"),
    [
        ("sft", 1.2, "critical"),
        ("sft", 0.85, "warning"),  # better than the first evaluation
        ("classification", 1.2, "warning"),
        ("other", 1.2, "warning"),
        ("other", 70, "critical"),  # no memorizing lifts a loss so far
    ],
)
def test_a_loss_alone_tells_the_quality_of_language(task: Task, end: float, wanted: str) -> None:
    """That of classes rises with the confidence of answers that stay as they are."""
    assert loudness({"eval_loss": f"50:0.9 250:0.6 600:{end}"}, task=task) == wanted


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({}, "info"),
        ({"metric_for_best_model": "accuracy"}, "critical"),
        ({"metric_for_best_model": "eval_cost", "greater_is_better": False}, "info"),
        ({"metric_for_best_model": "cost"}, "critical"),  # more is better, unless told otherwise
        ({"metric_for_best_model": "loss"}, "info"),
    ],
)
def test_the_score_by_which_the_run_chooses_comes_first(
    config: dict[str, Setting], wanted: str
) -> None:
    """Also where its name is not known here."""
    scores = {"eval_f1": RISES, "eval_accuracy": BACK, "eval_cost": "50:0.6 250:0.5 600:0.3"}
    assert loudness(scores, config) == wanted


@pytest.mark.parametrize(
    ("step", "last", "config"),
    [
        (600, 0.8, {}),
        (604, 0.8, {}),
        (604, 0.9, {"load_best_model_at_end": True}),  # chosen by another metric
        (600, 0.3, {}),  # a test set, of the same weights
    ],
)
def test_an_evaluation_of_other_weights_at_the_end_hides_nothing(
    step: int, last: float, config: dict[str, Setting]
) -> None:
    """The best model, loaded at the end, is no point of the curve: nothing fell again."""
    evals = columns(
        np.array([100, 200, 300, 400, 500, 600, step]),
        np.array([1.0, 0.8, 0.9, 1.0, 1.1, 1.2, last]),
    )
    train = columns(np.arange(10, 610, 10), np.linspace(2.0, 0.2, 60))
    run = drawn("reloaded", config=config, train_loss=TRAIN).run()
    run = replace(run, history=History({"train_loss": train, "eval_loss": evals}))
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    rows = {row.what: row.value for row in found.evidence}
    assert (found.onset.step, rows["Evaluations after the best"]) == (200, 4)


@pytest.mark.parametrize(("samples", "wanted"), [(20, "warning"), (200, "critical")])
def test_a_handful_of_samples_is_a_warning_at_most(samples: int, wanted: str) -> None:
    """By how much the loss rose is a matter of single samples there."""
    pace = f"50:{samples / 2:g} 600:{samples / 2:g}"
    curves = {"eval_loss": ABOVE, "eval_runtime": "50:2 600:2", "eval_throughput_samples": pace}
    assert loudness(curves, task="sft") == wanted


@pytest.mark.parametrize("lowest", [0.0, -0.2])
def test_a_best_of_zero_and_below_has_no_share(lowest: float) -> None:
    """How far it rose is said in its own unit alone."""
    steps, train = np.arange(100, 1100, 100), np.linspace(2.0, 0.2, 100)
    value = np.concatenate([np.linspace(1.0, lowest, 4), np.linspace(lowest + 0.2, 1.5, 6)])
    history = History(
        {"train_loss": columns(np.arange(10, 1010, 10), train), "eval_loss": columns(steps, value)}
    )
    run = replace(drawn("zero", train_loss=TRAIN).run(), history=history)
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert f"Eval loss rose from its best of {loss(lowest)} to" in found.title


def test_a_leap_by_orders_of_magnitude_is_no_less_for_staying_level() -> None:
    """As of batch statistics that evaluation does not have: it rises, then nothing rises on."""
    leaps = "50:44 /10 250:43 260:6e4 300:6e5 900:4.2e5"
    back = "50:44 /10 250:43 260:6e4 300:6e5 400:5e5 410:90 900:88"
    for evals, status in ((leaps, "found"), (back, "passed")):
        run = drawn("run", noise=0.02, train_loss="0:16 900:10", eval_loss=evals).run()
        assert RULE.check(run, Signals(run), RULE.limits).status == status


@pytest.mark.parametrize(("end", "status"), [(1.7, "found"), (1.52, "passed")])
def test_a_far_rise_that_falls_back_is_back_with_a_tenth_left(end: float, status: str) -> None:
    """Evaluations that were six times as high, and end well above their best."""
    course = f"50:1.5 /10 150:1 160:6.5 600:6.5 700:{end} 900:{end}"
    run = drawn("run", noise=0.01, train_loss="0:1.7 150:1.2 900:0.9", eval_loss=course).run()
    assert RULE.check(run, Signals(run), RULE.limits).status == status


def test_of_equal_medians_the_lowest_evaluation_is_the_bottom() -> None:
    """A running median of five stays where it is for six evaluations: each may be the bottom."""
    value = [2.0, 1.7, 1.5, 1.3, 0.8, 0.94, 0.83, 0.94, 1.3, 0.74, 1.5, 1.1, 1.5]
    value += [1.3 + 0.1 * at for at in range(20)]
    corners = " ".join(f"{50 * (at + 1)}:{one:g}" for at, one in enumerate(value))
    run = drawn("noisy", noise=0.0, train_loss="0:2 1650:0.1", eval_loss=corners).run()
    assert RULE.check(run, Signals(run), RULE.limits).findings[0].onset.step == 500


@pytest.mark.parametrize(
    ("evals", "accuracy", "wanted"),
    [
        ("50:0.256 100:0.281 150:0.32", "50:0.914 100:0.91 150:0.909", "warning"),
        ("50:0.256 100:0.281 150:0.32", "50:0.854 100:0.89 150:0.909", "info"),
        ("50:0.256 100:0.281 150:0.3", "50:0.914 100:0.91 150:0.909", ""),  # by 17 %
        ("50:0.256 100:0.36 150:0.32", "50:0.914 100:0.91 150:0.909", ""),  # it falls back
    ],
)
def test_three_evaluations_that_rise_by_a_fifth(evals: str, accuracy: str, wanted: str) -> None:
    """As logged and one after the other; and what the answers say of it."""
    curves = {"train_loss": "0:0.48 150:0.1", "eval_loss": evals, "eval_accuracy": accuracy}
    run = Case("few", curves, noise=0, task="classification").run()
    found = RULE.check(run, Signals(run), RULE.limits).findings
    assert "".join(one.severity for one in found) == wanted


@pytest.mark.parametrize(
    ("end", "accuracy", "wanted"),
    [
        (1.54, "50:0.4 200:0.75 600:0.771", "warning"),  # a twelfth of what was wrong
        (1.54, "50:0.4 200:0.75 600:0.785", "info"),  # a seventh
        (0.92, "50:0.4 200:0.75 600:0.771", "warning"),  # nearly as steep a rise
        (0.87, "50:0.4 200:0.75 600:0.771", "info"),  # half as steep
    ],
)
def test_a_steep_rise_needs_a_gain_that_counts(end: float, accuracy: str, wanted: str) -> None:
    """A model that is far surer of its errors is not excused by a few more right answers."""
    curves = {"train_loss": "0:1.9 600:0.05", "eval_loss": f"50:1.8 200:0.78 600:{end}"}
    noise = {"train_loss": 0.01, "eval_loss": 0.002, "eval_accuracy": 0.0}
    every = {**curves, "eval_accuracy": accuracy}
    run = Case("steep", every, noise=noise, task="classification").run()
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert found.severity == wanted


def test_a_steep_rise_beside_an_error_rate() -> None:
    """Of an error rate that is what was wrong: 20 % to 19 % is no gain that counts, to 17 % is."""
    for last, wanted in ((0.188, "warning"), (0.17, "info")):
        curves = {
            "train_loss": "0:1.9 600:0.05",
            "eval_loss": "50:1.8 200:0.78 600:1.54",
            "eval_wer": f"50:0.6 200:0.2 600:{last}",
        }
        noise = {"train_loss": 0.01, "eval_loss": 0.002, "eval_wer": 0.0}
        run = Case("words", curves, noise=noise, task="asr").run()
        (found,) = RULE.check(run, Signals(run), RULE.limits).findings
        assert found.severity == wanted


def test_the_best_of_many_evaluations_is_the_lowest_logged_where_it_lies_among_low_ones() -> None:
    """A running median may be lowest before it; a single lucky value far from there is no best."""
    evals = np.concatenate([np.linspace(0.73, 0.54, 13), [0.545, 0.551, 0.559, 0.55, 0.547, 0.55]])
    rise = np.concatenate([[0.537], np.linspace(0.56, 0.69, 30)])
    value = np.concatenate([evals, rise])
    curve = columns(np.arange(1, len(value) + 1), value)
    assert bottom_of(History({"eval_loss": curve}).curve("eval_loss")).at == len(evals)
    lucky = value.copy()
    lucky[-5] = 0.53
    curve = columns(np.arange(1, len(value) + 1), lucky)
    assert bottom_of(History({"eval_loss": curve}).curve("eval_loss")).at < len(evals) + 1


def test_a_steep_rise_costs_the_badge_though_the_score_improved() -> None:
    """The model is over-confident: an info beside a slight rise, told first beside a steep one."""
    for end, harmless in ((0.9, True), (1.3, False)):
        curves = {
            "train_loss": "0:1.9 600:0.05",
            "eval_loss": f"50:1.8 200:0.78 600:{end}",
            "eval_accuracy": "50:0.4 200:0.75 600:0.8",
        }
        noise = {"train_loss": 0.01, "eval_loss": 0.002, "eval_accuracy": 0.0}
        run = Case("surer", curves, noise=noise, task="classification").run()
        (found,) = RULE.check(run, Signals(run), RULE.limits).findings
        assert (found.severity, found.harmless) == ("info", harmless)


def test_a_rise_that_begins_slowly_and_falls_back_in_part_is_one() -> None:
    """The later half tells it: the first evaluation behind the best lies near the best."""
    curves = {
        "train_loss": "0:22 100:0.4 600:0.14",
        "eval_loss": "50:9 200:2.96 250:3.1 350:5.98 450:5 600:4.76",
    }
    run = Case("slowly", curves, noise=0.01).run()
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert found.onset.step == 200


@pytest.mark.parametrize(("end", "status"), [(0.08, "found"), (0.12, "passed")])
def test_memorised_training_data_foretell_the_rise_of_few_evaluations(
    end: float, status: str
) -> None:
    """Eight evaluations that mostly rise, by a quarter, while training loss halves."""
    evals = [0.49, 0.41, 0.41, 0.44, 0.39, 0.42, 0.44, 0.455, 0.435, 0.51, 0.49, 0.485]
    train = [0.56, 0.34, 0.25, 0.19, 0.17, *np.linspace(0.16, end, 7)]
    step = np.arange(12)
    history = History({"train_loss": columns(step, train), "eval_loss": columns(step, evals)})
    run = Run("few", "few", history, task="classification")
    assert RULE.check(run, Signals(run), RULE.limits).status == status


@pytest.mark.parametrize(
    ("late", "end", "kept"), [(0.234, 0.19, 10), (0.186, 0.178, 2), (0.186, 0.189, 20)]
)
def test_weights_are_kept_where_a_held_out_score_was_best(
    late: float, end: float, kept: int
) -> None:
    """The loss is best at step 2; a score that gained since, or rises on, is best later."""
    step = np.arange(1, 21)
    loss_ = np.interp(step, [1, 2, 20], [0.72, 0.68, 1.3])
    score = np.interp(step, [1, 2, 9, 11, 20], [0.17, 0.182, late, late, end])
    history = History({
        "train_loss": columns(step, np.geomspace(0.4, 1e-4, 20)),
        "eval_loss": columns(step, loss_),
        "eval_accuracy": columns(step, score),
    })  # fmt: skip
    run = Run("ocr", "ocr", history, task="other")
    diagnosis = diagnose(run)
    (found,) = (
        one for i in diagnosis.incidents for one in i.findings if one.rule == "hockey-stick"
    )
    assert found.onset.step == 2
    assert found.keep == pytest.approx(kept, abs=1)
    kept_ = to_go_on_from(run, Signals(run), [found], [found], changed=False, mis=False)
    assert kept_ is not None
    assert f"from step {found.keep:.0f}" in kept_.what


def few(evals: tuple[float, ...], train: str) -> Run:
    """Return ten evaluations, the last of them given, beside a training loss."""
    values = (24.0, 4.4, 2.5, 2.4, *evals)
    text = " ".join(f"{50 * at}:{value}" for at, value in enumerate(values, 1))
    return drawn("few", noise=0, train_loss=train, eval_loss=text).run()


@pytest.mark.parametrize(("end", "status"), [(0.8, "found"), (1.1, "passed")])
def test_few_evaluations_rise_as_training_loss_falls_apart_from_them(
    end: float, status: str
) -> None:
    """They fall back at the last one; what has moved apart by a factor of two is no chance."""
    run = few((1.85, 1.93, 2.1, 2.67, 3.15, 2.36), f"0:2.1 250:1.3 430:{end} 500:{end}")
    assert RULE.check(run, Signals(run), RULE.limits).status == status


@pytest.mark.parametrize(
    ("end", "title"), [(0.25, "Eval loss got worse"), (0.1, "The run overfits")]
)
def test_beside_a_training_loss_that_stands_evaluation_got_worse(end: float, title: str) -> None:
    """Nothing more is memorized, and the loss is not so low that the rows are known."""
    train, evals = f"0:1 150:0.25 300:0.25 400:{end} 900:{end}", "50:1 300:0.2 400:0.6 900:0.66"
    noise = {"train_loss": 0.02, "eval_loss": 0.001}
    run = drawn("stands", noise=noise, train_loss=train, eval_loss=evals).run()
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert found.title.startswith(title)


def test_what_only_got_worse_is_tried_at_a_tenth_of_the_rate() -> None:
    """Training loss rose from its first row on as well: no other data came before."""
    run = drawn(
        "worse",
        noise=0.001,
        task="other",
        train_loss="0:0.863 10:1.033 /1",
        eval_loss="0:0.931 10:1.059 /1",
    ).run()
    found = next(one for one in diagnose(run).findings if one.rule == "hockey-stick")
    assert any("tenth of the learning rate" in fix.what for fix in found.fixes)
    assert "data-shift" not in {cause.kind for cause in found.causes}


def test_a_score_that_is_lost_beside_a_loss_that_falls_is_told_as_an_info() -> None:
    """One of the two is wrong, and which one is not said."""
    curves = {
        "train_loss": "0:0.7 900:0.1",
        "eval_loss": "50:0.7 900:0.2",
        "eval_accuracy": "50:0.6 200:0.82 900:0.57",
    }
    noise = {"train_loss": 0.05, "eval_loss": 0.05, "eval_accuracy": 0.01}
    run = drawn("apart", noise=noise, task="classification", **curves).run()  # type: ignore[arg-type]
    (finding,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert finding.severity == "info"
    assert "Eval accuracy was best at step" in finding.title


@pytest.mark.parametrize(
    ("back", "train", "status"),
    [(0.7, 0.05, "found"), (0.56, 0.05, "passed"), (0.7, 0.45, "passed")],
)
def test_a_long_rise_may_go_up_and_down_on_its_way(back: float, train: float, status: str) -> None:
    """It doubled, and hardly an evaluation came near the best again; training knows its rows."""
    course = f"50:0.7 150:0.5 300:0.5 700:1.5 1000:{back} 1900:{back} 2000:1.3 2400:1.25"
    falls = f"0:0.7 300:0.5 700:{train} 2400:{train}"
    run = drawn("long", noise=0.01, task="other", train_loss=falls, eval_loss=course).run()
    assert RULE.check(run, Signals(run), RULE.limits).status == status


@pytest.mark.parametrize(("end", "found"), [(6.6, True), (5.5, False)])
def test_many_evaluations_that_scatter_as_wide_as_they_rise_are_told_by_rank(
    end: float, *, found: bool
) -> None:
    """They wander, so it is an info; those that stay where they were are none."""
    curve = f"50:6.5 150:5.2 200:4.4 250:5.3 2500:{end}"
    run = drawn(
        "noisy",
        noise={"train_loss": 0.01, "eval_loss": 0.12},
        train_loss="0:6 200:4.9 2500:3.1",
        eval_loss=curve,
    ).run()
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert [one.severity for one in outcome.findings] == ["info"] * found


@pytest.mark.parametrize(("f1", "keep"), [((0.885, 0.905, 0.894, 0.893, 0.89), 2), (None, 5)])
def test_scores_that_disagree_leave_the_best_loss(f1: tuple[float, ...] | None, keep: int) -> None:
    """A ranking that improves to the end beside answers that get worse is no better model."""
    step = np.arange(1, 6)
    curves = {
        "train_loss": (0.58, 0.23, 0.12, 0.08, 0.05),
        "eval_loss": (0.266, 0.247, 0.289, 0.285, 0.309),
        "eval_auc": (0.9606, 0.9659, 0.9701, 0.9754, 0.9783),
    } | ({"eval_f1": f1} if f1 else {})
    rows = {name: columns(step, np.array(value)) for name, value in curves.items()}
    run = Run("few", "few", History(rows, ("drawn",)), task="classification")
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert found.onset.step == 2
    assert (found.best.step if found.best else found.onset.step) == keep


@pytest.mark.parametrize(
    ("f1", "keep"),
    [
        ((0.83, 0.81, 0.84, 0.838, 0.855), 500),
        ((0.83, 0.81, 0.85, 0.838, 0.845), 100),  # best before the end
        ((0.83, 0.81, 0.834, 0.832, 0.839), 100),  # by less than a point of a hundred
    ],
)
def test_a_score_that_is_best_at_the_last_evaluation_is_not_given_up(
    f1: tuple[float, ...], keep: int
) -> None:
    """Its gain is within its noise, but no weights before the last had answered as well."""
    step = 100 * np.arange(1, 6)
    values = {
        "train_loss": (0.46, 0.25, 0.12, 0.044, 0.01),
        "eval_loss": (0.35, 0.39, 0.6, 0.95, 1.0),
        "eval_f1": f1,
    }
    made = {name: columns(step, np.array(value)) for name, value in values.items()}
    run = Run("few", "few", History(made), task="classification")
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert (found.best.step if found.best else found.onset.step) == keep


@pytest.mark.parametrize(
    ("accuracy", "severity"),
    [((0.915, 0.924, 0.933), "info"), ((0.915, 0.924, 0.917), "warning")],
)
def test_three_evaluations_of_a_score_are_taken_one_by_one(
    accuracy: tuple[float, ...], severity: str
) -> None:
    """Medians of three would be the same at both ends, whatever the score did."""
    step = 100 * np.arange(1, 4)
    values = {
        "train_loss": (0.3, 0.16, 0.07),
        "eval_loss": (0.25, 0.34, 0.39),
        "eval_accuracy": accuracy,
    }
    made = {name: columns(step, np.array(value)) for name, value in values.items()}
    run = Run("few", "few", History(made), task="classification")
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert found.severity == severity
    assert ("yet eval accuracy improved from 0.915" in found.title) == (severity == "info")
    assert ("0.917 at the end, best at step 200: 0.924." in found.title) == (severity != "info")


@pytest.mark.parametrize(
    ("top", "end", "words"),
    [
        (0.34, 0.19, "yet eval error improved from 0.26"),  # one in four mistakes is mended
        (0.34, 0.258, "Eval error was 0.26 there and 0.258 at the end"),
        (3.4, 1.9, "while train loss"),  # no share: in what unit nobody knows
    ],
)
def test_an_error_rate_is_a_score(top: float, end: float, words: str) -> None:
    """What share of the answers is wrong says the same as what share is right."""
    run = drawn(
        "errors",
        noise=0,
        train_loss="0:1 300:0.4 900:0.05",
        eval_loss="50:1 300:0.6 900:0.8",
        eval_error=f"50:{top} 300:{0.26 if top < 1 else 2.6} 900:{end}",
    ).run()
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert words in found.title
    assert ("Eval error" in found.title) == (end == 0.258)


def test_of_two_scores_the_one_that_shows_its_order_is_kept() -> None:
    """One scatters as wide as it rises; the other rises on, and none is worse there."""
    step = 100 * np.arange(1, 13)
    swing = np.resize([0.0, 0.012, -0.006], 12)
    values = {
        "train_loss": np.geomspace(1, 0.1, 12),
        "eval_loss": np.linspace(0.75, 0.95, 12),
        "eval_em": 0.80 + swing,
        "eval_f1": np.linspace(0.830, 0.838, 12),
    }
    made = {name: columns(step, value) for name, value in values.items()}
    run = Run("two", "two", History(made), task="other")
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert found.best is not None
    assert found.best.metric == "eval_f1"
    assert "Eval f1 was 0.83 there and 0.838 at the end." in found.title


@pytest.mark.parametrize(
    ("train", "accuracy", "told"),
    [
        ("0:2 600:0.6", "50:0.7 600:0.95", "info"),  # the evaluation stays below training
        ("0:2 600:0.2", "50:0.7 250:0.95 600:0.95", "warning"),
        ("0:2 600:0.6", "50:0.7 250:0.95 600:0.7", "warning"),  # answers are lost
    ],
)
def test_what_ends_below_training_was_not_learned_by_heart(
    train: str, accuracy: str, told: str
) -> None:
    """Dropout holds a training loss up: the evaluation rises, and no answer got worse."""
    run = drawn(
        "below", noise=0.002, task="classification", train_loss=train,
        eval_loss="50:0.9 250:0.3 600:0.5", eval_accuracy=accuracy,
    ).run()  # fmt: skip
    assert RULE.check(run, Signals(run), RULE.limits).findings[0].severity == told


@pytest.mark.parametrize(
    ("first", "said"), [(6.0, "Eval loss was far above train loss"), (4.8, "The run overfits")]
)
def test_an_evaluation_that_was_never_near_training_is_no_overfitting(
    first: float, said: str
) -> None:
    """Five times the training loss at the first look: nothing is memorized so soon."""
    evals = f"100:{first} 900:{first * 1.4}"
    run = drawn("x", noise=0.0, train_loss="0:2 100:1 900:0.01", eval_loss=f"{evals} /100").run()
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    assert found.title.startswith(said)


@pytest.mark.parametrize(
    ("behind", "at"),
    [
        ((0.124, 0.15, 0.14, 0.13, 0.12, 0.13, 0.11), 9),  # a blip: 0.11 is the best
        ((0.124, 0.129, 0.132, 0.138, 0.14, 0.149, 0.15), 2),  # what follows goes on to rise
        ((0.03, 0.06, 0.2, 0.15, 0.14, 0.2, 0.18), 2),  # it comes up by and by
    ],
)
def test_a_lone_evaluation_is_no_bottom(behind: tuple[float, ...], at: int) -> None:
    """Far below those before and behind it, which lie together and go nowhere."""
    value = [8.5, 0.137, 0.0055, *behind]
    curve = columns([70 * n for n in range(len(value))], value)
    assert bottom_of(History({"eval_loss": curve}).curve("eval_loss")).at == at
