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
    if not _over(train, at):
        return ""
    return _task(run, train, at) or _part(run, train, at) or _columns(run, train, at)


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


def _task(run: Run, train: Curve, at: int) -> str:
    """Say which column of the task changes its level with the row of the jump: a curriculum.

    It stands still before and behind: a length that is another in each row is that of a batch.
    """
    last, first = int(train.step[at - 1]), int(train.step[at])
    for name in run.history.metrics:
        column = run.curve(name).finite()
        if not TASK.intersection(words(name)) or len(column) < 2 * FEWEST:
            continue
        before, behind = column.before(last + 1).value, column.after(first).value
        before, behind = before[-FEWEST:], behind[:FEWEST]
        known = len(before) == len(behind) == FEWEST
        if known and not np.ptp(before) and not np.ptp(behind) and before[-1] != behind[0]:
            levels = f"{number(float(before[-1]))} to {number(float(behind[0]))}"
            return f"{spoken(name)} goes from {levels} there"
    return ""


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
