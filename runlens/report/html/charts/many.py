"""Many runs over one axis: A in blue, the best and the worst emphasised, the others gray."""

from math import isfinite

from runlens.comparison import LABELS, Comparison
from runlens.diagnosis import ThinCurve
from runlens.metrics import base, is_loss
from runlens.report.compared import best, deciding, worst
from runlens.report.html.charts import select
from runlens.report.html.charts.model import Band, Figure, Ink, Line, Panel
from runlens.report.html.charts.points import medians
from runlens.report.html.charts.ready import SMOOTHED
from runlens.report.html.charts.units import Unit, span, unit_for
from runlens.report.html.element import cut
from runlens.report.html.words import spoken
from runlens.report.values import starts_at_zero

TALL, LABEL_ROOM, SMALL = 260, 16, 96  # pixels: of the large panel, of a label in it, of others
BLOCKS, SMALL_BLOCKS = 160, 70  # points of a line, each the median of a block
METRICS = 9  # small charts
LOSS_LOG = 5.0  # max / min of all runs from which an axis is logarithmic: one run may diverge
EARLY = 0.04  # of the axis: what is beyond the panel there may leave it
BEST: Ink = "sb"
WORST: Ink = "gn"
WORDS: dict[Ink, str] = {"sa": "baseline", BEST: "best", WORST: "worst"}


def main_metric(comparison: Comparison) -> str:
    """Return the metric by which most runs are judged and that has curves; empty for none."""
    judged = [one.metric for pair in comparison.pairs if (one := deciding(pair))]
    there = known(comparison)
    named = sorted({*judged} & {*there}, key=lambda name: (-judged.count(name), name))
    usual = [name for name in ("eval_loss", "reward", "train_loss") if name in there]
    return next(iter([*named, *usual, *there]), "")


def other_metrics(comparison: Comparison, shown: str) -> list[str]:
    """Return the metrics of the small charts."""
    return [name for name in known(comparison) if name != shown][:METRICS]


def known(comparison: Comparison) -> list[str]:
    """Return the metrics that at least one run logged."""
    return [
        name for name, some in comparison.curves.items() if any(one and one.step for one in some)
    ]


def overview(comparison: Comparison, metric: str) -> Figure:
    """Return one tall panel with every run; each line is named at its right end."""
    unit = _unit(comparison, metric)
    lines = _lines(comparison, metric, unit, BLOCKS)
    height = max(TALL, LABEL_ROOM * len(lines))
    return _figure(comparison, metric, "cmp", height, lines, unit)._replace(
        crosshair=True, title=f"{spoken(metric)} of all runs over {unit.axis}"
    )


def in_letter_order(figure: Figure) -> Figure:
    """Return the figure with its lines by letter, for those who read the values."""
    panels = [
        panel._replace(lines=tuple(sorted(panel.lines, key=lambda line: line.series)))
        for panel in figure.panels
    ]
    return figure._replace(panels=tuple(panels))


def small(comparison: Comparison, metric: str, number: int) -> Figure:
    """Return a small chart of all runs for one metric."""
    unit = _unit(comparison, metric)
    lines = [line._replace(name="") for line in _lines(comparison, metric, unit, SMALL_BLOCKS)]
    return _figure(comparison, metric, f"s{number}", SMALL, lines, unit)


def cell(comparison: Comparison, metric: str, index: int) -> Figure:
    """Return a small chart of one run, orange, beside A, blue, on the scales of all runs."""
    unit = _unit(comparison, metric)
    wanted: dict[int, Ink] = {0: "sa", index + 1: "sb"}
    every = [
        line._replace(name="", dots=False)
        for line in _lines(comparison, metric, unit, SMALL_BLOCKS, wanted)
    ]
    # the run on top of A, where they coincide
    lines = [line for ink in ("sa", "sb") for line in every if line.ink == ink]
    made = _figure(comparison, metric, f"c{index}", SMALL, lines, unit)
    start, end = _axis(every)
    panel = made.panels[0]._replace(reach=_reach(every, start + EARLY * (end - start)))
    return made._replace(panels=(panel,), start=start, end=end)


def _reach(lines: list[Line], border: float) -> tuple[float, ...]:
    """Return the lowest and the highest value after the start, so that all cells have one scale."""
    values = [
        value
        for line in lines
        for x, value in zip(line.curve.step, line.curve.value, strict=True)
        if isfinite(value) and x > border
    ]
    return (min(values), max(values)) if values else ()


def _axis(lines: list[Line]) -> tuple[float, float]:
    first = min(line.curve.step[0] for line in lines)
    return span(first, max(line.curve.step[-1] for line in lines))


def _unit(comparison: Comparison, metric: str) -> Unit:
    ends = [curve.step[-1] for curve in comparison.curves[metric] if curve and curve.step]
    return unit_for(comparison.unit or comparison.align, max(ends))


def _lines(
    comparison: Comparison,
    metric: str,
    unit: Unit,
    blocks: int,
    wanted: dict[int, Ink] | None = None,
) -> list[Line]:
    """Return a line a run, the emphasised ones last, so that they lie on top."""
    inks = wanted or emphasis(comparison)
    made = [
        _line(index, metric, unit.scaled(curve), blocks, inks.get(index, "so"))._replace(
            says=f"{LABELS[index]} {WORDS[ink]}" if (ink := inks.get(index)) else LABELS[index]
        )
        for index, curve in enumerate(comparison.curves[metric])
        if curve is not None and curve.step
    ]
    return sorted(made, key=lambda line: ("so", "gn", "sb", "sa").index(line.ink))


def emphasis(comparison: Comparison) -> dict[int, Ink]:
    """Return the colors of A, of the best and of the worst run, by index of the run."""
    inks: dict[int, Ink] = {0: "sa"}
    first, last = best(comparison), worst(comparison)
    if first is not None:
        inks[first + 1] = BEST
    if last is not None:
        inks[last + 1] = WORST
    return inks


def _line(index: int, metric: str, curve: ThinCurve, blocks: int, ink: Ink) -> Line:
    shown = medians(curve, blocks)
    line = select.line(metric, shown, ink)
    return line._replace(
        name=LABELS[index],
        series=LABELS[index],
        smooth=False,
        dots=line.dots and ink != "so" and len(shown.step) < SMOOTHED,
    )


def _figure(
    comparison: Comparison, metric: str, uid: str, height: int, lines: list[Line], unit: Unit
) -> Figure:
    panel = Panel(
        cut(spoken(metric), 36),
        height,
        tuple(lines),
        log_from=LOSS_LOG if is_loss(metric) else select.log_from(metric),
        zero=starts_at_zero(metric),
        bands=_bands(comparison, metric, lines),
    )
    start, end = _axis(lines)
    return Figure(
        uid=uid,
        title=f"{cut(metric, 60)} over {unit.axis}",
        description=" ".join(
            select.describe(line) for line in sorted(lines, key=lambda line: line.series)
        ),
        panels=(panel,),
        start=start,
        end=end,
        axis=unit.axis,
    )


def _bands(comparison: Comparison, metric: str, lines: list[Line]) -> tuple[Band, ...]:
    """Return the band around A in which a run differs by no more than seeds do."""
    known = [one for pair in comparison.pairs if (one := pair.differences.get(metric))]
    base_line = next((line.curve for line in lines if line.series == "A"), None)
    if not comparison.seeds or not known or base_line is None or base(metric) == "learning_rate":
        return ()
    low, high = min(one.low for one in known), max(one.high for one in known)
    kept = [(x, y) for x, y in zip(base_line.step, base_line.value, strict=True) if isfinite(y)]
    if not kept or not low < high:
        return ()
    return (
        Band(
            tuple(x for x, _ in kept),
            tuple(y + low for _, y in kept),
            tuple(y + high for _, y in kept),
        ),
    )
