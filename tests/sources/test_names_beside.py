"""Numbers whose names say something beside others, in their file, or under its title."""

import json
from pathlib import Path

import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources.console.renames import renamed
from runlens.sources.console.telling import named_in, titled


def put(folder: Path, name: str, *lines: str) -> Path:
    """Write a file."""
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


def values(run: Run, metric: str) -> list[float]:
    """Return the values of a metric."""
    return [float(value) for value in run.curve(metric).value]


def test_the_part_of_the_data_is_no_measure(tmp_path: Path) -> None:
    """``Valid~5% 3.1``: the number behind the share is what was measured."""
    rows = [f"[Step {n:5}/9000] Train {4 - n / 9000:.3f} | Valid~5% {5 - n / 9000:.3f}"
            for n in range(100, 900, 100)]  # fmt: skip
    run = read(put(tmp_path, "train.log", *rows))
    assert values(run, "train_loss")[0] == pytest.approx(3.989)
    assert values(run, "eval_loss")[0] == pytest.approx(4.989)
    assert run.curve("eval_loss").step.tolist() == list(range(100, 900, 100))


def test_a_title_names_the_numbers_below_it(tmp_path: Path) -> None:
    """Torch's Logger: ``% mean class accuracy (test set)``; in a folder too, and of one row."""
    for data in ("train", "test"):
        rows = [f" {50 + n * 1.25:.4e}\t" for n in range(12)]
        put(tmp_path, f"{data}.log", f"% mean class accuracy ({data} set)\t", *rows)
    run = read(tmp_path)
    assert values(run, "class accuracy")[:2] == [50, 51.25]
    assert len(values(run, "eval_class_accuracy")) == 12
    put(tmp_path, "only.log", "% mean class accuracy (train set)", "   nan")
    assert len(values(read(tmp_path / "only.log"), "class accuracy")) == 1


def test_what_names_and_what_does_not() -> None:
    """Words of a title, of which two are better than one."""
    assert named_in("here are the train losses:") == "train losses"
    assert not named_in("weights of the first layer")
    assert titled(b"% accuracy\n0.5\n")
    assert not titled(b"accuracy")


@pytest.mark.parametrize("name", ["losses.csv", "gan_loss.csv"])
def test_networks_in_a_file_of_losses(tmp_path: Path, name: str) -> None:
    """Its columns are losses; elsewhere nothing says so."""
    rows = [f"{n},{0.7 - n / 100},{3 - n / 10}" for n in range(8)]
    put(tmp_path, name, ",discriminator,Generator", *rows)
    run = read(tmp_path)
    assert values(run, "g_loss")[:2] == [3, 2.9]
    assert values(run, "d_loss")[0] == 0.7
    by_data = [f"{n},{9 - n},{5 - n / 2},{14 - 1.5 * n}" for n in range(8)]
    put(tmp_path, name, ",train,valid,total", *by_data)
    assert values(read(tmp_path / name), "train_loss")[0] == 9  # the data says more than a total
    put(tmp_path, name, ",weight,height", *rows)
    with pytest.raises(NothingReadable):
        read(tmp_path / name)


def test_columns_of_a_file_named_by_its_data(tmp_path: Path) -> None:
    """``train_metrics.csv`` and ``val_metrics.csv``, as pandas numbers their rows."""
    put(tmp_path, "train_metrics.csv", ",train_loss", *(f"{n},{3 / (n + 1):.4f}" for n in range(9)))
    put(tmp_path, "val_metrics.csv", ",val_acc,val loss", "0,0.7,0.03", "1,0.8,0.02")
    run = read(tmp_path)
    assert len(values(run, "train_loss")) == 9
    assert values(run, "eval_loss") == [0.03, 0.02]


def test_what_an_agent_got_beside_the_length_of_an_episode(tmp_path: Path) -> None:
    """``R`` beside ``len``; alone it is none."""
    rows = [f"[EP {n}] len={40 + n} R={-500.5 + n * n} hits={n % 3}" for n in range(1, 9)]
    assert values(read(put(tmp_path, "train.log", *rows)), "reward")[0] == -499.5
    alone = [row.partition(" len")[0] + row[row.index(" R=") :] for row in rows]
    assert "reward" not in read(put(tmp_path, "train.log", *alone)).history.metrics


def test_the_mean_of_returns_among_their_statistics(tmp_path: Path) -> None:
    """ChainerRL's ``scores.txt``."""
    head = "steps\tepisodes\telapsed\tmean\tmedian\tstdev\tmax\tmin\taverage_policy_loss"
    rows = [f"{1000 * n}\t{9 * n}\t{n * 3.5}\t{n * 1.5}\t{n}.25\t0.5\t9.5\t0.1\t{n}.5"
            for n in range(1, 9)]  # fmt: skip
    run = read(put(tmp_path, "scores.txt", head, *rows))
    assert values(run, "reward")[:2] == [1.5, 3.0]


@pytest.mark.parametrize("end", ["0.9", "nan"])
def test_the_only_loss_among_its_other_forms(tmp_path: Path, end: str) -> None:
    """Beside it stand the scale of the loss and its mean so far; it may become NaN."""
    rows = [f"train iter: {100 * n} loss_net: {1.9 if n < 2 else end} loss_scale: {2 ** (9 - n)}.0"
            for n in range(5)]  # fmt: skip
    run = read(put(tmp_path, "train.log", *rows))
    assert values(run, "train_loss")[:2] == [1.9, 1.9]
    mean = [f"Epoch: [0]  [{10 * n}/90]  qloss: {2 - n / 9:.4f} ({2 - n / 18:.4f})  mem: 5"
            for n in range(9)]  # fmt: skip
    assert values(read(put(tmp_path, "train.log", *mean)), "train_loss")[0] == 2


def test_columns_of_pandas_with_null(tmp_path: Path) -> None:
    """``to_json`` of a frame: a loss that is null from some row on became NaN."""
    losses = {str(n): 0.5 - n / 9 if n < 4 else None for n in range(9)}
    whole = {"epoch": {str(n): 2 for n in range(9)}, "discriminator_loss": losses}
    (tmp_path / "loss.json").write_text(json.dumps(whole))
    run = read(tmp_path / "loss.json")
    assert values(run, "d_loss")[0] == 0.5
    assert len(run.curve("d_loss")) == 9
    assert len(run.curve("d_loss").finite()) == 4


def test_a_loss_added_up_in_each_epoch(tmp_path: Path) -> None:
    """Says something at the end of an epoch; the last, which was cut, has none."""
    lines, total = ["epoch,train_loss,acc"], 0.0
    for epoch, rows in ((1, 20), (2, 20), (3, 7)):
        total = 0.0
        for n in range(rows):
            total += (1 + n % 3 / 9) / epoch / 20
            lines.append(f"{epoch},{total:.5f},{0.5 + n / 100}")
    run = read(put(tmp_path, "train_log.csv", *lines))
    assert run.curve("train_loss").step.tolist() == [19, 39]
    assert len(run.curve("train_accuracy")) == 47
    assert any("added up within each epoch" in problem.text for problem in run.problems)


def test_a_loss_that_rises_is_no_sum(tmp_path: Path) -> None:
    """It does not begin at 0."""
    rows = [f"{epoch},{1 + n / 9:.4f}" for epoch in (1, 2) for n in range(12)]
    run = read(put(tmp_path, "train_log.csv", "epoch,train_loss", *rows))
    assert len(run.curve("train_loss")) == 24


def test_a_state_without_its_log_says_what_it_holds(tmp_path: Path) -> None:
    """Final values alone are no curve."""
    held = '{"epoch": 2, "training_loss": "0.5", "best": "a"}'
    (tmp_path / "trainer_state.json").write_text(held)
    with pytest.raises(NothingReadable, match=r"no log_history, only epoch 2, training_loss 0\.5"):
        read(tmp_path / "trainer_state.json")
    (tmp_path / "trainer_state.json").write_text("[1]")
    with pytest.raises(NothingReadable, match="holds no log_history"):
        read(tmp_path / "trainer_state.json")


def test_a_row_of_a_table_that_lacks_a_number(tmp_path: Path) -> None:
    """The Trainer's table: no training loss was logged before the first evaluation."""
    rows = [
        "| No log | 1.0 | 40 | 0.70 |",
        "| 0.78 | 2.0 | 80 | 0.60 |",
        "| 0.41 | 3.0 | 120 | 0.65 |",
    ]
    head = ["| Training Loss | Epoch | Step | Validation Loss |", "|:---:|:---:|:---:|:---:|"]
    run = read(put(tmp_path, "log.txt", *head, *rows))
    assert run.curve("eval_loss").step.tolist() == [40, 80, 120]
    assert values(run, "train_loss") == [0.78, 0.41]


def test_remarks_behind_the_rows_of_a_quoted_table(tmp_path: Path) -> None:
    """In a column without a name."""
    rows = ["0\t0.15\t0.19", "1\t0.11\t0.20\tval goes UP", "2\t0.09\t**0.18**\t**best so far**",
            "3\t**0.07**\t0.19\trises again"]  # fmt: skip
    lines = ["Epoch\ttrain/loss\tval/loss\t", *rows]
    run = read(put(tmp_path, "log.txt", *(f"> {line}" for line in lines)))
    assert values(run, "eval_loss") == [0.19, 0.2, 0.18, 0.19]


def test_bars_in_a_table_of_markdown(tmp_path: Path) -> None:
    """Their strokes are escaped."""
    rows = [f"10:00:0{n} | Epoch 0: {10 * n}%\\|#{n} \\| {5 * n}/50 [00:0{n}<00:11, 6.7it/s, "
            f"loss={2 - n / 10:.2f}]" for n in range(1, 8)]  # fmt: skip
    run = read(put(tmp_path, "log.txt", *rows))
    assert run.curve("train_loss").step.tolist() == [5 * n for n in range(1, 8)]


def test_a_plan_among_other_settings(tmp_path: Path) -> None:
    """In one line, each behind a space."""
    rows = [f"train\t{n}\t{0.5 + n / 30:.3f}\t{1 / (n + 1):.3f}" for n in range(6)]
    head = ["Run configurations: model=some/model train_batch=4 eval_batch=8 epochs=30",
            "Dataset\tEpoch\tAccuracy\tLoss"]  # fmt: skip
    run = read(put(tmp_path, "train.log", *head, *rows))
    assert run.state.planned_epochs == 30


def test_the_result_of_a_log_without_a_course(tmp_path: Path) -> None:
    """A log of a few lines that ends in a number of which a program said what it is."""
    lines = ["sizes are 4 and 10", "Average eval score: 154.25", "dropout: 0.5"]
    run = read(put(tmp_path, "train.log", *lines))
    assert values(run, "reward") == [154.25]
    assert "dropout" not in run.history.metrics
    best = [
        "10:00:01 - root - INFO - Training data: 900",
        "10:00:02 - root - INFO - BEST ACCURACY: 0.77",
    ]
    assert values(read(put(tmp_path, "best.log", *best)), "BEST ACCURACY") == [0.77]
    table = ["Accuracies:", "\tEpoch  Train   Eval    Test", "\t1      0.391   0.625   -0.100"]
    assert values(read(put(tmp_path, "table.log", *table)), "Eval") == [0.625]


@pytest.mark.parametrize(
    "lines",
    [
        ["the loss was about 0.5 there"],  # a sentence
        ["test accuracy: 4"],  # counted
        ["test accuracy: 0.5 0.7 0.6"],  # of classes
        ["called with patience=3, smoothing=0.1, ratio=0.2, loss=0.5"],
        ["final loss: 0.5", *(f"file{n}.png written" for n in range(70))],  # of something long
    ],
)
def test_no_result(tmp_path: Path, lines: list[str]) -> None:
    """Of words, counts and programs that do something else."""
    assert not read(put(tmp_path, "train.log", *lines)).history.metrics


def test_an_epoch_that_is_named_when_it_is_over(tmp_path: Path) -> None:
    """Its batches begin anew; of the last, which was cut, nothing says its name."""
    lines = ["DEBUG - Running with config {'cuda': True, 'bs': 8, 'epochs': 9, 'model': 'max'}"]
    for epoch, rows in ((1, 12), (2, 12), (3, 5)):
        lines += [
            f"DEBUG - Batch {n} - Train error  {1 / epoch + n % 3 / 50:.4f}" for n in range(rows)
        ]
        if rows == 12:
            lines += [f"DEBUG - Training Epoch: {epoch}, Loss: {1 / epoch:.4f}."]
            lines += [f"INFO - Validating Epoch: {epoch}, accuracy: 0.{epoch + 5}."]
            lines += [f"DEBUG - Current best model from epoch {epoch - 1} with p_k 0.{epoch}7"]
    run = read(put(tmp_path, "train.log", *lines))
    assert len(run.curve("Train error")) == 29
    assert run.curve("Train error").step[-1] == 28
    assert run.state.planned_epochs == 9


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (("D", "G", "lr"), ("d_loss", "g_loss", "lr")),
        (("D", "lr"), ("D", "lr")),
        (("R", "len"), ("reward", "len")),
        (("R", "lr"), ("R", "lr")),
    ],
)
def test_letters_mean_what_stands_beside_them(names: tuple[str, ...], known: object) -> None:
    """Two networks of a GAN, the return of an episode."""
    assert renamed(names, "") == known


def test_when_it_was_best_is_no_loss(tmp_path: Path) -> None:
    """In a file of losses too."""
    rows = [f"{n},{n // 2 * 2},{9 / n:.3f}" for n in range(1, 9)]
    run = read(put(tmp_path, "losses.csv", "epoch,BestEpoch,discriminator", *rows))
    assert {"BestEpoch", "d_loss"} <= {*run.history.metrics}
