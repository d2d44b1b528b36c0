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
