"""Whatever two logs of a run say, their history holds each observation once, and no other."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlens import read
from runlens.run import Run
from runlens.sources.merging.merge import runs_of
from runlens.sources.reading import Precision, SourceReading, series
from tests.sources.writers import events, log_rows, losses, state

ODD = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 5e-324]
VALUES = st.one_of(st.floats(-1e3, 1e3, width=32), st.sampled_from(ODD))
Points = dict[int, float]
SOURCES: list[tuple[str, Precision]] = [
    ("trainer_state", "float64"),
    ("tensorboard", "float32"),
    ("console", "rounded"),
]


@st.composite
def logs(draw: st.DrawFn) -> list[Points]:
    """Draw what up to three sources of one run have of its loss: each some of the steps.

    Steps are below 1,000: of later ones a log that prints three digits only adds what lies beyond.
    """
    steps = draw(st.lists(st.integers(0, 999), min_size=4, max_size=40, unique=True))
    truth = {step: draw(VALUES) for step in sorted(steps)}
    some = st.lists(st.sampled_from(sorted(truth)), min_size=1, unique=True)
    kept = draw(st.lists(some, min_size=1, max_size=len(SOURCES)))
    return [{step: truth[step] for step in sorted(part)} for part in kept]


def reading(number: int, points: Points, name: str = "loss") -> SourceReading:
    """Return a reading as the reader of its format hands it over."""
    kind, precision = SOURCES[number]
    steps, values = np.array(list(points)), np.array(list(points.values()))
    if precision == "float32":
        values = values.astype(np.float32)
    curve = {name: series(steps, values)}
    return SourceReading(Path(f"r/{kind}"), kind, series=curve, precision=precision)


def bits(value: float) -> bytes:
    """Return what tells NaN from NaN and 0 from -0 apart."""
    return np.float64(value).tobytes()


def all_runs(parts: list[Points]) -> list[Run]:
    """Merge."""
    return runs_of(Path("r"), "r", [reading(number, part) for number, part in enumerate(parts)])


@settings(deadline=None, max_examples=60)
@given(logs())
def test_no_value_is_invented_and_none_is_lost(parts: list[Points]) -> None:
    """All that was logged is there, bit for bit; NaN and infinities are kept as such."""
    logged = {
        (step, bits(value))
        for number, part in enumerate(parts)
        for step, value in zip(part, reading(number, part).series["loss"].value, strict=True)
    }
    shown = {
        (int(step), bits(value))
        for run in all_runs(parts)
        for step, value in zip(
            run.frame["step"].to_numpy(), run.frame["value"].to_numpy(), strict=True
        )
    }
    assert shown <= logged
    assert {step for step, _ in shown} == {step for step, _ in logged}


@settings(deadline=None, max_examples=60)
@given(logs())
def test_no_observation_is_counted_twice(parts: list[Points]) -> None:
    """Within a run, a launch has one value at a step, whichever sources logged it."""
    for run in all_runs(parts):
        rows = run.frame[["metric", "segment", "step"]]
        assert not rows.duplicated().any()
        assert rows.equals(rows.sort_values(["metric", "segment", "step"], kind="stable"))


@settings(deadline=None, max_examples=60)
@given(logs())
def test_the_more_precise_source_wins_where_it_has_the_step(parts: list[Points]) -> None:
    """And where it has not, the other's points are kept: coverage before precision."""
    for run in all_runs(parts):
        frame = run.frame
        for row in frame.itertuples():
            better = [
                number
                for number, part in enumerate(parts)
                if row.step in part and SOURCES[number][0] in run.sources
            ]
            assert SOURCES[min(better)][0] == row.source


def test_a_disagreement_beyond_rounding_is_a_problem() -> None:
    """It is told with the step and both values; rounding is not."""
    steps = range(0, 100, 5)
    exact = {step: 2 - step / 100 for step in steps}
    rounded = {step: float(np.float32(value)) for step, value in exact.items()}
    (run,) = all_runs([exact, rounded])
    assert run.problems == ()
    (run,) = all_runs([exact, {**rounded, 50: 7.0}])
    (problem,) = run.problems
    assert "at step 50: 7 against 1.5" in problem.text
    assert problem.lost == "its values at 1 of 20 points"


@pytest.mark.parametrize(("off", "told"), [(0.0, 0), (0.001, 1)])
def test_digits_that_a_log_dropped_are_no_disagreement(off: float, told: int) -> None:
    """Three digits were printed: 0.155 is 0.1547, and 0.156 is not."""
    steps = np.arange(0, 100, 5)
    exact = 0.1 + 0.0047 * steps / 5 + 0.0003
    printed = np.array([float(f"{value:.3g}") for value in exact])
    printed[5:10] += off
    sources = [
        SourceReading(Path("r/progress.csv"), "csv", series={"loss": series(steps, exact)}),
        SourceReading(
            Path("r/train.log"),
            "console",
            series={"loss": series(steps, printed)},
            precision="rounded",
        ),
    ]
    (run,) = runs_of(Path("r"), "r", sources)
    assert len(run.problems) == told


def test_a_frame_has_the_documented_columns(tmp_path: Path) -> None:
    """Long, one row an observation, sorted, with the types that the documentation names."""
    state(tmp_path, log_rows(losses(1)))
    events(tmp_path / "runs" / "x", losses(1))
    frame = read(tmp_path).frame
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "metric": "category",
        "step": "int64",
        "value": "float64",
        "epoch": "float64",
        "time": "float64",
        "segment": "int16",
        "source": "category",
    }
    assert frame["metric"].unique().tolist() == ["grad_norm", "learning_rate", "train_loss"]
    loss = frame[frame["metric"] == "train_loss"]
    assert loss["source"].unique().tolist() == ["trainer_state.json"]
    assert loss["time"].notna().all()  # of the event file
    assert loss["epoch"].tolist() == pytest.approx(np.arange(1, 41) / 10)
