"""How steps that are too large show in the curves, whatever the learning rate is called."""

from math import exp, inf, isfinite, log

import numpy as np

from runlens import nan_causes
from runlens.arrays import median
from runlens.causes.hypothesis import HINT, SPEAKS, STRONG, Sign, Signs
from runlens.causes.patterns import LOST, STUCK
from runlens.causes.scene import Scene
from runlens.metrics import spoken
from runlens.rules.loss import chance
from runlens.run import RL_TASKS
from runlens.signals import held_out
from runlens.wording import loss, number, step, times
from runlens.wording import rate as as_rate

NORM = "grad_norm"
CLIMBED = 3.0  # gradient norm over its level before, of which a sign of its own is made
BY_CHANCE = 7  # points: both at their highest at the last of them once in 49 orders
AT_ONCE = 3  # first logged losses within which first updates show
ROSE, DOUBLED = 1.5, 2.0  # of the first loss, where a healthy one falls
FELL = 0.1  # of the first loss: batches of a model that learns nothing scatter by less
SCATTER = 3.0  # noise scales: a rise below is chance
IN_A_ROW = 5  # points, each above the one before: 1 in 120 orders
LEAPS = 2  # one alone may be of a batch
FEWEST_ALIKE, DIGITS = 3, 6  # losses that agree to all digits that a float32 keeps
FEW_ANSWERS = (2, 3, 4)
MOST_ANSWERS = 1000  # classes whose logarithms lie 1e-4 of their value apart and more
TO_ALL_DIGITS = 2e-6  # of a loss: a mean of float32 over a set keeps six digits
ONE_LEVEL = 1e-3  # of a loss: no model that learns keeps it so still from batch to batch
MOSTLY = 0.8  # of the evaluations since then
KNEW = 100.0  # times that: what an untrained model scatters by is of one size with it at most
EXACT = 0.01  # of the loss of a guess: 1 height in 20 lies so near to one of them by chance
NEAR = 0.05  # of the loss of a guess, as `chance.LEARNS`
HALF = 0.5  # of the loss of a guess: a loss below it is of a model that learned
LEARNED = 0.8  # of the loss of a guess: a smoothed loss below it was learned
# what one rise of the rate does; teeth follow a rate that rises again and again
AT_A_STEP = ("divergence", "loss-spike", "grad-explosion", "grad-spike")
KILLED = "Updates so large that the model now gives one answer to all"
WARMED = 5.0  # times its first: a warm-up begins far below its peak, and goes on to climb
BLOWN = 100.0  # returns that grow tenfold lift a squared error as far


def thrown(scene: Scene) -> Signs:
    """Return what shows that updates were too large."""
    for sign in (
        first_updates(scene),
        built_up(scene),
        leaped_before(scene),
        fell_to_a_guess(scene),
        stands_after(scene),
        worse_than_untrained(scene),
        back_at_chance(scene),
        guesses_since(scene),
        learned_first(scene),
        as_the_rate_climbed(scene),
        highest_before(scene),
        values_blew_up(scene) or _values_turned(scene),
    ):
        # an error on held-out data rises as well where training rows are memorized
        yield sign._replace(weight=HINT) if sign and scene.guessed_loss else sign
    yield died(scene)


def climbed(scene: Scene, climb: float) -> str:
    """Say that the norm climbed; by how much where no finding measures it in another window."""
    if scene.lead.rule == "grad-explosion":  # which is this very climb
        return "updates that are too large let the gradient norm climb"
    if {"grad-explosion", "divergence", "loss-spike", "grad-spike"} & scene.everywhere.keys():
        return "the gradient norm climbed before the fault"
    return f"the gradient norm peaked at {times(climb)} its earlier level"


def first_updates(scene: Scene) -> Sign | None:
    """Say that the first updates made the loss far worse, or no number."""
    train = scene.curve("train_loss")
    value = train.value
    if scene.has(*LOST) and 0 < len(value) < AT_ONCE:
        first = float(train.step[0])
        if scene.symptom <= first or scene.signals.partial:  # a gradient that is lost alone
            return None
        said = (
            f"the loss was finite at step {step(first)} and no longer at step {step(scene.symptom)}"
        )
        what = "First updates too large (learning rate too high, or no warm-up)"
        return Sign(said, SPEAKS if value[-1] > value[0] else HINT, what)
    if len(value) < AT_ONCE or scene.run.task in {"grpo", "ppo", "rl"}:
        return None
    top = int(np.argmax(value[: AT_ONCE + 1]))
    if not top or value[0] <= 0 or value[top] < ROSE * value[0] or scene.signals.partial:
        return None
    noise = SCATTER * scene.signals.sigma("train_loss")
    if value[top] - value[0] <= noise or value[0] - value[:top].min() > max(FELL * value[0], noise):
        return None  # it had been falling: what threw it came later than the first updates
    at = train.step[top]
    if scene.symptom > at + scene.slack:  # what was found came of something later
        return None
    weight = STRONG if value[top] >= DOUBLED * value[0] else SPEAKS
    what = "epochs" if chance.by_epoch(scene.run) else "updates"
    said = f"the first {what} took the loss from {loss(float(value[0]))} to "
    return Sign(f"{said}{loss(float(value[top]))} at step {step(float(at))}", weight)


def built_up(scene: Scene) -> Sign | None:
    """Say that a spike built up: the loss rose at each of several points in a row up to its top.

    One odd batch lifts it at a single point. Five points are in a rising order by chance once in
    120 times; that they double without the largest leap among them leaves no room for one batch.
    """
    seen = scene.rules.get("loss-spike")
    train = scene.curve("train_loss")
    if seen is None or seen.metric != "train_loss" or not len(train):
        return None
    until = seen.end.step if seen.end and seen.end.step is not None else seen.begins
    inside = np.flatnonzero((train.step >= seen.begins) & (train.step <= until))
    if not len(inside):
        return None
    top = int(inside[np.argmax(train.value[inside])])
    first = top
    while first > 0 and 0 < train.value[first - 1] < train.value[first]:
        first -= 1
    rises = train.value[first + 1 : top + 1] / train.value[first:top]
    if len(rises) + 1 < IN_A_ROW or float(np.prod(rises) / rises.max()) < DOUBLED:
        return None
    said = f"the loss rose at {len(rises)} points in a row up to the spike, from "
    said += f"{loss(float(train.value[first]))} to {loss(float(train.value[top]))}"
    return Sign(said, SPEAKS)


def leaped_before(scene: Scene) -> Sign | None:
    """Say that a loss which was lost had leaped before and come back: no batch does so twice."""
    spikes = scene.signals.shape("train_loss").events_of("spike")
    before = [one for one in spikes if one.recovers and one.after.step < scene.symptom]
    before = [one for one in before if one.share >= DOUBLED - 1]
    if not scene.has("divergence", *LOST) or len(before) < LEAPS:
        return None
    first = step(float(before[0].after.step))
    said = f"the loss had leaped {len(before)} times before, from step {first} on, and come back"
    return Sign(said, HINT)


def fell_to_a_guess(scene: Scene) -> Sign | None:
    """Say that the first loss lay far above the one at which both losses stand from then on.

    An untrained model begins about a guess: what lies above it was thrown there, and what then
    gives one answer to all was killed by it. Weights that nothing updates move no loss.
    """
    train, level = scene.curve("train_loss").value, scene.signals.levels("train_loss").end
    if len(train) < FEWEST_ALIKE or not held_out.same(scene.signals) or level <= 0:
        return None
    if train[0] < ROSE * level or train[1:].max() >= ROSE * level:
        return None
    said = f"train loss was {loss(float(train[0]))} at first and stands at {loss(level)} (median), "
    return Sign(f"{said}as eval loss does", SPEAKS, KILLED)


def stands_after(scene: Scene) -> Sign | None:
    """Say that the loss is one number after the throw: units that large steps killed."""
    train = scene.curve("train_loss")
    after = train.value[train.step >= scene.symptom]
    same = int(np.argmax(after[::-1] != after[-1])) if len(after) else 0
    digits = f"{float(after[-1]):.15g}".strip("-0.").replace(".", "") if same else ""
    if not scene.has("divergence") or same < FEWEST_ALIKE or len(digits) < DIGITS:
        return None
    since, told = step(float(train.step[-same])), loss(float(after[-1]))
    said = f"the loss was {told} to its last digit at each point from step {since} on"
    return Sign(said, SPEAKS, KILLED)


def worse_than_untrained(scene: Scene) -> Sign | None:
    """Say that a loss which had fallen ended far above its very first.

    Other data are rarely worse for a model than for an untrained one; weights that were thrown are.
    """
    value = scene.curve("train_loss").value
    if not scene.has("divergence") or len(value) < AT_ONCE or not 0 < value.min() < value[0]:
        return None
    if scene.signals.peak_learning_rate:  # a rate that is known speaks for itself
        return None
    end = scene.signals.levels("train_loss").end
    if end < ROSE * value[0]:
        return None
    first = loss(float(value[0]))
    return Sign(f"train loss ended at {loss(end)} (median), above its first of {first}", HINT)


def as_the_rate_climbed(scene: Scene) -> Sign | None:
    """Say that a loss was thrown above its very first while the rate climbed to what it never was.

    Other data are rarely worse for a model than for an untrained one. A rate that did not climb, or
    had come down, threw nothing before. Before a NaN it doubled in a row of rises: five
    points are in a rising order by chance once in 120 times.
    """
    train, rate = scene.curve("train_loss"), scene.curve("learning_rate")
    before, lost = train.value[train.step < scene.symptom], not scene.has("divergence")
    if not scene.has("divergence", *LOST) or len(rate) < AT_ONCE or len(before) < AT_ONCE:
        return None
    climbs = rate.value[: int(np.argmax(rate.value)) + 1]
    now = scene.signals.learning_rate_at(scene.symptom) or 0.0
    peak_at, top = float(rate.step[len(climbs) - 1]), float(train.value.max())
    if (
        peak_at <= scene.symptom
        or now < WARMED * float(rate.value[0])
        or (np.diff(climbs) < 0).any()
    ):
        return None
    first, end = float(train.value[0]), scene.signals.levels("train_loss").end
    if lost:
        row = before[-1 - int(np.argmin(np.append(np.diff(before)[::-1] > 0, False))) :]
        if len(row) < IN_A_ROW or row[-1] < DOUBLED * row[0]:
            return None
        said = f"the loss rose at {len(row) - 1} points in a row, from {loss(float(row[0]))} to "
        return Sign(f"{said}{loss(float(row[-1]))}, as the rate climbed to {as_rate(now)}", STRONG)
    if not before.min() < first or end < ROSE * first:
        return None
    said = (
        f"the loss was {loss(float(before.min()))} and rose to {loss(top)} as the rate climbed to "
    )
    return Sign(f"{said}{as_rate(float(climbs[-1]))}, its peak", STRONG)


def highest_before(scene: Scene) -> Sign | None:
    """Say that loss and gradient norm stood at their highest just before the NaN.

    Both are at their highest at the last of n points by chance once in n squared. A norm that
    does not stand above its level as well may be that of any batch.
    """
    at = min((one.begins for rule, one in scene.rules.items() if rule in LOST), default=inf)
    if not isfinite(at) or (scene.norm_climb or 0.0) >= CLIMBED:
        return None
    train, norm = (scene.curve(name).before(int(at)) for name in ("train_loss", NORM))
    if not np.array_equal(train.step, norm.step):
        return None
    if len(train) < BY_CHANCE or len(train) - 1 - int(np.argmin(train.value)) < AT_ONCE:
        return None  # what has only just turned may be of one batch
    apart = norm.value[-1] >= DOUBLED * median(norm.value) > 0
    if not apart or min(np.argmax(train.value), np.argmax(norm.value)) < len(train) - 1:
        return None
    low, high = loss(float(train.value.min())), loss(float(train.value[-1]))
    said = f"the loss had risen from {low} to {high} and the gradient norm to "
    return Sign(f"{said}{number(float(norm.value[-1]))}, the highest of both", SPEAKS)


def died(scene: Scene) -> Sign | None:
    """Say that gradients flowed, and then were 0 to the end at one loss: units that were killed.

    What is frozen, or in no optimizer, had no gradient before either. In half precision a gradient
    is lost at the lower end of the range, and of a policy where all rewards are alike.
    """
    norm, train = scene.curve("grad_norm"), scene.curve("train_loss")
    alive = np.flatnonzero(norm.value > 0)
    if not scene.has("grad-zero") or not len(alive) or scene.run.task in RL_TASKS:
        return None
    after = train.value[train.step > norm.step[alive[-1]]]
    if len(after) < FEWEST_ALIKE or len(norm) - 1 - alive[-1] < FEWEST_ALIKE or not after[0]:
        return None
    if np.ptp(after) > ONE_LEVEL * after[0] or scene.run.flag("fp16"):
        return None
    was, since = float(norm.value[alive[-1]]), step(float(norm.step[alive[-1] + 1]))
    said = f"the gradient norm was {number(was)} at step {step(float(norm.step[alive[-1]]))} and "
    return Sign(f"{said}exactly 0 from step {since} on", SPEAKS, KILLED)


def learned_first(scene: Scene) -> Sign | None:
    """Say that the weights learned in the epoch in which the loss became NaN."""
    said = nan_causes.learned_before(scene.run) if scene.has(*LOST) else ""
    return Sign(said, HINT) if said else None


def back_at_chance(scene: Scene) -> Sign | None:
    """Say that a loss which had been learned stands at that of a guess: the weights are lost.

    Other data would be learned as the first were. Of two to four answers, whose logarithms lie far
    apart, or of as many as the settings name.
    """
    train = scene.curve("train_loss")
    guess = _guessed(scene, scene.signals.levels("train_loss").end)
    after = train.value[train.step > scene.symptom + scene.slack]
    if not scene.has("divergence") or guess is None or len(after) < 2 * FEWEST_ALIKE:
        return None
    half = len(after) // 2
    parts = [float(median(part)) for part in (after[:half], after[half:])]
    best = float(scene.signals.smooth("train_loss").min())
    far = max(abs(part - guess.level) for part in parts)
    if best > LEARNED * guess.level or far > NEAR * guess.level:
        return None
    said = f"the loss had been at {loss(best)} (smoothed) and then stood at {loss(parts[-1])} "
    return Sign(f"{said}(median) to the end, near {guess.name}, which is that of guessing", SPEAKS)


def guesses_since(scene: Scene) -> Sign | None:
    """Say that evaluation knew something, and then stood at equal odds to all digits to the end.

    The mean over a whole set is exact only where each row gets the same answer. A model that never
    learned stands near it from the first evaluation on; one that large steps killed did not.
    """
    evals = scene.curve("eval_loss")
    if not scene.has(*STUCK) or len(evals) < 2 * FEWEST_ALIKE:
        return None
    count = round(exp(float(median(evals.value)))) if median(evals.value) < log(MOST_ANSWERS) else 0
    level = log(count) if count > 1 else 0.0
    off = np.abs(evals.value - level) / max(level, 1e-9)
    dead = int(np.argmax(off <= TO_ALL_DIGITS))
    before = evals.value[:dead]
    if not level or np.mean(off[dead:] <= TO_ALL_DIGITS) < MOSTLY or dead < FEWEST_ALIKE:
        return None
    best = int(np.argmin(before))
    if level - before[best] <= KNEW * TO_ALL_DIGITS * level:
        return None
    now, at = evals.step[dead], evals.step[best]
    rate = scene.signals.learning_rate_at(float(now))
    under = f", at a rate of {as_rate(rate)}" if rate else ""
    low = number(float(before[best]), 5)
    said = f"eval loss had fallen to {low} by step {step(float(at))}, and "
    said += f"was ln {count} to all digits from step {step(float(now))} on{under}"
    return Sign(said, SPEAKS, KILLED)


def _guessed(scene: Scene, at: float, near: float = NEAR) -> chance.Chance | None:
    """Return the loss of a guess that lies near a loss; None where none does."""
    known = chance.of_run(scene.run)
    levels = [known] if known else [chance.of_classes(count) for count in FEW_ANSWERS]
    return next((one for one in levels if one and abs(at - one.level) <= near * one.level), None)


def begun_anew(scene: Scene) -> Sign | None:
    """Say that a loss leaped to that of a guess for one point, and fell again as from a start.

    A model that large steps threw does not learn again at once.
    """
    train = scene.curve("train_loss")
    at = int(np.searchsorted(train.step, scene.symptom))
    first = max(0, at - 1)
    rises = np.diff(train.value)[first : at + AT_ONCE]
    if not scene.has("divergence") or not len(rises):
        return None
    top = first + int(np.argmax(rises)) + 1
    before, high, after = (
        float(train.value[top - 1]),
        float(train.value[top]),
        train.value[top + 1 :],
    )
    guess = _guessed(scene, high, EXACT)
    if guess is None or before > HALF * guess.level or len(after) < FEWEST_ALIKE:
        return None
    low = after[0] <= LEARNED * guess.level and after[-1] <= HALF * guess.level
    if not low or after.max() > high:
        return None
    said = f"train loss jumped from {loss(before)} to {loss(high)} at step "
    said += f"{step(float(train.step[top]))}, near {guess.name} of guessing, and fell again at once"
    test = "Check whether the script builds a new model and appends to an earlier log"
    return Sign(said, STRONG, "A second training, with new weights, in the same log", test)


def values_blew_up(scene: Scene) -> Sign | None:
    """Say that the loss of a value function left its level a hundredfold."""
    if scene.run.task != "rl" or not scene.has("reward-collapse", "reward-flat"):
        return None
    for metric in ("value_loss", "train_loss"):
        value = scene.curve(metric).value
        tenth = max(AT_ONCE, len(value) // 10)
        if len(value) < 2 * tenth:
            continue
        level, smooth = float(median(value[:tenth])), scene.signals.smooth(metric)
        top = int(np.argmax(smooth))
        if smooth[top] >= BLOWN * level > 0:
            at = step(float(scene.curve(metric).step[top]))
            said = f"{spoken(metric)} rose from {number(level)} to {number(float(smooth[top]))}"
            return Sign(f"{said} by step {at}", SPEAKS, "The value function diverged")
    return None


def _values_turned(scene: Scene) -> Sign | None:
    """Say that the loss of a value function rises from where the reward falls."""
    fell = scene.rules.get("reward-collapse")
    if fell is None:
        return None
    from runlens.rules.rl import value_loss  # of agents alone

    turn = value_loss.turned(scene.signals, fell.begins, fell.begins)
    return Sign(f"{turn.words} as the reward fell", HINT) if turn else None


def restarted(scene: Scene) -> Sign | None:
    """Say that the rate rose again, after it had fallen, where the loss did."""
    rise = scene.restart if scene.has(*AT_A_STEP) and scene.launch is None else None
    if rise is None:
        return None
    low, high = (as_rate(point.value) for point in rise)
    said = f"the rate had fallen to {low} and rose to {high} at step {step(rise[1].step)}"
    return Sign(said, STRONG, "A restart of the learning rate")
