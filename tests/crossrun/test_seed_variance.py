"""Runs that differ in the seed alone."""

from dataclasses import replace

import pytest

from runlens.crossrun.rule import CrossFinding
from runlens.crossrun.seed_variance import RULE
from runlens.nights import RunRow
from tests.auditing.made import START, found, row


def ask(rows: list[RunRow]) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, RULE.limits, START)


def seeded(*levels: float, **more: object) -> list[RunRow]:
    """Draw runs with seeds 0, 1, 2, ... that end at these levels."""
    return [
        row(f"s{at}", at, loss=level, config={"seed": at}, **more)  # type: ignore[arg-type]
        for at, level in enumerate(levels)
    ]


def test_seeds_that_end_far_apart_are_found() -> None:
    """An info, with the scatter, the noise within a run, and what to look for."""
    (finding,) = ask(seeded(1.0, 1.2, 0.9))
    assert (finding.severity, finding.runs[0]) == ("info", "runs/s1")
    assert "3 runs" in finding.title
    assert "eval loss 0.900 to 1.200" in finding.title
    assert "the error within a run (limit 3)" in finding.why
    assert "loader workers are seeded" in finding.why


@pytest.mark.parametrize(
    "rows",
    [
        seeded(1.0, 1.004, 0.997),
        seeded(1.0, 1.2, 0.9, error=0.2),
        seeded(1.0, 1.2),
        [row(f"s{at}", loss=level) for at, level in enumerate((1.0, 1.2, 0.9))],
        [
            row(str(at), loss=level, config={"seed": at, "lora_r": at})
            for at, level in enumerate((1.0, 1.2, 0.9))
        ],
        [*seeded(1.0, 1.01, 0.99), row("s9", loss=2.0, config={"seed": 9}, state="killed")],
        [
            *seeded(1.0, 1.01, 0.99),
            row("s9", loss=2.0, config={"seed": 9}, findings=[found("divergence")]),
        ],
        [row(str(at), loss=x, steps=n) for at, (x, n) in enumerate([(1, 900), (2, 90), (3, 9)])],
    ],
    ids=[
        "small differences are expected",
        "ends that are poorly known",
        "two seeds",
        "one seed",
        "another setting",
        "a run that was stopped",
        "a run that broke",
        "other lengths",
    ],
)
def test_look_alikes_pass(rows: list[RunRow]) -> None:
    """Kernels part any two runs a little; other settings part them for a reason."""
    assert ask(rows) == ()


def test_without_settings_nobody_knows_that_runs_are_equal() -> None:
    """Equal by ignorance."""
    told = seeded(1.0, 1.2, 0.9)
    assert ask([replace(one, config={"seed": at}) for at, one in enumerate(told)]) == ()
