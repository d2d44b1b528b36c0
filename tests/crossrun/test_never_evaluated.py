"""Groups that nobody evaluates."""

import pytest

from runlens.crossrun.never_evaluated import RULE
from runlens.crossrun.rule import CrossFinding
from runlens.nights import RunRow
from tests.auditing.made import START, row

BLIND = {"train_loss.end": 1.0, "eval.points": 0.0}


def ask(rows: list[RunRow]) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, RULE.limits, START)


def blind(count: int, **more: object) -> list[RunRow]:
    """Draw runs without an evaluation."""
    return [row(str(at), at, measures=BLIND, **more) for at in range(count)]  # type: ignore[arg-type]


def test_a_group_without_any_evaluation_is_found() -> None:
    """An info: another job may have evaluated them."""
    (finding,) = ask(blind(3))
    assert (finding.severity, len(finding.runs)) == ("info", 3)
    assert finding.title.startswith("None of 3 runs of sft")


@pytest.mark.parametrize(
    "rows",
    [
        blind(2),
        [*blind(4), row("x")],
        blind(4, task="grpo"),
        blind(4, steps=50),
        blind(4, state="crashed"),
        [row(str(at), measures={}) for at in range(4)],
    ],
    ids=["two runs", "one is evaluated", "a policy", "trials", "crashed", "nothing is known"],
)
def test_look_alikes_pass(rows: list[RunRow]) -> None:
    """Few, short, or judged by something else."""
    assert ask(rows) == ()
