"""The inputs of one run: settings that held throughout, and what changed, in order of time."""

from functools import cached_property

import numpy as np

from runlens.run import Run
from runlens.signals.inputs.data import Dated, Kind, Stated
from runlens.signals.inputs.rate import Rate, rate_of
from runlens.signals.shape import Shape, shape_of

NAN = float("nan")
ROWS = (  # settings that count the rows of the training data
    "train_rows",
    "num_examples",
    "num_train_examples",
    "num_train_samples",
    "n_train",
    "train_size",
    "dataset_size",
    "train_samples",
    "train_images",
    "train_pairs",
    "max_train_samples",
)
TOKENS = ("n_train_tokens", "num_train_tokens", "train_tokens")  # that count its tokens
PROCESSES = ("world_size", "num_processes", "n_gpu", "num_gpus", "devices")
MACHINE: dict[str, Kind] = {
    "throughput_tokens": "throughput",
    "throughput_samples": "throughput",
    "throughput_steps": "throughput",
    "step_time": "throughput",
    "gpu_mem": "memory",
    "host_mem": "memory",
    "loss_scale": "loss scale",
}
CHANGED = 0.2  # share of its level by which a machine's level must change to be dated
FEWEST = 8  # records of tokens from which tokens a step are compared


class Inputs:
    """What was put into a run. Everything is computed when first asked for, then kept."""

    def __init__(self, run: Run) -> None:
        """Compute nothing yet."""
        self.run = run

    @cached_property
    def rate(self) -> Rate:
        """The learning rate against its plan."""
        return rate_of(self.run, self.run.shape("learning_rate"))

    @cached_property
    def batch(self) -> Stated | None:
        """Samples of one update, of all processes where their number is known."""
        device = self._number("per_device_train_batch_size")
        if device is None:
            return None
        size, source = device
        for keys in (("gradient_accumulation_steps",), PROCESSES):
            more = next((known for key in keys if (known := self._number(key))), None)
            size *= more[0] if more and more[0] >= 1 else 1.0
        return Stated(size, source)

    @cached_property
    def rows(self) -> Stated | None:
        """Rows of the training data, where a setting counts them."""
        known = next((some for key in ROWS if (some := self._number(key)) and some[0] > 0), None)
        return Stated(*known) if known else None

    @cached_property
    def steps_per_pass(self) -> float | None:
        """Updates that take each row once, by rows and batch or tokens and window."""
        if not self.batch:
            return None
        if self.rows:
            return float(self.rows.value) / float(self.batch.value)
        tokens = next((some for key in TOKENS if (some := self._number(key)) and some[0] > 0), None)
        if tokens and self.sequence_length:
            return tokens[0] / (float(self.sequence_length.value) * float(self.batch.value))
        return None

    @cached_property
    def precision(self) -> Stated | None:
        """``fp16``, ``bf16`` or ``fp8``, as configured; None where no setting says."""
        for key in ("fp8", "fp16", "bf16"):
            if self.run.flag(key):
                return Stated(key, self.run.config[key].origin)
        return None

    @cached_property
    def sequence_length(self) -> Stated | None:
        """Tokens of a sequence at most, as configured."""
        known = self._number("max_length")
        return Stated(*known) if known else None

    def passes_at(self, step: float) -> float | None:
        """Return the passes over the data done at a step: as logged, else by rows and batch."""
        for metric in ("train_loss", "learning_rate", "reward", "eval_loss"):
            curve = self.run.curve(metric)
            known = curve.at(np.isfinite(curve.epoch))
            if len(known) > 1 and known.epoch.any():  # 0 to the end is not counted
                zero = [0.0] if known.step[0] > 0 else []  # no pass is done before the first step
                steps, epochs = np.append(zero, known.step), np.append(zero, known.epoch)
                return float(np.interp(step, steps, epochs))
        state = self.run.state
        if self.steps_per_pass:
            return step / self.steps_per_pass
        if state.planned_steps and state.planned_epochs:
            return step * state.planned_epochs / state.planned_steps
        return None

    @cached_property
    def launches(self) -> tuple[Dated, ...]:
        """The launches after the first, and the resumes that a file names."""
        starts = {part.first_step for part in self.run.segments if part.number > 0}
        named = {event.step: event.where for event in self.run.events_of("resume") if event.step}
        steps = sorted(starts | set(named))
        return tuple(
            Dated("launch", step - 1, step, NAN, NAN, named.get(step, "") or "log")
            for step in steps
        )

    @cached_property
    def changes(self) -> tuple[Dated, ...]:
        """Everything that changed, by the step at which it had changed."""
        rate = tuple(
            Dated(
                "learning rate",
                off.before.step,
                off.first.step,
                self.rate.planned_at(off.farthest.step) or NAN,
                off.farthest.value,
                "learning_rate",
            )
            for off in self.rate.departures
        )
        if self.rate.plan is None:
            rate = tuple(
                Dated("learning rate", low.step, high.step, low.value, high.value, "learning_rate")
                for low, high in self.rate.rises
            )
        machine = tuple(
            change
            for metric, kind in MACHINE.items()
            for change in _steps(kind, metric, self.run.shape(metric))
        )
        return tuple(
            sorted((*self.launches, *rate, *machine, *self._lengths), key=lambda some: some.after)
        )

    def before(self, step: float) -> tuple[Dated, ...]:
        """Return what had begun to change by a step, the latest first."""
        return tuple(some for some in reversed(self.changes) if some.before <= step)

    @cached_property
    def _lengths(self) -> tuple[Dated, ...]:
        """Changes of the tokens an update takes."""
        tokens = self.run.curve("tokens").finite()
        steps = np.diff(tokens.step)
        if len(tokens) < FEWEST or (steps <= 0).any():
            return ()
        a_step = np.diff(tokens.value) / steps
        return _steps("sequence length", "tokens", shape_of(tokens.step[1:], a_step))

    def _number(self, key: str) -> tuple[float, str] | None:
        value = self.run.number(key)
        return None if value is None else (value, self.run.config[key].origin)


def _steps(kind: Kind, metric: str, shape: Shape) -> tuple[Dated, ...]:
    """Return the jumps of a level."""
    return tuple(
        Dated(
            kind,
            jump.before.step,
            jump.after.step,
            jump.level_before,
            jump.level_after,
            metric,
        )
        for jump in shape.events_of("jump", "restart")
        if abs(jump.share) >= CHANGED
    )
