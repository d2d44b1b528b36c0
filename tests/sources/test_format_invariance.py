"""One run, written in four formats at once, has one history whichever of them is read.

What a format lacks by its nature: a console prints four digits; an event file is float32; a
`.wandb` file of a killed process ends at its last whole block, and of two rows of one step it
keeps one (a gauge such as the memory is logged with the losses and again with the evaluation); a
console that was buffered ends before its process did; a state is as of its checkpoint.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from runlens import diagnose
from runlens.history import Curve
from runlens.run import Run
from runlens.sources import find
from runlens.sources.merging.merge import runs_of
from runlens.sources.reading import Precision, SourceReading, StoreReader

FIXTURES = Path(__file__).parents[2] / "fixtures"
BENCH = Path(__file__).parents[3] / "shared" / "bench"
KINDS = {"trainer_state", "tensorboard", "wandb", "console"}
# relative: half a unit in the last place of each
TOLERANCE: dict[Precision, float] = {"float64": 0.0, "float32": 6e-8, "rounded": 5e-4}
GAUGES = ("memory/", "gpu_mem")  # logged with the losses and with the evaluations
OWN = {"epoch"}  # an axis: four digits of it in a console
# Rules whose evidence only some formats hold, and what it is.
NEEDS = {
    "crashed": "a traceback or an exit code",
    "killed": "a message of the system, or an exit code",
    "oom-cliff": "a message of the system",
    "hang": "the times of the rows",
    "stopped-early": "the plan, and a sign of the end",
    "clip-saturation": "max_grad_norm, which neither trainer_state.json nor a console has",
}
DIED = "known-error"  # before its first row: only a tracker's heartbeat is a number
SAMPLED = 6  # of the bench one in so many is diagnosed: all of it takes a minute


def of_one_format(place: Path) -> dict[str, tuple[Run, list[SourceReading]]]:
    """Read the sources of each format alone, as if no other had been written."""
    readings: dict[str, list[SourceReading]] = defaultdict(list)
    for reader, path in find(place):
        if not isinstance(reader, StoreReader) and path.name != "output.log":
            reading = reader.read(path)
            if reading.kind in KINDS:
                readings[reading.kind].append(reading)
    runs = {kind: runs_of(place, str(place), some) for kind, some in readings.items()}
    return {
        kind: (some[0], readings[kind])
        for kind, some in runs.items()
        if len(some) == 1 and len(some[0].history)
    }


def whole(readings: list[SourceReading]) -> bool:
    """Whether a format has the run up to its end."""
    hints = [reading.hints for reading in readings]
    ends = {
        "trainer_state": any(not hint.snapshot for hint in hints),
        "tensorboard": True,
        "wandb": not any(hint.no_exit_record for hint in hints),
        "console": any(hint.summary for hint in hints),
    }
    return ends[readings[0].kind]


def differences(place: Path) -> Iterator[str]:
    """Yield what two formats of a run tell differently."""
    for (kind, (one, mine)), (other_kind, (other, theirs)) in combinations(
        of_one_format(place).items(), 2
    ):
        exact = whole(mine) and whole(theirs)
        near = sum(TOLERANCE[some[0].precision] for some in (mine, theirs))
        for metric in sorted({*one.history.metrics} & {*other.history.metrics} - OWN):
            if not metric.startswith(GAUGES):
                told = disagreement(one.curve(metric), other.curve(metric), near, exact=exact)
                if told:
                    yield f"{place.name}: {metric} of {kind} and {other_kind}: {told}"


def disagreement(one: Curve, other: Curve, near: float, *, exact: bool) -> str:
    """Return in what two curves differ, empty where they do not."""
    common, first, second = np.intersect1d(one.step, other.step, return_indices=True)
    points = len(one), len(other)
    if len(common) < (max(points) if exact else min(points)):
        return f"{points[0]} and {points[1]} points, {len(common)} common steps"
    a, b = one.value[first], other.value[second]
    same = np.isclose(a, b, rtol=near, atol=0.0, equal_nan=True)
    return "" if same.all() else f"{a[~same][0]} and {b[~same][0]} at {common[~same][0]}"


def several(root: Path) -> list[Path]:
    """Return the runs below a folder that left several sources with rows."""
    left = (place for place in root.iterdir() if any(place.glob("**/*.tfevents.*")))
    return sorted(place for place in left if place.name not in {DIED, "pairs"})


def loud(place: Path) -> Iterator[str]:
    """Yield what a format alone lets a user hear that all together do not, and the reverse."""
    everything = diagnose(place)
    heard = {f.rule for f in everything.findings if f.severity != "info"}
    for kind, (run, readings) in of_one_format(place).items():
        if not whole(readings):
            continue
        alone = diagnose(run)
        judged = {
            rule
            for rule in everything.outcomes.keys() - NEEDS.keys()
            if {everything.outcomes[rule].status, alone.outcomes[rule].status}
            <= {"found", "passed"}
        }
        found = {f.rule for f in alone.findings if f.severity != "info"}
        for rule in sorted((found ^ heard) & judged):
            yield f"{place.name}: {rule} is {'' if rule in found else 'not '}loud in {kind} alone"


@pytest.mark.parametrize("place", several(FIXTURES), ids=lambda place: place.name)
def test_every_format_of_a_run_has_the_same_history(place: Path) -> None:
    """The same steps, and values that are equal up to the precision of the format."""
    assert len(of_one_format(place)) > 1
    assert list(differences(place)) == []


@pytest.mark.parametrize("place", several(FIXTURES), ids=lambda place: place.name)
def test_every_format_of_a_run_is_as_loud(place: Path) -> None:
    """But for the rules of `NEEDS`, which lean on what not every format holds."""
    assert list(loud(place)) == []


on_bench = pytest.mark.skipif(not BENCH.is_dir(), reason=f"no labelled runs at {BENCH}")


@on_bench
def test_every_format_of_the_bench_has_the_same_history() -> None:
    """Runs of seven trainers, finished, crashed, killed and resumed."""
    places = several(BENCH)
    assert len(places) > 100
    assert [told for place in places for told in differences(place)] == []


@on_bench
def test_every_format_of_the_bench_is_as_loud() -> None:
    """One in a few of them."""
    assert [told for place in several(BENCH)[::SAMPLED] for told in loud(place)] == []
