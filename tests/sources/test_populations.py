"""Runs without a loss: genetic algorithms, and error rates of who speaks or whose face it is."""

import json
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.naming.agents import counts_generations, fitness
from runlens.sources.tables.names import is_log

GENERATIONS = range(12)


def written(folder: Path, text: str, name: str) -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("Generation,Top Fitness,Mean Fitness,Run Time (s)", "Mean Fitness"),
        ("generation,max_fitness,avg_fitness,std_fitness", "avg_fitness"),
    ],
)
def test_the_mean_fitness_of_a_generation_is_a_reward(tmp_path: Path, head: str, name: str) -> None:
    """The table of a genetic algorithm."""
    body = "".join(f"{n},{9 + n},{1 + n / 4},10.{n}\n" for n in GENERATIONS)
    run = read(written(tmp_path, f"{head}\n{body}", "training_log.csv"))
    assert run.curve("reward").value.tolist() == [1 + n / 4 for n in GENERATIONS]
    assert any(f'"{name}"' in problem.text for problem in run.problems)


def test_a_fitness_that_falls_is_not_taken_for_a_reward(tmp_path: Path) -> None:
    """Some evolution drives it down: nothing says which way is better."""
    rows = "".join(f"{n},{900 - 20 * n}\n" for n in range(1, 20))
    run = read(written(tmp_path, f"generation,mean_fitness\n{rows}", "log.csv"))
    assert "reward" not in run.history.metrics
    assert len(run.curve("mean_fitness")) == 19


def test_the_fitness_of_the_fittest_where_nothing_else_is_there(tmp_path: Path) -> None:
    """In a table that counts generations, else in none."""
    body = "".join(f"{n},{9 + n}.5\n" for n in GENERATIONS)
    run = read(written(tmp_path, f"generation,best_fitness\n{body}", "log.csv"))
    assert len(run.curve("reward")) == len(GENERATIONS)
    assert fitness(["best fitness", "adjusted fitness", "std fitness"]) == "best fitness"
    assert fitness(["score"]) == ""


def test_a_log_of_generations(tmp_path: Path) -> None:
    """As neuroevolution prints it."""
    text = "".join(
        f" ****** Running generation {n} ******\n\n"
        f"Population's average fitness: {18 + n}.52 stdev: 7.4{n}\n"
        f"Best fitness: {57 + n}.00 - size: (1, 4) - species 1 - id 4\n"
        for n in GENERATIONS
    )
    run = read(written(tmp_path, text, "train.log"))
    assert run.curve("reward").value.tolist() == [18.52 + n for n in GENERATIONS]


def starts(*epochs: int, names: tuple[str, ...] = ("train_HTER", "val_HTER")) -> str:
    """Return a log of so many epochs of each start, a line each number."""
    return "".join(
        f"INFO:root:epoch: {n}\nINFO:root:{name[:-4]}TP: 26.01\n"
        f"INFO:root:{name}: 0.{5 * n + place + k}31\n"
        for place, count in enumerate(epochs)
        for n in range(1, count + 1)
        for k, name in enumerate(names)
    )


@pytest.mark.parametrize("epochs", [(1, 1, 4, 2, 4), (3, 3), (4, 1, 1, 1, 5)])
def test_starts_that_failed_in_their_first_epoch(tmp_path: Path, epochs: tuple[int, ...]) -> None:
    """Each is a training, as its first epoch comes again."""
    runs = read_all(written(tmp_path, starts(*epochs), "train.log"))
    assert [len(run.curve("eval_hter")) for run in runs] == list(epochs)


def test_an_epoch_that_comes_twice_in_every_training_is_of_a_check(tmp_path: Path) -> None:
    """Of its data before the first epoch: no start of its own."""
    text = starts(4, 4).replace(
        "epoch: 1\n", "epoch: 1\nINFO:root:val_HTER: 0.5\nINFO:root:epoch: 1\n"
    )
    assert len(read_all(written(tmp_path, text, "train.log"))) == 2


def test_equal_error_rates_in_a_table_and_in_rows(tmp_path: Path) -> None:
    """They are read without a loss."""
    table = "".join(f"{n},{12 - n}.1,0.3{n}\n" for n in range(6))
    run = read(written(tmp_path, f"epoch,dev_eer,dev_tdcf\n{table}", "log.csv"))
    assert run.curve("eval_eer").value.tolist() == [12.1 - n for n in range(6)]
    rows = "".join(f"epoch {n}, EER 9.{9 - n}1%, minDCF 0.51{9 - n}\n" for n in range(1, 7))
    run = read(written(tmp_path, rows, "train.log"))
    assert len(run.curve("EER")) == len(run.curve("minDCF")) == 6


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["gen", "pop_mean", "center"], {"gen": "generation"}),
        (["gen", "disc"], {}),  # of a generator
        (["gen", "population"], {}),  # how many there are
    ],
)
def test_generations_are_counted_beside_a_population(
    names: list[str], told: dict[str, str]
) -> None:
    """And so is its mean what it is judged by."""
    assert counts_generations(names) == told
    assert is_log([told.get(name, name) for name in names]) is bool(told)


def test_lists_of_a_population(tmp_path: Path) -> None:
    """One for each column, the mean of all before that of the fittest."""
    lists = {
        "gen": [*GENERATIONS],
        "pop_mean": [40.5 + 3 * n for n in GENERATIONS],
        "pop_max": [200.0 for _ in GENERATIONS],
    }
    run = read(written(tmp_path, json.dumps(lists), "es_history.json"))
    assert run.curve("reward").value.tolist() == lists["pop_mean"]
    assert run.curve("reward").step.tolist() == lists["gen"]
