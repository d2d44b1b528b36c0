"""What all reports for the terminal share: width, color, characters."""

import textwrap
from collections.abc import Callable, Iterable

import click

from runlens.faults import survived
from runlens.wording import MINUS, NARROW

WIDEST = 120
END = 12  # characters at the end of a name by which it differs from its siblings
SPACES = f" {NARROW}\u00a0"
PLAIN = str.maketrans({NARROW: " ", MINUS: "-", "×": "x", "→": ">", "≥": ">=", "≤": "<=", "…": "~"})


Line = str | tuple[str | tuple[str, str], ...]  # pieces, of which some have a style


class Options:
    """How to write: width in characters, color, more detail, plain characters only."""

    def __init__(
        self,
        width: int = 80,
        *,
        color: bool = False,
        verbose: bool = False,
        ascii_only: bool = False,
    ) -> None:
        """Keep what was asked; nothing wider than 120 reads well."""
        self.width = max(40, min(width, WIDEST))
        self.color = color
        self.verbose = verbose
        self.ascii_only = ascii_only


def printed(lines: Iterable[Line], options: Options) -> str:
    """Return lines as the terminal of `options` gets them."""
    return characters("".join(f"{_joined(line, options)}\n" for line in lines), options)


def _joined(line: Line, options: Options) -> str:
    if isinstance(line, str):
        return line
    return "".join(
        piece if isinstance(piece, str) else _styled(*piece) if options.color else piece[0]
        for piece in line
    )


def _styled(text: str, style: str) -> str:
    """Return text in a style, ``bold red``; empty for none."""
    words = style.split()
    return click.style(text, fg=words[-1], bold="bold" in words or None) if words else text


def part(lines: Callable[[], Iterable[Line]]) -> list[Line]:
    """Return the lines of one part of a report; where it fails, a line that says so."""
    return survived(lambda: list(lines()), lambda told: [f"! cannot be shown: {clean(told)}", ""])


def clean(text: str) -> str:
    """Return foreign text with control characters as escapes, so that no terminal obeys them."""
    return "".join(
        char if char.isprintable() or char in SPACES else repr(char)[1:-1] for char in text
    )


def characters(text: str, options: Options) -> str:
    """Return text in the characters that the terminal has."""
    return text.translate(PLAIN).encode("ascii", "replace").decode() if options.ascii_only else text


def cut(text: str, room: int) -> str:
    """Leave out the middle of a long name: it begins with what the user gave, and ends apart.

    Its first folder is kept whole where that leaves room for an end that tells siblings apart.
    """
    if len(text) <= room:
        return text
    folder = text.find("/") + 1
    head = folder if 0 < folder < room - END else (room - 1) // 2
    return f"{text[:head]}…{text[head + 1 - room :]}"


def wrapped(text: str, options: Options, hang: str = "", lead: str = "") -> list[str]:
    """Return a paragraph as lines, `lead` before the first and `hang` before the others."""
    return textwrap.wrap(
        clean(text),
        options.width,
        initial_indent=lead,
        subsequent_indent=hang,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]
