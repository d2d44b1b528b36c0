"""Logs that people pasted into public threads: is the fault named, is the rest left alone.

    python benchmarks/threads.py THREADS [--misses]

THREADS is a folder with rows of JSON in `*.jsonl` (`id`, `fault`: the rules of which any names
what the log shows, empty where it is benign, `also`: rules that are no false alarm there), and
each log beside them, in `ID.txt` or `*/ID/log.txt`. Each log is given to `runlens diagnose -`, as
it is pasted; its folder where settings were pasted beside it (`config.txt`). Only rules of training
count, and of a benign log only what is said aloud.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from runlens.cli import main as command
from runlens.rules import LISTED

# rules that speak of settings and of what is not logged
BESIDE = frozenset(rule.slug for rule in LISTED if rule.family in {"CFG", "OBS"})


class Said(NamedTuple):
    """What was said of one log."""

    rules: frozenset[str]
    loud: frozenset[str]
    sentence: str


def asked(log: Path) -> Said:
    """Give a log to the command: its folder where settings lie there, else as text on its input."""
    whole = log.name == "log.txt" and (log.parent / "config.txt").exists()
    target, text = (str(log.parent), b"") if whole else ("-", log.read_bytes())
    asking = ["diagnose", target, "--format", "json", "--no-html"]
    told = CliRunner().invoke(command, asking, input=text)
    try:
        read = json.loads(told.stdout)
    except ValueError:
        return Said(frozenset(), frozenset(), told.output.strip()[-200:])
    runs = read if isinstance(read, list) else read.get("runs", [read])
    found = [finding for run in runs for finding in run["findings"]]
    found = [one for one in found if one["rule"] not in BESIDE]
    loud = frozenset(one["rule"] for one in found if one["severity"] != "info")
    sentence = " | ".join(run["verdict"]["sentence"] for run in runs)
    return Said(frozenset(one["rule"] for one in found), loud, sentence)


def threads(root: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Yield each row and its log, where that lies there."""
    for listed in sorted(root.glob("*.jsonl")):
        for row in map(json.loads, listed.read_text(encoding="utf-8").splitlines()):
            places = (root / f"{row['id']}.txt", root / listed.stem / row["id"] / "log.txt")
            log = next((place for place in places if place.exists()), None)
            if log:
                yield row, log


def main() -> None:
    """Print how many are named and alarmed, and with --misses each that is not as it should be."""
    counts = {"faulty": 0, "named": 0, "aloud": 0, "benign": 0, "alarmed": 0}
    for row, log in threads(Path(sys.argv[1])):
        said = asked(log)
        wanted, also = set(row["fault"]), set(row.get("also", ()))
        if wanted:
            right = bool(wanted & said.rules)
            counts["faulty"] += 1
            counts["named"] += right
            counts["aloud"] += bool(wanted & said.loud)
        else:
            right = not said.loud - also
            counts["benign"] += 1
            counts["alarmed"] += not right
        if not right and "--misses" in sys.argv:
            print(row["id"], sorted(wanted), "said", sorted(said.rules), said.sentence)
    print(counts)


if __name__ == "__main__":
    main()
