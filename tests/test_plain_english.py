"""Words that are gone from what a user sees: the glossary of CONTRIBUTING as a test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runlens.crossrun import CROSS_RULES
from runlens.crossrun.rule import CrossRule
from runlens.rules import LISTED
from runlens.rules.rule import Listed

ROOT = Path(__file__).parents[1] / "runlens"
LONGEST = 40  # characters of a rule's title
GONE = {
    "mend": r"\bmend(s|ed|ing)?\b",
    "learnt": r"\blearnt\b",
    "by heart": r"\bby heart\b",
    "was lost, of a loss": r"\bloss was lost\b",
    "leapt": r"\blea(pt|ps)\b",
    "anew": r"\banew\b",
    "felt": r"\b(not feel|loss felt|feels)\b",
    "is engaged": r"\b(is|was) engaged\b",
    "asked for, of memory": r"GiB asked for",
    "lies idle": r"\blies idle\b",
    "that are needed": r"\bonly .{1,60} that are needed\b",
    "What says so": r"What says so",
    "as of rows": r"\bas of rows\b",
    "surer": r"\bsurer\b",
    "parts from": r"\bparts from\b",
    "a prompt, a token, for per": r"\b(completions a prompt|nats a token|MiB a step)\b",
    "against a limit": r"\bagainst a limit of\b",
    "the most of": r"\bthe most (of|that is) (the )?usual\b",
    "where N is the least": r"\bis the least\b",
    "begun anew": r"\bbeg[au]n anew\b",
    "silence is no sign": r"\bsilence is no sign\b",
    "go on from, of a run": r"^Start again\b",
    "tautology": r"100 % of its highest",
}
PLACES = ("rules", "causes", "knowledge", "report", "cli", "crossrun", "comparing", "auditing")
FILES = [
    *(path for place in PLACES for path in sorted((ROOT / place).rglob("*.py"))),
    *sorted(ROOT.glob("*.py")),
    ROOT / "sources" / "console" / "messages.tsv",
]


def templates(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file with their lines; the fields of f-strings as ``{}``."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(source.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def gone(words: str) -> list[str]:
    """Return which of the words that are gone stand in a text."""
    return [name for name, pattern in GONE.items() if re.search(pattern, words)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_template_has_a_word_that_is_gone(path: Path) -> None:
    """In titles, evidence, causes, fixes, pages of rules, messages and labels."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}: {words[:80]}"
        for line, words in templates(path)
        for name in gone(words)
    ]
    assert found == []


@pytest.mark.parametrize(
    "words",
    [
        "the loss was lost at step 98",
        "Start again once the cause is fixed",
        "only 3 of the 10 gradient norms that are needed",
        "Generate more completions a prompt",
        "The training set is known by heart",
    ],
)
def test_a_word_that_is_gone_is_noticed(words: str) -> None:
    """So that the test above can fail."""
    assert gone(words)


@pytest.mark.parametrize("rule", [*LISTED, *CROSS_RULES], ids=lambda rule: rule.slug)
def test_a_title_is_short_and_no_slug(rule: Listed | CrossRule[Any]) -> None:
    """It stands in tables, in lanes of a chart and in the terminal's overview."""
    assert len(rule.title) <= LONGEST
    assert rule.title != rule.slug


def test_no_two_rules_have_one_title() -> None:
    """A user tells them apart by it."""
    titles = [*(rule.title for rule in LISTED), *(rule.title for rule in CROSS_RULES)]
    assert len(set(titles)) == len(titles)
