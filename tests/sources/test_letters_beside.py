"""Names of one letter, which only what stands beside them says: ``L`` beside ``|g|``, ``Lv``."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from runlens import read
from runlens.naming import classify
from runlens.naming.letters import counters, told
from runlens.run import Run

FALLS = [round(0.7 / n + 0.05, 4) for n in range(1, 13)]
GROWS = [round(16 + n + n % 3 * 2.1, 3) for n in range(12)]
SHARES = [round(0.3 + n * 0.05, 2) for n in range(12)]
NORMS = [round(5 + n % 4 * 1.3, 3) for n in range(12)]
Curves = dict[str, Sequence[float | str]]


def table(folder: Path, curves: Curves, counter: str = "step") -> Run:
    """Return what is read of a table."""
    rows = zip(*curves.values(), strict=True)
    lines = [";".join(map(str, (n, *row))) for n, row in enumerate(rows, 1)]
    (folder / "p3.csv").write_text("\n".join([";".join([counter, *curves]), *lines, ""]))
    return read(folder / "p3.csv")


def test_both_losses_and_accuracies_by_their_letters(tmp_path: Path) -> None:
    """Those of held-out data have its letter behind them; what was taken is said."""
    later = [value + 0.02 for value in FALLS]
    run = table(tmp_path, {"L": FALLS, "A": SHARES, "Lv": later, "Av": SHARES}, "t")
    ours = ("train_loss", "train_accuracy", "eval_loss", "eval_accuracy")
    assert run.taken == dict(zip(ours, ("L", "A", "Lv", "Av"), strict=True))
    assert sum("does not name its" in one.text for one in run.problems) == len(ours)
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    assert read(tmp_path).taken == run.taken


@pytest.mark.parametrize(
    ("curves", "loss"),
    [
        ({"L": GROWS, "g": NORMS}, "L"),  # a loss that diverged
        ({"L": ["0.69", *["nan"] * 11], "A": SHARES}, "L"),
        ({"J": ["0.69", *["nan"] * 11], "acc": SHARES}, "J"),
        ({"J": GROWS, "acc": SHARES}, "J"),
        ({"C": FALLS, "acc": SHARES}, "C"),
        ({"L": [-one for one in GROWS], "acc": SHARES}, "L"),  # of the wrong sign
        ({"E": FALLS, "grad_norm": NORMS}, "E"),
        ({"l": FALLS, "l_val": FALLS}, "l"),
        ({"obj": FALLS, "acc": SHARES}, "obj"),
        ({"L": FALLS, "k": list(range(12))}, "L"),
    ],
)
def test_a_letter_that_is_the_loss(tmp_path: Path, curves: Curves, loss: str) -> None:
    """Beside a norm or an accuracy it may rise, or be lost."""
    run = table(tmp_path, curves, "epoch")
    assert run.taken["train_loss"] == loss
    assert len(run.curve("train_loss")) == len(FALLS)


def test_the_norm_of_gradients_loses_its_bars(tmp_path: Path) -> None:
    """As a log writes it, between tabs."""
    lines = [f"{20 * n}\tL={loss}\t|g|={norm}\n" for n, (loss, norm) in
             enumerate(zip(GROWS, NORMS, strict=True), 1)]  # fmt: skip
    (tmp_path / "rnn.out").write_text("".join(lines))
    run = read(tmp_path / "rnn.out")
    assert run.curve("train_loss").value.tolist() == GROWS
    assert run.curve("grad_norm").value.tolist() == NORMS


@pytest.mark.parametrize(
    "curves",
    [
        {"J": GROWS, "g": NORMS},  # a return that its gradients drive up
        {"L": SHARES, "g": NORMS},  # a likelihood
        {"L": GROWS, "w": NORMS},  # a length, beside a width
        {"L": FALLS, "D": FALLS},  # a part of a loss, it may be
        {"L": FALLS, "k": FALLS},  # which counts nothing
        {"L": FALLS, "A": GROWS},  # an area
        {"L": FALLS, "J": FALLS},
        {"C": GROWS, "acc": SHARES},  # a temperature, a class
        {"C": FALLS, "E": FALLS},
        {"L": GROWS, "Lv": [one / 9 for one in GROWS]},
        {"L": ["nan"] * 12, "g": NORMS},
        {"L": [-one for one in GROWS], "g": NORMS},
        {"L": [-one for one in FALLS], "acc": SHARES},  # a log-likelihood that rises
    ],
)
def test_letters_of_which_nothing_is_known(tmp_path: Path, curves: Curves) -> None:
    """They stay what they are called."""
    assert "train_loss" not in table(tmp_path, curves, "epoch").taken


def test_epochs_with_batches_in_each(tmp_path: Path) -> None:
    """``ep`` beside ``b`` counts epochs, and no episodes: the batches are added up."""
    rows = [{"ep": ep, "b": b, "L": round(2 / (ep + b), 4)} for ep in range(3) for b in (5, 10, 15)]
    (tmp_path / "out.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(5, 50, 5))
    assert run.curve("train_loss").epoch.tolist()[-1] == 2


def test_a_return_beside_the_entropy(tmp_path: Path) -> None:
    """In a folder of several seeds."""
    for seed in (0, 1):
        rows = [{"update": 5 * n, "R": a, "H": h} for n, (a, h) in
                enumerate(zip(SHARES, FALLS, strict=True))]  # fmt: skip
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (tmp_path / f"metrics_seed{seed}.jsonl").write_text(text)
    run = read(tmp_path / "metrics_seed0.jsonl")
    assert run.curve("reward").value.tolist() == SHARES
    assert run.curve("entropy").value.tolist() == FALLS


@pytest.mark.parametrize(
    "names",
    [("t", "L"), ("t", "L", "W"), ("t", "R", "T"), ("t", "J", "L", "g"), ("ep", "e", "b", "L")],
)
def test_data_are_no_training(names: tuple[str, ...]) -> None:
    """A length over time, a resistance and a temperature."""
    assert not told(names)


def test_what_counts_beside_another() -> None:
    """An episode has no batches."""
    assert counters(("ep", "b", "L")) == {"ep": "epoch", "b": "batch"}
    assert counters(("ep", "R")) == {}


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("ret_last20", "reward"),
        ("return_last_100", "reward"),
        ("rewards_last100", "reward"),
        ("best_return_last10", ""),
        ("ret_last", ""),
        ("return_last_epoch", ""),
        ("loss_last_10", ""),
    ],
)
def test_returns_of_the_last_so_many_episodes(name: str, quantity: str) -> None:
    """Are their mean; of the last alone, and of other things, nothing is said."""
    assert classify(name).quantity == quantity
