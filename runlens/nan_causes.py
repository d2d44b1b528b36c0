"""What stood before a NaN: a tree whose branch decides the fixes, and the facts that it rests on.

The branches are those of common debugging guides, which agree on no order: the evidence decides.
"""

from typing import Literal

import numpy as np
from msgspec import Struct, field

from runlens import nan_cures
from runlens.arrays import median
from runlens.diagnosis import Fix, RuledOut
from runlens.history import Curve, IntArray
from runlens.knowledge.in_force import TRAINER_FRAMEWORKS
from runlens.knowledge.optimizer_settings import IMPOSSIBLE, outside
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall
from runlens.wording import count, number, percent, step

Branch = Literal[
    "setting",
    "part",
    "start",
    "epoch",
    "data",
    "optimisation",
    "forward",
    "backward",
    "scaler",
    "resume",
    "open",
]

BEFORE = 20  # logged points that are looked at before the onset
FEWEST = 5  # finite norms among them
FEWEST_LEAPT = 2  # losses, where the second is far above the first
CLIMBED = 3.0  # last norm over its base: climbing
EXPLODED = 10.0  # last norm over its base, without a trend
TREND_P = 0.01
SPIKED = 2.0  # last losses over the level before: counts as climbing
EARLY_RISE = 1.5  # the same within the first points, where a healthy loss falls
LEAPT = 5.0  # the same where hardly a point was logged: no batch is so much harder than another
FIRST_STEPS = 3  # a NaN so early is of the data or of the first updates
RESUME_SHARE = 0.02  # of the run: a NaN that soon after a resume is the resume's
DECAYED = 0.2  # of the peak: a learning rate below speaks against it as the cause
LEARNED = 1.5  # accuracy of an epoch over that of a guess: two in one by chance need few rows
SAME_PLACE = 0.02  # of an epoch
CHANCE = 0.05  # that points of one place are all those that are lost
MOSTLY_ALIVE = 0.9  # of the losses after a NaN that was of one batch alone
RL_ALARM = {"logp_diff": 1.0, "kl": 2.0}  # axolotl's alarm values
# model families trained in bf16, whose activations leave the range of fp16
TRAINED_IN_BF16 = ("t5", "gemma", "llama", "qwen", "mistral")


class NanTree(NamedTuple):
    """What was ruled out, fixes in order, and the branch of the tree that they belong to."""

    ruled_out: tuple[RuledOut, ...]
    fixes: tuple[Fix, ...]
    branch: Branch


class LostPart(NamedTuple):
    """The one part of a loss that is no number, and the parts that are numbers beside it."""

    name: str
    whole: tuple[str, ...]


class _Tree(Struct):
    """What is known so far on the way down the tree."""

    run: Run
    signals: Signals
    onset: float
    branch: Branch = "open"
    out: list[RuledOut] = field(default_factory=list)

    def take(self, branch: Branch) -> None:
        """Follow a branch, unless one with better evidence was taken before."""
        if self.branch == "open":
            self.branch = branch


def of_nan(run: Run, signals: Signals, onset: float, first_logged: float) -> NanTree:
    """Go down the tree for a NaN that was first seen at step `onset`.

    `first_logged` is the first step at which the metric was logged at all.
    """
    tree = _Tree(run, signals, onset)
    norms = run.curve("grad_norm").before(int(onset) + 1).at(slice(-BEFORE, None))
    if outside(run, IMPOSSIBLE):
        tree.take("setting")
    if lost_part(run, onset):
        tree.take("part")
    _by_resume(tree)
    _by_start(tree, first_logged)
    _by_norm(tree, norms)
    _by_precision(tree)
    if tree.branch == "data" and learned_before(run):
        tree.branch = "epoch"
    cures = nan_cures.cures(run, signals, onset, tree.branch)
    return NanTree(tuple(tree.out), cures, tree.branch)


def _by_resume(tree: _Tree) -> None:
    resumed = [event.step for event in tree.run.events_of("resume")]
    before = [at for at in resumed if at is not None and at <= tree.onset]
    if before and tree.onset - before[-1] <= RESUME_SHARE * max(tree.run.last_step, 1):
        tree.take("resume")


def _by_start(tree: _Tree, first_logged: float) -> None:
    """Look at the data before any update, and at the first updates right after them."""
    before = tree.signals.curve("train_loss").before(int(tree.onset))
    if tree.onset > max(first_logged, FIRST_STEPS) and len(before) > 1:
        return
    if tree.onset > first_logged:
        rate, peak = tree.signals.learning_rate_at(tree.onset), tree.signals.peak_learning_rate
        small = rate is not None and peak is not None and rate < DECAYED * peak
        tree.take("start" if small else "optimisation")
        return
    tree.out.append(RuledOut("A gradual divergence before the NaN", "no finite point came before"))
    tree.take("data")


def _by_norm(tree: _Tree, norms: Curve) -> None:
    """Tell optimization, forward and backward pass apart by the gradient norm before the onset."""
    finite = norms.value[np.isfinite(norms.value) & (norms.value > 0)]
    few = len(finite) < FEWEST
    if few and not (len(finite) >= FIRST_STEPS and finite[-1] >= EXPLODED * finite[0]):
        told = f"not checked: {count(len(finite), 'gradient norm')} before it, {FEWEST} are needed"
        tree.out.append(RuledOut("Exploding gradient", told))
        if loss_climbed(tree.signals, tree.onset):
            tree.branch = "optimisation"
        elif comes_back(tree.run, tree.signals) or _isolated(tree):
            tree.take("forward")
        return
    base = float(median(finite[: max(2, len(finite) // 2)]))
    last = float(finite[-1])
    ratio = last / base if base > 0 else float("inf")
    climbing = ratio >= CLIMBED and mann_kendall(finite)[1] < TREND_P
    if climbing or ratio >= EXPLODED or np.isinf(norms.value).any():
        tree.branch = "optimisation"
        return
    flat = f"gradient norm was flat before it: {number(last)} against {number(base)}"
    tree.out.append(RuledOut("Exploding gradient", flat))
    if loss_climbed(tree.signals, tree.onset):
        tree.branch = "optimisation"
    else:
        tree.take("backward" if len(failed_alone(tree.run, tree.signals, norms)) else "forward")


def loss_climbed(signals: Signals, onset: float) -> str:
    """Say that a loss had doubled before the onset; empty where it had not."""
    before = signals.curve("train_loss").before(int(onset)).value[-BEFORE:]
    if len(before) < FEWEST_LEAPT:
        return ""
    early = len(before) < 2 * FEWEST
    level = float(before[0] if early else median(before[:-FEWEST]))
    top = float(before[-FEWEST:].max())
    rise = LEAPT if len(before) < FEWEST else EARLY_RISE if early else SPIKED
    if level <= 0 or top < rise * level:
        return ""
    return f"train loss rose from {number(level)} to {number(top)} before step {step(onset)}"


def failed_alone(run: Run, signals: Signals, norms: Curve) -> IntArray:
    """Return the steps at which the norm is NaN while the loss is a number.

    A loss that is logged as the mean of several steps must be one at the next log as well: the
    Trainer leaves NaN steps out of the mean.
    """
    loss = run.curve("train_loss")
    alive = np.isfinite(loss.value) & (loss.value != 0)
    if signals.interval("train_loss") > 1:
        alive &= np.append(alive[1:], False)
    failed = norms.step[np.isnan(norms.value)]
    return failed[np.isin(failed, loss.step[alive])]


def _isolated(tree: _Tree) -> str:
    resumed = [event.step for event in tree.run.events_of("resume")]
    if any(at is not None and at > tree.onset for at in resumed):
        return ""
    return number_again(tree.run, tree.onset)


def lost_part(run: Run, onset: float) -> LostPart | None:
    """Return the one part of a loss that is no number where the sum first is none.

    A sum is lost with any part of it. None where all parts are lost, or none is: then it is the
    outputs or the weights that are no numbers.
    """
    finite = {}
    for name in run.history.metrics:
        curve = run.curve(name)
        here = curve.value[curve.step == int(onset)]
        if len(here) and _is_part(name):
            finite[name] = bool(np.isfinite(here[-1]))
    lost = [name for name, is_number in finite.items() if not is_number]
    whole = tuple(name for name, is_number in finite.items() if is_number)
    return LostPart(lost[0], whole) if len(lost) == 1 and whole else None


def _is_part(name: str) -> bool:
    """Whether a name is that of a part of the training loss: ``kl_loss``, ``loss_box_reg``."""
    whole = name == "train_loss" or name.startswith(("eval_", "test_"))
    return not whole and name.startswith("loss") | name.endswith("loss")


def never_a_number(run: Run) -> str:
    """Say that all batches are NaN, and an evaluation before any update too; empty for no.

    Row 1 of a log with a row an epoch came after a whole epoch of updates.
    """
    train = run.curve("train_loss")
    if len(train) < 2 or np.isfinite(train.value).any():  # noqa: PLR2004 - one may be an odd batch
        return ""
    if _row_an_epoch(train):
        return ""
    for metric in (name for name in run.history.metrics if name.startswith("eval_")):
        first = run.curve(metric).at(slice(0, 1))
        if len(first) and first.step[0] <= min(1, train.step[0]) and np.isnan(first.value[0]):
            at = step(int(first.step[0]))
            return f"evaluation was NaN at step {at}, before any update"
    return ""


def _row_an_epoch(curve: Curve) -> bool:
    """Whether its steps are known to count epochs."""
    known = np.isfinite(curve.epoch) & (curve.step > 0)
    return bool(known.any() and (curve.epoch[known] >= curve.step[known]).all())


def lost_from_the_start(run: Run) -> str:
    """Say that no loss was a number before the first update; empty for no.

    The Trainer leaves out what is NaN (logging_nan_inf_filter), and a mean of several steps of
    which any is a number is not 0. The first of them came before any update. So did that of step 1
    alone, whoever wrote it: an epoch of more than one step says that a step is no epoch.
    """
    first = run.curve("train_loss").at(slice(0, 1))
    norm = run.curve("grad_norm").at(slice(0, 1)).value
    if not len(first) or first.value[0] != 0 or (len(norm) and np.isfinite(norm[0])):
        return ""
    if len(norm) and first.step[0] == 1 and 0 < first.epoch[0] < 1:
        return "the loss of step 1 was NaN, and it is computed before any update"
    if run.framework not in TRAINER_FRAMEWORKS:
        return ""
    return f"all losses up to step {step(int(first.step[0]))} were NaN, those before any update too"


def learned_before(run: Run) -> str:
    """Say that a model had learned before the first logged loss, which is no number.

    Weights that are NaN give one answer to all: what was right more often over the epoch than after
    it was answered by weights that were whole.
    """
    train, evals = run.curve("train_accuracy"), run.curve("eval_accuracy")
    loss = run.curve("train_loss")
    if not len(loss) or np.isfinite(loss.value[0]) or not len(train) or not len(evals):
        return ""
    right, after = float(train.value[0]), float(evals.value[0])
    if not right >= LEARNED * after > 0:
        return ""
    said = f"train accuracy was {number(right, 3)} over the epoch and eval accuracy "
    return f"{said}{number(after, 3)} after it, so the model had learned before the loss became NaN"


def number_again(run: Run, onset: float) -> str:
    """Say where the loss is a number again after a NaN; empty where it is not."""
    after = run.curve("train_loss").after(int(onset))
    alive = np.isfinite(after.value) & (after.value != 0)
    if not len(after) or alive[0] or alive.mean() < MOSTLY_ALIVE:
        return ""
    return f"train loss is a number again at step {step(int(after.step[alive][0]))}"


def comes_back(run: Run, signals: Signals) -> str:
    """Say whether a loss that is NaN now and then is so at one place of each epoch."""
    curve = run.curve("train_loss")
    per_epoch = signals.steps_per_epoch or signals.inputs.steps_per_pass
    bad = curve.step[~np.isfinite(curve.value)]
    if not per_epoch or not 2 <= len(bad) <= BEFORE or bad[-1] - bad[0] < 0.5 * per_epoch:  # noqa: PLR2004 - one point has no place that comes back
        return ""
    if bad[-1] - bad[0] == (len(bad) - 1) * signals.interval("train_loss"):
        return ""  # one stretch without a number between: it never left
    turn = np.exp(2j * np.pi * curve.step / per_epoch)  # the place in the epoch as an angle
    missing = ~np.isfinite(curve.value)
    off = np.abs(np.angle(turn / turn[missing].mean())) / (2 * np.pi)
    here = off <= SAME_PLACE
    if not here[missing].all() or np.mean(here) ** (len(bad) - 1) > CHANCE:
        return ""  # of one place, unless all that is logged lies there
    place = percent(float(bad[0] / per_epoch % 1))
    return f"{len(bad)} steps are not finite, all at {place} of an epoch"


def trained_in_bf16(run: Run) -> bool:
    """Whether the model is of a family that was trained in bf16: fp16 is too narrow for it."""
    name = f"{run.setting('model_name') or ''} {run.setting('architectures') or ''}".lower()
    return any(family in name for family in TRAINED_IN_BF16)


def _by_precision(tree: _Tree) -> None:
    run, scale = tree.run, tree.signals.curve("loss_scale").before(int(tree.onset) + 1).value
    if run.flag("fp16") or (len(scale) and np.ptp(scale) > 0):
        falling = len(scale) > 1 and scale[-1] <= scale.max() / 8
        if falling or tree.branch == "open":
            tree.branch = "scaler"
    elif run.flag("fp8"):
        if tree.branch in {"data", "open"}:  # from the start, or nothing else explains it
            tree.take("data")
    elif run.flag("bf16") or run.flag("fp16") is False:
        why = "bf16 is set" if run.flag("bf16") else "fp16 is off"
        tree.out.append(RuledOut("fp16 overflow", why))
    else:
        tree.out.append(RuledOut("fp16 overflow", "not checked: the precision is not recorded"))


def overflowing_ratio(signals: Signals, onset: float) -> str:
    """Say what shows that the probability ratio of a policy overflowed; empty for nothing."""
    for metric, alarm in RL_ALARM.items():
        before = signals.curve(metric).before(int(onset)).value[-FEWEST:]
        if len(before) and before.max() > alarm:
            return f"{metric} reached {number(float(before.max()))} just before (alarm {alarm:g})"
    return ""
