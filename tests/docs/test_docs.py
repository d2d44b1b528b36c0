"""Whatever a user can set, ask for or read is documented; what the docs name exists."""

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import runlens
from docs.generate import commands, python_api, rule_pages, schemas, settings_page, sources_page
from docs.generate.navigation import filled
from runlens import settings, silences
from runlens.cli import COMMANDS, main
from runlens.crossrun import CROSS_RULES
from runlens.crossrun.rule import CrossRule
from runlens.rules import RULES
from runlens.rules.rule import Rule, values
from runlens.sources import described, kind_of
from tests.docs import written

SECTIONS = ("What is seen", "Why it matters", "Looks alike", "Limits", "Fixes", "Found", "Passed")
EVERY_RULE: tuple[Rule[Any] | CrossRule[Any], ...] = (*RULES, *CROSS_RULES)
EACH_PAGE = pytest.mark.parametrize("page", written.PAGES, ids=written.named)


def known_options() -> dict[str, list[click.Option]]:
    """Return the options of each command."""
    root = click.Context(main)
    found = {name: main.get_command(root, name) for name in COMMANDS}
    return {
        name: [one for one in command.params if isinstance(one, click.Option)]
        for name, command in found.items()
        if command
    }


def navigated(entries: list[Any]) -> list[str]:
    """Return the pages of a navigation, whatever it is nested in."""
    made = []
    for entry in entries:
        if isinstance(entry, str):
            made.append(entry)
            continue
        for inner in entry.values():
            made += [inner] if isinstance(inner, str) else navigated(inner)
    return made


def navigation() -> list[str]:
    """Return the pages in the navigation of the site, in its order."""
    config = (written.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return navigated(filled(yaml.safe_load(config)["nav"]))


def test_every_rule_has_a_page_with_its_limits_and_its_cases() -> None:
    """Also those over several runs; all are in the list and in the navigation."""
    pages = rule_pages.pages()
    listed = set(navigated(rule_pages.navigation()))
    index = pages[f"{rule_pages.FOLDER}/index.md"]
    assert listed == set(pages)
    for rule in EVERY_RULE:
        page = pages[f"{rule_pages.FOLDER}/{rule.slug}.md"]
        heads = re.findall(r"^## (.+)$", page, re.MULTILINE)
        assert tuple(heads) == SECTIONS, rule.slug
        assert f"]({rule.slug}.md)" in index
        rows = {name: f"| `{name}` | `{value!r}` |" for name, value in values(rule.limits).items()}
        assert [name for name, row in rows.items() if row not in page] == [], rule.slug


def test_every_rule_that_looks_at_a_curve_shows_it_bad_and_good() -> None:
    """A picture of a run that has it, and of one that looks alike."""
    pages = rule_pages.pages()
    seen = [rule for rule in RULES if rule.needs] + list(CROSS_RULES)
    for rule in seen:
        page = pages[f"{rule_pages.FOLDER}/{rule.slug}.md"]
        bad, good = page.split("\n## Found\n")[1].split("\n## Passed\n")
        assert "<svg" in bad, rule.slug
        assert "<svg" in good, rule.slug


def test_a_case_over_several_runs_is_found_and_its_look_alike_is_not() -> None:
    """The pictures of these rules are drawn for the docs alone: they must show the truth."""
    for rule in CROSS_RULES:
        page = rule_pages.pages()[f"{rule_pages.FOLDER}/{rule.slug}.md"]
        bad, good = page.split("\n## Found\n")[1].split("\n## Passed\n")
        assert "Nothing is found" not in bad, rule.slug
        assert "bar-bad" in bad, rule.slug
        assert "Nothing is found" in good, rule.slug


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_the_reference_with_its_meaning(name: str) -> None:
    """An option without a word of help is not documented."""
    section = commands.page().split(f"\n## runlens {name}\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| <code>(-\S*?)</code>.* \| (.*) \|$", section, re.MULTILINE))
    for option in known_options()[name]:
        assert rows.get(option.opts[0]), f"runlens {name} {option.opts[-1]} has no help"


def test_every_settings_key_is_in_the_annotated_file(tmp_path: Path) -> None:
    """And that file is one that RunLens takes."""
    example = settings_page.example()
    keys = tomllib.loads(example)
    assert set(keys) == set(settings.KEYS)
    assert set(keys["audit"]) == set(settings.OF_AUDIT)
    assert set(keys["silence"][0]) == set(silences.KEYS)
    file = tmp_path / "runlens.toml"
    file.write_text(example, encoding="utf-8")
    assert settings.load(file).limits
    assert example in settings_page.page()


def test_every_limit_is_in_the_table_of_limits() -> None:
    """With the rule it belongs to."""
    page = settings_page.page()
    for rule in EVERY_RULE:
        for name, value in values(rule.limits).items():
            assert f"(rules/{rule.slug}.md) | `{name}` | `{value!r}` |" in page


def test_every_source_is_in_the_table_of_sources() -> None:
    """With what it looks for and who writes it."""
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \| .+ \|$", sources_page.page(), re.MULTILINE)
    assert {name for name, *_ in rows} == {kind_of(reader) for reader in described()}
    assert all(looks_for.strip() and who.strip() for _, looks_for, who in rows)


def test_every_public_name_is_in_the_reference_with_its_docstring() -> None:
    """What `runlens` promises."""
    page = python_api.page()
    for name in runlens.__all__:
        if name.startswith("_"):
            continue
        assert f"\n## {name}\n" in page
        assert inspect.getdoc(getattr(runlens, name)), name


@pytest.mark.parametrize("name", schemas.WRITTEN_BY)
def test_every_top_field_of_the_json_is_in_the_reference(name: str) -> None:
    """With a link to the schema itself."""
    pages = schemas.pages()
    schema = yaml.safe_load(pages[f"reference/{name}.schema.json"])
    section = pages["reference/schemas.md"].split(f"\n## runlens.{name}/1\n")[1].split("\n## ")[0]
    assert f"({name}.schema.json)" in section
    assert [key for key in schema["properties"] if f"| `{key}` |" not in section] == []


def test_every_page_is_in_the_navigation_once_and_every_entry_exists() -> None:
    """A page that nobody finds is none."""
    by_hand = {page.relative_to(written.DOCS).as_posix() for page in written.DOCS.rglob("*.md")}
    made = {"cli", "settings", "python", "schemas", "sources"}
    rules = set(navigated(rule_pages.navigation()))
    every = by_hand | {f"reference/{name}.md" for name in made} | rules | {"gallery/index.md"}
    assert sorted(navigation()) == sorted(every)


@EACH_PAGE
def test_links_lead_somewhere(page: Path) -> None:
    """To a file, or to a page that is made from the code."""
    known = navigation()
    for target in written.links(page):
        place = (page.parent / target).resolve()
        made = place.is_relative_to(written.DOCS) and (
            place.relative_to(written.DOCS).as_posix() in known
        )
        assert place.exists() or made, f"{written.named(page)}: {target}"


@EACH_PAGE
def test_options_that_the_prose_names_exist(page: Path) -> None:
    """Of some command, in backticks."""
    known = {name for options in known_options().values() for one in options for name in one.opts}
    known |= {"--help", "--version"}
    found = {code.split()[0].partition("=")[0] for code in written.inline(page) if code[:2] == "--"}
    assert found - known == set()


@EACH_PAGE
def test_extras_and_make_targets_that_a_page_names_exist(page: Path) -> None:
    """What is installed with pip, and what make is asked for."""
    text = page.read_text(encoding="utf-8")
    project = tomllib.loads((written.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(project["project"]["optional-dependencies"])
    asked = {
        one for some in re.findall(r"runlens-training\[([\w,]+)\]", text) for one in some.split(",")
    }
    assert asked - extras == set()
    makefile = (written.ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    code = "\n".join(block.body for block in written.blocks(page))
    assert set(re.findall(r"^ *make (\w+)", code, re.MULTILINE)) - targets == set()
