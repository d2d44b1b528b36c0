"""What is published: workflows and forms that GitHub takes, links, what a tag must agree with."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from runlens.version import __version__
from tests.check_release import wrong

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
INPUTS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}


def loaded(path: Path) -> Any:
    """Return a file of YAML."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_one_of_github(path: Path) -> None:
    """By GitHub's own schema; what no step needs is not granted."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    checked = subprocess.run(
        [*command, "vendor.github-workflows", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    assert loaded(path)["permissions"] == {"contents": "read"}


def test_ci_is_the_gate_of_the_project() -> None:
    """One script, here and there."""
    steps = loaded(GITHUB / "workflows" / "ci.yml")["jobs"]["gate"]["steps"]
    assert steps[-1]["run"] == ".ci/run"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_a_release_is_tried_before_it_is_published_without_a_token() -> None:
    """The scripts exist; PyPI is told who publishes by an identity."""
    jobs = loaded(GITHUB / "workflows" / "release.yml")["jobs"]
    said = " ".join(step.get("run", "") for step in jobs["build"]["steps"])
    assert "tests/check_install.py" in said
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_a_case_file(path: Path) -> None:
    """With the fields that GitHub knows, each named once."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    checked = subprocess.run(
        [*command, "vendor.github-issue-forms", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    form = loaded(path)
    assert {"name", "description", "body"} <= set(form)
    assert {part["type"] for part in form["body"]} <= INPUTS
    names = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(names) == len(set(names))
    assert {"case", "version"} <= set(names)
    assert "--share case.json" in path.read_text(encoding="utf-8")


def test_a_tag_must_agree_with_version_changelog_and_links(tmp_path: Path) -> None:
    """Or nothing is published."""
    (tmp_path / "runlens").mkdir()
    for name in ("runlens/version.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    log = tmp_path / "CHANGELOG.md"
    log.write_text(f"# Changelog\n\n## {__version__} (2026-11-22)\n")
    links = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    here = links["Repository"]
    assert list(wrong(f"v{__version__}", here, tmp_path)) == []
    assert len(list(wrong("v9.9.9", here, tmp_path))) == 1
    assert len(list(wrong(f"v{__version__}", "https://github.com/acme/fork", tmp_path))) == 1
    log.write_text("# Changelog\n\n## Unreleased\n")
    assert len(list(wrong(f"v{__version__}", here, tmp_path))) == 1


def test_the_changelog_tells_of_this_version() -> None:
    """Each version once, the newest first; what is not out yet may stand above it."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert [head for head in heads if head != "Unreleased"][:2] == [__version__, "0.1.0"]
    assert len(set(heads)) == len(heads)


def test_the_package_says_who_made_it_and_where_to_ask() -> None:
    """As PyPI shows it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["authors"] == [{"name": "the RunLens authors"}]
    assert {"Repository", "Documentation", "Issues", "Changelog"} <= set(project["urls"])
    assert all(link.startswith(project["urls"]["Repository"]) for link in project["urls"].values())
