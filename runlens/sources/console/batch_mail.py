"""The report of LSF, which stands above the output of the job that it tells the end of."""

from collections.abc import Sequence

from runlens.patterns import lazy_re

_VERDICT = lazy_re(r"\s*TERM_[A-Z]+: job killed\b")
_REPORT = lazy_re(r"Sender: LSF System\b")


def tells_the_end(lines: Sequence[str], at: int) -> bool:
    """Whether a line is LSF's verdict on the last job of a file, to which each job may add its own.

    Where the report is a mail or the file of `bsub -o`, the rows of the job follow it.
    """
    if not _VERDICT.match(lines[at]):
        return False
    return not any(_REPORT.match(line) for line in lines[at + 1 :])
