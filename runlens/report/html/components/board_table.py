"""Many runs by one metric: the table of all of them with their settings, and two drawings of it.

The table is complete. The drawings, one setting against the metric and all settings as parallel
lines, are the script's, and hidden without one.
"""

from typing import Any

from runlens.comparison import LABELS, BoardRow, Leaderboard
from runlens.metrics import spoken
from runlens.nights import LOUD, SparkRow
from runlens.report.comparison.board import CHANCE, columns, effect_words
from runlens.report.html.components.audit_spark import spark
from runlens.report.html.components.signs import tag
from runlens.report.html.components.tables import bullets, section, sub
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.report.html.words import DASH, setting
from runlens.report.values import value_of
from runlens.run import Setting

COLUMNS = 16  # settings of the table; the CSV has all
NAME, VALUE, KEY = 60, 24, 28  # characters of a run, of a setting, of its name
SAYS = 70  # characters of the verdict
POINTS = 24  # across the longest run
HELP = "Point at a run to highlight it, here and in the table."


def settings(board: Leaderboard, anchor: str, title: str, *, labels: bool) -> Markup:
    """Return the table, the drawings above it, and what each setting explains.

    With `labels` runs are called by their letter besides.
    """
    effects = [effect_words(board, effect) for effect in board.effects]
    keys = columns(board)[:COLUMNS]
    return section(
        anchor,
        title,
        sub(_note(board)),
        bullets(effects) if effects else None,
        _drawings(keys) if keys else None,
        _table(board, keys, labels=labels),
    )


def _note(board: Leaderboard) -> str:
    said = f"By {spoken(board.metric)}, best first; settings that differ, what explains most first."
    more = len(columns(board)) - COLUMNS
    return f"{said} {more} more settings: --format csv." if more > 0 else said


def _drawings(keys: list[str]) -> Markup:
    pick = el("select", [el("option", cut(key, KEY)) for key in keys], id="board-key")
    return el(
        "div",
        el("div", el("label", "Setting ", pick), class_="bench-tools"),
        el(
            "div",
            [
                el("div", el("canvas", id=f"board-{name}", role="img", aria_label=label))
                for name, label in (
                    ("points", "One point per run: its setting and what it reached."),
                    ("lines", "One line per run, through its settings to what it reached."),
                )
            ],
            class_="two",
        ),
        el("p", HELP, class_="sub sm", id="board-read", role="status"),
        id="board-views",
    )


def _table(board: Leaderboard, keys: list[str], *, labels: bool) -> Markup:
    numbers = {key for key in keys if all(_is_number(row.settings.get(key)) for row in board.rows)}
    told = not labels and any(row.health in LOUD for row in board.rows)
    head = [
        _head("Run"),
        _head(spoken(board.metric), number=True),
        _head(CHANCE, number=True),
        *([_head("Curve")] if _curved(board) else []),
        _head("Health"),
        _head("Steps", number=True),
        *([_head("Verdict")] if told else []),
        *(_head(cut(key, KEY), number=key in numbers) for key in keys),
    ]
    curved = _curved(board)
    body = [_row(board, row, keys, labels=labels, told=told, curved=curved) for row in board.rows]
    inner = el("table", el("thead", el("tr", head)), el("tbody", body), class_="board")
    label = "All runs with what they reached and their settings"
    return el("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label)


def _head(title: str, *, number: bool = False) -> Markup:
    return el("th", title, scope="col", class_="num" if number else None, data_sort=True)


def _curved(board: Leaderboard) -> bool:
    """Whether the best runs have a curve, and not one evaluation each."""
    return any(len(row.heights) > 1 for row in board.rows)


def _row(
    board: Leaderboard, row: BoardRow, keys: list[str], *, labels: bool, told: bool, curved: bool
) -> Markup:
    name: Child = el("bdi", cut(row.run, NAME))
    if labels:
        name = join(el("b", LABELS[row.place], class_="run"), " ", name)
    value = DASH if row.value is None else value_of(board.metric, row.value)
    chance = DASH if row.p_best is None else f"{row.p_best:.2f}"
    return el(
        "tr",
        el("th", name, scope="row"),
        _cell(value, row.value),
        _cell(chance, row.p_best),
        el("td", _curve(row)) if curved else None,
        el("td", tag(row.health) if row.health else DASH),  # type: ignore[arg-type]
        _cell(f"{row.steps:,}", row.steps),
        el("td", cut(row.says, SAYS) if row.health in LOUD else DASH) if told else None,
        [_setting(row.settings.get(key)) for key in keys],
        data_row=row.place,
    )


def _curve(row: BoardRow) -> Markup:
    """Return the curve on the scale of all runs; one that ended early ends before the right."""
    return spark(SparkRow("", row.heights, None, len(row.heights) / POINTS))


def _setting(value: Setting) -> Markup:
    if value is None:
        return el("td", DASH)
    shown = cut(setting(value), VALUE)
    return _cell(shown, float(value)) if _is_number(value) else el("td", shown)


def _is_number(value: Setting) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(words: str, value: float | None) -> Markup:
    """Return a number; what sorts it stands beside it only where the words do not say it."""
    plain = words.replace(".", "", 1).isdigit()
    sorts = None if plain else "" if value is None else f"{value:.9g}"
    return el("td", words, class_="num", data_v=sorts)


def data(board: Leaderboard) -> dict[str, Any]:
    """Return what the drawings are made of: of each run its place, value, settings and name."""
    keys = columns(board)[:COLUMNS]
    rows = [
        [row.place, row.value, [_plain(row.settings.get(key)) for key in keys], cut(row.run, NAME)]
        for row in board.rows
    ]
    return {
        "metric": spoken(board.metric),
        "better": board.better,
        "keys": [cut(key, KEY) for key in keys],
        "rows": rows,
        "help": HELP,
    }


def _plain(value: Setting) -> Any:  # noqa: ANN401 - a number or text of JSON
    if value is None or (isinstance(value, float) and value - value != 0):
        return None
    return value if _is_number(value) else cut(setting(value), VALUE)
