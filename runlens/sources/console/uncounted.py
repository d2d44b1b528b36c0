"""Rows of a loop that names no counter: ``rl_loss: -0.002, l2_norm: 0.14, token_entropy: 0.82``.

Numbers in prose are no metrics, so much is asked of such lines: nothing but named numbers stands
behind the logger's own words, one of the names is that of a loss or reward, and the same names
come again and again.
"""

import re
from collections import Counter
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, begin
from runlens.sources.console.pairs import NUMBER, pairs
from runlens.sources.console.rows import Row

LEAST = 5  # rows of the same names
NAMED = 3  # numbers in each
WIDEST = 4_000  # characters of a row
_BEGINS = lazy_re(r"\{?['\"]?[A-Za-z][\w/.]{0,60}['\"]?\s?[:=]\s?(?:" + NUMBER + r"|nan|inf)\b")
_TELLS = lazy_re(r"(?:^|[_/ ])(?:loss|reward|rewards)(?:$|[_/ ])", re.IGNORECASE)
_WORDS = lazy_re(r"[A-Za-z]+(?: [A-Za-z]+){4,}")
_MARKS = lazy_re(r"['\"{}]|\bmetadata: ")


def uncounted(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of the names that come most often; they are counted later."""
    rows = []
    for at, line in others:
        if len(line) > WIDEST or "," not in line:
            continue
        text = line[begin(line) :]
        if _BEGINS.match(text) and not _WORDS.search(text):
            names, values = pairs(_MARKS.sub("", text))
            if len(names) >= NAMED and any(map(_TELLS.search, names)):
                rows.append(Row(at, Counted(), names, values))
    layouts = Counter(row.names for row in rows)
    (names, number), *_ = layouts.most_common(1) or [((), 0)]
    return [row for row in rows if row.names == names] if number >= LEAST else []
