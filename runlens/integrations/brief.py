"""Answers for an assistant in at most 1.5 kB: what it needs next, and how to ask for the rest."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from runlens.comparison import Comparison
from runlens.diagnosis import Diagnosis

MOST_BYTES = 1_500
LINE = 240  # characters of a sentence
MORE = 'detail="full" has evidence, all causes, fixes and checks'
LEAST = 60  # characters that a sentence may be cut to


def of_diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return verdict, first cause, what to do first and the incidents of a run."""

    def answer(rows: int, line: int) -> dict[str, Any]:
        steps = [f"{what}: {why}" if why else what for what, why in diagnosis.do_first.steps]
        brief: dict[str, Any] = {
            "run": _cut(diagnosis.run_name, line),
            "task": diagnosis.task,
            "steps": {"done": diagnosis.last_step, "planned": diagnosis.state.planned_steps},
            "state": diagnosis.state.kind,
            "health": diagnosis.health,
            "verdict": _cut(diagnosis.verdict.sentence, line),
            "do_first": [_cut(step, line) for step in steps[:rows]],
            "diff": [_cut(f"{sign} {text}", line) for sign, text in diagnosis.do_first.diff[:rows]],
            "incidents": [
                {
                    "rule": one.findings[0].rule,
                    "severity": one.severity,
                    "step": one.findings[0].onset.step,
                }
                for one in diagnosis.incidents[:rows]
            ],
            "more": MORE,
        }
        if diagnosis.causes:
            cause = diagnosis.causes[0]
            why = {"what": cause.what, "rank": cause.rank, "for": cause.evidence_for}
            brief["cause"] = {key: _cut(text, line) for key, text in why.items()}
        return brief

    return fitting(answer, most=8)


def of_comparison(comparison: Comparison) -> dict[str, Any]:
    """Return which run is better, by what, and the settings that differ."""
    pair = comparison.pairs[0]

    def answer(rows: int, line: int) -> dict[str, Any]:
        return {
            "runs": [_cut(run.run_name, line) for run in comparison.runs],
            "result": pair.verdict.result,
            "verdict": _cut(pair.verdict.sentence, line),
            "and": _cut(pair.verdict.second, line),
            "metric": pair.verdict.metric,
            "interval": pair.verdict.interval,
            "p_b_better": pair.verdict.p_b_better,
            "settings": [
                _cut(f"{one.key}: {one.a} -> {one.b}", line) for one in pair.settings[:rows]
            ],
            "more": 'detail="full" has measures, where they part, both diagnoses',
        }

    return fitting(answer, most=8)


def of_runs(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the first rows of a list and how many more there are."""

    def answer(some: int, line: int) -> dict[str, Any]:
        shown = [
            {key: _cut(text, line) if isinstance(text, str) else text for key, text in row.items()}
            for row in rows[:some]
        ]
        return {"runs": shown, "more": len(rows) - len(shown)}

    return fitting(answer, most=20)


def fitting(answer: Callable[[int, int], dict[str, Any]], most: int) -> dict[str, Any]:
    """Return the longest answer that fits: fewer rows first, then shorter sentences.

    Args:
        answer: makes an answer of some rows, with sentences of some characters.
        most: rows at most.

    """
    made: dict[str, Any] = {}
    for line in (LINE, LINE // 2, LEAST):
        for rows in range(most, 0, -1):
            made = answer(rows, line)
            if len(msgspec.json.encode(made)) <= MOST_BYTES:
                return made
    return made


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
