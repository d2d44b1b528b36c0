"""A fault of RunLens in one part is told, and costs no more than that part."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from runlens import diagnose, engine, faults, incidents, metrics, read_all
from runlens.cli.formats import FOR_MACHINES, rendered
from runlens.errors import NothingReadable
from runlens.report import html, text
from runlens.report.html import page
from runlens.report.terminal import Options
from runlens.run import Problem
from runlens.sources import console, trainer_state
from runlens.sources.merging import group, likeness, merge
from runlens.sources.tables import jsonl_log
from tests.cli.places import FIXTURES, SICK, a_run

REPORT = "an internal fault: please report it with what --traceback shows"


class BugError(Exception):
    """What nobody foresaw."""


def bug(*_: object, **__: object) -> NoReturn:
    """Fail as code of ours might."""
    raise BugError("by itself")


def two_sources(folder: Path) -> Path:
    """Write a run with a log of other metrics beside it."""
    a_run(folder)
    rows = ({"step": 10 * n, "reward": n / 9, "entropy": 2 - n / 99} for n in range(1, 20))
    (folder / "metrics.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def told(problems: object) -> list[str]:
    """Return the problems that are faults of ours."""
    return [line for line in map(str, problems) if REPORT in line]  # type: ignore[call-overload]


@pytest.mark.parametrize("what", ["find", "read"])
def test_a_reader_that_fails_leaves_the_others(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is named, with the line of code and what to do."""
    monkeypatch.setattr(jsonl_log, what, bug)
    (run,) = read_all(two_sources(tmp_path))
    assert "train_loss" in run.history.metrics
    (problem,) = told(run.problems)
    assert "BugError: by itself (test_faults.py:" in problem
    assert ("metrics.jsonl" if what == "read" else jsonl_log.LOOKS_FOR) in problem


def test_a_reader_that_fails_alone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing could be read, and the reason is the fault."""
    monkeypatch.setattr(trainer_state, "read", bug)
    with pytest.raises(NothingReadable, match=re.escape(REPORT)):
        read_all(a_run(tmp_path))


def test_a_log_from_a_pipe_is_guarded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader is chosen by the content there."""
    monkeypatch.setattr(console, "read_all", bug)
    with (FIXTURES / "hockey-stick" / "train.log").open() as log:
        monkeypatch.setattr("sys.stdin", log)
        with pytest.raises(NothingReadable, match=re.escape(REPORT)):
            read_all("-")


def test_a_name_that_cannot_be_understood_stays_as_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other metrics have theirs."""

    def failing(logged: str, framework: str = "") -> object:
        return bug() if logged == "reward" else metrics.naming(logged, framework)

    monkeypatch.setattr(likeness, "naming", failing)
    (run,) = read_all(two_sources(tmp_path))
    assert {"reward", "train_loss"} <= set(run.history.metrics)
    assert "reward keeps its name" in told(run.problems)[0]


@pytest.mark.parametrize(
    ("module", "what", "lost"),
    [
        (group, "_grouped", set()),
        (merge, "aligned", set()),
        (merge, "_alone", {"train_loss", "grad_norm", "reward", "entropy"}),
    ],
)
def test_merging_that_fails_leaves_what_was_read(
    module: object, what: str, lost: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources that cannot be joined are runs of their own; a metric costs itself."""
    real = getattr(module, what)

    def failing(some: object, *more: object) -> object:
        alone = what == "aligned" and len(some) == 1  # type: ignore[arg-type]
        return real(some, *more) if alone else bug()

    monkeypatch.setattr(module, what, failing)
    place = two_sources(tmp_path)
    if lost:
        with pytest.raises(NothingReadable, match="no metric"):
            read_all(place)
        return
    runs = read_all(place)
    assert {"train_loss", "reward"} <= {name for run in runs for name in run.history.metrics}
    assert any(told(run.problems) for run in runs)


@pytest.mark.parametrize("form", FOR_MACHINES)
def test_a_diagnosis_that_cannot_be_written_leaves_the_others(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named on stderr, and in all formats that name healthy runs as well."""
    whole = replace(diagnose(SICK), run_name="whole")
    broken = replace(whole, run_name="broken", incidents=(None,), verdict=None)  # type: ignore[arg-type]
    written = rendered(form, [whole, broken], full=False)
    assert "whole" in written
    assert ("broken" in written) == (form != "github")
    assert "runlens: broken could not be written: AttributeError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "part", "lost"),
    [
        (engine, "_curves", "all curves"),
        (engine, "epoch_ends", "epochs"),
        (incidents, "setting_rows", "all settings"),
    ],
)
def test_a_part_of_the_diagnosis_that_fails_is_a_problem(
    module: object, part: str, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The findings are the same."""
    whole = diagnose(SICK)
    monkeypatch.setattr(module, part, bug)
    made = diagnose(SICK)
    assert [one.rule for one in made.findings] == [one.rule for one in whole.findings]
    assert [one.lost for one in made.problems if REPORT in one.text] == [lost]


SHORT = ("_why", "_steps", "_others")  # parts of the short report


@pytest.mark.parametrize(
    "part", ["what_was_read", "do_first", "_curves", "findings", "all_checks", *SHORT]
)
def test_a_part_of_the_text_that_fails_says_so(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict stands above it."""
    made = diagnose(SICK)
    monkeypatch.setattr(text, part, bug)
    shown = text.render(made, Options(width=120, verbose=part not in SHORT))
    assert "! cannot be shown: BugError: by itself" in shown
    assert made.verdict.sentence[:20] in shown


@pytest.mark.parametrize(
    "part", ["verdict", "do_first", "key_figures", "timeline_figure", "timeline", "incidents",
             "checks", "multiples", "settings", "log", "problems", "provenance"],
)  # fmt: skip
def test_a_part_of_the_page_that_fails_says_so(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them alone; the others are there."""
    made = diagnose(SICK)
    made = replace(made, log_tail=("the end",), problems=(Problem("train.log", "is cut"),))
    monkeypatch.setattr(page, part, bug)
    shown = html.render(made)
    anchors = set(re.findall(r'<section[^>]* id="([\w-]+)"', shown))
    assert {"timeline", "checks", "provenance"} <= anchors
    assert ("This part cannot be shown: BugError" in shown) == (part != "timeline_figure")


def test_what_was_survived_is_kept_for_a_report() -> None:
    """With its traceback, and not for ever."""
    faults.forget()
    for _ in range(faults.KEPT + 5):
        assert "BugError: by itself" in faults.survived(bug, lambda told: told)
    kept = faults.caught()
    assert len(kept) == faults.KEPT
    assert kept[0].__traceback__
    faults.forget()
    assert faults.caught() == ()


def test_what_a_user_can_cause_is_no_fault() -> None:
    """It goes on to whoever tells it."""
    faults.forget()

    def unreadable() -> None:
        raise NothingReadable("x", "is empty")

    with pytest.raises(NothingReadable):
        faults.survived(unreadable, lambda _: None)
    assert faults.caught() == ()


def test_huge_values_warn_nobody(tmp_path: Path) -> None:
    """Every warning of numpy is an error in these tests; overflow is infinity, and told as that."""
    began = time.process_time()
    values = ("1e308", "-1e308", "1e-308", "1.7e308", "5e-324", "1e300")
    for column in ("step", "epoch", "loss", "grad_norm", "learning_rate", "l"):
        rows = [{"step": n, "epoch": n / 5, "loss": 3 - n / 9, "grad_norm": 1.0} for n in range(20)]
        lines = [json.dumps(row | {column: 0}).replace(": 0}", f": {values[n % 6]}}}")
                 for n, row in enumerate(rows)]  # fmt: skip
        (tmp_path / "metrics.jsonl").write_text("\n".join(lines))
        (tmp_path / "0.monitor.csv").write_text(
            '#{"t_start": 1.7e9}\nr,l,t\n' + "".join(f"{v},1,{v}\n" for v in values)
        )
        a_run(tmp_path)
        for run in read_all(tmp_path):
            made = diagnose(run, preview=True)
            assert made.reasons("error") == {}
            text.render(made, Options(verbose=True))
            html.render(made)
    assert faults.caught() == ()
    assert time.process_time() - began < 60
