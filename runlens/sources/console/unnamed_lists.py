"""Lists of numbers without a name, each a curve, in a file that holds nothing else.

``print(losses)`` one behind the other, tuples, arrays of numpy and lists of lists; the last may
break off. What a single list is, the data say that its file is called after: ``train.txt``.
"""

from collections.abc import Sequence
from itertools import pairwise, zip_longest

from runlens.arrays import median
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.phrases import SPLIT, split_of
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number
from runlens.sources.tables.unnamed import minimised, of_log

FEWEST = 5  # numbers of a list
FELL = 0.9  # of what numbers without a name were at first, below which they fell
MOST = 8  # lists: more are rows
LONGEST = 1_000_000  # characters
SEVERAL = 3  # lists: two are of both data
LEVEL = 20  # numbers of a list, whose tenth at an end is its level there
APART = 2.0  # times: so far from where it was no epoch begins
MOSTLY = 0.5  # share of the lists that lie apart from the one before
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
List = tuple[int, str, tuple[float, ...]]  # its line, its name, its numbers


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


def of_lists(found: Sequence[List], stem: str) -> list[Row]:
    """Return the rows of lists: side by side where their names tell what they measure.

    Where only the `stem` of the file does, each is of a training that its name stands for, or of
    one of several things without a name, which are numbered.
    """
    telling = [one for one in found if tells(one[1])]
    data = {split_of(name) for _, name, _ in found if SPLIT.fullmatch(name)}
    if not telling and len(data) == len(found) > 1:
        said = stem if tells(stem) else ""
        telling = [(at, f"{split_of(name)}{said}" if said else name, v) for at, name, v in found]
    if not telling and tells(stem):
        unnamed = not any(name for _, name, _ in found)
        if not (unnamed and _of_several([values for _, _, values in found])):
            return [
                Row(at, Counted(step=n), (stem,), (value,))
                for at, _, values in found
                for n, value in enumerate(values, 1)
            ]
        telling = [(at, f"{stem} {n}", values) for n, (at, _, values) in enumerate(found, 1)]
    longest = max((len(values) for _, _, values in telling), default=0)
    rows = []
    for n in range(longest):
        here = {name: values[n] for _, name, values in telling if n < len(values)}
        rows.append(Row(telling[0][0], Counted(step=n + 1), tuple(here), tuple(here.values())))
    return rows


def _of_several(lists: Sequence[Sequence[float]]) -> bool:
    """Whether lists are of several things, whose levels lie apart, and no course goes on in them.

    From one to the next the numbers jump up as well as down, all of them. Those of one training go
    on where the list before ended, and trainings that begin anew lie where the first did.
    """
    if len(lists) < SEVERAL or len({*map(len, lists)}) != 1 or len(lists[0]) < LEVEL:
        return False
    jumps = [jump for one, other in pairwise(lists) if (jump := _jump(one, other))]
    return len(set(jumps)) > 1 and len(jumps) > MOSTLY * (len(lists) - 1)


def _jump(one: Sequence[float], other: Sequence[float]) -> int:
    """Return 1 where all of a list lies above all of the one before, -1 below; 0: neither.

    But for a tenth of both at either end; and the one begins far from where the other ended.
    """
    few = len(one) // 10
    ended, begun = median(one[-few:]), median(other[:few])
    low, high = (sorted(some)[few:-few] for some in (one, other))
    if high[0] > low[-1] and begun > APART * ended > 0:
        return 1
    return -1 if high[-1] < low[0] and ended > APART * begun > 0 else 0


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
