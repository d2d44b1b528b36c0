"""Several diagnoses for the terminal: a line a run, worst first, and the settings that differ."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from runlens.cause import RANKS
from runlens.config_keys import KNOWN_KEYS, written
from runlens.diagnosis import Diagnosis, Finding
from runlens.report.facts import COMPARE, loud, named, sentence, why
from runlens.report.once import PARTS
from runlens.report.spark import spark
from runlens.report.terminal import Options, characters, clean, cut, wrapped
from runlens.report.text import MAIN, SHOWN_PROBLEMS
from runlens.report.values import PART, counted, value_of, worst_first
from runlens.run import LAST_TRAINING, RL_TASKS, WHOLE_FILE, Setting
from runlens.wording import DOUBT, count, listed, step

SHOWN_SETTINGS, SHOWN_RUNS = 4, 2  # that differ in an overview, and runs named with a value
TOLD = (WHOLE_FILE, LAST_TRAINING)  # lost, and said of one run among several
WIDE = 100  # characters from which an overview has long sparklines,
NARROWEST_DRAWN = 60  # and any
OTHERS, SENTENCE = 14, 29  # characters of what else is in a row, and of its sentence
HEALTH = 9  # characters before a name
WHY_LINES = 2  # of a screen, for a cause and what speaks for it
LABEL = "main curve"  # of runs with several
FEWEST_ROLLED = (
    12  # parts of one file: the lines of fewer, two each, fit a screen of 24 as they are
)
STEM = (
    3  # characters of the name of a file before the number of a part, the last a dot for the rest
)
UNJUDGED = "The run cannot be judged"
FAR_OFF, TOO_GOOD = "Ends far from its siblings", "Eval is suspiciously good"
HELD_OUT = "held-out rows"  # what is told of a run whose evaluation is too good
NOT_CLEAR = "No clear sign of learning"


def overview(
    diagnoses: Sequence[Diagnosis],
    options: Options | None = None,
    apart: Mapping[str, str] | None = None,
) -> str:
    """Return a line a run, worst first, below it what to do first; then the counts.

    `apart` says of a run, by its name, how far from its siblings it ends: its own curve may fall
    well, so that no rule finds anything in it.
    """
    from runlens.report.repeats import at_the_edge  # of several runs alone

    options, apart = options or Options(), apart or {}
    rows = worst_first(diagnoses)
    rows.sort(key=lambda one: not loud(one) and one.run_name not in apart)  # what is told, first
    cells = 20 if options.width >= WIDE else 8 if options.width >= NARROWEST_DRAWN else 0
    drawn = {one.run_name: name for one in rows if cells and (name := _main(one))}
    shown = list(dict.fromkeys(drawn.values()))
    label = (shown[0].replace("_", " ") if len(shown) == 1 else LABEL) if shown else ""
    cells = max(cells, len(label)) if cells else 0
    longest = max(len(clean(one.run_name)) for one in rows)
    wide = max(len(_step(one)) for one in rows)
    room = options.width - cells - OTHERS - wide  # for names and sentences
    name_width = min(longest, max(8, room - SENTENCE))
    lines = [f"{'':<{HEALTH + name_width + 1 + wide}}  {label}".rstrip()] if label else []
    alike = _alike(rows)
    for one in rows:
        if one.run_name not in alike:
            continue
        head = f"{one.health.upper():<8} {_cut(clean(one.run_name), name_width):<{name_width}} "
        head += f"{_step(one):>{wide}}  {_main_spark(one, cells, options):<{cells}}  "
        room = max(8, options.width - len(head))
        lines.append(
            head + textwrap.shorten(clean(_in_short(one, room, apart)), room, placeholder=" ...")
        )
        if cause := _cause(one):
            room = WHY_LINES * (options.width - HEALTH) - STEM
            kept = textwrap.shorten(clean(cause), room, placeholder=" ...")
            lines += wrapped(kept, options, " " * HEALTH, " " * HEALTH)
        if told := _first_action(one):
            room = options.width - HEALTH
            lines.append(" " * HEALTH + textwrap.shorten(clean(told), room, placeholder=" ..."))
        if others := alike[one.run_name]:
            lines.append(" " * HEALTH + _as_well(others))
    if len(shown) > 1:
        lines += ["", *wrapped(_which_curves(drawn, shown), options)]
    lines += [
        "",
        *_apart(apart, options),
        *at_the_edge(rows, options),
        *_differing(rows, options),
        counted(rows),
    ]
    for one in rows:
        unread = [problem for problem in one.problems if problem.lost in TOLD]
        for problem in unread[:SHOWN_PROBLEMS]:
            lines += wrapped(f"! {problem.where}: {problem.text}", options, "  ")
        if len(unread) > SHOWN_PROBLEMS:
            lines.append(f"! {count(len(unread) - SHOWN_PROBLEMS, 'more file')} could not be read")
    return characters("\n".join(lines) + "\n", options)


def _cut(name: str, width: int) -> str:
    """Return a name that fits; the number of a part is what tells it from the others."""
    number = PART.search(name)
    if number is None or len(name) <= width or len(number[0]) + STEM > width:
        return cut(name, width)
    return cut(name[: number.start()], width - len(number[0])) + number[0]


def _alike(rows: Sequence[Diagnosis]) -> dict[str, list[Diagnosis]]:
    """Return the runs that are shown, each with those that its lines speak for too.

    Parts of one file with the same fault and the same first step: two say it as well as a hundred.
    Of runs that were logged apart each has its line, as they may be looked for by their names.
    """
    shown: dict[str, list[Diagnosis]] = {}
    first: dict[tuple[object, ...], str] = {}
    few = len(rows) < FEWEST_ROLLED
    for one in rows:
        told = _first_action(one)
        lead = loud(one)[0].findings[0] if told else None
        kind = (_file(one), one.health, lead and named(lead, one), told)
        rolled = lead and kind[0] and not few
        of = first.setdefault(kind, one.run_name) if rolled else one.run_name
        shown.setdefault(of, []).extend([] if of == one.run_name else [one])
    return shown


def _file(part: Diagnosis) -> str:
    """Return what a part of a file shares with the others: ``train.log``; "" of a run alone.

    The rows of a table are called after a column, ``seed 3``, and known by no path.
    """
    if number := PART.search(part.run_name):
        return part.run_name[: number.start()]
    return part.sources[0] if part.run_id == part.run_name and " " in part.run_name else ""


def _as_well(others: Sequence[Diagnosis]) -> str:
    """Say of how many parts a line speaks too, and where the fault began in these."""
    onsets = [loud(one)[0].findings[0].onset.step for one in others]
    at = sorted({onset for onset in onsets if onset is not None})
    begins = f" at step {step(at[0])}" if len(at) == 1 else ""
    begins = f" from step {step(at[0])} to step {step(at[-1])}" if len(at) > 1 else begins
    return f"{count(len(others), 'more part')} of this file: the same{begins}."


def _main(diagnosis: Diagnosis) -> str:
    """Return the curve that tells how a run went: of a policy its reward."""
    first = ("reward",) if diagnosis.task in RL_TASKS else ()
    return next((name for name in (*first, *MAIN) if name in diagnosis.curves), "")


def _which_curves(drawn: Mapping[str, str], shown: Sequence[str]) -> str:
    """Say which curve stands for which runs, where it is not the same of all."""
    runs = {name: [run for run, of in drawn.items() if of == name] for name in shown}
    common = max(shown, key=lambda name: len(runs[name]))
    others = {one: sorted(runs[one]) for one in shown if one != common}
    told = [
        f"{_spoken(one)} of {listed(of) if len(of) <= SHOWN_RUNS else count(len(of), 'run')}"
        for one, of in others.items()
    ]
    return f"Main curve: {', '.join(told)}; {_spoken(common)} of the others."


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _first_action(diagnosis: Diagnosis) -> str:
    """Return the first step of a faulty run in a sentence, with the settings that it changes."""
    steps = diagnosis.do_first.steps
    if not loud(diagnosis) or not steps:
        return ""
    what = PARTS.split(sentence(steps[0][0]))[0]
    first = diagnosis.do_first
    changes = first.changes if first.diff and not first.carried_out else ()  # else in its words
    told = [f"{one.name.rpartition('.')[2]} {_moved(one.old, one.new)}" for one in changes]
    return f"{what.rstrip('.')} ({', '.join(told)})." if told else what


def _cause(diagnosis: Diagnosis) -> str:
    """Return the first cause of a faulty run that is likely, with what speaks for it most."""
    causes = loud(diagnosis)[0].findings[0].causes[:1] if loud(diagnosis) else ()
    if not causes or causes[0].rank not in RANKS[:2]:
        return ""
    cause, signs, _ = why(causes, brief=True)
    return f"{cause}: {signs}." if signs else f"{cause}."


def _moved(old: Setting, new: Setting) -> str:
    return written(new) if old is None else f"{written(old)} → {written(new)}"


def _step(diagnosis: Diagnosis) -> str:
    return f"step {step(diagnosis.last_step)}"


def _differing(diagnoses: Sequence[Diagnosis], options: Options) -> Iterator[str]:
    """Name the settings with numbers and switches that differ, each value with its runs."""
    values: dict[str, dict[str, list[str]]] = {}
    for one in diagnoses:
        for row in one.settings:
            if row.key in KNOWN_KEYS and isinstance(row.value, bool | int | float):
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


def _apart(apart: Mapping[str, str], options: Options) -> Iterator[str]:
    for name, text in apart.items():
        yield from wrapped(f"{clean(name)}: {text}. {COMPARE}", options)
        yield ""


def _in_short(diagnosis: Diagnosis, room: int, apart: Mapping[str, str]) -> str:
    """Return the first fault by its title, and what fits of where it began and how it ended."""
    faults = loud(diagnosis)
    if not faults and diagnosis.run_name in apart:
        return TOO_GOOD if HELD_OUT in apart[diagnosis.run_name] else FAR_OFF
    for note in diagnosis.findings[:1]:
        if diagnosis.health == "info" and not faults and _leads(note, diagnosis):
            return f"{named(note, diagnosis)}, not certain"
    if not faults:
        said = diagnosis.verdict.sentence.partition(" up to step ")[0]
        said = NOT_CLEAR if said == DOUBT else said
        told = said.removeprefix(UNJUDGED).lstrip("., ").removeprefix("because ")
        return f"{told[:1].upper()}{told[1:]}"
    lead = faults[0].findings[0]
    at = f" at step {step(lead.onset.step)}" if lead.onset.step is not None else ""
    name = _main(diagnosis)
    value = diagnosis.curves[name].value[-1:] if name else ()
    ended = f", {_spoken(name)} {value_of(name, value[0])}" if name and value else ""
    title = named(lead, diagnosis)
    whole = (f"{title}{at}{ended}", f"{title}{at}")
    return next((told for told in whole if len(told) <= room), title)


def _leads(note: Finding, diagnosis: Diagnosis) -> bool:
    """Whether a note is what the verdict says, not that nothing was found."""
    return diagnosis.verdict.sentence.startswith(note.title.partition(". ")[0])


def _main_spark(diagnosis: Diagnosis, cells: int, options: Options) -> str:
    name = _main(diagnosis)
    values = diagnosis.curves[name].value if name else ()
    return spark(name, values, cells, ascii_only=options.ascii_only)
