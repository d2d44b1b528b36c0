"""Excerpts, as people paste them: no end is made of their last line, no step is invented."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest

from runlens import diagnose, read
from runlens.run import Run

ROW = "{{'loss': {0}, 'grad_norm': nan, 'learning_rate': 1e-5, 'epoch': {1}}}"


def bar(step: int, total: int = 666) -> str:
    """Return a bar as tqdm draws it."""
    return (
        f"  {100 * step // total}%|▏         | {step}/{total} [00:{step % 60:02d}<41:45, 20.04s/it]"
    )


def run_of(folder: Path, *lines: str) -> Run:
    """Read lines."""
    (folder / "log.txt").write_text("\n".join(lines) + "\n")
    return read(folder / "log.txt")


def trained(run: Run) -> list[int]:
    """Return the steps of the training loss."""
    steps: list[int] = run.curve("train_loss").step.tolist()
    return steps


def test_the_end_of_an_excerpt_is_no_end(tmp_path: Path) -> None:
    """Two rows of 666 steps, the last with no bar behind it."""
    lines = [bar(1), ROW.format(1.04, 0.0), bar(1), bar(2), ROW.format(0.0, 0.01)]
    run = run_of(tmp_path, *lines)
    assert trained(run) == [1, 2]
    assert run.state.kind == "unknown"
    assert run.state.excerpt
    assert "stopped-early" not in {finding.rule for finding in diagnose(run).findings}


def test_what_a_log_begins_with_makes_it_whole(tmp_path: Path) -> None:
    """The same rows behind the words of a program."""
    lines = ["Loading the model", bar(1), ROW.format(1.04, 0.0), bar(1), bar(2)]
    assert run_of(tmp_path, *lines).state.kind == "stopped_early"


@pytest.mark.parametrize(
    ("first", "last", "cut"), [(1, 20, False), (0, 20, False), (1, 4, True), (9, 30, True)]
)
def test_a_file_that_begins_with_the_first_epoch_ends_where_its_run_does(
    tmp_path: Path, first: int, last: int, cut: bool
) -> None:
    """Nothing but rows, as ``train.py > log.txt`` leaves them; a few of them may be the top."""
    rows = [f"Epoch [{at}/50], Loss: {2 / (1 + at):.4f}" for at in range(first, last + 1)]
    run = run_of(tmp_path, *rows)
    assert run.state.kind == ("unknown" if cut else "stopped_early")
    told = {finding.rule: finding.severity for finding in diagnose(run).findings}
    assert told.get("stopped-early") == (None if cut else "info")


def test_a_warning_that_comes_again_begins_no_log(tmp_path: Path) -> None:
    """Cut out of the middle."""
    warning = "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 1"
    run = run_of(tmp_path, warning, bar(9), warning, ROW.format(1.04, 0.0), bar(9), bar(10))
    assert run.state.excerpt


def test_a_long_log_is_no_excerpt(tmp_path: Path) -> None:
    """Nobody pastes a hundred rows."""
    lines = [line for n in range(1, 99) for line in (ROW.format(1 / n, n / 100), bar(n))]
    assert run_of(tmp_path, *lines).state.kind == "stopped_early"


def test_a_row_stands_where_the_bar_before_it_does(tmp_path: Path) -> None:
    """What was left out between two rows; the last row has no bar behind it."""
    pairs = [(ROW.format(0.6, 0.24), bar(n, 10485), bar(n + 1, 10485)) for n in range(2564, 2569)]
    lines = [line for pair in pairs for line in pair]
    lines += [ROW.format(0.8, 0.25), bar(2588, 10485), ROW.format(6.7, 0.25)]
    assert trained(run_of(tmp_path, *lines)) == [2564, 2565, 2566, 2567, 2568, 2569, 2588]


@pytest.mark.parametrize(
    ("error", "where"),
    [
        ("RuntimeError: file write failed", "at an unknown step"),
        ("ModuleNotFoundError: No module named 'torch'", "before the first step"),
    ],
)
def test_a_traceback_alone(tmp_path: Path, error: str, where: str) -> None:
    """When it came is not known; but a module is imported before anything is trained."""
    lines = ["Traceback (most recent call last):", '  File "train.py", line 9, in <module>', error]
    found = {finding.rule: finding for finding in diagnose(run_of(tmp_path, *lines)).findings}
    assert where in found["crashed"].title


def test_a_single_bar_with_a_value(tmp_path: Path) -> None:
    """An excerpt may show no more."""
    lines = ["epoch 15/15", "100%|###| 3300/3300 [2:41:46<00:00, 2.94s/it, avr_loss=nan]"]
    assert trained(run_of(tmp_path, *lines)) == [3300]


def piped(text: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Read a text that comes through a pipe."""
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
    return read("-")


def test_what_is_pasted_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the words of the program before it, of which a file would be the whole."""
    text = "Train on 900 samples\n" + "".join(
        f"Epoch {n}/15\n90/90 [=====] - 3s - loss: 0.{70 - n}\n" for n in range(1, 8)
    )
    run = piped(text, monkeypatch)
    assert trained(run) == [1, 2, 3, 4, 5, 6, 7]
    assert run.state.excerpt
    assert run.state.kind == "unknown"
    assert "epoch 7 of 15" in run.state.why


def test_a_quoted_beginning_is_that_of_the_other_rows(tmp_path: Path) -> None:
    """The mark of code before the first line."""
    lines = [f"Epoch {n}/250\n17/17 [=====] - 0s - loss: 0.{70 - n}" for n in range(1, 9)]
    run = run_of(tmp_path, "`" + "\n".join(lines))
    assert len(trained(run)) == 8
    assert run.state.excerpt


def test_one_block_without_a_step_is_a_row(tmp_path: Path) -> None:
    """What the first log of a training shows; a block of settings is none."""
    run = run_of(tmp_path, "loss: 0", "grad_norm: nan", "entropy: nan")
    assert np.isnan(run.curve("grad_norm").value).tolist() == [True]
    settings = run_of(tmp_path, "learning_rate: 1e-5", "reward_weight: 2.0", "epochs: 3")
    assert not settings.history.metrics


def test_remarks_behind_rows_are_none_of_them(tmp_path: Path) -> None:
    """Arrows of the one who asks."""
    rows = [f"{{'loss': 1.{n}, 'grad_norm': {n}.5}}" for n in (6, 8, 7, 3, 9)]
    rows[2] += "    <-- spike #1 (step 3)"
    rows[4] += "  ← and 1500x here"
    assert len(run_of(tmp_path, *rows).curve("grad_norm")) == 5


def test_words_above_a_column_name_it(tmp_path: Path) -> None:
    """In a file whose own name says nothing."""
    numbers = [f"{9 - n / 7:.2f}" for n in range(15)]
    run = run_of(tmp_path, "For example, the train_loss are listed here:", *numbers)
    assert len(run.curve("train_loss")) == 15


def test_a_table_under_one_heading_counts_its_rows(tmp_path: Path) -> None:
    """The passes over one batch, as OpenAI's baselines print them."""
    rows = [f"      0.9{n} |       0.00000 |      1.{n}e+05 |       0.{n}685" for n in range(1, 5)]
    head = "     pol_surr |    pol_entpen |       vf_loss |            kl"
    run = run_of(tmp_path, "********* Iteration 10 ************", "Optimizing...", head, *rows)
    assert run.curve("kl").step.tolist() == [1, 2, 3, 4]


def test_a_loss_that_never_changes_has_points(tmp_path: Path) -> None:
    """Lightning draws its bar with the loss of each batch; that of tqdm keeps old values."""
    form = "Epoch 0:  14%|#4   | {0}/704 [00:{0}<04:29,  2.24it/s{1}, train_loss=4.600]"
    steps = [n for n in range(10, 17) for _ in "ab"]
    of_lightning = run_of(tmp_path, *(form.format(n, ", v_num=11") for n in steps))
    assert trained(of_lightning) == list(range(10, 17))
    assert trained(run_of(tmp_path, *(form.format(n, "") for n in steps))) == [10]


def test_a_message_names_its_step(tmp_path: Path) -> None:
    """Pasted above the rows that came before it."""
    rows = [f"Step {n} [2.1 sec/step, loss=15.{n}]" for n in range(2, 20)]
    run = run_of(tmp_path, "Loss exploded to nan at step 32", *rows)
    assert trained(run) == list(range(2, 20))
    found = {finding.rule: finding for finding in diagnose(run).findings}
    assert found["nan-loss"].onset.step == 32


def test_one_row_of_a_batch_is_a_row(tmp_path: Path) -> None:
    """Between warnings that come again."""
    warning = "[box] 2021-04-23 19:22:5{} (trainer:581) WARNING: The grad norm is nan."
    row = "[box] 2021-04-23 19:22:56 (trainer:636) INFO: 2epoch:train:12009-12640batch: loss=65.1"
    run = run_of(tmp_path, *(warning.format(n) for n in range(6)), row)
    assert trained(run) == [12640]


def points(folder: Path, text: str, metric: str = "train_loss") -> list[tuple[int, float]]:
    """Return steps and values of a pasted text."""
    (folder / "paste.txt").write_text(text)
    curve = read(folder / "paste.txt").curve(metric)
    return list(zip(curve.step.tolist(), curve.value.tolist(), strict=True))


def test_a_number_in_front_of_rows_is_their_step(tmp_path: Path) -> None:
    """One in front of every line is that of the line."""
    rows = [f"{{'loss': 0.6{n}, 'epoch': {0.4 + n / 100:.2f}}}" for n in range(1, 5)]
    numbered = "".join(f"{14 + n} {row}\n" for n, row in enumerate(rows, 1))
    assert [step for step, _ in points(tmp_path, numbered)] == [15, 16, 17, 18]
    lines = ["13 begins", *numbered.splitlines(), "19 ended"]
    assert [step for step, _ in points(tmp_path, "\n".join(lines))] != [15, 16, 17, 18]


WHOLE = "{\n  'loss': 2.31,\n  'grad_norm': nan,\n  'epoch': 0.03\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        WHOLE + "{\n  'loss': 0.25,\n  'grad_norm': nan,\n",
        "{'loss': 2.31, 'grad_norm': nan, 'epoch': 0.03}\n{'loss': 0.25, 'grad_norm': 1",
    ],
)
def test_the_row_with_which_a_paste_breaks_off_is_read(tmp_path: Path, text: str) -> None:
    """As far as it is whole; a row of other names is none."""
    assert points(tmp_path, text) == [(1, 2.31), (2, 0.25)]
    assert len(points(tmp_path, text.replace("'loss': 0.25", "'lost': 0.25"))) == 1


def test_bars_of_keras_whose_epochs_a_checkpoint_names(tmp_path: Path) -> None:
    """The headers were cut out, and one line runs into the next."""
    text = "".join(
        f"99/100 [=====>.] - ETA: 0s - loss: 1.7{n}Epoch 0000{n}: val_loss did not improve\n"
        f"100/100 [======] - 27s 25ms/step - loss: 1.6{n} - val_loss: 1.8{n}\n"
        for n in range(3, 7)
    )
    assert points(tmp_path, text) == [(3, 1.63), (4, 1.64), (5, 1.65), (6, 1.66)]


@pytest.mark.parametrize(
    "epochs", [[0.52, 0.52, 0.53, 0.53], [round((n + 1) / 91, 2) for n in range(12)]]
)
def test_epochs_of_two_decimals_skip_no_row(tmp_path: Path, epochs: list[float]) -> None:
    """They are too coarse to tell rows apart, or those of rows at even steps: rows are counted."""
    text = "".join(f"{{'loss': {2 - n / 50:.4f}, 'epoch': {e}}}\n" for n, e in enumerate(epochs))
    assert [step for step, _ in points(tmp_path, text)] == list(range(1, len(epochs) + 1))


@pytest.mark.parametrize("mark", ["...", "> [...]", "…"])
def test_rows_that_were_left_out_make_an_excerpt(tmp_path: Path, mark: str) -> None:
    """The program's exit code tells how it ended, the last row that was kept does not."""
    rows = [f"epoch: {n}/10 Train loss: {1 / n:.4f}" for n in (1, 2, 9)]
    lines = ["python train.py", *rows[:2], mark, rows[2], "Process finished with exit code 0"]
    run = run_of(tmp_path, *lines)
    assert run.state.excerpt
    assert run.state.kind == "finished"
    told = diagnose(run)
    assert "stopped-early" not in {one.rule for one in told.findings}
    lines.remove(mark)
    assert run_of(tmp_path, *lines).state.kind == "stopped_early"


def test_steps_of_one_later_epoch_are_as_printed(tmp_path: Path) -> None:
    """Nothing tells how many batches an epoch has: none are counted on (PaddleOCR)."""
    lines = [f"epoch: [6/6], iter: {72_630 + 10 * n}, loss: 0.{70 - n}" for n in range(5)]
    assert trained(run_of(tmp_path, *lines)) == [72_630, 72_640, 72_650, 72_660, 72_670]


def test_bars_of_later_epochs_stand_where_their_labels_say(tmp_path: Path) -> None:
    """Six bars of 100 batches from epoch 85 on are no epochs 1 to 6."""
    lines = [
        f"Epoch {85 + n}/300: 100%|██████| 100/100 [01:24<00:00,  1.6it/s, loss=6.{9 - n}]"
        for n in range(3)
    ]
    run = run_of(tmp_path, *lines)
    assert trained(run) == [8_600, 8_700, 8_800]
    assert run.curve("train_loss").epoch.tolist() == [86, 87, 88]


def test_a_table_that_never_changes_is_no_prefix(tmp_path: Path) -> None:
    """Rows that are alike to the digit, below what a script says first."""
    rows = ["184.500 0.505   1.000   0.671"] * 20
    head = "LOSS      P       R       F"
    run = run_of(tmp_path, "Created model", "Loading data", "Training", head, *rows)
    assert run.curve("train_loss").value.tolist() == [184.5] * 20


def test_items_of_a_list_are_numbers_alone(tmp_path: Path) -> None:
    """What is pasted as a list of Markdown."""
    run = run_of(tmp_path, *(f"- {1 / (n + 1)}" for n in range(12)))
    (name,) = run.history.metrics
    assert run.curve(name).value[:2].tolist() == [1.0, 0.5]
    assert len(run.curve(name)) == 12


def test_a_name_right_behind_a_number_of_a_wide_colon(tmp_path: Path) -> None:
    """``训练次数：1Loss:0.9`` has two numbers."""
    lines = [
        line
        for n in range(1, 5)
        for line in (f"-----第 {n} 轮训练开始-----", f"训练次数：{n}Loss:0.9{9 - n}")
    ]
    run = run_of(tmp_path, *lines)
    assert run.curve("train_loss").step.tolist() == [1, 2, 3, 4]


def test_what_a_checkpoint_says_within_a_bar_tells_its_epoch(tmp_path: Path) -> None:
    """Improved or not: both epochs have a row."""
    said = ("improved from inf to 1.5564, saving model to a.h5", "did not improve")
    lines = [
        line
        for n, what in enumerate(said, 1)
        for line in (
            f"99/100 [====>.] - ETA: 0s - loss: 1.6080Epoch 0000{n}: val_loss {what}",
            f"100/100 [=====] - 27s 225ms/step - loss: 1.60{9 - n} - val_loss: 1.55{n}",
        )
    ]
    assert run_of(tmp_path, *lines).curve("eval_loss").value.tolist() == [1.551, 1.552]


def test_a_patience_that_runs_out_counts_no_epochs(tmp_path: Path) -> None:
    """``Patience: 1/5`` behind an evaluation: that is of the epoch above it."""
    waited = {6: 1, 10: 1, 11: 2, 12: 3, 13: 4, 14: 5}
    lines = [
        line
        for n in range(1, 15)
        for line in (
            f"Epoch {n}/20",
            f"Train Loss: {3.5 / n:.4f}, Acc: 0.{80 + n}, F1: 0.{81 + n}",
            f"Val   Loss: {5.8 + n / 100:.4f}, Acc: 0.{17 + n}, F1: 0.{10 + n}",
            f"⚠️  No improvement. Patience: {waited[n]}/5" if n in waited else "✅ Model saved!",
        )
    ]
    run = run_of(tmp_path, *lines)
    assert run.curve("eval_loss").step.tolist() == list(range(1, 15))
