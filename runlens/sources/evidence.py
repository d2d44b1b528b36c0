"""Files that tools of GPUs leave beside a run, which no metric can be read from: what they are.

A trace of PyTorch's profiler, a snapshot of CUDA's memory, a dump of NCCL's flight recorder. The
last two may be pickles: they are told by their bytes and never opened, as that could run code.
"""

from pathlib import Path

from runlens.records import NamedTuple

HEAD = 65_536  # bytes in which the marks of a kind stand
LIKELY = (".json", ".gz", ".pickle", ".pkl", "")


class Kind(NamedTuple):
    """One kind of file: the words in it that nothing else has all of, and what is said of it."""

    marks: tuple[bytes, ...]
    said: str


KINDS = (
    Kind(
        (b'"traceEvents"',),
        "is a trace of PyTorch's profiler, without a metric by step; open it in ui.perfetto.dev",
    ),
    Kind(
        (b"device_traces", b"segments"),
        "is a snapshot of CUDA's memory: a pickle, which is not opened as it could run code; "
        "docs.pytorch.org/memory_viz shows it",
    ),
    Kind(
        (b"profiling_name", b"entries"),
        "is a dump of NCCL's flight recorder, without a metric by step; torchfrtrace on the dumps "
        "of all ranks says which rank hangs in which collective",
    ),
)


def what(path: Path) -> str:
    """Say in a clause what a file is, empty where it is no such file."""
    if path.suffix.lower() not in LIKELY:
        return ""
    try:
        with path.open("rb") as handle:
            head = handle.read(HEAD)
    except OSError:
        return ""
    if head.startswith(b"\x1f\x8b"):
        return KINDS[0].said if path.name.endswith(".trace.json.gz") else ""
    return next((kind.said for kind in KINDS if all(mark in head for mark in kind.marks)), "")
