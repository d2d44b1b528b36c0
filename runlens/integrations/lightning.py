"""A Lightning callback that leaves the report of a training, and can stop one that is lost.

    from runlens.integrations.lightning import RunLensCallback

    trainer = Trainer(..., callbacks=[RunLensCallback(stop_when="critical")])

It keeps what `self.log` was given, the learning rate and the settings of the Trainer in memory, so
it needs no logger. lightning is imported when `RunLensCallback` is asked for, not before.
"""

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runlens.integrations.stopping import Judge, callback_class

if TYPE_CHECKING:
    from runlens.live import Level, Record

RATE = "learning_rate"
TRAINER = ("accumulate_grad_batches", "gradient_clip_val", "log_every_n_steps", "max_epochs",
           "max_steps", "precision")  # fmt: skip
_STEP = re.compile(r"step=(\d+)")  # in the name of a checkpoint, by default
Trainer = Any  # lightning.pytorch.Trainer: its types are there only with the package


class ReportAtEnd:
    """Follows `lightning.pytorch.Trainer.fit`; the first process alone judges and writes."""

    def __init__(self, report: str | Path | None = None, stop_when: "Level | None" = None) -> None:
        """Take where the page goes, and from which severity on to stop the training.

        The page is ``runlens-NAME.html`` beside the logger's folder by default. With
        ``stop_when="critical"`` the run is judged after each validation, and stopped where two of
        them in a row find something critical.
        """
        self.judge = Judge(stop_when, report)
        self._kept: Record | None = None
        self._before: dict[str, float] = {}
        self._of_validation: set[str] = set()
        self._saved: set[str] = set()

    def on_fit_start(self, trainer: Trainer, pl_module: Any) -> None:  # noqa: ANN401 - see Trainer
        """Begin a record with the settings."""
        from runlens.live import Record

        self._kept = Record(_folder(trainer).name, "lightning")
        known = dict(getattr(pl_module, "hparams", None) or {})
        self._kept.settings(known | {key: getattr(trainer, key, None) for key in TRAINER})
        steps = trainer.estimated_stepping_batches
        whole = isinstance(steps, int) and steps > 0
        epochs = trainer.max_epochs if trainer.max_epochs and trainer.max_epochs > 0 else None
        self._kept.planned(steps=steps if whole else None, epochs=epochs)

    def on_train_batch_end(self, trainer: Trainer, *_: object, **__: object) -> None:
        """Keep what was logged at a step that Lightning logs."""
        if self._kept is None or trainer.global_step % trainer.log_every_n_steps:
            return
        logged = _numbers(trainer.logged_metrics)
        rows = {key: value for key, value in logged.items() if key not in self._of_validation}
        self._kept.log(trainer.global_step, _epoch(trainer), dict(_rates(trainer)) | rows)

    def on_validation_start(self, trainer: Trainer, pl_module: object) -> None:
        """Remember what was known before, to tell what the validation logs."""
        del pl_module
        self._before = _numbers(trainer.callback_metrics)

    def on_validation_end(self, trainer: Trainer, pl_module: object) -> None:
        """Keep what the validation logged, and judge the run."""
        del pl_module
        if self._kept is None or trainer.sanity_checking:
            return
        found = _numbers(trainer.callback_metrics)
        self._of_validation |= {key for key in found if self._before.get(key) != found[key]}
        rows = {key: value for key, value in found.items() if key in self._of_validation}
        self._kept.log(trainer.global_step, _epoch(trainer), rows)
        self._keep_checkpoints(self._kept, trainer)
        stop = trainer.is_global_zero and self.judge.wants_to_stop(self._kept.run, _folder(trainer))
        if self.judge.stop_when is not None:
            stop = trainer.strategy.reduce_boolean_decision(stop, all=False)
        trainer.should_stop = trainer.should_stop or stop

    def _keep_checkpoints(self, kept: "Record", trainer: Trainer) -> None:
        for callback in trainer.checkpoint_callbacks:
            paths = (callback.best_model_path, callback.last_model_path)
            for path in {one for one in paths if one} - self._saved:
                step = _STEP.search(Path(path).name)
                kept.checkpoint(int(step[1]) if step else trainer.global_step, path)
                self._saved.add(path)

    def on_fit_end(self, trainer: Trainer, pl_module: object) -> None:
        """Write the page."""
        del pl_module
        if self._kept is None or not trainer.is_global_zero:
            return
        kept = self._kept
        self._keep_checkpoints(self._kept, trainer)
        self.judge.finish(lambda: kept.run(over=True), _folder(trainer))


def _folder(trainer: Trainer) -> Path:
    return Path(trainer.log_dir or trainer.default_root_dir).resolve()


def _epoch(trainer: Trainer) -> float:
    """Return the epochs done, with their part."""
    batches = trainer.num_training_batches
    part = trainer.fit_loop.epoch_loop.batch_progress.current.completed / batches if batches else 0
    return float(trainer.current_epoch + min(part, 1.0))


def _numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    return {key: float(value) for key, value in metrics.items()}


def _rates(trainer: Trainer) -> Iterator[tuple[str, float]]:
    for optimizer in trainer.optimizers[:1]:
        yield RATE, float(optimizer.param_groups[0]["lr"])


if TYPE_CHECKING:
    RunLensCallback = ReportAtEnd


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class that exists only with lightning
    """Make `RunLensCallback` when it is first asked for: a `lightning.pytorch.Callback`."""
    library = "lightning.pytorch" if find_spec("lightning") else "pytorch_lightning"
    return callback_class(__name__, name, ReportAtEnd, library, "Callback")
