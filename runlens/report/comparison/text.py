"""A comparison for the terminal: verdict, numbers, settings, where they part, findings."""

from collections.abc import Iterator, Sequence

from runlens.comparison import STILL, Check, Comparison, Leaderboard, Pair, Result
from runlens.diagnosis import Diagnosis, Finding
from runlens.report import compared
from runlens.report.comparison import words
from runlens.report.terminal import Line, Options, characters, clean, cut, printed, wrapped
from runlens.wording import count, step

STYLES: dict[Result, str] = {
    "better": "bold green",
    "worse": "bold red",
    "equivalent": "bold blue",
    "cannot_tell": "bold yellow",
    "mixed": "bold yellow",
    "identical": "bold blue",
    "not_comparable": "bold yellow",
}
HANG = "     "
LONGEST_NAME = 60
TABLE_NAME = 24  # characters of a run's name in the table of several


def render(comparison: Comparison, options: Options | None = None) -> str:
    """Return the comparison as lines of text; of more than two runs a table, best first."""
    options = options or Options()
    return printed(_lines(comparison, options), options)


def verdict(comparison: Comparison, options: Options | None = None) -> str:
    """Return one line a pair: the result and its sentence."""
    lines = [
        f"{words.result(pair, compared.label(index)).upper()} {pair.b.run_name}: "
        f"{pair.verdict.sentence}"
        for index, pair in enumerate(comparison.pairs)
    ]
    return characters("".join(f"{clean(line)}\n" for line in lines), options or Options())


def _lines(comparison: Comparison, options: Options) -> Iterator[Line]:
    names = compared.sides(comparison)
    if len(comparison.pairs) == 1:
        yield from _pair(comparison, 0, names, options)
        return
    yield from _run("A", names[0], comparison.runs[0], options)
    yield ""
    yield f"Against A: {compared.tally(comparison)}"
    for index in compared.ranked(comparison):
        name, board = names[index + 1], comparison.board
        yield from _row(comparison.pairs[index], compared.label(index), name, board, options)
    yield ""
    if not options.verbose:
        yield "Each run against A in full: -v"
        return
    for index in range(len(comparison.pairs)):
        yield from _pair(comparison, index, names, options)


def _run(label: str, name: str, run: Diagnosis, options: Options) -> list[str]:
    done = f"step {step(run.last_step)}, {run.state.settled.replace('_', ' ')}"
    text = f"{label}  {cut(clean(name), LONGEST_NAME)}: {done}. {run.health.capitalize()}: "
    return wrapped(text + run.verdict.sentence, options, "   ")


def _row(
    pair: Pair, label: str, name: str, board: Leaderboard | None, options: Options
) -> Iterator[Line]:
    measure = compared.deciding(pair)
    numbers = ""
    if measure:
        _, value, difference = words.row(measure)
        comparable = pair.verdict.result != "not_comparable"
        numbers = f"{clean(measure.metric)} {value}" + (f" ({difference})" if comparable else "")
    head = f"  {label}  {cut(clean(name), TABLE_NAME):<{TABLE_NAME}}  "
    result = compared.RESULT_WORDS[pair.verdict.result].upper()
    yield (head, (f"{result:<15}", STYLES[pair.verdict.result]), f" {numbers}")
    if likely := compared.likeliest(pair, board):
        yield from wrapped(words.change(likely, label), options, HANG + "  ", HANG)


def _pair(
    comparison: Comparison, index: int, names: Sequence[str], options: Options
) -> Iterator[Line]:
    pair, label = comparison.pairs[index], "B"  # as its sentences say
    word = words.result(pair, label)
    which = f"  (B is run {compared.label(index)})" if index else ""
    yield ((word.upper(), STYLES[pair.verdict.result]), which)
    yield from wrapped(pair.verdict.sentence, options)
    if pair.verdict.second:
        yield from wrapped(pair.verdict.second, options)
    yield ""
    yield from _run("A", names[0], pair.a, options)
    yield from _run(label, names[index + 1], pair.b, options)
    yield ""
    yield from _numbers(comparison, pair, label, options)
    yield from _settings(pair, label, options)
    yield from _partings(pair, label, options)
    yield from _diagnosis(pair, label, options)
    yield from _fairness(pair, options)


def _numbers(comparison: Comparison, pair: Pair, label: str, options: Options) -> Iterator[str]:
    if not pair.measures:
        return
    names = [cut(clean(one.what), LONGEST_NAME) for one in pair.measures]
    widest = max(len(name) for name in names)
    yield f"{'In numbers':<{widest + 3}} {'A':>9} {label:>9} {f'{label} - A':>9}  x noise"
    for name, one in zip(names, pair.measures, strict=True):
        cells = words.row(one)
        mark = "*" if one.decides else " "
        head = f" {mark} {name:<{widest}} {cells[0]:>9} {cells[1]:>9} {cells[2]:>9}  "
        yield head + words.briefly(one, pair, label)
        if options.verbose and one.note:
            yield from wrapped(one.note, options, HANG, HANG)
    yield from wrapped(words.scoreboard(pair, label), options, "   ", "   ")
    axis = f"By {pair.align}: {pair.align_why}. " if pair.align_why else f"By {pair.align}. "
    limits = words.limits(pair)
    text = f"{axis}* decides. {words.noise_from(comparison)} {limits}"
    yield from wrapped(text.strip(), options, "   ", "   ")
    yield ""


def _settings(pair: Pair, label: str, options: Options) -> Iterator[str]:
    weighty = [one for one in pair.settings if one.rank]
    light = len(pair.settings) - len(weighty)
    shown = weighty if options.verbose else weighty[: words.SHOWN_SETTINGS]
    if shown:
        yield "What differs in the settings, the likeliest first"
    else:
        yield "No setting that bears on the training is known to differ"
    for place, one in enumerate(shown, 1):
        why = f" ({one.why})" if one.why else ""
        yield from wrapped(f"{place}. {words.change(one, label)}{why}", options, HANG, "  ")
    rest = len(weighty) - len(shown)
    more = [count(rest, "more setting")] if rest else []
    more += [f"{count(light, 'setting')} of names, paths and logging"] if light else []
    if more:
        yield f"  and {', '.join(more)}"
    yield ""


def _partings(pair: Pair, label: str, options: Options) -> Iterator[str]:
    if not pair.partings:
        return
    yield "Where they differ"
    for one in pair.partings:
        parts = [compared.at("step", one.step)] if one.step is not None else []
        if one.clear is not None:
            side = f", {label} {one.side}" if one.side else ""
            parts.append(
                f"beyond noise from {compared.at(pair.unit or pair.align, one.clear)}{side}"
            )
        text = f"{one.metric}: {', '.join(parts)}"
        how = f" ({one.how})" if one.how and options.verbose else ""
        yield from wrapped(text + how, options, HANG, "  ")
    if pair.mover:
        yield from wrapped(pair.mover, options, "  ", "  ")
    yield ""


def _diagnosis(pair: Pair, label: str, options: Options) -> Iterator[str]:
    told = [line for line, loud in _changes(pair, label) if loud or options.verbose]
    if not told:
        yield "The diagnosis of both is the same"
    else:
        yield "Diagnosis"
    for line in told:
        yield from wrapped(line, options, HANG, "  ")
    yield ""


def _changes(pair: Pair, label: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of the diagnosis diff, and whether it is more than an info."""
    diff = pair.diff
    for one in diff.fixed:
        yield f"fixed in {label}: {words.brief(one)}", _loud(one)
    for one in diff.new:
        yield f"new in {label}: {words.brief(one)}", _loud(one)
    for both in diff.both:
        text = f"in both: {words.brief(both.a)} in A, {words.brief(both.b)} in {label}"
        yield text, _loud(both.a) or _loud(both.b)
    for lone in diff.unjudged:
        text = f"in {lone.run} alone, not judged in the other: {words.brief(lone.finding)}"
        yield f"{text} ({lone.why})", _loud(lone.finding)


def _loud(finding: Finding) -> bool:
    return finding.severity != "info"


def _fairness(pair: Pair, options: Options) -> Iterator[str]:
    yield "Is the comparison fair?"
    failed = [check for check in pair.checks if check.ok is False]
    for check in sorted(failed, key=lambda one: not one.hard):
        word = "no" if check.hard else "note"
        yield from wrapped(f"{word}: {check.what}: {check.why}", options, HANG, "  ")
    for word, ok in (("not known", None), ("equal", True)):
        checks = [one for one in pair.checks if one.ok is ok and one.what != STILL]
        yield from _folded(word, checks, options)
    for problem in pair.problems:
        yield from wrapped(f"! {problem.where}: {problem.text}", options, HANG, "  ")
    yield ""


def _folded(word: str, checks: Sequence[Check], options: Options) -> Iterator[str]:
    if options.verbose:
        for check in checks:
            yield from wrapped(f"{word}: {check.what}: {check.why}", options, HANG, "  ")
    elif checks:
        names = ", ".join(check.what[:1].lower() + check.what[1:] for check in checks)
        yield from wrapped(f"{word}: {names}", options, HANG, "  ")
