"""Fleet cause: runs that break go with a node, a GPU, an image, a commit, a library or a driver.

What is seen
    Of the runs on one node most broke, of those elsewhere few: "6 of 7 runs on node-17 broke; 3 of
    210 elsewhere". The same of a GPU by its serial number, a kind of GPU, a driver, an image, a git
    commit, a version of a library. A node or GPU that was good and went bad is told with the day:
    "9 of 9 runs on node-17 broke since 2026-03-07; 2 of 90 elsewhere".
Why it matters
    No run tells it by itself, and each of their owners looks for a fault of their own.
Looks alike
    A job that always breaks and always gets the same node; a recipe that was bad from the day on
    which the image changed; a night on which the file system was gone, everywhere. So runs are
    compared with their like alone: nodes and GPUs among runs of one job that began on one day,
    software among runs of one recipe, and there without the day on which most of them broke. Where
    a single job broke, it must have run elsewhere too. A recipe that broke wherever it ran tells
    nothing of a machine, and its runs are not counted. Many values are tried at once: the false
    discovery rate over all of them is controlled, and over all days on which a machine may have
    gone bad. What always goes together cannot be told apart: all of it is named. Runs stopped by
    hand tell nothing. It is over when so many runs in a row are without a fault that chance does
    not explain it.
Limits
    fewest: faulty runs with it, and runs without it. rate: share of faulty ones against that of the
    others, at least. q: false discovery rate by Benjamini and Hochberg (1995), of exact stratified
    tests (Mantel and Haenszel 1959). days: a run that began earlier does not count. Measured on
    drawn fleets with known causes, and with none, by benchmarks/fleets.py.
Fixes
    Take the node out and test it; go back to the last image, commit or version that worked; prove
    it with one of the runs that broke, elsewhere.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from datetime import UTC, datetime
from functools import cached_property

import numpy as np
from msgspec import Struct

from runlens import cost
from runlens.crossrun.chance import (
    BY_CHANCE,
    STOPPED,
    alike,
    discovered,
    none_since,
    numbers,
    shared,
)
from runlens.crossrun.groups import named, shortened, signature
from runlens.crossrun.rule import CrossFinding, CrossRule, Rows, lead, title_of
from runlens.history import BoolArray, IntArray
from runlens.nights import RunRow
from runlens.records import NamedTuple
from runlens.sources import environment as env
from runlens.wording import count, number, percent

DAY = 86_400.0
ANY = "broke"  # the fault of which every lead is one
MACHINE = frozenset({env.NODE, env.SERIAL, env.GPU})  # compared among runs of one day too
GOES_BAD = frozenset({env.NODE, env.SERIAL})  # one day; a version is bad from its first run on
SAID = {
    env.NODE: ("on {}", "elsewhere"),
    env.SERIAL: ("on the GPU {}", "on others"),
    env.GPU: ("on {}", "on other GPUs"),
    env.IMAGE: ("with the image {}", "with others"),
    env.COMMIT: ("at commit {}", "at others"),
    env.DRIVER: ("with driver {}", "with others"),
    env.CUDA: ("with CUDA {}", "with others"),
}
SHORT = 10
CHANCE = 3.0  # natural logarithm of 20


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 3
    rate: float = 2.0
    q: float = 0.01
    days: float = 30.0


class Shared(NamedTuple):
    """What runs may share: ``node`` and ``node-17``."""

    name: str
    value: str

    @property
    def said(self) -> tuple[str, str]:
        """The words for runs with it, and for the others."""
        short = self.value[:SHORT] if self.name == env.COMMIT else shortened(self.value)
        these, others = SAID.get(self.name, (f"with {self.name} {{}}", "with others"))
        return these.format(short), others


class _Test(NamedTuple):
    """Runs that share something, and a fault."""

    shared: tuple[Shared, ...]  # what all of these runs have, and no other run
    fault: str  # `ANY`, or the slug of a rule
    has: BoolArray  # by run, whether it is one of them
    among: BoolArray  # whether it is compared
    since: float = -math.inf  # the start of the first of them, where those before it were good
    ways: int = 1  # days that it could have been
    p: float = 1.0


def check(rows: Rows, limits: Limits, now: float) -> tuple[CrossFinding, ...]:
    """Look at the runs of each source."""
    sources: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        ended = row.environment and row.health != "unknown" and row.state != "running"
        if ended and row.started is not None and now - row.started <= limits.days * DAY:
            sources[row.project].append(row)
    return tuple(
        finding
        for project, some in sorted(sources.items())
        for finding in _Fleet(some, limits).findings(project)
    )


class _Fleet:
    """The runs of one source, and what is asked of them."""

    def __init__(self, rows: list[RunRow], limits: Limits) -> None:
        leads = [(row, one.rule if (one := lead(row)) else "") for row in rows]
        known = [(row, slug) for row, slug in leads if slug not in STOPPED]
        self.rows, self.limits = [row for row, _ in known], limits
        slugs = np.array([slug for _, slug in known])
        self.faults = {ANY: slugs != ""} | {slug: slugs == slug for slug in set(slugs) - {""}}
        self.started = np.array([row.started for row in self.rows])
        self.day = (self.started // DAY).astype(np.int64)
        self.job = numbers(row.setup for row in self.rows)

    def findings(self, project: str) -> Iterator[CrossFinding]:
        """Yield what goes with a fault, the least likely by chance first.

        The runs of one that is found are no evidence for another.
        """
        tests = list(self._tests())
        limit = discovered(np.array([one.p for one in tests]), self.limits.q)
        left = [one for one in tests if one.p <= limit and self._clear(one)]
        told = np.zeros(len(self.rows), dtype=bool)
        while left:
            best = min(left, key=lambda one: (one.p, one.fault != ANY, one.shared))
            dated = [one for one in left if one.shared == best.shared and one.ways > 1]
            best = min(dated, key=lambda one: one.p, default=best)
            if not self._over(best):
                yield self._finding(project, best)
            told |= best.has
            others = (one for one in left if one.shared != best.shared)
            again = (self._tested(one._replace(has=one.has & ~told), ~told) for one in others)
            left = [one for one in again if one.p <= limit and self._clear(one)]

    def _tests(self) -> Iterator[_Test]:
        """Yield a test of each value with each fault; p is 1 where too few runs have both."""
        having: dict[Shared, list[int]] = defaultdict(list)
        for at, row in enumerate(self.rows):
            for name, values in row.environment.items():
                for value in values:
                    having[Shared(name, value)].append(at)
        tied: dict[tuple[int, ...], list[Shared]] = defaultdict(list)
        for one, runs in having.items():
            tied[tuple(runs)].append(one)
        few, everywhere = self.limits.fewest, np.ones(len(self.rows), dtype=bool)
        for places, some in tied.items():
            if few <= len(places) <= len(self.rows) - few:
                has = np.zeros(len(self.rows), dtype=bool)
                has[list(places)] = True
                named_first = tuple(sorted(some, key=_first))
                for fault, bad in self.faults.items():
                    if bad.sum() >= few:
                        among = self._telling(fault, has)
                        test = _Test(named_first, fault, has & among, among)
                        yield self._tested(test, everywhere)
                        if late := self._went_bad(test):
                            yield self._tested(late, everywhere)

    def _telling(self, fault: str, has: BoolArray) -> BoolArray:
        """Return by run whether its recipe was well somewhere, or ran nowhere else."""
        well, recipes = self._well[fault], self._recipes
        told = well.copy()
        told[has & ~well] = ~np.isin(recipes[has & ~well], recipes[~has & ~well])
        return told

    @cached_property
    def _well(self) -> dict[str, BoolArray]:
        """Return by fault and run whether some run of its recipe is without it."""
        return {
            fault: (np.bincount(self._recipes, weights=~bad) > 0)[self._recipes]
            for fault, bad in self.faults.items()
        }

    def _went_bad(self, test: _Test) -> _Test | None:
        """Return the test of the runs since a machine went bad, where those before were better.

        The day is the likeliest (two rates in place of one). By chance one is as likely as that
        in 5 % of machines: the gain of the logarithm is more than 3, beyond that of the choice.
        """
        if test.shared[0].name not in GOES_BAD:
            return None
        with_it = np.flatnonzero(test.has)
        with_it = with_it[np.argsort(self.started[with_it], kind="stable")]
        bad = self.faults[test.fault][with_it]
        if bad.sum() < self.limits.fewest:
            return None
        hits = np.concatenate([[0], np.cumsum(bad)])
        starts = [int(at) for at in np.flatnonzero(bad) if at]
        whole = _likelihood(int(hits[-1]), len(bad))
        gains = [
            _likelihood(int(hits[at]), at)
            + _likelihood(int(hits[-1] - hits[at]), len(bad) - at)
            - whole
            for at in starts
        ]
        best = int(np.argmax(gains)) if gains else 0
        if not gains or gains[best] <= CHANCE + math.log(len(bad)):
            return None
        since = float(self.started[with_it[starts[best]]])
        late = test.has & (self.started >= since)
        return test._replace(has=late, since=since, ways=len(bad))

    def _tested(self, test: _Test, among: BoolArray) -> _Test:
        """Return a test with its chance among some runs; of software without its worst day too."""
        hit = test.has & self.faults[test.fault]
        among = among & test.among
        jobs = np.unique(self.job[hit])
        elsewhere = len(jobs) > 1 or np.isin(self.job[among & ~test.has], jobs).any()
        if hit.sum() < self.limits.fewest or not elsewhere:
            return test._replace(p=1.0)
        p = self._chance(test, among, self._recipes)
        if test.shared[0].name in MACHINE:
            p = max(p, self._chance(test, among, self._days))
            return test._replace(p=min(1.0, p * test.ways))
        days, many = np.unique(self.day[hit], return_counts=True)
        calm = among & (self.day != days[many.argmax()])
        return test._replace(p=max(p, self._chance(test, calm, self._recipes)))

    def _chance(self, test: _Test, among: BoolArray, strata: IntArray) -> float:
        bad = self.faults[test.fault]
        return shared(test.has[among], bad[among], strata[among]) if among.any() else 1.0

    @cached_property
    def _days(self) -> IntArray:
        """The runs that began on one day."""
        made: IntArray = self.day - self.day.min()
        return made

    @cached_property
    def _recipes(self) -> IntArray:
        """The runs of one job and recipe; those that have no like are compared together."""
        return alike((row.setup, _recipe(row)) for row in self.rows)

    def _others(self, test: _Test) -> BoolArray:
        """Return by run whether it is compared: in the same time, without it."""
        others: BoolArray = test.among & ~test.has & (self.started >= test.since)
        return others

    def _clear(self, test: _Test) -> bool:
        bad, limits, compared = self.faults[test.fault], self.limits, self._others(test)
        with_it, others = int(test.has.sum()), int(compared.sum())
        hit = int((test.has & bad).sum())
        if hit < limits.fewest or others < limits.fewest:
            return False
        return hit / with_it > limits.rate * int((compared & bad).sum()) / others

    def _over(self, test: _Test) -> bool:
        """Whether the latest runs with it are well, and chance does not explain it."""
        hit = test.has & self.faults[test.fault]
        since = int((test.has & (self.started > self.started[hit].max())).sum())
        return none_since(int(hit.sum()), int(test.has.sum()) - since, since) <= BY_CHANCE

    def _finding(self, project: str, test: _Test) -> CrossFinding:
        bad, (best, *same) = self.faults[test.fault], test.shared
        hit = [self.rows[at] for at in np.flatnonzero(test.has & bad)]
        compared = self._others(test)
        with_it, others = int(test.has.sum()), int(compared.sum())
        others_bad = int((compared & bad).sum())
        these, elsewhere = best.said
        since = (
            f" since {datetime.fromtimestamp(test.since, UTC):%Y-%m-%d}" if test.ways > 1 else ""
        )
        fault = "" if test.fault == ANY else f" ({title_of(test.fault)})"
        leads = {row.key: one for row in hit if (one := lead(row))}
        kinds = Counter(one.rule for one in leads.values()).most_common()
        usual = kinds[0][0]  # its runs come first: the first one is quoted
        hit.sort(key=lambda r: (leads[r.key].rule != usual, -(cost.wasted(r) or 0.0), r.key))
        faults = named(f"{title_of(slug)} {many}" for slug, many in kinds)
        like = "recipe and of one day" if best.name in MACHINE else "recipe"
        together = f" Not to be told apart from it: {named(one.said[0] for one in same)}."
        hours = cost.lost(hit)
        return CrossFinding(
            "fleet",
            "critical" if any(one.alarm == "critical" for one in leads.values()) else "warning",
            project,
            f"{best.name} {shortened(best.value)}",
            f"{len(hit)} of {count(with_it, 'run')} {these} broke{since}{fault};"
            f" {others_bad} of {others} {elsewhere}.",
            tuple(row.key for row in hit),
            f"{hit[0].name}: {leads[hit[0].key].title}",
            f"{percent(len(hit) / with_it)} against {percent(others_bad / others)}, p"
            f" {number(test.p, 2)} by an exact test among runs of one {like} (false discovery rate"
            f" {percent(self.limits.q)}). Faults: {faults}." + (together if same else ""),
            hours.gpu_hours,
            hours.untimed,
            about=ANY,  # a node is one issue, whichever fault it goes with best tonight
        )


def _likelihood(hits: int, runs: int) -> float:
    """Return the logarithm of the greatest likelihood of so many faulty ones of some runs."""
    parts = ((some, some / runs) for some in (hits, runs - hits) if some)
    return sum(some * math.log(share) for some, share in parts)


def _first(shared: Shared) -> tuple[int, Shared]:
    """Return the rank of things that always go together: what is easiest to act upon first."""
    order = list(SAID)
    return (order.index(shared.name) if shared.name in SAID else len(order)), shared


def _recipe(row: RunRow) -> Hashable:
    return signature({key: one for key, one in row.config.items() if not env.named_by(key)})


RULE = CrossRule(
    slug="fleet",
    title="Crashes tied to a node, image or version",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
)
