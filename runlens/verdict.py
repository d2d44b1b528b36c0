"""The verdict: one sentence with a step and a number, and what that sentence leaves out."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from runlens import course
from runlens.arrays import median
from runlens.diagnosis import SEVERITIES, Finding, Health, Incident, Outcome, Verdict
from runlens.history import Curve
from runlens.metrics import spoken
from runlens.records import NamedTuple
from runlens.rules.loss.falls import only_noise
from runlens.rules.rule import RL_TASKS
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import DOUBT, capitalised, listed, loss, step

# a run is healthy only where those of these rules that hold for its task could judge it
NAMED = {
    "divergence": "divergence",
    "not-learning": "a fall by chance",
    "reward-collapse": "a collapse of the reward",
    "reward-flat": "a rise by chance",
}
DECIDING = tuple(NAMED)
QUIET = "Nothing alarming was seen"
NO_FAULT_FOUND, NOT_SERIOUS = "No fault was found", "No serious fault was found"
AT_BEST = 0.01  # of the best evaluation: as near to it as evaluations are read
# evaluation over training loss from which most of what was learned does not carry over
PARTED = 2.0
JUDGED = ("train_loss", "reward", "eval_loss", "d_loss", "dpo_acc")
# infos that "no fault found" would contradict: the result suffers, if not enough for an alarm
BESIDE_HEALTH = frozenset({"hockey-stick", "eval-gap", "eval-flat", "forgetting", "hidden-nan"})
NO_FAULT = frozenset({"missing-signal", "eval-too-rare", "too-short", "stopped-early"})  # infos
# notes on what nothing was learned by: each has the numbers that the sentence would say again
WITH_NUMBERS = frozenset({"not-learning", "reward-stuck-zero"})
STILL = 0.01  # of its first value: losses of networks that compete swing by more
SAME_ONSET = 0.05  # share of the run within which two readings of one curve are one thing


def of(
    run: Run,
    signals: Signals,
    made: tuple[Incident, ...],
    outcomes: Mapping[str, Outcome],
    asked: Collection[str],
) -> Verdict:
    """Return the verdict: of a loud run its lead, of a quiet one what was seen.

    `made` are the incidents that speak of its health, `outcomes` and `asked` the rules by slug:
    what became of them, and which hold for its task.
    """
    found = {
        finding.severity
        for incident in made
        for finding in incident.findings
        if finding.severity != "info" or not finding.harmless
    }
    worst = next((severity for severity in SEVERITIES if severity in found), None)
    loud = [incident for incident in made if incident.severity != "info"]
    if loud:
        return Verdict(
            loud[0].findings[0].title,
            _second(loud, run.last_step - run.first_step),
            worst or "unknown",
        )
    infos = sorted((one for incident in made for one in incident.findings), key=_aside)
    second = infos[0].title if infos else ""
    if not _enough(run):  # an info about a setting or the machine says nothing of the training
        from runlens.hardly_judged import told  # of no use to most runs

        said, columns = told(run, signals)
        if infos and infos[0].rule in BESIDE_HEALTH and not infos[0].harmless:
            return Verdict(second, columns, worst or "unknown")
        return Verdict(said, second or columns, worst or "unknown")
    seen = _seen(run, signals)
    two = run.task == "gan-diffusion" and not len(signals.curve("train_loss"))
    unasked = [
        slug
        for slug in DECIDING
        if slug in asked and outcomes[slug].status in {"unmet", "error"} and not seen.held_out
        if not (two and slug == "not-learning")  # of adversaries no loss has to fall
    ]
    explained = any(one.rule == "hockey-stick" for one in infos)  # where evaluations end
    if explained and seen.doubt.startswith(course.ABOVE_BEST):
        seen = seen._replace(doubt="")  # the finding has the numbers, smoothed
    flat = next((one.title for one in infos if one.rule == "reward-flat" and not one.harmless), "")
    if flat:  # ends alone would say that it rose or fell, which is its noise
        seen = Seen("", improved=False, beside=seen.beside)
    doubted = (bool(seen.doubt) and not explained) or not seen.improved
    news = flat or (infos[0].title if infos else "")
    lead = infos[0].rule if infos else ""
    if unlearned := [one.title for one in infos if doubted and one.rule in WITH_NUMBERS]:
        seen, news = Seen("", improved=False), unlearned[0]
    parted = lead == "eval-gap" and _learns_on(signals)
    if lead in BESIDE_HEALTH and not (parted or infos[0].harmless):
        sure = bool(infos[0].heading)  # over-confident: its score got better
        quiet = DOUBT if doubted else ""  # what was found is told above
        if sure and not seen.improved:
            return Verdict(second, "", worst or "unknown")
        return Verdict(second, _sentence(run, signals, seen, unasked, quiet), worst or "unknown")
    judged = any(outcome.status == "passed" for outcome in outcomes.values())
    healthy = judged and not doubted and not unasked
    health: Health = (worst or "healthy") if healthy else "unknown"
    cut = any(info.rule == "stopped-early" and not info.harmless for info in infos)
    rate = outcomes.get("lr-out-of-range")  # a note that would deny that there is no fault
    noted = rate is not None and rate.status == "found"
    worse = worst or noted or seen.beside or any(info.rule not in NO_FAULT for info in infos)
    none = NOT_SERIOUS if worse else NO_FAULT_FOUND
    quiet = DOUBT if doubted else QUIET if unasked or cut else none
    return Verdict(_sentence(run, signals, seen, unasked, quiet), news, health)


def beside_siblings(verdict: Verdict, text: str, *, grave: bool = False) -> Verdict:
    """Return the verdict of a run of which `text` is told beside its siblings: it is not healthy.

    What its own curves show stays as it is: a fault, a doubt, and how far the loss fell. What is
    `grave` is a fault that its own curves could not show: it comes first then, where they show
    none.
    """
    sentence, quiet = verdict.sentence, verdict.health in {"healthy", "info", "unknown"}
    if grave and quiet:
        first, _, rest = text.partition(". ")
        nothing = sentence.startswith((DOUBT, QUIET, NO_FAULT_FOUND, NOT_SERIOUS))
        own = sentence.partition(". ")[2] if nothing else sentence
        parts = (f"{rest}." if rest else "", own, verdict.second)
        told = " ".join(part for part in parts if part)
        return Verdict(f"{capitalised(first)}.", told, "warning")
    if sentence.startswith(NO_FAULT_FOUND):
        sentence = NOT_SERIOUS + sentence.removeprefix(NO_FAULT_FOUND)
    second = " ".join(part for part in (verdict.second, f"{capitalised(text)}.") if part)
    return Verdict(sentence, second, "info" if verdict.health == "healthy" else verdict.health)


def _aside(info: Finding) -> tuple[bool, bool]:
    """Put first what may cost something, and of that what a curve of the training itself shows."""
    return info.harmless, info.metric not in JUDGED


def _learns_on(signals: Signals) -> bool:
    """Whether evaluation only lags behind training: at its best, its score improved, or near."""
    evals, train = signals.curve("eval_loss"), signals.curve("train_loss").value
    if not len(evals) or not len(train):
        return False
    end, best = float(evals.value[-1]), int(np.argmin(evals.value))
    if end <= (1 + AT_BEST) * float(evals.value[best]) or end < PARTED * float(median(train[-3:])):
        return True
    from runlens.rules.evaluation import score  # of no use to most runs

    gained = score.since(signals, "eval_loss", float(evals.step[best]), course.FEWEST_POINTS)
    return bool(gained and gained.improved and not gained.poor)


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
        said.append(f"Also: {loud[1].findings[0].title}")
    return " ".join(text for text in said if text)


def _same(one: Finding, other: Finding, covered: float) -> bool:
    """Whether two findings read the same curve at nearly the same place."""
    steps = one.onset.step or 0.0, other.onset.step or 0.0
    return one.metric == other.metric and abs(steps[0] - steps[1]) <= SAME_ONSET * covered


def _enough(run: Run) -> bool:
    """Whether a curve of the training is long enough that anything can be said of it."""
    return any(
        course.steps_of(run.curve(metric)) >= course.FEWEST_POINTS for metric in telling(run)
    )


def telling(run: Run) -> tuple[str, ...]:
    """Return the metrics that tell whether the training goes well: of a policy not its loss."""
    return ("reward", "ebft_ce") if run.task in RL_TASKS else JUDGED


class Seen(NamedTuple):
    """What the main curve of a quiet run did."""

    what: str  # a clause with numbers as logged
    improved: bool
    doubt: str = ""  # what no rule names and nobody should overlook
    held_out: bool = False  # whether it is the evaluation that improved, which decides by itself
    beside: str = ""  # what other columns of a policy say


def _sentence(run: Run, signals: Signals, seen: Seen, unasked: Sequence[str], quiet: str) -> str:
    """Put together what was found, what was seen, and what could not be asked."""
    lead = f"{quiet} up to step {step(run.last_step)}" if quiet else ""
    what = ", ".join(part for part in (seen.what, seen.doubt) if part)
    unasked = () if quiet == DOUBT else unasked  # a doubt says as much
    names = dict(NAMED)
    if signals.learns and signals.partial:  # it fell beyond chance; what came before is not known
        names["not-learning"] = f"a fault before step {step(run.first_step)}"
    missing = f"{listed([names[slug] for slug in unasked])} could not be ruled out"
    missed = capitalised(missing) if unasked else ""
    parts = [lead, capitalised(what), seen.beside, missed]
    return " ".join(f"{part}." for part in parts if part)


def _still_adversaries(signals: Signals) -> str:
    """Say that neither network of an adversarial pair moved; "" where one did, or is not logged."""
    pair = {name: signals.curve(name).value for name in ("d_loss", "g_loss")}
    for value in pair.values():
        if len(value) < course.FEWEST_POINTS or np.ptp(value) > STILL * abs(float(value[0])):
            return ""
    return listed([f"{spoken(name)} stayed at {loss(value[-1])}" for name, value in pair.items()])


def _places(curve: Curve) -> int:
    """Return at how many places of an epoch a loss only fell; 0 where it did not."""
    from runlens.signals.epoch_steps import places_that_fall  # of no use to most runs

    return places_that_fall(curve.value, curve.epoch)


def _beside(run: Run, signals: Signals) -> str:
    """Say what the columns beside a reward that rises show of the policy; "" for nothing."""
    from runlens.rules.rl import beside_reward  # of agents alone

    return beside_reward.told(run, signals)


def _on_last_level(run: Run, curve: Curve, metric: str) -> str:
    """Say how a loss fell on the level of the task that begins with its largest jump, if it did."""
    from runlens.rules.loss import stages  # of no use to most runs

    if metric != "train_loss" or not (told := stages.levels(run, curve)):
        return ""
    since = curve.at(slice(int(np.argmax(np.diff(curve.value))) + 1, None))
    first, last = course.ends(since.value, rewards=False)
    if last >= first or only_noise(since.value, first - last):
        return ""
    fell = f"{spoken('train_loss')} fell {course.span(since, first, last)} on that level"
    return f"{told.removesuffix(' there')} at step {step(since.step[0])}, and {fell}"


def _seen(run: Run, signals: Signals) -> Seen:
    """Say what the main curve did, in numbers as logged, and whether it got better."""
    order = ("reward", "train_loss") if run.task in RL_TASKS else ("train_loss", "reward")
    curves = ((one, signals.curve(one)) for one in (*order, "eval_loss", "dpo_acc"))
    metric = next((one for one, curve in curves if course.steps_of(curve) > 1), None)
    if metric is None:
        still = _still_adversaries(signals)
        return Seen(still, improved=not still)
    curve, reward = signals.curve(metric), metric in {"reward", "dpo_acc"}  # more is better
    name = spoken(metric)
    if not reward and (begun := np.flatnonzero(curve.value)).size:  # 0: nothing was trained yet
        curve = curve.at(slice(int(begun[0]), None))
    value = curve.value
    first, last = course.ends(value, rewards=reward)
    span = course.span(curve, first, last)
    doubt = course.doubt(signals, metric, first, last)
    means = course.by_means(value) if reward and loss(first) == loss(last) else None
    if means and loss(means[0]) != loss(means[1]):
        moved = "rose" if means[1] > means[0] else "fell"
        both = f"from {loss(means[0])} to {loss(means[1])} (means of the first and the last tenth)"
        return Seen(f"{name} {moved} {both}", improved=moved == "rose", doubt=doubt)
    gained = "" if metric == "eval_loss" else held_out.improving(run, signals, run.first_step)
    if loss(first) == loss(last):  # a change that cannot be written is none
        still = "" if float(np.ptp(value)) else " on all points"
        from runlens.signals.digits import one_digit  # of no use to most runs

        if gained and not reward and one_digit(value):  # it has no more to say
            return Seen(f"{gained}, while {name} stayed at {loss(last)}", improved=True)
        return Seen(f"{name} stayed at {loss(last)}{still}", improved=False)
    uneven = not (reward or gained) and (last > first or only_noise(value, first - last))
    if uneven and (places := _places(curve)):
        what = f"{name} fell from epoch to epoch at each of {places} places in it, at last"
        return Seen(f"{what} to {loss(last)}", improved=True, doubt=doubt)
    aimless = metric == "dpo_acc" and course.in_any_order(-value)
    if aimless or (uneven and last < first):
        low, high = loss(float(value.min())), loss(float(value.max()))
        return Seen(f"{name} went up and down, {low} to {high}, without a trend", improved=False)
    if (last > first) == reward:
        moved = "rose" if reward else "fell"
        tested, beside = metric == "eval_loss", _beside(run, signals) if reward else ""
        swung = "" if reward or doubt else course.swings(curve, first)
        what = ", ".join(part for part in (f"{name} {moved} {span}", swung) if part)
        return Seen(what, improved=True, doubt=doubt, held_out=tested, beside=beside)
    told = f"{gained}, while {name} went {span}" if gained else _on_last_level(run, curve, metric)
    if told:
        return Seen(told, improved=True)
    return Seen(f"{name} {'fell' if reward else 'rose'} {span}", improved=False)
