"""What runs are called."""

from collections.abc import Sequence
from dataclasses import replace
from os.path import commonpath
from pathlib import Path

from runlens.run import Run
from runlens.sources.merging.likeness import Content

# folders that trainers make in every run: their names tell no run from another
EVERYWHERE = frozenset(
    ("checkpoint", "checkpoints", "ckpt", "ckpts", "files", "log", "logs", "model", "models", "out",
     "output", "outputs", "result", "results", "run", "runs", "save", "saves", "tb", "tb_logs",
     "tensorboard", "train", "training")
)  # fmt: skip


def shown(path: Path, place: Path) -> str:
    """Return a path as seen from the place that was given."""
    if path == place:
        return path.name
    try:
        return str(path.relative_to(place))
    except ValueError:
        return str(path)


def run_name(place: Path, group: Sequence[Content], *, alone: bool) -> str:
    """Return what a run is called: its folder, else what a tracker says."""
    resolved = place.resolve()
    if alone:
        says_little = not resolved.is_dir() or resolved.name.lower() in EVERYWHERE
        return f"{resolved.parent.name}/{resolved.name}" if says_little else resolved.name
    folder = Path(commonpath([one.folder for one in group]))
    if not folder.is_relative_to(place) or folder == place:
        named = [one.reading.run_name for one in group if one.reading.run_name]
        trained = [one for one in group if one.measured]
        return named[0] if named else shown(_furthest(trained or group), place)
    stored = [one.reading.run_name or one.reading.run_id for one in group if one.reading.in_store]
    return "/".join([str(folder.relative_to(place)), *stored[:1]])


def _furthest(some: Sequence[Content]) -> Path:
    """Return the path that stands for readings; of checkpoints alone, the folder of the last."""
    states = [one.reading for one in some if one.reading.hints.snapshot]
    if len(states) < len(some):
        return next(one.reading.path for one in some if not one.reading.hints.snapshot)
    return max(states, key=lambda one: one.hints.done_steps or 0).path.parent


def distinctly_named(runs: Sequence[Run]) -> list[Run]:
    """Return runs of which no two have one name."""
    seen: dict[str, int] = {}
    made = []
    for run in runs:
        seen[run.name] = seen.get(run.name, 0) + 1
        number = seen[run.name]
        made.append(run if number == 1 else replace(run, name=f"{run.name} ({number})"))
    return made
