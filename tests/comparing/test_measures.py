"""The table of numbers: beside what repeats differ by, one row that decides."""

import math
from dataclasses import replace

import numpy as np
import pytest

from runlens.comparing.belief import Belief
from runlens.comparing.engine import compare
from runlens.comparing.measures import _outcome, measures
from runlens.comparing.seeds import between
from runlens.comparing.terms import Pairing, Terms, terms_of
from runlens.comparison import Measure
from runlens.history import FloatArray
from runlens.run import Run, Setting, State
from tests.comparing.drawn_runs import falling, run


def rows(a: Run, b: Run) -> dict[str, Measure]:
    """Return the rows by what they say."""
    return {row.what: row for row in measures(a, b, "step")}


def deciding(a: Run, b: Run) -> Measure:
    """Return the one row that decides."""
    found = [row for row in measures(a, b, "step") if row.decides]
    assert len(found) == 1
    return found[0]


def evals(count: int, level: float, seed: int, noise: float = 0.002) -> FloatArray:
    """Return evaluations that fall to a level."""
    return level * falling(count, seed, noise)


def test_a_better_run_is_better_with_its_interval() -> None:
    """B ends 20 % lower: clear, and zero outside the interval."""
    row = deciding(run({"train_loss": falling(300, 1)}), run({"train_loss": 0.8 * falling(300, 2)}))
    assert row.what == "Last train loss"
    assert (row.clear, row.favours, row.noise_from, row.outcome) == (True, "b", "prior", "better")
    assert row.interval is not None
    assert row.interval[0] < row.interval[1] < 0


def test_a_run_that_differs_by_noise_alone_is_no_better() -> None:
    """Zero lies within the interval."""
    row = deciding(run({"train_loss": falling(300, 1)}), run({"train_loss": falling(300, 2)}))
    assert not row.clear
    assert row.favours == ""
    assert row.interval is not None
    assert row.interval[0] < 0 < row.interval[1]


def test_clear_and_the_interval_never_contradict_each_other() -> None:
    """Clear means that zero is outside; what is clear is claimed, and a claim points its way."""
    for seed in range(30):
        size = 1 + 0.01 * (seed % 6)
        a, b = falling(200, seed, 0.01), size * falling(200, 100 + seed, 0.01)
        row = deciding(run({"train_loss": a}), run({"train_loss": b}))
        assert row.interval is not None
        assert row.clear != (row.interval[0] <= 0 <= row.interval[1])
        assert not row.clear or row.outcome in {"better", "worse"}
        assert row.outcome != "better" or (row.difference or 0) < 0
        assert 0 <= (row.p_b_better or 0) <= 1
        assert (row.smallest or 0) > (row.noise or 0) * row.limit


def test_no_difference_is_claimed_whose_sign_is_in_doubt() -> None:
    """Of runs that are probably one, near the interval's end: no claim; far beyond it: a claim."""
    terms = Terms(equal=0.7)
    first = run({"train_loss": falling(300, 1)})
    answers = []
    for share in (0.96, 0.93, 0.9, 0.8, 0.7):
        second = run({"train_loss": share * falling(300, 2)})
        row = next(one for one in measures(first, second, "step", terms) if one.decides)
        assert row.p_b_better is not None
        answers.append(row.outcome)
        assert row.outcome == "cannot_tell" or row.p_b_better > 0.8
    assert answers == ["cannot_tell", "cannot_tell", "cannot_tell", "better", "better"]


def test_a_gap_beyond_all_noise_decides_however_alike_the_curves_came_down() -> None:
    """Seeds may end in two optima; a third of the other loss is too far, an eighth less is not."""
    first, second = falling(60, 1), falling(60, 2)
    answers = []
    for share in (1.0, 0.875, 0.33):
        fallen = second * np.where(np.arange(60) < 40, 1.0, share)
        row = next(
            one
            for one in measures(
                run({"eval_loss": first}), run({"eval_loss": fallen}), "step", Terms(equal=0.5)
            )
            if one.decides
        )
        answers.append(row.outcome)
    assert answers == ["equivalent", "cannot_tell", "better"]


def test_a_delta_of_the_user_says_what_counts_as_none() -> None:
    """20 % lower is better, and is nothing where half counts as none."""
    a, b = run({"train_loss": falling(300, 1)}), run({"train_loss": 0.8 * falling(300, 2)})
    found = [row for row in measures(a, b, "step", Terms(delta=0.5)) if row.decides]
    assert (found[0].outcome, found[0].delta) == ("equivalent", 0.5)


def test_repeats_have_no_winner() -> None:
    """Where nothing but the seed differs the two are one configuration, unless far apart."""
    a, b = run({"train_loss": falling(300, 1)}), run({"train_loss": 1.01 * falling(300, 2)})
    far = run({"train_loss": 2 * falling(300, 2)})
    terms = Terms(equal=0.98)
    told = [next(r for r in measures(a, one, "step", terms) if r.decides) for one in (b, far)]
    assert [row.outcome for row in told] == ["equivalent", "cannot_tell"]


def test_eval_loss_decides_where_both_evaluated_often_enough() -> None:
    """Training alone may memorise: train loss lower, eval loss higher, B is worse."""
    a = run(
        {"train_loss": falling(300, 1), "eval_loss": evals(20, 1.0, 3)}, every={"eval_loss": 15}
    )
    b = run(
        {"train_loss": 0.5 * falling(300, 2), "eval_loss": evals(20, 1.2, 4)},
        every={"eval_loss": 15},
    )
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last eval loss", "a")
    assert rows(a, b)["Last train loss"].favours == "b"


def test_few_evaluations_decide_where_they_lie_far_apart() -> None:
    """Three evaluations know little of their noise: 30 % are clear, 1 % is not."""
    a = run({"train_loss": falling(300, 1), "eval_loss": evals(3, 1.0, 3)}, every={"eval_loss": 99})
    far, near = (
        run({"train_loss": falling(300, 2), "eval_loss": evals(3, level, 4)}, every=99)
        for level in (2.0, 1.01)
    )
    assert (deciding(a, far).what, deciding(a, far).favours) == ("Last eval loss", "a")
    assert deciding(a, near).outcome == "cannot_tell"


def test_a_metric_of_the_users_own_decides_by_the_words_of_its_name() -> None:
    """More of a reciprocal rank is better; where the name says nothing the user does."""
    rng = np.random.default_rng(0)
    curves = [
        {"train_loss": falling(200, seed), "eval_mrr": level + 0.004 * rng.normal(size=60),
         "codes": 0.9 - level + 0.004 * rng.normal(size=60)}
        for seed, level in ((1, 0.6), (2, 0.8))
    ]  # fmt: skip
    a, b = (run(one) for one in curves)
    assert (deciding(a, b).what, deciding(a, b).favours) == ("Last eval mrr", "b")
    terms = Terms(metric="codes", directions={"codes": "lower"})
    chosen = next(row for row in measures(a, b, "step", terms) if row.decides)
    assert (chosen.metric, chosen.favours) == ("codes", "b")


def test_what_define_metric_said_of_a_direction_holds_unless_the_user_says_another() -> None:
    """Of a name that tells nothing."""
    told = [replace(run({"zog": level + 0 * falling(9, 0)}), directions={"zog": "higher"})
            for level in (1, 2)]  # fmt: skip
    assert terms_of("", None, None, told).better("zog") == "higher"
    assert terms_of("zog", None, None, told).better("zog") == "higher"
    assert terms_of("zog:min", None, None, told).better("zog") == "lower"


def test_accuracy_decides_where_no_eval_loss_is() -> None:
    """Higher is better."""
    rng = np.random.default_rng(0)
    a = run({"train_loss": falling(100, 1), "eval_accuracy": 0.8 + 0.002 * rng.normal(size=20)})
    b = run({"train_loss": falling(100, 2), "eval_accuracy": 0.9 + 0.002 * rng.normal(size=20)})
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last eval accuracy", "b")


@pytest.mark.parametrize(("metric", "of"), [("eval_wer", 60), ("eval_f1", 60), ("eval_f1", 0)])
def test_what_is_counted_over_few_samples_is_no_surer_than_they_are(metric: str, of: int) -> None:
    """Hits of 60 queries have an error of 0.046, however still their curve is; a mean has none."""
    counted = np.array([36, 37, 36, 38, 39, 38, 39, 40, 39, 40, 41, 40]) / 60
    value = counted if of else counted + 1e-4 * np.arange(12) ** 0.5
    terms = Terms(metric=metric)
    runs = [run({metric: np.round(value + shift, 5)}) for shift in (0, 2 / 60)]
    row = next(one for one in measures(runs[0], runs[1], "step", terms) if one.decides)
    assert row.noise is not None
    assert (row.noise > 0.055) == bool(of)


def test_reinforcement_learning_is_judged_by_its_reward() -> None:
    """The value of a policy's loss says nothing."""
    rng = np.random.default_rng(0)
    a = run({"reward": rng.normal(-0.5, 0.1, 300), "train_loss": falling(300, 1)}, task="grpo")
    b = run({"reward": rng.normal(0.5, 0.1, 300), "train_loss": 2 * falling(300, 2)}, task="grpo")
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last reward", "b")


def test_runs_of_unequal_length_are_judged_at_their_equal_end() -> None:
    """B is A stopped at a third: higher at its own end, the same at the same step."""
    a, b = run({"train_loss": falling(300, 1)}), run({"train_loss": falling(300, 2)[:100]})
    made = rows(a, b)
    assert "A ends at step 300, B at step 100" in made["Last train loss"].note
    row = deciding(a, b)
    assert row.what == "Train loss at step 100"
    assert not row.clear


def test_schedules_of_other_lengths_are_judged_where_each_has_ended() -> None:
    """A has decayed where B is half way: lower there, higher where both have ended."""
    short, long = np.linspace(1e-3, 0, 100), np.linspace(1e-3, 0, 200)
    a = run({"train_loss": falling(100, 1), "learning_rate": short})
    later = np.append(1.2 * falling(100, 2), 0.7 * falling(2_000, 3)[-100:])
    b = run({"train_loss": later, "learning_rate": long})
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last train loss", "b")
    between_them = rows(a, b)["Train loss at step 100"]
    assert (between_them.clear, between_them.noise) == (False, None)
    assert "0 % of its peak in A" in between_them.note.replace("\u202f", " ")
    stopped = run({"train_loss": 1.2 * falling(200, 2)[:100], "learning_rate": long[:100]})
    whole = run({"train_loss": falling(200, 1), "learning_rate": long})
    assert deciding(whole, stopped).what == "Train loss at step 100"


def test_a_run_that_ends_in_nan_has_no_last_loss_and_is_judged_before() -> None:
    """The note says from where."""
    broken = falling(300, 2)
    broken[200:] = math.nan
    made = rows(run({"train_loss": falling(300, 1)}), run({"train_loss": broken}))
    last = made["Last train loss"]
    assert (last.b, last.difference, last.clear) == (None, None, False)
    assert last.note == "no number in B from step 201 on"
    assert made["Train loss at step 200"].decides


def test_runs_that_ended_their_own_plans_are_judged_at_their_own_ends() -> None:
    """By planned steps, whatever lies between; a run that broke off is judged where it did."""
    state = State(done_steps=300, planned_steps=300)
    a = replace(run({"train_loss": falling(300, 1)}), state=state)
    whole = replace(run({"train_loss": 0.8 * falling(600, 2)}), state=State(
        done_steps=600, planned_steps=600))  # fmt: skip
    broken = replace(whole, state=State(done_steps=600, planned_steps=900))
    assert deciding(a, whole).what == "Last train loss"
    assert deciding(a, broken).what == "Train loss at step 300"


def test_noise_between_seeds_replaces_the_prior() -> None:
    """8 % apart is clear by the prior, and nothing where seeds do as much."""
    a, b = run({"train_loss": falling(300, 1)}), run({"train_loss": 1.08 * falling(300, 2)})
    assert deciding(a, b).clear
    levels = (0.9, 0.95, 1.0, 1.05, 1.1)
    noise = between([run({"train_loss": level * falling(300, 3)}) for level in levels])
    row = next(row for row in measures(a, b, "step", Terms(noise)) if row.decides)
    assert (row.noise_from, row.clear) == ("seeds", False)
    assert row.limit == pytest.approx(2.776, rel=0.01)  # Student's t with four degrees of freedom
    assert row.noise == pytest.approx(2**0.5 * np.std(levels, ddof=1), rel=0.1)


def test_a_metric_of_one_run_alone_is_said_and_decides_nothing_else() -> None:
    """The other one did not log it."""
    a, b = run({"train_loss": falling(300, 1)}), run({"reward": falling(300, 1)})
    made = rows(a, b)
    assert made["Last train loss"].note == "B did not log it"
    assert made["Last reward"].note == "A did not log it"
    assert not any(row.clear for row in made.values())


def test_runs_without_anything_have_no_rows() -> None:
    """And raise nothing."""
    assert measures(run({}), run({}), "step") == ()


def test_effort_is_shown_without_a_verdict() -> None:
    """Speed from the times, duration, step of the best evaluation."""
    curves = {"train_loss": falling(100, 1), "eval_loss": np.array([3.0, 1.0, 2.0, 2.5])}
    a = run(curves, every={"eval_loss": 25}, seconds=2.0)
    b = run(curves, every={"eval_loss": 25}, seconds=4.0)
    made = rows(a, b)
    assert (made["Median steps per second"].a, made["Median steps per second"].b) == (0.5, 0.25)
    assert made["Seconds from the first point to the last"].difference == 198
    assert (made["Step of the best eval loss"].a, made["Step of the best eval loss"].metric) == (
        50,
        "step",
    )
    assert made["Gap, eval − train loss"].a == pytest.approx(1.5, abs=0.05)


def test_a_logged_speed_is_shown_by_its_median() -> None:
    """And not judged: a machine is no training."""
    rng = np.random.default_rng(0)
    a = run({"throughput_tokens": rng.normal(3_000, 50, 200)})
    b = run({"throughput_tokens": rng.normal(1_500, 50, 200)})
    row = rows(a, b)["Median tokens per second"]
    assert row.difference == pytest.approx(-1_500, abs=30)
    assert (row.outcome, row.decides) == ("", False)


def test_how_soon_b_reaches_what_a_reached_is_said() -> None:
    """B learns twice as fast: half of A's steps, with bounds around them, in samples as well."""
    at = np.arange(1, 61)
    slow, fast = 1 + 2 * np.exp(-at / 20), 1 + 2 * np.exp(-at / 10)
    config: dict[str, Setting] = {"per_device_train_batch_size": 8, "max_steps": 60}
    a, b = (run({"eval_loss": curve}, config=config) for curve in (slow, fast))
    row = rows(a, b)["Steps to A's last eval loss"]
    assert (row.a, row.b) == (60, 30)
    assert row.interval is not None
    assert row.interval[0] <= -30 <= row.interval[1]
    assert rows(a, b)["Samples to A's last eval loss"].b == 240
    assert not [what for what in rows(b, a) if what.startswith("Steps to")]  # A never reaches it


def test_the_scoreboard_counts_every_metric_once() -> None:
    """What each says at its end: eval loss better, train loss open, a speed nothing."""
    held_out = [evals(20, level, seed, 0.01) for seed, level in ((3, 1.4), (4, 1.0))]
    a = run({"train_loss": falling(200, 1), "eval_loss": held_out[0]}, every={"eval_loss": 9})
    b = run({"train_loss": falling(200, 2), "eval_loss": held_out[1]}, every={"eval_loss": 9})
    found = compare(a, b).pairs[0].scoreboard
    assert found["better"] == 1
    assert sum(found.values()) == 2


@pytest.mark.parametrize(
    ("times", "p_sign", "outcome"),
    [(1.65, 0.67, "better"), (1.63, 0.67, "cannot_tell"), (1.65, 0.66, "cannot_tell")],
)
def test_a_claim_needs_size_and_a_likely_sign(times: float, p_sign: float, outcome: str) -> None:
    """1.64 times the likeliest noise, and a sign that is twice as likely as the other."""
    believed = Belief(1.0, 4.0, 0.2, p_sign, 0.1, 2.0)
    one = run({"eval_loss": falling(20, 1)})
    assert (
        _outcome(Pairing(one, one, "step", Terms()), -times, believed, "lower", "prior") == outcome
    )


def test_bends_of_both_runs_are_no_noise_unless_one_seed_took_the_noise_away() -> None:
    """Two curves that glide alike: their likeliest noise is that of their difference."""
    glide = 1 + 3 * np.exp(-np.arange(12) / 3)
    a, b = ({"eval_loss": glide * level} for level in (1.0, 1.1))
    other, one = (deciding_of_pair(a, b, seeds) for seeds in ((1, 2), (1, 1)))
    assert other.noise is not None
    assert one.noise is not None
    assert other.noise < one.noise / 2


def deciding_of_pair(
    a: dict[str, FloatArray], b: dict[str, FloatArray], seeds: tuple[int, int]
) -> Measure:
    """Return the deciding row of two runs that differ in their rate, with these seeds."""
    runs = [
        run(curves, config={"seed": seed, "learning_rate": rate})
        for curves, seed, rate in zip((a, b), seeds, (1e-3, 1e-4), strict=True)
    ]
    return next(row for row in compare(*runs).pairs[0].measures if row.decides)


def test_repeats_tell_how_far_seeds_end_apart_and_no_prior_does() -> None:
    """Without them a tenth of the pairs of seeds end as far apart as configurations do."""
    a, b = run({"train_loss": falling(300, 1)}), run({"train_loss": 0.5 * falling(300, 2)})
    repeats = between([run({"train_loss": falling(300, seed)}) for seed in (1, 3, 4, 5, 6)])
    said = [
        next(row.p_b_better for row in measures(a, b, "step", terms) if row.decides)
        for terms in (Terms(equal=0.5), Terms(repeats, equal=0.5))
    ]
    assert said[0] == pytest.approx((1 + 1 / 1.1) / 2, abs=0.05)
    assert said[1] is not None
    assert said[1] > 0.97


@pytest.mark.parametrize(("equal", "holds"), [(0.98, True), (0.0, False)])
def test_the_interval_holds_zero_where_the_configurations_may_be_one(
    equal: float, holds: bool
) -> None:
    """Two seeds of one configuration lie apart, and its difference from itself is nothing."""
    a, b = run({"eval_loss": evals(30, 1.0, 1)}), run({"eval_loss": evals(30, 1.8, 2)})
    made = measures(a, b, "step", Terms(equal=equal))
    row = next(row for row in made if row.what == "Last eval loss")
    assert row.interval is not None
    assert (row.interval[0] <= 0 <= row.interval[1]) is holds
