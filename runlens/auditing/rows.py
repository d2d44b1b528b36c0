"""All that an audit keeps of one run: made once, when the run was judged.

A row holds no curve: end levels and bests, their noise, the findings, 30 points to draw.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from runlens.comparing.direction import better
from runlens.comparing.seeds import last
from runlens.crossrun import groups
from runlens.diagnosis import Diagnosis, Finding
from runlens.history import Curve, FloatArray, IntArray
from runlens.incidents import MOST_SETTINGS
from runlens.metrics import NAMES, base, quality
from runlens.naming.bearing import bears
from runlens.nights import EVALS, FoundRow, RunRow, SparkRow
from runlens.run import RL_TASKS, Run, Setting
from runlens.signals import Signals, noise

POINTS, HEIGHT, NOTHING = 30, 20, -1  # of a spark
LOG_FROM = 30.0  # largest over smallest, from which a spark is logarithmic
MEASURED = ("train_loss", "eval_loss", "eval_accuracy", "eval_f1", "eval_wer", "eval_cer", "reward")
MOST_MEASURED = 8  # metrics; each evaluation set is one
MOST_LASTS = 24  # metrics with a last level, of which repeats tell how far seeds lie apart
LAST = ".last"
MOST_TIMED = 200  # metrics asked for their times
BLOCKS, BLOCK_POINTS, FEWEST_BLOCKS = 40, 3, 8  # rules of comparing: medians of equal blocks
ABOUT_MEDIAN, TAIL_SHARE = 1.15, 0.10
LONGEST = 300  # characters of a setting
MOST_GPUS = 1_000_000


def row(
    run: Run,
    diagnosis: Diagnosis,
    place: str,
    source: str,
    *,
    part: str = "",
    structure: groups.Structure | None = None,
) -> RunRow:
    """Return what an audit keeps of a judged run.

    Args:
        run: the run.
        diagnosis: what was found in it.
        place: what `runlens diagnose` takes: a path, ``wandb:entity/project/id``.
        source: the source of the audit in which it was found; fingerprints of issues hold it.
        part: the run's name within its place, where several lie there (see `parts`).
        structure: where a tracker puts the run.

    """
    signals = Signals(run)
    measures, noises = _measures(run, signals)
    started, ended, paused = _times(run)
    where = groups.of(run, structure)
    return RunRow(
        key=f"{place}#{part}" if part else place,
        place=place,
        name=run.name,
        project=source,
        group=where.group,
        job=where.job,
        sweep=where.sweep,
        task=run.task,
        framework=run.framework,
        state=run.state.settled,
        health=diagnosis.health,
        verdict=str(diagnosis.verdict),
        steps=run.last_step,
        planned_steps=run.state.planned_steps,
        started=started,
        ended=ended,
        paused=paused,
        gpus=_gpus(run),
        config=settings(run),
        measures=measures,
        noises=noises,
        findings=tuple(_found(diagnosis, run, started, ended)),
        spark=_spark(run, diagnosis),
        problems=len(run.problems),
        environment=run.environment,
    )


def parts(runs: Sequence[Run]) -> list[str]:
    """Return a name for each of the runs of one place, all different; one run needs none."""
    if len(runs) < 2:  # noqa: PLR2004 - one run is its place
        return [""] * len(runs)
    met: Counter[str] = Counter()
    made = []
    for run in runs:
        met[run.name] += 1
        made.append(run.name if met[run.name] == 1 else f"{run.name}~{met[run.name]}")
    return made


def _measures(run: Run, signals: Signals) -> tuple[dict[str, float], dict[str, float]]:
    """Return end levels and bests, and the standard errors of the ends."""
    measures: dict[str, float] = {}
    noises: dict[str, float] = {}
    known = [name for name in run.history.metrics if base(name) in MEASURED]
    known = [name for name in known if name.startswith("eval_") or name in MEASURED]
    for name in sorted(known, key=lambda one: (MEASURED.index(base(one)), one))[:MOST_MEASURED]:
        curve = signals.curve(name)
        if not len(curve):
            continue
        score = quality(base(name))
        higher = score.sign > 0 if score else NAMES[base(name)].better == "higher"
        levels = noise.levels(-curve.value) if higher else signals.levels(name)
        sign = -1.0 if higher else 1.0
        measures[f"{name}.end"] = sign * levels.end
        measures[f"{name}.best"] = sign * levels.best
        when = float(curve.time[levels.best_index])
        raw = -curve.value if higher else curve.value
        passed = int(np.argmin(raw)) < len(curve) - 1  # the last one is not the best
        if name.startswith("eval_") and math.isfinite(when) and passed:
            measures[f"{name}.best_time"] = when
        if (error := end_noise(curve.value)) is not None:
            noises[f"{name}.end"] = error
    evals = [len(run.curve(name)) for name in run.history.metrics if name.startswith("eval_")]
    measures[EVALS] = float(max(evals, default=0))
    return measures | _lasts(run), noises


def _lasts(run: Run) -> dict[str, float]:
    """Return the last level of each metric that may decide a comparison, as comparisons take it."""
    sided = [name for name in run.history.metrics if better(name)][:MOST_LASTS]
    known = {f"{name}{LAST}": last(run, name) for name in sided}
    return {name: value for name, value in known.items() if value is not None}


def end_noise(value: FloatArray) -> float | None:
    """Return the standard error of the end level of a curve; None below 4 points.

    From 24 points on by medians of 40 equal blocks (at least 3 points each), which carry the
    autocorrelation: the larger of the scale of their differences and 1.15 times that about their
    running median of 9, over the root of the blocks in the last tenth. Below by the noise of the
    points, as the error of a median.
    """
    count = len(value)
    if count < 4:  # noqa: PLR2004 - three points are one level
        return None
    many = min(BLOCKS, count // BLOCK_POINTS)
    if many < FEWEST_BLOCKS:
        tail = max(BLOCK_POINTS, round(TAIL_SHARE * count))
        return noise.sigma(value) * noise.MEDIAN_LOSS / math.sqrt(tail)
    _, blocks = noise.block_medians(np.arange(count, dtype=float), value, many)
    about = blocks - noise.running_median(blocks, 9)
    scale = max(noise.sigma_diff(blocks), ABOUT_MEDIAN * noise.mad(about), noise.NO_NOISE)
    return scale / math.sqrt(max(2, round(TAIL_SHARE * len(blocks))))


def _times(run: Run) -> tuple[float | None, float | None, float]:
    """Return (first, last) record in seconds since 1970, and the seconds between launches."""
    spans = [
        (float(first), float(last))
        for name in run.history.metrics[:MOST_TIMED]
        for first, last in [run.curve(name).time[[0, -1]]]
    ]
    begun = [segment.started for segment in run.segments]
    happened = [event.time for event in run.events]
    known = [*(edge for span in spans for edge in span), *begun, *happened, run.state.last_time]
    times = [time for time in known if time is not None and math.isfinite(time) and time > 0]
    if not times:
        return None, None, 0.0
    return min(times), max(times), _paused(run)


def _paused(run: Run) -> float:
    """Return the seconds between the last record of a launch and the first of the next one."""
    launches = run.history.segments
    spans: list[tuple[float, float]] = []
    for number in launches if len(launches) > 1 else ():
        curves = (run.history.segment(name, number) for name in run.history.metrics[:MOST_TIMED])
        edges = [float(at) for curve in curves if len(curve) for at in curve.time[[0, -1]]]
        known = [at for at in edges if math.isfinite(at)]
        if known:
            spans.append((min(known), max(known)))
    return sum(max(0.0, after[0] - before[1]) for before, after in itertools.pairwise(spans))


def _gpus(run: Run) -> int:
    """Return how many GPUs it ran on, as configured, else as its machine has; 1 if unknown."""
    for key in ("num_processes", "gpu_count"):
        known = run.number(key)
        if known is not None and 1 <= known <= MOST_GPUS:
            return int(known)
    return 1


def settings(run: Run) -> dict[str, Setting]:
    """Return the settings that an audit keeps of a run: those that bear on the result first."""
    keys = sorted(run.config)
    if len(keys) > MOST_SETTINGS:
        keys = sorted(sorted(keys, key=lambda key: not bears(key))[:MOST_SETTINGS])
    return {key: _cut(run.config[key].value) for key in keys}


def _cut(value: Setting) -> Setting:
    return value[:LONGEST] if isinstance(value, str) else value


def _found(
    diagnosis: Diagnosis, run: Run, started: float | None, ended: float | None
) -> Iterator[FoundRow]:
    for incident in diagnosis.incidents:
        for number, finding in enumerate(incident.findings):
            onset = finding.onset
            when = onset.time
            if when is None and onset.step is not None:
                when = _between(onset.step, run, started, ended)
            yield FoundRow(
                finding.rule,
                finding.severity,
                finding.title,
                finding.metric,
                onset.step,
                when,
                leads=number == 0,
                incident=None if number else incident.severity,
            )


def _between(step: float, run: Run, started: float | None, ended: float | None) -> float | None:
    """Return the time of a step at an even pace, where only start and end are dated."""
    covered = run.last_step - run.first_step
    if started is None or ended is None or covered <= 0:
        return None
    share = min(max((step - run.first_step) / covered, 0.0), 1.0)
    return started + share * (ended - started)


def _spark(run: Run, diagnosis: Diagnosis) -> SparkRow:
    """Return the curve that the worst incident blames, else the main one, in at most 30 points."""
    lead = diagnosis.incidents[0].findings[0] if diagnosis.incidents else None
    name = _blamed(run, lead)
    curve = run.curve(name) if name else None
    if curve is None or not len(curve):
        return SparkRow()
    edges = np.unique(np.linspace(0, len(curve), min(POINTS, len(curve)) + 1).astype(np.int64))
    done = run.state.done_share
    done = 1.0 if done is None or run.state.settled == "finished" else min(max(done, 0.0), 1.0)
    onset = lead.onset.step if lead and lead.severity != "info" else None
    return SparkRow(name, _heights(curve, edges), _onset(curve, edges, onset), round(done, 4))


def _blamed(run: Run, lead: Finding | None) -> str:
    main = ("reward", "train_loss", "eval_loss")
    usual = main if run.task in RL_TASKS else (*main[1:], main[0])
    wanted = (lead.metric if lead and lead.severity != "info" else "", *usual)
    return next((name for name in wanted if name and len(run.curve(name))), "")


def _heights(curve: Curve, edges: IntArray) -> tuple[int, ...]:
    """Return the means between the edges as 0 to 20; -1 where there is no number."""
    known = np.isfinite(curve.value)
    amount = np.add.reduceat(known, edges[:-1], dtype=np.int64)
    halves = np.add.reduceat(np.where(known, curve.value, 0.0) / 2, edges[:-1])  # no overflow
    level = np.where(amount > 0, halves / np.maximum(amount, 1), np.nan)
    if not amount.any():
        return (NOTHING,) * len(level)
    low, high = np.nanmin(level), np.nanmax(level)
    if low > 0 and high / low > LOG_FROM:
        level, low, high = np.log(level), math.log(low), math.log(high)
    middle = np.where(np.isnan(level), np.nan, 0.5)
    share = (level / 2 - low / 2) / (high / 2 - low / 2) if high > low else middle
    return tuple(NOTHING if math.isnan(one) else round(HEIGHT * one) for one in share.tolist())


def _onset(curve: Curve, edges: IntArray, onset: float | None) -> int | None:
    """Return the first point that holds a value at or after the onset."""
    if onset is None:
        return None
    at = int(np.searchsorted(curve.step, onset))
    return min(int(np.searchsorted(edges, at, side="right")) - 1, len(edges) - 2)
