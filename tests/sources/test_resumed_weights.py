"""A Trainer that was resumed with its weights alone counts its steps from 1, and goes on."""

from pathlib import Path

import pytest

from runlens import diagnose, read_all

HEAD = "***** Running training *****\n  Total optimization steps = 500\n"
RESUME = "$ python run_clm.py --resume_from_checkpoint out/checkpoint-400/model.safetensors\n"
CLOSING = (
    "{'train_runtime': 100.0, 'train_samples_per_second': 10.0, 'train_steps_per_second': 5.0,"
    " 'train_loss': 2.9, 'epoch': 1.0}\n"
)


def _rows(first: float, fewer: float, many: int) -> str:
    return "".join(
        f"{{'loss': {first - fewer * n:.4f}, 'grad_norm': 0.{3 + n % 2}, "
        f"'learning_rate': {0.012 * (1 - n / 25)}, 'epoch': {0.04 * (n + 1):.2f}}}\n"
        for n in range(many)
    )


def _log(folder: Path, between: str, then: float) -> Path:
    path = folder / "trainer.log"
    path.write_text(HEAD + _rows(3.6, 0.06, 17) + between + HEAD + _rows(then, 0.02, 8))
    return path


def test_it_is_one_training_with_a_resume(tmp_path: Path) -> None:
    """Its schedule begins anew, and that is what went wrong."""
    path = _log(tmp_path, "^C\n" + RESUME, 2.7)
    (run,) = read_all(path)
    assert run.curve("train_loss").step.tolist() == list(range(1, 26))
    assert [event.step for event in run.events_of("resume")] == [18]
    assert "resume-jump" in {one.rule for one in diagnose(path).findings}


@pytest.mark.parametrize(
    ("between", "then"),
    [
        ("Loading model weights from stage1/checkpoint-400/model.safetensors\n", 2.7),  # a stage
        (CLOSING + RESUME, 2.7),  # it had closed
        (RESUME, 3.6),  # nothing was loaded
        ("$ python run_clm.py --resume_from_checkpoint=None\n", 2.7),
    ],
)
def test_what_begins_anew_is_another(tmp_path: Path, between: str, then: float) -> None:
    """Where nothing says that it was resumed, or its loss says that it was not."""
    assert len(read_all(_log(tmp_path, between, then))) == 2
