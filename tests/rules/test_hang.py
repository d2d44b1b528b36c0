"""A silent log beside a machine that lives on, against the limits."""

from dataclasses import replace

import pytest

from runlens.engine import examine
from runlens.rules.lifecycle.hang import RULE, Limits
from runlens.signals import Signals

SILENT = next(case for case in RULE.bad if "heartbeat" in case.curves)  # 168 s, gaps of 2 s


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (Limits(), "found"),
        (Limits(floor=100.0), "found"),
        (Limits(floor=300.0), "passed"),
        (Limits(multiple=80.0), "found"),
        (Limits(multiple=100.0), "passed"),
    ],
)
def test_raised_limits_ask_for_a_longer_silence(limits: Limits, status: str) -> None:
    """Both in seconds and in earlier gaps."""
    run = SILENT.run()
    assert examine(replace(RULE, limits=limits), run, Signals(run)).status == status
