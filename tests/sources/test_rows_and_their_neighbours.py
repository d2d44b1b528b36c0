"""Rows of a log, and the lines above and below them that are of the same step."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.run import Run
from runlens.sources.console.pairs import pairs
from tests.sources.written import run_of, runs_of

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


def test_a_line_of_another_kind_at_the_same_step(tmp_path: Path) -> None:
    """What both name is of the usual line; another with the same names and none beside is kept."""
    rows = [f"step {n}00, policy={7 - n / 4} mse={0.5 - n / 40} total={8 - n / 4}"
            for n in range(1, 12)]  # fmt: skip
    told = "step 1000, policy=9.5 training accuracy=1.5%, mse=0.75"
    run = run_of(tmp_path, "log.txt", "\n".join([*rows[:10], told, rows[10]]))
    assert len(run.curve("policy").value) == 11
    assert float(run.curve("policy").value.max()) == 6.75
    assert run.curve("train_accuracy").value.tolist() == [0.015]
    assert run.curve("train_accuracy").step.tolist() == [1000]
    run = run_of(tmp_path, "apart.txt", "\n".join([*rows[:5], told, *rows[5:8]]))
    assert len(run.curve("policy").value) == 9  # it stands at a step of its own


@pytest.mark.parametrize("stamp", ["", "2024-05-01 10:00:00,080 - INFO - "])
def test_a_score_behind_a_loss_of_held_out_data(tmp_path: Path, stamp: str) -> None:
    """The first name says of which data both are; a line that says one again is no other."""
    lines = []
    for epoch in range(1, 7):
        lines += [f"Epoch {epoch}/9", f"{stamp}Train Loss: {7 - epoch / 4} | Acc: {20 + epoch}.5%"]
        lines.append(f"{stamp}Val Loss: {4 - epoch / 4} | Acc: {70 + epoch}.25%")
        if epoch % 2 and stamp:
            lines.append(f"{stamp}Saved new best model (Acc: {70 + epoch}.25%) to best.pth")
    run = run_of(tmp_path, "log.txt", "\n".join([*lines, ""]))
    trained = [(20.5 + epoch) / 100 for epoch in range(1, 7)]
    assert run.curve("train_accuracy").value.tolist() == pytest.approx(trained)
    assert run.curve("eval_accuracy").value.tolist() == pytest.approx(
        [(70.25 + epoch) / 100 for epoch in range(1, 7)]
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("  eval: bucket {0} perplexity {1:.2f}", "eval_bucket_{0}_perplexity"),
        ("[eval] class {0}: IoU {1:.2f} acc {1:.2f}", "eval_class_{0}_acc"),
        ("Task {0} accuracy = {1:.2f}", "task_{0} accuracy"),
    ],
)
def test_parts_that_are_gone_through_in_each_epoch(tmp_path: Path, line: str, name: str) -> None:
    """Each is a curve of its own, not one that goes up and down."""
    text = ""
    for epoch in range(1, 7):
        text += f"Epoch {epoch} loss: {2 - epoch / 4}\n"
        text += "".join(line.format(part, epoch / 8 + part) + "\n" for part in range(3))
    run = run_of(tmp_path, "log.txt", text)
    for part in range(3):
        curve = run.curve(name.format(part))
        assert curve.value.tolist() == pytest.approx([n / 8 + part for n in range(1, 7)], abs=0.01)
        assert curve.step.tolist() == list(range(1, 7))


def test_parts_of_both_data(tmp_path: Path) -> None:
    """Those of the training stand right above those of held-out data."""
    text = ""
    for epoch in range(1, 5):
        text += f"Epoch {epoch} loss: {2 - epoch / 4}\n"
        for data in ("train", "valid"):
            text += "".join(f"{data}: class {n} recall 0.{epoch}{n}\n" for n in (1, 2))
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("eval_class_2_recall").value.tolist() == [0.12, 0.22, 0.32, 0.42]
    assert len(run.curve("class_1 recall").value) == 4


@pytest.mark.parametrize(
    "line",
    [
        "class {0} loss {1:.2f} step {2}",  # it counts
        "layer {0} shape {1:.2f}",  # nothing is measured
        "agent {0}/3 reward {1:.2f}",  # of so many
    ],
)
def test_what_is_no_part(tmp_path: Path, line: str) -> None:
    """Numbers behind such words are of other things too."""
    text = ""
    for epoch in range(1, 7):
        text += f"Epoch {epoch} loss: {2 - epoch / 4}\n"
        text += "".join(line.format(n, epoch + n / 10, 10 * epoch + n) + "\n" for n in (1, 2))
    for run in runs_of(tmp_path, "log.txt", text):
        assert not any("_1" in name for name in run.history.metrics)


def test_parts_that_are_not_begun_anew(tmp_path: Path) -> None:
    """``layer 7`` behind ``layer 6`` may be what a loop has come to."""
    rows = [f"Epoch {n} loss: {2 - n / 8}\nlayer {n} score 0.{n}\n" for n in range(1, 8)]
    run = run_of(tmp_path, "log.txt", "".join(rows))
    assert not any("layer_" in name for name in run.history.metrics)


def test_results_before_and_behind_the_epochs_of_an_excerpt(tmp_path: Path) -> None:
    """Cut at both ends: each result is of the epoch above it, the first of one that was cut off."""
    text = "Validation loss: 2.5\n"
    for epoch in range(6, 9):
        text += f"Epoch {epoch} complete. Avg training loss: {3 - epoch / 4}\n"
        text += f"Mean recall: 0.{epoch}\nValidation loss: {4 - epoch / 4}\n"
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("eval_loss").step.tolist() == [5, 6, 7, 8]
    assert run.curve("eval_loss").value.tolist() == [2.5, 2.5, 2.25, 2]
    whole = text.replace("Epoch 6", "Epoch 1").replace("Epoch 7", "Epoch 2")
    run = run_of(tmp_path, "whole.txt", whole.replace("Epoch 8", "Epoch 3"))
    assert run.curve("eval_loss").step.tolist()[:3] == [1, 2, 3]


def test_a_time_of_a_step_is_no_counter(tmp_path: Path) -> None:
    """Bars of Torch7: ``Step: 2ms``."""
    rows = [f"loss {2 - n / 10:.3f} at {n}/50 ETA: 1m{n}s | Step: {n % 3}ms" for n in range(1, 9)]
    run = run_of(tmp_path, "log.txt", "\n".join(rows))
    assert run.curve("train_loss").step.tolist() == list(range(1, 9))


def test_data_that_stand_before_a_dict(tmp_path: Path) -> None:
    """GraphGym's: each of them is a row of its own data."""
    text = ""
    for epoch in range(4):
        for data, loss in (("train", 1.0), ("val", 1.5), ("test", 1.75)):
            row = {"epoch": epoch, "loss": loss - epoch / 8, "lr": 0.01, "auc": 0.5 + epoch / 8}
            text += f"{data}: {row}\n...computing epoch stats took: 0.25s\n"
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").value.tolist() == [1, 0.875, 0.75, 0.625]
    assert run.curve("eval_loss").value.tolist() == [1.5, 1.375, 1.25, 1.125]
    assert run.curve("test_loss").value.tolist() == [1.75, 1.625, 1.5, 1.375]
    assert len(run.curve("learning_rate").value) == 4
    text = "".join(f"eval: {{'epoch': {n}, 'train_loss': {2 - n / 4}}}\n" for n in range(5))
    assert len(run_of(tmp_path, "said.txt", text).curve("train_loss").value) == 5


def test_an_evaluation_without_a_counter(tmp_path: Path) -> None:
    """Once, between rows that count batches; before them it is of one interval earlier."""
    rows = [f"[{7 + (n > 2)}/25][{20 * (1 + n % 3)}/60] Loss: {9 - n / 4}" for n in range(6)]
    told = "Test loss: 8.75, accuray: 0.125"
    run = run_of(tmp_path, "log.txt", "\n".join([*rows[:3], told, *rows[3:]]))
    assert run.curve("eval_loss").step.tolist() == [480]
    assert run.curve("eval_accuracy").value.tolist() == [0.125]
    run = run_of(tmp_path, "cut.txt", "\n".join([told, *rows]))
    assert run.curve("eval_loss").step.tolist() == [420]
    run = run_of(tmp_path, "set.txt", "\n".join(["Test loss weight: 0.5, epochs: 3", *rows]))
    assert not any("eval" in name for name in run.history.metrics)


def test_rows_of_both_data_above_and_below_a_heading(tmp_path: Path) -> None:
    """What names all its data is the same row whatever stands above it."""
    text = ""
    for epoch in range(1, 7):
        text += f"Epoch: {epoch}, Train Loss: {2 - epoch / 4}, Test Loss: {3 - epoch / 4}\n"
        text += "train...........\nLR 0.01\ntesting...........\n"
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").step.tolist() == list(range(1, 7))


@pytest.mark.parametrize("quote", ["`", "```"])
def test_the_step_of_the_whole_training_beside_an_epoch(tmp_path: Path, quote: str) -> None:
    """``total_step 50`` behind ``epoch 0``; what quotes a paste is no part of its first line."""
    rows = [f"epoch 0, total_step {50 * n}, total loss is {9 - n / 4}" for n in range(1, 7)]
    run = run_of(tmp_path, "log.txt", quote + "\n".join([*rows, ""]))
    assert run.curve("train_loss").step.tolist() == [50, 100, 150, 200, 250, 300]
    rows = [f"epoch {n}, total_step 400, total loss is {9 - n / 4}" for n in range(1, 7)]
    run = run_of(tmp_path, "planned.txt", "\n".join([*rows, ""]))
    assert run.curve("train_loss").step.tolist() == list(range(1, 7))
