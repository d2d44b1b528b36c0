"""Results that stand beside those of a log that is short: ``R^2: 0.78`` below ``MSE: 12.3``."""

from collections import Counter
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Found, Row, placed
from runlens.sources.console.said_results import MEASURES
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

LONGEST = 60  # lines of a log
_LINE = lazy_re(
    r"\s*(?P<name>[^\W\d][\w ()/@^.:²-]{0,40}?)\s*[:=]\s*"
    r"(?P<number>[-+]?\d+\.\d+)\s?(?P<share>%?)\s*"
)
_SHORT = lazy_re(
    rf"(?i)R(?:\^2|²|\s?squared|-squared)(?: score)?|HR(?:@\d{{1,3}})?|(?:[\w']+ )?(?:{MEASURES})"
)


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
