"""What the callbacks share: judge at evaluations, stop, leave a page, and never raise."""

import logging
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runlens.diagnosis import Diagnosis
    from runlens.live import Level
    from runlens.run import Run
    from runlens.settings import Settings

logger = logging.getLogger("runlens.integrations")
IN_A_ROW = 2  # evaluations at which the level has to be reached: see docs/where-you-work.md


class Judge:
    """Judges a training as it goes on. What goes wrong in here is one warning in the log."""

    def __init__(self, stop_when: "Level | None" = None, report: str | Path | None = None) -> None:
        """Take from which severity on to stop (None: never), and where the page goes.

        Raises:
            ValueError: for a level that does not exist.

        """
        if stop_when not in {None, "critical", "warning"}:
            raise ValueError(f"stop_when={stop_when!r}: use 'critical', 'warning' or None")
        self.stop_when = stop_when
        self.report = report
        self.stopped = ""  # why it was stopped; empty where it was not
        self._reached = 0

    def wants_to_stop(self, read: "Callable[[], Run]", folder: Path) -> bool:
        """Judge the run that `read` returns; say on stderr why, where it should stop."""
        if self.stop_when is None or self.stopped:
            return bool(self.stopped)
        try:
            self._look(read(), folder, self.stop_when)
        except Exception as error:  # noqa: BLE001 - no verdict is worth a training
            logger.warning("RunLens could not judge: %s: %s", type(error).__name__, error)
        return bool(self.stopped)

    def _look(self, run: "Run", folder: Path, level: "Level") -> None:
        from runlens.live import from_where, judged, reached

        found = judged(run, settings_for(folder))
        self._reached = self._reached + 1 if reached(found, level) else 0
        if self._reached >= IN_A_ROW:
            self.stopped = found.verdict.sentence
            where = from_where(run, found)
            _say(f"{self.stopped}\nRunLens: training stopped at step {run.last_step:,}; {where}")

    def finish(self, read: "Callable[[], Run]", folder: Path) -> None:
        """Write the page of the run that ended; say the verdict and the place on stderr."""
        try:
            from runlens import engine

            found = engine.diagnose(read(), settings=settings_for(folder))
            page = Path(self.report or folder.with_name(f"runlens-{folder.name}.html"))
            _write(page, found)
        except Exception as error:  # noqa: BLE001 - no report is worth a training
            logger.warning("RunLens wrote no report: %s: %s", type(error).__name__, error)
            return
        _say(f"{found.verdict.sentence}\nRunLens: report in {page}")


def settings_for(folder: Path) -> "Settings":
    """Return the settings that hold for a training that runs here and writes to `folder`."""
    from runlens.settings import find, load

    return load(find(Path.cwd()), places=[folder])


def _write(page: Path, diagnosis: "Diagnosis") -> None:
    from runlens.report import html
    from runlens.written import write_beside

    page.parent.mkdir(parents=True, exist_ok=True)
    write_beside(page, html.render(diagnosis).encode())


def _say(text: str) -> None:
    sys.stderr.write(f"RunLens: {text}\n")


def callback_class(module: str, name: str, follows: type, library: str, base: str) -> type:
    """Return a module's `RunLensCallback`, made when it is first asked for.

    `base` is the library's own class of callbacks, without which it cannot exist.

    Raises:
        AttributeError: for any other name.

    """
    if name != "RunLensCallback":
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    made = type(name, (follows, getattr(import_module(library), base)), {"__module__": module})
    setattr(sys.modules[module], name, made)
    return made
