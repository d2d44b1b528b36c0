"""What kind of training a run was: by its configuration, else by what it logged.

The signs are tried in the order of the code; the first hit wins, and it is kept as a sentence,
because every rule's scope hangs on it.
"""

from collections.abc import Collection, Mapping, Sequence
from math import log

from runlens.metrics import plain
from runlens.naming import classify, words
from runlens.records import NamedTuple
from runlens.run import FULL, Configured, Task, adapter_of
from runlens.sources.merging.task_words import (
    ADAPTED,
    ARGUMENTS,
    BY_METHOD,
    BY_METRIC,
    BY_WORD,
    CLASSES_LOSS,
    CLASSIFIERS,
    ERRORS,
    FAMILIES,
    FEWEST_SYMBOLS,
    FINE_TUNERS,
    FOUR_DIGITS,
    FROM_SCRATCH,
    GENERATED,
    GENERATIVE,
    HEADS,
    LAYERS,
    METHOD_KEYS,
    MODEL,
    NEAR_CLASSES,
    NO_LANGUAGE_LOSS,
    OBJECTIVE_KEYS,
    OF_IMAGES,
    OF_NUMBERS,
    OF_PARTS,
    OF_TEXTS,
    OWN,
    PRETRAINERS,
    PROGRAM_KEYS,
    READING,
    RL_FRAMEWORKS,
    RL_METRICS,
    SAVED,
    SCORES,
    SCRATCH_LOSS,
    SPEAKING,
    SPEECH,
    TRAINED,
    TWO_CLASSES,
    VOCABULARIES,
    WIDTHS,
    WRITING,
    of_an_agent,
)

# How much a sign says, in log odds as counted in labelled runs: a setting that names the method is
# never wrong, a level of the loss is in one run of ten. Two tasks less than LEAD apart are neither.
SAYS_METHOD, OF_METHOD, PROGRAM, POLICY = 32.0, 16.0, 10.0, 8.0
ARCHITECTURE, SETTING, SCORE, LEVEL = 6.0, 4.0, 3.5, 2.0
LEAD = 1.0


class Sign(NamedTuple):
    """Something that speaks for a task."""

    task: Task
    weight: float
    why: str


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
    signs = [
        Sign(decided[0], weight, decided[1])
        for weight, decided in (
            (SAYS_METHOD, _by_method(config)),
            (OF_METHOD, _by_names(names, logged, config, framework)),
            (PROGRAM, _by_program(config, called)),
            (POLICY, _by_policy(names, logged)),
            (ARCHITECTURE, _by_model(names, config)),
            (SCORE, _by_generation(names, config, framework)),
            (SCORE, _by_scores(names, config, first_loss)),
            (SETTING, _by_objective(config)),
            (SCORE, _by_entropy(first_loss, first_entropy)),
            (LEVEL, _by_loss(names, first_loss, config, framework)),
        )
        if decided
    ]
    return weighed(signs)


def weighed(signs: Sequence[Sign]) -> tuple[Task, str]:
    """Return the task that most speaks for, and the strongest sign; "other" where two are level.

    >>> weighed([Sign("sft", 2, "a"), Sign("classification", 3, "b")])
    ('classification', 'b')
    """
    totals: dict[Task, float] = {}
    for sign in signs:
        totals[sign.task] = totals.get(sign.task, 0.0) + sign.weight
    if not totals:
        return "other", "nothing in the settings or metrics tells the task"
    best, *others = sorted(totals, key=lambda task: -totals[task])
    strongest = {
        task: max((sign for sign in signs if sign.task == task), key=lambda sign: sign.weight).why
        for task in totals
    }
    if others and totals[best] - totals[others[0]] < LEAD:
        return "other", f"{strongest[best]}, but {strongest[others[0]]}"
    return best, strongest[best]


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
    hits = [n for n in sorted(logged) if n.startswith(RL_METRICS) or "episode" in n.lower()]
    of_texts = any(OF_TEXTS & set(words(name)) for name in logged)
    if of_an_agent(names, logged):
        return "rl", "logs reward and the loss of a critic, and nothing of texts"
    if "reward" in names and ("len_mean" in names or ("kl" in names and (of_texts or not hits))):
        return "grpo", "logs reward with completion lengths or KL"
    if "kl_step" in names and "len_mean" in names:
        return "ppo", "logs the KL of each update and response lengths"
    if hits:
        return "rl", f"logs {hits[0]}"
    return None


def _by_policy(names: Collection[str], logged: Collection[str]) -> tuple[Task, str] | None:
    """Tell a policy by its reward or its losses, which every method logs; then parts of others."""
    of_texts = sorted(name for name in logged if OF_TEXTS & set(words(name)))
    if of_texts and "reward" in names:
        return "grpo", f"logs reward and {of_texts[0]}"
    if "reward" in names:
        return "rl", "logs reward, and nothing of texts"
    parts = {"policy_loss", "value_loss", "kl", "kl_step"} & set(names)
    if len(parts) > 1 and parts & {"policy_loss", "value_loss"}:
        of_updates = next((name for name in sorted(logged) if "ppo" in words(name)), "")
        if of_updates and not any("episode" in name.lower() for name in logged):
            return "ppo", f"logs losses of a policy and {of_updates}"
        return "rl", "logs the losses of a policy"
    hits = [name for name in sorted(logged) if _begins(name, GENERATIVE)]
    if hits:
        return "gan-diffusion", f"logs {hits[0]}"
    return None


def _begins(name: str, beginnings: tuple[str, ...]) -> bool:
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


def _by_objective(config: Mapping[str, Configured]) -> tuple[Task, str] | None:
    """Take the task from the loss that the settings name: a squared error is one of numbers."""
    for key in OBJECTIVE_KEYS:
        kind = classify(_said(config, key)).kind
        if kind in OF_NUMBERS:
            return "regression", f"{key} is {_said(config, key)}"
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
    hits = [n for n in sorted(names) if n.startswith("eval_") and _begins(n, GENERATED)]
    if hits and framework in {"transformers", *FINE_TUNERS} and not _own_transformer(config):
        return "sft", f"logs {hits[0]}"
    return None


def _by_scores(
    names: Collection[str], config: Mapping[str, Configured], first_loss: float | None
) -> tuple[Task, str] | None:
    if "token_accuracy" in names:
        return "sft", "logs token accuracy"
    said = {word for name in names for word in words(name)}
    if OF_PARTS & said or WRITING & config.keys():
        return None  # of parts of an image, or of symbols of a text
    scores = [
        name
        for name in sorted(names)
        if name in {"eval_accuracy", "train_accuracy"} or SCORES & set(words(name))
    ]
    if scores and not _speaks(config) and (first_loss is None or first_loss < CLASSES_LOSS):
        return "classification", f"logs {scores[0]}"
    errors = [n for n in names if n.removeprefix("eval_").removeprefix("train_") in ERRORS]
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
        why = f"the loss begins at {first_loss:.2f}, near ln of its {classes:g} labels"
        return "classification", why
    return _by_tuning(first_loss, config, framework) or _by_level(
        names, first_loss, config, framework
    )


def _by_tuning(
    first_loss: float, config: Mapping[str, Configured], framework: str
) -> tuple[Task, str] | None:
    """Look for an adapter or a fine-tuning framework, else compare with chance."""
    if adapter_of(config) not in {None, FULL}:
        return "sft", "trains an adapter"
    if framework in FINE_TUNERS:
        return "sft", f"fine-tuned with {framework}"
    size = _number(config, "vocab_size")
    if size > 1:
        chance, begins = log(size), f"the loss begins at {first_loss:.2f}"
        if size >= FEWEST_SYMBOLS and _between(first_loss / chance, FROM_SCRATCH):
            return "pretrain", f"{begins}, near ln({size:g})"
        if size < FEWEST_SYMBOLS or first_loss > chance:
            return None
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
    if framework in PRETRAINERS or "eval_train_loss" in names:
        return "pretrain", f"written by {framework}" if framework else "logs in nanoGPT's manner"
    if framework == "" and "vocab_size" not in config and _own_transformer(config):
        return "pretrain", OWN
    if OF_PARTS & {word for name in names for word in words(name)}:
        return None
    exact = next((v for v in VOCABULARIES if abs(first_loss / log(v) - 1) < FOUR_DIGITS), 0)
    if exact:
        return "pretrain", f"the loss begins at {first_loss:.3f}, which is ln({exact:,})"
    language = SCRATCH_LOSS < first_loss < NO_LANGUAGE_LOSS and not OF_IMAGES & config.keys()
    if language and framework != "transformers":
        return "pretrain", f"the loss begins at {first_loss:.2f}"
    two = _between(first_loss, TWO_CLASSES) and not _speaks(config)
    if framework == "transformers" and two:
        return "classification", f"the loss begins at {first_loss:.2f}, near ln(2)"
    if framework == "transformers":
        why = f"a language-model loss of {framework} that begins at {first_loss:.2f}"
        return None if _own_module(config) else ("sft", why)
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
        if _begins(model, FAMILIES):
            return "sft", f"starts from {model}"
    return None


def _between(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] < value < limits[1]


def _number(config: Mapping[str, Configured], key: str) -> float:
    value = config[key].value if key in config else None
    return float(value) if isinstance(value, int | float) else 0.0
