"""Two runs over one axis: their curves, their differences beside the noise, where they part."""

import math

from runlens.comparison import Comparison, Measure, Pair
from runlens.diagnosis import Mark, ThinCurve
from runlens.metrics import base, is_loss
from runlens.report.compared import at, deciding, difference
from runlens.report.html.charts import select
from runlens.report.html.charts.model import Band, Figure, Ink, Lane, Line, Panel, Reference
from runlens.report.html.charts.points import fewer
from runlens.report.html.charts.timeline import lane
from runlens.report.html.charts.units import Unit, span, unit_for
from runlens.report.html.element import cut
from runlens.report.html.words import spoken
from runlens.report.values import starts_at_zero, value_of
from runlens.run import RL_TASKS

LOSSES = ("eval_loss", "train_loss")
REWARDS = ("reward", "kl", "kl_step", "kl_seq", "entropy", "len_mean", "dpo_margin", "dpo_acc")
COMMON = ("grad_norm", "learning_rate")
HEIGHTS = {"eval_loss": 170, "train_loss": 150, "reward": 170, "learning_rate": 60}
RESULTS = ("eval_loss", "train_loss", "reward")  # whose difference has a panel
SIDE, DIFFERENCE = 84, 90  # heights in pixels: of any other metric, of a difference
EXTRA = 2  # panels for metrics that part or decide and are not among the usual ones
VALUES = 26_000  # of all lines of a figure, so that the page stays small
EARLY = 0.04  # of the axis: what parts there is not marked, the whole curve shows it
LANES = 4
MINUS = "\u2212"


def pair_figure(comparison: Comparison) -> Figure | None:
    """Return the curves of the first two runs; None where none was recorded."""
    pair = comparison.pairs[0]
    curves = {name: curves[:2] for name, curves in comparison.curves.items()}
    names = metrics_of(pair, curves)
    if not names:
        return None
    ends = [curve.step[-1] for name in names for curve in curves[name] if curve and curve.step]
    unit = unit_for(comparison.unit or comparison.align, max(ends))
    start, end = _axis(comparison, names, unit)
    most = max(200, VALUES // (2 * len(names)))
    panels: list[Panel] = []
    for name in names:
        made = _panel(name, curves[name], pair, unit, most, (start, end))
        panels.append(made._replace(bands=_middle_half(comparison, name, unit)))
        if name in pair.differences and (name == names[0] or base(name) in RESULTS):
            panels.append(difference_panel(name, pair, unit))
    return Figure(
        uid="cmp",
        title=f"A and B over {unit.axis}",
        description=_description(panels, pair),
        panels=tuple(panels),
        start=start,
        end=end,
        lanes=_lanes(pair) if comparison.align == "step" else (),
        epochs=_epochs(comparison),
        onsets=tuple((unit.place(step), "info") for step in _parted(pair)),
        cited=_cited(pair, unit, start + EARLY * (end - start)),
        crosshair=True,
        axis=unit.axis,
    )


def metrics_of(pair: Pair, curves: dict[str, tuple[ThinCurve | None, ...]]) -> list[str]:
    """Return the metrics that are shown, the deciding one first."""
    there = [name for name, some in curves.items() if any(one and one.step for one in some)]
    first = deciding(pair)
    ordered = (*REWARDS, *LOSSES) if pair.a.task in RL_TASKS else (*LOSSES, *REWARDS)
    usual = [*(name for name in there if base(name) == "eval_loss"), *ordered]
    lead = (first.metric,) if first else ()
    others = [*(one.metric for one in pair.partings), *(one.metric for one in pair.measures)]
    named = dict.fromkeys((*lead, *usual, *COMMON))
    extra = [name for name in dict.fromkeys(others) if name not in named and name in there]
    shown = [name for name in (*named, *extra[:EXTRA]) if name in there]
    return shown or there[:3]


def _line(run: str, metric: str, curve: ThinCurve, most: int, pair: Pair) -> Line:
    """Return the curve of run A or B as a line of at most `most` points.

    Its label has the last value as the table of numbers has it.
    """
    line = select.line(metric, fewer(curve, most), "sa" if run == "A" else "sb")
    last = _last(metric, pair)
    value = (last.a if run == "A" else last.b) if last else None
    says = "" if value is None else f"{run} {value_of(metric, value)}"
    return line._replace(name=run, series=f"{run} {cut(metric, 40)}", says=says)


def _last(metric: str, pair: Pair) -> Measure | None:
    """Return the measure that is the end of this metric."""
    ends = (one for one in pair.measures if one.what.lower().startswith("last "))
    return next((one for one in ends if one.metric == metric), None)


def _last_difference(metric: str, pair: Pair) -> str:
    """Return the difference of the last values as a label; empty where the runs end apart."""
    last = _last(metric, pair)
    known = last is not None and last.noise is not None
    return f"B {MINUS} A {difference(last)}" if known and last else ""


def difference_panel(metric: str, pair: Pair, unit: Unit, most: int = VALUES) -> Panel:
    """Return B - A along the axis, over the gray band of what is no more than noise."""
    found = pair.differences[metric]
    where = tuple(unit.place(x) for x in found.at)
    name = f"B {MINUS} A"
    curve = fewer(ThinCurve(where, found.value, len(where)), most)
    line = Line(metric, name, "sd", curve)
    ends = (where[0], where[-1]) if where else (0.0, 1.0)
    return Panel(
        f"{spoken(metric)}, {name}",
        DIFFERENCE,
        (line._replace(series=f"{name} {cut(metric, 40)}", says=_last_difference(metric, pair)),),
        (Reference(0.0, "no difference"),),
        bands=(Band(ends, (found.low,) * 2, (found.high,) * 2),) if found.low < found.high else (),
    )


def _panel(
    metric: str,
    curves: tuple[ThinCurve | None, ...],
    pair: Pair,
    unit: Unit,
    most: int,
    axis: tuple[float, float],
) -> Panel:
    lines = tuple(
        _line(run, metric, unit.scaled(curve), most, pair)
        for run, curve in zip("AB", curves, strict=False)
        if curve is not None and curve.step
    )
    return Panel(
        spoken(metric),
        HEIGHTS.get(base(metric), SIDE),
        lines,
        log_from=select.log_from(metric),
        zero=starts_at_zero(metric),
        marks=_marks(metric, lines, pair, unit, axis),
    )


def _middle_half(comparison: Comparison, metric: str, unit: Unit) -> tuple[Band, ...]:
    """Return the middle half of the runs of each group, in the ink of its curve."""
    inks: tuple[Ink, Ink] = ("sa", "sb")
    some = comparison.bands.get(metric, ())
    return tuple(
        Band(tuple(unit.place(x) for x in one.at), one.low, one.high, ink)
        for ink, one in zip(inks, some, strict=False)
        if one is not None
    )


def _marks(
    metric: str, lines: tuple[Line, ...], pair: Pair, unit: Unit, axis: tuple[float, float]
) -> tuple[Mark, ...]:
    """Return where the two part clearly, on the line of B."""
    parting = next((one for one in pair.partings if one.metric == metric), None)
    if parting is None or parting.clear is None or not (is_loss(metric) or metric == "reward"):
        return ()
    place = unit.place(parting.clear)
    if place <= axis[0] + EARLY * (axis[1] - axis[0]) or not lines:
        return ()
    values = [value for line in lines if (value := _value_at(line.curve, place)) is not None]
    if not values:
        return ()
    # on the upper line, so that its words above it cross no line
    return (Mark(place, max(values), f"clear from {at(pair.unit or pair.align, parting.clear)}"),)


def _value_at(curve: ThinCurve, place: float) -> float | None:
    """Return the first finite value at a place or after it."""
    pairs = zip(curve.step, curve.value, strict=True)
    return next((value for x, value in pairs if x >= place and math.isfinite(value)), None)


def _axis(comparison: Comparison, names: list[str], unit: Unit) -> tuple[float, float]:
    curves = [curve for name in names for curve in comparison.curves[name][:2] if curve]
    first = min(curve.step[0] for curve in curves if curve.step)
    last = max(curve.step[-1] for curve in curves if curve.step)
    return span(unit.place(first), unit.place(last))


def _parted(pair: Pair) -> list[float]:
    """Return where anything parts first, and where the deciding metric is clearly apart.

    The first is a step: on another axis it has no place.
    """
    firsts = [one.step for one in pair.partings if one.step is not None and pair.align == "step"]
    first = deciding(pair)
    clear = [
        one.clear
        for one in pair.partings
        if first and one.metric == first.metric and one.clear is not None
    ]
    return list(dict.fromkeys([*firsts[:1], *clear]))


def _cited(pair: Pair, unit: Unit, border: float) -> frozenset[float]:
    """Return the places that thinning may not leave out; early ones would hold the start in."""
    steps = [one.clear for one in pair.partings]
    steps += [one.step for one in pair.partings if pair.align == "step"]
    return frozenset(
        place for step in steps if step is not None and (place := unit.place(step)) > border
    )


def _epochs(comparison: Comparison) -> tuple[tuple[float, float], ...]:
    """Return the ends of epochs where both runs have the same."""
    a, b = comparison.runs[:2]
    return a.epochs if comparison.align == "step" and a.epochs == b.epochs else ()


def _lanes(pair: Pair) -> tuple[Lane, ...]:
    """Return a bar for each finding that one run alone has."""
    alone = [("A", pair.a, one) for one in pair.diff.fixed if one.severity != "info"]
    alone += [("B", pair.b, one) for one in pair.diff.new if one.severity != "info"]
    return tuple(
        lane(finding, diagnosis, select.last_step(diagnosis), run)
        for run, diagnosis, finding in alone[:LANES]
        if finding.onset.step is not None
    )


def _description(panels: list[Panel], pair: Pair) -> str:
    told = [select.describe(line) for panel in panels for line in panel.lines]
    parted = [f"{one.metric} parts at {at('step', one.step)}." for one in pair.partings]
    return " ".join(told + parted)
