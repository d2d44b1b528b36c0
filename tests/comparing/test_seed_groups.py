"""Groups of repeats: the verdict of the t-test, paired by seed where there are pairs."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from runlens.cli.compare import command
from runlens.comparing.engine import compare
from runlens.comparing.seed_groups import SeedGroups, levels, more_seeds
from runlens.history import FloatArray
from runlens.run import Run
from tests.comparing.drawn_runs import falling, run


def repeats(ends: FloatArray, rate: float = 1e-3, first: int = 0) -> list[Run]:
    """Return runs with these last eval losses and the seeds from `first` on."""
    return [
        run({"eval_loss": falling(20) + (end - falling(20)[-1])}, f"seed {seed}",
            config={"learning_rate": rate, "seed": seed})
        for seed, end in enumerate(ends.tolist(), first)
    ]  # fmt: skip


def test_five_against_five_are_judged_as_the_paired_t_test_does() -> None:
    """In 95 of 100 cases at least, whether the configurations differ or not."""
    rng = np.random.default_rng(0)
    agree = 0
    for case in range(100):
        seeds = rng.normal(0, 0.02, 5)
        a = 2 + seeds + rng.normal(0, 0.01, 5)
        b = 2 + seeds + rng.normal(0, 0.01, 5) + (case % 4) * 0.012
        found = compare(repeats(a), repeats(b, 2e-3)).verdict.result
        significant = stats.ttest_rel(a, b).pvalue < 0.05
        agree += significant == (found in {"better", "worse"})
    assert agree >= 95


def test_groups_without_common_seeds_are_not_paired() -> None:
    """Student's t with the pooled deviation."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(2.0, 0.01, 5), rng.normal(2.05, 0.01, 6)
    row = compare(repeats(a), repeats(b, 2e-3, first=10)).pairs[0].measures[0]
    found = stats.ttest_ind(a, b)
    interval = found.confidence_interval()
    assert row.interval == pytest.approx((-interval.high, -interval.low), rel=0.02)
    assert row.chance == pytest.approx(found.pvalue, rel=0.05)
    assert "paired" not in row.note
    assert "means of 5 and 6 runs" in row.note


def test_a_run_that_ended_in_nan_is_counted_and_left_out() -> None:
    """Its seed is no pair."""
    broken = run({"eval_loss": [2.0, float("nan")]}, config={"seed": 9})
    groups = SeedGroups([*repeats(np.ones(4)), broken], repeats(np.ones(5)))
    found = levels(groups, "eval_loss", "last")
    assert found is not None
    assert (len(found.a), found.paired, found.lost) == (4, True, 1)


def test_what_is_open_says_how_many_runs_would_tell() -> None:
    """Half a deviation needs 63 runs a side at 80 % power."""
    assert more_seeds(0.5, 1.0) == 63
    assert more_seeds(0.0, 1.0) == 0
    a, b = np.array([2.0, 2.02, 2.04]), np.array([2.02, 2.05, 2.06])
    verdict = compare(repeats(a), repeats(b, 2e-3, first=5)).verdict
    assert verdict.result == "cannot_tell"
    assert "a side would tell" in verdict.second


def test_twenty_equal_runs_have_no_winner_among_them() -> None:
    """Each alone would be called different once in twenty times."""
    rng = np.random.default_rng(5)
    claims = 0
    for _ in range(10):
        base = repeats(rng.normal(2, 0.02, 5))
        others = [repeats(rng.normal(2, 0.02, 5), 2e-3, first=9) for _ in range(8)]
        found = compare(base, others[0], *others[1:])
        claims += sum(pair.verdict.result in {"better", "worse"} for pair in found.pairs)
    assert claims <= 2


def test_groups_are_parted_by_two_dashes(tmp_path: Path) -> None:
    """By pattern or one by one; a side without a run is told."""
    for name, level in (("a", 1.0), ("b", 2.0)):
        for seed in range(3):
            folder = tmp_path / name / f"s{seed}"
            folder.mkdir(parents=True)
            rows = [f"{step},{level + 0.001 * seed + 1 / step}" for step in range(1, 30)]
            (folder / "metrics.csv").write_text("\n".join(["step,eval_loss", *rows]))
    a, b = (str(tmp_path / name / "s*") for name in "ab")
    found = CliRunner().invoke(command, [a, "--", b, "--no-html", "--quiet"])
    assert found.output.startswith("B WORSE")
    refused = CliRunner().invoke(command, [a, "--"])
    assert "both sides of --" in refused.output
