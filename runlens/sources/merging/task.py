"""What kind of training a run was: by its configuration, else by what it logged.

The signs are tried in the order of the code; the first hit wins, and it is kept as a sentence,
because every rule's scope hangs on it.
"""

from collections.abc import Collection, Mapping, Sequence

from runlens.metrics import naming, plain
from runlens.naming import classify, words
from runlens.naming.vocabulary import SPLITS
from runlens.records import NamedTuple
from runlens.run import Configured, Task
from runlens.sources.merging.task_levels import (
    begins,
    begins_as_text,
    by_loss,
    own_transformer,
    speaks,
    text_of,
)
from runlens.sources.merging.task_words import (
    ABSOLUTE,
    ADAPTED,
    BY_METHOD,
    BY_METRIC,
    BY_WORD,
    CLASSES_LOSS,
    CLASSIFIERS,
    CONTRASTIVE,
    CORRELATIONS,
    ERRORS,
    FINE_TUNERS,
    GENERATED,
    GENERATIVE,
    MEASURED_ON,
    METHOD_KEYS,
    NO_LANGUAGE_LOSS,
    OBJECTIVE_KEYS,
    OF_AGENTS,
    OF_CLASSES,
    OF_LONE_PAIRS,
    OF_NUMBERS,
    OF_PAIRS,
    OF_PARTS,
    OF_RANKINGS,
    OF_TEXTS,
    PARTS,
    PROGRAM_KEYS,
    RATED,
    READING,
    RL_FRAMEWORKS,
    RL_METRICS,
    SCORES,
    SCRATCH_LOSS,
    SPEECH,
    TRAINED,
    WRITING,
    answers,
    of_an_agent,
    of_texts,
)

# How much a sign says, in log odds as counted in labelled runs: a setting that names the method is
# never wrong, a level of the loss is in one run of ten. Two tasks less than LEAD apart are neither.
SAYS_METHOD, OF_METHOD, PROGRAM, POLICY = 32.0, 16.0, 10.0, 8.0
ARCHITECTURE, SETTING, SCORE, LEVEL = 6.0, 4.0, 3.5, 2.0
LEAD = 1.0
SUMMED = 4  # times the first loss of the evaluation: one that was added up over so many batches


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
    first_held_out: float | None = None,
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
        first_held_out: the first evaluation loss, None where none was logged.

    """
    signs = [
        Sign(decided[0], weight, decided[1])
        for weight, decided in (
            (SAYS_METHOD, _by_method(config)),
            (OF_METHOD, _by_names(names, logged, config, framework)),
            (PROGRAM, _by_program(config, called)),
            (POLICY, _by_policy(names, logged)),
            (ARCHITECTURE, _by_model(names, config)),
            (ARCHITECTURE, _by_contrast(config, logged or names)),
            (SCORE, _by_generation(names, config, framework)),
            (
                SCORE,
                _by_scores(names, logged, config, _mean(names, first_loss, first_held_out)),
            ),
            (SETTING, _by_objective(config)),
            (SCORE, _by_entropy(first_loss, first_entropy)),
            (LEVEL, by_loss(names, first_loss, config, framework, first_held_out)),
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
    scored = bool(OF_CLASSES & set(names))
    known = {*names, *(name.removeprefix("train_") for name in names)}
    for wanted, task in BY_METRIC:
        hits = [name for name in wanted if name in known and not (scored and name in PARTS)]
        imitates = task == "gan-diffusion" and "reward" in names  # GAIL; TRPO's change of its loss
        if hits and not imitates and not (task == "asr" and _reads_images(config)):
            return task, f"logs {hits[0]}"
    rated = sorted(one for one in logged if {"bt", "bradley"} & set(words(one)))
    if rated and "dpo_acc" in names:  # Bradley-Terry: which of two answers is the better one
        return "reward-model", f"logs {rated[0]} of pairs"
    if framework == "llama-factory" and "dpo_acc" in names:  # its log names nothing else of them
        return "dpo", "logs the accuracy of rewards in training"
    if framework in RL_FRAMEWORKS:
        return "rl", f"written by {framework}"
    hits = [n for n in sorted(logged) if n.startswith(RL_METRICS) or "episode" in n.lower()]
    episodes = any("episode" in words(name) for name in logged)  # EpLen
    if of_an_agent(names, logged):
        return "rl", "logs reward and the loss of a critic, and nothing of texts"
    lengths = "len_mean" in names and (framework == "transformers" or answers(logged))
    texts = answers(logged, "kl") or (framework == "transformers" and not episodes)
    if "reward" in names and (lengths or ("kl" in names and texts)):
        return "grpo", "logs reward with completion lengths or KL"
    if "kl_step" in names and "len_mean" in names:
        return "ppo", "logs the KL of each update and response lengths"
    if hits:
        return "rl", f"logs {hits[0]}"
    return None


def _in_groups(names: Collection[str], logged: Collection[str]) -> bool:
    """Whether a reward and its spread are logged as TRL calls them, and nothing that an agent has.

    Loops of agents write ``mean_reward`` and ``std_reward``, episodes, or the loss of a critic.
    """
    said = {plain(name).removeprefix("train_") for name in logged}
    acts = OF_AGENTS - {"reward", "rewards", "policy"}
    agent = {"policy_loss", "value_loss", "critic_loss"} & set(names)
    agent |= {name for name in logged if acts & set(words(name))}
    return {"reward", "reward_std"} <= said and not agent


def _by_policy(names: Collection[str], logged: Collection[str]) -> tuple[Task, str] | None:
    """Tell a policy by its reward or its losses, which every method logs; then parts of others."""
    told = sorted(name for name in logged if OF_TEXTS & of_texts(name))
    if told and "reward" in names:
        return "grpo", f"logs reward and {told[0]}"
    if _in_groups(names, logged):
        return "grpo", "logs reward and reward_std, as of groups of completions"
    if "reward" in names and not set(names) >= RATED and not _of_money(names, logged):
        return "rl", "logs reward, and nothing of texts"
    parts = {"policy_loss", "value_loss", "critic_loss", "kl", "kl_step"} & set(names)
    if len(parts) > 1 and parts & {"policy_loss", "value_loss"}:
        of_updates = next((name for name in sorted(logged) if "ppo" in words(name)), "")
        if of_updates and not any("episode" in name.lower() for name in logged):
            return "ppo", f"logs losses of a policy and {of_updates}"
        return "rl", "logs the losses of a policy"
    hits = [name for name in sorted(logged) if begins(name, GENERATIVE)]
    right = {"acc"} | OF_RANKINGS
    scored = any(right & set(words(n)) and not begins(n, GENERATIVE) for n in logged)
    several = any(words(n)[:1] == ("task",) for n in logged)  # of which what is generated is one
    if hits and not (scored or several) and not OF_CLASSES & set(names):
        return "gan-diffusion", f"logs {hits[0]}"
    return None


def _of_money(names: Collection[str], logged: Collection[str]) -> bool:
    """Whether a return is one of investments: beside a model that is fitted to held-out data too.

    Nothing is called a reward, and no agent is told of.
    """
    said = {word for name in logged for word in words(name)}
    return {"train_loss", "eval_loss"} <= set(names) and not OF_AGENTS & said


def _by_model(names: Collection[str], config: Mapping[str, Configured]) -> tuple[Task, str] | None:
    model, kind = text_of(config, "architectures"), text_of(config, "model_type")
    named = model or kind
    if {"dpo_margin"} & set(names) or {"dpo_acc", "min_reward"} <= set(names):
        return "reward-model", "logs the margin between rewards"
    problem, adapted = text_of(config, "problem_type"), text_of(config, "task_type")
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
    trained = any(text_of(config, key) for key in TRAINED)
    writes = any(word in model for word in ("ConditionalGeneration", "EncoderDecoder"))
    if writes and trained and speaks(config):
        return "sft", f"the model is a {model}, trained before"
    return None


def _by_objective(config: Mapping[str, Configured]) -> tuple[Task, str] | None:
    """Take the task from the loss that the settings name: a squared error is one of numbers."""
    for key in OBJECTIVE_KEYS:
        if classify(text_of(config, key)).kind in OF_NUMBERS:
            return "regression", f"{key} is {text_of(config, key)}"
    return None


def _by_contrast(
    config: Mapping[str, Configured], logged: Collection[str]
) -> tuple[Task, str] | None:
    """Tell a loss of pairs by its name: an accuracy beside it is one of pairs, or of neighbors."""
    losses = [name for name in sorted(logged) if "loss" in words(name)]
    alone = len({frozenset(words(name)).difference(SPLITS) for name in losses}) == 1
    of_pairs = OF_PAIRS | OF_LONE_PAIRS if alone else OF_PAIRS
    named = [name for name in sorted(logged) if of_pairs & set(words(name))]
    if named:
        return "contrastive", f"logs {named[0]}"
    for key in OBJECTIVE_KEYS:
        text = text_of(config, key) or text_of(config, f"{key}._target_")  # Hydra's
        if any(one in text.lower().replace("_", "") for one in CONTRASTIVE):
            return "contrastive", f"{key} is {text}"
    return None


def _reads_images(config: Mapping[str, Configured]) -> bool:
    keys = ("architectures", "model_type", *TRAINED)
    text = " ".join(text_of(config, key) for key in keys).lower()
    return any(word in text for word in READING)


def _by_generation(
    names: Collection[str], config: Mapping[str, Configured], framework: str
) -> tuple[Task, str] | None:
    """Look for scores of a text that was generated; frameworks for translation train from 0."""
    hits = [n for n in sorted(names) if n.startswith("eval_") and begins(n, GENERATED)]
    if hits and framework in {"transformers", *FINE_TUNERS} and not own_transformer(config):
        return "sft", f"logs {hits[0]}"
    return None


def _mean(
    names: Collection[str], first_loss: float | None, first_held_out: float | None
) -> float | None:
    """Return the first loss; where it can only be a sum, that of the evaluation beside it.

    With scores of classes it is one where the evaluation lies far below from the start.
    """
    if first_loss is None or first_held_out is None:
        return first_loss
    scored = any(SCORES & set(words(name)) for name in names)
    summed = first_loss > NO_LANGUAGE_LOSS or (scored and first_loss > SUMMED * first_held_out)
    return first_held_out if summed else first_loss


def _by_scores(
    names: Collection[str],
    logged: Collection[str],
    config: Mapping[str, Configured],
    first_loss: float | None,
) -> tuple[Task, str] | None:
    if "token_accuracy" in names:
        return "sft", "logs token accuracy"
    said = {word for name in names for word in words(name)}
    if OF_PARTS & said or WRITING & config.keys() or any(begins(n, GENERATED) for n in names):
        return None  # of parts of an image, of symbols of a text, or of texts
    if any(naming(name).metric.endswith("_ppl") for name in names):
        return None  # of symbols too
    scores = [
        name
        for name in sorted(names)
        if name in {"eval_accuracy", "train_accuracy"} or SCORES & set(words(name))
    ]
    spoken = speaks(config) or begins_as_text(config, first_loss)
    correlated = [name for name in sorted(names) if CORRELATIONS & set(words(name))]
    if correlated and not OF_CLASSES & set(names):
        return "regression", f"logs {correlated[0]}"
    if scores and not spoken and (first_loss is None or first_loss < CLASSES_LOSS):
        return "classification", f"logs {scores[0]}"
    held_out = (name for name in logged if classify(name).split in {"val", "test"})
    absolute = [name for name in held_out if ABSOLUTE & set(words(name))]  # though it be the loss
    errors = [name for name in (*names, *absolute) if _is_error(name)]
    if errors:
        return "regression", f"logs {min(errors)}"
    return None


def _is_error(name: str) -> bool:
    """Whether a name is that of an error of numbers, whatever the data: ``OOF MAE``."""
    plainly = name.lower().removeprefix("eval_").removeprefix("train_")
    return plainly in ERRORS or " ".join(w for w in words(name) if w not in MEASURED_ON) in ERRORS


def _by_entropy(first_loss: float | None, first_entropy: float | None) -> tuple[Task, str] | None:
    """Tell a summed loss from that of an untrained model: the entropy of one is its loss."""
    if first_loss is None or first_entropy is None or first_loss <= SCRATCH_LOSS:
        return None
    if 0 <= first_entropy < first_loss / 4:
        return "sft", f"an entropy of {first_entropy:.2f} is that of a trained language model"
    return None
