"""Whether two runs may be compared: what must agree first, what should, and what is not known.

A hard point that fails makes raw losses incomparable: another tokenizer or vocabulary, another
family of base models, another task or loss, other labels that count, another evaluation set, label
smoothing, a loss that is scaled; of policies another reward. What no file records is "not known to
be equal", and never fails.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from runlens.comparing.canonical import Pair, Settings, last_part, number, paired, typed
from runlens.comparing.evaluated import before_training, evaluation_set, training_data
from runlens.comparing.fairness import fair
from runlens.comparing.other_data import by_curves
from runlens.comparing.rewards import WHAT as REWARD
from runlens.comparing.rewards import reward
from runlens.comparing.signs import Signs, common, whole_ratio
from runlens.comparison import STILL, Check
from runlens.metrics import base
from runlens.patterns import lazy_re
from runlens.run import LANGUAGE_TASKS, RL_TASKS, Run, Setting, Task
from runlens.wording import loss, times
from runlens.wording import number as as_number

NOT_KNOWN = "not known to be equal"
TASK = "Task"
TEXT_TASKS: frozenset[Task] = LANGUAGE_TASKS | RL_TASKS | {"dpo", "reward-model"}
PADDING = 0.01  # relative: a vocabulary that is padded, or has a few tokens more
HELD = 0.05  # relative: how near to its first value the ratio of two scaled losses stays
FEWEST_SCALED = 3  # points over which it does

TOKENIZER = ("tokenizer", "tokenizer_name", "tokenizer_name_or_path", "tokenizer_path",
             "tokenizer_type", "tokenizer_class", "tokenizer_model", "tokenizer_hash")  # fmt: skip
MASK = ("train_on_inputs", "completion_only_loss", "assistant_only_loss", "roles_to_train",
        "train_on_eot", "mask_prompt", "mask_history", "data_collator", "response_template",
        "dataset_kwargs.skip_prepare_dataset", "train_on_source")  # fmt: skip
TEMPLATE = ("chat_template", "template", "chat_template_path", "prompt_template", "conversation")
LOSS = ("loss_type", "rl", "problem_type", "loss_reduction", "reduction", "objective", "loss_fn",
        "criterion")  # fmt: skip
OF_PREFERENCES = ("beta", "rpo_alpha", "loss_weights")  # scale the loss of DPO and its kin
FAMILIES = (
    "llama", "chatglm", "qwen", "mistral", "mixtral", "gemma", "phi", "pythia", "falcon", "bloom",
    "opt", "glm", "deepseek", "baichuan", "internlm", "smollm", "gpt2", "gpt-neo", "gpt-j", "olmo",
    "stablelm", "starcoder", "yi", "roberta", "deberta", "distilbert", "electra", "albert",
    "modernbert", "bert", "t5", "bart", "pegasus", "whisper", "wav2vec2", "hubert", "vit", "clip",
    "resnet", "mamba", "rwkv",
)  # fmt: skip
# metrics that mean the same whatever the tokens: what still compares where losses do not
TASK_METRICS = ("eval_accuracy", "eval_f1", "eval_wer", "eval_cer", "reward", "train_accuracy",
                "dpo_acc", "mAP")  # fmt: skip
OTHER_EVALUATION = frozenset({"Evaluation set", "Eval loss before training"})
LONG_NAME = 5  # letters from which a family is known inside of a word: TinyLlama
_GENERATION = r"(\d+(?:\.\d+)?(?![\d.]*[bm](?:-|$)))?"  # no size: 7b, 160m
BYTES = lazy_re(r"bits_per_byte|(^|[/_])bpb($|[/_])")


def checks(a: Run, b: Run) -> tuple[Check, ...]:
    """Return the points of fairness: the hard ones first; what may be compared where one fails."""
    signs = Signs(a, b, ())
    one, two = signs.settings
    if {a.task, b.task} <= RL_TASKS:
        hard = [_task(a, b), reward(a, b, one, two)]
        if a.task != "rl":
            hard.append(_base_model(one, two, hard=False))
    else:
        hard = _of_losses(a, b, signs)
    failed = {check.what for check in hard if check.hard and check.ok is False}
    return (*hard, *fair(signs), *([_still(a, b, failed)] if failed else []))


def _of_losses(a: Run, b: Run, signs: Signs) -> list[Check]:
    one, two = signs.settings
    texts = {a.task, b.task} <= TEXT_TASKS | {"other"}
    return [
        _task(a, b),
        _equal("Type of loss", (*LOSS, *(OF_PREFERENCES if a.task == "dpo" else ())), one, two),
        *([_tokenizer(one, two)] if texts else []),
        _base_model(one, two, hard=texts),
        *_classes(one, two),
        *([_mask(one, two), _equal("Chat template", TEMPLATE, one, two)] if texts else []),
        evaluation_set(a, b, one, two),
        *before_training(a, b, one, two),
        *training_data(a, b, one, two),
        *by_curves(signs),
        _equal("Label smoothing", ("label_smoothing_factor",), one, two),
        _scale(signs),
    ]


def _said(value: Setting) -> str:
    plain = number(value)
    if plain is not None:
        return as_number(plain)
    shown = typed(value)
    return "not set" if shown is None else str(value)


def _against(what: str, a: Setting, b: Setting) -> str:
    return f"{what} is {_said(a)} in A and {_said(b)} in B"


def known(keys: Sequence[str], a: Settings, b: Settings) -> list[Pair]:
    """Return those of the settings that both runs have, by whichever name."""
    return [one for one in paired(keys, a, b) if one.a and one.b]


def _equal(what: str, keys: Sequence[str], a: Settings, b: Settings) -> Check:
    """Check settings that must be the same; one that neither run was given is."""
    pairs = known(keys, a, b)
    for one in pairs:
        if one.differs and one.a and one.b:
            return Check(what, False, _against(one.key, one.a.value, one.b.value), hard=True)
    if not pairs or not (pairs[0].a and pairs[0].b):
        return Check(what, None, NOT_KNOWN, hard=True)
    return Check(what, True, f"{pairs[0].key} is {_said(pairs[0].a.value)} in both", hard=True)


def _task(a: Run, b: Run) -> Check:
    """Check the task. Two runs on tokens are told apart by their losses, which proves nothing."""
    if a.task == b.task and a.task != "other":
        return Check(TASK, True, f"{a.task} in both", hard=True)
    tasks = {a.task, b.task}
    if "other" in tasks or tasks <= LANGUAGE_TASKS or tasks <= RL_TASKS:
        return Check(TASK, None, f"{NOT_KNOWN}: {a.task} and {b.task}", hard=True)
    return Check(TASK, False, f"the task of A is {a.task}, that of B {b.task}", hard=True)


def _tokenizer(a: Settings, b: Settings) -> Check:
    what = "Tokenizer"
    sizes = a.number("vocab_size"), b.number("vocab_size")
    names = known(TOKENIZER, a, b)
    if sizes[0] and sizes[1] and abs(sizes[0] / sizes[1] - 1) > PADDING:
        why = f"the vocabulary has {sizes[0]:,.0f} entries in A and {sizes[1]:,.0f} in B"
        return Check(what, False, why, hard=True)
    models = _names(a, b)
    for one in names:
        if one.differs and one.a and one.b and not _both(sizes):
            return Check(what, False, _against(one.key, one.a.value, one.b.value), hard=True)
    if sizes[0] and sizes[0] == sizes[1]:
        return Check(what, True, f"a vocabulary of {sizes[0]:,.0f} in both", hard=True)
    if names and not any(one.differs for one in names):
        return Check(what, True, "the same by its name", hard=True)
    if models and models[0] == models[1]:
        return Check(what, True, f"that of {models[0]} in both", hard=True)
    return Check(what, None, NOT_KNOWN, hard=True)


def _both(values: tuple[float | None, float | None]) -> bool:
    return values[0] is not None and values[0] == values[1]


def _names(a: Settings, b: Settings) -> tuple[str, str] | None:
    """Return the last parts of the names of both base models; None where one is not known."""
    names = [typed(one.value("model_name")) for one in (a, b)]
    if not all(isinstance(name, str) and name for name in names):
        return None
    return last_part(str(names[0])), last_part(str(names[1]))


def family(name: str) -> str:
    """Return the family of models that a name shows, with the number of its generation."""
    plain = re.sub(r"[^a-z0-9.]+", "-", name.lower())
    for one in FAMILIES:
        start = r"(?<![a-z])" if len(one) < LONG_NAME else ""
        end = "" if start == "" else r"(?![a-z])"
        found = re.search(rf"{start}{re.escape(one)}{end}-?{_GENERATION}", plain)
        if found:
            return f"{one} {found[1]}" if found[1] else one
    return ""


def _base_model(a: Settings, b: Settings, *, hard: bool) -> Check:
    """Check the family of the base model: another size of it has the same tokens."""
    what = "Base model"
    names = _names(a, b)
    if names and names[0].lower() == names[1].lower():
        return Check(what, True, f"{names[0]} in both", hard=hard)
    kinds = known(("model_type", "architectures"), a, b)
    for one in kinds:
        if one.differs and one.a and one.b:
            return Check(what, False, _against(one.key, one.a.value, one.b.value), hard=hard)
    if names is None:
        if kinds and kinds[0].a:
            return Check(what, True, f"{_said(kinds[0].a.value)} in both", hard=hard)
        return Check(what, None, NOT_KNOWN, hard=hard)
    said = f"the base model is {names[0]} in A and {names[1]} in B"
    families = [family(name).split() for name in names]
    if all(families) and families[0][0] != families[1][0]:
        return Check(what, False, said, hard=hard)
    if all(families) and families[0] == families[1]:
        return Check(what, True, f"{said}: one family", hard=hard)
    return Check(what, None, f"{said}: {NOT_KNOWN} in tokens", hard=hard)


def _classes(a: Settings, b: Settings) -> list[Check]:
    counts = a.number("num_labels"), b.number("num_labels")
    if a.run.task != "classification" or not (counts[0] and counts[1]):
        return []
    if counts[0] == counts[1]:
        return [Check("Classes", True, f"{counts[0]:,.0f} in both", hard=True)]
    why = f"there are {counts[0]:,.0f} classes in A and {counts[1]:,.0f} in B"
    return [Check("Classes", False, why, hard=True)]


def _mask(a: Settings, b: Settings) -> Check:
    return _equal("Tokens that count in the loss", MASK, a, b)


def _scale(signs: Signs) -> Check:
    """Check that the training loss is not multiplied by gradient accumulation, or summed."""
    what = "Scale of the loss"
    ratio = signs.loss_times
    steps, one, two = common(signs.a, signs.b, "train_loss")
    if ratio is None or len(steps) < FEWEST_SCALED:
        return Check(what, None, NOT_KNOWN, hard=True)
    first = f"the first train loss is {loss(float(one[0]))} in A and {loss(float(two[0]))} in B"
    whole = whole_ratio(ratio)
    early = two[:FEWEST_SCALED] / one[:FEWEST_SCALED]
    held = bool((abs(early / ratio - 1) <= HELD).all())
    parts = [s.number("gradient_accumulation_steps") for s in signs.settings]
    fitting = {p for p in parts if p} | {p / q for p in parts for q in parts if p and q}
    if whole is None or not held:
        return Check(what, True, f"{first}: no whole multiple", hard=True)
    _, first_eval, second_eval = common(signs.a, signs.b, "eval_loss")
    even = len(first_eval) and abs(second_eval[0] / first_eval[0] - 1) <= HELD
    if whole in fitting and (parts[0] != parts[1] or even):
        return Check(what, False, f"{first}, {times(whole)}: scaled by accumulation", hard=True)
    if even and all(part is None for part in parts):
        return Check(what, False, f"{first}, {times(whole)}, at one eval loss", hard=True)
    return Check(what, None, f"{first}, {times(whole)}: {NOT_KNOWN} in scale", hard=True)


def _still(a: Run, b: Run, failed: AbstractSet[str]) -> Check:
    """Say what may be compared though the losses may not.

    Bits a byte where the tokens differ; scores of whole answers, but those of an evaluation only
    where both evaluate on one set; scores of single tokens never: they hang on the same choices.
    """
    both = [name for name in a.history.metrics if name in b.history.metrics]
    if failed & OTHER_EVALUATION:
        both = [name for name in both if not name.startswith("eval_")]
    if REWARD in failed:
        both = [name for name in both if not name.startswith(("reward", "eval_reward"))]
    tokens = failed <= {"Tokenizer", "Base model"}
    by_byte = [name for name in both if tokens and BYTES.search(name.lower())]
    tasks = [name for name in both if base(name) in TASK_METRICS]
    if by_byte:
        return Check(STILL, True, f"{by_byte[0]}: it does not depend on the tokens")
    if tasks:
        return Check(STILL, True, f"{', '.join(tasks[:3])}, and the shapes of the curves")
    policy = REWARD in failed
    other = "a score that no reward scales" if policy else "bits per byte or a task metric"
    return Check(STILL, None, f"the shapes of the curves alone, until you log {other}")
