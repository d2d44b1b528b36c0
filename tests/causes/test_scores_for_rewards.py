"""A share of wins that stands for a reward which is not logged."""

import json
from pathlib import Path

import pytest

from runlens.engine import diagnose
from tests.sources.written import run_of


@pytest.mark.parametrize(("name", "known"), [("win_rates", False), ("rewards", True)])
def test_no_win_says_nothing_of_the_reward(tmp_path: Path, name: str, *, known: bool) -> None:
    """The policy may be paid for something else. That each reward is 0 is found, and no cause."""
    whole = {"episodes": [1500 * n for n in range(17)], name: [0.0] * 17}
    found = diagnose(run_of(tmp_path, "training_metrics.json", json.dumps(whole)))
    (stuck,) = (one for one in found.findings if one.rule == "reward-stuck-zero")
    assert stuck.causes[0].kind == "unknown"
    assert any(fix.what.startswith("Log the reward") for fix in stuck.fixes) is not known
