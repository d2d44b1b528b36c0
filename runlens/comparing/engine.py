"""Puts a comparison together: reads the runs, compares each with the first."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from runlens.comparing import (
    among,
    changed,
    findings,
    gate,
    group_curves,
    measures,
    mover,
    parting,
    several,
    shown,
    verdict,
)
from runlens.comparing.align import Axis, choose, unit_of
from runlens.comparing.difference import drawn
from runlens.comparing.leaderboard import leaderboard
from runlens.comparing.seed_groups import of_sides, representatives
from runlens.comparing.seeds import SeedNoise, between
from runlens.comparing.terms import Terms, equal, one_seed, terms_of
from runlens.comparison import (
    MOST_RUNS,
    Align,
    Comparison,
    Difference,
    Leaderboard,
    Measure,
    Pair,
    Parting,
)
from runlens.diagnosis import Diagnosis, Finding
from runlens.engine import diagnose
from runlens.errors import BadSettings
from runlens.run import Run
from runlens.settings import Settings
from runlens.sources import read

Place = Run | str | Path
Side = Place | Sequence[Place]
PAIR = 2  # runs


@np.errstate(all="ignore")  # what is beyond float64 is infinite
def compare(
    a: Side,
    b: Side,
    *more: Side,
    align: Align | None = None,
    seeds: Sequence[Place] = (),
    noise: Callable[[Sequence[Run]], SeedNoise | None] | None = None,
    delta: float | None = None,
    metric: str = "",
    settings: Settings | None = None,
) -> Comparison:
    """Compare runs with the first one.

    Args:
        a: the baseline: a Run, or a place that `runlens.read` takes; or a sequence of them, repeats
            of one configuration with other seeds.
        b: the run, or the repeats, judged against it.
        more: further ones, each compared with `a`; 20 in all at most.
        align: the axis on which the runs are laid over each other; the finest that means the
            same in both where none is given.
        seeds: repeats of `a` with other seeds, from which the noise between runs is taken.
        noise: what else knows repeats of these runs, as a store of audits does (`repeats` of
            `runlens.auditing.repeats`); asked where no `seeds` are given. Where it knows none,
            three runs or more are looked through for repeats of one another.
        delta: difference in the deciding metric that counts as none; two deviations between
            repeats where none is given.
        metric: that decides, as logged or by its canonical name; ``mrr:max`` says that more of it
            is better, ``mrr:min`` that less is.
        settings: of the diagnoses.

    Raises:
        RunLensError: where nothing, or more than one run, lies at a place; where an axis is asked
            for that a run does not have.

    """
    settings = settings or Settings()
    if len(more) + 2 > MOST_RUNS:
        raise BadSettings(f"{len(more) + 2} runs are too many to compare; give {MOST_RUNS} at most")
    sides = [_runs(side, settings) for side in (a, b, *more)]
    runs = representatives(sides)
    sides = [
        [run, *(one for one in side if one is not run)]
        for run, side in zip(runs, sides, strict=True)
    ]
    repeats = [_run(place, settings) for place in seeds]
    known = between(repeats) if repeats else noise(runs) if noise else None
    alone = len(runs) > PAIR and all(len(side) == 1 for side in sides)
    judged = [diagnose(run, settings=settings) for run in runs]
    axes = [choose(runs[0], run, align) for run in runs[1:]]
    kind = axes[0].kind if len({axis.kind for axis in axes}) == 1 else "step"
    terms = terms_of(metric, delta, known, runs)
    pairs = [
        _pair(
            runs[0],
            run,
            judged[0],
            diagnosis,
            axis,
            terms._replace(
                groups=groups,
                noise=known if known or not alone else among.repeats(runs, runs[0], run),
            ),
        )
        for run, diagnosis, axis, groups in zip(
            runs[1:], judged[1:], axes, of_sides(sides), strict=True
        )
    ]
    return Comparison(
        runs=tuple(judged),
        pairs=several.corrected(pairs),
        curves=shown.curves([group_curves.middle(side) for side in sides], kind),
        bands=group_curves.bands(sides, kind),
        axes=shown.axes(runs, kind),
        board=_board(runs, judged, metric),
        align=kind,
        unit=unit_of(runs, kind),
        groups=tuple(tuple(run.name for run in side) for side in sides if len(side) > 1),
        seeds=tuple(run.name for run in repeats) or _kept(known),
        problems=known.problems if known else (),
    )


def _kept(known: SeedNoise | None) -> tuple[str, ...]:
    return (f"{known.siblings} runs of the store",) if known else ()


def _board(runs: Sequence[Run], judged: Sequence[Diagnosis], metric: str) -> Leaderboard | None:
    """Return three runs or more by one metric with their settings; None where none ranks them."""
    if len(runs) <= PAIR:  # it has its own table
        return None
    try:
        return leaderboard(runs, metric=metric, judged=[one.verdict for one in judged])
    except BadSettings:
        return None


def _runs(side: Side, settings: Settings) -> list[Run]:
    places = [side] if isinstance(side, Run | str | Path) else list(side)
    return [_run(place, settings) for place in places]


def _run(place: Place, settings: Settings) -> Run:
    return place if isinstance(place, Run) else read(place, columns=settings.columns)


def _pair(
    a: Run, b: Run, judged_a: Diagnosis, judged_b: Diagnosis, axis: Axis, terms: Terms
) -> Pair:
    diff = findings.difference(judged_a, judged_b)
    by_step = parting.partings(a, b, "step")
    settings = changed.differing(a, b, by_step, diff)
    terms = terms._replace(equal=equal(a, b, settings), one_seed=one_seed(a, b))
    one, two = (group_curves.middle(side) for side in terms.groups or ([a], [b]))
    found = verdict.Found(
        a,
        b,
        parting.same_values(a, b) if terms.groups is None else parting.Sameness(False, 0, 0),
        gate.checks(a, b),
        measures.measures(a, b, axis.kind, terms),
        settings,
        diff,
        (_critical(judged_a), _critical(judged_b)),
        terms.metric,
    )
    told = verdict.of(found)
    return Pair(
        a=judged_a,
        b=judged_b,
        verdict=told,
        align=axis.kind,
        align_why=axis.why,
        unit=unit_of((a, b), axis.kind),
        checks=tuple(found.checks),
        measures=_of_no_use(found.measures)
        if told.result in several.CLAIMS and told.p_b_better is None
        else tuple(found.measures),
        partings=by_step if axis.kind == "step" else _cleared(by_step, a, b, axis),
        mover=mover.mover(a, b, by_step, settings),
        settings=settings,
        diff=diff,
        differences={
            name: _strip(strip, name, found.measures)
            for name in shown.SHOWN
            if (strip := drawn(one, two, name, axis.kind, terms.noise)) is not None
        },
        problems=axis.problems,
    )


def _of_no_use(rows: Sequence[Measure]) -> tuple[Measure, ...]:
    """Take the probability from a row of numbers where something else than numbers decides."""
    return tuple(row._replace(p_b_better=None) if row.decides else row for row in rows)


def _strip(strip: Difference, metric: str, rows: Sequence[Measure]) -> Difference:
    """Return the difference beside the noise of its end: what the table says is no more than it."""
    last = (row for row in rows if row.metric == metric and row.what.startswith("Last "))
    row = next(last, None)
    if row is None or row.noise is None or not row.better:
        return strip
    return strip._replace(low=-row.limit * row.noise, high=row.limit * row.noise)


def _critical(judged: Diagnosis) -> list[Finding]:
    """Return the critical findings that last to the end of a run."""
    return [one for one in judged.findings if one.severity == "critical" and one.end is None]


def _cleared(by_step: Sequence[Parting], a: Run, b: Run, axis: Axis) -> tuple[Parting, ...]:
    """Take from where a difference is clear, and to which side, from the axis of the comparison."""
    on_axis = {one.metric: one for one in parting.partings(a, b, axis.kind)}
    unclear = Parting("", None)
    return tuple(
        one._replace(clear=there.clear, side=there.side)
        for one in by_step
        for there in (on_axis.get(one.metric, unclear),)
    )
