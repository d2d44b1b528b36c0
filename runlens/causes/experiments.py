"""Experiments that separate causes which the files leave open, at the place where it went wrong."""

from math import isfinite

from runlens.causes.scene import Scene
from runlens.causes.thrown import AT_ONCE
from runlens.knowledge.in_force import reads_text
from runlens.nan_causes import lost_from_the_start
from runlens.wording import step


def of_nan(scene: Scene) -> str:
    """Return what separates the causes of a NaN: the steps around it, changed one by one."""
    lower = "" if lost_from_the_start(scene.run) else "then at a tenth of the rate, "
    text = "then without DeepSpeed or flash attention, " if reads_text(scene.run) else ""
    return (
        f"Repeat {_stretch(scene)} in fp32, {lower}{text}then on other "
        "batches: what keeps them finite is the cause"
    )


def _stretch(scene: Scene) -> str:
    """Name the steps to repeat. Those of a late symptom begin at weights from before it."""
    train, at = scene.curve("train_loss"), scene.symptom
    if not isfinite(at) or int((train.step < at).sum()) < AT_ONCE:
        return "the first steps"
    return f"the steps around step {step(at)}, from the nearest weights before it,"
