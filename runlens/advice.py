"""What to do first: with the weights that exist, and with the settings of the next run."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runlens import cures, fixes, weights
from runlens.cause import RANKS, UNKNOWN
from runlens.diagnosis import ENDED, Advice, Best, Cause, Finding, Fix, FixKind, Incident
from runlens.fix import Changed
from runlens.knowledge.constraints import FRESH_START
from runlens.knowledge.levers import LEVERS
from runlens.knowledge.snippets import KEEP, KEPT
from runlens.knowledge.written_changes import lines
from runlens.knowledge.written_changes import told as told_of
from runlens.metrics import spoken
from runlens.proposals import Proposal, levers, proposal
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, listed, uncapitalised
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
OUTSIDE = frozenset({"time-limit", "by-hand"})  # causes of an end from outside the program
STILL_THERE = fixes.look(
    "Check whether the run is still going (nvidia-smi, ps, or the job scheduler)",
    "nothing in the log says that it ended",
)
MISMEASURED = frozenset({"evaluation", "leak"})
# how to go on: said once, of all findings
AGAIN: frozenset[FixKind] = frozenset({"resume", "weights", "restart"})


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
    everything = [finding for one in incidents for finding in one.findings]
    found = _levers(run, signals, lead, cause, [one for part in loud for one in part.findings])
    mismeasured = cause.kind in MISMEASURED or fixes.never_better(signals)
    kept = weights.to_go_on_from(
        run, signals, lead, everything, changed=bool(found), mis=mismeasured
    )
    lever = _allowed(found, kept)
    if kept and kept.kind == "restart" and lever and lever.changes:
        kept = None  # the step with the settings says that it starts again
    later = lead[0].rule == "clip-saturation" and signals.levels("train_loss").fell
    changed = _change(lever, kept, later=later) if lever else []
    actions = _actions(lead, cause, kept, known=lever is not None)
    sure = cause.kind in PUT_IN and RANKS.index(cause.rank) <= RANKS.index("likely")
    if sure or (lever and cause.rank == RANKS[0]):  # nothing is left to look for
        actions = [fix for fix in actions if fix.kind != "look" or fix.cures == cause.kind]
    if cause.pointed:
        actions = [fix for fix in actions if fix.kind in AGAIN]
    # fixes come fastest first: where the first of all is to look at something, that goes first
    looks = bool(lead[0].fixes) and lead[0].fixes[0].kind != "setting"
    looks = looks and (not lever or cause.kind in LOOKED_AT_FIRST)
    steps = [*actions[:1], *changed, *actions[1:]] if looks else [*changed, *actions]
    tries: tuple[str, ...] = ()
    if not lever and cause.experiment:
        steps, tries = _tried_out(lead, causes, actions, steps)
    elif lever and (other := next((one for one in found[1:] if one.actions), None)):
        steps += [
            replace(fix, why=f"try this if that does not help; {fix.why}") for fix in other.actions
        ]
    if kept and weights.may_be_running(run, lead):
        steps = [STILL_THERE, *steps]
    steps.sort(key=lambda fix: fix.kind == "restart")  # once what it needs is known
    first = [kept] if kept else []
    last = first if kept and (kept.kind == "restart" or _goes_on_last(run, lead, kept)) else []
    steps = steps if last else [*first, *steps]
    rest = (one for one in found if one is not lever and lines(one.changes))
    other = next((one for one in rest if not KEEPS & {fix.setting for fix in one.fixes}), None)
    told = (*_distinct(steps)[: MOST_STEPS - len(last)], *_distinct(last))
    diff = lines(lever.changes) if lever else ()
    other = other if lever and lever.changes else None
    return Advice(
        told,
        diff,
        lines(other.changes) if other else (),
        tuple(_changed(lever)) if lever else (),
        next((at for at, (what, _) in enumerate(told) if diff and what == changed[0].what), 0),
        (*tries, *(fix.setting for fix in other.fixes if fix.setting)) if other else tries,
        bool(kept) or (bool(lever) and not later),
    )


def _tried_out(
    lead: Sequence[Finding],
    causes: Sequence[Cause],
    actions: Sequence[Fix],
    steps: list[Fix],
) -> tuple[list[Fix], tuple[str, ...]]:
    """Return the steps with the experiment of the first cause, and the settings that it tries."""
    cause = causes[0]
    sure = cause.rank == RANKS[0] and cause.kind != UNKNOWN
    single = sure and ". " not in cause.experiment and cause.kind not in OUTSIDE
    why = "this confirms the cause or rules it out" if single and not cause.proved else ""
    look = fixes.look(cause.experiment, why)
    hinted = [
        one for one in causes[1:] if cause.kind == UNKNOWN and one.experiment == cause.experiment
    ]
    if hinted and any(one.kind == "look" and one.cures == hinted[0].kind for one in actions):
        return steps, ()  # it is that experiment, and says at which step
    known = _told(lead, cause, actions)
    looks_at = next((at for at, fix in enumerate(steps) if fix.kind == "look"), len(steps))
    if sure and cause.kind == "code-error" and actions and not cause.pointed:
        return steps, ()  # the exception proves it
    if (
        hinted
        or cause.pointed
        or (cause.proved and not known)
        or _asks_first(lead, cause, known=known)
    ):
        place = 0
    elif cause.kind in TRIED_FIRST and all(fix.cures != cause.kind for fix in actions):
        place = looks_at
    elif not known and all(fix.kind != "look" for fix in actions):
        place = len(steps)
    else:
        return steps, ()
    tried = next(iter(LEVERS.get((hinted or [cause])[0].kind, ())), ())
    return [*steps[:place], look, *steps[place:]], tried


def _asks_first(lead: Sequence[Finding], cause: Cause, *, known: bool) -> bool:
    """Whether nobody knows yet who or what ended the run: that is looked up before anything."""
    unknown = lead[0].rule == "killed" and cause.kind == UNKNOWN
    outside = cause.kind in OUTSIDE or unknown
    return lead[0].rule in {"killed", "stopped-early"} and outside and not known


def _told(lead: Sequence[Finding], cause: Cause, actions: Sequence[Fix]) -> bool:
    """Whether a finding brings what fixes the cause, so that nothing is left to look up."""
    by_fix = lead[0].rule in {"known-error", "killed"} or cause.kind in TRIED_BY_FIX
    return by_fix and any(fix.cures == cause.kind for fix in (*lead[0].fixes, *actions))


def _goes_on_last(run: Run, lead: Sequence[Finding], kept: Fix) -> bool:
    """Whether to resume only after the other steps: not where a person stopped a sound run."""
    return kept.kind == "resume" and lead[0].rule in ENDED and not run.state.by_hand


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
        pool += cures.of(cause.kind, run, signals, lead[0].keep)
        pool = [_by_score(_below(fix, signals, everything), lead[0].best) for fix in pool]
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


def _by_score(fix: Fix, best: Best | None) -> Fix:
    """Return the fix that keeps the best model by the score that the finding goes by."""
    if best is None or fix.setting != KEPT:
        return fix
    return replace(fix, what=f"{KEEP}{spoken(best.metric)}")


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


def _change(lever: Proposal, kept: Fix | None, *, later: bool) -> list[Fix]:
    """Return the steps of a lever: the settings of the diff in one, what no file names after it.

    `later`: the run is as good as without it.
    """
    if not lever.changes:
        return list(lever.actions)
    named = {change.setting for change in lever.changes}
    told = [fix for fix in lever.fixes if fix.setting in named]
    text = listed(list(dict.fromkeys(uncapitalised(fix.what) for fix in told)))
    if by_hand := told_of(lever.changes):
        text = f"{text} ({by_hand})"
    what = f"{capitalised(text)}, then restart"
    if kept and kept.kind == "resume":
        what = f"Before you resume, {text}"
    elif later or (kept and kept.kind == "weights") or not named - LENGTHS:
        what = f"For the next run, {text}"  # a shorter run is no restart of this one
    return [fixes.action(what, told[0].why), *lever.actions]


def _distinct(steps: Sequence[Fix]) -> tuple[tuple[str, str], ...]:
    """Return each step once, with its first reason."""
    told: dict[str, str] = {}
    dated = any(fix.what.startswith(fixes.FIND_SETTER) for fix in steps)
    for fix in steps:
        if dated and fix.what == fixes.FIX_SCHEDULE:
            continue  # the step that names the place says the same
        if all(fix.what.partition(". ")[0] != what.partition(". ")[0] for what in told):
            told[fix.what] = fix.why
    return tuple(told.items())
