"""The rows of a log: of all of it, else of the last of the launches that it shows, else results."""

from collections.abc import Sequence
from pathlib import Path

from runlens.run import Problem
from runlens.sources.console import lines
from runlens.sources.console.below_sets import of_sets
from runlens.sources.console.counters import begin
from runlens.sources.console.headed_results import before_classes, of_things
from runlens.sources.console.named_scores import scores
from runlens.sources.console.of_many import without_count
from runlens.sources.console.results import TOLD, without_course
from runlens.sources.console.rows import Found
from runlens.sources.console.several_results import SEVERAL, of_own_settings, with_setting
from runlens.sources.console.spans import shape
from runlens.sources.console.text import Bar
from runlens.wording import count

FEWEST = 2  # launches
_Line = tuple[int, str]


def rows_of(
    others: Sequence[_Line], bars: Sequence[Bar], path: Path
) -> tuple[Found, tuple[Problem, ...]]:
    """Return the rows of a log, and what is to be said of them; `path` has no name in a part."""
    others = [(at, without_count(line)) for at, line in others]
    found = of_own_settings(lines.read(others, bars))
    if not path.name:
        return found, ()
    if apart := with_setting(found, others):
        return apart, (Problem(str(path), SEVERAL),)
    if sets := of_sets(found, others):
        return sets, (Problem(str(path), TOLD),)
    if above := before_classes(found, others):
        results = without_course(lines.read(above, bars), above, path)
        if results[0].records:
            return results
    found, told = of_things(found, others)
    if told:
        return found, (Problem(str(path), told),)
    starts = [] if found.records or scores(others) else _launches(others)
    if starts:
        behind = [line for line in others if line[0] >= starts[-1]]
        again = lines.read(behind, [bar for bar in bars if bar.at >= starts[-1]])
        if again.records:
            text = f"{count(len(starts) - 1, 'start')} before its last left no row"
            return again, (Problem(str(path), text),)
    return without_course(found, others, path)


def _launches(others: Sequence[_Line]) -> list[int]:
    """Return the lines at which launches begin: where the first line of the log comes again."""
    said = [(at, shape(line[begin(line) :])) for at, line in others]
    first = next((shape for _, shape in said if shape), "")
    starts = [at for at, shape in said if shape and shape == first]
    return starts if len(starts) >= FEWEST and 2 * len(starts) < len(said) else []
