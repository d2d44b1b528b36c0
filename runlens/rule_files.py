"""Which files the patterns of `rules` name, and a look that has an end: disks are large."""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from runlens.run import Problem

LOST = "its rules"
MOST_FILES = 200  # of all patterns
MOST_LOOKED_AT = 20_000  # files and folders, of one pattern
DEEPEST = 8  # folders below the first wildcard
_WILD = frozenset("*?[")


class TooMuch(Exception):  # noqa: N818 - "raise TooMuch" is a sentence
    """A pattern leads to more than is looked at."""


def files_of(patterns: Sequence[str], home: Path) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return the files that patterns name, in order, and a problem for each that names none.

    Args:
        patterns: as a shell would expand them, ``my_rules/*.py``, ``**`` for any depth; files that
            begin with an underscore are passed over, and folders that begin with a dot.
        home: the folder that they start from.

    """
    found: dict[str, None] = {}
    problems = []
    for pattern in patterns:
        try:
            paths = sorted(str(path.resolve()) for path in _named(home / pattern) if path.is_file())
        except TooMuch:
            text = f"leads to more than {MOST_LOOKED_AT:,} files and folders; name the folder"
            problems.append(Problem(pattern, text, LOST))
            continue
        found |= dict.fromkeys(path for path in paths if not Path(path).name.startswith("_"))
        if not paths:
            problems.append(Problem(pattern, "names no file; see rules in the settings", LOST))
    if len(found) > MOST_FILES:
        text = f"name {len(found):,} files; the first {MOST_FILES} are taken"
        problems.append(Problem(", ".join(patterns), text, "rules of the others"))
    return tuple(found)[:MOST_FILES], tuple(problems)


def _named(pattern: Path) -> Iterator[Path]:
    """Yield the paths that a pattern names; raise TooMuch where it leads to too many."""
    parts = pattern.parts
    fixed = next((n for n, part in enumerate(parts) if _WILD.intersection(part)), len(parts))
    looked = iter(range(MOST_LOOKED_AT))
    yield from _below(Path(*parts[:fixed]), parts[fixed:], looked, DEEPEST)


def _below(folder: Path, parts: Sequence[str], looked: Iterator[int], depth: int) -> Iterator[Path]:
    """Yield what the rest of a pattern names below a folder; links to folders are not followed."""
    if not parts:
        yield folder
        return
    if depth < 0:
        return
    first, rest = parts[0], parts[1:]
    if first == "**":
        yield from _below(folder, rest, looked, depth)
    for entry in _entries(folder):
        if next(looked, None) is None:
            raise TooMuch
        if entry.name.startswith(".") and not first.startswith("."):
            continue
        if first == "**":
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry), parts, looked, depth - 1)
        elif fnmatchcase(entry.name, first):
            yield from _below(Path(entry), rest, looked, depth - 1)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
