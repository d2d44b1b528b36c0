"""What the columns of a table without names are, where its file says what was measured.

``loss.csv`` of ``0,1720173596674,973.78``: a column that rises is the step, one of the seconds or
milliseconds since 1970 a time, and the only other one is what the file is called after. The log of
an agent is known by the rate of its exploration, ``7,-120.5,88,0.93``; seconds since the start rise
from row to row.
"""

from collections.abc import Sequence

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.naming import classify, words
from runlens.naming.agents import won
from runlens.patterns import lazy_re
from runlens.sources.tables.names import SPLITS

STEP, EPOCH, TIME, TRAINING = "step", "epoch", "wall_time", "run"
EPISODE, EPSILON, LENGTH, ELAPSED = "episode", "epsilon", "episode_length", "time"
LOGS = frozenset(("log", "logs", "history", "progress", "metrics", "train"))  # words of file names
LOSSES = ("train/loss", "val/loss")
BY_NUMBERS = {STEP, EPISODE, LOSSES[1]}  # that numbers alone say what columns are
UNNAMED = "column "  # how the columns of a table without names are called
ALIKE = 2.0  # times: so near losses of both data are at first
EXPLORES = 0.2  # a rate of exploration is higher at some time; a learning rate is not
HIGHEST = 0.95  # of its first rows, what its last have at most
TINY = 1e-300  # what is divided by instead of 0
EVEN = 0.02  # of the factor by which it falls, which rounding changes
# how a file of one of several trainings is called
_OF_ONE = lazy_re(r"(?i)(?<![a-z])(?:seed|run|fold|trial|exp|rep|repeat|rank|worker)[-_ ]?\d{1,6}$")
FEWEST_ALONE = 5  # rows
FEWEST_TIMED = 20  # rows: so often nothing that is measured rises
MOSTLY = 0.9  # share of the rows that go on as a counter, or as a rate of exploration, does
WALL = ((1e9, 4e9), (1e12, 4e12))  # seconds and milliseconds since 1970, of 2001 to 2096
FEWEST = 3  # rows
ROUNDED = 1e-3  # of a quotient: what rounding of both to four digits leaves
VARIED = 0.1  # of a loss, at least: a hundred times what rounding leaves of its exp
SHARED = 0.5  # of the range of all, which each of several repeats has
FALLEN = 0.5  # of what numbers were at first, below which they are of what is minimised


def roles(table: FloatArray, stem: str) -> list[str]:
    """Return the names of the columns of numbers, shape (rows, columns); nothing if unclear.

    `stem` is the metric that the file is called after. ``1, 20, 0.5`` counts epochs and steps;
    where the first goes up and down between the same few, it tells trainings apart: ``client,
    round, loss``.
    """
    rows, width = table.shape
    if rows < FEWEST or width < 2 or np.isnan(table[:, :-1]).any():  # noqa: PLR2004 - one has the name
        return []
    places = range(width)
    if alone := roles_alone(table, stem) or list(of_both(table, stem)):
        return alone
    times = [n for n in places if is_time(table[:, n])]
    whole = [n for n in places if n not in times and _is_count(table[:, n])]
    values = [n for n in places if n not in times + whole] or [width - 1]
    counters = _counters(table, [n for n in whole if n not in values])
    if len(counters) + len(values) + len(times) != width or not counters:
        return []
    if len(values) > 1 and not _are_repeats(table[:, values], stem):
        return []
    if list(counters.values()) == [STEP] and _won(table[:, values[0]], stem):
        counters = dict.fromkeys(counters, EPISODE)
    several = {n: f"{stem} ({at})" for at, n in enumerate(values[1:], 2)}
    named = {values[0]: stem, **several, **dict.fromkeys(times[:1], TIME), **counters}
    return [named.get(n, "") for n in places]


def _are_repeats(table: FloatArray, stem: str) -> bool:
    """Whether columns are rewards of several trainings, or games: they lie between the same ends.

    What else a program logs of an episode has a scale of its own; losses may be of other data.
    """
    low, high = table.min(axis=0), table.max(axis=0)
    shared, whole = high.min() - low.max(), high.max() - low.min()
    return classify(stem).quantity == "reward" and bool(shared > SHARED * whole)


def _won(value: FloatArray, stem: str) -> bool:
    """Whether scores are what an agent won: they begin below 0, where no share of right ones is."""
    low, high = value.min(), value.max()
    return won(stem) > 0 and not classify(stem).quantity and low < 0 and high - low > 1


def of_both(table: FloatArray, stem: str) -> tuple[str, ...]:
    """Return the names of two columns that are losses of both data; nothing where they are not.

    The file is called a loss, of no data, or a log. They begin alike, fall, and that of the
    training, which programs write first, ends lower. A file may name both, in their order.
    """
    if (named_both := _both_said(stem)) and len(table) >= FEWEST:
        two = table.shape[1] == len(LOSSES) and not np.isnan(table).any()
        return named_both if two and not any(_is_count(one) for one in table.T) else ()
    called = classify(stem)
    named = (called.quantity == "loss" and not called.split) or of_log(stem)
    if not named or len(table) < FEWEST_ALONE or table.shape[1] != len(LOSSES):
        return ()
    if np.isnan(table).any() or any(_is_count(column) for column in table.T):
        return ()
    (one, other), first, last = table.T, table[0], table[-1]
    alike = max(first) <= ALIKE * min(first) and last[0] < last[1]
    fall = minimised(one.tolist()) and minimised(other.tolist(), share=HIGHEST)
    return LOSSES if alike and fall else ()


def _both_said(stem: str) -> tuple[str, ...]:
    """Return what a file is called after on both data: ``train_val_loss``; nothing of others."""
    said = words(stem)
    data = [word for word in said if word in SPLITS]
    what = "_".join(word for word in said if word not in SPLITS)
    both = [SPLITS[word] == "" for word in data]
    told = len(data) == len(LOSSES) and sum(both) == 1 and classify(what).quantity
    return tuple(f"{word}/{what}" for word in data) if told else ()


def named_by_course(
    names: tuple[str, ...], rows: Sequence[Sequence[float]], stem: str
) -> tuple[str, ...]:
    """Return the names of columns, of which two without a name may be losses of both data.

    Of several in a file that is called a loss it is the only one that falls, or that is noisy where
    a schedule falls as well.
    """
    if len(names) < len(LOSSES) or not names[0].startswith(UNNAMED):
        return names
    if len(names) == len(LOSSES) and (both := of_both(np.array(rows), stem)):
        return both
    table = np.array(rows)
    if classify(stem).quantity and len(rows) >= FEWEST_ALONE:  # top-5 of 4 classes is 100
        moving = np.flatnonzero(np.ptp(table, axis=0)).tolist()
        if len(moving) == 1:
            return tuple(stem if n in moving else name for n, name in enumerate(names))
    if classify(stem).quantity != "loss" or len(rows) < FEWEST_TIMED:
        return names
    first, last = (
        np.median(some, axis=0) for some in (table[:FEWEST_ALONE], table[-FEWEST_ALONE:])
    )
    falls = np.flatnonzero((table.min(axis=0) >= 0) & (last < FALLEN * first)).tolist()
    fell = [n for n in falls if len(falls) == 1 or _is_noisy(table[:, n])]
    return tuple(stem if fell == [n] else name for n, name in enumerate(names))


def of_quotient(table: FloatArray) -> int:
    """Return the first of three columns, shape (rows, columns), the third of which is a quotient.

    -1: there are none. Who prints the loss of the training, that of held-out data and how many
    times one is the other, as nolearn does, says so what they are. None of them is a whole number,
    as what is counted is, and beside them the quotient goes its own way.
    """
    finite = table[np.isfinite(table).all(axis=1)]
    if len(finite) < FEWEST:
        return -1
    for first in range(table.shape[1] - 2):
        one, other, both = finite[:, first : first + 3].T
        losses = np.stack([one, other])
        measured = (losses > 0).all() and (losses != np.floor(losses)).all()
        if measured and (both != both[0]).any() and np.allclose(one, other * both, ROUNDED, 0):
            return first
    return -1


def of_power(table: FloatArray) -> int:
    """Return the first of two columns beside each other, the other of which is its exp; -1: none.

    Who prints both says so what they are: a loss, and its perplexity, as RWKV does. Numbers so near
    to 0 that their exp is 1, as an accuracy may be, tell nothing.
    """
    finite = table[np.isfinite(table).all(axis=1)]
    if len(finite) < FEWEST:
        return -1
    with np.errstate(over="ignore"):
        for first in range(table.shape[1] - 1):
            loss, ppl = finite[:, first : first + 2].T
            apart = (loss > ROUNDED).all() and loss.max() - loss.min() > VARIED
            if apart and np.allclose(np.exp(loss), ppl, ROUNDED, 0):
                return first
    return -1


def _is_noisy(value: FloatArray) -> bool:
    """Whether numbers go up and down from row to row, as those of no schedule do."""
    apart = np.diff(value)
    return bool((apart[1:] * apart[:-1] < 0).mean() >= 1 - MOSTLY)


def roles_alone(table: FloatArray, stem: str) -> list[str]:
    """Return the names of columns that say by their course alone what they are."""
    rows, width = table.shape
    if rows < FEWEST_ALONE or width < len((STEP, "what", ELAPSED)) or np.isnan(table).any():
        return []
    return _of_agent(table, stem) or _timed(table, stem) or _counted(table, stem)


def _counted(table: FloatArray, stem: str) -> list[str]:
    """Return the names of a counter and of the losses of both data behind it."""
    if not _goes_on(table[:, 0]):
        return []
    both = of_both(table[:, 1:], stem)
    return [STEP, *both] if both else _of_training(table, stem)


def _of_training(table: FloatArray, stem: str) -> list[str]:
    """Return the names of a counter, a loss and others, in a file called after a training.

    ``seed_0.tsv``, ``run3.csv``: who tells trainings apart by it keeps their curves there. That of
    the loss comes first, and falls; of the others nothing says what they are.
    """
    of_one = _OF_ONE.search(stem) is not None
    whole = any(_is_count(table[:, n]) for n in range(1, table.shape[1]))
    if not of_one or whole or not minimised(table[:, 1].tolist()):
        return []
    return [STEP, "loss", *(f"{UNNAMED}{n}" for n in range(3, table.shape[1] + 1))]


def _of_agent(table: FloatArray, stem: str) -> list[str]:
    """Return the names of columns of episodes: what was got, how many steps, and exploration.

    Without a rate of exploration it is the file that says what was got.
    """
    by_file = classify(stem).quantity == "reward" or won(stem) > 0
    places = range(table.shape[1])
    counting = [n for n in places if _goes_on(table[:, n])]
    rates = [n for n in places if _decays(table[:, n], evenly=not by_file)]
    others = [n for n in places if n not in counting + rates]
    if len(counting) != 1 or len(rates) > 1 or not (rates or (by_file and len(others) > 1)):
        return []
    lengths = [n for n in others if _is_count(table[:, n]) and table[:, n].min() >= 1]
    got = [n for n in others if n not in lengths] or others[:1]
    measured = [n for n in got if (table[:, n] != np.floor(table[:, n])).any()]
    beside = [n for n in got if n not in measured] if by_file and len(measured) == 1 else []
    got = measured if beside else got
    several = len(others) - len(beside) > len(("got", "length")) or len(lengths) == len(others) > 1
    if len(got) != 1 or len(beside) > 1 or several:
        return []
    named = {n: f"{UNNAMED}{n + 1}" for n in beside}
    named |= dict.fromkeys(lengths, LENGTH) | {got[0]: stem if by_file else "reward"}
    named |= dict.fromkeys(counting, EPISODE) | dict.fromkeys(rates, EPSILON)
    return [named[n] for n in places]


def _goes_on(value: FloatArray) -> bool:
    """Whether whole numbers count on by one in nearly all rows: launches may begin them anew."""
    return _is_count(value) and bool((np.diff(value) == 1).mean() >= MOSTLY)


def _decays(value: FloatArray, *, evenly: bool) -> bool:
    """Whether shares are highest at first and end lower: by one factor or amount, if `evenly`.

    No learning rate is so high. They fall until they stay, and launches may begin them anew.
    """
    apart = np.diff(value)
    high = EXPLORES < value[0] == value.max() <= 1 and value.min() >= 0
    if not high or not (apart < 0).any() or (np.floor(value) == value).all():
        return False
    if not evenly:
        return minimised(value.tolist(), share=HIGHEST)
    factors = value[1:] / np.maximum(value[:-1], TINY)
    both = (some[apart < 0] for some in (factors, apart))
    even = (np.abs(one - median(one)) <= EVEN * abs(median(one)) for one in both)
    return bool((apart <= 0).mean() >= MOSTLY) and any(one.mean() >= MOSTLY for one in even)


def _timed(table: FloatArray, stem: str) -> list[str]:
    """Return the names of a step, a loss and the seconds since the start, in any order."""
    places = range(table.shape[1])
    apart = np.diff(table, axis=0)
    rising = [n for n in places if table[0, n] >= 0 and (apart[:, n] > 0).all()]
    whole = [n for n in rising if _is_count(table[:, n])]
    seconds = [n for n in rising if n not in whole and not is_time(table[:, n])]
    others = [n for n in places if n not in rising]
    if not len(whole) == len(seconds) == len(others) == 1 or len(table) < FEWEST_TIMED:
        return []
    known = classify(stem).quantity
    if not known and (not LOGS & set(words(stem)) or not minimised(table[:, others[0]].tolist())):
        return []
    named = {whole[0]: STEP, seconds[0]: ELAPSED, others[0]: stem if known else "loss"}
    return [named[n] for n in places]


def of_log(stem: str) -> bool:
    """Whether a file is called as a log: ``history``, ``log``; one called by its data is not."""
    return not (LOGS - {"train"}).isdisjoint(words(stem))


def is_time(value: FloatArray) -> bool:
    """Whether numbers are seconds or milliseconds since 1970, one after the other."""
    return any(low <= value.min() and value.max() < high for low, high in WALL) and bool(
        (np.diff(value) >= 0).all()
    )


def _is_count(value: FloatArray) -> bool:
    return bool((value == np.floor(value)).all() and value.min() >= 0)


def _counters(table: FloatArray, whole: Sequence[int]) -> dict[int, str]:
    """Return what one or two columns of whole numbers count; nothing where they do not."""
    apart = {n: np.diff(table[:, n]) for n in whole}
    rising = [n for n in whole if (apart[n] >= 0).all() and (apart[n] > 0).any()]
    others = [n for n in whole if n not in rising]
    if len(whole) == 1:
        if rising and _stands(table[:, rising[0]]):
            return {rising[0]: EPOCH}
        return dict.fromkeys(rising or [n for n in whole if _begins_anew(table[:, n])], STEP)
    if len(whole) != 2 or not rising:  # noqa: PLR2004 - epoch and step
        return {}
    if not others:
        epoch, step = sorted(whole, key=lambda n: (bool((apart[n] > 0).all()), table[-1, n]))
        return {epoch: EPOCH, step: STEP}
    (outer,), (inner,) = rising, others
    if inner < outer and (table[:, inner] == table[0, inner]).all() and table[0, inner] <= 1:
        return {inner: EPOCH, outer: STEP}  # the first has more steps than were looked at
    pairs = set(map(tuple, table[:, [inner, outer]].tolist()))
    if (apart[outer] > 0).all() or len(pairs) < len(table):
        return {}
    within = outer < inner and ((apart[inner] > 0) | (apart[outer] > 0)).all()
    return {outer: EPOCH, inner: STEP} if within else {outer: STEP, inner: TRAINING}


def _stands(value: FloatArray) -> bool:
    """Whether what rises one by one mostly stands still: an epoch that each of its steps says."""
    apart = np.diff(value)
    return set(apart.tolist()) == {0.0, 1.0} and bool((apart == 0).mean() >= MOSTLY)


def _begins_anew(value: FloatArray) -> bool:
    """Whether numbers rise by one and the same, and fall only to the first: at each launch."""
    gaps = np.diff(value)
    apart = median(gaps)
    rises, falls = gaps == apart, (gaps < 0) & (value[1:] == value[0])
    return bool(apart > 0 and (rises | falls).all())


def minimised(values: Sequence[float], share: float = FALLEN) -> bool:
    """Whether numbers that nobody named fell as a loss does: to less than half, none below 0.

    Another `share` is asked for where more is known of them.
    """
    few = max(1, len(values) // 10)
    return min(values) >= 0 and bool(median(values[-few:]) < share * median(values[:few]))
