"""Settings that a log prints as the text of an optimizer, or of a model of scikit-learn."""

import pytest

from runlens.sources.console.printed_settings import settings
from runlens.sources.console.settings_called import called

MLP = [
    "MLPClassifier(activation='relu', alpha=0.0001, batch_size='auto', beta_1=0.9,",
    "              hidden_layer_sizes=(100,), learning_rate='constant',",
    "              learning_rate_init=0.5, max_iter=200, solver='sgd')",
]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("optimizer = Adam(learning_rate=0.001)", {"learning_rate": 0.001, "optimizer": "Adam"}),
        (
            "model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.5), loss='mse')",
            {"learning_rate": 0.5, "optimizer": "SGD"},
        ),
        (
            "optimizer: AdamW(lr=0.002, momentum=0.9) with parameter groups 57 weight(decay=0.0)",
            {"lr": 0.002, "momentum": 0.9, "optimizer": "AdamW"},
        ),
        (
            "clf: MLPClassifier(learning_rate_init=0.5, max_iter=60, hidden_layer_sizes=(9,))",
            {"learning_rate_init": 0.5, "max_iter": 60},
        ),
    ],
)
def test_an_optimizer_says_its_settings(line: str, said: dict[str, object]) -> None:
    """Numbers, words and truth values; what stands behind it is none of it."""
    assert settings(["Namespace()", line, "Iteration 1, loss = 0.5"]) == said


def test_a_model_goes_on_over_lines() -> None:
    """Its rate has two names, of which one is that of a schedule."""
    found = called(["started", *MLP, "Iteration 1, loss = 0.5"])
    assert (found["learning_rate_init"], found["lr_schedule"]) == (0.5, "constant")
    assert "learning_rate" not in found


@pytest.mark.parametrize(
    ("heads", "optimizer"),
    [
        (["Adam ("], "Adam"),
        (["optimizer: SGD ("], "SGD"),
        (["Adam (", "SGD ("], None),
        (["To ("], None),
    ],
)
def test_pytorch_prints_an_optimizer_above_its_groups(
    heads: list[str], optimizer: str | None
) -> None:
    """Two of them are of two networks."""
    lines = [line for head in heads for line in (head, "Parameter Group 0", "    lr: 0.005", ")")]
    assert called(lines).get("optimizer") == optimizer


@pytest.mark.parametrize(
    "lines",
    [
        ["use Adam(learning_rate=...) instead"],
        ["  opt = SGD(lr=args.lr)"],  # a line of code
        ["use SGD(lr=0.1"],  # without an end
        ["SGD(lr=0.1, lr=)"],
        ["SGD(foo=0.1)"],
        ["MyAdam(lr=0.1)"],
        ["SGD(lr=0.1)", "SGD(lr=0.2)"],  # of two trials
        ["SGD(lr=0.1)" + " " * 500],
    ],
)
def test_other_calls_say_none(lines: list[str]) -> None:
    """Code, advice, what is broken off, and what changes from one to the next."""
    assert called(lines) == {}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["Hyperparameters:", "  Learning rate: 0.1", "  Batch size: 32"],
            {"Learning rate": 0.1, "Batch size": 32},
        ),
        (
            ["=== Training configuration ===", "• lr: 0.1", "• batch size: 32"],
            {"lr": 0.1, "batch size": 32},
        ),
        (
            ["- learning rate: 0.1", "- batch size: 32", "- epochs: 20", "- optimizer: Adam"],
            {"learning rate": 0.1, "batch size": 32, "epochs": 20, "optimizer": "Adam"},
        ),
        (
            ["学习率: 0.1", "批大小: 32", "轮数: 20", "优化器: Adam"],
            {"lr": 0.1, "batch size": 32, "num_train_epochs": 20, "optimizer": "Adam"},
        ),
        (
            ["Paramètres", "Taux d'apprentissage : 0.1", "Taille de lot : 32",
             "Nombre d'époques : 20", "Optimiseur : Adam"],
            {"Taux apprentissage": 0.1, "Taille lot": 32, "Nombre epoques": 20,
             "Optimiseur": "Adam"},
        ),
        (["скорость обучения: 0.1, размер батча: 32"], {"lr": 0.1, "batch size": 32}),
        (["tasa de aprendizaje: 0.1, tamaño de lote: 32, modelo: 'red'"],
         {"tasa aprendizaje": 0.1, "tamano lote": 32}),
        (["Learning rate = 0.1, momentum=0.5"], {"Learning rate": 0.1, "momentum": 0.5}),
    ],
)  # fmt: skip
def test_a_list_of_settings(lines: list[str], said: dict[str, object]) -> None:
    """Two below a title, with bullets or in another language; others need four."""
    assert settings(lines) == said


@pytest.mark.parametrize(
    "lines",
    [
        ["Results:", "  Learning rate: 0.1", "  Batch size: 32"],  # of what was tried
        ["Hyperparameters:", "  Learning rate: 0.1", "  Best loss: 0.25"],
        ["Hyperparameters:", "  Learning rate: 0.1"],  # one alone
        ["- learning rate: 0.1", "- batch size: 32"],
    ],
)
def test_lists_that_are_none(lines: list[str]) -> None:
    """Under another title, with what was measured, or too few."""
    assert settings(lines) == {}


def test_names_of_settings_abroad() -> None:
    """What Marian calls its own, too."""
    lines = [
        f"[2024-01-01 12:00:00] [config] {said}"
        for said in ("after-epochs: 5", "learn-rate: 0.0003", "mini-batch: 64", "optimizer: adam")
    ]
    assert settings(lines)["after-epochs"] == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "trainable params: 18,882,560 || all params: 8,607,498,496 || trainable%: 0.2194",
            {"trainable_parameters": 18_882_560, "all_parameters": 8_607_498_496},
        ),
        ("[peft] all params: 4,978", {}),
        ("n_train=5000  drop_last=True  ->  1 batches per epoch", {"steps_per_epoch": 1}),
        ("INFO: 39 steps per epoch", {"steps_per_epoch": 39}),
        ("speed: 1.5 s, 39 steps per epoch", {}),
        ("[2]: save every epoch", {}),
    ],
)
def test_counts_in_words(line: str, said: dict[str, int]) -> None:
    """How many parameters are trained, and how many batches an epoch has."""
    assert settings([line]) == said


@pytest.mark.parametrize(
    "line",
    [
        "--seed 0 --lr 0.1 --bs 64",
        "grpo_toy.py --lr 0.1 --bs 64",
        "argv: ['a.py', '--lr', '0.1', '--bs', '64']",
        "sys.argv = ['a.py', '--lr=0.1', '--bs=64', '--amp']",
    ],
)
def test_options_of_a_call_are_settings(line: str) -> None:
    """With the script before them or without, and as a list."""
    found = settings([line])
    assert (found["lr"], found["bs"]) == (0.1, 64)


@pytest.mark.parametrize(
    "line",
    [
        "--- epoch 3 --- loss 0.5",
        "-- lr 0.1 -- bs 64",
        "train.py:12 -- loss 0.5",
        "--lr is deprecated, use --learning-rate",
        "argv: [oops",
        "argv: 3",
    ],
)
def test_dashes_and_advice_are_no_options(line: str) -> None:
    """Rules between parts of a log, and a warning of an option."""
    assert settings([line]) == {}
