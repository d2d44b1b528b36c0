"""A launcher that ends the other processes of a run, once one of them has failed."""

from pathlib import Path

import pytest

from runlens.engine import diagnose
from tests.sources.written import run_of

FAILED = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/me/train.py", line 20, in <module>
[rank0]:     main()
[rank0]: ValueError: hidden states contain NaN values
"""
SIGNALLED = """\
Root Cause (first observed failure):
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 31)
  traceback : Signal 15 (SIGTERM) received by PID 31
"""


@pytest.mark.parametrize(("failed", "blamed"), [(FAILED, False), ("", True)])
def test_its_signal_is_no_cause_where_an_exception_stands(
    tmp_path: Path, failed: str, *, blamed: bool
) -> None:
    """The exception came first; without one nothing else is known."""
    rows = "".join(f"epoch {n} loss {2 / n:.4f}\n" for n in range(1, 4))
    found = diagnose(run_of(tmp_path, "train.log", rows + failed + SIGNALLED))
    causes = [cause.what for one in found.findings for cause in one.causes[:1]]
    assert any("signal from another process" in text.lower() for text in causes) is blamed


@pytest.mark.parametrize(("failed", "blamed"), [(FAILED, False), ("", True)])
def test_the_exit_codes_of_ended_ranks_are_no_cause(
    tmp_path: Path, failed: str, *, blamed: bool
) -> None:
    """The launcher lists them as other failures; alone they are all that is known."""
    rows = "".join(f"epoch {n}/20 loss {2 / n:.4f}\n" for n in range(1, 4))
    listed = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Terminated.\n"
    listed += "Other Failures:\n  exitcode  : -15 (pid: 31)\n"
    found = diagnose(run_of(tmp_path, "train.log", rows + failed + listed))
    causes = [f"{cause}" for one in found.findings for cause in one.causes]
    assert any("SIGTERM" in text for text in causes) is blamed
