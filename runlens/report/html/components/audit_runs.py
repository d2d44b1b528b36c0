"""All runs of an audit: those with a fault as a table, the others folded."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from runlens.diagnosis import HEALTHS, Health
from runlens.nights import LOUD, Audit, RunRow
from runlens.report import audited
from runlens.report.audited import Told
from runlens.report.html.components.audit_issues import link_to, numbered
from runlens.report.html.components.audit_spark import spark
from runlens.report.html.components.signs import WORDS, tag
from runlens.report.html.components.tables import Column, section, small
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.report.terminal import cut as short
from runlens.wording import count
from runlens.wording import step as step_words

NAME, PLACE, VERDICT, ALSO = 80, 80, 300, 4  # characters, and rules
# as the script and the style sheet know the healths; the order in which a column is sorted
RANKS: dict[Health, int] = {"critical": 3, "warning": 2, "info": 1, "healthy": 0, "unknown": -1}
UNSORTED = "Curve"
HEADS = (
    Column("Run"),
    Column("Diagnosis"),
    Column(UNSORTED),
    Column("Steps", numbers=True),
    Column("GPU-h", numbers=True),
    Column("After onset", numbers=True),
)
# what a reader may choose by, as it is named in the address of the page
PICKS: dict[str, Callable[[RunRow], tuple[str, ...]]] = {
    "user": lambda row: (row.user,),
    "source": lambda row: (row.project,),
    "group": lambda row: (row.group,),
    "tag": lambda row: row.tags,
    "state": lambda row: (row.state,),
}
MOST_VALUES = 200  # of one choice, the most frequent
Picks = Mapping[str, Mapping[str, int]]  # by what, and the number of each value
CAPTION = (
    "Runs with a fault, worst first. Curve: the one with the fault, colored from the onset, "
    "dashed where it is NaN; a run that ended early stops short."
)


def runs(audit: Audit) -> Markup:
    """Return search and filters, the runs with a fault, and the folded others."""
    loud, calm = audited.told(audit)
    if not audit.runs:
        return section("all-runs", "All runs", el("p", "No run was judged."))
    rows = _Rows(audit)
    table = _table("runs", rows, loud, CAPTION)
    return section(
        "all-runs",
        "All runs",
        _chips(audit, rows.picks),
        el("p", "No run with a fault.", class_="sm") if not loud else None,
        table,
        _calm(rows, calm),
    )


def _chips(audit: Audit, picks: Picks) -> Markup:
    """Return what only the script can do: hidden without it."""
    met = Counter(row.health for row in audit.runs)
    search = el(
        "input",
        id="q",
        type="search",
        autocomplete="off",
        spellcheck="false",
        placeholder="name, finding, user, group",
    )
    buttons = [_chip("", "All", pressed=True)]
    buttons += [
        _chip(str(RANKS[health]), f"{WORDS[health]} {met[health]:,}")
        for health in HEALTHS
        if met[health]
    ]
    return el(
        "div",
        el("label", "Search", class_="sm", for_="q"),
        search,
        buttons,
        [_pick(name, values) for name, values in picks.items()],
        el("span", id="shown", class_="sm mut", role="status"),
        class_="chips js flex",
        hidden=True,
    )


def _chip(value: str, words: str, *, pressed: bool = False) -> Markup:
    said = "true" if pressed else "false"
    return el("button", words, type="button", data_sev=value, aria_pressed=said)


def _pick(name: str, values: Mapping[str, int]) -> Markup:
    options = [el("option", cut(value, PLACE), value=at) for value, at in values.items()]
    every = el("option", f"every {name}", value="")
    return el("select", every, options, data_pick=name, aria_label=name)


def _picks(some: Sequence[RunRow]) -> Picks:
    """Return what there is to choose from: of what all runs have in common, nothing."""
    found: dict[str, dict[str, int]] = {}
    for name, of in PICKS.items():
        met = Counter(value for row in some for value in of(row) if value)
        if len(met) > 1:
            values = sorted(value for value, _ in met.most_common(MOST_VALUES))
            found[name] = {value: at for at, value in enumerate(values)}
    return found


def _picked(row: RunRow, picks: Picks) -> str | None:
    """Return the numbers of a run's values as the script reads them, choice by choice."""
    made = (
        ",".join(str(values[one]) for one in PICKS[name](row) if one in values)
        for name, values in picks.items()
    )
    return " ".join(one or "-" for one in made) or None


def _calm(rows: "_Rows", calm: Sequence[Told]) -> Markup:
    """Return the runs without a fault, folded; paper does not show them."""
    met = Counter(one.row.health for one in calm)
    names: dict[Health, str] = {
        "info": "with notes only",
        "healthy": "healthy",
        "unknown": "not judged",
    }
    said = [f"{met[health]:,} {name}" for health, name in names.items() if met[health]]
    return el(
        "details",
        el(
            "summary",
            f"{count(len(calm), 'run')} without a fault ",
            el("span", ", ".join(said), class_="mut"),
        ),
        el("div", _table("runs-ok", rows, calm, "Runs without a fault."), class_="in"),
        id="ok-box",
        class_="noprint",
    )


def _table(uid: str, rows: "_Rows", some: Iterable[Told], caption: str) -> Markup:
    heads = [
        el(
            "th",
            column.title,
            scope="col",
            class_="num" if column.numbers else None,
            data_sort=column.title != UNSORTED,
        )
        for column in HEADS
    ]
    return el(
        "table",
        el("caption", caption),
        el("thead", el("tr", heads)),
        el("tbody", [rows.row(one) for one in some]),
        class_="stack runs",
        id=uid,
        tabindex=-1,
    )


class _Rows:
    """Makes the rows: what all of them share is looked up once."""

    def __init__(self, audit: Audit) -> None:
        names = Counter(row.name for row in audit.runs)
        self._twice = {name for name, times in names.items() if times > 1}
        self._pages = audit.pages
        self._issues = _issues_of(audit)
        self.picks = _picks(audit.runs)

    def row(self, one: Told) -> Markup:
        """Return a run as a row of the table."""
        row = one.row
        rank = RANKS[row.health]
        loud = row.health in LOUD
        said = join(tag(row.health), _said(row)) if loud else _calmly(row)
        return el(
            "tr",
            el("th", self._name(row), scope="row"),
            el("td", said, data_v=rank),
            el("td", spark(row.spark)),
            el("td", _steps(row), class_="num"),
            _hours(one.hours),
            _hours(one.lost),
            data_s=rank,
            data_i=self._issues.get(row.key),
            data_w=_found_by(row),
            data_f=_picked(row, self.picks),
        )

    def _name(self, row: RunRow) -> Markup:
        """Return the name of a run, linked to its page; of two of one name the place as well."""
        name: Child = short(row.name, NAME)
        if link := link_to(row, self._pages):
            name = el("a", name, href=link)
        place = small(short(row.key, PLACE)) if row.name in self._twice else None
        return join(name, el("br") if place else None, place)


def _issues_of(audit: Audit) -> Mapping[str, str]:
    """Return the numbers of the issues of each run, as the script reads them."""
    made: dict[str, list[str]] = defaultdict(list)
    numbers = numbered(audit)
    for issue in audit.issues:
        if issue.fingerprint in numbers:
            for key in issue.runs:
                made[key].append(str(numbers[issue.fingerprint]))
    return {key: " ".join(dict.fromkeys(known)) for key, known in made.items()}


def _found_by(row: RunRow) -> str | None:
    """Return what else a search finds a run by: whose it is, its group, its tags, its state."""
    parts = (row.user, row.group, *row.tags[:ALSO], row.state if row.user else "")
    return cut(" ".join(filter(None, parts)), PLACE) if row.user else None


def _said(row: RunRow) -> Markup:
    others = audited.also(row)
    more = f" Also: {', '.join(others[:ALSO])}" if others else ""
    more += f" and {len(others) - ALSO} more" if len(others) > ALSO else ""
    return join(el("br"), small(f"{cut(row.verdict, VERDICT)}{more}"))


def _calmly(row: RunRow) -> Markup:
    """Return the health of a run without a fault in few bytes: there are thousands of them."""
    word = el("span", WORDS[row.health], class_="mut")
    if row.health == "healthy":
        return word
    return join(word, el("br"), small(cut(row.verdict, VERDICT)))


def _steps(row: RunRow) -> Markup:
    planned = row.planned_steps
    if not planned or planned == row.steps:
        return join(step_words(row.steps))
    return join(step_words(row.steps), el("span", f" of {step_words(planned)}", class_="src under"))


def _hours(value: float | None) -> Markup:
    return el("td", audited.hours(value), class_="num")
