"""Values as every report writes them: losses, rates and shares each in their own way."""

from collections.abc import Sequence

from runlens.diagnosis import HEALTHS, Diagnosis, Evidence
from runlens.metrics import base, is_loss, is_rate
from runlens.patterns import lazy_re
from runlens.wording import count, loss, number, percent, rate

PART = lazy_re(r" \(\d+ of \d+\)$")  # behind the name of a file that holds several runs


def value_of(metric: str, value: float) -> str:
    """Return a value of a metric: losses and learning rates in their ways, else 4 digits."""
    if is_loss(metric):
        return loss(value)
    return rate(value) if is_rate(metric) else number(value)


def starts_at_zero(metric: str) -> bool:
    """Whether a picture of the metric begins at 0, in a line of text as on an axis."""
    return base(metric) == "learning_rate"


def evidence_value(item: Evidence, value: float | str) -> str:
    """Return the value or the limit of an evidence row in the unit of the row."""
    if isinstance(value, str):
        return value
    if item.unit == "%":
        return percent(value)
    whole = float(value).is_integer()
    plain = number(value) if whole else value_of(item.where, value)
    return f"{plain} {item.unit}" if item.unit else plain


def worst_first(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Return several diagnoses in the order of their healths, then of the runs' names."""
    return sorted(diagnoses, key=lambda one: (HEALTHS.index(one.health), one.run_name))


def counted(diagnoses: Sequence[Diagnosis]) -> str:
    """Return how many runs there are of each health: ``3 runs: 1 critical, 2 healthy``."""
    found = {health: sum(one.health == health for one in diagnoses) for health in HEALTHS}
    said = ", ".join(f"{amount} {health}" for health, amount in found.items() if amount)
    return f"{count(len(diagnoses), 'run')}: {said}"
