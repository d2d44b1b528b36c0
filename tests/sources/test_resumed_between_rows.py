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


def test_a_resume_above_the_first_row_has_no_step(tmp_path: Path) -> None:
    """What lies before it is not in the log."""
    log = tmp_path / "train.log"
    rows = [f"step {10 * at} loss {3 * 0.97**at + 1:.4f}" for at in range(30)]
    log.write_text("\n".join(["Resuming from checkpoints/last.pt", *rows]) + "\n")
    assert [event.step for event in read(log).events if event.kind == "resume"] == [None]
