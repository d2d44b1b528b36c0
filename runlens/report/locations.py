"""Where a finding can be pointed at: a line of a log, else the file that was read."""

from runlens.diagnosis import Diagnosis, Finding
from runlens.patterns import lazy_re
from runlens.records import NamedTuple

_LINE = lazy_re(r"(?P<file>.+\.[A-Za-z0-9]{1,8}|.+/[^/]+):(?P<line>[1-9]\d*)$")


class Location(NamedTuple):
    """A file, and its line where one is known."""

    file: str
    line: int | None = None


def of(finding: Finding, diagnosis: Diagnosis) -> Location | None:
    """Return the log line that a finding cites, else the run's first source; None for neither."""
    cited = [where for where, _, blamed in finding.chart.log if blamed]
    cited += [item.where for item in finding.evidence]
    for where in cited:
        if found := _LINE.fullmatch(where):
            name = found["file"]
            whole = next((path for path in diagnosis.sources if _ends_with(path, name)), name)
            return Location(whole, int(found["line"]))
    return Location(diagnosis.sources[0]) if diagnosis.sources else None


def _ends_with(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")
