"""Which rule files are registered, and as what: a line for each that is not as it must be.

python tests/rules/registered.py SLUG    # fails unless a rule of RunLens has this slug
"""

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import runlens
from runlens import rules
from runlens.errors import nearest
from runlens.rules import LISTED, RULES
from runlens.rules.rule import FOLDERS, Listed, Rule

FOLDER = Path(runlens.__file__).parent / "rules"
LIST = "LISTED of runlens/rules/__init__.py"


def file_of(rule: Rule[Any]) -> Path:
    """Return the file that a rule's `check` stands in."""
    return Path(inspect.getfile(rule.check))


def place_of(rule: Rule[Any]) -> str:
    """Return that file from the folder of the rules on, ``evaluation/eval_gap.py``."""
    return file_of(rule).relative_to(FOLDER).as_posix()


def unregistered() -> list[str]:
    """Return the files with a RULE that are in the list of no rule."""
    known = {file_of(rule) for rule in RULES}
    return [
        path.relative_to(FOLDER).as_posix()
        for path in sorted(FOLDER.glob("*/*.py"))
        if "\nRULE = Rule(" in path.read_text(encoding="utf-8") and path not in known
    ]


def misplaced(rule: Rule[Any]) -> str:
    """Say how slug, family and file of a rule differ; empty where they do not."""
    path = file_of(rule)
    if rule.family not in FOLDERS:
        return f"family={rule.family!r} of {rule.slug} is no code of FOLDERS in rules/rule.py"
    if path.stem != rule.slug.replace("-", "_"):
        return f"slug={rule.slug!r} stands in {place_of(rule)}: a file is its slug with _ for -"
    if path.parent.name != FOLDERS[rule.family]:
        folder = FOLDERS[rule.family]
        return f"family={rule.family!r} of {rule.slug} is {folder}/, but it is {place_of(rule)}"
    return ""


def faults() -> list[str]:
    """Return what is wrong with the list of rules, a line each."""
    lines = [f"{path} is not in {LIST}: add {row_of(rule_in(path))}" for path in unregistered()]
    lines += [line for row in LISTED if (line := differing(row))]
    return lines + [line for rule in RULES if (line := misplaced(rule))]


def differing(row: Listed) -> str:
    """Say in what the row of a rule differs from its file; empty where it does not."""
    rule = row.load()
    own = Listed(*(getattr(rule, name) for name in Listed._fields))
    said = f"the row of {place_of(rule)} in {LIST} differs from its RULE: it is {row_of(rule)}"
    return "" if row == own else said


def rule_in(place: str) -> Rule[Any]:
    """Return the rule of a file, given from the folder of the rules on."""
    name = place.removesuffix(".py").replace("/", ".")
    rule: Rule[Any] = import_module(f"runlens.rules.{name}").RULE
    return rule


def row_of(rule: Rule[Any]) -> str:
    """Write the row of a rule, to be pasted into the list."""
    said = [rule.slug, rule.title, rule.family, *([rule.needs] if rule.needs else [])]
    parts = [repr(one).replace("'", '"') for one in said]
    if rule.tasks:
        named = (name for name in dir(rules) if getattr(rules, name) == rule.tasks)
        parts.append("tasks=" + next(named, f"frozenset({sorted(rule.tasks)})".replace("'", '"')))
    return f"Listed({', '.join(parts + ['preview=True'] * rule.preview)}),"


def unknown(slug: str) -> str:
    """Say why no rule has a slug, or what is wrong with its row; empty where all is well."""
    stem = slug.replace("-", "_")
    for line in faults():
        if f"/{stem}.py" in line:
            return line
    slugs = [rule.slug for rule in RULES]
    if slug in slugs:
        return ""
    slugs += [Path(place).stem.replace("_", "-") for place in unregistered()]
    return f"no such rule: {slug}{nearest(slug, slugs)}"


if __name__ == "__main__":
    sys.exit(unknown(sys.argv[1]) or None)
