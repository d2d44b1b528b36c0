"""Model cards: often the only history that is left."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens import read
from runlens.sources.configs import model_card
from runlens.sources.files import walk

TABLE = """### Training results

| Training Loss | Epoch  | Step | Validation Loss | Rewards/chosen |
|:-------------:|:------:|:----:|:---------------:|:--------------:|
| No log        | 0.0036 | 1    | 8.5107          | 0.1            |
| No log        | 0.5    | 140  | 0.0055          | 0.2            |
| 0.1301        | 1.0    | 560  | 0.1246          | 0.3            |
| 0.1301        | 1.5    | 840  | 0.1465          | -              |
| 0.0           | 2.0    | 1050 | 0.1134          | 0.5            |

### Framework versions

- PEFT 0.15.2
"""
LISTED = """### Training hyperparameters

The following hyperparameters were used during training:
- learning_rate: 0.0001
- train_batch_size: 8
- num_devices: 3
- optimizer: Use OptimizerNames.ADAMW_BNB with betas=(0.9,0.999) and epsilon=1e-08 and no more
- lr_scheduler_type: cosine
- lr_scheduler_warmup_steps: 10
- num_epochs: 2.0
- mixed_precision_training: Native AMP

"""
AXOLOTL = """<details><summary>See axolotl config</summary>

axolotl version: `0.9.1`
```yaml
base_model: x/y
micro_batch_size: 8
sequence_len: 4096
logging_steps: 500
```

</details><br>

"""


def card(folder: Path, *parts: str) -> Path:
    """Write a card."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "README.md"
    path.write_text("---\nbase_model: x/y\ntags:\n- trl\n---\n\n# A model\n\n" + "".join(parts))
    return path


def test_table_of_results_is_a_history(tmp_path: Path) -> None:
    """Evaluations at their steps, the one before the training too; "No log" is not logged."""
    card(tmp_path, AXOLOTL, LISTED, TABLE)
    run = read(tmp_path)
    assert run.curve("eval_loss").step.tolist() == [1, 140, 560, 840, 1050]
    assert run.curve("eval_loss").value.tolist() == [8.5107, 0.0055, 0.1246, 0.1465, 0.1134]
    assert run.curve("eval_loss").epoch[-1] == 2.0
    assert run.curve("eval_dpo_chosen").step.tolist() == [1, 140, 560, 1050]
    assert run.framework == "axolotl"
    assert not run.problems


def test_repeated_training_loss_is_one_point_where_it_was_logged(tmp_path: Path) -> None:
    """Each 500 steps, as axolotl's settings in the card say."""
    loss = model_card.read(card(tmp_path, AXOLOTL, TABLE)).series["loss"]
    assert loss.step.tolist() == [500, 1000]
    assert loss.value.tolist() == [0.1301, 0.0]
    assert loss.epoch.tolist() == pytest.approx([500 / 560, 2 * 1000 / 1050])


@pytest.mark.parametrize("settings", ["", LISTED, AXOLOTL.replace("500", "1e9")])
def test_without_the_interval_it_stands_at_the_first_row_that_has_it(
    settings: str, tmp_path: Path
) -> None:
    """The card of the Trainer does not say how often it logged."""
    loss = model_card.read(card(tmp_path, settings, TABLE)).series["loss"]
    assert loss.step.tolist() == [560, 1050]


def test_interval_that_does_not_fit_is_not_believed(tmp_path: Path) -> None:
    """Two values cannot have been logged at one step."""
    text = AXOLOTL.replace("500", "1050") + TABLE.replace("| 840 ", "| 1050 ")
    loss = model_card.read(card(tmp_path, text)).series["loss"]
    assert loss.value.tolist() == [0.1301, 0.0]


def test_settings_come_from_the_yaml_before_the_list(tmp_path: Path) -> None:
    """Under their canonical keys, with the card as their origin."""
    card(tmp_path, AXOLOTL, LISTED, TABLE)
    config = read(tmp_path).config
    known = {key: config[key].value for key in (
        "model_name", "per_device_train_batch_size", "max_length", "logging_steps",
        "learning_rate", "num_processes", "optim", "adam_beta2", "adam_epsilon",
        "lr_scheduler_type", "warmup_steps", "num_train_epochs",
    )}  # fmt: skip
    assert known == {
        "model_name": "x/y", "per_device_train_batch_size": 8, "max_length": 4096,
        "logging_steps": 500, "learning_rate": 0.0001, "num_processes": 3, "optim": "adamw_bnb",
        "adam_beta2": 0.999, "adam_epsilon": 1e-8, "lr_scheduler_type": "cosine",
        "warmup_steps": 10, "num_train_epochs": 2,
    }  # fmt: skip
    assert {config[key].origin for key in known} == {"README.md"}


def test_card_beside_a_state_adds_no_points(tmp_path: Path) -> None:
    """Its rows are those of the state, with fewer digits and at steps that are not sure."""
    card(tmp_path, LISTED, TABLE)
    rows = [(1, 8.51071), (140, 0.00551), (560, 0.12461), (840, 0.14651), (1050, 0.11341)]
    log = [{"step": step, "epoch": step / 560, "eval_loss": loss} for step, loss in rows]
    log += [{"step": step, "epoch": step / 560, "loss": 0.1301} for step in (500, 1000)]
    (tmp_path / "trainer_state.json").write_text(
        f'{{"log_history": {log}, "global_step": 1050}}'.replace("'", '"')
    )
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == [500, 1000]
    assert run.curve("eval_loss").value.tolist() == [loss for _, loss in rows]
    assert not run.problems


def test_other_tables_of_cards(tmp_path: Path) -> None:
    """Keras names no step, Sentence Transformers marks the best row; scores are no history."""
    keras = "| Train Loss | Train Accuracy | Validation Loss | Epoch |\n|:---:|:---:|:---:|:---:|\n"
    keras += "| 1.5 | 0.25 | 1.25 | 0 |\n| 1.0 | 0.5 | 1.125 | 1 |\n"
    scores = "| Metric | Value |\n|---|---|\n| loss | 0.5 |\n\n"
    series = model_card.read(card(tmp_path, scores, keras)).series
    assert series["loss"].step.tolist() == [0, 1]
    assert series["train_accuracy"].value.tolist() == [0.25, 0.5]
    assert series["eval_loss"].value.tolist() == [1.25, 1.125]
    bold = "| Epoch | Step | Training Loss |\n|---|---|---|\n| **1.0** | **1,000** | **0.5** |\n"
    assert model_card.read(card(tmp_path, bold)).series["loss"].step.tolist() == [1000]


def test_which_readmes_are_cards(tmp_path: Path) -> None:
    """Not those of a project, and not those of checkpoints beside that of the run."""
    card(tmp_path / "project", "Train it with `make`.\n")
    card(tmp_path / "run", LISTED)
    card(tmp_path / "run" / "checkpoint-5", LISTED)
    assert model_card.find(tmp_path, walk(tmp_path)) == [tmp_path / "run" / "README.md"]
    only = tmp_path / "run" / "checkpoint-5"
    assert model_card.find(only, walk(only)) == [only / "README.md"]


@pytest.mark.parametrize(
    "block",
    ["[" * 100_000, "a: &a [x]\nb: [" + "*a, " * 6_000 + "]", "a: [", "{a: " * 100_000],
)
def test_bad_yaml_in_a_card_costs_the_yaml_alone(block: str, tmp_path: Path) -> None:
    """The table below it is read."""
    text = AXOLOTL.replace("base_model: x/y\n", f"{block}\n")
    reading = model_card.read(card(tmp_path, text, LISTED, TABLE))
    assert [problem.lost for problem in reading.problems] == ["a block of settings"]
    assert len(reading.series["eval_loss"].step) == 5
    assert reading.config["num_epochs"] == 2.0


def test_card_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """And is not taken for one in a directory."""
    (tmp_path / "README.md").write_text("")
    assert model_card.find(tmp_path, walk(tmp_path)) == []
    (problem,) = model_card.read(tmp_path / "README.md").problems
    assert problem.text == "is empty (0 bytes)"


def test_head_and_yaml_that_say_nothing_are_passed_over(tmp_path: Path) -> None:
    """A broken head, a block of code that is no configuration, an empty table of results."""
    empty = "| Training Loss | Epoch | Step |\n|---|---|---|\n| No log | - | - |\n\n"
    text = f"---\ntags: [\n---\n\n```yaml\nfoo: 1\n```\n\n{AXOLOTL}{empty}{TABLE}"
    (tmp_path / "README.md").write_text(text)
    reading = model_card.read(tmp_path / "README.md")
    assert reading.config["micro_batch_size"] == 8
    assert len(reading.series["eval_loss"].step) == 5
    assert not reading.problems
    (tmp_path / "README.md").write_text(f"---\ntags: x\nbase_model: [a/b]\n---\n{LISTED}")
    reading = model_card.read(tmp_path / "README.md")
    assert (reading.config["base_model"], reading.series) == ("a/b", {})


@pytest.mark.parametrize("row", ["| x | y | z |", "|", "||||||", "| 1 | 2 | -5 | 3 |", "| 1e400 |"])
def test_rows_that_are_none_are_left_out(row: str, tmp_path: Path) -> None:
    """A table in a text may be anything."""
    text = TABLE.replace(
        "| 0.0           | 2.0    | 1050 | 0.1134          | 0.5            |", row
    )
    reading = model_card.read(card(tmp_path, text))
    assert reading.series["eval_loss"].step.tolist() == [1, 140, 560, 840]


@pytest.mark.parametrize("line", ["```yaml", "---", "|", "| a ", "- a: b", "|-|"])
def test_long_cards_cost_little(line: str, tmp_path: Path) -> None:
    """A megabyte of the beginnings of what is looked for."""
    text = (line + "\n") * (2**20 // len(line)) if line != "| a " else line * 2**18
    began = time.process_time()
    model_card.read(card(tmp_path, AXOLOTL, LISTED, text))
    assert time.process_time() - began < 3.0


@given(st.text(alphabet="|-: 1.5eNLogSTepEpochLoss\n`ya{}[]*", max_size=300))
def test_no_content_raises(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever the table holds, the reader ends with a reading."""
    reading = model_card.read(card(tmp_path_factory.mktemp("any"), AXOLOTL, LISTED, TABLE, text))
    assert len(reading.series["eval_loss"].step) >= 5


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("| 0.5 | 2.0 | 80 | 0.12", True),
        ("| 0.5 | 2.0 | 80 | 0.125 |", False),
        ("\nThe following hyperparameters were used during training:\n- seed: 4", True),
        ("\nThis model is", False),
    ],
)
def test_a_number_at_which_a_card_breaks_off_is_left_out(
    end: str, told: bool, tmp_path: Path
) -> None:
    """0.12 may be the half of 0.125; a last line that is whole, or holds no number, is none."""
    rows = "| Training Loss | Epoch | Step | Validation Loss |\n|:-:|:-:|:-:|:-:|\n"
    path = card(tmp_path, f"{rows}| 0.7 | 1.0 | 40 | 0.25 |\n{end}")
    reading = model_card.read(path)
    whole = [0.25, 0.125] if end.endswith("0.125 |") else [0.25]
    assert reading.series["eval_loss"].value.tolist() == whole
    assert "seed" not in reading.config
    assert [problem.lost for problem in reading.problems] == ["the last line"] * told
