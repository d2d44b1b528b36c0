"""The data as a cause: too few, in blocks, odd batches, wrong labels, masked ones, leaks."""

from math import exp, log

import numpy as np

from runlens.arrays import median
from runlens.causes import few_rows, labels, scores
from runlens.causes.hypothesis import (
    HINT,
    SETTLES,
    SPEAKS,
    STRONG,
    Hypothesis,
    Sign,
    Signs,
)
from runlens.causes.patterns import OVERFIT, THROWN
from runlens.causes.scene import Scene
from runlens.history import Curve
from runlens.metrics import is_loss, spoken
from runlens.rules.evaluation import score, score_gap, worsened
from runlens.rules.evaluation.climbs import BY_HEART
from runlens.rules.evaluation.perfect import SOLVED
from runlens.rules.evaluation.sets import Train, train_around
from runlens.rules.evaluation.worsened import came_to
from runlens.signals import held_out
from runlens.signals.shape import Event
from runlens.wording import loss, number, percent, step
from runlens.wording import rate as as_rate

ONE_PASS = 1.0
KNOWN_ROWS = 0.7  # of its start: a training loss above it does not know its rows by heart
A_FEW = 2.0  # passes: by then each row was repeated once, so few rows or many passes are no news
MEMORISED_SOON = (
    "The training rows are memorized within two passes: "
    "too few for this model, or their labels are noisy"
)
NOT_HELD = (
    "What is learned of the training rows does not hold for those of the evaluation: "
    "they are of another kind, or too few were trained on"
)
SURER = "Certainty that grows with each pass over the same rows"
BEGUN_WELL = "Too many passes over the data, for a model that was good after the first"
STANDS = (
    "The training rows are learned ever better, but tell no more of the evaluation rows: "
    "too few of them, or of another kind"
)
MOST_SCORES = 2  # evaluations with a score, from which one can have got better
ALIKE = 0.5  # correlation of the loss with itself one pass later
FEWEST_A_PASS = 4  # logged losses
SHUFFLES = ("shuffle", "shuffle_train", "train_shuffle", "dataloader_shuffle", "shuffle_data")
MOST_OF_A_GUESS = 7.0  # nats: ln of 1,097 classes
AT_A_GUESS = 0.01  # of ln of the classes: what weights as they are drawn lie beside it
RISEN = 0.1  # of train loss at the best evaluation
NOTHING_LEFT = 0.05  # nats of eval loss, as rule zero-loss
HELD = 0.5  # of its peak: a rate that did not come down; of the rise: an evaluation that jumped
SHIFTED = 0.3  # of the level before that a lasting jump must have


def steps_a_pass(scene: Scene) -> float | None:
    """Return the steps of one pass over the data, as logged, else by rows and batch."""
    return scene.signals.steps_per_epoch or scene.signals.inputs.steps_per_pass


def _memorised(scene: Scene) -> Signs:
    yield from few_rows.memorised(scene)
    train, evals = scene.curve("train_loss"), scene.curve("eval_loss")
    if scene.has("eval-flat") and not scene.has(*OVERFIT) and not scene.stands:
        if scene.all_passes is None and len(train) and train.value[-1] < train.value[0]:
            said = f"train loss fell to {loss(float(train.value[-1]))} alone, as it does on rows "
            yield Sign(f"{said}that come again", HINT)
        return
    if scene.has("epoch-staircase"):
        yield Sign(
            "the loss drops at each new epoch, as the model has memorized rows it saw before",
            SETTLES,
        )
    if scene.lead.rule in THROWN:  # what swings or jumps does not do so for rows that come again
        return
    passes = scene.all_passes
    behind = scene.has("hockey-stick", "eval-gap") or scene.stands
    if passes is not None and passes >= ONE_PASS and behind:
        best = scene.passes
        done = f"the run made {passes_in_words(passes)} over the data"
        found = scene.rules.get("hockey-stick")
        what = "eval loss" if found and found.best else "evaluation"  # a score was best elsewhere
        at = (
            f", and {what} was best after {passes_in_words(best)}"
            if found and best is not None
            else ""
        )
        if not len(train):
            at += ", but no training loss is there to show it"
        proved = passes >= A_FEW and len(train) and (best is None or best > A_FEW)
        proved = proved and not scene.never_found  # what never carried over was not lost by heart
        apart = scene.rules.get("eval-gap")  # of scores: fewer passes would not have made one lower
        held = found is None and apart is not None and not is_loss(apart.metric)
        weight = SETTLES if proved and not held else SPEAKS
        yield Sign(done + at, weight, STANDS if held else _soon(scene, best))
    seen_twice = scene.passes is None or scene.passes >= ONE_PASS  # at the best evaluation
    if seen_twice and len(evals) and behind:
        found = scene.rules.get("hockey-stick")
        lost = found.metric if found and not is_loss(found.metric) else ""  # a score
        turn = _around_the_turn(scene, found.onset.step if found and lost else None)
        if turn and turn.end < turn.then:
            rose = "eval loss rose" if found else "eval loss did not keep up"
            worse = f"{spoken(lost)} got worse" if lost else rose
            said = f"train loss {came_to(turn)} while {worse}"
            never = NOT_HELD if found and "eval-flat" in scene.everywhere else ""
            yield Sign(said, SPEAKS, STANDS if _stands(scene) else never)
    first = passes if scene.passes is None else scene.passes  # at zero, whatever came after
    if _all_zero(scene) and first is not None and first > ONE_PASS and not labels.masked(scene):
        yield Sign(f"the loss was 0 after {passes_in_words(first)} over the data", STRONG)


def _soon(scene: Scene, best: float | None) -> str:
    """Name the cause of a turn so early that the number of passes says nothing about the rows.

    A score that was best later shows that the rows had not yet told all that they can. A model
    whose first evaluation is good and its best had learned elsewhere, or has learned it all.
    """
    if not len(scene.curve("train_loss")) or best is None or best > A_FEW:
        return ""
    later = score.to_keep(scene.signals, "eval_loss", scene.symptom, MOST_SCORES)
    at = scene.signals.inputs.passes_at(later[1]) if later else None
    evals = scene.curve("eval_loss")
    if at is not None and at > A_FEW and len(evals):  # a score alone says nothing of certainty
        risen = evals.value[-1] > (1 + held_out.LEAST) * evals.value.min()
        return SURER if risen else STANDS  # nor does a loss that got no worse
    begun = len(evals) and scene.symptom <= evals.step[0] and scores.at_first(scene)
    levels = scene.signals.levels("train_loss")
    if levels.end > KNOWN_ROWS * levels.start:
        return NOT_HELD
    return BEGUN_WELL if begun else MEMORISED_SOON


def _stands(scene: Scene) -> bool:
    """Whether eval loss ended where it was best: fewer passes would not have made it lower."""
    evals = scene.curve("eval_loss").value
    if scene.has("hockey-stick") or len(evals) < FEWEST_A_PASS:
        return False
    return float(median(evals[-3:])) <= (1 + held_out.LEAST) * float(evals.min())


def _around_the_turn(scene: Scene, turn: float | None = None) -> Train | None:
    """Return train loss at a step, by default that of the best evaluation, and at the end."""
    evals = scene.curve("eval_loss")
    if not len(evals):
        return None
    best = float(evals.step[int(np.argmin(evals.value))])
    return train_around(scene.signals, best if turn is None else turn)


def _both_rose(scene: Scene) -> str:
    """Say that train loss rose with eval loss after the turn: what is memorized goes on falling."""
    turn = _around_the_turn(scene) if scene.has("hockey-stick") else None
    if turn is None or not turn.end - turn.error > turn.then > 0:
        return ""
    if turn.end <= (1 + RISEN) * turn.then:
        return ""
    return f"train loss rose as well, from a median of {loss(turn.then)} to {loss(turn.end)}"


def _fitted_no_more(scene: Scene) -> str:
    """Say that train loss, not yet low, rose or stood after the turn: nothing more was memorized.

    As the finding does that says an evaluation got worse.
    """
    turn = _around_the_turn(scene) if scene.has("hockey-stick") else None
    if rose := _both_rose(scene):
        return rose
    if turn is None or turn.end < turn.then - min(turn.error, RISEN * turn.then):
        return ""
    if turn.end <= BY_HEART * turn.start:
        return ""
    return f"train loss stood, at medians of {loss(turn.then)} and {loss(turn.end)}"


def _guesses(scene: Scene) -> str:
    """Say that a classifier began at a guess of its classes and still guesses on its own rows."""
    train = scene.curve("train_loss").value
    if scene.run.task != "classification" or not len(train) or not 0 < train[0] < MOST_OF_A_GUESS:
        return ""
    guess = log(round(exp(float(train[0]))))
    end = float(median(train[-3:]))
    if abs(train[0] - guess) > AT_A_GUESS * guess or end < (1 - RISEN) * guess:
        return ""
    return f"train loss is {loss(end)} at the end, near that of a guess: few rows were memorized"


def rose_together(scene: Scene, rate: float | None) -> Sign | None:
    """Say that train and eval loss crept up together at a rate that did not come down.

    Other data are worse at once, and only the training's; what spoils both are the weights.
    """
    logged = scene.curve("learning_rate").value
    rose = "" if _jumps_near(scene) or _worse_at_once(scene) else _both_rose(scene)
    if not rose or rate is None or not len(logged) or logged[-1] < HELD * logged.max():
        return None
    return Sign(f"{rose} while eval loss rose, at a rate of {as_rate(rate)} to the end", SPEAKS)


def _one_pass(scene: Scene) -> str:
    flat = scene.everywhere.get("not-learning")
    if flat is not None and flat.severity != "info":
        return "train loss did not fall: nothing was memorized"
    if stood := _fitted_no_more(scene) or _guesses(scene):
        return stood
    if low := _evaluation_low(scene):
        return f"{low} as well: memorizing training rows does not lower it"
    if little := _hardly_learned(scene):
        return little
    if far := worsened.beyond_memorising(scene.curve("eval_loss")):
        return f"eval loss ended {number(far, 2)} times above its minimum: memorizing adds far less"
    if closed := _gap_closed(scene):
        return closed
    passes = scene.all_passes
    if passes is None or passes >= ONE_PASS or scene.has("epoch-staircase"):
        return ""
    return f"no row was seen twice: {percent(passes)} of one pass over the data"


def _hardly_learned(scene: Scene) -> str:
    """Say that train loss fell by next to nothing, and by less than eval loss rose.

    Rows that are memorized lose most of their loss. Where a model begins near its end, as one
    that is tuned, its loss falls by more than the evaluation gets worse.
    """
    turn, evals = _around_the_turn(scene), scene.curve("eval_loss").value
    if turn is None or not scene.has("hockey-stick"):
        return ""
    fell, rose = turn.start - turn.end, float(evals[-1] - evals.min())
    if turn.start <= 0 or fell > RISEN * turn.start or fell >= rose:
        return ""
    ends = f"from {loss(turn.start)} to {loss(turn.end)} (medians)"
    return f"train loss went {ends} in all: hardly anything was learned of its rows"


def _gap_closed(scene: Scene) -> str:
    """Say that scores lay as far apart after the first pass as at the end: no later one did it."""
    found = scene.rules.get("eval-gap")
    pair = score_gap.of_shares(scene.signals) if found and not scene.has("hockey-stick") else None
    if found is None or pair is None or found.metric != pair.evals or scene.signals.partial:
        return ""
    train, evals = scene.curve(pair.train), scene.curve(pair.evals)
    first = scene.signals.inputs.passes_at(float(evals.step[0])) if len(evals) > 1 else None
    if first is None or first > ONE_PASS or not np.array_equal(train.step, evals.step):
        return ""
    gap = held_out.as_share(train.value) - held_out.as_share(evals.value)
    if gap[-1] > gap[0]:
        return ""
    began, ends = number(float(gap[0]), 3), number(float(gap[-1]), 3)
    return f"{pair.name} was {began} apart after the first pass already, and is {ends} at the end"


def _order(scene: Scene) -> Signs:
    shuffle = next((scene.run.flag(key) for key in SHUFFLES if key in scene.run.config), None)
    if shuffle is False:
        yield Sign("shuffle is off", SPEAKS)
    per = steps_a_pass(scene)
    if per and _repeats(scene.curve("train_loss"), per) >= ALIKE:
        said = f"the loss repeats itself every {step(round(per))} steps, one pass over the data"
        yield Sign(said, STRONG)


def _repeats(train: Curve, per: float) -> float:
    """Return the correlation of a loss with itself one pass later; 0 where too few are there."""
    gap = float(median(np.diff(train.step))) if len(train) > FEWEST_A_PASS else 0.0
    lag = round(per / gap) if gap else 0  # several rows may stand at each step
    if lag < FEWEST_A_PASS:
        return 0.0
    value = train.value[len(train) // 4 :]
    total = np.concatenate([[0.0], np.cumsum(value)])
    mean = (total[lag:] - total[:-lag]) / lag  # over one pass
    rest = value[lag // 2 : lag // 2 + len(mean)] - mean
    one, other = rest[:-lag], rest[lag:]
    alive = len(one) >= lag and np.ptp(one) and np.ptp(other)
    return float(np.corrcoef(one, other)[0, 1]) if alive else 0.0


def passes_in_words(done: float) -> str:
    """Write passes over the data: ``3.5 passes``."""
    return "1 pass" if done == 1 else f"{number(done, 3)} passes"


def _all_zero(scene: Scene) -> bool:
    """Whether the loss itself is at zero, not only a part of it."""
    found = scene.rules.get("zero-loss")
    return found is not None and found.metric == "train_loss"


def _leak(scene: Scene) -> Signs:
    if scene.has("eval-leak"):
        solved = scene.rules["eval-leak"].heading == SOLVED  # weights from before look the same
        yield Sign(scene.title("eval-leak"), HINT if solved else SETTLES)
    if _all_zero(scene) and not labels.masked(scene):
        passes, low = scene.passes, _evaluation_low(scene)
        if passes is not None and passes <= ONE_PASS:
            also = f", and {low}" if low else ""
            said = f"train loss was near 0 after {percent(passes)} of the first epoch{also}"
            yield Sign(said, SETTLES if low else STRONG)
        elif low:
            yield Sign(f"{low} as well", STRONG)


def _evaluation_low(scene: Scene) -> str:
    """Say that nothing is left to learn of the evaluation set either."""
    evals = scene.curve("eval_loss").value
    if not len(evals) or not _all_zero(scene) or float(median(evals[-3:])) > NOTHING_LEFT:
        return ""
    return f"eval loss is {loss(float(evals[-1]))}"


def _shift(scene: Scene) -> Signs:
    if scene.departure is not None or scene.launch is not None or scene.over_configured:
        return
    if scene.restart is not None:
        return  # the rate explains it
    curve = scene.curve(scene.lead.metric)
    if len(curve) and scene.symptom <= curve.step[0]:
        return  # no row came before
    near = _jumps_near(scene)
    unlearned = "not-learning" in scene.everywhere  # then nothing ended at that step
    if not unlearned and (stood := _fitted_no_more(scene)):
        smooth = ", and the rate is smooth" if len(scene.curve("learning_rate")) else ""
        said = f"{stood} while eval loss rose{smooth}"
        yield Sign(said, SPEAKS if near or _worse_at_once(scene) else HINT)
    if near and scene.has(*THROWN, "hockey-stick"):
        jump = near[0]
        levels = f"{loss(jump.level_before)} to {loss(jump.level_after)} (medians)"
        same = _evaluates_alike(scene, jump.after.step)
        told = f"train loss jumped from {levels} at step {step(jump.after.step)} and stayed there"
        told += ", while the learning rate is smooth" if len(scene.curve("learning_rate")) else ""
        yield Sign(told + same, SPEAKS if same else HINT)


def _jumps_near(scene: Scene) -> list[Event]:
    """Return the jumps of train loss about the symptom that stay."""
    jumps = scene.signals.shape("train_loss").events_of("jump")
    kept = [jump for jump in jumps if jump.share >= SHIFTED and not jump.recovers]
    return [jump for jump in kept if abs(jump.after.step - scene.symptom) <= 3 * scene.slack]


def _worse_at_once(scene: Scene) -> bool:
    """Whether the evaluation behind the best one has half of the rise already, and is not the last.

    Of a last one alone nobody knows whether it stays there.
    """
    value = scene.curve("eval_loss").value
    after = value[int(np.argmin(value)) :] if len(value) else value
    return len(after) > 2 and bool(after[1] - after[0] >= HELD * (after.max() - after[0]))  # noqa: PLR2004 - both


def _evaluates_alike(scene: Scene, at: int) -> str:
    """Say that the evaluation did not jump with the training; empty where it did, or is unknown."""
    evals = scene.curve("eval_loss")
    before, after = evals.value[evals.step < at], evals.value[evals.step >= at]
    if not len(before) or not len(after) or after[0] > (1 + SHIFTED / 3) * before[-1]:
        return ""
    return f", while eval loss went from {loss(float(before[-1]))} to {loss(float(after[0]))}"


MEMORISED = Hypothesis(
    "memorised",
    "Too many passes over the data",
    OVERFIT | {"eval-flat"},
    _memorised,
    "eval loss rises as early on ten times the rows",
    "Train on twice the rows. The evaluation should then improve for longer",
    _one_pass,
)
ORDER = Hypothesis(
    "data-order",
    "The rows are not shuffled",
    THROWN | {"epoch-staircase", "plateau"},
    _order,
    "the pattern stays after the rows are shuffled",
    "Shuffle the rows and run two passes. The period should be gone",
)
SHIFT = Hypothesis(
    "data-shift",
    "Different data from that step on",
    THROWN | {"hockey-stick", "plateau", "reward-collapse"},
    _shift,
    "rows from before and after the change look alike",
    "Print ten training rows from before the change and ten from after it",
)


LEAK = Hypothesis(
    "leak",
    "The answer leaks into the input",
    frozenset({"eval-leak", "zero-loss"}),
    _leak,
    "no evaluation row is among the training rows, and no input holds its target",
    "Search the training set for ten evaluation rows, and check that no input contains its target",
)
