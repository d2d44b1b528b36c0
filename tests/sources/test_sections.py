"""Files of sections, ``[epoch.3]`` above ``train/loss = 0.5``, and a result of the end."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.console.sections import with_sections_joined

LOSS = [round(2 / n + 0.1, 4) for n in range(1, 13)]


def ini(folder: Path, head: str, entries: str, end: str = "", begin: str = "") -> Path:
    """Write a file of sections."""
    rows = "".join(
        f"[{head}]\n{entries}\n\n".format(n=n, l=loss, v=loss + 0.5)
        for n, loss in enumerate(LOSS, 1)
    )
    (folder / "results.ini").write_text(begin + rows + end)
    return folder / "results.ini"


@pytest.mark.parametrize("head", ["epoch.{n}", "Epoch {n}", "epoch_{n}", "epoch{n}"])
def test_a_section_that_counts_is_a_row(tmp_path: Path, head: str) -> None:
    """At its own number, whatever else is told of it; a result of the end stands at the last."""
    end = "[test]\nrows = 1000\nloss = 2.1529\nacc = 0.519\n"
    begin = "[model]\nlayers = 3\nname = net\n\n"
    entries = "train/loss = {l}\nval/loss = {v}\nval/acc = 0.{n}\nbest = yes"
    run = read(ini(tmp_path, head, entries, end, begin))
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_loss").step.tolist() == list(range(1, 13))
    assert run.curve("test_loss").value.tolist() == [2.1529]
    assert run.curve("test_accuracy").step.tolist() == [12]
    assert "rows" not in run.history.metrics
    assert not run.problems


def test_sections_that_count_steps_stand_at_them(tmp_path: Path) -> None:
    """Ten by ten."""
    run = read(ini(tmp_path, "step.{n}0", "loss = {l}"))
    assert run.curve("train_loss").step.tolist() == [10 * n for n in range(1, 13)]


@pytest.mark.parametrize(
    "lines",
    [
        ["[epoch 1]", "loss = 0.5", "saving the model", "[epoch 2]", "loss = 0.4"],
        ["[epoch 1]", "loss = 0.5"],
        ["[layer 1]", "width = 5", "[layer 2]", "width = 4"],
        ["loss = 0.5"],
    ],
)
def test_other_lines_stay(lines: list[str]) -> None:
    """Sentences between them, a single one, sections of settings."""
    others = list(enumerate(lines))
    assert with_sections_joined(others) == others


def test_sections_that_measure_nothing_stay() -> None:
    """Settings behind them as well."""
    lines = ["[epoch 1]", "loss = 1", "[epoch 2]", "loss = 2", "[optimizer]", "lr = 0.1", "[test]"]
    found = [line for _, line in with_sections_joined(list(enumerate(lines)))]
    assert found == ["epoch 1: loss: 1", "epoch 2: loss: 2", *lines[4:]]
