"""Losses, scores and norms as papers and small programs call them, and what looks like them."""

from pathlib import Path

import pytest

from runlens import read
from runlens.run import Run
from tests.sources.written import run_of

FALLS = [2.0, 1.6, 1.2, 1.0, 0.9, 0.8, 0.7, 0.6]
LOWER = [1.9, 1.5, 1.1, 0.9, 0.8, 0.7, 0.6, 0.5]
LEVEL = [1.0, 1.1, 0.9, 1.0, 1.1, 0.9, 1.0, 1.1]
SHARES = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97]
RISES = [20.0, 25.0, 60.0, 90.0, 120.0, 140.0, 150.0, 160.0]


def _logged(folder: Path, **curves: list[float]) -> Run:
    rows = zip(*curves.values(), strict=True)
    lines = (
        f"step {10 * n}  "
        + "  ".join(f"{name} {v:.4f}" for name, v in zip(curves, row, strict=True))
        for n, row in enumerate(rows, 1)
    )
    return run_of(folder, "train.log", "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("curves", "taken"),
    [
        ({"fit": FALLS, "dev": LOWER}, {"train_loss": "fit", "eval_loss": "dev"}),
        ({"copy_xent": FALLS, "copy_acc": SHARES}, {"train_loss": "copy_xent"}),
        ({"L_simple": FALLS, "sample_dist": LOWER}, {"train_loss": "L_simple"}),
        ({"elbo_loss": FALLS, "recon": LOWER, "kl": LEVEL}, {"train_loss": "elbo_loss"}),
        (
            {"tl": FALLS, "ta": SHARES, "vl": LOWER, "va": SHARES},
            {"train_loss": "tl", "eval_loss": "vl", "train_accuracy": "ta", "eval_accuracy": "va"},
        ),
        (
            {"tl": FALLS, "ta": RISES, "vl": LOWER, "va": RISES},
            {"train_loss": "tl", "eval_loss": "vl"},
        ),
        ({"ret10": RISES, "td": FALLS, "eps": LOWER}, {"reward": "ret10"}),
    ],
)
def test_what_is_taken(
    tmp_path: Path, curves: dict[str, list[float]], taken: dict[str, str]
) -> None:
    """By the company of a name, and by what its numbers do."""
    assert dict(_logged(tmp_path, **curves).taken) == taken


@pytest.mark.parametrize(
    "curves",
    [
        {"fit": RISES[::-1], "dev": FALLS},  # seconds, it may be
        {"teacher_xent": LEVEL, "copy_acc": SHARES},  # which nothing trains
        {"aux_xent": FALLS, "copy_acc": SHARES},  # a part
        {"copy_xent": FALLS, "sort_xent": LOWER},  # two tasks, of which nobody says the sum
        {"elbo_loss": FALLS, "ctc_loss": LOWER},  # whose sum is not logged
        {"ret10": RISES, "td": FALLS},  # no agent is known
        {"ret10": RISES, "ret100": RISES, "eps": LOWER},
    ],
)
def test_what_is_not(tmp_path: Path, curves: dict[str, list[float]]) -> None:
    """Names that may as well be of other things."""
    assert not _logged(tmp_path, **curves).taken


def test_a_bound_that_is_called_a_loss_is_minimised(tmp_path: Path) -> None:
    """Even where it ends above its beginning, as while the weight of a part grows."""
    run = _logged(tmp_path, elbo_loss=RISES, recon=FALLS, kl=LEVEL)
    assert run.curve("train_loss").value.tolist() == RISES


def test_a_norm_in_bars_among_rows_of_an_unknown_layout(tmp_path: Path) -> None:
    """And no number between the edges of a table."""
    rows = zip(FALLS, LOWER, strict=True)
    text = "".join(f"[{n:4}/8] nll={a} |g|={b} 0.{n}s\n" for n, (a, b) in enumerate(rows, 1))
    run = run_of(tmp_path, "train.log", text)
    assert run.curve("grad_norm").value.tolist() == LOWER


def test_a_letter_with_the_data_of_its_training(tmp_path: Path) -> None:
    """``L_tr`` beside ``L_val``; alone it is the path of an inductance, or anything."""
    rows = enumerate(zip(FALLS, LOWER, SHARES, strict=True))
    lines = [
        f'{{"seed": 1, "ep": {n}, "L_tr": {a}, "L_val": {b}, "acc": {c}}}' for n, (a, b, c) in rows
    ]
    (tmp_path / "run_s1.jsonl").write_text("\n".join(lines) + "\n")
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == FALLS
    assert run.curve("eval_loss").value.tolist() == LOWER


@pytest.mark.parametrize(("every", "ours"), [(1, "eval_auc"), (2, "Score (AUC)")])
def test_a_score_that_says_which_one_it_is(tmp_path: Path, every: int, ours: str) -> None:
    """Logged with each loss of held-out data it is of these; else nobody knows."""
    text = "".join(
        f"Epoch {n} - avg_train_loss: {a}  avg_val_loss: {a}  time: 0s\n"
        + f"Epoch {n} - Score (AUC): {b}\n" * (n % every == 0)
        for n, (a, b) in enumerate(zip(FALLS, SHARES, strict=True), 1)
    )
    assert ours in run_of(tmp_path, "train.log", text).history.metrics
