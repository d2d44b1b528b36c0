"""Keys and tokens are never kept."""

import time

import pytest

from runlens.run import Setting
from runlens.sources.configs.secrets import MASKED, masked, without_secrets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wandb_api_key", "0" * 40),
        ("OPENAI_APIKEY", "abc"),
        ("hf_token", "abc"),
        ("hub_token", "abc"),
        ("auth.password", "hunter2"),
        ("aws_secret", "abc"),
    ],
)
def test_a_name_that_says_secret_hides_the_value(name: str, value: str) -> None:
    """Whatever it looks like."""
    assert without_secrets(name, value) == MASKED


@pytest.mark.parametrize(
    "token",
    [
        "hf_" + "a1" * 17,
        "ghp_" + "a1" * 18,
        "sk-" + "a1" * 20,
        "AKIA" + "A1" * 8,
    ],
)
def test_a_value_that_looks_like_a_token_is_hidden_anywhere(token: str) -> None:
    """Also in the middle of a command."""
    shown = without_secrets("command", f"train.py --model x {token} --lr 1e-4")
    assert shown == f"train.py --model x {MASKED} --lr 1e-4"


@pytest.mark.parametrize(
    "flag",
    [
        "--hub_token abcdef",
        "--hf-token=abcdef",
        "--wandb_key abcdef",
        "--password abcdef",
    ],
)
def test_a_flag_of_a_command_line_is_hidden(flag: str) -> None:
    """The flag stays, its value goes."""
    shown = str(without_secrets("args", f"run {flag} --lr 1e-4"))
    assert "abcdef" not in shown
    assert shown.endswith(f"{MASKED} --lr 1e-4")


@pytest.mark.parametrize("text", ["-" * 20_000, "-a" * 20_000, "sk-" * 20_000, "hf_" * 20_000])
def test_long_lines_cost_little(text: str) -> None:
    """A ruler of dashes is met in many logs."""
    began = time.process_time()
    assert masked(text)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokenizer", "meta-llama/Llama-3"),
        ("max_tokens", 4096),
        ("num_input_tokens_seen", "12"),
        ("pad_token", "<pad>"),
        ("learning_rate", 1e-4),
        ("api_key", None),
        ("use_auth_token", True),
        ("args", "--max_tokens 4096 --eos_token_id 2"),
    ],
)
def test_what_is_no_secret_stays(name: str, value: Setting) -> None:
    """Tokens of a vocabulary are no secrets."""
    assert without_secrets(name, value) == value
