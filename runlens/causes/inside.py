"""What a log shows of parts of a model: a layer that no gradient reaches, a loss that is left."""

import numpy as np

from runlens import layers
from runlens.arrays import median
from runlens.causes.hypothesis import SETTLES, STRONG, Sign
from runlens.causes.patterns import STUCK
from runlens.causes.scene import Scene
from runlens.metrics import spoken
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.wording import number

FEWEST = 5  # points of a norm
# of the last layer's norm: layers of networks that learn lie within a hundredfold of each other,
# while each of ten sigmoids takes three quarters or more
VANISHED = 1e-4
OF_GRADIENT = frozenset(("grad", "gradient", "gnorm"))
FIRST = frozenset(("first", "input", "primera", "premiere", "erste", "первый", "первого"))
LAST = frozenset(("last", "output", "ultima", "derniere", "letzte", "последний", "последнего"))
# by their place in a list: "g[0]", "grad[-1]"
_PLACED = lazy_re(r"(?:g|gn|grad|gnorm|grad_?norm|gradient)s?_?\[(0|-1)\]", 2)
# by their number: "gnorm_fc1", "grad/layer9"; of ranks, groups and experts no gradient vanishes
_NUMBERED = lazy_re(r"(.*\D)(\d{1,3})(\D*)")
_OTHERS = frozenset(("rank", "group", "expert", "gpu", "head"))
STILL_FOR = 10  # points of a part that is one number: a loss of batches is another at each
HALVED = 0.5  # of its first value, by which another part fell meanwhile
# what stands at a bound that was put in: free bits, penalties, a balance of experts
BOUNDED = frozenset(("kl", "kld", "reg", "l1", "l2", "aux", "penalty", "balance", "commit"))


def vanishing(scene: Scene) -> Sign | None:
    """Say that the first layer gets next to no gradient while the last one gets its share.

    Wrong labels and low rates leave the gradients of layers alike.
    """
    if not scene.has(*STUCK):
        return None
    ends = [_end(scene, FIRST), _end(scene, LAST)]
    ends = ends if all(ends) else _numbered(scene)
    if not all(ends):
        return None
    (first, low), (last, high) = (end for end in ends if end)
    if not 0 < low <= VANISHED * high:
        return None
    said = f"{spoken(first)} is {number(low)} and {spoken(last)} {number(high)} (medians)"
    return Sign(
        said,
        SETTLES,
        "Gradients that vanish before they reach the first layers",
        "Repeat 100 steps with ReLU, or with a normalization after each layer. The gradient of "
        "the first layer should rise",
        falsifier="the loss stands as well with a first layer whose gradient is that of the last",
    )


def _end(scene: Scene, ends: frozenset[str]) -> tuple[str, float] | None:
    """Return the gradient norm of the first or the last layer, and its median."""
    known = layers.of_layers(scene.run)
    for name in scene.run.history.metrics:
        said = set(words(name))
        if placed := _PLACED.fullmatch(name.rpartition("/")[2]):
            said = {"grad", "first" if placed[1] == "0" else "last"}
        of_gradient = name in known or "∇" in name or OF_GRADIENT & said
        value = scene.curve(name).value
        if of_gradient and ends & said and len(value) >= FEWEST:
            return name, float(median(value))
    return None


def _numbered(scene: Scene) -> list[tuple[str, float] | None]:
    """Return the norms of the layers with the lowest and the highest number: "gnorm_fc1"."""
    stems: dict[str, dict[int, str]] = {}
    for name in scene.run.history.metrics:
        placed = _NUMBERED.fullmatch(name)
        said = set(words(f"{placed[1]} {placed[3]}")) if placed else set()
        if placed and OF_GRADIENT & said and not _OTHERS & said:
            stems.setdefault(f"{placed[1]}#{placed[3]}", {})[int(placed[2])] = name
    for layers_ in stems.values():
        low, high = layers_[min(layers_)], layers_[max(layers_)]
        values = [scene.curve(low).value, scene.curve(high).value]
        if low != high and min(map(len, values)) >= FEWEST:
            return [
                (one, float(median(value))) for one, value in zip((low, high), values, strict=True)
            ]
    return [None]


def left_out(scene: Scene) -> Sign | None:
    """Say that one part of the loss is one number at each point while another part fell.

    No two batches have one loss under weights that change: what it is computed from is not
    trained, though the rest is. A part at a bound that was put in, or at 0, says nothing.
    """
    if not scene.has(*STUCK):
        return None
    still, fell = "", ""
    for name in scene.run.history.metrics:
        said, value = set(words(name)), scene.curve(name).value
        if not name.endswith("_loss") or name.startswith(("train", "eval")) or said & BOUNDED:
            continue
        if len(value) < STILL_FOR:
            continue
        if value[0] > 0 and not np.ptp(value):
            still = still or name
        elif 0 < value[-1] <= HALVED * value[0]:
            fell = fell or name
    if not still or not fell:
        return None
    value, moved = scene.curve(still).value, scene.curve(fell).value
    shown = f"{spoken(still)} is {number(float(value[0]))} at all {len(value)} points, while "
    shown += f"{spoken(fell)} went from {number(float(moved[0]))} to {number(float(moved[-1]))}"
    return Sign(
        shown,
        STRONG,
        f"The part of the model behind {spoken(still)} is not trained",
        f"Check that the parameters behind {spoken(still)} are in the optimizer and have a "
        "gradient",
        falsifier="a weight of that part differs after ten steps",
    )
