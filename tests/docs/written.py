"""The pages that people wrote, and what stands in them: commands, blocks, inline code, links."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))

_FENCED = re.compile(
    r"^(?P<margin> *)```(?P<kind>\w*)\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
_INDENTED = re.compile(r"(?:^(?: {4}.*)?\n)+", re.MULTILINE)
# a command at the start of a line, after a pipe, or in a step of a workflow
_COMMAND = re.compile(r"(?:^|\| |run: )(?:\.venv/bin/)?runlens(?P<rest>(?: .*)?)$")


class Block(NamedTuple):
    """A block of code; `kind` is "" where it was indented or names no language."""

    kind: str
    body: str


class Command(NamedTuple):
    """A call of runlens; `piped` is the file that comes through a pipe, "" where none does."""

    page: str
    arguments: tuple[str, ...]
    piped: str = ""


def named(page: Path) -> str:
    """Return the path of a page from the root, for messages."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the blocks of code of a page."""
    text = page.read_text(encoding="utf-8")
    fenced = [Block(found["kind"], found["body"]) for found in _FENCED.finditer(text)]
    rest = _FENCED.sub("", text)
    return fenced + [Block("", found[0]) for found in _INDENTED.finditer(rest) if found[0].strip()]


def commands(page: Path) -> list[Command]:
    """Return the calls of runlens in the blocks of a page."""
    made = []
    for block in blocks(page):
        for line in block.body.splitlines():
            found = _COMMAND.search(line.strip())
            if not found or block.kind == "text" or " set -a" in line:
                continue
            piped = re.match(r"cat (\S+) \|", line.strip())
            arguments = shlex.split(found["rest"], comments=True)
            made.append(Command(named(page), tuple(arguments), piped[1] if piped else ""))
    return made


def inline(page: Path) -> list[str]:
    """Return what stands in backticks in the prose of a page."""
    rest = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", rest)]


def links(page: Path) -> list[str]:
    """Return the places within the project that a page links to, without anchors."""
    rest = _FENCED.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", rest))
    local = [target.partition("#")[0] for target in targets if "://" not in target]
    return [target for target in local if target]
