"""Which readings make up a run.

Two readings belong together when a tracker gives both one id, when they logged the same values
at the same steps, when one goes on where the other stopped, or when they lie together and do
not contradict each other. Everything else stays a run of its own.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product

from msgspec import structs

from runlens.faults import survived
from runlens.run import WHOLE_FILE, Problem
from runlens.sources.merging.candidates import ALL, Pair, candidates
from runlens.sources.merging.likeness import (
    ENOUGH,
    Content,
    Said,
    content,
    goes_on,
    other_id,
    related,
    said,
)
from runlens.sources.merging.log_places import of_one_command
from runlens.sources.merging.objective import MEASURES
from runlens.sources.reading import SourceReading

FEW = 8  # sets whose steps are compared with those of a reading that may be of each
_NEVER = frozenset((Said.NEVER,))


def grouped(readings: Iterable[SourceReading]) -> tuple[list[list[Content]], str]:
    """Return the readings of each run, in the order in which they were found.

    The text says what was not compared, where there was too much; it is empty otherwise.
    """
    contents = [
        one
        for reading in readings
        for one in survived(partial(_contents, reading), partial(_unused, reading))
    ]
    apart = [[one] for one in contents]
    return survived(lambda: _grouped(contents), lambda told: (apart, f"was not joined: {told}"))


def _contents(reading: SourceReading) -> list[Content]:
    return [content(reading)]


def _unused(reading: SourceReading, told: str) -> list[Content]:
    reading.problems.append(Problem(str(reading.path), told, WHOLE_FILE))
    return []


def _grouped(contents: Sequence[Content]) -> tuple[list[list[Content]], str]:
    measured = [one for one in contents if one.measured]
    pairs, not_compared = candidates(measured)
    groups = _Joining(measured, pairs).groups()
    for bare in (one for one in contents if not one.measured):
        home = _nearest(bare, groups) or _glued(bare, groups)
        if home is not None:
            home.append(bare)
        elif groups and bare.reading.kind == "config":
            _share(bare, groups)
        else:
            groups.append([bare])
    return groups, not_compared


class _Joining:
    """Joins readings by what pairs of them say, the surest word first."""

    def __init__(self, measured: Sequence[Content], pairs: Sequence[Pair]) -> None:
        self._measured = measured
        self._said: dict[Pair, Said] = {}
        self._against: dict[Said, dict[int, set[int]]] = {
            Said.NEVER: defaultdict(set),
            Said.OTHER: defaultdict(set),
        }
        self._set = list(range(len(measured)))  # the set that each reading is in
        self._members = {number: [number] for number in self._set}
        self._ids = {number: _id_of(one) for number, one in enumerate(measured)}
        for pair in pairs:
            self._ask(*pair)
        self._join_equals(pair for pair in pairs if self._said[pair] is Said.SAME)
        self._join_neighbours([pair for pair in pairs if self._said[pair] is Said.OPEN])

    def groups(self) -> list[list[Content]]:
        """Return the readings of each set."""
        return [[self._measured[n] for n in sorted(some)] for some in self._members.values()]

    def _ask(self, first: int, second: int) -> Said:
        pair = (first, second) if first < second else (second, first)
        if pair not in self._said:
            word = said(self._measured[pair[0]], self._measured[pair[1]])
            self._said[pair] = word
            if word in self._against:
                self._against[word][first].add(second)
                self._against[word][second].add(first)
        return self._said[pair]

    def _join_equals(self, pairs: Iterable[Pair]) -> None:
        """Join what is the same, the nearest first; a third that contradicts one of two is less.

        A launch goes on from one other: of those that it could have, from the last started.
        """
        going: set[int] = set()
        order = [(*self._continued(*pair), *pair) for pair in pairs]
        for late, _, one, other in sorted(order, key=lambda o: (-self._depth(*o[2:]), *o[1:])):
            first, second = self._set[one], self._set[other]
            if first != second and late not in going and not self._contrary(first, second, _NEVER):
                self._join(first, second)
            if late is not None and self._set[one] == self._set[other]:
                going.add(late)

    def _continued(self, first: int, second: int) -> tuple[int | None, float]:
        """Return which launch goes on from the other, and how long after it that one began."""
        one, other = self._measured[first], self._measured[second]
        if one.started is None or other.started is None or not goes_on(one, other):
            return None, 0.0
        return (first if one.started > other.started else second), abs(one.started - other.started)

    def _join_neighbours(self, pairs: Iterable[Pair]) -> None:
        """Join what lies together and cannot contradict, where it is clear to what it belongs."""
        near: dict[int, set[Pair]] = defaultdict(set)
        for pair in pairs:
            if self._together(*pair):
                near[-self._depth(*pair)].add(pair)
        for depth in sorted(near):
            joined = {(self._set[one], self._set[other]) for one, other in near[depth]}
            partners: dict[int, set[int]] = defaultdict(set)
            for one, other in joined:
                if one != other:
                    partners[one].add(other)
                    partners[other].add(one)
            unclear = {one for one, some in partners.items() if self._contradict(some)}
            for one, other in sorted(near[depth]):
                first, second = self._set[one], self._set[other]
                if first != second and not {first, second} & unclear and self._open(first, second):
                    self._join(first, second)
            for one in sorted(unclear):
                if some := self._holders(one, partners[one]):
                    self._join(self._set[some[0]], self._set[one])

    def _holders(self, one: int, partners: Collection[int]) -> list[int]:
        """Return the only set that logged all steps of a lone reading, and may be its training's.

        ``fid.txt`` up to step 98,670 is of the start that came so far, and not of the first one.
        """
        mine = self._steps(one)
        alone = self._members.get(one) == [one] and len(partners) <= FEW and len(mine) >= ENOUGH
        if not alone or MEASURES & self._measured[one].series.keys():
            return []
        found = [
            other
            for other in sorted(partners)
            if any(mine <= self._steps(number) for number in self._members.get(other, ()))
        ]
        return found if len(found) == 1 and self._open(one, found[0]) else []

    def _steps(self, number: int) -> set[int]:
        series = self._measured[number].series
        return {step for one in series.values() for step in one.step.tolist()}

    def _join(self, kept: int, gone: int) -> None:
        for number in self._members[gone]:
            self._set[number] = kept
        self._members[kept] += self._members.pop(gone)
        self._ids[kept] = self._ids[gone] | self._ids[kept]

    def _contrary(self, first: int, second: int, words: Collection[Said]) -> bool:
        """Whether a reading of one set said such a word about one of the other."""
        ids = self._ids[first], self._ids[second]
        if any(ids[0][tracker] != ids[1][tracker] for tracker in ids[0].keys() & ids[1].keys()):
            return True
        few = min(first, second, key=lambda number: len(self._members[number]))
        other = second if few == first else first
        return any(
            self._set[number] == other
            for word in words
            for one in self._members[few]
            for number in self._against[word][one]
        )

    def _open(self, first: int, second: int) -> bool:
        """Whether no reading of one set contradicts one of the other; asked where it was not."""
        some, others = self._members[first], self._members[second]
        if len(some) * len(others) > ALL * ALL or self._contrary(first, second, self._against):
            return False
        return not any(self._ask(*pair) in self._against for pair in product(some, others))

    def _contradict(self, sets: Collection[int]) -> bool:
        return len(sets) > ALL or any(not self._open(*pair) for pair in combinations(sets, 2))

    def _depth(self, first: int, second: int) -> int:
        """Return how many folders two readings have in common."""
        one, other = (self._measured[number].folder.parts for number in (first, second))
        pairs = zip(one, other, strict=False)
        return next((n for n, (a, b) in enumerate(pairs) if a != b), len(one))

    def _together(self, first: int, second: int) -> bool:
        """Whether two readings that cannot contradict each other lie together."""
        one, other = self._measured[first], self._measured[second]
        if one.reading.kind == other.reading.kind == "wandb":
            return False
        near = one.folder.parent == other.folder.parent and one.folder.parent.name != ""
        return near or related(one, other) or len(self._measured) == 2  # noqa: PLR2004 - alone


def _id_of(one: Content) -> dict[str, str]:
    """Return the run's id by tracker."""
    return {one.reading.kind: one.reading.run_id} if one.reading.run_id else {}


def _nearest(bare: Content, groups: list[list[Content]]) -> list[Content] | None:
    """Return the one group that a reading without identifying numbers belongs to."""
    named, logged = bool(bare.reading.run_id), bare.reading.kind == "console"
    possible = groups
    if named:
        possible = [group for group in groups if not any(other_id(bare, one) for one in group)]
    if len(groups) == len(possible) == 1:
        return groups[0]
    # of hundreds of runs each question is asked of each: those that it cannot answer are left out
    ways = [*[_same_id] * named, *[_same_command] * logged, _same_folder, related]
    for belongs in ways:
        found = [group for group in possible if any(belongs(bare, one) for one in group)]
        if len(found) == 1:
            return found[0]
    return None


def _glued(log: Content, groups: list[list[Content]]) -> list[Content] | None:
    """Join what lies below a log, is of different kinds and does not contradict: one dead run."""
    below = [group for group in groups if any(log.folder in one.folder.parents for one in group)]
    kinds = [one.reading.kind for group in below for one in group if one.reading.kind != "config"]
    if log.reading.kind != "console" or not below or len(kinds) != len(set(kinds)):
        return None
    pairs = combinations([one for group in below for one in group], 2)
    if any(said(*pair) is Said.OTHER for pair in pairs):
        return None
    for group in below[1:]:
        below[0].extend(group)
        groups.remove(group)
    return below[0]


def _share(settings: Content, groups: list[list[Content]]) -> None:
    """Give one configuration to all runs below it; what it tells of a run, to the last started."""
    below = [
        group
        for group in groups
        if any(one.folder.is_relative_to(settings.folder) for one in group)
    ]
    bare = structs.replace(settings, reading=replace(settings.reading, events=[]))
    last = max(below, key=lambda some: max(one.started or 0 for one in some), default=None)
    for group in below:
        group.append(settings if group is last else bare)


def _same_id(bare: Content, one: Content) -> bool:
    return bool(bare.reading.run_id) and bare.reading.run_id == one.reading.run_id


def _same_command(bare: Content, one: Content) -> bool:
    logs = bare.reading.kind == one.reading.kind == "console"
    return logs and of_one_command(bare.reading.path, one.reading.path)


def _same_folder(bare: Content, one: Content) -> bool:
    return str(one.folder) == str(bare.folder)  # a path keeps its text; the rest of it is slow
