"""The verdict of a comparison: better, worse, equivalent, or not to be told from these runs."""

import math
from collections.abc import Sequence
from typing import Literal

from runlens.comparing import continuation, vetoes
from runlens.comparing.gate import TASK
from runlens.comparing.groups import group
from runlens.comparing.parting import Sameness
from runlens.comparing.terms import REPEATS
from runlens.comparison import (
    STILL,
    Check,
    CompareVerdict,
    DiagnosisDiff,
    Measure,
    SettingDifference,
)
from runlens.diagnosis import Finding
from runlens.metrics import is_loss, spoken
from runlens.records import NamedTuple
from runlens.run import RL_TASKS, Run
from runlens.wording import NARROW, count, loss, number, step

RARE = 0.001  # a probability beyond which its digits say nothing
SPOILING = frozenset({
    "divergence", "warmup-shock", "grad-explosion", "reward-collapse", "preference-collapse",
})  # fmt: skip


class Found(NamedTuple):
    """What was found out about two runs, from which the verdict is drawn."""

    a: Run
    b: Run
    sameness: Sameness
    checks: Sequence[Check]
    measures: Sequence[Measure]
    settings: Sequence[SettingDifference]
    diff: DiagnosisDiff
    critical: tuple[Sequence[Finding], Sequence[Finding]] = ((), ())  # of A and of B
    asked: str = ""  # the metric that the user chose to decide


def of(found: Found) -> CompareVerdict:
    """Return the verdict of B against A.

    In this order: identical; another task; one of them ended in NaN; one goes on with the other;
    losses that do not compare; nothing to compare; the measure that decides.
    """
    if found.sameness.equal and found.sameness.values:
        return _identical(found)
    tasks = [check for check in found.checks if check.what == TASK and check.ok is False]
    if tasks:  # of two kinds of training none is the better one, whatever became of them
        return _not_comparable(tasks, found)
    broken = _broken(found)
    if broken:
        return broken
    if going := continuation.goes_on(found.a, found.b):
        return CompareVerdict(f"{continuation.sentence(*going)}.", "", "cannot_tell")
    deciding = next((one for one in found.measures if one.decides), None)
    failed = [check for check in found.checks if check.hard and check.ok is False]
    if failed:
        return _not_comparable(failed, found)
    if deciding is None or deciding.difference is None:
        note = deciding.note if deciding else ""
        why = note or "they have no metric in common of which more or less is better"
        return CompareVerdict(f"A and B cannot be compared: {why}.", "", "not_comparable")
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
            verdict: Literal["better", "worse"] = "better" if result == "better" else "worse"
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


def _judged(deciding: Measure, found: Found) -> CompareVerdict:
    """Return the verdict by the measure that decides, with what was believed of it.

    Where a fault decides, the fault is in the noise: what was believed by that noise says nothing.
    """
    ruined = None if deciding.favours else _ruined(deciding, found.diff)
    if ruined:
        told = _spoilt(deciding, *ruined)
        return told._replace(metric=deciding.metric, effect=deciding.difference)
    told = _told(deciding, found)
    return told._replace(
        metric=deciding.metric,
        effect=deciding.difference,
        interval=deciding.interval,
        p_b_better=deciding.p_b_better,
        p_equal=deciding.p_equal,
        smallest=deciding.smallest,
        delta=deciding.delta,
        noise_from=deciding.noise_from,
    )


def _told(deciding: Measure, found: Found) -> CompareVerdict:
    where, news = _where(deciding), _diagnosis(found.diff)
    asked = deciding.metric == found.asked
    if deciding.favours and (
        veto := vetoes.against(deciding, found.measures, found.critical, asked=asked)
    ):
        return CompareVerdict(veto.sentence, veto.second, veto.result)
    if deciding.favours:
        winner = deciding.favours.upper()
        surely = "" if deciding.clear else "probably "
        sentence = f"{winner} is {surely}better {where}: {vetoes.values(deciding)}."
        result: Literal["better", "worse"] = "better" if winner == "B" else "worse"
        second = " ".join(part for part in (_beside(deciding), _caveat(deciding, found)) if part)
        return CompareVerdict(sentence, second, result)
    keys = [row.key for row in found.settings if row.rank]
    if deciding.outcome == "equivalent":
        return CompareVerdict(*_equal(deciding, keys, where), "equivalent")
    sentence = f"Cannot tell which is better {where}: {vetoes.values(deciding)}."
    second = " ".join(part for part in (_beside(deciding), _to_know(deciding), news) if part)
    return CompareVerdict(sentence, second, "cannot_tell")


def _equal(deciding: Measure, keys: Sequence[str], where: str) -> tuple[str, str]:
    """Return both sentences on runs that are as good as one."""
    values = vetoes.values(deciding)
    if not deciding.difference:
        write = loss if is_loss(deciding.metric) else number
        values = f"{spoken(deciding.metric)} {write(deciding.a or 0.0)} in both"
    sentence = f"A and B are equivalent {where}: {values}"
    if keys and all(group(key) in REPEATS for key in keys):
        second = "That is what another seed does here: a change is clear only beyond it."
        return f"{sentence}, and nothing but {listed(keys)} was changed.", second
    if deciding.delta is None:
        return f"{sentence}.", ""
    return (
        f"{sentence}.",
        f"Less than {number(deciding.delta, 2)} apart, which is within the noise.",
    )


def _to_know(deciding: Measure) -> str:
    """Say what would have been seen, and what would tell more."""
    if deciding.smallest is None:
        return _sentence((deciding.note or "what repeats differ by is not known").rstrip("."))
    seen = f"a difference of {number(deciding.smallest, 2)} would have been seen"
    more = "; repeats with other seeds (--seeds) tell more"
    if deciding.more_seeds:
        seen += f"; {count(deciding.more_seeds, 'run')} a side would tell"
    more = "" if deciding.noise_from == "seeds" else more
    note = f"{deciding.note}; " if deciding.note else ""
    return _sentence(f"{note}{seen}{more}")


def _beside(measure: Measure) -> str:
    """Return the interval and the probability as a sentence; empty where they are not known."""
    if measure.interval is None:
        return ""
    low, high = (number(end, 3) for end in measure.interval)
    p = measure.p_b_better
    sure = "" if p is None else f"; P(B better) {_chance(p)}"
    return f"B − A lies between {low} and {high} (95{NARROW}% interval){sure}."


def _chance(p: float) -> str:
    """Return a probability that nobody reads more digits of: ``= 0.93``, ``< 0.001``."""
    if RARE <= p <= 1 - RARE:
        return f"= {number(p, 2)}"
    return f"< {RARE}" if p < RARE else f"> {1 - RARE}"


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


def _spoilt(deciding: Measure, name: Literal["A", "B"], fault: Finding) -> CompareVerdict:
    """Say that one run is better because the other was lost to a fault."""
    result: Literal["better", "worse"] = "worse" if name == "B" else "better"
    winner = "A" if name == "B" else "B"
    sentence = f"{winner} is better {_where(deciding)}: {vetoes.values(deciding)}."
    second = f"{name} was lost to {fault.rule} from step {step(fault.onset.step)} on."
    return CompareVerdict(sentence, second, result)


def _caveat(deciding: Measure, found: Found) -> str:
    """Say what stands against a clear difference: other measures, changes, no repeats."""
    against = [
        one
        for one in found.measures
        if one.favours and one.favours != deciding.favours and not one.decides
    ]
    weighty = [row.key for row in found.settings if row.rank and group(row.key) != "seed"]
    tried = next((key for key in weighty if group(key) != "resume"), "")
    said = [deciding.note] if deciding.note else []
    said += [f"B reaches {one.what.partition(' to ')[2]} with {one.note} steps"
             for one in found.measures if one.what.startswith("Steps to ")]  # fmt: skip
    if against:
        said.append(f"{against[0].what} favors {against[0].favours.upper()}")
    if len(weighty) > 1 and tried:
        told = f"a run of A with the {tried} of B alone would separate them"
        said.append(f"{len(weighty)} settings differ and share the credit: {told}")
    if deciding.noise_from == "prior":
        said.append(
            "the spread of repeats is estimated from similar runs, and --seeds would measure it"
        )
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


def listed(names: Sequence[str]) -> str:
    """Return up to three names as a clause, the rest as a number."""
    names = list(dict.fromkeys(names))
    if len(names) > 3:  # noqa: PLR2004 - a sentence holds no more
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
