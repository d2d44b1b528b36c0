"""Which RunLens read a run, and which one judged it: what was made by another is made again.

Both are digests of our own files and of the user's files of rules, so that a changed reader or rule
counts without anybody having to raise a number; of installed plugins the version counts.
"""

from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

import runlens
from runlens.plugins import Group, points
from runlens.settings import Settings
from runlens.version import __version__

READING = ("sources", "redaction", "config_keys.py", "history.py", "metrics.py", "run.py")
GROUPS: tuple[Group, ...] = ("runlens.sources", "runlens.rules")
UNJUDGED = ("cli", "demo", "report")  # neither reads nor judges a run


def reading(settings: Settings) -> str:
    """Return what names the readers and the columns that the user told them of."""
    columns = msgspec.json.encode(sorted(settings.columns.items()))
    return _digest(_files(READING), columns, _plugins("runlens.sources"))


def judging(settings: Settings) -> str:
    """Return what names the rules, their limits and what else decides a judgment."""
    own = msgspec.json.encode(replace(settings, routes=()), order="deterministic")
    files = [_content(file) for file in settings.rule_files]
    return _digest(_files(()), own, *map(_plugins, GROUPS), *files)


def _plugins(group: Group) -> bytes:
    """Return what names the installed plugins of a group; nothing where there are none."""
    return "\n".join(f"{one.origin} {one.value}" for one in points(group)).encode()


def _content(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError:
        return b""


def _digest(*parts: bytes) -> str:
    return sha256(b"\0".join(parts)).hexdigest()[:16]


@lru_cache
def _files(only: tuple[str, ...]) -> bytes:
    """Return a digest of our files: of `only` these, or of all that read or judge."""
    found = sha256(__version__.encode())
    package = Path(runlens.__file__).parent
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        if path.suffix not in {".py", ".tsv"} or inside.parts[0] in UNJUDGED:
            continue
        if not only or inside.parts[0] in only:
            found.update(inside.as_posix().encode() + b"\0" + path.read_bytes())
    return found.digest()
