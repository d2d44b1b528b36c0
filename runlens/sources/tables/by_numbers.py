"""Columns that are called by numbers: by their places, as pandas does, or by settings."""

from collections.abc import Sequence


def numbered_by_pandas(row: Sequence[str]) -> bool:
    """Whether names are those that pandas gives: ``,0,1,2``, behind the numbers of the rows."""
    if len(row) < 2 or row[0] not in {"", "index"}:  # noqa: PLR2004 - a name and one number
        return False
    return all(name == str(n) for n, name in enumerate(row[1:]))


def called_by_numbers(row: Sequence[str]) -> bool:
    """Whether columns are called by whole numbers that rise, behind those of the rows: ``,5,15``.

    Settings of several trainings, it may be, whose curves stand side by side.
    """
    numbers = [int(name) for name in row[1:] if name.isdigit()]
    several = len(row) > len(("", "5")) and len(numbers) == len(row) - 1
    return several and row[0] == "" and numbers[0] > 1 and numbers == sorted(set(numbers))


def is_series(rows: Sequence[Sequence[str]]) -> bool:
    """Whether columns are called 0, 1, as pandas calls those without names: others have decimals.

    A column that counts has none.
    """
    first, *below = rows or [[]]
    if list(first) != [str(n) for n in range(len(first))] or len(below) <= 1:
        return False
    measured = [all(row[n : n + 1] and "." in row[n] for row in below) for n in range(len(first))]
    return sum(measured) >= max(1, len(first) - 1)
