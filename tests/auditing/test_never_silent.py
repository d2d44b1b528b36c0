"""A run with a fault always belongs to an open issue or an acknowledgement, and somebody is told.

Histories of a lab, drawn: runs come, break, are well again, go, are made anew; listings move while
they are read, folders are not mounted, keys expire, servers answer by halves, audits are killed at
any point, two of them share a store, sources are added and taken away, nobody answers at the
address of messages. `RUNLENS_HISTORIES=20000` draws so many.
"""

import atexit
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from runlens.nights import Audit, Issue
from tests.auditing.lab import FOLDER, LOUD, ONE, SOURCES, TWO, Lab, OneStore, place

HISTORIES = int(os.environ.get("RUNLENS_HISTORIES", "20"))
FEW = 100  # histories above which a failing one is not made shorter, which takes minutes
SHARED = Path("/dev/shm")  # noqa: S108 - in memory, for speed; a folder of our own below it
NAMES = st.sampled_from(["a", "b", "c", "d"])
FAULTS = st.sampled_from([None, "warning", "critical"])
AUDITS = st.sampled_from([(FOLDER,), (ONE,), (FOLDER, ONE), (ONE, TWO), SOURCES])


class Nights(RuleBasedStateMachine):
    """One history."""

    def __init__(self) -> None:
        """Begin with an empty lab and an empty store."""
        super().__init__()
        self.lab = Lab(_store().emptied())
        self.loud: dict[str, set[str]] = {source: set() for source in SOURCES}
        self.read: dict[str, set[tuple[str, int]]] = {source: set() for source in SOURCES}
        self.last: Audit | None = None

    @rule(source=st.sampled_from(SOURCES), name=NAMES, fault=FAULTS)
    def a_run_goes_on(self, source: str, name: str, fault: str | None) -> None:
        """Let it be new; or it breaks, is well again, or is made anew under its old name."""
        self.lab.change(source, name, fault=fault)

    @rule(source=st.sampled_from(SOURCES), name=NAMES)
    def a_run_is_deleted(self, source: str, name: str) -> None:
        """With all that it left."""
        self.lab.runs[source].pop(name, None)

    @rule(source=st.sampled_from(SOURCES), name=NAMES, other=NAMES)
    def a_run_is_moved(self, source: str, name: str, other: str) -> None:
        """Its folder is renamed."""
        if name in self.lab.runs[source] and other not in self.lab.runs[source]:
            self.lab.runs[source][other] = self.lab.runs[source].pop(name)

    @rule(source=st.sampled_from(SOURCES))
    def a_disk_is_mounted_or_not(self, source: str) -> None:
        """Show an empty mount point, or a project without runs."""
        self.lab.unmounted ^= {source}

    @rule(source=st.sampled_from(SOURCES))
    def a_key_expires_or_is_renewed(self, source: str) -> None:
        """Or the rights of a folder change."""
        self.lab.refused ^= {source}

    @rule(source=st.sampled_from((ONE, TWO)), names=st.sets(NAMES))
    def a_page_moves(self, source: str, names: set[str]) -> None:
        """While the next listing is read."""
        self.lab.unlisted |= {(source, name) for name in names}

    @rule(source=st.sampled_from(SOURCES), name=NAMES)
    def a_run_cannot_be_reached(self, source: str, name: str) -> None:
        """Or can be again."""
        self.lab.unreachable ^= {(source, name)}

    @rule()
    def the_receiver_is_deaf_or_hears(self) -> None:
        """Of messages."""
        self.lab.deaf = not self.lab.deaf

    @rule(data=st.data(), days=st.integers(1, 6))
    def somebody_acknowledges(self, data: st.DataObject, days: int) -> None:
        """Acknowledge an open issue."""
        some = [one for one in self.lab.issues(*SOURCES) if one.open]
        if some:
            self.lab.acknowledge(data.draw(st.sampled_from(some)), days)

    @rule(sources=AUDITS)
    def a_night(self, sources: tuple[str, ...]) -> None:
        """Let the audit run to its end."""
        self._audited(sources)

    @rule(sources=AUDITS, at=st.integers(2, 20))
    def a_night_that_is_killed(self, sources: tuple[str, ...], at: int) -> None:
        """At some write, before or after it; if it does not come so far, it ends."""
        self.lab.kill_at = at
        self._audited(sources)

    @rule(sources=AUDITS)
    def a_night_that_is_killed_while_it_tells(self, sources: tuple[str, ...]) -> None:
        """After a delivery, before that is noted."""
        self.lab.kill_sending = True
        self._audited(sources)

    @precondition(lambda self: self.last is None)
    @rule(sources=AUDITS)
    def the_night_after_a_kill(self, sources: tuple[str, ...]) -> None:
        """Whoever comes first."""
        self._audited(sources)

    def _audited(self, sources: tuple[str, ...]) -> None:
        missed = set(self.lab.unlisted)
        known = {source: set(self.lab.rows(source)) for source in sources}
        self.last = found = self.lab.audit(*sources)
        if found is None:
            return
        waiting = self.lab.pending(*sources)
        assert self.lab.deaf or not waiting, "a message waits though somebody hears"
        for source in sources:
            self._sources_are_told(source, found)
            self._rows_are_true(source, {n for s, n in missed if s == source}, known[source])
            self._faults_are_known(source)
            self._news_is_told(source, found)

    def _sources_are_told(self, source: str, found: Audit) -> None:
        """Ask that what could not be listed is on the page and in the exit code."""
        refused = source in self.lab.refused
        (state,) = [one for one in found.sources if one.source == source]
        assert (state.tries > 0) == refused
        gone = {place(source, name) for name in self.lab.shown(source)}
        known = set(self.lab.rows(source))
        if not refused and known and len(known - gone) * 2 > len(known | gone):
            accepted = any(i.rule == "source-shrank" and i.acknowledged for i in found.issues)
            assert state in found.unlisted or accepted, "most of a source is missing"

    def _rows_are_true(self, source: str, missed: set[str], known: set[str]) -> None:
        """Compare what could be read; a new run that a listing missed is read a night later."""
        rows = self.lab.rows(source)
        for name, truth in self.lab.shown(source).items():
            key = place(source, name)
            late = name in missed and key not in known
            if source in self.lab.refused or (source, name) in self.lab.unreachable or late:
                continue
            assert rows[key].health == (truth.fault or "healthy")

    def _faults_are_known(self, source: str) -> None:
        """Ask for the invariant: an open issue, or an ended one that accounts for the run."""
        rows = self.lab.rows(source)
        issues = self.lab.issues(source)
        for key, row in rows.items():
            if row.health in LOUD:
                assert any(_covers(issue, row.key, row.steps) for issue in issues), key

    def _news_is_told(self, source: str, found: Audit) -> None:
        """Ask for a message of each run that is loud and was not, or an acknowledgement."""
        loud = {key for key, row in self.lab.rows(source).items() if row.health in LOUD}
        news = loud - self.loud[source]
        self.loud[source] = loud
        messages = self.lab.messages()
        told = {key for at, runs in messages.items() if at not in self.read[source] for key in runs}
        self.read[source] = set(messages)
        quiet = {key for i in found.issues if i.status == "acknowledged" for key in i.runs}
        ended = {key for i in self.lab.issues(source) if not i.open for key in i.accounted}
        assert news <= told | quiet | ended, news - told - quiet - ended


@lru_cache
def _store() -> OneStore:
    home = SHARED if SHARED.is_dir() else None
    folder = tempfile.mkdtemp(dir=home, prefix="runlens-nights-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return OneStore(Path(folder))


def _covers(issue: Issue, key: str, steps: int) -> bool:
    if issue.open:
        return key in issue.runs
    known = issue.accounted.get(key)
    return known is not None and steps <= known[0]


TestNights = Nights.TestCase
TestNights.settings = settings(
    max_examples=HISTORIES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate] if HISTORIES > FEW else list(Phase),
)
