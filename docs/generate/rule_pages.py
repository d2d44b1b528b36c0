"""One page a rule: its docstring, its limits, and pictures of runs that have it or look alike."""

import re
from collections.abc import Mapping
from functools import cache
from textwrap import dedent
from typing import Any

from docs.generate import across
from docs.generate.markup import escaped, table
from docs.generate.pictures import picture
from runlens.crossrun import CROSS_RULES
from runlens.crossrun.rule import CrossRule
from runlens.engine import examine
from runlens.how_to_log import how_to_log
from runlens.rules import RULES
from runlens.rules.rule import FOLDERS, Case, Rule, values
from runlens.signals import Signals

FOLDER = "reference/rules"
SHOWN = 3  # cases of each kind on a page
ACROSS = "Across runs"
_HEADS = re.compile(r"^(What is seen|Why it matters|Looks alike|Limits|Fixes)$", re.MULTILINE)


@cache
def pages() -> Mapping[str, str]:
    """Return the list of the rules and the page of each, by path."""
    made = {f"{FOLDER}/{rule.slug}.md": _single(rule) for rule in RULES}
    made |= {f"{FOLDER}/{rule.slug}.md": _crossed(rule) for rule in CROSS_RULES}
    return {f"{FOLDER}/index.md": _index(), **made}


def navigation() -> list[Any]:
    """Return the pages as mkdocs lists them: by family."""
    families = [
        {name: [f"{FOLDER}/{rule.slug}.md" for rule in rules]} for name, rules in _families()
    ]
    return [f"{FOLDER}/index.md", *families]


def _families() -> list[tuple[str, list[Rule[Any] | CrossRule[Any]]]]:
    made: list[tuple[str, list[Rule[Any] | CrossRule[Any]]]] = [
        (
            "RL" if family == "RLX" else name.capitalize(),
            [rule for rule in RULES if rule.family == family],
        )
        for family, name in FOLDERS.items()
    ]
    return [*made, (ACROSS, list(CROSS_RULES))]


def _index() -> str:
    parts = [
        "# Rules\n",
        (
            f"{len(RULES)} rules judge one run, {len(CROSS_RULES)} many runs at once"
            " (`runlens audit`). `runlens rules` prints this list, `runlens rules SLUG` the page of"
            " one.\n"
        ),
    ]
    for name, rules in _families():
        rows = [
            (f"[{rule.slug}]({rule.slug}.md)", rule.severity, escaped(rule.title)) for rule in rules
        ]
        parts += [f"## {name}\n", table(("rule", "usually", "what it finds"), rows)]
    return "\n".join(parts)


def _sections(rule: Rule[Any] | CrossRule[Any]) -> dict[str, str]:
    """Return the sections of a rule's docstring by their heads; the summary stands under ""."""
    opening, *parts = _HEADS.split(rule.page.strip())
    bodies = (dedent(body).strip("\n") for body in parts[1::2])
    return {"": opening.strip(), **dict(zip(parts[::2], bodies, strict=True))}


def _text(rule: Rule[Any] | CrossRule[Any], tasks: str, needs: str) -> str:
    """Return the page up to its cases."""
    summary, *sections = _sections(rule).items()
    trial = "; on trial, asked with `--preview`" if rule.preview else ""
    usual = f"Usually **{rule.severity}**{trial}. Holds for {tasks}. Needs {needs}."
    made = [f"# {rule.slug}\n\n{escaped(summary[1])}\n\n{usual}\n"]
    for head, body in sections:
        told = _limits(rule, body) if head == "Limits" else escaped(body) + "\n"
        made.append(f"## {head}\n\n{told}")
    return "\n".join(made)


def _limits(rule: Rule[Any] | CrossRule[Any], body: str) -> str:
    """Return what the docstring says of the limits, their names as code, and the values."""
    known = values(rule.limits)
    if not known:
        return escaped(body) + "\n"
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    spelled = [name for name in known if "_" in name]
    sure = rf"\b({names})(?=:)" + (rf"|\b({'|'.join(spelled)})\b" if spelled else "")
    told = re.sub(sure, r"`\g<0>`", escaped(body))
    rows = [(f"`{name}`", f"`{value!r}`") for name, value in known.items()]
    return (
        f"{told}\n\n{table(('limit', 'value'), rows)}\nOther values go under"
        f" `[limits.{rule.slug}]` in [runlens.toml](../settings.md).\n"
    )


def _single(rule: Rule[Any]) -> str:
    tasks = ", ".join(sorted(rule.tasks)) or "every task"
    needs = ", ".join(f"`{need.replace('|', '` or `')}`" for need in rule.needs) or "no metric"
    missing = how_to_log(name for need in rule.needs for name in need.split("|"))
    related = f"Where the metric is missing: {escaped(missing)}.\n" if missing else ""
    cases = [
        f"## {head}\n\n{say}\n\n" + "\n".join(_figure(rule, case, kind, at) for at, case in chosen)
        for head, say, kind, chosen in (
            ("Found", "Drawn runs that have it.", "bad", list(enumerate(rule.bad))[:SHOWN]),
            ("Passed", "Drawn runs that look alike.", "good", list(enumerate(rule.good))[:SHOWN]),
        )
        if chosen
    ]
    return "\n".join([_text(rule, tasks, needs), related, *cases])


def _figure(rule: Rule[Any], case: Case, kind: str, at: int) -> str:
    """Return one case: its name, its curves, its settings and lines, and what the rule said."""
    run = case.run()
    outcome = examine(rule, run, Signals(run))
    said = [finding.title for finding in outcome.findings] or [outcome.reason]
    drawing = picture(rule, run, outcome.findings, f"{kind}{at}")
    settings = "".join(
        f"- `{key}`: `{'null' if one is None else one}`\n" for key, one in case.config.items()
    )
    lines = "".join(f"- {event.kind}: `{event.text or event.step}`\n" for event in case.events)
    figure = f'<div class="drawn">{drawing}</div>\n\n' if drawing else ""
    given = settings + lines
    return (
        f"### {escaped(case.name)}\n\n{figure}{given}{chr(10) if given else ''}"
        f"{escaped(' '.join(said))}\n"
    )


def _crossed(rule: CrossRule[Any]) -> str:
    text = _text(rule, "every task", "several runs: [runlens audit](../../nightly.md)")
    return f"{text}\n{across.cases(rule)}"
