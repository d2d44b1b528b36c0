"""Settings that stand beside each other in a line of a log, or as Python."""

from pathlib import Path

import pytest

from runlens.sources.console.printed_settings import settings
from runlens.sources.console.settings_in_line import beside_each_other, in_python
from tests.sources.test_console_lines import reading


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "2026-03-11 09:14:02,118 INFO lm: args peak_lr=0.15 warmup_steps=120 ctx=32",
            {"peak_lr": 0.15, "warmup_steps": 120, "ctx": 32},
        ),
        ("cfg: lr=5e-2, bs=8, net='a b', sizes=(3, 4)", {"lr": 0.05, "bs": 8, "net": "a b"}),
        ("##### seed=2 #####", {"seed": 2}),
        ("--- lr: 3e-3 ---", {"lr": 0.003}),
        ("=== Seed 4 ===", {"Seed": 4}),
        ("// opt: sgd lr 0.05 wd 0.5 bs 32", {"lr": 0.05, "wd": 0.5, "bs": 32}),
        ("train rows 80   dropout 0   weight_decay 0", {"train rows": 80, "weight_decay": 0}),
        ("Learning Rate: 3, Momentum: 0.9, Decay: 0.0005", {"Learning Rate": 3}),
        ("Adam(lr=0.001, weight_decay=0)", {"lr": 0.001, "weight_decay": 0}),
        (
            "cfg: env=grid gamma=0.9 lr=1e-3 batch=32 eps 1.0->0.05",
            {"lr": 0.001, "eps_start": 1.0, "eps_end": 0.05},
        ),
        ("# beta=0.0 lr=5e-3 group=8 (not divided by length)", {"beta": 0.0, "lr": 0.005}),
        ("cell=RNN(relu) opt=sgd lr=0.03 clip=None batch=50", {"cell": "RNN(relu)", "lr": 0.03}),
        ("n_mels=64 bs=40 adam lr=0.001 ep=16", {"optimizer": "adam", "lr": 0.001, "bs": 40}),
        ("[config] bs=8 classes=7 lr=1e-3 head=new  params total=49", {"lr": 0.001, "bs": 8}),
        ("users 200 items 150 | k=2 lr=0.002 reg=2e-4", {"k": 2, "lr": 0.002, "reg": 2e-4}),
        ("vocab 28 lr 1.0 clip 1.0", {"vocab": 28, "lr": 1.0, "clip": 1.0}),
        ("vocab 94 params 1152 lr 0.004 steps 1200", {"vocab": 94, "lr": 0.004, "steps": 1200}),
        ("Args: station=Bergen seq_len=48 train_epochs=10", {"train_epochs": 10}),
    ],
)
def test_settings_of_a_line_are_read(line: str, said: dict[str, object]) -> None:
    """In the signs that programs use: an equals sign, a colon, nothing."""
    found = beside_each_other([line])

    assert {name: found.get(name) for name in said} == said


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 3 lr=0.1 batch=32 loss=0.4",  # a row: it measures
        "step=3 lr=0.1 batch=32",  # a row: it counts
        "Training with a learning rate of 0.01 and batch size 32",
        "saved lr=0.1 batch=32 to model.pt",  # something stands behind them
        "lr=0.1 lr=0.2 batch=3",  # of two groups
        "bs 32 lr 0.1",  # two words and two numbers may be anything
        "a=1 b=2 c=3",
        "=== epoch 4 ===",  # a counter
        "--- loss: 0.4 ---",  # measured
        "--- seed 4 was best ---",
        "# seed=2",  # may be a remark beside a row
        "suggested lr=0.003 steep=0.1 valley=0.2",  # proposed, not taken
        "Reducing it: lr=0.003 wait=2 factor=0.1",
        "lr=0.003 factor=0.1",  # what a schedule says of it
        "vocab 94 params 1152 steps 1200",  # counts, of which none is a setting
        "best trial: lr=0.003 width=8 depth=3",
    ],
)
def test_other_lines_say_no_settings(line: str) -> None:
    """Rows, sentences, and lines of which no setting is known."""
    assert beside_each_other([line]) == {}


def test_lines_that_change_are_rows() -> None:
    """A rate that falls from line to line is a curve, and one of a search is of one trial."""
    rows = [f"lr={1 / n} batch=32" for n in range(1, 5)]

    assert beside_each_other([*rows, "cfg lr=0.1 batch=32 wd=0"])["lr"] == 0.1
    assert beside_each_other(rows) == {}


def test_a_configuration_in_python_is_read() -> None:
    """As mmcv prints its own: nothing of it is run."""
    lines = [
        "model = dict(",
        "    type='RetinaNet',",
        "    norm=BN, scales=[1, 2],",
        "    heads=[dict(out=3), dict(out=4)])",
        "optimizer = dict(type='SGD', lr=0.02)",
        "optimizer_config = dict(grad_clip=dict(max_norm=0.02, norm_type=2))",
    ]

    found = settings(lines)

    assert found["model.type"] == "RetinaNet"
    assert found["model.norm"] is None
    assert found["model.heads.1.out"] == 4
    assert found["optimizer.lr"] == 0.02
    assert found["optimizer_config.grad_clip.max_norm"] == 0.02


@pytest.mark.parametrize("lines", [["a = dict(b=1,"], ["a = dict(b=1))"], ["a = dicts(b=1)"]])
def test_what_is_no_dict_is_left(lines: list[str]) -> None:
    """Broken off, misprinted, something else."""
    assert in_python(lines, 0) is None


def test_a_log_says_what_it_was_started_with(tmp_path: Path) -> None:
    """And its rows are read as before."""
    rows = [f"step {n * 5} | loss {4 - n / 20:.4f} | lr {n / 1000:.3e}" for n in range(1, 30)]

    found = reading(tmp_path, "args peak_lr=0.15 warmup_steps=120 batch=16", *rows)

    assert found.config["peak_lr"] == 0.15
    assert len(found.series["loss"].value) == 29


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("episodes per batch = 8, gamma = 0.99, step size = 0.3, no baseline", "step size", 0.3),
        ("INFO  beta=0.05 lr=0.01 pairs=1500 loss=sigmoid ref=frozen sft", "lr", 0.01),
    ],
)
def test_words_beside_settings(line: str, name: str, value: float) -> None:
    """A switch that has no value, and a last word of a value of two."""
    assert beside_each_other([line])[name] == value


@pytest.mark.parametrize(
    "line",
    [
        "with lr=0.1 and batch=32 we saw no change at all",
        "lr=0.1 batch=32 done",  # two settings beside a word are a sentence
        "lr=0.1 batch=32 wd=0.1 loss=0.52",  # measured
    ],
)
def test_sentences_and_rows_beside_settings(line: str) -> None:
    """No setting is taken from them."""
    assert beside_each_other([line]) == {}
