"""A job that got worse."""

import pytest

from runlens.crossrun.regression import RULE
from runlens.crossrun.rule import CrossFinding
from runlens.nights import RunRow
from tests.auditing.made import START, found, row

LEVELS = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0)


def ask(rows: list[RunRow]) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, RULE.limits, START)


def good(**more: object) -> list[RunRow]:
    """Draw six nights that end within 1 % of each other."""
    return [row(f"n{at}", at, loss=level, **more) for at, level in enumerate(LEVELS)]  # type: ignore[arg-type]


def test_a_job_that_got_worse_names_what_changed() -> None:
    """Since which run, by how much, against which limit, and the settings that differ."""
    bad = [row(f"n{at}", at, loss=1.12, config={"accelerate": "1.3"}) for at in (6, 7)]
    (finding,) = ask([*good(config={"accelerate": "1.2"}), *bad])
    assert (finding.severity, finding.runs) == ("warning", ("runs/n6", "runs/n7"))
    assert finding.title == (
        "nightly got worse with n6: eval loss 1.120 against 1.000 before, in 2 runs since."
    )
    assert "Changed since n5: accelerate: 1.2 to 1.3." in finding.why
    assert "(limit" in finding.why


def test_where_no_setting_changed_the_code_is_to_be_bisected() -> None:
    """The delta says so."""
    (finding,) = ask([*good(), row("n6", 6, loss=1.5)])
    assert "No recorded setting changed since n5: bisect code, data and versions." in finding.why


def test_bad_runs_are_no_yardstick() -> None:
    """After a week of bad runs it is still a regression."""
    (finding,) = ask([*good(), *(row(f"n{at}", at, loss=1.2) for at in range(6, 14))])
    assert len(finding.runs) == 8


def test_reward_is_better_where_higher() -> None:
    """A reward that falls is worse; one that rises is not."""

    def drawn(last: float) -> list[RunRow]:
        return [
            row(f"n{at}", at, task="grpo", measures={"reward.end": value}, noises={})
            for at, value in enumerate((0.8, 0.81, 0.79, 0.8, 0.8, 0.8, last))
        ]

    assert len(ask(drawn(0.3))) == 1
    assert ask(drawn(1.3)) == ()


@pytest.mark.parametrize(
    "last",
    [
        [row("n6", 6, loss=1.01)],
        [row("n6", 6, loss=1.04)],
        [row("n6", 6, loss=0.8)],
        [row("n6", 6, loss=1.5), row("n7", 7, loss=1.0)],
        [row("n6", 6, loss=1.5, sweep="s")],
        [row("n6", 6, loss=1.5, job="other")],
        [row("n6", 6, loss=1.5, steps=200)],
        [row("n6", 6, loss=1.5, state="crashed")],
        [row("n6", 6, loss=1.5, findings=[found("plateau", "warning")])],
        [row("n6", 6, loss=1.5, started=None)],
    ],
    ids=[
        "within the spread",
        "a single run, a little worse",
        "better",
        "good again",
        "sweep",
        "another job",
        "shorter",
        "crashed",
        "has a finding of its own",
        "no time",
    ],
)
def test_look_alikes_pass(last: list[RunRow]) -> None:
    """Small, single, deliberate, or told elsewhere."""
    assert ask([*good(), *last]) == ()


def test_four_good_runs_are_no_yardstick() -> None:
    """Their spread is not known."""
    assert ask([*good()[:4], row("n6", 6, loss=1.5)]) == ()


def test_small_differences_of_equal_runs_are_no_regression() -> None:
    """Bit-equal good runs have no spread: still 2 % must be passed."""
    same = [row(f"n{at}", at, loss=1.0, error=0.0) for at in range(6)]
    assert ask([*same, row("n6", 6, loss=1.015), row("n7", 7, loss=1.015)]) == ()
    assert len(ask([*same, row("n6", 6, loss=1.03), row("n7", 7, loss=1.03)])) == 1


def test_five_runs_that_lie_close_by_chance_are_no_narrow_yardstick() -> None:
    """Runs that followed each other lay 20 % apart before: so do the last two."""
    wide = (1.3, 1.02, 1.21, 1.06, 1.33, 1.1, 1.24, 1.03, 1.29, 1.15)
    close = (1.11, 1.12, 1.115, 1.125, 1.12)
    last = [row(f"n{at}", at, loss=1.33) for at in (15, 16)]
    rows = [row(f"n{at}", at, loss=level) for at, level in enumerate((*wide, *close))]
    assert ask([*rows, *last]) == ()
    assert len(ask([*rows[10:], *last])) == 1


def test_a_level_that_changed_long_ago_hides_nothing() -> None:
    """It is one step among many."""
    rows = [row(f"n{at}", at, loss=1.4 + level) for at, level in enumerate(LEVELS)]
    rows += [row(f"m{at}", 6 + at, loss=level) for at, level in enumerate(LEVELS)]
    assert len(ask([*rows, *(row(f"b{at}", 12 + at, loss=1.12) for at in range(2))])) == 1
