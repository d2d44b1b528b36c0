"""Short lists, lone rows, tensors in cells, a line for each data, clocks of half a day."""

import pickle
from pathlib import Path

import pytest

import runlens
from runlens.errors import NothingReadable
from tests.sources.written import run_of

LOSS = [round(2.5 / n + 0.25, 4) for n in range(1, 13)]
SHORT = LOSS[:3]


def rows(form: str) -> str:
    """Write rows, one for each loss."""
    return "".join(form.format(n=n, loss=loss, share=1 - loss / 4) for n, loss in enumerate(LOSS))


@pytest.mark.parametrize(
    "text",
    [
        f"Training loss list:\n{SHORT}\nTraining accuracy list:\n[0.2, 0.4, 0.7]\n",
        f"epochs: 3\nnote\n\ntrain_loss = {SHORT}\nval_loss = {SHORT}\nLayer (type)  Params\n",
    ],
)
def test_short_lists_side_by_side_are_curves(tmp_path: Path, text: str) -> None:
    """As long as each other, each below or behind what it is of."""
    assert run_of(tmp_path, "result.txt", text).curve("train_loss").value.tolist() == SHORT


def test_one_short_list_may_be_anything(tmp_path: Path) -> None:
    """So may two of different lengths."""
    for text in (f"loss:\n{SHORT}\nok\n", f"loss:\n{SHORT}\nval acc:\n[0.5, 0.25]\n"):
        (tmp_path / "result.txt").write_text(text)
        assert not runlens.read_all(tmp_path / "result.txt")[0].history.metrics


@pytest.mark.parametrize("text", ["1: 0.104245\n", "1 0.104245\n", "0, 0.104245\n"])
def test_a_lone_row_of_a_file_called_after_its_loss(tmp_path: Path, text: str) -> None:
    """With its number in front."""
    assert run_of(tmp_path, "loss.txt", text).curve("train_loss").value.tolist() == [0.104245]


def test_a_loss_of_zero_all_the_way(tmp_path: Path) -> None:
    """It is no list of labels, where the file says what it is."""
    curve = run_of(tmp_path, "loss.txt", "0 \n" * 40).curve("train_loss")
    assert len(curve) == 40
    labels = run_of(tmp_path, "preds.txt", "0\n" * 40)
    assert not labels.history.metrics


@pytest.mark.parametrize(
    "cell",
    [
        '"tf.Tensor({loss}, shape=(), dtype=float32)"',
        '"<tf.Tensor: shape=(), dtype=float32, numpy={loss}>"',
        '"Tensor({loss})"',
    ],
)
def test_tensors_that_were_printed_into_cells(tmp_path: Path, cell: str) -> None:
    """Under the names that pandas gives to columns."""
    run = run_of(tmp_path, "loss.csv", ",0\n" + rows("{n}," + cell + "\n"))
    assert run.curve("train_loss").value.tolist() == LOSS


@pytest.mark.parametrize("saved", [LOSS, {"reward": LOSS}, [[1.5, "a"], None]])
def test_a_pickle_under_the_name_of_a_table_is_told(tmp_path: Path, saved: object) -> None:
    """It is not opened."""
    path = tmp_path / "rewards.csv"
    path.write_bytes(pickle.dumps(saved, 0))
    with pytest.raises(NothingReadable, match="is a pickle of Python"):
        runlens.read_all(path)


BORDER = "+------+------+------+\n"
HEAD = "| Epoch = {n} | accuracy | loss |\n"


@pytest.mark.parametrize(
    "form",
    [
        HEAD + BORDER + "| Train | {share} | {loss} |\n| Val | 0.5 | 0.75 |\n" + BORDER,
        "Epoch {n}\n| Set | loss | f1 |\n| train | {loss} | {share} |\n| val | 0.75 | 0.5 |\n",
        "epoch {n}/12\n| data | loss | f1 |\n| Train | {loss} | {share} |\n| Test | 0.75 | 1 |\n",
    ],
)
def test_tables_with_a_line_for_each_data(tmp_path: Path, form: str) -> None:
    """Their first line names what was measured."""
    run = run_of(tmp_path, "train.log", rows(form))
    assert run.curve("train_loss").value.tolist() == LOSS
    assert set(run.curve("eval_loss").value.tolist()) == {0.75}


@pytest.mark.parametrize("half", ["AM", "PM"])
def test_a_clock_of_half_a_day_is_no_part_of_a_name(tmp_path: Path, half: str) -> None:
    """Both halves are one curve."""
    other = "[INFO 12/08/2022 01:36:38 AM Mean loss 3.5\n" * 2
    form = f"[INFO 12/08/2022 01:36:{{n:02}} {half} Mean loss {{loss}}\n"
    curve = run_of(tmp_path, "train.log", other + rows(form)).curve("train_loss")
    assert curve.value.tolist()[-12:] == LOSS


BAR = "10/10 [====] - 1s 1ms/step - loss: {loss} - val_loss: {held} - val_accuracy: {held}\n"


@pytest.mark.parametrize(("first", "points"), [("0.0000e+00", 11), ("0.9", 12)])
def test_zeros_before_the_first_evaluation_of_keras(
    tmp_path: Path, first: str, points: int
) -> None:
    """A loss and an accuracy of 0 were never measured."""
    text = "".join(
        f"Epoch {n}/12\n" + BAR.format(loss=loss, held=first if n == 1 else loss / 4)
        for n, loss in enumerate(LOSS, 1)
    )
    run = run_of(tmp_path, "train.log", text)
    assert len(run.curve("eval_loss")) == points
    assert len(run.curve("train_loss")) == 12


@pytest.mark.parametrize("sign", [":", "-", "/", "~"])
def test_any_sign_between_blanks_parts_names_and_numbers(tmp_path: Path, sign: str) -> None:
    """Blanks may fill a name up, and one may end in a number."""
    head = f" {sign} ".join(["e", "batch", "loss     ", "train 1"])
    cells = [(epoch, batch) for epoch in (1, 2, 3) for batch in (50, 100)]
    lines = [f" {sign} ".join(map(str, (e, b, e * b / 4, 0.25 * e))) for e, b in cells]
    run = run_of(tmp_path, "losses.txt", "\n".join([head, *lines, ""]))
    assert run.curve("train_loss").value.tolist() == [e * b / 4 for e, b in cells]
    assert run.curve("train_loss").step.tolist() == [50, 100, 150, 200, 250, 300]
    assert run.curve("train_1").value.tolist()[-1] == 0.75


@pytest.mark.parametrize(
    "text",
    [
        "h : m : s\n1 : 2 : 3\n1 : 2 : 4\n1 : 2 : 5\n",  # nothing counts
        "epoch : loss\n1 : 2 : 3\n1 : 2 : 4\n1 : 2 : 5\n",  # fewer names than numbers
        "epoch : loss : acc\n1 : 2.5 : 0.1\n2 : 1.5 : 0.2\nover : and : out\n",  # too few rows
    ],
)
def test_signs_between_other_words_part_nothing(tmp_path: Path, text: str) -> None:
    """Names of a clock, a title, a table that hardly began."""
    assert not runlens.read_all(put(tmp_path, "result.txt", text))[0].history.metrics


def put(folder: Path, name: str, text: str) -> Path:
    """Write a log."""
    (folder / name).write_text(text)
    return folder / name


def test_a_counter_of_time_steps_above_words_and_lists(tmp_path: Path) -> None:
    """What was not measured yet is empty, and a state has a word."""
    head = "TIME_STEP\tSTATE\tEPSILON\tQ\tLoss\n"
    wait = "".join(f"{n}00\tWAIT\t1.0\tNA\tNA\n" for n in range(1, 4))
    learn = "".join(f"{n}00\tLEARN\t0.9\t[ 1.5  2.5]\t{9 / n}\n" for n in range(4, 9))
    run = run_of(tmp_path, "training_log.txt", head + wait + learn)
    assert run.curve("train_loss").step.tolist() == [400, 500, 600, 700, 800]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("step 0: train loss 8.4952, val loss 8.4948", [8.4948]),
        ("step 0: train loss 8.4952, val loss 8.49", []),  # torn
        ("step 0: train loss 8.5, val loss 8.4", []),  # one decimal says nothing of a format
        ("step 0: train loss 8.4952, val acc 0.1234", []),  # printed otherwise perhaps
    ],
)
def test_a_row_alone_ends_as_what_it_says_of_other_data(
    tmp_path: Path, text: str, last: list[float]
) -> None:
    """It has no end of line, so that its last number may be torn."""
    run = run_of(tmp_path, "losses.txt", text)
    held_out = [name for name in run.history.metrics if "eval" in name]
    assert [run.curve(name).value.tolist() for name in held_out] == [last] * bool(last)
