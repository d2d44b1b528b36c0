"""Tables of numbers: those of stable-baselines, those with a line of names; printed tensors."""

import re
from bisect import bisect
from collections.abc import Sequence
from itertools import pairwise

from runlens.metrics import plain
from runlens.naming import classify
from runlens.naming.direction import better
from runlens.patterns import lazy_re
from runlens.sources.console.calls import unwrapped
from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.mining.heads import Head, below, trimmed
from runlens.sources.console.pairs import names_metric
from runlens.sources.console.records import MAX_STEP, Record
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number
from runlens.sources.tables.names import ROW_NUMBERS

FRAMEWORK = "stable-baselines3"
MAX_NUMBERS = 10_000  # of one printed tensor

_CELL = lazy_re(r"^\s*\|\s*([^|]+?)\s*\|\s*([^|]*?)\s*\|\s*$")
_BORDER = lazy_re(r"^\s*-{5,}\s*$")
_STEPS = (
    "time/total_timesteps",
    "total_timesteps",
    "misc/total_timesteps",
    "timesteps",
    "num_timesteps",
    "frame",
    "frames",
    "steps",
    "total steps",
    "total_num_steps",
    "iterations",
    "nupdates",
    "totalenvinteracts",
    "iteration",
    "itr",
)
_PLAIN_STEP = "step"  # of OpenAI's diffusion loops, which write the same boxes
_EPOCH_COLUMNS = {"epoch", "e", "ep"}
_STEP_COLUMNS = {"step", "steps", "iter", "iteration", "iterations", "time_step", "timestep", "#"}
_GAP = lazy_re(r"\s{2,}|\t")
_LOSS = lazy_re(r"(?:^|_)loss(?:_|$)|^\w+ loss$", re.IGNORECASE)
_NAME = lazy_re(r"[A-Za-z][\w/.-]{0,80}(?: [\w/.-]{1,40})?")
_BOTH_LOSSES = {
    ("train_loss", "valid_loss"),
    ("trn_loss", "val_loss"),
    ("Training Loss", "Validation Loss"),
}  # of fastai, then and now; of the Trainer in a notebook
LEAST = 3  # rows of a table that counts none
MANY = 2_000  # lines of a log that is more than results of checkpoints
LONG = 20  # rows of a table of which nothing else says that it is a course
MAX_HEAD = 400  # characters of a line of names
_RULED = lazy_re(r"\s*-{2,}(?:\s{1,4}-{2,})+\s*")
_REWARDS = lazy_re(r"\brewards?\s*[:=]\s*tensor\(\[([^\]]*)\]")


def from_tables(others: Sequence[tuple[int, str]]) -> tuple[list[tuple[int, Record]], str]:
    """Return steps and records of tables such as ``| rollout/ep_rew_mean | 12 |``."""
    found: list[tuple[int, Record]] = []
    table: dict[str, float] = {}
    section = framework = ""
    for at, line in others:
        cell = _CELL.match(line) if "|" in line else None
        if cell and not cell[2] and cell[1].endswith("/"):
            section = cell[1]
        elif cell:
            number = as_number(cell[2])
            if number is not None:
                nested = section and line.lstrip()[1:].startswith("    ")
                table[section + cell[1] if nested else cell[1]] = number
        elif _BORDER.match(line) and table:
            if row := _row(at, table):
                found.append(row[:2])
                framework = row[2]
            table, section = {}, ""
    if len(found) > 1 and len({step for step, _ in found}) == 1:  # each 2.39e+06: none counts
        found = [(nth, record) for nth, (_, record) in enumerate(found, 1)]
    return found, framework


def _row(at: int, table: dict[str, float]) -> tuple[int, Record, str] | None:
    lower = {name.lower(): name for name in table}
    known = next((step for step in (*_STEPS, _PLAIN_STEP) if step in lower), None)
    name = lower[known] if known else ""
    if known is None or not 0 <= table[name] < MAX_STEP:
        return None
    values = {key: value for key, value in table.items() if key != name}
    record = Record(at, tuple(values), tuple(values.values()))
    return int(table[name]), record, "" if known == _PLAIN_STEP else FRAMEWORK


def from_tensors(others: Sequence[tuple[int, str]]) -> list[tuple[int, Record]]:
    """Return mean and spread of the rewards that a GRPO loop prints for each batch."""
    found: list[tuple[int, Record]] = []
    for at, line in others:
        printed = _REWARDS.search(line) if "tensor(" in line else None
        if not printed:
            continue
        items = [as_number(item.strip()) for item in printed[1].split(",")[:MAX_NUMBERS]]
        numbers = [item for item in items if item is not None]
        if len(numbers) > 1:
            mean = sum(numbers) / len(numbers)
            spread = (sum((n - mean) ** 2 for n in numbers) / (len(numbers) - 1)) ** 0.5
            found.append((len(found) + 1, Record(at, ("reward", "reward_std"), (mean, spread))))
    return found


def columns(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of tables with a line of names: fastai, spaCy, the Trainer in a notebook."""
    rows, _ = _headed(others)
    counters = {row.counted for row in rows}
    return rows if len(counters) > 1 or (counters == {Counted()} and len(rows) >= LEAST) else []


def _headed(others: Sequence[tuple[int, str]]) -> tuple[list[Row], list[int]]:
    """Return the rows below lines of names, and where these stand."""
    rows: list[Row] = []
    names = Head(_GAP, ())
    tabs = False
    heads: list[int] = []
    for at, line in others:
        if row := _column_row(at, line, names, tabs=tabs):
            rows.append(row)
        elif head := _column_names(line):
            names, tabs = Head(_GAP, tuple(head), line), "\t" in line.strip()
            heads.append(at)
    return rows, heads


def ruled(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of the only long table below names with dashes under each; none counts.

    So tabulate prints what a program kept, when it has ended. One of results has fewer rows, or
    names no loss and no error.
    """
    above = ["", *(line for _, line in others)]
    marked = [n for n, (_, line) in enumerate(others) if line.lstrip()[:1] == "-"]
    found = [(n, some) for n in marked if (some := _ruled_names(above[n], others[n][1]))]
    if len(found) != 1:
        return []
    ((begin, names),) = found
    head = Head(_GAP, tuple(names), above[begin])
    rows: list[Row] = []
    for at, line in others[begin + 1 :]:
        if not (row := _column_row(at, line, head, tabs=False)):
            break
        rows.append(row)
    return rows if len(rows) >= LONG else []


def _ruled_names(line: str, rule: str) -> list[str]:
    """Return the names above a rule with dashes below each; nothing of others."""
    if len(line) > MAX_HEAD or not _RULED.fullmatch(rule):
        return []
    names = _GAP.split(line.strip())
    fits = len(names) == len(rule.split()) == len(set(names)) and all(map(_NAME.fullmatch, names))
    counted = any(plain(name) in ROW_NUMBERS for name in names)
    return names if fits and not counted and any(better(name) < 0 for name in names) else []


def of_checkpoints(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of which each has a line of names of its own, while the epoch never goes on.

    A script that evaluates one checkpoint and ends prints so, ``160 0.25 0.9`` twice: it is no
    course of a training.
    """
    if len(others) > MANY:
        return []
    rows, heads = _headed(others)
    alone = len(rows) >= LEAST and len({bisect(heads, row.at) for row in rows}) == len(rows)
    epochs = [row.counted.epoch for row in rows]
    gaps = {after - before for before, after in pairwise(epochs)}
    return rows if alone and min(epochs) > 1 and 0 in gaps and 1 not in gaps else []


def without_checkpoints(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return the lines of a log without results of single checkpoints."""
    some = {row.at for row in of_checkpoints(others)}
    return [item for item in others if item[0] not in some] if some else others


def _column_names(line: str) -> list[str]:
    """Return the names that stand in a line, the first that of a counter, or nothing."""
    if len(line) > MAX_HEAD or ":" in line or "=" in line or not _GAP.search(line.strip()):
        return []
    names = [name.strip() for name in _GAP.split(line.strip())]
    if len(set(names)) < len(names):  # what stands above tells them apart
        return []
    if names[0].lower() in _EPOCH_COLUMNS | _STEP_COLUMNS:
        return _of_held_out(names) if any(map(names_metric, names)) else []
    losses = any(_LOSS.search(name) for name in names)  # a table of data has scores, but no loss
    return names if losses and "\t" in line and all(map(_NAME.fullmatch, names)) else []


def _of_held_out(names: list[str]) -> list[str]:
    """Return names with the data of what stands behind both losses: it is measured where loss is.

    So in the tables of fastai and of the Trainer.
    """
    if tuple(names[1:3]) not in _BOTH_LOSSES:
        return names
    return [n if classify(n).split or not tells(n) else f"valid_{n}" for n in names]


def _column_row(at: int, line: str, head: Head, *, tabs: bool) -> Row | None:
    names = head.names
    if not names or not line.lstrip()[:1].isdigit():
        return None
    line = unwrapped(line)
    cells = trimmed(line.strip().split("\t") if tabs else line.split(), len(names))
    if len(cells) < len(names) and not tabs:
        cells = below(line, head)
    counts = names[0].lower() in _EPOCH_COLUMNS | _STEP_COLUMNS
    if len(cells) != len(names) or (counts and whole(cells[0] if cells[0].isdigit() else "") < 0):
        return None
    step = epoch = -1
    values = {}
    for name, cell in zip(names, cells, strict=True):
        if name.lower() in _STEP_COLUMNS:
            step = whole(cell) if cell.isdigit() else -1
        elif name.lower() in _EPOCH_COLUMNS:
            epoch = whole(cell) if cell.isdigit() else -1
        elif (number := as_number(cell.removesuffix("%"))) is not None:
            values[name] = number / 100 if cell.endswith("%") else number
    if not values:
        return None
    return Row(at, Counted(step=step, epoch=epoch), tuple(values), tuple(values.values()))
