"""Results that are a name and a number in a line, told once in a log: ``R^2: 0.78``.

They stand beside others in a short log, ``MSE: 12.3`` above them; or are all that a log has, behind
whatever its program says. Among more settings than results they are settings: ``iou: 0.7``.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, begin
from runlens.sources.console.mining.prefixes import without_prefix
from runlens.sources.console.rows import Found, Row, placed
from runlens.sources.console.said_results import MEASURES
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number
from runlens.sources.tables.names import HERE

LONGEST = 60  # lines of a log beside whose results others are looked for
MOST = 5_000  # lines of a log that has no other
_LINE = lazy_re(
    r"\s*(?P<name>[^\W\d][\w ()/@^.:²-]{0,40}?)\s*[:=]\s*"
    r"(?P<number>[-+]?\d+\.\d+)\s?(?P<share>%?)\s*"
)
_SHORT = lazy_re(
    rf"(?i)R(?:\^2|²|\s?squared|-squared)(?: score)?|HR(?:@\d{{1,3}})?|(?:[\w']+ )?(?:{MEASURES})"
)


_NAMED = lazy_re(r"\s*['\"]?[^\W\d][\w ()/@^.:²-]{0,40}?['\"]?\s*[:=]\s*\S.*")
# of what is wanted, or was best so far
_WANTED = lazy_re(r"(?i)target|goal|best|min|max|thresh|initial|baseline|weight|alpha|smooth|cost")


def lone_results(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the lines of a name and a number of a log that has no others, each told once.

    What is told again is of several trainings, of which nothing says where one ends; and a loss or
    a reward alone may be the first row of a training that was cut.
    """
    lines = [(at, line[begin(line) :]) for at, line in without_prefix(others[:MOST])]
    found = [(n, said) for n, (_, line) in enumerate(lines) if (said := _LINE.fullmatch(line))]
    found = [(n, said) for n, said in found if _is_result(said["name"])]
    often = Counter(said["name"].lower() for _, said in found)
    alone = all(_of_training(said["name"]) for _, said in found)
    if len(others) > MOST or len(often) < len(found) or alone:
        return []
    return [
        Row(lines[n][0], Counted(), (said["name"],), (_value(said["number"], said["share"]),))
        for n, said in found
        if not _among_settings(lines, n)
    ]


def _of_training(name: str) -> bool:
    meaning = classify(name)
    return meaning.sure and meaning.quantity in {"loss", "reward"} and meaning.split in HERE


def _is_result(name: str) -> bool:
    """Whether a name is of what came out, of no setting, and of nothing that was wanted."""
    given = _WANTED.search(name) or canonical_key(name) in KNOWN_KEYS
    return not given and _judges(name)


def _among_settings(lines: Sequence[tuple[int, str]], place: int) -> bool:
    """Whether most lines of a name and a value around one are of no result."""
    behind = takewhile(_NAMED.fullmatch, (line for _, line in lines[place:]))
    before = takewhile(_NAMED.fullmatch, (line for _, line in lines[:place][::-1]))
    block = [*behind, *before]
    judged = sum(bool((one := _LINE.fullmatch(line)) and _judges(one["name"])) for line in block)
    return 2 * judged < len(block)


def with_left(found: Found, others: Sequence[tuple[int, str]]) -> Found:
    """Return what was found with the lines of a name and a number beside it, if it is one result.

    Each of them is told once, and what was found counts nothing.
    """
    names = Counter(name for record in found.records for name in record.names)
    single = found.records and found.placed.inferred and max(names.values()) == 1
    if not single or len(others) > LONGEST:
        return found
    known = {record.at for record in found.records}
    lines = [(at, _LINE.fullmatch(line)) for at, line in others if at not in known]
    more = {
        said["name"]: Row(at, Counted(), (said["name"],), (_value(said["number"], said["share"]),))
        for at, said in lines
        if said and said["name"] not in names and _judges(said["name"])
    }
    if not more:
        return found
    rows = [
        Row(one.at, Counted(), one.names, tuple(float(value) for value in one.values))
        for one in found.records
    ]
    return placed(sorted([*rows, *more.values()], key=lambda row: row.at), found.framework)


def _judges(name: str) -> bool:
    return tells(name) or _SHORT.fullmatch(name) is not None


def _value(number: str, share: str) -> float:
    value = as_number(number) or 0.0
    return value / 100 if share else value
