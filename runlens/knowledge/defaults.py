"""The learning rates that libraries take where none is set."""

from runlens.records import NamedTuple
from runlens.run import RL_TASKS, Run


class Default(NamedTuple):
    """The rate that a library takes where none is set, and where that was read."""

    rate: float
    name: str  # "the stable-baselines3 default for PPO"
    source: str


_SB3 = "stable-baselines3 2.9.2, signatures of the algorithms"
_TORCH = "torch 2.13.0, signatures of torch.optim"
# (framework, algorithm or optimizer) -> default
_DEFAULTS = {
    ("stable-baselines3", "ppo"): Default(3e-4, "the stable-baselines3 default for PPO", _SB3),
    ("stable-baselines3", "a2c"): Default(7e-4, "the stable-baselines3 default for A2C", _SB3),
    ("stable-baselines3", "dqn"): Default(1e-4, "the stable-baselines3 default for DQN", _SB3),
    ("stable-baselines3", "sac"): Default(3e-4, "the stable-baselines3 default for SAC", _SB3),
    ("stable-baselines3", "td3"): Default(1e-3, "the stable-baselines3 default for TD3", _SB3),
    ("stable-baselines3", "ddpg"): Default(1e-3, "the stable-baselines3 default for DDPG", _SB3),
    ("ml-agents", ""): Default(
        3e-4, "the ML-Agents default", "ML-Agents, Training-Configuration-File.md"
    ),
    ("transformers", ""): Default(
        5e-5, "the Trainer default", "transformers 5.23.0, TrainingArguments"
    ),
    ("nanogpt", ""): Default(6e-4, "the nanoGPT default", "karpathy/nanoGPT, train.py"),
    ("", "adam"): Default(1e-3, "the PyTorch default for Adam", _TORCH),
    ("", "adamw"): Default(1e-3, "the PyTorch default for AdamW", _TORCH),
    ("", "nadam"): Default(2e-3, "the PyTorch default for NAdam", _TORCH),
    ("", "rmsprop"): Default(1e-2, "the PyTorch default for RMSprop", _TORCH),
    ("", "adagrad"): Default(1e-2, "the PyTorch default for Adagrad", _TORCH),
}


def default_rate(run: Run) -> Default | None:
    """Return the default of the algorithm or optimizer of a run; None where neither is known.

    Plain SGD has none that says anything: its rate goes with the scale of the gradient.
    """
    algorithm = str(run.setting("algo") or "").lower()
    optimizer = _optimizer(run)
    if optimizer == "sgd":
        return None
    framework = run.framework
    if framework == "transformers" and run.task == "pretrain":
        framework = ""  # its default is one of fine-tuning
    for key in ((framework, algorithm), (framework, ""), ("", optimizer)):
        if key in _DEFAULTS:
            return _DEFAULTS[key]
    return None


def _optimizer(run: Run) -> str:
    """Return the optimizer without its variant: ``paged_adamw_8bit`` is AdamW."""
    words = str(run.setting("optim") or "").lower().replace(".", "_").split("_")
    known = next((word for word in words if word in _OPTIMIZERS), "")
    return known or ("adam" if run.task in RL_TASKS else "")  # of nearly every policy


_OPTIMIZERS = {"sgd"} | {name for framework, name in _DEFAULTS if not framework}
SMALL_MODEL = 5e7  # parameters, below which the ranges of large models say nothing


def small_model(run: Run) -> bool:
    """Whether what is recorded of a model makes it small: 12 x layers x width^2 + vocabulary."""
    if known := run.number("num_parameters"):
        return known < SMALL_MODEL
    names = ("hidden_size", "n_embd", "d_model")
    width = next((known for name in names if (known := _of_model(run, name))), None)
    layers = _of_model(run, "num_hidden_layers") or _of_model(run, "n_layer")
    if not width or not layers:
        return False
    return 12 * layers * width**2 + (run.number("vocab_size") or 0) * width < SMALL_MODEL


def _of_model(run: Run, key: str) -> float | None:
    return run.number(key) or run.number(f"model_config.{key}")
