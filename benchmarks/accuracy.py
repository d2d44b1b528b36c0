"""How right the rules are on labelled runs: the fixtures, and larger sets where they are at hand.

    python benchmarks/accuracy.py            # fixtures, and ../shared/{bench,corpus} where present

On the fixtures: precision and recall over (run, rule) pairs as in `fixtures/expected.json`. The
larger sets are scored by their own scorer.
"""

import json
import subprocess
import sys
from pathlib import Path

from runlens import diagnose

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"


def fixtures() -> None:
    """Score the fixtures and print what was missed and what was said in vain."""
    expected = json.loads((ROOT / "fixtures" / "expected.json").read_text(encoding="utf-8"))
    hits, missed, false = 0, [], []
    for name, label in expected.items():
        found = {f.rule: f.severity for f in diagnose(ROOT / "fixtures" / name).findings}
        wanted = set(label["findings"])
        hits += len(wanted & set(found))
        missed += [f"{name}: {rule}" for rule in sorted(wanted - set(found))]
        loud = {rule for rule, severity in found.items() if severity != "info"}
        false += [f"{name}: {rule}" for rule in sorted(loud - wanted - set(label["also"]))]
    recall = hits / (hits + len(missed))
    precision = hits / (hits + len(false))
    print(f"fixtures: {len(expected)} runs, precision {precision:.3f}, recall {recall:.3f}")
    print("\n".join([f"  missed {one}" for one in missed] + [f"  false  {one}" for one in false]))


def shared() -> None:
    """Run the scorer of the larger sets, where it is."""
    scorer = SHARED / "tools" / "score.py"
    for name in ("bench", "corpus"):
        labels = SHARED / name / "labels.jsonl"
        if not scorer.exists() or not labels.exists():
            print(f"{name}: not at hand")
            continue
        print(f"\n{name}")
        command = [sys.executable, str(scorer), str(labels), "--root", str(labels.parent)]
        template = f"{sys.executable} -m runlens diagnose {{path}} --format json"
        subprocess.run([*command, "--cmd", template, "--jobs", "2"], check=True)


if __name__ == "__main__":
    fixtures()
    shared()
