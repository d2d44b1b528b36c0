"""Results below headings of their own: ``Thyroid`` above ``Test loss: 0.13 | Test acc: 0.98``.

A data set, a class or a choice of settings, and what was measured of it. Nothing counts in such a
log, and no row goes on from the one before. A log of a training says what its rows count, or has
the same words above each; and a loss or a reward of the training itself is none of a thing.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from runlens.naming import classify, words
from runlens.naming.vocabulary import SPLITS
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.records import Record
from runlens.sources.console.rows import Found, Row, placed
from runlens.sources.console.several_results import apart
from runlens.sources.console.telling import tells

OF_THINGS = (
    "holds results below headings of their own and no course of a training, so each was read as a "
    "single point"
)
AGAIN = "holds results of things by name, again and again, and no course of a training"
COUNTS = "holds counts of things by name and no course of a training"
FEWEST = 3  # headings: train, validate and test are three as well, and say so
OWN = 0.5  # share of the results that have a heading of no other
MOSTLY = 0.9  # share of the results whose headings come again as often
CYCLE = 5  # of such headings: phases of a training are fewer
MOST = 100  # results: of more none is told
LONGEST = 200  # characters of a heading
_DIGITS = lazy_re(r"[\d\W_]+")
_RULE = lazy_re(r"\W*")
# of what a program does with its model, behind a row: no name of a thing
_OF_COURSE = lazy_re(
    r"\b(?:sav(?:e|ed|ing)|improv\w+|best|epochs?|steps?|iter\w*|elapsed|patience|loss)\b"
)
# above the scores of each class, which are parts of one result
_BY_CLASS = lazy_re(r"\W*(?:per[- _]class|class[- _]?wise)(?: \w{1,20}){0,2}\W*", 2)  # IGNORECASE
_Line = tuple[int, str]


def of_things(found: Found, others: Sequence[_Line]) -> tuple[Found, str]:
    """Return each result below a heading of its own as a training of one point, and what is told.

    What was found, and "", where it is anything else.
    """
    names = {name for record in found.records for name in record.names}
    if _is_counted(found) or not names or any(map(_of_training, names)):
        return found, ""
    said = [(at, line) for at, line in others if not _RULE.fullmatch(line)]
    place = {at: n for n, (at, _) in enumerate(said)}
    if any(record.at not in place for record in found.records):
        return found, ""  # it stands in a bar
    groups = _groups(found.records, place)
    firsts = [place[group[0].at] for group in groups]
    headings = [said[first - 1][1] if first else "" for first in firsts]
    told = _told([_DIGITS.sub(" ", heading).strip().lower() for heading in headings], headings)
    rows = [_joined(group) for group in groups]
    if not told or not all(rows):
        return found, ""
    if told == OF_THINGS and not any(map(tells, names)):
        return placed([]), COUNTS  # "Processing 938 cells" below the name of each gene
    return (apart([row for row in rows if row]), told) if told == OF_THINGS else (placed([]), told)


def before_classes(found: Found, others: Sequence[_Line]) -> Sequence[_Line]:
    """Return the lines above what is said of each class, ``Per-class metrics:``; none of a course.

    None either where nothing stands above it: scores of classes are parts of one result.
    """
    title = next((n for n, (_, line) in enumerate(others) if _BY_CLASS.fullmatch(line)), 0)
    below = any(record.at > others[title][0] for record in found.records) if title else False
    return others[:title] if below and not _is_counted(found) else ()


def _is_counted(found: Found) -> bool:
    """Whether rows count something, or are of several trainings."""
    one = found.placed.training is None or not found.placed.training.any()
    counted = not (found.placed.inferred and one) or any(found.planned)
    return counted or any(record.epoch >= 0 for record in found.records)


def _of_training(name: str) -> bool:
    """Whether a name is of a loss or a reward that no held-out data are named for."""
    meaning = classify(name)
    return meaning.quantity in {"loss", "reward"} and meaning.split not in {"val", "test"}


def _groups(records: Sequence[Record], place: dict[int, int]) -> list[list[Record]]:
    """Return records with nothing between their lines together."""
    groups = [list(records[:1])]
    for before, record in pairwise(records):
        if place[record.at] == place[before.at] + 1:
            groups[-1].append(record)
        else:
            groups.append([record])
    return groups


def _told(stems: Sequence[str], headings: Sequence[str]) -> str:
    """Return what is told of results below such headings; "" where these are of a course."""
    if any(
        not stem or len(heading) > LONGEST for stem, heading in zip(stems, headings, strict=True)
    ):
        return ""
    if any(SPLITS.keys() & {*words(stem)} or _OF_COURSE.search(stem) for stem in stems):
        return ""
    often = Counter(stems)
    if OWN * len(stems) <= len(often) >= FEWEST:
        return OF_THINGS if len(stems) <= MOST else AGAIN
    (times, alike), *_ = Counter(often.values()).most_common(1)
    return AGAIN if alike >= CYCLE and times * alike >= MOSTLY * len(stems) else ""


def _joined(group: Sequence[Record]) -> Row | None:
    """Return the numbers of one result; None where a name comes again in it."""
    names = tuple(name for record in group for name in record.names)
    values = tuple(float(value) for record in group for value in record.values)
    return Row(group[0].at, Counted(), names, values) if len({*names}) == len(names) else None
