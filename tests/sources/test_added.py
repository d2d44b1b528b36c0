"""Readers of installed packages: read and listed as ours, and guarded."""

import shutil
from pathlib import Path

import pytest

import runlens
from runlens.diagnosis import Diagnosis
from runlens.sources import added, find, kind_of
from tests.cli.places import SICK, lens
from tests.plugged import STEPS, install

SOURCE = """
from runlens.sources.reading import SourceReading, SeriesBuilder
LOOKS_FOR, FRAMEWORK = "*.own", "us"
def find(place, names):
    return [folder / name for folder, some in names.items() for name in some if {mine}]
def read(path):
    {read}
"""
READS = "b = SeriesBuilder(); [b.add('loss', n, 9.5 - n / 4) for n in range(30)]; "
READS += "return SourceReading(path, 'own', series=b.series())"
STORE = f"""
{SOURCE.partition("def read")[0].replace("{mine}", "True")}
def read_all(path):
    readings = []
    for name in ("first", "second"):
        b = SeriesBuilder()
        [b.add('loss', n, len(name) + 9 - n / 4) for n in range(30)]
        readings.append(SourceReading(path, 'own', series=b.series(), run_id=name, in_store=True))
    return readings
"""


def told(diagnosis: Diagnosis) -> list[str]:
    """Return the problems, each in a line."""
    return [f"{one.where} {one.text}" for one in diagnosis.problems]


def mine(read: str, claims: str = "name.endswith('.own')") -> str:
    """Return the code of a source with this body of `read`."""
    return SOURCE.replace("{mine}", claims).replace("{read}", read)


def run_at(folder: Path, name: str = "run.own") -> Path:
    """Make a folder with a log of the Trainer and a file for a source of our own."""
    shutil.copytree(SICK, folder)
    (folder / name).write_text(STEPS)
    return folder


def test_an_installed_source_is_read_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers become curves under canonical names."""
    origin = install(tmp_path / "site", monkeypatch, "sources", mine(READS))
    (tmp_path / "run.own").touch()
    run = runlens.read(tmp_path / "run.own")
    assert run.curve("train_loss").value.tolist() == [9.5 - step / 4 for step in range(30)]
    assert origin.partition(" ")[0] in lens("sources", COLUMNS="160").stdout


def test_a_file_that_an_installed_source_claims_is_read_by_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The built-in reader of logs would take it too."""
    install(tmp_path / "site", monkeypatch, "sources", mine(READS, "name == 'train.log'"))
    (tmp_path / "train.log").write_text("{'loss': 9.0, 'epoch': 1.0}\n")
    assert [kind_of(reader) for reader, _ in find(tmp_path / "train.log")] == ["own"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError"),
        ("OFFER = 3", "has no LOOKS_FOR, FRAMEWORK, find, read"),
        (mine(READS, "1 / 0"), "could not look for *.own: ZeroDivisionError"),
        (mine("raise OSError('disk')"), "OSError: disk"),
        (mine("raise SystemExit"), "SystemExit"),
        (mine("return {}"), "read returned a value of type dict"),
        (mine(f"{READS}\n").replace("b.series()", "{'loss': ([1, 2], [1.0])}"), "different length"),
    ],
)
def test_a_broken_source_is_a_problem_in_the_report(
    code: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the other sources say is read; where there are none, one line says why."""
    place = run_at(tmp_path / "run")
    before = runlens.diagnose(place).verdict
    install(tmp_path / "site", monkeypatch, "sources", code)
    diagnosis = runlens.diagnose(place)
    assert [line for line in told(diagnosis) if why in line], told(diagnosis)
    assert diagnosis.verdict == before
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "run.own").touch()
    result = lens("diagnose", alone)
    assert (result.exit_code, result.stdout) == (3, "")
    assert why in result.stderr


def test_broken_sources_are_told_by_the_list_of_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who wonders why a source is missing looks there."""
    install(tmp_path, monkeypatch, "sources", "OFFER = 3")
    assert not added.readers()
    assert "offers a source that cannot be used" in lens("sources").stderr


def test_a_file_of_several_runs_is_read_into_as_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`read_all` in place of `read`, as the readers of databases have."""
    install(tmp_path / "site", monkeypatch, "sources", STORE)
    place = tmp_path / "runs.own"
    place.touch()
    assert [run.curve("train_loss").value[0] for run in runlens.read_all(place)] == [14.0, 15.0]


def test_of_two_sources_that_claim_a_file_the_first_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of their names; the numbers are not there twice."""
    install(tmp_path / "site" / "b", monkeypatch, "sources", mine("return None"), "second")
    install(tmp_path / "site" / "a", monkeypatch, "sources", mine(READS), "first")
    (tmp_path / "run.own").touch()
    assert [kind_of(reader) for reader, _ in find(tmp_path / "run.own")] == ["first"]
