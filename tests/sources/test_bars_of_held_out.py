"""What bars of held-out data show at their end, beside those of the training."""

from pathlib import Path

from runlens import read
from runlens.run import Run


def run_of(folder: Path, *lines: str) -> Run:
    """Read bars."""
    (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(folder / "train.log")


def bar(label: str, done: int, total: int, shown: str = "") -> str:
    """Return a state of a bar as tqdm draws it."""
    share = 100 * done // total
    return f"{label}: {share}%|###  | {done}/{total} [00:05<00:00,  9.1it/s{shown}]"


def bars(epochs: int, shown: str = ", loss=1.{n}, acc=0.{n}", train: str = "") -> list[str]:
    """Return the bars of epochs: of each the training, then held-out data, twice at its end."""
    lines = [bar("Valid 0", 2, 2, ", loss=9.9, acc=0.1")]  # a check before any step
    for n in range(epochs):
        lines += [bar(f"Train {n}", k, 50, f", loss=0.{9 - n}{k}{train}") for k in (25, 50)]
        lines += [bar(f"Valid {n}", 5, 10, ", loss=7.7, acc=0.7")]
        lines += [bar(f"Valid {n}", 10, 10, shown.replace("{n}", str(n)))] * 2
    return lines


def test_the_end_of_each_is_a_mean(tmp_path: Path) -> None:
    """At the step of the training before it."""
    run = run_of(tmp_path, *bars(3))
    assert run.curve("eval_loss").step.tolist() == [50, 100, 150]
    assert run.curve("eval_loss").value.tolist() == [1.0, 1.1, 1.2]
    assert run.curve("eval_accuracy").value.tolist() == [0.0, 0.1, 0.2]
    assert run.curve("train_loss").step.tolist() == [25, 50, 75, 100, 125, 150]


def test_one_alone_is_no_course(tmp_path: Path) -> None:
    """Nor are bars without a measure."""
    assert set(run_of(tmp_path, *bars(1)).history.metrics) == {"train_loss"}
    assert set(run_of(tmp_path, *bars(3, ", n=2{n}")).history.metrics) == {"train_loss"}


def test_what_bars_of_the_training_show_of_them_is_not_told_twice(tmp_path: Path) -> None:
    """``val_loss`` in the bar of the training is theirs."""
    run = run_of(tmp_path, *bars(3, ", val_loss=1.{n}", ", val_loss=2.5"))
    assert set(run.curve("eval_loss").value.tolist()) == {2.5}


def test_lines_tell_of_held_out_data_where_there_are_some(tmp_path: Path) -> None:
    """The bars have the loss of each batch alone."""
    lines = bars(3)
    ends = [n for n, line in enumerate(lines) if "10/10" in line][1::2]
    for number, place in reversed(list(enumerate(ends))):
        lines.insert(place + 1, f"Test acc: 0.8{number}")
    run = run_of(tmp_path, *lines)
    assert run.curve("eval_accuracy").value.tolist() == [0.8, 0.81, 0.82]
    assert len(run.curve("train_loss")) == 6
