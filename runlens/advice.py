"""What to do first: with the weights that exist, and with the settings of the next run."""

from collections.abc import Sequence
from math import inf

from runlens import fixes
from runlens.config_keys import change_lines
from runlens.diagnosis import SEVERITIES, Advice, Finding, Fix, Incident
from runlens.run import Run
from runlens.wording import step

MOST_CHANGES = 4
MOST_STEPS = 3
GOES_ON = ("Resume from", "Go back to", "Use ")
ENDED = frozenset({"crashed", "killed", "oom-cliff", "hang", "known-error", "stopped-early"})
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
# what follows from these goes away with them: it needs no settings of its own
ACCIDENTS = frozenset({"schedule-mismatch", "resume-jump"})
DAMPERS = frozenset({"max_grad_norm", "warmup_steps", "warmup_ratio"})
USELESS = frozenset(
    {"not-learning", "stuck-at-chance", "grad-zero", "reward-stuck-zero", "lr-zero"}
)


def first_steps(run: Run, incidents: Sequence[Incident]) -> Advice:
    """Return the box "Do this first" of a run; empty where nothing loud was found."""
    loud = [one for one in incidents if one.severity != "info"]
    if not loud:
        return Advice()
    lead = [one for one in loud[0].findings if one.severity != "info"]
    changes = _changes(loud, _usual_rate(incidents))
    kept = _with_what_exists(run, lead, changed=bool(changes))
    changed = [_change(list(changes.values()), kept)] if changes else []
    left = [
        fix
        for one in _at_fault(loud[0])
        for fix in one.fixes
        if fix.setting or not (kept and fix.what.startswith((*GOES_ON, "Start again")))
    ]
    actions = [(fix.what, fix.why) for fix in left if not fix.setting]
    # fixes come fastest first: where the first of all is to look at something, that goes first
    looks = bool(left) and not left[0].setting
    steps = [*actions[:1], *changed, *actions[1:]] if looks else [*changed, *actions]
    again = bool(kept) and kept[0][0].startswith("Start again")
    again = again and not (steps and steps[0][0].startswith("Save "))  # that is for the next time
    steps = [*steps[:1], *kept, *steps[1:]] if again else [*kept, *steps]
    diff = change_lines(
        {fix.setting: (fix.old, fix.new) for fix in changes.values()}, run.framework
    )
    return Advice(tuple(_distinct(steps))[:MOST_STEPS], tuple(diff))


def _with_what_exists(run: Run, lead: Sequence[Finding], *, changed: bool) -> list[tuple[str, str]]:
    """Say which weights to go on from; nothing where only new settings or new data help."""
    rules = {finding.rule for finding in lead}
    onset = min((one.begins for one in lead if one.rule in WASTED and one.end is None), default=inf)
    if onset != inf:
        kept = fixes.checkpoint_before(run, onset - 1)
        if kept:
            return [(f"Go back to {kept[1]}", f"the last saved before step {step(onset)}")]
        what = (
            "Do not use the last weights"
            if run.state.kind == "finished"
            else "Do not resume this run"
        )
        return [(what, f"no checkpoint from before step {step(onset)} is known")]
    over = run.state.kind not in {"running", "unknown"}
    if "zero-loss" in rules:
        why = "its loss is at zero: nothing is left to learn"
        return [] if over else [("Stop this run if it still goes on", why)]
    if rules & USELESS:
        return [] if over else [("Stop this run if it still goes on", "it has learnt nothing")]
    if "hockey-stick" in rules:
        return _best_weights(run, next(one for one in lead if one.rule == "hockey-stick"))
    return _after_the_end(run, rules, changed=changed) if rules & ENDED else []


def _best_weights(run: Run, finding: Finding) -> list[tuple[str, str]]:
    best = finding.begins
    kept = fixes.checkpoint_before(run, best)
    if kept:
        return [(f"Use {kept[1]}", f"eval loss was best at step {step(best)}")]
    if run.setting("save_strategy") == "no":
        why = "nothing was saved (save_strategy: no), and eval loss was best there"
        return [(f"Train again, up to step {step(best)}", why)]
    what = f"Use the weights of step {step(best)}, if they were saved"
    return [(what, "eval loss was best there; no checkpoint from before it is known")]


def _after_the_end(run: Run, rules: set[str], *, changed: bool) -> list[tuple[str, str]]:
    """Say how to go on after an end that was not wanted."""
    kept = fixes.checkpoint_before(run, inf)
    once = "" if rules & ENDED <= {"killed", "stopped-early"} else " once the cause is mended"
    if kept:
        cost = fixes.lost_steps(max(0, run.last_step - kept[0]))
        return [(f"Resume from {kept[1]}{once}", cost)]
    if changed:
        return []  # the step with the settings says that it starts again
    if not (run.last_step or run.state.done_steps or run.history.metrics):
        return [(f"Start again{once}", "it ended before the first step")]
    torn = "the only checkpoint was being written when it crashed"
    return [(f"Start again{once}", torn if run.checkpoints else "no checkpoint is known here")]


def _change(changes: Sequence[Fix], kept: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the step that names the settings of the diff, in words."""
    many = "this setting" if len(changes) == 1 else f"these {len(changes)} settings"
    goes_on = any(fix.setting == "resume_from_checkpoint" for fix in changes)
    if goes_on or (kept and kept[0][0].startswith(("Resume from", "Go back to"))):
        what = f"Change {many} before it goes on"
    elif kept and kept[0][0].startswith("Use "):
        what = f"Change {many} for the next run"
    else:
        what = f"Start again with {many} changed"
    words = [fix.what[0].lower() + fix.what[1:] for fix in changes]
    *most, last = dict.fromkeys(words)
    return what, f"{', '.join(most)} and {last}" if most else last


def _changes(loud: Sequence[Incident], usual: Fix | None) -> dict[str, Fix]:
    """Return the first fix of each setting, of the worst findings first; at most four.

    A learning rate that is lowered anyway goes down to what is `usual`, where that is lower still.
    """
    findings = sorted(
        (one for incident in loud for one in _at_fault(incident)),
        key=lambda one: SEVERITIES.index(one.severity),
    )
    made: dict[str, Fix] = {}
    for fix in (fix for finding in findings for fix in _settings(finding)):
        if len(made) < MOST_CHANGES and fix.old != fix.new:
            made.setdefault(fix.setting, fix)
    lowered = made.get("learning_rate")
    if lowered and usual and _below(usual.new, lowered.new) and _below(lowered.new, lowered.old):
        made["learning_rate"] = lowered._replace(new=usual.new, why=usual.why)
    return made


def _usual_rate(incidents: Sequence[Incident]) -> Fix | None:
    """Return the fix of a learning rate outside the usual range, where one was found."""
    found = (one for incident in incidents for one in incident.findings)
    rates = (fix for one in found if one.rule == "lr-out-of-range" for fix in one.fixes)
    return next((fix for fix in rates if fix.setting == "learning_rate"), None)


def _below(one: object, other: object) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float) and one < other


def _settings(finding: Finding) -> list[Fix]:
    """Return the fixes that change a setting; none that only dampens a broken schedule."""
    broken = any(fix.what.startswith(fixes.MEND_SCHEDULE) for fix in finding.fixes)
    return [fix for fix in finding.fixes if fix.setting and not (broken and fix.setting in DAMPERS)]


def _at_fault(incident: Incident) -> tuple[Finding, ...]:
    """Return the loud findings to mend: of an accident of the schedule, that one alone."""
    loud = tuple(one for one in incident.findings if one.severity != "info")
    return loud[:1] if loud[0].rule in ACCIDENTS and loud[0].fixes else loud


def _distinct(steps: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(steps))
