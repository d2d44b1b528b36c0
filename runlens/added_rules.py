"""Rules that do not come with RunLens: of installed packages, and of files that settings name.

A rule that cannot be used is left out and told as a problem; one that raises, or returns what is
no outcome, ends as `error` in the report. Files are code and are run: `runlens.settings` decides
which are trusted.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from functools import lru_cache, partial
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, get_args
from zlib import crc32

import msgspec
import numpy as np

from runlens.diagnosis import SEVERITIES, Finding, Outcome
from runlens.patterns import lazy_re
from runlens.plugins import ASKED, LONGEST, attempted, points, said, time_limit
from runlens.records import NamedTuple
from runlens.rule_files import LOST
from runlens.rules import LISTED
from runlens.rules.rule import FOLDERS, Rule, values
from runlens.run import Problem, Run, Task
from runlens.signals import Signals

SLUG = lazy_re(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Added(msgspec.Struct, frozen=True):
    """Rules that were added, where each comes from by slug, and what could not be used."""

    rules: tuple[Rule[Any], ...] = ()
    origins: Mapping[str, str] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def added(files: Iterable[str] = ()) -> Added:
    """Return the rules of installed packages and of these files, each loaded once a process."""
    return _added(tuple(sys.path), tuple((file, _stamp(file)) for file in files))


class _Offered(NamedTuple):
    """What a package or a file offers as a rule, and whose it is."""

    what: object
    origin: str


@lru_cache(maxsize=16)
def _added(places: tuple[str, ...], files: tuple[tuple[str, int], ...]) -> Added:
    del places  # part of what the cache knows it by
    theirs = [*_of_packages(), *_of_files(file for file, _ in files)]
    taken = dict.fromkeys(_our_slugs(), "RunLens") if theirs else {}
    rules: list[Rule[Any]] = []
    origins: dict[str, str] = {}
    problems: list[Problem] = []
    for offered in theirs:
        if isinstance(offered, Problem):
            problems.append(offered)
            continue
        rule, origin = offered
        if (fault := _unusable(rule)) or not isinstance(rule, Rule):
            problems.append(Problem(origin, f"offers a rule that cannot be used: {fault}", LOST))
        elif rule.slug in taken:
            text = f"offers the rule {rule.slug}, which {taken[rule.slug]} has already"
            problems.append(Problem(origin, text, "the later one"))
        else:
            taken[rule.slug] = origins[rule.slug] = origin
            rules.append(replace(rule, check=partial(_checked, rule.check)))
    return Added(tuple(rules), origins, tuple(problems))


def _our_slugs() -> list[str]:
    from runlens.crossrun import SLUGS

    return [*(rule.slug for rule in LISTED), *SLUGS]


def _of_packages() -> Iterator[_Offered | Problem]:
    for point in points("runlens.rules"):
        what, problem = attempted(point.load, point.origin, LOST)
        yield problem or _Offered(what, point.origin)


def _of_files(files: Iterable[str]) -> Iterator[_Offered | Problem]:
    """Load each file; what it offers is named RULE, or RULES for several."""
    for file in files:
        module, problem = attempted(partial(_module, file), file, LOST)
        offered = getattr(module, "RULES", None) or getattr(module, "RULE", None)
        if problem:
            yield problem
        elif offered is None:
            yield Problem(file, "has neither RULE nor RULES", LOST)
        else:
            several = offered if isinstance(offered, list | tuple) else [offered]
            yield from (_Offered(one, file) for one in several)


def _module(file: str) -> ModuleType:
    """Run a file as a module of a name that no other has."""
    name = f"runlens_rules_{crc32(file.encode()):08x}_{Path(file).stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("is no Python file; its name must end in .py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def _stamp(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0


def _unusable(rule: object) -> str:
    """Return why a rule cannot be used; empty where it can. Its fields may hold anything."""
    if not isinstance(rule, Rule):
        return f"{_kind(rule)} is no Rule"
    try:
        return _fault(rule)
    except Exception as error:  # noqa: BLE001 - theirs, not ours
        return said(error)


def _fault(rule: Rule[Any]) -> str:
    if not isinstance(rule.slug, str) or not SLUG.fullmatch(rule.slug):
        return f"its slug is {rule.slug!r}; use lower-case-words-like-these"
    if rule.family not in FOLDERS:
        return f"family of {rule.slug} is {rule.family!r}; use one of {', '.join(FOLDERS)}"
    if rule.severity not in SEVERITIES:
        return f"severity of {rule.slug} is {rule.severity!r}; use {', '.join(SEVERITIES)}"
    if not isinstance(rule.page, str) or not isinstance(rule.title, str):
        return f"{rule.slug} needs a title and a page (the docstring of its module)"
    known = is_dataclass(rule.limits) or isinstance(rule.limits, msgspec.Struct)
    if not known or isinstance(rule.limits, type):
        return f"limits of {rule.slug} are {_kind(rule.limits)}; they are a dataclass, Limits()"
    for name, value in values(rule.limits).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"limit {name} of {rule.slug} is {_kind(value)}; limits are numbers"
    if not callable(rule.check):
        return f"check of {rule.slug} is {_kind(rule.check)}; it is a function"
    if not isinstance(rule.needs, tuple) or not all(isinstance(need, str) for need in rule.needs):
        return f'needs of {rule.slug} are a tuple of metrics: ("train_loss",)'
    unknown = sorted(set(rule.tasks).difference(get_args(Task)))
    return f"task of {rule.slug} is unknown: {unknown[0]!r}" if unknown else ""


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"


def _checked(
    check: Callable[[Run, Signals, Any], Outcome], run: Run, signals: Signals, limits: object
) -> Outcome:
    """Ask a rule of others; raise TypeError or ValueError where its outcome is none."""
    try:
        with time_limit(ASKED):
            outcome = check(run, signals, limits)
    except SystemExit as error:
        raise RuntimeError(f"the rule ended the program ({error})") from None
    if not isinstance(outcome, Outcome):
        raise TypeError(f"check returned {_kind(outcome)}; return found(), passed() or unmet()")
    if (outcome.status == "found") != bool(outcome.findings):
        raise ValueError(f"the outcome is {outcome.status} with {len(outcome.findings)} findings")
    made = msgspec.convert(msgspec.to_builtins(outcome, enc_hook=_plain), Outcome)
    for finding in made.findings:
        if any(at is not None and not isfinite(at) for at in _drawn_at(finding)):
            raise ValueError(f"a step or a mark of {finding.title[:LONGEST]!r} is not finite")
    return made


def _drawn_at(finding: Finding) -> Iterator[float | None]:
    """Yield all places at which a page draws something of a finding."""
    chart = finding.chart
    yield from (finding.onset.step, finding.end.step if finding.end else None)
    yield from (chart.start, chart.end, chart.limit)
    yield from (item.step for item in finding.evidence)
    for mark in chart.marks:
        yield from (mark.step, mark.value)


def _plain(value: object) -> object:
    """Return a number of numpy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{_kind(value)} stands in a finding; use numbers and text")
