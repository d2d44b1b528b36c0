"""`runlens diagnose`: formats, several runs, levels, and nothing written into the run."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from runlens.report.json import schema
from tests.cli.places import SICK, WELL, a_run, digest, lens, shell


def report(*args: str | Path) -> Any:
    """Return the JSON of a diagnosis."""
    return json.loads(lens("diagnose", "--format", "json", *args).stdout)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Return a folder with three runs, one of them without a fault that is loud."""
    for seed, name in enumerate(("alpha", "beta", "gamma")):
        a_run(tmp_path / "runs" / name, seed)
    return tmp_path / "runs"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder of our own, where pages may be written."""
    monkeypatch.chdir(tmp_path)


def test_json_of_one_run_is_an_object_and_of_several_a_list(three: Path) -> None:
    """Both are of the schema."""
    one, some = report(SICK), report(three)
    assert one["verdict"]["health"] == "critical"
    assert [document["run"]["name"] for document in some] == ["alpha", "beta", "gamma"]
    for document in (one, *some):
        jsonschema.validate(document, schema())


def test_json_of_an_unreadable_place_is_an_object_too(tmp_path: Path) -> None:
    """Health unknown, the reason among the problems, exit code 3, the line on stderr."""
    (tmp_path / "trainer_state.json").write_bytes(b"")
    result = lens("diagnose", "--format", "json", tmp_path)
    document = json.loads(result.stdout)
    jsonschema.validate(document, schema())
    assert (result.exit_code, document["verdict"]["health"]) == (3, "unknown")
    assert document["findings"] == []
    assert any("is empty (0 bytes)" in problem["text"] for problem in document["problems"])
    assert "is empty (0 bytes)" in result.stderr


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("markdown", "### Critical: "),
        ("github", "::error title="),
        ("sarif", '{\n "$schema"'),
        ("junit", "<?xml version="),
    ],
)
def test_formats_for_ci_go_to_stdout_alone(form: str, begins: str, three: Path) -> None:
    """No page beside it; several runs are taken without --all; `-o` writes a file."""
    result = lens("diagnose", "--format", form, SICK)
    assert result.exit_code == 0
    assert result.stdout.startswith(begins)
    assert list(Path().glob("runlens-*.html")) == []
    several = lens("diagnose", "--format", form, three, "-o", "all.txt")
    assert (several.exit_code, several.stdout) == (0, "")
    assert all(name in Path("all.txt").read_text() for name in ("alpha", "beta", "gamma"))


@pytest.mark.parametrize("form", ["markdown", "github", "sarif", "junit"])
def test_formats_for_ci_tell_that_nothing_was_read(form: str, tmp_path: Path) -> None:
    """A valid document, exit code 3, the line on stderr."""
    (tmp_path / "trainer_state.json").write_bytes(b"")
    result = lens("diagnose", "--format", form, tmp_path)
    assert result.exit_code == 3
    assert result.stdout.strip()
    assert "is empty (0 bytes)" in result.stderr


def test_github_gets_its_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotations say the worst; the summary of the job has the whole, behind what is there."""
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert lens("diagnose", "--format", "github", SICK).exit_code == 0
    assert Path("summary.md").read_text().startswith("before\n### Critical: ")


def test_full_json_has_what_the_page_shows() -> None:
    """Curves, events, settings and log tail only where they are asked for."""
    extra = {"curves", "events", "settings", "log_tail"}
    assert not extra & report(SICK).keys()
    assert extra <= report(SICK, "--full").keys()


@pytest.mark.parametrize(
    ("place", "level", "code"),
    [
        (SICK, "critical", 1),
        (SICK, "info", 1),
        (WELL, "info", 0),
        (WELL, "critical", 0),
    ],
)
def test_fail_on_counts_the_level_and_all_above(place: Path, level: str, code: int) -> None:
    """The result is printed all the same."""
    result = lens("diagnose", place, "--no-html", "--fail-on", level)
    assert result.exit_code == code
    assert result.stdout


def test_several_runs_give_an_overview_and_one_page(three: Path, tmp_path: Path) -> None:
    """A line a run below the name of the curves, the counts, what they reached, how to go on."""
    result = lens("diagnose", three)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["train", "loss"]
    told = [line.split()[1] for line in lines[1:] if line[:1].isupper()]
    assert told[:3] == ["alpha", "beta", "gamma"]
    assert "3 runs:" in result.stdout
    assert "--run NAME" in lines[-1]
    assert [line.split()[:2] for line in lines if line.startswith("  1. ")] == [["1.", "beta"]]
    (page,) = tmp_path.glob("*.html")
    assert page.read_text(encoding="utf-8").count("<tr data-row=") == 3
    lens("diagnose", three, "--quiet")
    lens("diagnose", three, "--no-html")
    assert list(tmp_path.glob("*.html")) == [page]


def test_pages_that_a_shell_names_among_the_runs_are_left_out(three: Path, tmp_path: Path) -> None:
    """`runlens run*` finds the pages of the call before; alone such a page is wrong usage."""
    runs = sorted(one for one in three.iterdir() if one.is_dir())
    lens("diagnose", *runs)
    (page,) = tmp_path.glob("*.html")
    assert page.name == f"runlens-{three.name}.html"  # of all, not of the first
    again = lens("diagnose", *runs, page)
    assert "3 runs:" in again.stdout
    assert f"{page} is a page of RunLens, not a run; left out" in again.stderr.replace("\n", "")
    alone = lens("diagnose", page)
    assert (alone.exit_code, "is a page that RunLens wrote" in alone.stderr) == (2, True)


def test_run_chooses_one_and_all_gives_each_in_full(three: Path, tmp_path: Path) -> None:
    """Each with its page."""
    chosen = lens("diagnose", three, "--run", "beta")
    assert chosen.stdout.split()[1] == "beta"
    assert [page.name for page in tmp_path.glob("*.html")] == ["runlens-beta.html"]
    every = lens("diagnose", three, "--all")
    assert every.stdout.count("checks passed") == 3
    assert len(list(tmp_path.glob("*.html"))) == 3


def test_unknown_run_suggests_the_nearest(three: Path) -> None:
    """Wrong usage, in one sentence."""
    result = lens("diagnose", three, "--run", "gama")
    assert result.exit_code == 2
    assert "no run 'gama' here; did you mean 'gamma'?" in result.stderr


def test_forty_runs_are_forty_lines(tmp_path: Path) -> None:
    """None is lost, none is merged with its sibling."""
    for seed in range(40):
        a_run(tmp_path / "sweep" / f"run-{seed:02}", seed)
    result = lens("diagnose", tmp_path / "sweep")
    assert "40 runs:" in result.stdout
    lines, board = result.stdout.split("\n40 runs:")
    assert sum("run-" in line for line in lines.splitlines()) == 40
    assert "and 10 more: -v" in board


def test_output_takes_the_page_or_the_format(tmp_path: Path) -> None:
    """-o FILE names the page beside the text; with --format it takes that format."""
    shown = lens("diagnose", SICK, "-o", "page.html")
    assert shown.stdout.startswith("CRITICAL")
    assert (tmp_path / "page.html").read_text().lower().startswith("<!doctype html>")
    assert lens("diagnose", SICK, "--format", "json", "-o", "d.json").stdout == ""
    assert json.loads((tmp_path / "d.json").read_text())["run"]["name"] == "divergence"
    assert lens("diagnose", SICK, "--format", "text", "-o", "d.txt").stdout == ""
    assert (tmp_path / "d.txt").read_text().startswith("CRITICAL")


def test_a_page_goes_to_stdout_for_a_dash(tmp_path: Path) -> None:
    """The page alone, and no file."""
    page = shell("diagnose", SICK, "--format", "html", "-o", "-", cwd=tmp_path)
    assert page.stdout.lower().startswith(b"<!doctype html>")
    assert page.stderr == b""
    assert not list(tmp_path.iterdir())


def test_text_in_a_file_has_no_colour(tmp_path: Path) -> None:
    """Colour is for terminals, even where the terminal asks for it."""
    lens("diagnose", SICK, "--format", "text", "-o", "d.txt", FORCE_COLOR="1")
    assert "\x1b" not in (tmp_path / "d.txt").read_text()


@pytest.mark.parametrize("output", ["no/such/folder/page.html", "."])
def test_a_page_that_cannot_be_written_is_one_sentence(output: str) -> None:
    """With the reason and what to do, exit code 2."""
    result = lens("diagnose", SICK, "-o", output)
    assert result.exit_code == 2
    assert "cannot write" in result.stderr
    assert "-o" in result.stderr


def test_no_html_and_quiet_write_no_page(tmp_path: Path) -> None:
    """Quiet is the verdict in one line."""
    lens("diagnose", SICK, "--no-html")
    quiet = lens("diagnose", SICK, "-q")
    assert len(quiet.stdout.splitlines()) == 1
    assert quiet.stdout.startswith("CRITICAL divergence: Train loss diverged from step")
    assert quiet.stderr == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("inside", ["", "deeper/folder"])
def test_inside_a_run_the_page_goes_to_the_parent(
    inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is ever written into the run, wherever the user stands."""
    run = a_run(tmp_path / "outer" / "mine")
    (run / "deeper" / "folder").mkdir(parents=True)
    before = digest(run)
    monkeypatch.chdir(run / inside)
    assert lens("diagnose", *([run] if inside else [])).exit_code == 0
    assert [page.name for page in (tmp_path / "outer").glob("*.html")] == ["runlens-mine.html"]
    assert digest(run) == before


def test_two_runs_of_one_name_get_two_pages(tmp_path: Path) -> None:
    """The second does not overwrite the first."""
    places = [a_run(tmp_path / parent / "same", seed) for seed, parent in enumerate("ab")]
    lens("diagnose", *places, "--all")
    names = {page.name for page in tmp_path.glob("*.html")}
    assert names == {"runlens-same.html", "runlens-same~2.html"}


def test_one_page_file_is_refused_for_several_runs(three: Path) -> None:
    """It would hold only the last one."""
    result = lens("diagnose", three, "--all", "-o", "page.html")
    assert result.exit_code == 2
    assert "several runs" in result.stderr


@pytest.mark.parametrize("command", ["diagnose", "sources", "export"])
def test_no_command_changes_the_run(command: str, tmp_path: Path) -> None:
    """Not a byte, not a name, not a time."""
    before = digest(SICK)
    more = ["-o", str(tmp_path / "frame.csv")] if command == "export" else []
    assert lens(command, str(SICK), *more).exit_code == 0
    assert digest(SICK) == before


def test_preview_rules_are_asked_only_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule on trial neither alarms nor counts without --preview."""
    from dataclasses import replace

    from runlens import engine
    from runlens.rules.loss.divergence import RULE

    monkeypatch.setattr(engine.diagnose, "__defaults__", ((replace(RULE, preview=True),),))
    assert "divergence" not in {finding["rule"] for finding in report(SICK)["findings"]}
    assert "divergence" in {finding["rule"] for finding in report(SICK, "--preview")["findings"]}


def test_silences_that_are_over_or_unused_are_said(tmp_path: Path) -> None:
    """On stderr; the result stays the same."""
    silence = "[[silence]]\nrule = '{}'\nreason = 'known'\nuntil = {}\n"
    text = silence.format("plateau", "2020-01-01") + silence.format("sawtooth", "9999-01-01")
    (tmp_path / "runlens.toml").write_text(text)
    result = lens("diagnose", SICK, "--no-html")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "runlens: the silence of plateau until 2020-01-01 is over; its rule alarms again",
        "runlens: the silence of sawtooth until 9999-01-01 matched no finding",
    ]
