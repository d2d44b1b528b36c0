"""Values as every report writes them: losses, rates and shares each in their own way."""

from runlens.diagnosis import Evidence
from runlens.metrics import base
from runlens.wording import loss, number, percent, rate


def is_loss(metric: str) -> bool:
    """Whether a metric is a loss in nats, which has digits of its own."""
    return base(metric) in {"train_loss", "eval_loss", "train_loss_epoch", "eval_train_loss"}


def is_rate(metric: str) -> bool:
    """Whether a metric is a learning rate, which is written with its power of ten."""
    return base(metric) == "learning_rate"


def value_of(metric: str, value: float) -> str:
    """Return a value of a metric: losses and learning rates in their ways, else 4 digits."""
    if is_loss(metric):
        return loss(value)
    return rate(value) if is_rate(metric) else number(value)


def evidence_value(item: Evidence, value: float | str) -> str:
    """Return the value or the limit of an evidence row in the unit of the row."""
    if isinstance(value, str):
        return value
    if item.unit == "%":
        return percent(value)
    whole = float(value).is_integer()
    plain = number(value) if whole else value_of(item.where, value)
    return f"{plain} {item.unit}" if item.unit else plain
