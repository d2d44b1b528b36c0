"""Moves that change a drawn run, "scale train_loss 1.3; cut 0.5", and moves drawn at random."""

import ast
import inspect
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from zlib import crc32

import numpy as np

from runlens.config_keys import KEYS
from runlens.history import Columns, FloatArray, History, IntArray, columns
from runlens.metrics import NAMES
from runlens.rules.cases import EVAL_EVERY, EVERY, draw
from runlens.rules.rule import Rule
from runlens.run import Configured, Event, Run, Task

KNOWN = {key.name for key in KEYS}
COMMON = ("train_loss", "eval_loss", "grad_norm", "learning_rate", "reward", "entropy")
WORD = re.compile(r"[a-z0-9_]{1,20}")
STATES = ("finished", "running", "crashed", "killed", "unknown")
# the number with which a move changes nothing
NEUTRAL = dict.fromkeys(("scale", "bend", "tail", "climb", "spike", "set", "slow", "planned"), 1.0)
NEUTRAL |= {
    "clock": 1.0,
    "held": 1.0,
    "ends": 1.0,
    "cut": 1.0,
    "late": 0.0,
    "noise": 0.0,
    "wave": 0.0,
    "shift": 0.0,
}


def changed(run: Run, moves: str) -> Run:
    """Return a run changed by moves, "scale train_loss 1.3; cut 0.5"."""
    for move in filter(None, moves.split("; ")):
        verb, *words = move.split()
        run = (OF_RUN.get(verb) or _of_curve(verb))(run, *words)
    return run


def _of_curve(verb: str) -> Callable[..., Run]:
    def apply(run: Run, name: str, *numbers: str) -> Run:
        rows = _rows(run)
        rows[name] = CURVES[verb](rows[name], *map(float, numbers))
        return replace(run, history=History(rows, run.history.sources))

    return apply


def _rows(run: Run) -> dict[str, Columns]:
    curves = {name: run.curve(name) for name in run.history.metrics}
    return {name: columns(c.step, c.value, c.epoch, c.time) for name, c in curves.items()}


def _every(run: Run, change: Callable[[Columns], Columns]) -> Run:
    rows = {name: change(one) for name, one in _rows(run).items()}
    return replace(run, history=History(rows, run.history.sources))


def _picked(rows: Columns, index: IntArray) -> Columns:
    return columns(rows.step[index], rows.value[index], rows.epoch[index], rows.time[index])


def _value(change: Callable[..., FloatArray]) -> Callable[..., Columns]:
    return lambda rows, *numbers: rows._replace(value=change(rows.value, *numbers))


def _from(share: float, value: FloatArray) -> slice:
    return slice(int(share * len(value)), None)


def _first(value: FloatArray) -> float:
    finite = value[np.isfinite(value)]
    return float(finite[0]) if len(finite) else 0.0


def _noise(value: FloatArray, size: float) -> FloatArray:
    rng = np.random.default_rng(crc32(value.tobytes()[:64]))
    return value * rng.normal(1.0, size, len(value))


def _tail(value: FloatArray, share: float, factor: float) -> FloatArray:
    new = value.copy()
    new[_from(share, value)] *= factor
    return new


def _held(value: FloatArray, share: float) -> FloatArray:
    new = value.copy()
    new[_from(share, value)] = new[min(int(share * len(new)), len(new) - 1)]
    return new


def _climb(value: FloatArray, share: float, factor: float) -> FloatArray:
    new = value.copy()
    part = new[_from(share, value)]
    part *= np.linspace(1.0, factor, len(part))
    return new


def _spike(value: FloatArray, share: float, factor: float) -> FloatArray:
    new = value.copy()
    new[min(int(share * len(new)), len(new) - 1)] *= factor
    return new


def _piece(value: FloatArray, start: float, end: float, new: float) -> FloatArray:
    other = value.copy()
    other[int(start * len(value)) : max(int(end * len(value)), int(start * len(value)) + 1)] = new
    return other


def _round(value: FloatArray, digits: float) -> FloatArray:
    return value.round(int(digits))


def _wave(value: FloatArray, period: float, size: float) -> FloatArray:
    wave: FloatArray = np.sin(2 * np.pi * np.arange(len(value)) / period)
    return value * (1 + size * wave)


def _dense(rows: Columns, times: float) -> Columns:
    at = np.linspace(0, len(rows.value) - 1, int(times * len(rows.value)))
    step, value = (np.interp(at, np.arange(len(at_)), at_) for at_ in (rows.step, rows.value))
    return columns(np.round(step * times).astype(np.int64), value)


CURVES: dict[str, Callable[..., Columns]] = {
    "scale": _value(lambda value, factor: value * factor),
    "bend": _value(lambda value, factor: _first(value) + factor * (value - _first(value))),
    "shift": _value(lambda value, by: value + by),
    "noise": _value(_noise),
    "tail": _value(_tail),
    "climb": _value(_climb),
    "held": _value(_held),
    "spike": _value(_spike),
    "piece": _value(_piece),
    "wave": _value(_wave),
    "round": _value(_round),
    "thin": lambda rows, every: _picked(rows, np.arange(0, len(rows.value), int(every))),
    "ends": lambda rows, share: _picked(rows, np.arange(max(1, int(share * len(rows.value))))),
}


def _cut(run: Run, share: str) -> Run:
    last = float(share) * run.last_step
    return _every(run, lambda rows: _picked(rows, np.flatnonzero(rows.step <= last)))


def _late(run: Run, share: str) -> Run:
    first = float(share) * run.last_step
    return _every(run, lambda rows: _picked(rows, np.flatnonzero(rows.step >= first)))


def _slow(run: Run, factor: str) -> Run:
    by = float(factor)
    return _every(run, lambda rows: rows._replace(step=np.round(rows.step * by).astype(np.int64)))


def _set(run: Run, key: str, factor: str) -> Run:
    known = run.config[key]
    number = float(known.value) * float(factor)  # type: ignore[arg-type]
    whole = round(number) if isinstance(known.value, int) else number
    return replace(run, config={**run.config, key: known._replace(value=whole)})


def _unset(run: Run, key: str) -> Run:
    return replace(run, config={one: known for one, known in run.config.items() if one != key})


def _put(run: Run, key: str, value: str) -> Run:
    try:
        number: Any = json.loads(value)
    except ValueError:
        number = value
    return replace(run, config={**run.config, key: Configured(number, "drawn")})


def _add(run: Run, name: str, corners: str) -> Run:
    step, value = draw(corners.replace(",", " "), EVAL_EVERY if name.startswith("eval_") else EVERY)
    rows = {**_rows(run), name: columns(step.astype(np.int64), value)}
    return replace(run, history=History(rows, run.history.sources))


def _gone(run: Run, name: str) -> Run:
    rows = _rows(run)
    del rows[name]
    return replace(run, history=History(rows, run.history.sources))


def _planned(run: Run, factor: str) -> Run:
    planned = round((run.state.planned_steps or run.last_step) * float(factor))
    return replace(run, state=replace(run.state, planned_steps=planned))


def _restart(run: Run, share: str) -> Run:
    at = round(float(share) * run.last_step)
    return replace(run, events=(*run.events, Event("resume", at)))


def _clock(run: Run, factor: str) -> Run:
    def change(rows: Columns) -> Columns:
        first = rows.time[:1]
        return rows._replace(time=first + (rows.time - first) * float(factor))

    return _every(run, change)


OF_RUN: dict[str, Callable[..., Run]] = {
    "cut": _cut,
    "late": _late,
    "slow": _slow,
    "set": _set,
    "unset": _unset,
    "put": _put,
    "add": _add,
    "gone": _gone,
    "planned": _planned,
    "clock": _clock,
    "dense": lambda run, times: _every(run, lambda rows: _dense(rows, float(times))),
    "restart": _restart,
    "task": lambda run, task: replace(run, task=task),
    "quiet": lambda run: replace(run, events=()),
    "state": lambda run, kind: replace(run, state=replace(run.state, kind=kind)),
}


class Draws:
    """Draws moves at random, for one rule: of the metrics and settings that its file names."""

    def __init__(self, rule: Rule[Any], seed: int, source: str = "") -> None:
        """Collect the words of the rule's own file, or of another source."""
        self.random = random.Random(f"{rule.slug} {seed}")
        source = source or Path(inspect.getfile(rule.check)).read_text(encoding="utf-8")
        tree = ast.parse(source)
        words = {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant)}
        texts = sorted(word for word in words if isinstance(word, str))
        needs = " ".join(rule.needs).replace("|", " ").split()
        self.metrics = [*(word for word in texts if word in NAMES), *needs, *COMMON]
        self.keys = [word for word in texts if word in KNOWN] * 3 + sorted(KNOWN)
        self.words = [word for word in texts if WORD.fullmatch(word)]
        self.tasks = sorted(rule.tasks) or list(get_args(Task))
        self.cases = (*rule.bad, *rule.good)

    def moves(self, run: Run) -> str:
        """Draw one to three moves that fit a run."""
        number = self.random.choice((1, 1, 1, 2, 2, 3))
        return "; ".join(self._one(run) for _ in range(number))

    def _one(self, run: Run) -> str:
        verb = self.random.choice((*CURVES, *CURVES, *OF_RUN, "task", "put", "put", "add", "add"))
        name = self.random.choice(sorted(run.history.metrics) or ["train_loss"])
        level = abs(_first(run.curve(name).value)) or 1.0
        if verb in CURVES:
            return f"{verb} {name} {self._of_curve(verb, level)}"
        return f"{verb} {self._of_run(verb, run, name)}".strip()

    def _of_curve(self, verb: str, level: float) -> str:
        share, factor = self.random.uniform(0.02, 0.98), self._factor()
        end = min(1.0, share + self.random.choice((0.0, 0.02, 0.1, 0.3)) * self.random.random())
        new = self.random.choice(["nan", "inf", "0", "-1", f"{level * float(factor):.3g}"])
        numbers: Mapping[str, str] = {
            **dict.fromkeys(("tail", "climb", "spike"), f"{share:.3f} {factor}"),
            **dict.fromkeys(("held", "ends"), f"{share:.3f}"),
            "piece": f"{share:.3f} {end:.3f} {new}",
            "wave": f"{self.random.choice((2, 3, 5, 8, 13, 21, 34))} {self._size(-4):.2g}",
            "round": str(self.random.randint(0, 4)),
            "noise": f"{self._size(-7):.2g}",
            "thin": str(self.random.randint(2, 12)),
            "shift": f"{self.random.gauss(0, 1) * level:.3g}",
        }
        return numbers.get(verb, factor)

    def _of_run(self, verb: str, run: Run, name: str) -> str:
        pick, share = self.random.choice, f"{self.random.uniform(0.02, 0.98):.3f}"
        low, high = (f"{np.exp(self.random.gauss(0, 2)):.3g}" for _ in range(2))
        known = [key for key in sorted(run.config) if run.number(key) is not None] or ["none"]
        value = pick([low, low, "0", "1", "true", "false", *self.words])
        words: Mapping[str, str] = {
            **dict.fromkeys(("cut", "late", "restart"), share),
            "dense": str(pick((2, 3, 5, 10))),
            "add": f"{pick(self.metrics)} 0:{low},{max(run.last_step, 10)}:{high}",
            "put": f"{pick(self.keys)} {value}",
            "set": f"{pick(known)} {self._factor()}",
            "unset": pick(known),
            "task": pick(self.tasks),
            "state": pick(STATES),
            "gone": name,
            "quiet": "",
        }
        return words.get(verb, self._factor())

    def _factor(self) -> str:
        sign = self.random.choice((1, 1, 1, 1, -1))
        return f"{sign * np.exp(self.random.gauss(0, 1.3)):.3g}"

    def _size(self, least: float) -> float:
        return float(np.exp(self.random.uniform(least, 0)))
