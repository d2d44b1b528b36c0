"""A run that is still training: judged by the same rules, and where it could go on from."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Literal

from runlens import engine
from runlens.diagnosis import DATED_AT_BEST, SEVERITIES, Diagnosis
from runlens.fixes import checkpoint_before
from runlens.run import Event, Run, Setting, State
from runlens.settings import Settings
from runlens.sources.merging.merge import runs_of
from runlens.sources.reading import SeriesBuilder, SourceReading, as_number
from runlens.weights import sound_until

Level = Literal["critical", "warning"]


def judged(run: Run, settings: Settings | None = None) -> Diagnosis:
    """Diagnose a run whose files do not say that it ended: it is running, and not cut off."""
    if run.state.settled == "unknown":
        why = "it was judged while it trained"
        run = replace(run, state=replace(run.state, kind="running", why=why, sure="certain"))
    return engine.diagnose(run, settings=settings)


def reached(diagnosis: Diagnosis, level: Level) -> bool:
    """Whether the verdict is as grave as a level, or graver."""
    health = diagnosis.health
    return health in SEVERITIES and SEVERITIES.index(health) <= SEVERITIES.index(level)


def last_good(run: Run, diagnosis: Diagnosis) -> tuple[int, str] | None:
    """Return (step, name) of the last checkpoint before the gravest incident; None for none."""
    if not diagnosis.incidents:
        return None
    lead = diagnosis.incidents[0].findings[0]
    return checkpoint_before(run, sound_until(run, lead) - (lead.rule not in DATED_AT_BEST))


def from_where(run: Run, diagnosis: Diagnosis) -> str:
    """Say in a sentence from where the training could go on."""
    good = last_good(run, diagnosis)
    if good is None:
        return "no earlier checkpoint was found"
    return f"last good checkpoint: {good[1]} (step {good[0]:,})"


class Record:
    """What a training logs, kept in memory and made a run whenever it is judged."""

    def __init__(self, name: str, framework: str) -> None:
        """Begin with nothing."""
        self._rows = SeriesBuilder()
        self._reading = SourceReading(Path(name), framework, framework=framework)
        self._reading.run_name = name

    def settings(self, values: Mapping[str, object]) -> None:
        """Keep settings under the names that the framework has for them."""
        known: dict[str, Setting] = {
            key: value
            for key, value in values.items()
            if isinstance(value, str | int | float | bool)
        }
        self._reading.config |= known

    def planned(self, *, steps: int | None = None, epochs: float | None = None) -> None:
        """Say how long the training is meant to be."""
        self._reading.hints.planned_steps = steps
        self._reading.hints.planned_epochs = epochs

    def log(self, step: int, epoch: float, values: Mapping[str, object]) -> None:
        """Add the numbers of a row; what is no number is left out."""
        now = time()
        for name, value in values.items():
            number = as_number(value)
            if number is not None:
                self._rows.add(name, step, number, epoch, now)

    def checkpoint(self, step: int, path: str) -> None:
        """Add a checkpoint that was saved."""
        self._reading.events.append(Event("checkpoint", step, time(), data={"path": path}))

    def run(self, *, over: bool = False) -> Run:
        """Return the run as far as it is known; `over`: it came to its end."""
        self._reading.series = self._rows.series()
        [run, *_] = runs_of(self._reading.path, self._reading.run_name, [self._reading])
        if over:
            ended = State(
                "finished", "its callback saw the end", "certain", done_steps=run.last_step
            )
            run = replace(run, state=replace(ended, planned_steps=run.state.planned_steps))
        return run
