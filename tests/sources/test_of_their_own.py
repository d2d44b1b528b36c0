"""What several trainings left in one file, and what agents leave beside their rewards."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens import diagnose, read, read_all
from runlens.errors import RunLensError


def test_results_printed_with_their_batch_size_are_of_trainings_each(tmp_path: Path) -> None:
    """Seven of one model are no course, and the fifth is no spike."""
    losses = (7.4e-4, 2.8e-5, 1.5e-5, 4.0e-5, 7.9e-3, 1.4e-3, 4.0e-4)
    text = "".join(
        f"Model Name: Rnn 2021-08-25\nVloss: {9 * one}\nLoss: {one}\nBatch Size: 50\n"
        f"Epochs: {11 if at else 5}\n\n"
        for at, one in enumerate(losses)
    )
    log = tmp_path / "train_log.txt"
    log.write_text(text)
    runs = read_all(log)
    assert [run.curve("train_loss").value.tolist() for run in runs] == [[one] for one in losses]
    assert [run.state.planned_epochs for run in runs] == [5, *[11] * 6]


def test_results_of_two_forms_are_of_trainings_each(tmp_path: Path) -> None:
    """A list kept by hand goes on in another form; most with no batch size are a course."""
    config = "class Config(object):\n    lr = {lr}\n    batch_size = {size}\n"
    ends = "Final Training Accuracy: {0}\nFinal Test Accuracy: {1}\n\n"
    later = "##########FINAL RESULTS##########\n    Train Accuracy: {0}\n    Test Accuracy: {1}\n\n"
    first = [
        f"{config.format(lr=0.001 / n, size=256 // n)}{ends.format(0.7 + n / 50, 0.6 + n / 90)}"
        for n in range(1, 7)
    ]
    others = [later.format(0.8 + n / 50, 0.5 + n / 90) for n in range(1, 4)]
    log = tmp_path / "train.log"
    log.write_text("".join([*first, *others]))
    assert len(read_all(log)) == 9
    log.write_text("".join([*first[:2], *others]))
    assert len(read_all(log)) == 1


def test_a_course_that_prints_its_batch_size_is_one_training(tmp_path: Path) -> None:
    """Its epochs go on."""
    text = "".join(f"Epoch: {n}\nLoss: {1 / n}\nBatch Size: 50\n\n" for n in range(1, 9))
    log = tmp_path / "train_log.txt"
    log.write_text(text)
    (run,) = read_all(log)
    assert len(run.curve("train_loss")) == 8


def test_results_between_many_words_with_the_line_of_their_code(tmp_path: Path) -> None:
    """Each line of a block is seldom, the block is not."""
    said = r"2023-01-16 19:14:14,989 - E:\learn\src\models.py[line:{0}] - INFO: {1}"
    words = [said.format(100 + n, f"generate {w} feature") for n, w in enumerate("abcdefgh" * 4)]
    results = [
        [
            said.format(242, f"Train accuracy {0.5 + n / 20}"),
            said.format(244, f"test accuracy {0.3 + n / 20}"),
            said.format(246, f"test recall {0.2 + n / 20}"),
        ]
        for n in range(5)
    ]
    log = tmp_path / "model.log"
    log.write_text("\n".join(line for one in results for line in (*words, *one)) + "\n")
    values = [float(v) for run in read_all(log) for v in run.curve("eval_accuracy").value]
    assert values == pytest.approx([0.3, 0.35, 0.4, 0.45, 0.5])


@pytest.mark.parametrize("name", ["rewards", "rewards_2", "episode_rewards (1)", "returns3"])
def test_whole_rewards_are_read_whatever_their_file_is_numbered(tmp_path: Path, name: str) -> None:
    """Two values, or one: an agent may get the same in each episode."""
    got = np.where(np.arange(200) % 9 == 4, 2, 1)
    np.save(tmp_path / f"{name}.npy", got)
    assert read(tmp_path / f"{name}.npy").curve("reward").value.tolist() == got.tolist()
    (tmp_path / f"{name}.txt").write_text("6\n" * 120)
    assert len(read(tmp_path / f"{name}.txt").curve("reward")) == 120


@pytest.mark.parametrize("name", ["labels", "scores", "rewards"])
def test_whole_numbers_that_number_rows_are_none(tmp_path: Path, name: str) -> None:
    """Nor are right and wrong answers."""
    counted = "\n".join(map(str, range(1, 90))) if name == "rewards" else "1\n0\n0\n1\n" * 20
    (tmp_path / f"{name}.txt").write_text(counted + "\n")
    try:
        assert not read(tmp_path / f"{name}.txt").history.metrics
    except RunLensError as error:
        assert "nothing readable" in str(error)  # noqa: PT017 - either says it


def test_a_reward_that_never_changes_is_told(tmp_path: Path) -> None:
    """Above zero, where an agent may have got all there is."""
    (tmp_path / "rewards.csv").write_text("".join(f"{n},6\n" for n in range(300)))
    found = {one.rule: one.severity for one in diagnose(tmp_path / "rewards.csv").findings}
    assert found["reward-flat"] == "info"


def test_timings_are_no_history_where_losses_are(tmp_path: Path) -> None:
    """The longer list has no name of a training."""
    curves = {"train_loss": [0.7, 0.6, 0.5], "val_acc": [0.5, 0.6, 0.7]}
    saved = {
        "comparison": {"a": {"f1": 0.7, "latency": {"mean": 2.0, "all": [2.0] * 500}}},
        "training_curves": {"a": curves, "b": curves},
    }
    (tmp_path / "metrics.json").write_text(json.dumps(saved))
    runs = read_all(tmp_path / "metrics.json")
    assert {len(run.curve("train_loss")) for run in runs} == {3}


def test_errors_of_tools_beside_rewards_are_no_loss(tmp_path: Path) -> None:
    """Two agents, each with a reward of its own, and how often their code failed."""
    rows = [{"step": n, "a_reward": 5.0, "b_reward": -n, "error_count": 0} for n in range(1, 20)]
    (tmp_path / "rewards.json").write_text(json.dumps(rows))
    run = read(tmp_path / "rewards.json")
    assert not len(run.curve("train_loss"))
    assert len(run.curve("error_count")) == 19


def test_whole_json_without_a_metric_is_not_told_to_be_torn(tmp_path: Path) -> None:
    """It has no newline at its end, and lines that are no objects."""
    (tmp_path / "metrics.json").write_text(json.dumps({"name": {"depth": 3}, "size": 7}, indent=1))
    with pytest.raises(RunLensError, match="one JSON document"):
        read(tmp_path / "metrics.json")


def test_statistics_of_generations_are_of_their_fitness(tmp_path: Path) -> None:
    """Beside epochs a bare mean says nothing."""
    rows = "".join(f"{n},{9.5 * n},{5.5 * n},{4.5 * n}\n" for n in range(60))
    (tmp_path / "fitness.csv").write_text(f"generation,best,mean,median\n{rows}")
    assert read(tmp_path / "fitness.csv").curve("reward").value[-1] == 5.5 * 59
    (tmp_path / "log.csv").write_text(f"epoch,best,mean,median\n{rows}")
    assert not len(read(tmp_path / "log.csv").curve("reward"))


@pytest.mark.parametrize("mark", ["    + FullyQualifiedErrorId : NativeCommandError", "+ ~~~~"])
def test_results_that_powershell_wrapped_are_whole(mark: str, tmp_path: Path) -> None:
    """It prints stderr as wide as its window, and says so above; no other log is joined so."""
    said = (
        f"python : INFO - began\n{mark}\n"
        "12:00:01,333 - src.models.kitchen - INFO - Model evaluation: {'mae': 0.6, 'rmse': \n"
        "np.float64(0.84), 'r2': -28.36, 'within_5_minutes': np.float64(100.0)}\n"
        "12:00:02,525 - src.models.tv - INFO - Model evaluation: {'precision': 0.25, 'recall': \n"
        "0.5, 'f1': 0.33, 'auc_roc': nan}\n"
        "12:00:03,788 - src.models.price - INFO - Model evaluation: {'mae': 18.69, 'rmse': \n"
        "np.float64(20.5), 'r2': nan, 'mae_percentage': np.float64(86.91)}\n"
    )
    log = tmp_path / "train_log.txt"
    log.write_text(said, encoding="utf-16", newline="\r\n")
    try:
        runs = read_all(log)
    except RunLensError:
        runs = []
    values = [n for r in runs for name in r.history.metrics for n in r.curve(name).value.tolist()]
    assert ({0.84, 20.5, 0.33} <= {*values}) == ("Native" in mark)
