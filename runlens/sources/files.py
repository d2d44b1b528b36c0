"""Reading files that strangers wrote: bounded, and every failure as one line of text.

Nothing here unpickles, executes, follows a link out of the run, or raises for bad content.
"""

import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from runlens.patterns import lazy_re
from runlens.run import Setting

MAX_TEXT = 512 * 2**20  # bytes of one text file that are read
TEXTS = (".log", ".txt", ".out")  # how texts end that a console prints into
SNIFFED = 65_536  # bytes that are looked at before a file counts as a log of rows
FEWEST_ROWS = 3  # in them: else the rows are wide, and more is looked at
WIDEST = 4 * 2**20  # bytes: a row of 300,000 metrics
MAX_CONFIG = 4 * 2**20  # bytes of one configuration file
MAX_DEPTH = 60  # of nested JSON or YAML
MAX_LEAVES = 5_000  # settings taken from one file
MAX_NODES = 20_000  # lists and mappings that settings are taken from
MAX_SETTING = 2_000  # characters kept of one setting
MAX_FOLDERS = 20_000  # folders walked below one place
SQLITE = b"SQLite format 3\0"
# JSON that is no log of rows
OF_OTHERS = {"trainer_state.json", "adapter_config.json", "tokenizer.json", "vocab.json"}
LFS = b"version https://git-lfs"
# how the lines begin in which git marks a conflict, one behind the other, and how long each is
CONFLICT, MARK = ((b"<<<<<<<",), (b"=======", b"|||||||"), (b">>>>>>>",)), 7
IN_CONFLICT = "holds marks of a git conflict; the first side was read"
_CHECKPOINT = lazy_re(r"checkpoint-([0-9]{1,15})")
SKIPPED = {
    ".git", "node_modules", "__pycache__", ".venv", "venv", "site-packages", ".cache",
    ".ipynb_checkpoints",  # older copies
}  # fmt: skip


class Unreadable(Exception):  # noqa: N818 - "raise Unreadable" is a sentence
    """The file's fault, in words for the user."""


def walk(place: Path, only: Collection[str] = ()) -> dict[Path, list[str]]:
    """Map each folder at and below `place` to the sorted names of the regular files in it.

    Links to folders are not followed, links to files only where they stay below `place`. Of what
    lies in `place` itself the names in `only` are looked at; everything where it is empty.
    """
    if not place.is_dir():
        return {place.parent: [place.name]}
    root = place.resolve()
    found: dict[Path, list[str]] = {}
    for folder, folders, names in os.walk(place, onerror=None):
        here = Path(folder)
        wanted = only if only and here == place else {*folders, *names}
        folders[:] = sorted(name for name in folders if name in wanted and name not in SKIPPED)
        found[here] = sorted(
            name for name in names if name in wanted and _regular(here / name, root)
        )
        if len(found) >= MAX_FOLDERS:
            break
    return found


def _regular(path: Path, root: Path) -> bool:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            target = path.resolve(strict=True)
            return target.is_relative_to(root) and target.is_file()
        return stat.S_ISREG(mode)
    except (OSError, RuntimeError, ValueError):
        return False


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read bytes; raise Unreadable, within too, with the reason in words."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("is not a regular file")
        with path.open("rb") as handle:
            yield handle
    except PermissionError:
        raise Unreadable("no permission to read it; try chmod +r, or another user") from None
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror or error})") from None


def read_bytes(path: Path, limit: int = MAX_TEXT) -> bytes:
    """Return the first `limit` bytes; raise Unreadable with the reason in words."""
    with opened(path) as handle:
        data = handle.read(limit)
    if not data:
        raise Unreadable("is empty (0 bytes)")
    if data.startswith(LFS):
        raise Unreadable("is a git-lfs pointer, not the file; run git lfs pull")
    return data


def is_database(path: Path) -> bool:
    """Whether a file is a database of SQLite, whatever it is called."""
    try:
        return read_bytes(path, len(SQLITE)) == SQLITE
    except Unreadable:
        return False


def read_rows(path: Path) -> bytes:
    """Return the first rows of a table: as many bytes as are usual, or more where rows are wide."""
    data = first_side(read_bytes(path, SNIFFED))
    whole = len(data) < SNIFFED or data.count(b"\n") + data.count(b"\r") >= FEWEST_ROWS
    return data if whole else read_bytes(path, WIDEST)


def first_side(data: bytes) -> bytes:
    """Return a text with the first side alone of each conflict that git marked in it.

    Of a text without such marks, or with some of them missing, it is the text itself.
    """
    if any(marks[0] not in data for marks in CONFLICT):
        return data
    kept: list[bytes] = []
    sides = 0  # marks of a conflict above a line; what both had before may stand between the sides
    for line in data.splitlines(keepends=True):
        mark = line[:MARK] if line[MARK : MARK + 1] in b" \r\n" else b""
        if mark in CONFLICT[sides]:
            sides = (sides + 1) % len(CONFLICT)
        elif sides < len(CONFLICT) - 1:
            kept.append(line)
    return data if sides else b"".join(kept)


def read_json(path: Path) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the JSON value in `path`, NaN and Infinity included; raise Unreadable."""
    return parse_json(read_bytes(path, MAX_TEXT))


def parse_json(data: bytes | str) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the JSON value in `data`; raise Unreadable for all that can be wrong with it."""
    try:
        return _parsed(data)
    except MemoryError:
        raise Unreadable("needs more memory than there is") from None


def _parsed(data: bytes | str) -> Any:  # noqa: ANN401 - JSON is of any type
    try:
        return msgspec.json.decode(data)  # in a third of the time; knows no NaN
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _leniently_parsed(data)


def _leniently_parsed(data: bytes | str) -> Any:  # noqa: ANN401 - JSON is of any type
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        return _loaded(text)
    except UnicodeDecodeError:
        raise Unreadable("is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unreadable(f"is no whole JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise Unreadable("is nested too deeply") from None


def _loaded(text: str) -> Any:  # noqa: ANN401 - JSON is of any type
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer of thousands of digits
        return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int | str:
    """Return an integer; one of more digits than Python converts stays a text."""
    try:
        return int(digits)
    except ValueError:
        return digits


def flat(value: Any, prefix: str = "") -> dict[str, Setting]:  # noqa: ANN401 - of any type
    """Flatten nested settings to ``{"trl.beta": 0.1}``.

    Lists of plain values become one string. At most MAX_LEAVES settings are kept, each with at
    most MAX_SETTING characters; what is nested deeper than MAX_DEPTH is left out, and all that
    comes after MAX_NODES lists and mappings (aliases of YAML can repeat an empty one for ever).
    """
    flattener = _Flattener()
    flattener.take(value, prefix, 0)
    return flattener.found


class _Flattener:
    def __init__(self) -> None:
        self.found: dict[str, Setting] = {}
        self._nodes = 0

    def take(self, value: Any, prefix: str, depth: int) -> None:  # noqa: ANN401 - of any type
        if len(self.found) >= MAX_LEAVES or depth > MAX_DEPTH or self._nodes > MAX_NODES:
            return
        if isinstance(value, Mapping):
            self._nodes += 1
            for key, inner in value.items():
                name = str(key)[:MAX_SETTING]
                self.take(inner, f"{prefix}.{name}" if prefix else name, depth + 1)
        elif isinstance(value, list | tuple):
            self._nodes += 1
            self._take_list(value, prefix, depth)
        elif isinstance(value, str):
            self.found[prefix] = value[:MAX_SETTING]
        elif value is None or isinstance(value, bool | int | float):
            self.found[prefix] = value
        else:  # dates and the like
            self.found[prefix] = str(value)[:MAX_SETTING]

    def _take_list(self, value: Sequence[Any], prefix: str, depth: int) -> None:
        if all(isinstance(item, str | int | float | bool) or item is None for item in value):
            shown = ", ".join(str(item)[:MAX_SETTING] for item in value[:100])
            self.found[prefix] = shown[:MAX_SETTING]
        else:
            for number, inner in enumerate(value[:100]):
                self.take(inner, f"{prefix}.{number}", depth + 1)


def step_in_name(name: str) -> int:
    """Return the number in ``checkpoint-1000``; -1 where there is none."""
    found = _CHECKPOINT.fullmatch(name)
    return int(found[1]) if found else -1
