"""Low precision as a cause: overflow, a loss scaler, operations that have no finite result."""

import numpy as np

from runlens import layers, nan_causes
from runlens.causes.batches import kept_in_half
from runlens.causes.hypothesis import HINT, LEADS, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import LOST
from runlens.causes.scene import Scene
from runlens.metrics import is_loss, spoken
from runlens.wording import loss, number, step

CLIMBED = 3.0  # gradient norm over its level before: the steps grew
LARGE_LAYER = 100.0  # norm of one parameter that common guides call large
UNDERFLOWN = ("grad-zero", "zero-loss", "lr-zero")  # what is lost at the lower end of a range
SKIPS = 2  # updates: the first alone may be what the run starts with
LOWEST = 1e-3  # nats: a loss that was memorised goes through far lower ones to reach 0


def _precision(scene: Scene) -> Signs:
    run, scale = scene.run, scene.curve("loss_scale").value
    if scene.has("loss-scale-collapse"):
        yield Sign(scene.title("loss-scale-collapse"), STRONG)
    elif len(scale) and scale[-1] <= scale.max() / 8:
        said = f"the loss scale fell from {number(float(scale.max()))} to {number(scale[-1])}"
        yield Sign(said, STRONG)
    zero = scene.rules.get("lr-zero")
    if zero and zero.end is not None and zero.begins <= scene.run.first_step + scene.slack:
        said = f"the rate is 0 up to step {step(zero.end.step)}, then rises as planned"
        what = "The loss scaler skipped the first steps, and the schedule with them"
        skipped = len(scale) or run.flag("fp16") or _overflowed(scene)
        yield Sign(said, STRONG if skipped else SPEAKS, what)
    yield _numerics(scene)
    yield _skipped(scene)
    yield _hidden(scene)
    yield _evaluated_in_half(scene)
    yield _layer(scene)
    half = next((key for key in ("fp16", "fp8") if run.flag(key)), "")
    whole = half == "fp16" and _in_range(scene)
    if half and (not whole or scene.has("clip-saturation")):
        narrow = nan_causes.trained_in_bf16(run)
        why = ", and the model was pretrained in bf16" if narrow else ""
        if half == "fp8":
            said = "fp8 is set, and a row that is all padding has a scale of 0"
            yield Sign(said, STRONG if scene.symptom <= 1 else SPEAKS, "fp8 scale of zero")
        else:
            if scene.has("clip-saturation"):
                why += "; clipping cannot help where activations overflow before the gradients"
            sure = (narrow and not whole) or scene.has(*LOST)
            if kept_in_half(scene):
                why += ", and the loss stayed NaN: a loss scaler skips the update of one odd batch"
            yield Sign(f"fp16 is set{why}", SPEAKS if sure else HINT, "fp16 overflow")


def _in_range(scene: Scene) -> bool:
    """Whether gradient norms are logged, and none of them overflowed: half precision was enough."""
    norms = scene.run.curve("grad_norm")
    lost = scene.has(*LOST, *UNDERFLOWN, "loss-scale-collapse", "nan-eval") or _overflowed(scene)
    return bool(len(norms)) and len(norms) == len(norms.finite()) and not lost


def _layer(scene: Scene) -> Sign | None:
    """Name the layer that is lost first, or whose norm is far above what is usual."""
    lost = layers.first_lost(scene.run, scene.symptom) if scene.has(*LOST) else None
    if lost is not None:
        at = step(lost.step)
        return Sign(
            f"of {lost.layers} logged layers, {lost.name} becomes NaN first, at step {at}", HINT
        )
    most = layers.largest(scene.run, scene.run.last_step)
    if most is None or most.norm < LARGE_LAYER or not scene.has("grad-explosion"):
        return None
    said = f"{most.name} is at {number(most.norm)} at step {step(most.step)}, the largest of "
    return Sign(f"{said}{most.layers} layers; above {LARGE_LAYER:g} is large", HINT, "One layer")


def _hidden(scene: Scene) -> Sign | None:
    """Say that a loss fell to exactly 0 at once: loggers that filter NaN write it so."""
    train = scene.curve("train_loss")
    at, zero = scene.symptom, train.value == 0
    before = train.value[train.step < at]
    since = zero[train.step >= at]
    gone = scene.has("zero-loss") and len(before) and len(since) and since.all()
    if not gone or before[-1] < LOWEST or len(scene.run.curve("grad_norm")):
        return None
    said = f"the loss went from {loss(float(before[-1]))} to exactly 0 between two logged points"
    test = "Repeat the first steps with logging_nan_inf_filter off: the log then shows a NaN"
    return Sign(said, STRONG, "A NaN that the log shows as 0", test)


def _numerics(scene: Scene) -> Sign | None:
    """Say what shows that an operation, not the size of the steps, made the NaN."""
    if not scene.has(*LOST):
        return None
    if never := nan_causes.never_a_number(scene.run):
        return Sign(never, STRONG, "NaN in the forward pass, with the initial weights already")
    if ratio := nan_causes.overflowing_ratio(scene.signals, scene.symptom):
        return Sign(ratio, SPEAKS, "Overflow in the probability ratio")
    norms = scene.run.curve("grad_norm").before(int(scene.symptom) + 1)
    early = nan_causes.failed_alone(scene.run, scene.signals, norms)
    if not len(early) or (scene.norm_climb or 0.0) >= CLIMBED:
        return None
    said = f"gradient norm is NaN at step {step(int(early[0]))} while the loss is finite"
    what = "An operation without a finite gradient (sqrt or norm at 0, a masked row, an overflow)"
    return Sign(said, SPEAKS, what)


def _skipped(scene: Scene) -> Sign | None:
    """Say that weights outlived updates without a finite norm: a loss scaler skips these.

    To clip by such a norm makes every weight NaN, and with it the next loss.
    """
    norms = scene.run.curve("grad_norm")
    bad = norms.step[~np.isfinite(norms.value)]
    if not scene.has("nan-grad") or scene.has("hidden-nan") or len(bad) < SKIPS:
        return None  # a loss of 0 is then no number either
    for metric in scene.run.history.metrics:
        if metric.endswith("_loss") and not metric.startswith("eval"):
            later = scene.run.curve(metric).after(int(bad[0]) + 1).value
            if len(later) and np.isfinite(later).all():
                said = f"{spoken(metric)} stayed finite after {len(bad)} such updates"
                return Sign(f"{said}, so they were skipped, as a loss scaler does", SPEAKS)
    return None


def _evaluated_in_half(scene: Scene) -> Sign | None:
    """Say that no evaluation has a loss while its score is good: samples and weights are whole."""
    lost, run = scene.rules.get("nan-eval"), scene.run
    half = next((key for key in ("half", "amp", "fp16") if run.flag(key)), "")
    if lost is None or not half or run.flag("bf16") or scene.curve(lost.metric).value.any():
        return None
    for metric in run.history.metrics:
        if metric.startswith("eval_") and not is_loss(metric):
            score = scene.curve(metric).value
            if len(score) > 1 and score[-1] > score[0]:
                said = f"{spoken(metric)} of the same evaluations rose to {number(score[-1], 3)}"
                return Sign(f"{said}, and {half} is set", LEADS + 1, "Evaluation in half precision")
    return None


def _overflowed(scene: Scene) -> bool:
    """Whether the log says that a scaler skipped steps."""
    return any(e.data.get("cause_kind") == "precision" for e in scene.run.events_of("message"))


def _no_half(scene: Scene) -> str:
    run = scene.run
    return "bf16 is set" if run.flag("bf16") and not (run.flag("fp16") or run.flag("fp8")) else ""


PRECISION = Hypothesis(
    "precision",
    "Overflow in low precision",
    LOST
    | {"lr-zero", "loss-scale-collapse", "nan-eval", "zero-loss", "grad-zero"}
    | {"divergence", "grad-explosion", "clip-saturation"},
    _precision,
    "the same happens in fp32",
    "Repeat the steps around the fault in fp32. If the problem goes away, it was the precision",
    _no_half,
)
