"""A loss of Keras that became NaN within the first epoch was finite at its beginning."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read

END = "32/32 - 0s - loss: {loss} - accuracy: 0.25 - val_loss: {loss} - 412ms/epoch\n"
BAR = "{n}/32 [====>....] - ETA: 0s - loss: {loss}"


def log(folder: Path, above: str, within: str, *losses: str) -> Path:
    """Write a log of epochs, with states above the first heading and below it."""
    ends = [
        f"Epoch {n}/4\n{within * (n == 1)}{END.format(loss=loss)}"
        for n, loss in enumerate(losses, 1)
    ]
    (folder / "out.txt").write_text(above + "".join(ends))
    return folder / "out.txt"


NANS = ("nan", "nan", "nan", "nan")
PLAIN = "  8/32 - loss: 1.4341\n 16/32 - loss: nan\n"
LAST = " 32/32 - loss: nan\n"
SHOWN = BAR.format(n=8, loss=1.4341) + "\n" + BAR.format(n=16, loss="nan") + "\n"


@pytest.mark.parametrize(
    ("above", "within"),
    [
        (PLAIN + LAST, ""),  # the other stream
        ("", PLAIN + LAST),
        (PLAIN, ""),  # now and then
        ("", SHOWN + BAR.format(n=32, loss="nan") + "\n"),
        ("", SHOWN.replace("\n", "\b\b\b") + BAR.format(n=32, loss="nan") + "\n"),
    ],
)
def test_the_finite_loss_before_a_nan_is_kept(tmp_path: Path, above: str, within: str) -> None:
    """At its batch, as the ends of epochs are."""
    loss = read(log(tmp_path, above, within, *NANS)).curve("train_loss")
    assert loss.step.tolist() == [8, 16, 32, 64, 96, 128]
    assert loss.value[0] == 1.4341
    assert np.isnan(loss.value[1:]).all()


@pytest.mark.parametrize(
    ("above", "within", "losses"),
    [
        (PLAIN + LAST, "", ("1.2", "1.1", "1.0", "0.9")),  # it learned
        (
            PLAIN.replace("nan", "1.3") + LAST.replace("nan", "1.2"),
            "",
            ("1.2", "nan", "nan", "nan"),
        ),
        ("", PLAIN.replace("1.4341", "nan"), NANS),  # from the first
        ("32/32 - loss: 1.4341\n8/32 - loss: nan\n", "", NANS),  # an evaluation before it
        ("8/10 - loss: 1.4\n10/10 - loss: 1.4\n", "", NANS),  # of other data
    ],
)
def test_other_states_are_left_out(
    tmp_path: Path, above: str, within: str, losses: tuple[str, ...]
) -> None:
    """Each epoch is one row then."""
    loss = read(log(tmp_path, above, within, *losses)).curve("train_loss")
    assert loss.step.tolist() == [1, 2, 3, 4]
