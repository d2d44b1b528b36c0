"""The learning rate as a cause: off its plan, too high, too low, gone, not warmed up."""

from math import isclose

import numpy as np

from runlens import nan_causes
from runlens.arrays import median
from runlens.causes import labels, too_long, traces
from runlens.causes.data import rose_together
from runlens.causes.forgotten import forgotten
from runlens.causes.hypothesis import (
    HINT,
    LEADS,
    SETTLES,
    SPEAKS,
    STRONG,
    Hypothesis,
    Sign,
    Signs,
)
from runlens.causes.patterns import LOST, MOVED, POLICY, PREFERENCE, STUCK, THROWN
from runlens.causes.rate_limits import (
    BEYOND,
    OUTSIDE,
    against_ceiling,
    against_default,
    against_usual,
    scaled,
    small_batch,
)
from runlens.causes.scene import LEFT, Scene
from runlens.causes.slow import MORE, creeps
from runlens.causes.thrown import AT_ONCE, climbed, restarted, thrown
from runlens.knowledge.defaults import default_rate
from runlens.rules.rl import policy
from runlens.rules.schedule import mismatch, shrinking
from runlens.signals import held_out
from runlens.signals.inputs import Departure
from runlens.signals.inputs.rate import FITS
from runlens.wording import count, loss, percent, step, times
from runlens.wording import rate as as_rate

DECAYED = 0.2  # of the peak: a rate below it throws no model
DEAD = 0.05  # of the peak: a rate below it moves nothing
MOST_DEAD = 0.5  # of the records; a linear decay spends 5 % there, a cosine 14 %
MOST_FLAT = 0.1  # of the run
NOTHING = 1e-8  # no optimizer moves a weight by that in any run
CLIMBED, EXPLODED = 3.0, 10.0  # gradient norm over its level before
KEPT = 0.7  # of its token accuracy: a model that is whole
NO_WARMUP = 0.02  # of the steps
PROMPTS = (5e-3, 5e-2)  # rates of prompt tuning, far above those of weights and adapters
HALVED = 0.5  # of its start: a rate that took the loss below it moves the weights
HARDLY_MOVED = 0.01  # nats of KL to the reference: policies that learned ended at 0.03 to 0.7


def _grows(scene: Scene) -> Sign | None:
    """Say that the schedule multiplies the rate by more than 1 each time."""
    rate, before = scene.signals.inputs.rate, scene.curve("learning_rate")
    if not rate.growth or not len(before):
        return None
    first, now = float(before.value[0]), scene.rate or 0.0
    if now < LEFT * first:
        return None
    said = f"the rate grew from {as_rate(first)} to {as_rate(now)} by step "
    said += f"{step(scene.rate_until)}, by {percent(rate.growth - 1)} at each change"
    return Sign(said, LEADS + 1, "The schedule raises the learning rate")


def _left(scene: Scene) -> Signs:
    if grows := _grows(scene):
        yield grows
        return
    off = scene.departure
    threw = off is not None and off.factor < 1 and scene.has(*THROWN, *LOST)  # less throws nothing
    if off is not None and scene.launch is None and not threw:
        once = off.returned and off.first.step == off.last.step
        what = mismatch.ANOTHER if once else ""
        yield Sign(_off(scene, off), LEADS, what)
    yield restarted(scene) if off is None else None
    told = scene.before("schedule-mismatch")
    if off is None and told is not None and told.severity != "info":
        yield Sign(scene.title("schedule-mismatch"), LEADS)
    over, configured = scene.over_configured, scene.signals.inputs.rate.configured
    if off is None and over and configured:
        yield Sign(f"the rate reached {times(over)} the configured {as_rate(configured)}", STRONG)


def _off(scene: Scene, off: Departure) -> str:
    """Say how far off its plan the rate was: a plan that never decays is the configured rate.

    What stood before is named if it was as planned; else the rate had drifted away already.
    """
    rate = scene.signals.inputs.rate
    planned, configured = rate.planned_at(off.farthest.step), rate.configured
    flat = bool(planned and configured and isclose(planned, configured, rel_tol=FITS))
    factor = off.farthest.value / configured if flat and configured else off.factor
    way = times(factor) if factor >= 1 else f"{percent(factor)} of"
    of = f"configured {as_rate(configured)}" if flat and configured else "scheduled rate"
    now = f"{as_rate(off.farthest.value)} at step {step(off.farthest.step)}"
    at, was = step(off.first.step), as_rate(off.before.value)
    if isclose(off.before.value, rate.planned_at(off.before.step) or 0.0, rel_tol=FITS):
        return f"the rate was {was} before step {at} and {now}, {way} the {of}"
    return f"the rate left its schedule by step {at} and was {now}, {way} the {of}"


def _high(scene: Scene) -> Signs:
    rate = scene.rate
    yield (usual := against_usual(scene, rate))
    yield (ceiling := against_ceiling(scene, rate, named=usual is not None))
    yield against_default(scene, rate, named=ceiling is not None)
    if shock := scene.everywhere.get("warmup-shock"):
        climbing = scene.signals.warmup.present and shock.begins < scene.signals.warmup.end
        when = "before the rate reached its peak" if climbing else "at the peak rate"
        over = shock.end is not None and (shock.end.step or 0.0) < scene.symptom
        said = f"the loss {'had risen' if over else 'rose'} at step {step(shock.begins)}"
        said += f" already, {when}" if over else f", {when}"
        yield Sign(said, STRONG)
    climb = scene.norm_climb or 0.0
    spiked = scene.has("loss-spike", "grad-spike")  # the norm of the spike is no climb before it
    if climb >= CLIMBED and not spiked:
        weight = SPEAKS if climb >= EXPLODED and scene.has(*LOST, "grad-explosion") else HINT
        yield Sign(climbed(scene, climb), weight)
    if scene.has(*LOST) and (rose := nan_causes.loss_climbed(scene.signals, scene.symptom)):
        yield Sign(rose, HINT)
    yield _parted(scene)
    yield small_batch(scene, rate)
    yield scaled(scene, rate)
    kept = _accuracy_kept(scene)
    if kept and kept[0] < KEPT and scene.has("preference-collapse"):
        yield Sign(f"the model is broken, as {kept[1]}", STRONG)
    yield from (
        *thrown(scene),
        *forgotten(scene),
        rose_together(scene, rate),
        traces.multiplied(scene),
        _steps_of_policy(scene),
    )


def _parted(scene: Scene) -> Sign | None:
    """Say that the policy left the sampler behind, which had agreed with it at first."""
    at = policy.parted(scene.signals) if scene.has(*POLICY) else None
    if at is None or at > scene.until:
        return None
    said = f"sampler and trainer agreed, then diverged at step {step(at)}, as the policy moved"
    above = scene.usual is not None and (scene.rate or 0.0) > scene.usual.high
    return Sign(said, STRONG if above else SPEAKS)


def _steps_of_policy(scene: Scene) -> Sign | None:
    for metric, alarm, words in (
        ("kl_step", 0.05, "the KL per update"),
        ("clip_ratio", 0.3, "the clip ratio"),
    ):
        before = scene.curve(metric)
        last = before.at(before.step <= scene.until).at(slice(-20, None))
        if len(last) and last.value.max() > alarm:
            top = int(last.value.argmax())
            said = f"{words} reached {last.value[top]:.2g} at step {step(float(last.step[top]))}"
            return Sign(said, SPEAKS)
    return None


def _harmless(scene: Scene) -> str:
    """Say what shows that the rate broke nothing: it had decayed, or the model is whole."""
    if scene.has(*LOST) and (never := nan_causes.lost_from_the_start(scene.run)):
        return never
    if _grows(scene):
        return f"it began at {as_rate(float(scene.curve('learning_rate').value[0]))}, and grew"
    if still := _hardly_moved(scene, "reward-flat", "zero-reward-std"):
        return still.text
    if prompts := _of_prompts(scene):
        return prompts
    if scene.has("preference-collapse") and (kept := _accuracy_kept(scene)):
        return f"the model is intact: {kept[1]}" if kept[0] >= KEPT else ""
    at_once = scene.has(*THROWN, *LOST)  # what comes bit by bit began earlier
    if "warmup-shock" in scene.everywhere or not at_once:
        return ""
    off = scene.departure
    if off is not None and off.factor >= LEFT and scene.launch is None:
        planned = scene.signals.inputs.rate.planned_at(off.first.step)
        sane = planned and scene.usual and planned <= OUTSIDE * scene.usual.high
        return f"as planned it was {as_rate(planned or 0.0)}" if sane else ""
    if small := _warming(scene):
        return small
    share, above = scene.rate_share, against_usual(scene, scene.rate)
    if share is None or share >= DECAYED or (above and above.weight >= SPEAKS):
        return ""
    return f"it had decayed to {percent(share)} of its peak"


def _of_prompts(scene: Scene) -> str:
    """Say that weights would not have survived this rate: prompts are trained, which take it.

    P-tuning v2 trains at 5e-3 to 3e-2 (Liu et al. 2022, table 5), ChatGLM's own script at 2e-2.
    """
    rate, train = scene.rate, scene.curve("train_loss").value
    method = scene.run.task == "sft" and scene.run.adapted is None
    thrown = {*THROWN, *LOST} & scene.everywhere.keys()
    if not method or thrown or not rate or not PROMPTS[0] <= rate <= PROMPTS[1] or not len(train):
        return ""
    early = train[: max(AT_ONCE, len(train) // 10) + 1]
    if early.max() > early[0] or early[-1] >= early[0]:
        return ""
    fell = f"the loss fell from {loss(float(early[0]))} to {loss(float(early[-1]))} at once"
    return f"{fell}, as with the rates of prompt tuning; no other method stands it"


def _warming(scene: Scene) -> str:
    """Say that the rate was still far below its later peak, and no rate that is too much."""
    rate, peak = scene.curve("learning_rate"), scene.signals.peak_learning_rate
    before = rate.value[rate.step <= scene.symptom]
    now = float(before.max()) if len(before) else None
    early = now is not None and peak is not None and 0 < now < DECAYED * peak
    if not early or not now or not peak or (scene.ceiling and now >= scene.ceiling.rate):
        return ""
    return f"it is {as_rate(now)} there, {percent(now / peak)} of its later peak"


def _accuracy_kept(scene: Scene) -> tuple[float, str] | None:
    """Return the share of the first token accuracy that is left at the end, and the words."""
    right = scene.curve("token_accuracy").value
    if len(right) < AT_ONCE or not right[:AT_ONCE].any():
        return None
    start, end = float(right[:AT_ONCE].max()), float(median(right[-AT_ONCE:]))
    return end / start, f"token accuracy went from {percent(start)} to {percent(end)}"


def _low(scene: Scene) -> Signs:
    yield _hardly_moved(scene, "reward-flat")
    yield too_long.warm_up(scene)
    yield creeps(scene)
    peak, low = scene.signals.peak_learning_rate, scene.least_rate
    if not peak:
        return
    if peak < NOTHING:
        said = f"the peak rate is {as_rate(peak)}, which is too low to move any weight"
        yield Sign(said, SETTLES)
    elif low and peak < low / OUTSIDE:
        under = low / peak
        weight = SETTLES if under >= BEYOND else SPEAKS
        least = f"1/{under:,.0f} of the usual minimum of {as_rate(low)}"
        said = f"the peak rate is {as_rate(peak)}, {least}"
        yield Sign(said, weight)


def _hardly_moved(scene: Scene, *rules: str) -> Sign | None:
    """Say that a policy is still the model that it began as, whatever one of `rules` found."""
    kl = np.abs(scene.curve("kl").value)
    if len(kl) < AT_ONCE or not scene.has(*rules) or kl.max() == 0:
        return None  # a KL of exactly 0 is not measured, or nothing was updated at all
    if scene.run.task == "rl":  # its KL is that of an update, and 0.01 is usual: TRPO's limit
        return None
    end = float(median(kl[-max(AT_ONCE, len(kl) // 5) :]))
    if end >= HARDLY_MOVED:
        return None
    said = f"the policy hardly moved: its KL to the reference was {end:.2g} nats at the end"
    return Sign(f"{said} (median)", HINT)


def _enough(scene: Scene) -> str:
    """Say that the rate is above the usual already, or throws a loss: more of it is no fix."""
    far = labels.moved_far(scene) if scene.has(*PREFERENCE) else ""
    if far or scene.has(*LOST, *THROWN):
        return far or "updates that are too small throw no loss"
    peak, usual = scene.signals.peak_learning_rate, scene.usual
    default = None if usual else default_rate(scene.run)
    if peak and default and peak >= default.rate:
        return f"the peak rate of {as_rate(peak)} is not below {default.name}"
    if not peak or not usual or peak <= usual.high:
        return ""
    return f"the peak rate of {as_rate(peak)} is above the usual maximum of {as_rate(usual.high)}"


def _gone(scene: Scene) -> Signs:
    rate, peak = scene.curve("learning_rate"), scene.signals.peak_learning_rate or 0.0
    if len(rate) < AT_ONCE or peak < NOTHING:
        return
    alive = np.flatnonzero(rate.value > DEAD * peak)
    since = float(rate.step[alive[-1] if len(alive) else 0])
    dead = float(np.mean(rate.step > since))
    zero = scene.rules.get("lr-zero")
    wrong = shrinking.upside_down(scene.run) if scene.signals.inputs.rate.shrinks else ""
    if wrong:
        yield Sign(
            wrong,
            LEADS,
            shrinking.WRONG_WAY,
            "Turn the mode of the scheduler round, and repeat the run",
        )
    elif zero and zero.end is None:
        yield Sign(scene.title("lr-zero"), LEADS)
    elif dead >= MOST_DEAD:
        said = f"the rate is below {percent(DEAD)} of its peak from step {step(since)} on"
        by_factor = shrinking.cause(scene.signals.inputs.rate)
        what = by_factor.what if by_factor else ""
        yield Sign(f"{said}, for {percent(dead)} of the run", LEADS, what)


def _high_meanwhile(scene: Scene) -> str:
    """Say that a rate that is zero at first only begins late, or that it was high long enough.

    What lay flat for a tenth of the run at half of the peak and more does not wait for the rate.
    """
    zero = scene.rules.get("lr-zero")
    if zero is not None and zero.end is not None:
        return "it rises after that"
    rate, peak = scene.curve("learning_rate"), scene.signals.peak_learning_rate or 0.0
    low = rate.step[(rate.step >= scene.symptom) & (rate.value < HALVED * peak)]
    if not scene.has("plateau", "not-learning", "stuck-at-chance") or not len(low):
        return ""
    train, fell = scene.curve("train_loss").step, float(low[0])
    flat = int(np.sum((train >= scene.symptom) & (train < fell)))
    if flat < AT_ONCE or fell - scene.symptom < MOST_FLAT * scene.run.last_step:
        return ""
    return f"{count(flat, 'point')} lay flat before the rate fell at step {step(fell)}"


def _cold(scene: Scene) -> Signs:
    first = scene.run.first_step if scene.has(*POLICY) else 1 if scene.has(*LOST) else -1
    if scene.symptom <= first:
        return  # what is there before any update, no update did
    warm, total = scene.signals.warmup, scene.run.state.planned_steps or scene.run.last_step
    early = scene.symptom <= max(0.1 * total, scene.slack) and scene.run.task != "rl"  # at one rate
    named = any(key in scene.run.config for key in ("warmup_steps", "warmup_ratio"))
    if early and not warm.present and (warm.how != "assumed" or named):
        at_once = scene.symptom <= scene.run.first_step
        said = "is there at the first logged step" if at_once else "begins soon after"
        yield Sign(f"the first logged rate is the peak, and the fault {said}", HINT)
    elif early and warm.present and warm.end < NO_WARMUP * total:
        yield Sign(f"the warm-up ends at step {step(warm.end)} of {step(total)}", HINT)


def _evaluated_well(scene: Scene) -> str:
    """Say that no update did it, or none spoiled the weights: evaluation did not get worse."""
    unmoved = held_out.unmoved(scene.signals, scene.symptom) if scene.has(*THROWN) else ""
    return (nan_causes.lost_from_the_start(scene.run) if scene.has(*LOST) else "") or unmoved


LEFT_ITS_PLAN = Hypothesis(
    "rate-leaves-plan",
    "The learning rate went off schedule",
    MOVED | {"schedule-mismatch", "lr-zero", "hockey-stick"},
    _left,
    "the scheduler alone gives the configured rates",
    "Run the scheduler alone over all planned steps and plot its rate. The curve should match "
    "the configured schedule",
)
GONE = Hypothesis(
    "rate-zero",
    "The learning rate decays far too early",
    STUCK | {"lr-zero", "reward-flat", "grad-zero", "eval-flat", "schedule-mismatch"},
    _gone,
    "the loss lay flat while the rate was still high",
    "Run 10 % of the steps at a constant rate. If the loss falls, the schedule was the cause",
    _high_meanwhile,
)
HIGH = Hypothesis(
    "rate-too-high",
    "Learning rate too high",
    MOVED | {"hockey-stick", "forgetting", "grad-zero", "lr-out-of-range"},
    _high,
    "the same happens at a tenth of the rate",
    "Repeat the run at a tenth of the learning rate. If that helps, the rate was the cause",
    _harmless,
)
LOW = Hypothesis(
    "rate-too-low",
    "Learning rate too low",
    STUCK | PREFERENCE | {"reward-flat", "lr-out-of-range"},
    _low,
    "the loss stays at ten times the rate",
    MORE,
    _enough,
)
COLD = Hypothesis(
    "warmup-missing",
    "Warm-up missing or too short",
    (THROWN | LOST | POLICY) - {"reward-flat", "reward-stuck-zero"},
    _cold,
    "the same happens with a warm-up over 5 % of the steps",
    "Repeat the first 5 % of the run with the rate warming up all the way",
    _evaluated_well,
)
