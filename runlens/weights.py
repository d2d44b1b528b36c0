"""Which weights to go on from: the best, those from before the damage, the last, or none."""

from collections.abc import Sequence
from math import inf

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import ENDED, Finding, Fix
from runlens.metrics import spoken
from runlens.rules.lifecycle.ending import of_unknown_step
from runlens.rules.loss.one_answer import HEADING as ONE_ANSWER
from runlens.run import BEST_SAVED, GAVE_UP, RL_TASKS, Run
from runlens.signals import Signals
from runlens.signals.changes import halved
from runlens.wording import capitalised, number, step

RESUMED_AFTER = 10  # logging intervals without a row: the log saw no start
FAR_SAVE = 0.5  # of the best step: weights saved as far from it are others
ALL_DONE = "all planned steps are done"
SOUND = 0.1  # of what a policy gained that it may lose again with a sound model
EARLY = 0.05  # of the run: no weights from before are worth looking for
LAST = 4  # training losses: rounds without data stand between others
NEXT_TO_NOTHING = 0.1  # of the first training loss
# findings after which the weights are not worth going on with
WASTED = frozenset(
    {
        "nan-loss",
        "hidden-nan",
        "divergence",
        "warmup-shock",
        "entropy-collapse",
        "reward-collapse",
        "kl-blow-up",
        "grad-explosion",
        "loss-spike",
    }
)
SPENT = frozenset({"entropy-collapse"})  # after which a model may be good, but learns no more
USELESS = frozenset(
    {"not-learning", "stuck-at-chance", "grad-zero", "reward-stuck-zero", "lr-zero"}
)


def to_go_on_from(
    run: Run,
    signals: Signals,
    lead: Sequence[Finding],
    everything: Sequence[Finding],
    *,
    changed: bool,
    mis: bool,
) -> Fix | None:
    """Return which weights to go on from; None where only new settings or new data help.

    `mis`: the evaluation does not measure the model. After an end, all that is loud counts.
    """
    rules = {finding.rule for finding in lead}
    done = max(run.last_step, run.state.done_steps) >= (run.state.planned_steps or inf)
    quiet = () if done else ("reward-collapse",)  # a note, which counts before a restart
    lost = [one for one in everything if one.severity != "info" or one.rule in quiet]
    over_all = lost if rules & ENDED else lead
    wasted = [one for one in over_all if one.end is None and one.rule in WASTED]
    onset = min((sound_until(run, one) for one in wasted), default=inf)
    if onset != inf and rules & ENDED and not fixes.checkpoint_before(run, onset - 1):
        first = min(wasted, key=lambda one: one.begins)
        told = "" if first in lead else f"{first.title.partition('. ')[0].rstrip('.')}; "
        before = "that" if told else f"step {step(onset)}"
        why = f"{told}no checkpoint from before {before} was found; later weights are of no use"
        if onset <= run.first_step:
            why = _from_the_start(onset)
        return fixes.action("Restart once the cause is fixed", why, kind="restart")
    if onset != inf:
        sound = {one.rule for one in wasted} <= SPENT and _at_its_best(run, signals)
        return _before(run, onset, min(one.begins for one in wasted), sound=sound)
    over = run.state.settled not in {"running", "unknown"} or run.state.kind == "finished"
    over = over or all(len(run.curve(one)) < 2 for one in run.history.metrics)  # noqa: PLR2004 - results
    zero = any(one.rule == "zero-loss" and one.metric == "train_loss" for one in lead)
    if zero and _at_zero(run):
        why = "its loss is at zero, so nothing is left to learn"
        return None if over else fixes.action("Stop this run if it is still running", why)
    # of a sum, which may rise; or training goes on, and evaluation alone shows nothing of it
    parts = {one.rule for one in lead if ":" in one.metric or one.heading == ONE_ANSWER}
    if (rules - parts) & USELESS:
        why = "the model is not learning"
        return None if over else fixes.action("Stop this run if it is still running", why)
    if "hockey-stick" in rules and not mis:  # else what is called best says nothing
        return _best_weights(run, next(one for one in lead if one.rule == "hockey-stick"))
    return _after_the_end(run, lead, changed=changed) if rules & ENDED else None


def _at_zero(run: Run) -> bool:
    """Whether the last training losses are all next to nothing, beside what the first was."""
    value = run.curve("train_loss").finite().value
    return bool((value[-LAST:] <= NEXT_TO_NOTHING * value[:1].max(initial=0.0)).all())


def sound_until(run: Run, finding: Finding) -> float:
    """Return the step up to which weights are worth going on from: where a finding begins.

    A collapse of entropy is dated where almost nothing is left; half of it is gone before.
    """
    if finding.rule != "entropy-collapse":
        return finding.begins
    spent = halved(run.curve("entropy").finite())
    return finding.begins if spent is None else min(finding.begins, spent)


def _at_its_best(run: Run, signals: Signals) -> bool:
    """Whether the reward rose and stayed: the last weights score well, if they learn no more."""
    reward = signals.curve("reward").value
    if len(reward) < 2:  # noqa: PLR2004 - no ends to compare
        return False
    tenth = max(1, len(reward) // 10)
    first, last = float(median(reward[:tenth])), float(median(reward[-tenth:]))
    best = float(signals.smooth("reward").max())
    return run.task in RL_TASKS and last > first and last >= best - SOUND * (last - first)


def _before(run: Run, onset: float, seen: float, *, sound: bool) -> Fix:
    """Return the weights from before the damage, which a finding may date later: at `seen`.

    `sound`: the last ones are good to use, and no good to train on.
    """
    kept = fixes.checkpoint_before(run, onset - 1)
    then = f"entropy had already halved by step {step(onset)}; " if onset < seen else ""
    if kept:
        why = f"{then}it is the last checkpoint saved before step {step(onset)}"
        return fixes.action(f"Go back to {kept[1]}", why, kind="resume")
    over = run.state.settled == "finished"
    if not sound and onset <= run.first_step + EARLY * (run.last_step - run.first_step):
        begins = then.rstrip("; ") or f"the fault begins at step {step(onset)}"
        why = f"{begins}, so early that no weights are worth keeping"
        if onset <= run.first_step:
            why = _from_the_start(onset)
        return fixes.action("Start over once the cause is fixed", why, kind="restart")
    what = "Do not use the final weights" if over else "Do not resume from the latest weights"
    if sound:
        what = "Do not continue from the latest weights"
    why = f"{then}no checkpoint from before step {step(onset)} was found"
    return fixes.action(what, why)


def _from_the_start(onset: float) -> str:
    where = f"the first logged step ({step(onset)})"
    return f"the fault was there at {where}, so no weights are worth keeping"


def _best_weights(run: Run, finding: Finding) -> Fix:
    best = finding.keep
    told = _as_told(run, finding)
    kept = fixes.checkpoint_before(run, best)
    if kept:
        return fixes.weights(f"Use {kept[1]}", f"{told} was best at step {step(best)}")
    if run.setting("save_strategy") == "no":
        why = f"nothing was saved (save_strategy: no), and {told} was best there"
        return fixes.action(f"Retrain up to {_best_moment(run, finding)}", why, kind="restart")
    near, every = _nearest_save(run, best), run.number("save_steps")
    if near and abs(near - best) > FAR_SAVE * best:
        why = f"{told} was best there, and the first save was at step {near:,}"
        return fixes.action(f"Retrain up to {_best_moment(run, finding)}", why, kind="restart")
    if near:
        where = "there" if near == best else f"at step {step(best)}, and this is the nearest"
        why = f"{told} was best {where}; the run saved one every {every:g} steps"
        return fixes.weights(f"Use checkpoint-{near}, if it was kept", why)
    what = f"Use a checkpoint from {_best_moment(run, finding)}, if one was saved"
    saves = f" (save_steps is {every:g})" if every and best % every else ""
    there = f"{told} was best there; " if finding.best else ""
    upto = "that step" if best else "that evaluation"
    why = f"{there}otherwise retrain up to {upto}; no checkpoint was found{saves}"
    if after := sorted((at, path) for at, path in run.checkpoints if at > best):
        at, path = after[0]
        if path == BEST_SAVED:
            at = max(then for then, of in after if of == BEST_SAVED)  # it is written over
            why = f"{told} was best at step {step(best)}, and no file from there was found"
            return fixes.weights(f"Use {path}, last at step {step(at)}", why)
        why = f"the earliest known checkpoint, {path.rpartition('/')[2]}, is from step {step(at)}"
    return fixes.weights(what, why)


def _best_moment(run: Run, finding: Finding) -> str:
    """Return the step of the best evaluation, with its epoch: ``step 5 (epoch 6)``.

    Of rows that count from 0 the first is no start of the run: it is named as an evaluation.
    """
    curve, at = run.curve(finding.metric), finding.keep
    if not at:
        return "the first evaluation (step 0)"
    epoch = curve.epoch[curve.step == at][:1]
    known = len(epoch) and np.isfinite(epoch[0]) and epoch[0]
    called = float(epoch[0]) - curve.counts_from_0 if known else 0.0
    return f"step {step(at)}{f' (epoch {number(called, 2)})' if known else ''}"


def _as_told(run: Run, finding: Finding) -> str:
    """Name what was best; smoothed, where a single evaluation was better at another step."""
    if not finding.best:
        return "evaluation"
    curve = run.curve(finding.best.metric).finite()
    at = curve.value[curve.step == finding.best.step]
    top = len(at) and at[0] in {curve.value.max(), curve.value.min()}
    return f"{'' if top else 'smoothed '}{spoken(finding.best.metric)}"


def _nearest_save(run: Run, best: float) -> int:
    """Return the step nearest to the best at which the Trainer saved; 0 where it is not known.

    A state names `save_steps` also where it saved by epochs: its own step has to be one of them.
    """
    every, strategy = run.number("save_steps"), run.setting("save_strategy")
    by_steps = strategy == "steps" or (strategy is None and every and run.last_step % every == 0)
    if not by_steps or not every or not every.is_integer() or not 1 <= every <= run.last_step:
        return 0
    most = run.last_step // int(every)
    return int(every) * min(max(round(best / every), 1), most)


def _after_the_end(run: Run, lead: Sequence[Finding], *, changed: bool) -> Fix | None:
    """Say how to go on after an end that was not wanted."""
    kept = fixes.last_checkpoint(run)
    at, lost = fixes.blown(run)
    once = "" if from_outside(lead) else " once the cause is fixed"
    once = " if the run has ended" if may_be_running(run, lead) else once
    if lost_itself := [one.step for one in run.events_of("early_stop") if GAVE_UP.search(one.text)]:
        return _before_it_gave_up(run, lost_itself[-1])
    if kept:
        ends = (one.begins for one in lead if one.rule in ENDED and one.begins < inf)
        cost = fixes.lost_steps(max(0, round(max(run.last_step, *ends)) - kept[0]))
        if run.state.planned_steps and kept[0] >= run.state.planned_steps:
            what = f"Load {kept[1]} and rerun only the part that failed"
            return fixes.action(what, ALL_DONE, kind="resume")
        return fixes.action(f"Resume from {kept[1]}{once}", cost, kind="resume")
    if changed:
        return None  # the step with the settings says that it starts again
    whole = max(run.last_step, run.state.done_steps) >= (run.state.planned_steps or inf)
    if whole or (run.state.done_share or 0.0) >= 1:
        what = f"{once.strip()}, rerun only the part that failed".strip(" ,")
        return fixes.action(capitalised(what), ALL_DONE, kind="restart")
    if begun := _resumed_at(run):
        why = f"the log begins at step {step(begun)}, so a checkpoint of an earlier launch exists"
        what = f"Resume{once} from the checkpoint that this run started from"
        return fixes.action(what, why, kind="resume")
    why = "no checkpoint was found to resume from"
    if not (run.last_step or run.state.done_steps or run.history.metrics):
        known = not (run.state.excerpt or of_unknown_step(run))  # else there may have been steps
        why = "nothing is lost: the run ended before the first step" if known else why
    elif lost and run.checkpoints:
        why = (
            f"no checkpoint predates step {step(at)}, where {lost} is far above all earlier values"
        )
    elif run.checkpoints:
        named = any(f"{path.rstrip('/')}/" in run.state.why for _, path in run.checkpoints)
        why = "the only checkpoint was being written when it crashed"
        why = "the error is about the folder of the checkpoints" if named else why
    return fixes.action(f"Restart{once}", why, kind="restart")


def _before_it_gave_up(run: Run, end: float | None) -> Fix:
    """Return the weights from before a program said that its training was lost.

    What it saved as it gave up are the weights that it gave up on.
    """
    if kept := fixes.checkpoint_before(run, (inf if end is None else end) - 1):
        why = "those saved at the end are the ones that the program gave up on"
        return fixes.action(f"Go back to {kept[1]} once the cause is fixed", why, kind="resume")
    why = "no checkpoint from before the program gave up was found"
    return fixes.action("Restart once the cause is fixed", why, kind="restart")


def _resumed_at(run: Run) -> int:
    """Return the step at which the log of a resumed run begins; 0 where it saw the start."""
    steps = run.curve("train_loss").step
    far = len(steps) > 1 and steps[0] >= RESUMED_AFTER * median(np.diff(steps))
    return int(steps[0]) if far else 0


def from_outside(lead: Sequence[Finding]) -> bool:
    """Whether the run was only stopped: nothing has to be fixed before resuming."""
    return {one.rule for one in lead} & ENDED <= {"killed", "stopped-early"}


def may_be_running(run: Run, lead: Sequence[Finding]) -> bool:
    """Whether all that is known of the end is that the log ends."""
    return lead[0].rule == "stopped-early" and run.state.sure != "certain"
