"""Names of settings: as every framework spells them, and how a change is written."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runlens.config_keys import KEYS, canonical_key, written
from runlens.knowledge.written_changes import in_yaml


@pytest.mark.parametrize(
    ("met", "name"),
    [
        ("learning_rate", "learning_rate"),
        ("lr", "learning_rate"),
        ("--learning-rate", "learning_rate"),
        ("Learning.Rate", "learning_rate"),
        ("training/learning_rate", "learning_rate"),
        ("optimizer.lr", "learning_rate"),
        ("micro_batch_size", "per_device_train_batch_size"),
        ("gradient_clipping", "max_grad_norm"),
        ("sequence_len", "max_length"),
        ("trl.beta", "beta"),
        ("rl_beta", "beta"),
        ("hyperparameters.learning_rate", "learning_rate"),
        ("hyperparameters.beta", "hyperparameters.beta"),
        ("hyperparameters.epsilon", "hyperparameters.epsilon"),
        ("--how_many_training_steps", "max_steps"),
        ("n_epochs", "num_train_epochs"),
        ("SOLVER.BASE_LR", "learning_rate"),
        ("gradient_clip_val", "max_grad_norm"),
        ("optim_wrapper.clip_grad.max_norm", "max_grad_norm"),
        ("warmup_epochs", "warmup_epochs"),
        ("critic.optim.lr", "critic.optim.lr"),
        ("my_own_setting", "my_own_setting"),
        ("model.my_own", "model.my_own"),
        ("model.optimizer.params.lr", "learning_rate"),
        ("model.optimizer.params", "model.optimizer.params"),
        ("top.model_name", "model_name"),
        ("top_p", "top_p"),
        ("train_micro_batch_size_per_gpu", "per_device_train_batch_size"),
        ("scheduler.params.warmup_num_steps", "warmup_steps"),
        ("lr_scheduler_warmup_ratio", "warmup_ratio"),
        ("train." * 9_000 + "lr", "train." * 9_000 + "lr"),
        ("", ""),
    ],
)
def test_settings_are_known_under_all_their_names(met: str, name: str) -> None:
    """A name that nobody knows stays as it is."""
    assert canonical_key(met) == name


def test_canonical_names_are_fixed_points_and_no_alias_is_taken_twice() -> None:
    """Each alias leads to one setting, and that is itself."""
    for key in KEYS:
        assert canonical_key(key.name) == key.name
        assert canonical_key(key.axolotl or key.name) == key.name
        assert all(canonical_key(alias) == key.name for alias in key.others)
    aliases = [alias for key in KEYS for alias in key.others]
    assert sorted(aliases) == sorted(set(aliases))


@given(st.text(max_size=30))
def test_any_name_is_taken(name: str) -> None:
    """Configs of strangers hold any key; the answer is stable."""
    once = canonical_key(name)
    assert canonical_key(once) == once


@given(st.floats(-1e300, 1e300))
def test_numbers_in_yaml_are_numbers(value: float) -> None:
    """YAML 1.1 takes 2e-4 for a text: it needs 2.0e-4."""
    read = yaml.safe_load(in_yaml(value))
    assert isinstance(read, float | int)
    assert read == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2e-4, "2e-4"),
        (6.7e-05, "6.7e-5"),
        (0.05, "0.05"),
        (0.0, "0"),
        (1.0, "1"),
        (1e6, "1e6"),
        (-1e-5, "-1e-5"),
        (16, "16"),
        (True, "True"),
        ("cosine", "cosine"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
    ],
)
def test_values_are_written_as_config_files_do(value: object, text: str) -> None:
    """Also those that are no numbers: a stranger may have set them."""
    assert written(value) == text


@given(st.one_of(st.floats(-1e300, 1e300), st.sampled_from([math.inf, math.nan])))
def test_written_numbers_are_read_back(value: float) -> None:
    """To the digits shown."""
    back = float(written(value))
    assert math.isnan(back) if math.isnan(value) else back == pytest.approx(value, rel=1e-3)
