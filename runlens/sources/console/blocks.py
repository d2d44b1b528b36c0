"""Rows that are spread over lines, one ``name: number`` a line, with one counter for all.

The counter stands in a line of its own before the numbers (Composer's ``[batch=10/100]:``,
OLMo's ``[step=10/1000,epoch=0]``, rsl_rl's boxed ``Learning iteration 12/500``), or it is one of
the numbers (``num of updates: 1000``). A rule of dashes ends a block, as its next counter does.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, with_numbers
from runlens.sources.console.mining.counting import strays
from runlens.sources.console.pairs import NUMBER, names_metric
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

MAX_LINES = 400  # of one block
MAX_WIDTH = 200  # characters of a line of one
LOST = 0.25  # share of the blocks that stand at no counter from which they are none
TELLING = 2  # names of what is measured in a block that names no step: one may be a setting

_ALONE = (  # rsl_rl and others
    r"^[\W_]*(?:learning |train(?:ing)? )?(?:iteration|iter|step|update)\W{1,4}"
    r"(?P<step>\d+)(?:\s*/\s*(?P<steps>\d+))?[\W_]*$"
)
_HEADERS = tuple(
    lazy_re(form, re.IGNORECASE)
    for form in (
        r"\[epoch=(?P<epoch>\d+)\]\[batch=(?P<batch>\d+)(?:/(?P<batches>\d+))?\]:?\s*$",  # Composer
        r"\[batch=(?P<step>\d+)(?:/(?P<steps>\d+))?\]:?\s*$",
        r"\[Eval batch=\d+/\d+\] Eval on (?P<part>[\w-]+) data:?\s*$",
        r"\[step=(?P<step>\d+)(?:/(?P<steps>\d+))?(?:,epoch=(?P<epoch>\d+)[^\]]*)?\]\s*$",  # OLMo
        r"\b(?P<part>train|eval) \| step: +(?P<step>\d+) \|.*\boutput:\s*$",  # TensorFlow models
        r"\bStep (?P<step>\d+) per-step time [\d.]+s\s*$",  # TensorFlow's object detection
        _ALONE,
    )
)
_GLOG = lazy_re(r"^[IWEF]\d{4} [\d:.]+ +\d+ [\w./]+:\d+\] ")
_ENTRY = lazy_re(r"'([\w/.-]{1,80})': (" + NUMBER + r"|-?nan|-?inf)\s*[,}]")
_HEADER_WORDS = ("step", "iter", "batch=", "update")
_LINE = lazy_re(
    r"^\W*([A-Za-z][^:=|\t]{0,80}?)['\"]?\s*(?:[:=]|\t)\s*(" + NUMBER + r"|[-+]?nan|[-+]?inf)"
    r"(?:\s*(?:\+-|±|\+/-)\s*[\d.e+-]+)?\s*(%|[a-zA-Z/]{0,12})[\s,|}]*$",
    re.IGNORECASE,
)
_NAMED = lazy_re(r"^\W*[A-Za-z][^:=]{0,80}[:=]\s")  # a line of a block without a number
_RULE = lazy_re(r"^\s*([-=#*_~])\1{4,}\s*$")
_COMPOSER = lazy_re(r"^(Train|Eval) (?=\S)")
_COUNTERS = dict.fromkeys((  # the surest first
    "num of updates", "num updates", "num_updates", "global step", "global_step", "step", "steps",
    "iteration", "iterations", "iter", "update", "updates", "total timesteps", "timesteps",
    "num timesteps", "num_timesteps", "epoch",
))  # fmt: skip


class _Block(Struct):
    at: int
    counted: Counted | None = None
    values: dict[str, float] = field(default_factory=dict)
    lines: int = 0


def blocks(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each block; blocks of one layout must show two counters or more."""
    found = list(_blocks(others))
    rows = [row for block in found if (row := _row(block))]
    measured = sum(any(map(names_metric, block.values)) for block in found)
    if measured - len(rows) > LOST * measured:
        return []  # lines between heads, of which more than one is of each
    if strays(np.array([row.counted.step for row in rows], dtype=np.float64)):
        return []  # the steps that each game took
    layouts = Counter(names for names, _ in {(row.names, row.counted[:6]) for row in rows})
    if not any(layouts[row.names] > 1 for row in rows):
        return []
    rows = [_without_head(row, layouts) for row in rows]
    return [row for row in rows if layouts[row.names] > 1 or row.counted.part]


def _without_head(row: Row, layouts: Mapping[tuple[str, ...], int]) -> Row:
    """Return a row without what stood right above the first block: ``vocab size: 180``."""
    begins = (n for n in range(1, len(row.names)) if layouts.get(row.names[n:], 0) > 1)
    begin = 0 if layouts[row.names] > 1 else next(begins, 0)
    return row._replace(names=row.names[begin:], values=row.values[begin:])


def uncounted(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the one block of an excerpt, which names no step: ``loss: 0`` above ``kl: nan``."""
    found = [block for block in _blocks(others) if sum(map(tells, block.values)) >= TELLING]
    return [
        Row(block.at, Counted(), tuple(block.values), tuple(block.values.values()))
        for block in found[:1]
    ]


def _blocks(others: Sequence[tuple[int, str]]) -> Iterator[_Block]:
    block = _Block(0)
    for at, whole_line in others:
        line = _GLOG.sub("", whole_line) if whole_line[:1] in "IWEF" else whole_line
        if header := _header(line):
            yield block
            block = _Block(at, header)
        elif block.counted and line.lstrip().startswith("{'"):
            numbers = ((name, as_number(number)) for name, number in _ENTRY.findall(line))
            block.values.update({name: n for name, n in numbers if n is not None})
        elif pair := _pair(line):
            name, number = pair
            if name in block.values or not (block.values or block.counted):
                yield block
                block = _Block(at)
            block.values[name] = number
        elif _ends(line, block):
            yield block
            block = _Block(at)
        block.lines += 1
    yield block


def _header(line: str) -> Counted | None:
    lower = line.lower() if len(line) <= MAX_WIDTH else ""
    if not [word for word in _HEADER_WORDS if word in lower]:  # in half the time of any()
        return None
    for form in _HEADERS:
        if found := form.search(line):
            groups = found.groupdict()
            data = groups.pop("part", None)
            return with_numbers(groups)._replace(part="val/" if data and data != "train" else "")
    return None


def _pair(line: str) -> tuple[str, float] | None:
    if len(line) > MAX_WIDTH or not (":" in line or "=" in line or "\t" in line):
        return None
    found = _LINE.match(line)
    if not found:
        return None
    name = found[1].strip()
    number = float(found[2].replace(",", ""))
    if found[3] == "%":
        return name, number / 100
    if found[3] in {"k", "K"} and name.lower() in _COUNTERS:
        return name, 1000 * number
    return (f"{name}_ms" if found[3] == "ms" else name), number


def _ends(line: str, block: _Block) -> bool:
    """Whether a line without a number ends a block; a rule above the first number does not."""
    if _RULE.match(line):
        return bool(block.values) and not (block.counted and block.counted.steps > 0)
    return not _NAMED.match(line) or block.lines > MAX_LINES


def _row(block: _Block) -> Row | None:
    values = block.values
    if not any(map(names_metric, values)):
        return None
    counted = block.counted or _own_counter(values)
    if counted is None:
        return None
    names = [_COMPOSER.sub("", name) for name in values if name.lower() not in _COUNTERS]
    names = [n if "eval" in n else counted.part + n for n in names]
    numbers = [value for name, value in values.items() if name.lower() not in _COUNTERS]
    return Row(block.at, counted, tuple(names), tuple(numbers))


def _own_counter(values: dict[str, float]) -> Counted | None:
    lower = {name.lower(): value for name, value in values.items()}
    for name in _COUNTERS:
        number = lower.get(name)
        if number is not None and number >= 0 and number == int(number):
            return Counted(epoch=int(number)) if name == "epoch" else Counted(step=int(number))
    return None
