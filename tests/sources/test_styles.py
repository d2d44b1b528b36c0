"""How people print a training: each style of `styles.txt` is read with all its numbers, by name."""

from pathlib import Path

import pytest

from runlens import read_all

EPOCHS = 12
TEXT = Path(__file__).with_name("styles.txt").read_text(encoding="utf-8")
BLOCKS = [block.splitlines() for block in TEXT.split("\n\n")[1:]]
METRICS = {
    "l": "train_loss", "v": "eval_loss", "a": "train_accuracy", "b": "eval_accuracy",
}  # fmt: skip
LEVELS = {"l": 2.0, "v": 2.2, "a": 0.3, "b": 0.25, "o": 1.7}


def value(letter: str, n: int) -> str:
    """Return the number of a letter in an epoch, no two of them alike."""
    change = 0.05 * n if letter in "ab" else -0.1 * n
    return f"{LEVELS[letter] + change + 0.0001 * n * n:.4f}"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0].partition(" (")[0])
def test_a_style_is_read_whole(tmp_path: Path, block: list[str]) -> None:
    """Each number in its curve and in no other, in the order of the epochs."""
    name, _, letters = block[0].partition(" (")
    lines = [line[1:] for line in block[1:] if line.startswith("^")]
    for n in range(1, EPOCHS + 1):
        said = {letter: value(letter, n) for letter in LEVELS}
        count = {"n": n, "s": 100 * n, "w": 200 - n * 37 % 100}
        lines += [line.format(**said, **count) for line in block[1:] if line[0] not in "^$"]
    lines += [line[1:] for line in block[1:] if line.startswith("$")]
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (run,) = read_all(tmp_path / "train.log")
    curves = {name: run.curve(name).value.tolist() for name in run.history.metrics}
    for letter in letters.rstrip(")").split():
        numbers = [float(value(letter, n)) for n in range(1, EPOCHS + 1)]
        if letter in METRICS:
            assert curves.pop(METRICS[letter], None) == numbers, (name, curves)
        else:
            assert numbers in curves.values(), (name, curves)
