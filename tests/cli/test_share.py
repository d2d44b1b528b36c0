"""`runlens diagnose RUN --share CASE`: writes a case, says what of it comes back."""

import json
from pathlib import Path

import pytest

from tests.cli.places import FIXTURES, SICK, a_run, digest, lens


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder of our own."""
    monkeypatch.chdir(tmp_path)


def test_a_case_is_written_beside_the_diagnosis() -> None:
    """The run itself is left as it is; what does not come back is named."""
    before = digest(SICK)
    result = lens("diagnose", SICK, "--share", "a.case.json", "--no-html")
    assert result.exit_code == 0
    assert result.stdout == lens("diagnose", SICK, "--no-html").stdout
    assert json.loads(Path("a.case.json").read_text())["schema"] == "runlens.case/1"
    assert "Case: a.case.json; " in result.stderr
    assert digest(SICK) == before


def test_the_settings_that_a_finding_rests_on_are_kept() -> None:
    """Here that the gradients are clipped, and how much; what names something stays out."""
    result = lens("diagnose", FIXTURES / "clip-saturation", "--share", "a.json", "-q")
    assert "not:" not in result.stderr
    kept = json.loads(Path("a.json").read_text())["settings"]
    assert kept["max_grad_norm"] == 0.05
    assert not {"model_name", "seed", "output_dir"} & set(kept)


def test_a_case_is_diagnosed_as_a_run_is() -> None:
    """By every command that takes one."""
    lens("diagnose", SICK, "--share", "a.case.json", "-q")
    whole = json.loads(lens("diagnose", SICK, "--format", "json").stdout)
    again = json.loads(lens("diagnose", "a.case.json", "--format", "json").stdout)
    assert again["run"]["name"] == "a"
    assert again["verdict"]["sentence"] == whole["verdict"]["sentence"]
    assert lens("sources", "a.case.json").stdout.split() == ["case", "a.case.json"]
    assert lens("export", "a.case.json", "-o", "a.csv").exit_code == 0
    assert "train_loss" in Path("a.csv").read_text()


def test_the_same_run_gives_the_same_case() -> None:
    """Byte for byte."""
    for name in ("a.json", "b.json"):
        lens("diagnose", SICK, "--share", name, "-q")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_several_runs_are_one_clear_line(tmp_path: Path) -> None:
    """A case is of one run; --run chooses it."""
    for seed, name in enumerate(("alpha", "beta")):
        a_run(tmp_path / "runs" / name, seed)
    result = lens("diagnose", "runs", "--share", "a.json")
    assert result.exit_code == 2
    assert "--share takes one run, and these are several; add --run NAME" in result.stderr
    assert not Path("a.json").exists()
    assert lens("diagnose", "runs", "--run", "beta", "--share", "a.json", "-q").exit_code == 0


def test_a_damaged_case_is_one_clear_line() -> None:
    """Exit code 3, no traceback."""
    Path("a.json").write_text('{"schema": "runlens.case/1", "task"')
    result = lens("diagnose", "a.json")
    assert result.exit_code == 3
    assert result.stderr.startswith("runlens: a.json: is a damaged case (")
    assert result.stderr.count("\n") == 1
