"""Words that the text and the Markdown of a comparison share."""

from runlens.comparison import Comparison, Measure, Pair, SettingDifference
from runlens.config_keys import written
from runlens.diagnosis import Finding
from runlens.report import compared
from runlens.report.values import value_of
from runlens.wording import count, number, step

SHOWN_SETTINGS = 3


def result(pair: Pair, label: str) -> str:
    """Return the result of a pair in a word or two: ``B worse``, ``within noise``."""
    word = compared.RESULT_WORDS[pair.verdict.result]
    return f"{label} {word}" if pair.verdict.result in {"better", "worse"} else word


def row(measure: Measure) -> tuple[str, str, str]:
    """Return A, B and B - A of a measure; a dash for what is not known."""
    known = [
        "–" if one is None else value_of(measure.metric, one) for one in (measure.a, measure.b)
    ]
    return known[0], known[1], compared.difference(measure)


def judged(measure: Measure, pair: Pair, label: str) -> str:
    """Return what a measure says, with its note."""
    said = compared.told(measure, label, pair)
    return f"{said}; {measure.note}" if measure.note else said


def briefly(measure: Measure, pair: Pair, label: str) -> str:
    """Return the same in a word or two: ``16, B better``, ``2.4``, ``65 % of A's``."""
    if compared.raw(measure, pair):
        return "no verdict"
    if measure.difference is None or not measure.difference:
        return "" if measure.difference is None else "equal"
    if measure.times is None:
        if compared.to_target(measure):
            return measure.note
        return "not known" if measure.better else ""
    times = number(measure.times, 2)
    winner = {"a": "A better", "b": f"{label} better"}.get(measure.favours)
    words = {"equivalent": "equivalent", "cannot_tell": "cannot tell"}.get(measure.outcome, "")
    said = winner or ("clear" if measure.clear and not measure.better else words)
    return f"{times}, {said}" if said else times


def limits(pair: Pair) -> str:
    """Say beyond which multiple of the noise a difference is clear."""
    found = sorted({number(one.limit, 2) for one in pair.measures if one.noise is not None})
    if not found:
        return ""
    return f"A difference is clear beyond {' or '.join(found)} times the noise (95 % interval)."


def scoreboard(pair: Pair, label: str) -> str:
    """Return what all metrics say at the end: ``Of 5 metrics: 2 better, 3 cannot tell in B.``."""
    counts = {name: many for name, many in pair.scoreboard.items() if many}
    if sum(counts.values()) < 2 or pair.verdict.result == "not_comparable":  # noqa: PLR2004
        return ""
    said = ", ".join(f"{many} {name.replace('_', ' ')}" for name, many in counts.items())
    return f"Of {sum(counts.values())} metrics at the end, {label} is: {said}."


def noise_from(comparison: Comparison) -> str:
    """Say where the noise of the differences comes from."""
    if comparison.seeds:
        return f"Noise: between {count(len(comparison.seeds), 'repeat')} with other seeds."
    sources = {one.noise_from for pair in comparison.pairs for one in pair.measures}
    if "prior" in sources:
        return (
            "The noise between repeats is estimated from runs with similar curves; repeats of your "
            "own (--seeds) would measure it."
        )
    if "seeds" in sources:
        return "Noise: between the runs of a group."
    return "No noise is known."


def change(difference: SettingDifference, label: str) -> str:
    """Return a setting that differs: ``learning_rate: 2e-3 in A, 4e-3 in B``."""
    return f"{difference.key}: {_setting(difference.a)} in A, {_setting(difference.b)} in {label}"


def _setting(value: object) -> str:
    return "not recorded" if value is None else written(value)


def brief(finding: Finding) -> str:
    """Return a finding in a few words: ``divergence (critical) from step 300``."""
    at = "" if finding.onset.step is None else f" from step {step(finding.onset.step)}"
    return f"{finding.rule} ({finding.severity}){at}"
