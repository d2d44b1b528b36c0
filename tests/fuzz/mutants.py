"""Damages real files in seeded ways and looks at what comes of them.

A mutant is a file that was damaged (see mutations.py) up to three times over. Whatever it is: no
exception but NothingReadable, no hang, little memory, and where the format has checksums no
number, tag or step that no whole file has. All mutants are read and merged to runs, some of them
diagnosed, fewer shown in all forms. `python -m tests.fuzz.long_run` does it to very many.
"""

import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from runlens import diagnose, faults, read_all
from runlens.errors import NothingReadable
from runlens.report.terminal import clean
from tests.fuzz import fields
from tests.fuzz.corpus import Sample, samples
from tests.fuzz.known import CHECKED, check_values
from tests.fuzz.mutations import MUTATIONS
from tests.fuzz.outputs import check_outputs
from tests.fuzz.sealed import SEALED
from tests.fuzz.texts import TEXTS

SLOW = 2.0  # CPU seconds; a sample takes hundredths
HANG = 5.0  # CPU seconds after which a mutant is given up
GREW = 128.0  # MiB by which no mutant may raise the most memory ever held
DIAGNOSED = 10  # one mutant of a kind in so many is diagnosed
RENDERED = 30  # and shown in all forms
SEALED_SHARE = 0.3  # of the files with checksums: damaged within, the checksums made anew
BYTES_SHARE = 0.5  # of the others: damaged as bytes, the rest as text
BESIDE_SHARE = 0.3  # of all: with a whole file of another kind beside
STRANGER = "a stranger's run"
WARM = 2  # mutants of each kind after which all that is loaded late has been loaded


@dataclass
class Mutant:
    """One damaged file, and how to make it again."""

    number: int
    seed: int
    sample: Sample
    data: bytes
    others: tuple[Sample, ...] = ()  # of which bytes may be in it
    beside: tuple[tuple[str, bytes], ...] = ()  # whole files
    sealed: bool = False  # its checksums are right, whatever it holds

    @property
    def turn(self) -> int:
        """Its number among those of its kind."""
        return self.number // len(kinds())


@dataclass
class Outcome:
    """What came of many mutants."""

    mutants: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    readable: int = 0  # gave at least one run
    diagnosed: int = 0
    rendered: int = 0
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0  # CPU seconds
    memory: float = 0.0  # MiB, the most that a process held

    def add(self, other: "Outcome") -> None:
        """Add what came of others."""
        self.mutants += other.mutants
        self.kinds += other.kinds
        self.readable += other.readable
        self.diagnosed += other.diagnosed
        self.rendered += other.rendered
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)
        self.memory = max(self.memory, other.memory)


@lru_cache(maxsize=1)
def kinds() -> tuple[str, ...]:
    """Return the kinds of samples."""
    return tuple(sorted({sample.kind for sample in samples()}))


def mutant(number: int, seed: int) -> Mutant:
    """Return one mutant, the same for the same number and seed; kinds take turns."""
    dice = random.Random(f"{seed}/{number}")
    mine = kinds()[number % len(kinds())]
    sample, other = dice.choices([one for one in samples() if one.kind == mine], k=2)
    sealed = mine in SEALED and dice.random() < SEALED_SHARE
    data = bytearray(sample.data)
    ways = MUTATIONS if mine in CHECKED or dice.random() < BYTES_SHARE else TEXTS
    for mutate in dice.choices(ways, k=dice.choice((1, 1, 2, 3))):
        if sealed:
            data[:] = SEALED[mine](bytes(data), mutate, dice, other.data)
        else:
            mutate(data, dice, other.data)
    if data == sample.data and not sealed:  # it has no such text
        dice.choice(MUTATIONS)(data, dice, other.data)
    sibling = dice.choice(samples())
    near = dice.random() < BESIDE_SHARE and sibling.name != sample.name
    beside = (*sample.beside, *([(sibling.name, sibling.data)] if near else []))
    return Mutant(number, seed, sample, bytes(data), (sample, other), beside, sealed)


def examine(one: Mutant, folder: Path, outcome: Outcome) -> None:
    """Read and merge one mutant, diagnose and show it if it is its turn."""
    for name, data in ((one.sample.name, one.data), *one.beside):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if one.sample.kind in CHECKED and not one.sealed:
        check_values(folder / one.sample.name, one.sample.kind, one.others)
    try:
        runs = read_all(folder)
    except NothingReadable as error:
        _check_one_line(str(error))
        return
    outcome.readable += 1
    if one.turn % DIAGNOSED:
        return
    outcome.diagnosed += 1
    rendered = one.turn % RENDERED == 0
    outcome.rendered += rendered
    for run in runs:
        diagnosis = diagnose(run, preview=True)
        broken = [name for name, said in diagnosis.outcomes.items() if said.status == "error"]
        assert not broken, {name: diagnosis.outcomes[name] for name in broken}
        if rendered:
            check_outputs(diagnosis)


def _check_one_line(message: str) -> None:
    assert "\n" not in message.strip(), message


def examine_stranger(number: int, seed: int, place: Path, outcome: Outcome) -> None:
    """Read a run whose every text is hostile; diagnose and show each of its runs in all forms."""
    folder, secrets = fields.write(number, seed, place)
    try:
        runs = read_all(folder)
    except NothingReadable as error:  # the column of its steps had such a name
        _check_one_line(clean(str(error)))
        told = [one for one in secrets if one in str(error)]
        if told:
            raise AssertionError(f"a refusal shows {told}") from error
        return
    outcome.readable += 1
    for one in runs:
        outcome.diagnosed += 1
        outcome.rendered += 1
        check_outputs(diagnose(one, preview=True), secrets)


def run(numbers: range, seed: int = 0, *, strangers: bool = False) -> Outcome:
    """Examine the mutants of these numbers, or the runs of strangers."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as place, warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            one = None if strangers else mutant(number, seed)
            told = partial(_told, number, seed, one.sample.name if one else STRANGER)
            folder = Path(place) / "run"
            folder.mkdir()
            began, held = time.process_time(), memory()
            faults.forget()
            try:
                with _time_limit():
                    if one:
                        examine(one, folder, outcome)
                    else:
                        examine_stranger(number, seed, folder, outcome)
            except Exception:  # noqa: BLE001 - each one is a finding
                outcome.failures.append(told(traceback.format_exc()))
            # what the net caught is no less a fault
            swallowed = ["".join(traceback.format_exception(error)) for error in faults.caught()]
            outcome.failures += [told(f"survived: {trace}") for trace in swallowed]
            took, grew = time.process_time() - began, memory() - held
            if took > SLOW:
                outcome.failures.append(told(f"took {took:.1f} CPU seconds"))
            if grew > GREW and outcome.mutants > WARM * len(kinds()):
                outcome.failures.append(told(f"took {grew:.0f} MiB more than all before it"))
            outcome.slowest = max(outcome.slowest, took)
            outcome.mutants += 1
            outcome.kinds[one.sample.kind if one else STRANGER] += 1
            shutil.rmtree(folder)
    outcome.memory = memory()
    return outcome


def _fast_folder() -> str | None:
    """Return a folder in memory, where there is one: the files are many, small and short-lived."""
    shared = Path("/dev/shm")  # noqa: S108 - only to make a folder of our own in
    return str(shared) if shared.is_dir() else None


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise in what takes too much CPU time; another process on the machine is no hang."""

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        raise TimeoutError(f"more than {HANG:.0f} CPU seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _told(number: int, seed: int, name: str, what: str) -> str:
    return f"mutant {number} of seed {seed} ({name}): {what}"


def memory() -> float:
    """Return the most memory that this process ever held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
