"""Names that small programs give to counters and metrics, told by what stands beside them."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens.naming import classify
from runlens.naming.beside import told_beside
from runlens.sources.console.mining.heads import head
from runlens.sources.tables.names import is_log
from tests.sources.written import run_of, runs_of

KALDI = (
    "LOG (nnet-a:T():b.cc:1) Average objective function per frame over last 120 frames is {v} "
    "(minibatch {n})"
)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["episode", "mean_return", "mean_len"], True),
        (["episode", "rating", "length"], False),  # of a series on television
        (["i", "mse", "gn"], True),
        (["i", "mse"], False),  # of samples, it may be
    ],
)
def test_what_only_trainings_measure_beside_a_counter(names: list[str], told: bool) -> None:
    """A return of an episode and a norm of gradients, under whatever words."""
    assert is_log(names) is told


def test_rows_are_counted_by_a_letter(tmp_path: Path) -> None:
    """The norm of the gradients beside it says that these are updates."""
    rows = [{"i": 20 * n, "mse": 1 / n, "gn": 0.3 + 0.1 * (n % 2)} for n in range(1, 11)]
    (run,) = runs_of(tmp_path, "log.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    assert list(run.curve("grad_norm").step[:2]) == [20, 40]
    assert len(run.curve("train_loss")) == len(rows)


@pytest.mark.parametrize(
    ("line", "metric"),
    [
        ("Episode {n}: average reward over the last 100 episodes is {v}", "reward"),
        ("Average reward over last 100 episodes was {v} (episode {n})", "reward"),
        (KALDI, "train_loss"),
        ("step {n}: loss over the last 20 steps is {v}", "train_loss"),
    ],
)
def test_what_a_mean_is_of_is_no_name(tmp_path: Path, line: str, metric: str) -> None:
    """Units and their number, between the name of a mean and the mean."""
    rows = [line.format(n=6 * n, v=-1.7 + 0.02 * n + 0.003 * (n % 3)) for n in range(1, 21)]
    curve = run_of(tmp_path, "train.log", "\n".join(rows) + "\n").curve(metric)
    assert list(curve.step[:2]) == [6, 12]
    assert abs(float(curve.value[0])) == pytest.approx(1.677)


@pytest.mark.parametrize(
    ("first", "slope", "sign"),
    [
        (-1.7, 0.02, -1),  # rises below 0: driven up
        (-0.7, -0.02, 1),  # falls: a loss, whatever its sign
        (1.7, 0.02, 1),  # rises above 0: a loss that diverges
    ],
)
def test_an_objective_that_rises_below_0_is_driven_up(
    tmp_path: Path, first: float, slope: float, sign: int
) -> None:
    """So that its negative is the loss."""
    rows = [f"{n},{first + slope * n + 0.003 * (n % 3):.4f}" for n in range(1, 31)]
    run = run_of(tmp_path, "log.csv", "step,objective function\n" + "\n".join(rows) + "\n")
    value = run.curve("train_loss").value
    assert np.sign(value[-1]) == np.sign(sign * (first + 30 * slope))


def test_in_sample_and_out_of_sample(tmp_path: Path) -> None:
    """``is`` says which data only beside ``oos``."""
    rows = [f"{n};{1 / n:.4f};{0.5 + 1 / n:.4f};{0.1 * n:.1f}" for n in range(1, 9)]
    text = "ep;mse_is;mse_oos;hit_is\n" + "\n".join(rows) + "\n"
    run = run_of(tmp_path, "log.csv", text)
    assert run.curve("train_loss").value[0] == 1.0
    assert run.curve("eval_loss").value[0] == 1.5
    assert told_beside(["mse_is", "hit_is", "Mse_OOS"]) == {"mse_is": "mse in sample"}
    assert classify("mse_is").split == ""
    assert classify("out_of_sample_mse").split == "val"


@pytest.mark.parametrize(("beside", "value"), [("n_samples", 2.0), ("loss", 1.0)])
def test_the_loss_of_a_client_is_its_training_loss(
    tmp_path: Path, beside: str, value: float
) -> None:
    """Where it logs no other: of a local and a global view it is a part of the loss."""
    rows = [f"{n},{2 + 0.1 * (n % 2 == 0)},1" for n in range(1, 12)]
    text = f"round,local_loss,{beside}\n" + "\n".join(rows) + "\n"
    assert run_of(tmp_path, "client_3.csv", text).curve("train_loss").value[0] == value


@pytest.mark.parametrize(("column", "counted"), [("|w|", True), ("lr", False)])
def test_a_sweep_over_all_states_is_an_iteration(column: str, counted: bool) -> None:
    """In the head of a table; beside a setting it is one of a search."""
    found = head(f" sweep   tderr   {column}   ret")
    assert (found is not None and found.names[:3] == ("iteration", "tderr", "w_norm")) is counted
