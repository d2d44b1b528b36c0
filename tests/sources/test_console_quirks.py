"""Oddities of console logs of the Trainer, TRL, DeepSpeed and others, as met in real runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens.run import Event
from runlens.sources import console
from runlens.sources.console.scanner import scan
from runlens.sources.console.sorting import sort
from runlens.sources.console.text import cleaned
from runlens.sources.reading import SourceReading

SUMMARY = "{'train_runtime': '6269', 'train_loss': '0.5', 'epoch': '1'}"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.75 GiB."
FAILED = [
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 12, in main',
    "    trainer.train()",
]


def reading(folder: Path, text: str | bytes, name: str = "train.log") -> SourceReading:
    """Write a log and read it."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return console.read(path)


def lines(*some: str) -> str:
    """Return lines as a file has them."""
    return "\n".join(some) + "\n"


def bar(done: int, total: int = 40, label: str = "") -> str:
    """Return a progress bar as tqdm draws it."""
    return f"{label}{100 * done // total:3d}%|##        | {done}/{total} [00:01<00:02, 9.00it/s]"


def row(step: int, loss: object = 2.5, total: int = 40) -> str:
    """Return a row as the Trainer prints it."""
    return f"{{'loss': {loss}, 'grad_norm': 1.5, 'epoch': {step / total}}}"


def rows(count: int = 8) -> list[str]:
    """Return rows with the bar drawn again behind each."""
    return [text for step in range(1, count + 1) for text in (bar(step), row(step), bar(step))]


def steps(read: SourceReading, name: str = "loss") -> list[int]:
    """Return the steps of a series."""
    return [int(step) for step in read.series[name].step]


def messages(read: SourceReading, kind: str) -> list[Event]:
    """Return the messages of one class."""
    return [e for e in read.events if e.kind == "message" and e.data["class"] == kind]


# rows that are Python dicts


def test_a_row_may_hold_what_json_and_python_cannot_read(tmp_path: Path) -> None:
    """Bare nan and inf, None, True and a text stand among the numbers of one row."""
    text = lines(
        "{'loss': nan, 'grad_norm': inf, 'lr': None, 'done': True, 'kl': -inf, 'epoch': 0.1}",
        bar(4),
        "{'loss': 0.5, 'grad_norm': 1.0, 'lr': None, 'done': True, 'kl': 0.1, 'epoch': 0.2}",
        bar(8),
    )
    read = reading(tmp_path, text)
    assert np.isnan(read.series["loss"].value[0])
    assert read.series["grad_norm"].value.tolist() == [np.inf, 1.0]
    assert read.series["kl"].value.tolist() == [-np.inf, 0.1]
    assert steps(read) == [4, 8]
    assert "lr" not in read.series
    assert "done" not in read.series


def test_numbers_in_quotes_are_rounded_and_still_numbers(tmp_path: Path) -> None:
    """Four digits: epochs repeat, tokens read 2.742e+04; the closing row has quotes as well."""
    text = lines(
        *(
            f"{{'loss': '0.0{n}238', 'num_tokens': '2.742e+04', 'epoch': '0.1'}}\n{bar(n)}"
            for n in range(1, 6)
        ),
        SUMMARY,
    )
    read = reading(tmp_path, text)
    assert steps(read) == [1, 2, 3, 4, 5]
    assert read.series["num_tokens"].value.tolist() == [27420.0] * 5
    assert read.hints.summary
    assert "train_loss" not in read.series


def test_lost_rows_leave_the_others_at_their_steps(tmp_path: Path) -> None:
    """A tracker's capture keeps few rows of a run that logged every step: do not count them."""
    kept = (1, 6, 14, 15, 30)
    text = [text for n in range(1, 41) for text in ([row(n)] * (n in kept), [bar(n)])]
    assert steps(reading(tmp_path, lines(*(t for some in text for t in some)))) == list(kept)


def test_a_row_behind_the_blanks_that_wipe_a_bar(tmp_path: Path) -> None:
    """The dict follows the bar in the same line of the file."""
    text = "".join(f"\r{bar(n)}\r{' ' * 60}\r{' ' * 8}{row(n)}\n\r{bar(n)}" for n in range(1, 7))
    assert steps(reading(tmp_path, text)) == [1, 2, 3, 4, 5, 6]


def test_a_traceback_may_begin_behind_a_bar(tmp_path: Path) -> None:
    """No line feed was written after the bar when the exception came."""
    text = lines(*rows()) + bar(8) + lines(*FAILED, "ValueError: bad batch")
    read = reading(tmp_path, text)
    assert read.hints.traceback == "ValueError: bad batch"
    assert messages(read, "fallback")[0].data["frame"] == "train.py:12 in main"
    assert steps(read) == list(range(1, 9))


def test_carriage_returns_may_be_the_only_line_ends(tmp_path: Path) -> None:
    """No line feed in the whole file."""
    read = reading(tmp_path, "\r".join([*rows(), OOM]))
    assert steps(read) == list(range(1, 9))
    assert messages(read, "oom")[0].step == 8


def test_windows_line_ends(tmp_path: Path) -> None:
    """CR LF is one line end; lines are counted as an editor does."""
    read = reading(tmp_path, "\r\n".join([*rows(), OOM]) + "\r\n")
    assert steps(read) == list(range(1, 9))
    (event,) = messages(read, "oom")
    assert event.where.endswith("train.log:25")


def test_bars_within_bars_are_no_rewind(tmp_path: Path) -> None:
    """Evaluation writes its own bar a line lower, with cursor movements and colours."""
    text = ""
    for n in range(1, 9):
        text += f"\r{bar(n)}\n"
        text += "".join(f"\r\x1b[33m{bar(k, 67)}\x1b[0m" for k in (1, 30, 67))
        text += f"\x1b[A\x1b[K{row(n)}\n\r{bar(n)}"
    read = reading(tmp_path, text)
    assert steps(read) == list(range(1, 9))
    assert read.series["loss"].launch.tolist() == [0] * 8
    assert read.hints.planned_steps == 40


def test_nuls_do_not_end_a_log(tmp_path: Path) -> None:
    """It was truncated and written to again: most of it is NULs, its last bar is the only fact."""
    read = reading(tmp_path, b"\0" * 2024 + f"Starting\r{bar(33, 96)}\r{bar(34, 96)}".encode())
    assert (read.hints.ended_step, read.hints.planned_steps) == (34, 96)


def test_broken_utf_8_costs_one_character(tmp_path: Path) -> None:
    """Generated text between the rows holds half a character."""
    text = (
        lines(*rows(4)).encode() + b"answer: \xe4\xb8 and \xff\n" + lines(row(5), bar(5)).encode()
    )
    assert steps(reading(tmp_path, text)) == [1, 2, 3, 4, 5]


def test_a_notebook_log_is_joined_before_it_is_read(tmp_path: Path) -> None:
    """Kaggle: one object a write, escaped, with a part of a line in it, and a row in two parts."""
    writes = []
    for n in range(1, 7):
        text = row(n)
        writes += [f"\r{bar(n)} <wait>", "\r" + " " * 9 + text[:20], text[20:] + "\n", bar(n)]
    objects = [
        json.dumps({"stream_name": "stdout", "time": 655.4, "data": text}, separators=(",", ":"))
        for text in writes
    ]
    text = "[" + "\n,".join(objects).replace("<", "\\u003c") + "\n]\n"
    assert steps(reading(tmp_path, text)) == [1, 2, 3, 4, 5, 6]


def test_markdown_fences_are_no_data(tmp_path: Path) -> None:
    """A log pasted into notes, its header twice."""
    text = lines("# Run 3", "```bash", "***** Running training *****", "```", "```", *rows(), "```")
    read = reading(tmp_path, text)
    assert steps(read) == list(range(1, 9))
    assert read.log_tail[0] == "# Run 3"


def test_rows_behind_a_logging_prefix(tmp_path: Path) -> None:
    """LLaMA-Factory's running_log.txt, with blank lines between; the stamp gives the time."""
    text = "\n\n".join(
        f"05/17/2024 01:02:{n:02d} - INFO - llmtuner.extras.callbacks - "
        f"{{'loss': 1.7, 'learning_rate': 2e-05, 'epoch': {n / 10}}}"
        for n in range(1, 9)
    )
    read = reading(tmp_path, text)
    assert len(read.series["loss"].step) == 8
    assert np.diff(read.series["loss"].time).tolist() == [1.0] * 7


# several launches, and how a log ends


def test_failed_starts_before_the_run_do_not_make_it_a_crash(tmp_path: Path) -> None:
    """An appended nohup.out: two starts that failed, then the run that worked."""
    failed = [*FAILED, "IndentationError: unexpected indent"]
    missing = [*FAILED, "ModuleNotFoundError: No module named 'peft'"]
    read = reading(tmp_path, lines(*failed, *missing, *rows(), SUMMARY))
    assert read.hints.traceback == ""
    assert read.hints.summary
    assert all(event.data["handled"] for event in messages(read, "fallback"))
    assert not messages(read, "known")[0].data["last"]


def test_a_script_that_fails_after_the_closing_row_leaves_a_whole_run(tmp_path: Path) -> None:
    """The training was done; its report could not be written."""
    error = "TypeError: Object of type bool_ is not JSON serializable"
    read = reading(tmp_path, lines(*rows(40), SUMMARY, *FAILED, error))
    assert read.hints.summary
    assert read.hints.traceback == error
    assert read.hints.ended_step == read.hints.planned_steps == 40


@pytest.mark.parametrize("cut", [1, 12, 30])
def test_a_log_may_end_in_the_middle_of_a_bar(tmp_path: Path, cut: int) -> None:
    """Nothing says why it stopped; the last whole bar says where."""
    read = reading(tmp_path, "\r".join([*rows(), bar(9)[: len(bar(9)) - cut]]))
    assert read.hints.ended_step in {8, 9}
    assert (read.hints.traceback, read.hints.exit_code) == ("", None)
    assert read.hints.planned_steps == 40


def test_the_last_line_is_a_bar_although_an_exception_came(tmp_path: Path) -> None:
    """Stderr and stdout are mixed: the bar is flushed behind the traceback."""
    read = reading(tmp_path, lines(*rows(), *FAILED, OOM) + "\r" + bar(8))
    assert read.hints.traceback == OOM
    (event,) = messages(read, "oom")
    assert event.data["last"]
    assert event.step == 8


def test_memory_that_runs_out_before_the_first_step(tmp_path: Path) -> None:
    """Another story than after many good steps: there is no step yet."""
    early = reading(tmp_path, lines(bar(0), *FAILED, OOM))
    assert messages(early, "oom")[0].step in {None, 0}
    assert not early.series
    late = reading(tmp_path, lines(*rows(30), *FAILED, OOM))
    assert messages(late, "oom")[0].step == 30


def test_a_person_who_stops_two_processes(tmp_path: Path) -> None:
    """Each prints its KeyboardInterrupt."""
    text = lines(*rows(), *FAILED, "KeyboardInterrupt", *FAILED, "KeyboardInterrupt")
    read = reading(tmp_path, text)
    first, last = messages(read, "kill")
    assert first.data["count"] == last.data["count"] == 2
    assert first.data["row"] == 14
    assert read.hints.traceback == "KeyboardInterrupt"


def test_a_closed_terminal_is_a_kill(tmp_path: Path) -> None:
    """SIGHUP comes through torch elastic as an exception."""
    signal = (
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 17 got signal: 1"
    )
    read = reading(tmp_path, lines(*rows(), *FAILED, signal))
    assert [event.data["row"] for event in messages(read, "kill")] == [9]


def test_of_several_ranks_the_first_failure_is_the_cause(tmp_path: Path) -> None:
    """The launcher ends the other ranks; its own exception says nothing."""
    text = lines(
        *rows(),
        *(f"[rank1]: {line}" for line in (*FAILED, "ValueError: bad batch")),
        "W1121 12:00:00 17 api.py:1010] Sending process 18 closing signal SIGTERM",
        *FAILED,
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "Root Cause (first observed failure):",
        "  rank      : 1 (local_rank: 1)",
        "  exitcode  : 1 (pid: 17)",
    )
    read = reading(tmp_path, text)
    assert read.hints.traceback == "ValueError: bad batch"
    assert read.hints.exit_code == 1
    assert not messages(read, "kill")
    assert {event.data["row"] for event in messages(read, "secondary")} == {9, 32}


def test_tracebacks_of_two_ranks_line_by_line(tmp_path: Path) -> None:
    """Each rank's lines are put together, though they are printed in turn."""
    both = [f"[rank{n}]: {line}" for line in FAILED for n in (0, 1)]
    ends = ["[rank0]: ValueError: bad batch", "[rank1]: RuntimeError: Connection closed by peer"]
    read = reading(tmp_path, lines(*rows(), *both, *ends))
    assert {e.data["exception"] for e in messages(read, "fallback")} == {
        "ValueError: bad batch",
        "RuntimeError: Connection closed by peer",
    }
    assert read.hints.traceback == "ValueError: bad batch"


def test_a_warning_that_each_rank_repeats_is_kept_twice_with_its_count(tmp_path: Path) -> None:
    """Eight ranks say the same; first and last are enough."""
    warning = "The current process just got forked, after tokenizers parallelism has been used."
    read = reading(tmp_path, lines(*(f"[rank{n}]: {warning}" for n in range(8)), *rows()))
    assert [event.data["count"] for event in messages(read, "noise")] == [8, 8]


@pytest.mark.parametrize(
    "line",
    [
        "[rank0]:[W] ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed",
        "INFO: this may cause OOM errors, lower gpu_memory_utilization",
        "site.py:3: FutureWarning: `resume_download` is deprecated",
        "[WARNING] [runner.py:232:fetch_hostfile] Unable to find hostfile, will proceed",
        "reading /home/me/nanoGPT/data, inf in the name of a file: inf.txt",
        "reward function: Error in the answer, expected 'nan'",
        "wandb: WARNING tried to log to step 70 that is less than the current step 71",
        "[INFO] [launch.py:351:main] Process 17 exits successfully.",
        "[INFO] [launch.py:319:sigkill_handler] Killing subprocess 17",
        "Namespace(lr=nan, path='out')",
    ],
)
def test_lines_that_only_look_like_faults(tmp_path: Path, line: str) -> None:
    """Nothing loud comes of them, wherever they stand."""
    read = reading(tmp_path, lines(*rows(), line, *rows()[-3:], line))
    assert [e for e in read.events if e.kind == "message"] == []
    assert (read.hints.traceback, read.hints.exit_code) == ("", None)


# logs without a metric, Ray, DeepSpeed


def test_a_log_without_a_metric_says_so(tmp_path: Path) -> None:
    """Servers only, or a dump of settings."""
    read = reading(tmp_path, "INFO server started on port 9210\nINFO loading the model\n")
    assert not read.series
    assert ["no training metric" in problem.text for problem in read.problems] == [True]


def test_printed_rewards_are_a_curve(tmp_path: Path) -> None:
    """A loop that prints each batch's rewards among its samples, and no row."""
    text = lines(
        *(f"Question: {n}\nAnswer: 4\nrewards: tensor([-1., -1., {n}., {n}.])" for n in (1, 3))
    )
    read = reading(tmp_path, text)
    assert read.series["reward"].value.tolist() == [0.0, 1.0]
    assert read.series["reward_std"].value[0] == pytest.approx(1.1547, abs=1e-4)


def test_ray_prefixes_and_folded_lines(tmp_path: Path) -> None:
    """A coloured process name before each line; repeated ones are folded; Hydra adds advice."""
    name = "\x1b[36m(main_task pid=19443)\x1b[0m "
    text = lines(
        *(f"{name}step:{n} - actor/pg_loss:0.1 - critic/rewards/mean:0.{n}" for n in (1, 2, 3)),
        *(name + line for line in FAILED),
        name + "ValueError: no GPU left \x1b[32m[repeated 7x across cluster]\x1b[0m",
        "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
    )
    read = reading(tmp_path, text)
    assert steps(read, "critic/rewards/mean") == [1, 2, 3]
    assert read.hints.traceback.startswith("ValueError: no GPU left")
    assert read.framework == "verl"


def test_deepspeed_says_how_its_processes_ended(tmp_path: Path) -> None:
    """A good end, and the return code of a bad one."""
    good = lines(*rows(), "[INFO] [launch.py:351:main] Process 17 exits successfully.")
    assert reading(tmp_path, good).hints.exit_code is None
    bad = lines(*rows(), "[ERROR] [launch.py:325] ['python'] exits with return code = -9")
    assert reading(tmp_path, bad).hints.exit_code == 137


# other frameworks


def test_nanogpt_whose_first_row_is_late(tmp_path: Path) -> None:
    """Its first mfu of -100 % means not known; an evaluation makes one iteration slow."""
    text = lines(
        "step 1000: train loss 4.1, val loss 4.2",
        "iter 1000: loss 4.1000, time 98000.00ms, mfu -100.00%",
        "iter 1010: loss 4.0000, time 1539.14ms, mfu 21.34%",
        "iter 1020: loss 3.9000, time 1539.14ms, mfu 21.34%",
        "step 2000: train loss 3.1, val loss 3.2",
    )
    read = reading(tmp_path, text)
    assert steps(read) == [1000, 1010, 1020]
    assert steps(read, "mfu") == [1010, 1020]
    assert steps(read, "val_loss") == [1000, 2000]
    assert read.framework == "nanogpt"


def test_a_postfix_that_repeats_the_old_loss(tmp_path: Path) -> None:
    """The step in the postfix counts, not the bar: 5 bars, 3 steps."""
    states = [(1, "10.1", 0), (2, "10.1", 0), (3, "10.0", 1), (4, "10.0", 1), (5, "9.9", 2)]
    text = "\r".join(
        f"Training:  1%|  | {n}/500 [00:22<54:11, 1.5it/s, loss={loss}, mem=0.4GB, step={step}]"
        for n, loss, step in states
    )
    assert steps(reading(tmp_path, text)) == [0, 1, 2]


LIGHTNING = [
    "Sanity Checking DataLoader 0: 100%|##| 2/2 [00:01<00:00, 1.9it/s]",
    "Validation sanity check: 50%|##| 1/2 [00:01<00:00, 1.9it/s, val_loss=63.8782]",
    *(
        text
        for epoch in (0, 1, 2)
        for text in (
            f"Epoch {epoch}:  51%|##| 50/99 [01:44<01:42, 2.10s/it, loss=-.03{9 - epoch}, v_num=6]",
            f"Epoch {epoch}:  52%|##| 51/99 [01:46<01:40, 2.10s/it, loss=-.03{9 - epoch}, v_num=6]",
            f"Epoch {epoch}, global step {(epoch + 1) * 90}: 'val_loss' "
            + (
                f"reached 2.{9 - epoch} (best 2.{9 - epoch}), saving"
                if epoch < 2
                else "was not in top 1"
            ),
        )
    ),
]


def test_lightning_restarts_its_counter_each_epoch(tmp_path: Path) -> None:
    """Stale losses count once, numbers lack their zero, the sanity check is no start value."""
    read = reading(tmp_path, lines(*LIGHTNING))
    assert read.series["loss"].value.tolist() == [-0.039, -0.038, -0.037]
    assert (np.diff(read.series["loss"].step) > 0).all()
    assert read.series["val_loss"].value.tolist() == [2.9, 2.8]
    assert steps(read, "val_loss") == [90, 180]
    assert read.framework == "lightning"


def test_lightning_bars_of_unknown_total(tmp_path: Path) -> None:
    """``0it`` instead of a share of the whole."""
    text = lines(
        *(
            f"Epoch {epoch}: : 0it [47:45, ?it/s, loss=1.{9 - epoch}, v_num=2]\n"
            f"Epoch {epoch}, global step {(epoch + 1) * 64}: 'val_loss' was not in top 1"
            for epoch in (0, 1, 2)
        )
    )
    read = reading(tmp_path, text)
    assert read.series["loss"].value.tolist() == [1.9, 1.8, 1.7]
    assert steps(read) == [64, 128, 192]


def test_minimind_grpo_with_answers_between_its_rows(tmp_path: Path) -> None:
    """Whole answers are printed between; the KL estimate may be slightly negative."""
    text = lines(
        *(
            f"[DEBUG] answer: Step {n}: the loss of 3 apples, reward 5\n"
            f"Epoch:[1/1]({n}0/100), Reward: -2.{n}, KL_ref: -0.0010, Adv Std: 0.9, "
            "Actor Loss: 0.0000, Avg Response Len: 271.38, lr: 0.0001"
            for n in (1, 2, 3)
        )
    )
    read = reading(tmp_path, text)
    assert read.series["Reward"].value.tolist() == [-2.1, -2.2, -2.3]
    assert read.series["KL_ref"].value.tolist() == [-0.001] * 3
    assert steps(read, "Actor Loss") == [10, 20, 30]
    assert read.hints.planned_steps == 100
    assert not {"reward", "loss"} & set(read.series)


@pytest.mark.parametrize("ends", ["\n", "\r"])
def test_runs_of_carriage_returns_take_no_memory(ends: str) -> None:
    """A bar that is wiped again and again; lines keep their numbers where feeds end them."""
    rows = [f"Epoch {n}/3 loss: 0.{n}" for n in (1, 2, 3)]
    data = (ends + "\r" * 1_000_000).join(rows).encode()
    text, numbered = cleaned(data)
    found = sort(scan(text, numbered=numbered))
    assert len(found.text) < 10
    assert [line for _, line in found.others] == rows
    assert found.text.number(found.others[-1][0]) == (3 if ends == "\n" else None)
