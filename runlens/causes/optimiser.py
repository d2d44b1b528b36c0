"""The optimizer as a cause: clipping, its other settings, the batch, the loss that it lowers."""

import numpy as np

from runlens import nan_causes
from runlens.arrays import median
from runlens.causes import batches, scores, too_long, traces, unscaled, uphill
from runlens.causes.hypothesis import HINT, LEADS, SETTLES, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import LOST, MOVED, POLICY, STUCK, THROWN
from runlens.causes.scene import Scene
from runlens.knowledge import in_force
from runlens.knowledge.optimizer_settings import (
    HIGH_DECAY,
    IMPOSSIBLE,
    UNUSUAL,
    delays,
    outside,
)
from runlens.metrics import spoken
from runlens.rules.gradients import clip_advice
from runlens.rules.loss import causes_of_rise, causes_of_spike, runs_off, softmaxed
from runlens.wording import listed, loss, number, percent, step, times

TIGHT, FAR_TIGHT = 2.0, 5.0  # median norm over the limit
SUMMED = 100.0  # norm over limit that no rate explains: a sum, or a loss scale
LOOSE = 5.0  # a limit above bounds nothing: 0.3 to 1.0 is usual
SLOW_MOMENTUM, NO_DAMPING = UNUSUAL["momentum"].below, 0.995  # 100 and 200 steps of memory
SHORT_BETA2 = UNUSUAL["adam_beta2"].least
DECAY = UNUSUAL["weight_decay"]
DECAYED = ("weight-decay-high",)  # checks that such a setting answers
FINE_TUNED = ("sft", "dpo")
SMALL_BATCH = 4  # samples of an update
NEVER_UNSCALED = "Gradients that were never unscaled, or a loss that is scaled up"
OF_ZERO = "A logarithm of 0, a division by 0 or an overflow in the loss"
FEWEST_BEFORE = 3  # losses before a leap, whose changes it is held against
SHOWN_PARTS = 3  # of a loss, by name
OF_A_SUM = STUCK | {"clip-saturation", "divergence", "grad-explosion", "nan-loss"}


def _tight(scene: Scene) -> Signs:
    limit = in_force.clip_limit(scene.run)
    norm = scene.curve("grad_norm").after(scene.signals.settled_from).value
    if limit is None or limit <= 0 or not len(norm):
        return
    over = float(median(norm)) / limit
    if over >= TIGHT:
        weight = SETTLES if over >= FAR_TIGHT and scene.has("clip-saturation") else SPEAKS
        if STUCK & scene.everywhere.keys() and not in_force.scale_matters(scene.run):
            return  # Adam takes steps of the same length: it does not stand still for that
        usual = number(float(median(norm)))
        told = f"the clipping limit is {number(limit)} and the median norm {usual}"
        yield Sign(f"{told}, so a typical gradient is scaled down to {percent(1 / over)}", weight)


def _default_limit(scene: Scene) -> str:
    assumed = scene.run.number("max_grad_norm") is None and in_force.clip_limit(scene.run)
    known = bool(len(scene.curve("grad_norm")))  # else nothing shows whether it clips
    return "the limit is the framework's default" if assumed and known else ""


def _loose(scene: Scene) -> Signs:
    limit, norm = in_force.clip_limit(scene.run), scene.curve("grad_norm").value
    if limit is None or (0 < limit <= LOOSE):
        return
    weight = SPEAKS if scene.has("grad-spike", "grad-explosion") and len(norm) else HINT
    rose = nan_causes.loss_climbed(scene.signals, scene.symptom) if scene.has(*LOST) else ""
    if limit <= 0 and rose:  # steps that nothing bounds grew, and then the weights were lost
        weight = SPEAKS
    said = f"the clipping limit is {number(limit)}" if limit > LOOSE else "clipping is off"
    what = "Clipping limit too loose to matter" if limit > LOOSE else "No gradient clipping"
    finite = len(norm) == len(scene.run.curve("grad_norm"))
    largest = "the largest norm" if finite else "the largest finite norm"
    only = "only " if limit > LOOSE else ""
    most = f", and {largest} was {only}{number(float(norm.max()))}" if len(norm) else ""
    yield Sign("; ".join(one for one in (said + most, rose) if one), weight, what)


def _settings(scene: Scene) -> Signs:
    run = scene.run
    momentum = run.number("momentum")
    if momentum is not None and momentum >= SLOW_MOMENTUM:
        weight = SETTLES if momentum >= NO_DAMPING else SPEAKS
        memory = 1 / max(1 - momentum, 1e-6)
        yield Sign(
            f"a momentum of {momentum:g} averages over {memory:,.0f} steps, so the loss swings",
            weight,
        )
    decay = run.number("weight_decay")
    if decay is not None and (decay < 0 or decay > DECAY.below):
        says = "makes the weights grow at each step" if decay < 0 else "pulls the weights to zero"
        yield Sign(f"a weight_decay of {decay:g} {says}; {DECAY.why}", SETTLES, answers=DECAYED)
    for key, value, bounds in outside(run, IMPOSSIBLE):
        yield Sign(f"{key} is {value:g}; {bounds.why}", LEADS)
    if decay is not None and HIGH_DECAY < decay <= DECAY.below and run.task in FINE_TUNED:
        said = f"weight_decay is {decay:g}; {DECAY.why}"
        yield Sign(said, HINT, "Weight decay too high", answers=DECAYED)
    beta2 = run.number("adam_beta2")
    if causes_of_spike.slow_adam(run) and scene.has("loss-spike", "divergence"):
        said = f"adam_beta2 is {beta2:g}, which makes steps too large after a calm phase"
        yield Sign(said, HINT, "Slow second moment of Adam")
    if beta2 is not None and 0 <= beta2 < SHORT_BETA2:
        yield Sign(
            f"an adam_beta2 of {beta2:g} averages over only {1 / (1 - beta2):.0f} steps", SPEAKS
        )
    yield _delayed(scene)
    yield too_long.never_copied(scene)
    yield unscaled.too_hot(scene)
    yield traces.added_up(scene)
    yield traces.shrunk(scene)
    yield traces.grown(scene)
    yield traces.from_itself(scene)
    yield traces.unequal(scene)
    yield traces.penalised(scene)


def _delayed(scene: Scene) -> Sign | None:
    for key, value in delays(scene.run):
        said = f"{key} is {value:g}, so each update uses gradients from {value:g} steps ago"
        return Sign(said, SETTLES, "Stale gradients")
    return None


def _small_batch(scene: Scene) -> Signs:
    batch = in_force.effective_batch(scene.run)
    if batch and batch <= SMALL_BATCH:
        yield Sign(f"each update uses {batch:g} samples", HINT)


def _wrong_loss(scene: Scene) -> Signs:
    yield scores.rare_class_unweighted(scene)
    yield scores.equal_embeddings(scene)
    if scene.has(*OF_A_SUM):
        yield from _summed(scene)


def _summed(scene: Scene) -> Signs:
    limit, norm = in_force.clip_limit(scene.run), scene.curve("grad_norm")
    if limit and len(norm) and float(median(norm.value)) >= SUMMED * limit:
        level = float(median(norm.after(scene.signals.settled_from).value))
        alone = "only logged" if len(norm) == 1 else "median"
        said = f"the {alone} gradient norm is {times(level / limit)} max_grad_norm"
        if clip_advice.is_mean(scene.run, scene.signals):
            yield Sign(f"{said}, though the loss is a mean", SPEAKS, NEVER_UNSCALED)
        else:
            like = "a loss summed over tokens or of targets that are not scaled"
            yield Sign(f"{said}, typical of {like}", SPEAKS)
    yield _of_no_token(scene)
    yield _softmaxed(scene)
    yield unscaled.undivided(scene)
    yield unscaled.not_aligned(scene)
    yield _lost_part(scene)
    if infinite := batches.infinite_first(scene):
        test = "Print the smallest probability and the smallest divisor of the batch that fails"
        yield Sign(infinite, HINT, OF_ZERO, test, falsifier="neither of them is 0 there")
    yield _unbounded(scene)
    yield uphill.wrong_sign(scene)
    yield traces.prior(scene)
    part, growth = causes_of_rise.component(scene.run, scene.symptom)
    if part and scene.has("divergence") and len(scene.curve("train_loss")):  # of a sum
        said = f"{part} rose {number(growth, 2)}-fold from step {step(scene.symptom)} on"
        yield Sign(said, STRONG, "One component of the loss")
    if scene.has("divergence") and (wrong := runs_off.judge(scene.run, scene.signals)):
        (told,) = wrong.findings[0].causes or (runs_off.NO_FIT,)
        yield Sign(told.evidence_for, STRONG, told.what, told.experiment)
    value = scene.run.number("label_smoothing_factor")
    if value:
        yield Sign(f"label smoothing of {value:g} raises the floor of the loss", HINT)


def _unbounded(scene: Scene) -> Sign | None:
    """Say that a loss which had never been below 0 leaped far below it before it was lost.

    One that goes below 0 bit by bit may be that of a density, which has no bound and needs none.
    """
    train = scene.curve("train_loss")
    before = train.value[train.step < scene.symptom]
    if not scene.has(*LOST) or len(before) < FEWEST_BEFORE or before[0] <= 0:
        return None
    below = int(np.argmax(before < 0))
    if below < FEWEST_BEFORE - 1:  # from the start, or never
        return None
    if before[below - 1] - before[below] <= np.ptp(before[:below]):  # no more than it had fallen
        return None
    levels = f"from {loss(float(before[below - 1]))} to {loss(float(before[below]))}"
    said = f"train loss leaped {levels} at step {step(float(train.step[below]))}, before it became "
    said += "NaN; no cross-entropy or squared error is below 0"
    test = "Compute the loss of one batch by hand, and check its sign and what bounds it from below"
    return Sign(said, SPEAKS, "A loss that nothing bounds from below, or another loss", test)


def _lost_part(scene: Scene) -> Sign | None:
    """Say which part of a sum is no number where the sum first is none."""
    part = nan_causes.lost_part(scene.run, scene.symptom) if scene.has("nan-loss") else None
    if part is None:
        return None
    shown = [spoken(one) for one in part.whole[:SHOWN_PARTS]]
    more = [f"{len(part.whole) - SHOWN_PARTS} more"] if len(part.whole) > SHOWN_PARTS else []
    name, others = spoken(part.name), listed(shown + more)
    are = "is a number" if len(part.whole) == 1 else "are numbers"
    said = f"at step {step(scene.symptom)} {name} is no number either, while {others} {are}"
    test = f"Print what {name} is computed from at step {step(scene.symptom)}"
    denied = f"{name} is a number there"
    return Sign(said, LEADS + 1, f"One part of the loss, {name}", test, falsifier=denied)


def _of_no_token(scene: Scene) -> Sign | None:
    """Say that a loss fell to its flat level from one that no mean over tokens or classes has."""
    train = scene.curve("train_loss").value
    if not scene.has("plateau") or not len(train) or train[0] <= in_force.MOST_OF_A_TOKEN:
        return None
    end = scene.signals.levels("train_loss").end
    said = f"the loss started at {loss(float(train[0]))} and ended at {loss(end)} (median)"
    what = "Targets that are not scaled, or a loss that is summed"
    test = "Print the mean and the spread of ten targets beside those of the outputs"
    return Sign(said, HINT, what, test)


def _softmaxed(scene: Scene) -> Sign | None:
    """Say that loss and accuracy add up to one sum, as after two softmax layers alone."""
    twice = softmaxed.of(scene.run, scene.signals) if scene.has(*STUCK) else None
    if twice is None:
        return None
    return Sign(twice.words, SETTLES, softmaxed.WHAT, softmaxed.TEST, falsifier=softmaxed.DENIED)


TIGHT_CLIP = Hypothesis(
    "clip-too-tight",
    "Clipping limit too tight",
    frozenset({"clip-saturation", "plateau", "not-learning"}),
    _tight,
    "the loss falls no faster with twice the median norm as limit",
    "Run 100 steps with a limit of twice the median norm, and compare the loss curves",
    _default_limit,
)
NO_CLIP = Hypothesis(
    "clip-missing",
    "Clipping off, or too loose to matter",
    THROWN | LOST,
    _loose,
    "the same happens with a limit of 1.0",
    "Rerun the steps before the fault with max_grad_norm 1.0",
)
SETTINGS = Hypothesis(
    "optimizer-setting",
    "An optimizer setting out of its usual range",
    MOVED | {"hockey-stick"},
    _settings,
    "the same happens with the optimizer's defaults",
    "Repeat 100 steps with the optimizer's defaults",
)
BATCH = Hypothesis(
    "batch-too-small",
    "Batch too small, so that noise hides the signal",
    frozenset({"oscillation", "sawtooth", "not-learning", "plateau", "grad-spike"})
    | (POLICY & {"reward-flat"}),
    _small_batch,
    "the swings are as large with four times the batch",
    "Accumulate over four times as many batches for 100 steps. If noise is the cause, the swings "
    "halve",
)
LOSS = Hypothesis(
    "loss-function",
    "A summed, rescaled or wrong loss",
    OF_A_SUM | {"eval-flat", "zero-loss"},  # of a rare class, or of equal embeddings
    _wrong_loss,
    "the loss of one batch by hand equals the logged one",
    "Compute the loss of one batch by hand, as a mean over its shifted targets, and compare",
)
