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
    healthy, better = _healthy(run, signals)
    if made and made[0].findings[0].rule in BESIDE_HEALTH:
        return Verdict(second, healthy.replace("No fault found", "No alarm", 1), health)
    if health == "healthy" and not better:
        health = "unknown"  # no rule objects, and nothing says that it learnt
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


def _healthy(run: Run, signals: Signals) -> tuple[str, bool]:
    """Return what the main curve did, and whether it got better; no curve speaks against it."""
    until = f"No fault found up to step {step(run.last_step)}"
    order = ("reward", "train_loss") if run.task in RL_TASKS else ("train_loss", "reward")
    told = next((one for one in (*order, "eval_loss") if len(signals.curve(one)) > 1), None)
    if told is None:
        return f"{until}.", True
    curve, end_level, reward = signals.curve(told), signals.levels(told).end, told == "reward"
    first = _at_first(curve.value, signals.levels(told).start, rewards=reward)
    begin, end, name = loss(first), loss(end_level), told.replace("_", " ")
    if begin == end:
        return f"{until}: {name} stayed at {end}.", True
    if (end_level > first) == reward:
        return f"{until}: {name} {'rose' if reward else 'fell'} from {begin} to {end}.", True
    gained = held_out.improving(run, signals, run.first_step)
    if gained and told != "eval_loss":
        return f"{until}: {gained}, while {name} went from {begin} to {end}.", True
    went, since = "rise" if reward else "fall", step(int(curve.step[0]))
    sentence = (
        f"{until}, but {name} did not {went}: {begin} from step {since} on, {end} at the end."
    )
    return sentence, False


def _at_first(value: FloatArray, start: float, *, rewards: bool) -> float:
    """Return where a curve began: of rewards, which scatter, the median of the first tenth."""
    return float(np.median(value[: max(3, len(value) // 10)])) if rewards else start
