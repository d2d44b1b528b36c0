"""Words of the losses of networks that are held to an equation: ``L_pde``, ``loss_physics``."""

from runlens.naming.words import words

LOSS = "loss"
# of the equation itself: words that say so alone, and those that do beside "loss"
ALONE = frozenset(("pde", "ode"))
BESIDE = frozenset(("residual", "res", "physics", "phys"))


def of_equation(name: str) -> bool:
    """Whether a metric is what an equation leaves over of a network's answer."""
    said = set(words(name))
    return bool(said & ALONE) or (LOSS in said and bool(said & BESIDE))
