"""The formats of `runlens diagnose`: ours, and those of installed packages."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from runlens.diagnosis import Diagnosis

FOR_MACHINES = ("json", "markdown", "github", "sarif", "junit")  # these take all runs
FORMATS = ("text", "html", *FOR_MACHINES)


class Format(click.Choice):  # type: ignore[type-arg] # generic from click 8.2 on
    """A choice of our formats; installed packages are asked only for a name that is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401 - click's own signature
        """Return the name of a format; an unknown one is wrong usage."""
        from runlens.errors import nearest
        from runlens.plugins import points

        if value in FORMATS:
            return str(value)
        known = [*FORMATS, *(point.name for point in points("runlens.formats"))]
        if value not in known:
            told = f"{value!r} is not a format; use one of {', '.join(known)}"
            self.fail(told + nearest(str(value), known), param, ctx)
        return str(value)


def _writable(diagnosis: "Diagnosis", ours: "Callable[[list[Diagnosis]], str]") -> "Diagnosis":
    """Return a diagnosis; where it cannot be written, one that says no more than that."""
    from runlens.diagnosis import Verdict, unreadable
    from runlens.errors import one_line
    from runlens.faults import survived

    def told(why: str) -> "Diagnosis":
        name = diagnosis.run_name
        click.echo(f"runlens: {one_line(name)} could not be written: {why}", err=True)
        verdict = Verdict("This diagnosis could not be written.", "", "unknown")
        return replace(unreadable(name, [(name, why)]), verdict=verdict)

    return survived(lambda: (ours([diagnosis]), diagnosis)[1], told)


def takes_all(form: str | None) -> bool:
    """Whether a format takes all runs of a place at once, as all but text and pages do."""
    return form not in {None, "text", "html"}


def rendered(form: str, diagnoses: "list[Diagnosis]", *, full: bool) -> str:
    """Return diagnoses in a format that takes all runs; what fails in a plugin is one line.

    A run that ours cannot write is told on stderr and is `unknown`; the others are written.
    """
    if form in FOR_MACHINES:
        from runlens.faults import survived

        more = {"full": full} if form == "json" else {}
        ours: Callable[[list[Diagnosis]], str] = partial(
            import_module(f"runlens.report.{form}").render_all, **more
        )
        return survived(
            lambda: ours(diagnoses), lambda _: ours([_writable(one, ours) for one in diagnoses])
        )
    from runlens.plugins import attempted, points

    point = next(one for one in points("runlens.formats") if one.name == form)
    what, problem = attempted(point.load, point.origin, "its formats")
    if problem is None:
        render = cast("Callable[[list[Diagnosis]], object]", what)
        made, problem = attempted(lambda: render(diagnoses), point.origin, "its formats", "failed")
        if isinstance(made, str):
            return made
    why = problem.text if problem else f"gave {type(made).__name__} in place of text"
    raise click.UsageError(f"format {form} of {point.origin} {why}; use another --format")
