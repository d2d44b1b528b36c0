"""A leaderboard for the terminal, as CSV, JSON and Markdown."""

import csv
import io
import json
from collections.abc import Iterator

from runlens.comparison import BoardRow, Effect, Leaderboard
from runlens.config_keys import written
from runlens.metrics import spoken
from runlens.report.compared import NOISE_WORDS
from runlens.report.markdown import escaped
from runlens.report.terminal import Options, clean, cut, printed, wrapped
from runlens.report.values import value_of
from runlens.wording import count, number, percent

SHOWN = 30  # rows of the text; all with -v
NAME, VALUE, SETTINGS = 28, 14, 4  # characters of a name and a setting, settings a row
SHORTEST, BESIDE = 8, 40  # characters of a name, of all but it and the settings
AS_GOOD = 0.05  # probability from which a run may be as good as the best
CHANCE = "P(as good)"  # that a repeat of a run is no worse than one of the best


def text(board: Leaderboard, options: Options | None = None, *, ranked: bool = True) -> str:
    """Return the runs as lines of text, the best first.

    Not `ranked`: only listed by what they reached, of runs that nobody asked to compare.
    """
    options = options or Options()
    return printed(_lines(board, options, ranked=ranked), options)


def _lines(board: Leaderboard, options: Options, *, ranked: bool) -> Iterator[str]:
    if ranked:
        yield from wrapped(headline(board), options)
    yield ""
    rows = board.rows if options.verbose else board.rows[:SHOWN]
    longest = max(len(clean(row.run)) for row in rows)
    wide = max(SHORTEST, min(NAME, longest, options.width - BESIDE))
    keys = columns(board)[: max(0, min(SETTINGS, (options.width - BESIDE - wide) // (VALUE + 1)))]
    head = "".join(f" {cut(key, VALUE):>{VALUE}}" for key in keys)
    what = cut(spoken(board.metric), 12)
    chance = f"{CHANCE:>10} " if ranked else ""  # of runs that nobody asked to rank none is told
    yield cut(
        f"     {'run':<{wide}} {what:>12}  {chance}{'health':<9}{head}", options.width
    ).rstrip()
    for place, row in enumerate(rows, 1):
        settings = "".join(f" {cut(_set(row, key), VALUE):>{VALUE}}" for key in keys)
        name = cut(clean(row.run), wide)
        chance = f"{_chance(row, place):>10} " if ranked else ""
        line = f"{place:>3}. {name:<{wide}} {_value(board, row):>12}  {chance}"
        yield cut(f"{line}{row.health or '-':<9}{settings}", options.width).rstrip()
    if len(board.rows) > len(rows):
        yield f"     and {len(board.rows) - len(rows)} more: -v"
    if not ranked:
        said = f"{spoken(board.metric)}: median of the last logged points"
        yield from wrapped(said, options, "     ", "     ")
    yield ""
    for effect in board.effects:
        yield from wrapped(effect_words(board, effect), options, "     ", "  ")
    names = () if ranked else {row.run for row in board.rows}  # an overview has told of these
    for problem in (one for one in board.problems if one.where not in names):
        yield from wrapped(f"! {problem.where}: {problem.text}", options, "     ", "  ")


def headline(board: Leaderboard) -> str:
    """Return which run is the best, how many may be as good, and what it would reach again."""
    top = board.rows[0]
    if top.value is None:
        return f"None of {count(len(board.rows), 'run')} has a last {spoken(board.metric)}."
    rivals = sum(row.p_best is not None and row.p_best >= AS_GOOD for row in board.rows[1:])
    beside = (
        f"; {count(rivals, 'other run')} may be as good (P from {number(AS_GOOD)} on)"
        if rivals
        else "; no other run may be as good"
    )
    what = f"{spoken(board.metric)} {_value(board, top)}"
    said = f"{top.run} is the best of {len(board.rows)}: {what}{beside}."
    if board.noise:
        apart, source = value_of(board.metric, board.noise), NOISE_WORDS[board.noise_from]
        said += f" One run lies {apart} from its mean ({source})."
    if board.expected is not None:
        said += f" A repeat of the best is expected at {value_of(board.metric, board.expected)}."
    return said


def effect_words(board: Leaderboard, effect: Effect) -> str:
    """Return what a setting explains: ``learning_rate explains 92 %: -0.31 from 1e-4 to 1e-3``."""
    said = f"{effect.setting} explains {percent(effect.share)} of the difference between the runs"
    first, *others = effect.setting.split(" + ")
    apart = f" A run with {first} alone changed would separate them." if others else ""
    if effect.effect is None or effect.interval is None:
        return f"{said}.{apart}"
    low, high = (value_of(board.metric, bound) for bound in effect.interval)
    moved = value_of(board.metric, effect.effect)
    between = f"from {written(effect.low)} to {written(effect.high)}"
    return f"{said}: {moved} {between} ({low} to {high} at 95 %).{apart}"


def columns(board: Leaderboard) -> list[str]:
    """Return the settings that differ, what explains most first."""
    known = list(dict.fromkeys(key for row in board.rows for key in row.settings))
    keys = [
        key
        for key in known
        if len({written(row.settings[key]) for row in board.rows if key in row.settings}) > 1
    ]
    order = [key for effect in board.effects for key in effect.setting.split(" + ")]
    return sorted(keys, key=lambda key: order.index(key) if key in order else len(order))


def _set(row: BoardRow, key: str) -> str:
    return clean(written(row.settings[key])) if key in row.settings else "-"


def _value(board: Leaderboard, row: BoardRow) -> str:
    return "-" if row.value is None else value_of(board.metric, row.value)


def _chance(row: BoardRow, place: int) -> str:
    """Return how likely a run is as good as the first, which is what the others are held to."""
    return "-" if row.p_best is None or place == 1 else f"{row.p_best:.2f}"


def as_json(board: Leaderboard) -> str:
    """Return the JSON contract, `runlens.leaderboard/1`."""
    return json.dumps(board.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(board: Leaderboard) -> str:
    """Return a row a run and a column each setting that differs."""
    keys = columns(board)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", board.metric, "p_best", "steps", "state", "health", *keys])
    for row in board.rows:
        cells = [row.run, row.value, row.p_best, row.steps, row.state, row.health]
        writer.writerow([*cells, *(row.settings.get(key) for key in keys)])
    return out.getvalue()


def as_markdown(board: Leaderboard) -> str:
    """Return the headline and a table."""
    keys = columns(board)[:SETTINGS]
    head = ["run", spoken(board.metric), CHANCE, "health", *keys]
    lines = [f"### {escaped(headline(board))}", "", f"| {' | '.join(map(escaped, head))} |"]
    lines.append("|" + "---|" * len(head))
    for place, row in enumerate(board.rows[:SHOWN], 1):
        cells = [row.run, _value(board, row), _chance(row, place), row.health or "-"]
        cells += [_set(row, key) for key in keys]
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    return "\n".join([*lines, "", *(escaped(effect_words(board, e)) for e in board.effects), ""])
