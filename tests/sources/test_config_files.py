"""Settings that lie beside a run."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources.configs import config_files
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


@pytest.mark.parametrize(
    ("name", "content", "framework"),
    [
        ("config.yaml", AXOLOTL, "axolotl"),
        ("configuration.yaml", "behaviors: {x: {y: 1}}", "ml-agents"),
        ("llamaboard_config.yaml", "top.model_name: x", "llama-factory"),
        (
            "trainer_config.yaml",
            "finetuning_type: lora\nstage: sft\ncutoff_len: 9",
            "llama-factory",
        ),
        ("args.json", '{"tuner_backend": "peft", "swift_version": "3.9"}', "ms-swift"),
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


def test_passes_of_ml_agents_over_its_buffer_are_no_epochs(tmp_path: Path) -> None:
    """`num_epoch` beside a buffer says how often each rollout is learned from."""
    text = "behaviors:\n  Cube:\n    hyperparameters:\n      buffer_size: 10240\n"
    known = settings(tmp_path, "configuration.yaml", f"{text}      num_epoch: 3\n")
    assert known["num_iterations"] == (3, "configuration.yaml")
    assert "num_train_epochs" not in known


@pytest.mark.parametrize(("beside", "known"), [("nlayers: 2", 0.25), ("gamma: 0.99", None)])
def test_clip_alone_is_of_gradients_but_for_policies(
    tmp_path: Path, beside: str, known: float | None
) -> None:
    """As in PyTorch's examples; beside a discount it bounds the ratio of two policies."""
    found = settings(tmp_path, "args.yaml", f"lr: 2.0\nclip: 0.25\n{beside}\n")
    assert found.get("max_grad_norm", (None, ""))[0] == known


STATE = {"log_history": [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.5}], "global_step": 2}


def settings(folder: Path, name: str, content: str) -> dict[str, tuple[object, str]]:
    """Return the settings of a run beside which a file lies: value and origin by canonical key."""
    (folder / "trainer_state.json").write_text(json.dumps(STATE))
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)
    return {key: (known.value, known.origin) for key, known in read(folder).config.items()}


FACTORY = """model_name_or_path: mistralai/Mistral-7B
finetuning_type: lora
stage: sft
cutoff_len: 1024
lora_rank: 8
per_device_train_batch_size: 16
gradient_accumulation_steps: 4
learning_rate: 2.0e-4
num_train_epochs: 1.0
max_grad_norm: 0.3
"""


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        (
            "axolotl.yml",
            (f"{AXOLOTL}num_epochs: 3\noptimizer: adamw_torch\nlr_scheduler: cosine\n"
            "sample_packing: true\nadapter: qlora\ntrl:\n  beta: 0.04\n  num_generations: 8\n"),
            {
                "model_name": "x/y", "per_device_train_batch_size": 2, "max_length": 512,
                "learning_rate": "2e-4", "num_train_epochs": 3, "optim": "adamw_torch",
                "lr_scheduler_type": "cosine", "packing": True, "adapter": "qlora", "beta": 0.04,
                "num_generations": 8,
            },
        ),
        (
            "adapter_config.json",
            ('{"r": 16, "lora_alpha": 32, "base_model_name_or_path": "x/y", "peft_type": "LORA",'
            ' "target_modules": ["q", "v"]}'),
            {
                "lora_r": 16, "lora_alpha": 32, "model_name": "x/y", "adapter": "LORA",
                "lora_target_modules": "q, v",
            },
        ),
        (
            "hparams.yaml",
            ("lr: 0.001\nbatch_size: 32\nmax_epochs: 5\ngradient_clip_val: 0.5\n"
            "model: !!python/object:a.B\n  n_layer: 3\n"),
            {
                "learning_rate": 0.001, "per_device_train_batch_size": 32, "num_train_epochs": 5,
                "max_grad_norm": 0.5, "model.n_layer": 3,
            },
        ),
        (
            "trainer_config.yaml",
            FACTORY,
            {
                "model_name": "mistralai/Mistral-7B", "adapter": "lora", "rl": "sft",
                "max_length": 1024, "lora_r": 8, "per_device_train_batch_size": 16,
                "gradient_accumulation_steps": 4, "learning_rate": 2e-4, "max_grad_norm": 0.3,
            },
        ),
        (
            "training_args.yaml",
            "learning_rate: 5e-5\nper_device_eval_batch_size: 2\n",
            {"learning_rate": "5e-5", "per_device_eval_batch_size": 2},
        ),
        (
            "llamaboard_config.yaml",
            ("top.model_name: Gemma\ntop.finetuning_type: lora\ntrain.learning_rate: 5e-5\n"
            "train.num_train_epochs: '3.0'\ntrain.cutoff_len: 2048\n"),
            {
                "model_name": "Gemma", "adapter": "lora", "learning_rate": "5e-5",
                "num_train_epochs": "3.0", "max_length": 2048,
            },
        ),
        (
            "args.json",
            ('{"model": "Qwen/Qwen2", "train_type": "lora", "rlhf_type": "grpo", "beta": 0.04,'
            ' "lora_rank": 8, "max_completion_length": 512, "warmup_ratio": 0.05}'),
            {
                "model_name": "Qwen/Qwen2", "adapter": "lora", "rl": "grpo", "beta": 0.04,
                "lora_r": 8, "max_completion_length": 512, "warmup_ratio": 0.05,
            },
        ),
        (
            "training_args.json",
            ('{"learning_rate": 5e-05, "optim": "adamw_torch", "bf16": true, "seed": 42,'
            ' "eval_strategy": "steps", "hub_token": "hf_secret"}'),
            {
                "learning_rate": 5e-5, "optim": "adamw_torch", "bf16": True, "seed": 42,
                "eval_strategy": "steps", "hub_token": "(hidden)",
            },
        ),
        (
            "default_config.yaml",
            ("compute_environment: LOCAL_MACHINE\nmixed_precision: bf16\nnum_processes: 8\n"
            "deepspeed_config:\n  gradient_accumulation_steps: 4\n  gradient_clipping: 1.0\n"
            "  zero_stage: 2\n"),
            {
                "bf16": True, "num_processes": 8, "gradient_accumulation_steps": 4,
                "max_grad_norm": 1.0, "zero_stage": 2,
            },
        ),
        (
            "ds_z3_config.json",
            ('{"train_micro_batch_size_per_gpu": 2, "train_batch_size": 64,'
            ' "gradient_accumulation_steps": "auto", "gradient_clipping": 0.5,'
            ' "optimizer": {"type": "AdamW", "params": {"lr": "auto", "weight_decay": 0.1}},'
            ' "scheduler": {"type": "WarmupDecayLR", "params": {"warmup_num_steps": 100,'
            ' "warmup_max_lr": 3e-4, "total_num_steps": "auto"}},'
            ' "fp16": {"enabled": false}, "bf16": {"enabled": true},'
            ' "zero_optimization": {"stage": 3}}'),
            {
                "per_device_train_batch_size": 2, "total_train_batch_size": 64,
                "max_grad_norm": 0.5, "optim": "AdamW", "weight_decay": 0.1, "warmup_steps": 100,
                "learning_rate": 3e-4, "fp16": False, "bf16": True, "zero_optimization.stage": 3,
            },
        ),
        (
            ".hydra/config.yaml",
            "model:\n  optimizer:\n    lr: 0.01\ntrainer:\n  max_epochs: 9\n",
            {"learning_rate": 0.01, "num_train_epochs": 9},
        ),
        (
            ".hydra/overrides.yaml",
            "- optim.lr=0.02\n- +trainer.max_epochs=7\n- ~model.dropout\n- name=x\n",
            {"learning_rate": 0.02, "num_train_epochs": 7.0, "name": "x"},
        ),
        (
            "config.json",
            '{"lr": 0.1, "batch_size": 16, "my_flag": true}',
            {"learning_rate": 0.1, "per_device_train_batch_size": 16, "my_flag": True},
        ),
        (
            "my_sft_lora.yaml",
            FACTORY,
            {"model_name": "mistralai/Mistral-7B", "max_grad_norm": 0.3},
        ),
        (
            "hyp.yaml",
            "lr0: 0.01\nweight_decay: 0.0005\n",
            {"learning_rate": 0.01, "weight_decay": 0.0005},
        ),
    ],
)  # fmt: skip
def test_settings_of_each_kind_come_out_under_their_canonical_keys(
    name: str, content: str, known: dict[str, object], tmp_path: Path
) -> None:
    """With the file as their origin."""
    found = settings(tmp_path, name, content)
    assert {key: found.get(key) for key in known} == {
        key: (value, name) for key, value in known.items()
    }


def test_words_that_only_say_auto_are_no_settings(tmp_path: Path) -> None:
    """What DeepSpeed leaves to the Trainer."""
    text = '{"gradient_clipping": "auto", "optimizer": {"params": {"lr": "auto"}}, "x": 1}'
    assert settings(tmp_path, "deepspeed.json", text) == {"x": (1, "deepspeed.json")}


@pytest.mark.parametrize(
    ("names", "content"),
    [
        (["zero1.json", "zero2.json", "ds_config.json"], '{"gradient_clipping": 1.0}'),
        (["accelerate_a.yaml", "fsdp_b.yml"], "compute_environment: x\nnum_processes: 2"),
        (["llama_sft.yaml", "qwen_dpo.yaml"], FACTORY),
        (["generation_config.json", "tokenizer_config.json"], '{"temperature": 0.6}'),
        (["mkdocs.yml", "values.yaml"], "learning_rate: 1\nsite_name: x"),
        (["eval_results.json", "predict_results.json"], '{"eval_loss": 1.0}'),
        ([".hydra/hydra.yaml"], "hydra: {run: {dir: x}}"),
        (["empty.yaml"], ""),
    ],
)
def test_examples_and_other_files_are_no_settings(
    names: list[str], content: str, tmp_path: Path
) -> None:
    """Of several of a kind in one folder nobody knows which was used."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert found(tmp_path) == []


@pytest.mark.parametrize("status", [{}, {"Cube": {"final_checkpoint": {"steps": "soon"}}}])
def test_status_without_a_final_save_says_nothing(status: object, tmp_path: Path) -> None:
    """A run that goes on, or was killed."""
    (tmp_path / "training_status.json").write_text(json.dumps(status))
    assert config_files.read(tmp_path / "training_status.json").empty


def test_closing_numbers_tell_that_the_run_came_to_its_end(tmp_path: Path) -> None:
    """Where only checkpoints have a state; they are neither settings nor points of a curve."""
    state = {**STATE, "max_steps": 2, "log_history": STATE["log_history"]}
    (tmp_path / "checkpoint-2").mkdir()
    (tmp_path / "checkpoint-2" / "trainer_state.json").write_text(json.dumps(state))
    assert read(tmp_path).state.sure == "likely"
    for name in ("train_results.json", "all_results.json"):
        (tmp_path / name).write_text('{"epoch": 2.0, "train_loss": 1.75, "train_runtime": 9.5}')
    run = read(tmp_path)
    assert (run.state.kind, run.state.sure) == ("finished", "certain")
    assert run.curve("train_loss").value.tolist() == [2.0, 1.5]
    assert run.state.done_epochs == 2.0
    assert not {"train_loss", "train_runtime", "epoch"} & run.config.keys()


def test_results_without_a_training_are_no_run(tmp_path: Path) -> None:
    """A prediction leaves such files too."""
    (tmp_path / "all_results.json").write_text('{"predict_runtime": 5.0, "epoch": 1.0}')
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_settings_beyond_a_bound_are_told(tmp_path: Path) -> None:
    """The first thousands of them are kept."""
    (tmp_path / "config.yaml").write_text("".join(f"k{n}: {n}\n" for n in range(9_000)))
    reading = config_files.read(tmp_path / "config.yaml")
    assert len(reading.config) == 5_000
    assert [problem.lost for problem in reading.problems] == ["the other settings"]


LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEY = st.sampled_from(
    ["final_checkpoint", "steps", "behaviors", "id2label", "r", "deepspeed_config", "learning_rate",
     "train_runtime", "epoch", "mixed_precision", "fp16", "enabled", "compute_environment", "a"]
)  # fmt: skip
VALUE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=4),
    max_leaves=10,
)
NAMES = sorted(config_files.JSON_NAMES | {"config.json", "ds_config.json"})


@given(st.sampled_from([*NAMES, "config.yaml", "overrides.yaml", "default_config.yaml"]), VALUE)
def test_no_content_raises(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: object
) -> None:
    """Whatever the keys hold, the reader ends with settings, or with none."""
    path = tmp_path_factory.mktemp("any") / name
    path.write_text(json.dumps(value))
    reading = config_files.read(path)
    assert not reading.series


@pytest.mark.parametrize(("optimizer", "known"), [("auto", False), ("SGD", True)])
def test_a_rate_that_is_not_used_is_no_setting(tmp_path: Path, optimizer: str, known: bool) -> None:
    """Ultralytics ignores lr0 where it chooses the optimizer itself."""
    (tmp_path / "args.yaml").write_text(f"optimizer: {optimizer}\nlr0: 0.01\nepochs: 5\n")
    assert ("lr0" in config_files.read(tmp_path / "args.yaml").config) == known


def test_the_copy_of_a_tracker_is_left_to_its_reader_whatever_the_folder_is_called(
    tmp_path: Path,
) -> None:
    """``files/config.yaml`` beside a ``.wandb`` is not ours to read."""
    write(tmp_path, "mine/run-1a2b.wandb", "mine/files/config.yaml", "other/files/config.yaml")
    assert found(tmp_path) == ["other/files/config.yaml"]


def test_the_default_length_of_generation_is_no_length_of_training(tmp_path: Path) -> None:
    """A model's config.json repeats it beside num_beams; a training that sets 20 says it alone."""
    (tmp_path / "metrics.csv").write_text("step,loss\n1,2.0\n2,1.9\n3,1.8\n")
    given = tmp_path / "args.json"
    given.write_text('{"max_length": 20, "num_beams": 1, "length_penalty": 1.0, "lr": 0.1}')
    assert read(tmp_path).number("max_length") is None
    given.write_text('{"max_length": 20, "lr": 0.1}')
    assert read(tmp_path).number("max_length") == 20


YOLO = "epoch,train/box_loss,val/box_loss\n" + "".join(
    f"{n},{2 / n},{3 / n}\n" for n in range(1, 6)
)


def test_a_table_is_read_with_the_settings_that_its_writer_put_beside_it(tmp_path: Path) -> None:
    """A user who points at results.csv sees that 5 of 100 epochs were done; links stay alone."""
    (tmp_path / "results.csv").write_text(YOLO)
    (tmp_path / "args.yaml").write_text("epochs: 100\nlr0: 0.01\nbatch: 16\n")
    assert read(tmp_path / "results.csv").state.planned_epochs == 100
    (tmp_path / "args.yaml").rename(tmp_path / "other.yaml")
    (tmp_path / "args.yaml").symlink_to(tmp_path / "other.yaml")
    assert read(tmp_path / "results.csv").state.planned_epochs is None


def test_the_form_of_wandb_without_its_folder(tmp_path: Path) -> None:
    """A mapping with a value for each setting."""
    (tmp_path / "config.yaml").write_text(
        "wandb_version: 1\n_wandb:\n  value: {}\nlr:\n  value: 0.15\nepochs:\n  desc: null\n"
    )
    assert config_files.read(tmp_path / "config.yaml").config == {"lr": 0.15, "epochs.desc": None}
