"""The navigation of the site: what mkdocs.yml lists, and below it what is found in the project."""

from pathlib import Path
from typing import Any

from docs.generate import rule_pages

DECISIONS = Path(__file__).parents[1] / "adr"


def filled(entries: list[Any]) -> list[Any]:
    """Return entries of a navigation with the pages of the rules and of the decisions in place."""
    return [
        {head: _filled(head, inner) for head, inner in entry.items()}
        if isinstance(entry, dict)
        else entry
        for entry in entries
    ]


def _filled(head: str, inner: str | list[Any]) -> str | list[Any]:
    if head == "Rules":
        return rule_pages.navigation()
    if head == "Decisions":
        return _decisions()
    return filled(inner) if isinstance(inner, list) else inner


def _decisions() -> list[str]:
    """Return the pages of the decisions, the one that lists them first."""
    pages = sorted(DECISIONS.glob("*.md"), key=lambda page: (page.stem != "README", page.stem))
    return [f"adr/{page.name}" for page in pages]
