"""Lines of one layout as a table: the same names in the same order, whatever the numbers are."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
from msgspec import Struct, field

from runlens.history import BoolArray, FloatArray, IntArray
from runlens.patterns import lazy_re
from runlens.sources.console.counters import begin
from runlens.sources.console.forms import by_form
from runlens.sources.console.mining.heads import Head, head, row, with_second, without_settings
from runlens.sources.console.mining.phrases import SPLIT, Column, Phrase, phrase, split_of
from runlens.sources.console.mining.slots import WIDEST, Slot, parts
from runlens.sources.console.pairs import names_metric

OFTEN = 2  # headings of each data
MOST_LAYOUTS = 20_000  # more are no log of a machine: what comes then is left out
_SETTINGS = "Namespace("  # argparse's: each of its numbers is one
_TEXTS = 3  # values of a printed dict that are words: it says what the program was called with
_TEXT = lazy_re(r"': (?:['\"]|True\b|False\b|None\b)")
_RULE = lazy_re(r"\s*[-=+*#_~|│┃─━┄┼╋┌┐└┘├┤┬┴╭╮╰╯╔╗╚╝═║\s:]{3,}$")
_SECTION = lazy_re(r"\W{2,}[\w -]{2,40}\W*|\W{0,3}[\w -]{2,40}:|\[[\w -]{2,40}\]")
_BEGUN = lazy_re(  # "validating...", "Running evaluation on the test set"
    r"\W*(?:(?:start|begin|run|do|perform)\w*\s+)?(?:validat|evaluat|test)(?:ing|ion)"
    r"(?: (?:on|the|model|set|data|validation|test|epoch|phase)){0,4}\W*",
    re.IGNORECASE,
)
# sklearn's "Classification Report:", in the languages of programs around it
_REPORT = lazy_re(r"\W*(?:\w+ ){0,3}(?:[ck]lassifi|clasific)\w*(?: \w+)?\W*", re.IGNORECASE)
_HELD_OUT = lazy_re(  # a record of held-out data begins: what stands in the lines below is of it
    r"\W*(?:(?:eval\w{0,7}|results?|performance) (?:on|of|for) (?:the )?)?"
    r"(val|valid|validation|test|eval|evaluation|dev)(?: set| data)?"
    r"(?: (?:at|after|in))? (?:epoch|iter|step)\b",
    re.IGNORECASE,
)
_HEADING = lazy_re(
    r"[\W_]*(?:(?:epoch|step|iter(?:ation)?|round)\W{0,3}\d+(?:\s?(?:/|of)\s?\d+)?[\W_]+)?"
    rf"(?:{SPLIT.pattern})"
    r"[\W_]*(?:(?:epoch|step|iter(?:ation)?|round|phase|set)\W{0,3})?"
    r"(?:\d+(?:\s?(?:/|of)\s?\d+)?)?[\W_]*",
    re.IGNORECASE,
)
_HELD_OUT_SECTIONS = ("val/", "eval/", "test/", "dev/")
_AVERAGED = lazy_re(r"\W*averaged (?:stats|values|results|metrics)\b", re.IGNORECASE)
_LONGEST_HEADING = 120
_LONGEST_TITLE = 60
_FILLER = lazy_re(r"^(?:(?:of|on|for|the|in)\s+)+", re.IGNORECASE)
_SPLIT = lazy_re(r"^(?:train|val|eval|test|dev)[/_]")


class Layout(Struct):
    """The lines of one layout; `n` of them with `k` numbers each."""

    columns: tuple[Column, ...]
    about: str
    at: list[int] = field(default_factory=list)
    slots: list[tuple[Slot, ...]] = field(default_factory=list)

    def array(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return values, totals and which are written as whole numbers, each of shape (n, k)."""
        shape = (len(self.at), len(self.columns))
        flat = np.array(self.slots, dtype=np.float64).reshape(*shape, 3)
        return flat[..., 0], flat[..., 1], flat[..., 2] > 0

    @property
    def line(self) -> IntArray:
        """The lines, shape (n,)."""
        return np.array(self.at, dtype=np.int64)


def layouts(others: Iterable[tuple[int, str]], headed: Mapping[int, str]) -> list[Layout]:
    """Return the layouts of the lines of a log, in the order in which they first come.

    `headed` are its `headings`.
    """
    found: dict[Phrase, Layout] = {}
    for at, said, slots in _lines(others, headed):
        mine = found.get(said)
        if mine is None:
            if len(found) >= MOST_LAYOUTS:
                continue
            mine = found[said] = Layout(*said)
        mine.at.append(at)
        mine.slots.append(slots)
    return _named_apart(_with_those_behind(found))


def _with_those_behind(found: dict[Phrase, Layout]) -> list[Layout]:
    """Return layouts with the lines of the training that stand behind an evaluation now and then.

    No line says where it ends. But between two lines that count there is one of the training,
    behind an evaluation that has lines of its own or where none is; where an evaluation measures
    the same as the training does, both are there.
    """
    heads = np.sort([at for one in found.values() if _counts(one) for at in one.at])
    held_out = {id(one): one.at for one in found.values() if _of_held_out(one)}
    for said, one in list(found.items()):
        for data in _HELD_OUT_SECTIONS:
            behind = found.get(_in_section(said, data))
            if behind is None or len(behind.at) >= len(one.at):
                continue
            own = [at for mine, some in held_out.items() if mine != id(behind) for at in some]
            evaluated = np.searchsorted(heads, behind.at)
            both = [*np.searchsorted(heads, one.at).tolist(), *evaluated.tolist()]
            if (
                len(set(both)) == len(both)
                and np.isin(evaluated, np.searchsorted(heads, own)).all()
            ):
                rows = sorted(zip(one.at + behind.at, one.slots + behind.slots, strict=True))
                one.at, one.slots = [at for at, _ in rows], [slots for _, slots in rows]
                found.pop(_in_section(said, data))
    return list(found.values())


def _counts(one: Layout) -> bool:
    return any(column.kind not in {"", "share"} for column in one.columns)


def _of_held_out(one: Layout) -> bool:
    return any(split_of(column.name) in _HELD_OUT_SECTIONS for column in one.columns)


def _named_apart(found: list[Layout]) -> list[Layout]:
    """Name what is printed by turns with the same names after the words that tell it apart.

    ``Generator | step 10 | loss 0.5`` and ``Discriminator | step 10 | loss 0.7`` are two losses.
    """
    alike: dict[tuple[Column, ...], list[Layout]] = {}
    for one in found:
        plain = (c if c.kind else c._replace(name=_SPLIT.sub("", c.name)) for c in one.columns)
        alike.setdefault(tuple(plain), []).append(one)
    for some in alike.values():
        rows = [one for one in some if len(one.at) >= OFTEN]  # others come by no turns
        if len(rows) < OFTEN:
            continue
        places = [_places(one) for one in rows]
        shared = set.intersection(*(set(one.about.split()) for one in some))
        often = Counter(one.columns for one in some)
        for one, mine in zip(rows, places, strict=True):
            others = [other for other in rows if other is not one]
            turns = any(_by_turns(mine, other) for other in places if other is not mine)
            if turns or (not mine and any(_alternate(one.at, other.at) for other in others)):
                same = often[one.columns] > 1
                words = (word for word in one.about.split() if word not in shared)
                about = _FILLER.sub("", " ".join(words))
                one.columns = tuple(_of(about, column, same=same) for column in one.columns)
    return found


def _places(one: Layout) -> set[tuple[float, ...]]:
    """Return where the rows of a layout stand: what counts by name, or is one of so many."""
    counts = [n for n, column in enumerate(one.columns) if column.kind not in {"", "share"}]
    if not counts and not one.columns[0].name and all(row[0].total >= 0 for row in one.slots):
        counts = [0]
    return {tuple(row[n].value for n in counts) for row in one.slots} if counts else set()


def _alternate(some: list[int], others: list[int]) -> bool:
    """Whether two kinds of lines come by turns, and only so."""
    if abs(len(some) - len(others)) > 1:
        return False
    both = sorted([(at, 0) for at in some] + [(at, 1) for at in others])
    return all(kind != before for (_, before), (_, kind) in pairwise(both))


def _of(about: str, column: Column, *, same: bool) -> Column:
    """Return a column with what stands before the names of its line, if it does not say it."""
    known = not same and SPLIT.search(column.name)
    if column.kind or not column.name or not about or known:
        return column
    name = _SPLIT.sub("", column.name) if SPLIT.search(about) else column.name
    return column._replace(name=f"{about} {name}")


def _by_turns(some: set[tuple[float, ...]], others: set[tuple[float, ...]]) -> bool:
    """Whether rows stand at the same counters."""
    both = some & others
    return len(both) >= OFTEN and 2 * len(both) > max(len(some), len(others))


def headings(others: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return the lines that say which data all rows below are of, with it: ``== validate 3 ==``.

    They do where training and held-out data have theirs by turns.
    """
    short = ((at, line) for at, line in others if len(line) <= _LONGEST_HEADING)
    found = {at: data for at, line in short if (data := _headed(line))}
    train = sum(data == "train/" for data in found.values())
    return found if min(train, len(found) - train) >= OFTEN else {}


@by_form
def _headed(line: str) -> str:
    """Return the data that a line says the rows below it are of; empty: it is no heading."""
    data = split_of(line)
    return data if data and _HEADING.fullmatch(line[begin(line) :]) else ""


def _lines(
    others: Iterable[tuple[int, str]], headed: Mapping[int, str]
) -> Iterator[tuple[int, Phrase, tuple[Slot, ...]]]:
    """Yield what each line with a number says, and its numbers."""
    names: Head | None = None
    section = counted = line = title = ""
    for at, following in others:
        above, line = line, without_settings(following)
        if len(line) > WIDEST or _SETTINGS in line or ("{'" in line and _has_texts(line)):
            continue
        section = headed.get(at, section)
        taken = parts(line)
        if not taken.slots:
            if not _RULE.match(line):
                names = with_second(names, line, above) or head(line, above) or names
                section = section if headed else _section(line, section)
                title = _title(line)
            continue
        if under := row(line, names):
            yield at, *under
            continue
        said = _titled(phrase(taken.text, taken.marks), title)
        if not headed and any(column.kind not in {"", "share"} for column in said.columns):
            held_out = _HELD_OUT.match(line, begin(line))
            section = split_of(held_out[1]) if held_out else ""
        elif section:
            said = _in_section(said, section)
        if _AVERAGED.match(line):
            said = _in_section(said, counted)
        counted = _counted_data(said, taken.slots) or counted
        yield at, said, taken.slots


@by_form
def _title(line: str) -> str:
    """Return the name of what stands in the lines below: ``History (loss, distributed):``."""
    text = line[begin(line) :].strip()
    if len(text) > _LONGEST_TITLE or not text.endswith(":") or not names_metric(text):
        return ""
    inner = text[:-1].rstrip().endswith(")") and text.partition("(")[2].rstrip(": )")
    return " ".join((inner or text.rstrip(": ")).replace(",", " ").split())


def _titled(said: Phrase, title: str) -> Phrase:
    """Return a counter and a number without a name under the title above, others as they are."""
    kinds = [column.kind for column in said.columns]
    if not title or len(kinds) != 2 or kinds[0] not in {"step", "epoch"}:  # noqa: PLR2004 - a pair
        return said
    if said.columns[1].name or kinds[1]:
        return said
    return said._replace(columns=(said.columns[0], Column(title)))


def _counted_data(said: Phrase, slots: tuple[Slot, ...]) -> str:
    """Return what begins the names of the averages behind a row: ``test/`` for ``Test: [ 3/10]``.

    Those of the training are of an epoch. Empty: the row counts no batches.
    """
    if SPLIT.fullmatch(said.columns[0].name) and slots[0].total >= 0:
        return split_of(said.columns[0].name)
    return "epoch/" if any(column.kind == "epoch" for column in said.columns) else ""


def _has_texts(line: str) -> bool:
    return len(_TEXT.findall(line)) >= _TEXTS


def _section(line: str, before: str) -> str:
    """Return the data that the lines below a heading are of: ``--- validation ---``."""
    text = line.strip(" ")
    if _REPORT.fullmatch(text):
        return before  # a table of its classes, of the same data
    if not (_SECTION.fullmatch(text) or _BEGUN.fullmatch(text)):
        return before
    return split_of(text) if SPLIT.search(text) else ""


def titled_data(line: str) -> str:
    """Return the data that a line without a number says those below it are of; "" of no title."""
    return _section(line, "") or _headed(line)


def _in_section(said: Phrase, section: str) -> Phrase:
    """Say in the names of a line which data its section is of, if they do not say it all."""
    named = [c.name for c in said.columns if c.name and not c.kind]
    if named and all(map(SPLIT.search, named)):
        return said
    columns = (
        c._replace(name=section + c.name) if c.name and not SPLIT.search(c.name) else c
        for c in said.columns
    )
    return Phrase(tuple(columns), said.about)
