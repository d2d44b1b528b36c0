"""Averaged weights that are evaluated before the average has left its start."""

from runlens.causes.hypothesis import SETTLES, Sign
from runlens.causes.scene import Scene
from runlens.naming import words
from runlens.rules.loss import chance
from runlens.run import Run
from runlens.wording import number, percent, step

AVERAGE = frozenset(("ema", "smoothed"))  # as names are spelled out
DECAY = frozenset(("decay", "rate", "beta", "momentum", "mu", "alpha"))
# an average that counts its updates, or begins late, does not keep its start as a fixed one does
RAMPED = frozenset(("warmup", "warm", "start", "after", "gamma", "power", "tau", "ramp", "begin"))
HALF = 0.5  # of the evaluated weights that are still those of the start


def still_the_start(scene: Scene) -> Sign | None:
    """Say that most of an average of weights is what they were before training.

    After n updates of decay d it holds d to the n of its start. Where a setting says that no
    average is kept or evaluated, or that its decay rises, the sum does not hold.
    """
    decay = _decay(scene.run) if scene.has("eval-flat") else None
    per = scene.signals.steps_per_epoch if chance.by_epoch(scene.run) else 1.0
    if decay is None or not per:
        return None
    key, value = decay
    updates = per * (scene.run.last_step - min(scene.run.first_step, 0))
    left = value**updates
    if left < HALF:
        return None
    said = f"{key} is {number(value, 6)}: after {step(round(updates))} updates an average with it "
    return Sign(
        f"{said}is still {percent(left)} the weights of the start",
        SETTLES,
        "The evaluated weights are an average that has hardly left its start",
        "Evaluate the last weights themselves beside their average",
        falsifier="the last weights themselves are evaluated as badly",
    )


def _decay(run: Run) -> tuple[str, float] | None:
    found = None
    for key, known in run.config.items():
        said = set(words(key))
        if not said & AVERAGE:
            continue
        if said & RAMPED or str(known.value).lower() in {"false", "none"}:
            return None
        value = run.number(key)
        if said & DECAY and value is not None and HALF < value < 1:
            found = key, value
    return found
