"""The reference of `runlens.toml`, from the module that reads it."""

import re
from textwrap import dedent
from typing import Any

from docs.generate.markup import code, escaped, table
from runlens import settings
from runlens.crossrun import CROSS_RULES
from runlens.crossrun.rule import CrossRule
from runlens.rules import RULES
from runlens.rules.rule import Rule, values


def example() -> str:
    """Return the annotated file that the module explains itself with, as TOML."""
    blocks = re.findall(r"(?:^    .*\n|^\n)+", settings.__doc__ or "", re.MULTILINE)
    return dedent(max(blocks, key=len)).strip("\n")


def page() -> str:
    """Return the page: where the file lies, all keys, all limits."""
    told = (settings.__doc__ or "").split("\n\n")
    every: tuple[Rule[Any] | CrossRule[Any], ...] = (*RULES, *CROSS_RULES)
    rows = [
        (f"[{rule.slug}](rules/{rule.slug}.md)", f"`{name}`", f"`{value!r}`")
        for rule in every
        for name, value in values(rule.limits).items()
    ]
    parts = [
        "# Settings\n",
        escaped(told[1]) + "\n",
        (
            "In `pyproject.toml` the same keys stand under `[tool.runlens]`. Another file is named"
            " with `--config FILE`. An unknown key, rule or limit is an error that names the"
            " nearest known one.\n"
        ),
        "## All keys\n",
        code(example(), "toml"),
        escaped(told[-1].strip()) + "\n",
        "## All limits\n",
        (
            "Under `[limits.RULE]`. What each means, and where its value comes from, stands on the"
            " page of the rule.\n"
        ),
        table(("rule", "limit", "value"), rows),
    ]
    return "\n".join(parts)
