"""A Trainer callback that leaves the report beside the run, and can stop a training that is lost.

    from runlens.integrations.transformers import RunLensCallback

    trainer = Trainer(..., callbacks=[RunLensCallback(stop_when="critical")])

It holds for every trainer of transformers, TRL and axolotl. transformers is imported when
`RunLensCallback` is asked for, not before. What goes wrong in it is one warning: the training and
its result are never touched. A training that raises does not come to its end: run
``runlens diagnose`` on its folder then.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from runlens.integrations.stopping import Judge, callback_class, settings_for

if TYPE_CHECKING:
    from runlens.live import Level
    from runlens.run import Run

STATE = "trainer_state.json"
ARGUMENTS = "training_args.json"


class TrainingArguments(Protocol):
    """What is used of `transformers.TrainingArguments`."""

    output_dir: str | None

    def to_json_string(self) -> str:
        """Return all arguments, tokens masked."""
        ...


class TrainerState(Protocol):
    """What is used of `transformers.TrainerState`."""

    is_world_process_zero: bool

    def save_to_json(self, json_path: str) -> None:
        """Write the state with its log history."""
        ...


class TrainerControl(Protocol):
    """What is used of `transformers.TrainerControl`."""

    should_training_stop: bool


class ReportAtEnd:
    """Diagnoses the run when its training ends, and writes the page; says where on stderr."""

    def __init__(self, report: str | Path | None = None, stop_when: "Level | None" = None) -> None:
        """Take where the page goes, and from which severity on to stop the training.

        The page is ``runlens-NAME.html`` beside the output folder by default. With
        ``stop_when="critical"`` the run is judged at each evaluation, and stopped where two of them
        in a row find something critical.
        """
        self.judge = Judge(stop_when, report)

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        """Judge what was logged so far, in the first process; stop in all of them."""
        del kwargs
        if self.judge.stop_when is None or not args.output_dir:
            return
        stop = False
        if state.is_world_process_zero:
            folder = Path(args.output_dir).resolve()
            stop = self.judge.wants_to_stop(lambda: _read(folder, args, state), folder)
        control.should_training_stop |= _of_first_process(stop=stop)

    def on_train_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: object,
        **kwargs: object,
    ) -> None:
        """Write the page, in the first process alone; a failure is a warning in the log."""
        del control, kwargs
        if not state.is_world_process_zero or not args.output_dir:
            return
        folder = Path(args.output_dir).resolve()
        self.judge.finish(lambda: _read(folder, args, state), folder)


def _of_first_process(*, stop: bool) -> bool:
    """Return what the first process of a distributed training wants: all of them must agree."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return stop
    wanted = [stop]
    distributed.broadcast_object_list(wanted, src=0)
    return wanted[0]


def _save(folder: Path, args: TrainingArguments, state: TrainerState) -> None:
    """Write what the Trainer knows now: what it logged after its last checkpoint is nowhere else.

    The state goes where `Trainer.save_state` writes it, the arguments beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state.save_to_json(str(folder / STATE))
    (folder / ARGUMENTS).write_text(args.to_json_string(), encoding="utf-8")


def _read(folder: Path, args: TrainingArguments, state: TrainerState) -> "Run":
    """Return the run that trains here, of all that the folder holds."""
    from runlens.sources import read_all

    _save(folder, args, state)
    runs = read_all(folder, columns=settings_for(folder).columns)
    return next((run for run in runs if STATE in run.sources), runs[-1])


if TYPE_CHECKING:
    RunLensCallback = ReportAtEnd


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class that exists only with transformers
    """Make `RunLensCallback` when it is first asked for: a `transformers.TrainerCallback`."""
    return callback_class(__name__, name, ReportAtEnd, "transformers", "TrainerCallback")
