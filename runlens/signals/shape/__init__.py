"""Shapes: what a curve does, in phases, with evidence.

    shape = signals.shape("train_loss")        # in a rule; kept, made once. Or run.shape(...)
    if not shape: return unmet(...)            # below 4 finite points there is no phase

How rules use it:

- `shape.phases`: in order, `kind` is fall, flat, rise, swing, frozen (exact repeats) or gone (NaN,
  infinite). `phase.first`, `.last`, `.lowest`, `.highest` are points (index, step, value) *as
  logged*: quote these. `phase.level` is a median: call it one.
- `phase.effect` says how large: `.level` (share of the level before), `.range` (share of the range
  of the whole smooth curve), `.noise` (multiple of the noise of a point), `.change` (unit of the
  curve). `phase.chance` says how often noise alone shows as much. A rule compares one effect with
  its threshold and hands both on: `confidence(effect.level / limits.rise, phase.chance)`. No rule
  counts points.
- `shape.events`: jump, spike, restart, each between `before` (last good) and `after` (first bad):
  that is the interval of its onset.
- Questions: `final_level()`, `level_at(step)`, `best()` (as logged), `rose_after_best()`,
  `fell_overall()` (from the first logged value). For a score, where higher is better:
  `higher=True`.
- A phase is a pattern, not a fault: `flat` is told of every curve that is; the rule decides with
  what else the run shows.
"""

from runlens.signals.shape.chance import EXACT, above, confidence, kendall, student
from runlens.signals.shape.data import Change, Effect, Event, Level, Noise, Phase, Point, Swing
from runlens.signals.shape.frozen import RARE, Recurrence, exact_period, recurrence
from runlens.signals.shape.make import shape_of
from runlens.signals.shape.plain import plain
from runlens.signals.shape.shape import Shape

__all__ = [
    "EXACT",
    "RARE",
    "Change",
    "Effect",
    "Event",
    "Level",
    "Noise",
    "Phase",
    "Point",
    "Recurrence",
    "Shape",
    "Swing",
    "above",
    "confidence",
    "exact_period",
    "kendall",
    "plain",
    "recurrence",
    "shape_of",
    "student",
]
