"""Plain text of the code as Markdown."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import dedent

# what Markdown would read as markup in a sentence; underscores within words are safe
_ACTIVE = re.compile(r"([\\`*\[\]<>|])|(?<!\w)_|_(?!\w)")


def escaped(text: str) -> str:
    """Return a text with nothing in it that Markdown takes for markup; code in backticks stays."""
    parts = re.split(r"``?([^`]+)``?", text)
    return "".join(cell(part) if at % 2 else _plain(part) for at, part in enumerate(parts))


def _plain(text: str) -> str:
    return _ACTIVE.sub(lambda found: "&lt;" if found[0] == "<" else "\\" + found[0], text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def cell(text: str) -> str:
    """Return code that may stand in a cell: Markdown would end the cell at a bar."""
    return f"<code>{escape(text, quote=False).replace('|', '&#124;')}</code>"


def code(content: str, language: str = "text") -> str:
    """Return a block of code."""
    return f"```{language}\n{content.rstrip()}\n```\n"


def prose(docstring: str) -> str:
    """Return a docstring as Markdown: paragraphs as they are, indented blocks as code."""
    parts = [part.strip("\n") for part in re.split(r"\n\s*\n", docstring.strip())]
    made = [
        code(dedent(part), "python") if part.startswith((" ", ">>>")) else escaped(dedent(part))
        for part in parts
    ]
    return "\n\n".join(one.rstrip() for one in made) + "\n"
