"""The shipped library of labeled runs, and the nearest of them.

`cases.jsonl` holds features and labels alone, no value that a run logged. Its first line is what
`benchmarks/similar.py` measured when it made the file.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources

import msgspec
import numpy as np

from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.similar.features import distances, features

FILE = "cases.jsonl"
HEALTHY = "healthy"
NEAREST = 12  # runs that are asked what they were
NEAR = 0.05  # distance below which two runs are as good as equal
STEEP = 4  # power with which a run's say falls with its distance
SCALE = 1_000  # features are kept in thousandths
FIRST = 3  # answers that count as "among the first"


class Measured(msgspec.Struct, frozen=True):
    """How often it is right on public runs, the run's own repository left out."""

    faulty: int
    faulty_right: int  # their fault is among the first three answers
    healthy: int
    healthy_right: int  # "healthy" is the first answer

    def __str__(self) -> str:
        return (
            f"Leaving its own repository out, the right fault is among the first three answers for"
            f" {self.faulty_right} of {self.faulty} faulty public runs"
            f" ({self.faulty_right / self.faulty:.0%}), and healthy comes first for"
            f" {self.healthy_right} of {self.healthy} healthy ones."
        )


class Known(msgspec.Struct, frozen=True):
    """A labeled run: where it comes from, what was wrong with it, and its features."""

    name: str  # repository and path of a public run, "bench b023" of one trained with a fault
    group: str  # runs of one group are no evidence for one another
    faults: tuple[str, ...]  # slugs of rules; empty: healthy
    cause: str  # slug, where it was labelled
    thousandths: tuple[int | None, ...]

    @property
    def answers(self) -> tuple[str, ...]:
        """Return what it says of a run like it."""
        return self.faults or (HEALTHY,)


class Near(NamedTuple):
    """A labeled run and how far it is: 0 the same, about 0.3 for two runs at random."""

    run: Known
    distance: float


class Answer(NamedTuple):
    """The nearest labeled runs, and what they were, the likeliest first."""

    nearest: tuple[Near, ...]
    were: tuple[tuple[str, int], ...]  # slug or "healthy", and how many of the nearest
    causes: tuple[tuple[str, int], ...]
    of: int  # labelled runs
    measured: Measured


def like(run: Run) -> Answer:
    """Return the labeled runs that a run is most like."""
    measured, known, table = library()
    nearest = near(features(run), known, table)
    causes = Counter(one.run.cause for one in nearest if one.run.cause)
    return Answer(nearest, ranked(nearest), tuple(causes.most_common()), len(known), measured)


def near(
    one: FloatArray, known: Sequence[Known], table: FloatArray, without: str = ""
) -> tuple[Near, ...]:
    """Return the nearest runs, the nearest first; none of the group `without`."""
    found = distances(one, table)
    order = [at for at in np.argsort(found, kind="stable") if known[at].group != without]
    return tuple(Near(known[at], float(found[at])) for at in order[:NEAREST])


def ranked(nearest: Sequence[Near]) -> tuple[tuple[str, int], ...]:
    """Return what the runs were and how many; the nearer a run, the more it says."""
    weight: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for run, distance in nearest:
        for answer in run.answers:
            weight[answer] += (distance + NEAR) ** -STEEP  # type: ignore[assignment]
            count[answer] += 1
    return tuple((answer, count[answer]) for answer, _ in weight.most_common())


@cache
def library() -> tuple[Measured, tuple[Known, ...], FloatArray]:
    """Read the file: what was measured, the runs, and their features, shape (m, n)."""
    lines = resources.files(__package__).joinpath(FILE).read_bytes().splitlines()
    measured = msgspec.json.decode(lines[0], type=Measured)
    known = tuple(msgspec.json.decode(line, type=Known) for line in lines[1:])
    table = np.array([one.thousandths for one in known], dtype=np.float64) / SCALE
    return measured, known, table


def scored(known: Sequence[Known], table: FloatArray) -> Measured:
    """Measure on the public runs, each without its own repository."""
    public = [at for at, one in enumerate(known) if "/" in one.name]
    sick = [at for at in public if known[at].faults]
    well = [at for at in public if not known[at].faults]

    def answers(at: int) -> list[str]:
        return [slug for slug, _ in ranked(near(table[at], known, table, known[at].group))]

    right = sum(bool(set(answers(at)[:FIRST]) & set(known[at].faults)) for at in sick)
    return Measured(len(sick), right, len(well), sum(answers(at)[0] == HEALTHY for at in well))
