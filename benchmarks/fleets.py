"""Fleets with a known cause, and with none: how often `fleet` names it, or names another.

    python benchmarks/fleets.py [--fleets 200] [--seed 1]

A fleet: 8 jobs of 5 people over 21 days, 8 to 20 runs a day on 24 nodes of four or eight GPUs.
Jobs break at their own rates, people keep to their favourite nodes, each pushes commits of his
own, images and libraries change for everybody on some days. `outage` adds three nights on which
most of what runs breaks, everywhere; `recipe` adds recipes that always break, from a day on on
which a new image comes; `node, late` a node that was good for ten days.
"""

import argparse
from collections import Counter
from collections.abc import Iterator

import numpy as np

from runlens.crossrun import fleet
from runlens.nights import FoundRow, RunRow

DAY, DAYS, NODES, JOBS, PEOPLE = 86_400.0, 21, 24, 8, 5
NONE = ("calm", "outage", "recipe")
CAUSES = ("node", "gpu_serial", "driver", "image", "git_commit", "torch", "node, late")
SLUGS = ("nan-loss", "divergence", "oom-cliff", "hockey-stick", "exception")
LATE = 10  # day on which a good node goes bad
BAD = 0.8  # share of runs that break with a cause


def rows(drawn: np.random.Generator, kind: str) -> tuple[list[RunRow], set[str]]:
    """Draw the runs of a fleet; return them with what its cause is called."""
    rate = drawn.beta(1, 9, JOBS)
    home = drawn.integers(0, NODES, (PEOPLE, 4))
    images = np.sort(drawn.choice(np.arange(2, DAYS), 3, replace=False))
    torches = np.sort(drawn.choice(np.arange(2, DAYS), 2, replace=False))
    outages = set(drawn.choice(DAYS, 3, replace=False).tolist()) if kind == "outage" else set()
    turned = {int(job): int(images[0]) for job in drawn.choice(JOBS, 2)} if kind == "recipe" else {}
    bad_node = int(drawn.integers(NODES))
    made = []
    for day in range(DAYS):
        for at in range(int(drawn.integers(8, 21))):
            job = int(drawn.integers(JOBS))
            person = job % PEOPLE
            node = int(
                drawn.choice(home[person]) if drawn.random() < 0.6 else drawn.integers(NODES)
            )
            gpus = 4 if node % 2 else 8
            used = drawn.choice(gpus, max(1, gpus // 2), replace=False)
            image, torch = int(np.sum(day >= images)), int(np.sum(day >= torches))
            commit = f"{person}{day // 3:02}" + "f" * 37
            lr = 2e-4 if day < turned.get(job, DAYS) else 5e-3
            where = {
                "node": (f"node-{node}",),
                "gpu_serial": tuple(f"GPU-{node}-{one}" for one in used),
                "driver": ("550" if node % 6 else "535",),
                "image": (f"train:2.{image}",),
                "git_commit": (commit,),
                "torch": (f"2.{torch}",),
                "transformers": (f"4.{torch}",),
            }
            cause = {
                "node": node == bad_node,
                "node, late": node == bad_node and day >= LATE,
                "gpu_serial": node == bad_node and 0 in used,
                "driver": node % 6 == 0,
                "image": image == 2,
                "git_commit": person == 1 and day // 3 == 4,
                "torch": torch == 2,
            }.get(kind, False)
            p = max(rate[job], BAD * cause, 0.85 * (day in outages), 0.95 * (lr > 1e-3))
            slug = str(drawn.choice(SLUGS)) if drawn.random() < p else ""
            began = DAY * (day + drawn.random() * 0.9)
            made.append(
                RunRow(
                    f"r{day}-{at}", "", f"r{day}-{at}", "p", f"job {job}", f"job {job}",
                    state="finished", health="critical" if slug else "healthy", started=began,
                    ended=began + 7200, config={"learning_rate": lr}, environment=where,
                    findings=(FoundRow(slug, "critical", slug, leads=True),) if slug else (),
                )
            )  # fmt: skip
    named = {
        "node": f"node node-{bad_node}",
        "node, late": f"node node-{bad_node}",
        "gpu_serial": f"gpu_serial GPU-{bad_node}-0",
        "driver": "driver 535",
        "image": "image train:2.2",
        "git_commit": "git_commit 104",
        "torch": "torch 2.2",
    }
    return made, {named[kind]} if kind in named else set()


def nights(some: list[RunRow]) -> Iterator[list[RunRow]]:
    """Yield what an audit knows on every third night."""
    for day in range(3, DAYS + 1, 3):
        yield [row for row in some if (row.started or 0.0) < day * DAY]


def main() -> None:
    """Print, for each kind of fleet, in how many it was named, and something else was."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--fleets", type=int, default=200)
    asked.add_argument("--seed", type=int, default=1)
    how = asked.parse_args()
    print(f"{'cause':<12}{'fleets':>8}{'named':>8}{'at the end':>12}{'another':>9}{'night':>8}")
    for kind in (*NONE, *CAUSES):
        drawn = np.random.default_rng([how.seed, (*NONE, *CAUSES).index(kind)])
        tally: Counter[str] = Counter()
        for _ in range(how.fleets):
            some, true = rows(drawn, kind)
            found = [
                {one.group for one in fleet.check(known, fleet.RULE.limits, DAYS * DAY)}
                for known in nights(some)
            ]
            every = set().union(*found)
            others = {one for one in every if not any(one.startswith(t) for t in true)}
            tally["named"] += bool(every - others)
            tally["end"] += bool({one for one in found[-1] if one not in others})
            tally["others"] += bool(others)
            tally["nights"] += sum(bool(one & others) for one in found)
        share = tally["nights"] / how.fleets / len(found)
        print(
            f"{kind:<12}{how.fleets:>8}{tally['named']:>8}{tally['end']:>12}{tally['others']:>9}"
            f"{share:>8.2%}"
        )


if __name__ == "__main__":
    main()
