"""A source that counts epochs beside a log that counts batches."""

from pathlib import Path

import numpy as np
import pytest

from runlens.history import History
from runlens.run import Configured
from runlens.sources.merging.combine import Part, combined
from runlens.sources.merging.likeness import content
from runlens.sources.merging.plan import planned
from runlens.sources.reading import Hints, Series, SourceReading

EPOCHS = range(20)
BATCHES = range(20, 4000, 20)


def part(
    steps: range,
    start: float,
    *,
    inferred: bool,
    an_epoch: float = np.nan,
    falls: float = 0.1 / 200,
) -> Part:
    """Return a loss that falls by so much a step."""
    step = np.array(steps)
    epoch = step / an_epoch
    unknown = np.full(len(step), np.nan)
    series = Series(step, start - falls * step, epoch, unknown, np.zeros(len(step), dtype=np.int64))
    path = Path("train.log" if inferred else "run.wandb")
    kind = "console" if inferred else "wandb"
    reading = SourceReading(path, kind, steps_inferred=inferred, series={"loss": series})
    return Part(content(reading), int(inferred), series, np.zeros(len(step), dtype=np.int64))


@pytest.mark.parametrize(
    ("steps", "start", "an_epoch"),
    [
        (BATCHES, 5.0, 200.0),  # its epochs are the other's steps
        (range(100, 2600, 20), 5.0, 200.0),  # which it breaks off before, and begins behind
        (range(1, 4000, 3), 50.0, np.nan),  # it tells no epoch, but no value is where it should be
    ],
)
def test_epochs_and_batches_are_not_one_curve(steps: range, start: float, an_epoch: float) -> None:
    """The source that names its steps is taken, and it is said."""
    best = part(EPOCHS, 5.0, inferred=False, falls=0.1)
    columns, said = combined(
        "train_loss", [best, part(steps, start, inferred=True, an_epoch=an_epoch)]
    )
    assert columns.step.tolist() == list(EPOCHS)
    assert [one.text for one in said] == [
        "counts its steps in another unit than run.wandb, which was used"
    ]


@pytest.mark.parametrize(
    ("steps", "an_epoch"),
    [
        (range(1, 4000, 3), np.nan),  # where both have a value it is the same
        (BATCHES, 1000.0),  # four epochs: the tracker was lost in the first of them
        (BATCHES, np.nan),  # nothing to compare
        (range(20, 190, 20), 10.0),  # not much further
    ],
)
def test_a_log_goes_on_where_a_tracker_was_lost(steps: range, an_epoch: float) -> None:
    """What lies beyond the last step of the other is added."""
    best = part(EPOCHS, 5.0, inferred=False)
    columns, said = combined(
        "train_loss", [best, part(steps, 5.0, inferred=True, an_epoch=an_epoch)]
    )
    assert int(columns.step[-1]) == steps[-1]
    assert not said


@pytest.mark.parametrize(
    ("last", "epochs", "updates", "kept"),
    [
        (9, 10.0, 12_000, None),  # ten epochs are no share of 12,000 iterations
        (9, 10.0, 9, 9),  # that were meant as epochs, and are done
        (9, None, 12_000, 12_000),
        (9, 0.5, 12_000, 12_000),  # iterations, of half an epoch
    ],
)
def test_a_plan_in_updates_is_none_of_a_log_that_counts_epochs(
    last: int, epochs: float | None, updates: int, kept: int | None
) -> None:
    """A setting names iterations, and the rows name epochs."""
    hints = Hints(done_steps=last, done_epochs=epochs)
    reading = SourceReading(Path("train.log"), "console", hints=hints)
    config = {"max_steps": Configured(updates, "train.log")}
    assert planned([reading], config, History({})).planned_steps == kept
