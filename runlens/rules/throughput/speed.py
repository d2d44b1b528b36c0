"""How fast a run went: the best record of its speed, as one curve.

Logged rates come first, tokens before samples before steps, then step times, then the time
stamps of the training log.
"""

import numpy as np

from runlens.history import Curve, FloatArray
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals

LOGGED = (
    ("throughput_tokens", "tokens/s"),
    ("throughput_samples", "samples/s"),
    ("throughput_steps", "steps/s"),
)
STAMPED = ("train_loss", "reward", "learning_rate", "grad_norm", "policy_loss", "eval_loss")
CHANGED = 1.25  # tokens a step must change by this much to be worth a correction


class Speed(NamedTuple):
    """Work done a second; higher is faster. `step` is where each rate was first in force."""

    metric: str  # where it comes from
    unit: str
    step: FloatArray
    rate: FloatArray
    corrected: bool  # whether the length of the sequences is taken into account


def speed(run: Run, signals: Signals, fewest: int) -> Speed | None:
    """Return the speed of the longest launch of a run; None below `fewest` rates of one kind.

    A launch is judged by itself: the next may have run on other hardware.
    """
    launch = _longest_launch(run)
    for metric, unit in LOGGED:
        curve = run.history.segment(metric, launch).finite()
        curve = curve.at(curve.value > 0)
        if len(curve) >= fewest:
            made = Speed(metric, unit, curve.step.astype(float), curve.value, unit == "tokens/s")
            return made if made.corrected else _per_token(made, signals)
    times = run.history.segment("step_time", launch).finite()
    times = times.at(times.value > 0)
    if len(times) >= fewest:
        return _per_token(
            Speed("step_time", "steps/s", times.step.astype(float), 1 / times.value, False), signals
        )
    stamped = _by_time_stamps(run, launch, fewest)
    return _per_token(stamped, signals) if stamped else None


def _longest_launch(run: Run) -> int:
    if len(run.history.segments) < 2:  # noqa: PLR2004 - one launch
        return next(iter(run.history.segments), 0)
    lengths = {
        number: max((len(run.history.segment(m, number)) for m in run.history.metrics), default=0)
        for number in run.history.segments
    }
    return max(lengths, key=lambda number: lengths[number])


def _by_time_stamps(run: Run, launch: int, fewest: int) -> Speed | None:
    """Return steps a second between the records of the training log."""
    for metric in STAMPED:
        curve = run.history.segment(metric, launch)
        curve = curve.at(np.isfinite(curve.time))
        if len(curve) <= fewest:
            continue
        steps, seconds = np.diff(curve.step), np.diff(curve.time)
        usable = (steps > 0) & (seconds > 0)
        if usable.sum() < fewest:
            continue
        rate = steps[usable] / seconds[usable]
        begun = curve.step[:-1][usable].astype(float)
        return Speed(f"{metric} (time stamps)", "steps/s", begun, rate, False)
    return None


def _per_token(made: Speed, signals: Signals) -> Speed:
    """Turn steps into tokens per second where the tokens a step are known to change."""
    size = _tokens_a_step(signals)
    if size is None:
        return made
    factor = np.interp(made.step, size.step, size.value)
    if factor.max() < CHANGED * factor.min():
        return made._replace(corrected=True)
    return made._replace(rate=made.rate * factor, unit="tokens/s", corrected=True)


def _tokens_a_step(signals: Signals) -> Curve | None:
    tokens, lengths = signals.curve("tokens"), signals.curve("len_mean")
    if len(tokens) > 2:  # noqa: PLR2004 - a rate needs two differences
        steps, more = np.diff(tokens.step), np.diff(tokens.value)
        usable = (steps > 0) & (more > 0)
        if usable.sum() > 1:
            made = tokens.at(slice(1, None)).at(usable)
            return Curve(made.step, more[usable] / steps[usable], made.epoch, made.time)
    usable = lengths.value > 0
    return lengths.at(usable) if usable.sum() > 1 else None
