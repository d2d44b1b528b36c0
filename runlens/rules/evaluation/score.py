"""Whether a score of the evaluation went on improving after the best evaluation loss."""

from typing import NamedTuple

import numpy as np

from runlens.diagnosis import Evidence
from runlens.metrics import spoken
from runlens.signals import Signals
from runlens.signals.noise import mad

SCORES = {"eval_accuracy": 1.0, "eval_f1": 1.0, "eval_wer": -1.0}  # and whether more is better
LEAST = 0.01  # the least gain that counts as improvement
ERRORS = 2.0  # standard errors from which a gain is seldom chance


class Score(NamedTuple):
    """How a score stood at one evaluation and at the end, as medians of 3."""

    metric: str
    then: float
    now: float
    gain: float  # positive is better
    needed: float  # the gain that counts
    samples: int  # of the evaluation set; 0 where unknown
    best: int  # step

    @property
    def improved(self) -> str:
        """Say by how much it improved; empty where it did not, as far as its noise lets tell."""
        if self.gain <= self.needed:
            return ""
        return f"{spoken(self.metric)} improved from {self.then:.3f} to {self.now:.3f}"

    @property
    def evidence(self) -> Evidence:
        """Return the gain beside the gain that would count."""
        source = f"{ERRORS:g} times its noise, not below {LEAST:g}"
        if self.samples:
            source = f"{ERRORS:g} standard errors of {self.samples:,} samples, or {source}"
        what = f"Gain of {spoken(self.metric)} since then, medians of 3"
        return Evidence(what, round(self.gain, 4), round(self.needed, 4), source, self.metric)


def since(signals: Signals, onset: float, fewest: int) -> Score | None:
    """Return the first score with enough points, from step `onset` to the end; None without one.

    What counts is the largest of LEAST, ERRORS times the noise of the score, and ERRORS binomial
    standard errors, sqrt(p (1 - p) / n), where the size n of the evaluation set is known.
    """
    for metric, sign in SCORES.items():
        curve = signals.curve(metric)
        if len(curve) < fewest:
            continue
        at = max(0, len(curve.before(int(onset) + 1)) - 1)
        then = float(np.median(curve.value[max(0, at - 1) : at + 2]))
        now = float(np.median(curve.value[-3:]))
        samples = _samples(signals)
        chance = (then * max(0.0, 1 - then) / samples) ** 0.5 if samples else 0.0
        noise = mad(np.diff(curve.value)) / 2**0.5
        needed = max(LEAST, ERRORS * noise, ERRORS * chance)
        best = int(curve.step[int(np.argmax(sign * curve.value))])
        return Score(metric, then, now, sign * (now - then), needed, samples, best)
    return None


def _samples(signals: Signals) -> int:
    """Return the samples of an evaluation, by its runtime and rate; 0 where not logged."""
    took, pace = signals.curve("eval_runtime"), signals.curve("eval_samples_per_second")
    if not len(took) or not len(pace):
        return 0
    return round(float(np.median(took.value)) * float(np.median(pace.value)))
