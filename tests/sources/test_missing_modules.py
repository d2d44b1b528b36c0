"""What is said of a module that Python does not find."""

from pathlib import Path

import pytest

import runlens
from runlens.errors import NothingReadable
from runlens.sources.console.messages import details, search
from runlens.sources.console.missing_modules import OTHERS, OWN, missing_module


@pytest.mark.parametrize(
    ("line", "cause", "todo"),
    [
        ("ModuleNotFoundError: No module named 'sklearn'", "is not installed", "scikit-learn"),
        ("ModuleNotFoundError: No module named 'hydra'", "is not installed", "hydra-core"),
        ("ModuleNotFoundError: No module named 'ujson'", "is not installed", "pip install ujson"),
        ("ModuleNotFoundError: No module named 'ProgramEnv'", "does not find", "PYTHONPATH"),
        ("ModuleNotFoundError: No module named 'datasets'", "does not find", "PYTHONPATH"),
        ("ModuleNotFoundError: No module named 'trl.extras'", "in the 'trl'", "trl.__file__"),
        (
            "ModuleNotFoundError: No module named 'hub.api'; 'hub' is not a package",
            "in the 'hub'",
            "hub.__file__",
        ),
    ],
)
def test_the_package_is_named_where_it_is_known(line: str, cause: str, todo: str) -> None:
    """A name that may be of the project, or a stranger's on PyPI, is not to be installed."""
    hits = search([line])
    data = details(hits[0], line)
    assert cause in data["cause"]
    assert todo in data["fix"]
    assert ("pip install" in data["fix"]) is ("is not installed" in cause)


def test_a_name_that_a_module_lacks_is_of_another_version() -> None:
    """The module is there: nothing is missing."""
    line = "ImportError: cannot import name 'cached_download' from 'huggingface_hub'"
    assert missing_module(line) is None
    assert "version" in details(search([line])[0], line)["fix"]


def test_no_package_is_listed_twice() -> None:
    """One list has the packages of other names, one those of the same."""
    assert not OWN & OTHERS.keys()


@pytest.mark.parametrize(
    ("name", "read"), [("train.log", True), ("train1.log", True), ("trainee.log", False)]
)
def test_a_numbered_log_of_a_training_is_one(tmp_path: Path, name: str, *, read: bool) -> None:
    """In a folder, whose other programs leave tracebacks as well."""
    text = (
        'nohup: ignoring input\nTraceback (most recent call last):\n  File "main.py", line 3, in '
        "<module>\n    from ProgramEnv import ProgEnv\n"
        "ModuleNotFoundError: No module named 'ProgramEnv'\n"
    )
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).write_text(text)
    if read:
        assert runlens.read_all(tmp_path / "run")[0].state.kind == "crashed"
    else:
        (tmp_path / "run" / "bot.db").write_bytes(b"\0")  # alone, any log would be meant
        with pytest.raises(NothingReadable):
            runlens.read_all(tmp_path / "run")
