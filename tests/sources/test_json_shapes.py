"""Shapes of JSON that own loops save, and what is no JSON: each is read as its writer meant it."""

import json
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.run import Run
from runlens.sources.loose_json import DEEPEST, LARGEST, loosely
from runlens.sources.tables import jsonl_log, whole_json
from runlens.sources.tables.json_shapes import WIDEST

LOSS = [2.5, 1.5, 1.25, 1.125, 1.0]
HELD = [2.75, 1.75, 1.5, 1.375, 1.25]
ROWS = [
    {"epoch": n, "train_loss": a, "val_loss": b}
    for n, (a, b) in enumerate(zip(LOSS, HELD, strict=True))
]
LISTS = {"train_loss": LOSS, "val_loss": HELD}


def read(path: Path, text: object, name: str = "results.json") -> list[Run]:
    """Write a file and read it, as a user who points at it."""
    (path / name).write_text(text if isinstance(text, str) else json.dumps(text))
    return runlens.read_all(path / name)


def values(run: Run, name: str = "train_loss") -> list[float]:
    """Return what a curve holds."""
    found: list[float] = run.curve(name).value.tolist()
    return found


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ({f"epoch_{n}": {"train_loss": v} for n, v in enumerate(LOSS, 1)}, [1, 2, 3, 4, 5]),
        ({f"Ep {n}": {"train_loss": v} for n, v in enumerate(LOSS)}, [0, 1, 2, 3, 4]),
        ({"train_loss": {str(n): v for n, v in enumerate(LOSS)}}, [0, 1, 2, 3, 4]),
        ({"train_loss": [[10 * n, v] for n, v in enumerate(LOSS)]}, [0, 10, 20, 30, 40]),
        ("// by train.py\n" + json.dumps(LISTS), [0, 1, 2, 3, 4]),
        (str(LISTS | {"best": None, "lucky": True}), [0, 1, 2, 3, 4]),
        ("\n".join(map(str, ROWS)), [0, 1, 2, 3, 4]),
        ("".join(json.dumps(row, indent=1) for row in ROWS), [0, 1, 2, 3, 4]),
        ("".join(f"{json.dumps(row)},\n" for row in ROWS), [0, 1, 2, 3, 4]),
        ("[" + "".join(f"{json.dumps(row)},\n" for row in ROWS) + "]", [0, 1, 2, 3, 4]),
        ("{train_loss: [2.5, 1.5, 1.25, 1.125, 1.,], /}", [0, 1, 2, 3, 4]),
    ],
)  # fmt: skip
def test_a_shape_is_read_at_its_steps(tmp_path: Path, text: object, steps: list[int]) -> None:
    """Keys that count, pairs, Python's way to write it, commas too many, rows in a row."""
    (run,) = read(tmp_path, text)
    assert values(run) == LOSS
    assert run.curve("train_loss").step.tolist() == steps


@pytest.mark.parametrize(
    ("name", "text", "metric", "steps"),
    [
        ("loss.json", [[1.7e9 + n, 10 * n, v] for n, v in enumerate(LOSS)], "train_loss", 40),
        ("run-tag-loss.json", [[1.7e9 + n, n, v] for n, v in enumerate(LOSS)], "train_loss", 4),
        ("loss.json", [[n, v] for n, v in enumerate(LOSS)], "train_loss", 4),
        ("log.json", [[n, v, 2 * v] for n, v in enumerate(LOSS)], "column 2", 4),
        ("loss.json", [[v, 2 * v] for v in LOSS], "column 1", 4),
        ("loss.json", [10 * LOSS, 10 * HELD], "train_loss", 49),
        ("loss.json", [10 * LOSS, *(3 * [10 * HELD])], "column 1", 49),
        ("loss.json", {f"ep{n}": dict(enumerate(LOSS)) for n in (1, 2)}, "loss", 9),
        ("x.json", {f"ep{n}": dict(enumerate(LOSS)) for n in (1, 2)}, "value", 9),
    ],
)  # fmt: skip
def test_numbers_without_names(
    tmp_path: Path, name: str, text: object, metric: str, steps: int
) -> None:
    """Cells of a table, the points of TensorBoard's page, a curve a list, iterations of epochs."""
    (run,) = read(tmp_path, text, name)
    known = {"loss": "train_loss"}.get(metric, metric)
    assert values(run, known)[:5] in (LOSS, [LOSS[0]] * 5)
    assert run.curve(known).step[-1] == steps


@pytest.mark.parametrize(
    "text",
    [
        [[0.5, 0.25], [0.25, 0.125]],  # a matrix
        [[1, 0.5], [2]],
        [[1, "a"], [2, "b"]],
        [[n, *[0.5] * WIDEST] for n in range(5)],
        [[0.5]] * 5,
        {"vocabulary": {"0": 5, "1": 4}},
        {"layer1": {"a": 0.5}, "layer2": {"a": 0.5}},
        {"config": [{"width": 3}]},
        {"loss": {"1": "a"}},
        {"loss": [[1, 0.5], [1, 0.25]]},
        {"loss": [[1, 0.5]]},
    ],
)
def test_what_is_no_history(text: object) -> None:
    """Matrices, counts and settings stay what they are."""
    assert whole_json.history(json.dumps(text).encode(), "points") is None


@pytest.mark.parametrize(
    "text",
    [
        {f"seed_{n}": {"loss": [v + n for v in LOSS]} for n in range(2)},
        {f"run {n}": [{"epoch": i, "loss": v + n} for i, v in enumerate(LOSS)] for n in range(2)},
        {of: {"train_loss": [v + n for v in LOSS], "val_loss": HELD}
         for n, of in enumerate(("resnet18", "vgg16"))},
        {of: {"train": [{"epoch": i, "loss": v + n} for i, v in enumerate(LOSS)],
              "Val": [{"epoch": i, "loss": v} for i, v in enumerate(HELD)]}
         for n, of in enumerate(("net_a", "net_b"))},
        {"note": {"k": 1}, "size": [3]} | {of: [{"epoch": i, "loss": v + n}
                                                for i, v in enumerate(LOSS, 1)]
                                           for n, of in enumerate(("gru", "lstm"))},
        [{"seed": n, "note": 3.5, "loss": [v + n for v in LOSS]} for n in range(2)],
        [{"fold": n, "history": {"loss": [v + n for v in LOSS], "k": 3}, "of": {"a": 1}}
         for n in range(2)],
        {"args": {"lr": 0.1}, "runs": [{"model": f"m{n}", "loss": [v + n for v in LOSS]}
                                       for n in range(2)]},
    ],
)  # fmt: skip
def test_trainings_side_by_side(tmp_path: Path, text: Any) -> None:
    """Each is a run of its own, under what its key says."""
    first, second = read(tmp_path, text)
    assert values(first) == LOSS
    assert values(second) == [v + 1 for v in LOSS]


@pytest.mark.parametrize(
    "text",
    [
        {"train": LISTS, "val": LISTS},
        {"generator_loss": LISTS, "critic_loss": LISTS},
        {"seed_0": {"loss": LOSS}, "seed_1": {"accuracy": LOSS}},
        {of: [{"epoch": i, "loss": v} for i, v in enumerate(LOSS)] for of in ("actor", "critic")},
        {
            of: [{"epoch": i + n, "loss": v} for i, v in enumerate(LOSS)]
            for of, n in (("warmup", 0), ("main", 20))
        },
        {"seed_0": {"loss": LOSS}},
        [{"epoch": 1, "loss": 0.5, "losses": LOSS}, {"epoch": 2, "loss": 0.4, "losses": LOSS}],
    ],
)
def test_parts_of_one_training(tmp_path: Path, text: Any) -> None:
    """Splits, losses of two networks, rows with a list in them."""
    assert len(read(tmp_path, text)) == 1


@pytest.mark.parametrize("text", [{"epoch": [0], "loss": [4.5]}, [{"epoch": 0, "loss": 4.5}]])
@pytest.mark.parametrize("indent", [None, 2])
def test_one_row_is_a_training_of_one_row(tmp_path: Path, text: Any, indent: int | None) -> None:
    """It is not cut off."""
    (run,) = read(tmp_path, json.dumps(text, indent=indent))
    assert values(run) == [4.5]
    assert not any("cut off" in problem.text for problem in run.problems)
    assert jsonl_log.find(tmp_path, {tmp_path: ["results.json"]})


def test_a_lone_row_is_read_where_a_user_points_at_it(tmp_path: Path) -> None:
    """In a folder it is a summary."""
    (run,) = read(tmp_path, json.dumps({"epoch": 3, "loss": 4.5}, indent=2))
    assert values(run) == [4.5]
    assert jsonl_log.find(tmp_path, {tmp_path: ["results.json"]}) == []


@pytest.mark.parametrize(
    ("text", "told", "lost"),
    [
        (json.dumps(LISTS)[:-20], "cut off", "what came after"),
        (json.dumps(LISTS) + " ?", "line 1", "its last 2 characters"),
        (str(LISTS), "line 1", ""),
    ],
)
def test_what_is_wrong_with_a_text_is_told(tmp_path: Path, text: str, told: str, lost: str) -> None:
    """And how much of it could not be read."""
    (run,) = read(tmp_path, text)
    assert values(run) == LOSS
    assert told in run.problems[0].text
    assert run.problems[0].lost == lost


@pytest.mark.parametrize(
    ("text", "value", "lost", "cut"),
    [
        (b'{"a": [1, 2, 3.5', {"a": [1, 2]}, 0, True),
        (b"{'b': None, 'c': -np.inf,}", {"b": None, "c": -float("inf")}, 0, False),
        (b'{"a":1};{"a":2}', [{"a": 1}, {"a": 2}], 0, False),
        (b"defaultdict(<class 'list'>, {'l': [tensor(0.5, device='cuda'), (1,)]})",
         {"l": [0.5, [1]]}, 0, False),
        (b'{"a": [1, 2 } ', {"a": [1, 2]}, 3, False),
        (b'{"a": 1 "b" 2, "c"', {"a": 1}, 7, False),
        (b'{"a": [{"b": 1, "c": 2', {"a": [{"b": 1}]}, 0, True),
        (b'{"a": {"b": ?', {"a": {}}, 2, False),
        (b'{"a": 1}\n{: 2}', [{"a": 1}, {}], 4, False),
        (b"{1: f(), 2: True}", {"1": None, "2": True}, 0, False),
    ],
)  # fmt: skip
def test_what_is_read_of_a_text(text: bytes, value: object, lost: int, cut: bool) -> None:
    """Up to the first that fits nowhere; what is open at the end is closed."""
    found = loosely(text)
    assert found
    assert (found.value, found.lost, found.cut) == (value, lost, cut)


def test_texts_of_which_nothing_is_read() -> None:
    """Words, what is nested without end, what is too long."""
    assert loosely(b"hello 3") is None
    assert loosely(b"[" + b" " * LARGEST) is None
    found = loosely(b"[" * (DEEPEST + 9))
    assert found
    assert found.lost


@pytest.mark.parametrize(
    "text",
    [
        {"0.1-32": LOSS, "0.1-64": [v + 1 for v in LOSS]},
        {"lr=0.1": {"32": LOSS, "64": [v + 1 for v in LOSS]}},
        {"hidden_dim=16, 0.5": LOSS, "hidden_dim=32, 0.5": [v + 1 for v in LOSS]},
        {"(1e-3, 8)": LOSS, "(1e-4, 8)": [v + 1 for v in LOSS]},
    ],
)
def test_keys_that_are_settings_are_trainings(tmp_path: Path, text: Any) -> None:
    """Where their file says what was measured."""
    first, second = read(tmp_path, text, "losses.json")
    assert values(first) == LOSS
    assert values(second) == [v + 1 for v in LOSS]


@pytest.mark.parametrize(
    "text",
    [
        {"1": LOSS, "2": HELD},  # epochs, or layers
        {"0.1": LOSS, "coarse": HELD},
        {"0.1": {"a": {"b": {"c": {"d": LOSS}}}}},
    ],
)
def test_other_keys_are_none(tmp_path: Path, text: Any) -> None:
    """They stand side by side, if they are numbers at all."""
    (tmp_path / "losses.json").write_text(json.dumps(text))
    found = whole_json.history(json.dumps(text).encode(), "losses")
    assert found is None or not found.trainings


@pytest.mark.parametrize(
    ("name", "text", "metric"),
    [
        ("train_score_log.json", [[v] for v in (3, 7, 2, 9, 12, 15)], "reward"),
        ("rewards.json", [3, 7, 2, 9, 12, 15], "reward"),
        ("loss.json", [3, 2.5, 2, 1.5, 1.25], "train_loss"),
        ("val_loss.json", [[3.5], [2.5], [2], [1.5], [1.25]], "eval_loss"),
    ],
)
def test_a_list_that_its_file_names_is_found(
    tmp_path: Path, name: str, text: Any, metric: str
) -> None:
    """In a folder as well; each number may stand in a list of its own."""
    (tmp_path / name).write_text(json.dumps(text))
    run = runlens.read(tmp_path)
    assert set(run.history.metrics) == {metric}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("losses.json", [3, 2, 1, 1, 2]),
        ("accuracy.json", [0, 1, 1, 0, 1, 1]),
        ("rewards.json", [3, 2]),
        ("rewards.json", [True, False, True, True, False]),
        ("notes.json", [[3.5], [2.5], [1.5], [1.25], [1.0]]),
    ],
)
def test_other_lists_are_none(tmp_path: Path, name: str, text: Any) -> None:
    """Labels, right or wrong, a few, and what nobody named."""
    (tmp_path / name).write_text(json.dumps(text))
    with pytest.raises(runlens.errors.NothingReadable):
        runlens.read(tmp_path)


@pytest.mark.parametrize(
    ("settings", "by", "plan"),
    [
        ({"num_rounds": 9, "local_epochs": 2}, "round", 9),
        ({"server": {"num_rounds": 9}}, "server_round", 9),
        ({"max_episodes": 9}, "episode", 9),
        ({"max_episodes": 9}, "round", None),  # of something else
        ({"num_rounds": 3}, "round", None),  # more were done
        ({"num_rounds": 9, "total_rounds": 12}, "round", None),
        ({"num_rounds": "all"}, "round", None),
        ({"eval_episodes": 9}, "episode", None),
    ],
)
def test_a_plan_in_what_the_rows_count(
    tmp_path: Path, settings: dict[str, Any], by: str, plan: int | None
) -> None:
    """Rounds of federated training, episodes: settings name them, and rows count them."""
    rows = [{by: n, "loss": loss} for n, loss in enumerate(LOSS, 1)]
    (run,) = read(tmp_path, {"config": settings, "history": rows})
    assert run.state.planned_steps == plan
