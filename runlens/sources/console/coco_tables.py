"""Tables of average precision of several kinds, as pycocotools prints them: boxes, then masks.

Each table names its kind in a line above it, its rows do not: ``IoU metric: segm`` above
`` Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.344``.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re

_KIND = lazy_re(r"\s*(?:IoU metric: |Evaluate annotation type \*)(\w{1,30})\*?\s*")
_ROW = lazy_re(r"(\((?:AP|AR)\)\s*@\[\s*IoU=[^\[\]]{1,80}?)\s*\]")
_Line = tuple[int, str]


def with_kinds_named(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the kind in each row; the first that a log has needs none.

    >>> lines = ["IoU metric: bbox", "(AP) @[ IoU=0.5 ] = 0.3", "IoU metric: segm"]
    >>> with_kinds_named(list(enumerate([*lines, "(AP) @[ IoU=0.5 ] = 0.2"])))[-1]
    (3, '(AP) @[ IoU=0.5 | segm ] = 0.2')
    """
    kinds = {at: said[1] for at, line in others if (said := _KIND.fullmatch(line))}
    first = next(iter(kinds.values()), "")
    if len(set(kinds.values())) < len(("boxes", "masks")):
        return others
    named: list[_Line] = []
    kind = first
    for at, line in others:
        kind = kinds.get(at, kind)
        apart = kind != first and "IoU=" in line
        named.append((at, _ROW.sub(rf"\1 | {kind} ]", line) if apart else line))
    return named
