"""One name for several numbers, dealt out among them: ``loss train/val = 0.5/0.6``."""

from collections.abc import Callable, Sequence

from runlens.patterns import lazy_re

_NAMED_NEXT = lazy_re(r" [A-Za-z]")  # behind a count: "val 3 loss 0.5"
# what a sentence counts that says its number behind it: "loss after 100 iterations = 0.5"
COUNTED_SO_FAR = lazy_re(r"\s?(?P<word>epochs|steps|iterations|updates|episodes|batches)(?=\s*=)")


def dealt(names: Sequence[str], is_data: Callable[[str], object]) -> list[str]:
    """Return the names of a line, each number of a list named after its own part of the name.

    `is_data` tells the name of data from others; that of the line may stand before its parts.

    >>> dealt(["Loss/Acc", "Loss/Acc[1]"], lambda word: word == "train")
    ['Loss', 'Acc']
    >>> dealt(["train/min/max reward", "train/min/max reward[1]"], lambda word: word == "train")
    ['train/min reward', 'train/max reward']
    >>> dealt(["train/recall", "train/recall[1]"], lambda word: word == "train")
    ['train/recall', 'train/recall[1]']
    """
    found = list(names)
    for place, name in enumerate(names):
        words = name.split()
        word = next((word for word in words if "/" in word), "")
        several = word.split("/")
        data = ""
        if word and is_data(several[0]) and not any(map(is_data, several[1:])):
            data, several = f"{several[0]}/", several[1:]
        if not word or len(several) == 1 or not _listed(names, place, len(several)):
            continue
        rest = " ".join(other for other in words if other != word)
        sign = "/" if all(map(is_data, several)) else " "
        for n, part in enumerate(several):
            found[place + n] = f"{data}{part}{sign}{rest}" if rest else f"{data}{part}"
    return found


def counts_of_data(name: str, left: str, behind: str) -> bool:
    """Whether the number between two texts may count the batches or epochs of the data named.

    >>> counts_of_data("val", "val ", " loss "), counts_of_data("train", "train ", " - ")
    (True, False)
    """
    alone = left.strip() == name and _NAMED_NEXT.match(behind) is not None
    return alone or ("[" in left and not behind.lstrip().startswith("="))


def _listed(names: Sequence[str], place: int, many: int) -> bool:
    """Whether so many numbers go by the name at a place: the others are but counted."""
    behind = list(names[place + 1 : place + many])
    return behind == [f"{names[place]}[{n}]" for n in range(1, many)]
