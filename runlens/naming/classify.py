"""What a logged name means: split, quantity, statistic, scope."""

from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from runlens.naming.quantities import OBJECTIVES, QUANTITIES, SCORES_OF_AGENTS, WRONG_ANSWERS, Bag
from runlens.naming.vocabulary import (
    EPOCH,
    FILLERS,
    SPLITS,
    STATISTICS,
    STEP,
    Split,
    Statistic,
)
from runlens.naming.words import KEPT, words

AVERAGES = frozenset(("", "mean"))
SURE = 0  # rank of what needs no other name to be understood
BY_LETTER = 1  # of v_loss, which is a validation loss where it is none of a value function
LETTERS: dict[str, Split] = {"v": "val", "t": "train"}
SUMMED = 1_000  # of a sum over what is not said, which grows with the data
RIGHT = frozenset(("correct", "hits"))  # of all, which stand behind them: 296/1500
MANY = frozenset(("rewards", "returns"))
# whose mean is taken over so many of them, or over the last so many
OF_EPISODES = frozenset(("reward", "return", "score"))
LAST = "last"


class Meaning(Struct, frozen=True):
    """What a name says, as far as its words are known.

    `quantity` is "" for a name that is not understood. `rank` is 0 where the name says it alone;
    others are its meaning only where a run logs nothing better, the lowest first.
    """

    split: Split = ""
    quantity: str = ""
    statistic: Statistic = ""
    scope: str = ""  # "epoch", "step" or ""
    rank: int = SURE
    kind: str = ""  # of an objective: "nll", "mse"

    @property
    def sure(self) -> bool:
        """Whether the name alone says what it is."""
        return bool(self.quantity) and self.rank == SURE


_OBJECTIVE = {bag: rank for rank, bag in enumerate(OBJECTIVES, 1)}
_WRONG = {bag: rank for rank, bag in enumerate(WRONG_ANSWERS, 1)}
_SCORE = {bag: rank for rank, bag in enumerate(SCORES_OF_AGENTS, 1)}


@lru_cache(maxsize=KEPT)
def classify(name: str) -> Meaning:
    """Return what a name means by the set of its words.

    >>> classify("Loss/val").quantity, classify("Loss/val").split
    ('loss', 'val')
    """
    found = words(name) or ("",)
    split, statistic = split_of(found), _statistic(found)
    scope = "epoch" if EPOCH & set(found) else "step" if STEP & set(found) else ""
    for bag in _bags(found, statistic):
        quantity, rank, kind = _meaning(bag)
        if quantity == "accuracy" and "mean" in found:
            break  # of classes
        if rank and quantity == "loss" and name.rstrip().endswith("%"):
            break  # a share: "Error %"
        if quantity and split is not None:
            doubt = SUMMED if statistic == "sum" else BY_LETTER if found[0] in LETTERS else SURE
            told: Statistic = "" if quantity == "reward" and statistic == "sum" else statistic
            return Meaning(split, quantity, told, scope, max(rank, doubt), kind)
    return Meaning(split or "", statistic=statistic, scope=scope)


def split_of(found: tuple[str, ...]) -> Split | None:
    """Return the split that the words name; None where they contradict each other.

    Before the quantity the last one counts: ``train/val_loss`` is what training printed of
    validation.
    """
    named = [(at, SPLITS[word]) for at, word in enumerate(found) if word in SPLITS]
    if not named:
        return LETTERS.get(found[0], "") if len(found) > 1 else ""
    splits = {split for _, split in named}
    if splits == {"val", "test"}:
        return "test"  # eval_loss_on_test
    if len(splits) > 1 and named[-1][0] == len(found) - 1:
        return None
    return named[-1][1]


def _statistic(found: tuple[str, ...]) -> Statistic:
    """Return the statistic: an extreme or a spread counts more than the mean that it is of.

    Of the last so many it is their mean: ``ret_last20``.
    """
    named = [STATISTICS[word] for word in found if STATISTICS.get(word)]
    last = any(word == LAST and after.isdigit() for word, after in pairwise(found))
    named = named or (["mean"] if last and (OF_EPISODES | MANY) & set(found) else [])
    return next((one for one in named if one not in AVERAGES), named[0] if named else "")


def _bags(found: tuple[str, ...], statistic: Statistic) -> list[Bag]:
    """Return the sets of words that may be the quantity, the fullest first."""
    told = {
        word
        for before, word in zip(("", *found), found, strict=False)
        if word not in SPLITS
        and not STATISTICS.get(word)
        and not (word.isdigit() and before in SPLITS)  # valid_0, valid_1: of several sets
    }
    told -= set(LETTERS) & set(found[:1])
    # of several rewards a mean is one number, as is one of 100 episodes; rewards/accuracy/mean is
    # that of a reward function, and no share of pairs
    if statistic == "mean" and not {"rewards", "acc"} <= told:
        told = {word.removesuffix("s") if word in MANY else word for word in told}
        if told & OF_EPISODES and (over := {word for word in told if word.isdigit()}):
            told -= over | {"last"}
    bare = told - FILLERS
    return [frozenset(one) for one in (told, bare, bare - EPOCH - STEP) if one]


def wrong_answers(name: str) -> int:
    """Return how far a name is believed to count answers that were wrong, 1 the most; 0: not."""
    found = words(name)
    bags = _bags(found, statistic) if (statistic := _statistic(found)) in AVERAGES else []
    return next((rank for bag in bags if (rank := _WRONG.get(bag, 0))), 0)


def says_right(name: str) -> bool:
    """Whether a name is that of answers that were right, of whatever data: ``hits``."""
    return len(RIGHT & set(words(name))) == 1 and RIGHT | SPLITS.keys() >= set(words(name))


def _meaning(bag: Bag) -> tuple[str, int, str]:
    if quantity := QUANTITIES.get(bag):
        return quantity, SURE, ""
    if rank := _OBJECTIVE.get(bag):
        return "loss", rank, " ".join(sorted(bag))
    return ("reward", rank, " ".join(sorted(bag))) if (rank := _SCORE.get(bag)) else ("", 0, "")
