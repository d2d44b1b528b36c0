"""A fault that goes with a setting."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.crossrun.cluster import RULE, Limits
from runlens.crossrun.rule import CrossFinding
from runlens.nights import RunRow
from runlens.run import Setting
from tests.auditing.made import HOUR, START, found, row


def ask(rows: list[RunRow], limits: Limits = RULE.limits) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, limits, START)


def runs(
    key: str, value: Setting, bad: int, good: int, rule: str = "nan-loss", **more: Setting
) -> list[RunRow]:
    """Draw runs with a setting, some of which have a fault."""
    faulty = [found(rule, time=START + HOUR)]
    return [
        row(
            f"{key}-{value}-{rule}-{at}",
            findings=faulty if at < bad else (),
            config={key: value, **more},
        )
        for at in range(bad + good)
    ]


def test_seven_of_nine_runs_with_fp16_ended_in_nan() -> None:
    """0 of 20 with bf16: told in these words, with p, rates, limits and GPU-hours."""
    rows = [*runs("precision", "fp16", 7, 2), *runs("precision", "bf16", 0, 20)]
    (finding,) = ask(rows)
    assert finding.severity == "warning"
    assert finding.title == (
        "7 of 9 runs with precision = fp16: NaN loss; 0 of 20 with precision = bf16."
    )
    assert len(finding.runs) == 7
    assert finding.gpu_hours == pytest.approx(7 * 6)
    assert "(limit 2 times), p 2.3e-5 by an exact test" in finding.why


def test_a_number_is_blamed_from_where_the_fault_begins() -> None:
    """All runs from a learning rate on, none below."""
    rates = [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3]
    rows = [
        one
        for rate in rates
        for one in runs("learning_rate", rate, *((2, 0) if rate >= 5e-4 else (0, 2)))
    ]
    (finding,) = ask(rows)
    assert "6 of 6 runs with learning_rate >= 5e-4: NaN loss; 0 of 10" in finding.title


def test_settings_that_change_together_are_all_named() -> None:
    """Nothing tells them apart."""
    rows = [
        *runs("precision", "fp16", 7, 2, cluster="old"),
        *runs("precision", "bf16", 0, 20, cluster="new"),
    ]
    (finding,) = ask(rows)
    assert "Not to be told apart from it: precision = fp16." in finding.why
    assert "cluster = old" in finding.title


def test_two_faults_are_two_clusters() -> None:
    """Each with its setting."""
    rows = [
        *runs("a", 1, 8, 1, b=1),
        *runs("b", 2, 8, 1, rule="oom-cliff", a=2),
        *runs("a", 3, 0, 20, b=3),
    ]
    assert [one.about for one in ask(rows)] == ["nan-loss", "oom-cliff"]


@pytest.mark.parametrize(
    "rows",
    [
        [*runs("p", "x", 2, 0), *runs("p", "y", 0, 20)],
        [*runs("p", "x", 5, 5), *runs("p", "y", 6, 14)],
        [*runs("p", "x", 9, 0), *runs("p", "y", 7, 3)],
        [*runs("p", "x", 7, 2, "killed"), *runs("p", "y", 0, 20)],
        [*runs("output_dir", "x", 7, 2), *runs("output_dir", "y", 0, 20)],
        runs("p", "x", 9, 0),
    ],
    ids=["two runs", "by chance", "hardly more", "stopped by hand", "a path", "all runs"],
)
def test_look_alikes_pass(rows: list[RunRow]) -> None:
    """Too few, by chance, of little effect, or no fault of a setting."""
    assert ask(rows) == ()


def test_what_only_tells_one_job_from_another_is_not_blamed() -> None:
    """The model of a job that breaks more often is no finding; what varies within it is."""
    ours = [*runs("model_name", "a", 6, 3), *runs("model_name", "a", 0, 9, lr=1)]
    others = [replace(one, group="other") for one in runs("model_name", "b", 0, 40, lr=1)]
    (finding,) = ask([*ours, *others])
    assert finding.title.startswith("6 of 9 runs with lr = not recorded: NaN loss")


def test_many_settings_are_tried_and_none_is_blamed_by_chance() -> None:
    """A fifth of the runs break at random; 60 settings that mean nothing."""
    alarms = naive = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = rng.integers(2, size=(40, 60)).tolist()
        rows = [
            row(
                str(at),
                findings=[found()] if rng.random() < 0.2 else (),
                config={f"option_{k}": f"v{v}" for k, v in enumerate(values[at])},
            )
            for at in range(40)
        ]
        alarms += bool(ask(rows))
        naive += bool(ask(rows, Limits(q=0.5)))
    assert alarms <= 1
    assert naive > alarms
