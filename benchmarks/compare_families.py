"""Trust of `runlens compare` on families of trainings whose seed deviation is known.

    python benchmarks/compare_families.py [PAIRS] [--kinds SET] [--seed N]

Real small trainings (trainings.py, networks.py), and curves drawn with a known deviation. Of each
family 16 seeds of each configuration give the truth: `better` or `worse` from 3 seed deviations on,
`equivalent` for one configuration, else `open`. Pairs of single runs are compared without repeats,
half of them without any setting, and groups of 5 against 5. Printed: answers by truth, power beside
the best test that knows the deviation, calibration of P(B better) by fifths with its Brier score,
how often the 95 % interval covers the difference of the configurations, and agreement of groups
with the paired t-test of the same levels. `--kinds` names a set of kinds.py, `--seed` that of the
first run. The metric whose truth is known is the one that is asked for, as by `--metric`.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from kinds import SETS
from scipy import stats
from trainings import Family

from runlens.comparing.engine import compare
from runlens.comparing.seeds import reached
from runlens.comparison import CompareVerdict
from runlens.history import FloatArray, History, columns
from runlens.run import Configured, Run

SEEDS = 16
FIRST = [0]  # seed
CLEAR = 3.0  # seed deviations from which one configuration is better


class Case(NamedTuple):
    """One pair with its truth."""

    a: Run
    b: Run
    truth: str
    effect: float  # of the configurations, B - A
    deviation: float  # between seeds
    p_b_better: float  # counted over all pairs of seeds
    verdict: CompareVerdict


def runs_of(family: Family, value: float, seeds: int) -> list[Run]:
    """Return the runs of one configuration."""
    return [_run(family, value, FIRST[0] + seed) for seed in range(seeds)]


def _run(family: Family, value: float, seed: int) -> Run:
    curves = family.train(seed + round(1e6 * value), value)
    most = max(len(curve) for curve in curves.values())
    metrics = {
        name: columns(np.arange(1, len(curve) + 1) * (most // len(curve)), curve)
        for name, curve in curves.items()
    }
    config = {"setting": Configured(value, "drawn"), "seed": Configured(seed, "drawn")}
    name = f"{value:g}-{seed}"
    return Run(name, name, History(metrics, ("drawn",)), config, task=family.task)


def ends(runs: list[Run], metric: str) -> FloatArray:
    """Return the last value of each run; of what is no evaluation the mean of the last tenth."""
    values = [run.curve(metric).value for run in runs]
    many = metric in {"reward", "train_loss"}
    return np.array([v[-max(1, len(v) // 10) :].mean() if many else v[-1] for v in values])


def cases(family: Family, pairs: int) -> Iterator[Case]:
    """Yield pairs of single runs: half of one configuration, half of the baseline and another."""
    rng = np.random.default_rng(1)
    groups = {value: runs_of(family, value, SEEDS) for value in family.values}
    levels = {value: ends(runs, family.metric) for value, runs in groups.items()}
    for case in range(pairs):
        one = family.values[0]
        two = one if case % 2 or len(family.values) == 1 else family.values[1 + case // 2 % 3]
        i, j = rng.choice(SEEDS, 2, replace=False)
        a, b = groups[one][i], groups[two][j]
        if case % 4 == 0:
            one, two, a, b = two, one, b, a
        better = -1 if "loss" in family.metric or family.metric in LOWER else 1
        effect = levels[two].mean() - levels[one].mean()
        deviation = float(np.sqrt((levels[one].var(ddof=1) + levels[two].var(ddof=1)) / 2))
        over = better * np.subtract.outer(levels[two], levels[one])
        chance = float(((over > 0) + 0.5 * (over == 0)).mean())
        truth = "equivalent" if one == two else "open"
        if abs(effect) >= CLEAR * deviation:
            truth = "better" if better * effect > 0 else "worse"
        if case % 8 >= 4 or len(family.values) == 1:  # the logs alone: no setting is known
            a, b = (replace(run, config={}) for run in (a, b))
        found = compare(a, b, metric=family.metric).verdict
        yield Case(a, b, truth, effect, deviation, chance, found)


LOWER = (
    "eval_rmse", "eval_recon", "eval_mae", "eval_mse", "eval_nll", "eval_wer", "eval_perplexity"
)  # fmt: skip


def score(name: str, known: list[Case]) -> None:
    """Print one line of answers, power, and covering intervals."""
    told = [one.verdict.result for one in known]
    clear = [one for one in known if one.truth in {"better", "worse"}]
    right = sum(one.verdict.result == one.truth for one in clear)
    best = sum(_known_test(one) for one in clear)
    wrong = sum({one.verdict.result, one.truth} == {"better", "worse"} for one in clear)
    equal = [one for one in known if one.truth == "equivalent"]
    false = sum(one.verdict.result in {"better", "worse"} for one in equal)
    inside = [
        one.verdict.interval[0] <= one.effect <= one.verdict.interval[1]
        for one in known
        if one.verdict.interval and one.verdict.metric
    ]
    print(
        f"| {name} | {len(known)} | {right}/{len(clear)} | {best}/{len(clear)} | {wrong} "
        f"| {false}/{len(equal)} | {np.mean(inside) if inside else np.nan:.0%} "
        f"| {dict(Counter(told))} |"
    )


def _known_test(one: Case) -> bool:
    """Whether a test that knows the deviation between seeds would tell this very pair apart."""
    found = one.verdict.effect
    return found is not None and abs(found) > stats.norm.ppf(0.975) * 2**0.5 * one.deviation


def calibration(known: list[Case]) -> None:
    """Print the Brier score of P(B better) and its reliability by fifths."""
    said = np.array([one.verdict.p_b_better for one in known], dtype=float)
    true = np.array([one.p_b_better for one in known])
    kept = np.isfinite(said)
    said, true = said[kept], true[kept]
    print(f"\nBrier against the true probability {np.mean((said - true) ** 2):.4f}, "
          f"of a constant {np.mean((0.5 - true) ** 2):.4f}")  # fmt: skip
    for low in np.arange(0, 1, 0.2):
        inside = (said >= low) & (said < low + 0.2 + 1e-9)
        if inside.any():
            line = f"said {said[inside].mean():.2f}, true {true[inside].mean():.2f}"
            print(f"  {low:.1f} to {low + 0.2:.1f}: n={inside.sum():3d}, {line}")


def agreement(families: dict[str, Family], many: int) -> None:
    """Print how often 5 against 5 runs, paired by seed, get the verdict of the paired t-test."""
    rng = np.random.default_rng(2)
    agree, asked = 0, 0
    for family in families.values():
        groups = [runs_of(family, value, SEEDS) for value in family.values]
        for other in groups[1:]:
            for _ in range(many):
                chosen = rng.choice(SEEDS, 5, replace=False)
                a, b = ([side[i] for i in chosen] for side in (groups[0], other))
                found = compare(a, b, metric=family.metric)
                row = next(one for one in found.pairs[0].measures if one.decides)
                levels = [[reached(run, family.metric).last for run in side] for side in (a, b)]
                significant = stats.ttest_rel(*levels).pvalue < 0.05
                agree += significant == (row.outcome in {"better", "worse"})
                asked += 1
    print(f"\n5 against 5, paired: {agree} of {asked} have the verdict of the paired t-test")


def main() -> None:
    """Compare, and print a Markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pairs", nargs="?", type=int, default=40)
    parser.add_argument("--kinds", choices=tuple(SETS), default="fitted")
    parser.add_argument("--groups", type=int, default=4, help="of each two configurations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--as-read", action="store_true", help="rewards are of task rl, as in files"
    )
    asked = parser.parse_args()
    FIRST[0] = asked.seed
    families, equal = SETS[asked.kinds]
    if asked.as_read:
        families = {
            name: one._replace(task="rl") if one.metric == "reward" else one
            for name, one in families.items()
        }
    print(
        "| family | pairs | right of clear | best test | wrong sign | false | covered | answers |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    every: list[Case] = []
    for name, family in {**families, **equal}.items():
        known = list(cases(family, asked.pairs))
        score(name, known)
        every += known if name in families else []
    score("all trainings", every)
    calibration(every)
    agreement(families, asked.groups)


if __name__ == "__main__":
    main()
