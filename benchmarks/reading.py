"""How well runs of strangers are read: rows, steps, trainings, plan, end, against described ones.

    python benchmarks/reading.py INDEX.jsonl [-v]

``INDEX.jsonl`` names for each run its ``id`` and ``target``, where it lies here; what an expert saw
in it is ``reading`` of its row in ``benchmarks/wild/runs``. Runs without one are left out.
Prints how many are right of those that say something about it; -v: each that is not.
"""

import json
import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runlens import read_all
from runlens.errors import NothingReadable
from runlens.run import Run

LABELS = Path(__file__).parent / "wild" / "runs"
NEAR = 0.01  # of a number as it was written down
ROUND = re.compile(r"\bround \w+ ([\d,]+)")
ENDS = {
    "finished": "finished",
    "crashed": "crashed",
    "killed": "killed",
    "interrupted": "stopped_early",
    "stopped": "stopped_early",
    "stopped_early": "stopped_early",
    "unknown": "unknown",
}


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=NEAR, abs_tol=1e-6)


def _any_of(said: Mapping[str, Any], key: str) -> list[Any]:
    """Return what may be told: what ``trainings`` says, and the list ``trainings_ok``."""
    also = said.get(f"{key}_ok", [])
    return [said[key], *(also if isinstance(also, list) else [also])]


def _values(said: Mapping[str, Any], key: str) -> list[float]:
    """Return the values that may be told: of ``["loss", 0.3]``, and of each of ``first_ok``."""
    every = [said.get(key), *said.get(f"{key}_ok", ())]
    values = [one[1] if isinstance(one, list) and len(one) > 1 else one for one in every]
    return [float(one) for one in values if isinstance(one, int | float)]


def judged(said: Mapping[str, Any], runs: list[Run]) -> Iterator[tuple[str, bool, str]]:
    """Yield what was compared: its name, whether it is right, and what was found."""
    holds = said.get("holds_numbers", bool(said.get("rows")))
    curves = [run.curve(name) for run in runs for name in run.history.metrics]
    either = holds and False in said.get("holds_numbers_ok", ())
    yield "any number", bool(curves) or either or not holds, f"{len(runs)} runs"
    if not runs or (either and not curves):
        return
    yield "trainings", len(runs) in _any_of(said, "trainings"), f"{len(runs)}"
    state = runs[-1].state
    plans = {float(one) for one in (state.planned_steps, state.planned_epochs) if one is not None}
    if told := ROUND.search(state.why):  # a guess, and told as one
        plans.add(float(told[1].replace(",", "")))
    wanted = _any_of(said, "plan")
    right = bool(plans & set(wanted)) if plans else None in wanted
    yield "plan", right or (bool(plans) and wanted == [None]), f"{sorted(plans)}"
    ends = {ENDS.get(end, end) for end in _any_of(said, "end")}
    guess = "unknown" in ends and state.sure == "guess"
    yield "end", state.kind in ends or state.settled in ends or guess, f"{state.kind}, {state.sure}"
    if not holds or not isinstance(said.get("rows"), int | str):
        return
    counts = (re.match(r"\d+", str(one)) for one in _any_of(said, "rows"))
    rows = [int(count[0]) for count in counts if count and int(count[0])]  # 0: results alone
    lengths = Counter(len(curve) for curve in curves)
    for name in {name for run in runs for name in run.history.metrics}:
        lengths[sum(len(run.curve(name)) for run in runs)] += 1
        done = sum(run.history.lengths.get(name, 0) for run in runs)
        lengths[done] += 1  # with what a resume did again
    if rows:
        yield "rows", any(lengths[count] for count in rows), f"{lengths.most_common(3)}"
    for key in ("first", "last"):
        if wanted := _values(said, key):
            place = 0 if key == "first" else -1
            known = [some for curve in curves for some in (curve, curve.finite()) if len(some)]
            ends_of = [float(some.value[place]) for some in known]
            found = any(_near(one, f) or _near(one, f / 100) for one in ends_of for f in wanted)
            yield key, found, ""
    if (step := said.get("step_last")) is not None:
        lasts = np.unique([int(curve.step[-1]) for curve in curves if len(curve)]).tolist()
        right_ones = {step, *said.get("step_ok", ())}
        epochs = {round(one.state.done_epochs or -1) - first for one in runs for first in (0, 1)}
        yield "last step", bool((set(lasts) | epochs) & right_ones), f"{lasts[-3:]}"


def _with_whole(told: Iterator[tuple[str, bool, str]]) -> Iterator[tuple[str, bool, str]]:
    """Add whether rows, values and the last step are all right, where there are numbers."""
    made = list(told)
    yield from made
    read = [fits for name, fits, _ in made if name in {"rows", "first", "last", "last step"}]
    if read or (made and not made[0][1]):
        yield "whole", bool(read) and all(read), ", ".join(n for n, fits, _ in made if not fits)


def main() -> None:
    """Compare all runs that are at hand and print."""
    warnings.simplefilter("ignore")
    lines = (line for part in LABELS.glob("*.jsonl") for line in part.read_text().splitlines())
    labels = {row["id"]: row for row in map(json.loads, lines)}
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for line in Path(sys.argv[1]).read_text().splitlines():
        item = json.loads(line)
        said = labels.get(item["id"], {}).get("reading")
        if said is None:
            continue
        try:
            runs = read_all(item["target"])
        except NothingReadable:
            runs = []
        for name, fits, found in _with_whole(judged(said, runs)):
            right[name] += fits
            every[name] += 1
            if not fits and "-v" in sys.argv:
                wanted = said.get(name.replace("last step", "step_last"), "")
                print(f"{item['id']} {name}: {found}, described as {wanted} ({item['path']})")
    for name, count in every.items():
        print(f"{name}: {right[name]} of {count}")


if __name__ == "__main__":
    main()
