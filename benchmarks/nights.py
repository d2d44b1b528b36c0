"""Nights of a lab with a known truth: what its team reads at 7 AM, beside what had happened.

    python benchmarks/nights.py [--nights 14] [--seed 1] [--pages DIR]

Six people, a job each, behind the stand-in W&B server of the tests. Each night's message is printed
below what was planted on that night; at the end, how often what broke, whose it is and since when
were told as planted.
"""

import argparse
import math
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import runlens
from runlens.auditing.message import Links, changed, message
from runlens.nights import Audit
from runlens.report.html.audit import render
from tests.sources.wandb_api.conftest import environment
from tests.wandb_server.server import Server

PROJECT = "wandb:team/llm"
HOUR = 3600.0
BEGAN = datetime(2026, 3, 2, 2, tzinfo=UTC)  # the first night


@dataclass
class Person:
    """Who runs one job."""

    name: str
    job: str
    rate: float = 2e-4
    runs: int = 5  # a night


@dataclass
class Planted:
    """What was planted on one night."""

    ran: int = 0
    broke: dict[str, str] = field(default_factory=dict)  # run -> whose
    notes: list[str] = field(default_factory=list)
    since: list[str] = field(default_factory=list)  # what the message has to name


def curve(drawn: random.Random, kind: str, rows: int = 120) -> list[dict[str, float | str]]:
    """Draw a run: its loss falls; or becomes NaN, or its evaluation rises from the middle on."""
    made: list[dict[str, float | str]] = []
    start, floor = drawn.uniform(2.2, 2.6), drawn.uniform(1.0, 1.3)
    turn = drawn.randrange(rows // 3, rows // 2)
    for at in range(rows):
        level = floor + (start - floor) * math.exp(-4 * at / rows)
        row: dict[str, float | str] = {
            "_step": at,
            "train/global_step": 10 * (at + 1),
            "train/loss": level * (1 + 0.01 * drawn.gauss(0, 1)),
            "train/grad_norm": 0.6 + abs(drawn.gauss(0, 0.05)),
            "train/learning_rate": 2e-4 * (1 - at / rows),
        }
        if kind == "nan" and at >= turn:
            row["train/loss"] = "NaN"
        if at % 10 == 9:
            rise = 0.012 * (at - turn) if kind == "overfit" and at > turn else 0.0
            row["eval/loss"] = level * 1.05 + rise + 0.004 * drawn.gauss(0, 1)
        made.append(row)
    return made


class Lab:
    """What the lab does, night after night."""

    def __init__(self, server: Server, seed: int) -> None:
        """Begin with six people and no run."""
        self.server, self.drawn, self.number = server, random.Random(seed), 0
        self.on_bad_node = 0
        self.people = [
            Person("anna", "sft-qwen"),
            Person("ben", "sft-mistral"),
            Person("carl", "dpo-llama"),
            Person("dora", "rm-small"),
            Person("eve", "pretrain-tiny"),
            Person("fred", "sft-gemma", runs=4),
        ]

    def night(self, number: int, until: datetime) -> Planted:
        """Run what ran before this night."""
        told = Planted()
        for person in self.people:
            for _ in range(person.runs):
                node = self.drawn.randrange(12)
                kind = self._kind(person, number)
                if kind == "well" and node == BAD_NODE and 7 <= number <= 10:
                    kind = "nan"
                    self.on_bad_node += 1
                    told.since += [f"node-{BAD_NODE}"] if self.on_bad_node >= KNOWN_FROM else []
                name = self._run(person, kind, until, number, node)
                told.ran += 1
                if kind != "well":
                    told.broke[name] = person.name
        told.notes = NOTES.get(number, [])
        told.since += SINCE.get(number, [])
        return told

    def _kind(self, person: Person, night: int) -> str:
        """Return what becomes of a run: the plot of the two weeks."""
        if person.name == "anna" and 4 <= night <= 8:
            person.rate = 5e-4
            return "nan"
        if person.name == "anna":
            person.rate = 2e-4
        if person.name == "ben" and self.drawn.random() < 0.2:
            return "overfit"
        if person.name == "carl" and night == 6:
            return "start"
        return "well"

    def _run(self, person: Person, kind: str, until: datetime, night: int, node: int) -> str:
        self.number += 1
        name = f"{person.job}-{self.number:03}"
        started = until.timestamp() - self.drawn.uniform(6, 20) * HOUR
        rows = [] if kind == "start" else curve(self.drawn, kind)
        for row in rows:
            row["_timestamp"] = started + 60.0 * float(row["_step"])
        run = self.server.put(
            "llm",
            f"r{self.number:04}",
            rows,
            display_name=name,
            group=person.job,
            job_type="train",
            username=person.name,
            state="failed" if kind == "start" else "finished",
            created=started,
            beat=started + 60.0 * len(rows),
            config={"learning_rate": person.rate, "model_name": person.job, "seed": self.number}
            | {"num_train_epochs": 1, "max_steps": 1200, "gpu_count": 8}
            | {"image": "train:2.3" if person.name != "carl" or night != 6 else "train:2.4"}
            | {"hostname": f"node-{node}"},
        )
        return run.display_name


BAD_NODE = 5
KNOWN_FROM = 5  # of its runs that broke: from then on it has to be named
NOTES = {
    4: ["anna raises lr 2e-4 to 5e-4: all of her runs become NaN, until night 8"],
    6: ["carl's five runs fail at start, with a new image"],
    7: ["from now on every run on node-5 becomes NaN, whosever it is"],
    9: ["anna is back at 2e-4"],
    11: ["the key is refused (11, 12, 13)"],
}


SINCE = {
    4: ["learning_rate 2e-4 -> 5e-4"],
    5: ["learning_rate 2e-4 -> 5e-4"],
    6: ["learning_rate 2e-4 -> 5e-4", "image train:2.3 -> train:2.4"],
    7: ["learning_rate 2e-4 -> 5e-4"],
    8: ["learning_rate 2e-4 -> 5e-4"],
}


def nights(folder: Path, server: Server, count: int, seed: int) -> Iterator[tuple[Planted, Audit]]:
    """Yield what was planted and what the audit made of it, night by night."""
    lab = Lab(server, seed)
    for number in range(1, count + 1):
        now = BEGAN + timedelta(days=number - 1)
        planted = lab.night(number, now)
        refused = 11 <= number <= 13
        if refused:
            server.faults.append(fault("401", times=10_000))
        yield (
            planted,
            runlens.audit(PROJECT, store=folder / "a.db", cache=folder / "cache", jobs=2, now=now),
        )
        server.faults.clear()


def fault(kind: str, times: int) -> Any:
    """Return a fault of the stand-in."""
    from tests.wandb_server.server import Fault

    return Fault(kind=kind, times=times)


def main() -> None:
    """Print the nights, and how much was told as planted."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--nights", type=int, default=14)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--pages", type=Path, help="folder for the page of each night")
    how = asked.parse_args()
    right = wrong = 0
    waiting: dict[str, str] = {}
    with ExitStack() as stack:
        server = stack.enter_context(Server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ.update(environment(server, folder))
        for planted, audit in nights(folder, server, how.nights, how.seed):
            waiting |= planted.broke
            names = {row.key: row for row in audit.runs}
            broke = {names[key].name: names[key].user for key in audit.broke}
            listed = not audit.unlisted
            expected = waiting if listed else {}
            same = broke == expected
            told = message(audit, Links("https://audit.example/")) if changed(audit) else None
            text = told.body if told else ""
            missing = [one for one in planted.since if listed and one not in text]
            missing += [f"@{one}" for one in set(expected.values()) if f"@{one}" not in text]
            same = same and not missing
            right, wrong = right + same, wrong + (not same)
            waiting = {} if listed else waiting
            print(f"\n=== night {audit.night.number}, {audit.night.date[:10]}")
            print(f"planted: {planted.ran} ran, broke: {planted.broke or 'none'}", *planted.notes)
            if not same:
                print("NOT AS PLANTED: more", set(broke.items()) - set(expected.items()),
                      "less", set(expected.items()) - set(broke.items()))  # fmt: skip
            print(f"verdict: {audit.verdict}")
            if how.pages:
                how.pages.mkdir(parents=True, exist_ok=True)
                page = how.pages / f"{audit.night.number:02}.html"
                page.write_text(render(audit), encoding="utf-8")
            print(*(f"NOT NAMED: {one}" for one in missing), sep="\n", end="")
            print(
                f"> {told.title}" if told else "(no message)",
                *(told.lines if told else ()),
                sep="\n> ",
            )
    print(f"\n{right} of {right + wrong} nights told who broke as planted", file=sys.stderr)


if __name__ == "__main__":
    main()
