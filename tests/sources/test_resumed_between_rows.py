"""A line that says that training goes on stands at the first row behind it."""

from pathlib import Path

import pytest

from runlens import diagnose, read


@pytest.mark.parametrize(
    "line", ["Resuming from checkpoint step_600.pt", "Resuming from checkpoints/last.pt"]
)
def test_a_resume_between_rows_is_where_its_rows_begin(tmp_path: Path, line: str) -> None:
    """The loss jumps there and falls again: the resume went wrong."""
    rows = [f"step {10 * at} loss {3 * 0.97**at + 1 + 0.01 * (at % 3):.4f}" for at in range(120)]
    rows[60:] = [
        f"step {10 * at} loss {2.6 * 0.98 ** (at - 60) + 1.1:.4f}" for at in range(60, 120)
    ]
    log = tmp_path / "train.log"
    log.write_text("\n".join([*rows[:60], line, *rows[60:]]) + "\n")
    assert [event.step for event in read(log).events if event.kind == "resume"] == [600]
    assert "resume-jump" in {one.rule for one in diagnose(log).findings}


def test_a_resume_at_the_step_of_the_last_row_begins_with_the_next(tmp_path: Path) -> None:
    """That step was done: what follows stands on the other side."""
    first, then = (
        "".join(f"step={n} loss={3 - n / 100:.4f}\n" for n in some)
        for some in (range(10, 60, 10), range(60, 100, 10))
    )
    said = "INFO: resumed from ckpt/step_50.pt at step 50\n"
    (tmp_path / "train.log").write_text(first + said + then)
    run = read(tmp_path)
    assert [event.step for event in run.events if event.kind == "resume"] == [60]


def test_a_resume_above_the_first_row_has_no_step(tmp_path: Path) -> None:
    """What lies before it is not in the log."""
    log = tmp_path / "train.log"
    rows = [f"step {10 * at} loss {3 * 0.97**at + 1:.4f}" for at in range(30)]
    log.write_text("\n".join(["Resuming from checkpoints/last.pt", *rows]) + "\n")
    assert [event.step for event in read(log).events if event.kind == "resume"] == [None]


GOES_ON = (
    "slurmstepd: *** JOB 48213 ON node07 REQUEUED ***",
    "found checkpoint step590.pt, loading model",
    "=> loaded checkpoint 'last.pt' (epoch 21)",
    "loaded checkpoint last.pt (model only)",
    "Restored weights from the last checkpoint",
    "job restarted on node12",
    "2026-05-02 15:59:39 restoring ckpt/step_240.pt: model OK (38 tensors)",
    ">>> loading state from ./ck/step590.pt",
    "=> loaded model weights (iter 590)",
    "loaded weights: 31/31 tensors from ckpt/step590.pt",
    ">>> loading state from ./ck/step1000.pt",
    "INFO | loading checkpoint ./ckpt/iter_180.pt",
    "[2026-05-02 15:59:39] [INFO] restored checkpoint at iteration 600",
    "=> resumed from last.pt (step 590), keys loaded: ['model', 'step']",
    "Loading model weights from out/checkpoint-590/model.safetensors",
    "$ python run_clm.py --resume_from_checkpoint out/checkpoint-590",
    "[run] python lm.py --bs 16 --init ck/step590_weights.pt",
)


@pytest.mark.parametrize("line", GOES_ON)
def test_a_job_that_began_again_is_a_resume_where_rows_go_on(tmp_path: Path, line: str) -> None:
    """The loss jumps there and falls again."""
    found = diagnose(_jumped(tmp_path, [line]))
    assert "resume-jump" in {one.rule for one in found.findings}


def test_several_lines_of_one_resume_are_one(tmp_path: Path) -> None:
    """A scheduler tells it, and then the program, which names the checkpoint."""
    log = _jumped(tmp_path, list(GOES_ON[:2]))
    assert [event.step for event in read(log).events if event.kind == "resume"] == [600]
    log = _jumped(tmp_path, [GOES_ON[0], "Resuming from checkpoints/last.pt"])
    (event,) = (event for event in read(log).events if event.kind == "resume")
    assert event.text.startswith("Resuming")


@pytest.mark.parametrize(
    "line",
    [
        "loaded best checkpoint for evaluation",
        "loaded checkpoint of the teacher",
        "Loading checkpoint shards: done",
        "no checkpoint found, loading nothing",
        "found checkpoint step590.pt",
        "stored checkpoint step590.pt",
        "restoring ckpt/best_590.pt",
        "loading best state from ./ck/step590.pt",
        "loading weights from resnet50.pth",
        "loading state from ./ck/best_step590.pt",
        "loading embeddings from ./data/glove.bin",
        "loading rows from step.csv",
        "INFO | loading best checkpoint ./ckpt/iter_590.pt",
        "model resumed from pretrained/best.pt",
        "$ python run_clm.py --resume_from_checkpoint=None",
        "$ python run_clm.py --resume_optimizer",
        "python run_clm.py --init ck/best590.pt",
        "loaded teacher weights (iter 590)",
        "loaded weights (31 tensors)",
        "loaded weights: 31/31 tensors from pretrained/step590.pt",
        "INFO | loading checkpoint of the teacher",
        "INFO | evaluator: loading checkpoint ./ckpt/iter_180.pt",
    ],
)
def test_a_checkpoint_loaded_for_another_reason_is_no_resume(tmp_path: Path, line: str) -> None:
    """The best one is evaluated, a teacher taught."""
    events = read(_jumped(tmp_path, [line])).events
    assert not [event for event in events if event.kind == "resume"]


def test_a_checkpoint_loaded_behind_the_last_row_is_no_resume(tmp_path: Path) -> None:
    """Nothing was trained behind it: it is evaluated."""
    log = tmp_path / "train.log"
    rows = [f"step {10 * at} loss {3 * 0.97**at + 1:.4f}" for at in range(30)]
    log.write_text("\n".join([*rows, "loaded checkpoint last.pt"]) + "\n")
    assert not [event for event in read(log).events if event.kind == "resume"]


def _jumped(place: Path, lines: list[str]) -> Path:
    rows = [f"step {10 * at} loss {3 * 0.97**at + 1 + 0.01 * (at % 3):.4f}" for at in range(120)]
    rows[60:] = [
        f"step {10 * at} loss {2.6 * 0.98 ** (at - 60) + 1.1:.4f}" for at in range(60, 120)
    ]
    log = place / "train.log"
    log.write_text("\n".join([*rows[:60], *lines, *rows[60:]]) + "\n")
    return log
