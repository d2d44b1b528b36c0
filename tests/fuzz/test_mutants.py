"""Damaged files of all formats: no exception, no hang, bounded memory, no invented number."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import pytest

from runlens import diagnose, faults
from runlens.sources import tensorboard
from runlens.sources.reading import SourceReading
from tests.fuzz import known, long_run, mutants, outputs
from tests.fuzz.corpus import ROOT, samples
from tests.fuzz.mutations import MUTATIONS
from tests.fuzz.outputs import check_outputs
from tests.fuzz.texts import TEXTS

MUTANTS = 5_000
STRANGERS = 60
PARTS = 10  # so that several processes share them
SEED = 20_261_121
MOST_MEMORY = 300  # MiB more than before


@pytest.mark.parametrize("number", [218_977, 235_965], ids=["name of bytes", "nothing but steps"])
def test_mutants_that_were_not_survived_once(number: int) -> None:
    """A damaged database with bytes for the name of a table; a CSV of one column, which counts."""
    outcome = mutants.run(range(number, number + 1), 5101)
    assert outcome.mutants == 1
    assert outcome.failures == []


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
    assert outcome.diagnosed > outcome.rendered > 0
    assert mutants.memory() - before < MOST_MEMORY


def test_hostile_texts_of_strangers_are_survived() -> None:
    """Names, settings, logs, exceptions: no output breaks, nothing lives, no secret shows."""
    outcome = mutants.run(range(STRANGERS), SEED, strangers=True)
    assert outcome.failures == []
    assert outcome.readable == STRANGERS
    assert outcome.rendered >= STRANGERS


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("json", '{"a": "\x9b"}'),
        ("json", '{"a": "\u2028"}'),
        ("json", '{"a": "\U000e0041"}'),
        ("json", '{"a": NaN}'),
        ("json", '{"a": "planted"}'),
        ("html", "<p><script>canary()</script>"),
        ("html", "<p onclick='x'>"),
        ("html", "<a href='https://canary.example'>"),
        ("markdown", "<script>canary()</script>"),
        ("markdown", "![x](https://canary.example/x)"),
        ("github", "::error::a\n::set-output name=canary::x"),
        ("junit", "<a>&b;</a>"),
    ],
)
def test_what_an_output_may_not_hold_is_found(
    form: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should a format forget to escape, or a secret come through."""
    diagnosis = diagnose(ROOT / "fixtures" / "divergence")
    monkeypatch.setattr(outputs, "outputs", lambda _: {form: shown})
    with pytest.raises((AssertionError, ET.ParseError)):
        check_outputs(diagnosis, ["planted"])


def test_what_the_net_caught_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that cost only a part is a fault all the same."""

    def caught(*_: object) -> list[object]:
        return faults.survived(lambda: _raising(None), lambda _: []) or []  # type: ignore[arg-type,return-value]

    monkeypatch.setattr(mutants, "read_all", caught)
    (failure,) = mutants.run(range(1), SEED).failures
    assert "survived: Traceback" in failure


def test_all_readers_have_samples() -> None:
    """No format is left out."""
    assert set(mutants.kinds()) == {
        "config", "console", "csv", "jsonl", "mlflow", "mlflow_db", "model_card",
        "sb3_evaluations", "sb3_monitor", "swanlab", "tensorboard", "trackio",
        "trainer_state", "wandb",
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


def test_each_mutation_damages_a_file() -> None:
    """Whatever the dice say, and an empty file is no trouble."""
    whole = b'{"loss": 1.5, "step": 1}\n{"loss": 0.5, "step": 2}\n' * 20
    for mutate in (*MUTATIONS, *TEXTS):
        damaged = 0
        for seed in range(20):
            data, empty = bytearray(whole), bytearray()
            mutate(data, Random(seed), b"other" * 50)
            mutate(empty, Random(seed), b"")
            damaged += data != whole
        assert damaged > (10 if mutate in MUTATIONS else 0), mutate


def _raising(_place: object) -> object:
    raise ZeroDivisionError


def _hungry(_place: object) -> object:
    beyond = mutants.memory() + 300  # MiB; tests before this one may have held more than 300
    bytearray(b"x") * int(beyond * 2**20)
    return []


def _endless(_place: object) -> object:
    while True:
        pass


@pytest.mark.parametrize(
    ("reader", "told"),
    [(_raising, "ZeroDivisionError"), (_hungry, "MiB more"), (_endless, "CPU seconds")],
)
def test_faults_are_found(
    reader: Callable[[object], object], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that throws, takes too much memory or never ends is a failure with its number."""
    monkeypatch.setattr(mutants, "read_all", reader)
    monkeypatch.setattr(mutants, "HANG", 0.2)
    monkeypatch.setattr(mutants, "WARM", -1)
    outcome = mutants.run(range(2), SEED)
    assert outcome.failures
    assert all(failure.startswith("mutant ") for failure in outcome.failures)
    assert any(told in failure for failure in outcome.failures)


@pytest.mark.parametrize("what", ["name", "step", "value"])
def test_what_stands_in_no_whole_file_is_found(
    what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A tag, a step and a number that a reader makes up are each a failure."""
    sample = next(one for one in samples() if one.kind == "tensorboard")
    path = tmp_path / sample.name
    path.write_bytes(sample.data)
    known.check_values(path, sample.kind, [sample])
    real = tensorboard.read

    def inventing(path: Path) -> SourceReading:
        reading = real(path)
        name, series = next(iter(reading.series.items()))
        made = {
            "name": ("made/up", series),
            "step": (name, series._replace(step=series.step + 1_000_000)),
            "value": (name, series._replace(value=series.value + 0.123456789)),
        }
        return replace(reading, series=dict([made[what]]))

    monkeypatch.setattr(tensorboard, "read", inventing)
    with pytest.raises(AssertionError, match="no whole file"):
        known.check_values(path, sample.kind, [sample])


def test_many_processes_find_what_one_finds() -> None:
    """The long run examines each mutant once."""
    outcome = long_run.examine_all(600, SEED)
    assert outcome.failures == []
    assert outcome.mutants == 600
