"""Rows of programs that call what they log in words of their own."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read
from runlens.run import Run
from runlens.sources import read_all
from runlens.sources.console.letter_counters import with_letters_spelled


def _read(folder: Path, text: str, name: str = "train.log") -> Run:
    (folder / name).write_text(text)
    return read(folder / name)


def test_a_german_batch_is_no_loss(tmp_path: Path) -> None:
    """``Los 10:`` counts what stands behind it."""
    rows = "".join(
        "".join(
            f"Durchlauf {e}, Los {n:3d}: Fehler = 0,{90 - e * 7 - n % 30:02d}3\n"
            for n in range(10, 101, 10)
        )
        + f"   Trefferquote gesamt: {20 + e * 5},9 %\n"
        for e in range(1, 6)
    )
    run = _read(tmp_path, rows)
    assert run.curve("train_loss").step.tolist() == list(range(10, 501, 10))
    assert run.curve("train_loss").value[0] == 0.733
    assert run.curve("eval_accuracy").step.tolist() == [100, 200, 300, 400, 500]
    assert run.curve("eval_accuracy").value[0] == 0.259


@pytest.mark.parametrize("row", ["Epoche {n}, Los {v}, Zeit 3", "Epoche {n}, Los: {v}"])
def test_los_may_be_a_loss(tmp_path: Path, row: str) -> None:
    """Where its value stands behind it and nothing is measured in it."""
    rows = [row.format(n=n, v=round(3 / n + 0.1, 3)) + "\n" for n in range(1, 12)]
    run = _read(tmp_path, "".join(rows))
    assert run.curve("train_loss").value[0] == 3.1


def test_a_share_of_errors_is_no_loss(tmp_path: Path) -> None:
    """In percent, by its name; an error without it may be one."""
    rows = "".join(f"{n},{80 / n:.2f},{90 / n:.2f}\n" for n in range(1, 12))
    run = _read(tmp_path, f"epoch,cost,Error %\n{rows}", "log.csv")
    assert run.curve("train_loss").value[0] == 80
    assert "Error %" in run.history.metrics


def _seeds(name: str, columns: str = "") -> str:
    rows = (
        f"{seed},{n},{1 / (n + 1) + 0.1 + seed / 50:.4f},{1 / (n + 1) + 0.2:.4f}"
        for seed in range(3)
        for n in range(12)
    )
    return "\n".join([f"{name},{columns or 'ep,trn_nll,dev_nll'}", *rows]) + "\n"


@pytest.mark.parametrize("name", ["run_seed", "outer_fold", "seed"])
def test_seeds_by_names_of_their_own_are_trainings(tmp_path: Path, name: str) -> None:
    """Their counter, ``ep``, begins anew in each; no sawtooth is left."""
    (tmp_path / "all.csv").write_text(_seeds(name))
    runs = read_all(tmp_path)
    assert [run.curve("train_loss").step.tolist() for run in runs] == [list(range(12))] * 3
    assert all(set(run.history.metrics) == {"train_loss", "eval_loss"} for run in runs)


def test_a_seed_of_each_row_is_none(tmp_path: Path) -> None:
    """Where the counter goes on a seed tells nothing apart."""
    rows = "".join(f"{n % 3},{n},{1 / (n + 1) + 0.1:.4f}\n" for n in range(20))
    (tmp_path / "log.csv").write_text(f"data_seed,ep,train_loss\n{rows}")
    (run,) = read_all(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(20))


def test_numbers_of_minibatches_count(tmp_path: Path) -> None:
    """In several launches; the mean of J is the loss, and its NaN is read."""
    launch = "$ ./trainer --data shards/ --eta {eta} --mb 20\n"
    rows = "".join(
        f"mb#{n * 20:04d}\tavgJ={2 / n + 0.1:.4g}\t|W|={4 + n}.38\n" for n in range(1, 9)
    )
    lost = "".join(f"mb#{n * 20:04d}\tavgJ=nan\t|W|=nan\n" for n in range(9, 12))
    text = "".join(launch.format(eta=eta) + rows + lost for eta in (0.1, 0.03, 0.005))
    (tmp_path / "stdout.txt").write_text(text)
    runs = read_all(tmp_path)
    assert len(runs) == 3
    for run in runs:
        loss = run.curve("train_loss")
        assert loss.step.tolist() == list(range(20, 221, 20))
        assert loss.value[:2].tolist() == [2.1, 1.1]
        assert np.isnan(loss.value[-3:]).all()


@pytest.mark.parametrize(("rises", "beside"), [(True, "weights"), (False, "w")])
def test_a_mean_of_a_letter_may_be_no_loss(tmp_path: Path, rises: bool, beside: str) -> None:
    """What is driven up is called J as well; beside another letter it may be a part."""
    value = [n * n / 100 + 0.11 if rises else 2 - n * n / 100 for n in range(1, 12)]
    rows = "".join(f"{n},{one:.4g},3.{n * 37 % 10}\n" for n, one in enumerate(value))
    run = _read(tmp_path, f"step,avgJ,{beside}\n{rows}", "log.csv")
    assert "avgJ" in run.history.metrics


def test_units_count_nothing() -> None:
    """Without the sign of a number."""
    lines = [(n, f"mb{n * 20} used=0.{n}") for n in range(1, 9)]
    assert with_letters_spelled(lines) == lines


@pytest.mark.parametrize(
    "row",
    [
        "Alpha: 0.0{left}  Progress: {n}.22%  Words/thread/sec: 25.04k  Loss: {loss}\n",
        "lr: 0.0{left}  Loss: {loss}\n",
    ],
)
def test_a_rate_that_begins_its_row(tmp_path: Path, row: str) -> None:
    """No logger is called so; word2vec calls it by its letter."""
    rows = [row.format(n=n, left=60 - n, loss=round(3 / n + 0.11, 3)) for n in range(1, 13)]
    run = _read(tmp_path, "Starting training using file corpus.txt\n" + "".join(rows))
    assert run.curve("learning_rate").value[:2].tolist() == [0.059, 0.058]
    assert run.curve("train_loss").value[0] == 3.11


def test_another_alpha_is_no_rate(tmp_path: Path) -> None:
    """Without the share that is done behind it."""
    rows = "".join(f"step {n} Loss: {3 / n + 0.11:.3f} Alpha: 0.0{60 - n}\n" for n in range(1, 13))
    run = _read(tmp_path, rows)
    assert set(run.history.metrics) == {"train_loss", "Alpha"}


def test_scores_of_one_class_in_a_table_of_spacy(tmp_path: Path) -> None:
    """They are of held-out data as those of all are; E counts epochs, # steps."""
    head = "E    #       LOSS TEXTCAT  CATS_F_POS  CATS_ACC  SCORE \n"
    rule = "---  ------  ------------  ----------  --------  ------\n"
    rows = "".join(
        f"  {n // 5}  {n * 20:6d}  {9 / (n + 1):12.2f}  {n + 6.69:10.2f}  {n + 70.5:8.2f}  0.5{n}\n"
        for n in range(12)
    )
    run = _read(tmp_path, head + rule + rows)
    assert run.curve("eval_cats_f1_pos").value[0] == 6.69
    assert run.curve("eval_cats_f1_pos").step.tolist() == [n * 20 for n in range(12)]
