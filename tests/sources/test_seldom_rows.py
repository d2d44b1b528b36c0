"""Rows that few programs write: of one launch of many, of bests, of means of so many batches."""

import json
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.sources.console.bests import bests
from runlens.sources.console.learned import _same
from runlens.sources.console.of_many import without_count
from runlens.sources.saved_numbers import may_be
from tests.sources.written import run_of, runs_of

HEAD = (
    "[ Mon Jul  8 22:19:31 2024 ] using warm up, epoch: 5\n"
    "[ Mon Jul  8 22:19:39 2024 ] Parameters:\n"
    "{'device': 0, 'work_dir': 'runs', 'num_epoch': 110, 'batch_size': 128}\n\n"
    "[ Mon Jul  8 22:19:39 2024 ] # Parameters: 2115246\n"
)


def epoch(number: int, loss: float) -> str:
    """Return what is printed of an epoch."""
    at = "[ Tue Jul  9 14:38:35 2024 ]"
    return (
        f"{at} Training epoch: {number}\n"
        f"{at} \tTraining loss: {loss:.4f}.  Training acc: 1.33%.\n"
        f"{at} \tTime consumption: [Data]00%, [Network]100%\n"
        f"{at} Eval epoch: {number}\n"
        f"{at} \tMean test loss of 312 batches: {loss - 0.5:.6f}.\n"
        f"{at} \tTop1: 1.98%\n"
    )


def test_a_mean_is_not_of_how_many_it_is(tmp_path: Path) -> None:
    """The loss of a test is the number behind its count."""
    text = HEAD + "".join(epoch(n, 5 / n) for n in range(1, 6))
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("eval_loss").value.tolist() == pytest.approx(
        [5 / n - 0.5 for n in range(1, 6)]
    )
    assert len(run.curve("train_loss")) == 5


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Val loss over 1,000 samples: 0.5", "Val loss: 0.5"),
        ("accuracy on the 500 test images = 0.9", "accuracy = 0.9"),
        ("loss for 3 epochs: 0.5", "loss for 3 epochs: 0.5"),
        ("few-shot, Acc: 600 Test Acc = 67.9%", "few-shot, Test Acc = 67.9%"),
        ("Loss: 2 Test Acc = 67.9%", "Loss: 2 Test Acc = 67.9%"),
        ("mean loss of 312 batches", "mean loss of 312 batches"),
    ],
)
def test_counts_before_a_number_are_left_out(line: str, wanted: str) -> None:
    """Where what they count is of the data."""
    assert without_count(line) == wanted


def test_the_last_launch_alone_left_a_row(tmp_path: Path) -> None:
    """Those before it broke off in their first epoch; the log is too long for an excerpt."""
    begun = HEAD + "[ Mon Jul  8 22:19:39 2024 ] Training epoch: 1\n"
    run = run_of(tmp_path, "log.txt", begun * 12 + HEAD + epoch(1, 5.5))
    assert run.curve("train_loss").value.tolist() == [5.5]
    assert run.curve("eval_loss").value.tolist() == [5.0]
    assert any("12 starts before its last left no row" in one.text for one in run.problems)
    assert not run_of(tmp_path, "log.txt", begun * 13).history.metrics


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("08-12 19:23:51: New best reward {0} (+0.0%) at episode {1}, saving model...", "reward"),
        ("New best reward: {0} at episode {1}", "reward"),
        ("Step {1}: new best val accuracy = {0}", "val accuracy"),
        ("saving, best val loss {0} (epoch {1})", "val loss"),
    ],
)
def test_what_was_best_so_far(line: str, name: str, tmp_path: Path) -> None:
    """At its own step; no curve of what it is the best of."""
    rows = [line.format(400.5 + n, 3 * n + 1) for n in range(40)]
    run = run_of(tmp_path, "test.log", "Training starting...\n" + "\n".join(rows) + "\n")
    (curve,) = [run.curve(one) for one in run.history.metrics]
    assert curve.value.tolist() == [400.5 + n for n in range(40)]
    assert curve.step.tolist() == [3 * n + 1 for n in range(40)]
    assert not len(run.curve("reward"))
    assert {row.names for row in bests(list(enumerate(rows)))} == {(f"best {name}",)}
    still = [line.format(500.0, n) for n in range(2_000)]  # a best that came again and again
    run = run_of(tmp_path, "test.log", "Training starting...\n" + "\n".join(still) + "\n")
    (again,) = run.history.metrics
    assert run.curve(again).step[-1] == 1_999


@pytest.mark.parametrize(
    "lines",
    [
        ["best reward 4.5 at episode 1"] * 2,  # too few
        [f"best reward 4.5 at episode {9 - n}" for n in range(9)],
        ["best idea 4.5 at step 1"] * 5,
        [f"best reward 4.5 at episode {n}, best loss 3" for n in range(3)]
        + [f"best score 4.5 at episode {n}" for n in range(3, 9)],
    ],
)
def test_other_words_of_bests_are_no_rows(lines: list[str], tmp_path: Path) -> None:
    """Nothing is told of them."""
    assert bests(list(enumerate(lines))) == []
    runs = runs_of(tmp_path, "test.log", "\n".join(["Training starting...", *lines]) + "\n")
    assert not any("best so far" in one.text for run in runs for one in run.problems)


def test_a_lone_list_in_a_log_of_json(tmp_path: Path) -> None:
    """Beside settings, or pointed at: it fell, and is no list of labels."""
    losses = [0.56 - n / 500 + n % 3 / 100 for n in range(100)]
    (tmp_path / "cfg.json").write_text('{"name": "Env", "lr": 0.001}')
    (tmp_path / "log.json").write_text(json.dumps(losses))
    for place in (tmp_path, tmp_path / "log.json"):
        run = read(place)
        (name,) = run.history.metrics
        assert run.curve(name).value.tolist() == pytest.approx(losses)


def test_rows_of_a_history_without_names(tmp_path: Path) -> None:
    """All of one epoch: too few for a file of any other name."""
    text = "2\t397.753\t393.620\n2\t400.816\t393.906\n2\t389.653\t386.109\n"
    run = run_of(tmp_path, "history.txt", text)
    assert run.curve("column 2").value.tolist() == [397.753, 400.816, 389.653]
    assert not run_of(tmp_path, "notes.txt", text).history.metrics


def test_passes_of_an_unnamed_loss_are_one_training(tmp_path: Path) -> None:
    """Its steps begin anew and it goes on; the file says that it is of the training."""
    rows = [(512 * (n % 40 + 1), 0.42 - n / 500) for n in range(80)]
    text = "".join(f"{step} {loss:.6f} \n" for step, loss in rows)
    run = run_of(tmp_path, "train_results.txt", text)
    assert len(run.curve("train_loss")) == 80
    assert run.curve("train_loss").step[-1] == 80 * 512


def test_sets_of_an_evaluation_are_side_by_side(tmp_path: Path) -> None:
    """Of two trainings, whose own rows lie in another table."""
    head = "condition,step,phase,"
    train, held = [head + "train_loss,timestamp"], [head + "eval_split,eval_loss,timestamp"]
    for condition in ("mixed", "curriculum"):
        for n in range(30):
            stamp = f"2026-06-25T21:{n:02d}:10+00:00"
            train.append(f"{condition},{10 * n},hard,{6 - n / 20:.4f},{stamp}")
            for name, more in (("easy", 0.1), ("hard", 0.3), ("overall", 0.2)):
                held.append(f"{condition},{10 * n},hard,{name},{6 + more - n / 30:.4f},{stamp}")
    (tmp_path / "train_log.csv").write_text("\n".join(train) + "\n")
    (tmp_path / "eval_log.csv").write_text("\n".join(held) + "\n")
    runs = read_all(tmp_path)
    assert len(runs) == 2
    for run in runs:
        assert len(run.curve("train_loss")) == 30
        assert run.curve("eval_loss").value[0] == pytest.approx(6.2)


def test_other_tables_of_sets_are_as_they_are(tmp_path: Path) -> None:
    """Of one set, of a set twice at a step, of one row for each step."""
    for sets in (["easy"] * 2, ["easy", "hard", "easy"], ["easy"], []):
        rows = [f"{n},{one},{1 / n:.4f}" for n in range(1, 9) for one in sets or ["a" * (n % 2)]]
        (tmp_path / "eval_log.csv").write_text("step,eval_split,eval_loss\n" + "\n".join(rows))
        assert read(tmp_path / "eval_log.csv").curve("eval_loss").value[0] == 1.0
    rows = [f"{n},{one},{1 / n:.4f},{n if one == 'a' else ''}" for n in range(1, 9) for one in "ab"]
    (tmp_path / "eval_log.csv").write_text("step,test_set,loss,acc\n" + "\n".join(rows) + "\n")
    run = read(tmp_path / "eval_log.csv")
    assert sum("loss" in name for name in run.history.metrics) == 2


def test_a_list_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    """An empty file."""
    (tmp_path / "log.json").write_text("")
    assert not may_be(tmp_path / "log.json")


def test_no_number_has_no_name_of_its_own() -> None:
    """What is not a number stands in each layout of a line, and is lost in none."""
    assert _same("train_loss", "", float("nan"))
    assert not _same("train_loss", "", 0.5)
