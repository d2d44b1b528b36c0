"""Both losses by their letters, behind letters that count: ``e0 i10 tl 4.3``."""

import re
from pathlib import Path

import pytest

from runlens import read
from runlens.sources.console.layouts import LAYOUTS


@pytest.mark.parametrize(
    ("form", "metrics"),
    [
        ("  e{n} i00 tl {l}\n  e{n} i10 tl {l}\n", {"train_loss"}),
        ("E{n:02d}/30 mean tl {l}  (9.1s)\n", {"train_loss"}),
        ("E{n:02d}/30 tl {l} vl {l} va 0.{n}\n", {"train_loss", "eval_loss", "eval_accuracy"}),
        ("ep{n}, tl: {l}, vl: {l}\n", {"train_loss", "eval_loss"}),
    ],
)
def test_losses_by_their_letters(tmp_path: Path, form: str, metrics: set[str]) -> None:
    """At their epochs."""
    rows = "".join(form.format(n=n, l=round(2 / (n + 1) + 0.1, 4)) for n in range(10))
    (tmp_path / "job.out").write_text(f"[launch] pid 19491  epochs 30\n{rows}")
    run = read(tmp_path / "job.out")
    assert set(run.history.metrics) == metrics
    assert run.curve("train_loss").value[0] == 2.1


def test_means_of_epochs_stand_beside_their_batches(tmp_path: Path) -> None:
    """Under a name of their own; what was planned is said."""
    rows = "".join(
        f"  e{n} i00 tl {3 / (n + 1):.3f}\n  e{n} i10 tl {3 / (n + 1):.3f}\n"
        f"E{n:02d}/30 mean tl {3 / (n + 1):.4f}  (9.1s)\n"
        for n in range(10)
    )
    (tmp_path / "job.out").write_text(rows)
    run = read(tmp_path / "job.out")
    assert set(run.history.metrics) == {"train_loss", "train_loss_epoch"}
    assert run.state.planned_epochs == 30


@pytest.mark.parametrize(
    "line", ["e3 i20 tlx 4.3", "E00/30 tl of it", "e3 i20 name tl 4", "e3 tl;dr 4", "edge3 i2 tl 1"]
)
def test_other_lines_are_none_of_these_layouts(line: str) -> None:
    """The letters stand right behind the counters, and a number behind them."""
    forms = [one.form for one in LAYOUTS if "both losses" in one.who]
    assert not any(re.match(form, line, re.IGNORECASE) for form in forms)
