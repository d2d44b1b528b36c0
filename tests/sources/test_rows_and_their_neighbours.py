"""Rows of a log, and the lines above and below them that are of the same step."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.run import Run
from runlens.sources.console.pairs import pairs

EPOCHS = range(1, 9)


def logged(folder: Path, lines: list[str]) -> Run:
    """Write a log and read it."""
    (folder / "train.log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return read(folder / "train.log")


@pytest.mark.parametrize("picture", ["\U0001f501", "\u25b6\ufe0f", "\u2192"])
def test_a_picture_before_a_counter(tmp_path: Path, picture: str) -> None:
    """It is passed over: the loss stands at its own step, not at that of the last evaluation."""
    lines = [f"INFO - {picture} iter {n}: train loss = {2 / n:.4f}" for n in range(1, 9)]
    lines.insert(4, f"INFO - {picture} step 4: val loss = 0.7")
    lines.append(f"INFO - {picture} step 8: val loss = 0.6")
    run = logged(tmp_path, lines)
    assert run.curve("train_loss").step.tolist() == list(range(1, 9))
    assert run.curve("eval_loss").step.tolist() == [4, 8]


def test_a_counter_in_the_line_before(tmp_path: Path) -> None:
    """``batch i:4``: what stands below is of it, though the first have nothing below them."""
    lines: list[str] = []
    for n in range(1, 13):
        lines.append(f"[train.py][line:20][INFO] batch i:{n}, episode_len:{n * 7 % 5 + 20}")
        if n > 2:
            lines.append(f"[train.py][line:24][INFO] kl:0.0{n}, loss:{3 / n:.4f}, entropy:1.{n}")
    curve = logged(tmp_path, lines).curve("train_loss")
    assert (curve.step.tolist(), curve.value[-1]) == (list(range(3, 13)), 0.25)


@pytest.mark.parametrize("which", ["Seed {s} | ", "Fold {s}/3, ", "[run_{s}] seed=4{s} - "])
@pytest.mark.parametrize("above", [True, False])
def test_trainings_whose_rows_say_which(tmp_path: Path, which: str, above: bool) -> None:
    """The number measures nothing; what stands above each row and is said in it again is of it."""
    lines: list[str] = []
    for s in (1, 2, 3):
        for n in EPOCHS:
            checked = f"Checked - Acc: 0.{s}{n}, Macro F1: 0.{s}{n}5"
            row = f"Ep {n}: Loss={s / n:.4f} Val_F1=0.{s}{n}5"
            lines += [*[checked] * above, f"{which.format(s=s)}{row}"]
        lines += [f"Checked - Acc: 0.9{s}, Macro F1: 0.9{s}5"] * above
    path = tmp_path / "folds.log"
    path.write_text("\n".join(lines))
    runs = read_all(path)
    assert [run.curve("train_loss").value[-1] for run in runs] == [0.125, 0.25, 0.375]
    for s, run in enumerate(runs, 1):
        assert not {"Fold", "Seed"} & set(run.history.metrics)
        if above:
            mine = run.curve("Macro F1")
            assert mine.value[mine.step == 1].tolist() == [float(f"0.{s}15")]


def test_a_line_above_each_row_that_closes_it(tmp_path: Path) -> None:
    """None is left behind the last: it tells of the row below. Else it is of the row above."""
    checked = [f"Checked: Acc: 0.{n}" for n in (5, *EPOCHS)]
    rows = [f"Epoch {n}/8: Loss={2 / n:.4f}" for n in EPOCHS]
    ahead = [line for both in zip(checked[1:], rows, strict=True) for line in both]
    curve = logged(tmp_path, ahead).curve("train_accuracy")
    assert (curve.step.tolist(), curve.value[0]) == (list(EPOCHS), 0.1)
    behind = [checked[0], *(x for both in zip(rows, checked[1:], strict=True) for x in both)]
    curve = logged(tmp_path, behind).curve("train_accuracy")
    assert curve.value[curve.step == 8].tolist() == [0.8]


def test_numbers_in_the_brackets_of_a_name(tmp_path: Path) -> None:
    """They say which of several is meant, or where the row stands, and measure nothing."""
    row = "Epoch {n}: Max scores (first {k}): [0.{n}, 0.3], accuracy (class 3): 0.{n}5"
    run = logged(tmp_path, [row.format(n=n, k=5) for n in EPOCHS])
    assert run.curve("Max scores (first_5)").value[0] == 0.1
    assert run.curve("accuracy (class_3)").value[-1] == 0.85
    assert pairs("loss (epoch 3): 0.5") == (("loss",), (0.5,))
    assert pairs("Test set (n=500): loss 0.5") == (("loss",), (0.5,))


def test_norms_in_bars() -> None:
    """As they are written in formulas; bars between cells are none."""
    assert pairs("loss=0.5, ||grad||=1e-3, ||z||_2: 2") == (
        ("loss", "grad norm", "z norm"),
        (0.5, 0.001, 2),
    )
    assert pairs("loss: 0.5 || acc || 3") == (("loss",), (0.5,))


def test_a_line_right_below_each_row(tmp_path: Path) -> None:
    """What it measures is of the step above, whatever its name; a clock is none, nor prose."""
    lines: list[str] = []
    for n in EPOCHS:
        lines.append(f"Eval num_timesteps={500 * n}, episode_reward={20 * n}.50 +/- 1.00")
        lines.append(f"Episode length: {100 + n * 7 % 5}.00 +/- 0.50")
        lines += ["New best mean reward!"] * (n % 3 == 0)
    run = logged(tmp_path, ["Training will run for 4,000 timesteps...", *lines])
    assert run.curve("Episode length").step.tolist() == [500 * n for n in EPOCHS]
    assert run.curve("reward").step.tolist() == [500 * n for n in EPOCHS]
    assert run.state.planned_steps == 4000
    for other in ("Time spent: {n}.5", "kept {n} files of them"):
        rows = [line if "Eval" in line else other.format(n=n) for n, line in enumerate(lines)]
        assert not {"Time spent", "kept"} & set(logged(tmp_path, rows).history.metrics)
