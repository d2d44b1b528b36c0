"""Run a slim set of the tests with the oldest dependencies that pyproject.toml allows.

    python tests/check_pins.py [--newest] [PYTHON ...]

For each PYTHON (this one where none is named) an environment of its own gets each dependency in
its lowest version, or with --newest in the newest that pip finds; what only the tests need is the
newest either way. Ends with the first that fails.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# wandb is left out: it asks for a newer click than the base does
EXTRAS = ("audit", "notebook", "parquet", "stats", "tensorboard")
NEEDED = (
    "pytest>=8.2",
    "hypothesis>=6.100",
    "jsonschema>=4.20",
    "psutil>=5.9",
    "graphql-core>=3.2",
)
# what computes, each reader, the settings; tests of the command line itself need a newer click
SLIM = (
    "tests/cli/test_compare.py",
    "tests/cli/test_export.py",
    "tests/report/test_json.py",
    "tests/sources/test_trainer_state.py",
    "tests/sources/test_tensorboard.py",
    "tests/sources/test_wandb_dir.py",
    "tests/sources/test_config_files.py",
    "tests/sources/test_merge.py",
    "tests/test_settings.py",
)


def lowest() -> list[str]:
    """Return each dependency, pinned to the lowest version that is allowed: ``numpy==1.26``."""
    return [re.sub(r"\s*>=\s*", "==", one) for one in newest()]


def newest() -> list[str]:
    """Return each dependency as it stands in pyproject.toml, those of some extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]


def tried(python: str, pins: list[str]) -> int:
    """Install into a new environment and run the tests there; return their exit code."""
    with tempfile.TemporaryDirectory(prefix="runlens-pins-") as place:
        subprocess.run([python, "-m", "venv", place], check=True)
        inside = f"{place}/bin/python"
        install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *NEEDED, *pins], check=True)
        told = subprocess.run([inside, "--version"], capture_output=True, text=True, check=True)
        print(f"{told.stdout.strip()}: {', '.join(pins)}", flush=True)
        # what old packages deprecate in one another is no matter of ours; numbers that warn are
        strict = ["-o", "filterwarnings=", "-W", "error::RuntimeWarning"]
        tests = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", *strict, *SLIM]
        return subprocess.run(tests, cwd=ROOT, check=False).returncode


def main(arguments: list[str]) -> int:
    """Try every interpreter; return the first exit code that is not 0."""
    pins = newest() if "--newest" in arguments else lowest()
    pythons = [one for one in arguments if one != "--newest"] or [sys.executable]
    return next((code for python in pythons if (code := tried(python, pins))), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
