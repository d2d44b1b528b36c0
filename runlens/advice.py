"""What to do first: with what exists, with the settings, against the next time."""

from collections.abc import Sequence
from math import inf

from runlens import fixes
from runlens.config_keys import change_lines
from runlens.diagnosis import SEVERITIES, Advice, Finding, Fix, Incident
from runlens.run import Run
from runlens.wording import step

MOST_CHANGES = 4
MOST_STEPS = 3
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
    {"not-learning", "stuck-at-chance", "zero-loss", "grad-zero", "reward-stuck-zero", "lr-zero"}
)


def first_steps(run: Run, incidents: Sequence[Incident]) -> Advice:
    """Return the box "Do this first" of a run; empty where nothing loud was found."""
    loud = [one for one in incidents if one.severity != "info"]
    if not loud:
        return Advice()
    lead = loud[0]
    changes = _changes(loud)
    steps = [*_with_what_exists(run, lead)]
    if changes:
        why = next(iter(changes.values())).why
        steps.append((f"Start again with {_settings(len(changes))} changed", why))
    told = any(
        name in what for what, _ in steps for name in ("checkpoint", "Resume", "Start again")
    )
    steps += [
        (fix.what, fix.why)
        for one in lead.findings
        for fix in one.fixes
        if not fix.setting and not (told and fix.what.startswith(("Resume from", "Use checkpoint")))
    ]
    diff = change_lines(
        {fix.setting: (fix.old, fix.new) for fix in changes.values()}, run.framework
    )
    return Advice(tuple(_distinct(steps))[:MOST_STEPS], tuple(diff))


def _with_what_exists(run: Run, lead: Incident) -> list[tuple[str, str]]:
    rules = {finding.rule for finding in lead.findings if finding.severity != "info"}
    onset = min((_at(one) for one in lead.findings if one.rule in WASTED), default=None)
    if onset is not None and onset != inf:
        kept = fixes.checkpoint_before(run, onset - 1)
        if kept:
            return [(f"Go back to {kept[1]}", f"the last saved before step {step(onset)}")]
        return [("Do not resume this run", f"no checkpoint from before step {step(onset)}")]
    if rules & USELESS:
        return [("Stop this run", "it has learnt nothing that a new start would not")]
    if rules & {"crashed", "killed", "oom-cliff", "hang", "known-error", "stopped-early"}:
        kept = fixes.checkpoint_before(run, inf)
        if kept:
            lost = max(0, run.last_step - kept[0])
            return [
                (f"Resume from {kept[1]} once the cause is mended", f"{step(lost)} steps are lost")
            ]
        return [("Start again once the cause is mended", "no checkpoint was found")]
    return []


def _changes(loud: Sequence[Incident]) -> dict[str, Fix]:
    """Return the first fix of each setting, of the worst findings first; at most four."""
    findings = sorted(
        (one for incident in loud for one in incident.findings if one.severity != "info"),
        key=lambda one: SEVERITIES.index(one.severity),
    )
    made: dict[str, Fix] = {}
    for fix in (fix for finding in findings for fix in finding.fixes if fix.setting):
        if len(made) < MOST_CHANGES and fix.old != fix.new:
            made.setdefault(fix.setting, fix)
    return made


def _settings(count: int) -> str:
    return "this setting" if count == 1 else f"these {count} settings"


def _distinct(steps: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(steps))


def _at(finding: Finding) -> float:
    return finding.onset.step if finding.onset.step is not None else inf
