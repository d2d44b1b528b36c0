"""What kind of training a run was: by its configuration, else by what it logged.

The signs are tried in the order of the code; the first hit wins, and it is kept as a sentence,
because every rule's scope hangs on it.
"""

from collections.abc import Collection, Mapping
from math import log

from runlens.metrics import plain
from runlens.run import Configured, Task

# A random model starts at ln(vocabulary), a fine-tuned one below 0.4 of it (1 to 4 of 10.4). The
# first logged loss is a mean over steps that already learnt, so half tells the two apart.
FROM_SCRATCH = 0.5
TWO_CLASSES = (0.665, 0.721)  # within 4 % of ln 2
# A new head over n classes starts at ln(n); the first logged loss may be a mean over steps that
# learnt already, or lie above for a bad start. A language model's vocabulary is far larger.
NEAR_CLASSES = (0.5, 1.5)  # times ln(num_labels)
FINE_TUNERS = {"axolotl", "llama-factory", "ms-swift", "unsloth", "trl"}
SCRATCH_LOSS = 7.0  # first loss that only an untrained language model has, where V is not known
# no language model's: ln(256,000) is 12.5, and a bad start adds a few nats
NO_LANGUAGE_LOSS = 16.0
CLASSES_LOSS = log(1_000)
SAVED = "config.json"  # what a model is; trackers name what it was made of: BertForMaskedLM

BY_METHOD: Mapping[str, Task] = {
    "grpo": "grpo", "rloo": "grpo", "ebft": "grpo", "gspo": "grpo", "dapo": "grpo",
    "reinforce": "grpo", "ppo": "ppo", "dpo": "dpo", "kto": "dpo", "orpo": "dpo", "ipo": "dpo",
    "simpo": "dpo", "cpo": "dpo", "rm": "reward-model", "reward": "reward-model",
    "rewardtrainer": "reward-model", "sft": "sft", "pt": "pretrain", "pretrain": "pretrain",
    "grpotrainer": "grpo", "dpotrainer": "dpo", "ppotrainer": "ppo", "sfttrainer": "sft",
    "ktotrainer": "dpo", "orpotrainer": "dpo", "cpotrainer": "dpo", "rlootrainer": "grpo",
}  # fmt: skip
METHOD_KEYS = ("rl", "stage", "trainer", "trainer_class", "algorithm", "method", "rlhf_type")
PROGRAM_KEYS = ("command_line", "wandb_project", "run_name", "experiment_name", "output_dir")
BY_WORD: tuple[tuple[Task, tuple[str, ...]], ...] = (
    ("grpo", ("grpo",)), ("dpo", ("dpo",)), ("dpo", ("orpo",)), ("dpo", ("kto",)),
    ("ppo", ("ppo",)), ("reward-model", ("reward", "model")), ("sft", ("sft",)),
    ("pretrain", ("pretrain",)), ("pretrain", ("pretraining",)), ("asr", ("asr",)),
    ("asr", ("speech", "recognition")), ("asr", ("speech", "to", "text")),
    ("asr", ("speech", "model")),
)  # fmt: skip
LAYERS = ("n_layer", "num_layers", "num_hidden_layers")
HEADS = ("n_head", "num_heads", "num_attention_heads")
WIDTHS = ("d_model", "n_embd", "hidden_size", "embed_dim")
TRAINED = ("model_name", "pretrained_model_name_or_path")
# in the name of a model that is already trained: families of language models that only generate
FAMILIES = (
    "gpt", "llama", "qwen", "mistral", "mixtral", "gemma", "phi", "pythia", "falcon", "bloom",
    "opt", "glm", "chatglm", "deepseek", "baichuan", "internlm", "smollm", "tinyllama",
)  # fmt: skip
ARGUMENTS = ("learning_rate", "weight_decay", "adam_beta1", "logging_steps", "seed")
MODEL = ("model_type", "architectures", "vocab_size", *TRAINED)
OWN = "the settings describe a transformer of one's own"
RL_FRAMEWORKS = {"ml-agents", "stable-baselines3", "rl_games"}

# any of these metrics -> task, in this order
BY_METRIC: tuple[tuple[tuple[str, ...], Task], ...] = (
    (("dpo_chosen", "log_odds_ratio"), "dpo"),
    (("ebft_alignment", "ebft_diversity", "ebft_cfm", "ebft_ce"), "grpo"),
    (("frac_zero_std", "len_clipped", "completions/min_length", "len_term"), "grpo"),
    (("kl_seq", "entropy_seq"), "ppo"),
    (("eval_wer", "eval_cer", "wer", "cer"), "asr"),
    (("d_loss", "g_loss", "fid"), "gan-diffusion"),
    (("Positive Score", "Negative Score"), "reward-model"),
    (("contrastive_loss", "logit_scale"), "contrastive"),
)
RL_METRICS = ("rollout/", "Environment/", "shaped_rewards", "episode", "ep_len", "Episode")
GENERATIVE = (
    "discrim", "generator", "codebook", "vq", "diffus", "denois", "kimg", "recon",
)  # fmt: skip
GENERATED = ("rouge", "bleu", "sacrebleu", "chrf", "meteor", "sari", "bertscore")
CLASSIFIERS = ("SequenceClassification", "ImageClassification", "TokenClassification")
ADAPTED = {"SEQ_CLS": "SequenceClassification", "TOKEN_CLS": "TokenClassification"}
SPEAKING = ("CausalLM", "ConditionalGeneration", "MaskedLM", "LMHead", "EncoderDecoder")
SPEECH = ("CTC", "Whisper", "Speech")
READING = ("vision", "trocr", "donut", "pix2struct", "nougat")  # text in images
SCORES = ("f1", "iou", "recall", "precision", "auc", "matthews", "mcc", "top1", "top5")
DETECTION = ("box_loss", "mAP", "dfl_loss", "obj_loss")


def typed(
    names: Collection[str],
    first_loss: float | None,
    config: Mapping[str, Configured],
    framework: str,
    logged: Collection[str] = (),
    called: Collection[str] = (),
    first_entropy: float | None = None,
) -> tuple[Task, str]:
    """Return the task and why.

    Args:
        names: canonical metric names of the run.
        first_loss: the first training loss, None where none was logged.
        config: settings by canonical key.
        framework: as the sources tell, "" or "unknown" where they do not.
        logged: the names as logged, where they differ.
        called: names of the log files.
        first_entropy: the first entropy of what the model says, None where none was logged.

    """
    for decided in (
        _by_method(config),
        _by_names(names, logged, config, framework),
        _by_program(config, called),
        _by_reward(names, logged),
        _by_model(names, config),
        _by_generation(names, config, framework),
        _by_scores(names, logged, config, first_loss),
        _by_entropy(first_loss, first_entropy),
        _by_loss(names, first_loss, config, framework),
    ):
        if decided:
            return decided
    return "other", "nothing in the settings or metrics tells the task"


def _by_method(config: Mapping[str, Configured]) -> tuple[Task, str] | None:
    for key in METHOD_KEYS:
        known = config.get(key)
        if known and isinstance(known.value, str):
            word = known.value.lower().replace("_", "").replace("-", "")
            if task := BY_METHOD.get(word):
                return task, f"{key} is {known.value} ({known.origin})"
    return None


def _by_program(
    config: Mapping[str, Configured], called: Collection[str]
) -> tuple[Task, str] | None:
    """Take the word for the method out of the command, the project's name or a log's name."""
    texts = [str(config[key].value) for key in PROGRAM_KEYS if key in config]
    for text in (*texts, *sorted(called)):
        words = plain(text.rpartition(" --")[0] or text).split("_")
        for task, wanted in BY_WORD:
            if any(tuple(words[n : n + len(wanted)]) == wanted for n in range(len(words))):
                return task, f"{' '.join(wanted)} is in the name {text[:60]}"
    return None


def _by_names(
    names: Collection[str],
    logged: Collection[str],
    config: Mapping[str, Configured],
    framework: str,
) -> tuple[Task, str] | None:
    for wanted, task in BY_METRIC:
        hits = [name for name in wanted if name in names]
        if hits and not (task == "asr" and _reads_images(config)):
            return task, f"logs {hits[0]}"
    if framework == "llama-factory" and "dpo_acc" in names:  # its log names nothing else of them
        return "dpo", "logs the accuracy of rewards in training"
    if framework in RL_FRAMEWORKS:
        return "rl", f"written by {framework}"
    if "reward" in names and {"len_mean", "kl"} & set(names):
        return "grpo", "logs reward with completion lengths or KL"
    if "kl_step" in names and "len_mean" in names:
        return "ppo", "logs the KL of each update and response lengths"
    hits = [
        name for name in sorted(logged) if name.startswith(RL_METRICS) or "episode" in name.lower()
    ]
    if hits:
        return "rl", f"logs {hits[0]}"
    return None


def _by_reward(names: Collection[str], logged: Collection[str]) -> tuple[Task, str] | None:
    """Guess by a reward alone, which every method of reinforcement learning logs; then by parts."""
    if "reward" in names and "train_loss" not in names:
        return "rl", "logs reward and no training loss"
    hits = [name for name in sorted(logged) if _words(name, GENERATIVE)]
    if hits:
        return "gan-diffusion", f"logs {hits[0]}"
    return None


def _words(name: str, beginnings: tuple[str, ...]) -> bool:
    """Whether a word of a logged name begins so: ``g_loss`` is no word of ``training_loss``."""
    return any(word.startswith(beginnings) for word in plain(name).split("_"))


def _by_model(names: Collection[str], config: Mapping[str, Configured]) -> tuple[Task, str] | None:
    model, kind = _said(config, "architectures"), _said(config, "model_type")
    named = model or kind
    if {"dpo_margin"} & set(names) or {"dpo_acc", "min_reward"} <= set(names):
        return "reward-model", "logs the margin between rewards"
    problem, adapted = _said(config, "problem_type"), _said(config, "task_type")
    if problem == "regression":
        return "regression", f"problem_type is {problem}"
    labels = config.get("num_labels")
    if any(word in model + ADAPTED.get(adapted, "") for word in CLASSIFIERS):
        task: Task = "regression" if labels and labels.value == 1 else "classification"
        said = f"the adapter is for {adapted}" if adapted in ADAPTED else f"the model is a {model}"
        return task, said
    if problem.endswith("classification"):
        return "classification", f"problem_type is {problem}"
    if "regress" in (model + kind).lower():
        return "regression", f"the model is a {named}"
    if any(word in model for word in SPEECH):
        return "asr", f"the model is a {model}"
    trained = any(_said(config, key) for key in TRAINED)
    writes = any(word in model for word in ("ConditionalGeneration", "EncoderDecoder"))
    if writes and trained and _speaks(config):
        return "sft", f"the model is a {model}, trained before"
    return None


def _said(config: Mapping[str, Configured], key: str) -> str:
    value = config[key].value if key in config else None
    return "" if value is None else str(value)


def _speaks(config: Mapping[str, Configured]) -> bool:
    """Whether the model that was saved is one of language: then classes are none of its own."""
    known = config.get("architectures")
    saved = known is not None and known.origin.endswith(SAVED)
    return saved and any(word in _said(config, "architectures") for word in SPEAKING)


def _reads_images(config: Mapping[str, Configured]) -> bool:
    keys = ("architectures", "model_type", *TRAINED)
    text = " ".join(_said(config, key) for key in keys).lower()
    return any(word in text for word in READING)


def _by_generation(
    names: Collection[str], config: Mapping[str, Configured], framework: str
) -> tuple[Task, str] | None:
    """Look for scores of a text that was generated; frameworks for translation train from 0."""
    hits = [n for n in sorted(names) if n.startswith("eval_") and _words(n, GENERATED)]
    if hits and framework in {"transformers", *FINE_TUNERS} and not _own_transformer(config):
        return "sft", f"logs {hits[0]}"
    return None


def _by_scores(
    names: Collection[str],
    logged: Collection[str],
    config: Mapping[str, Configured],
    first_loss: float | None,
) -> tuple[Task, str] | None:
    if "token_accuracy" in names:
        return "sft", "logs token accuracy"
    hits = [name for name in sorted(logged) if any(word in name for word in DETECTION)]
    if hits:
        return "classification", f"logs {hits[0]} (detection)"
    scores = [
        name
        for name in sorted(names)
        if name in {"eval_accuracy", "train_accuracy"}
        or any(word in name.lower() for word in SCORES)
    ]
    if scores and not _speaks(config) and (first_loss is None or first_loss < CLASSES_LOSS):
        return "classification", f"logs {scores[0]}"
    errors = [
        n for n in names if n.removeprefix("eval_") in {"mse", "mae", "rmse", "r2", "r_squared"}
    ]
    if errors:
        return "regression", f"logs {min(errors)}"
    return None


def _by_entropy(first_loss: float | None, first_entropy: float | None) -> tuple[Task, str] | None:
    """Tell a summed loss from that of an untrained model: the entropy of one is its loss."""
    if first_loss is None or first_entropy is None or first_loss <= SCRATCH_LOSS:
        return None
    if 0 <= first_entropy < first_loss / 4:
        return "sft", f"an entropy of {first_entropy:.2f} is that of a trained language model"
    return None


def _by_loss(
    names: Collection[str],
    first_loss: float | None,
    config: Mapping[str, Configured],
    framework: str,
) -> tuple[Task, str] | None:
    if first_loss is None:
        return None
    classes = _number(config, "num_labels")
    if classes > 2 and not _speaks(config) and _between(first_loss / log(classes), NEAR_CLASSES):  # noqa: PLR2004 - 2 is any model's default
        begins = f"the loss begins at {first_loss:.2f}"
        return "classification", f"{begins}, near ln of its {classes:g} labels"
    return _by_tuning(first_loss, config, framework) or _by_level(
        names, first_loss, config, framework
    )


def _by_tuning(
    first_loss: float, config: Mapping[str, Configured], framework: str
) -> tuple[Task, str] | None:
    """Look for an adapter or a fine-tuning framework, else compare with chance."""
    if _number(config, "lora_r") or str(config["adapter"].value if "adapter" in config else ""):
        return "sft", "trains an adapter"
    if framework in FINE_TUNERS:
        return "sft", f"fine-tuned with {framework}"
    size = _number(config, "vocab_size")
    if size > 1:
        chance, begins = log(size), f"the loss begins at {first_loss:.2f}"
        if first_loss >= FROM_SCRATCH * chance:
            return "pretrain", f"{begins}, near ln({size:g})"
        if framework in {"", "lightning"} and _own_transformer(config):
            return "pretrain", OWN
        return "sft", f"{begins}, below ln({size:g}) = {chance:.2f}"
    return None


def _by_level(
    names: Collection[str],
    first_loss: float,
    config: Mapping[str, Configured],
    framework: str,
) -> tuple[Task, str] | None:
    if (
        framework in {"nanogpt", "megatron", "nanochat", "modded-nanogpt"}
        or "eval_train_loss" in names
    ):
        return "pretrain", f"written by {framework}" if framework else "logs in nanoGPT's manner"
    if framework == "" and "vocab_size" not in config and _own_transformer(config):
        return "pretrain", OWN
    if SCRATCH_LOSS < first_loss < NO_LANGUAGE_LOSS:
        return "pretrain", f"the loss begins at {first_loss:.2f}"
    two = _between(first_loss, TWO_CLASSES) and not _speaks(config)
    if framework == "transformers" and two:
        return "classification", f"the loss begins at {first_loss:.2f}, near ln(2)"
    if framework == "transformers" and _own_module(config):
        return None
    if framework == "transformers":
        return "sft", f"a language-model loss of {framework} that begins at {first_loss:.2f}"
    if first_loss < CLASSES_LOSS:
        return _by_family(config)
    return None


def _own_module(config: Mapping[str, Configured]) -> bool:
    """Whether all arguments of the Trainer are known and no model of transformers is among them.

    The Trainer's loggers write the model's own configuration too, where it has one.
    """
    return all(key in config for key in ARGUMENTS) and not any(key in config for key in MODEL)


def _own_transformer(config: Mapping[str, Configured]) -> bool:
    """Whether the settings of the training give the shape of a model, and name no trained one."""
    shaped = any(key in config for key in (*HEADS, *WIDTHS))
    named = any(key in config for key in (*TRAINED, "architectures", "model_type"))
    return shaped and not named and any(key in config for key in LAYERS)


def _by_family(config: Mapping[str, Configured]) -> tuple[Task, str] | None:
    for key in TRAINED:
        model = str(config[key].value) if key in config else ""
        if _words(model, FAMILIES):
            return "sft", f"starts from {model}"
    return None


def _between(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] < value < limits[1]


def _number(config: Mapping[str, Configured], key: str) -> float:
    value = config[key].value if key in config else None
    return float(value) if isinstance(value, int | float) else 0.0
