"""The chart or the lines of the log that prove a finding."""

from runlens.diagnosis import Diagnosis, Finding
from runlens.report.facts import loud
from runlens.report.html.charts import finding as chart
from runlens.report.html.charts import svg
from runlens.report.html.components.evidence import log_excerpt
from runlens.report.html.element import NOTHING, Markup, el


def lead_of(diagnosis: Diagnosis) -> Finding | None:
    """Return the finding that the page is about: the lead of the first fault; None without one."""
    faults = loud(diagnosis)
    return faults[0].findings[0] if faults else None


def proof_of(finding: Finding, diagnosis: Diagnosis, uid: str, *, tall: bool = False) -> Markup:
    """Return the chart or the lines of the log that show a finding; nothing where it has none.

    `tall`: as it stands beside the verdict, where it is the first thing that is seen.
    """
    if finding.chart.kind == "log" and finding.chart.log:
        return log_excerpt(finding.chart.log, finding.title)
    figure = chart.figure_for(finding, diagnosis, uid, tall=tall)
    if figure is None:
        return NOTHING
    thin = chart.thinned_note(
        diagnosis.curves, {line.metric for panel in figure.panels for line in panel.lines}
    )
    caption = " ".join(part for part in (chart.caption(finding, figure), thin) if part)
    width = chart.HERO if tall else chart.WIDTH
    return el("figure", svg.both(figure, width), el("figcaption", caption))
