"""Excerpts too short for a curve: the cause that the log names, or the telling experiment."""

from pathlib import Path

import pytest

from runlens import diagnose, read
from runlens.cause import Cause

STAMP = "2026-02-03 06:01:1{n}.97 [12/train/5 (pid 28)] [0a1b-{n}c] "
HEADER = "Traceback (most recent call last):"
FULL = (
    HEADER,
    '  File "/opt/conda/lib/python3.12/site-packages/torch/serialization.py", line 379, in save',
    "    _save(obj, opened_zipfile, pickle_module, pickle_protocol)",
    "OSError: [Errno 28] No space left on device",
)
IGNORED = [f"WARNING: tokenization mismatch: {n} vs. {n - 1}. (ignored)" for n in range(55, 65)]
SKIPPED = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {}, reducing to {}"


def first_cause(folder: Path, *lines: str) -> Cause:
    """Return the first cause of a log of these lines."""
    (folder / "log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return diagnose(read(folder)).causes[0]


def test_a_traceback_behind_the_stamps_of_a_collector_is_read(tmp_path: Path) -> None:
    """Each line holds the time and the task: the exception is found behind them."""
    cause = first_cause(tmp_path, *(STAMP.format(n=n) + line for n, line in enumerate(FULL)))
    assert (cause.kind, cause.rank) == ("machine", "most likely")


@pytest.mark.parametrize(("opened", "own"), [("log.txt", True), ("model.pt", False)])
def test_a_log_that_cannot_be_opened_is_held_by_the_redirect(
    tmp_path: Path, opened: str, own: bool
) -> None:
    """`python train.py > log.txt`, and the program opens the same file: Windows refuses."""
    error = f"PermissionError: [Errno 13] Permission denied: 'C:\\\\runs\\\\{opened}'"
    cause = first_cause(tmp_path, HEADER, '  File "train.py", line 2, in <module>', error)
    assert ("held open by the redirect" in cause.what) is own
    told = diagnose(read(tmp_path)).do_first.steps
    assert told[0][0].startswith("Redirect the console" if own else "Correct the path")


@pytest.mark.parametrize(
    ("error", "what", "todo"),
    [
        (
            "AttributeError: module 'wandb' has no attribute 'run'",
            "A module of that name that is another one, or of another version",
            "Print the __file__ of that module",
        ),
        (
            "AttributeError: 'Args' object has no attribute 'run'",
            "An attribute that the object does not have",
            "Set the attribute before that line",
        ),
        (
            "subprocess.CalledProcessError: Command '['make']' returned non-zero exit status 1.",
            "A command that the program runs failed",
            "Run that command by hand",
        ),
    ],
)
def test_an_exception_means_what_its_words_say(
    tmp_path: Path, error: str, what: str, todo: str
) -> None:
    """A module without a name is another module; a command has an output of its own."""
    cause = first_cause(tmp_path, HEADER, '  File "train.py", line 2, in <module>', error)
    assert cause.what == what
    assert diagnose(read(tmp_path)).do_first.steps[0][0].startswith(todo)


def test_an_error_that_says_what_to_do_is_followed(tmp_path: Path) -> None:
    """Libraries end their messages with a hint."""
    said = "xgboost.core.XGBoostError: Check failed: sizes do not match, hint: use merror."
    first_cause(tmp_path, HEADER, '  File "train.py", line 2, in <module>', said)
    assert diagnose(read(tmp_path)).do_first.steps[0][0] == "Do what the error proposes: use merror"


def test_samples_that_are_ignored_one_by_one_are_masked_labels(tmp_path: Path) -> None:
    """A log of nothing but these warnings is a log, and names the cause."""
    cause = first_cause(tmp_path, *IGNORED)
    assert cause.kind == "labels-masked"
    assert "chat template" in cause.what


def test_a_loss_scale_that_stays_at_one_has_reached_its_floor(tmp_path: Path) -> None:
    """DeepSpeed says so without the word minimum; four messages are four."""
    lines = [f"{n}/200 [00:40<1:39, 2.5it/s]{SKIPPED.format(1, 1)}" for n in range(98, 102)]
    bars = [f"{n / 2:.0f}%|##   | {line}" for n, line in zip(range(98, 102), lines, strict=True)]
    (tmp_path / "log.txt").write_text("\n".join(bars) + "\n", encoding="utf-8")
    made = diagnose(read(tmp_path))
    assert made.causes[0].kind == "precision"
    assert made.findings[0].rule == "loss-scale-collapse"
    assert " 4 times " in made.findings[0].title


@pytest.mark.parametrize(("skips", "kind"), [(2, "precision"), (0, "unknown")])
def test_steps_skipped_at_the_start_are_the_scalers(tmp_path: Path, skips: int, kind: str) -> None:
    """Two rows with a skip each name the scaler; rows alone name nothing."""
    row = "{{'loss': 11.0, 'learning_rate': 0, 'epoch': 0.0{}}}"
    lines = [SKIPPED.format(2**32, 2**31)] * min(skips, 1) + [row.format(1)]
    lines += [SKIPPED.format(2**31, 2**30)] * max(skips - 1, 0) + [row.format(2)]
    assert first_cause(tmp_path, *lines).kind == kind


def test_nan_without_a_sign_names_the_experiment_that_separates(tmp_path: Path) -> None:
    """Precision, rate and data: each is excluded by one short run; kernels where text is read."""
    cause = first_cause(tmp_path, *(f"step {n}00 loss nan grad_norm nan" for n in (1, 2, 3)))
    assert cause.kind == "unknown"
    for excluded in ("fp32", "a tenth of the rate", "other batches"):
        assert excluded in cause.experiment
    assert "flash attention" not in cause.experiment
    (tmp_path / "log.txt").rename(tmp_path / "pretrain_a.log")
    assert "flash attention" in diagnose(read(tmp_path / "pretrain_a.log")).causes[0].experiment


def test_a_gradient_lost_with_a_finite_loss_is_not_blamed_on_the_rate(tmp_path: Path) -> None:
    """No update was made before the first row: the backward pass failed by itself."""
    row = "{{'loss': {}, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.0{}}}"
    cause = first_cause(tmp_path, row.format(1.045, 1), row.format(0.0, 2))
    assert cause.kind == "precision"


@pytest.mark.parametrize(("loss", "by_hand"), [(810.3, True), (15.0, True), (13.5, False)])
def test_a_loss_above_that_of_any_vocabulary_is_computed_by_hand(
    tmp_path: Path, loss: float, by_hand: bool
) -> None:
    """Ln of a million is 13.8: a mean over tokens does not begin at 800."""
    rows = [f"{{'loss': {loss + n / 10}, 'learning_rate': 1e-05, 'epoch': 0.0{n}}}" for n in (1, 2)]
    cause = first_cause(tmp_path, *rows)
    assert cause.kind == "unknown"
    assert ("by hand" in cause.experiment) is by_hand


def test_a_file_that_is_too_large_is_no_full_disk(tmp_path: Path) -> None:
    """The system refused to let one file grow: there may be room left."""
    said = "safetensors.SafetensorError: Error while serializing: I/O error: File too large"
    trace = ["Traceback (most recent call last):", '  File "a.py", line 3, in <module>']
    lines = [f"step {n} loss 1.5" for n in range(1, 30)]
    (tmp_path / "log.txt").write_text("\n".join([*lines, *trace, f"{said} (os error 27)"]) + "\n")
    made = diagnose(read(tmp_path))
    told = " ".join([made.causes[0].what, *(one.title for one in made.findings)])
    assert "disk is full" not in told
    assert made.causes[0].kind == "machine"


@pytest.mark.parametrize(
    ("source", "said", "what"),
    [
        (
            "raise NotImplementedError",
            "NotImplementedError",
            "A method or case that the code does not",
        ),
        ("raise ValueError('no')", "ValueError: no", "A check in the code failed"),
        ("x = self.P", "AttributeError: no P", "An attribute that the object does not have"),
        ("assert a == b", "AssertionError", "An assertion in the code failed"),
        ("os.mkdir(out)", "FileExistsError: out", "A file or folder of that name exists already"),
        (
            "raise OSError(p)",
            "OSError: data/a.png does not exist!",
            "A file or folder is not where",
        ),
        ("raise OSError(p)", "OSError: user bob does not exist", "A check in the code failed"),
        ("x = int(text)", "ValueError: invalid literal", "ValueError while computing a reward"),
    ],
)
def test_an_exception_is_told_by_what_its_class_means(
    tmp_path: Path, source: str, said: str, what: str
) -> None:
    """That a program raised it says nothing; what the code does not know, or refuses, does."""
    frame = '  File "/home/me/score.py", line 37, in compute_score'
    rows = [f"step {n}/40 | loss {2 - n / 100:.3f}" for n in range(12)]
    cause = first_cause(tmp_path, *rows, HEADER, frame, f"    {source}", said)
    assert what in cause.what
    assert "score.py:37" in cause.evidence_for
