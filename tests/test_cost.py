"""GPU-hours after a fault: what counts, what does not, and what is not known."""

from dataclasses import replace

import pytest

from runlens import cost
from tests.auditing.made import HOUR, START, found, row


def test_hours_after_the_onset_times_gpus() -> None:
    """Four hours on two GPUs, broken after one hour."""
    broken = row("a", findings=[found(time=START + HOUR)])
    assert cost.gpu_hours(broken) == 8
    assert cost.wasted(broken) == pytest.approx(6)


@pytest.mark.parametrize("rule", ["clip-saturation", "stopped-early", "throughput-drop"])
def test_findings_after_which_the_result_stands_cost_nothing(rule: str) -> None:
    """Zero, and known to be zero."""
    assert cost.wasted(row("a", findings=[found(rule, "warning", time=START)])) == 0.0


def test_infos_cost_nothing() -> None:
    """An info never alarms."""
    assert cost.wasted(row("a", findings=[found("eval-gap", "info", time=START)])) == 0.0


def test_a_run_counts_once_however_many_faults_it_has() -> None:
    """From the first one on."""
    both = [found(time=START + 2 * HOUR), found("divergence", time=START + HOUR)]
    assert cost.lost([row("a", findings=both)]).gpu_hours == pytest.approx(6)


def test_runs_without_times_are_unknown_never_zero() -> None:
    """They are counted apart, and no money is made of them."""
    untimed = row("a", findings=[found()], started=None, ended=None)
    assert cost.wasted(untimed) is None
    alone = cost.lost([untimed])
    assert (alone.untimed, alone.known, alone.money(2.0)) == (1, False, None)
    timed = row("b", findings=[found(time=START)])
    assert cost.lost([untimed, timed]) == cost.Cost(8.0, 2, 1)


def test_pauses_between_launches_are_not_paid() -> None:
    """A run resumed after three hours off ran for one."""
    paused = replace(row("a", findings=[found(time=START)]), paused=3 * HOUR)
    assert cost.gpu_hours(paused) == 2
    assert cost.wasted(paused) == 2


def test_money_needs_a_price() -> None:
    """None is not zero."""
    spent = cost.spent([row("a")])
    assert spent.money(None) is None
    assert spent.money(2.5) == 20
