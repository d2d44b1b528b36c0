"""Reports of classes, as scikit-learn and imbalanced-learn print them, in the log of a course.

Each is what was measured when it was printed: its accuracy and its averages over all classes stand
below a head without a mark between name and number. They are written as other rows are.
"""

from collections.abc import Iterator, Sequence

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.counters import counted
from runlens.sources.console.mining.layouts import titled_data
from runlens.sources.console.mining.phrases import SPLIT
from runlens.sources.console.pairs import names_metric

FEWEST = 2  # reports between other rows: one alone is the result
# what stands behind the last of them belongs to the run, and not to the classes
_HEAD = lazy_re(
    r"(?:.*\s)?(?:precision\s+recall\s+f1-score\s+support"
    r"|pre\s+rec\s+spe\s+f1\s+geo\s+iba\s+sup)\s*"
)
_ROW = lazy_re(r"\s*(?P<label>\S.{0,60}?)(?P<numbers>(?:\s+\d+(?:\.\d+)?)+)\s*")
_ALL = lazy_re(r"accuracy|(?:micro|macro|weighted|samples) avg|avg / total")
_NAMES = {"pre": "precision", "rec": "recall", "spe": "specificity", "f1": "f1-score"}
_MEASURES = ("precision", "recall", "specificity", "f1-score")
ACCURACY, TOTAL = "accuracy", "avg / total"
_Line = tuple[int, str]


class Report(NamedTuple):
    """One report: from its head to its last line, and what it says of all classes."""

    first: int  # places among the lines of a log
    behind: int  # place of the line behind it
    rows: tuple[tuple[int, dict[str, float]], ...]  # each with its line


def reports(others: Sequence[_Line]) -> list[Report]:
    """Return the reports in a log."""
    heads = [n for n, (_, line) in enumerate(others) if "rec" in line and _HEAD.fullmatch(line)]
    return [_report(others, n) for n in heads]


def _report(others: Sequence[_Line], first: int) -> Report:
    names = others[first][1].split()
    names = names[names.index("pre" if names[-1] == "sup" else "precision") :]
    rows: list[tuple[int, dict[str, float]]] = []
    place = first + 1
    for at, line in others[first + 1 :]:
        row = _ROW.fullmatch(line)
        numbers = row["numbers"].split() if row else []
        label = row["label"] if row else ""
        of_all = _ALL.fullmatch(label) is not None
        whole = len(numbers) == len(names) or (label == ACCURACY and len(numbers) > 1)
        if not whole or (rows and not of_all):
            break
        place += 1
        if label == ACCURACY:
            rows.append((at, {ACCURACY: float(numbers[0])}))
        elif of_all:
            of = "" if label == TOTAL else f"{label} "
            said = {_NAMES.get(n, n): float(one) for n, one in zip(names, numbers, strict=True)}
            rows.append((at, {f"{of}{name}": said[name] for name in _MEASURES if name in said}))
    return Report(first, place, tuple(rows))


def with_reports_spelled(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines in which reports are rows like others; without them where nothing else counts.

    What each is of is what the last line before it measured that says its data.
    """
    found = reports(others)
    if not found:
        return others
    ends = [0, *(report.behind for report in found)]
    between = [others[end : report.first] for end, report in zip(ends, found, strict=False)]
    rest = [*(line for some in between for _, line in some), *(x for _, x in others[ends[-1] :])]
    if not any(map(_counts, rest)):
        return [item for some in between for item in some] + list(others[ends[-1] :])
    if sum(any(_counts(line) for _, line in some) for some in between) < FEWEST:
        return others
    lines: list[_Line] = []
    for some, report in zip(between, found, strict=True):
        data = _data([line for _, line in some])
        lines += [*some, *_spelled(report, data)]
    return [*lines, *others[ends[-1] :]]


def _spelled(report: Report, data: str) -> Iterator[_Line]:
    for at, named in report.rows:
        yield at, ", ".join(f"{data}{name}: {value}" for name, value in named.items())


def _counts(line: str) -> bool:
    """Whether a line counts, or measures something: rows of a course do."""
    return counted(line) is not None or (names_metric(line) and any(map(str.isdecimal, line)))


def _data(lines: Sequence[str]) -> str:
    """Return what the names of a report begin with: held-out data that were measured right before.

    Below a title it is of what that says.
    """
    for line in reversed(lines):
        if titled_data(line):
            return ""
        said = [match.lastgroup for match in SPLIT.finditer(line)] if _counts(line) else []
        if said:
            return "" if said[-1] == "train" else f"{said[-1]} "
    return ""
