"""A log of held-out data beside that of the training: ``valid.log`` and ``train.log``."""

from pathlib import Path

from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.records import Record
from runlens.sources.console.telling import tells

_HELD_OUT = lazy_re(r"(?<![a-z])(val|valid|validation|eval|evaluation|test|dev)(?![a-z])")


def of_held_out(path: Path) -> str:
    """Return what the names of a log begin with whose twin is that of a training: ``val/``.

    So it is where the file is called after what was measured: ``val_loss.txt``, no ``valid.log``.
    """
    found = _HELD_OUT.search(path.stem.lower())
    if not found:
        return ""
    if tells(path.stem):
        return f"{found[1]}/"
    begin, end = found.span()
    twins = (f"{path.name[:begin]}{word}{path.name[end:]}" for word in ("train", "training"))
    return f"{found[1]}/" if any(path.with_name(twin).is_file() for twin in twins) else ""


def held_out(record: Record, prefix: str) -> Record:
    """Return a record with the data in the names of what it measures."""
    names = (
        f"{prefix}{name}" if tells(name) and not classify(name).split else name
        for name in record.names
    )
    return record._replace(names=tuple(names))
