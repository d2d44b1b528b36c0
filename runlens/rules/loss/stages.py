"""What says that a jump of the loss is where something else begins to be summed or counted.

Of a jump after which the loss does not rise on: a loss that was lost does.
"""

import numpy as np

from runlens.arrays import median
from runlens.history import Curve
from runlens.metrics import spoken
from runlens.naming import words
from runlens.run import Run
from runlens.wording import loss, number, step

FEWEST = 3  # points of a column: fewer begin and end anywhere
# of a column that says how hard the task is, not how well it is done
TASK = frozenset(
    ("len", "length", "seqlen", "maxlen", "level", "stage", "phase", "difficulty", "resolution",
     "res", "context", "ctx", "curriculum", "task", "lesson", "horizon")
)  # fmt: skip
OVER = 0.1  # of the jump: what the loss may rise by before and behind it


def begins(run: Run, train: Curve, at: int, rows: int) -> str:
    """Say what begins where the training loss jumps; empty where nothing does.

    That is within some `rows` from index `at` on: a rise is dated where it leaves the noise.
    """
    if _again(train, at):
        return f"step {step(float(train.step[at]))} comes a second time: another start"
    if not at:
        return ""
    at += int(np.argmax(np.diff(train.value[at - 1 : at + rows])))
    if told := task(run, train, at):
        return told
    if not _over(train, at):
        return ""
    return _part(run, train, at) or _columns(run, train, at)


def _again(train: Curve, at: int) -> bool:
    """Whether the first step is logged twice, as no other is, and the jump lies between both."""
    same = np.flatnonzero(np.diff(train.step) == 0)
    return at == 1 and same.tolist() == [0]


def _over(train: Curve, at: int) -> bool:
    """Whether a rise is one jump, before which and behind which the loss does not rise."""
    before, behind = train.value[:at], train.value[at:]
    width = max(FEWEST, len(behind) // 10)
    top, end = float(median(behind[:FEWEST])), float(median(behind[-width:]))
    return max(end - top, float(before[-1] - before.min())) <= OVER * (top - float(before[-1]))


def levels(run: Run, train: Curve) -> str:
    """Say which level of the task is what the largest jump of the training loss is of."""
    return task(run, train, int(np.argmax(np.diff(train.value))) + 1) if len(train) > 1 else ""


def task(run: Run, train: Curve, at: int) -> str:
    """Say which column of the task changes its level with the row of the jump: a curriculum.

    It stands still between its changes: a length that is another in each row is that of a batch.
    Each of its levels is held by itself, as the loss of the second may lie above the whole first:
    within none may it rise.
    """
    jump = float(train.value[at] - train.value[at - 1])
    for name in run.history.metrics:
        column = run.curve(name).finite()
        if not TASK.intersection(words(name)) or len(column) < 2 * FEWEST:
            continue
        changes = np.flatnonzero(np.diff(column.value)) + 1
        stands = np.diff([0, *changes, len(column)]).min() >= FEWEST
        cuts = [_within(train, column.step[n - 1], column.step[n]) for n in changes]
        if not stands or at not in cuts:
            continue
        parts = [part for part in np.split(train.value, sorted({*cuts} - {0})) if len(part)]
        rises = [float(median(part[-FEWEST:]) - median(part[:FEWEST])) for part in parts]
        if max(rises) <= OVER * jump:
            low, high = column.value[changes[cuts.index(at)] - 1 :][:2]
            return f"{spoken(name)} goes from {number(float(low))} to {number(float(high))} there"
    return ""


def _within(train: Curve, last: float, first: float) -> int:
    """Return the row that rises most of those behind one step up to another; 0 for none."""
    low, high = np.searchsorted(train.step, (last, first), side="right")
    if not 0 < low < high:
        return 0
    return int(low + np.argmax(np.diff(train.value[low - 1 : high])))


def _part(run: Run, train: Curve, at: int) -> str:
    """Say which part of the loss was exactly 0 up to the jump, and never is from there on."""
    for name in run.history.metrics:
        if name == "train_loss" or "loss" not in words(name) or name.startswith(("eval", "grad")):
            continue
        part = run.curve(name).finite()
        first = np.flatnonzero(part.value)[:1]
        if not len(first) or first[0] < FEWEST or part.step[first[0]] != train.step[at]:
            continue
        if part.value[first[0] :].all():
            level = loss(float(part.value[first[0]]))
            return f"{spoken(name)} was 0 up to there and is {level} from there on"
    return ""


def _columns(run: Run, train: Curve, at: int) -> str:
    """Say which column ends with the last row before the jump, and which begins with the jump."""
    last, first = int(train.step[at - 1]), int(train.step[at])
    curves = {name: run.curve(name) for name in run.history.metrics}
    long = {name: one for name, one in curves.items() if len(one) >= FEWEST}
    ended = next((name for name, one in long.items() if one.step[-1] == last), "")
    begun = next((name for name, one in long.items() if one.step[0] == first), "")
    return f"{spoken(ended)} ends there and {spoken(begun)} begins" if ended and begun else ""
