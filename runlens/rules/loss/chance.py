"""The loss of a model that knows nothing, and how low a loss must come to be called learned."""

from math import exp, inf, log

import numpy as np

from runlens import fixes
from runlens.arrays import median, quantile
from runlens.diagnosis import Fix, Severity
from runlens.history import Curve, FloatArray
from runlens.knowledge.in_force import MOST_OF_A_TOKEN
from runlens.records import NamedTuple
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import Run
from runlens.signals import held_out
from runlens.signals.changes import last_false
from runlens.signals.noise import sigma, smooth
from runlens.wording import loss, number, percent

ACCUMULATED = "gradient_accumulation_steps"
SHORTEST_WINDOW = 32  # tokens; see `of_language`
# of GPT-2, BERT, Llama 1 to 3, Mistral, Qwen, Gemma, T5, and their padded sizes; of Penn Treebank,
# WikiText-2, RWKV, SmolLM; 8,000 and 16,000 of SentencePiece's README
KNOWN_VOCABULARIES = (
    8_000, 10_000, 16_000, 30_522, 32_000, 32_128, 32_768, 33_278, 49_152, 50_257, 50_304, 65_536,
    128_256, 151_936, 256_000,
)  # fmt: skip
# of CIFAR-10 and MNIST, CIFAR-100, ImageNet; not 2, where healthy losses lie by coincidence
KNOWN_CLASSES = (10, 100, 1_000)
MOST_CLASSES = 1_000
OWN_NUMBER = 0.02  # of a class: one in 25 constants lies as near to the logarithm of some number
NAMED = 0.002  # of a class: one constant in 250 names a number so well by coincidence
NEARLY_ALL = 0.9  # of the points: a last batch of few rows does no harm
PREFERENCE_START = {"hinge": 1.0, "kto": 0.5, "kto_pair": 0.5}
IPO_BETA = 0.1  # of TRL's DPOConfig
TRAINED_BELOW = 6.0  # nats per token: a trained language model starts far below, at 0.5 to 4
READS_BELOW = 4.0  # nats per token, of the same range: what a trained model ends below on any text
NOT_TRAINED = "Wrong chat template or tokenizer, or a newly initialized head"
EXACT = 5e-4  # share of a level by which its first four digits are those of another
FAR = 4.0  # deviations of the second half: beyond it 1 of 16,000 points lies by chance
BATCHES = range(4, 17)  # powers of two: 16 pairs to OpenAI's CLIP of 32,768, and twice that
EPOCH = 50  # updates, at the least, of an epoch: 1,600 rows in batches of 32
# of chance: whoever knows how often each token comes is at 0.7 of it (text in 30,000 to 50,000)
HARDLY_LEFT = 0.85
OF_TEXT = 10_000  # tokens: what is drawn from fewer may be as good as random
COIN, HALF, ABOUT = log(2), 0.5, 0.1  # loss and accuracy of a coin, and how near it is one
GUESSED = 0.02  # over a half: less a coin has on 600 samples in one of six evaluations
KNOWS = 0.98  # of the least loss of a constant answer: below it a model knows more
LEARNS = 0.05  # fall of a loss below a coin's: more than its noise gives
SCRATCH = 0.9  # share of chance from which a start is that of an untrained model


class Chance(NamedTuple):
    """The loss at chance: a level, or a short range where a factor is not known."""

    level: float
    lowest: float  # below `level` where the framework may divide by more tokens than it predicts
    name: str  # "ln 4 = 1.386"
    wide: bool = False  # accuracies that scatter name it, and the loss may lie somewhat above
    told: str = ""  # what else it shows, as a sentence
    severity: Severity | None = None  # where it names itself
    looks: tuple[Fix, ...] = ()


def of_run(run: Run) -> Chance | None:
    """Return the loss at chance, or None where the run does not say what it chooses from."""
    if run.task in LANGUAGE_TASKS:
        return of_language(run)
    if run.task == "classification":
        return of_classes(classes(run))
    if run.task in {"dpo", "reward-model"}:
        return of_preferences(run)
    if run.task == "contrastive":
        batch = run.number("per_device_train_batch_size")
        return of_classes(batch and batch * (run.number("num_processes") or 1))
    return None


def classes(run: Run) -> float | None:
    """Return the number of classes by the settings; None where they do not say."""
    named = sum(key.startswith(("id2label.", "id2label/")) for key in run.config)
    return run.number("num_labels") or (float(named) if named > 1 else None)


def of_classes(number: float | None) -> Chance | None:
    """Return ln of the number of classes; None below two."""
    if not number or number < 2:  # noqa: PLR2004 - one class is no choice
        return None
    return Chance(log(number), log(number), f"ln {number:,.0f} = {loss(log(number))}")


def of_language(run: Run) -> Chance | None:
    """Return ln of the vocabulary.

    transformers divides the loss of the L - 1 predicted tokens of a window by all L labels, so
    chance is (L - 1) / L of that; where the window is not known, up to 1 / 32 lower.
    """
    vocabulary = run.number("vocab_size")
    return of_vocabulary(vocabulary, run.number("max_length")) if vocabulary else None


def of_vocabulary(vocabulary: float, window: float | None = None) -> Chance | None:
    """Return chance for a vocabulary and a window in tokens; None below two tokens."""
    if vocabulary < 2:  # noqa: PLR2004 - one token is no choice
        return None
    full = log(vocabulary)
    lowest = full * (1 - 1 / max(window or SHORTEST_WINDOW, 2))
    name = f"ln {vocabulary:,.0f} = {loss(full)}"
    if full - lowest > 0.01 * full:
        name += f" (down to {loss(lowest)} for short sequences)"
    return Chance(full, lowest, name)


def of_known_vocabulary(level: float) -> Chance | None:
    """Return chance for the well-known vocabulary that explains a level to 0.1 %, if one does."""
    near = [size for size in KNOWN_VOCABULARIES if abs(level - log(size)) <= 1e-3 * level]
    return of_vocabulary(min(near, key=lambda size: abs(level - log(size))), inf) if near else None


def of_start(first: float) -> Chance | None:
    """Return chance for the well-known vocabulary whose logarithm a first loss is to 0.05 %."""
    at = of_known_vocabulary(first)
    return at if at and abs(first - at.level) <= EXACT * at.level else None


def of_known_classes(level: float) -> Chance | None:
    """Return chance for the well-known number of classes that explains a level to four digits."""
    near = (size for size in KNOWN_CLASSES if abs(level - log(size)) <= EXACT * level)
    return of_classes(next(near, None))


def of_own_number(curve: Curve, share: float) -> Chance | None:
    """Return chance for the number that a constant loss names itself: 2.3026 is ln 10.

    `share` of its level is how far nine in ten of its points move that count as constant.
    """
    half = curve.value[len(curve) // 2 :]
    level = float(median(half)) if len(half) else 0.0
    if not log(2) - 0.01 < level < log(MOST_CLASSES):
        return None
    if quantile(np.abs(half - level), NEARLY_ALL) > share / 2 * level:
        return None
    number = round(exp(level))
    return of_classes(number) if abs(exp(level) - number) <= OWN_NUMBER else None


def names_number(level: float) -> bool:
    """Whether a level is the logarithm of a whole number to the digit that no chance explains.

    >>> names_number(1.0986), names_number(1.1)
    (True, False)
    """
    return abs(exp(level) - round(exp(level))) <= NAMED


def of_two_losses(train: Curve, evals: Curve, share: float) -> Chance | None:
    """Return chance where both losses name one number, and neither was ever elsewhere.

    That one loss lies at ln 2 may be chance; that two do from their first point on is not.
    """
    at = of_own_number(train, share)
    if at is None or at != of_own_number(evals, share):
        return None
    far = max(float(np.abs(curve.value - at.level).max()) for curve in (train, evals))
    return at if far <= share * at.level / 2 else None


def of_sum(run: Run, train: Curve, share: float, most: float) -> Chance | None:
    """Return chance where a loss is that of so many guesses as the settings sum up; else None.

    32 micro-batches of ten classes have 32 ln 10. Both numbers are settings of the run, it lies
    within `share` of their product, and began within `most` of that: other units seldom would.
    """
    known = classes(run), run.number("vocab_size")
    chosen = {choice for choice in known if choice and choice >= 2}  # noqa: PLR2004 - one is no choice
    if not len(train) or not chosen:
        return None
    level, first = float(median(train.value[len(train) // 2 :])), float(train.value[0])
    micro, batch = (run.number(key) or 1 for key in (ACCUMULATED, "per_device_train_batch_size"))
    sums = {micro: "micro-batches", batch: "samples of a batch", micro * batch: "samples of a step"}
    for parts, what in sums.items():
        for choice in chosen:
            summed = parts * log(choice)
            far = abs(level - summed), abs(first - summed)
            if parts < 2 or far[0] > share * summed or far[1] > most * summed:  # noqa: PLR2004 - of one there is no sum
                continue
            name = f"{parts:,.0f} × ln {choice:,.0f} = {loss(summed)}"
            told = f"The loss is a sum over {parts:,.0f} {what}, each at ln {choice:,.0f}."
            mean = fixes.look(
                f"Print the loss that backward() gets, and divide it by {parts:,.0f} if it is the "
                "sum",
                f"the gradient of such a sum is {parts:,.0f} times as large, and so is its update",
            )
            return Chance(summed, summed, name, told=told, severity="warning", looks=(mean,))
    return None


def of_pairs(level: float) -> Chance | None:
    """Return chance for the usual batch of pairs that explains a level to four digits.

    CLIP chooses one of N texts for an image, SimCLR one of 2N - 1 other views; N is a power of two.
    """
    sizes = [size for power in BATCHES for size in (2**power, 2 ** (power + 1) - 1)]
    near = (size for size in sizes if abs(level - log(size)) <= EXACT * level)
    return of_classes(next(near, None))


def of_settings(run: Run, level: float) -> Chance | None:
    """Return chance for the number among the settings that explains a level to four digits.

    ``nmb_prototypes: 50`` beside a loss of 3.912: ln of what the run chooses from, whatever it
    calls that. None where no setting is such a number.
    """
    for key, setting in run.config.items():
        number = setting.value
        if isinstance(number, bool) or not isinstance(number, int) or number < 2:  # noqa: PLR2004 - one is no choice
            continue
        if abs(level - log(number)) <= EXACT * level:
            return Chance(log(number), log(number), f"ln {key} = ln {number:,} = {loss(level)}")
    return None


def of_preferences(run: Run) -> Chance:
    """Return the loss of a policy that still equals its reference."""
    kind = str(run.setting("loss_type") or "sigmoid").lower()
    if kind == "ipo":
        level = (1 / (2 * (run.number("beta") or IPO_BETA))) ** 2
        return Chance(level, level, f"(1 / 2 beta)² = {loss(level)}")
    level = PREFERENCE_START.get(kind, log(2))
    name = "ln 2 = 0.693" if kind not in PREFERENCE_START else f"{loss(level)} ({kind})"
    return Chance(level, level, name)


def from_scratch(run: Run, start: float) -> bool:
    """Whether the run starts at the loss of an untrained model."""
    chance = of_run(run)
    return chance is not None and start >= SCRATCH * chance.lowest


def hardly_left(run: Run, first: float, last: float) -> str:
    """Say that a language model that began at chance ended near it; empty where it did not.

    Of a run that came to its end: one that was cut had not the time. Of two classes as well, where
    about half of the evaluation's answers are right at the end.
    """
    if run.task == "classification":
        right = held_out.as_share(run.curve("eval_accuracy").finite().value)
        return _of_a_coin(right, first, last) if len(right) else ""
    share = run.state.done_share
    ended = run.state.kind == "finished" if share is None else share >= SCRATCH
    at = of_run(run) or of_known_vocabulary(first)
    if not ended or run.task not in LANGUAGE_TASKS or at is None or at.level < log(OF_TEXT):
        return ""
    left = last / at.level
    if first < SCRATCH * at.lowest or not HARDLY_LEFT <= left <= 1:
        return ""
    return f"but that is {percent(left)} of what a guess has, {at.name}"


def _of_a_coin(right: FloatArray, first: float, last: float) -> str:
    """Say that a loss of two classes stays at a coin's, or `right`, shape (n,), does, n not 0."""
    if abs(first - COIN) > LEARNS * COIN:
        return ""
    if abs(last - COIN) <= LEARNS * COIN:
        coin = abs(float(median(right[len(right) // 2 :])) - HALF) <= ABOUT
        return f"but that is {percent(last / COIN)} of what a guess has, ln 2" if coin else ""
    low, high = float(right.min()), float(right.max())
    if low >= HALF - ABOUT and high <= HALF + GUESSED:
        return f"but eval accuracy is {number(high)} at best, and a guess of two classes has 0.5"
    return ""


def above_guessing(run: Run, last: float) -> str:
    """Say that a language model ends above what guessing has, in any vocabulary; "" where not.

    Above what a token can have it is a sum over more of them, which says nothing.
    """
    most = max(KNOWN_VOCABULARIES)
    if run.task not in LANGUAGE_TASKS or not log(most) < last <= MOST_OF_A_TOKEN:
        return ""
    return f"but who guesses among {most:,} tokens has {loss(log(most))}"


def start_words(start: float) -> str:
    """Say that a first loss is too high for a model that was trained before."""
    return f"the loss started at {loss(start)}; a pretrained model starts below {TRAINED_BELOW:g}"


def high_start(run: Run, first: float) -> str:
    """Say that a fine-tune starts where no trained model does; empty where it does not."""
    if run.task != "sft" or not TRAINED_BELOW <= first <= MOST_OF_A_TOKEN:
        return ""
    return f"; {start_words(first)}: look at template, tokenizer and head"


def updates(run: Run) -> int:
    """Return the updates done, at the least; a log that counts epochs alone has many in each."""
    return run.last_step * (EPOCH if by_epoch(run) else 1)


def by_epoch(run: Run) -> bool:
    """Whether a log counts epochs alone, of which each has many updates."""
    return run.state.done_epochs is not None and run.state.done_epochs >= run.last_step


def onset(train: Curve, at: Chance, slack: float) -> int:
    """Return the index from which the loss lies at chance; early wandering counts as chance."""
    shown = smooth(train.value)
    wide = 2 * slack + 2 * sigma(train.value[len(train) // 2 :]) / 5**0.5
    inside = (shown >= at.lowest - wide) & (shown <= at.level + wide)
    half = len(train) // 2
    index = last_false(inside[:half]) + 1
    if index < 0.1 * len(train):
        return 0
    rest = train.value[half:]
    far = np.abs(train.value[:half] - median(rest)) > FAR * float(rest.std())
    return max(index, last_false(~far) + 1)  # a mean hides how wild the loss was
