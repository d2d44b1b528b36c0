"""A kill is told by the line that says why; a bare SIGKILL has several senders."""

from pathlib import Path

import pytest

from runlens.engine import diagnose
from tests.sources.written import run_of

ROWS = "".join(f"epoch {n}/20 loss {2 / n:.4f}\n" for n in range(1, 6))
BARE = "/var/lsbatch/17.233: line 8: 38119 Killed    python train.py\n"
MEMORY = "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n"


@pytest.mark.parametrize("told", [MEMORY + ROWS + BARE, ROWS + BARE + MEMORY])
def test_the_scheduler_says_more_than_the_shell(tmp_path: Path, told: str) -> None:
    """Its report stands above the output in its mail, or behind it."""
    found = diagnose(run_of(tmp_path, "train.log", told))
    (killed,) = (one for one in found.findings if one.rule == "killed")
    assert "TERM_MEMLIMIT" in killed.seen
    assert killed.causes[0].kind == "memory"
    assert "more memory than it was granted" in killed.causes[0].what


def test_who_sent_a_bare_signal_is_not_known(tmp_path: Path) -> None:
    """The kernel, the scheduler or a person: none of them is named as likely."""
    found = diagnose(run_of(tmp_path, "train.log", ROWS + BARE))
    (killed,) = (one for one in found.findings if one.rule == "killed")
    assert killed.causes[0].what == "Not known"
    assert "does not say which" in killed.causes[0].evidence_for


def test_a_time_limit_is_no_lack_of_memory(tmp_path: Path) -> None:
    """The same scheduler kills for its hours as well."""
    limit = "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\n"
    found = diagnose(run_of(tmp_path, "train.log", limit + ROWS + BARE))
    (killed,) = (one for one in found.findings if one.rule == "killed")
    assert killed.causes[0].kind == "time-limit"


def test_the_report_of_an_earlier_job_is_not_of_this_one(tmp_path: Path) -> None:
    """A file to which each job adds its report and its output; the second one says nothing."""
    report = "Sender: LSF System <lsfadmin@n1>\n"
    rows = "".join(f"epoch {n}/20 loss {2 / n:.4f}\n" for n in range(6, 21))
    found = diagnose(run_of(tmp_path, "train.log", report + MEMORY + ROWS + report + rows))
    assert not [one for one in found.findings if one.rule == "killed"]
