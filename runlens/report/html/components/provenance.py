"""Where everything comes from, and what was lost on the way."""

from runlens.diagnosis import SCHEMA, Diagnosis
from runlens.report.facts import device, end_words
from runlens.report.html.components.tables import (
    Column,
    code,
    folded,
    folded_section,
    section,
    small,
    sub,
    table,
)
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.run import Problem
from runlens.version import __version__
from runlens.wording import count

SHOWN = 12  # problems that are not folded
TEXT = 600  # characters
SOURCES = 40


def problems(diagnosis: Diagnosis) -> Markup:
    """Return what was lost or doubtful in the input."""
    found = diagnosis.problems
    left = found[SHOWN:]
    more = folded("More data problems", f"{len(left)}", _table(left)) if left else None
    note = sub(f"{count(len(found), 'problem')} in the input.")
    return section("problems", "Data problems", note, _table(found[:SHOWN]), more)


def _table(rows: tuple[Problem, ...]) -> Markup:
    columns = (Column("Where"), Column("What"), Column("Lost"))
    return table(
        columns,
        [
            (small(cut(row.where, TEXT)), cut(row.text, TEXT), row.lost or "nothing lost")
            for row in rows
        ],
    )


def provenance(diagnosis: Diagnosis) -> Markup:
    """Return sources, framework, task and state, each with why we think so, and versions."""
    state = diagnosis.state
    ended = end_words(state) + ("" if state.sure == "guess" else f" ({state.sure})")
    by_code = f"exit code {state.exit_code}"
    code_ = "" if state.exit_code is None or by_code in state.why else f"; {by_code}"
    card, origin = device(diagnosis)
    rows: list[tuple[Child, ...]] = [
        ("Run", code(cut(diagnosis.run_name, TEXT)), small(cut(diagnosis.run_id, TEXT))),
        ("Framework", diagnosis.framework or "unknown", ""),
        ("Task", diagnosis.task, diagnosis.task_why),
        *([("Device", card, small(cut(origin, TEXT)))] if card else []),
        ("End of the run", ended, f"{state.why}{code_}"),
        *(
            []
            if diagnosis.problems
            else [("Data problems", "none", "every source was read completely")]
        ),
        ("RunLens", __version__, code(SCHEMA)),
    ]
    shown = diagnosis.sources[:SOURCES]
    left = len(diagnosis.sources) - len(shown)
    sources = [("Source", code(cut(name, TEXT)), "") for name in shown]
    if left:
        sources.append(("Sources", join(f"and {left} more"), ""))
    columns = (Column("What"), Column("Value"), Column("Why"))
    note = "Same input, same report, byte for byte: no clock, no network, no random numbers."
    return folded_section(
        "provenance",
        "Provenance",
        f"{count(len(diagnosis.sources), 'source')} read, RunLens {__version__}",
        el("div", table(columns, [*sources, *rows]), class_="origin"),
        el("p", note, class_="sm mut gap"),
    )
