"""From readings to runs: canonical names, one history, one configuration, one state each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from runlens.errors import NothingReadable
from runlens.faults import survived
from runlens.history import Columns, FloatArray, History, distinct
from runlens.metrics import NAMES, Better, base, naming
from runlens.naming import classify
from runlens.naming.classify import says_right
from runlens.naming.direction import better
from runlens.redaction import purged, redacted
from runlens.run import WHOLE_FILE, Event, Problem, Run, Segment
from runlens.sources import environment
from runlens.sources.merging import settings
from runlens.sources.merging.align import aligned, in_one_unit
from runlens.sources.merging.combine import (
    FAR,
    Clock,
    Disagreement,
    Part,
    boundaries,
    combined,
    parts_of,
    problems_of,
    tests_apart,
)
from runlens.sources.merging.group import grouped
from runlens.sources.merging.launches import (
    begun_anew,
    of_last_launch,
    with_counts_continued,
    with_rewinds,
    with_steps_of_bars,
)
from runlens.sources.merging.likeness import Content
from runlens.sources.merging.objective import (
    WORDS,
    Chosen,
    chosen,
    guessed,
)
from runlens.sources.merging.open_end import open_end
from runlens.sources.merging.plan import planned
from runlens.sources.merging.run_names import distinctly_named, run_name, shown
from runlens.sources.merging.state import concluded, with_last_epoch
from runlens.sources.merging.task import typed
from runlens.sources.merging.task_words import SCRATCH_LOSS
from runlens.sources.reading import SourceReading

# the most specific word about who wrote the run wins
FRAMEWORKS = ("axolotl", "llama-factory", "ms-swift", "unsloth", "trl", "verl", "openrlhf")
# whose settings are believed first: what the trainer itself recorded, then what it was given
TRUST = (
    "wandb", "tensorboard", "mlflow", "trainer_state", "jsonl", "csv", "sb3_monitor",
    "sb3_evaluations", "config", "model_card", "console",
)  # fmt: skip
LEARNT = {"train_loss", "eval_loss", "reward"}  # without any of them no training began
DATA = {"train_accuracy", "eval_accuracy", "eval_loss"}
LEAP = 5  # times the second training loss: from ln(50,000) to 2 in one row no model learns
PERCENT = 1.5  # a fraction above it was logged in percent
TAIL = 200  # lines kept of a console log
MOST_PROBLEMS = 200


def runs_of(place: Path, given: str, readings: Iterable[SourceReading]) -> list[Run]:
    """Return the runs that the readings of a place make up, by name.

    Texts of others enter here and nowhere else, so secrets are hidden here.
    """
    kept = [_clean(reading) for reading in readings if not reading.empty or reading.problems]
    groups, not_compared = grouped(reading for reading in kept if not reading.empty)
    placed = {id(one.reading) for group in groups for one in group}
    lost = [p for reading in kept if id(reading) not in placed for p in reading.problems]
    if not_compared:
        lost.append(Problem(str(place), not_compared, "some logs of one run may be told apart"))
    told = _told_by(groups, lost)
    runs, failed = [], []
    for number, group in enumerate(groups):
        made, problems = _merged(place, given, group, told[number], alone=len(groups) == 1)
        runs += made
        failed += problems
    if failed and not runs:
        raise NothingReadable(given, failed[0].text, [one[:2] for one in failed])
    if failed:
        runs[0] = replace(runs[0], problems=(*runs[0].problems, *_shown_problems(failed, place)))
    return sorted(distinctly_named(runs), key=lambda run: run.name)


def _merged(
    place: Path, given: str, group: list[Content], lost: list[Problem], *, alone: bool
) -> tuple[list[Run], list[Problem]]:
    """Merge a group to one run. Where that fails, each reading is a run, but those that fail too.

    These are told by their readings, and returned as problems.
    """

    def unmerged(where: Path, told: str) -> Problem:
        return Problem(str(where), f"could not be merged: {told}", WHOLE_FILE)

    def apart(told: str) -> tuple[list[Run], list[Problem]]:
        if len(group) == 1:
            problem = unmerged(group[0].reading.path, told)
            group[0].reading.problems.append(problem)
            return [], [*lost, problem]
        parts = [_merged(place, given, [one], [], alone=False) for one in group]
        problems = [problem for _, some in parts for problem in some]
        return [run for some, _ in parts for run in some], [*lost, unmerged(place, told), *problems]

    return survived(lambda: ([_run(place, given, group, lost, alone=alone)], []), apart)


def _clean(reading: SourceReading) -> SourceReading:
    """Return a reading without secrets; of a log the lines alone that are kept."""
    return purged(replace(reading, log_tail=reading.log_tail[-TAIL:]))


def _told_by(groups: Sequence[Sequence[Content]], lost: Sequence[Problem]) -> list[list[Problem]]:
    """Give each file that could not be read to the run that lies nearest: none is passed over."""
    told: list[list[Problem]] = [[] for _ in groups]
    for problem in lost if groups else ():
        near = [max(_depth(one.folder, problem.where) for one in group) for group in groups]
        told[near.index(max(near))].append(problem)
    return told


def _depth(folder: Path, where: str) -> int:
    """Return how many folders a place shares with a file."""
    pairs = zip(folder.parts, Path(where).parts, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), len(folder.parts))


def _run(place: Path, given: str, group: list[Content], lost: list[Problem], *, alone: bool) -> Run:
    trusted = sorted(group, key=_trust)
    ordered = [in_one_unit(one, trusted) for one in trusted]
    group = tests_apart(aligned(with_counts_continued(ordered)))
    group = with_rewinds(with_steps_of_bars(group))
    readings = [one.reading for one in group]
    sources = [redacted(shown(reading.path, place)) for reading in readings]
    (metrics, taken, negated, derived), problems, starts = _metrics(group)
    framework = _framework(readings)
    config = settings.joined(readings, sources)
    logged = {name for reading in readings for name in reading.series}
    if DATA & metrics.keys() or any(better(name) > 0 or says_right(name) for name in metrics):
        from runlens.sources.merging.accuracies import of_data  # of no use to other runs

        metrics = of_data(metrics, logged)
    task, why = typed(
        metrics.keys(),
        _first_loss(metrics, taken),
        config,
        framework.replace("unknown", ""),
        logged,
        {reading.path.stem for reading in readings if reading.kind == "console"},
        _first(metrics, "entropy"),
        _first(metrics, "eval_loss"),
    )
    if task in {"sft", "dpo", "pretrain"} and "entropy" in metrics:
        metrics["pred_entropy"] = metrics.pop("entropy")
    history = History(metrics, sources)
    events = _events(readings, starts, place)
    ended = [one.reading for one in of_last_launch(group)]
    renewed = config | settings.joined(ended, [""] * len(ended))  # a resumed run may be given more
    plan = planned(readings, renewed, history)
    log = next(n for n, one in enumerate(readings) if one.series or n + 1 == len(readings))
    problems += [Problem(sources[log], text) for text in guessed(taken, negated, derived)]
    problems += begun_anew(metrics, [reading.path for reading in readings])
    problems = [*(p for reading in readings for p in reading.problems), *problems]
    happened, began = _events(ended, (), place), not LEARNT.isdisjoint(metrics)
    return Run(
        id=next((reading.run_id for reading in readings if reading.run_id), redacted(given)),
        name=redacted(run_name(place, group, alone=alone)),
        history=history,
        config=config,
        state=concluded(
            ended,
            happened,
            with_last_epoch(plan, history),
            _last_time(metrics),
            began=began,
            by_itself=open_end(history, plan.done_epochs),
        ),
        events=events,
        problems=_shown_problems([*problems, *lost], place),
        sources=tuple(dict.fromkeys(sources)),
        framework=framework,
        task=task,
        task_why=why,
        segments=_segments(metrics),
        log_tail=_tail(ended),
        taken=taken,
        directions=_directions(readings),
        environment=environment.joined(readings, config),
    )


def _directions(readings: Sequence[SourceReading]) -> dict[str, Better]:
    """Return which direction of a metric is better, by canonical name; the most exact one holds."""
    return {
        naming(name, one.framework).metric: better
        for one in readings
        for pattern, better in sorted(one.directions.items(), key=lambda said: len(said[0]))
        for name in one.series
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))
    }


def _first_loss(metrics: dict[str, Columns], taken: Mapping[str, str]) -> float | None:
    """Return the first training loss; where none was logged the evaluation loss has to do.

    What no name calls a loss says nothing by its level.
    """
    if classify(taken.get("train_loss", "loss")).quantity != "loss":
        return None
    return _first(metrics, "train_loss" if "train_loss" in metrics else "eval_loss")


def _first(metrics: dict[str, Columns], name: str) -> float | None:
    """Return the first value, or the median of three where it is not the highest of them.

    A first one that is many times the next is a loss summed otherwise, none of a model that learns.
    """
    rows = metrics.get(name)
    first = rows.value[np.isfinite(rows.value)][:4] if rows is not None else np.array([])
    summed = len(first) > 1 and first[0] > max(SCRATCH_LOSS, LEAP * float(first[1]))
    head = first[int(summed) :][:3]
    return float(np.median(head) if head.argmax() else head[0]) if len(head) else None


def _trust(one: Content) -> tuple[int, bool, str]:
    """Sort by kind; a start that died before its first row comes after one that trained."""
    kind = one.reading.kind
    return (
        (TRUST.index(kind) if kind in TRUST else len(TRUST)),
        not one.measured,
        str(one.reading.path),
    )


def _shown_problems(problems: Sequence[Problem], place: Path) -> tuple[Problem, ...]:
    """Name the files as seen from the run, so that the report is the same wherever it lies."""
    shown = [p._replace(where=_inside(p.where, place)) for p in problems[:MOST_PROBLEMS]]
    more = len(problems) - MOST_PROBLEMS
    return (*shown, *([Problem("", f"{more} more problems are not listed")] if more > 0 else []))


def _inside(where: str, place: Path) -> str:
    return where.removeprefix(f"{place.parent if place.is_file() else place}/")


def _metrics(group: list[Content]) -> tuple[Chosen, list[Problem], list[int]]:
    """Return the columns of each metric, with epoch and time filled, and the launches' starts."""
    starts = boundaries(group)
    parts = parts_of(group, range(len(group)), starts)
    epochs = [(part, part.series.value) for part in parts.pop("epoch", [])]
    every = [part for some in parts.values() for part in some]
    epoch = Clock.of_parts([*epochs, *((part, part.series.epoch) for part in every)])
    time = Clock.of_parts([(part, part.series.time) for part in every])
    metrics: dict[str, Columns] = {}
    disagreements: list[Disagreement] = []
    lost: list[Problem] = []
    for name, some in parts.items():
        made = survived(partial(_metric, name, some, epoch, time), partial(_none, name, lost))
        if made:
            metrics[name] = made[0]
            disagreements += made[1]
    of_agent = any(one.reading.of_agent for one in group)
    short: dict[str, str] = {}
    if not metrics.keys() <= NAMES.keys():
        from runlens.sources.merging.short_names import told_beside  # of no use to other runs

        short = told_beside(metrics, {key for one in group for key in one.reading.config})
    metrics = {short.get(name, name): rows for name, rows in metrics.items()}
    for ours in short.values():
        rows = metrics[ours]
        metrics[ours] = rows._replace(value=_as_fraction(ours, rows.value))
    if of_agent and "len_mean" in metrics:
        from runlens.sources.merging.short_names import of_episodes

        metrics = of_episodes(metrics, [name for one in group for name in one.reading.columns])
    found = chosen(metrics, of_agent=of_agent or "reward" in short.values())
    if not found.metrics.keys() <= NAMES.keys():
        from runlens.sources.merging.equations import with_sum  # of no use to most runs

        found = with_sum(found)
    told = {ours: name for name, ours in short.items() if ours in WORDS}
    found = found._replace(taken=found.taken | told)
    return found, [*problems_of(disagreements), *lost], starts


def _metric(
    name: str, parts: list[Part], epoch: Clock, time: Clock
) -> tuple[Columns, list[Disagreement]] | None:
    """Return the columns of one metric, and what its sources disagree about."""
    columns, said = combined(name, parts) if len(parts) > 1 else (_alone(parts[0]), [])
    key = columns.segment.astype(np.int64) * FAR + columns.step
    filled = columns._replace(
        value=_as_fraction(name, columns.value),
        epoch=epoch.fill(key, columns.epoch),
        time=time.fill(key, columns.time),
    )
    return filled, said


def _none(name: str, lost: list[Problem], told: str) -> None:
    lost.append(Problem(name, told, "the whole metric"))


def _as_fraction(name: str, value: FloatArray) -> FloatArray:
    """Return shares that were logged in percent (7.5 of 100) as fractions."""
    known = NAMES.get(base(name))
    if known is None or known.unit != "fraction":
        return value
    finite = value[np.isfinite(value)]
    percent = len(finite) > 0 and finite.max() > PERCENT and finite.max() <= 100  # noqa: PLR2004 - percent
    return value / 100 if percent else value


def _alone(part: Part) -> Columns:
    series = part.series
    source = np.full(len(series.step), part.source, dtype=np.int16)
    segment = part.segment.astype(np.int16)
    return Columns(series.step, series.value, series.epoch, series.time, segment, source)


def _framework(readings: Sequence[SourceReading]) -> str:
    said = [reading.framework for reading in readings if reading.framework]
    for name in FRAMEWORKS:
        if name in said:
            return name
    others = [name for name in said if name != "transformers"]
    return "transformers" if "transformers" in said else others[0] if others else "unknown"


def _events(
    readings: Sequence[SourceReading], starts: Sequence[int], place: Path
) -> tuple[Event, ...]:
    """Join events; one that several sources tell is told once."""
    events: dict[tuple[object, ...], Event] = {}
    for reading in readings:
        for number, event in enumerate(reading.events):
            key: tuple[object, ...] = (event.kind, event.step, event.text)
            if event.kind == "checkpoint":
                key = (event.kind, event.step)
            elif event.kind == "message":  # a second log of the run tells it again
                told = [other.text for other in reading.events[:number]].count(event.text)
                key = (event.kind, event.data.get("row"), event.text, told)
            events.setdefault(key, event._replace(where=_inside(event.where, place)))
    resumed = {event.step for event in events.values() if event.kind == "resume"}
    for start in starts:
        if not any(step is not None and abs(step - start) <= 1 for step in resumed):
            events["resume", start, ""] = Event(
                "resume", start, text=f"a launch began at {start:,}"
            )
    return tuple(sorted(events.values(), key=_when))


def _when(event: Event) -> tuple[float, float, str]:
    step = float("inf") if event.step is None else float(event.step)
    return step, event.time or 0.0, event.kind


def _segments(metrics: dict[str, Columns]) -> tuple[Segment, ...]:
    spans: dict[int, list[float]] = {}
    for rows in metrics.values():
        numbers = distinct(rows.segment).tolist()
        for number in numbers:
            mine = rows if len(numbers) == 1 else rows.at(rows.segment == number)
            times = mine.time[np.isfinite(mine.time)]
            began = float(times.min()) if len(times) else np.inf
            low, high = int(mine.step.min()), int(mine.step.max())
            span = spans.setdefault(number, [low, high, began])
            span[:] = [min(span[0], low), max(span[1], high), min(span[2], began)]
    return tuple(
        Segment(number, int(low), int(high), None if np.isinf(began) else began)
        for number, (low, high, began) in sorted(spans.items())
    )


def _last_time(metrics: dict[str, Columns]) -> float | None:
    times = [rows.time[np.isfinite(rows.time)] for rows in metrics.values()]
    return max((float(some.max()) for some in times if len(some)), default=None)


def _tail(readings: Sequence[SourceReading]) -> tuple[str, ...]:
    """Return the last lines of the longest log: the others are copies or parts of it."""
    return max((reading.log_tail for reading in readings), key=len, default=())
