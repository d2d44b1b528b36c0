"""Several diagnoses for the terminal: a line a run, worst first, and the settings that differ."""

import textwrap
from collections.abc import Iterator, Sequence

from runlens.config_keys import KEYS, written
from runlens.diagnosis import Diagnosis
from runlens.report.facts import loud, named
from runlens.report.spark import spark
from runlens.report.terminal import Options, characters, clean, cut, wrapped
from runlens.report.text import MAIN, SHOWN_PROBLEMS
from runlens.report.values import counted, value_of, worst_first
from runlens.run import LAST_TRAINING, WHOLE_FILE
from runlens.wording import count, step

SHOWN_SETTINGS, SHOWN_RUNS = 4, 2  # that differ in an overview, and runs named with a value
TOLD = (WHOLE_FILE, LAST_TRAINING)  # lost, and said of one run among several
WIDE = 100  # characters from which an overview has long sparklines,
NARROWEST_DRAWN = 60  # and any
OTHERS, SENTENCE = 14, 29  # characters of what else is in a row, and of its sentence


def overview(diagnoses: Sequence[Diagnosis], options: Options | None = None) -> str:
    """Return one line a run, worst first, then the counts."""
    options = options or Options()
    rows = worst_first(diagnoses)
    cells = 20 if options.width >= WIDE else 8 if options.width >= NARROWEST_DRAWN else 0
    longest = max(len(clean(one.run_name)) for one in rows)
    wide = max(len(_step(one)) for one in rows)
    room = options.width - cells - OTHERS - wide  # for names and sentences
    name_width = min(longest, max(8, room - SENTENCE))
    lines = []
    for one in rows:
        head = f"{one.health.upper():<8} {cut(clean(one.run_name), name_width):<{name_width}} "
        head += f"{_step(one):>{wide}}  {_main_spark(one, cells, options):<{cells}}  "
        room = max(8, options.width - len(head))
        lines.append(head + textwrap.shorten(clean(_in_short(one)), room, placeholder=" ..."))
    lines += ["", *_differing(rows, options), counted(rows)]
    for one in rows:
        unread = [problem for problem in one.problems if problem.lost in TOLD]
        for problem in unread[:SHOWN_PROBLEMS]:
            lines += wrapped(f"! {problem.where}: {problem.text}", options, "  ")
        if len(unread) > SHOWN_PROBLEMS:
            lines.append(f"! {count(len(unread) - SHOWN_PROBLEMS, 'more file')} could not be read")
    return characters("\n".join(lines) + "\n", options)


def _step(diagnosis: Diagnosis) -> str:
    return f"step {step(diagnosis.last_step)}"


def _differing(diagnoses: Sequence[Diagnosis], options: Options) -> Iterator[str]:
    """Name the settings with numbers and switches that differ, each value with its runs."""
    known = {key.name for key in KEYS}
    values: dict[str, dict[str, list[str]]] = {}
    for one in diagnoses:
        for row in one.settings:
            if row.key in known and isinstance(row.value, bool | int | float):
                values.setdefault(row.key, {}).setdefault(written(row.value), []).append(
                    one.run_name
                )
    differ = {key: runs for key, runs in values.items() if len(runs) > 1}
    if differ:
        yield "Settings that differ"
    few_values_first = sorted(differ.items(), key=lambda one: (len(one[1]), one[0]))
    for key, groups_ in few_values_first[:SHOWN_SETTINGS]:
        groups = (f"{value} ({_runs(names)})" for value, names in groups_.items())
        yield from wrapped(f"{key}: {clean(', '.join(groups))}", options, "    ", "  ")
    if len(differ) > SHOWN_SETTINGS:
        yield f"  {len(differ) - SHOWN_SETTINGS} more: runlens compare"
    if differ:
        yield ""


def _runs(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= SHOWN_RUNS else count(len(names), "run")


def _in_short(diagnosis: Diagnosis) -> str:
    """Return the first fault by its title, where it began, and how the run ended."""
    faults = loud(diagnosis)
    if not faults:
        return diagnosis.verdict.sentence.partition(" up to step ")[0]
    lead = faults[0].findings[0]
    at = f" @{step(lead.onset.step)}" if lead.onset.step is not None else ""
    name = next((name for name in MAIN if name in diagnosis.curves), None)
    value = diagnosis.curves[name].value[-1:] if name else ()
    ended = f", {name.replace('_', ' ')} {value_of(name, value[0])}" if name and value else ""
    return f"{named(lead, diagnosis)}{at}{ended}"


def _main_spark(diagnosis: Diagnosis, cells: int, options: Options) -> str:
    name = next((name for name in MAIN if name in diagnosis.curves), None)
    values = diagnosis.curves[name].value if name else ()
    return spark(name or "", values, cells, ascii_only=options.ascii_only)
