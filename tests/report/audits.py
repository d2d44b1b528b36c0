"""Audits made by hand, one for each shape that a page must stand."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runlens.diagnosis import Health, Severity
from runlens.nights import Audit, FoundRow, Issue, Night, RunRow, SparkRow, Unread
from runlens.wording import count
from tests.report.diagnoses import HOSTILE

BEGAN = 1_795_000_000.0  # seconds since 1970
GROUPS = ("sft · qwen3-8b · ultrachat · trl", "dpo · llama3-8b · ultrafeedback · trl", "rm-1b")
FAULTS: dict[str, tuple[Severity, str, str]] = {
    "divergence": ("critical", "Divergence", "train loss rose from 2.980 to 16.80"),
    "nan-loss": ("critical", "NaN loss", "the last finite loss was 1.834"),
    "hockey-stick": ("warning", "Overfitting", "eval loss rose 6.1 % from its minimum 2.720"),
    "clip-saturation": (
        "warning",
        "Constant gradient clipping",
        "norm above 1.0 on 96 % of points",
    ),
}


def found(rule: str, onset: float = 400.0, **changes: Any) -> FoundRow:
    """Return what is kept of a finding of one of the rules above, an hour and a half into a run."""
    severity, title, seen = FAULTS[rule]
    whole = FoundRow(
        rule, severity, f"{title} from step {onset:,.0f}: {seen}.", "train_loss",
        onset, BEGAN + 13.5 * onset, leads=True,
    )  # fmt: skip
    return whole._replace(**changes)


def spark(points: int = 30, onset: int | None = None, done: float = 1.0) -> SparkRow:
    """Return a curve that falls, and rises again from the onset on."""
    at = points if onset is None else onset
    falling = [max(0, 20 - round(40 * i / points)) for i in range(at)]
    rising = [min(20, 2 * i) for i in range(points - at)]
    return SparkRow("train_loss", (*falling, *rising), onset, done)


def run(number: int, *rules: str, **changes: Any) -> RunRow:
    """Return a run of 1,000 steps in 3.75 hours on 8 GPUs, with findings of these rules."""
    findings = tuple(found(rule) for rule in rules)
    health: Health = findings[0].severity if findings else "healthy"
    done = 0.6 if "nan-loss" in rules else 1.0
    whole = RunRow(
        key=f"wandb:acme/llm/r{number:05}",
        place=f"wandb:acme/llm/r{number:05}",
        name=f"sft-8b-lr2e-4-s{number:05}",
        project="wandb:acme/llm",
        group=GROUPS[number % len(GROUPS)],
        job="sft-8b",
        task="sft",
        framework="trl",
        state="finished",
        health=health,
        verdict=findings[0].title if findings else "No fault found: train loss fell to 1.204.",
        steps=1000,
        planned_steps=1000,
        started=BEGAN,
        ended=BEGAN + 13_500,
        gpus=8,
        measures={"train_loss.end": 1.204},
        findings=findings,
        spark=spark(onset=12 if findings else None, done=done),
    )
    return replace(whole, **changes)


def issue(rule: str, runs: tuple[str, ...], **changes: Any) -> Issue:
    """Return an issue of one of the rules above, new tonight."""
    severity, title, seen = FAULTS[rule]
    name = f"sft-8b-lr2e-4-s{runs[0][-5:]}" if runs else "nobody"
    whole = Issue(
        fingerprint=f"{rule}-{len(runs)}",
        rule=rule,
        severity=severity,
        group=GROUPS[0],
        title=f"{title} in {count(len(runs), 'run')} of {GROUPS[0]}.",
        runs=runs,
        worst=f"{name}: {title} from step 400: {seen}.",
        first_night=12,
        last_night=12,
        gpu_hours=18.0 * len(runs),
    )
    return replace(whole, **changes)


NIGHT = Night(12, "2026-11-21T02:00:00Z", ("wandb:acme/llm",), read=14, unchanged=26, seconds=31.5)
UNREAD = (
    Unread(
        "wandb:acme/llm/2pq", "history empty: 0 rows", "log train_loss; the run ended after 12 s"
    ),
    Unread("/data/runs/a", "permission denied", "let the user of the audit read it", 3),
)


def night() -> Audit:
    """Return an ordinary night: something new, back, ongoing, resolved, and two unread places."""
    rows = [run(i) for i in range(30)]
    rows += [run(30 + i, "divergence") for i in range(4)]
    rows += [run(40 + i, "hockey-stick", "clip-saturation") for i in range(3)]
    rows.append(
        run(
            50,
            "nan-loss",
            spark=SparkRow("train_loss", (20, 16, 13, 11, 9, 7, 6, 5, -1, -1, -1, -1), 8, 0.4),
        )
    )
    rows.append(run(51, health="unknown", verdict="Cannot judge: 3 points.", spark=SparkRow()))
    rows.append(run(52, started=None, ended=None, planned_steps=4000))
    keys = [row.key for row in rows]
    issues = (
        issue("divergence", tuple(keys[30:34]), money=144.0),
        issue("nan-loss", (keys[37],), state="back", first_night=4, untimed=1),
        issue("hockey-stick", tuple(keys[34:37]), state="ongoing", first_night=9),
        cross(tuple(keys[:5])),
        issue("clip-saturation", (), state="resolved", first_night=2),
    )
    return Audit(
        NIGHT,
        "1 new issue since last night: the largest is divergence in 4 sft-8b runs, 72 GPU-hours "
        "after onset.",
        issues,
        tuple(rows),
        UNREAD,
        0.16,
        {keys[30]: "runs/sft-8b-30.html"},
    )


def cross(runs: tuple[str, ...]) -> Issue:
    """Return what a rule over several runs found in healthy runs."""
    return Issue(
        fingerprint="sv",
        rule="seed-variance",
        severity="warning",
        group=GROUPS[1],
        title="Five runs that differ in their seed alone end 8 % apart.",
        state="ongoing",
        runs=runs,
        worst="sft-8b-lr2e-4-s00000 ends at 1.310, the others at 1.204 on average.",
        first_night=11,
        last_night=12,
        why="deviation of 0.043 between seeds; 3 standard errors within the runs are 0.012",
    )


def quiet() -> Audit:
    """Return a night on which nothing is new and one issue goes on."""
    whole = night()
    going = tuple(one for one in whole.issues if one.state == "ongoing")
    said = "Nothing new: 40 runs read, 2 ongoing issues."
    return replace(whole, verdict=said, issues=going, unread=())


def first() -> Audit:
    """Return the first night of a project of three healthy runs."""
    return Audit(
        Night(1, "2026-11-21T02:00:00Z", ("runs",), 3, 0, 0.4),
        "Nothing new: 3 runs read, no issue.",
        runs=tuple(run(i) for i in range(3)),
        expected_false_alarms=0.012,
    )


def unreadable() -> Audit:
    """Return a night on which nothing could be read."""
    return Audit(
        Night(2, "2026-11-21T02:00:00Z", ("/data/runs",)),
        "Nothing could be read: 2 places.",
        unread=UNREAD,
    )


def hostile(words: str = "") -> Audit:
    """Return a night whose every name is written by an enemy."""
    bad = words or "".join(HOSTILE)
    row = run(
        1, "divergence", name=bad, key=bad, place=bad, group=bad, verdict=bad, job=bad,
        findings=(found("divergence", title=bad, metric=bad),),
    )  # fmt: skip
    made = issue("divergence", (bad,), title=bad, worst=f"{bad}: {bad}", group=bad, why=bad)
    return Audit(
        Night(3, bad, (bad,)), bad, (made, cross((bad, bad))), (row, run(2, name=bad)),
        (Unread(bad, bad, bad),), 0.1, {bad: "javascript:alert(1)"},
    )  # fmt: skip


def many(runs: int = 2000, seed: int = 11) -> Audit:
    """Return a large project: one run in twelve is faulty, one in eight has an info alone."""
    drawn = random.Random(seed)
    rows: list[RunRow] = []
    by_rule: dict[tuple[str, str], list[str]] = {}
    for number in range(runs):
        name = f"sft-8b-{drawn.choice(['base', 'long', 'aug'])}-s{number % 97:02}-{number:05}"
        chance = drawn.random()
        rules = (drawn.choice(list(FAULTS)),) if chance < 1 / 12 else ()
        wobble = tuple(drawn.randint(max(0, 15 - i), max(3, 20 - i)) for i in range(30))
        drawing = SparkRow("train_loss", wobble, 12 if rules else None, drawn.choice([1.0, 0.7]))
        row = run(
            number,
            *rules,
            name=name,
            spark=drawing,
            steps=drawn.randint(200, 90_000),
            planned_steps=100_000,
        )
        if 1 / 12 <= chance < 1 / 5:
            row = replace(row, health="info", verdict="One spike of the loss, recovered.")
        rows.append(row)
        for rule in rules:
            by_rule.setdefault((rule, row.group), []).append(row.key)
    issues = [
        issue(rule, tuple(keys), group=group, fingerprint=f"{rule}{group}",
              title=f"{FAULTS[rule][1]} in {len(keys)} runs of {group}.",
              state="new" if number < 3 else "ongoing", first_night=7)
        for number, ((rule, group), keys) in enumerate(by_rule.items())
    ]  # fmt: skip
    pages = {row.key: f"runs/{row.name}.html" for row in rows if row.findings}
    said = "3 new issues since last night: the largest is divergence, 295 GPU-hours after onset."
    return Audit(NIGHT, said, tuple(issues), tuple(rows), UNREAD, runs * 0.004, pages)


SHAPES: dict[str, Callable[[], Audit]] = {
    "a night": night,
    "nothing new": quiet,
    "the first night": first,
    "nothing readable": unreadable,
    "hostile": hostile,
    "no runs at all": lambda: Audit(Night(1, "", ()), "No run was found."),
}
