"""Damages real files in seeded ways and looks at what comes of them.

    python -m tests.fuzz.mutants 100000 [SEED]

A mutant is a file that was truncated, or had bytes flipped, zeroed, spliced in from elsewhere, or
doubled, up to three times over. Whatever it is: no exception but NothingReadable, no hang, little
memory, and where the format has checksums no number that no whole file has.
"""

import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from runlens import diagnose, read_all
from runlens.errors import NothingReadable
from runlens.report import json as json_report
from runlens.report import text as text_report
from runlens.report.html import page
from runlens.sources import tensorboard, wandb_dir
from runlens.sources.reading import Reader, SourceReading
from tests.fuzz.corpus import Sample, samples

SLOW = 2.0  # seconds; a sample takes hundredths
LONGEST_DOUBLE = 4_000  # bytes that are put in
RENDERED = 20  # one mutant in so many is shown in all forms
BLOCKS = (1, 7, 64, 512, 4_096)
CHECKED: dict[str, Reader] = {"tensorboard": tensorboard, "wandb": wandb_dir}
GARBAGE = (
    b"\0", b"\xff", b"\n", b"\r", b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"-", b"e", b"%|",
    b"nan", b"NaN", b"Infinity", b"1e999", b"-1", b"9" * 30, b"0.0", b"null", b"\x1b[2J", b"it [",
    b"\xf0\x9f\x94\xa5", b"\xed\xa0\x80", b"step", b"&a ", b"*a", b"!!python/name:os.system ",
)  # fmt: skip

Dice = random.Random


@dataclass
class Mutant:
    """One damaged file, and how to make it again."""

    number: int
    seed: int
    sample: Sample
    data: bytes
    others: tuple[Sample, ...] = ()  # of which bytes may be in it


@dataclass
class Outcome:
    """What came of many mutants."""

    mutants: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    readable: int = 0  # gave at least one run
    rendered: int = 0
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0  # seconds


def truncate(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Cut the end off."""
    del data[dice.randrange(len(data) + 1) :]


def flip(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Change bits in up to eight bytes."""
    for _ in range(dice.randint(1, 8)):
        if data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def zero(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Overwrite a stretch with zeros, as a disk or a network does."""
    start = dice.randrange(len(data) + 1)
    size = min(dice.choice(BLOCKS), len(data) - start)
    data[start : start + size] = bytes(size)


def splice(data: bytearray, dice: Dice, other: bytes) -> None:
    """Put a piece of another file of the kind in the place of some bytes."""
    start, size = dice.randrange(len(data) + 1), dice.choice(BLOCKS)
    place = dice.randrange(len(other) + 1)
    data[start : start + dice.choice((0, size))] = other[place : place + size]


def double(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Write a piece of the file a second time, there or elsewhere."""
    start = dice.randrange(len(data) + 1)
    piece = data[start : start + dice.randrange(1, LONGEST_DOUBLE)]
    place = dice.choice((start + len(piece), dice.randrange(len(data) + 1)))
    data[place:place] = piece


def cut_out(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Leave a piece out."""
    start = dice.randrange(len(data) + 1)
    del data[start : start + dice.choice(BLOCKS)]


def garbage(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Put in what has a meaning in one of the formats."""
    place = dice.randrange(len(data) + 1)
    data[place : place + dice.choice((0, 1, 3))] = dice.choice(GARBAGE) * dice.choice((1, 1, 200))


MUTATIONS: tuple[Callable[[bytearray, Dice, bytes], None], ...] = (
    truncate, flip, zero, splice, double, cut_out, garbage,
)  # fmt: skip


@lru_cache(maxsize=1)
def kinds() -> tuple[str, ...]:
    """Return the kinds of samples."""
    return tuple(sorted({sample.kind for sample in samples()}))


def mutant(number: int, seed: int) -> Mutant:
    """Return one mutant, the same for the same number and seed; kinds take turns."""
    dice = random.Random(f"{seed}/{number}")
    mine = kinds()[number % len(kinds())]
    sample, other = dice.choices([one for one in samples() if one.kind == mine], k=2)
    data = bytearray(sample.data)
    for mutate in dice.choices(MUTATIONS, k=dice.choice((1, 1, 2, 3))):
        mutate(data, dice, other.data)
    return Mutant(number, seed, sample, bytes(data), (sample, other))


def examine(one: Mutant, folder: Path, *, rendered: bool) -> bool:
    """Read, merge, diagnose and show one mutant; return whether there was a run in it."""
    for name, data in ((one.sample.name, one.data), *one.sample.beside):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if one.sample.kind in CHECKED:
        _check_values(CHECKED[one.sample.kind].read(folder / one.sample.name), one)
    try:
        runs = read_all(folder)
    except NothingReadable as error:
        _one_line(str(error))
        return False
    for run in runs:
        diagnosis = diagnose(run, preview=True)
        broken = [name for name, said in diagnosis.outcomes.items() if said.status == "error"]
        assert not broken, {name: diagnosis.outcomes[name] for name in broken}
        if rendered:
            text_report.render(diagnosis, text_report.Options(verbose=True))
            json_report.render(diagnosis, full=True)
            page.render(diagnosis, static=True)
            page.render(diagnosis)
    return True


def _one_line(message: str) -> None:
    assert "\n" not in message.strip(), message


def _check_values(reading: SourceReading, one: Mutant) -> None:
    known = frozenset().union(*(_values(sample) for sample in one.others))
    for name, series in reading.series.items():
        found = set(_numbers(series.value))
        assert found <= known, f"{name}: {sorted(found - known)[:3]} stand in no whole file"


@lru_cache(maxsize=256)
def _values(sample: Sample) -> frozenset[float]:
    """Return all numbers that a whole file holds, its steps too: W&B logs them as a metric."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / sample.name
        path.write_bytes(sample.data)
        reading = CHECKED[sample.kind].read(path)
    columns = [
        column for s in reading.series.values() for column in (s.value, s.step.astype(float))
    ]
    return frozenset(value for column in columns for value in _numbers(column))


def _numbers(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Iterator[float]:
    yield from values[np.isfinite(values)].tolist()


def run(numbers: range, seed: int = 0) -> Outcome:
    """Examine the mutants of these numbers."""
    outcome = Outcome()
    for number in numbers:
        one = mutant(number, seed)
        began = time.perf_counter()
        shown = number // len(kinds()) % RENDERED == 0  # of each kind
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                outcome.readable += examine(one, Path(folder), rendered=shown)
            except Exception:  # noqa: BLE001 - each one is a finding
                outcome.failures.append(_told(one, traceback.format_exc()))
        took = time.perf_counter() - began
        if took > SLOW:
            outcome.failures.append(_told(one, f"took {took:.1f} s"))
        outcome.slowest = max(outcome.slowest, took)
        outcome.mutants += 1
        outcome.rendered += shown
        outcome.kinds[one.sample.kind] += 1
    return outcome


def _told(one: Mutant, what: str) -> str:
    return f"mutant {one.number} of seed {one.seed} ({one.sample.name}): {what}"


def memory() -> float:
    """Return the most memory that this process ever held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Examine as many mutants as asked for; exit 1 where one of them failed."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began = time.perf_counter()
    outcome = run(range(count), seed)
    for failure in outcome.failures[:20]:
        print(failure)
    counts = ", ".join(f"{kind} {number:,}" for kind, number in sorted(outcome.kinds.items()))
    print(f"{outcome.mutants:,} mutants in {time.perf_counter() - began:.0f} s: {counts}")
    print(
        f"{outcome.readable:,} held a run, {outcome.rendered:,} were rendered, "
        f"{len(outcome.failures):,} failed; slowest {outcome.slowest:.2f} s, "
        f"at most {memory():.0f} MiB"
    )
    sys.exit(bool(outcome.failures))


if __name__ == "__main__":
    main()
