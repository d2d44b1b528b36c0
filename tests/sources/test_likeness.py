"""Two readings are of one run or of two: each number by which that is told."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens.history import FloatArray
from runlens.sources.merging.likeness import Content, Said, content, goes_on, said, telling
from runlens.sources.reading import Series, SourceReading
from tests.sources.writers import losses

A, B = losses(1), losses(2)
STEPS = tuple(range(10, 410, 10))


def series(value: FloatArray, first: int = 10, every: int = 10) -> Series:
    """Return a metric, a row each ten steps."""
    none = np.full(len(value), np.nan)
    step = first + every * np.arange(len(value))
    return Series(step, np.asarray(value, float), none, none, np.zeros(len(value), int))


def of(
    place: str, value: FloatArray, first: int = 10, kind: str = "csv", every: int = 10, **more: Any
) -> Content:
    """Return a reading with a training loss."""
    named = {"train_loss": series(value, first, every)}
    return content(SourceReading(Path(place), kind, series=named, **more))


def mixed(*rows: tuple[int, FloatArray]) -> FloatArray:
    """Join so many rows of each of several curves."""
    parts, at = [], 0
    for many, value in rows:
        parts.append(value[at : at + many])
        at += many
    return np.concatenate(parts)


LATE: dict[str, Any] = {"kind": "tensorboard"}


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (of("x/a.csv", A), of("x/b.csv", A), Said.SAME),
        (of("x/a.csv", A), of("x/b.csv", B), Said.OTHER),
        (of("x/a.csv", A), of("y/a.csv", A), Said.NEVER),  # two copies that lie alike
        (of("x/a.csv", A), of("y/z/a.csv", A), Said.OTHER),
        (of("x/a.csv", A), of("y/a", A, **LATE), Said.SAME),
        (of("x/a.csv", A[:2]), of("x/b", A[:2], **LATE), Said.OPEN),
        (of("x/a.csv", A[:3]), of("x/b", A[:3], **LATE), Said.SAME),
        (
            of("x/a", A[:1], kind="trainer_state"),
            of("x/b", A[:1], kind="trainer_state"),
            Said.SAME,  # equal to the last digit: one row is enough
        ),
        # three digits, as some logs print
        (of("x/a.csv", A), of("x/b", A * 1.004, **LATE), Said.OTHER),
        (of("x/a.csv", A), of("x/b", A * 1.004, precision="rounded", **LATE), Said.SAME),
        (of("x/a.csv", A), of("x/b", A * 1.006, precision="rounded", **LATE), Said.OTHER),
        # what is constant identifies nothing
        (of("x/a.csv", A * 0 + 1), of("x/b", A * 0 + 1, **LATE), Said.OPEN),
        (of("x/a.csv", A * 0 + 1), of("x/b", mixed((30, A * 0 + 1), (10, A)), **LATE), Said.OTHER),
        # half of the rows, wherever they are
        (
            of("x/a.csv", mixed((20, A), (20, B))),
            of("x/b", mixed((20, A + 1), (20, B)), **LATE),
            Said.SAME,
        ),
        (
            of("x/a.csv", mixed((21, A), (19, B))),
            of("x/b", mixed((21, A + 1), (19, B)), **LATE),
            Said.OTHER,
        ),
        # a resume that went other ways afterwards
        (of("x/a.csv", A), of("x/b", mixed((5, A), (35, B)), **LATE), Said.SAME),
        (of("x/a.csv", A), of("x/b", mixed((4, A), (36, B)), **LATE), Said.OTHER),
        # in other folders both must not go on to the same end
        (of("x/a.csv", A), of("y/b", mixed((30, A), (10, B)), **LATE), Said.OTHER),
        (of("x/a.csv", A), of("y/b", mixed((30, A), (8, B)), **LATE), Said.SAME),
        (of("x/a.csv", A), of("y/b", mixed((30, A), (9, B)), **LATE), Said.OTHER),
        # rows without steps
        (of("x/a.csv", A), of("x/b", A[10:], steps_inferred=True, **LATE), Said.SAME),
        (of("x/a.csv", A), of("x/b", B[10:], steps_inferred=True, **LATE), Said.OTHER),
        (of("x/a.csv", A), of("x/b", A[:2], steps_inferred=True, **LATE), Said.OPEN),
        (of("x/a.csv", A), of("x/b", A[:3], steps_inferred=True, **LATE), Said.SAME),
        (
            of("x/a.csv", A),
            of("x/b", mixed((22, A), (18, B)), steps_inferred=True, **LATE),
            Said.SAME,
        ),
        (
            of("x/a.csv", A),
            of("y/b", mixed((22, A), (18, B)), steps_inferred=True, **LATE),
            Said.OTHER,
        ),
        (
            of("x/a.csv", A),
            of("y/b", mixed((38, A), (2, B)), steps_inferred=True, **LATE),
            Said.SAME,
        ),
        # what a tracker says
        (of("x/a", A, kind="wandb", run_id="1"), of("y/a", B, kind="wandb", run_id="1"), Said.SAME),
        (
            of("x/a", A, kind="wandb", run_id="1"),
            of("x/a", A, kind="wandb", run_id="2"),
            Said.NEVER,
        ),
        (
            of("x/a", A, kind="wandb", run_id="1"),
            of("x/b", A, kind="mlflow", run_id="2"),
            Said.SAME,
        ),
        (of("x/a", A, kind="wandb"), of("x/b", B, kind="console"), Said.SAME),
        (of("x/a", A, kind="wandb"), of("x/y/b", B, kind="console"), Said.OTHER),
        (of("x/rank_0.log", A, kind="console"), of("x/rank_1.log", B, kind="console"), Said.SAME),
        # two launches that a trainer recorded from the first step on
        (of("x/a", A, **LATE), of("x/b", B, **LATE), Said.NEVER),
        (of("x/a", A, **LATE), of("x/b", B[2:], 30, **LATE), Said.OTHER),
    ],
)
def test_what_two_readings_say_of_each_other(one: Content, other: Content, what: Said) -> None:
    """Whichever is asked first."""
    assert said(one, other) is what
    assert said(other, one) is what


def pair(
    first: int,
    *,
    names: tuple[str, str] = ("x/b", "x/a"),
    kind: str = "csv",
    started: tuple[float | None, float | None] = (None, None),
    rows: int = 20,
) -> bool | None:
    """Ask whether a launch of steps 10 to 200 is gone on with from this step."""
    early = of(names[0], A[:20], kind=kind, started=started[0])
    late = of(names[1], B[:rows], first, kind=kind, started=started[1])
    assert goes_on(late, early) is goes_on(early, late)
    return goes_on(early, late)


def later(*given: Any, **more: Any) -> Callable[[], bool | None]:
    """Ask it in the test."""
    return partial(pair, *given, **more)


IN_TIME, BACK = (1.0, 2.0), (2.0, 1.0)


@pytest.mark.parametrize(
    ("goes", "told"),
    [
        (later(210), True),
        (later(220), True),
        (later(230), None),  # more than two intervals: something is missing
        (later(210, started=BACK), False),
        (later(210, started=IN_TIME), True),
        (later(200), False),  # a step that both have, and no time that tells which is later
        (later(200, started=IN_TIME), True),
        (later(200, started=BACK), False),
        (later(120, started=IN_TIME), True),
        (later(100, started=IN_TIME), False),  # it repeats more than half
        (later(120, started=IN_TIME, rows=9), False),  # and comes no farther
        (later(120, started=IN_TIME, rows=10), True),
        (later(10, started=IN_TIME), False),  # it began anew
        (later(210, kind="wandb"), None),
        (later(210, names=("x/p/a", "y/p/a")), None),
        (later(210, names=("x/p/a", "x/q/a")), True),
        (later(210, kind="console", names=("x/t_2.log", "x/t_10.log")), True),
        (later(210, kind="console", names=("x/t_10.log", "x/t_2.log")), False),
        (later(210, kind="console", names=("x/p/t_10.log", "x/q/t_2.log")), True),
        (later(230, kind="console", names=("x/t_10.log", "x/t_2.log")), False),
    ],
)
def test_one_launch_goes_on_with_another(
    goes: Callable[[], bool | None], told: bool | None
) -> None:
    """It begins where that one had come to, and later as far as is known; None: not to tell."""
    assert goes() is told


def test_an_evaluation_in_a_file_of_its_own_goes_on_with_its_training() -> None:
    """At the last step, and later; without a time nothing says so."""
    train = of("x/a", A[:20], started=1.0)
    for started, told in ((2.0, True), (None, False)):
        named = {"eval_loss": series(A[:1], 200)}
        alone = content(SourceReading(Path("x/b"), "csv", series=named, started=started))
        both = content(
            SourceReading(Path("x/a"), "csv", series={**train.series, **named}, started=1.0)
        )
        assert goes_on(both, alone) is told


def test_half_of_the_metrics_must_agree() -> None:
    """One of two is enough, one of three is not."""
    curves = {"train_loss": A, "grad_norm": B, "eval_loss": A + 2}
    others = {"train_loss": A, "grad_norm": B * 2, "eval_loss": A * 3}
    for many, what in ((2, Said.SAME), (3, Said.OTHER)):
        one, other = (
            content(
                SourceReading(
                    Path(place), kind, series={n: series(v) for n, v in list(values.items())[:many]}
                )
            )
            for place, kind, values in (("x/a", "csv", curves), ("x/b", "tensorboard", others))
        )
        assert said(one, other) is what


def test_a_few_metrics_tell_runs_apart_the_usual_ones_first() -> None:
    """Schedules and counters are equal in siblings."""
    names = ["d", "c", "b", "a", "learning_rate", "epoch", "train_loss"]
    assert telling(names) == ["train_loss", "a", "b", "c"]


def test_a_reading_spans_its_steps() -> None:
    """The first, the last, and how many lie between two rows."""
    one = of("x/a", A, first=30, every=20)
    assert one.trained == (30, 810, 20)
    assert one.span == (30, 810)
    assert of("x/a", A[:1]).trained == (10, 10, 1)


def test_the_longer_of_two_that_mean_one_metric_has_its_name() -> None:
    """The other stays as it was logged, unless it only says the same again."""
    for last, kept in ((41.0, {"train_loss", "loss"}), (A[39], {"train_loss"})):
        value = np.append(A[30:39], last)
        named = {"loss": series(value, 310), "train_loss": series(A)}
        one = content(SourceReading(Path("x/a"), "csv", series=named))
        assert set(one.series) == kept
        assert len(one.series["train_loss"].step) == 40
    beyond = {"loss": series(A[:10], 350), "train_loss": series(A)}
    assert set(content(SourceReading(Path("x/a"), "csv", series=beyond)).series) == {
        "train_loss",
        "loss",
    }


def test_a_test_set_beside_validation_keeps_its_name() -> None:
    """Without validation it is the evaluation."""
    both = {"test_loss": series(A), "val_loss": series(B)}
    one = content(SourceReading(Path("x/a"), "csv", series=both))
    assert {name: value.value[0] for name, value in one.series.items()} == {
        "eval_loss": B[0],
        "test_loss": A[0],
    }
    alone = content(SourceReading(Path("x/a"), "csv", series={"test_loss": series(A)}))
    assert set(alone.series) == {"eval_loss"}


def test_values_are_kept_in_canonical_units() -> None:
    """Bytes of a card are GiB of memory."""
    named = {"system.gpu.0.memoryAllocatedBytes": series(A * 2**30)}
    one = content(SourceReading(Path("x/a"), "wandb", series=named))
    assert one.series["gpu_mem"].value == pytest.approx(A)


def test_siblings_that_print_the_same_decimals_are_not_one_run() -> None:
    """Within half a per cent of each other at most steps: folds of one data are that near."""
    fold: FloatArray = np.round(A, 4)
    near: FloatArray = np.round(A * np.repeat([1.003, 1.02], [30, len(A) - 30]), 4)
    short: FloatArray = np.round(A, 3)
    rounded: dict[str, Any] = {"kind": "console", "precision": "rounded"}
    assert (
        said(of("x/fold0.log", fold, **rounded), of("x/fold2.log", near, **rounded)) is Said.OTHER
    )
    copy = of("x/other.log", short, **rounded)
    assert said(of("x/fold0.log", fold, **rounded), copy) is Said.SAME  # printed shorter
    again = of("x/tee.log", fold, **rounded)
    assert said(of("x/fold0.log", fold, **rounded), again) is Said.SAME
