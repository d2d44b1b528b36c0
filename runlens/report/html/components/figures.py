"""The key figures: at most six, always in this order; what was not recorded has none."""

import math

from runlens.diagnosis import Diagnosis, ThinCurve
from runlens.metrics import NAMES, base
from runlens.records import NamedTuple
from runlens.report.facts import shortened
from runlens.report.html.charts import select
from runlens.report.html.element import Markup, cut, el
from runlens.report.html.words import UNKNOWN, limit, spoken
from runlens.report.values import evidence_value, value_of
from runlens.run import RL_TASKS
from runlens.wording import duration, number
from runlens.wording import step as step_words

NOTE = 110  # characters
HIDDEN = "hidden-nan"  # from its onset on a train loss of 0 is no value
# what tells how a run without any loss of its own goes, the most telling first
TELLING = (
    "d_loss",
    "g_loss",
    "reward",
    "eval_accuracy",
    "train_accuracy",
    "eval_wer",
    "value_loss",
    "policy_loss",
)


class KeyFigure(NamedTuple):
    """One number with its name and one line about it."""

    label: str
    value: str
    note: str = ""


def key_figures(diagnosis: Diagnosis) -> Markup:
    """Return the key figures of a run."""
    return el(
        "dl", [_one(one) for one in _figures(diagnosis) if one.value != UNKNOWN], class_="key"
    )


def _one(figure: KeyFigure) -> Markup:
    value = el("span", cut(figure.value, 40), class_="v")
    note = el("span", shortened(figure.note, NOTE), class_="n")
    return el("div", el("dt", figure.label), el("dd", value, " ", note))


def _figures(diagnosis: Diagnosis) -> list[KeyFigure]:
    return [
        *_results(diagnosis),
        _of_verdict(diagnosis),
        _duration(diagnosis),
    ]


def _results(diagnosis: Diagnosis) -> list[KeyFigure]:
    """Return best and last of the two curves that say how good the run is."""
    names = _shown(diagnosis)
    if names[0] == "reward":
        return [
            *_best_and_last(diagnosis, "reward", "reward"),
            _last(diagnosis, names[1], "KL"),
            _last(diagnosis, "entropy", "entropy"),
        ]
    return [figure for name in names for figure in _two(diagnosis, name)]


def _shown(diagnosis: Diagnosis) -> list[str]:
    """Return the metrics whose best and last values are shown."""
    if diagnosis.task in RL_TASKS and "reward" in diagnosis.curves:
        kl = next((name for name in ("kl", "kl_step", "kl_seq") if name in diagnosis.curves), "kl")
        return ["reward", kl, "entropy"]
    there = select.known(diagnosis.curves, ("train_loss", "eval_loss"))
    others = [] if there else select.known(diagnosis.curves, TELLING)[:2]
    return [*others, "train_loss", "eval_loss"][:2]


def _two(diagnosis: Diagnosis, metric: str) -> list[KeyFigure]:
    """Return best and last of a metric; first and last of one that has no better side."""
    name = spoken(metric)
    told = f"{name[:1].lower()}{name[1:]}"
    if NAMES[metric].better:
        return _best_and_last(diagnosis, metric, told)
    step, value = next(iter(_finite(diagnosis.curves.get(metric))), (0.0, math.nan))
    first = KeyFigure(f"First {told}", value_of(metric, value), f"step {step_words(step)}")
    return [first, _last(diagnosis, metric, told)]


def _best_and_last(diagnosis: Diagnosis, metric: str, words: str) -> list[KeyFigure]:
    curve = diagnosis.curves.get(metric)
    points = _finite(curve)
    best = KeyFigure(f"Best {words}", UNKNOWN)
    hidden = (
        one.onset.step for one in diagnosis.findings if (one.rule, one.metric) == (HIDDEN, metric)
    )
    if (until := next(hidden, None)) is not None:
        points = [point for point in points if point[0] < until]
    if points:
        choose = max if NAMES[base(metric)].better == "higher" else min
        step, value = choose(points, key=lambda point: point[1])
        best = KeyFigure(f"Best {words}", value_of(metric, value), f"step {step_words(step)}")
    return [best, _last(diagnosis, metric, words)]


def _last(diagnosis: Diagnosis, metric: str, words: str) -> KeyFigure:
    curve = diagnosis.curves.get(metric)
    points = _finite(curve)
    if curve is None or not curve.step:
        return KeyFigure(f"Last {words}", UNKNOWN)
    if not math.isfinite(curve.value[-1]):
        bad = number(curve.value[-1])
        before = f"last finite: {value_of(metric, points[-1][1])}" if points else "never finite"
        return KeyFigure(f"Last {words}", bad, f"step {step_words(curve.step[-1])}; {before}")
    first = f"first {value_of(metric, points[0][1])}"
    note = f"step {step_words(points[-1][0])}; {first}, as logged"
    return KeyFigure(f"Last {words}", value_of(metric, points[-1][1]), note)


def _finite(curve: ThinCurve | None) -> list[tuple[float, float]]:
    if curve is None:
        return []
    pairs = zip(curve.step, curve.value, strict=True)
    return [(step, value) for step, value in pairs if math.isfinite(value)]


def _of_verdict(diagnosis: Diagnosis) -> KeyFigure:
    """Return the number that decided the verdict; of a healthy run the largest norm.

    Where best and last of the same metric stand beside it, a median of it would contradict them.
    """
    lead = diagnosis.findings[:1] if diagnosis.health != "healthy" else ()
    if any(one.metric in _shown(diagnosis) for one in lead):
        return KeyFigure("", UNKNOWN)
    numbers = [item for one in lead for item in one.evidence if not isinstance(item.value, str)]
    numbers.sort(key=lambda item: not item.beyond)  # judged ones first; the sort is stable
    for item in numbers[:1]:
        of = f"threshold {limit(item)}" if item.beyond else ""
        return KeyFigure(cut(item.what, 60), evidence_value(item, item.value), of)
    points = _finite(diagnosis.curves.get("grad_norm"))
    if not points:
        return KeyFigure("Largest gradient norm", UNKNOWN)
    step, value = max(points, key=lambda point: point[1])
    return KeyFigure("Largest gradient norm", number(value), f"step {step_words(step)}")


def _duration(diagnosis: Diagnosis) -> KeyFigure:
    starts = (event.time for event in diagnosis.events if event.kind == "launch")
    times = [time for time in starts if time is not None]
    last = diagnosis.state.last_time
    if times and last is not None and last > min(times):
        return KeyFigure("Duration", duration(last - min(times)), "launch to last record")
    return KeyFigure("Duration", UNKNOWN)
