"""Pages of the runs with a fault: made once, kept while they hold, gone with their runs."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.auditing.pages import FOLDER, Pages, Render
from runlens.diagnosis import Diagnosis
from runlens.nights import Audit
from runlens.report.html.audit import render as render_audit
from tests.auditing.trees import state, tree
from tests.report.markup import Document

FIXTURES = Path(__file__).parents[2] / "fixtures"
NAMES = ("hockey-stick", "healthy-pretrain", "lr-zero")


def short(diagnosis: Diagnosis) -> str:
    """Return a page of one line."""
    return f"{diagnosis.run_name}: {diagnosis.verdict}"


def broken(_: Diagnosis) -> str:
    """Make no page."""
    raise ValueError("no page today")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three fixtures, two of them faulty."""
    home = tmp_path_factory.mktemp("runs")
    for name in NAMES:
        shutil.copytree(FIXTURES / name, home / "runs" / name)
    return home / "runs"


def night(source: Path | str, folder: Path, render: Render = short, **how: Any) -> Audit:
    """Audit with pages."""
    known: dict[str, Any] = {"store": folder / "a.db", "jobs": 1, "cache": False} | how
    return runlens.audit(source, pages=Pages(str(folder / "site"), render), **known)


def files(folder: Path) -> set[str]:
    """Return the names of the pages that lie there."""
    return {path.name for path in (folder / "site" / FOLDER).iterdir()}


def test_runs_with_a_fault_get_a_page_and_a_link(runs: Path, tmp_path: Path) -> None:
    """Healthy ones do not; the links on the page of the audit lead to files."""
    made = night(runs, tmp_path)
    loud = [row for row in made.runs if row.health in {"critical", "warning"}]
    assert set(made.pages) == {row.key for row in loud}
    assert made.unpaged == 0
    for row in loud:
        assert (tmp_path / "site" / made.pages[row.key]).read_text(encoding="utf-8") == (
            f"{row.name}: {row.verdict}"
        )
    links = [one.attributes["href"] for one in Document(render_audit(made)).all("a")]
    assert {link for link in links if link[0] != "#"} == set(made.pages.values())


def test_a_page_that_holds_is_not_made_again(runs: Path, tmp_path: Path) -> None:
    """Not even a broken page maker is noticed."""
    first = night(runs, tmp_path)
    assert night(runs, tmp_path, broken).pages == first.pages


def test_a_run_that_changed_gets_another_page_and_the_old_one_goes(tmp_path: Path) -> None:
    """What is not ours stays, whatever its name."""
    root = tree(tmp_path / "runs", 3)
    first = night(root, tmp_path)
    (tmp_path / "site" / FOLDER / "notes.html").write_text("mine", encoding="utf-8")
    state(root / "run-02", steps=30, nan_from=20)
    second = night(root, tmp_path)
    assert set(second.pages) == set(first.pages)
    assert not set(second.pages.values()) & set(first.pages.values())
    assert files(tmp_path) == {"notes.html", *(Path(one).name for one in second.pages.values())}


def test_a_page_that_cannot_be_made_is_counted(runs: Path, tmp_path: Path) -> None:
    """It is no link, and no error."""
    made = night(runs, tmp_path, broken)
    assert (made.pages, made.unpaged) == ({}, 2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_new_folder_gets_the_pages_of_old_runs(jobs: int, tmp_path: Path) -> None:
    """As in a job that keeps the store alone."""
    root = tree(tmp_path / "runs", 18)
    first = night(root, tmp_path, jobs=jobs)
    shutil.rmtree(tmp_path / "site")
    again = night(root, tmp_path, jobs=jobs)
    assert again.night.read == 0
    assert len(again.pages) == 6
    assert (again.pages, again.unpaged) == (first.pages, 0)
