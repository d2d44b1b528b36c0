"""The verdict of LSF on a job, above or below the output of the job."""

import pytest

from runlens.sources.console.batch_mail import tells_the_end

REPORT = "Sender: LSF System <lsfadmin@n1>"
VERDICT = "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit."


@pytest.mark.parametrize(
    ("lines", "at", "told"),
    [
        ([REPORT, VERDICT, "loss 0.5"], 1, True),  # the rows of the job follow its report
        ([REPORT, VERDICT, "loss 0.5", REPORT, "loss 0.4"], 1, False),  # an earlier job's
        ([REPORT, "Killed", "loss 0.5"], 1, False),
    ],
)
def test_a_verdict_is_of_the_last_job_of_a_file(lines: list[str], at: int, *, told: bool) -> None:
    """Each job may add its own report to the file of `bsub -o`."""
    assert tells_the_end(lines, at) is told
