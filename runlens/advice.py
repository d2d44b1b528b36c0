"""What to do first: with the weights that exist, and with the settings of the next run."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from runlens import cures, fixes
from runlens.arrays import median
from runlens.cause import RANKS, UNKNOWN
from runlens.diagnosis import ENDED, Advice, Cause, Finding, Fix, FixKind, Incident
from runlens.fix import Changed
from runlens.knowledge.constraints import FRESH_START
from runlens.knowledge.levers import LEVERS
from runlens.knowledge.written_changes import lines
from runlens.proposals import Proposal, levers, proposal
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, listed, step, uncapitalised
from runlens.wording import rate as as_rate

MOST_STEPS = 3
LOOKED_AT_FIRST = frozenset({"", "memory", "machine"})  # causes that no setting is surest for
# causes that are tried out before a finding's own looks, which are for others
TRIED_FIRST = frozenset(
    {"evaluation", "clip-too-tight", "length-limit", "rate-zero", "frozen-weights"}
)
# causes that are settings: no look at the data tells more
PUT_IN = frozenset({"rate-too-high", "rate-leaves-plan", "warmup-missing"})
TRIED_BY_FIX = frozenset({"memorised"})  # whose experiment is what fixes it: more rows
# settings that keep what there is: worth it in any case, and nothing to fall back on
KEEPS = {"load_best_model_at_end", "save_strategy", "save_steps", "early_stopping_patience"}
SAFE = 3.0  # below a rate that broke the run
LENGTHS = {"num_train_epochs", "max_steps"}  # settings that say how long, not how
RESUMED_AFTER = 10  # logging intervals without a row: the log saw no start
FAR_SAVE = 0.5  # of the best step: weights saved as far from it are others
ALL_DONE = "all planned steps are done"
MISMEASURED = frozenset({"evaluation", "leak"})
# how to go on: said once, of all findings
AGAIN: frozenset[FixKind] = frozenset({"resume", "weights", "restart"})
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
USELESS = frozenset(
    {"not-learning", "stuck-at-chance", "grad-zero", "reward-stuck-zero", "lr-zero"}
)


def first_steps(
    run: Run, signals: Signals, incidents: Sequence[Incident], causes: Sequence[Cause] = ()
) -> Advice:
    """Return the box "Do this first": of the first cause, with one lever; empty where all is well.

    `causes` are those of the gravest incident, the first one first.
    """
    loud = [one for one in incidents if one.severity != "info"]
    if not loud:
        return Advice()
    lead = [one for one in loud[0].findings if one.severity != "info"]
    cause = causes[0] if causes else Cause("")
    everything = [finding for one in loud for finding in one.findings]
    found = _levers(run, signals, lead, cause, everything)
    mismeasured = cause.kind in MISMEASURED or fixes.never_better(signals)
    kept = _with_what_exists(run, lead, changed=bool(found), mismeasured=mismeasured)
    lever = _allowed(found, kept)
    if kept and kept.kind == "restart" and lever and lever.changes:
        kept = None  # the step with the settings says that it starts again
    changed = _change(lever, kept) if lever else []
    actions = _actions(lead, cause, kept, known=lever is not None)
    sure = cause.kind in PUT_IN and RANKS.index(cause.rank) <= RANKS.index("likely")
    if sure or cause.pointed or (lever and cause.rank == RANKS[0]):  # nothing is left to look for
        actions = [fix for fix in actions if fix.kind != "look" or fix.cures == cause.kind]
    if cause.pointed:
        actions = [fix for fix in actions if fix.kind in AGAIN or fix.cures == cause.kind]
    # fixes come fastest first: where the first of all is to look at something, that goes first
    looks = bool(lead[0].fixes) and lead[0].fixes[0].kind != "setting"
    looks = looks and (not lever or cause.kind in LOOKED_AT_FIRST)
    steps = [*actions[:1], *changed, *actions[1:]] if looks else [*changed, *actions]
    if not lever and cause.experiment:
        sure = cause.rank == RANKS[0] and cause.kind != UNKNOWN
        why = (
            "this confirms the cause or rules it out"
            if sure and ". " not in cause.experiment
            else ""
        )
        look = fixes.look(cause.experiment, why)
        hinted = cause.kind == UNKNOWN and any(cause.experiment == o.experiment for o in causes[1:])
        by_fix = lead[0].rule == "known-error" or cause.kind in TRIED_BY_FIX
        known = by_fix and any(f.cures == cause.kind for f in (*lead[0].fixes, *actions))
        looks_at = (at for at, fix in enumerate(steps) if fix.kind == "look")
        if hinted or cause.pointed:
            steps.insert(0, look)
        elif cause.kind in TRIED_FIRST and all(fix.cures != cause.kind for fix in actions):
            steps.insert(next(looks_at, len(steps)), look)
        elif not known and all(fix.kind != "look" for fix in actions):
            steps.append(look)
    elif lever and (other := next((one for one in found[1:] if one.actions), None)):
        steps += [
            replace(fix, why=f"try this if that does not help; {fix.why}") for fix in other.actions
        ]
    first = [kept] if kept else []
    last = first if kept and kept.kind == "restart" and not _from_outside(lead) else []
    steps = steps if last else [*first, *steps]
    rest = (one for one in found if one is not lever and one.changes)
    other = next((one for one in rest if not KEEPS & {fix.setting for fix in one.fixes}), None)
    told = (*_distinct(steps)[: MOST_STEPS - len(last)], *_distinct(last))
    diff = lines(lever.changes) if lever else ()
    return Advice(
        told,
        diff,
        lines(other.changes) if lever and lever.changes and other else (),
        tuple(_changed(lever)) if lever else (),
        next((at for at, (what, _) in enumerate(told) if diff and what == changed[0].what), 0),
    )


def _levers(
    run: Run,
    signals: Signals,
    lead: Sequence[Finding],
    cause: Cause,
    everything: Sequence[Finding],
) -> list[Proposal]:
    """Return what pulls at the first cause: nothing where that is no more than a guess."""
    pool = [fix for one in lead for fix in one.fixes if fix.setting]
    if cause.kind:
        sure = RANKS.index(cause.rank) <= RANKS.index("likely")
        pool += cures.of(cause.kind, run, signals, lead[0].begins)
        pool = [_below(fix, signals, everything) for fix in pool]
        return levers(run, signals, cause.kind, pool) if sure else []
    if any(fix.cures == fixes.SCHEDULE for one in lead for fix in one.fixes):
        return []
    first = proposal(run, signals, pool[:1])
    return [first] if first else []


def _below(fix: Fix, signals: Signals, found: Sequence[Finding]) -> Fix:
    """Return the fix with a rate below the one at which the warm-up broke the run."""
    shock = next((one for one in found if one.rule == "warmup-shock"), None)
    if fix.setting != "learning_rate" or fix.cures != "rate-too-high" or shock is None:
        return fix
    broke = signals.learning_rate_at(shock.begins)
    if not broke or not isinstance(fix.new, float) or fix.new < broke / SAFE:
        return fix
    new = fixes.two_digits(broke / SAFE)
    what = f"Lower the learning rate to {as_rate(new)}" if fix.old is None else fix.what
    return replace(fix, what=what, new=new, why="the run broke at three times this rate")


def _allowed(found: Sequence[Proposal], kept: Fix | None) -> Proposal | None:
    """Return the first lever that may be pulled: of a resume, one that its state allows."""
    if kept is None or kept.kind != "resume":
        return next(iter(found), None)
    allowed = (one for one in found if not {f.setting for f in one.fixes} & FRESH_START)
    return next(allowed, None)


def _actions(lead: Sequence[Finding], cause: Cause, kept: Fix | None, *, known: bool) -> list[Fix]:
    """Return what is no setting: of the first cause, else of whatever is at fault.

    A setting that no file names, and that is therefore told in words, must pull at the cause. Where
    what to do about the cause is `known`, or one of the findings says it, what is for any cause is
    taken from the leading finding alone.
    """
    left = [
        (one, fix)
        for one in lead
        for fix in one.fixes
        if fix.kind != "setting" and not ((kept or known) and fix.kind in AGAIN)
    ]
    if not cause.kind:
        return sorted((fix for _, fix in left), key=_urgency)
    looked = {cause.kind, fixes.DATA} if cause.kind not in PUT_IN else {cause.kind}
    pulls = {key for group in LEVERS.get(cause.kind, ()) for key in group}
    known = known or any(fix.cures == cause.kind for _, fix in left)
    of_it = [
        fix
        for one, fix in left
        if fix.cures in looked or (not fix.cures and (one is lead[0] or not known))
        if not fix.name or fix.name in pulls
    ]
    return sorted(of_it, key=_urgency)


def _urgency(fix: Fix) -> tuple[bool, bool]:
    """Sort what takes days behind the rest, and what is for the cause before what is for any."""
    return fix.cost == "days", not fix.cures


def _changed(lever: Proposal) -> Iterator[Changed]:
    for place, setting, old, new in lever.changes:
        yield Changed(place.where, place.name, setting, old, new)


def _with_what_exists(
    run: Run, lead: Sequence[Finding], *, changed: bool, mismeasured: bool
) -> Fix | None:
    """Return which weights to go on from; None where only new settings or new data help."""
    rules = {finding.rule for finding in lead}
    wasted = [one for one in lead if one.rule in WASTED and one.end is None]
    onset = min((fixes.sound_until(run, one) for one in wasted), default=inf)
    if onset != inf:
        return _before(run, onset, seen=min(one.begins for one in wasted))
    over = run.state.settled not in {"running", "unknown"}
    if any(one.rule == "zero-loss" and one.metric == "train_loss" for one in lead):
        why = "its loss is at zero, so nothing is left to learn"
        return None if over else fixes.action("Stop this run if it is still running", why)
    if rules & USELESS:
        why = "the model is not learning"
        return None if over else fixes.action("Stop this run if it is still running", why)
    if "hockey-stick" in rules and not mismeasured:  # else what is called best says nothing
        return _best_weights(run, next(one for one in lead if one.rule == "hockey-stick"))
    return _after_the_end(run, lead, changed=changed) if rules & ENDED else None


def _before(run: Run, onset: float, seen: float) -> Fix:
    """Return the weights from before the damage, which a finding may date later: at `seen`."""
    kept = fixes.checkpoint_before(run, onset - 1)
    then = f"entropy had halved by step {step(onset)}; " if onset < seen else ""
    if kept:
        why = f"{then}it is the last checkpoint saved before step {step(onset)}"
        return fixes.action(f"Go back to {kept[1]}", why, kind="resume")
    over = run.state.settled == "finished"
    what = "Do not use the final weights" if over else "Do not resume from the latest weights"
    why = f"{then}no checkpoint from before step {step(onset)} was found"
    if onset <= run.first_step:
        why = "the fault is there from the first logged step on"
    return fixes.action(what, why)


def _best_weights(run: Run, finding: Finding) -> Fix:
    ends = [fix.new for fix in finding.fixes if fix.setting == "max_steps"]
    # the score may be best later than the loss
    best = ends[0] if ends and isinstance(ends[0], int) else finding.begins
    kept = fixes.checkpoint_before(run, best)
    if kept:
        return fixes.weights(f"Use {kept[1]}", f"evaluation was best at step {step(best)}")
    if run.setting("save_strategy") == "no":
        why = "nothing was saved (save_strategy: no), and evaluation was best there"
        return fixes.action(f"Retrain up to step {step(best)}", why, kind="restart")
    near, every = _nearest_save(run, best), run.number("save_steps")
    if near and abs(near - best) > FAR_SAVE * best:
        why = f"evaluation was best there, and the first save was at step {near:,}"
        return fixes.action(f"Retrain up to step {step(best)}", why, kind="restart")
    if near:
        where = "there" if near == best else f"at step {step(best)}, and this is the nearest"
        why = f"evaluation was best {where}; one was saved every {every:g} steps"
        return fixes.weights(f"Use checkpoint-{near}, if it was kept", why)
    what = f"Use a checkpoint from step {step(best)}, if one was saved"
    why = "none was found here"
    if after := [(at, path) for at, path in run.checkpoints if at > best]:
        at, path = after[-1]
        why = f"{path.rpartition('/')[2]} is of step {step(at)}"
    if every and best % every:
        why += f", and save_steps is {every:g}"
    return fixes.weights(what, why)


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
    once = "" if _from_outside(lead) else " once the cause is fixed"
    if kept:
        ends = (one.begins for one in lead if one.rule in ENDED and one.begins < inf)
        cost = fixes.lost_steps(max(0, round(max(run.last_step, *ends)) - kept[0]))
        if run.state.planned_steps and kept[0] >= run.state.planned_steps:
            what = f"Load {kept[1]} and rerun only what failed"
            return fixes.action(what, ALL_DONE, kind="resume")
        return fixes.action(f"Resume from {kept[1]}{once}", cost, kind="resume")
    if changed:
        return None  # the step with the settings says that it starts again
    if max(run.last_step, run.state.done_steps) >= (run.state.planned_steps or inf):
        return fixes.action(f"Rerun only what failed{once}", ALL_DONE, kind="restart")
    if begun := _resumed_at(run):
        why = f"the log begins at step {step(begun)}, so a checkpoint of an earlier launch exists"
        what = f"Resume{once} from the checkpoint that it began from"
        return fixes.action(what, why, kind="resume")
    why = "no checkpoint was found to resume from"
    if not (run.last_step or run.state.done_steps or run.history.metrics):
        why = "nothing is lost: the run ended before the first step"
    elif lost and run.checkpoints:
        why = (
            f"no checkpoint predates step {step(at)}, where {lost} is far above all earlier values"
        )
    elif run.checkpoints:
        why = "the only checkpoint was being written when it crashed"
    return fixes.action(f"Restart{once}", why, kind="restart")


def _resumed_at(run: Run) -> int:
    """Return the step at which the log of a resumed run begins; 0 where it saw the start."""
    steps = run.curve("train_loss").step
    far = len(steps) > 1 and steps[0] >= RESUMED_AFTER * median(np.diff(steps))
    return int(steps[0]) if far else 0


def _from_outside(lead: Sequence[Finding]) -> bool:
    """Whether the run was only stopped: nothing has to be fixed before resuming."""
    return {one.rule for one in lead} & ENDED <= {"killed", "stopped-early"}


def _change(lever: Proposal, kept: Fix | None) -> list[Fix]:
    """Return the steps of a lever: the settings of the diff in one, what no file names after it."""
    if not lever.changes:
        return list(lever.actions)
    named = {change.setting for change in lever.changes}
    told = [fix for fix in lever.fixes if fix.setting in named]
    text = listed(list(dict.fromkeys(uncapitalised(fix.what) for fix in told)))
    what = f"{capitalised(text)}, then restart"
    if kept and kept.kind == "resume":
        what = f"Before you resume, {text}"
    elif (kept and kept.kind == "weights") or not named - LENGTHS:
        what = f"For the next run, {text}"  # a shorter run is no restart of this one
    return [fixes.action(what, told[0].why), *lever.actions]


def _distinct(steps: Sequence[Fix]) -> tuple[tuple[str, str], ...]:
    """Return each step once, with its first reason."""
    told: dict[str, str] = {}
    dated = any(fix.what.startswith(fixes.FIND_SETTER) for fix in steps)
    for fix in steps:
        if dated and fix.what == fixes.FIX_SCHEDULE:
            continue  # the step that names the place says the same
        told.setdefault(fix.what, fix.why)
    return tuple(told.items())
