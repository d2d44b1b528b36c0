"""What a training was to take, where its rows do not say: what stands around them.

``Epoch 3/50`` above the rows, behind them or in the label of a bar; a bar that counts epochs; what
a log names once: ``--epochs 50``, ``'max_epochs': 50``, ``train for 50 epochs``. Where two disagree
nothing is told: a plan that is wrong is worse than none. Steps are named above the rows alone:
``max_steps: 5000``.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

import numpy as np

from runlens.history import IntArray
from runlens.naming import in_english
from runlens.patterns import lazy_re
from runlens.sources.console.bars import Bars
from runlens.sources.console.postfix import counts_on, epochs_of
from runlens.sources.console.records import Placed, Records
from runlens.sources.console.rows import Epochs
from runlens.sources.reading import Hints

SHORT = 200  # characters of a line that names one setting
NEAR = 3  # lines around a setting, of what it may be a result
LONGEST = 8_000  # characters of a line that are looked at: dumps of settings are long
_OF = lazy_re(  # "Epoch [3/50]", "end of epoch 3 / 50"
    r"(?:\b([a-z]+)[ _-])?\bepochs?\W{0,3}(\d{1,6})\s?(?:/|of|\|(?=\s?\d{1,6}\]))\s?(\d{1,6})"
    r"\b(?![.\d]*[%\w])",
    re.IGNORECASE,
)
_COUNTED = lazy_re(r"\b(\d{1,6}) epochs? / (\d{1,6}) epochs\b")  # Chainer's bar
# of something within the training, or of no training
_NOT_ITS = lazy_re(r"val|test|eval|local|inner|client|warm|sub|mini|best|pre", re.IGNORECASE)
_NAMED = lazy_re(  # a setting: no word before it says of what, or another one: "batch=4 epochs=30"
    r"(?:^|[^\w\s.-]|--|[\])] |- |=[^\s=]{1,80} |\btrain(?:ing|er)?[. ])\s*"
    r"(?:(?:train|training|trainer|optim|hparams|solver|schedule)\.)?"
    r"(?:epochs|(?:n|num|nb|max|total|number[_ ]of|train(?:ing)?)[_ -]?"
    r"(?:train_|training_|of )?epochs?"
    r"|epochs?_(?:num|max|total|number)|epoch_?count)"
    r"['\"]?(?:\s*[:=|]\s*|\t+|\s*\.{2,}\s*|(?<=s) )(\d{1,6})"
    r"(?![\w/%:-]|[.,]\d|\s*(?:/|of\b|to\b|-\s?\d))",
    re.IGNORECASE,
)
# a part of settings that opens right before one: "'BENCHMARK': CfgNode({'NUM_EPOCHS': 5"
_OTHER_PART = lazy_re(
    r"['\"]\w*(?:bench|val|test|eval|warm|pretrain)\w*['\"]: (?:\w+\()?\{['\"]?$", re.IGNORECASE
)
# settings in one line, of which "epoch" is one: in others it is that which goes on
_A_DUMP = lazy_re(r"\bNamespace\(|\{['\"]\w+['\"]: ")
_BATCH = lazy_re(r"\b(?:train_?)?batch_?size['\"]?(?:=|: )", re.IGNORECASE)
_MEASURED = lazy_re(r"(?:loss|acc|accuracy)['\"]?(?:=|: )-?\d", re.IGNORECASE)
_IN_DUMP = lazy_re(r"(?:[({ ]epoch=|['\"]epoch['\"]: )(\d{1,6})(?=[,)}])")
_STEPS = lazy_re(  # a setting, like that of epochs
    r"(?:^|[^\w\s.-]|--|[\])] |- |\btrain(?:ing|er)?[. ])\s*"
    r"(?:max(?:imum)?[. _-]{0,5}(?:train(?:ing)?[ _])?(?:step|iter(?:ation)?)[a-z]{0,4}"
    r"|(?:n|num|max|total|global|comm(?:unication)?)[ _]"
    r"(?:(?:global|comm(?:unication)?)[ _])?rounds"
    r"|total[ _](?:train(?:ing)?[ _]|env(?:ironment)?[ _]|global[ _])?(?:time)?steps)"
    r"['\"]?\s*[:=]\s*(\d{1,3}(?:,\d{3}){1,2}|\d{1,9})(?![\w/%:-]|[.,]\d)",
    re.IGNORECASE,
)
_GLOBAL = lazy_re(
    r"\b(?:max|total|num)_global_steps?['\"]?\s*[:=]\s*([1-9]\d{0,8})(?![\w/%:-]|[.,]\d)"
)
_BEGUN = lazy_re(  # "Starting training..., iters: 600"
    r"\b(?:start(?:ing|ed)?|begin(?:ning)?|begun)\b[\w ]{0,20}\btrain(?:ing)?\b[^\w=]{1,10}"
    r"(?:(?:n|num|max|total)[ _])?(?:iter(?:ation)?s|steps)\s*[:=]\s*(\d{1,9})"
    r"(?![\w/%:-]|[.,]\d)",
    re.IGNORECASE,
)
_FOR = lazy_re(
    r"\btrain(?:ing)?\b[\w ]{0,40}? for (?:a total of |up to |max(?:imum)? )?"
    r"(\d{1,3},\d{3}|\d{1,6}) epochs\b"
    r"|\btraining(?: \w+)?\W{1,4}(?:(?:a )?total (?:of )?)?(\d{1,6}) epochs\b"
    r"|\bmax: (\d{1,6}) epochs\b"
    r"|^# epoch: (\d{1,6})$",  # Chainer's examples
    re.IGNORECASE,
)
_COUNTS_EPISODES = lazy_re(r"^(?!.*epoch).*?\bepisodes?\W{0,3}\d", re.IGNORECASE)
_EPISODE = lazy_re(r"episode", re.IGNORECASE)
_REACHED = lazy_re(r"`max_(?P<of>epochs|steps)=(?P<plan>\d{1,9})` reached")  # Lightning's last line
_OPENED = lazy_re(r"\s*([A-Za-z]\w*)\s*:?\s*\{\s*")  # of protobuf's text
_TRAINS = lazy_re(r"train(?:ing|er)?(?:_|$)(?!.*(?:reader|data|input))", re.IGNORECASE)
_IN_BLOCK = lazy_re(
    r"\s*(?:num_|max_|total_)?(?:train_)?(?:steps|iter(?:ation)?s)\s*:\s*(\d{1,9})\s*(?:#.*)?$"
)
_FOR_STEPS = lazy_re(  # "Training for 55000 total iterations", "Training for 1,000,000 timesteps"
    r"\btrain(?:ing)?\b[\w ]{0,40}? for (?:a total of |up to |max(?:imum)? )?"
    r"(\d{1,3}(?:,\d{3}){1,2}|\d{1,9}) (?:\w+ ){0,2}?(?:(?:time)?steps|iter(?:ation)?s|updates)\b",
    re.IGNORECASE,
)
_ALONE = lazy_re(  # nothing else in its line: "Steps: 3000", no "eval steps"
    r"(?:|.*(?:[\])|] |- |[\w\]]:))\s*(?:(?:num(?:ber of)?|max|total|train(?:ing)?)[ _-]?){0,2}"
    r"(?:(?P<steps>steps|iter(?:ation)?s)|epochs)\s*[:=]\s*(?P<plan>\d{1,9})\s*",
    re.IGNORECASE,
)
# beside what an optimiser such as SciPy's says when it is done, the iterations that it took
_SOLVED = lazy_re(r"\s*(?:optimization terminated|function evaluations|success|converged)\b", 2)
_A_BAR = lazy_re(r"(?:train(?:ing)?|total|overall)?[ _]*epochs?", re.IGNORECASE)
_RATE = lazy_re(r", *(?:[\d.]+ ?s/epochs?|[\d.?]+ ?epochs?/s)\b")  # the rate of a bar


def tell_plan(
    hints: Hints, rows: IntArray, others: Sequence[tuple[int, str]], near: Bars, bars: Bars
) -> Bars:
    """Say what stands around `rows`, their lines, of the plan; return the `bars` of the run.

    Behind the last row it is of something else. Where there is none, the bar of one of several
    epochs is none of the run.
    """
    reached = next((r for _, line in reversed(others) if (r := _REACHED.search(line))), None)
    if len(rows):
        others = others[: bisect_right(others, int(rows[-1]), key=itemgetter(0))]
        near = near.between(-1, int(rows[-1]) + 1)
    said = _of_episodes(rows, others) or (line for _, line in others)
    done, hints.planned_epochs, _ = _around(said, near, hints.done_epochs)
    if reached:
        _tell_reached(hints, reached)
    if hints.planned_epochs == 1 == hints.done_epochs:
        hints.done_epochs = None  # nothing says how much of its only epoch is done
    if hints.done_epochs is None and (hints.planned_epochs or 0) > 1:
        hints.done_epochs = _of_the_first(near.taken(np.isin(near.at, rows)))
    if not (len(rows) or len(bars) or done):
        _tell_of_last_launch(hints, others)
    if len(rows) or done is None:
        return bars
    hints.done_epochs = done
    return bars if (np.diff(bars.done) >= 0).all() else bars.taken(slice(0, 0))


def _of_episodes(rows: IntArray, others: Sequence[tuple[int, str]]) -> list[str]:
    """Return lines as if their episodes were epochs, where rows count those: ``Episode 3 | ...``.

    Nothing where a row names an epoch: it has several episodes then.
    """
    mine = [others[n][1] for n in np.flatnonzero(np.isin([at for at, _ in others], rows)).tolist()]
    if not mine or not all(_COUNTS_EPISODES.search(line) for line in mine):
        return []
    return [_EPISODE.sub("epoch", line) for _, line in others]


def _tell_reached(hints: Hints, reached: re.Match[str]) -> None:
    """Say what was to take as many epochs, or steps, as it took."""
    if reached["of"] == "steps":
        hints.planned_steps = hints.planned_steps or int(reached["plan"])
    else:
        hints.planned_epochs = hints.planned_epochs or float(reached["plan"])


def _tell_of_last_launch(hints: Hints, others: Sequence[tuple[int, str]]) -> None:
    """Say what the last launch of a log without any row was to take, as its settings name it."""
    lines = [line if len(line) <= SHORT else "" for _, line in others]
    alone = [(n, said) for n, line in enumerate(lines) if (said := _ALONE.fullmatch(line))]
    near = {n: lines[max(n - NEAR, 0) : n + NEAR + 1] for n, _ in alone}
    given = [said for n, said in alone if not any(map(_SOLVED.match, near[n]))]
    plans = {said["steps"] is not None: int(said["plan"]) for said in given}
    hints.planned_steps = plans.get(True) or None
    short = (line[:LONGEST] for _, line in others)
    dumped = dict(one for line in short if "poch" in line.lower() for one in _settings(line))
    latest = {number for number in dumped.values() if number}
    last = float(*latest) if len(latest) == 1 else None
    hints.planned_epochs = plans.get(False) or hints.planned_epochs or last


def _of_the_first(bars: Bars) -> float | None:
    """Return how much of the first epoch is done by the bar in whose line the rows are logged.

    None where there is another bar, or where it came to its end: nothing says what came behind.
    """
    if not len(bars) or len(np.unique(bars.total)) > 1 or (np.diff(bars.done) < 0).any():
        return None
    share = float(bars.done[-1]) / max(float(bars.total[-1]), 1.0)
    return share if 0 < share < 1 else None


def steps_above(
    records: Records, placed: Placed, others: Sequence[tuple[int, str]], near: Bars
) -> int | None:
    """Return the steps that lines above the rows name; None where two disagree.

    Rows that count epochs or episodes, or nothing, say nothing of such a plan, unless it is
    one in global steps; those of a bar that counts to as many do.
    """
    if not len(records):
        return None
    above = others[: bisect_right(others, int(records.at[0]) - 1, key=itemgetter(0))]
    if np.isfinite(records.epoch).any():
        beyond = placed.step.max() > 1 + np.nanmax(records.epoch)
        return _of_the_run(above) if beyond else None
    short = (line[:LONGEST] for _, line in above if ":" in line or "=" in line)
    found = (said for line in short for said in _STEPS.finditer(in_english(line)))
    named = {_number(said[1]) for said in found}
    begun = (line[:SHORT] for _, line in above if "rain" in line)
    named |= {int(said[1]) for line in begun for said in _BEGUN.finditer(line)}
    named |= set(_of_blocks([line for _, line in above]))
    told = (line[:LONGEST] for _, line in above if " for " in line)
    named |= {_number(said[1]) for line in told for said in _FOR_STEPS.finditer(line)}
    named -= {0}
    plan = named.pop() if len(named) == 1 else None
    if len(mine := near.total[np.isin(near.at, records.at)]):
        return plan if plan in mine else None
    return None if placed.inferred else plan


def _number(said: str) -> int:
    """Return a whole number, whose thousands may be set apart."""
    return int(said.replace(",", ""))


def _of_the_run(above: Sequence[tuple[int, str]]) -> int | None:
    """Return the plan that says to count over all epochs: ``max_global_step=1024``."""
    named = {int(said[1]) for _, line in above for said in _GLOBAL.finditer(line[:LONGEST])}
    return named.pop() if len(named) == 1 else None


def _of_blocks(lines: Iterable[str]) -> Iterator[int]:
    """Yield the steps that settings in braces name for the training: ``steps: 23200``.

    Directly in ``train_config {``, whose name says so; behind ``#`` is what is off.
    """
    blocks: list[str] = []
    for line in lines:
        if opened := _OPENED.fullmatch(line[:SHORT]):
            blocks.append(opened[1])
        elif line.strip() == "}":
            del blocks[-1:]
        elif blocks and _TRAINS.match(blocks[-1]) and (said := _IN_BLOCK.match(line[:SHORT])):
            yield int(said[1])


def _around(lines: Iterable[str], bars: Bars, done: float | None) -> Epochs:
    """Return what stands around the rows of a training: in lines, and in the states of `bars`.

    Where its rows say how many epochs are `done`, lines that come further are of something else.
    """
    if (told := _bar_of_epochs(bars)).planned:
        return told
    if (told := epochs_of(list(bars.taken(bars.an_epoch)))).planned:
        return told
    counted: set[tuple[int, int]] = set()
    named: dict[str, set[int]] = {}  # by the words before it: one that goes on counts
    for line in lines:
        if "poch" in line[:LONGEST].lower():
            counted.update(_counted(line[:LONGEST]))
            for words, number in _settings(line[:LONGEST]):
                named.setdefault(words, set()).add(number)
    if done is not None and any(begun > done + 1 for begun, _ in counted):
        return Epochs()
    settings = {number for some in named.values() if len(some) == 1 for number in some}
    plans = ({planned for _, planned in counted} or settings) - {0}
    plan = plans.pop() if len(plans) == 1 else 0
    fits = plan > 0 and (done is None or done <= plan)  # more were done: it is of a part of them
    return Epochs(planned=float(plan)) if fits else Epochs()


def _bar_of_epochs(bars: Bars) -> Epochs:
    """Return what a bar says that counts epochs: ``Epoch:  40%|####  | 2/5 [...]``."""
    totals, last = np.unique(bars.total[::-1], return_index=True)
    for bar in bars.taken(len(bars) - 1 - last[totals > 0]):
        label = bar.label.rpartition("- ")[2].strip()
        if _A_BAR.fullmatch(label) or _RATE.search(bar.postfix):
            return Epochs(float(bar.done), float(bar.total))
    named = list(bars.taken(bars.an_epoch))
    if not counts_on(named):
        return Epochs()
    return Epochs(float(named[-1].done), float(named[-1].total))


def _counted(line: str) -> Iterator[tuple[int, int]]:
    for said in _OF.finditer(line):
        begun, planned = int(said[2]), int(said[3])
        if begun <= planned and not _NOT_ITS.match(said[1] or ""):
            yield begun, planned
    if of_chainer := _COUNTED.search(line):
        yield int(of_chainer[1]), int(of_chainer[2])


def _settings(line: str) -> Iterator[tuple[str, int]]:
    for said in _NAMED.finditer(line):
        if not _OTHER_PART.search(line, 0, said.start() + 1):
            yield said[0].removesuffix(said[1]), int(said[1])
    if _A_DUMP.search(line) and _BATCH.search(line) and not _MEASURED.search(line):
        yield from (("epoch in a dump", int(said[1])) for said in _IN_DUMP.finditer(line))
    for said in _FOR.finditer(line):
        yield "", _number(next(filter(None, said.groups())))
