"""Curves in JSON, or as Python prints them, that nothing names but their file."""

import json
from pathlib import Path
from typing import Any

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.run import Run

LOSS = [0.91, 0.72, 0.64, 0.583, 0.51, 0.477]
HELD = [0.95, 0.81, 0.74, 0.69, 0.71, 0.66]


def mapped(values: list[float], key: str = "{}", first: int = 1) -> dict[str, float]:
    """Return numbers by the epoch that they are of."""
    return {key.format(n): value for n, value in enumerate(values, first)}


def read_in(folder: Path, **files: Any) -> Run:
    """Read a folder of JSON files."""
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return read(folder)


def curves(run: Run) -> dict[str, tuple[list[int], list[float]]]:
    """Return the steps and values of each metric."""
    found = ((name, run.curve(name)) for name in run.history.metrics)
    return {name: (curve.step.tolist(), curve.value.tolist()) for name, curve in found}


EPOCHS = [1, 2, 3, 4, 5, 6]
BOTH = {"train_loss": (EPOCHS, LOSS), "eval_loss": (EPOCHS, HELD)}


@pytest.mark.parametrize("key", ["{}", "epoch_{}", "Epoch {}", "ep{}"])
def test_a_number_by_its_epoch_is_a_curve(tmp_path: Path, key: str) -> None:
    """The file says what was measured, in a folder too, and each of two on which data."""
    assert curves(read_in(tmp_path, loss=mapped(LOSS, key))) == {"train_loss": (EPOCHS, LOSS)}
    (tmp_path / "loss.json").unlink()
    both = {"train_loss": mapped(LOSS, key), "val_loss": mapped(HELD, key)}
    assert curves(read_in(tmp_path, **both)) == BOTH


@pytest.mark.parametrize("train", ["train", "training", "train_log"])
def test_files_that_name_their_data_alone_hold_a_loss_if_it_fell(
    tmp_path: Path, train: str
) -> None:
    """A list as well, or pairs; what does not fall is not known."""
    assert curves(read_in(tmp_path, **{train: mapped(LOSS), "val": mapped(HELD)})) == BOTH
    pairs = [list(pair) for pair in zip(EPOCHS, LOSS, strict=True)]
    assert curves(read_in(tmp_path, **{train: pairs, "val": mapped(HELD)})) == BOTH
    lists = {train: LOSS, "val": HELD}
    assert {n: v for n, (_, v) in curves(read_in(tmp_path, **lists)).items()} == {
        "train_loss": LOSS,
        "eval_loss": HELD,
    }
    for path in tmp_path.iterdir():
        path.write_text(json.dumps(mapped(LOSS[::-1])))
    with pytest.raises(NothingReadable):
        read(tmp_path)


@pytest.mark.parametrize("both", [[LOSS, HELD], [mapped(LOSS), mapped(HELD)]])
def test_two_curves_one_behind_the_other(tmp_path: Path, both: list[Any]) -> None:
    """Nothing says on which data the second was measured."""
    found = curves(read_in(tmp_path, loss=both))
    assert {n: v for n, (_, v) in found.items()} == {"train_loss": LOSS, "loss (2)": HELD}


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("left_over", [[], ["12.5"], ["12.5", "a"]])
def test_rows_that_follow_one_another_in_a_list_of_texts(
    tmp_path: Path, copies: int, left_over: list[str]
) -> None:
    """What rises by the same each time counts them; the list may stand there again and again."""
    rows = [["1 ", f"{20 * n + 19}", f"{3 / (n + 1):.3f}", "0.25"] for n in range(12)]
    cells = left_over + [cell for row in rows for cell in row]
    (tmp_path / "losses.json").write_text(json.dumps([cells] * copies if copies > 1 else cells))
    if "a" in left_over:
        with pytest.raises(NothingReadable):
            read(tmp_path / "losses.json")
        return
    curve = read(tmp_path / "losses.json").curve("column 3")
    assert curve.step.tolist() == list(range(19, 259, 20))
    assert curve.value.tolist() == [round(3 / (n + 1), 3) for n in range(12)]


@pytest.mark.parametrize("name", ["runs.jsonl", "history.json", "history.txt"])
@pytest.mark.parametrize("said", [{}, {"RUN": 0}])
def test_histories_one_behind_the_other_are_trainings(
    tmp_path: Path, name: str, said: dict[str, int]
) -> None:
    """Each time that a program ran it added one; those of one name are numbered."""
    some = [{"train_loss": [n + 0.5, *LOSS], "val_loss": [1.5, *HELD]} | said for n in range(3)]
    (tmp_path / name).write_text("\n".join(map(json.dumps, some)) + "\n")
    runs = read_all(tmp_path / name)
    assert [run.curve("train_loss").value[0] for run in runs] == [0.5, 1.5, 2.5]
    assert len({run.name for run in runs}) == 3


def test_lists_of_settings_beside_a_history_are_none_of_it(tmp_path: Path) -> None:
    """The layers of a model, the years of its data: shorter ones that would divide the epochs."""
    config = {"model": {"hidden": [64, 128]}, "data": {"train_years": [2015, 2018, 2020]}}
    run = read_in(tmp_path, log={"config": config, "history": {"loss": LOSS, "val_loss": HELD}})
    assert {name: values for name, (_, values) in curves(run).items()} == {
        "train_loss": LOSS,
        "eval_loss": HELD,
    }
    assert not any(problem.lost for problem in run.problems)
    mine = {"loss": LOSS, "every_third": [0.5, 0.25]}
    run = read_in(tmp_path, log={"history": mine, "eval": {"val_loss": HELD[::2]}})
    assert curves(run)["history/every_third"][0] == [2, 5]
    assert curves(run)["eval_loss"][0] == [1, 3, 5]


def test_rows_with_lists_are_no_trainings(tmp_path: Path) -> None:
    """They count their epochs, or hold one curve alone."""
    some = [{"epoch": n, "train_loss": LOSS, "val_loss": HELD} for n in range(3)]
    for rows in (some, [{"scores": LOSS}] * 3):
        (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
        with pytest.raises(NothingReadable):
            read_all(tmp_path / "log.jsonl")


@pytest.mark.parametrize(
    "rows",
    [
        [[0.5, 0.4], [0.3, 0.2], [0.1, 0.05]],  # an epoch each
        [LOSS, HELD[:-1]],  # of other lengths
        [LOSS] * 4,  # more are a table
        [[1, 2, 3, 4, 5, 6], [3, 1, 4, 1, 5, 9]],
        [{"layer": 0.5, "bias": 0.4}] * 2,
        {"1": 0.5, "bias": 0.4},
        {"1": "high", "2": "low"},
    ],
)
def test_what_is_no_curve(tmp_path: Path, rows: Any) -> None:
    """Rows of a table, of other lengths, whole numbers, other keys."""
    (tmp_path / "loss.json").write_text(json.dumps(rows))
    try:
        run = read_all(tmp_path / "loss.json")[0]
    except NothingReadable:
        return
    assert "loss (2)" not in run.history.metrics


def test_scores_by_their_epoch(tmp_path: Path) -> None:
    """Each under its name, whole numbers too; epochs that are named so are the epochs done."""
    scores = {"loss": mapped(LOSS, "epoch {}"), "acc": mapped([10, 20, 40, 50, 55, 60], "epoch {}")}
    (tmp_path / "metrics.json").write_text(json.dumps(scores))
    run = read(tmp_path / "metrics.json")
    assert run.history.metrics == ("train_accuracy", "train_loss")
    assert run.state.done_epochs == 6


PRINTED = [
    str(dict(enumerate(LOSS, 1))),
    json.dumps(mapped(LOSS), indent=1),
    str(list(enumerate(LOSS, 1))),
    f"tensor({LOSS}, device='cuda:0')\n",
    str([{"epoch": n, "loss": v, "name": "a"} for n, v in enumerate(LOSS, 1)]),
]


@pytest.mark.parametrize("text", PRINTED)
def test_what_python_prints_is_read_as_json_is(tmp_path: Path, text: str) -> None:
    """In a text of the same name, as one value."""
    (tmp_path / "loss.txt").write_text(text)
    run = read(tmp_path / "loss.txt")
    assert run.curve("train_loss").value.tolist() == LOSS


def test_both_data_in_a_text(tmp_path: Path) -> None:
    """A dict or lists that name their data alone; a column each where nobody named them."""
    (tmp_path / "losses.txt").write_text(str({"train": LOSS, "val": HELD}))
    found = {n: v for n, (_, v) in curves(read(tmp_path / "losses.txt")).items()}
    assert found == {"train_loss": LOSS, "eval_loss": HELD}
    (tmp_path / "losses.txt").write_text(f"train: {LOSS}\nval: {HELD}\n")
    found = {n: v for n, (_, v) in curves(read(tmp_path / "losses.txt")).items()}
    assert found == {"train_loss": LOSS, "eval_loss": HELD}
    (tmp_path / "losses.txt").write_text(str(list(zip(LOSS, HELD, strict=True))))
    found = {n: v for n, (_, v) in curves(read(tmp_path / "losses.txt")).items()}
    assert found == {"column 1": LOSS, "column 2": HELD}


@pytest.mark.parametrize("text", [f"{{'a': {LOSS}, 'b': {HELD}}}\n", "[{'epoch': 1, 'loss': 2.5}]"])
def test_other_texts_are_no_single_value(tmp_path: Path, text: str) -> None:
    """Unknown names say nothing; one row is no history."""
    (tmp_path / "out.txt").write_text(text)
    assert all(
        len(r.curve(n)) < 2 for r in read_all(tmp_path / "out.txt") for n in r.history.metrics
    )


LINES = [f"Epoch {n}/6\tloss {v}\tacc 0.{n}\n" for n, v in enumerate(LOSS, 1)]


@pytest.mark.parametrize("name", ["log.json", "out.txt"])
@pytest.mark.parametrize("text", [json.dumps(LINES), json.dumps(LINES, indent=1), str(LINES)])
def test_a_log_that_was_saved_as_a_list_of_its_lines(tmp_path: Path, name: str, text: str) -> None:
    """By JSON or by Python; of one that was cut the lines before that are read."""
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name).curve("train_loss").value.tolist() == LOSS
    (tmp_path / name).write_text(text[:-12])
    assert read(tmp_path / name).curve("train_loss").value.tolist() == LOSS[:-1]


def test_a_dict_of_settings_above_one_of_numbers_is_no_row(tmp_path: Path) -> None:
    """Each stands in a line of its own, and is read as one."""
    rows = [{"lr": 0.1, "epochs": 9, "net": "a"}, {"epoch": 1, "n": 7, "loss": "0.5"}]
    (tmp_path / "train.txt").write_text("\n".join(map(json.dumps, rows)))
    assert read(tmp_path / "train.txt").curve("train_loss").value.tolist() == [0.5]


@pytest.mark.parametrize("text", ['["dog", "cat"]', '["dog 1"]', '["dog 1", 2]', "['a b' 'c"])
def test_lists_of_other_texts_are_no_log(tmp_path: Path, text: str) -> None:
    """Names, one text, texts and numbers."""
    (tmp_path / "out.txt").write_text(text)
    assert not read(tmp_path / "out.txt").history.metrics


def test_a_table_whose_columns_nobody_named_in_a_file_that_says_what_it_is(tmp_path: Path) -> None:
    """A column of each network, all called the same."""
    rows = "".join(f"unit {n},0.69{n},0.68{n},0.70{n}\n" for n in range(5))
    (tmp_path / "losses.csv").write_text(f"0,Values,Values,Values\n{rows}")
    run = read(tmp_path / "losses.csv")
    assert run.curve("Values (2)").value.tolist() == [0.68, 0.681, 0.682, 0.683, 0.684]


def test_a_trainer_state_of_another_program(tmp_path: Path) -> None:
    """It has no log as that of the Trainer has, but a curve of its own."""
    history = [{"t": 10.5 + n, "ok": True, "loss": v} for n, v in enumerate(LOSS)]
    state = {"steps": 33, "last_loss": LOSS[-1], "history": history}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    assert read(tmp_path / "trainer_state.json").curve("train_loss").value.tolist() == LOSS


@pytest.mark.parametrize(
    ("name", "header", "metric"),
    [
        ("learning_curve.csv", "step,value,run", "learning_curve"),
        ("training_results.csv", "Generation,Best Fitness,Average Fitness", "Best Fitness"),
    ],
)
def test_tables_of_agents(tmp_path: Path, name: str, header: str, metric: str) -> None:
    """Steps and values of nobody says what; what evolves has a fitness."""
    rows = "".join(f"{n},{n / 8},{'a' if 'run' in header else n / 9}\n" for n in range(1, 9))
    (tmp_path / name).write_text(f"{header}\n{rows}")
    curve = read(tmp_path / name).curve(metric)
    assert curve.value.tolist() == [n / 8 for n in range(1, 9)]
    assert curve.step.tolist() == list(range(1, 9))


def test_curves_under_names_that_say_nothing(tmp_path: Path) -> None:
    """They are what the file is called after: a reward for each of some videos, parts of a loss."""
    run = read_in(tmp_path, rewards={"video_1": LOSS, "video_2": HELD})
    assert curves(run) == {
        f"reward:video_{n}": ([0, 1, 2, 3, 4, 5], some) for n, some in ((1, LOSS), (2, HELD))
    }
    (tmp_path / "rewards.json").unlink()
    run = read_in(tmp_path, losses={"generator": LOSS, "discriminator": HELD})
    assert run.curve("g_loss").value.tolist() == LOSS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", {"video_1": LOSS, "video_2": HELD}),  # of classes, it may be
        ("rewards", {"video_1": LOSS, "video_2": HELD[:5]}),
        ("rewards", {"video_1": LOSS}),
        ("rewards", {"video_1": LOSS, "score": HELD}),
        ("rewards", {"step": [1, 2, 3, 4, 5, 6], "video_1": LOSS}),
        ("rewards", {"video_1": LOSS, "video_2": [1, 2, 3, 4, 5, 6]}),
        ("rewards", {"lr=0.1": LOSS, "lr=0.2": HELD}),
        ("rewards", {"seed_1": LOSS, "seed_2": HELD}),
    ],
)
def test_names_that_say_something_stay(tmp_path: Path, name: str, value: Any) -> None:
    """And those of lists that are not alike."""
    (tmp_path / f"{name}.json").write_text(json.dumps(value))
    runs = read_all(tmp_path / f"{name}.json")
    assert not any(metric.startswith("reward:") for run in runs for metric in run.history.metrics)
