"""One run far from its siblings."""

import pytest

from runlens.crossrun.outlier import RULE, Limits
from runlens.crossrun.rule import CrossFinding
from runlens.nights import RunRow
from tests.auditing.made import START, found, row

LEVELS = (1.0, 1.01, 0.99, 1.02, 1.0, 0.98, 1.01)


def ask(rows: list[RunRow]) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, RULE.limits, START)


def siblings(**more: object) -> list[RunRow]:
    """Draw runs that end within 2 % of each other."""
    return [row(str(at), at, loss=level, **more) for at, level in enumerate(LEVELS)]  # type: ignore[arg-type]


def reward(name: str, value: float) -> RunRow:
    """Draw a run judged by its reward."""
    measures = {"reward.end": value, "train_loss.end": 0.0}
    return row(name, task="grpo", group="grpo · m · d", measures=measures, noises={})


def test_a_run_that_ends_far_worse_in_both_losses_is_found() -> None:
    """With the distance, the effect and their limits."""
    (finding,) = ask([*siblings(), row("far", loss=1.4)])
    assert (finding.severity, finding.runs) == ("warning", ("runs/far",))
    assert "far ends far from 7 siblings: eval loss 1.000 is usual" in finding.title
    assert "(limit 3.5)" in finding.why
    assert "worse by 40" in finding.why


def test_a_policy_is_judged_by_its_reward() -> None:
    """Lower is worse; a loss that is 0 says nothing."""
    values = (0.8, 0.81, 0.79, 0.8, 0.82, 0.2)
    (finding,) = ask([reward(str(at), value) for at, value in enumerate(values)])
    assert finding.runs == ("runs/5",)


def test_a_run_with_a_setting_of_its_own_is_an_experiment() -> None:
    """An info that names it."""
    (finding,) = ask([*siblings(), row("far", loss=1.4, config={"learning_rate": 1e-6})])
    assert finding.severity == "info"
    assert "It alone has learning_rate so." in finding.why


@pytest.mark.parametrize(
    "far",
    [
        row("far", loss=0.5),
        row("far", loss=1.05),
        row("far", loss=1.4, eval_loss=1.01),
        row("far", loss=1.4, steps=300),
        row("far", loss=1.4, state="killed"),
        row("far", loss=1.4, findings=[found("plateau", "warning")]),
        row("far", loss=1.4, group="sft · other"),
    ],
    ids=["better", "near", "one loss", "short", "killed", "found already", "another group"],
)
def test_look_alikes_pass(far: RunRow) -> None:
    """Better, near, judged on one side alone, of other length, broken, or not comparable."""
    assert ask([*siblings(), far]) == ()


def test_few_siblings_say_nothing() -> None:
    """The spread of four runs is not known."""
    assert ask([*siblings()[:3], row("far", loss=1.4)]) == ()


def test_siblings_that_scatter_evenly_have_no_outlier() -> None:
    """Where the middle ones happen to lie close, the median deviation alone is too small."""
    middle = [1.175 + 0.006 * at for at in range(-5, 6)]
    levels = (1.06, 1.08, 1.1, 1.12, *middle, 1.26, 1.29, 1.32, 1.35)
    rows = [row(str(at), at, loss=level) for at, level in enumerate(levels)]
    far = row("far", loss=1.4)
    assert ask([*rows, far]) == ()
    assert RULE.check([*rows, far], Limits(chance=0.9), START)  # as it was told once


def test_wide_siblings_hide_it() -> None:
    """40 % worse where runs scatter by 20 % is no outlier; a limit can be moved."""
    wide = [row(str(at), loss=1 + 0.2 * (at - 3)) for at in range(7)]
    assert ask([*wide, row("far", loss=1.4)]) == ()
    far = [*siblings(), row("far", loss=1.4)]
    assert RULE.check(far, Limits(effect=0.5), START) == ()


def test_ends_that_are_poorly_known_count_as_spread() -> None:
    """A run of noisy curves is not far off by their noise."""
    assert ask([*siblings(error=0.2), row("far", loss=1.4, error=0.2)]) == ()
