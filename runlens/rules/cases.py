"""Drawn cases: a run by the corners of its curves, for the tests and the pages of the rules.

A curve is a text of ``step:value`` corners joined by straight lines, ``"0:2.2 200:1.1 600:0.2"``.
From a corner of value ``nan`` or ``inf`` on the curve has that value until the next corner. A
last word ``~0.3/100`` lays a wave of amplitude 0.3 and period 100 steps over it; ``/step``
(``"0:2 600:1 /50"``) sets the steps between points.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from runlens.cause import OF_CLASS
from runlens.diagnosis import Severity
from runlens.history import FloatArray, History, columns
from runlens.metrics import base, naming
from runlens.run import Configured, Event, Run, Setting, State, Task

EVERY = 10  # steps between points
EVAL_EVERY = 50  # of evaluation metrics
EXACT = {"learning_rate", "loss_scale", "tokens"}  # drawn without noise


@dataclass(frozen=True)
class Case:
    """A run by its corners. It is drawn when a test asks, so that rules load fast."""

    name: str
    curves: Mapping[str, str]
    onset: tuple[float, float] | None = None  # first and last step at which it may begin
    noise: float | Mapping[str, float] = 0.02  # relative to the value
    task: Task = "sft"
    severity: Severity | None = None  # expected of a bad case; None: any
    config: Mapping[str, Setting] = field(default_factory=dict)
    state: State = field(default_factory=State)
    events: tuple[Event, ...] = ()
    steps_per_epoch: float | None = None
    seconds_per_step: float | None = None
    framework: str = "transformers"

    def run(self) -> Run:
        """Draw it; the same name gives the same run.

        Raises:
            ValueError: a metric is drawn under a name that no reader gives it.

        """
        names = {base(name) for name in self.curves}
        foreign = {name: known for name in names if (known := naming(name).metric) != name}
        if foreign:
            raise ValueError(f"drawn under names that no reader gives: {foreign} (name: read as)")
        rng = np.random.default_rng(crc32(self.name.encode()))
        metrics = {}
        for name, corners in self.curves.items():
            step, value = draw(corners, EVAL_EVERY if name.startswith("eval_") else EVERY)
            noise = self.noise if isinstance(self.noise, float | int) else self.noise.get(name, 0.0)
            shake = rng.normal(1.0, 0.0 if name in EXACT else noise, len(step))
            epoch = step / self.steps_per_epoch if self.steps_per_epoch else None
            time = 1.7e9 + step * self.seconds_per_step if self.seconds_per_step else None
            metrics[name] = columns(step.astype(np.int64), value * shake, epoch, time)
        config = {key: Configured(value, "drawn") for key, value in self.config.items()}
        return Run(
            id=self.name,
            name=self.name,
            history=History(metrics, ("drawn",)),
            config=config,
            state=self.state,
            events=self.events,
            sources=("drawn",),
            framework=self.framework,
            task=self.task,
        )


def drawn(
    name: str,
    onset: tuple[float, float] | None = None,
    noise: float | Mapping[str, float] = 0.02,
    *,
    task: Task = "sft",
    severity: Severity | None = None,
    config: Mapping[str, Setting] | None = None,
    state: State | None = None,
    events: tuple[Event, ...] = (),
    steps_per_epoch: float | None = None,
    seconds_per_step: float | None = None,
    framework: str = "transformers",
    **curves: str,
) -> Case:
    """Describe a run by its curves, ``train_loss="0:2.2 200:1.1 600:0.2"``.

    Evaluations are 50 steps apart, all else 10. The noise is relative to the value (one for
    all, or by metric); a schedule has none.
    """
    return Case(
        name,
        curves,
        onset,
        noise,
        task,
        severity,
        config or {},
        state or State(),
        events,
        steps_per_epoch,
        seconds_per_step,
        framework,
    )


def message(
    text: str, kind: str, row: int, at: int | None, *, last: bool = True, **data: object
) -> Event:
    """Describe a log message as the readers match it.

    Args:
        text: the line of the log.
        kind: its class in the table of messages.
        row: its row there.
        at: its step, where one is known.
        last: whether no training record follows it.
        data: what else was read off the line.

    """
    read = {"row": row, "class": kind, "cause_kind": OF_CLASS.get(kind, ""), "last": last}
    return Event("message", at, None, text, "train.log:812", read | data)


def draw(corners: str, every: int = EVERY) -> tuple[FloatArray, FloatArray]:
    """Return (step, value) of a text of corners, noise-free."""
    words = corners.split()
    waves = [word[1:].split("/") for word in words if word.startswith("~")]
    spacing = [int(word[1:]) for word in words if word.startswith("/")]
    points = [word.split(":") for word in words if ":" in word]
    at, height = np.array(points, dtype=float).T
    step = np.arange(at[0], at[-1] + 1e-9, spacing[0] if spacing else every)
    solid = np.isfinite(height)
    value = np.interp(step, at[solid], height[solid]) if solid.any() else np.full(len(step), 0.0)
    for amplitude, period in waves:
        value = value + float(amplitude) * np.sin(2 * np.pi * step / float(period))
    corner = np.searchsorted(at, step, side="right") - 1
    broken = ~solid[corner]
    return step, np.where(broken, height[corner], value)
