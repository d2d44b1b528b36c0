"""Why a gradient norm climbs, and what to do about it."""

from runlens import experiments, fixes, layers, rates
from runlens.diagnosis import Cause, Fix
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import number, step

DECAYED = 0.2  # of the peak: a learning rate below speaks against it as the cause
LARGE_LAYER = 100.0  # norm of one parameter that common guides call large
SMALLEST_EPSILON = 1e-6  # Adam's epsilon at which steps of tiny second moments are bounded


def causes(run: Run, signals: Signals, onset: int) -> tuple[Cause, ...]:
    """Rank what made the norm climb at a step: rate, clipping, precision, one layer, data."""
    made: list[Cause] = []
    share, against = rates.share_at(signals, onset), ""
    if share is not None and share < DECAYED:
        against = "it has decayed"
    why = f"it is {words}" if (words := rates.words_at(run, signals, onset)) else ""
    made.append(Cause("Learning rate too high", "most likely", why, against))
    clip = run.number("max_grad_norm")
    if clip is not None and (clip <= 0 or clip > fixes.DEFAULT_CLIP):
        made.append(Cause("Clipping off or too loose", "likely", f"max_grad_norm is {clip:g}"))
    made += _layer(run)
    if run.flag("fp16"):
        made.append(Cause("Precision", "possible", "fp16 is set"))
    made.append(Cause("Bad data from there on", "possible"))
    return tuple(made)


def _layer(run: Run) -> tuple[Cause, ...]:
    """Name the layer with the largest norm, where norms of layers are logged."""
    most = layers.largest(run, run.last_step)
    if most is None or most.norm < LARGE_LAYER:
        return ()
    why = (
        f"{most.name} is at {number(most.norm)} at step {step(most.step)}, the largest of "
        f"{most.layers} layers; above {LARGE_LAYER:g} is large"
    )
    return (Cause("One layer", "likely", why),)


def cures(run: Run, signals: Signals) -> tuple[Fix, ...]:
    """Return what to change, the fastest first, then what separates the causes."""
    made = [
        *fixes.learning_rate(run, signals, 1 / 3, "3 to 10 times lower"),
        *fixes.clipping(run, "bounds a single step"),
        *fixes.longer_warmup(run, "smaller first steps"),
    ]
    epsilon = run.number("adam_epsilon")
    if epsilon is not None and epsilon < SMALLEST_EPSILON:
        why = "bounds steps where the second moment is small"
        what = "Raise Adam's epsilon"
        made.append(fixes.setting(run, "adam_epsilon", SMALLEST_EPSILON, what, why))
    made += fixes.bf16(run, "no overflow at 65,504")
    made += fixes.more_accumulation(run, 2, "averages over more samples")
    return (*made, *experiments.one_process(run))
