"""A log of held-out data beside that of the training: ``valid.log`` and ``train.log``."""

from collections.abc import Iterable
from pathlib import Path

from runlens.metrics import naming
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.records import Record
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number
from runlens.sources.tables.names import SPLITS
from runlens.sources.tables.unnamed import UNNAMED
from runlens.sources.tags import held_out_folder

FEWEST = 5  # rows
LARGEST = 2**20  # bytes of a log of epochs
_APART = lazy_re(r"[,;\s]+")
_VALIDATION = lazy_re(r"(?:logs?[ _.-])?(?:val|valid|validation)(?:[ _.-]?logs?)?")
_OF_STEPS = {"learning_rate", "grad_norm"}
_HELD_OUT = lazy_re(r"(?<![a-z])(val|valid|validation|eval|evaluation|test|dev)(?![a-z])")


def of_held_out(path: Path, records: Iterable[Record]) -> str:
    """Return what the names of a log begin with whose twin is that of a training: ``val/``.

    So it is where the file is called after what was measured, ``val_loss.txt``; and where it is
    called after the data alone, ``valid.log``, and no name in it says of which data it is, or of a
    step of the optimizer. A ``test.log`` may be that of a trial.
    """
    found = _HELD_OUT.search(path.stem.lower())
    if not found:
        return f"{data}/" if (data := held_out_folder(path)) else ""
    if tells(path.stem):
        return f"{found[1]}/"
    if _VALIDATION.fullmatch(path.stem.lower()) and not _of_training(records):
        return f"{found[1]}/"
    begin, end = found.span()
    twins = (f"{path.name[:begin]}{word}{path.name[end:]}" for word in ("train", "training"))
    return f"{found[1]}/" if any(path.with_name(twin).is_file() for twin in twins) else ""


def _of_training(records: Iterable[Record]) -> bool:
    """Whether a name in a log says that it tells of training too, or which data each is of."""
    names = {name for record in records for name in record.names}
    said = [(classify(name), naming(name).metric) for name in names]
    return any(meaning.split or ours in _OF_STEPS for meaning, ours in said)


def of_both_data(path: Path) -> bool:
    """Whether a file of rows of numbers has a twin of other data with as many: ``train.txt``.

    A log has a row an epoch of both. A set of data has more to train on than to test with.
    """
    if path.stem.lower() not in SPLITS:
        return False
    others = (path.with_stem(word) for word in SPLITS if word != path.stem.lower())
    mine = _shape(path)
    return mine > (FEWEST, 1) and any(_shape(twin) == mine for twin in others if twin.is_file())


def _shape(path: Path) -> tuple[int, int]:
    """Return how many rows and columns of measured numbers a small file has; 0 of any other."""
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size <= LARGEST else ""
    except (OSError, UnicodeDecodeError):
        return 0, 0
    rows = [_APART.split(line.strip()) for line in text.splitlines() if line.strip()]
    width = {len(row) for row in rows}
    known = len(width) == 1 and all(as_number(cell) is not None for row in rows for cell in row)
    return (len(rows), width.pop()) if known and "." in text else (0, 0)


def held_out(record: Record, prefix: str) -> Record:
    """Return a record with the data in the names of what it measures."""
    names = (
        f"{prefix}{name}" if _measures(name) and not classify(name).split else name
        for name in record.names
    )
    return record._replace(names=tuple(names))


def _measures(name: str) -> bool:
    """Whether a name is of what was measured: one that tells, or none but a number."""
    return tells(name) or name.startswith(UNNAMED)
