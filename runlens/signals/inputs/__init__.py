"""Inputs: what was put into a run, each with its date and source; a timeline for rules and causes.

    inputs = signals.inputs
    inputs.rate.left                # Departure: the rate left its plan; None where it was kept
    inputs.passes_at(step)          # over the data; None where rows and batch are not known
    inputs.before(step)             # what changed not later than a symptom, the latest first

No rule reads the learning-rate curve by itself. A `Dated` lies between `before` and `after`, both
steps: an input that changed before all symptoms may be their cause, one that came later is not.
"""

from runlens.signals.inputs.data import Dated, Departure, Plan, Stated
from runlens.signals.inputs.inputs import Inputs
from runlens.signals.inputs.rate import Rate

__all__ = ["Dated", "Departure", "Inputs", "Plan", "Rate", "Stated"]
