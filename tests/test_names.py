"""3,000 names of metrics and settings, as public code and logs write them, against their meaning.

`names.tsv` was labelled by hand. A meaning with ``?`` is one that a name has where a run logs
nothing better; ``-`` is none that RunLens knows. Names of the held-out part were not looked at
while the words were chosen.
"""

import csv
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from runlens.config_keys import KEYS, canonical_key
from runlens.metrics import NAMES, base, naming
from runlens.naming import classify
from runlens.naming.classify import AVERAGES

NOTHING = "-"
OF_SPLITS = {"eval_loss_step", *(f"eval_{name.removeprefix('train_')}" for name in NAMES)}
SETTINGS = {key.name for key in KEYS}


class Name(NamedTuple):
    """A name with its meaning, and the part of the list that it is in."""

    part: str
    kind: str
    name: str
    meaning: str


@cache
def names() -> tuple[Name, ...]:
    """Read the list."""
    with (Path(__file__).parent / "names.tsv").open(encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return tuple(Name(*row) for row in rows)


def understood(name: Name) -> str:
    """Return what RunLens takes a name for."""
    if name.kind == "setting":
        key = canonical_key(name.name)
        return key if key in SETTINGS else NOTHING
    metric = base(naming(name.name).metric)
    if metric in NAMES or metric in OF_SPLITS:
        return metric
    meaning = classify(name.name)
    if not meaning.quantity or meaning.statistic not in {*AVERAGES, "sum"}:
        return NOTHING
    split = "eval_" if meaning.split in {"val", "test"} else ""
    return f"{split or 'train_' * (meaning.quantity == 'loss')}{meaning.quantity}?"


def answered(name: Name) -> str:
    """Return whether a name is understood as it is meant."""
    got = understood(name)
    return "right" if got == name.meaning else "unknown" if got == NOTHING else "wrong"


@pytest.mark.parametrize("part", ["development", "held-out"])
@pytest.mark.parametrize("kind", ["metric", "setting"])
def test_names_are_understood(part: str, kind: str) -> None:
    """97 of 100 right, and what is not right is unknown rather than wrong."""
    some = [name for name in names() if (name.part, name.kind) == (part, kind)]
    answers = Counter(map(answered, some))
    assert len(some) >= 300
    assert answers["right"] >= 0.97 * len(some), answers
    assert answers["wrong"] <= 0.01 * len(some), answers


def test_few_names_are_misunderstood() -> None:
    """At most one of a hundred, over the whole list."""
    wrong = [name for name in names() if understood(name) not in {name.meaning, NOTHING}]
    assert len(wrong) <= 0.01 * len(names()), wrong


def test_names_with_a_meaning_are_half_of_the_list() -> None:
    """Those without one would be right if nothing were understood."""
    meant = [name for name in names() if name.meaning != NOTHING]
    assert len(meant) >= 1_500
    known = [name for name in meant if understood(name) == name.meaning]
    assert len(known) >= 0.97 * len(meant)


def test_a_name_without_a_word_is_unknown() -> None:
    """Signs alone, as a cut file leaves them, are no letter of a loss."""
    assert naming("-").metric == "-"
    assert naming("%").metric == "%"
