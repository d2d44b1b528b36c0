"""Console logs as a whole: finding them, steps, launches, and what lies around the numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens.sources import console
from runlens.sources.files import walk
from runlens.sources.reading import SourceReading

SUMMARY = "{'train_runtime': 12.0, 'train_loss': 0.5, 'epoch': 1.0}"


def reading(folder: Path, text: str | bytes, name: str = "train.log") -> SourceReading:
    """Write a log and read it."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return console.read(path)


def bar(done: int, total: int = 40, rate: str = "9.00it/s", label: str = "") -> str:
    """Return a progress bar as tqdm draws it."""
    return f"{label}{100 * done // total:3d}%|##        | {done}/{total} [00:01<00:02, {rate}]"


def row(loss: float | str, epoch: float, quoted: str = "") -> str:
    """Return a row as the Trainer prints it."""
    values = {"loss": loss, "grad_norm": 1.5, "epoch": epoch}
    return "{" + ", ".join(f"'{k}': {quoted}{v}{quoted}" for k, v in values.items()) + "}"


def steps(read: SourceReading, name: str = "loss") -> list[int]:
    """Return the steps of a series."""
    return [int(step) for step in read.series[name].step]


def trainer_log(count: int = 8, every: int = 5) -> str:
    """Return a log of the Trainer with a bar drawn again behind each row."""
    total = count * every
    lines = [bar(0, total)]
    for number in range(1, count + 1):
        step = number * every
        lines += [bar(step - 2, total), " " * 40, row(4.0 - number / 10, step / total) + "\n"]
        lines += [bar(step, total)]
    return "\r".join(lines)


def test_the_bar_behind_a_row_gives_its_step(tmp_path: Path) -> None:
    """The bar before a row may be late; the one drawn again behind it is exact."""
    read = reading(tmp_path, trainer_log())
    assert steps(read) == [5, 10, 15, 20, 25, 30, 35, 40]
    assert read.hints.planned_steps == 40
    assert read.hints.ended_step == 40
    assert read.precision == "rounded"
    assert read.steps_inferred


def test_numbers_may_be_strings_and_nan(tmp_path: Path) -> None:
    """Newer versions print every number as a string; NaN and zero are values."""
    lines = [
        row("4.161", 0.1, "'"),
        bar(1),
        row("nan", 0.2, "'"),
        bar(2),
        row("0", 0.3, "'"),
        bar(3),
    ]
    values = reading(tmp_path, "\n".join(lines)).series["loss"].value
    assert values[0] == pytest.approx(4.161)
    assert np.isnan(values[1])
    assert values[2] == 0.0


@pytest.mark.parametrize("epoch", ["01e999", "-1e999", "1e300", "9" * 400])
def test_an_epoch_beyond_all_bounds_is_not_known(epoch: str, tmp_path: Path) -> None:
    """Damaged digits in one row leave the steps of the others as they are; no warning either."""
    lines = trainer_log().split("\n")
    at = next(place for place, line in enumerate(lines) if "'loss'" in line)
    start, _, _ = lines[at].partition("'epoch'")
    damaged = [*lines[:at], f"{start}'epoch': {epoch}}}", *lines[at + 1 :]]
    found = reading(tmp_path, "\n".join(damaged))
    whole = reading(tmp_path, trainer_log())
    assert set(steps(found)) <= set(steps(whole))
    assert len(steps(found)) >= len(steps(whole)) - 1
    epochs = found.series["loss"].epoch
    assert not np.isinf(epochs).any()
    assert np.nanmax(epochs) == np.nanmax(whole.series["loss"].epoch)


def test_evaluation_bars_are_not_the_run(tmp_path: Path) -> None:
    """A bar of another total between two rows does not change the step."""
    lines = []
    for step in range(1, 9):
        lines += [bar(step, 8 * 10), row(2.0, step / 10), bar(step, 8 * 10)]
        lines += [bar(n, 7) for n in range(1, 8)]
        lines += [f"{{'eval_loss': 2.5, 'epoch': {step / 10}}}", bar(step, 8 * 10)]
    read = reading(tmp_path, "\n".join(lines))
    assert steps(read) == list(range(1, 9))
    assert steps(read, "eval_loss") == list(range(1, 9))


def test_an_emulated_terminal_has_its_exact_bar_before_the_row(tmp_path: Path) -> None:
    """W&B's output.log keeps the next state of the bar behind a row, not the one drawn again."""
    lines = []
    for number in range(1, 9):
        lines += [bar(number * 5, 50, f"{number}.11it/s"), row(1.0, number / 10)]
        lines += [bar(number * 5 + 1, 50, f"{number}.77it/s")]
    assert steps(reading(tmp_path, "\n".join(lines), "output.log")) == list(range(5, 41, 5))


def test_rows_in_a_bunch_get_steps_from_their_epochs(tmp_path: Path) -> None:
    """Where stdout was buffered the rows come together, behind all bars."""
    bars = [bar(n, 60) for n in range(61)]
    rows = [row(3.0, round(n * 5 / 60, 4)) for n in range(1, 13)]
    read = reading(tmp_path, "\r".join(bars) + "\n" + "\n".join([*rows, SUMMARY]))
    assert steps(read) == list(range(5, 61, 5))
    assert read.problems == []


def test_the_interval_is_seen_in_bars_that_were_drawn_twice(tmp_path: Path) -> None:
    """Rows that were lost in a buffer left a second drawing of the bar behind."""
    bars = [text for n in range(1, 61) for text in ([bar(n, 100)] * (1 + (n % 2 == 0)))]
    rows = [row(3.0, round(n / 50, 4)) for n in range(1, 21)]
    read = reading(tmp_path, "\n".join(rows) + "\n" + "\r".join(bars))
    assert steps(read) == list(range(2, 41, 2))


def test_counted_rows_are_a_problem(tmp_path: Path) -> None:
    """Without bars and banners the interval is unknown, and the reading says so."""
    read = reading(tmp_path, "\n".join(row(3.0, n / 100) for n in range(1, 9)))
    assert steps(read) == list(range(1, 9))
    assert any("step number" in problem.text for problem in read.problems)


def test_an_explicit_step_is_taken(tmp_path: Path) -> None:
    """A step in the row itself needs no conclusion."""
    lines = [f"{{'step': {n * 7}, 'loss': 1.0, 'lr': 0.1}}" for n in range(1, 5)]
    read = reading(tmp_path, "\n".join(lines))
    assert steps(read) == [7, 14, 21, 28]
    assert not read.steps_inferred


def test_json_rows_of_fairseq(tmp_path: Path) -> None:
    """Training and validation rows of fairseq's JSON log have their update numbers."""
    head = "2020-01-01 00:00:0{n} | INFO | "
    train = head + 'train_inner | {{"epoch": 1, "loss": "4.{n}", "num_updates": "{n}00"}}'
    valid = 'x | valid | {"epoch": 1, "valid_loss": "4.2", "valid_num_updates": "300"}'
    read = reading(tmp_path, "\n".join([train.format(n=n) for n in range(1, 4)] + [valid]))
    assert steps(read) == [100, 200, 300]
    assert steps(read, "valid_loss") == [300]
    assert read.framework == "fairseq"
    assert read.series["loss"].time[0] == 1577836801.0


def test_the_closing_row_is_no_point(tmp_path: Path) -> None:
    """In the summary train_loss is the mean over the whole run."""
    read = reading(tmp_path, trainer_log() + "\n" + SUMMARY)
    assert read.hints.summary
    assert "train_loss" not in read.series


def test_ranks_that_print_the_same_row_count_once(tmp_path: Path) -> None:
    """Two processes, each printing every row."""
    lines = []
    for step in range(1, 7):
        lines += [row(3 - step / 10, step / 40)] * 2 + [bar(step)]
    assert steps(reading(tmp_path, "\n".join(lines))) == [1, 2, 3, 4, 5, 6]


def test_a_resume_in_the_same_file_is_a_new_launch(tmp_path: Path) -> None:
    """The epoch falls back to the checkpoint; both launches keep their rows."""
    first = [text for n in range(1, 31) for text in (row(2.0, n / 40), bar(n))]
    again = [text for n in range(21, 41) for text in (row(1.0, n / 40), bar(n))]
    middle = ["  Continuing training from global step 20", bar(20)]
    read = reading(tmp_path, "\n".join(first + middle + again))
    curve = read.series["loss"]
    assert curve.launch.tolist() == [0] * 30 + [1] * 20
    assert curve.step.tolist() == [*range(1, 31), *range(21, 41)]
    assert [(event.kind, event.step) for event in read.events] == [("resume", 20), ("launch", 21)]


def test_a_checkpoint_is_an_event(tmp_path: Path) -> None:
    """The path of a checkpoint is kept without the file in it."""
    text = trainer_log() + "\nSaving model checkpoint to out/checkpoint-20\n"
    (event,) = reading(tmp_path, text).events
    assert (event.kind, event.step, event.data["path"]) == ("checkpoint", 20, "out/checkpoint-20")


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("new best eval_acc: 0.47, save model to checkpoints/rl/rl", "checkpoints/rl/rl"),
        ("saving model to 'logs/version_0/best.ckpt' as top 1", "logs/version_0/best.ckpt"),
        ("Saved the best model to out/best", "out/best"),
        ("INFO output/alexnet/ckpt_best.pth saved !!!", "output/alexnet/ckpt_best.pth"),
    ],
)
def test_weights_without_a_step_in_their_name_are_of_the_step_reached(
    tmp_path: Path, line: str, path: str
) -> None:
    """Loops that keep one best model write over the same file."""
    (event,) = reading(tmp_path, f"{trainer_log()}\n{line}\n").events
    assert (event.kind, event.step, event.data["path"]) == ("checkpoint", 40, path)


def test_a_sentence_without_a_path_names_no_checkpoint(tmp_path: Path) -> None:
    """Once the advice was to resume from "the"."""
    text = trainer_log() + "\nSaving model at the end of epoch 5\nSaving checkpoint to disk...\n"
    assert reading(tmp_path, text).events == []


def test_banners_and_command_lines_are_settings(tmp_path: Path) -> None:
    """What the Trainer says at its start, and the flags of the command."""
    text = (
        "$ torchrun train.py --learning_rate 2e-5 --bf16 --output-dir=out\n"
        "***** Running training *****\n  Num examples = 1,000\n  Num Epochs = 3\n"
        "  Total optimization steps = 375\n"
    )
    read = reading(tmp_path, text + trainer_log())
    assert read.config["learning_rate"] == 2e-5
    assert read.config["bf16"] is True
    assert read.config["output_dir"] == "out"
    assert read.config["num_examples"] == 1000
    assert read.hints.planned_steps == 375
    assert read.hints.planned_epochs == 3


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("$ ./mf_sgd --train r.txt -k 16 -lr 0.02 -reg 1.0", {"lr": 0.02, "reg": 1.0}),
        ("> fit --rate 0.3 --eta 0.1", {"rate": 0.3, "eta": 0.1}),
        ("# the loss - see --lr 0.1", {"lr": None}),  # a sentence
    ],
)
def test_flags_of_any_program_behind_a_prompt(
    tmp_path: Path, line: str, said: dict[str, object]
) -> None:
    """A command line is known by its prompt where no launcher is in it."""
    read = reading(tmp_path, f"{line}\n{trainer_log()}")
    assert {name: read.config.get(name) for name in said} == said


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ('[INFO] [axolotl.cli.config] config:\n{\n  "lora": {\n    "r": 8\n  }\n}', "lora.r", 8),
        ("args: Namespace(lr=0.001, name='run a', seed=3)", "lr", 0.001),
        ("Batch: 1, LR: 4e-4, betas: (0.9, -0.6)", "betas", "(0.9, -0.6)"),
        ("  Gradient Accumulation steps = 2", "gradient_accumulation_steps", 2),
        ("  adam_beta2 ...................... 0.95", "adam_beta2", 0.95),
        ("Overriding: dropout = 0.2", "dropout", 0.2),
        ("x TrainingArguments(\n_n_gpu=1,\nweight_decay=0.01,\n)", "weight_decay", 0.01),
        ("(main_task pid=9) {'actor': {'lr': 1e-06,\n(main_task pid=9)  'n': 2}}", "actor.n", 2),
    ],
)
def test_dumps_of_a_configuration(tmp_path: Path, text: str, key: str, value: object) -> None:
    """Each framework repeats its settings in another form."""
    assert reading(tmp_path, text + "\n" + trainer_log()).config[key] == value


def test_notebook_logs_are_joined(tmp_path: Path) -> None:
    """A Kaggle log is a JSON list of writes, each with a part of a line."""
    pieces = []
    for n in range(1, 5):
        pieces += [f"\r{bar(n)}\r", row(2.0, n / 40)[:9], row(2.0, n / 40)[9:] + "\n", bar(n)]
    entries = [json.dumps({"stream_name": "stdout", "time": 1.0, "data": p}) for p in pieces]
    text = ("[" + "\n,".join(entries) + "\n]").replace('"stream_name": ', '"stream_name":')
    assert steps(reading(tmp_path, text)) == [1, 2, 3, 4]


def test_nuls_colours_and_lone_carriage_returns(tmp_path: Path) -> None:
    """A log that was cut, coloured and has no line feed at all still tells its bar."""
    text = b"\0" * 500 + b"\x1b[32mStarting\x1b[0m\r" + "\r".join(map(bar, range(35))).encode()
    read = reading(tmp_path, text)
    assert (read.hints.ended_step, read.hints.planned_steps) == (34, 40)
    assert read.log_tail == ("Starting", bar(34))


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (bytes(range(256)) * 40, "no text"),
        (b"hello\nworld\n", "no training metric"),
    ],
)
def test_a_file_that_is_no_log_is_one_problem(tmp_path: Path, data: bytes, word: str) -> None:
    """Nothing is raised, and the user learns what is wrong."""
    read = reading(tmp_path, data)
    assert [word in problem.text for problem in read.problems] == [True]
    assert not read.series


def test_the_middle_of_a_very_long_log_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Start and end are read, and the reading says how much was not."""
    text = trainer_log(400, 1)
    monkeypatch.setattr(console, "MAX_LOG", len(text) // 2)
    monkeypatch.setattr(console, "HEAD", len(text) // 8)
    read = reading(tmp_path, text)
    assert steps(read)[0] == 1
    assert steps(read)[-1] == 400
    assert 100 < len(steps(read)) < 300
    assert "middle" in read.problems[0].text


def test_logs_are_found_by_what_is_in_them(tmp_path: Path) -> None:
    """Requirements, tracker logs and notes are no logs of a training."""
    log = trainer_log()
    for name, text in {
        "train.log": log,
        "nohup.out": log,
        "slurm-17.out": log,
        "notes.txt": "buy milk\n",
        "requirements.txt": log,
        "output/debug.log": log,
        "wandb/run-1/logs/debug.log": log,
        "wandb/run-1/files/output.log": log,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = console.find(tmp_path, walk(tmp_path))
    names = {str(path.relative_to(tmp_path)) for path in found}
    assert names == {"train.log", "nohup.out", "slurm-17.out", "wandb/run-1/files/output.log"}


def test_a_debug_log_counts_where_nothing_else_is(tmp_path: Path) -> None:
    """Axolotl repeats its console in debug.log."""
    (tmp_path / "debug.log").write_text(trainer_log())
    assert console.find(tmp_path, walk(tmp_path)) == [tmp_path / "debug.log"]


def test_a_file_that_is_named_is_taken_as_it_is(tmp_path: Path) -> None:
    """Whoever names a file wants it read, and be told if there is nothing in it."""
    path = tmp_path / "notes.log"
    path.write_text("buy milk\n")
    assert console.find(path, walk(path)) == [path]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Early stopping triggered at epoch 7", True),
        ("Early stopping", True),
        ("[pretrain] early stop after 28 epochs (no improvement for 6)", True),
        ("Training finished after not improving. Early Stop!", True),
        ("10:00:00 INFO: [EARLY STOP] No improvement, stopping training.", True),
        ("EarlyStopping counter: 3 out of 5", False),
        ("early_stopping: patience 5", False),
    ],
)
def test_a_patience_that_ran_out_is_an_end(tmp_path: Path, line: str, *, told: bool) -> None:
    """Where no training record follows; a counter that runs is none."""
    kinds = [event.kind for event in reading(tmp_path, f"{trainer_log()}\n{line}\n").events]
    assert ("early_stop" in kinds) is told
    before = [event.kind for event in reading(tmp_path, f"{line}\n{trainer_log()}\n").events]
    assert "early_stop" not in before
