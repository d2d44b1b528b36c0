"""Results of single checkpoints, which are no course of a training."""

from pathlib import Path

from runlens import read, read_all
from runlens.sources.console.tables import of_checkpoints


def written(folder: Path, text: str, name: str = "train.log") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text)
    return path


def test_results_of_single_checkpoints_are_no_course(tmp_path: Path) -> None:
    """A script printed its line of names and one row, and ended."""
    head = "epoch\tloss\tacc\n"
    text = "".join(f"{head}{head}{n}\t0.{n}7\t0.9{n}\n" for n in (71, 71, 88, 60, 60, 99))
    runs = read_all(written(tmp_path, text, "val.log"))
    assert sorted(int(run.curve("eval_loss").step[0]) for run in runs) == [60, 60, 71, 71, 88, 99]
    assert any("single checkpoints" in problem.text for problem in runs[0].problems)


def test_rows_below_a_line_of_names_each(tmp_path: Path) -> None:
    """A course all the same where its epochs go on."""
    head = "epoch\tloss\tacc\n"
    text = "".join(f"{head}{n}\t0.{n}7\t0.9{n}\n" for n in (2, 3, 4, 4, 5))
    assert "train_loss" in read(written(tmp_path, text)).history.metrics
    assert not of_checkpoints([(n, "71 0.5") for n in range(3_000)])
