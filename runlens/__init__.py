"""RunLens says what went wrong in a training run, at which step, why, and what to change.

>>> import runlens
>>> run = runlens.read("runs/my-run")              # doctest: +SKIP
>>> print(runlens.diagnose(run).verdict)           # doctest: +SKIP

Nothing heavy is imported before one of the functions below is used.
"""

from runlens.version import __version__

TYPE_CHECKING = False  # true for type checkers; `typing` would cost more than all the rest
if TYPE_CHECKING:
    from runlens.auditing.engine import audit
    from runlens.comparing.engine import compare
    from runlens.comparison import Comparison
    from runlens.diagnosis import Diagnosis
    from runlens.engine import diagnose
    from runlens.errors import RunLensError
    from runlens.nights import Audit
    from runlens.run import Run
    from runlens.sources import read, read_all
    from runlens.sources.tensorboard.frames import event_frames

__all__ = [
    "Audit",
    "Comparison",
    "Diagnosis",
    "Run",
    "RunLensError",
    "__version__",
    "audit",
    "compare",
    "diagnose",
    "event_frames",
    "read",
    "read_all",
]

_HOMES = {
    "Audit": "runlens.nights",
    "Comparison": "runlens.comparison",
    "Diagnosis": "runlens.diagnosis",
    "Run": "runlens.run",
    "RunLensError": "runlens.errors",
    "audit": "runlens.auditing.engine",
    "compare": "runlens.comparing.engine",
    "diagnose": "runlens.engine",
    "event_frames": "runlens.sources.tensorboard.frames",
    "read": "runlens.sources",
    "read_all": "runlens.sources",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'runlens' has no attribute {name!r}")
    from importlib import import_module

    from runlens.extras import needed_by

    with needed_by(f"runlens.{name}()"):
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
