"""Rows of VITS and its descendants: a list of numbers under a line that says the epoch.

``Train Epoch: 3 [42%]`` above ``[2.41, 2.15, 3.9, 19.2, 1.9, 1.6, 8400, 0.0002]``: the losses, the
step, the learning rate (`train.py` of VITS). Of others than its six losses only the place is known.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.pairs import NUMBER
from runlens.sources.console.rows import Row

VITS = "vits"
_EPOCH = lazy_re(r"Train Epoch: (\d{1,9}) \[\d{1,3}(?:\.\d+)?%\]\s*$")
_ROW = lazy_re(rf"\[((?:(?:{NUMBER}|nan|inf), ){{2,20}})(\d{{1,15}}), ({NUMBER})\]\s*$")
_LOSSES = ("loss_disc", "loss_gen", "loss_fm", "loss_mel", "loss_dur", "loss_kl")


def vits(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each list of numbers right below a line that says its epoch."""
    rows: list[Row] = []
    before = ""
    for at, line in others:
        above = _EPOCH.search(before) if line.endswith("]") else None
        found = _ROW.search(line) if above else None
        if above and found:
            values = tuple(map(float, [*found[1].rstrip(", ").split(", "), found[3]]))
            known = len(values) == len(_LOSSES) + 1
            losses = _LOSSES if known else [f"loss {n}" for n in range(1, len(values))]
            counted = Counted(whole(found[2]), epoch=whole(above[1]))
            rows.append(Row(at, counted, (*losses, "lr"), values))
        before = line
    return rows
