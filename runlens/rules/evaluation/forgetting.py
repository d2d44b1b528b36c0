"""Forgetting: a general benchmark falls while the trained task improves.

What is seen
    A metric of another task (MMLU, HellaSwag, GSM8K, WikiText, ...), measured at least three times
    during the run, gets clearly worse, and the loss or the reward of the trained task gets better.
    Or of tasks that are trained in turn the score of one falls while that of another rises.
Why it matters
    The model learns the new task at the cost of what it could do before.
Looks alike
    Small benchmarks scatter by several points: the change must be beyond that scatter. Where the
    trained task gets worse as well, something else is wrong. A score that dips and comes back, or
    one of a task that is not trained yet, was not forgotten.
Limits
    fewest: evaluations of the other task. fall: of it, relative to its first level. errors: the
    fall in standard errors of the scatter. gain: relative improvement of the trained task.
Fixes
    Half of the learning rate, 5 to 10 % of general data in the mix, fewer epochs, LoRA instead of
    all weights.
"""

import re

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
)
from runlens.history import Curve
from runlens.patterns import lazy_re
from runlens.rules.evaluation import in_turn
from runlens.rules.evaluation.benchmarks import BENCHMARK
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import RL_TASKS, Run
from runlens.signals import Signals
from runlens.signals.noise import sigma
from runlens.wording import number, percent, step

LOWER_IS_BETTER = lazy_re(r"loss|ppl|perplexity|error|nll|bits", re.IGNORECASE)


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 3
    fall: float = 0.05
    errors: float = 3.0
    gain: float = 0.02


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the first and last measurements of each other-task metric, then of tasks in turn."""
    if lost := in_turn.forgotten(signals):
        return found(_of_tasks(run, signals, lost))
    named = [name for name in run.history.metrics if BENCHMARK.search(name)]
    curves = {name: signals.curve(name) for name in named}
    known = {name: one for name, one in curves.items() if len(one) >= limits.fewest}
    if not known:
        return unmet(f"no other task was evaluated at least {limits.fewest} times")
    task, gain = _gain(run, signals)
    if not task:
        return unmet("the trained task has no curve to compare with")
    worst, (fell, errors) = max(
        ((name, _fall(name, one)) for name, one in known.items()), key=lambda item: item[1]
    )
    if fell <= limits.fall or errors <= limits.errors:
        return passed(f"{worst} changed by {percent(-fell)}, {number(errors, 2)} standard errors")
    if gain < limits.gain:
        return passed(f"{task} did not improve either ({percent(gain)})")
    return found(_finding(run, signals, worst, known[worst], fell, errors, (task, gain), limits))


def _fall(name: str, curve: Curve) -> tuple[float, float]:
    """Return how much worse a metric got: relative to its start, and in standard errors."""
    value = curve.value
    tail = max(1, len(value) // 3)
    start, end = float(median(value[:tail])), float(median(value[-tail:]))
    worse = end - start if LOWER_IS_BETTER.search(name) else start - end
    scatter = sigma(value) * (2 / tail) ** 0.5
    return worse / max(abs(start), 1e-12), worse / max(scatter, 0.005 * abs(start), 1e-12)


def _gain(run: Run, signals: Signals) -> tuple[str, float]:
    """Return the metric of the trained task and its relative improvement."""
    names = ("reward",) if run.task in RL_TASKS else ("eval_loss", "train_loss")
    for name in names:
        if len(signals.curve(name)) > 2:  # noqa: PLR2004 - a start and an end
            levels = signals.levels(name)
            moved = levels.start - levels.end if name != "reward" else levels.end - levels.start
            return name, moved / max(abs(levels.start), 1e-12)
    return "", 0.0


def _of_tasks(run: Run, signals: Signals, lost: in_turn.Lost) -> Finding:
    """Tell of a task whose score was lost while another was trained."""
    onset = float(lost.curve.step[lost.at])
    ends = f"from {number(lost.best, 3)} to {number(lost.last, 3)}"
    rose = f"{lost.other} rose from {number(lost.before, 3)} to {number(lost.after, 3)}"
    return Finding(
        severity="info",
        title=f"Forgetting: {lost.name} fell {ends} after step {step(onset)} while {rose}.",
        metric=lost.name,
        onset=Moment(onset),
        evidence=(
            Evidence("Score lost since its best", lost.best - lost.last, where=lost.name),
            Evidence("Score gained by the other task", lost.after - lost.before, where=lost.other),
        ),
        seen="The model learns the new task at the cost of what it could do before.",
        fixes=(
            fixes.action(
                "Keep 5 to 10 % of the samples of earlier tasks in each batch",
                "the model then rehearses what it knew",
            ),
            *fixes.learning_rate(run, signals, 1 / 2, "this moves less far from the earlier task"),
        ),
        ruled_out=(RuledOut("Training failed as a whole", rose),),
        confidence=Confidence(0.8, f"{len(lost.curve)} evaluations of both tasks"),
        chart=Chart("curves", (lost.name, lost.other)),
    )


def _finding(
    run: Run,
    signals: Signals,
    name: str,
    curve: Curve,
    fell: float,
    errors: float,
    trained: tuple[str, float],
    limits: Limits,
) -> Finding:
    lower = LOWER_IS_BETTER.search(name)
    best = int(np.argmin(curve.value) if lower else np.argmax(curve.value))
    onset = float(curve.step[best])
    task, gain = trained
    return Finding(
        severity="info",
        title=f"Forgetting: {name} got worse by {percent(fell)} after step {step(onset)} while "
        f"{task.replace('_', ' ')} improved by {percent(gain)}.",
        metric=name,
        onset=Moment(onset),
        evidence=(
            Evidence("Loss of the other task", fell, limits.fall, "", name, unit="%"),
            Evidence("Improvement of the trained task", gain, limits.gain, "", task, unit="%"),
        ),
        seen="The model learns the new task at the cost of what it could do before.",
        fixes=(
            *fixes.learning_rate(run, signals, 1 / 2, "this moves less far from the base model"),
            fixes.action(
                "Mix 5 to 10 % of general data into the training data",
                "the model then rehearses what it knew",
            ),
        ),
        ruled_out=(RuledOut("Training failed as a whole", f"{task} improved by {percent(gain)}"),),
        confidence=Confidence(
            0.7, f"{number(errors, 2)} standard errors, {len(curve)} evaluations"
        ),
        chart=Chart("curves", (name, task)),
    )


BAD = (
    drawn(
        "MMLU falls",
        (0, 100),
        severity="info",
        noise=0.005,
        eval_mmlu="0:0.62 600:0.48",
        train_loss="0:2 600:1",
    ),
    drawn(
        "WikiText perplexity rises",
        (0, 100),
        severity="info",
        noise=0.005,
        eval_wikitext_ppl="0:8 600:14",
        train_loss="0:2 600:1",
    ),
    drawn(
        "tasks in turn",
        (150, 310),
        noise=0.01,
        severity="info",
        acc_task1="0:0.5 100:0.95 300:0.95 350:0.5 600:0.3",
        acc_task2="0:0.33 300:0.33 400:0.9 600:0.95",
    ),
    drawn(
        "old and new classes, in percent",
        (0, 60),
        noise=0.01,
        severity="info",
        old_acc="0:80 100:60 300:41",
        new_acc="0:2 300:70",
    ),
)
GOOD = (
    drawn("holds", noise=0.01, eval_mmlu="0:0.62 600:0.62", train_loss="0:2 600:1"),
    drawn(
        "a task that holds",
        noise=0.01,
        acc_task1="0:0.5 100:0.95 600:0.86",
        acc_task2="0:0.33 300:0.33 400:0.9 600:0.95",
        eval_mmlu="0:0.62 600:0.62",
        train_loss="0:2 600:1",
    ),
    drawn(
        "all tasks get worse",
        noise=0.01,
        acc_task1="0:0.9 600:0.3",
        acc_task2="0:0.9 600:0.3",
        eval_mmlu="0:0.62 600:0.62",
        train_loss="0:2 600:1",
    ),
    drawn("all gets worse", noise=0.01, eval_mmlu="0:0.62 600:0.4", train_loss="0:2 600:3"),
)

RULE = Rule(
    slug="forgetting",
    title="Forgetting",
    family="EVL",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    bad=BAD,
    good=GOOD,
)
