"""Losses that stand behind their common name: ``[Loss: obj 8.6 || cls 4.1 || reg 3.8 || time: 1]``.

Each number of them is a loss, though its own name does not say so.
"""

import re

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.mining.phrases import SPLIT
from runlens.sources.console.telling import tells

FEWEST = 2  # parts
# "Loss: [a 1 b 2]", "[Loss: a 1 | b 2]"; what is in quotation marks is a dict, read as one
_LOSS = r"(?:total[ _])?loss(?:es)?"
_GROUP = lazy_re(
    rf"\b{_LOSS}\s{{0,3}}[:=]?\s{{0,3}}[\[({{](?P<in>[^\[\](){{}}'\"]{{3,200}})[\])}}]"
    rf"|[\[({{]\s{{0,3}}{_LOSS}\s{{0,3}}[:=]\s{{0,3}}"
    r"(?P<behind>[A-Za-z][^\[\](){}'\"]{3,200})[\])}]",
    re.IGNORECASE,
)
_PART = lazy_re(
    r"(?<![\w.])([A-Za-z]\w{0,30})(?=\s{0,3}[:=]?\s{0,3}[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?![\w.]))",
    re.IGNORECASE,
)
_OTHER = lazy_re(
    r"(?:avg|mean|min|max|std|median|sum|cur|last|best|over|n|count|total|size|time|t|eta|speed|mem\w*"
    r"|data|fps|lr|of)",
    re.IGNORECASE,
)


def with_parts_named(line: str) -> str:
    """Return a line in which the parts of a loss are called losses.

    >>> with_parts_named("[iter 3][Loss: obj 8.6 || cls 4.1 || size 448]")
    '[iter 3][Loss: obj_loss 8.6 || cls_loss 4.1 || size 448]'
    """
    if "oss" not in line and "OSS" not in line:
        return line
    return _GROUP.sub(_named, line)


def _named(group: re.Match[str]) -> str:
    where = "in" if group["in"] is not None else "behind"
    begin, end = (at - group.start() for at in group.span(where))
    inner = group[where]
    parts = [part[1] for part in _PART.finditer(inner) if _is_part(part[1])]
    if len(parts) < FEWEST:
        return group[0]
    named = _PART.sub(lambda p: f"{p[1]}_loss" if _is_part(p[1]) else p[1], inner)
    return f"{group[0][:begin]}{named}{group[0][end:]}"


def _is_part(name: str) -> bool:
    """Whether a name is none of anything else: a count, a setting, a time, data, a statistic."""
    other = _OTHER.fullmatch(name) or SPLIT.fullmatch(name) or counter(name) or tells(name)
    return not other and canonical_key(name) not in KNOWN_KEYS
