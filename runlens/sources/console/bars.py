"""The states of the progress bars of a log, as columns.

A long log holds some hundred thousand of them. What most readers need is where they stand and
how far they are; one that needs more asks for the `Bar` itself, which is parsed again then.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Self

import numpy as np
from msgspec import Struct

from runlens.history import BoolArray, IntArray
from runlens.patterns import lazy_re
from runlens.sources.console.text import Bar, Labels, Text, bar, in_words

EXAMPLES = "examples/s"  # the rate of a bar that counts data being prepared
FASTEST = 10_000  # steps a second: in no training is one so short
_RATE = lazy_re(rb"([\d.]+) ?it/s")
_TRAINING_BAR = lazy_re(r"\[rank ?\d+\]:?|train(?:ing)?|epochs?|steps?|iter\w*", re.IGNORECASE)


class Bars(Struct, frozen=True, eq=False):
    """States of progress bars in the order of their lines; arrays of shape (n,)."""

    text: Text
    at: IntArray  # index of the line
    done: IntArray
    total: IntArray  # 0: the bar does not know it
    opened: IntArray  # where in the text the brackets begin and end, inside; -1: not known
    closed: IntArray
    training: BoolArray  # whether it can count steps of a training
    an_epoch: BoolArray  # whether its label names an epoch

    def __len__(self) -> int:
        return len(self.at)

    def __iter__(self) -> Iterator[Bar]:
        lines = ((at, self.text.line(at)) for at in self.at.tolist())
        return (state for at, line in lines if (state := bar(at, line)))

    def taken(self, which: slice | BoolArray | IntArray) -> "Bars":
        """Return some of them."""
        if isinstance(which, np.ndarray) and which.dtype == np.bool_ and which.all():
            return self
        columns = (getattr(self, column)[which] for column in self.__struct_fields__[1:])
        return Bars(self.text, *columns)

    def between(self, after: int, before: int | None) -> "Bars":
        """Return those that stand between two lines; None: up to the end."""
        first = int(np.searchsorted(self.at, after, side="right"))
        end = len(self) if before is None else int(np.searchsorted(self.at, before))
        return self.taken(slice(first, end))

    def rate(self, number: int) -> bytes:
        """Return what stands in the brackets behind the times: the rate, and values."""
        inside = self.text.data[self.opened[number] : self.closed[number]]
        if self.opened[number] < 0:
            (state,) = self.taken(slice(number, number + 1))
            inside = state.postfix.encode(errors="replace")
        return inside.partition(b", ")[2]

    def slow(self) -> "Bars":
        """Return those at a rate at which a training may go: others count data being prepared."""
        totals, last = np.unique(self.total[::-1], return_index=True)
        fast = [
            total
            for total, behind in zip(totals.tolist(), last.tolist(), strict=True)
            if (rate := _RATE.match(self.rate(len(self) - 1 - behind))) and float(rate[1]) > FASTEST
        ]
        return self.taken(~np.isin(self.total, fast))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join those of one text, by line."""
        parts = [part for part in parts if len(part)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(np.concatenate([part.at for part in parts]), kind="stable")
        columns = (
            np.concatenate([getattr(part, column) for part in parts])[order]
            for column in cls.__struct_fields__[1:]
        )
        return cls(parts[0].text, *columns)

    @classmethod
    def of(cls, text: Text, states: Sequence[Bar]) -> Self:
        """Take bars that were parsed one by one."""
        count = len(states)
        numbers = [(state.at, state.done, state.total, -1, -1) for state in states]
        columns = np.array(numbers, dtype=np.int64).reshape(count, 5).T
        labels = Labels(text.data)
        said = [_said(state, labels) for state in states]
        return cls(text, *columns, *np.array(said, dtype=np.bool_).reshape(count, 2).T)


def _said(state: Bar, labels: Labels) -> tuple[bool, bool]:
    training, an_epoch = said_of(state.label, labels)
    return training and state.total > 0 and EXAMPLES not in state.postfix, an_epoch


def said_of(label: str, labels: Labels) -> tuple[bool, bool]:
    """Whether the bar of a label may be of a training (no label is too), and of one epoch."""
    said = _said_by(label)
    return said if said[0] else _said_by(labels.bare(label))


@lru_cache(maxsize=4096)
def _said_by(label: str) -> tuple[bool, bool]:
    bare = in_words(label).strip()
    return not bare or _TRAINING_BAR.match(bare) is not None, "epoch" in bare.lower()
