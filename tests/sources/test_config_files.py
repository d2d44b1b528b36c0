"""Settings that lie beside a run."""

import json
from pathlib import Path

import pytest

from runlens.sources import config_files
from runlens.sources.files import walk

AXOLOTL = "base_model: x/y\nmicro_batch_size: 2\nsequence_len: 512\nlearning_rate: 2e-4\n"


def found(place: Path) -> list[str]:
    """Return the names of the configuration files at a place."""
    paths = config_files.find(place, walk(place))
    return [str(path.relative_to(place)) for path in paths]


def write(place: Path, *names: str) -> None:
    """Write empty settings."""
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("{}")


def test_checkpoints_speak_only_where_the_run_is_silent(tmp_path: Path) -> None:
    """The last checkpoint of them; a tracker's own copies are left to its reader."""
    write(
        tmp_path,
        "config.json",
        "checkpoint-9/config.json",
        "checkpoint-8/adapter_config.json",
        "checkpoint-9/adapter_config.json",
        "wandb/run-1/files/config.yaml",
        "wandb/run-1/logs/config.yaml",
        "other.json",
        "training_args.bin",
    )
    assert found(tmp_path) == ["config.json", "checkpoint-9/adapter_config.json"]


def test_a_readme_counts_only_with_settings_of_axolotl(tmp_path: Path) -> None:
    """The YAML stands inside the model card."""
    (tmp_path / "README.md").write_text("# A model\n")
    assert found(tmp_path) == []
    (tmp_path / "README.md").write_text(
        f"# Built with axolotl\n```yaml\nfoo: 1\n```\n```yaml\n{AXOLOTL}```\n"
    )
    assert found(tmp_path) == ["README.md"]
    reading = config_files.read(tmp_path / "README.md")
    assert reading.framework == "axolotl"
    assert reading.config["micro_batch_size"] == 2


@pytest.mark.parametrize(
    ("name", "content", "framework"),
    [
        ("config.yaml", AXOLOTL, "axolotl"),
        ("configuration.yaml", "behaviors: {x: {y: 1}}", "ml-agents"),
        ("llamaboard_config.yaml", "top.model_name: x", "llama-factory"),
        ("hparams.yaml", "lr: 0.1", ""),
    ],
)
def test_the_framework_is_told_by_its_keys(
    name: str, content: str, framework: str, tmp_path: Path
) -> None:
    """Or by the name of the file."""
    (tmp_path / name).write_text(content)
    reading = config_files.read(tmp_path / name)
    assert (reading.framework, reading.problems) == (framework, [])
    assert reading.config


def test_a_models_config_gives_only_what_concerns_training(tmp_path: Path) -> None:
    """Classes are counted by their names."""
    config = {"id2label": {"0": "a", "1": "b"}, "vocab_size": 9, "hidden_act": "gelu"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert config_files.read(tmp_path / "config.json").config == {"vocab_size": 9, "num_labels": 2}


def test_the_rank_of_an_adapter_has_its_usual_name(tmp_path: Path) -> None:
    """PEFT calls it r."""
    (tmp_path / "adapter_config.json").write_text('{"r": 16, "lora_alpha": 32}')
    assert config_files.read(tmp_path / "adapter_config.json").config["lora_r"] == 16


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "\x00"])
@pytest.mark.parametrize("name", ["config.json", "config.yaml"])
def test_broken_settings_are_a_problem_and_no_exception(
    name: str, content: str, tmp_path: Path
) -> None:
    """With what is lost."""
    (tmp_path / name).write_text(content)
    (problem,) = config_files.read(tmp_path / name).problems
    assert problem.where.endswith(name)
    assert problem.text
    assert problem.lost == "its settings"


@pytest.mark.parametrize("content", ["[1, 2]", '"text"', "null", "3"])
def test_settings_that_are_no_mapping_are_none(content: str, tmp_path: Path) -> None:
    """Nothing to take from a list."""
    (tmp_path / "args.json").write_text(content)
    assert config_files.read(tmp_path / "args.json").config == {}


def test_final_save_of_ml_agents_tells_how_far_it_came(tmp_path: Path) -> None:
    """Stopped at 2,000 of 15,000 steps: the plan is in the settings, the end in the status."""
    status = {"Cube": {"final_checkpoint": {"steps": 2000}}, "metadata": {"torch_version": "2"}}
    (tmp_path / "training_status.json").write_text(json.dumps(status))
    settings = "behaviors:\n  Cube:\n    trainer_type: ppo\n    max_steps: 15000\n"
    (tmp_path / "configuration.yaml").write_text(settings)
    reading = config_files.read(tmp_path / "training_status.json")
    assert (reading.hints.summary, reading.hints.done_steps) == (True, 2000)
    assert config_files.read(tmp_path / "configuration.yaml").config["max_steps"] == 15000
