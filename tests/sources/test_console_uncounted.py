"""Rows without a counter, arguments that were refused, errors of programs that train nothing."""

from pathlib import Path

import pytest

from runlens import errors, read
from tests.sources.console_logs import reading, steps

ROW = (
    "2025-09-23 09:01:00,984 - train - INFO - rl_loss: {0}, l2_norm: 0.1{1}, "
    "data: {{'total_num': 256, 'total_reward': {1}.0}}\n"
)
TRACE = 'Traceback (most recent call last):\n  File "bot.py", line 3, in buy\nNameError: log\n'
USAGE = "usage: run.py [-h] [--fp16 FP16]\n              [--seed SEED]\n"


def test_rows_that_name_no_step_are_counted(tmp_path: Path) -> None:
    """Nested numbers are theirs too."""
    text = "".join(ROW.format(-n / 100, 100 + n) + "model output:\n\nso: 3, 4\n" for n in range(6))
    found = reading(tmp_path, text)
    assert steps(found, "rl_loss") == [1, 2, 3, 4, 5, 6]
    assert list(found.series["total_reward"].value) == [100, 101, 102, 103, 104, 105]
    assert "numbered in order" in found.problems[0].text


@pytest.mark.parametrize(
    "text",
    [
        "note: 1, loss: 2, this is no row but a sentence of words: 3\n" * 9,
        "price: 1.5, volume: 2, spread: 3\n" * 9,
        "loss: 1, other: 2\n" * 9,
        f"loss: 1, b: 2, c: 3, {'d: 4, ' * 2000}\n" * 9,
    ],
)
def test_what_is_no_row_of_a_training_is_not_counted(tmp_path: Path, text: str) -> None:
    """Prose, no metric of a training, too few numbers, too long."""
    assert not reading(tmp_path, text).series


def test_refused_arguments_end_a_run_before_its_first_step(tmp_path: Path) -> None:
    """As argparse says it, behind its usage."""
    (tmp_path / "train.log").write_text(f"{USAGE}run.py: error: argument --fp16: wanted yes\n")
    state = read(tmp_path).state
    assert (state.kind, state.sure) == ("crashed", "certain")
    assert state.why == "run.py: error: argument --fp16: wanted yes, at step 0"
    assert not reading(tmp_path, USAGE + "done\n").hints.traceback


def test_errors_of_another_program_are_no_run(tmp_path: Path) -> None:
    """No metric, and no word of a training; a library in it would be one."""
    (tmp_path / "errors.txt").write_text(TRACE)
    (tmp_path / "bot.db").write_bytes(b"\0")  # alone in its folder, the log would be meant
    with pytest.raises(errors.NothingReadable):
        read(tmp_path)
    (tmp_path / "errors.txt").write_text(TRACE.replace("bot.py", "train.py"))
    assert read(tmp_path).state.kind == "crashed"
    assert read(tmp_path / "errors.txt").state.kind == "crashed"


def test_a_message_below_its_exception_and_a_row_that_was_held_back(tmp_path: Path) -> None:
    """A traceback on stderr, and behind it what lay in the buffer of stdout."""
    rows = "".join(f"step {n}: loss {3 - n / 10}\n" for n in range(6))
    error = TRACE.replace("NameError: log", "RuntimeError:\n    Some tensors share memory, x.")
    (tmp_path / "train.log").write_text(f"{rows}{error}step 5: eval_loss 2.6\n")
    state = read(tmp_path).state
    assert (state.kind, state.why[:43]) == (
        "crashed",
        "RuntimeError: Some tensors share memory, x,",
    )
    (tmp_path / "train.log").write_text(f"{rows}{error}step 6: loss 2.4\n")
    assert read(tmp_path).state.kind == "unknown"


def test_a_traceback_that_the_log_cuts_off_ended_the_run(tmp_path: Path) -> None:
    """Its frames are there, the exception is not."""
    rows = "".join(f"step {n}: loss {3 - n / 10}\n" for n in range(6))
    (tmp_path / "train.log").write_text(rows + TRACE[: TRACE.index("NameError")])
    state = read(tmp_path).state
    assert state.kind == "crashed"
    assert state.why == "an exception that the log does not name, in buy(), at step 5"


def test_a_lost_connection_before_the_first_row_is_no_noise_on_the_way_out(tmp_path: Path) -> None:
    """Behind rows a helper process may say so while the program ends."""
    error = TRACE.replace("NameError: log", "ConnectionResetError: [Errno 104] reset by peer")
    log = "Loading model\nTraining epoch: 1\n"
    (tmp_path / "train.log").write_text(log + error)
    assert read(tmp_path).state.kind == "crashed"
    rows = "".join(f"step {n}: loss {3 - n / 10}\n" for n in range(6))
    (tmp_path / "train.log").write_text(log + rows + error)
    assert read(tmp_path).state.kind == "unknown"


def test_a_signal_by_hand_that_a_launcher_tells(tmp_path: Path) -> None:
    """DeepSpeed's main process says so, and goes."""
    rows = "".join(f"{{'loss': {2 - n / 10}, 'epoch': {n / 10}}}\n" for n in range(1, 9))
    end = "[INFO] [launch.py:328:sigkill_handler] Main process received SIGINT, exiting\n"
    (tmp_path / "train.log").write_text(rows + end)
    assert read(tmp_path).state.kind == "killed"


@pytest.mark.parametrize(
    ("rate", "wanted"), [(0.293, [10, 20, 30]), (0.001, [1, 2, 3]), (None, [1, 2, 3])]
)
def test_the_closing_row_tells_how_many_steps_there_were(
    tmp_path: Path, rate: float | None, wanted: list[int]
) -> None:
    """Seconds times steps a second, where its three decimals are enough."""
    rows = [f"{{'loss': 1.{n}, 'epoch': {n / 41:.2f}}}" for n in range(1, 122)]
    said = "" if rate is None else f", 'train_steps_per_second': {rate}"
    rows.append(f"{{'train_runtime': 4161.6{said}, 'train_loss': 1.0, 'epoch': 3.0}}")
    assert steps(reading(tmp_path, "\n".join(rows) + "\n"))[:3] == wanted


def test_the_code_of_a_trainer_names_the_method(tmp_path: Path) -> None:
    """A warning shows where it stands."""
    line = "/x/site-packages/trl/trainer/dpo_trainer.py:300: UserWarning: You passed a beta\n"
    rows = "".join(f"{{'loss': {2 - n / 10}, 'epoch': {n / 10}}}\n" for n in range(1, 9))
    (tmp_path / "train.log").write_text(line + rows)
    assert read(tmp_path).task == "dpo"
    (tmp_path / "train.log").write_text("  File /x/llamafactory/train/rm/trainer.py\n" + rows)
    assert read(tmp_path).task == "reward-model"


BLOCK = (
    "**********\nweights path :weights/net_{n}000.pth\nloss :{loss}\nrecall over:0.5\nAP:0.4{n}\n\n"
)


def test_a_block_is_a_row_whatever_stands_above_it(tmp_path: Path) -> None:
    """Each begins as the log does, and its loss goes up and down: it is no training."""
    losses = [0.09, 0.05, 4.1, 0.4, 0.2, 0.3, 0.1]
    text = "".join(BLOCK.format(n=n, loss=loss) for n, loss in enumerate(losses, 10))
    found = reading(tmp_path, text)
    for name in ("loss", "AP"):
        assert steps(found, name) == list(range(1, len(losses) + 1))
