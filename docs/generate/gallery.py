"""A gallery: for each fault a real report of a small run that was trained with it."""

import json
from functools import cache
from pathlib import Path

from docs.generate.markup import escaped, table
from runlens.rules import RULES

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDER = "gallery"
HEALTHY = "healthy-"


@cache
def _planted() -> dict[str, str]:
    """Return what was planted in each fixture that shows one rule, or none."""
    known = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))
    slugs = {rule.slug for rule in RULES}
    return {
        name: one["made"]
        for name, one in sorted(known.items())
        if name in slugs or name.startswith(HEALTHY)
    }


def page() -> str:
    """Return the page that lists the reports by fault."""
    titles = {rule.slug: rule.title for rule in RULES}
    faults = [
        (f"[{escaped(titles[name])}]({name}.html)", f"[{name}](../reference/rules/{name}.md)",
         escaped(made))
        for name, made in _planted().items()
        if name in titles
    ]  # fmt: skip
    healthy = [
        (f"[{name.removeprefix(HEALTHY)}]({name}.html)", escaped(made))
        for name, made in _planted().items()
        if name.startswith(HEALTHY)
    ]
    return "\n".join(
        [
            "# Gallery of reports\n",
            "Each run was trained with one fault on purpose, and each page is what",
            "`runlens diagnose` writes for it: one file, no network, made anew with this site.\n",
            table(("report", "rule", "what was planted"), faults),
            "## Healthy runs\n",
            table(("report", "what it is"), healthy),
        ]
    )


def reports() -> dict[str, str]:
    """Return the page of each run by its path in the site; half a second each."""
    import runlens
    from runlens.report import html

    return {
        f"{FOLDER}/{name}.html": html.render(runlens.diagnose(FIXTURES / name))
        for name in _planted()
    }
