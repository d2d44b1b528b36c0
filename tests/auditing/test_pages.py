"""Pages of the runs with a fault: made once, kept while they hold, gone with their runs."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import runlens
from runlens.auditing.pages import FOLDER, with_pages
from runlens.diagnosis import Diagnosis
from runlens.nights import Audit
from runlens.report.html.audit import render as render_audit
from tests.report import audits
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
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Return an audit of three fixtures, two of them faulty."""
    home = tmp_path_factory.mktemp("runs")
    for name in NAMES:
        shutil.copytree(FIXTURES / name, home / "runs" / name)
    return runlens.audit(home / "runs", store=home / "store.db", jobs=1, cache=False)


def test_runs_with_a_fault_get_a_page_and_a_link(audit: Audit, tmp_path: Path) -> None:
    """Healthy ones do not; the links on the page of the audit lead to files."""
    made = with_pages(audit, tmp_path, short, jobs=1)
    loud = [row for row in audit.runs if row.health in {"critical", "warning"}]
    assert set(made.pages) == {row.key for row in loud}
    for row in loud:
        assert (tmp_path / made.pages[row.key]).read_text(encoding="utf-8") == (
            f"{row.name}: {row.verdict}"
        )
    links = [one.attributes["href"] for one in Document(render_audit(made)).all("a")]
    assert {link for link in links if link[0] != "#"} == set(made.pages.values())


def test_a_page_that_holds_is_not_made_again(audit: Audit, tmp_path: Path) -> None:
    """A second time nothing is read, so that not even a broken page maker is noticed."""
    first = with_pages(audit, tmp_path, short, jobs=1)
    assert with_pages(audit, tmp_path, broken, jobs=1).pages == first.pages


def test_a_run_that_changed_gets_another_page_and_the_old_one_goes(
    audit: Audit, tmp_path: Path
) -> None:
    """What is not ours stays, whatever its name."""
    first = with_pages(audit, tmp_path, short, jobs=1)
    kept = tmp_path / FOLDER / "notes.html"
    kept.write_text("mine", encoding="utf-8")
    grown = tuple(replace(row, steps=row.steps + 1) for row in audit.runs)
    second = with_pages(replace(audit, runs=grown), tmp_path, short, jobs=1)
    assert set(second.pages) == set(first.pages)
    assert not set(second.pages.values()) & set(first.pages.values())
    there = {path.name for path in (tmp_path / FOLDER).iterdir()}
    assert there == {"notes.html", *(Path(link).name for link in second.pages.values())}


def test_a_page_that_cannot_be_made_is_no_link(audit: Audit, tmp_path: Path) -> None:
    """Nor is a run that has gone away meanwhile an error."""
    assert with_pages(audit, tmp_path, broken, jobs=1).pages == {}
    assert with_pages(audits.night(), tmp_path, short, jobs=1).pages == audits.night().pages


def test_many_pages_are_made_by_processes(audit: Audit, tmp_path: Path) -> None:
    """Each place is read in one of them."""
    (row, *_) = [one for one in audit.runs if one.health == "critical"]
    homes = [tmp_path / str(number) / Path(row.place).name for number in range(4)]
    for home in homes:
        shutil.copytree(row.place, home)
    runs = tuple(replace(row, key=str(home), place=str(home)) for home in homes)
    made = with_pages(replace(audit, runs=runs), tmp_path, short, jobs=2)
    assert set(made.pages) == {str(home) for home in homes}
