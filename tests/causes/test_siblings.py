"""A run at fault beside runs of its place that are well."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens import fixes
from runlens.cause import Cause
from runlens.cli.siblings import beside
from runlens.engine import diagnose
from runlens.run import Run
from runlens.settings import Settings
from runlens.signals import Signals
from runlens.signals.family import family_of
from tests.causes.test_beside_the_curve import made

NOISE = np.random.default_rng(3).normal(0, 0.01, 60)
EARNS = 0.1 + 0.7 * (1 - np.exp(-np.arange(60) / 15)) + NOISE
STANDS = 0.12 + NOISE


def policy(name: str, config: dict[str, Any], *, well: bool = True) -> Run:
    """Make a policy that earns ever more, or one whose answers are all alike."""
    run = made(
        "grpo",
        config,
        reward=EARNS if well else STANDS,
        frac_zero_std=np.zeros(60) if well else np.ones(60),
        reward_std=np.full(60, 0.1) if well else np.zeros(60),
        entropy=np.linspace(2, 1, 60),
    )
    return replace(run, id=name, name=name)


def told(mine: dict[str, Any], *theirs: dict[str, Any]) -> tuple[Cause, tuple[str, ...]]:
    """Return the first cause of the run at fault, and what is ruled out."""
    well = [policy(f"well {n}", config) for n, config in enumerate(theirs)]
    run = policy("bad", mine, well=False)
    found = diagnose(replace(run, family=family_of(run, well))).incidents[0].findings[0]
    return found.causes[0], tuple(one.what for one in found.ruled_out)


USUAL = {"learning_rate": 1e-2, "temperature": 1.0, "num_generations": 8}


@pytest.mark.parametrize(
    ("own", "kind", "rank"),
    [
        ({"temperature": 0.1}, "exploration", "most likely"),
        ({"learning_rate": 0.5}, "rate-too-high", "most likely"),
        ({"learning_rate": 1e-9}, "rate-too-low", "most likely"),
        ({"num_generations": 2}, "own-setting", "most likely"),
        ({"num_generations": 2, "weight_decay": 0.3}, "unknown", "possible"),  # which of the two?
        ({"seed": 3}, "unknown", "possible"),
    ],
)
def test_the_setting_that_one_run_alone_has(own: dict[str, Any], kind: str, rank: str) -> None:
    """The others agree in it, and are well."""
    usual = {**USUAL, "weight_decay": 0.0, "seed": 1}
    cause, _ = told({**usual, **own}, usual, {**usual, "seed": 2}, usual)
    assert (cause.kind, cause.rank) == (kind, rank)
    if kind == "own-setting":
        assert "num generations is 2 here, and 8 in 3 runs beside it" in cause.evidence_for
        assert "If it is well then" in cause.experiment
    if own == {"seed": 3}:
        assert "are those of 3 runs beside it that are well" in cause.evidence_for


def test_in_a_sweep_each_run_has_a_value_of_its_own() -> None:
    """It fits, and proves nothing, unless it is far beyond all the others."""
    sweep = [{**USUAL, "num_generations": n} for n in (8, 12, 16)]
    assert told({**USUAL, "num_generations": 4}, *sweep)[0].kind == "unknown"
    assert told({**USUAL, "num_generations": 400}, *sweep)[0].kind == "own-setting"
    assert told({**USUAL, "num_generations": "none"}, *sweep)[0].kind == "unknown"


def test_one_run_that_is_well_is_one_comparison() -> None:
    """More of them make it more likely."""
    cause, _ = told({**USUAL, "temperature": 1.5}, USUAL)
    assert (cause.kind, cause.rank) == ("own-setting", "likely")


@pytest.mark.parametrize(
    ("mine", "rate", "out"),
    [
        ({"temperature": 0.1}, 1e-2, True),
        ({"temperature": 0.1}, 1e-4, False),  # they are well at a rate that is far lower
        ({}, 1e-2, False),  # nothing differs: it may be the edge of the rate
    ],
)
def test_a_rate_at_which_others_are_well_is_no_cause(
    mine: dict[str, Any], rate: float, *, out: bool
) -> None:
    """Whatever is usual."""
    _, ruled_out = told({**USUAL, **mine}, *[{**USUAL, "learning_rate": rate}] * 2)
    assert ("Learning rate too high" in ruled_out) is out


def test_a_rate_that_others_stand_is_the_one_to_go_to() -> None:
    """Rather than what is usual elsewhere; the highest below the one that failed."""
    well = [policy(f"well {n}", {**USUAL, "learning_rate": rate}) for n, rate in enumerate((2, 3))]
    run = made("grpo", {**USUAL, "learning_rate": 400.0}, train_loss=[3.0, 2.9, *[np.nan] * 30])
    lowered = fixes.learning_rate(
        replace(run, family=family_of(replace(run, history=well[0].history), well)),
        Signals(run),
        1 / 3,
        "",
    )
    assert [(one.new, one.why) for one in lowered] == [(3.0, "a run beside it is well at 3")]


def test_who_is_no_sibling() -> None:
    """Another task, no curve in common, more settings than a comparison has."""
    run = policy("bad", USUAL, well=False)
    assert family_of(run, [run]) is None
    assert family_of(run, [replace(policy("x", USUAL), task="ppo")]) is None
    assert family_of(run, [made("grpo", USUAL, kl=np.ones(9))]) is None
    many = {"beta": 0.1, "weight_decay": 0.1, "max_steps": 9, "max_grad_norm": 1.0}
    other = {key: value * 2 for key, value in many.items()}
    assert family_of(policy("x", many), [policy("y", other)]) is None
    paths = {"where": "/a/b", "run_name": "b", "save_steps": 4, "beta": 0.1}
    family = family_of(policy("x", paths), [policy("y", {**paths, "where": "/c", "run_name": "c"})])
    assert family is not None
    assert (family.own, family.known) == ((), 1)


def test_the_rate_that_was_logged_counts_where_none_is_configured() -> None:
    """A sweep of rates is often seen in its log alone."""
    slow, fast = (
        replace(policy(name, {}), history=made("grpo", reward=EARNS, learning_rate=rate).history)
        for name, rate in (("slow", np.full(60, 1e-6)), ("fast", np.full(60, 1e-2)))
    )
    family = family_of(fast, [slow])
    assert family is not None
    assert [(one.key, one.value) for one in family.own] == [("learning_rate", 1e-2)]
    assert family.rates == (1e-6,)


def test_runs_of_one_place_are_judged_beside_each_other() -> None:
    """Those that nobody asked about too."""
    runs = [policy("bad", {**USUAL, "temperature": 0.1}, well=False)]
    well = [policy(f"well {n}", USUAL) for n in range(3)]
    alone = beside(runs, [diagnose(runs[0])], well, Settings())
    runs += well
    among = beside(runs, [diagnose(run) for run in runs], [], Settings())
    assert alone[0].causes[0].what == among[0].causes[0].what == "Too little exploration"
    assert all(one.health == "healthy" for one in among[1:])


def test_the_usual_range_is_no_note_where_others_stand_the_rate() -> None:
    """Runs beside it that are well tell more than a table."""
    run = policy("bad", {**USUAL, "model_name": "some/model-7b"}, well=False)
    well = replace(policy("well", USUAL), config=run.config)
    beside_it = replace(run, family=family_of(run, [well]))
    assert diagnose(run).outcomes["lr-out-of-range"].status == "found"
    assert diagnose(beside_it).outcomes["lr-out-of-range"].status == "passed"


def test_a_run_that_did_not_learn_is_held_against_those_that_did() -> None:
    """Though it is no fault that alone would be told loudly."""
    at = np.arange(8)
    curves = (("well", 0.03, 2 * np.exp(-at / 2) + 0.1), ("bad", 0.3, np.full(8, 2.3)))
    well, bad = (
        replace(
            made(
                "classification",
                train_loss=losses + 1e-3 * np.sin(at),
                learning_rate=np.full(8, rate),
            ),
            id=name,
            name=name,
        )
        for name, rate, losses in curves
    )
    runs = [well, bad, replace(well, id="other", name="other")]
    alone = [diagnose(run) for run in runs]
    assert [one.health for one in alone] == ["healthy", "unknown", "healthy"]
    cause = beside(runs, alone, [], Settings())[1].incidents[0].findings[0].causes[0]
    assert (cause.what, cause.rank) == ("Learning rate too high", "most likely")


def lost(name: str, rate: float, rows: int = 11, last: float | None = None) -> Run:
    """Make a run whose loss is no number from some row on."""
    losses = np.exp(-np.arange(20) / 9 * min(1.0, 20 * rate)) + 0.01 * np.sin(np.arange(20))
    losses[rows - 2] = last or losses[rows - 2]
    losses[rows - 1 :] = np.nan
    run = made("classification", {"learning_rate": rate}, train_loss=losses)
    return replace(run, id=name, name=name)


def causes_of_the_loss(runs: list[Run]) -> tuple[Cause, tuple[str, ...]]:
    """Return the first cause of the first of some runs, and what is ruled out."""
    among = beside(runs, [diagnose(run) for run in runs], [], Settings())[0]
    found = among.incidents[0].findings[0]
    return found.causes[0], tuple(one.what for one in found.ruled_out)


def test_runs_at_many_rates_that_lose_their_loss_at_one_step_read_a_bad_batch() -> None:
    """No rate brings that about: at a lower one it takes longer."""
    cause, out = causes_of_the_loss([lost("a", 0.1), lost("b", 0.03), lost("c", 0.005)])
    assert (cause.kind, cause.rank) == ("bad-batch", "likely")
    assert cause.what == "One bad batch that all of these runs read"
    assert "data in another order" in cause.falsifier
    assert "Learning rate too high" in out


@pytest.mark.parametrize(
    "others",
    [
        [lost("b", 0.03, 14), lost("c", 0.005, 19)],  # later where the rate is lower
        [lost("b", 0.03)],  # two runs: one in eleven is that by chance
        [lost("b", 0.09), lost("c", 0.08)],  # rates next to each other
        [lost("b", 0.1), lost("c", 0.1)],  # repeats
        [replace(lost("b", 0.03), task="sft"), replace(lost("c", 0.005), task="sft")],
    ],
)
def test_runs_that_may_be_lost_together_for_their_rate(others: list[Run]) -> None:
    """The batch is not told as the cause."""
    cause, out = causes_of_the_loss([lost("a", 0.1), *others])
    assert cause.what != "One bad batch that all of these runs read"
    assert "Learning rate too high" not in out


def test_a_loss_that_was_rising_is_lost_by_no_batch() -> None:
    """Though it be lost at the same step at each rate, as behind one warm-up."""
    runs = [lost(str(rate), rate, last=9.0) for rate in (0.1, 0.03, 0.005)]
    assert all(family_of(run, [], runs) is None for run in runs)
    known = lost("d", 0.1)
    assert family_of(replace(known, config={}), [], [known, lost("e", 0.01)]) is None


@pytest.mark.parametrize(
    ("rate", "others", "kind"),
    [
        (0.02, [{}, {"learning_rate": 0.006}], "rate-too-high"),
        (0.004, [{}, {"learning_rate": 0.006}], "unknown"),  # one is well at a higher rate
        (0.02, [{}], "rate-too-high"),  # one comparison, all else alike
        (0.02, [{"momentum": 0.5}, {"learning_rate": 0.006, "momentum": 0.5}], "unknown"),
    ],
)
def test_the_highest_rate_of_a_sweep_threw_its_loss(
    rate: float, others: list[dict[str, Any]], kind: str
) -> None:
    """Where nothing else tells it from those that are well."""
    set_ = {"learning_rate": 0.002, "momentum": 0.9}
    falls = 2 * np.exp(-np.arange(6) / 2) + 1
    run = made("classification", {**set_, "learning_rate": rate}, train_loss=np.full(6, np.nan))
    well = [
        replace(made("classification", {**set_, **one}, train_loss=falls), name=f"well {n}")
        for n, one in enumerate(others)
    ]
    found = diagnose(replace(run, family=family_of(run, well))).incidents[0].findings[0]
    assert found.causes[0].kind == kind
