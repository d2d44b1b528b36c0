"""How findings last where the same run is logged otherwise, and whether health stays health.

    python benchmarks/robustness.py LABELS.jsonl... [--every N] [--lost] [--alarms]

Each labelled run is read once and judged; then again as others would have logged it: each second,
fifth or twentieth row; means of a fifteenth of the run (one row an epoch); its last 30 % not
there; training or evaluation alone; nothing but losses and rewards; without settings; losses times
ten; without a known task; and written as JSON lines under names of other makers (those of
``tests/names.tsv``). A finding that a label asks for and that is made of the whole run is kept
where its rule is named again, at any severity; another name that the label takes counts apart. It
is asked only where its sign is there yet: its curve is, it began before the cut, and four points
lie after its onset. A healthy run alarms where something is said aloud that its label does not
take. LABELS hold ``path`` (beside them) or ``target``, ``verdict``, ``findings``, ``also``.
"""

import json
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from runlens import read_all
from runlens.diagnosis import Finding
from runlens.engine import diagnose
from runlens.errors import RunLensError
from runlens.history import BoolArray, Curve, FloatArray, History, IntArray, columns
from runlens.metrics import base, naming
from runlens.rules import LISTED
from runlens.rules.rule import ADVICE, PREFERENCE_TASKS
from runlens.run import RL_TASKS, Run, State

ROOT = Path(__file__).parents[1]
# of the end of a program, of the machine, and of two launches: no reading of a curve
LOGS = {"crashed", "killed", "oom-cliff", "known-error", "hang", "stopped-early", "resume-jump"}
UNSCORED = LOGS | {rule.slug for rule in LISTED if rule.family in ADVICE}
LOSSES = ("train_loss", "eval_loss", "policy_loss", "value_loss", "g_loss", "d_loss")
SCORES = (*LOSSES, "reward", "eval_reward", "train_accuracy", "eval_accuracy", "eval_wer")
SCALED = {"stuck-at-chance", "zero-loss"}  # their level is their sign
AS_IT_IS = "as it is"
ROWS, FEWEST, CUT = 15, 4, 0.7
Change = Callable[[Run], Run]


def with_curves(run: Run, curves: dict[str, Curve], **more: Any) -> Run:
    """Return the run with other curves; what only other curves tell goes with them."""
    made = {
        name: columns(one.step, one.value, one.epoch, one.time)
        for name, one in curves.items()
        if len(one)
    }
    return replace(run, history=History(made, run.history.sources), **more)


def curves(run: Run) -> dict[str, Curve]:
    """Return all curves of a run."""
    return {name: run.curve(name) for name in run.history.metrics}


def thinned(every: int) -> Change:
    """Keep each n-th row; evaluations, which are rarer, as they are down to the same count."""

    def change(run: Run) -> Run:
        longest = max(map(len, curves(run).values()), default=0)

        def kept(one: Curve) -> Curve:
            stride = max(1, round(every * len(one) / max(longest, 1)))
            return one.at(slice(None, None, stride))

        return with_curves(run, {name: kept(one) for name, one in curves(run).items()})

    return change


def by_epoch(run: Run) -> Run:
    """Take the mean of each fifteenth of the run, dated at its end."""

    def means(one: Curve) -> Curve:
        if len(one) <= ROWS:
            return one
        parts = np.array_split(np.arange(len(one)), ROWS)
        value = np.array([one.value[part].mean() for part in parts])
        ends = np.array([part[-1] for part in parts])
        return replace(one.at(ends), value=value)

    return with_curves(run, {name: means(one) for name, one in curves(run).items()})


def cut(run: Run) -> Run:
    """Leave out the last 30 % of the steps; how the run ended is not known then."""
    end = run.first_step + CUT * (run.last_step - run.first_step)
    return with_curves(
        run,
        {name: one.at(one.step <= end) for name, one in curves(run).items()},
        state=State(),
        events=tuple(e for e in run.events if e.step is not None and e.step <= end),
    )


def only(kept: Callable[[str], bool]) -> Change:
    """Keep the metrics of which a function says so."""

    def change(run: Run) -> Run:
        return with_curves(run, {name: c for name, c in curves(run).items() if kept(name)})

    return change


def scaled(run: Run) -> Run:
    """Multiply all losses by ten."""
    return with_curves(
        run,
        {
            name: replace(one, value=10 * one.value) if base(name) in LOSSES else one
            for name, one in curves(run).items()
        },
    )


def without_settings(run: Run) -> Run:
    """Forget the configuration, the rate, the plan and what the program said."""
    state = replace(run.state, planned_steps=None, planned_epochs=None)
    kept = only(lambda name: base(name) != "learning_rate")(run)
    return replace(kept, config={}, state=state, events=(), framework="unknown")


def without_task(run: Run) -> Run:
    """Forget what is trained, but for a policy and for preferences, whose metrics tell it."""
    told = RL_TASKS | PREFERENCE_TASKS
    return run if run.task in told else replace(run, task="other", task_why="")


def names() -> dict[str, list[str]]:
    """Return the names that other makers gave each metric, those alone that say it for sure."""
    known: dict[str, list[str]] = {}
    for line in (ROOT / "tests" / "names.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        _, kind, name, meaning = line.split("\t")
        if kind == "metric" and naming(name).metric == meaning:
            known.setdefault(meaning, []).append(name)
    return known


FOREIGN = names()


def columns_of(curve: Curve) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Return step, value, epoch and time; all of shape (n,)."""
    return curve.step, curve.value, curve.epoch, curve.time


def foreign(run: Run) -> Run:
    """Write the run as JSON lines under names of other makers, and read that."""
    rng = np.random.default_rng(zlib.crc32(run.id.encode()))
    rows: dict[int, dict[str, float]] = {}
    for name, one in curves(run).items():
        of = name.partition(":")[2]
        own = f"eval_{of}_loss" if of and base(name) == "eval_loss" else name
        other = str(rng.choice(FOREIGN.get(name, [own])))
        for at, value, epoch, time in zip(*(x.tolist() for x in columns_of(one)), strict=True):
            row = rows.setdefault(at, {})
            row[other] = value
            row |= {k: v for k, v in (("epoch", epoch), ("time", time)) if np.isfinite(v)}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "metrics.jsonl"
        lines = [json.dumps({"step": at, **row}) for at, row in sorted(rows.items())]
        place.write_text("\n".join(lines), encoding="utf-8")
        try:
            return read_all(place)[0]
        except RunLensError:  # nothing in it that looks like a training
            return with_curves(run, {})


CHANGES: dict[str, Change] = {
    "half": thinned(2),
    "fifth": thinned(5),
    "twentieth": thinned(20),
    "epochs": by_epoch,
    "cut": cut,
    "train only": only(lambda name: not name.startswith("eval_")),
    "eval only": only(lambda name: name.startswith("eval_")),
    "scores": only(lambda name: base(name) in SCORES),
    "settings": without_settings,
    "times ten": scaled,
    "no task": without_task,
    "foreign": foreign,
}


class Job(NamedTuple):
    """A labelled run."""

    name: str
    place: str
    verdict: str
    wanted: dict[str, float | None]  # rule: onset
    taken: set[str]  # other names that the label takes


Said = list[tuple[str, str, str]]  # (change, rule, "kept" | "other" | "lost" | "alarm")


def judged(job: Job) -> tuple[str, Said]:
    """Judge one run as it is, and after each change."""
    try:
        runs = read_all(job.place)
    except RunLensError:
        return job.name, []
    if len(runs) != 1:
        return job.name, []
    run, said = runs[0], []
    at_first = {one.rule: one for one in diagnose(run).findings}
    asked = {rule: one for rule, one in at_first.items() if rule in job.wanted}
    for name, change in [(AS_IT_IS, None), *CHANGES.items()]:
        changed = change(run) if change else run
        found = {one.rule: one for one in diagnose(changed).findings}
        loud = {rule for rule, one in found.items() if one.severity != "info"} - UNSCORED
        if job.verdict == "healthy" and changed.history.metrics:
            wrong = loud - job.taken
            said += [(name, rule, "alarm") for rule in wrong] or [(name, "", "calm")]
        for rule, finding in asked.items():
            if rule not in UNSCORED and seen(finding, name, changed, run):
                other = bool(loud & (job.taken | set(job.wanted)))
                kept = "kept" if rule in found else "other" if other else "lost"
                said.append((name, rule, kept))
    return job.name, said


def seen(finding: Finding, change: str, changed: Run, run: Run) -> bool:
    """Whether what a finding was made of is there yet."""
    if change == AS_IT_IS:
        return True
    if change == "times ten" and finding.rule in SCALED:
        return False
    onset = float(finding.begins)
    if change == "cut" and onset > run.first_step + 0.5 * (run.last_step - run.first_step):
        return False
    if change == "foreign":
        return len(run.curve(finding.metric)) >= FEWEST
    if not changed.logged(finding.metric):
        return False
    curve = changed.curve(finding.metric)
    return not len(curve) or int(np.sum(later(curve, onset))) >= FEWEST


def later(curve: Curve, onset: float) -> BoolArray:
    """Return the points from an onset on, as a mask of shape (n,)."""
    mask: BoolArray = curve.step >= onset
    return mask


def jobs(labels: Path) -> list[Job]:
    """Return the runs of a file of labels that are sure to be something."""
    made = []
    for row in map(json.loads, labels.read_text(encoding="utf-8").splitlines()):
        place = row.get("target") or str(labels.parent / row.get("path", row["id"]))
        wanted = {one["rule"]: one.get("onset") for one in row["findings"]}
        if row["verdict"] in {"faulty", "healthy"} and not row.get("several_runs"):
            made.append(Job(row["id"], place, row["verdict"], wanted, set(row["also"])))
    return made


def main() -> None:
    """Print the table: a row for each rule, a column for each change; kept, other names, lost."""
    places = [Path(word) for word in sys.argv[1:] if word.endswith(".jsonl")]
    every = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    asked = [job for place in places for job in jobs(place)][::every]
    count: Counter[tuple[str, str, str]] = Counter()
    with ProcessPoolExecutor(2) as pool:
        for name, said in pool.map(judged, asked, chunksize=4):
            count.update(said)
            for change, rule, what in said:
                if f"--{what}" in sys.argv or (what == "alarm" and "--alarms" in sys.argv):
                    print(what, name, rule, change, sep="\t")
    table(count)


def table(count: Counter[tuple[str, str, str]]) -> None:
    """Print what was counted as Markdown."""
    changes = list(CHANGES)
    print("|", " | ".join(["rule", *changes]), "|")
    print("|", " | ".join(["---"] * (len(changes) + 1)), "|")
    rules = sorted({rule for _, rule, what in count if what in {"kept", "other", "lost"}})
    for rule in [*rules, "all"]:
        cells = []
        for change in changes:
            n = [
                sum(c for (by, r, w), c in count.items() if by == change and w == what
                    and rule in {r, "all"})
                for what in ("kept", "other", "lost")
            ]  # fmt: skip
            cells.append(f"{n[0]} of {sum(n)}" + (f" (+{n[1]})" if n[1] else "") if sum(n) else "")
        print("|", " | ".join([rule, *cells]), "|")
    cells = []
    for change in [AS_IT_IS, *changes]:
        alarmed = sum(c for (by, _, w), c in count.items() if by == change and w == "alarm")
        calm = sum(c for (by, _, w), c in count.items() if by == change and w == "calm")
        cells.append(f"{change} {alarmed} of {alarmed + calm}")
    print("\nalarms of healthy runs:", ", ".join(cells))


if __name__ == "__main__":
    main()
