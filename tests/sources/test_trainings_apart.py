"""Several trainings in one log: folds, starts from scratch, resumes, epochs that nobody names."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.run import Run


def test_trials_of_one_epoch_are_trainings_each(tmp_path: Path) -> None:
    """Each begins as the log does and counts to one; a heading above a sample counts nothing."""
    head = "WARNING - No GPU available\nINFO - Using device: cpu\nINFO - Starting training\n"
    log = tmp_path / "experiment.log"
    for said, trainings in (("Epoch 1: Average Loss = 10.5", 5), ("Average Loss = 10.5", 1)):
        log.write_text(f"{head}{said}\nINFO - Evaluating\n" * 5)
        assert len(read_all(log)) == trainings


def runs_of(folder: Path, *lines: str, name: str = "train.log") -> list[Run]:
    """Read a log of these lines."""
    (folder / name).write_text("\n".join(lines) + "\n")
    return read_all(folder / name)


def epochs(first: int, end: int, start: float = 2.0) -> list[str]:
    """Return rows that name their epoch; the loss falls from `start`."""
    return [f"Epoch {n} loss: {start / (n - first + 1):.4f}" for n in range(first, end)]


def steps(count: int, start: float = 2.0, fall: float = 0.9) -> list[str]:
    """Return rows that name a step alone."""
    return [f"step {n} loss: {start * fall ** (n / 10):.4f}" for n in range(10, 10 * count + 1, 10)]


def test_epochs_that_begin_anew_are_trainings(tmp_path: Path) -> None:
    """Two folds; the second has a metric that the first has not."""
    second = [line + " acc: 0.9" for line in epochs(0, 8)]
    runs = runs_of(tmp_path, *epochs(0, 12), "Fold 2", *second)
    assert [run.name for run in runs] == ["train.log (1 of 2)", "train.log (2 of 2)"]
    assert [len(run.curve("train_loss")) for run in runs] == [12, 8]
    assert "train_accuracy" not in runs[0].history.metrics


def test_a_resume_goes_on(tmp_path: Path) -> None:
    """It falls back to an epoch that is not the first."""
    (run,) = runs_of(tmp_path, *epochs(0, 12), *epochs(8, 20))
    assert len(run.curve("train_loss")) == 20
    assert len(run.segments) == 2


def test_many_rows_an_epoch_are_counted_in_each_training(tmp_path: Path) -> None:
    """Counted over all of them, they would be one curve with a jump."""
    one = [f"Epoch: {e} Loss: {1 / (5 * e + n + 1):.4f}" for e in range(6) for n in range(5)]
    runs = runs_of(tmp_path, *one, *one, *one)
    assert [run.last_step for run in runs] == [30, 30, 30]


def test_the_end_of_one_training_is_not_that_of_another(tmp_path: Path) -> None:
    """What the first begins with says where the second does; its exception ended the first."""
    banner = "Start of my program, seed 1"
    failed = ["Traceback (most recent call last):", '  File "train.py", line 9, in main']
    error = "ValueError: bad batch"
    lines = [banner, *epochs(0, 3), *failed, error, banner, "12 GPUs", *epochs(0, 33)]
    first, last = runs_of(tmp_path, *lines)
    assert (first.state.kind, last.state.kind) == ("crashed", "unknown")
    assert first.log_tail[-1] == error
    assert last.log_tail[0] == banner
    assert not last.messages("fallback")


def test_starts_without_a_row_are_told(tmp_path: Path) -> None:
    """They are no runs, and their errors are of none."""
    banner = "Namespace(lr=0.1, epochs=40)"
    failed = ["Traceback (most recent call last):", '  File "a.py", line 1, in b', "KeyError: 'x'"]
    lines = [banner, *epochs(0, 9), banner, *failed, banner, *failed, banner, *epochs(0, 9)]
    first, last = runs_of(tmp_path, *lines)
    assert any("2 starts right before it left no row" in one.text for one in last.problems)
    assert first.state.kind != "crashed"
    assert last.state.kind != "crashed"


def test_what_most_trainings_begin_with_is_a_border(tmp_path: Path) -> None:
    """The surest line of a beginning may be missing in one of them."""
    one, two = "loading the data", "building the model"
    lines = [one, two, *epochs(0, 5), one, two, *epochs(0, 5), two, *epochs(0, 5)]
    runs = runs_of(tmp_path, *lines, one, two, *epochs(0, 5))
    assert [run.log_tail[0] for run in runs] == [one, one, two, one]


def test_an_exception_is_a_border_where_no_banner_is(tmp_path: Path) -> None:
    """What stands behind it belongs to the next training; or nothing does."""
    failed = ["Traceback (most recent call last):", '  File "a.py", line 1, in b', "KeyError: 'x'"]
    first, last = runs_of(tmp_path, *epochs(0, 5), *failed, "loading", *epochs(0, 9))
    assert (first.state.kind, last.log_tail[0]) == ("crashed", "loading")
    first, last = runs_of(tmp_path, *epochs(0, 5), *failed, *epochs(0, 9))
    assert (first.state.kind, last.state.kind) == ("crashed", "unknown")
    first, last = runs_of(tmp_path, *epochs(0, 5), *failed[:1], *epochs(0, 9))
    assert (first.state.kind, last.state.kind) == ("unknown", "unknown")


def test_passes_of_a_counter_are_epochs_where_the_loss_goes_on(tmp_path: Path) -> None:
    """No epoch is named; the counter comes equally far each time."""
    lines = [
        f"[{n}/50] loss: {2 * 0.99 ** (5 * e + n / 10):.5f}"
        for e in range(8)
        for n in range(10, 51, 10)
    ]
    (run,) = runs_of(tmp_path, *lines)
    assert run.curve("train_loss").step.tolist() == list(range(10, 401, 10))


@pytest.mark.parametrize("count", [2, 5])
def test_passes_where_the_loss_begins_anew_are_trainings(tmp_path: Path, count: int) -> None:
    """And that the border is not certain is told."""
    runs = runs_of(tmp_path, *(line for _ in range(count) for line in steps(30)))
    assert len(runs) == count
    assert all("no epoch says why" in run.problems[0].text for run in runs)


def test_a_stray_row_is_no_training(tmp_path: Path) -> None:
    """LightGBM prints the best row of one of its folds again."""
    rows = [
        f"[{n}]\ttrain-{fold} auc: {0.5 + n / 100}" for n in range(5, 60, 5) for fold in range(3)
    ]
    rows.insert(20, "[1]\ttrain-0 auc: 0.5")
    assert len(runs_of(tmp_path, *rows)) == 1
    assert len(runs_of(tmp_path, *steps(20), *steps(1), *steps(40)[20:])) == 1
    assert len(runs_of(tmp_path, *steps(2), *steps(40))) == 1


def test_steps_beside_epochs(tmp_path: Path) -> None:
    """Steps of the run tell alone; steps that begin anew with each epoch tell with it."""
    own = [f"epoch {n // 5} step {n} loss: {1 / (n + 1):.4f}" for n in range(40)]
    assert len(runs_of(tmp_path, *own)) == 1
    inner = [f"epoch {n // 5} step {n % 5} loss: {1 / (n + 1):.4f}" for n in range(40)]
    assert [run.last_step for run in runs_of(tmp_path, *inner, *inner)] == [39, 39]
    mixed = [line for n in range(20) for line in (own[n], f"epoch {n // 5} val loss: 0.5")]
    assert len(runs_of(tmp_path, *mixed)) == 1


def test_a_row_that_names_no_step_beside_epochs(tmp_path: Path) -> None:
    """Most rows name one, which goes on, or begins anew with each epoch."""
    row = "epoch {} global_step: {} loss: {:.4f}"
    for own in (range(40), [n % 5 for n in range(40)]):
        lines = [row.format(n // 5, step, 1 / (n + 1)) for n, step in enumerate(own)]
        for epoch in (7, 4, 1):
            lines.insert(5 * epoch, f"epoch {epoch - 1} val loss: 0.5")
        assert len(runs_of(tmp_path, *lines)) == 1


def test_inner_epochs_of_an_iteration_are_no_trainings(tmp_path: Path) -> None:
    """PPO's: they begin anew while the iteration goes on."""
    lines = [
        f"Iteration {i}, epoch {e}/4, loss: {1 / (i + 1):.4f}" for i in range(9) for e in (1, 2, 3)
    ]
    assert len(runs_of(tmp_path, *lines)) == 1


def test_dicts_of_two_trainings(tmp_path: Path) -> None:
    """The Trainer's, with a summary behind the first."""
    row = "{{'loss': {v:.4f}, 'learning_rate': 0.001, 'epoch': {e:.2f}, 'step': {n}}}"
    rows = [row.format(v=2 / n, e=n / 10, n=n) for n in range(1, 21)]
    closing = "{'train_runtime': 12.0, 'train_steps_per_second': 1.66, 'epoch': 2.0}"
    first, last = runs_of(tmp_path, *rows, closing, *rows)
    assert (first.state.kind, last.state.kind) == ("finished", "unknown")


def test_dicts_whose_steps_begin_anew_each_epoch(tmp_path: Path) -> None:
    """They are counted on; an evaluation stands where the row before it does."""
    lines = []
    for e in range(1, 5):
        lines += [str({"epoch": e, "iter": n, "loss": 1 / (e * n)}) for n in range(1, 11)]
        lines.append(str({"epoch": e, "iter": 999, "val_mAP": 0.1 * e}))
    (run,) = runs_of(tmp_path, *lines)
    assert run.curve("train_loss").step.tolist() == list(range(1, 41))
    assert run.curve("eval_map").step.tolist() == [10, 20, 30, 40]


def test_a_start_that_logs_less_often(tmp_path: Path) -> None:
    """A first try wrote each step: the next writes each hundredth, and begins there."""
    tried = [f"step {n} loss: 2.{n}" for n in range(1, 5)]
    long = [f"step {n} loss: {200 / n:.3f}" for n in range(100, 1000, 100)]
    runs = runs_of(tmp_path, *long, *tried, *long, *long)
    assert [len(run.curve("train_loss")) for run in runs] == [9, 13, 9]


def test_tables_without_a_counter_begin_with_their_settings(tmp_path: Path) -> None:
    """What stands above the first table stands above the second: another training."""
    head = ["HYPERPARAMETERS:", "model = ResNet50", "batch-size = 32", "train_loss  val_loss"]
    first = [f" {2 / n:.6f}  {2.5 / n:.6f}" for n in range(1, 9)]
    second = [f" {3 / n:.6f}  {3.5 / n:.6f}" for n in range(1, 7)]
    runs = runs_of(tmp_path, *head, *first, "", "=====", *head, *second)
    assert [run.curve("train_loss").step.tolist() for run in runs] == [
        list(range(1, 9)),
        list(range(1, 7)),
    ]


def test_a_heading_that_is_printed_again_begins_no_training(tmp_path: Path) -> None:
    """For the reader of a long table."""
    rows = [f" {2 / n:.6f}  {2.5 / n:.6f}" for n in range(1, 21)]
    (run,) = runs_of(
        tmp_path, "lr = 0.1", "train_loss  val_loss", *rows[:9], "train_loss  val_loss", *rows[9:]
    )
    assert len(run.curve("train_loss")) == 20


SETTINGS = ["Arguments are...", "n_epochs: 5", "gnn_type: gat", "task: regression"]


def test_a_start_that_ended_in_its_first_epoch_is_a_training(tmp_path: Path) -> None:
    """The next counts the same: that its settings are printed again tells it."""
    runs = runs_of(tmp_path, *SETTINGS, *epochs(0, 1), *SETTINGS, *epochs(0, 1), *SETTINGS,
                   *epochs(0, 5))  # fmt: skip
    assert [run.curve("train_loss").step.tolist() for run in runs] == [[0], [0], [0, 1, 2, 3, 4]]


def test_arguments_begin_a_training_of_rows_that_count_nothing(tmp_path: Path) -> None:
    """However few rows it has."""
    losses = [f"INFO - loss: {2 / n:.4f}" for n in range(1, 5)]
    start = "INFO - Namespace(lr=0.1, layers=2)"
    other = "INFO - Namespace(layers=3, lr=0.1)"
    runs = runs_of(tmp_path, start, *losses, other, *losses, start, *losses[:3])
    assert [len(run.curve("train_loss")) for run in runs] == [4, 4, 3]


@pytest.mark.parametrize(("again", "count"), [(2.0, 2), (0.2, 1)])
def test_a_line_of_the_beginning_is_a_border_where_the_loss_begins_anew(
    tmp_path: Path, again: float, count: int
) -> None:
    """It may be printed before each epoch too, over which the loss goes on."""
    one = [f"loss: {2 / n:.4f}" for n in range(1, 13)]
    two = [f"loss: {again / n:.4f}" for n in range(1, 13)]
    assert len(runs_of(tmp_path, "run run run", *one, "run run run", *two)) == count


def test_a_heading_between_dashes_counts(tmp_path: Path) -> None:
    """The dash before a number is no sign where it stands behind another."""
    rows = [[f"-----{n}------", f"train_loss: {2 / (n + 1):.4f}"] for n in range(8)]
    one = [line for row in rows for line in row]
    runs = runs_of(tmp_path, *one, *one)
    assert [run.curve("train_loss").step.tolist() for run in runs] == [list(range(8))] * 2


def test_lines_of_best_values_are_no_part_of_an_epoch(tmp_path: Path) -> None:
    """They stand in some epochs alone: the last is done without one."""
    best = [f"Epoch: {n}, Save Best Loss: {2 / n:.4f}" for n in range(1, 5)]
    rows = [f"Epoch: {n}, avg train loss: {2 / n:.4f}" for n in range(1, 6)]
    lines = [line for n, row in enumerate(rows) for line in (row, *best[n : n + 1])]
    (run,) = runs_of(tmp_path, *lines)
    assert run.state.done_epochs == 5


def test_a_heading_before_each_sample_begins_no_training(tmp_path: Path) -> None:
    """A reward function prints a heading, an answer and a score for each of a hundred samples."""
    head = "=====\n= Processing New Sample =\n\n[Truth]\n  Found: A\n[Validation]\n"
    block = head + "  Format score: {}\n"
    path = tmp_path / "train.log"
    path.write_text("training starts\n" + "".join(block.format(n % 2) for n in range(100)))
    (run,) = read_all(path)
    assert sum(len(run.curve(name)) for name in run.history.metrics) == 100


def test_starts_that_failed_between_trainings_are_no_reason_to_join_them(tmp_path: Path) -> None:
    """Of five starts one left two rows; where half of them are so short, nothing is told apart."""
    rows = {"long": (9, 9, 2, 9, 9), "short": (2, 1, 9, 9)}
    for name, counts in rows.items():
        text = "".join(
            f"iter={n:04d} reward={10 * start + n * n / 7:.3f} entropy=0.{start}\n"
            for start, count in enumerate(counts)
            for n in range(count + start % 2)
        )
        (tmp_path / f"{name}.log").write_text(text)
    assert len(read_all(tmp_path / "long.log")) == 5
    assert len(read_all(tmp_path / "short.log")) == 1


STAMPS = (
    "20230105-0{}1530",
    "2023-01-05 0{}:15:30",
    "Thu Jan  5 0{}:15:30 UTC 2023",
    "[2023/01/05 0{}:15:30]",
    "================ Training Loss (Thu Jan  5 0{}:15:30 2023) ================",
)


@pytest.mark.parametrize("stamp", STAMPS)
def test_a_time_alone_above_each_launch(tmp_path: Path, stamp: str) -> None:
    """It stands above the epochs of one training as well, and above launches of a single epoch."""
    parts = [(9, [0]), (7, [0]), (6, [0, 1, 2]), (8, [0])]
    text, hour = "", 0
    for rows, epochs in parts:
        for epoch in epochs:
            text += f"{stamp.format(hour % 10)}\n"
            text += "".join(f"Epoch {epoch}/3, Loss {9 / (n + 1):.3f}\n" for n in range(rows))
            hour += 1
    (tmp_path / "train.log").write_text(text)
    runs = read_all(tmp_path)
    assert [len(run.curve("train_loss")) for run in runs] == [9, 7, 18, 8]


def test_a_heading_with_a_time_above_a_launch_of_one_row(tmp_path: Path) -> None:
    """It begins one, though the next one begins no earlier; not where epochs go on."""
    head = "================ Training Loss (Mon Dec  9 02:3{}:22 2024) ================\n"
    row = "(epoch: {}, iters: {}, time: 0.139) D_A: 0.{} G_A: 1.{} vgg: 0.244\n"
    alone = head.format(0) * 2 + row.format(1, 300, 306, 519) + head.format(1)
    rows = [row.format(1 + n // 8, 300 + 100 * (n % 8), 310 + n, 900 - n) for n in range(24)]
    (tmp_path / "loss_log.txt").write_text(alone + "".join(rows))
    assert [len(run.curve("vgg")) for run in read_all(tmp_path)] == [1, 24]
    (tmp_path / "loss_log.txt").write_text(
        head.format(0) + "".join(rows[:16]) + head.format(1) + "".join(rows[16:])
    )
    assert [len(run.curve("vgg")) for run in read_all(tmp_path)] == [24]


def test_a_time_alone_above_each_row_is_no_launch(tmp_path: Path) -> None:
    """Nor where rows count nothing."""
    stamped = "2023-01-05 0{}:15:30\n"
    for row in ("Epoch {} loss {:.3f}\n", "loss {1:.3f}\n"):
        text = "".join(stamped.format(n) + row.format(n, 3 / (n + 1)) for n in range(9))
        (tmp_path / "train.log").write_text(text)
        (run,) = read_all(tmp_path)
        assert len(run.curve("train_loss")) == 9


def test_a_start_that_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    """All lines above its first row come again: it is a start; a single one heads an epoch."""
    first, second = steps(20, 2.0), steps(20, 0.4)
    head = ["Building the autoencoder", "#" * 40, "Going to train the autoencoder"]
    runs = runs_of(tmp_path, *head, *first, *head, *second)
    assert [run.last_step for run in runs] == [200, 200]
    assert [float(run.curve("train_loss").value[0]) for run in runs] == [1.8, 0.36]
    (run,) = runs_of(tmp_path, head[0], *first, head[0], *second)
    assert run.last_step == 400


def test_an_epoch_that_comes_again_where_a_training_is_said_to_start(tmp_path: Path) -> None:
    """Its first launch was left after one; a loop that says so at each epoch starts none."""
    row = "Epoch {}/15 | train_loss={:.3f} | val_loss={:.3f}"
    said = "[Info] Starting training | model=resnet18"
    first, *others = [row.format(n, 2 / n, 3 / n) for n in range(1, 8)]
    runs = runs_of(tmp_path, said, first, "[Info] Saved", said, first, *others)
    assert [run.last_step for run in runs] == [1, 7]
    (run,) = runs_of(tmp_path, *(line for one in (first, *others) for line in (said, one)))
    assert run.last_step == 7
