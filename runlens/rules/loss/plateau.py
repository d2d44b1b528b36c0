"""Plateau: training loss falls at first and then stays far above where it should come.

What is seen
    The fall is over within the first quarter of the run; from the knee on training loss lies
    flat, at a level that a sound run of the task leaves behind.
Why it matters
    At the slope after the knee the run would take several times its length to come down:
    training longer does not help, something holds it up.
Looks alike
    A converged run is flat too, but at the level of its task. A fine-tune of a good model falls
    little. Pretraining slows down by a power law and still falls with each doubling. A learning
    rate that has decayed explains a flat end. A rise after the knee is divergence. A history
    that begins mid-run lacks the fall. Without a known level the flat part is only a note.
Limits
    fewest: points. fall: noise scales of the first fall. knee: share of the run within which the
    smooth comes within knee_fall of the fall to its later level. after: points behind the knee.
    runs: further run lengths that the slope would need (noise hides flatness, not this). active:
    share of the stretch with a learning rate above rate of its peak. decayed: a rate gone before
    this share of the run is the cause, not the excuse. unknown_rate: factor on the level where
    the learning rate is not logged. risen: rise over the lowest smooth point that is divergence.
    Levels: sft for chat data (2.5-4.0, from sft_note on a note), raw_text where no template
    or mask is configured (models of the size of GPT-2 end at 3.1-3.6 there: small_model above it);
    pretrain from pretrain_steps on and with pretrain_vocabulary; of_chance
    as a share of ln of the vocabulary or classes else (healthy small models ended at 0.62-0.68,
    faulty ones at 0.85-0.98); unmoved: nats below the start value of a preference loss;
    ctc_low to ctc_high: where a CTC loss lies that writes blanks alone. high: share of the start
    above which a flat level without a limit is worth a note.
    Measured: 1 false alarm on 3,000 simulated healthy curves; power 92 % with the slope over all
    points after the knee, here it is that of the last two thirds.
Fixes
    Print decoded samples with their label mask; overfit one batch; learning rate times 3 where
    it is low, to a third where it is high; warm-up 5 %; weight decay 0.01; more LoRA capacity.
"""

import numpy as np
from msgspec import Struct

from runlens.diagnosis import (
    Chart,
    Finding,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve
from runlens.rules.loss import causes_of_flat, chance, surroundings
from runlens.rules.loss.shelf import Bound, Shelf, evidence, no_mean
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import sigma, smooth
from runlens.signals.trend import is_flat, theil_sen
from runlens.wording import loss, number, percent, step

RAW = "fine-tuning on raw text ends below 3.2, of the smallest models below 3.8"
MASK_KEYS = ("chat_template", "completion_only_loss", "assistant_only_loss", "dataset_text_field")
SMALL_START = 9.0  # a start below is that of a small vocabulary, or of a trained model
SCRATCH_PATIENCE = 2.0  # on the run lengths, where the model may have been new
SCRATCH_START = 5.5  # from here on a start is read as that of an untrained model


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 20
    fall: float = 3.0
    knee: float = 0.25
    knee_fall: float = 0.25
    after: int = 12
    runs: float = 1.5
    active: float = 0.6
    rate: float = 0.05
    decayed: float = 0.10
    unknown_rate: float = 1.3
    risen: float = 0.10
    sft: float = 2.5
    sft_note: float = 2.0
    raw_text: float = 3.2
    small_model: float = 0.6
    pretrain: float = 5.5
    pretrain_steps: int = 2000
    pretrain_vocabulary: int = 20_000
    of_chance: float = 0.8
    unmoved: float = 0.01
    ctc_low: float = 2.7
    ctc_high: float = 3.5
    high: float = 0.5


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for a flat part that begins early and lies high."""
    train = surroundings.judged(signals)
    if len(train) < limits.fewest:
        return unmet(f"only {len(train)} of the {limits.fewest} training losses that are needed")
    if signals.partial:
        return unmet(f"the history begins at step {step(run.first_step)}: the start is missing")
    shelf = _shelf(train, limits)
    if isinstance(shelf, str):
        return passed(shelf)
    if reason := no_mean(run, signals, shelf):
        return unmet(reason)
    bound = _bound(run, shelf, limits)
    if bound is None:
        return _without_bound(run, signals, train, shelf, limits)
    rated = len(signals.curve("learning_rate")) > 0
    least = bound.level + bound.doubtful
    needed = least if rated else limits.unknown_rate * least
    if run.task == "asr" and shelf.level > limits.ctc_high:
        return passed(f"loss ends at {loss(shelf.level)}, above the blank shelf of CTC")
    note = rated and bound.level == limits.sft and limits.sft_note < shelf.level <= needed
    if shelf.level <= needed and not note:
        return passed(f"loss ends at {loss(shelf.level)}; above {loss(needed)} would count")
    bound = bound._replace(level=limits.sft_note) if note else bound
    lengths = _lengths(train, shelf, bound.level)
    if lengths < bound.patience * limits.runs:
        return passed(f"loss still falls: {number(lengths, 2)} more runs to {loss(bound.level)}")
    if reason := _rate_excuse(signals, train, shelf, limits):
        return passed(reason)
    severity: Severity = "info" if note else "warning"
    return found(_finding(run, signals, train, shelf, bound, lengths, severity, limits.runs))


def _shelf(train: Curve, limits: Limits) -> Shelf | str:
    """Find the knee; a text says why there is none."""
    value, count = train.value, len(train)
    shown, scale = smooth(value), sigma(value)
    start = float(value[: max(2, count // 50)].max())
    flat = float(np.median(value[count // 2 :]))
    fall = start - flat
    if fall < limits.fall * scale:
        return f"loss fell by {loss(fall)}, within three noise scales"
    near = np.flatnonzero(shown <= flat + max(limits.knee_fall * fall, 0.5 * scale))
    if not len(near):
        return "loss never came near its later level"
    knee = int(near[0])
    if knee > limits.knee * count and fall > 0.05 * abs(start):
        return f"loss fell until step {step(train.step[knee])}, past the first quarter of the run"
    if count - knee < limits.after:
        return f"only {count - knee} of the {limits.after} points after the knee that are needed"
    tail = float(np.median(value[-max(5, count // 10) :]))
    lowest = float(shown[knee:].min())
    if tail > lowest + max(6 * scale, limits.risen * abs(flat)):
        return f"loss rose again from {loss(lowest)} to {loss(tail)}: not flat"
    late = max(knee, count // 3)  # the end of the first fall is no part of the flat slope
    slope = theil_sen(train.step[late:], value[late:])
    level = float(np.median(value[-max(5, count // 5) :]))
    return Shelf(knee, start, level, slope, scale)


def _bound(run: Run, shelf: Shelf, limits: Limits) -> Bound | None:
    """Return the level below which a sound run of this task ends, or None."""
    if run.task == "sft" and shelf.start < SCRATCH_START:
        masked = run.flag("train_on_inputs") is False or any(run.setting(k) for k in MASK_KEYS)
        if masked:
            return Bound(limits.sft, "chat fine-tuning ends at 0.5-2.0; 2.5-4.0 is a fault")
        return Bound(limits.raw_text, RAW, doubtful=limits.small_model)
    if run.task in {"sft", "pretrain"}:
        return _language_bound(run, shelf, limits)
    if run.task == "classification":
        at = chance.of_run(run)
        return Bound(limits.of_chance * at.level, f"0.8 of chance, {at.name}") if at else None
    if run.task == "dpo":
        at = chance.of_preferences(run)
        return Bound(at.level - limits.unmoved, f"0.01 below the start value, {at.name}")
    if run.task == "asr":
        return Bound(limits.ctc_low, "blanks alone give a CTC loss of 2.7 to 3.5")
    return None


def _language_bound(run: Run, shelf: Shelf, limits: Limits) -> Bound | None:
    """Return the level for a language model; trained ones that go on have none."""
    size = run.number("vocab_size")
    at = chance.of_run(run)
    if at is not None and shelf.start < limits.of_chance * at.level:
        return None
    if at is not None and size is not None and size < limits.pretrain_vocabulary:
        return Bound(limits.of_chance * at.level, f"0.8 of chance, {at.name}")
    if shelf.start < SMALL_START:
        start = Bound(limits.of_chance * shelf.start, "0.8 of its start; faulty runs ended above")
        return start if size is None and shelf.start >= SCRATCH_START else None
    if run.task == "sft":  # a trained model that starts so high is miswired; a new one falls on
        return Bound(limits.raw_text, RAW, SCRATCH_PATIENCE, limits.small_model)
    if run.last_step >= limits.pretrain_steps:
        return Bound(limits.pretrain, "pretraining is below 5.5 after 2,000 steps")
    return None


def _lengths(train: Curve, shelf: Shelf, level: float) -> float:
    """Return how many further lengths of this run the slope needs to come down to `level`."""
    span = float(train.step[-1] - train.step[0])
    return (shelf.level - level) / max(-shelf.slope * span, 1e-9)


def _rate_excuse(signals: Signals, train: Curve, shelf: Shelf, limits: Limits) -> str:
    """Say that the learning rate was too small after the knee to move anything, if it was."""
    first, last = float(train.step[shelf.knee]), float(train.step[-1])
    active = surroundings.active_share(signals, first, last, limits.rate)
    if active is None or active >= limits.active:
        return ""
    rate, peak = signals.curve("learning_rate"), signals.peak_learning_rate or 0.0
    alive = rate.step[rate.value > limits.rate * peak]
    if len(alive) and alive[-1] <= train.step[0] + 2 * limits.decayed * (last - train.step[0]):
        return ""
    return f"the learning rate was above 5 % of its peak on {percent(active)} of the flat part"


def _without_bound(
    run: Run, signals: Signals, train: Curve, shelf: Shelf, limits: Limits
) -> Outcome:
    """Note a flat part whose level nobody can judge, where it is shown to be flat and high."""
    part = train.at(slice(shelf.knee, None))
    tolerance = max(0.05 * abs(shelf.level), 1e-9)
    high = shelf.level > limits.high * shelf.start
    if not high or not is_flat(part.step, part.value, tolerance):
        return passed(
            f"loss ends at {loss(shelf.level)}, from {loss(shelf.start)}, and no limit is "
            f"known for this task"
        )
    if reason := _rate_excuse(signals, train, shelf, limits):
        return passed(reason)
    none = Bound(shelf.level - tolerance, "flat within 5 %; no limit is known for this task")
    return found(_finding(run, signals, train, shelf, none, float("inf"), "info", limits.runs))


def _finding(
    run: Run,
    signals: Signals,
    train: Curve,
    shelf: Shelf,
    bound: Bound,
    lengths: float,
    severity: Severity,
    needed: float,
) -> Finding:
    onset = float(train.step[shelf.knee])
    endless = lengths > 100  # noqa: PLR2004 - as good as never
    needs = "would not reach it" if endless else f"would need {number(lengths, 2)} more runs"
    against = (
        f"after {loss(shelf.start)} at the start"
        if severity == "info"
        else f"against a limit of {loss(bound.level)} ({bound.source})"
    )
    seen = f"Loss fell from {loss(shelf.start)} within the first {step(onset)} steps and has been "
    return Finding(
        severity=severity,
        title=f"Train loss is flat from step {step(onset)}: {loss(shelf.level)} {against}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=evidence(
            run, signals, train, shelf, bound, "more than 100" if endless else lengths, needed
        ),
        seen=seen + f"near {loss(shelf.level)} since; at that slope it {needs}.",
        causes=causes_of_flat.causes(run, signals, train, onset),
        fixes=causes_of_flat.cures(run, signals, train),
        ruled_out=(
            RuledOut("A fall that goes on", f"at its slope it {needs}"),
            RuledOut("Divergence", "loss does not rise after the knee"),
        ),
        confidence=surroundings.confidence(
            shelf.level / bound.level, len(train), 2, 3, "the level"
        ),
        chart=Chart(
            "limit",
            ("train_loss",),
            marks=(Mark(onset, shelf.level, "knee"),),
            limit=bound.level,
        ),
    )


CONSTANT = "0:2e-5 900:2e-5"
BAD = (
    drawn(
        "fine-tune that stays at 4",
        (40, 200),
        severity="warning",
        train_loss="0:5.2 100:4 900:3.95",
        learning_rate=CONSTANT,
    ),
    drawn(
        "small vocabulary",
        (20, 200),
        severity="warning",
        task="pretrain",
        config={"vocab_size": 509},
        train_loss="0:6.2 60:5.4 900:5.38",
        learning_rate="0:1e-3 900:1e-3",
    ),
    drawn(
        "classifier",
        (20, 200),
        0.01,
        severity="warning",
        task="classification",
        config={"num_labels": 4},
        train_loss="0:1.5 80:1.25 900:1.24",
        learning_rate=CONSTANT,
    ),
    drawn(
        "chat data, high but not too high",
        (20, 200),
        severity="info",
        config={"train_on_inputs": False},
        train_loss="0:3.5 80:2.35 900:2.3",
        learning_rate=CONSTANT,
    ),
    drawn(
        "no limit known",
        (20, 200),
        0.01,
        severity="info",
        task="regression",
        train_loss="0:8 80:5 900:5",
        learning_rate=CONSTANT,
    ),
)
GOOD = (
    drawn("converged", train_loss="0:2.2 100:1 900:0.95", learning_rate=CONSTANT),
    drawn("slow but falling", train_loss="0:8 900:3", learning_rate=CONSTANT),
    drawn(
        "power law",
        task="pretrain",
        config={"vocab_size": 50257},
        train_loss="0:10.8 100:6.5 300:5 900:4.2 3000:3.6",
        learning_rate="0:3e-4 3000:3e-4",
    ),
    drawn(
        "small model at the floor of raw text",
        config={"model_name": "gpt2"},
        noise=0.01,
        train_loss="0:5.2 200:3.5 500:3.38 900:3.35",
        learning_rate="0:0 150:5e-5 900:2e-6",
    ),
    drawn("no learning rate logged", train_loss="0:5 100:3.4 900:3.4"),
    drawn(
        "rate decayed late",
        train_loss="0:7 300:4 900:3.9",
        learning_rate="0:2e-5 250:1e-5 400:1e-7 900:1e-8",
    ),
    drawn("diverges", train_loss="0:6 150:3.5 400:3.4 900:6", learning_rate=CONSTANT),
)

RULE = Rule(
    slug="plateau",
    title="Plateau",
    family="LOS",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("train_loss",),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
