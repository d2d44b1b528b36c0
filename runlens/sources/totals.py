"""The loss of a run that logs it under no name of its own: a detector's parts, an ``nll_loss``."""

from collections.abc import Mapping

import numpy as np

from runlens.metrics import naming, plain
from runlens.patterns import lazy_re
from runlens.sources.reading import Series

# YOLO of any release: YOLOv10 has each part twice, of one match an object and of many
_PART = lazy_re(r"(train|val)/((?:box|giou|cls|obj|dfl|seg|pose|kobj|rle|angle|l1)_(?:loss|om|oo))")
_BOXES = ("box_", "giou_")  # of a detector alone
# what a loss is called after that is a whole one, where no other loss is logged
_KIND = lazy_re(
    r"(?:train_|training_)?((?:nll|ce|bce|mse|rmse|mae|l1|l2|huber|ctc|mlm|dice|elbo|xent"
    r"|cross_entropy|contrastive|triplet|recon|reconstruction)_loss)"
)


def with_totals(series: Mapping[str, Series]) -> dict[str, Series]:
    """Return series with the loss that was minimised, where no series is called so.

    It is the sum of a detector's losses, where they are of the same steps, or the only loss.
    """
    found = _with_only_loss(series)
    for split in ("train", "val"):
        total = f"{split}/loss"
        parts = [name for name in series if (part := _PART.fullmatch(name)) and part[1] == split]
        boxes = any(name.partition("/")[2].startswith(_BOXES) for name in parts)
        if len(parts) < 2 or not boxes or total in series:  # noqa: PLR2004 - a sum is of two
            continue
        first = series[parts[0]]
        if all(np.array_equal(series[name].step, first.step) for name in parts):
            value = np.sum([series[name].value for name in parts], axis=0)
            found[total] = first._replace(value=value)
    return found


def _with_only_loss(series: Mapping[str, Series]) -> dict[str, Series]:
    """Call the only loss the loss; and what was measured of it on held-out data."""
    losses = [
        name
        for name in series
        if "loss" in name.lower() and not naming(name).metric.startswith("eval_")
    ]
    kind = _KIND.fullmatch(plain(losses[0])) if len(losses) == 1 else None
    if not kind or naming(losses[0]).metric == "train_loss":
        return dict(series)
    held_out = {f"{part}_{kind[1]}" for part in ("val", "valid", "validation", "eval")}
    called = {losses[0]: "train/loss"}
    called |= {name: "val/loss" for name in series if plain(name) in held_out}
    return {called.get(name, name): points for name, points in series.items()}
