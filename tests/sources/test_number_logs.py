"""Plain files that research code leaves: lists, rows without ends, marks behind rows."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.sources import console
from runlens.sources.console.one_line import with_ends

FALLING = [f"{2 / n:.3f}" for n in range(1, 21)]


def curves(folder: Path, text: str, name: str = "out.txt") -> dict[str, int]:
    """Return how many rows each metric of a log has."""
    (folder / name).write_text(text)
    run = read(folder / name)
    return {metric: len(run.curve(metric)) for metric in run.history.metrics}


def wrapped(sign: str, width: int = 7) -> str:
    """Return a list over some lines, as it is printed."""
    rows = (FALLING[n : n + width] for n in range(0, len(FALLING), width))
    return f"{sign.rstrip()}\n ".join(sign.join(row) for row in rows)


TENSORS = ", ".join(f"tensor({value}, device='cuda:0')" for value in FALLING)


@pytest.mark.parametrize(
    "text",
    [
        f"loss = [{wrapped(', ')}]\n",
        f"loss: [{wrapped(' ')}]\nof the last epochs\n",
        f"history:\nloss: [{wrapped(', ', 1)},\n]\ndone\n",
        f"Losses:\n[{wrapped(', ')}]\n",
        f"scores\n f1 : 0.8 0.9 0.3 0.2 0.4 0.4\n loss : {wrapped(' ')}\n\n----\n",
        f"loss\n{' '.join(FALLING)}\n",
        f"loss = {', '.join(FALLING)}\n",
        f"loss = array([{wrapped(', ')}], dtype=float32)\n",
        f"loss = [{TENSORS}]\n",
    ],
)
def test_a_list_however_it_is_printed(tmp_path: Path, text: str) -> None:
    """Over lines, below its name, without brackets, of tensors; scores in a row are of classes."""
    assert curves(tmp_path, text) == {"train_loss": 20}


def test_scores_in_a_row_are_those_of_classes(tmp_path: Path) -> None:
    """And no curve."""
    assert not curves(tmp_path, "accuracy: 0.8 0.9 0.7 0.6 0.5 0.4\n")


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("Cost function value\t\n", {"Cost function"}),
        ("Training Error\tTest Error\t\n", {"train_loss", "eval_loss"}),
        ("of all runs\n\ntrain, test\n", {"train_loss", "eval_loss"}),
        ("x\ty\n", {"column 1", "column 2"}),
    ],
)
def test_names_above_columns(tmp_path: Path, text: str, metrics: set[str]) -> None:
    """As Torch7's logger writes them; what columns named by their data are the file says."""
    columns = 1 if "value" in text else 2
    rows = "".join("\t".join(f"{(n + 1) / (c + 2):.4e}" for n in range(columns)) + "\t\n"
                   for c in range(9))  # fmt: skip
    assert curves(tmp_path, text + rows, "loss.txt" if "," in text else "out.txt") == dict.fromkeys(
        metrics, 9
    )


@pytest.mark.parametrize(
    ("row", "metric"),
    [
        ("===> Avg. PSNR: {0:.4f} dB", "Avg. PSNR"),
        ("Epoch {1} loss {0:.4f}", "train_loss"),
        ("loss: {0:.4f} ", "train_loss"),
        ("[{1}] train loss: {0:.4f}, lr: 0.1;", "train_loss"),
    ],
)
def test_rows_without_an_end(tmp_path: Path, row: str, metric: str) -> None:
    """One behind the other in a single line."""
    found = curves(tmp_path, "".join(row.format(9 / (n + 1), n) for n in range(30)))
    assert found[metric] == 30


@pytest.mark.parametrize("data", [b"loss: 0.5 " * 9, b"a" * 9_000, b"loss: 0.5 lr: 0.1\n" * 99])
def test_lines_that_have_ends_are_left(data: bytes) -> None:
    """Short ones, those without numbers, rows."""
    assert with_ends(data) is data


def test_a_long_line_that_does_not_come_again() -> None:
    """One row of many names is one."""
    names = ", ".join(f"loss_{chr(97 + n % 26)}{chr(97 + n // 26)}: 0.5" for n in range(60))
    data = f"loss: 0.1, {names}\n".encode()
    assert with_ends(data) is data


@pytest.mark.parametrize(
    "row",
    [
        "idx: {0}loss: tensor({1:.4f}, grad_fn=<NegBackward>)",
        "epoch: {0}train_loss: {1:.4f}acc: 0.5",
        "epoch={0},loss={1:.4f}acc=0.5",
    ],
)
def test_a_name_right_behind_a_number(tmp_path: Path, row: str) -> None:
    """Nothing parts them."""
    text = "".join(row.format(n, 9 / (n + 1)) + "\n" for n in range(20))
    assert curves(tmp_path, text)["train_loss"] == 20


@pytest.mark.parametrize("mark", [" ★", " *", " <-- best", "  (new best)", " ↓ saved"])
@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Ep    Loss   Acc", "{0:4d}  {1:.4f}  {2}%"),
        ("epoch\ttrain loss\tacc", "{0}\t{1:.4f}\t{2}"),
        ("| Epoch | Loss | Acc |", "| {0} | {1:.4f} | {2} |"),
        ("epoch,loss,acc", "{0},{1:.4f},{2}"),
        ("Iter   Loss   Seen    Acc", "{0}   {1:.4f}  -  {2}"),
    ],
)
def test_a_mark_behind_the_best_rows(tmp_path: Path, head: str, row: str, mark: str) -> None:
    """Is none of their cells."""
    rows = (row.format(n, 2 / (n + 1), n / 40) + mark * (n % 3 == 1) for n in range(20))
    found = curves(tmp_path, "\n".join([head, *rows]) + "\n", "train.log")
    assert found["train_loss"] == found["train_accuracy"] == 20


def test_tensors_in_a_table(tmp_path: Path) -> None:
    """And shares in percent."""
    rows = (f"{n}\ttensor({2 / n:.4f}, device='cuda:0')\t{n}.5%\n" for n in range(2, 12))
    (tmp_path / "train.log").write_text("epoch\tloss\tacc\n" + "".join(rows))
    found = console.read(tmp_path / "train.log").series
    assert found["acc"].value[0] == pytest.approx(0.025)
    assert found["loss"].value.tolist()[0] == 1.0


@pytest.mark.parametrize("called", ["E", "e="])
def test_an_epoch_in_brackets_before_its_step(tmp_path: Path, called: str) -> None:
    """Its steps begin anew with each."""
    places = ((e, s) for e in (1, 2, 3) for s in (0, 1, 2))
    rows = (f"[{called}{e}] step {s} loss {9 / (s + 10 * e):.4f}\n" for e, s in places)
    (tmp_path / "train.log").write_text("".join(rows))
    curve = read(tmp_path / "train.log").curve("train_loss")
    assert curve.step.tolist() == list(range(9))


@pytest.mark.parametrize("names", ["'ner': {0}", "'tagger': {0}, 'ner': {0}"])
def test_a_dict_of_losses(tmp_path: Path, names: str) -> None:
    """As spaCy's examples print it: each name in it is one of a loss, those behind it are not."""
    rows = (f"Losses {{{names.format(9 / n)}}} of {n} texts\n" for n in range(2, 22))
    (tmp_path / "output.log").write_text("".join(rows))
    found = console.read(tmp_path / "output.log").series
    assert len(found["ner_loss"].value) == 20
    assert not [name for name in found if "texts" in name]


def test_joey_nmt_counts_its_steps_over_epochs(tmp_path: Path) -> None:
    """Sums of whole epochs stand between, and what a sentence says of held-out data."""
    text = ""
    for n in range(1, 13):
        text += f"Epoch {n:3d}: total training loss {900 / n:.2f}\n"
        if not n % 2:
            text += f"Epoch {n:3d} Step:  {100 * n} Batch Loss:  {9 / n:.4f} Lr: 0.0002\n"
        if not n % 4:
            text += f"Validation result (greedy) at epoch  {n}, step  {100 * n}: ppl: {n}.5\n"
    (tmp_path / "train.log").write_text(text)
    run = read(tmp_path / "train.log")
    assert run.curve("learning_rate").step.tolist() == [200, 400, 600, 800, 1000, 1200]
    assert run.curve("eval_ppl").value.tolist() == [4.5, 8.5, 12.5]


def passes(*losses: float, label: str = "", total: int = 40) -> str:
    """Return a bar that is drawn anew from each of some losses on, which fall by a fifth."""
    return "".join(
        "".join(
            f"\r{label}{n:3d}%|#  | {n}/{total} [00:01<00:02, 9.0it/s, "
            f"loss={loss - n * loss / 200:.4f}]"
            for n in range(1, 41)
        )
        + f"\n[{epoch}] seen\n"
        for epoch, loss in enumerate(losses, 1)
    )


@pytest.mark.parametrize("label", ["", "train "])
def test_a_bar_that_begins_anew_with_each_epoch(tmp_path: Path, label: str) -> None:
    """Its values go on, so they are of one training; nothing else says so."""
    (tmp_path / "train.log").write_text(passes(5, 3.9, 3, label=label))
    (run,) = read_all(tmp_path / "train.log")
    assert run.curve("train_loss").step.tolist() == list(range(1, 121))
    assert run.state.done_epochs == 3


@pytest.mark.parametrize(
    "text",
    [
        passes(5, 5, 5),  # from scratch
        passes(5, 3.9) + passes(3, 2.5, total=50),
        passes(5, label="fold 1") + passes(3.9, label="fold 2") + passes(3, label="fold 2"),
    ],
)
def test_a_bar_of_the_next_training(tmp_path: Path, text: str) -> None:
    """Or of another length, or of what its label numbers."""
    (tmp_path / "train.log").write_text(text)
    assert len(read_all(tmp_path / "train.log")) > 1


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("2020-01-01 10:00:00.{0:03d} {1:.4f}\n", {"train_loss": 20}),
        ("train {1:.4f}\nval: {2:.4f}\n", {"train_loss": 20, "eval_loss": 20}),
        ("train {1:.4f}\nval: 1.2.3\n", {"train_loss": 20}),
        ("train {1:.4f}\nof texts\n", {}),
    ],
)
def test_what_the_file_is_called_after_names_its_numbers(
    tmp_path: Path, row: str, found: dict[str, int]
) -> None:
    """Behind a time stamp, or behind the name of their data."""
    text = "".join(row.format(n, 9 / (n + 1), 8 / (n + 1)) for n in range(20))
    assert curves(tmp_path, text, "loss.txt") == found
