"""How steps that are too large show in the curves, whatever the learning rate is called."""

import numpy as np

from runlens import nan_causes
from runlens.arrays import median
from runlens.causes.hypothesis import HINT, SPEAKS, STRONG, Sign, Signs
from runlens.causes.patterns import LOST
from runlens.causes.scene import Scene
from runlens.metrics import spoken
from runlens.rules.loss import chance
from runlens.wording import loss, number, step, times
from runlens.wording import rate as as_rate

AT_ONCE = 3  # first logged losses within which first updates show
ROSE, DOUBLED = 1.5, 2.0  # of the first loss, where a healthy one falls
SCATTER = 3.0  # noise scales: a rise below is chance
LEAPS = 2  # one alone may be of a batch
FEWEST_ALIKE, DIGITS = 3, 6  # losses that agree to all digits that a float32 keeps
FEW_ANSWERS = (2, 3, 4)
EXACT = 0.01  # of the loss of a guess: 1 height in 20 lies so near to one of them by chance
NEAR = 0.05  # of the loss of a guess, as `chance.LEARNS`
HALF = 0.5  # of the loss of a guess: a loss below it is of a model that learned
LEARNED = 0.8  # of the loss of a guess: a smoothed loss below it was learned
# what one rise of the rate does; teeth follow a rate that rises again and again
AT_A_STEP = ("divergence", "loss-spike", "grad-explosion", "grad-spike")
BLOWN = 100.0  # returns that grow tenfold lift a squared error as far


def thrown(scene: Scene) -> Signs:
    """Return what shows that updates were too large."""
    yield first_updates(scene)
    yield leaped_before(scene)
    yield stands_after(scene)
    yield back_at_chance(scene)
    yield learned_first(scene)
    yield values_blew_up(scene) or _values_turned(scene)


def climbed(scene: Scene, climb: float) -> str:
    """Say that the norm climbed; by how much where no finding measures it in another window."""
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
        return Sign(said, SPEAKS, "First updates too large (learning rate too high, or no warm-up)")
    if len(value) < AT_ONCE or scene.run.task in {"grpo", "ppo", "rl"}:
        return None
    top = int(np.argmax(value[: AT_ONCE + 1]))
    if not top or value[0] <= 0 or value[top] < ROSE * value[0] or scene.signals.partial:
        return None
    if value[top] - value[0] <= SCATTER * scene.signals.sigma("train_loss"):
        return None
    at = train.step[top]
    if scene.symptom > at + scene.slack:  # what was found came of something later
        return None
    weight = STRONG if value[top] >= DOUBLED * value[0] else SPEAKS
    said = f"the first updates took the loss from {loss(float(value[0]))} to "
    return Sign(f"{said}{loss(float(value[top]))} at step {step(float(at))}", weight)


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
    return Sign(said, SPEAKS, "Updates so large that the model now gives one answer to all")


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
