"""A Keras callback that leaves the report of a training, and can stop one that is lost.

    from runlens.integrations.keras import RunLensCallback

    model.fit(..., callbacks=[RunLensCallback("runs/my-run", stop_when="critical")])

It keeps what Keras logs at the end of each epoch in memory, so it needs no CSVLogger. Keras is
imported when `RunLensCallback` is asked for, not before.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runlens.integrations.stopping import Judge, callback_class

if TYPE_CHECKING:
    from runlens.live import Level, Record

RATE = "learning_rate"
OPTIMIZER = ("name", "weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "momentum")


class ReportAtEnd:
    """Follows `keras.Model.fit`, epoch by epoch."""

    model: Any  # set by Keras
    params: Mapping[str, Any]

    def __init__(
        self,
        run: str | Path = "keras-run",
        report: str | Path | None = None,
        stop_when: "Level | None" = None,
    ) -> None:
        """Take the run's folder (for its name, and where the page goes) and when to stop.

        The page is ``runlens-NAME.html`` beside that folder by default. With
        ``stop_when="critical"`` the run is judged after each epoch, and stopped where two of them
        in a row find something critical.
        """
        super().__init__()
        self.folder = Path(run).resolve()
        self.judge = Judge(stop_when, report)
        self._kept: Record | None = None

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Begin a record with the settings; a second `fit` goes on with the first's."""
        del logs
        from runlens.live import Record

        self._kept = self._kept or Record(self.folder.name, "keras")
        optimizer = self.model.optimizer.get_config()
        known = {key: value for key in OPTIMIZER if (value := optimizer.get(key)) is not None}
        rate = {RATE: self._rate()} if isinstance(optimizer.get(RATE), float) else {}
        self._kept.settings({"epochs": self.params.get("epochs"), **known, **rate})
        self._kept.planned(epochs=self.params.get("epochs"))

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Keep the row of an epoch, and judge the run."""
        if self._kept is None:
            return
        rows = {RATE: self._rate()} | {key: float(value) for key, value in (logs or {}).items()}
        self._kept.log(int(self.model.optimizer.iterations), epoch + 1.0, rows)
        if self.judge.wants_to_stop(self._kept.run, self.folder):
            self.model.stop_training = True

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Write the page."""
        del logs
        if self._kept is not None:
            kept = self._kept
            self.judge.finish(lambda: kept.run(over=True), self.folder)

    def _rate(self) -> float:
        return float(self.model.optimizer.learning_rate)


if TYPE_CHECKING:
    RunLensCallback = ReportAtEnd


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class that exists only with keras
    """Make `RunLensCallback` when it is first asked for: a `keras.callbacks.Callback`."""
    return callback_class(__name__, name, ReportAtEnd, "keras.callbacks", "Callback")
