"""The verdict: one sentence with a step and a number, and what that sentence leaves out."""

from collections.abc import Mapping, Sequence

import numpy as np

from runlens.diagnosis import SEVERITIES, Finding, Health, Incident, Outcome, Verdict
from runlens.history import FloatArray
from runlens.rules.rule import RL_TASKS
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import count, loss, step

FEWEST_POINTS = 8  # below it only NaN and the like can be told
JUDGED = ("train_loss", "reward", "eval_loss", "d_loss", "dpo_acc")
# infos that "no fault found" would contradict: the result suffers, if not enough for an alarm
BESIDE_HEALTH = frozenset({"hockey-stick", "eval-gap", "forgetting"})
SAME_ONSET = 0.05  # share of the run within which two readings of one curve are one thing


def of(
    run: Run, signals: Signals, made: tuple[Incident, ...], outcomes: Mapping[str, Outcome]
) -> Verdict:
    """Return the verdict: of a loud run its first mover, of a quiet one what was seen."""
    found = {finding.severity for incident in made for finding in incident.findings}
    worst = next((severity for severity in SEVERITIES if severity in found), None)
    looked = bool(made) or _enough(run)
    loud = [incident for incident in made if incident.severity != "info"]
    if loud:
        return Verdict(
            loud[0].findings[0].title,
            _second(loud, run.last_step - run.first_step),
            worst or "unknown",
        )
    passed = any(outcome.status == "passed" for outcome in outcomes.values())
    health: Health = worst or ("healthy" if looked and passed else "unknown")
    if health == "unknown":
        return Verdict(_cannot_judge(run), "", "unknown")
    second = made[0].title if made else ""
    if not _enough(run):  # an info about a setting or the machine says nothing of the training
        return Verdict(_cannot_judge(run), second, health)
    healthy = _healthy(run, signals)
    if made and made[0].findings[0].rule in BESIDE_HEALTH:
        return Verdict(second, healthy.replace("No fault found", "No alarm", 1), health)
    return Verdict(healthy, second, health)


def _second(loud: Sequence[Incident], covered: float) -> str:
    """Return what the headline leaves out: the worst that came of it, and the next incident."""
    lead, *rest = loud[0].findings
    worse = [
        one
        for one in rest
        if one.severity == loud[0].severity != "info" and not _same(lead, one, covered)
    ]
    said = [worse[0].title if worse else lead.seen]
    if len(loud) > 1:
        said.append(f"Besides: {loud[1].findings[0].title}")
    return " ".join(text for text in said if text)


def _same(one: Finding, other: Finding, covered: float) -> bool:
    """Whether two findings read the same curve at nearly the same place."""
    steps = one.onset.step or 0.0, other.onset.step or 0.0
    return one.metric == other.metric and abs(steps[0] - steps[1]) <= SAME_ONSET * covered


def _enough(run: Run) -> bool:
    """Whether a curve of the training is long enough that silence of the rules means health."""
    return any(len(run.curve(metric)) >= FEWEST_POINTS for metric in _telling(run))


def _telling(run: Run) -> tuple[str, ...]:
    """Return the metrics that tell whether the training goes well: of a policy not its loss."""
    return ("reward", "ebft_ce") if run.task in RL_TASKS else JUDGED


def _cannot_judge(run: Run) -> str:
    points = max(len(run.curve(name)) for name in _telling(run))
    if not len(run.history):
        return "Cannot judge: no metric was logged."
    if points >= FEWEST_POINTS:
        return f"Cannot judge: no check could run on the metrics up to step {step(run.last_step)}."
    telling = "reward" if run.task in RL_TASKS else "loss or reward"
    if not points:
        return f"Cannot judge: no {telling} is known up to step {step(run.last_step)}."
    what = f"{count(points, 'point')} of a {telling}"
    return f"Cannot judge: {what} up to step {step(run.last_step)}; {FEWEST_POINTS} are needed."


def _healthy(run: Run, signals: Signals) -> str:
    order = ("reward", "train_loss") if run.task in RL_TASKS else ("train_loss", "reward")
    for metric in (*order, "eval_loss"):
        curve = signals.curve(metric)
        if len(curve) > 1:
            levels = signals.levels(metric)
            first = _at_first(curve.value, levels.start, rewards=metric == "reward")
            begin, end = loss(first), loss(levels.end)
            name, until = metric.replace("_", " "), step(run.last_step)
            better = levels.end > first if metric == "reward" else levels.end < first
            gained = "" if better else held_out.improving(run, signals, run.first_step)
            if gained and not metric.startswith("eval"):
                return (
                    f"No fault found up to step {until}: {gained}, while {name} went from {begin} "
                    f"to {end}."
                )
            if not better and begin != end:  # no rule calls it a fault
                went = "rise" if metric == "reward" else "fall"
                return (
                    f"No fault found up to step {until}, but {name} did not {went}: {begin} from "
                    f"step {step(int(curve.step[0]))} on, {end} at the end."
                )
            went = "fell" if levels.end < first else "rose"
            moved = f"stayed at {end}" if begin == end else f"{went} from {begin} to {end}"
            return f"No fault found up to step {until}: {name} {moved}."
    return f"No fault found up to step {step(run.last_step)}."


def _at_first(value: FloatArray, start: float, *, rewards: bool) -> float:
    """Return where a curve began: of rewards, which scatter, the median of the first tenth."""
    return float(np.median(value[: max(3, len(value) // 10)])) if rewards else start
