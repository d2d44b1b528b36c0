"""Several trainings in one run of W&B, several runs in the CSV of one of its charts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from runlens import read_all
from runlens.sources.reading import SourceReading, series
from runlens.sources.trainings import apart


def tracked(epochs: list[float], loss: list[float], kind: str = "wandb") -> SourceReading:
    """Return a run whose own step goes on."""
    step = np.arange(len(epochs))
    reading = SourceReading(Path("run-abc.wandb"), kind, run_id="abc", run_name="sunny")
    reading.series = {
        "loss": series(step, loss, epochs),
        "val": series(step[4:6], [1.0, 2.0], epochs[4:6]),
    }
    reading.hints.exit_code = 1
    return reading


FALLING = [2 / (n + 1) for n in range(10)]
EPOCHS = [float(n) for n in range(10)]


def test_an_epoch_that_falls_back_is_a_training() -> None:
    """Three folds; how the run ended, only the last says."""
    parts = apart(tracked(EPOCHS * 3, FALLING * 3))
    assert [part.run_name for part in parts] == [f"sunny ({n} of 3)" for n in (1, 2, 3)]
    assert [part.run_id for part in parts] == ["abc#1", "abc#2", "abc#3"]
    assert [part.series["loss"].step[0] for part in parts] == [0, 10, 20]
    assert ["val" in part.series for part in parts] == [True, False, False]
    assert [part.hints.exit_code for part in parts] == [None, None, 1]


def test_epochs_of_an_inner_loop_are_no_trainings() -> None:
    """The loss goes on."""
    loss = [2 * 0.9**n for n in range(30)]
    assert len(apart(tracked(EPOCHS * 3, loss))) == 1


def test_other_epochs_that_fall_are_no_trainings() -> None:
    """A single row, a fall to the middle, an epoch that is never known, another tracker."""
    stray = [*EPOCHS, 0.0, *range(10, 20)]
    assert len(apart(tracked(stray, [1.0] * 21))) == 1
    assert len(apart(tracked([*EPOCHS, *EPOCHS[5:], *EPOCHS], [1.0] * 25))) == 1
    assert len(apart(tracked([float("nan")] * 20, FALLING * 2))) == 1
    assert len(apart(tracked(EPOCHS * 2, FALLING * 2, "tensorboard"))) == 1
    assert len(apart(replace(tracked(EPOCHS, FALLING), series={}))) == 1


def test_losses_that_are_no_numbers_tell_nothing() -> None:
    """Nor does a run without a loss."""
    assert len(apart(tracked(EPOCHS * 2, [float("nan")] * 20))) == 2
    unnamed = tracked(EPOCHS * 2, FALLING * 2)
    unnamed.series["speed"] = unnamed.series.pop("loss")
    assert len(apart(unnamed)) == 2


def chart(folder: Path, *runs: str, metrics: tuple[str, ...] = ("train/loss",)) -> Path:
    """Write the CSV of a chart."""
    named = [f"{run} - {metric}" for run in runs for metric in metrics]
    cells = [f"{name}{end}" for name in named for end in ("", "__MIN", "__MAX")]
    rows = [",".join([str(n), *[f"{2 / n:.4f}"] * len(cells)]) for n in range(1, 30)]
    path = folder / "wandb_export.csv"
    path.write_text("\n".join([",".join(["Step", *cells]), *rows]) + "\n")
    return path


def test_the_runs_of_a_chart(tmp_path: Path) -> None:
    """Each by its name."""
    runs = read_all(chart(tmp_path, "sunny-1", "rainy-2"))
    assert {run.name for run in runs} == {"sunny-1", "rainy-2"}
    assert [run.history.metrics for run in runs] == [("train_loss",), ("train_loss",)]
    (run,) = read_all(chart(tmp_path, "sunny-1"))
    assert run.history.metrics == ("train_loss",)
    (run,) = read_all(chart(tmp_path, "sunny-1", metrics=("train/loss", "train/acc")))
    assert run.history.metrics == ("train_accuracy", "train_loss")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("v3 - train/loss", "v3 - eval/exact_match"), "eval_exact_match"),
        (("v3 - train/loss", "v4 - eval/exact_match"), "v4 - eval/exact_match"),  # of two runs
        (("v3 - loss", "v3 - depth"), "v3 - depth"),  # no paths: it may be what both are of
        (("loss - net/a", "loss - net/b"), "loss - net/b"),  # two losses
    ],
)
def test_columns_that_begin_with_one_run_are_its_metrics(
    tmp_path: Path, names: tuple[str, ...], told: str
) -> None:
    """The name of the run is left out, so that what is evaluated is known as that."""
    rows = [f"{n},{2 / n:.4f},{1 / n:.4f}" for n in range(1, 30)]
    path = tmp_path / "wandb_export.csv"
    path.write_text("\n".join([",".join(["Step", *names]), *rows, ""]))
    (run,) = read_all(path)
    assert told in run.history.metrics
