"""From fixes to changes that can be pasted: named as the run names them, checked, one lever.

A change is proposed only where the framework takes it, and where the new settings, on the same
curves, set off no rule of ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from runlens import fixes
from runlens.diagnosis import Fix, Incident
from runlens.knowledge import constraints
from runlens.knowledge.dialects import place_of
from runlens.knowledge.in_force import clip_limit
from runlens.knowledge.levers import DOWN, ITS_OWN, LEVERS, UP
from runlens.knowledge.snippets import in_words
from runlens.knowledge.written_changes import Change
from runlens.no_help import useful
from runlens.records import NamedTuple
from runlens.rules import LISTED
from runlens.rules.rule import loaded
from runlens.run import Configured, Run, Setting
from runlens.signals import Signals

# setting -> the rules of ours that read it
JUDGED_BY = {
    "learning_rate": ("lr-out-of-range",),
    "max_grad_norm": ("clip-saturation", "no-clipping"),
    "bf16": ("fp16-risk",),
    "fp16": ("fp16-risk",),
    "weight_decay": ("weight-decay-high",),
}


FLOOR = "min_lr"  # at which a schedule ends: nanoGPT's train.py asks for a tenth of the peak


class Proposal(NamedTuple):
    """One lever: changes of settings that the run's files or its framework name, and the rest."""

    fixes: tuple[Fix, ...]
    changes: tuple[Change, ...] = ()  # to be pasted
    actions: tuple[Fix, ...] = ()  # what no file names, in words of the framework


def levers(run: Run, signals: Signals, kind: str, pool: Sequence[Fix]) -> list[Proposal]:
    """Return what pulls at a kind of cause, the first lever first; nothing where no setting does.

    `pool` holds fixes with the numbers of this run, those that come first before others.
    """
    groups = []
    for group in LEVERS.get(kind, ()):
        first: dict[str, Fix] = {}
        for fix in pool:
            own = ITS_OWN in group and fix.cures == kind and not first
            if own or (fix.setting in group and _right_way(fix, kind)):
                first.setdefault(fix.setting, fix)
        if first:
            groups.append(list(first.values()))
    groups.sort(key=lambda some: pool.index(some[0]))  # what the finding names first, comes first
    made = (proposal(run, signals, group) for group in groups)
    return [one for one in made if one]


def _right_way(fix: Fix, kind: str) -> bool:
    """Whether a change goes the way that its cause asks for."""
    if not isinstance(fix.old, int | float) or not isinstance(fix.new, int | float):
        return fix.cures in {"", kind}
    return not (kind in DOWN and fix.new >= fix.old) and not (kind in UP and fix.new <= fix.old)


def proposal(run: Run, signals: Signals, group: Iterable[Fix]) -> Proposal | None:
    """Return the fixes of one lever as changes; None where they change nothing, or are refused."""
    wanted = [fix for fix in group if not _in_force(run, fix)]
    if not wanted:
        return None
    whole = [*wanted, *_partners(run, wanted)]
    now = {key: one.value for key, one in run.config.items()}
    new = {fix.setting: fix.new for fix in whole}
    if constraints.refused(run, now | new, frozenset(new)) or objection(run, signals, new):
        return None
    changes, actions = [], []
    for fix in whole:
        place = place_of(run, fix.setting)
        if place is None:
            actions.append(in_words(run, fix))
        else:
            old = run.setting(fix.setting) if place.recorded else None
            changes.append(Change(place, fix.setting, old, fix.new))
    return Proposal(tuple(whole), tuple(changes), tuple(actions))


def named(run: Run, signals: Signals, made: Sequence[Incident]) -> tuple[Incident, ...]:
    """Return the incidents with the fixes of each finding as the run names its settings."""
    return tuple(
        incident._replace(
            findings=tuple(
                replace(one, fixes=spelled(run, signals, useful(one, made)))
                for one in incident.findings
            )
        )
        for incident in made
    )


def spelled(run: Run, signals: Signals, found: Sequence[Fix]) -> tuple[Fix, ...]:
    """Return the fixes of a finding as the run names them, without those that it cannot take."""
    made: list[Fix] = []
    for fix in found:
        if not fix.setting:
            made.append(fix)
        elif kept := proposal(run, signals, [fix]):
            own = {change.setting: change for change in kept.changes}
            for one in kept.fixes:
                if change := own.get(one.setting):
                    where, name = change.place.where, change.place.name
                    made.append(replace(one, old=change.old, name=name, where=where))
            made += kept.actions
    return tuple(dict.fromkeys(made))


def _in_force(run: Run, fix: Fix) -> bool:
    """Whether a setting is already as a fix would have it."""
    now = clip_limit(run) if fix.setting == "max_grad_norm" else run.setting(fix.setting)
    if isinstance(fix.new, bool):
        return run.flag(fix.setting) is fix.new
    return now is not None and str(now) == str(fix.new)


def _partners(run: Run, wanted: Sequence[Fix]) -> list[Fix]:
    """Return what must change as well for a change to be taken, and to do what it is for."""
    rates = [fix for fix in wanted if fix.setting == "learning_rate"]
    floor = run.number(FLOOR)
    if rates and isinstance(rates[0].new, int | float) and floor and floor >= rates[0].new:
        what, why = (
            "Lower its floor with it",
            "the rate ends there: a tenth of the peak",
        )
        return [fixes.setting(run, FLOOR, rates[0].new / 10, what, why)]
    if not any(fix.setting == "load_best_model_at_end" for fix in wanted):
        return []
    now = {key: one.value for key, one in run.config.items()}
    return [
        fixes.setting(run, key, value, "Save at every evaluation", "the two must match")
        for key, value in constraints.partners(run, now).items()
    ]


def objection(run: Run, signals: Signals, new: Mapping[str, Setting]) -> str:
    """Return the rule of ours that the new settings would set off on the same curves; else ""."""
    asked = {slug for key in new for slug in JUDGED_BY.get(key, ())}
    if not asked:
        return ""
    changed = as_changed(run, signals, new)
    after = Signals(changed)
    for rule in (listed for listed in LISTED if listed.slug in asked):
        if rule.tasks and run.task not in rule.tasks:
            continue
        whole = loaded(rule)
        found = whole.check(changed, after, whole.limits).status == "found"
        if found and whole.check(run, signals, whole.limits).status != "found":
            return rule.slug
    return ""


def as_changed(run: Run, signals: Signals, new: Mapping[str, Setting]) -> Run:
    """Return the run as it would be logged with new settings: the rate goes with its peak."""
    config = dict(run.config)
    for key, value in new.items():
        known = config.get(key)
        config[key] = known._replace(value=value) if known else Configured(value, "")
    history, peak, rate = run.history, signals.peak_learning_rate, new.get("learning_rate")
    if isinstance(rate, int | float) and peak and run.logged("learning_rate"):
        history = history.scaled("learning_rate", float(rate) / peak)
    return replace(run, config=config, history=history)
