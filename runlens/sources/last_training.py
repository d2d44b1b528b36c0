"""Which trainings of one log are judged where none is named: the last may have hardly begun.

A log that was appended to often ends in a launch that was stopped after a row or two. What its
user asks about is the training before it, so that is judged, and the launch is told in a line. One
that died of an error is kept: its message can be judged.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from runlens.patterns import lazy_re
from runlens.run import LAST_TRAINING, Problem, Run
from runlens.wording import count, listed

FEWEST = 4  # points of the main curve from which a training has a shape
MAIN = ("train_loss", "eval_loss", "reward")
_NUMBERED = lazy_re(r"(.*) \((\d+) of (\d+)\)", re.DOTALL)  # as `trainings.numbered` names them


def without_short_ends(runs: Sequence[Run]) -> list[Run]:
    """Return runs without the last trainings of a log that are too short, each told in a line."""
    logs: dict[tuple[object, ...], list[tuple[int, Run]]] = {}
    for run in runs:
        if found := _NUMBERED.fullmatch(run.name):
            of_log = (run.sources, found[1], found[3])
            logs.setdefault(of_log, []).append((int(found[2]), run))
    told: dict[int, Run | None] = {}
    for trainings in logs.values():
        ordered = [run for _, run in sorted(trainings, key=lambda one: one[0])]
        short = _short_at_end(ordered)
        if 0 < len(short) < len(ordered):
            told.update(dict.fromkeys(map(id, short)))
            last = ordered[-len(short) - 1]
            told[id(last)] = replace(last, problems=(*last.problems, _said(short, ordered)))
    kept = (told.get(id(run), run) for run in runs)
    return [run for run in kept if run is not None]


def _short_at_end(trainings: Sequence[Run]) -> list[Run]:
    """Return the last trainings that are too short; all of them where none before can be judged."""
    at = len(trainings)
    while at and _rows(trainings[at - 1], trainings) < FEWEST and not _failed(trainings[at - 1]):
        at -= 1
    return list(trainings[at:])


def _rows(run: Run, trainings: Sequence[Run]) -> int:
    """Return the points of the main curve; of the longest where no training has one."""
    main = [name for name in MAIN if any(name in one.history.metrics for one in trainings)]
    return max((len(run.curve(name)) for name in main or run.history.metrics), default=0)


def _failed(run: Run) -> bool:
    return run.state.kind in {"crashed", "killed"} or any(e.kind == "message" for e in run.events)


def _said(short: Sequence[Run], trainings: Sequence[Run]) -> Problem:
    names = listed([f"{run.name} with {count(_rows(run, trainings), 'row')}" for run in short])
    what = "a training" if len(short) == 1 else "trainings"
    text = f"ends in {what} too short to judge: {names}; --run NAME shows it"
    return Problem(", ".join(short[-1].sources), text, LAST_TRAINING)
