"""A line that counts without a word, above each line of an evaluation."""

from pathlib import Path

import pytest

from runlens import read

LOSSES = [1.2, 0.9, 0.7, 0.65, 0.6, 0.58]


def curves(folder: Path, above: str, counts: list[int]) -> dict[str, list[float]]:
    """Return the curves of a log with such a line above each evaluation."""
    lines = [
        f"{above.format(n=n, x=round(1 / (at + 1), 4))}\nval loss: {LOSSES[at]}"
        for at, n in enumerate(counts)
    ]
    (folder / "train.log").write_text("\n".join([*lines, ""]))
    history = read(folder / "train.log").history
    return {name: history.curve(name).value.tolist() for name in history.metrics}


@pytest.mark.parametrize("above", ["Action [{n}]: {x}", "[{n}]: {x}", "{n}: {x}"])
def test_its_number_is_kept(above: str, tmp_path: Path) -> None:
    """Though it has no name."""
    found = curves(tmp_path, above, [1, 2, 3, 4, 5, 6])
    assert found["eval_loss"] == LOSSES
    assert [1.0, 0.5, 0.3333, 0.25, 0.2, 0.1667] in found.values()


@pytest.mark.parametrize("above", ["[{n}]: 7", "[{n}]: {x}\n[{n}9]: {x}"])
def test_other_numbers_are_left_out(above: str, tmp_path: Path) -> None:
    """Settings, of which none was computed, and a list of two things."""
    found = curves(tmp_path, above, [1, 2, 3, 4, 5, 6])
    assert [1.0, 0.5, 0.3333, 0.25, 0.2, 0.1667] not in found.values()
