"""Panels of samples that TRL prints beside the rows of a log."""

from pathlib import Path

import pytest

from runlens import read, read_all

PROMPTS = "│ ┃ Prompt    ┃ Completion                   ┃ reward ┃ │"
ANSWERS = "".join(
    f"│ │ Go on.    │ Step {n}/50 | Reward: 0.{n}         │   0.20 │ │\n" for n in range(1, 8)
)


def panel(step: int, heading: str = PROMPTS, answers: str = ANSWERS) -> str:
    """Return a panel as rich draws it."""
    return f"╭────────────── Step {step} ──────────────╮\n{heading}\n{answers}╰─────────╯\n"


def log(folder: Path, text: str) -> Path:
    """Write a log."""
    path = folder / "train.log"
    path.write_text(text, encoding="utf-8")
    return path


def row(step: int) -> str:
    """Return a row of the training."""
    return f"step {step} | reward: {0.3 + step / 100:.2f} | kl: 0.01\n"


def test_what_samples_count_is_no_training(tmp_path: Path) -> None:
    """The rows of the training stand between them."""
    path = log(tmp_path, "".join(row(n) + panel(n) for n in range(1, 13)))
    (run,) = read_all(path)
    assert run.last_step == 12
    assert run.curve("reward").value.tolist()[:2] == [0.31, 0.32]


def test_an_error_in_a_sample_is_none_of_the_run(tmp_path: Path) -> None:
    """Nor does a panel that the log breaks off in hide what stands above it."""
    cut = panel(12).rsplit("\n", 2)[0]
    said = "│ │ Go on.    │ torch.OutOfMemoryError: CUDA out of memory. │ 0.2 │ │\n"
    rows = "".join(row(n) for n in range(1, 13))
    run = read(log(tmp_path, rows + panel(12, answers=said) + cut))
    assert run.last_step == 12
    assert not [event for event in run.events if event.kind == "message"]


@pytest.mark.parametrize("heading", ["│ ┃ Metric    ┃ Value   ┃ │", "│ Results │"])
def test_rows_in_other_panels_are_read(tmp_path: Path, heading: str) -> None:
    """A frame alone makes no sample, nor does a panel of them the rows right behind it."""
    said = "│ torch.OutOfMemoryError: CUDA out of memory. │\n"
    rows = "".join(row(n) for n in range(1, 13))
    run = read(log(tmp_path, rows + panel(12, heading, said)))
    assert [event.data["row"] for event in run.events if event.kind == "message"] == [1]
    run = read(log(tmp_path, rows + panel(12) + said))
    assert [event.data["row"] for event in run.events if event.kind == "message"] == [1]


def test_a_table_with_a_cell_a_line_may_be_wide(tmp_path: Path) -> None:
    """A notebook's table of GRPO has a column for each reward and each length."""
    names = [
        "Step",
        "Training Loss",
        "reward",
        *(f"completions / part {letter}" for letter in "abcdefghijklmnopqrst"),
    ]
    cells = [[f"{n}", f"{1 / n:.4f}", f"0.{10 + n}", *(20 * ["1.5"])] for n in range(1, 13)]
    text = "\n\n".join("\n".join(f"      {cell}" for cell in line) for line in [names, *cells])
    run = read(log(tmp_path, text + "\n"))
    assert run.last_step == 12
    assert run.curve("reward").value.tolist()[:2] == [0.11, 0.12]
