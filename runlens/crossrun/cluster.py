"""Failure cluster: one fault comes again and again, and goes with one setting.

What is seen
    Several runs broke by the same lead finding; of the runs with one value of a setting most did,
    of the others few or none: "7 of 9 runs with fp16 ended in NaN; 0 of 20 with bf16".
Why it matters
    What no single run can tell: which setting to blame.
Looks alike
    A job that breaks more often than others has a model and data of its own: runs are compared
    within their group alone. Settings that change together cannot be told apart: all of them are
    named. Many settings are tried at once, so that some goes with any fault by chance: the false
    discovery rate over all of them is controlled. A setting that only went with the fault may not
    be its cause: the runs were not drawn by lot. Runs stopped by hand or from outside go with
    whatever somebody was tired of: they make no cluster.
Limits
    fewest: runs with the fault and the setting; and runs on the other side. rate: share with the
    fault against that of the other runs, at least. q: false discovery rate by Benjamini and
    Hochberg (1995), J. R. Stat. Soc. B 57, of one-sided exact tests within groups (Mantel and
    Haenszel 1959), over all values of all settings and all cuts of numeric ones. most_cuts: cuts
    of one numeric setting.
Fixes
    Change that setting back; prove it with one run that differs in it alone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from runlens import cost
from runlens.crossrun.chance import STOPPED, alike, discovered, shared
from runlens.crossrun.groups import named, shown
from runlens.crossrun.rule import (
    CrossFinding,
    CrossRule,
    Rows,
    lead,
    title_of,
    varying,
)
from runlens.diagnosis import SEVERITIES
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.nights import RunRow
from runlens.records import NamedTuple
from runlens.run import Setting
from runlens.sources.environment import named_by
from runlens.wording import number, percent


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 3
    rate: float = 2.0
    q: float = 0.01
    most_cuts: int = 20


class Blame(NamedTuple):
    """Runs with a setting against all others: how many of each have the fault."""

    setting: str  # "fp16 = True", "learning_rate >= 1e-3"
    other: str  # "fp16 = False", "learning_rate < 1e-3", "others"
    runs: tuple[int, ...]  # indices of the runs with the setting and the fault
    bad: int
    all: int
    others_bad: int
    others: int
    p: float = 1.0


def check(rows: Rows, limits: Limits, _now: float) -> tuple[CrossFinding, ...]:
    """Look at the runs of each source and task; a fault of too few runs is no cluster."""
    scopes: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in rows:
        if row.health != "unknown" and row.state != "running":
            scopes[row.project, row.task].append(row)
    return tuple(
        finding
        for (project, task), some in sorted(scopes.items())
        for finding in _of_scope(project, task, some, limits)
    )


def _of_scope(
    project: str, task: str, rows: list[RunRow], limits: Limits
) -> Iterator[CrossFinding]:
    leads = [lead(row) for row in rows]
    faults: dict[str, BoolArray] = {}
    for slug in sorted({one.rule for one in leads if one} - STOPPED):
        has = np.array([one is not None and one.rule == slug for one in leads])
        if limits.fewest <= has.sum():
            faults[slug] = has
    if not faults or len(rows) < 2 * limits.fewest:
        return
    strata = alike(row.group or row.job for row in rows)
    tests = [
        (slug, blame)
        for key, column in varying(rows).items()
        if not named_by(key)  # of where it ran: see `fleet`
        for setting, other, mask in _splits(key, column, limits)
        for slug, has in faults.items()
        if (blame := _blame(setting, other, mask, has, strata)) is not None
    ]
    if not tests:
        return
    limit = discovered(np.array([blame.p for _, blame in tests]), limits.q)
    for slug in faults:
        mine = [blame for name, blame in tests if name == slug and blame.p <= limit]
        mine = [blame for blame in mine if _clear(blame, limits)]
        if mine:
            yield _finding(project, task, slug, mine, rows, limits)


def _splits(
    key: str, column: Sequence[Setting], limits: Limits
) -> Iterator[tuple[str, str, BoolArray]]:
    """Return (setting, the others, which runs have it) of one setting.

    Each value against all others; numbers of more than two values are also cut in two.
    """
    numeric = [one for one in column if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numeric) == len(column):
        level = np.array(numeric, dtype=float)
        for cut in _cuts(np.unique(level), limits.most_cuts):
            above = level >= cut
            size = number(float(cut))
            yield f"{key} >= {size}", f"{key} < {size}", above
            yield f"{key} < {size}", f"{key} >= {size}", ~above
        return
    texts = [repr(one) for one in column]
    values = sorted(dict(zip(texts, column, strict=True)).items())
    counted = Counter(texts)
    for text, value in values:
        if limits.fewest <= counted[text] <= len(column) - limits.fewest:
            mask = np.array([one == text for one in texts])
            other = next((v for t, v in values if t != text), None)
            others = f"{key} = {shown(other)}" if len(values) == 2 else f"another {key}"  # noqa: PLR2004 - one other value
            yield f"{key} = {shown(value)}", others, mask


def _cuts(values: FloatArray, most: int) -> FloatArray:
    """Return at most `most` values, evenly over all but the lowest."""
    rest = values[1:][np.isfinite(values[1:])]
    if len(rest) <= most:
        return rest
    return rest[np.unique(np.linspace(0, len(rest) - 1, most).astype(np.int64))]


def _blame(
    setting: str, other: str, mask: BoolArray, has: BoolArray, strata: IntArray
) -> Blame | None:
    """Test one setting; None where the fault is no more frequent with it."""
    with_it, bad = int(mask.sum()), int((mask & has).sum())
    others, others_bad = len(mask) - with_it, int((~mask & has).sum())
    if not with_it or not others or bad * others <= others_bad * with_it:
        return None
    p = shared(mask, has, strata)
    runs = tuple(np.flatnonzero(mask & has).tolist())
    return Blame(setting, other, runs, bad, with_it, others_bad, others, p)


def _clear(blame: Blame, limits: Limits) -> bool:
    if blame.bad < limits.fewest or blame.others < limits.fewest:
        return False
    return blame.bad / blame.all > limits.rate * blame.others_bad / blame.others


def _finding(
    project: str, task: str, slug: str, blames: list[Blame], rows: list[RunRow], limits: Limits
) -> CrossFinding:
    blames.sort(key=lambda one: (one.p, -one.bad, one.setting))
    best = blames[0]
    same = [one for one in blames[1:] if one.runs == best.runs and one.all == best.all]
    hit = [rows[at] for at in best.runs]
    hit.sort(key=lambda row: (-(cost.wasted(row) or 0.0), row.key))
    found = [one for row in hit if (one := lead(row))]
    hours = cost.lost(hit)
    loudest = min((one.severity for one in found), key=SEVERITIES.index)
    together = f" Not to be told apart from it: {named(one.setting for one in same)}."
    groups = sorted({row.group or row.job or task for row in hit})
    return CrossFinding(
        "cluster",
        "warning",
        project,
        groups[0] if len(groups) == 1 else task,
        f"{best.bad} of {best.all} runs with {best.setting}: {title_of(slug)};"
        f" {best.others_bad} of {best.others} with {best.other}.",
        tuple(row.key for row in hit),
        f"{hit[0].name}: {found[0].title}",
        f"Rate {percent(best.bad / best.all)} against {percent(best.others_bad / best.others)}"
        f" (limit {number(limits.rate)} times), p {number(best.p, 2)} by an exact test (false"
        f" discovery rate {percent(limits.q)}); the fault is {loudest}."
        + (together if same else ""),
        hours.gpu_hours,
        hours.untimed,
        about=slug,
        standing=False,
    )


RULE = CrossRule(
    slug="cluster",
    title="A fault that goes with one setting",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
)
