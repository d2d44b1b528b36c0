"""Who got a run or a repository from others does not run their code by diagnosing it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runlens import live, read_all, rule_files, trust
from runlens.errors import BadSettings
from runlens.integrations.stopping import settings_for
from runlens.integrations.transformers import ReportAtEnd
from runlens.settings import find, load
from tests.cli.places import SICK, lens
from tests.plugged import rule_file

LINE = "{'loss': 2.1, 'grad_norm': 0.5, 'learning_rate': 1e-4, 'epoch': 0.1}\n"


class Trap:
    """A folder that came from others, with settings whose rule file leaves a proof when it runs."""

    def __init__(self, home: Path) -> None:
        """Write nothing yet."""
        self.home = home
        self.proof = home / "proof"

    def set(self, folder: str, pattern: str = "*.py", name: str = "runlens.toml") -> Path:
        """Write settings and the file of rules; return the settings."""
        place = self.home / folder
        more = f"open({str(self.proof)!r}, 'w').close()\n"
        rule_file(place / "evil.py", "evil-rule", more)
        head = "" if name == "runlens.toml" else "[tool.runlens]\n"
        (place / name).write_text(f"{head}rules = [{pattern!r}]\n")
        return place / name

    def run(self, folder: str) -> Path:
        """Write a run of several kinds of files."""
        shutil.copytree(SICK, self.home / folder, dirs_exist_ok=True)
        (self.home / folder / "train.log").write_text(LINE * 20)
        rows = "".join(f"{n},{2 - n / 100}\n" for n in range(60))
        (self.home / folder / "metrics.csv").write_text(f"step,train_loss\n{rows}")
        return self.home / folder


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """Return a trap below a home of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "work").mkdir()
    return Trap(tmp_path / "work")


# where the settings lie and in what file, where we stand, what is read
SITUATIONS: dict[str, tuple[str, str, str, str]] = {
    "in a run": ("run", "runlens.toml", "run", "."),
    "in a run, its log": ("run", "runlens.toml", "run", "train.log"),
    "in a run, its table": ("run", "runlens.toml", "run", "metrics.csv"),
    "cloned repository": (".", "runlens.toml", ".", "run"),
    "above several runs": (".", "pyproject.toml", "runs", "r1"),
    "beside a log": ("run", "runlens.toml", "run", "trainer_state.json"),
    "two folders up": (".", "runlens.toml", "a/b", "../../run"),
    "in the folder of checkpoints": ("run", "pyproject.toml", "run/checkpoint-9", ".."),
}


def told(result: object) -> str:
    """Return all that a command said, on one line."""
    return " ".join(f"{getattr(result, 'stdout', '')} {getattr(result, 'stderr', '')}".split())


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("entry", ["diagnose", "json", "compare", "audit", "export", "mcp"])
def test_no_entry_runs_rule_files_that_nobody_trusted(
    situation: str, entry: str, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the settings lie; one line says why, and what to do."""
    where, name, stand, place = SITUATIONS[situation]
    trap.run(place if where == "." and not place.startswith("..") else "run")
    for folder in (stand, "runs/r1"):
        (trap.home / folder).mkdir(parents=True, exist_ok=True)
    trap.run("runs/r1")
    settings = trap.set(where, name=name)
    monkeypatch.chdir(trap.home / stand)
    commands = {
        "diagnose": ("diagnose", place, "--no-html"),
        "json": ("diagnose", place, "--format", "json"),
        "compare": ("compare", place, place, "--no-html"),
        "audit": ("audit", place, "--store", trap.home.parent / "a.db", "--jobs", "1"),
        "export": ("export", place, "-o", trap.home.parent / "a.csv"),
        "mcp": ("mcp", "no/such/folder"),
    }
    result = lens(*commands[entry], COLUMNS="1000")
    assert not trap.proof.exists()
    assert "runlens trust " in told(result)
    assert str(settings.parent.resolve()) in told(result)
    assert "evil-rule" not in result.stdout
    assert load(settings).added().origins  # named by hand: a choice
    assert trap.proof.exists()


def test_a_log_through_a_pipe_runs_no_rule_files(trap: Trap) -> None:
    """In a process of its own; the settings themselves hold, as they do not come with the log."""
    settings = trap.set(".")
    settings.write_text('ignore = ["missing-signal"]\n' + settings.read_text())
    result = subprocess.run(
        [sys.executable, "-m", "runlens", "diagnose", "-", "--format", "json"],
        input=LINE * 30,
        cwd=trap.home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not trap.proof.exists()
    assert "runlens trust" in result.stderr
    assert "evil-rule" not in result.stdout
    assert "missing-signal" not in result.stdout


def test_the_callback_of_a_training_runs_no_rule_files(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the command line."""
    trap.set(".")
    run = trap.run("run")
    monkeypatch.chdir(trap.home)
    assert ReportAtEnd() is not None
    diagnosis = live.judged(read_all(run)[0], settings_for(run))
    assert not trap.proof.exists()
    assert any("runlens trust" in problem.text for problem in diagnosis.problems)


def test_rules_lists_none_that_nobody_trusted(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads no run, and is refused as well."""
    trap.set(".")
    monkeypatch.chdir(trap.home)
    assert "runlens trust" in told(lens("rules"))
    assert not trap.proof.exists()


def test_trusted_rule_files_run_until_something_changes(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings, a rule file, a file beside it: each is asked about again, and may be revoked."""
    settings = trap.set(".", "my/*.py")
    mine = rule_file(trap.home / "my" / "own.py", "own-rule")
    beside = trap.home / "my" / "_shared.py"
    monkeypatch.chdir(trap.home)
    run = trap.run("run")

    def runs() -> bool:
        return "own-rule" in load(settings, places=[run]).added().origins

    assert not runs()
    assert str(mine) in lens("trust", ".").stdout
    assert runs()
    assert lens("trust", "--list").stdout.split()[:4] == ["current", "1", "rule", "files"]
    for change in (
        lambda: beside.write_text("x = 1\n"),
        lambda: mine.write_text(mine.read_text() + "# changed\n"),
        lambda: rule_file(trap.home / "my" / "more.py", "more-rule"),
        lambda: settings.write_text(settings.read_text() + "preview = true\n"),
    ):
        change()
        assert not runs()
        (problem,) = load(settings, places=[run]).problems
        assert "changed since it was trusted" in problem.text
        assert lens("trust", "--list").stdout.startswith("changed")
        assert lens("trust", ".").exit_code == 0
        assert runs()
    assert lens("trust", "--revoke", ".").exit_code == 0
    assert not runs()
    assert lens("trust", "--list").stdout == ""
    assert lens("trust", "--revoke", ".").exit_code == 2


def test_settings_without_code_hold_but_those_within_what_is_read(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that brings its own settings could switch off what would find its fault."""
    run = trap.run("run")
    for folder, used in ((trap.home, True), (run, False)):
        path = folder / "runlens.toml"
        path.write_text('ignore = ["divergence"]\n')
        for place in (run, run / "train.log"):
            settings = load(path, places=[place])
            assert bool(settings.ignore) == used
            assert bool(settings.problems) != used
    (run / "runlens.toml").write_text("[[[ no TOML")  # nobody reads it
    assert "within what is read" in load(run / "runlens.toml", places=[run]).problems[0].text
    (run / "runlens.toml").write_text('ignore = ["divergence"]\n')
    monkeypatch.chdir(run)
    assert lens("trust", ".").exit_code == 0
    assert load(run / "runlens.toml", places=[run]).ignore


@pytest.mark.skipif(os.name != "posix", reason="files have owners on POSIX")
def test_settings_of_another_user_are_not_used(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody can write /tmp/runlens.toml."""
    settings = trap.set(".")
    monkeypatch.setattr(os, "geteuid", lambda: settings.stat().st_uid + 1)
    if settings.stat().st_uid == 0:
        monkeypatch.setattr(trust, "ROOT", -1)
    loaded = load(settings, places=[trap.home / "run"])
    assert loaded.rule_files == ()
    assert "belongs to another user" in loaded.problems[0].text


def test_the_users_own_folder_needs_no_trust(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts where no settings are found on the way up."""
    own = trust.own_folder()
    rule_file(own / "my" / "own.py", "own-rule")
    (own / "runlens.toml").write_text('rules = ["my/*.py"]\n')
    run = trap.run("run")
    monkeypatch.chdir(run)
    monkeypatch.setattr(Path, "cwd", lambda: run)
    assert list(load(own / "runlens.toml", places=[run]).added().origins) == ["own-rule"]
    assert find(trap.home) in {own / "runlens.toml", find(Path("/"))}


@pytest.mark.parametrize("given", ["relative/config", ""])
def test_a_configuration_folder_must_be_absolute(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a folder of others would count as one's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", given)
    assert trust.own_folder() == Path("~/.config/runlens").expanduser()


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("trust",), "name a folder"),
        (("trust", "--list", "."), "name a folder"),
        (("trust", "--revoke"), "name a folder"),
        (("trust", "no/such"), "has neither runlens.toml"),
    ],
)
def test_wrong_usage_is_one_line(args: tuple[str, ...], why: str, trap: Trap) -> None:
    """With what to write."""
    assert trap.home.exists()
    result = lens(*args)
    assert result.exit_code == 2
    assert why in result.stderr


def test_a_damaged_list_of_what_is_trusted_trusts_nothing(trap: Trap) -> None:
    """It is told, with the file."""
    settings = trap.set(".")
    path = trust.own_folder() / trust.STORE
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(BadSettings, match=r"trusted\.json: cannot be read; remove it"):
        load(settings, places=[trap.home / "run"])
    assert not trap.proof.exists()


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("my/*.py", ["a.py", "b.py"]),
        ("**/*.py", ["c.py", "a.py", "b.py", "d.py"]),
        ("my/a.py", ["a.py"]),
        ("my/../my/[b]*.py", ["b.py"]),
        ("{home}/my/a.py", ["a.py"]),
    ],
)
def test_patterns_are_expanded_as_a_shell_does(
    pattern: str, found: list[str], tmp_path: Path
) -> None:
    """Names that begin with an underscore and folders that begin with a dot are passed over."""
    for name in ("my/a.py", "my/b.py", "my/_c.py", "c.py", "my/deep/d.py", ".venv/e.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    files, problems = rule_files.files_of([pattern.format(home=tmp_path)], tmp_path)
    assert [Path(file).name for file in files] == found
    assert problems == ()


@pytest.mark.parametrize("bound", ["looked at", "files", "depth"])
def test_patterns_do_not_walk_a_disk(
    bound: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An odd pattern costs one line, not minutes at every diagnosis."""
    for at in range(12):
        (tmp_path / f"{at}.py").write_text("")
    deep: Callable[[int], Path] = lambda n: tmp_path.joinpath(*"abcdefghijklmn"[:n])  # noqa: E731
    deep(12).mkdir(parents=True)
    (deep(12) / "deep.py").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    if bound != "depth":
        name = "MOST_LOOKED_AT" if bound == "looked at" else "MOST_FILES"
        monkeypatch.setattr(rule_files, name, 10)
    files, problems = rule_files.files_of(["**/*.py"], tmp_path)
    assert len(files) == {"looked at": 0, "files": 10, "depth": 12}[bound]
    assert bool(problems) == (bound != "depth")
