"""Damaged files of all formats: no exception, no hang, bounded memory, no invented number."""

import pytest

from runlens.sources.reading import SourceReading
from tests.fuzz import mutants
from tests.fuzz.corpus import samples

MUTANTS = 5_000
PARTS = 10  # so that several processes share them
SEED = 20_261_121
MOST_MEMORY = 300  # MiB more than before


@pytest.mark.parametrize("part", range(PARTS))
def test_mutants_are_survived(part: int) -> None:
    """Read, merged, diagnosed, and some of them rendered; a mutant can be made again by number."""
    size = MUTANTS // PARTS
    before = mutants.memory()
    outcome = mutants.run(range(part * size, (part + 1) * size), SEED)
    assert outcome.failures == []
    assert outcome.mutants == size
    assert outcome.readable > 0.7 * size
    assert set(outcome.kinds) == set(mutants.kinds())
    assert outcome.rendered > 0
    assert mutants.memory() - before < MOST_MEMORY


def test_all_readers_have_samples() -> None:
    """No format is left out."""
    assert set(mutants.kinds()) == {
        "config", "console", "csv", "jsonl", "mlflow", "tensorboard", "trainer_state", "wandb",
    }  # fmt: skip


def test_a_mutant_is_the_same_each_time() -> None:
    """Its number and seed are enough to find it again; another seed makes another one."""
    first = [mutants.mutant(number, 3).data for number in range(50)]
    assert first == [mutants.mutant(number, 3).data for number in range(50)]
    assert first != [mutants.mutant(number, 4).data for number in range(50)]


def test_most_mutants_are_damaged() -> None:
    """What is examined differs from the files that it was made of."""
    whole = {sample.data for sample in samples()}
    assert sum(mutants.mutant(number, 0).data in whole for number in range(500)) < 25


@pytest.mark.parametrize("fault", ["exception", "invented value", "hang"])
def test_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that throws, makes up a number, or takes too long is a failure with its number."""

    def broken(_: object) -> SourceReading:
        raise ZeroDivisionError

    def inventing(reading: SourceReading, one: mutants.Mutant) -> None:
        for series in reading.series.values():
            series.value[:] = 0.123456789
        real(reading, one)

    real = mutants._check_values  # noqa: SLF001 - the check itself is tested
    if fault == "exception":
        monkeypatch.setattr(mutants, "read_all", broken)
    elif fault == "hang":
        monkeypatch.setattr(mutants, "SLOW", 0.0)
    else:
        monkeypatch.setattr(mutants, "_check_values", inventing)
    outcome = mutants.run(range(16), SEED)
    assert outcome.failures
    assert outcome.failures[0].startswith("mutant ")
