"""A Trainer callback that leaves the report at the end of training, beside the run.

    from runlens.integrations.transformers import RunLensCallback

    trainer = Trainer(..., callbacks=[RunLensCallback()])

It holds for every trainer of transformers, TRL and axolotl. transformers is imported when
`RunLensCallback` is asked for, not before. What goes wrong in it is one warning: the training and
its result are never touched. A training that raises does not come to its end: run
``runlens diagnose`` on its folder then.
"""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from runlens.diagnosis import Diagnosis

logger = logging.getLogger(__name__)

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


class ReportAtEnd:
    """Diagnoses the run when its training ends, and writes the page; says where on stderr."""

    def __init__(self, report: str | Path | None = None) -> None:
        """Take where the page goes; ``runlens-NAME.html`` beside the output folder by default."""
        self.report = report

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
        try:
            folder = Path(args.output_dir).resolve()
            _save(folder, args, state)
            diagnosis = _diagnosed(folder)
            page = Path(self.report or folder.with_name(f"runlens-{folder.name}.html"))
            _write(page, diagnosis)
        except Exception as error:  # noqa: BLE001 - no report is worth a training
            logger.warning("RunLens wrote no report: %s: %s", type(error).__name__, error)
            return
        sys.stderr.write(f"RunLens: {diagnosis.verdict.sentence}\nRunLens: report in {page}\n")


def _save(folder: Path, args: TrainingArguments, state: TrainerState) -> None:
    """Write what the Trainer knows now: what it logged after its last checkpoint is nowhere else.

    The state goes where `Trainer.save_state` writes it, the arguments beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state.save_to_json(str(folder / STATE))
    (folder / ARGUMENTS).write_text(args.to_json_string(), encoding="utf-8")


def _diagnosed(folder: Path) -> "Diagnosis":
    """Judge the run that ended, of all that the folder holds."""
    from runlens.engine import diagnose
    from runlens.settings import find, load
    from runlens.sources import read_all

    settings = load(find(Path.cwd()), places=[folder])
    runs = read_all(folder, columns=settings.columns)
    ended = next((run for run in runs if STATE in run.sources), runs[-1])
    return diagnose(ended, settings=settings)


def _write(page: Path, diagnosis: "Diagnosis") -> None:
    from runlens.report import html
    from runlens.written import write_beside

    page.parent.mkdir(parents=True, exist_ok=True)
    write_beside(page, html.render(diagnosis).encode())


if TYPE_CHECKING:
    RunLensCallback = ReportAtEnd


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class that exists only with transformers
    """Make `RunLensCallback` when it is first asked for: a `transformers.TrainerCallback`."""
    if name != "RunLensCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from transformers import TrainerCallback

    made = type(name, (ReportAtEnd, TrainerCallback), {"__module__": __name__})
    globals()[name] = made
    return made
