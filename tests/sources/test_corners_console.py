"""Corners of console logs: what is torn, rounded, cut out or printed by somebody else."""

from pathlib import Path
from typing import Any

import pytest

from runlens.errors import NothingReadable
from runlens.sources import console, read_all
from runlens.sources.console.scanner import BLOCK
from runlens.sources.files import Unreadable, parse_json
from tests.sources.console_logs import bar, points, reading, row, steps

BANNER = "***** Running training *****\n  Num examples = 1,600\n"
BATCH = "  Total train batch size (w. parallel, distributed & accumulation) = 16\n"
COUNTED = "has rows without a step number, so the rows were numbered in order"


# where rows stand


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BANNER + BATCH + row(0.1) + row(0.2), [10, 20]),
        (
            BANNER + "  Num Epochs = 3\n  Total optimization steps = 300\n" + row(0.1) + row(0.2),
            [10, 20],
        ),
        (
            BANNER
            + "  Total optimization steps = 40\n"
            + "".join(map(row, (0.25, 0.5, 0.75, 1.0)))
            + "{'train_runtime': 9.0, 'train_loss': 2.0, 'epoch': 1.0}\n",
            [10, 20, 30, 40],
        ),
    ],
    ids=["examples and batch", "steps and epochs", "a closing row"],
)
def test_the_banner_gives_rows_without_bars_their_steps(
    text: str, expected: list[int], tmp_path: Path
) -> None:
    """Bars are switched off on many clusters."""
    read = reading(tmp_path, text)
    assert (steps(read), read.problems) == (expected, [])


def test_epochs_of_two_decimals_that_rows_share_leave_them_apart(tmp_path: Path) -> None:
    """16 rows in a hundredth of an epoch, with the interval from the settings."""
    rows = "".join(row(round(10 * n / 16_000, 2), 9 - n / 10) for n in range(1, 80))
    assert steps(reading(tmp_path, f"TrainingArguments(\nlogging_steps=10,\n)\n{rows}")) == [
        10 * n for n in range(1, 80)
    ]


@pytest.mark.parametrize(
    ("settings", "expected", "problems"),
    [("TrainingArguments(\nlogging_steps=10,\n)\n", [10, 20, 30], []), ("", [1, 2, 3], [COUNTED])],
)
def test_the_beginning_of_a_long_epoch_is_no_step_zero(
    settings: str, expected: list[int], problems: list[str], tmp_path: Path
) -> None:
    """Its rows all say ``'epoch': 0.0``: they are counted."""
    banner = BANNER + "  Num Epochs = 3\n  Total optimization steps = 187,500\n"
    read = reading(tmp_path, settings + banner + "".join(row(0.0, 3 - n / 10) for n in range(3)))
    assert (steps(read), [p.text for p in read.problems]) == (expected, problems)


def test_an_evaluation_before_the_training_is_at_step_zero(tmp_path: Path) -> None:
    """With a bar beside it and without one."""
    first = "{'eval_loss': 3.1, 'epoch': 0}\n"
    assert steps(reading(tmp_path, first), "eval_loss") == [0]
    assert steps(reading(tmp_path, bar(0) + first + bar(0)), "eval_loss") == [0]


@pytest.mark.parametrize(
    "epochs",
    [
        [0, 0, 0, *(n / 100 for n in range(1, 12))],
        [-0.5, -0.4, 0, *(n / 10 for n in range(1, 8))],
        [0, *(f"{n}e-320" for n in range(1, 9))],
        [*(f"{n}e-300" for n in range(9)), 1e14],
    ],
    ids=["a rest of zeros", "below zero", "denormal", "over all magnitudes"],
)
@pytest.mark.filterwarnings("error")
def test_epochs_that_no_trainer_prints_keep_their_rows(
    epochs: list[float | str], tmp_path: Path
) -> None:
    """Each row is a point, in order, and the doubt is said."""
    read = reading(tmp_path, "".join(map(row, epochs)))
    assert len(steps(read)) == len(epochs)
    assert min(steps(read)) >= 0
    assert steps(read) == sorted(steps(read))
    assert read.problems


@pytest.mark.parametrize("planned", ["9,223,372,036,854,775,807", "9" * 400])
def test_data_without_a_length_plan_no_epochs(planned: str, tmp_path: Path) -> None:
    """The Trainer says sys.maxsize then: neither a plan nor a share of it."""
    banner = f"{BANNER}  Num Epochs = {planned}\n  Total optimization steps = 100\n"
    read = reading(tmp_path, banner + BATCH + row(0.1))
    assert (read.hints.planned_steps, read.hints.planned_epochs) == (100, None)
    assert steps(read) == [10]


def test_a_plan_beyond_all_bounds_is_none(tmp_path: Path) -> None:
    """The number of steps is as little to be believed as its 400 digits."""
    read = reading(tmp_path, f"  Total optimization steps = {'9' * 400}\n" + row(0.1) + row(0.2))
    assert read.hints.planned_steps is None
    assert steps(read) == [1, 2]


def test_rows_that_came_in_a_bunch_follow_the_settings(tmp_path: Path) -> None:
    """The bars lie far from the rows; logging_steps says how far apart these are."""
    bars = "".join(map(bar, range(41)))
    rows = "".join(row(n / 8) for n in range(1, 9))
    assert steps(
        reading(tmp_path, f"TrainingArguments(\nlogging_steps=5,\n)\n{bars}{rows}")
    ) == list(range(5, 45, 5))


def test_an_evaluation_among_rows_that_name_their_steps_lies_between_them(tmp_path: Path) -> None:
    """Its epoch tells where; without epochs it is at the step before; it is no doubt."""
    dated = "".join(f"{{'loss': 2.5, 'step': {n}, 'epoch': {n / 50}}}\n" for n in (10, 20, 30))
    last = "{'eval_loss': 2.4, 'epoch': 0.7}\n"
    read = reading(tmp_path, dated + last)
    assert (steps(read), steps(read, "eval_loss")) == ([10, 20, 30], [35])
    assert (read.hints.ended_step, read.problems) == (35, [])
    bare = "".join(f"{{'loss': 2.5, 'step': {n}}}\n" for n in (10, 20, 30))
    assert steps(reading(tmp_path, bare + last), "eval_loss") == [30]


def test_a_dict_whose_numbers_are_none_costs_nothing_else(tmp_path: Path) -> None:
    """A version is no epoch and no value; a dict without a metric, or without a date, no row."""
    text = (
        "{'loss': 2.5, 'step': 5, 'epoch': 1.2.3}\n{'loss': 2.4, 'step': 10, 'lr': '1.2.3'}\n"
        "{'step': 7, 'version': 3}\n{'loss': 9.5, 'epoch': nan}\n{'loss': 2.3, 'step': 15}\n"
    )
    read = reading(tmp_path, text)
    assert points(read, "loss") == [(5, 2.5), (10, 2.4), (15, 2.3)]
    assert not any(read.series["loss"].epoch > 0)
    assert "version" not in read.series


def test_a_closing_row_without_a_step_makes_no_step_a_guess(tmp_path: Path) -> None:
    """All points name theirs."""
    rows = "".join(f"{{'loss': 2.5, 'step': {n}}}\n" for n in (10, 20, 30))
    read = reading(tmp_path, rows + "{'train_runtime': 9.0, 'train_loss': 2.0, 'epoch': 1.0}\n")
    assert steps(read) == [10, 20, 30]
    assert not read.steps_inferred
    assert read.hints.summary


def test_a_single_line_of_epochs_joins_the_lines_of_its_kind(tmp_path: Path) -> None:
    """What comes once, at the end, is kept; what counts otherwise is not."""
    rows = "".join(f"Epoch {n} loss: {3 - n / 10}\n" for n in (1, 2, 3))
    once = "Epoch 3 best loss: 2.5 acc: 0.5\nstep 7 worst loss: 3.5\n"
    read = reading(tmp_path, rows + once)
    assert points(read, "best loss") == [(3, 2.5)]
    assert "worst loss" not in read.series


def test_a_line_of_words_under_a_table_is_no_row_of_it(tmp_path: Path) -> None:
    """It begins with a number and has as many words as the table has columns."""
    read = reading(
        tmp_path, "epoch  train_loss  val_loss\n0  2.5  2.6\n1  2.4  2.5\n9  all  done\n"
    )
    assert points(read, "train_loss") == [(0, 2.5), (1, 2.4)]
    assert read.hints.ended_step == 1


def test_a_table_that_holds_nothing_but_its_step_still_says_how_far_it_came(
    tmp_path: Path,
) -> None:
    """It has no metric; the run went on to it."""
    edge = "-" * 30 + "\n"
    first = f"{edge}| rollout/ep_rew_mean | 12.5 |\n| time/total_timesteps | 64 |\n{edge}"
    read = reading(tmp_path, f"{first}{edge}| time/total_timesteps | 128 |\n{edge}")
    assert points(read, "rollout/ep_rew_mean") == [(64, 12.5)]
    assert read.hints.ended_step == 128


def test_keras_that_is_cut_within_a_number_keeps_the_state_before(tmp_path: Path) -> None:
    """The half of a number is none."""
    text = "".join(
        f"Epoch {n}/3\n10/10 [==============================] - 1s - loss: {3 - n}.5\n"
        for n in (1, 2)
    )
    text += "Epoch 3/3\n 5/10 [======>.......] - ETA: 1s - loss: 0.75"
    read = reading(tmp_path, f"{text}\r 6/10 [=======>......] - ETA: 1s - loss: 0.")
    assert points(read, "loss") == [(1, 2.5), (2, 1.5), (3, 0.75)]


def test_keras_that_goes_back_over_its_bar_keeps_its_last_number(tmp_path: Path) -> None:
    """It has as many decimals as those before, behind which Keras drew backspaces."""
    said = "{n:4d}/40 [====>.....] - ETA: 41:2{n} - loss: {loss:.4f}"
    bars = [said.format(n=n, loss=3.4999 - n / 1000) for n in range(1, 10)]
    text = "Epoch 1/3\n" + ("\b" * 60 + "\r").join(bars)
    assert points(reading(tmp_path, text), "loss")[-1] == (9, 3.4909)
    assert points(reading(tmp_path, text[:-1]), "loss")[-1] == (8, 3.4919)


# lines and bars


def test_a_line_that_never_ends_takes_nothing_from_those_before(tmp_path: Path) -> None:
    """A dump longer than a block, without a line feed behind it."""
    text = "".join(row(n / 4) + bar(10 * n) for n in range(1, 5))
    read = reading(tmp_path, text + "x" * (2 * BLOCK))
    assert steps(read) == [10, 20, 30, 40]


def test_a_bar_that_counts_bytes_is_not_the_run(tmp_path: Path) -> None:
    """Numbers of 15 digits stand in a bar beside that of the training."""
    huge = "  1%|#| 123456789012345/923456789012345 [00:01<00:02, 9.00it/s]\n"
    text = huge + "".join(row(n / 4) + bar(10 * n) for n in range(1, 5))
    read = reading(tmp_path, text)
    assert (steps(read), read.hints.planned_steps) == ([10, 20, 30, 40], 40)


def test_a_notebook_log_that_is_cut_keeps_its_whole_writes(tmp_path: Path) -> None:
    """The last write broke off; one within has no text."""
    writes = [
        f'{{"stream_name":"stdout","time":1.0,"data":"{text}\\n"}}'
        for text in ("step 1 loss: 2.5", "step 2 loss: 2.4")
    ]
    text = "[" + "\n,".join([*writes, '{"stream_name":"stdout","data":5}', writes[0][:-9]])
    assert points(reading(tmp_path, text), "loss") == [(1, 2.5), (2, 2.4)]


def test_a_date_that_no_calendar_has_is_no_time(tmp_path: Path) -> None:
    """The line is read all the same."""
    text = "2024-02-31 10:00:00 step 1 loss: 2.5\n2024-02-28 10:00:00 step 2 loss: 2.4\n"
    read = reading(tmp_path, text)
    assert points(read, "loss") == [(1, 2.5), (2, 2.4)]
    assert read.series["loss"].time.tolist() == [
        pytest.approx(float("nan"), nan_ok=True),
        1709114400,
    ]
    assert read.started == 1709114400


# places


def test_a_log_that_may_not_be_read_is_found_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not passed over in silence because nobody could look into it."""
    (tmp_path / "train.log").write_text(row(0.1))

    def refused(path: Path, *_: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refused)
    (found,) = console.find(tmp_path, {tmp_path: ["train.log"]})
    (problem,) = console.read(found).problems
    assert problem.text == "no permission to read it; try chmod +r, or another user"


def test_a_place_that_may_not_be_looked_at_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may well exist: that it does not would send the user looking for it."""

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "lstat", refused)
    with pytest.raises(NothingReadable, match="no permission to look there"):
        read_all(tmp_path / "run")


def test_a_link_that_became_a_text_says_where_to_point(tmp_path: Path) -> None:
    """Git and zip on Windows make a file of ``latest-run`` that holds the run's name."""
    (tmp_path / "latest-run").write_text("run-20240101_000000-abc")
    with pytest.raises(NothingReadable, match="point at that run's folder"):
        read_all(tmp_path)


def test_json_beyond_the_memory_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the fast decoder gives up or the lenient one."""

    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("json.loads", exhausted)
    with pytest.raises(Unreadable, match="needs more memory than there is"):
        parse_json('{"loss": NaN}')
    monkeypatch.setattr("msgspec.json.decode", exhausted)
    with pytest.raises(Unreadable, match="needs more memory than there is"):
        parse_json('{"loss": 1}')
