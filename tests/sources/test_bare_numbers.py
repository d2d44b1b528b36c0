"""Files of bare numbers: one row a line, named by the file or by nothing."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read, read_all
from runlens.metrics import naming
from runlens.sources import console


def written(folder: Path, text: str, name: str = "loss.txt") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text)
    return path


def test_a_number_a_line_is_what_its_file_is_called(tmp_path: Path) -> None:
    """Found in a folder too; that it is an assumption is told."""
    written(tmp_path, "".join(f"{2 / n:.6f}\n" for n in range(1, 30)))
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(1, 30))
    assert any("holds only numbers" in problem.text for problem in run.problems)


def test_columns_without_names_are_numbered(tmp_path: Path) -> None:
    """So that a user can say what they are."""
    path = written(tmp_path, "".join(f"{2 / n:.4f},{-n / 7}\n" for n in range(1, 30)), "log.txt")
    run = read(path)
    assert set(run.history.metrics) == {"column 1", "column 2"}
    assert len(read(path, columns={"train_loss": "column 1"}).curve("train_loss")) == 29


@pytest.mark.parametrize(
    "text",
    [
        "1\n2\n5\n7\n8\n9\n",  # labels
        "0.5\n0.4\nof\nother\nwords\n0.3\n0.2\n0.1\n",
        "0.5 0.4\n0.3\n0.2 0.1\n0.3\n0.1\n0.2 0.5\n",
        "".join(" ".join(["0.5"] * 40) + "\n" for _ in range(9)),
        ("0." + 500 * "3" + "\n") * 9,
    ],
)
def test_other_numbers_are_no_curve(tmp_path: Path, text: str) -> None:
    """Whole ones, a few, data."""
    assert not console.read(written(tmp_path, text)).series


def test_an_index_is_no_loss_and_that_is_told(tmp_path: Path) -> None:
    """It rises by one from row to row."""
    text = "step,loss,eval_loss\n" + "".join(f"{10 * n},{n},{2 / n:.4f}\n" for n in range(1, 20))
    run = read(written(tmp_path, text, "metrics.csv"))
    assert "train_loss" not in run.history.metrics
    assert any("loss rises by one from row to row" in problem.text for problem in run.problems)


def test_names_behind_counters(tmp_path: Path) -> None:
    """The name stands before two counters, and a verb before the number."""
    row = "{} at epoch {} and iteration {} is {:.4f}"
    lines = [
        row.format(name, n // 5, 100 * n, 3 / (n + 1))
        for n in range(20)
        for name in ("Loss", "NCE Loss")
    ]
    run = read(written(tmp_path, "\n".join(lines) + "\n", "log.txt"))
    assert len(run.curve("train_loss")) == len(run.curve("NCE Loss")) == 20


def test_names_in_chinese(tmp_path: Path) -> None:
    """Loss of training and of validation."""
    text = "".join(
        f"Epoch {n} 完成 | 训练损失: {2 / n:.4f} | 验证损失: {3 / n:.4f}\n" for n in range(1, 9)
    )
    run = read(written(tmp_path, text, "log.txt"))
    assert len(run.curve("train_loss")) == len(run.curve("eval_loss")) == 8


def listed(*values: float) -> str:
    """Return a list as it is printed."""
    return str(list(values))


def test_printed_lists_stand_side_by_side(tmp_path: Path) -> None:
    """Under their own names; a shorter one ends before."""
    loss = [round(2 / n, 3) for n in range(1, 9)]
    text = (
        f"train_loss = {listed(*loss)}\nval_loss = {listed(*loss[1:])}\nseeds = [1, 2, 3, 4, 5]\n"
    )
    run = read(written(tmp_path, text, "notes.txt"))
    assert run.curve("train_loss").value.tolist() == loss
    assert run.curve("eval_loss").step.tolist() == list(range(1, 8))
    assert not {"seeds"} & set(run.history.metrics)


def test_lists_of_models_are_trainings(tmp_path: Path) -> None:
    """Where their file says what was measured, and their names which model it was."""
    lists = {name: [round(seed / n, 3) for n in range(1, 9)] for seed, name in enumerate("ABC", 2)}
    text = "".join(f"{name}:{listed(*values)}\n\n" for name, values in lists.items())
    runs = read_all(written(tmp_path, text, "loss_log.txt"))
    found = [run.curve(*run.history.metrics).value.tolist() for run in runs]
    assert sorted(found) == sorted(lists.values())


def test_a_log_beside_that_of_the_training_is_of_held_out_data(tmp_path: Path) -> None:
    """Alone too, if it is called after the data and nothing in it is of training."""
    for name, above in (("train.log", 2), ("valid.log", 3)):
        rows = "".join(f"{n}, {above / (n + 1):.4f}, {10 * n + above:.2f}\n" for n in range(9))
        written(tmp_path, f"epoch,loss,accuracy\n{rows}", name)
    (run,) = read_all(tmp_path)
    assert run.curve("train_loss").value[0] == 2
    assert run.curve("eval_loss").value[0] == 3
    assert len(run.curve("eval_accuracy")) == 9
    (tmp_path / "train.log").unlink()
    assert len(read(tmp_path).curve("eval_loss")) == 9


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("test.log", "epoch,loss,accuracy"),  # of a trial
        ("valid.log", "epoch,loss,learning_rate"),
        ("valid.log", "epoch,train_loss,val_loss"),
        ("valid_run.log", "epoch,loss,accuracy"),
    ],
)
def test_a_log_that_tells_of_training_is_of_it(tmp_path: Path, name: str, columns: str) -> None:
    """Whatever it is called."""
    rows = "".join(f"{n}, {2 / (n + 1):.4f}, {0.5 + n / 100:.4f}\n" for n in range(9))
    run = read(written(tmp_path, f"{columns}\n{rows}", name))
    assert len(run.curve("train_loss")) == 9


@pytest.mark.parametrize(
    ("name", "text", "metric", "steps"),
    [
        ("log.txt", "0\t5.12\n1\t4.78\n", "column 2", [0, 1]),  # lines that count themselves
        ("loss.txt", "1 5.125\n2 4.75\n3 4.5\n4\n", "train_loss", [1, 2, 3]),  # the last is torn
        ("loss.txt", "[5.5 5.25 5.1\n 4.5]\n", "train_loss", [1, 2, 3, 4]),  # as numpy prints it
        ("x.txt", "tensor(2.5, device='cuda:0', grad_fn=<NllLossBackward0>)\n" * 5, "train_loss",
         [1, 2, 3, 4, 5]),
        ("x.txt", "tensor([0.5])\n" * 5, "column 1", [1, 2, 3, 4, 5]),
        ("x.txt", "% mean class accuracy\t\n" + " 1.50e+01\t\n" * 12, "class accuracy",
         list(range(1, 13))),
        ("x.txt", "train_loss:\n- 2.5\n- 1.5\n- 1.25\n- 1.1\n- 1.0\nnote: - 3\n- 4.5\n",
         "train_loss", [1, 2, 3, 4, 5]),  # YAML
    ],
)  # fmt: skip
def test_further_ways_to_leave_numbers(
    tmp_path: Path, name: str, text: str, metric: str, steps: list[int]
) -> None:
    """Whatever program left them, in as many rows."""
    found = console.read(written(tmp_path, text, name)).series
    named = {naming(called).metric: points.step.tolist() for called, points in found.items()}
    assert named == {metric: steps}


@pytest.mark.parametrize(
    "text", ["0 0.5\nwords\n1 0.25\n", "3 0.5\n4 0.25\n", "[0.5 0.25]\n[0.5 0.125]\n"]
)
def test_a_few_numbers_are_no_curve(tmp_path: Path, text: str) -> None:
    """Unless each line counts itself from the start, or one list is around all."""
    assert not console.read(written(tmp_path, text, "x.txt")).series


def test_files_of_one_number_are_what_a_run_left(tmp_path: Path) -> None:
    """Where nothing else lies there but settings; of a name that says nothing it is no metric."""
    written(tmp_path, "3.5647", "loss_log.txt")
    written(tmp_path, "0.4026\n", "acc_log.txt")
    written(tmp_path, "0.75\n", "notes.txt")
    written(tmp_path, "lr: 0.1\n", "hparams.yaml")
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [3.5647]
    assert set(run.history.metrics) == {"train_loss", "train_accuracy"}
    assert read(tmp_path / "loss_log.txt").curve("train_loss").value.tolist() == [3.5647]


def test_a_file_of_one_number_beside_a_log_is_none(tmp_path: Path) -> None:
    """It is a result of the run that the log is of."""
    written(tmp_path, "0.5\n", "loss_log.txt")
    written(tmp_path, "".join(f"epoch {n} loss {2 / n:.4f}\n" for n in range(1, 9)), "train.log")
    assert len(read(tmp_path).curve("train_loss")) == 8


@pytest.mark.parametrize("name", ["accuracy.txt", "episode_rewards.txt", "score_log.txt"])
def test_whole_numbers_are_scores_where_their_file_says_so(tmp_path: Path, name: str) -> None:
    """Per cent, or what an agent got in an episode."""
    values = [40 + 7 * n % 31 + n for n in range(20)]
    run = read(written(tmp_path, "".join(f"{value}\n" for value in values), name))
    (metric,) = run.history.metrics
    assert len(run.curve(metric)) == 20


@pytest.mark.parametrize("numbers", [[0, 1, 1, 0, 1, 1, 1], range(7, 30)])
def test_marks_and_counts_are_no_scores(tmp_path: Path, numbers: list[int]) -> None:
    """One for each sample, right or wrong; and what numbers the rows."""
    text = "".join(f"{value}\n" for value in numbers)
    assert not console.read(written(tmp_path, text, "accuracy.txt")).series


@pytest.mark.parametrize(
    ("name", "values", "rows"),
    [
        ("accuracy.txt", [81, 86, 90, 93, 95, 96, *[0] * 30], 6),
        ("test_acc.txt", [0.5, 0.6, 0.7, 0.75, 0.8, *[0.0] * 9], 5),
        ("reward.txt", [-9.5, -8.5, -7.5, -5.5, -4.5, *[0.0] * 9], 5),
        ("reward.txt", [-9.5, -8.5, 0.0, -5.5, -4.5, *[0.0] * 9], 14),  # zero is one of them
        ("reward.txt", [9.5, 4.5, 0.5, 0.25, 0.05, *[0.0] * 9], 14),  # it came to zero
        ("accuracy.txt", [0.5, 0.6, *[0.0] * 30], 32),
        ("accuracy.txt", [0.0] * 30, 30),
        ("loss.txt", [5.5, 4.5, 3.5, 2.5, 1.5, *[0.0] * 30], 35),  # as a loss may end
    ],
)
def test_zeros_behind_the_scores_of_a_file_were_never_written(
    tmp_path: Path, name: str, values: list[float], rows: int
) -> None:
    """An array had room for more rows; that they were left out is told."""
    found = console.read(written(tmp_path, "".join(f"{value}\n" for value in values), name))
    (points,) = found.series.values()
    assert len(points.value) == rows
    assert (rows < len(values)) == any("never written" in one.text for one in found.problems)


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ([4.5, 1.5, 0.8, 0.6, 0.5, 0.4, *[0.0] * 30], 6),
        ([4.5, 1.5, 0.8, 0.6, 0.5, 0.4, *[0.0] * 3], 9),  # a few may be values of it
        ([4.5, 1.5, 0.8, 0.1, 0.05, 0.001, *[0.0] * 30], 36),  # it came to zero
        ([4.5, 1.5, 0.0, 0.6, 0.5, 0.4, *[0.0] * 30], 36),  # zero is one of them
    ],
)
def test_zeros_behind_the_losses_of_a_saved_array_were_never_written(
    tmp_path: Path, values: list[float], rows: int
) -> None:
    """It was made for all steps that were planned, and saved before they were done."""
    np.save(tmp_path / "losses.npy", np.array(values))
    run = read(tmp_path)
    assert len(run.curve("train_loss")) == rows
    assert (rows < len(values)) == any("never written" in one.text for one in run.problems)


def test_numbers_that_fall_in_files_named_after_their_data_are_a_loss(tmp_path: Path) -> None:
    """Found in a folder where nothing else lies; that it was concluded is told."""
    for name, above in (("train_results.txt", 3), ("eval_results.txt", 4)):
        written(tmp_path, "".join(f"{above / n:.5f}\n" for n in range(1, 25)), name)
    run = read(tmp_path)
    assert run.curve("train_loss").value[0] == 3
    assert run.curve("eval_loss").value[0] == 4
    assert any("read as a loss" in problem.text for problem in run.problems)


@pytest.mark.parametrize("name", ["out.txt", "test_results.txt"])
def test_other_numbers_of_an_output_have_no_name(tmp_path: Path, name: str) -> None:
    """They are read where nothing else lies there, and whoever knows may say what they are."""
    written(tmp_path, "".join(f"{0.7 + n % 5 / 50:.4f}\n" for n in range(40)), name)
    assert set(read(tmp_path).history.metrics) == {"column 1"}
    assert len(read(tmp_path, columns={"train_loss": "column 1"}).curve("train_loss")) == 40


def test_a_column_that_tells_the_time_is_no_metric(tmp_path: Path) -> None:
    """Step, milliseconds since 1970, and what the file is called after."""
    rows = (f"{20 * n} {1_650_000_000_000 + 9 * n} {6 / (n + 1):.5f}\n" for n in range(20))
    run = read(written(tmp_path, "".join(rows), "val_loss.txt"))
    assert set(run.history.metrics) == {"eval_loss"}
    assert run.curve("eval_loss").step.tolist() == list(range(0, 400, 20))


@pytest.mark.parametrize("between", [" ", ", ", "\t"])
def test_two_lines_of_as_many_numbers_are_a_curve_each(tmp_path: Path, between: str) -> None:
    """The first is taken for that of the training, and that this is a guess is told."""
    lines = [[f"0.{40 + n + k}{n:015}" for n in range(30)] for k in (0, 7)]
    text = "\n".join(between.join(line) for line in lines)
    for end in ("\n", ""):
        run = read(written(tmp_path, text + end, "accuracy.txt"))
        assert run.curve("train_accuracy").value.tolist() == [float(cell) for cell in lines[0]]
        assert run.curve("eval_accuracy").value.tolist() == list(map(float, lines[1]))
    assert any("two curves of numbers" in problem.text for problem in run.problems)


def test_two_lines_that_are_no_curves(tmp_path: Path) -> None:
    """Of other lengths, of few numbers, of whole ones, or of data that the file names."""
    line = " ".join(f"0.{40 + n}" for n in range(30))
    whole = " ".join(map(str, range(3, 33)))
    for name, text in (
        ("accuracy.txt", f"{line}\n{line} 0.7\n"),
        ("accuracy.txt", "0.5 0.6 0.7\n0.5 0.6 0.8\n"),
        ("accuracy.txt", f"{whole}\n{whole}\n"),
        ("train_accuracy.txt", f"{line}\n{line}\n"),
    ):
        found = console.read_all(written(tmp_path, text, name))
        told = [problem.text for one in found for problem in one.problems]
        assert not any("two lines" in text for text in told)


def test_a_file_that_says_which_way_is_better_names_its_numbers(tmp_path: Path) -> None:
    """Whatever else its name says."""
    text = "".join(f"{90 - 60 / n:.2f}\n" for n in range(1, 30))
    path = written(tmp_path, text, "cifar_accu_s.txt")
    assert set(read(path).history.metrics) == {"cifar_accu_s"}


def test_rows_stand_above_the_error_that_ended_them(tmp_path: Path) -> None:
    """It is none of them; words of another program among them leave nothing to read."""
    rows = "".join(f"{n}\t{2 / n:.5f}\t{2.1 / n:.5f}\t0.{50 + n}\n" for n in range(1, 6))
    error = (
        'Traceback (most recent call last):\n  File "train.py", line 50, in <module>\n'
        "    torch.save([net, {\nRuntimeError: Parent directory ckpts does not exist.\n"
    )
    run = read(written(tmp_path, rows + error, "history.log"))
    assert len(run.frame) == 15
    assert run.state.kind == "crashed"
    assert not any("breaks off" in problem.text for problem in run.problems)


@pytest.mark.parametrize(("second", "name"), [("100.000", "train_accuracy"), ("{n}.5", "column 2")])
def test_a_number_that_never_moves_leaves_the_name_to_the_other(
    tmp_path: Path, second: str, name: str
) -> None:
    """``20:25.000,100.000`` of accuracy.txt: the right one of five is among five guesses."""
    rows = [f"{20 * n}:{20 + n % 3}.125,{second.format(n=n)}\n" for n in range(1, 21)]
    run = read(written(tmp_path, "".join(rows), "accuracy.txt"))
    assert run.curve(name).step.tolist() == [20 * n for n in range(1, 21)]
    assert run.curve(name).value[1] in {0.22125, 22.125}
