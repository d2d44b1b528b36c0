"""Looks the numbers of one file up in the merged runs: there, or in which better form."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from completeness_plain import Observation

from runlens.metrics import naming
from runlens.run import Run
from runlens.sources.reading import SourceReading

TWICE = "one observation in two sources: kept from the more exact one"
EPOCH = "epoch: a column of every observation"
ALONE = "epoch of a step at which nothing else was logged"
ALIAS = "two names in one file mean one metric: the one with more points is kept"
UNPLACED = "printed rows without steps: only what lies beyond the other sources is added"
DISAGREE = "sources disagree by more than rounding: told as a problem, the more exact one is kept"
NEAR = 5e-3  # relative: three printed digits
CLOSE = 1e-9


class Merged:
    """The histories of an item's runs, by file, metric and step."""

    def __init__(self, runs: Sequence[Run], place: Path) -> None:
        """Index all launches, those parts too which a later launch replaced."""
        self._place = place
        self._runs = runs
        self._values: list[dict[str, dict[int, list[float]]]] = [_index(run) for run in runs]
        self._epochs = [_epochs(run) for run in runs]
        self._chosen: dict[Path, list[int]] = {}

    def place_of(self, reading: SourceReading, name: str, at: int) -> str:
        """Return "" where a point of a series is in the history; else the reason it is not.

        A reason that begins with "!" is none.
        """
        metric, factor = naming(name, reading.framework)
        series = reading.series[name]
        step, logged = int(series.step[at]), float(series.value[at])
        if metric == "epoch":
            return self._of_epoch(reading, step, logged)
        found = ""
        for run in self._of(reading.path):
            for known in _names(metric, name, self._values[run]):
                values = self._values[run][known]
                value = logged if known == name else logged * factor
                said = _judged(values.get(step, []), value)
                if said != "different":
                    return said and TWICE
                found = found or (said if step in values else "absent")
                if reading.steps_inferred and _somewhere(values, value):
                    return TWICE
        return self._reason(reading, name, at, found)

    def _of_epoch(self, reading: SourceReading, step: int, value: float) -> str:
        runs = self._of(reading.path)
        known = [epoch for run in runs for epoch in self._epochs[run].get(step, ())]
        if known and _judged(known, value) == "different":
            return "!another epoch in the history"
        return EPOCH if known else ALONE

    def holds(self, one: Observation) -> bool:
        """Whether a number of a file that is not read stands in the history all the same."""
        metric, factor = naming(one.name)
        return any(
            _somewhere(values[known], one.value * factor)
            for values in self._values
            for known in _names(metric, one.name, values)
        )

    def _reason(self, reading: SourceReading, name: str, at: int, found: str) -> str:
        metric = naming(name, reading.framework).metric
        rivals = {n: naming(n, reading.framework).metric for n in reading.series if n != name}
        same = [reading.series[n] for n, known in rivals.items() if known == metric]
        value = reading.series[name].value[at]
        if any(np.isclose(one.value, value, rtol=NEAR, equal_nan=True).any() for one in same):
            return ALIAS
        if reading.steps_inferred and reading.precision == "rounded":
            return UNPLACED
        texts = [p.text for run in self._of(reading.path) for p in self._runs[run].problems]
        if found == "different" and any("disagrees with" in text for text in texts):
            return DISAGREE
        return f"!{found or 'metric absent'} in the history"

    def _of(self, path: Path) -> list[int]:
        """Return the runs that were made of a file; all runs where none says so."""
        if path not in self._chosen:
            inside = path.is_relative_to(self._place) and path != self._place
            shown = str(path.relative_to(self._place)) if inside else path.name
            mine = [number for number, run in enumerate(self._runs) if shown in run.sources]
            self._chosen[path] = mine or list(range(len(self._runs)))
        return self._chosen[path]


def _names(metric: str, logged: str, values: dict[str, dict[int, list[float]]]) -> list[str]:
    """Return what a metric may be called in the history of a run."""
    names = [metric, {"entropy": "pred_entropy"}.get(metric, ""), logged]
    own = "loss" in metric.lower() and metric not in values
    return [name for name in (*names, *(["train_loss"] if own else [])) if name in values]


def _judged(known: Sequence[float], value: float) -> str:
    """Return "" for the same number, "near" for a rounded one, else "different"."""
    if not known:
        return "different"
    every = np.array([*known, *(100 * one for one in known)])
    if np.isnan(value):
        return "" if np.isnan(every).any() else "different"
    if np.isclose(every, value, rtol=CLOSE, atol=0).any() or value in known:
        return ""
    near = np.isclose(every, value, rtol=NEAR, atol=NEAR * 1e-3).any()
    return "near" if near else "different"


def _somewhere(values: dict[int, list[float]], value: float) -> bool:
    every = np.array([one for some in values.values() for one in some])
    return _judged(every.tolist(), value) != "different"


def _index(run: Run) -> dict[str, dict[int, list[float]]]:
    found: dict[str, dict[int, list[float]]] = {}
    for metric in run.history.metrics:
        steps: dict[int, list[float]] = defaultdict(list)
        for number in run.history.segments:
            curve = run.history.segment(metric, number)
            for step, value in zip(curve.step.tolist(), curve.value.tolist(), strict=True):
                steps[step].append(value)
        found[metric] = dict(steps)
    return found


def _epochs(run: Run) -> dict[int, list[float]]:
    """Return the epochs that the history has for each step."""
    found: dict[int, dict[float, None]] = defaultdict(dict)
    for metric in run.history.metrics:
        for number in run.history.segments:
            curve = run.history.segment(metric, number)
            known = np.isfinite(curve.epoch)
            pairs = zip(curve.step[known].tolist(), curve.epoch[known].tolist(), strict=True)
            for step, epoch in pairs:
                found[step][epoch] = None
    return {step: list(epochs) for step, epochs in found.items()}
