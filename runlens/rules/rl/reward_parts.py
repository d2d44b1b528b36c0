"""Parts of a reward that stand for the task, and a reward that rises without them."""

from collections.abc import Iterator

import numpy as np

from runlens import fixes
from runlens.diagnosis import Chart, Evidence, Finding, Moment
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.rl import policy
from runlens.rules.rl.policy import Gain
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, number, step

TASK = lazy_re(r"correct|accura|answer|exact|solve|success|equation|pass(ed|_|$)")
FORM = lazy_re(r"format|form_|len|style|penal|repet|std")


class Part(NamedTuple):
    """One of several reward functions."""

    metric: str
    name: str
    gain: Gain
    highest: float


def of_task(run: Run, signals: Signals, fewest: int) -> Iterator[Part]:
    """Return the parts that stand for the task by their name, and that move."""
    for metric in run.history.metrics:
        kind, _, name = metric.partition(":")
        if kind != "reward" or not TASK.search(name) or FORM.search(name):
            continue
        value, gain = signals.curve(metric).value, policy.gain_of(signals, metric)
        if gain is not None and len(value) >= fewest and np.ptp(value) > 0:
            yield Part(metric, name, gain, float(value.max()))


def finding(run: Run, signals: Signals, whole: Gain, part: Part, *, quiet: bool) -> Finding:
    """Tell of a reward that rises by its form while the task is solved no more often."""
    curve, gain = signals.curve(part.metric), part.gain
    onset = float(curve.step[0])
    start, end = number(gain.start, 3), number(gain.end, 3)
    moved = f"{start} on average in the first tenth of the run and {end} in the last"
    return Finding(
        severity="info" if quiet else "warning",
        title=f"Reward rose from step {step(onset)} on, but {part.name} did not: {moved}.",
        metric=part.metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Gain of the part", gain.end - gain.start, where=part.metric),
            Evidence("Gain of the whole reward", whole.end - whole.start, where="reward"),
        ),
        seen=f"{capitalised(policy.gain_words(whole))}, because its other parts rose.",
        fixes=(
            fixes.action(f"Give {part.name} more weight than the other reward functions", moved),
            fixes.look("Read the highest-rewarded completions: right form, wrong answer?"),
            *policy.more_generations(run, "a rare success shows up in more groups"),
        ),
        confidence=policy.confidence(1.2, len(curve), "short gains hide in the noise"),
        chart=Chart("curves", (part.metric, "reward")),
    )
