"""False alarms and power of the rules over many runs, on simulated projects.

    python benchmarks/crossrun.py [PROJECTS]

A healthy project has 50 runs in one to four groups, one a night: a job that is repeated with other
seeds, a sweep over the learning rate and other settings, single experiments. Seeds scatter by 0.2
to 3 % (normal, or t with 4 degrees of freedom), settings by up to 10 %; ends are known up to 0.1 to
1 %; one run in ten is not evaluated; one in seven crashes, is stopped or is shorter; the last one
still runs. Rules of single runs alarm by chance on 0, 0.4 or 1.4 % of the runs. The rules are asked
every fifth night; a project counts once. The same projects with one fault planted give the power.
Prints two Markdown tables; the seeds are fixed.
"""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from runlens.crossrun import CROSS_RULES, findings
from runlens.nights import FoundRow, RunRow

RATES = (0.0, 0.004, 0.014)
RUNS = 50
DAY = 86_400.0
START = 1.7e9
ALARMS = ("warmup-shock", "divergence", "loss-spike", "sawtooth", "hockey-stick")
Fault = Callable[[np.random.Generator, list[RunRow]], list[RunRow]]


def project(seed: int, rate: float) -> list[RunRow]:
    """Draw the runs of a healthy project, in the order of their nights."""
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(1, 5))
    scatter = np.exp(rng.uniform(np.log(0.002), np.log(0.03), groups))
    error = np.exp(rng.uniform(np.log(0.001), np.log(0.01), groups))
    level, kind = rng.uniform(0.4, 3.0, groups), rng.integers(3, size=groups)
    heavy = rng.random(groups) < 0.5
    return [
        one(rng, night, at, level[at], scatter[at], error[at], kind[at], heavy[at])
        if rng.random() >= rate
        else alarmed(
            rng,
            one(rng, night, at, level[at], scatter[at], error[at], kind[at], False),
        )
        for night, at in enumerate(rng.integers(groups, size=RUNS).tolist())
    ]


def one(
    rng: np.random.Generator,
    night: int,
    group: int,
    level: float,
    scatter: float,
    error: float,
    kind: int,
    heavy: bool,
) -> RunRow:
    """Draw one run: of a repeated job (kind 0), of a sweep (1), or an experiment (2)."""
    config: dict[str, str | int | float | bool | None] = {
        f"option_{number}": number for number in range(12)
    }
    config |= {"learning_rate": 2e-4, "lora_r": 16, "bf16": True, "seed": night}
    shift = 0.0
    if kind:
        config["learning_rate"] = float(rng.choice([5e-5, 1e-4, 2e-4, 4e-4]))
        config["lora_r"] = int(rng.choice([8, 16, 64]))
        config["bf16"] = bool(rng.random() < 0.7)
        config["weight_decay"] = float(rng.choice([0.0, 0.01, 0.1]))
        shift = 0.04 * (float(np.log2(config["learning_rate"] / 2e-4)) / 2) ** 2
        shift += 0.02 * float(rng.normal())
    noise = rng.standard_t(4) / 1.41 if heavy else rng.normal()
    common = float(shift + scatter * noise)
    evaluated = rng.random() < 0.9
    measures = {"eval.points": 10.0 if evaluated else 0.0}
    noises = {}
    for metric in ("train_loss", "eval_loss") if evaluated else ("train_loss",):
        end = level * np.exp(common + 0.5 * scatter * rng.normal()) * (1 + error * rng.normal())
        measures |= {f"{metric}.end": float(end), f"{metric}.best": float(0.999 * end)}
        noises[f"{metric}.end"] = float(error * level)
    started = START + night * DAY + float(rng.uniform(0, DAY))
    hours = float(rng.uniform(2, 10))
    measures["eval_loss.best_time"] = started + hours * 3600
    draw = rng.random()
    state = "finished" if draw < 0.9 else str(rng.choice(["crashed", "killed", "stopped_early"]))
    steps = 1000 if draw < 0.85 else int(rng.integers(100, 1000))
    return RunRow(
        key=f"run{night}",
        place=f"run{night}",
        name=("nightly", "sweep", "try")[kind] + f"-{night}",
        project="p",
        group=f"sft · model{group} · data · trl",
        job=("nightly", "sweep", "try")[kind],
        sweep="s1" if kind == 1 else "",
        task="sft",
        framework="trl",
        state=state,
        health="healthy" if state == "finished" else "critical",
        steps=steps if state == "finished" else int(0.6 * steps),
        started=started,
        ended=started + hours * 3600,
        gpus=4,
        config=config,
        measures=measures,
        noises=noises,
        findings=()
        if state == "finished"
        else (FoundRow(state.replace("_", "-"), "critical", "ended", leads=True),),
    )


def alarmed(rng: np.random.Generator, row: RunRow) -> RunRow:
    """Return a healthy run on which a rule alarmed by chance."""
    when = rng.uniform(row.started or 0, row.ended or 0)
    found = FoundRow(str(rng.choice(ALARMS)), "warning", "by chance", "", 500, when, leads=True)
    return replace(row, health="warning", findings=(found,))


def fires(rows: list[RunRow]) -> Counter[tuple[str, str]]:
    """Return (rule, severity) of what is found on any fifth night."""
    said = set()
    for night in range(5, RUNS + 1, 5):
        now = START + night * DAY
        last = replace(rows[night - 1], state="running", health="unknown", ended=now, findings=())
        said |= {(one.rule, one.severity) for one in findings([*rows[: night - 1], last], now)}
    return Counter(said)


def worse(share: float) -> Callable[[RunRow], RunRow]:
    """Return a change that ends a run worse by a share."""

    def change(row: RunRow) -> RunRow:
        ends = {k: v * (1 + share) if ".end" in k else v for k, v in row.measures.items()}
        return replace(row, measures=ends)

    return change


def nightly(rows: list[RunRow]) -> list[RunRow]:
    """Make all runs one repeated job of one group."""
    config = rows[0].config
    return [
        replace(
            row,
            group=rows[0].group,
            job="nightly",
            sweep="",
            config=config | {"seed": at},
            measures=row.measures | {"eval_loss.end": row.measures["train_loss.end"]},
        )
        for at, row in enumerate(rows)
    ]


def late_regression(_: np.random.Generator, rows: list[RunRow]) -> list[RunRow]:
    """Plant 15 % worse ends into the last ten runs."""
    return [*rows[:-10], *map(worse(0.15), rows[-10:])]


def far_run(_: np.random.Generator, rows: list[RunRow]) -> list[RunRow]:
    """Plant one run that ends 40 % worse."""
    at = next(i for i in range(30, RUNS) if rows[i].state == "finished" and rows[i].steps == 1000)
    return [worse(0.4)(row) if i == at else row for i, row in enumerate(rows)]


def blamed(rng: np.random.Generator, rows: list[RunRow]) -> list[RunRow]:
    """Plant a NaN in four of five runs without bf16."""
    found = FoundRow("nan-loss", "critical", "NaN", "train_loss", 500, START, leads=True)
    config = [row.config | {"bf16": bool(rng.random() < 0.7)} for row in rows]
    return [
        replace(row, config=own, health="critical", findings=(found,))
        if not own["bf16"] and rng.random() < 0.8
        else replace(row, config=own)
        for row, own in zip(rows, config, strict=True)
    ]


def scattered(rng: np.random.Generator, rows: list[RunRow]) -> list[RunRow]:
    """Plant a scatter of 10 % between equal runs."""
    return [worse(float(0.1 * rng.normal()))(row) for row in rows]


FAULTS: dict[str, Fault] = {
    "regression": late_regression,
    "outlier": far_run,
    "cluster": blamed,
    "seed-variance": scattered,
}


def main(projects: int) -> None:
    """Print both tables."""
    heads = " | ".join(f"alarms on {rate:.1%} of runs" for rate in RATES)
    print(f"| rule | severity | {heads} |")
    print("| --- | --- |" + " --- |" * len(RATES))
    counts = {
        rate: sum((fires(project(seed, rate)) for seed in range(projects)), Counter())
        for rate in RATES
    }
    for rule in CROSS_RULES:
        for severity in ("warning", "info"):
            found = [counts[rate][rule.slug, severity] / projects for rate in RATES]
            if severity == rule.severity or any(found):
                print(f"| {rule.slug} | {severity} | " + " | ".join(f"{x:.1%}" for x in found), "|")
    print("\n| fault | projects | found |\n| --- | --- | --- |")
    for slug, plant in FAULTS.items():
        hit = 0
        for seed in range(projects):
            rows = nightly(project(seed, 0.004))
            hit += any(rule == slug for rule, _ in fires(plant(np.random.default_rng(seed), rows)))
        print(f"| {slug} | {projects} | {hit / projects:.1%} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
