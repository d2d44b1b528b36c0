"""Trees of small runs, and what an audit's store holds: shared by the tests of a night."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)


def state(folder: Path, *, steps: int = 20, nan_from: int = 0, scale: float = 1.0) -> Path:
    """Write what the Trainer leaves of a run whose loss falls, or is NaN from some step on."""
    folder.mkdir(parents=True, exist_ok=True)
    log = [
        {
            "step": step,
            "epoch": step / steps,
            "loss": float("nan") if 0 < nan_from <= step else scale * (1 + 3 / step),
            "grad_norm": 1.0 + step % 3,
            "learning_rate": 1e-4,
        }
        for step in range(1, steps + 1)
    ]
    whole = {"global_step": steps, "max_steps": steps, "epoch": 1.0, "log_history": log}
    (folder / "trainer_state.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder


def tree(root: Path, runs: int = 4) -> Path:
    """Make a folder of runs, every third of them broken by NaN."""
    for number in range(runs):
        scale = 1 + number / 10
        state(root / f"run-{number:02}", nan_from=12 if number % 3 == 2 else 0, scale=scale)
    return root


def rewritten(folder: Path, **how: float) -> None:
    """Let a run go on."""
    state(folder, steps=30, **how)  # type: ignore[arg-type]


def content(store: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return all that a store holds, but for how long its nights took."""
    with closing(sqlite3.connect(store)) as database:
        names = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {name: sorted(_rows(database, name), key=repr) for name in sorted(names)}


def over(store: Path) -> bool:
    """Whether a store has a night that was closed."""
    return _count(store, "nights WHERE NOT open") > 0


def stored(store: Path) -> int:
    """Return how many runs a store has."""
    return _count(store, "runs")


def _count(store: Path, what: str) -> int:
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as database, suppress(sqlite3.OperationalError):
        (count,) = database.execute(f"SELECT count(*) FROM {what}").fetchone()  # noqa: S608 - ours
        return int(count)
    return 0


def _rows(database: sqlite3.Connection, table: str) -> Iterable[tuple[object, ...]]:
    found = database.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - a name from its own list
    names = [about[0] for about in found.description]
    kept = [at for at, name in enumerate(names) if name != "seconds"]
    return [tuple(row[at] for at in kept) for row in found]
