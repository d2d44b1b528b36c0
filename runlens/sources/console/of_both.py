"""Numbers of both data behind one name: ``train/val loss: 0.52 / 0.61``.

Each is named after its own data, in a line that is read as any other.
"""

import re
from collections import Counter
from collections.abc import Sequence

from runlens.patterns import lazy_re

_DATA = r"(?:tr(?:ai)?n(?:ing)?|val(?:id(?:ation)?)?|dev|test(?:ing)?|eval(?:uation)?)"
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d{1,3})?%?|nan|inf)"
_MARK = r"\s?[/|,&]\s?"
_NAMED = lazy_re(
    rf"\b(?P<data>{_DATA}{_MARK}{_DATA}(?:{_MARK}{_DATA})?)\s(?P<name>[a-z][\w -]{{1,30}}?)"
    rf"\s?[:=]\s?[\[(]?(?P<numbers>{_NUMBER}{_MARK}{_NUMBER}(?:{_MARK}{_NUMBER})?)"
    r"(?![\w.])[\])]?",
    re.IGNORECASE,
)
_BETWEEN = lazy_re(_MARK)
DATA = {"TR": "train", "VA": "val", "VL": "val", "TE": "test", "TS": "test"}
DATA |= {"[T]": "train", "[V]": "val"}
FEWEST = 2  # lines of each
_SHORT = lazy_re(r"\s*((?:TR|VA|VL|TE|TS)(?=[\s:|]{1,3}[A-Za-z])|\[[TV]\](?=\s))")
# what stands behind an evaluation, as PyTorch's ImageNet example prints it, behind a logger
_STAR = lazy_re(r"(?<=\S )( *\* +)(?=(?:Acc|Prec)@1 )")
_MEANS = lazy_re(r"(^|\s)(\d{1,6})epoch results: (?=\[train\])")
_TOOK = lazy_re(r" time=[\d.]+ [a-z][\w. ]*,")
_Line = tuple[int, str]


def with_both_named(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines in which each number of both data stands behind its own name.

    >>> with_both_named([(0, "epoch 3 train/val loss: 0.5 / 0.6, lr 0.1")])
    [(0, 'epoch 3 train loss: 0.5, val loss: 0.6, lr 0.1')]
    >>> with_both_named([(0, "10:00 INFO  * Acc@1 56.5 Acc@5 79.1")])
    [(0, '10:00 INFO  * val: Acc@1 56.5 Acc@5 79.1')]
    """
    others = [(at, _STAR.sub(r"\1val: ", line) if "@1 " in line else line) for at, line in others]
    others = _with_means_named(_with_data_spelled(others))
    return [(at, _NAMED.sub(_apart, line) if _may(line) else line) for at, line in others]


def _with_data_spelled(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the data at their beginning as words, where it is two letters of each.

    As many are of held-out data as of the training: ``TR loss=0.5`` and ``VA loss=0.6``.

    >>> _with_data_spelled(list(enumerate(["TR loss=0.5", "VA loss=0.6"] * FEWEST)))[1]
    (1, 'val loss=0.6')
    """
    found = {at: said for at, line in others if (said := _SHORT.match(line))}
    count = Counter(DATA[said[1]] for said in found.values())
    held_out = [data for data in count if data != "train"]
    if len(held_out) != 1 or not FEWEST <= count["train"] <= count[held_out[0]] + 1:
        return others
    words = {at: f"{DATA[said[1]]}{said.string[said.end(1) :]}" for at, said in found.items()}
    return [(at, words.get(at, line)) for at, line in others]


def _with_means_named(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return the ends of ESPnet's epochs as rows of both data, where no batch tells its own.

    >>> _with_means_named([(0, "a 1epoch results: [train] loss=2, time=1 second, [valid] loss=3")])
    [(0, 'a epoch 1: [train] loss=2, [valid] loss=3')]
    """
    if not any("epoch results: [" in line for _, line in others):
        return others
    if any("epoch:train:" in line for _, line in others):
        return others
    lines = ((at, _MEANS.sub(r"\1epoch \2: ", line)) for at, line in others)
    return [(at, _TOOK.sub("", line)) for at, line in lines]


def _may(line: str) -> bool:
    """Whether a line may name two data at once; a search takes longer."""
    return any(mark in line for mark in "/|,&") and "t" in line.lower()


def _apart(found: re.Match[str]) -> str:
    data, numbers = (_BETWEEN.split(found[part]) for part in ("data", "numbers"))
    if len(data) != len(numbers) or len({one.lower() for one in data}) < len(data):
        return found[0]
    pairs = zip(data, numbers, strict=True)
    return ", ".join(f"{one} {found['name']}: {number}" for one, number in pairs)
