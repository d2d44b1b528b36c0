"""The engine: no rule stops another, what cannot be judged says so, the same run the same words."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens.diagnosis import Confidence, Evidence, Finding, Moment, Outcome
from runlens.engine import diagnose, examine
from runlens.history import Curve, History, Observation, columns, thinned
from runlens.report import json
from runlens.rules.rule import Family, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals

SFT = drawn("falling", steps_per_epoch=100, seconds_per_step=2, train_loss="0:3 400:1").run()


@dataclass(frozen=True)
class Limits:
    """Limits of a rule that has none to speak of."""

    most: float = 1.0


def rule(slug: str, outcome: Outcome | BaseException, **more: Any) -> Rule[Limits]:
    """Return a rule that says or raises always the same."""

    def check(_run: Run, _signals: Signals, _limits: Limits) -> Outcome:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    known: dict[str, Any] = {"title": slug, "family": "LOS", "severity": "warning", "page": slug}
    return Rule(slug=slug, limits=Limits(), check=check, **(known | more))


def one(severity: str = "warning", step: float | None = 200.0, **more: Any) -> Finding:
    """Return a finding."""
    known: dict[str, Any] = {"evidence": (Evidence("Loss", 2.0, step=step),)} | more
    return Finding(severity, "Bad at 200.", "train_loss", Moment(step), **known)  # type: ignore[arg-type]


def test_a_broken_rule_stops_no_other() -> None:
    """It is told as broken, with its error; the others are judged."""
    rules = [
        rule("broken", ZeroDivisionError("by zero")),
        rule("huge", MemoryError()),
        rule("fine", found(one())),
    ]
    made = diagnose(SFT, rules)
    assert made.reasons("error")["broken"].startswith("ZeroDivisionError: by zero (test_engine.py:")
    assert "ignore = ['huge']" in made.reasons("error")["huge"]
    assert [finding.rule for finding in made.findings] == ["fine"]
    assert made.health == "warning"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_an_interrupt_is_not_swallowed(error: BaseException) -> None:
    """Ctrl-C stops the diagnosis, whichever rule runs."""
    with pytest.raises(type(error)):
        diagnose(SFT, [rule("x", error)])


def test_a_rule_for_other_tasks_is_unmet() -> None:
    """With the tasks it holds for."""
    made = diagnose(SFT, [rule("rl", passed("fine"), tasks=frozenset({"grpo", "ppo"}))])
    assert made.reasons("unmet") == {"rl": "holds for grpo, ppo; this run is sft"}
    assert made.health == "unknown"


@pytest.mark.parametrize(
    ("needs", "missing"),
    [
        (("train_loss",), ""),
        (("eval_loss",), "not logged: eval_loss"),
        (("reward|train_loss",), ""),
        (("train_loss", "reward|kl"), "not logged: reward or kl"),
        (("reward", "kl"), "not logged: reward, kl"),
    ],
)
def test_a_rule_whose_metrics_lack_is_unmet(needs: tuple[str, ...], missing: str) -> None:
    """With the metrics that lack; one of several names is enough."""
    outcome = examine(rule("x", passed("fine"), needs=needs), SFT, Signals(SFT))
    assert (outcome.status, outcome.reason) == (
        ("unmet", missing) if missing else ("passed", "fine")
    )


def test_rules_on_trial_are_asked_on_demand() -> None:
    """They do not exist otherwise."""
    rules = [rule("trial", found(one()), preview=True), rule("old", passed("fine"))]
    assert list(diagnose(SFT, rules).outcomes) == ["old"]
    assert diagnose(SFT, rules).health == "healthy"
    assert list(diagnose(SFT, rules, preview=True).outcomes) == ["trial", "old"]
    assert diagnose(SFT, rules, preview=True).health == "warning"


def test_moments_get_their_epoch_and_time() -> None:
    """Between two logged points by a straight line; a rule's own are kept."""
    end = Moment(205.0, epoch=9.0)
    finding = diagnose(SFT, [rule("x", found(one(end=end)))]).findings[0]
    assert finding.rule == "x"
    assert finding.onset == Moment(200.0, 2.0, 1.7e9 + 400)
    assert finding.end == Moment(205.0, 9.0, 1.7e9 + 410)
    nowhere = diagnose(SFT, [rule("x", found(one(step=None)))]).findings[0]
    assert nowhere.onset == Moment()


def test_moments_of_a_run_without_clock_stay_open() -> None:
    """Nothing is invented."""
    run = drawn("bare", train_loss="0:3 400:1").run()
    assert diagnose(run, [rule("x", found(one()))]).findings[0].onset == Moment(200.0)


def test_a_run_without_metrics_is_not_called_healthy() -> None:
    """Where nothing was measured nobody can judge."""
    made = diagnose(Run("e", "e", History({})), [rule("x", passed("x"), needs=("train_loss",))])
    assert made.health == "unknown"
    assert made.verdict.sentence == "The run cannot be judged, because no metric was logged."


def test_a_log_without_metrics_is_not_called_healthy() -> None:
    """That a log holds no known error says nothing about a training."""
    run = Run("e", "e", History({}), log_tail=("hello",))
    assert diagnose(run, [rule("known-error", passed("no error"))]).health == "unknown"


def test_a_run_with_few_points_says_how_few() -> None:
    """So that it is clear why nothing could be judged."""
    history = History.of(Observation("train_loss", step, 1.0) for step in (1, 2))
    made = diagnose(Run("e", "e", history), [rule("x", passed("x"), needs=("reward",))])
    assert made.verdict.sentence == (
        "The run is too short to judge. It logged 2 points of train_loss up to step 2 (1.000, "
        "1.000)."
    )


def test_a_healthy_run_says_what_it_learned() -> None:
    """One sentence with the step and two levels."""
    made = diagnose(SFT, [rule("x", passed("fine"))])
    assert made.health == "healthy"
    assert made.verdict.sentence.startswith(
        "No fault was found up to step 400. Train loss fell from "
    )


def test_info_alone_leaves_the_run_without_fault() -> None:
    """Worth knowing, never an alarm."""
    made = diagnose(SFT, [rule("x", found(one("info"))), rule("y", passed("fine"))])
    assert made.health == "info"
    assert made.verdict.sentence.startswith("No serious fault was found")
    assert made.verdict.second == "Bad at 200."
    assert made.do_first.steps == ()


def test_an_info_that_hurts_the_result_heads_a_quiet_run() -> None:
    """An evaluation loss that rises does not stand below "no fault found"."""
    made = diagnose(SFT, [rule("hockey-stick", found(one("info"))), rule("y", passed("fine"))])
    assert made.health == "info"
    assert made.verdict.sentence == "Bad at 200."
    assert made.verdict.second.startswith("Train loss fell")


def test_a_loss_that_did_not_fall_is_told_to_be_so() -> None:
    """No rule calls a crawl upwards a fault, yet nobody reads "fell"."""
    crawl = drawn("crawl", train_loss="5000:3.66 9000:3.74", noise=0.002).run()
    made = diagnose(crawl, [rule("y", passed("fine"))])
    sentence = made.verdict.sentence
    assert made.health == "unknown"
    assert sentence.startswith(
        "It is not clear whether the run learned anything up to step 9,000. Train loss rose "
        "from 3.6"
    )
    assert "(step 5,000)" in sentence


def test_noise_without_a_trend_is_not_told_to_have_fallen() -> None:
    """Fifteen points up and down, the last below the first, show no learning."""
    value = [9.28, 8.96, 9.01, 8.55, 8.94, 8.42, 9.06, 8.36, 8.58, 9.36, 8.43, 8.64, 9.04, 9.86]
    series = {"train_loss": columns(np.arange(15), np.array([*value, 8.57]))}
    made = diagnose(Run("r", "r", History(series)), [rule("y", passed("fine"))])
    assert made.health == "unknown"
    assert made.verdict.sentence == (
        "It is not clear whether the run learned anything up to step 14. Train loss went up and "
        "down, 8.360 to 9.860, without a trend."
    )


def test_a_rule_that_decides_and_could_not_judge_is_no_clean_bill() -> None:
    """Ten points that rise thirtyfold, and no rule that could say so, are not healthy."""
    made = diagnose(SFT, [rule("divergence", unmet("too few")), rule("y", passed("fine"))])
    assert made.health == "unknown"
    assert made.verdict.sentence.startswith(
        "Nothing alarming was seen up to step 400. Train loss fell from"
    )
    assert made.verdict.sentence.endswith(" Divergence could not be ruled out.")


def test_a_gain_that_was_lost_again_is_no_health() -> None:
    """Whatever the rules pass, the sentence does not contradict its own sparkline."""
    run = drawn("lost again", train_loss="0:3 300:1 500:2.2 600:2.2").run()
    made = diagnose(run, [rule("y", passed("fine"))])
    assert made.health == "unknown"
    assert made.verdict.sentence.startswith(
        "It is not clear whether the run learned anything up to step 600. Train loss fell from"
    )
    assert "but it had been at" in made.verdict.sentence


def test_a_last_evaluation_far_from_the_best_is_no_health() -> None:
    """The last two lie a fifth above it."""
    case = drawn("e", noise=0.005, train_loss="0:3 600:1", eval_loss="50:2 300:1 450:1.5 600:1.5")
    made = diagnose(case.run(), [rule("y", passed("fine"))])
    assert (made.health, "but eval loss ends at" in made.verdict.sentence) == ("unknown", True)


def test_what_passed_only_until_the_loss_was_lost_did_not_pass() -> None:
    """After a NaN at a third nothing of the loss is there to judge; in the last steps all was."""
    lost = replace(one("critical", 100.0), rule="nan-loss")
    said = {slug: rule(slug, passed("0 spikes")) for slug in ("loss-spike", "no-clipping")}
    said["no-clipping"] = rule("no-clipping", passed("clipped"), family="CFG")
    made = diagnose(SFT, [rule("nan-loss", found(lost)), *said.values()])
    assert made.outcomes["loss-spike"].status == "unmet"
    assert (
        "the loss was not finite from step 100 on; before it: 0 spikes"
        in made.outcomes["loss-spike"].reason
    )
    assert made.outcomes["no-clipping"].status == "passed"
    late = rule("nan-loss", found(replace(one("critical", 399.0), rule="nan-loss")))
    assert diagnose(SFT, [late, *said.values()]).outcomes["loss-spike"].status == "passed"


def test_held_out_data_that_improve_come_before_a_loss_that_does_not_fall() -> None:
    """A growing penalty lifts the sum; what counts got better."""
    case = drawn("kl", train_loss="0:1 400:9", eval_accuracy="20:0.6 400:0.8", noise=0.005)
    sentence = diagnose(case.run(), [rule("y", passed("fine"))]).verdict.sentence
    assert "Eval accuracy improved from 0.6" in sentence
    assert "while train loss went from 0.995 (step 0) to 9.060 (step 400)" in sentence


def test_rewards_are_told_by_their_tenths() -> None:
    """The first reward is one draw: a policy that improves is not told to have become worse."""
    value = np.concatenate([[0.14], np.linspace(0.0, 0.11, 299)])
    series = {"reward": columns(np.arange(300), value)}
    sentence = diagnose(Run("r", "r", History(series), task="rl"), [rule("y", passed("fine"))])
    assert "Reward rose from 0.00" in sentence.verdict.sentence


def test_no_finding_is_critical_that_is_more_likely_wrong() -> None:
    """Below even odds the alarm is a warning."""
    odd = replace(one("critical"), confidence=Confidence(0.3, "few points"))
    sure = replace(one("critical"), confidence=Confidence(0.6, "many points"))
    assert diagnose(SFT, [rule("x", found(odd))]).findings[0].severity == "warning"
    assert diagnose(SFT, [rule("x", found(sure))]).findings[0].severity == "critical"


@pytest.mark.parametrize("family", ["CFG", "OBS"])
def test_advice_leaves_the_run_healthy(family: Family) -> None:
    """An odd setting or a metric that is not logged is no fault of the run; it is still told."""
    odd = replace(rule("odd", found(one("info"))), family=family)
    made = diagnose(SFT, [odd, rule("y", passed("fine"))])
    assert made.health == "healthy"
    assert made.verdict.second == ""
    assert [finding.rule for finding in made.findings] == ["odd"]


@pytest.mark.parametrize(
    ("evals", "start"),
    [
        ("50:2 400:1", "No serious fault was found"),
        ("50:2.2 200:1.6 400:1.7", "No serious fault was found"),  # below twice the training loss
        ("50:3 200:2.1 400:2.2", "Bad at 200."),
    ],
)
def test_a_gap_to_evaluations_at_their_best_does_not_lead(evals: str, start: str) -> None:
    """It is told second where evaluation is level or hardly behind; first where it is lost."""
    run = drawn("gap", noise=0, train_loss="0:3 400:1", eval_loss=evals).run()
    made = diagnose(run, [rule("eval-gap", found(one("info"))), rule("y", passed("fine"))])
    assert made.verdict.sentence.startswith(start)
    assert "Bad at 200." in made.verdict.sentence + made.verdict.second


def test_the_worst_incident_gives_the_verdict() -> None:
    """Critical before warning, whatever came first."""
    early, late = one(step=10.0), replace(one("critical", 300.0), title="Lost at 300.")
    made = diagnose(SFT, [rule("early", found(early)), rule("late", found(late))])
    assert made.verdict.sentence == "Lost at 300."
    assert "Bad at 200." in made.verdict.second
    assert made.health == "critical"


def test_same_run_gives_the_same_json() -> None:
    """Twice in one process."""
    run = drawn("twice", train_loss="0:3 300:1.5 310:9 900:9", grad_norm="0:1 300:40 900:1").run()
    assert json.render(diagnose(run), full=True) == json.render(diagnose(run), full=True)


VALUES = st.lists(
    st.one_of(st.floats(-9, 9), st.sampled_from([math.nan, math.inf])), min_size=1, max_size=400
)


@given(VALUES, st.lists(st.integers(0, 4_000), max_size=5), st.integers(10, 60))
def test_thinning_keeps_what_matters(values: list[float], cited: list[int], most: int) -> None:
    """Extremes, both ends, the edges of gaps, the steps that findings cite; all in order."""
    step = 10 * np.arange(len(values))
    rows = columns(step, values)
    curve = Curve(rows.step, rows.value, rows.epoch, rows.time)
    kept = thinned(curve, [float(at) for at in cited], most)
    assert (np.diff(kept.step) > 0).all()
    places = kept.step // 10
    np.testing.assert_array_equal(kept.value, curve.value[places])
    assert {0, len(values) - 1} <= set(places.tolist())
    assert set(cited) & set(step.tolist()) <= set(kept.step.tolist())
    broken = ~np.isfinite(curve.value)
    if len(values) <= most:
        assert len(kept) == len(values)
    bucket = -(-2 * len(values) // most)
    full = curve.value[: len(values) // bucket * bucket]  # see the test of the last bucket below
    full = full[np.isfinite(full)]
    if len(full):
        assert {full.min(), full.max()} <= set(kept.value.tolist())
    edges = np.flatnonzero(broken[1:] != broken[:-1])
    assert {*edges.tolist(), *(edges + 1).tolist()} <= set(places.tolist())


def test_thinning_bounds_the_points() -> None:
    """100,000 points become about 5,000; a short curve stays as it is."""
    rows = columns(np.arange(100_000), np.random.default_rng(0).normal(size=100_000))
    curve = Curve(rows.step, rows.value, rows.epoch, rows.time)
    kept = thinned(curve)
    assert 4_000 <= len(kept) <= 5_002
    assert kept.value.max() == curve.value.max()
    assert thinned(kept.at(slice(0, 100))).step.tolist() == kept.step[:100].tolist()


def test_extremes_at_the_very_end_are_kept() -> None:
    """The last, unfilled bucket counts as well."""
    values = np.zeros(5_999)
    values[-2] = 100.0
    rows = columns(np.arange(len(values)), values)
    kept = thinned(Curve(rows.step, rows.value, rows.epoch, rows.time), most=1_000)
    assert kept.value.max() == 100.0
