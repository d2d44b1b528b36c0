"""Settings with which an optimizer does not work, or hardly, and what is usual in their place.

Usual are the defaults of torch 2.13.0 (`torch.optim.AdamW`; SGD's momentum of 0.9 is that of its
documentation's example). A second moment over fewer than ten steps, a momentum over a hundred or
more, and a weight decay above 0.5 or below 0 lie outside what papers report.
"""

from runlens.records import NamedTuple
from runlens.run import Run


class Bounds(NamedTuple):
    """Where a setting must lie, what is usual, and what happens beyond."""

    least: float
    below: float
    usual: float
    why: str


# beyond these an update is no number, or goes the wrong way
IMPOSSIBLE = {
    "adam_beta1": Bounds(0.0, 1.0, 0.9, "a momentum lies in [0, 1)"),
    "adam_beta2": Bounds(
        0.0, 1.0, 0.999, "it must lie in [0, 1), as a negative second moment has no root"
    ),
    "adam_epsilon": Bounds(0.0, 1.0, 1e-8, "it is added to a root that may be 0"),
}
USUAL_DECAY = 0.01  # of weights: what fine-tuning begins with
HIGH_DECAY = 0.1  # of weights: more is rare in fine-tuning and pretraining
UNUSUAL = {
    "momentum": Bounds(0.0, 0.99, 0.9, "a value this high makes the loss swing"),
    "adam_beta2": Bounds(0.9, 1.0, 0.999, "it remembers fewer than ten steps"),
    "weight_decay": Bounds(0.0, 0.5, USUAL_DECAY, f"values from 0 to {HIGH_DECAY:g} are usual"),
}
SHARED = "eps"  # of Adam, and of a radius of clusters, a step of a search, random actions
_OPTIMIZERS = ("optim", "adam")
_DELAYS, _GRADIENT = ("stale", "delay", "lag"), "grad"


def _may_be_another(run: Run, key: str) -> bool:
    """Whether a setting is written with a name that programs use for other things as well."""
    known = run.config.get(key)
    written = known.key.lower() if known else ""
    return written.rpartition(".")[2] == SHARED and not any(one in written for one in _OPTIMIZERS)


def outside(run: Run, table: dict[str, Bounds]) -> list[tuple[str, float, Bounds]]:
    """Return the settings of a run outside the bounds of a table, with their values.

    One whose name may be of another thing is that where it cannot be this one.
    """
    known = ((key, run.number(key), bounds) for key, bounds in table.items())
    return [
        (key, value, bounds)
        for key, value, bounds in known
        if value is not None and not bounds.least <= value < bounds.below
        if not _may_be_another(run, key)
    ]


def delays(run: Run) -> list[tuple[str, float]]:
    """Return the settings that hold gradients back: ``gradient_staleness_steps: 16``."""
    made = []
    for key in run.config:
        words = key.lower().replace("-", "_").replace(".", "_").split("_")
        value = run.number(key)
        about = any(word.startswith(_GRADIENT) for word in words)
        if about and value and value > 1 and any(word.startswith(_DELAYS) for word in words):
            made.append((key, value))
    return made
