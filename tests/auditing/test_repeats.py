"""What a store of audits knows of repeats, and a comparison that uses it."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens import audit, compare, read
from runlens.auditing.repeats import repeats
from tests.cli.places import lens

LEVELS = (1.00, 1.02, 1.04, 1.06, 1.08)


def written(folder: Path, level: float, seed: int, rate: float = 1e-3, points: int = 60) -> Path:
    """Write a run that ends at a level."""
    folder.mkdir(parents=True)
    curve = level + 2 * np.exp(-np.arange(1, points + 1) / 8)
    curve += level - curve[-1]
    rows = [{"step": 10 * n, "val_loss": value} for n, value in enumerate(curve.tolist(), 1)]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    settings = {"learning_rate": rate, "seed": seed, "hidden_size": 8, "output_dir": str(seed)}
    (folder / "config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store that saw five repeats, one that broke off, and another configuration."""
    runs = tmp_path / "runs"
    for seed, level in enumerate(LEVELS):
        written(runs / f"s{seed}", level, seed)
    written(runs / "short", 2.0, 9, points=30)
    written(runs / "other", 3.0, 9, rate=1e-2)
    audit(runs, store=tmp_path / "audit.db")
    return tmp_path / "audit.db"


def test_a_store_tells_how_far_seeds_lie_apart(store: Path, tmp_path: Path) -> None:
    """By the runs of the same settings and length alone; of other settings it knows nothing."""
    fresh = read(written(tmp_path / "new", 1.01, 17))
    known = repeats(store, [fresh])
    assert known is not None
    assert known.siblings == 5
    assert sorted(known.levels["eval_loss", "last"][0]) == pytest.approx(LEVELS)
    assert repeats(store, [read(written(tmp_path / "foreign", 1.0, 1, rate=0.5))]) is None


def test_a_comparison_rests_on_the_store(store: Path, tmp_path: Path) -> None:
    """The same difference is told by repeats where the store knows them, else by a prior."""
    a = written(tmp_path / "a", 1.01, 17)
    b = written(tmp_path / "b", 1.05, 18, rate=2e-3)
    blind = compare(a, b).verdict
    told = json.loads(
        lens("compare", a, b, "--store", store, "--format", "json", "--no-html").stdout
    )
    assert blind.noise_from == "prior"
    assert told["verdict"]["noise_from"] == "seeds"
    assert told["seeds"] == ["5 runs of the store"]
    deciding = next(one for one in told["metrics"] if one["decides"])
    assert deciding["noise"] == pytest.approx(np.std(LEVELS, ddof=1) * 2**0.5, rel=1e-3)
    assert told["verdict"]["result"] in {"equivalent", "cannot_tell"}
