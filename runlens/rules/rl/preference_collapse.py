"""Preference collapse: the pairs are not learned, or learned at the cost of the answers.

What is seen
    One of five things. Chance: the pairs are ranked no better than by a coin and the loss stays
    at ln 2. Memorized: so it is of held-out pairs alone. Reversed: fewer than half of the pairs are
    ranked right, and the margins are negative. Displacement: the chosen answers themselves become
    ever less likely. Saturated: margins grow without end while every pair is already ranked right.
Why it matters
    At chance nothing was learned. Reversed pairs train the wrong preference. Displaced answers
    are no longer what the model writes, and saturated margins move it away from them further.
Looks alike
    A mild fall of the chosen log-probability is usual in DPO: said as info. Small batches have
    noisy accuracies: their mean counts. Both log-probabilities that rise are fine. A rise of the
    evaluation loss is another rule.
Limits
    fewest: points. done: share of the plan below which chance is no more than info. coin_low,
    coin_high: mean accuracy of the last half that is a coin, under a loss that starts at ln 2.
    fall: least fall of the chosen log-probability, as share of its start. chosen: implicit reward
    of the chosen below which it is told. loud_fall: loss of log-probability, as share of its start,
    that is loud while it goes on. margins: end of the margins at beta 0.1, with done_accuracy,
    within the first epoch.
Fixes
    A third of the learning rate, or three times where nothing moved; beta 0.1 to 0.3; a share
    of the supervised loss (rpo_alpha); look at ten pairs; swap them where they are reversed.
"""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.records import NamedTuple
from runlens.rules.relations import STUCK, Relations
from runlens.rules.rl import held_out_pairs, implied_reward, policy
from runlens.rules.rl.preference_advice import Pattern, causes_of, fixes_of
from runlens.rules.rule import PREFERENCE_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import loss, number, percent, step, too_few

USUAL_BETA = 0.1  # TRL's default for DPO
STILL = 1e-4  # margin of a model that did not move
FEW_ROWS = 3  # that rise one after the other
VANISHED = 17.0  # margin whose loss, e^-17, is less than the smallest step of float32, 2^-24
SIGMOID_START = (0.5, 1.0)  # a first loss in here is that of the logistic loss, ln 2


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 6
    done: float = 0.5
    coin_low: float = 0.45
    coin_high: float = 0.55
    fall: float = 0.20
    chosen: float = -1.0
    loud_fall: float = 0.5
    margins: float = 10.0
    done_accuracy: float = 0.99


class Late(NamedTuple):
    """Means over the last half of the run; None where a metric is not logged."""

    accuracy: float | None
    margin: float | None
    loss: float | None
    logistic: bool  # the first loss is that of the logistic loss


FORMS = {"chance": "accuracy at chance", "reversed": "accuracy below chance"}
# what the title of the rule does not say
HEADINGS: Mapping[Pattern, str] = {
    "saturation": "Runaway preference margins",
    "displacement": "Likelihood displacement",
    "memorized": "Only training pairs learned",
}


class Kind(NamedTuple):
    """Which of them it is."""

    name: Pattern
    severity: Severity
    metric: str
    at: int
    title: str  # with {onset}
    evidence: tuple[Evidence, ...]


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Try the patterns; the first that holds is told."""
    logged = ("dpo_acc", "dpo_margin", "logp_chosen", "dpo_chosen")
    most = max(len(signals.curve(name)) for name in logged)
    if most < limits.fewest and (kind := _vanished(signals)):
        return found(_finding(run, signals, kind, _late(signals)))
    if most < limits.fewest:
        return unmet(too_few(most, "value", limits.fewest, of="of the pairs"))
    late = _late(signals)
    for test in (_unlearned, _memorized, _displaced, _saturated):
        kind = test(run, signals, late, limits)
        if kind:
            return found(_finding(run, signals, kind, late))
    words = f"accuracy is {percent(late.accuracy)}" if late.accuracy is not None else "no accuracy"
    margin = f", margin {number(late.margin, 3)}" if late.margin is not None else ""
    return passed(f"{words}{margin} in the last half")


def _vanished(signals: Signals) -> Kind | None:
    """Return the margins of a few rows that rose to where no loss is left to learn from."""
    margin = signals.curve("dpo_margin")
    value = margin.value
    if len(value) < FEW_ROWS or not (np.diff(value) > 0).all() or value[-1] < VANISHED:
        return None
    at = int(np.argmax(value >= VANISHED))
    grew = f"The margin grew at each of {len(value)} logged points, up to"
    return Kind(
        "saturation",
        "warning",
        "dpo_margin",
        at,
        f"{grew} {number(float(value[-1]), 3)}. From step {{onset}} on the loss was near 0.",
        (Evidence("Margin at the end", float(value[-1]), VANISHED, "e^-17", "dpo_margin"),),
    )


def _late(signals: Signals) -> Late:
    def mean(metric: str) -> float | None:
        value = signals.curve(metric).value
        return float(value[len(value) // 2 :].mean()) if len(value) else None

    first = signals.curve("train_loss").value[:3]
    logistic = bool(len(first)) and SIGMOID_START[0] < float(median(first)) < SIGMOID_START[1]
    return Late(mean(_ranked(signals)), mean("dpo_margin"), mean("train_loss"), logistic)


def _ranked(signals: Signals) -> str:
    """Return the accuracy that says how many pairs are ranked right: of training, else held out."""
    return "dpo_acc" if len(signals.curve("dpo_acc")) else "eval_accuracy"


def _unlearned(run: Run, signals: Signals, late: Late, limits: Limits) -> Kind | None:
    metric = _ranked(signals)
    few = len(signals.curve(metric)) < limits.fewest
    if few or late.accuracy is None or late.accuracy > limits.coin_high or not late.logistic:
        return None
    # equal rewards count as wrong: a model that did not move has accuracy 0 and margin 0
    moved = late.margin is None or late.margin < -STILL
    reversed_ = late.accuracy < limits.coin_low and moved
    limit = limits.coin_low if reversed_ else limits.coin_high
    what = "were learned backward" if reversed_ else "were not learned"
    told = (
        f", with a median loss of {loss(late.loss)} (guessing gives ln 2 = 0.693)"
        if late.loss is not None
        else ""
    )
    share = run.state.done_share
    early = share is not None and share < limits.done and not reversed_
    return Kind(
        "reversed" if reversed_ else "chance",
        "info" if early else "warning",
        metric,
        0,
        f"Preferences {what}. In the last half of the run accuracy was "
        f"{percent(late.accuracy)}{told}.",
        (
            Evidence(
                "Accuracy, mean of the last half",
                late.accuracy,
                limit,
                "a coin",
                metric,
                above=False,
                unit="%",
            ),
        ),
    )


def _memorized(_run: Run, signals: Signals, late: Late, limits: Limits) -> Kind | None:
    told = held_out_pairs.of(signals, limits.fewest, limits.coin_high) if late.logistic else None
    return Kind("memorized", "warning", told.metric, 0, told.title, told.evidence) if told else None


def _displaced(run: Run, signals: Signals, _late: Late, limits: Limits) -> Kind | None:
    logp, chosen = signals.curve("logp_chosen"), signals.curve("dpo_chosen").value
    about = "" if len(chosen) else " about"
    chosen = chosen if len(chosen) else implied_reward.of(run, signals)
    if len(logp) < limits.fewest or len(chosen) < limits.fewest:
        return None
    tenth = max(3, len(logp) // 10)
    start, end = float(median(logp.value[:tenth])), float(median(logp.value[-tenth:]))
    reward = float(median(chosen[-max(3, len(chosen) // 10) :]))
    origin = implied_reward.reference(run, signals, start)
    told = origin != start and implied_reward.below(chosen, limits.chosen)
    start = float(logp.value[0]) if told else start  # which may lie within the fall
    needed = limits.fall * abs(start)
    falls = start - end >= needed and (told or implied_reward.falls(chosen))
    if not falls or reward > limits.chosen:
        return None
    at = policy.stays_from(signals.smooth("logp_chosen") < start - 0.5 * needed) or 0
    on = reward <= float(median(chosen[len(chosen) * 3 // 4 :]))
    loud = origin - end >= limits.loud_fall * abs(origin)
    return Kind(
        "displacement",
        "warning" if loud and on else "info",
        "logp_chosen",
        at,
        f"Chosen answers became less likely from step {{onset}} on. Their log-probability went "
        f"from {number(start)} to {number(end)}, and their implicit reward is{about} "
        f"{number(reward, 3)}.",
        (
            Evidence("Fall of the chosen log-probability", start - end, needed, "a fifth of it"),
            Evidence("Implicit reward of the chosen", reward, limits.chosen, above=False),
            Evidence("Nats below the reference", abs(reward) / (run.number("beta") or USUAL_BETA)),
        ),
    )


def _saturated(run: Run, signals: Signals, _late: Late, limits: Limits) -> Kind | None:
    margin, accuracy = signals.curve("dpo_margin"), signals.curve("dpo_acc")
    if len(margin) < limits.fewest or len(accuracy) < limits.fewest:
        return None
    end, right = signals.levels("dpo_margin").end, signals.levels("dpo_acc").end
    last = signals.levels("train_loss").end
    limit = limits.margins * (run.number("beta") or USUAL_BETA) / USUAL_BETA
    trend = signals.trend("dpo_margin")
    growing = trend.p < policy.RISING_P and trend.tau > 0
    done = right >= limits.done_accuracy
    if not (done and growing and end > limit):
        return None
    at = policy.stays_from(signals.smooth("dpo_margin") > limit) or 0
    epoch = float(margin.epoch[at])
    first = np.isfinite(epoch) and epoch <= 1
    return Kind(
        "saturation",
        "warning" if first else "info",
        "dpo_margin",
        at,
        f"Margins kept growing from step {{onset}} on, to {number(end, 3)}, although accuracy was "
        f"{percent(right)} and loss {loss(last)}.",
        (
            Evidence("Margin at the end", end, limit, "10 at beta 0.1", "dpo_margin"),
            Evidence("Loss at the end", last),
            Evidence("Accuracy at the end", right, limits.done_accuracy, unit="%"),
        ),
    )


def _finding(run: Run, signals: Signals, kind: Kind, late: Late) -> Finding:
    curve = signals.curve(kind.metric)
    onset = float(curve.step[kind.at])
    margin = f"The mean margin was {number(late.margin, 3)}." if late.margin is not None else ""
    return Finding(
        severity=kind.severity,
        heading=HEADINGS.get(kind.name, ""),
        title=kind.title.replace("{onset}", step(onset)),
        metric=kind.metric,
        onset=Moment(onset),
        evidence=kind.evidence,
        seen=margin,
        causes=causes_of(run, signals, kind.name),
        fixes=fixes_of(run, signals, kind.name),
        ruled_out=(RuledOut("Batch noise", "the mean of half a run counts"),)
        if kind.name in {"chance", "reversed"}
        else (),
        confidence=policy.confidence(1.5, len(curve), FORMS.get(kind.name, kind.name)),
        chart=Chart("curves", ("dpo_chosen", "dpo_rejected", "dpo_acc")),
    )


PAIRS = "0:0.693 360:0.684"
BAD = (
    *held_out_pairs.BAD,
    *implied_reward.BAD,
    drawn(
        "a coin, by held-out pairs alone",
        (0, 20),
        0.02,
        task="reward-model",
        severity="warning",
        train_loss=PAIRS,
        dpo_margin="0:0.0002 360:0.0074",
        eval_accuracy="20:0.5 360:0.53",
    ),
    drawn(
        "a coin",
        (0, 10),
        0.05,
        task="dpo",
        severity="warning",
        train_loss="0:0.695 600:0.7",
        dpo_acc="0:0.5 600:0.5",
        dpo_margin="0:0.001 600:0.002",
    ),
    drawn(
        "reversed",
        (0, 10),
        0.05,
        task="dpo",
        severity="warning",
        train_loss="0:0.7 600:1.3",
        dpo_acc="0:0.45 100:0.3 600:0.3",
        dpo_margin="0:0 600:-0.4",
    ),
    drawn(
        "displaced",
        (50, 350),
        0.02,
        task="dpo",
        severity="warning",
        train_loss="0:0.69 600:0.1",
        dpo_acc="0:0.5 100:0.9 600:0.95",
        logp_chosen="0:-120 600:-260",
        dpo_chosen="0:0 600:-14",
        dpo_margin="0:0 600:5",
    ),
    drawn(
        "saturated within four rows",
        (10, 10),
        task="dpo",
        severity="warning",
        train_loss="0:0.69 10:0.16 20:0 30:0",
        dpo_margin="0:0 10:27 20:120 30:142",
    ),
    drawn(
        "saturated",
        (200, 600),
        0.01,
        task="dpo",
        severity="warning",
        steps_per_epoch=700,
        train_loss="0:0.69 200:0.02 600:0.0001",
        dpo_acc="0:0.5 150:1 600:1",
        dpo_margin="0:0 600:25",
    ),
)
GOOD = (
    *held_out_pairs.GOOD,
    *implied_reward.GOOD,
    drawn(
        "held-out pairs are told apart, if slowly",
        noise=0.02,
        task="reward-model",
        train_loss=PAIRS,
        dpo_margin="0:0.0002 360:0.0074",
        eval_accuracy="20:0.5 360:0.62",
    ),
    drawn(
        "learns",
        noise=0.05,
        task="dpo",
        train_loss="0:0.69 600:0.4",
        dpo_acc="0:0.5 600:0.8",
        dpo_margin="0:0 600:1.2",
        logp_chosen="0:-120 600:-118",
        dpo_chosen="0:0 600:0.2",
    ),
    drawn(
        "slow start",
        noise=0.03,
        task="dpo",
        train_loss="0:0.693 600:0.6",
        dpo_acc="0:0.5 200:0.52 600:0.7",
        dpo_margin="0:0 600:0.3",
    ),
    drawn(
        "odds ratio",
        noise=0.02,
        task="dpo",
        train_loss="0:2.1 600:0.9",
        dpo_acc="0:0.46 600:0.75",
        dpo_margin="0:0 600:0.004",
    ),
)

RULE = Rule(
    slug="preference-collapse",
    title="Preferences not learned",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=(*STUCK, "divergence", "hockey-stick")),
    needs=("dpo_acc|dpo_margin|dpo_chosen",),
    tasks=PREFERENCE_TASKS,
    bad=BAD,
    good=GOOD,
)
