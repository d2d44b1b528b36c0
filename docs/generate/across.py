"""Runs that show what a rule over several runs finds and what it lets pass, as small pictures."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from docs.generate.markup import escaped
from runlens.crossrun.rule import CrossRule
from runlens.nights import FoundRow, RunRow
from runlens.report.html.element import Markup, cut, el
from tests.auditing.made import HOUR, START, found, row

LEVELS = (1.0, 1.01, 0.99, 1.02, 1.0, 0.98, 1.01)
NOW = START + 30 * 24 * HOUR
BROKEN = (found("nan-loss", time=START + HOUR),)
BLIND = {"train_loss.end": 1.0, "eval.points": 0.0}
WIDTH, ROW, LABEL, NOTE = 520, 22, 96, 150  # pixels


class Shown(NamedTuple):
    """Rows of a bad and of a good case, what a bar is long by, and what stands behind it."""

    bad: list[RunRow]
    good: list[RunRow]
    length: Callable[[RunRow], float]
    note: Callable[[RunRow], str]
    unit: str


def cases(rule: CrossRule[Any]) -> str:
    """Return the sections `Found` and `Passed` of a rule over runs."""
    shown = EXAMPLES[rule.slug]()
    parts = []
    for head, rows in (("Found", shown.bad), ("Passed", shown.good)):
        findings = rule.check(rows, rule.limits, NOW)
        blamed = {key for one in findings for key in one.runs}
        said = " ".join(f"{one.title} {one.why}" for one in findings) or "Nothing is found."
        drawing = _bars(f"{rule.slug}-{head.lower()}", rule.title, shown, rows, blamed)
        parts.append(f'## {head}\n\n<div class="drawn">{drawing}</div>\n\n{escaped(said)}\n')
    return "\n".join(parts)


def _bars(uid: str, title: str, shown: Shown, rows: list[RunRow], blamed: set[str]) -> Markup:
    """Draw a bar a run; those that the rule names are dark."""
    longest = max((shown.length(one) for one in rows), default=1.0) or 1.0
    room = WIDTH - LABEL - NOTE
    made = []
    for at, one in enumerate(rows):
        y = at * ROW + 4
        wide = f"{max(room * shown.length(one) / longest, 1.0):.0f}"
        ink = "bar-bad" if one.key in blamed else "bar-good"
        note = f"{shown.length(one):.3g} {shown.unit} {shown.note(one)}".strip()
        made += [
            el("text", cut(one.name, 14), x=LABEL - 8, y=y + 12, text_anchor="end"),
            el("rect", x=LABEL, y=y, width=wide, height=ROW - 8, class_=ink),
            el("text", cut(note, 40), x=LABEL + float(wide) + 8, y=y + 12),
        ]
    height = len(rows) * ROW + 4
    return el(
        "svg",
        el("title", f"{title}: {len(rows)} runs", id=f"{uid}t"),
        made,
        class_="ch",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        role="img",
        aria_labelledby=f"{uid}t",
        font_size=12,
    )


def _loss(one: RunRow) -> float:
    return one.measures.get("eval_loss.end", one.measures.get("train_loss.end", 0.0))


def _hours(one: RunRow) -> float:
    return one.hours or 0.0


def _faults(one: RunRow) -> str:
    return ", ".join(fault.rule for fault in one.findings)


def _set(key: str) -> Callable[[RunRow], str]:
    return lambda one: f"{key} {one.config.get(key)}"


def _near(**more: Any) -> list[RunRow]:
    """Draw seven runs that end within 4 % of each other, one a night."""
    return [row(f"run-{at}", at, loss=level, **more) for at, level in enumerate(LEVELS)]


def _cluster() -> Shown:
    def some(precision: str, bad: int, count: int) -> list[RunRow]:
        return [
            row(
                f"{precision}-{at}",
                findings=BROKEN if at < bad else (),
                config={"precision": precision},
            )
            for at in range(count)
        ]

    good = [*some("fp16", 2, 7), *some("bf16", 1, 7)]
    return Shown([*some("fp16", 6, 7), *some("bf16", 0, 7)], good, _hours, _faults, "h")


def _regression() -> Shown:
    worse = [row(f"run-{at}", at, loss=1.15, config={"trl": "0.21"}) for at in (7, 8)]
    return Shown(
        [*_near(config={"trl": "0.20"}), *worse],
        [*_near(), row("run-7", 7, loss=1.02)],
        _loss,
        _set("trl"),
        "eval loss",
    )


def _outlier() -> Shown:
    own = row("run-7", 7, loss=1.05)
    return Shown(
        [*_near(), row("run-7", 7, loss=1.4)], [*_near(), own], _loss, lambda _: "", "eval loss"
    )


def _stale() -> Shown:
    quiet = row("run-0", state="running")
    alive = row("run-1", state="running", ended=NOW - HOUR)
    done = row("run-2")
    length = lambda one: (NOW - (one.ended or NOW)) / HOUR  # noqa: E731 - one expression
    return Shown([quiet, alive, done], [alive, done], length, lambda one: one.state, "h ago,")


def _wasted() -> Shown:
    def broken(name: str, after: float) -> RunRow:
        fault: tuple[FoundRow, ...] = (found("nan-loss", time=START + after * HOUR),)
        return row(name, findings=fault)

    bad = [broken("run-0", 1), broken("run-1", 2), row("run-2")]
    return Shown(bad, [broken("run-0", 3.9), row("run-1"), row("run-2")], _hours, _faults, "h")


def _seeds() -> Shown:
    def seeded(*levels: float) -> list[RunRow]:
        return [
            row(f"seed-{at}", at, loss=level, config={"seed": at})
            for at, level in enumerate(levels)
        ]

    return Shown(
        seeded(1.0, 1.2, 0.9), seeded(1.0, 1.004, 0.997), _loss, _set("seed"), "eval loss,"
    )


def _duplicate() -> Shown:
    again = row("run-1", 0.25)
    other = row("run-1", 0.25, config={"seed": 2})
    return Shown([row("run-0"), again], [row("run-0"), other], _hours, _set("seed"), "h,")


def _unevaluated() -> Shown:
    def blind(at: int) -> RunRow:
        return row(f"run-{at}", at, measures=BLIND)

    points = lambda one: one.measures.get("eval.points", 0.0)  # noqa: E731 - one expression
    return Shown(
        [blind(at) for at in range(4)],
        [*(blind(at) for at in range(3)), row("run-3", 3)],
        points,
        lambda _: "",
        "evaluations",
    )


def _fleet() -> Shown:
    def on(node: str, bad: int) -> list[RunRow]:
        return [
            row(
                f"{node}-{at}",
                findings=BROKEN if at < bad else (),
                environment={"node": (node,)},
            )
            for at in range(7)
        ]

    good = [*on("n17", 2), *on("n18", 1)]
    return Shown([*on("n17", 7), *on("n18", 0)], good, _hours, _faults, "h")


EXAMPLES: Mapping[str, Callable[[], Shown]] = {
    "cluster": _cluster,
    "fleet": _fleet,
    "regression": _regression,
    "outlier": _outlier,
    "stale": _stale,
    "wasted": _wasted,
    "seed-variance": _seeds,
    "duplicate": _duplicate,
    "never-evaluated": _unevaluated,
}
