"""Diagnose runs of one place beside each other: what one that is not well has of its own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from runlens.engine import diagnose, verdict_of
from runlens.report.facts import loud
from runlens.signals.family import family_of

if TYPE_CHECKING:
    from runlens.diagnosis import Diagnosis
    from runlens.run import Run
    from runlens.settings import Settings

MOST_BESIDE = 20  # runs that are judged for the sake of another: a third of a diagnosis each
HEALTHY, UNKNOWN = "healthy", "unknown"


def beside(
    runs: "Sequence[Run]",
    judged: "Sequence[Diagnosis]",
    others: "Sequence[Run]",
    settings: "Settings",
) -> "list[Diagnosis]":
    """Return the diagnoses of runs; one that is not well is explained beside the others.

    `others` are runs of the same place that nobody asked about.
    """
    made = list(judged)
    well = [run for run, one in zip(runs, made, strict=True) if one.health == HEALTHY]
    well += [one for one in others[:MOST_BESIDE] if verdict_of(one, settings).health == HEALTHY]
    every = [*runs, *others[:MOST_BESIDE]]
    for index, run in enumerate(runs):
        family = family_of(run, well, every) if not_well(made[index]) else None
        if family:
            made[index] = diagnose(replace(run, family=family), settings=settings)
    return made


def not_well(diagnosis: "Diagnosis") -> bool:
    """Whether a run is at fault, or nothing shows that it learned what those beside it did."""
    return bool(loud(diagnosis)) or (diagnosis.health == UNKNOWN and bool(diagnosis.incidents))
