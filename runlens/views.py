"""What a notebook shows of a result: the one way up, from data to the reports that draw it.

Imports go down, so data knows no report; yet a notebook asks the object itself for its picture. A
class of data therefore only names its views here, and the module that draws them is looked up when
the first one is wanted, as a plug-in would be. That costs nothing until then.
"""

from importlib import import_module

TYPE_CHECKING = False  # true for type checkers; `typing` would cost more than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from plotly.graph_objects import Figure

HOME = "runlens.report.views"  # has a function for each view below


def view(name: str) -> "Callable[..., Any]":
    """Return the function that draws a view."""
    drawer: Callable[..., Any] = getattr(import_module(HOME), name)
    return drawer


class Viewed:
    """A result that notebooks show as its report, and that draws its charts for plotly."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the report in a frame of its own: no script, at most 60 kB gzipped."""
        shown: str = view("framed")(self)
        return shown

    def show(self) -> None:
        """Show the report: below the cell of a notebook, elsewhere as a page in the browser.

        The page goes to a new temporary folder; its path is written to stderr.
        """
        view("show")(self)

    def figure(self, name: str = "", *, dark: bool | None = None) -> "Figure":
        """Return a chart of the report as a plotly figure, to zoom into and to build on.

        Of a diagnosis: ``timeline`` (the default), or the slug of a rule that found something,
        for the chart beside its finding. Of a comparison: ``curves`` (the default), or a metric,
        for all runs in one chart. Traces hold what the report draws, over optimizer steps or the
        axis of the comparison; NaN and infinities are kept. `dark` None: as plotly's default
        template.

        Raises:
            NothingToDraw: where there is no such chart; it names the nearest.

        """
        made: Figure = view("figure")(self, name, dark=dark)
        return made
