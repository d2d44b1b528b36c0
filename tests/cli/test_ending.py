"""How the program ends when a part of it fails, or nobody takes what it writes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runlens import engine, incidents, plugins
from tests.cli.places import SICK, lens
from tests.plugged import RULE, install

FULL = Path("/dev/full")  # whose every write fails as that on a full disk
COMMANDS = [
    ["diagnose", SICK, "--no-html"],
    ["diagnose", SICK, "--format", "json"],
    ["diagnose", SICK, "-q"],
    ["sources"],
    ["--help"],
]


def failing(*_: object) -> object:
    """Fail as code of ours might."""
    raise ZeroDivisionError("by\nitself")


def test_a_fault_is_one_line_and_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No gate of CI may take it for a finding, whose code is 1."""
    monkeypatch.setattr(incidents, "merged", failing)
    result = lens("diagnose", SICK, "--no-html", "--fail-on", "critical")
    assert result.exit_code == 70
    assert result.stdout == ""
    assert result.stderr.startswith("runlens: ZeroDivisionError: by\\nitself (test_ending.py:")
    assert result.stderr.count("\n") == 1
    assert "report it with what --traceback shows" in result.stderr


@pytest.mark.parametrize("place", ["before", "behind"])
def test_its_traceback_is_shown_where_it_is_asked_for(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the option stands before the command or at its end; the code is the same."""
    monkeypatch.setattr(incidents, "merged", failing)
    words = ["diagnose", str(SICK), "--no-html"]
    result = lens(*(["--traceback", *words] if place == "before" else [*words, "--traceback"]))
    assert result.exit_code == 70
    assert "Traceback (most recent call last)" in result.stderr
    assert "Traceback" not in lens(*words).stderr


def test_what_was_survived_has_its_traceback_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The diagnosis is complete but for that part, and its code is that of the findings."""
    monkeypatch.setattr(engine, "epoch_ends", failing)
    result = lens("diagnose", SICK, "--no-html", "--fail-on", "critical", "--traceback")
    assert result.exit_code == 1
    told = " ".join(result.stdout.split())
    assert "! The report could not be completed (ZeroDivisionError" in told
    assert "Traceback (most recent call last)" in result.stderr


def test_too_little_memory_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seldom our fault."""

    def hungry(*_: object) -> object:
        raise MemoryError

    monkeypatch.setattr(incidents, "merged", hungry)
    result = lens("diagnose", SICK, "--no-html")
    assert (result.exit_code, result.stderr[:38]) == (70, "runlens: there is not enough memory; a")


@pytest.mark.skipif(not FULL.exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("closed", [False, True])
def test_a_stdout_that_takes_nothing_is_one_line(words: list[str | Path], closed: bool) -> None:
    """A disk that is full, a stdout that is closed: exit code 74, not that of a finding."""
    with FULL.open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "runlens", *map(str, words)],
            stdout=full,
            stderr=subprocess.PIPE,
            preexec_fn=(lambda: os.close(1)) if closed else None,
            check=False,
            timeout=60,
        )
    assert ended.returncode == 74, ended.stderr
    (line,) = ended.stderr.decode().splitlines()
    why = "Bad file descriptor" if closed else "No space left on device"
    assert line.startswith(f"runlens: cannot write to stdout: {why}")


def test_a_closed_stdout_is_no_matter_where_nothing_is_written(tmp_path: Path) -> None:
    """As where a scheduler closes it, and the result goes to a file."""
    page = tmp_path / "x.json"
    words = ["diagnose", SICK, "--format", "json", "-o", page]
    ended = subprocess.run(
        [sys.executable, "-m", "runlens", *map(str, words)],
        preexec_fn=lambda: os.close(1),
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert page.read_text().startswith("{")


@pytest.mark.parametrize(
    "body",
    ["while True: pass", "import time; time.sleep(600)", "import re; re.match('(a+)+b', 'a' * 40)",
     "while True:\n        try:\n            time.sleep(600)\n        except Exception: pass"],
)  # fmt: skip
def test_a_rule_that_hangs_is_given_up(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are asked, and the report names it."""
    monkeypatch.setattr("runlens.added_rules.ASKED", 0.3)
    code = RULE.replace("{slug}", "too-high").replace(
        "def check(run, signals, limits):",
        f"import time\ndef check(run, signals, limits):\n    {body}",
    )
    install(tmp_path, monkeypatch, "rules", f"{code}OFFER = RULE\n")
    began = time.monotonic()
    made = engine.diagnose(SICK)
    assert "TimeoutError: given up after 0.3 s" in made.reasons("error")["too-high"]
    assert made.findings
    assert time.monotonic() - began < 20


def test_a_plugin_that_hangs_while_it_is_loaded_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a problem, as one that cannot be imported."""
    monkeypatch.setattr(plugins, "ASKED", 0.3)
    origin = install(tmp_path, monkeypatch, "rules", "while True: pass\n")
    told = [one for one in engine.diagnose(SICK).problems if one.where == origin]
    assert told[0].text == "cannot be loaded: TimeoutError: given up after 0.3 s"


@pytest.mark.parametrize("part", ["find", "read"])
def test_a_reader_of_others_that_hangs_is_given_up(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it claims is lost, the rest is read."""
    monkeypatch.setattr("runlens.sources.added.ASKED", 0.3)
    monkeypatch.setattr("runlens.sources.added.READING", 0.3)
    hangs = "\n    while True: pass"
    code = "LOOKS_FOR = FRAMEWORK = 'x'\n" + "".join(
        f"def {name}({given}):{hangs if name == part else back}\n"
        for name, given, back in (
            ("find", "place, names", "\n    return [place / 'own.steps']"),
            ("read", "path", "\n    pass"),
        )
    )
    install(
        tmp_path, monkeypatch, "sources", f"{code}\nimport sys\nOFFER = sys.modules[__name__]\n"
    )
    problems = [one.text for one in engine.diagnose(SICK).problems]
    assert any("TimeoutError: given up after 0.3 s" in text for text in problems)


def test_the_timer_of_others_is_left_alone() -> None:
    """A limit is lifted when its work is done; where another timer runs, that one counts."""
    with plugins.time_limit(5):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 4
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    signal.setitimer(signal.ITIMER_REAL, 50)
    try:
        with plugins.time_limit(5):
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 40
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 40
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_how_long_others_are_given_is_documented() -> None:
    """Whoever writes a rule that takes long finds it there."""
    page = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
    assert f"{plugins.ASKED:g} seconds" in page
    assert f"{plugins.READING / 60:g} minutes" in page
