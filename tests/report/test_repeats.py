"""What an overview says of repeats of one setting, some of which diverged."""

from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Diagnosis
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.report.overview import overview
from runlens.run import Configured, Run

FALLS = 0.5 + 1.8 * np.exp(-np.arange(80) / 12)
THROWN = np.append(FALLS[:50], np.full(30, 2.3)) + 0.05 * np.cos(np.arange(80))


def told(loss: Any, number: int, name: str = "seed{}.log", **settings: Any) -> Diagnosis:
    """Diagnose one repeat."""
    known = {"learning_rate": 0.1, "momentum": 0.9} | settings
    set_ = {key: Configured(value, "here", key) for key, value in known.items() if value}
    curve = columns(10 * np.arange(len(loss)), np.asarray(loss, dtype=float))
    called = name.format(number)
    return diagnose(Run(called, called, History({"train_loss": curve}), config=set_))


def said(*diagnoses: Diagnosis) -> str:
    """Return the overview on one line."""
    return " ".join(overview(diagnoses).split())


def test_a_seed_that_diverges_among_sound_ones() -> None:
    """The change is one of all of them."""
    text = said(*(told(FALLS, n) for n in range(4)), told(THROWN, 4))
    assert "1 of 5 runs that differ in their seed alone diverged (seed4.log)" in text
    assert "half the learning rate (0.05)" in text


def test_seeds_of_settings() -> None:
    """Names that hold no seed do, where the settings have it."""
    runs = [told(FALLS, n, "run{}", seed=n) for n in range(3)]
    text = said(*runs, *(told(THROWN, n, "run{}", seed=n, learning_rate="0.1") for n in (3, 4)))
    assert "differ in their seed" not in text  # the rate is another one
    assert "2 of 6 runs" in said(
        *runs,
        told(FALLS, 5, "run{}", seed=5),
        *(told(THROWN, n, "run{}", seed=n) for n in (3, 4)),
    )


@pytest.mark.parametrize(
    "diagnoses",
    [
        [told(FALLS, 0), told(THROWN, 1)],  # as many sound as not
        [told(FALLS, n) for n in range(4)],
        [told(THROWN, n) for n in range(4)],  # wrong for all
        [*(told(FALLS, n) for n in range(3)), told(THROWN, 3, learning_rate=0.4)],
        [*(told(FALLS, n, "run{}") for n in range(3)), told(THROWN, 3, "run{}")],  # of no seed
    ],
)
def test_runs_that_are_at_no_edge(diagnoses: list[Diagnosis]) -> None:
    """Nothing is said of other families."""
    assert "differ in their seed" not in said(*diagnoses)


def test_parts_of_a_file_that_differ_in_their_seed() -> None:
    """No rate is recorded: the program had the same one. One that ends above its start is lost."""
    back = [1.25, 0.58, 0.69, 0.70, 1.02, 3.42, 1.96, 1.957]

    def runs(last: Any, name: str) -> list[Diagnosis]:
        losses = (FALLS, FALLS, FALLS, THROWN, last)
        return [told(loss, n, name, learning_rate=None, seed=n) for n, loss in enumerate(losses, 1)]

    text = said(*runs(back, "all.txt ({} of 5)"))
    assert "2 of 5 runs that differ in their seed alone (no rate is recorded) diverged" in text
    assert "Repeat those seeds with half the learning rate. If they stay sound" in text
    assert "If one of them diverges again" in text
    assert "1 of 5 runs" in said(*runs(FALLS, "all.txt ({} of 5)"))
    assert "differ in their seed" not in said(*runs(back, "run{}"))
    calm = [told(FALLS, n, "all.txt ({} of 4)", learning_rate=None, seed=n) for n in (1, 2, 3)]
    risen = told(back, 4, "all.txt ({} of 4)", learning_rate=None, seed=4)
    assert "differ in their seed" not in said(*calm, risen)  # nobody diverged
    assert risen.health == "unknown"
