"""Lists of numbers without a name, each a curve, in a file that holds nothing else.

``print(losses)`` one behind the other, tuples, arrays of numpy and lists of lists; the last may
break off. What a single list is, the data say that its file is called after: ``train.txt``.
"""

from collections.abc import Sequence
from itertools import zip_longest

from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.phrases import SPLIT
from runlens.sources.console.rows import Row
from runlens.sources.reading import as_number
from runlens.sources.tables.unnamed import minimised, of_log

FEWEST = 5  # numbers of a list
FELL = 0.9  # of what numbers without a name were at first, below which they fell
MOST = 8  # lists: more are rows
LONGEST = 1_000_000  # characters
BREAKS_OFF = "breaks off within a list: what it holds so far was read"
IN_LISTS = "holds lists in which nothing counts, so each number was read as one row"
TOLD = "holds lists of numbers and no names: each was read as the curve of a metric"
_LIST = lazy_re(r"(?:\b(?:\w+\.)?(?:array|tensor|Tensor)\()?[\[(]([-+.\w,;\s]*)(?:[\])]|\Z)")
_AROUND = lazy_re(r"(?:[\[\](),;\s]|(?:dtype|device|grad_fn)=[\w.:<>']{1,40})*")
_SCALAR = lazy_re(
    r"\b(?:(?:np|numpy|torch|tf|jnp)\.)?(?:float\d*|[tT]ensor|[aA]rray|[vV]ariable)\(([-+.\w]{1,40})"
    r"(?:, \w+=[^(),]{0,40}(?:\(\))?>?)*\)"
)
_QUOTED = lazy_re(r"(?<=[\[,\s])(['\"])([-+]?\d+\.\d+(?:e[-+]?\d+)?)\1(?=\s*(?:[,\]]|\Z))")
_APART = lazy_re(r"[,;\s]+")


def unnamed_lists(others: Sequence[tuple[int, str]], stem: str) -> list[Row]:
    """Return the rows of lists side by side; none of a file that holds something else.

    Lists that begin with their own numbers are rows, as are those shorter than there are of them.
    """
    text = as_printed("\n".join(line for _, line in others))
    if not stem or len(text) > LONGEST or text.lstrip()[:1] not in {"[", "(", "a", "t"}:
        return []
    lists = _lists(text)
    longest = max(map(len, lists), default=0)
    fell = len(lists) == 1 and of_log(stem) and minimised(lists[0], FELL)
    alone = fell or (len(lists) == 1 and SPLIT.fullmatch(stem) is not None)
    if not (alone or 1 < len(lists) <= MOST) or longest < max(FEWEST, len(lists) + 1):
        return []
    whole = [*lists[:-1], lists[-1] + (longest,) * (longest - len(lists[-1]))]
    counted = [some[0] for some in lists] in (
        list(range(len(lists))),
        list(range(1, 1 + len(lists))),
    )
    if (counted and not alone) or {
        len(some) for some in (whole if breaks_off(text) else lists)
    } != {longest}:
        return []
    names = [f"column {n + 1}" for n in range(len(lists))]
    names = [_of_data(lists[0], stem)] if alone and not fell else names
    rows = []
    for step, values in enumerate(zip_longest(*lists), 1):
        here = {n: v for n, v in zip(names, values, strict=True) if v is not None}
        rows.append(Row(others[0][0], Counted(step=step), tuple(here), tuple(here.values())))
    return rows


def as_printed(text: str) -> str:
    """Return a text with the numbers alone of the scalars of numpy and PyTorch in it.

    Those of a list that were made texts, too.

    >>> as_printed("[np.float64(0.5), tensor(0.25, device='cuda:0'), '0.125']")
    '[0.5, 0.25, 0.125]'
    """
    text = _SCALAR.sub(r"\1", text) if "(" in text else text
    return _QUOTED.sub(r"\2", text) if text.lstrip()[:1] == "[" else text


def breaks_off(text: str) -> bool:
    """Whether a bracket is open at the end of a text."""
    return any(text.count(one) > text.count(other) for one, other in ("[]", "()"))


def _lists(text: str) -> list[tuple[float, ...]]:
    """Return the numbers of each list of a text; none where it holds words, or counts alone."""
    if not _AROUND.fullmatch(_LIST.sub("", text)):
        return []
    cells = [[one for one in _APART.split(some) if one] for some in _LIST.findall(text)]
    cells = [some for some in cells if some]
    numbers = [[as_number(one) for one in some] for some in cells]
    if any(one is None for some in numbers for one in some):
        return []
    found = [tuple(one for one in some if one is not None) for some in numbers]
    return found if any(not one.is_integer() for some in found for one in some) else []


def _of_data(values: Sequence[float], stem: str) -> str:
    """Return what a list is called that its file names by the data alone: a loss, if it fell so."""
    return f"{classify(stem).split}_loss" if minimised(values) else stem
