"""Runs the rules over a run and puts the diagnosis together. No rule can stop another one.

Causes, fixes and advice are imported where something was found to explain.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from runlens import faults, incidents, verdict
from runlens.diagnosis import (
    UNLOGGED,
    Advice,
    Cause,
    Diagnosis,
    Domino,
    Finding,
    Incident,
    Moment,
    Outcome,
    SettingRow,
    ThinCurve,
    Verdict,
)
from runlens.epoch_ends import epoch_ends
from runlens.faults import Made, survived
from runlens.history import Curve, FloatArray, thinned
from runlens.metrics import NAMES, base
from runlens.records import NamedTuple
from runlens.rules import LISTED
from runlens.rules.loss import cross_entropy
from runlens.rules.rule import ADVICE, Asked, Listed, loaded, unmet
from runlens.run import Problem, Run
from runlens.settings import Settings
from runlens.signals import Signals
from runlens.signals.shape.chance import calibrated
from runlens.signals.shape.plain import main_shapes
from runlens.sources import read
from runlens.wording import step

MOST_CURVES = 400
CALIBRATED = {rule.slug for rule in LISTED if rule.family not in ADVICE}
NAN = {"nan-loss", "hidden-nan"}  # of which one passes because of the other
OF_THE_LOSS = frozenset({"LOS", "EVL", "GRD"})  # families whose curves end where the loss is lost


def diagnose(
    place: Run | str | Path,
    rules: Iterable[Asked] | None = None,
    *,
    preview: bool = False,
    settings: Settings | None = None,
) -> Diagnosis:
    """Examine a run, or the run at a place.

    Args:
        place: a Run, or a path that `runlens.read` takes.
        rules: the rules to ask; all that are known where none are given: ours, those of installed
            packages, and those of the files that the settings name.
        preview: whether rules that have not yet proved their precision are asked as well.
        settings: which rules, how loud, with which limits (`runlens.settings.load`); all as they
            come where none is given.

    Raises:
        RunLensError: where nothing, or more than one run, lies at a path.

    """
    settings = settings or Settings()
    run = place if isinstance(place, Run) else read(place, columns=settings.columns)
    return explained(run, settings, rules, preview=preview).complete()


class Explained(NamedTuple):
    """What was found in a run, and why; what only a report shows of it is added on demand.

    That is a third of the work: all but the shapes that no rule asked for, fixes, first steps and
    the curves. Of the thousands of runs of a night few have a report.
    """

    run: Run
    judged: "_Judgement"
    diagnosis: Diagnosis  # without what only a report shows

    @np.errstate(all="ignore")
    def complete(self) -> Diagnosis:
        """Return the whole diagnosis."""
        run, signals, short = self.run, self.judged.signals, self.diagnosis
        lost: list[Problem] = []
        made = _part(
            lambda: _named(run, signals, short.incidents), lambda: short.incidents, "fixes", lost
        )
        ranked = made[0].findings[0].causes if made else ()
        do_first = _part(
            lambda: _first_steps(run, signals, made, ranked), Advice, "what to do first", lost
        )
        return replace(
            short,
            incidents=made,
            causes=ranked,
            do_first=do_first,
            curves=_part(
                lambda: _curves(run, self.judged.kept), dict[str, ThinCurve], "all curves", lost
            ),
            shapes=_part(lambda: main_shapes(run), dict[str, dict[str, Any]], "all shapes", lost),
            epochs=_part(
                lambda: epoch_ends(run, signals), tuple[tuple[float, float], ...], "epochs", lost
            ),
            settings=_part(
                lambda: incidents.setting_rows(run, made),
                tuple[SettingRow, ...],
                "all settings",
                lost,
            ),
            covered=incidents.covered(short.outcomes, made, run.state),
            problems=(*short.problems, *lost),
        )


@np.errstate(all="ignore")
def explained(
    run: Run, settings: Settings, rules: Iterable[Asked] | None = None, *, preview: bool = False
) -> Explained:
    """Examine a run as `diagnose` does, but for what only a report shows."""
    judged = _judgement(run, rules, settings, preview=preview)
    lost: list[Problem] = []
    made, story = _part(
        lambda: _explained(run, judged.signals, judged.made),
        lambda: (judged.made, ()),
        "causes",
        lost,
    )
    of_settings = settings.all_problems() if rules is None else []
    diagnosis = Diagnosis(
        run_id=run.id,
        run_name=run.name,
        framework=run.framework,
        task=run.task,
        task_why=run.task_why,
        state=run.state,
        last_step=run.last_step,
        sources=run.sources,
        outcomes=judged.outcomes,
        titles={rule.slug: rule.title for rule in judged.asked},
        pages={rule.slug: rule.address for rule in judged.asked if isinstance(rule, Listed)},
        incidents=made,
        story=story,
        verdict=_verdict(run, judged._replace(made=made)),
        events=run.events,
        log_tail=run.log_tail,
        gpu_hour_price=settings.gpu_hour_price,
        problems=(*run.problems, *of_settings, *lost),
    )
    return Explained(run, judged, diagnosis)


class _Judgement(NamedTuple):
    """What the rules found in a run, before anybody asks why."""

    signals: Signals
    asked: list[Asked]
    outcomes: dict[str, Outcome]
    kept: list[Finding]
    made: tuple[Incident, ...]


def _judgement(
    run: Run, rules: Iterable[Asked] | None, settings: Settings, *, preview: bool
) -> _Judgement:
    signals = Signals(run)
    trial = preview or settings.preview
    asked = [rule for rule in settings.rules(rules) if trial or not rule.preview]
    outcomes = settled({rule.slug: examine(rule, run, signals) for rule in asked})
    findings = [one for outcome in outcomes.values() for one in outcome.findings]
    findings = [settings.lowered(one, run.name) for one in incidents.louder(findings)]
    findings = [_calibrated(one) if one.rule in CALIBRATED else one for one in findings]
    covered = max(run.last_step - run.first_step, 1)
    kept, dropped = incidents.merged(findings, covered)
    for slug, reason in dropped.items():
        outcomes[slug] = Outcome("passed", reason)
    outcomes |= _until_lost(asked, outcomes, kept, run.last_step - 0.1 * covered)
    kept = incidents.consistent(kept, {one.title: outcomes[one.slug].status for one in asked})
    made = incidents.incidents(kept, covered, _slack(signals))
    return _Judgement(signals, asked, outcomes, kept, made)


def _explained(
    run: Run, signals: Signals, made: tuple[Incident, ...]
) -> tuple[tuple[Incident, ...], tuple[Domino, ...]]:
    """Return the incidents with their causes, and the story of the gravest."""
    if not made:
        return (), ()
    from runlens import causes

    return causes.explained(run, signals, made)


def _named(run: Run, signals: Signals, made: tuple[Incident, ...]) -> tuple[Incident, ...]:
    """Return the incidents with fixes as the run names its settings."""
    if not made:
        return ()
    from runlens import proposals

    return proposals.named(run, signals, made)


def _first_steps(
    run: Run, signals: Signals, made: tuple[Incident, ...], ranked: tuple[Cause, ...]
) -> Advice:
    """Return what to do first: nothing where nothing is loud."""
    if all(one.severity == "info" for one in made):
        return Advice()
    from runlens import advice

    return advice.first_steps(run, signals, made, ranked)


def _verdict(run: Run, judged: _Judgement) -> Verdict:
    holding = {rule.slug for rule in judged.asked if not rule.tasks or run.task in rule.tasks}
    made = _judged(judged.made, judged.asked)
    return verdict.of(run, judged.signals, made, judged.outcomes, holding)


@np.errstate(all="ignore")
def verdict_of(run: Run, settings: Settings | None = None) -> Verdict:
    """Return the verdict alone, in a third of the time of a diagnosis: of hundreds of runs."""
    return _verdict(run, _judgement(run, None, settings or Settings(), preview=False))


def _calibrated(finding: Finding) -> Finding:
    """Give a finding the share of findings as sure as this one that are right."""
    value = round(calibrated(finding.confidence.value), 2)
    return replace(finding, confidence=finding.confidence._replace(value=value))


def settled(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Let each finding that yields to another rule pass where that rule found its own.

    Of two that yield to each other both stand: neither may be silent because of the other. A
    warning yields to no info, or nothing would be said aloud.
    """
    sure = {
        slug: any(finding.severity != "info" for finding in one.findings)
        for slug, one in outcomes.items()
        if one.status == "found" and not one.yields_to
    }

    def silent(outcome: Outcome) -> bool:
        aloud = any(finding.severity != "info" for finding in outcome.findings)
        return any(slug in sure and sure[slug] >= aloud for slug in outcome.yields_to)

    return {
        slug: outcome._replace(status="passed", findings=()) if silent(outcome) else outcome
        for slug, outcome in outcomes.items()
    }


def _part(
    work: Callable[[], Made], nothing: Callable[[], Made], what: str, lost: list[Problem]
) -> Made:
    """Return one part of the report; nothing where it fails, which is a problem."""

    def failed(told: str) -> Made:
        lost.append(Problem("the report", f"could not be completed ({told})", what))
        return nothing()

    return survived(work, failed)


def _until_lost(
    asked: list[Asked], outcomes: dict[str, Outcome], found: list[Finding], late: float
) -> dict[str, Outcome]:
    """Return as unmet what passed only because the loss became NaN before step `late`."""
    lost = [one.begins for one in found if one.rule in NAN and one.end is None]
    if not lost or min(lost) >= late:
        return {}
    norm = any(one.rule == "nan-grad" and one.begins <= min(lost) for one in found)
    which = "loss or the gradient norm" if norm else "loss"
    told = f"the {which} was not finite from step {step(min(lost))} on; before it: "
    curves = NAN | {rule.slug for rule in asked if rule.family in OF_THE_LOSS}
    return {
        slug: unmet(told + outcome.reason)
        for slug, outcome in outcomes.items()
        if slug in curves and outcome.status == "passed"
    }


def _judged(made: tuple[Incident, ...], asked: list[Asked]) -> tuple[Incident, ...]:
    """Leave out what only advises: odd settings and missing metrics are no fault of a run."""
    advice = {rule.slug for rule in asked if rule.family in ADVICE}
    return tuple(one for one in made if any(f.rule not in advice for f in one.findings))


def examine(rule: Asked, run: Run, signals: Signals) -> Outcome:
    """Ask one rule. What it needs and lacks is `unmet`; what it throws is `error`."""
    try:
        return _examined(rule, run, signals)
    except Exception as error:  # noqa: BLE001 - a broken rule must not cost the report
        faults.keep(error)
        leave_out = f"ignore = ['{rule.slug}'] in the settings leaves it out"
        return Outcome("error", f"{faults.words(error)}; {leave_out}")


def _examined(rule: Asked, run: Run, signals: Signals) -> Outcome:
    if rule.tasks and run.task not in rule.tasks:
        part = signals.keep("cross-entropy", lambda: _cross_entropy(run))
        if part and cross_entropy.judges(rule):
            return cross_entropy.told(examine(rule, *part), rule.slug)
        return unmet(f"holds for {', '.join(sorted(rule.tasks))}; this run is {run.task}")
    missing = [
        need for need in rule.needs if not any(run.logged(metric) for metric in need.split("|"))
    ]
    if missing:
        return unmet(UNLOGGED + ", ".join(need.replace("|", " or ") for need in missing))
    with np.errstate(all="ignore"):
        whole = loaded(rule)
        outcome = whole.check(run, signals, whole.limits)
    return outcome._replace(findings=tuple(_completed(one, rule, run) for one in outcome.findings))


def _cross_entropy(run: Run) -> tuple[Run, Signals] | None:
    part = cross_entropy.of(run)
    return (part, Signals(part)) if part else None


def _completed(finding: Finding, rule: Asked, run: Run) -> Finding:
    """Name the rule, and give the moments their epoch and time; advice harms no run."""
    return replace(
        finding,
        rule=rule.slug,
        harmless=finding.harmless or rule.family in ADVICE,
        onset=_dated(finding.onset, finding.metric, run),
        end=finding.end and _dated(finding.end, finding.metric, run),
    )


def _dated(moment: Moment, metric: str, run: Run) -> Moment:
    if moment.step is None:
        return moment
    at = float(moment.step)
    epoch, time = moment.epoch, moment.time
    for name in (metric, "train_loss", "learning_rate", "reward", "eval_loss"):
        curve = run.curve(name)
        if epoch is None and (over := _value_at(curve, at, curve.epoch)) is not None:
            epoch = over - curve.counts_from_0  # as the log calls it
        time = _value_at(curve, at, curve.time) if time is None else time
    return Moment(at, epoch, time)


def _value_at(curve: Curve, at: float, column: FloatArray) -> float | None:
    known = np.isfinite(column)
    if not known.any():
        return None
    steps = curve.step[known]
    first, last = float(steps[0]), float(steps[-1])
    if at < first - (last - first) or at > 2 * last - first + 1:
        return None
    return round(float(np.interp(at, steps, column[known])), 6)


def _slack(signals: Signals) -> float:
    known = [name for name in ("train_loss", "reward", "grad_norm") if len(signals.curve(name)) > 1]
    return float(max((signals.interval(name) for name in known), default=1))


def _curves(run: Run, findings: list[Finding]) -> dict[str, ThinCurve]:
    cited = {
        float(at)
        for finding in findings
        for at in (
            finding.onset.step,
            finding.end.step if finding.end else None,
            *(item.step for item in finding.evidence),
            *(mark.step for mark in finding.chart.marks),
        )
        if at is not None
    }
    names = sorted(run.history.metrics, key=lambda name: (base(name) not in NAMES, name))
    return {name: _thin(run.curve(name), cited, name) for name in names[:MOST_CURVES]}


def _thin(curve: Curve, cited: set[float], name: str) -> ThinCurve:
    unit = NAMES[base(name)].unit if base(name) in NAMES else ""
    kept = thinned(curve, cited)
    return ThinCurve(
        tuple(kept.step.astype(float).tolist()),
        tuple(kept.value.tolist()),
        points=len(curve),
        unit=unit,
    )
