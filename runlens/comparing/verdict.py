"""The verdict of a comparison: which run is better, whether that is more than noise."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from runlens.comparing.difference import LEAST
from runlens.comparing.gate import STILL, TASK
from runlens.comparing.groups import group
from runlens.comparing.parting import Sameness
from runlens.comparison import (
    Check,
    CompareVerdict,
    DiagnosisDiff,
    Measure,
    Result,
    SettingDifference,
)
from runlens.diagnosis import Finding
from runlens.metrics import is_loss, spoken
from runlens.run import RL_TASKS, Run
from runlens.wording import NARROW, count, loss, number, step

SPOILING = frozenset({"divergence", "warmup-shock", "reward-collapse", "preference-collapse"})
LESS = f"{number(100 * LEAST)}{NARROW}%"


class Found(NamedTuple):
    """What was found out about two runs, from which the verdict is drawn."""

    a: Run
    b: Run
    sameness: Sameness
    checks: Sequence[Check]
    measures: Sequence[Measure]
    settings: Sequence[SettingDifference]
    diff: DiagnosisDiff


def of(found: Found) -> CompareVerdict:
    """Return the verdict of B against A.

    In this order: identical; another task; one of them ended in NaN; losses that do not compare;
    nothing to compare; a difference in the seed alone; the measure that decides, beside its noise.
    """
    if found.sameness.equal and found.sameness.values:
        return _identical(found)
    tasks = [check for check in found.checks if check.what == TASK and check.ok is False]
    if tasks:  # of two kinds of training none is the better one, whatever became of them
        return _not_comparable(tasks, found)
    broken = _broken(found)
    if broken:
        return broken
    deciding = next((one for one in found.measures if one.decides), None)
    failed = [check for check in found.checks if check.hard and check.ok is False]
    if failed:
        return _not_comparable(failed, found)
    if deciding is None or deciding.difference is None:
        note = deciding.note if deciding else ""
        why = note or "they have no loss and no reward in common"
        return CompareVerdict(f"A and B cannot be compared: {why}.", "", "not_comparable")
    if _only_seeds(found):
        return _luck(deciding, found)
    return _judged(deciding, found)


def _identical(found: Found) -> CompareVerdict:
    same = found.sameness
    sentence = (
        f"A and B are identical: {count(same.values, 'value')} of "
        f"{count(same.metrics, 'metric')} agree."
    )
    weighty = [row.key for row in found.settings if row.rank]
    second = f"They differ in {listed(weighty)}, which changed nothing." if weighty else ""
    return CompareVerdict(sentence, second, "identical")


def _broken(found: Found) -> CompareVerdict | None:
    """Return the verdict where the loss of one run, or of both, ended in no number."""
    ends = {"A": _lost(found.a), "B": _lost(found.b)}
    if all(ends.values()):
        sentence = (
            f"A and B cannot be compared: the loss of both ended in no number, A from step "
            f"{ends['A']:,}, B from step {ends['B']:,}."
        )
        return CompareVerdict(sentence, "", "not_comparable")
    for name, other, result in (("A", "B", "better"), ("B", "A", "worse")):
        if ends[name]:
            sentence = (
                f"B is {result}: the loss of {name} is no number from step {ends[name]:,} on, "
                f"that of {other} stayed finite."
            )
            verdict: Result = "better" if result == "better" else "worse"
            return CompareVerdict(sentence, _diagnosis(found.diff), verdict)
    return None


def _lost(run: Run) -> int | None:
    """Return the step from which the training loss is no number to the end; None if it is one."""
    curve = run.curve("train_loss")
    if not len(curve) or math.isfinite(curve.value[-1]):
        return None
    finite = curve.finite()
    return int(curve.after(int(finite.step[-1]) + 1).step[0]) if len(finite) else int(curve.step[0])


def _not_comparable(failed: Sequence[Check], found: Found) -> CompareVerdict:
    first = failed[0]
    more = len(failed) - 1
    rest = f" ({count(more, 'more point')} below)" if more else ""
    what = "Rewards" if {found.a.task, found.b.task} <= RL_TASKS else "Losses"
    sentence = f"{what} of A and B cannot be compared: {first.why}{rest}."
    still = next((check.why for check in found.checks if check.what == STILL), "")
    return CompareVerdict(sentence, f"{STILL}: {still}." if still else "", "not_comparable")


def _only_seeds(found: Found) -> bool:
    keys = [row.key for row in found.settings if row.rank]
    return bool(keys) and all(group(key) == "seed" for key in keys)


def _luck(deciding: Measure, found: Found) -> CompareVerdict:
    keys = [row.key for row in found.settings if row.rank]
    sentence = (
        f"A and B differ within noise {_where(deciding)}: {_values(deciding)}, "
        f"and nothing but {listed(keys)} was changed."
    )
    second = "That is what another seed does here: a change is clear only beyond it."
    return CompareVerdict(sentence, second, "within_noise")


def _judged(deciding: Measure, found: Found) -> CompareVerdict:
    where = _where(deciding)
    if deciding.favours:
        winner = deciding.favours.upper()
        sentence = f"{winner} is better {where}: {_numbers(deciding)}."
        result: Result = "better" if winner == "B" else "worse"
        return CompareVerdict(sentence, _caveat(deciding, found), result)
    news = _diagnosis(found.diff)
    if not deciding.difference:
        write = loss if is_loss(deciding.metric) else number
        value = f"{spoken(deciding.metric)} {write(deciding.a or 0.0)} in both"
        return CompareVerdict(f"A and B do not differ {where}: {value}.", news, "within_noise")
    if _small(deciding):
        sentence = f"A and B differ by less than {LESS} {where}: "
        return CompareVerdict(f"{sentence}{_values(deciding)}.", news, "within_noise")
    if deciding.noise is None:
        sentence = f"No difference can be claimed {where}: {_values(deciding)}."
        why = deciding.note or "the noise is not known"
        second = _sentence(f"{why.rstrip('.')}: repeat with other seeds (--seeds)")
        return CompareVerdict(
            sentence, " ".join(one for one in (second, news) if one), "within_noise"
        )
    if ruined := _ruined(deciding, found.diff):
        name, finding = ruined
        winner, result = ("A", "worse") if name == "B" else ("B", "better")
        sentence = f"{winner} is better {where}: {_values(deciding)}."
        fault = f"{name} was lost to {finding.rule} from step {step(finding.onset.step)} on"
        second = f"{fault}; its own scatter would hide the difference."
        return CompareVerdict(sentence, second, result)
    sentence = f"A and B differ within noise {where}: {_numbers(deciding)}."
    return CompareVerdict(sentence, news, "within_noise")


def _ruined(deciding: Measure, diff: DiagnosisDiff) -> tuple[Literal["A", "B"], Finding] | None:
    """Return the run that one critical fault of its curve spoilt to the end, if it ends worse.

    Such a fault makes the noise as large as itself; it was told from a look-alike by its own rule.
    """
    if not deciding.better or not deciding.difference:
        return None
    worse: Literal["A", "B"] = "B"
    if (deciding.difference < 0) == (deciding.better == "lower"):
        worse = "A"
    alone = diff.new if worse == "B" else diff.fixed
    lost = [one for one in alone if one.rule in SPOILING and one.severity == "critical"]
    lasting = [one for one in lost if one.end is None]
    return (worse, lasting[0]) if lasting else None


def _small(measure: Measure) -> bool:
    """Whether a difference is below 1 % of the value, whatever the noise."""
    if measure.a is None or measure.difference is None or not measure.a:
        return False
    return abs(measure.difference) <= LEAST * abs(measure.a)


def _caveat(deciding: Measure, found: Found) -> str:
    """Say what stands against a clear difference: other measures, changes, no repeats."""
    against = [
        one
        for one in found.measures
        if one.favours and one.favours != deciding.favours and not one.decides
    ]
    weighty = [row.key for row in found.settings if row.rank and group(row.key) != "seed"]
    said = []
    if against:
        said.append(f"{against[0].what} speaks for {against[0].favours.upper()}")
    if len(weighty) > 1:
        said.append(f"{len(weighty)} settings differ, so that no single one has the credit")
    if deciding.noise_from == "within":
        said.append("one pair cannot tell a setting from a seed: repeat with other seeds (--seeds)")
    caveat = _sentence("; ".join(said))
    return " ".join(part for part in (caveat, _diagnosis(found.diff)) if part)


def _diagnosis(diff: DiagnosisDiff) -> str:
    """Say which loud findings are gone and which came."""
    gone = [one.rule for one in diff.fixed if one.severity != "info"]
    come = [one.rule for one in diff.new if one.severity != "info"]
    said = []
    if gone:
        said.append(f"fixed in B: {listed(gone)}")
    if come:
        said.append(f"new in B: {listed(come)}")
    return _sentence("; ".join(said))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _where(measure: Measure) -> str:
    """Return where a measure was taken: ``at the end``, ``at their best``, ``at 2,000 samples``."""
    first, _, place = measure.what.partition(" at ")
    if place:
        return f"at {place}"
    return "at their best" if first.startswith("Best") else "at the end"


def _numbers(measure: Measure) -> str:
    times = measure.times
    said = _values(measure)
    return said if times is None else f"{said}, {number(times, 2)} times the noise"


def _values(measure: Measure) -> str:
    """Return both numbers with their metric: ``eval loss 1.394 in B against 1.665 in A``."""
    write = loss if is_loss(measure.metric) else number
    a, b = (math.nan if value is None else value for value in (measure.a, measure.b))
    return f"{spoken(measure.metric)} {write(b)} in B against {write(a)} in A"


def listed(names: Sequence[str]) -> str:
    """Return up to three names as a clause, the rest as a number."""
    names = list(dict.fromkeys(names))
    if len(names) > 3:  # noqa: PLR2004 - a sentence holds no more
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
