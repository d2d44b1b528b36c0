"""What all reports of a comparison say alike: differences, verdicts, places, ranks."""

from dataclasses import replace

import pytest

from runlens.comparison import Effect, Leaderboard, SettingDifference
from runlens.report.compared import at, difference, likeliest, names, of_many, ranked, told
from runlens.report.comparison.words import briefly
from tests.report.comparisons import measure, pair, sweep, verdict
from tests.report.diagnoses import diagnosis, overfitting

MINUS = "\u2212"


def test_differences_add_up_as_they_are_shown() -> None:
    """2.9224 and 2.4941 are shown as 2.922 and 2.494; their difference is -0.428, not -0.4283."""
    one = measure(a=2.9224, b=2.4941, difference=-0.4283)
    assert difference(one) == f"{MINUS}0.428"
    assert difference(measure(a=1.0004, b=1.0006, difference=0.0002)) == "+2e-4"
    assert difference(measure(difference=None)) == "–"


@pytest.mark.parametrize(
    ("changes", "result", "words"),
    [
        (
            {"difference": 0.25, "outcome": "worse"},
            "worse",
            "A better, clear: 5 × the noise, limit 2",
        ),
        ({"better": "", "outcome": ""}, "better", "B lower, clear: 5 × the noise, limit 2"),
        (
            {"clear": False, "outcome": "cannot_tell"},
            "cannot_tell",
            "cannot tell: 5 × the noise, limit 2",
        ),
        (
            {"clear": False, "outcome": "equivalent"},
            "equivalent",
            "equivalent: 5 × the noise, limit 2",
        ),
        ({"clear": False, "noise": None}, "better", "no noise known"),
        ({"difference": 0.0, "clear": False}, "better", "equal"),
        (
            {"outcome": "cannot_tell"},
            "cannot_tell",
            "B lower, 5 × the noise, limit 2; only seeds differ",
        ),
        ({"b": None}, "better", "not known of B"),
    ],
)
def test_a_measure_says_no_more_than_its_noise_allows(
    changes: dict[str, object], result: str, words: str
) -> None:
    """A winner is named only where the difference is clear and the verdict allows it."""
    one = measure(**changes)
    whole = pair(overfitting(), diagnosis(), measures=(one,), verdict=verdict(result))  # type: ignore[arg-type]
    assert told(one, "B", whole) == words


@pytest.mark.parametrize(
    ("interval", "words"),
    [((-300.0, -100.0), "B sooner"), ((40.0, 90.0), "B later"), ((-90.0, 40.0), "cannot tell"),
     (None, "cannot tell")],
)  # fmt: skip
def test_how_soon_a_level_is_reached_is_told_by_its_bounds(
    interval: tuple[float, float] | None, words: str
) -> None:
    """It has no noise of its own, and none is asked for."""
    one = measure(metric="step", what="Steps to A's last eval loss", a=600.0, b=400.0,
                  difference=-200.0, noise=None, interval=interval, better="lower",
                  clear=False, outcome="", note="67 % of A's")  # fmt: skip
    whole = pair(overfitting(), diagnosis(), measures=(one,))
    assert told(one, "B", whole) == words
    assert briefly(one, whole, "B") == "67 % of A's"


def test_what_explains_most_of_a_sweep_is_likeliest_in_each_of_its_runs() -> None:
    """The table names no other setting than its summary; without a summary the pair's own order."""
    rows = tuple(
        SettingDifference(key, 1, 2, rank, "")
        for rank, key in enumerate(("learning_rate", "width"), 1)
    )
    one = pair(overfitting(), diagnosis(), settings=rows)
    effect = Effect("depth + width", 0.8, 1, 2)
    board = Leaderboard("eval_loss", "lower", (), None, "", None, (effect,))
    found = [likeliest(one, known) for known in (None, board)]
    assert [row.key for row in found if row] == ["learning_rate", "width"]


def test_places_are_written_in_the_unit_of_the_axis() -> None:
    """Steps exactly, epochs and tokens with four digits, times as durations."""
    assert at("step", 1620.0) == "step 1,620"
    assert at("epoch", 1.25) == "epoch 1.25"
    assert at("tokens", 2_000_000.0) == "2,000,000 tokens"
    assert at("samples", 2400.0) == "2,400 samples"
    assert at("time", 7200.0) == "2 h"
    assert at("step", None) == "–"


def test_runs_with_one_name_are_told_apart_by_their_ids() -> None:
    """Two runs called alike show their ids."""
    same = (diagnosis(run_id="x"), diagnosis(run_id="y"))
    assert names(same) == ["small run (x)", "small run (y)"]


def test_the_verdict_on_many_runs_counts_them() -> None:
    """The headline says how many are better and which is the best, or that none is."""
    none = of_many(sweep())
    assert none.sentence == (
        "None of 19 runs is better than A: 3 cannot tell, 15 worse, 1 not comparable."
    )
    assert none.second.startswith("First among them: D, 1.230 against 1.200 in last eval loss")
    whole = sweep(3)
    good = replace(whole.pairs[1], verdict=verdict("better"))
    said = of_many(replace(whole, pairs=(whole.pairs[0], good)))
    assert said.sentence.startswith("1 of 2 runs is better than A: it is C, ")
    assert said.result == "better"
    same, open_ = (
        replace(whole.pairs[0], verdict=verdict(one)) for one in ("equivalent", "cannot_tell")
    )
    assert of_many(replace(whole, pairs=(same, same))).result == "equivalent"
    assert of_many(replace(whole, pairs=(same, open_))).result == "cannot_tell"


def test_a_run_that_broke_is_the_worst() -> None:
    """Worse without a clear number, as after NaN, ranks behind every run that is clearly worse."""
    whole = sweep(4)
    lost = measure(b=1.0, difference=-0.2, clear=False)
    clear = measure(a=1.2, b=9.0, difference=7.8)
    pairs = [replace(one, verdict=verdict("worse"), measures=(clear,)) for one in whole.pairs]
    pairs[0] = replace(pairs[0], measures=(lost,))
    assert ranked(replace(whole, pairs=tuple(pairs))) == [1, 2, 0]


def test_runs_of_one_result_are_ordered_by_their_own_value() -> None:
    """Judged against A at different steps, the run that got lowest is the best."""
    whole = sweep(3)
    early = measure(what="Eval loss at step 100", a=1.9, b=1.0, difference=-0.9)
    late = measure(a=1.5, b=0.8, difference=-0.7)
    pairs = tuple(
        replace(one, verdict=verdict("better"), measures=(measure_,))
        for one, measure_ in zip(whole.pairs, (early, late), strict=True)
    )
    assert ranked(replace(whole, pairs=pairs)) == [1, 0]
