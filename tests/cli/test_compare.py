"""`runlens compare`: two runs or more on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.places import FIXTURES, a_run, digest, lens

PAIRS = FIXTURES / "pairs"
A, WORSE, OTHER = PAIRS / "q10a", PAIRS / "q12b", PAIRS / "q18b"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_text_goes_to_stdout_and_a_page_beside(tmp_path: Path) -> None:
    """The runs stay as they were."""
    before = digest(PAIRS / "q10a")
    result = lens("compare", A, WORSE)
    assert result.exit_code == 0
    assert "B WORSE" in result.stdout
    assert "Report: runlens-q10a-q12b.html" in result.stderr
    assert (tmp_path / "runlens-q10a-q12b.html").read_text().startswith("<!doctype html>")
    assert digest(PAIRS / "q10a") == before


@pytest.mark.parametrize(
    ("level", "b", "code"),
    [
        ("worse", WORSE, 1),
        ("worse", A, 0),
        ("worse", OTHER, 0),
        ("not_comparable", OTHER, 1),
        ("not_comparable", WORSE, 1),
    ],
)
def test_fail_on_is_for_ci(level: str, b: Path, code: int) -> None:
    """Worse alone, or what does not compare as well."""
    assert lens("compare", A, b, "--fail-on", level, "--quiet").exit_code == code


def test_formats_go_alone_to_stdout_or_a_file(tmp_path: Path) -> None:
    """Nothing else is written."""
    document = json.loads(lens("compare", A, WORSE, "--format", "json").stdout)
    assert document["verdict"]["result"] == "worse"
    assert lens("compare", A, WORSE, "--format", "markdown").stdout.startswith("### B worse")
    assert lens("compare", A, WORSE, "--format", "text", "-o", tmp_path / "t.txt").stdout == ""
    assert "B WORSE" in (tmp_path / "t.txt").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]
    assert lens("compare", A, WORSE, "--format", "html", "-o", "-").stdout.startswith("<!doctype")


def test_one_run_is_no_comparison() -> None:
    """Exit code 2, and what to type."""
    result = lens("compare", A)
    assert result.exit_code == 2
    assert "runlens compare A B" in result.stderr


def test_an_unreadable_side_is_one_line(tmp_path: Path) -> None:
    """Exit code 3, with the place."""
    (tmp_path / "empty").mkdir()
    result = lens("compare", A, tmp_path / "empty")
    assert result.exit_code == 3
    assert len(result.stderr.splitlines()) == 1
    assert "empty" in result.stderr


def test_an_axis_that_is_not_known_is_one_line() -> None:
    """Exit code 2, with what to do."""
    result = lens("compare", PAIRS / "p01a", PAIRS / "p02b", "--align", "time")
    assert result.exit_code == 2
    assert "cannot align by time" in result.stderr


def test_several_runs_in_one_place_are_named_behind_a_hash(tmp_path: Path) -> None:
    """A sweep in one folder."""
    for seed in (1, 2):
        a_run(tmp_path / "sweep" / f"run-{seed}", seed)
    result = lens("compare", "sweep#run-1", "sweep#run-2", "--no-html")
    assert result.exit_code == 0
    assert "A  run-1" in result.stdout
    assert "#run-1" in lens("compare", "sweep", A).stderr


def test_inside_a_run_the_page_goes_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is ever written into a run."""
    one, two = a_run(tmp_path / "one", 1), a_run(tmp_path / "two", 2)
    monkeypatch.chdir(one)
    assert lens("compare", ".", two).exit_code == 0
    assert [path.name for path in one.iterdir()] == ["trainer_state.json"]
    assert list(tmp_path.glob("runlens-*.html"))


def test_repeats_give_the_noise() -> None:
    """By a glob pattern."""
    result = lens("compare", A, WORSE, "--seeds", PAIRS / "q8*a", "--no-html")
    assert result.exit_code == 0
    assert "between 3 repeats with other seeds" in " ".join(result.stdout.split())
