"""The cheapest experiment that confirms a cause, and whether a new run confirms it.

A cause predicts: with its lever pulled, the symptom does not come back over the steps in which it
came. The bound lies halfway, on the scale of the metric, between what the metric was before the
onset and its worst value after it.
"""

from dataclasses import dataclass, replace
from math import ceil, isfinite, sqrt
from typing import Literal

from runlens import fixes, weights
from runlens.arrays import median
from runlens.config_keys import written
from runlens.diagnosis import Diagnosis, Finding
from runlens.fix import Changed
from runlens.run import Run
from runlens.sources.reading import as_number
from runlens.wording import number, step

Verdict = Literal["confirmed", "came back", "undecided"]
WINDOW = 0.1  # of the steps up to the onset that are run beyond it
FEWEST = 50  # steps beyond the onset, at least
BEFORE = 20  # points whose median is the level before the onset
LASTING = 0.5  # share of the last points beyond the bound: a single point is noise
SAME = 0.01  # relative difference of a setting that is the same
# metrics that a fault makes rise, and those that it makes fall
RISING = frozenset({"train_loss", "eval_loss", "grad_norm", "kl", "completion_length"})
FALLING = frozenset({"reward", "entropy"})
UNBOUNDED = frozenset({"clip-saturation"})  # the norm itself is well: only the limit is not
WORDS = {
    "train_loss": "train loss",
    "eval_loss": "eval loss",
    "grad_norm": "the gradient norm",
    "kl": "KL",
    "completion_length": "the completion length",
    "reward": "the reward",
    "entropy": "the entropy",
}


@dataclass(frozen=True)
class Trial:
    """What to run, and what it must show."""

    rule: str  # must not be found again
    title: str  # of that rule
    changes: tuple[Changed, ...]
    start: str  # a checkpoint's folder; empty: from the start
    first: int  # step at which it begins
    until: int  # step up to which it must run
    metric: str = ""  # empty: only the rule decides
    limit: float = 0.0
    below: bool = True  # the metric must stay below the limit

    def __str__(self) -> str:
        named = ", ".join(f"{change.name} {written(change.new)}" for change in self.changes)
        where = f"from {self.start}" if self.start else "from the start"
        what = f"Run {step(self.until - self.first)} steps {where}, up to step {step(self.until)}"
        what += f", with {named}" if named else ""
        if not self.metric:
            return f'{what}: "{self.title}" must not be found again'
        side = "below" if self.below else "above"
        return f"{what}: {WORDS[self.metric]} must stay {side} {number(self.limit)}"


@dataclass(frozen=True)
class Outcome:
    """Whether a new run confirms the cause, and by which number."""

    verdict: Verdict
    why: str


def trial_of(run: Run, diagnosis: Diagnosis) -> Trial | None:
    """Return the cheapest experiment that confirms the first cause; None where nothing is loud."""
    loud = [one for one in diagnosis.findings if one.severity != "info"]
    if not loud:
        return None
    lead = loud[0]
    onset = lead.begins if isfinite(lead.begins) else float(run.first_step)
    kept = fixes.checkpoint_before(run, min(onset, weights.sound_until(run, lead)) - 1)
    first, start = kept or (0, "")
    until = ceil(onset + max(FEWEST, WINDOW * onset))
    until = min(until, max(run.last_step, first + 1))
    title = diagnosis.titles.get(lead.rule, lead.rule)
    trial = Trial(lead.rule, title, diagnosis.do_first.changes, start, first, until)
    return _bounded(run, lead, onset, trial)


def _bounded(run: Run, lead: Finding, onset: float, trial: Trial) -> Trial:
    """Add the bound of the metric in which the symptom is seen, where it has two sides."""
    seen = lead.metric in RISING | FALLING and lead.rule not in UNBOUNDED
    metric = lead.metric if seen else ""
    curve = run.curve(metric).finite() if metric else None
    if curve is None or not len(curve):
        return trial
    before, after = curve.before(int(onset)).value[-BEFORE:], curve.after(int(onset)).value
    if not len(before) or not len(after):
        return trial
    level, below = float(median(before)), metric in RISING
    worst = float(after.max() if below else after.min())
    if (worst <= level) if below else (worst >= level):
        return trial
    middle = sqrt(level * worst) if level > 0 and worst > 0 else (level + worst) / 2
    return replace(trial, metric=metric, limit=middle, below=below)


def judged(trial: Trial, new: Run, diagnosis: Diagnosis) -> Outcome:
    """Say whether a run that made the experiment confirms the cause."""
    if missing := _not_changed(trial, new):
        return Outcome("undecided", missing)
    again = next((one for one in diagnosis.findings if one.rule == trial.rule), None)
    if again is not None and again.severity != "info":
        return Outcome("came back", again.title)
    curve = new.curve(trial.metric).finite().after(trial.first) if trial.metric else None
    if curve is not None and len(curve):
        value = curve.value
        beyond = value > trial.limit if trial.below else value < trial.limit
        if beyond[-BEFORE:].mean() > LASTING:
            first = curve.at(beyond)
            told = f"{WORDS[trial.metric]} was {number(float(first.value[0]))}"
            return Outcome("came back", f"{told} at step {step(int(first.step[0]))}")
    if new.last_step < trial.until and new.last_step - new.first_step < trial.until - trial.first:
        told = f"it ends at step {step(new.last_step)}"
        return Outcome("undecided", f"{told}, and step {step(trial.until)} decides")
    if curve is not None and not len(curve):
        return Outcome("undecided", f"{WORDS[trial.metric]} is not logged")
    return Outcome("confirmed", _calm(trial, new))


def _calm(trial: Trial, new: Run) -> str:
    if not trial.metric:
        return f'"{trial.title}" is not found up to step {step(new.last_step)}'
    value = new.curve(trial.metric).finite().after(trial.first).value
    most = float(value.max() if trial.below else value.min())
    side = "highest" if trial.below else "lowest"
    told = f"{WORDS[trial.metric]} was {number(most)} at its {side}"
    return f"{told}, up to step {step(new.last_step)} ({number(trial.limit)} was the bound)"


def _not_changed(trial: Trial, new: Run) -> str:
    """Say which change the new run did not make; empty where all are, or are not recorded."""
    for change in trial.changes:
        now = new.setting(change.setting)
        one, other = as_number(now), as_number(change.new)
        same = now == change.new
        if one is not None and other is not None:
            same = abs(one - other) <= SAME * abs(other)
        if now is not None and not same:
            return f"{change.name} is {written(now)} there, not {written(change.new)}"
    return ""
