"""JSON files that are alone in their folder: results, curves without a name, what agents won."""

import json
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from tests.sources.test_final_results import values_of

FALLS = [round(0.7 / n + 0.05, 4) for n in range(1, 13)]
FLAT = [0.7409, 0.7365, 0.7349, 0.7336, 0.7259, 0.721, 0.7369, 0.7287]
CONFIG = {"lr": 0.001, "batch_size": 16, "epochs": 100, "dropout": 0.3, "patience": 15}


def alone(folder: Path, whole: object, name: str) -> dict[str, list[float]]:
    """Return what is read of the only file of a folder; nothing where it is refused."""
    (folder / name).write_text(json.dumps(whole, indent=1))
    try:
        return values_of(read_all(folder))
    except NothingReadable:
        return {}


def test_a_rate_of_wins_by_its_episodes(tmp_path: Path) -> None:
    """Its plural too: it is what an agent is judged by."""
    episodes = [1500 * n for n in range(8)]
    whole = {"episodes": episodes, "win_rates": FLAT, "depths": [2] * 8}
    assert alone(tmp_path, whole, "training_metrics.json")["reward"] == FLAT
    run = read(tmp_path)
    assert run.curve("reward").step.tolist() == episodes


def test_a_rate_of_wins_of_no_agent_is_none(tmp_path: Path) -> None:
    """Of teams, in a file that counts no episode."""
    whole = {"seasons": [2000 + n for n in range(8)], "win_rates": FLAT}
    assert alone(tmp_path, whole, "teams.json") == {}


def test_lists_under_the_name_of_the_trainers_summary(tmp_path: Path) -> None:
    """They are curves: the summary of the Trainer holds one number each."""
    found = alone(tmp_path, {"train_loss": FALLS, "test_loss": FALLS}, "train_results.json")
    assert found["train_loss"] == FALLS
    assert len(read(tmp_path).curve("train_loss")) == len(FALLS)


def test_results_beside_their_settings(tmp_path: Path) -> None:
    """A value each: the file says that they are results, though it holds settings as well."""
    whole = {"test_loss": 1.48, "best_val_loss": 0.94, "epochs_run": 20, "config": CONFIG}
    found = alone(tmp_path, whole, "training_results.json")
    assert found["eval_loss"] == [1.48]
    assert found["best_val_loss"] == [0.94]


@pytest.mark.parametrize("name", ["config.json", "train_config.json", "params.json"])
def test_settings_alone_are_no_result(name: str, tmp_path: Path) -> None:
    """What a training is to reach is none, nor how much of a loss is added."""
    assert alone(tmp_path, {**CONFIG, "target_accuracy": 0.9, "kl_loss": 0.1}, name) == {}


def test_models_beside_what_they_get_under_conditions(tmp_path: Path) -> None:
    """Each model is a training of one point; numbered conditions are no course of one."""
    scores = {"params": 9, "train_acc": 0.92, "val_acc": 0.88, "time_s": 19.5}
    shifted = {str(n): {"base": 0.8 - n / 9, "cnn": 0.9 - n / 9} for n in range(5)}
    whole = {"base": scores, "cnn": {**scores, "val_acc": 0.91}, "robustness": shifted}
    found = alone(tmp_path, whole, "results.json")
    assert found["eval_accuracy"] == [0.88, 0.91]
    assert "base" not in found
    assert "eval_accuracy" not in alone(tmp_path, {"robustness": shifted}, "results.json")


def test_a_history_of_a_training_without_a_name(tmp_path: Path) -> None:
    """Its numbers are kept; what they are nobody says."""
    assert alone(tmp_path, FLAT, "training_history.json") == {"column 1": FLAT}


@pytest.mark.parametrize(
    ("whole", "name"),
    [
        (FLAT, "price_history.json"),
        (FLAT, "weights.json"),
        (FLAT[:3], "training_history.json"),
        (list(range(9)), "training_history.json"),
        ([*map(str, FLAT), "end"], "training_history.json"),
        ({}, "training_history.json"),
    ],
)
def test_other_lists_are_refused(whole: object, name: str, tmp_path: Path) -> None:
    """Prices, weights, a few numbers, and counts."""
    assert alone(tmp_path, whole, name) == {}
