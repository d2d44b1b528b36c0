"""Where the runs of a comparison lie: one run a place, named with ``#`` among several."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from runlens.errors import BadSettings, NoSuchRun, NothingReadable, SeveralRuns
from runlens.run import Problem, Run
from runlens.settings import Settings
from runlens.sources import read, read_all
from runlens.sources.addresses import filter_of, is_on_server


def chosen(place: str, settings: Settings, *, last: bool = False) -> Run:
    """Read the run at a place; ``runs/sweep#run-3`` is the run of that name among several.

    With `last` it is the last one of several that a single log tells of.

    Raises:
        RunLensError: nothing readable, several runs and none named, or no run of that name.

    """
    folder, _, name = place.rpartition("#")
    if not folder or Path(place).exists():
        try:
            return read(place, columns=settings.columns)
        except SeveralRuns as error:
            count = len(error.names)
            if last and re.search(rf"\(0*{count} of \d+\)$", error.names[-1]):
                return _last(place, error.names[-1], settings)
            named = tuple(f"{place}#{known}" for known in error.names)
            raise SeveralRuns(place, named) from None
    return _named(folder, name, settings)


def _named(place: str, name: str, settings: Settings) -> Run:
    runs = {run.name: run for run in read_all(place, columns=settings.columns)}
    if name not in runs:
        raise NoSuchRun(name, list(runs))
    return runs[name]


def _last(place: str, name: str, settings: Settings) -> Run:
    """Return the last of several runs that one log tells of, and say that there are others."""
    run = _named(place, name, settings)
    said = Problem(place, f"several runs lie here: {name} is compared; name another with #")
    return replace(run, problems=(*run.problems, said))


def sides(places: Sequence[str], between: str, settings: Settings) -> list[Run | list[Run]]:
    """Read what is compared: single runs, or groups of repeats with `between` among the places.

    Raises:
        RunLensError: nothing readable, a group without a run, less than two sides.

    """
    if between not in places:
        return [chosen(place, settings, last=True) for place in places]
    groups: list[list[str]] = [[]]
    for place in places:
        if place == between:
            groups.append([])
        else:
            groups[-1].append(place)
    if len(groups) < 2 or not all(groups):  # noqa: PLR2004 - one against another
        raise BadSettings("give runs on both sides of --: runlens compare 'a/s*' -- 'b/s*'")
    return [repeats(group, settings) for group in groups]


def repeats(patterns: Sequence[str], settings: Settings) -> list[Run]:
    """Read the runs at places or glob patterns: repeats of one run with other seeds.

    Raises:
        NothingReadable: where a pattern meets nothing, or nothing readable.

    """
    runs: list[Run] = []
    for pattern in patterns:
        if is_on_server(pattern) and "?" in pattern:
            runs += _filtered(pattern)
            continue
        met = sorted(glob(pattern)) or [pattern]  # noqa: PTH207 - the user's own pattern
        for place in met:
            runs += read_all(place, columns=settings.columns)
    if patterns and not runs:
        raise NothingReadable(patterns[0], "no repeats there; give the folders of other seeds")
    return runs


def _filtered(place: str) -> list[Run]:
    """Read those runs of a W&B project that its filters take: ``wandb:team/llm?tags=nightly``.

    Several are joined by ``&``; a value that is a number is one, ``{...}`` is JSON as W&B's API
    takes it.
    """
    from runlens.sources.wandb_api import fetch_all, listed

    project, _, asked = place.partition("?")
    found = list(fetch_all([one.place for one in listed(project, filters=filters_of(asked))]))
    runs = [one.run for one in found if isinstance(one.run, Run)]
    if not runs:
        why = str(found[0].run) if found else "no run of the project meets the filter"
        raise NothingReadable(place, why)
    return sorted(runs, key=lambda run: (run.name, run.id))


def filters_of(asked: str) -> dict[str, Any]:
    """Return the filters behind the ``?`` of a place.

    Raises:
        BadSettings: neither JSON nor KEY=VALUE.

    """
    text = unquote(asked)
    if text.startswith("{"):
        try:
            return dict(json.loads(text))
        except ValueError:
            raise BadSettings(f"{text!r} is not JSON; write KEY=VALUE, as tags=nightly") from None
    return dict(filter_of(pair) for pair in text.split("&") if pair)
