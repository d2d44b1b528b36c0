"""NaN loss: a logged training loss is not a number.

What is seen
    The training loss is NaN or infinite at a logged step, for most runs from there to the end;
    or another training series is that was a number before (rewards, logits, log-probabilities);
    or, where no loss is known, a column without a name that was a number in each row before; or a
    console log says so, or that it skipped batches whose loss was NaN.
Why it matters
    One NaN in the loss makes every weight NaN at the next update. All steps after it are paid
    for nothing and every checkpoint saved after it is unusable.
Looks alike
    A NaN at step 0 alone is a placeholder logged before the first update, as are those of an agent
    that fills its replay buffer before it. A NaN evaluation is
    nan-eval. A gradient norm that is NaN while the loss is finite is nan-grad. A log line that
    speaks of NaN while the logged numbers go on finite is about another loss. Single points of a
    series beside the loss (a margin, a reward) that was a number again: info.
Limits
    isolated_share: up to 1 % of points, with finite losses after them, is a warning: single bad
    batches that the run survived. Skipped batches are a warning above that share of the steps,
    else info. The loss counts as lost for good when 90 % of
    the points from a step on are not finite.
Fixes
    Guides begin with the data, with the learning rate, or with fp16; here the evidence decides, by
    what stood before the onset: learning rate to a fifth, clipping at 1.0, longer warm-up;
    bf16 for fp16; or the batch itself.
"""

import re

import numpy as np
from msgspec import Struct

from runlens import fixes, nan_causes
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    Severity,
)
from runlens.history import BoolArray, Curve
from runlens.patterns import lazy_re
from runlens.rules.numerics.not_finite import (
    FATAL_SHARE,
    Losing,
    fatal_from,
    last_finite,
    losing,
    losing_series,
    norm_before,
    not_finite_name,
    phase,
    spent,
)
from runlens.rules.relations import AFTER_NAN, Relations
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Event, Run
from runlens.signals import Signals
from runlens.wording import capitalised, count, loss, number, step

LOSSES = ("train_loss", "d_loss", "g_loss", "value_loss")  # the first that is logged is judged
MANY = 10  # points: of fewer a single number behind them is a tenth
SKIPPED = 125  # row of the message table: a batch whose loss was NaN was left out
SAID = 85  # row of the message table: a log line that says that the loss is NaN
# what goes into the model: no rate and no precision makes it NaN
INPUTS = lazy_re(r"(^|[/_.])(obs|observations?|rms)([/_.]|$)", re.IGNORECASE)
OTHER_LOSS = lazy_re(r"(eval|val|valid|validation|test)[a-z]*[_/ ]?loss", re.IGNORECASE)


class Limits(Struct, frozen=True):
    """What may be tuned."""

    isolated_share: float = 0.01


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for a value that is not finite, launch by launch; else for a log line that says so."""
    metric = next((name for name in LOSSES if len(run.curve(name))), "")
    lost = losing(run, metric) if metric else None
    if lost is not None:
        return found(_finding(run, signals, metric, lost, limits))
    if other := losing_series(run, metric):
        return found(_finding(run, signals, *other, limits))
    if not metric and (lone := _nameless(run, signals, limits)):
        return found(lone)
    said = _said(run, metric)
    if said is not None:
        return found(_from_log(run, signals, metric, said))
    if skipped := [e for e in run.messages("num") if e.data.get("row") == SKIPPED]:
        return found(_of_skipped(run, metric, skipped, limits))
    if not metric:
        return unmet("no training loss is logged")
    curve = run.curve(metric)
    return passed(f"all {len(curve):,} values of {metric} are finite")


def _nameless(run: Run, signals: Signals, limits: Limits) -> Finding | None:
    """Return the finding of columns without a name that are lost; None where there are none."""
    from runlens.rules.numerics import lost_columns  # of no use to most runs

    columns = lost_columns.of(run)
    if not columns:
        return None
    first, *rest = columns
    return lost_columns.told(_finding(run, signals, first.name, first.lost, limits), rest)


def _said(run: Run, metric: str) -> Event | None:
    """Return the first log line on a NaN loss that no later number contradicts."""
    last = run.curve(metric).finite().step[-1:].tolist()
    for event in run.messages("num"):
        if event.data.get("row") != SAID or OTHER_LOSS.search(event.text):
            continue
        later = event.step is None or event.step <= last[0] if len(last) else False
        if not later or event.data.get("last"):
            return event
    return None


def _finding(run: Run, signals: Signals, metric: str, lost: Losing, limits: Limits) -> Finding:
    curve, bad = lost.curve, lost.bad
    fatal = fatal_from(bad)
    at = fatal if fatal >= 0 else int(np.argmax(bad))
    onset = float(curve.step[at])
    kind = not_finite_name(run, onset, metric)
    tree = nan_causes.of_nan(run, signals, onset, float(curve.step[0]))
    of_input = bool(INPUTS.search(metric))
    return Finding(
        severity=_severity(lost, fatal, limits, of_loss=metric in LOSSES),
        title=f"{capitalised(_name(metric))} became {kind} "
        f"{_where(signals, curve, at, fatal, bad)}.",
        heading="NaN reward" if metric == "reward" else "",
        metric=metric,
        onset=Moment(onset),
        evidence=_evidence(run, signals, metric, lost, onset),
        seen=_seen(lost, fatal, at, of_loss=metric in LOSSES),
        end=None if fatal >= 0 and lost.last else Moment(float(curve.step[bad][-1])),
        causes=(_of_input(run, metric, onset),) if of_input else (),
        fixes=_for_input(onset) if of_input else tree.fixes,
        ruled_out=tree.ruled_out,
        confidence=Confidence(1.0, "the value itself is logged"),
        chart=Chart("zoom", _shown(run, metric)),
    )


def _of_input(run: Run, metric: str, onset: float) -> Cause:
    beside = any(len(run.curve(name).finite()) for name in LOSSES)
    why = f"{_name(metric)} is not a number at step {step(onset)}"
    why += ", and the loss is finite" if beside else ""
    return Cause("An observation that is not finite", "most likely", why, kind="bad-batch")


def _for_input(onset: float) -> tuple[Fix, ...]:
    return (
        fixes.look(
            f"Print the observations before step {step(onset)} that are not finite",
            "the environment or its sensors made the first one",
        ),
        fixes.action(
            "Skip observations that are not finite, and clip the others, before normalizing",
            "a running mean stays NaN after a single one",
            cures="bad-batch",
        ),
    )


def _name(metric: str) -> str:
    return "the loss" if metric in LOSSES else metric.replace("_", " ")


def _severity(lost: Losing, fatal: int, limits: Limits, *, of_loss: bool) -> Severity:
    """Critical, unless the run outlived it: a few single points, or a resume from before."""
    if fatal < 0 and not of_loss:
        gone = lost.bad[int(np.argmax(lost.bad)) :].mean() >= FATAL_SHARE  # but for a last filler
        return "critical" if gone and lost.bad.sum() >= MANY else "info"
    rare = fatal < 0 and lost.bad.mean() <= limits.isolated_share
    return "warning" if rare or not lost.last else "critical"


def _where(signals: Signals, curve: Curve, at: int, fatal: int, bad: BoolArray) -> str:
    onset = int(curve.step[at])
    before = curve.at(slice(0, at)).finite()
    amount = f"{int(bad.sum()):,} of {len(bad):,} points are not finite"
    if fatal < 0:
        after = curve.at(slice(at, None)).finite()
        return (
            f"at step {step(onset)}. {capitalised(amount)}, and the next finite value was "
            f"{loss(float(after.value[0]))} at step {step(int(after.step[0]))}"
        )
    if not len(before):
        amount = f"none of the {len(bad):,} logged values is finite" if bad.all() else amount
        return f"at the first logged step ({step(onset)}). {capitalised(amount)}"
    norm = norm_before(signals, onset)
    told = f", and {amount}"
    if norm:
        told = f", and the gradient norm was {number(norm[1])} at step {step(norm[0])}"
    return (
        f"at step {step(onset)}. The last finite value was {loss(float(before.value[-1]))} "
        f"at step {step(int(before.step[-1]))}{told}"
    )


def _seen(lost: Losing, fatal: int, at: int, *, of_loss: bool) -> str:
    curve, what = lost.curve, "loss" if of_loss else "value"
    text = "" if lost.bad.all() else f"No finite {what} was logged from there on."
    if fatal < 0:
        survived = ", so the weights survived" if of_loss else ""
        text = f"Finite {'losses' if of_loss else 'values'} were logged after it{survived}."
        if not of_loss and lost.bad.sum() >= MANY and lost.bad[at:-1].all():
            text = (
                "Only the last value is finite: rows of an array that nobody filled look the same."
            )
    elif not lost.last:
        text = "That launch did not recover. A later one resumed from an earlier step."
    elif fatal > 0 and lost.bad[:fatal].any():
        early = int(curve.step[int(np.argmax(lost.bad))])
        text += f" Single points were not finite before that, the first at step {step(early)}."
    gap = int(curve.step[at] - curve.step[at - 1]) if at else 0
    if gap > 1:
        text += (
            f" The log has a row every {step(gap)} steps, so it may have begun up to "
            f"{count(gap - 1, 'step')} earlier."
        )
    return text


def _evidence(
    run: Run, signals: Signals, metric: str, lost: Losing, onset: float
) -> tuple[Evidence, ...]:
    amount = Evidence(
        "Points that are not finite",
        float(lost.bad.sum()),
        1.0,
        "a loss is a number",
        metric,
        onset,
    )
    rows = [amount]
    if told := last_finite(lost.curve, onset):
        rows.append(Evidence("Last finite losses", told, where=metric))
    if told := last_finite(run.curve("grad_norm"), onset):
        rows.append(Evidence("Gradient norms before the onset", told, where="grad_norm"))
    if told := phase(signals, onset):
        rows.append(Evidence("Schedule at the onset", told, where="learning_rate"))
    rows.append(Evidence("Run after the onset", spent(run, lost.curve, onset)))
    return tuple(rows)


def _from_log(run: Run, signals: Signals, metric: str, said: Event) -> Finding:
    onset = None if said.step is None else float(said.step)
    curve = run.curve(metric).finite() if metric else None
    known = f"the last logged loss was {loss(float(curve.value[-1]))}" if curve else ""
    first = float(curve.step[0]) if curve else float(run.first_step)
    tree = nan_causes.of_nan(run, signals, run.last_step if onset is None else onset, first)
    count = int(said.data.get("count", 1))
    at = f"at step {step(onset)}" if onset is not None else f"after step {step(run.last_step)}"
    return Finding(
        severity="critical",
        title=f"The loss became NaN {at}, according to {count:,} log lines."
        + (f" {known}." if known else ""),
        metric=metric or "train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Log lines with a NaN loss", float(count), 1.0, "a loss is a number"),
            Evidence("First of them", said.text, where=said.where, step=onset),
        ),
        seen="No finite loss was logged from there on.",
        fixes=tree.fixes,
        ruled_out=tree.ruled_out,
        confidence=Confidence(0.9, "read from a log line"),
        chart=Chart("log", log=((said.where, said.text, True),)),
    )


def _of_skipped(run: Run, metric: str, skipped: list[Event], limits: Limits) -> Finding:
    """Tell of batches that a guard in the training loop left out: the weights are whole."""
    said, last = skipped[0], skipped[-1].step
    onset = None if said.step is None else float(said.step)
    many = int(said.data.get("count", 1))
    often = many > limits.isolated_share * max(1, run.last_step - run.first_step + 1)
    return Finding(
        severity="warning" if often else "info",
        title="A batch had a NaN loss and was skipped, according to the log."
        if many == 1
        else f"{many:,} batches had a NaN loss and were skipped, according to the log.",
        metric=metric or "train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Log lines that report a skipped batch", float(many), 1.0, "a loss is a number"
            ),
            Evidence("First of them", said.text, where=said.where, step=onset),
        ),
        seen="The weights were not updated with these batches.",
        end=None if last is None else Moment(float(last)),
        fixes=(
            fixes.look(
                "Print the samples of a skipped batch, and the outputs of the model on them",
                "a sample without labels, an empty one or an overflow gives a NaN loss",
            ),
        ),
        confidence=Confidence(0.8, "read from log lines"),
        chart=Chart("log", log=((said.where, said.text, True),)),
    )


def _shown(run: Run, metric: str) -> tuple[str, ...]:
    return (metric, "grad_norm") if len(run.curve("grad_norm")) else (metric,)


HEALTHY = "0:2.2 300:1.3 900:0.9"
BAD = (
    drawn(
        "batches with a NaN loss were skipped",
        (300, 300),
        severity="info",
        train_loss=HEALTHY,
        events=(
            Event("message", 300, text="NaN loss, skipped", data={"row": SKIPPED, "class": "num"}),
        ),
    ),
    drawn(
        "after a climbing norm",
        (500, 500),
        severity="critical",
        train_loss="0:2.2 400:1.2 490:6 500:nan 900:nan",
        grad_norm="0:1 400:1 490:400 500:nan 900:nan",
    ),
    drawn(
        "single points of a margin",
        (300, 300),
        severity="info",
        task="dpo",
        train_loss="0:0.69 900:0.5",
        dpo_margin="0:0.1 290:0.3 300:nan 310:0.3 900:0.5",
    ),
    drawn("from the first step", (0, 0), severity="critical", train_loss="0:nan 500:nan"),
    drawn("infinite", (300, 300), severity="critical", train_loss="0:2 290:1.4 300:inf 500:inf"),
    drawn(
        "one point of 201",
        (1000, 1000),
        severity="warning",
        train_loss="0:2 990:1.4 1000:nan 1010:1.4 2000:1",
    ),
    drawn(
        "rewards of a preference run",
        (300, 300),
        severity="critical",
        task="dpo",
        train_loss="0:0.69 600:0.4",
        dpo_chosen="0:0 290:0.1 300:nan 600:nan",
    ),
    drawn(
        "an agent's, and once again",
        (500, 500),
        task="rl",
        severity="critical",
        train_loss="0:nan 10:2 490:1.4 500:nan 900:nan",
        reward="0:1 900:9",
    ),
    drawn("last point", (600, 600), severity="critical", train_loss="0:2 590:1 600:nan"),
)
GOOD = (
    drawn("healthy", train_loss=HEALTHY, grad_norm="0:1 900:1"),
    drawn("placeholder at step 0", train_loss="0:nan 10:2.2 900:1"),
    drawn(
        "a replay buffer is filled first",
        task="rl",
        train_loss="0:nan 40:nan 50:2.2 900:1",
        reward="0:1 900:9",
    ),
    drawn("norm only", train_loss=HEALTHY, grad_norm="0:1 400:nan 410:1 900:1"),
    drawn("evaluation only", train_loss=HEALTHY, eval_loss="50:nan 900:nan"),
    drawn(
        "log speaks of another loss",
        train_loss=HEALTHY,
        events=(
            Event("message", 300, text="'eval_loss': nan", data={"row": SAID, "class": "num"}),
        ),
    ),
    drawn("a series that was never computed", train_loss=HEALTHY, value_loss="0:nan 900:nan"),
    drawn("huge but finite", train_loss="0:2 400:1 500:1e30 900:1e30"),
)

RULE = Rule(
    slug="nan-loss",
    title="NaN loss",
    family="NUM",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=AFTER_NAN, layer="numbers"),
    bad=BAD,
    good=GOOD,
)
