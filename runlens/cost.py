"""What runs cost: GPU-hours after something had gone wrong, and money where a price is known."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from runlens.metrics import is_loss
from runlens.records import NamedTuple

if TYPE_CHECKING:
    from runlens.nights import FoundRow, RunRow

HOUR = 3600.0
WORSE = 0.01  # share of the best evaluation by which a run that ends there went past it
LATEST = 253_402_300_800.0  # seconds since 1970 of the year 10,000, which no date has
# What was trained after these still stands: the run is slower, shorter, or came back.
SPARED = frozenset(
    {
        "clip-saturation",
        "stopped-early",
        "throughput-drop",
        "low-utilisation",
        "memory-growth",
        "loss-spike",
        "grad-spike",
        "nan-grad",
    }
)


class Cost(NamedTuple):
    """GPU-hours of several runs. `untimed` of them have no times: their hours are not known."""

    gpu_hours: float = 0.0
    runs: int = 0
    untimed: int = 0

    @property
    def known(self) -> bool:
        """Whether the hours of any run are known; if not, 0 hours means nothing."""
        return self.untimed < self.runs or not self.runs

    def money(self, price: float | None) -> float | None:
        """Return the cost at a price a GPU-hour; None without a price or without any time."""
        return None if price is None or not self.known else price * self.gpu_hours


def gpu_hours(row: "RunRow") -> float | None:
    """Return the GPU-hours of a run; None where its times are not known."""
    return None if row.hours is None else row.hours * row.gpus


def stands(rule: str, metric: str) -> bool:
    """Whether what was trained after the onset of a finding is still worth something.

    So it is where a score stands beside a loss that falls: what measures it may be at fault.
    """
    return rule in SPARED or (rule == "eval-flat" and not is_loss(metric))


def wastes(found: "FoundRow") -> bool:
    """Whether what is trained after the onset of a finding is lost."""
    return found.severity != "info" and not stands(found.rule, found.metric)


def after_onset(row: "RunRow", found: "FoundRow") -> float | None:
    """Return the GPU-hours of a run after the onset of a finding.

    0.0 for findings that waste nothing; None where the times are not known.
    """
    if not wastes(found):
        return 0.0
    return None if found.onset_time is None else since(row, found.onset_time)


def since(row: "RunRow", time: float) -> float | None:
    """Return the GPU-hours of a run after a time, no more than it has; None where not known."""
    if row.ended is None or row.hours is None:
        return None
    return min(max(row.ended - time, 0.0) / HOUR, row.hours) * row.gpus


def wasted(row: "RunRow") -> float | None:
    """Return the GPU-hours of a run that gave nothing: the one definition of waste.

    Those after the first finding that wastes the result, or after the best evaluation, whichever
    is more. 0.0 without either; None where there is a finding but its times are not known.
    """
    spent = [after_onset(row, found) for found in row.findings if wastes(found)]
    known = [hours for hours in spent if hours is not None]
    past = past_best(row)
    return max(*known, past) if known else past or (None if spent else 0.0)


def past_best(row: "RunRow") -> float:
    """Return the GPU-hours after the best evaluation of a run that ends clearly worse.

    Worse by a share of the best and by twice its noise. Of fewer than four evaluations the noise
    is not known, and nothing is said; nor where the last evaluation is the best.
    """
    measures, noise = row.measures, row.noises.get("eval_loss.end")
    best, last = measures.get("eval_loss.best"), measures.get("eval_loss.end")
    when = measures.get("eval_loss.best_time")
    if best is None or last is None or when is None or noise is None or row.state == "running":
        return 0.0
    if last - best <= max(WORSE * abs(best), 2 * noise):
        return 0.0
    return since(row, when) or 0.0


def total(hours: Iterable[float | None]) -> Cost:
    """Return the sum of hours, one a run; None is a run whose hours are not known."""
    some = list(hours)
    known = [one for one in some if one is not None]
    return Cost(sum(known), len(some), len(some) - len(known))


def spent(rows: "Iterable[RunRow]") -> Cost:
    """Return the GPU-hours of runs."""
    return total(gpu_hours(row) for row in rows)


def lost(rows: "Iterable[RunRow]") -> Cost:
    """Return the GPU-hours of runs after something had gone wrong, each run counted once."""
    return total(wasted(row) for row in rows)
