"""The ledger of waste: GPU-hours that gave nothing, by the day, their cause and whose they were.

What a run wasted is `cost.wasted`, the one definition of pages, messages, trends and issues' sums:
what it trained after the first finding that spoils the result, or after its best evaluation where
it ends clearly worse. Each run is counted once, under the cause that cost the most.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

from runlens import cost
from runlens.crossrun.rule import title_of
from runlens.nights import RunRow, Waste

PAST_BEST = "past-best"  # the cause of hours after the best evaluation
_PAST_BEST = "Past the best evaluation"


def ledger(
    rows: Iterable[RunRow], tonight: Collection[str], price: float | None
) -> tuple[Waste, ...]:
    """Return what the runs wasted, the latest day first, then the most.

    Args:
        rows: the runs.
        tonight: keys of those that ended since the last night.
        price: of a GPU-hour.

    """
    found: dict[tuple[str, str, str, bool], list[float]] = defaultdict(list)
    for row in rows:
        if hours := cost.wasted(row):
            found[_day(row), _cause(row), row.user, row.key in tonight].append(hours)
    made = [
        Waste(
            day,
            cause,
            _PAST_BEST if cause == PAST_BEST else title_of(cause),
            user,
            len(hours),
            sum(hours),
            None if price is None else price * sum(hours),
            new,
        )
        for (day, cause, user, new), hours in found.items()
    ]
    made.sort(key=lambda one: (-one.gpu_hours, one.cause, one.user))
    return tuple(sorted(made, key=lambda one: one.date, reverse=True))


def _day(row: RunRow) -> str:
    """Return the day in UTC on which a run ended; empty where that is not known."""
    if row.ended is None or not 0 <= row.ended < cost.LATEST:
        return ""
    return datetime.fromtimestamp(row.ended, UTC).date().isoformat()


def _cause(row: RunRow) -> str:
    """Return the finding that cost the most; past the best evaluation where there is none."""
    spoils = [one for one in row.findings if cost.wastes(one)]
    spent = [(cost.after_onset(row, one) or 0.0, one.rule) for one in spoils]
    return max(spent, default=(0.0, PAST_BEST))[1]
