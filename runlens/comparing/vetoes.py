"""What forbids to call a run better though the metric that decides is clear.

A run that is lost is not better by its training loss: one that memorized its data has the lowest of
all. And where other metrics of the same weight say clearly the opposite, neither run is better.
"""

import math
from collections.abc import Sequence

from runlens.comparing.direction import is_held_out, rank
from runlens.comparison import Measure, Result
from runlens.diagnosis import Finding
from runlens.metrics import is_loss, spoken
from runlens.records import NamedTuple
from runlens.wording import loss, number, step

WEIGHTY = 2  # ranks of held-out metrics up to here have the weight of the one that decides


class Veto(NamedTuple):
    """The result in place of better or worse, and why."""

    result: Result
    sentence: str
    second: str


def against(
    deciding: Measure,
    measures: Sequence[Measure],
    critical: tuple[Sequence[Finding], Sequence[Finding]],
    *,
    asked: bool = False,
) -> Veto | None:
    """Return what forbids the claim of the deciding measure; None where nothing does.

    Where the user has `asked` for its metric, no other is a match for it.
    """
    winner = "AB".index(deciding.favours.upper())
    if not is_held_out(deciding.metric) and critical[winner]:
        return _lost(deciding, critical, winner)
    other = next((one for one in measures if _opposes(one, deciding)), None)
    if other is None or asked:
        return None
    name = "AB"[winner]
    loser = "BA"[winner]
    sentence = f"Mixed: {name} is better by {values(deciding)}, {loser} by {values(other)}."
    return Veto("mixed", sentence, "Say which decides: --metric NAME.")


def _lost(
    deciding: Measure, critical: tuple[Sequence[Finding], Sequence[Finding]], winner: int
) -> Veto:
    name, finding = "AB"[winner], critical[winner][0]
    at = "" if finding.onset.step is None else f" (from step {step(finding.onset.step)})"
    if critical[1 - winner]:
        sentence = f"Cannot tell which is better: both are critical, {values(deciding)}."
    else:
        sentence = f"Cannot tell which is better: {values(deciding)}, but {name} is critical."
    second = f"{name}: {finding.title}{at}: a lower train loss does not make it the better run."
    return Veto("cannot_tell", sentence, second)


def _opposes(one: Measure, deciding: Measure) -> bool:
    """Whether a metric of the same weight says clearly the opposite at the end."""
    if not one.favours or one.favours == deciding.favours or one.metric == deciding.metric:
        return False
    if not one.what.startswith("Last "):
        return False
    if is_held_out(deciding.metric):
        most = WEIGHTY if rank(deciding.metric)[0] else 0  # a loss is no match for an aim
        return is_held_out(one.metric) and rank(one.metric)[0] <= most
    losses = [name for name in (one.metric, deciding.metric) if "loss" in name]
    return len(losses) == 2 and not is_held_out(one.metric)  # noqa: PLR2004 - both


def values(measure: Measure) -> str:
    """Return both numbers with their metric: ``eval loss 1.394 in B against 1.665 in A``."""
    write = loss if is_loss(measure.metric) else number
    a, b = (math.nan if value is None else value for value in (measure.a, measure.b))
    return f"{spoken(measure.metric)} {write(b)} in B against {write(a)} in A"
