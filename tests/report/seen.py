"""The diagnoses of all fixtures, each made once."""

from functools import cache
from pathlib import Path

from runlens import diagnose
from runlens.diagnosis import Diagnosis

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAIRS = "pairs"  # a folder of runs to compare, no run itself
NAMES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name != PAIRS)


@cache
def seen(name: str) -> Diagnosis:
    """Return the diagnosis of a fixture."""
    return diagnose(FIXTURES / name)
