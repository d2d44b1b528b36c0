"""What all reports for the terminal share: width, colour, characters."""

import io
import textwrap
from collections.abc import Callable, Iterable

from rich.console import Console
from rich.text import Text

from runlens.faults import survived
from runlens.wording import MINUS, NARROW

WIDEST = 120
END = 12  # characters at the end of a name by which it differs from its siblings
SPACES = f" {NARROW}\u00a0"
PLAIN = str.maketrans({NARROW: " ", MINUS: "-", "×": "x", "→": ">", "≥": ">=", "≤": "<=", "…": "~"})


class Options:
    """How to write: width in characters, colour, more detail, plain characters only."""

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


def printed(lines: Iterable[Text | str], options: Options) -> str:
    """Return lines as the terminal of `options` gets them."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=options.width,
        force_terminal=options.color,
        color_system="standard" if options.color else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
        legacy_windows=False,
    )
    for line in lines:
        console.print(line)
    return characters(buffer.getvalue(), options)


def part(lines: Callable[[], Iterable[Text | str]]) -> list[Text | str]:
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
