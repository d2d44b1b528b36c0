"""Whether rules judge the cases that were drawn for them as they were drawn."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from runlens.diagnosis import SEVERITIES, Finding, Outcome
from runlens.engine import examine, settled
from runlens.records import NamedTuple
from runlens.rules import LISTED
from runlens.rules.rule import Asked, Case, Rule
from runlens.run import Run
from runlens.signals import Signals


class Misjudged(NamedTuple):
    """A drawn case that a rule judges otherwise than it was drawn."""

    case: str
    why: str
    at: str = ""  # "file:line" of the rule, where it raised


def misjudged(rule: Rule[Any]) -> list[Misjudged]:
    """Return the drawn cases that a rule judges otherwise than they were drawn."""
    judged = (judged_otherwise(rule, case) for case in (*rule.bad, *rule.good))
    return [wrong for wrong in judged if wrong]


def judged_otherwise(rule: Rule[Any], case: Case) -> Misjudged | None:
    """Say how the outcome of a drawn case differs from what was drawn; None where it does not."""
    try:
        run = case.run()
    except ValueError as error:
        return Misjudged(case.name, f"cannot be drawn: {error}")
    outcome = _beside_others(rule, run)
    if outcome.status == "error":
        return Misjudged(case.name, *raised(rule, run))
    status = "found" if case in rule.bad else "passed"
    if outcome.status != status:
        told = outcome.findings[0].title if outcome.findings else outcome.reason
        return Misjudged(case.name, f"{outcome.status}, not {status}: {told}")
    why = "" if outcome.findings or outcome.reason else "passed without a reason; say which number"
    for first in outcome.findings[:1]:
        at = first.onset.step
        if case.onset and (at is None or not case.onset[0] <= at <= case.onset[1]):
            since = "without a step" if at is None else f"from step {at:g}"
            why = "found {}, not between {:g} and {:g}".format(since, *case.onset)
        elif first.severity != (case.severity or first.severity):
            why = f"{first.severity}, not {case.severity}"
    return Misjudged(case.name, why) if why else None


def _beside_others(rule: Rule[Any], run: Run) -> Outcome:
    """Ask a rule, and those that it yields to."""
    signals = Signals(run)
    outcome = examine(rule, run, signals)
    others = [other for other in LISTED if other.slug in outcome.yields_to]
    asked = {other.slug: examine(other, run, signals) for other in others}
    return settled({rule.slug: outcome, **asked})[rule.slug]


def raised(rule: Rule[Any], run: Run) -> tuple[str, str]:
    """Return what a rule raises, and the last line of its own file that it reached before."""
    check = rule.check.args[0] if isinstance(rule.check, partial) else rule.check
    code = getattr(check, "__code__", None)
    try:
        with np.errstate(all="ignore"):
            rule.check(run, Signals(run), rule.limits)
    except Exception as error:  # noqa: BLE001 - what it raises is what is asked for
        said = f"{type(error).__name__}: {error}"
        if not code:
            return said, ""
        from traceback import walk_tb

        trace = walk_tb(error.__traceback__)
        lines = [line for frame, line in trace if frame.f_code.co_filename == code.co_filename]
        return said, f"{code.co_filename}:{lines[-1] if lines else code.co_firstlineno}"
    return "raised before, and not again", ""


def found_as_well(case: Case, rules: Iterable[Asked]) -> list[Finding]:
    """Return what other rules find in a drawn case, loudest first, one finding each.

    A drawing holds little but its pattern, so rules on what is not logged are not asked.
    """
    run = case.run()
    signals = Signals(run)
    outcomes = [examine(rule, run, signals) for rule in rules if rule.family != "OBS"]
    findings = [outcome.findings[0] for outcome in outcomes if outcome.findings]
    return sorted(findings, key=lambda one: SEVERITIES.index(one.severity))
