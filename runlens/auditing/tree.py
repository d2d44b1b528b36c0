"""A tree of folders as it lies on disk: names, sizes and times, and a stamp of any part of it."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from runlens.sources.files import SKIPPED

MOST_DEEP = 100  # folders within folders; the readers' files lie within ten
MOST_COUNTED = 64 * 2**20  # bytes of one file that make a run dear to read
# weights change without a word about the run, and are never read
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".npz", ".distcp")


@dataclass(slots=True)
class File:
    """A regular file."""

    name: str
    size: int  # bytes
    changed: int  # ns since 1970


@dataclass(slots=True)
class Folder:
    """A folder with all that lies in it, in order of names."""

    path: str  # as the user's place goes on
    name: str
    files: list[File] = field(default_factory=list)
    folders: list["Folder"] = field(default_factory=list)
    closed: bool = False  # nobody may look into it

    def walk(self) -> Iterator["Folder"]:
        """Yield the folder and all below it."""
        yield self
        for folder in self.folders:
            yield from folder.walk()


def scanned(place: str) -> Folder:
    """Return the tree at a place; links to folders are not followed, nor links out of it."""
    root = Folder(place, Path(place).name)
    home = os.path.realpath(place)
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        _fill(folder, home, deeper=depth < MOST_DEEP)
        waiting += [(inner, depth + 1) for inner in folder.folders]
    return root


def _fill(folder: Folder, home: str, *, deeper: bool) -> None:
    try:
        with os.scandir(folder.path) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        folder.closed = True
        return
    for entry in inside:
        if entry.is_dir(follow_symlinks=False):
            if deeper and entry.name not in SKIPPED:
                folder.folders.append(Folder(entry.path, entry.name))
        elif (file := _file(entry, home)) is not None:
            folder.files.append(file)


def _file(entry: os.DirEntry[str], home: str) -> File | None:
    try:
        if entry.is_symlink():
            target = os.path.realpath(entry.path)
            if os.path.commonpath([home, target]) != home:
                return None
        known = entry.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(known.st_mode):
        return None
    return File(entry.name, known.st_size, known.st_mtime_ns)


@dataclass(slots=True)
class Print:
    """What tells whether a place is as it was."""

    stamp: str
    changed: float  # seconds since 1970: the newest file
    cost: int  # bytes that reading it may take


def printed(folders: Iterable[Folder], files: Iterable[File], above: str) -> Print:
    """Return the print of some folders with all below them, and of some files beside them.

    The stamp holds path (from `above` on), size and time of change (ns) of each file.
    """
    digest = blake2b(digest_size=16)
    newest = cost = 0
    rows = [("", list(files))]
    rows += [(one.path[len(above) :], one.files) for top in folders for one in top.walk()]
    for path, some in rows:
        told = [f"{file.name}\0{file.size}\0{file.changed}\n" for file in some]
        digest.update(f"{path}\0{len(told)}\n{''.join(told)}".encode(errors="surrogatepass"))
        for file in some:
            newest = max(newest, file.changed)
            if not file.name.endswith(WEIGHTS):
                cost += min(file.size, MOST_COUNTED)
    return Print(digest.hexdigest(), newest / 1e9, cost)
