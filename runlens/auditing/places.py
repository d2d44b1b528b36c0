"""Splits a tree into places that are read on their own, so that they give the runs of the tree.

What `read_all` may join must stay in one place: the checkpoints, logs and tracker files of a run,
all directories of one W&B id, the launches of one job side by side. Names say what that is:

- a folder that holds logs itself is one place, with all that lies below it;
- so is a folder with parts of a run (``checkpoint-500``, ``files``), or with a tracker's folder
  (``wandb``, ``runs``, ``mlruns``) beside others;
- ``wandb`` alone gives one place for each run id;
- launches (``version_0``, ``Nov21_10-00-00_host``) that lie together are one place.

Above some number of runs a folder is split all the same: it would be read again as a whole when
one of them changes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runlens.auditing.tree import File, Folder
from runlens.patterns import lazy_re

MOST_TOGETHER = 64  # runs below a folder with logs of its own; readings that are all compared
MOST_TRACKED = 400  # runs below a folder in which a tracker keeps them a second time
FEW = 8  # runs below a folder with no more than settings of its own

# what a reader can read; the others are not asked
_READABLE = lazy_re(
    r".*\.(?:wandb|swanlab|csv|tsv|jsonl|ndjson|json|ya?ml|md|db|sqlite3?|db3|log|out|txt|err)"
    r"(?:\.\d+)?|.*tfevents.*|nohup|std(?:out|err).*|console.*|.*_log",
    re.IGNORECASE,
)
_MEASURES = lazy_re(r"trainer_state\.json|.*tfevents.*|.+\.wandb|backup\.swanlab")  # for sure
# a part of the run in the folder above
_INNER = lazy_re(
    r"checkpoint-\d+|global_step_?\d+|epoch_?\d+|files|logs?|tensorboard|tb|tb_?logs?|events"
    r"|train|val|valid|validation|eval|test|metrics",
    re.IGNORECASE,
)
# what trackers, and what trainers make beside the run's own folder
_TRACKERS = frozenset({"wandb", "runs", "lightning_logs", "mlruns", "swanlog", "tb_logs"})
_BESIDE = frozenset(
    {"logs", "log", "output", "outputs", "results", "tensorboard", "tb", "checkpoints", "files"}
)
_WANDB = lazy_re(r"(?:offline-)?run-\d{8}_\d{6}-(.+)")
_LAUNCH = lazy_re(
    r"version_\d+|attempt_\d+|[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.*"
    r"|\d{4}-?\d\d-?\d\d(?:[-_T ]?\d\d[-_:]?\d\d[-_:]?\d\d)?|\d\d-\d\d-\d\d"
)

SETTINGS = {"config_files"}  # which alone are no run

Kinds = Callable[[Path, list[str]], set[str]]


@dataclass(slots=True)
class Place:
    """What is read together: a folder, or some of what lies in it."""

    folder: Folder
    folders: list[Folder]
    files: list[File]
    whole: bool = True  # all that lies in the folder
    leaves: int = 1  # runs, about

    @property
    def name(self) -> str:
        """The path that names it: of the folder, or of the first part of it."""
        return self.folder.path if self.whole else f"{self.folder.path}/{self.parts[0]}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what is read in the folder; empty for all."""
        folders, files = ([part.name for part in some] for some in (self.folders, self.files))
        return () if self.whole else (*folders, *files)


def places(root: Folder, kinds: Kinds) -> list[Place]:
    """Split a tree; `kinds` says which kinds of sources are among some files of a folder."""
    return _Splitting(kinds).split(root)


class _Splitting:
    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def split(self, folder: Folder) -> list[Place]:
        below = {inner.name: (inner, self.split(inner)) for inner in folder.folders}
        below = {name: pair for name, pair in below.items() if pair[1]}
        own = self._own(folder)
        if not below:
            return [_whole(folder, 1)] if own - SETTINGS else []
        by_id = _by_id(folder, below)
        inner = {name for name, pair in below.items() if _is_inner(*pair)}
        found = by_id or [place for _, some in below.values() for place in some]
        outer = [place for name, (_, some) in below.items() if name not in inner for place in some]
        leaves = sum(one.leaves for one in (by_id or outer)) + (1 if inner and not by_id else 0)
        if leaves <= _most(own, below, inner, by_id):
            return [_whole(folder, leaves)]
        if not by_id:
            found = _launches_joined(folder, below, found)
        return [*found, *_loose(folder, own)]

    def _own(self, folder: Folder) -> set[str]:
        """Return the kinds of sources among a folder's own files."""
        names = [file.name for file in folder.files if _READABLE.fullmatch(file.name)]
        if any(_MEASURES.fullmatch(name) for name in names):
            return {"measured"}
        return self._kinds(Path(folder.path), names) if names else set()


def _whole(folder: Folder, leaves: int) -> Place:
    return Place(folder, folder.folders, folder.files, leaves=leaves)


def _loose(folder: Folder, own: set[str]) -> list[Place]:
    """Return the files of a folder that is split; settings alone are no run."""
    files = [file for file in folder.files if _READABLE.fullmatch(file.name)]
    return [Place(folder, [], files, whole=False)] if own - SETTINGS else []


def _most(
    own: set[str],
    below: dict[str, tuple[Folder, list[Place]]],
    inner: set[str],
    by_id: list[Place],
) -> int:
    """Return up to how many runs a folder is read as a whole; 0: it is not."""
    if own - SETTINGS:
        return MOST_TOGETHER
    if by_id:
        return 0
    names = {name.lower() for name in below} if len(below) > 1 else set()
    if inner or names & _TRACKERS:
        return MOST_TRACKED
    if names & _BESIDE:
        return MOST_TOGETHER
    return FEW if own else 0


def _is_inner(folder: Folder, some: list[Place]) -> bool:
    """Whether a folder is a part of the run above it: it has such a name and holds the logs."""
    return bool(_INNER.fullmatch(folder.name)) and some[0].folder is folder and some[0].whole


def _by_id(folder: Folder, below: dict[str, tuple[Folder, list[Place]]]) -> list[Place]:
    """Return a place for each run id where W&B keeps its directories; nothing elsewhere."""
    ids: dict[str, list[Folder]] = {}
    others: list[Place] = []
    for name, (inner, some) in below.items():
        if found := _WANDB.fullmatch(name):
            ids.setdefault(found[1], []).append(inner)
        else:
            others += some
    made = [
        Place(folder, sorted(some, key=_when), [], whole=False)
        if len(some) > 1
        else _whole(some[0], 1)
        for some in ids.values()
    ]
    return [*made, *others] if made else []


def _when(folder: Folder) -> str:
    return folder.name.removeprefix("offline-")


def _launches_joined(
    folder: Folder, below: dict[str, tuple[Folder, list[Place]]], found: list[Place]
) -> list[Place]:
    """Join the folders of launches that lie together, unless they are too many for one job."""
    launches = {name: pair for name, pair in below.items() if _LAUNCH.fullmatch(name)}
    leaves = sum(place.leaves for _, some in launches.values() for place in some)
    if len(launches) < 2 or leaves > MOST_TOGETHER:  # noqa: PLR2004 - one has nothing to join
        return found
    gone = {id(place) for _, some in launches.values() for place in some}
    whole = len(launches) == len(below)
    inside = folder.folders if whole else [inner for inner, _ in launches.values()]
    joined = Place(folder, inside, folder.files if whole else [], whole=whole, leaves=leaves)
    return [joined, *(place for place in found if id(place) not in gone)]
