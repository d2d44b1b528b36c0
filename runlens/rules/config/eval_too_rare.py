"""Evaluation too rare: the run is never, or hardly ever, measured on held-out data.

What is seen
    Fewer than five evaluations in the whole plan, or an evaluation interval above a fifth of it.
Why it matters
    Overfitting shows in nothing else. With one or two evaluations nobody can say when it began,
    nor which checkpoint was best.
Looks alike
    Reinforcement learning is judged by its reward. A run that stopped before its evaluations is
    judged by its plan. Where no setting tells that evaluation is off, and the run has an
    evaluation under another name, nothing is said.
Limits
    fewest: evaluations in the plan. shortest: steps of a run that is judged.
Fixes
    eval_steps: 5 to 10 % of the steps; every 50 steps, at most a tenth of them, in
    runs of less than 1,000. Beside
    the loss: 10 completions every 1,000 steps.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median, unique
from runlens.diagnosis import Fix, Outcome
from runlens.knowledge.dialects import place_of
from runlens.metrics import base
from runlens.rules.config.method import advice, evaluation_off
from runlens.rules.rule import LANGUAGE_TASKS, PREFERENCE_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run, State
from runlens.signals import Signals
from runlens.wording import count, step, too_few

SAMPLES_EVERY = 1_000
TRAINERS = frozenset({"transformers", "trl", "unsloth"})  # without a data set they raise
SHORT_RUN, EVERY_IN_SHORT = 1_000, 50
HELD_OUT = 0.05  # of the data
SHARE = 0.05  # of the steps between evaluations of a longer run
MOST_APART = 10  # evaluations in a short run: every 10 % of the steps


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 5
    shortest: int = 100


def check(run: Run, _: Signals, limits: Limits) -> Outcome:
    """Count the evaluations that the plan has."""
    total = run.state.planned_steps or run.last_step
    if total < limits.shortest:
        return unmet(too_few(int(total), "step", limits.shortest, of="logged or planned"))
    made = _steps_of_evaluations(run)
    if len(made) >= limits.fewest:
        return passed(f"{len(made)} evaluations")
    off = evaluation_off(run)
    every = run.number("eval_steps") if not off else None
    never = run.setting("eval_strategy") == "steps" and (every or 0) > (
        run.state.planned_steps or inf
    )
    if not made and not off and not never:
        return unmet("no record says whether evaluation was on")
    if not every and len(made) > 1:
        every = float(median(np.diff(made)))
    planned = int(total / every) if every and every >= 1 else len(made)
    if planned >= limits.fewest and every:
        return passed(f"evaluated every {step(every)} of {step(total)} steps")
    silent = "Evaluation was off for the whole run."
    cannot = "Without evaluation you cannot see overfitting or tell which checkpoint is best."
    if made:
        few = "one evaluation" if len(made) == 1 else "so few evaluations"
        cannot = f"With {few} you cannot tell where overfitting begins or which checkpoint is best."
    most = max(planned, len(made))
    span = total if most > len(made) else max(run.last_step, run.state.done_steps) or total
    many = f"only {count(most, 'evaluation')}" if most else "no evaluation"
    often = f"The run has {many} in {step(span)} steps."
    if not max(most, run.last_step, run.state.done_steps):
        often = f"No evaluation is scheduled within the {step(total)} planned steps."
    return found(
        advice(
            silent if off and not made else often,
            "eval_steps",
            "never" if not made else (every or float(made[0])),
            cannot,
            _fix(run, total, made),
            limit=total / limits.fewest,
            source="a fifth of the run",
            heading="" if made else "No evaluation",
        )
    )


def _steps_of_evaluations(run: Run) -> list[int]:
    """Return the distinct steps at which anything was measured on held-out data."""
    names = [name for name in run.history.metrics if base(name).startswith("eval_")]
    steps = [run.curve(name).step for name in names if base(name) != "eval_runtime"]
    steps += [np.array([event.step]) for event in run.events_of("evaluation") if event.step]
    return [int(at) for at in unique(np.concatenate(steps))] if steps else []


def _fix(run: Run, total: int, made: Sequence[int]) -> tuple[Fix, ...]:
    new = min(EVERY_IN_SHORT, total // MOST_APART) if total < SHORT_RUN else round(SHARE * total)
    what = "Evaluate more often" if made else "Evaluate during training"
    why = "every 5 to 10 % of the steps is usual"
    old = run.number("eval_steps")
    every: tuple[Fix, ...] = () if old == new else (Fix(what, "eval_steps", old, new, why),)
    known = run.setting("eval_strategy")
    by_steps = known == "steps" or (known is None and old and not any(at % old for at in made))
    if not by_steps and (run.framework in TRAINERS or place_of(run, "eval_strategy")):
        needs = "Pass an eval_dataset and turn on" if run.framework in TRAINERS else "Turn on"
        what = "Evaluate by step count" if made else f"{needs} evaluation"
        how = Fix(what, "eval_strategy", run.setting("eval_strategy"), "steps", why)
        every = (how, *(replace(one, what=f"Evaluate every {new} steps") for one in every))
    elif not by_steps:  # a loop of one's own has no such switch
        on = "" if made else " on held-out data"
        every = tuple(replace(one, what=f"Evaluate{on} every {new} steps") for one in every)
    return (*every, *(() if made else _held_out(run)), *_samples(run, total))


def _held_out(run: Run) -> tuple[Fix, ...]:
    """Hold 5 % of the data out where the framework splits them itself."""
    key = {"axolotl": "val_set_size", "llama-factory": "val_size"}.get(run.framework)
    if key is None or run.number(key):
        return ()
    return (fixes.setting(run, key, HELD_OUT, "Hold out part of the data", "5 % is usual"),)


def _samples(run: Run, total: int) -> tuple[Fix, ...]:
    if run.task not in LANGUAGE_TASKS | PREFERENCE_TASKS - {"reward-model"}:
        return ()
    often = "every 1,000 steps" if total > SAMPLES_EVERY else "at each evaluation"
    what = f"Generate 10 completions {often}, and read them"
    return (fixes.action(what, "the loss shows neither empty answers nor endless repetition"),)


BAD = (
    drawn(
        "off",
        severity="info",
        train_loss="0:2 2000:1",
        config={"eval_strategy": "no"},
    ),
    drawn(
        "an interval longer than the run",
        severity="info",
        train_loss="0:2 500:1",
        config={"eval_strategy": "steps", "eval_steps": 1000},
        state=State(planned_steps=500),
    ),
    drawn(
        "twice",
        severity="info",
        train_loss="0:2 2000:1",
        eval_loss="1000:1.4 2000:1.3 /1000",
    ),
)
GOOD = (
    drawn("often", train_loss="0:2 2000:1", eval_loss="0:2 2000:1.2"),
    drawn(
        "cut short",
        train_loss="0:2 300:1.8",
        eval_loss="100:2 300:1.8 /100",
        config={"eval_steps": 100},
        state=State(planned_steps=2000),
    ),
)

RULE = Rule(
    slug="eval-too-rare",
    title="Evaluation too rare",
    family="CFG",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    tasks=LANGUAGE_TASKS | PREFERENCE_TASKS | {"classification", "regression", "asr"},
    bad=BAD,
    good=GOOD,
)
