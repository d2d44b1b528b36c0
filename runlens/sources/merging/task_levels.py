"""What the level of a loss tells of a task: where that of a model lies that knows nothing yet."""

from collections.abc import Collection, Mapping
from math import log

from runlens.metrics import plain
from runlens.naming import words
from runlens.run import FULL, Configured, Task, adapter_of
from runlens.sources.merging.task_words import (
    ARGUMENTS,
    CLASSES_LOSS,
    CONTINUING,
    FAMILIES,
    FEW_CLASSES,
    FEWEST_SYMBOLS,
    FINE_TUNERS,
    FOUR_DIGITS,
    FROM_SCRATCH,
    GENERATED,
    HEADS,
    LANGUAGE,
    LAYERS,
    LEAST_HELD_OUT,
    LEAST_SYMBOLS,
    MODEL,
    NEAR_CLASSES,
    NO_LANGUAGE_LOSS,
    OF_CLASSES,
    OF_IMAGES,
    OF_PARTS,
    OF_SCORES,
    OWN,
    PRETRAINERS,
    SAVED,
    SCRATCH_LOSS,
    SMALL,
    SPEAKING,
    TRAINED,
    TWO_CLASSES,
    USUAL_SCRATCH,
    VOCABULARIES,
    WIDTHS,
)


def by_loss(
    names: Collection[str],
    first_loss: float | None,
    config: Mapping[str, Configured],
    framework: str,
    first_held_out: float | None,
) -> tuple[Task, str] | None:
    """Tell the task by the first training loss, beside chance of what the settings name."""
    if first_loss is None:
        return None
    classes = _number(config, "num_labels")
    if classes > 2 and not speaks(config) and _between(first_loss / log(classes), NEAR_CLASSES):  # noqa: PLR2004 - 2 is any model's default
        why = f"the loss begins at {first_loss:.2f}, near ln of its {classes:g} labels"
        return "classification", why
    return _by_tuning(first_loss, config, framework) or _by_level(
        names, first_loss, config, framework, first_held_out
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
        if framework in {"", "lightning"} and own_transformer(config):
            return "pretrain", OWN
        return "sft", f"{begins}, below ln({size:g}) = {chance:.2f}"
    return None


def _by_level(
    names: Collection[str],
    first_loss: float,
    config: Mapping[str, Configured],
    framework: str,
    first_held_out: float | None,
) -> tuple[Task, str] | None:
    if framework in PRETRAINERS or "eval_train_loss" in names:
        if framework == "nanogpt" and first_loss < log(FEWEST_SYMBOLS):
            return "sft", f"{framework} begins at {first_loss:.2f}, trained before"
        return "pretrain", f"written by {framework}" if framework else "logs in nanoGPT's manner"
    if framework == "" and "vocab_size" not in config and own_transformer(config):
        told = {word for name in (*names, *config) for word in words(name)}
        return ("pretrain", OWN) if first_loss > LEAST_SYMBOLS or LANGUAGE & told else None
    if OF_PARTS & {word for name in names for word in words(name)}:
        return None
    exact = next((v for v in VOCABULARIES if abs(first_loss / log(v) - 1) < FOUR_DIGITS), 0)
    if exact:
        return "pretrain", f"the loss begins at {first_loss:.3f}, which is ln({exact:,})"
    if framework != "transformers" and _of_language(names, first_loss, config, first_held_out):
        return "pretrain", f"the loss begins at {first_loss:.2f}"
    two = _between(first_loss, TWO_CLASSES) and not speaks(config)
    if framework == "transformers" and two:
        return "classification", f"the loss begins at {first_loss:.2f}, near ln(2)"
    if framework == "transformers":
        why = f"a language-model loss of {framework} that begins at {first_loss:.2f}"
        return None if _own_module(config) or _small(first_loss, config) else ("sft", why)
    if first_loss < CLASSES_LOSS:
        return _by_family(config)
    return None


def _of_language(
    names: Collection[str],
    first_loss: float,
    config: Mapping[str, Configured],
    first_held_out: float | None,
) -> bool:
    """Whether a loss begins where only that of an untrained language model does.

    Where words of language are logged, or set, far from 0; else near ln of a usual vocabulary, and
    nothing is scored that is no text's, nor the loss told in parts.
    """
    if OF_IMAGES & config.keys() or not SCRATCH_LOSS < first_loss < NO_LANGUAGE_LOSS:
        return False
    told = {word for name in (*names, *config) for word in words(name)}
    if LANGUAGE & told or any(begins(name, GENERATED) for name in names):
        return True
    known = first_held_out is None or first_held_out > LEAST_HELD_OUT
    scored = OF_CLASSES & set(names) or OF_SCORES & told
    parts = any("loss" in words(n) and n not in {"train_loss", "eval_loss"} for n in names)
    return known and not (scored or parts) and _between(first_loss, USUAL_SCRATCH)


def _own_module(config: Mapping[str, Configured]) -> bool:
    """Whether all arguments of the Trainer are known and no model of transformers is among them.

    The Trainer's loggers write the model's own configuration too, where it has one.
    """
    return all(key in config for key in ARGUMENTS) and not any(key in config for key in MODEL)


def _small(first_loss: float, config: Mapping[str, Configured]) -> bool:
    """Whether a loss as low as that of a few classes is of a model too small to write so well.

    The Trainer counts no operations of a module that is none of transformers.
    """
    flos = config.get("flos_per_sample")
    if flos is not None and flos.value == 0:
        return True
    return 0 < _number(config, "flos_per_sample") < SMALL and first_loss < FEW_CLASSES


def own_transformer(config: Mapping[str, Configured]) -> bool:
    """Whether the settings of the training give the shape of a model, and name no trained one."""
    shaped = any(key in config for key in (*HEADS, *WIDTHS))
    named = any(key in config for key in (*TRAINED, "architectures", "model_type"))
    return shaped and not named and any(key in config for key in LAYERS)


def _by_family(config: Mapping[str, Configured]) -> tuple[Task, str] | None:
    for key in TRAINED:
        model = str(config[key].value) if key in config else ""
        if begins(model, FAMILIES):
            return "sft", f"starts from {model}"
    return None


def speaks(config: Mapping[str, Configured]) -> bool:
    """Whether the model that was saved is one of language: then classes are none of its own."""
    known = config.get("architectures")
    saved = known is not None and known.origin.endswith(SAVED)
    return saved and any(word in text_of(config, "architectures") for word in SPEAKING)


def begins_as_text(config: Mapping[str, Configured], first_loss: float | None) -> bool:
    """Whether a model that continues texts, without labels of its own, begins above chance of two.

    Trackers and logs print what a classifier was made of; with more than two labels they say so.
    """
    model = text_of(config, "architectures")
    writes = any(word in model for word in CONTINUING) and "num_labels" not in config
    return writes and first_loss is not None and first_loss > NEAR_CLASSES[1] * log(2)


def begins(name: str, beginnings: tuple[str, ...]) -> bool:
    """Whether a word of a logged name begins so: ``g_loss`` is no word of ``training_loss``."""
    return any(word.startswith(beginnings) for word in plain(name).split("_"))


def text_of(config: Mapping[str, Configured], key: str) -> str:
    """Return a setting as text; empty where it is not known."""
    value = config[key].value if key in config else None
    return "" if value is None else str(value)


def _between(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] < value < limits[1]


def _number(config: Mapping[str, Configured], key: str) -> float:
    value = config[key].value if key in config else None
    return float(value) if isinstance(value, int | float) else 0.0
