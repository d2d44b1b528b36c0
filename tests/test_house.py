"""What loads when, what is registered, what stands in which file."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import runlens
from runlens.cli import THREADS, main
from runlens.rules import RULES
from runlens.rules.rule import FOLDERS
from tests.rules import registered

PACKAGE = Path(runlens.__file__).parent
HEAVY = ("numpy", "pandas", "scipy", "wandb", "tbparse", "tensorboard", "plotly", "rich", "yaml")
MOST_MODULES = 2  # runlens and its version, on top of a bare interpreter
LONGEST = 400
MOST_OF_OURS = 151  # modules, of a start with one rule


def loaded_by(code: str) -> set[str]:
    """Return the modules that `code` loads in a fresh interpreter, beyond a bare one."""
    script = f"import sys; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_import_runlens_loads_nothing_but_itself() -> None:
    """A program that only might need RunLens pays nothing for it."""
    loaded = loaded_by("import runlens")
    assert len(loaded) <= MOST_MODULES, sorted(loaded)


def test_version_loads_nothing_heavy() -> None:
    """`runlens --version` must feel instant."""
    loaded = loaded_by("import runlens.cli")
    assert not loaded.intersection(HEAVY)


def test_diagnose_loads_numpy_but_no_pandas_scipy_wandb_or_plotly(tmp_path: Path) -> None:
    """A diagnosis with its page stays within a second, imports included."""
    code = (
        "from runlens.cli import main; "
        f"main(['demo', '-o', {str(tmp_path / 'page.html')!r}], standalone_mode=False)"
    )
    script = f"import sys; {code}; print('LOADED', *sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.rpartition("LOADED")[2].split())
    assert "numpy" in loaded
    never = {"pandas", "scipy", "wandb", "tbparse", "tensorboard", "plotly", "rich"}
    assert not loaded.intersection(never)


def test_diagnose_loads_no_part_of_python_that_it_does_not_need(tmp_path: Path) -> None:
    """Each of these costs 1 to 10 ms, where a diagnosis of 1,000 steps takes three hundred."""
    (tmp_path / "trainer_state.json").write_text(
        '{"log_history": [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.5}]}', encoding="utf-8"
    )
    (tmp_path / "own.toml").write_text('ignore = ["plateau", "outlier"]', encoding="utf-8")
    more = f"'--config', {str(tmp_path / 'own.toml')!r}, {str(tmp_path)!r}"
    run = f"main(['diagnose', '--no-html', {more}], standalone_mode=False)"
    loaded = loaded_by(f"from runlens.cli import main; {run}") - {"tomllib"}
    never = {"asyncio", "concurrent.futures", "difflib", "email", "hashlib", "lzma", "shutil"}
    never |= {"http", "multiprocessing", "ssl", "statistics", "sysconfig", "tomllib", "traceback"}
    never |= {"csv", "numpy.typing", "runlens.sources.console", "runlens.sources.tensorboard"}
    never |= {"runlens.sources.tables.csv_log", "runlens.report.html"}
    never |= {"runlens.crossrun.rule", "runlens.nights"}  # a slug is all that settings need
    assert loaded & never == set()


def test_rules_that_are_not_asked_are_not_imported(tmp_path: Path) -> None:
    """A fine-tuning pays nothing for what is known of rewards, nor for rules over many runs."""
    code = (
        "from runlens.cli import main; "
        f"main(['demo', '-o', {str(tmp_path / 'page.html')!r}], standalone_mode=False)"
    )
    script = f"import sys; {code}; print('LOADED', *sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.rpartition("LOADED")[2].split())
    own = {one for one in loaded if one.startswith(("runlens.rules.rl.", "runlens.crossrun"))}
    assert not own - {f"runlens.rules.rl.{name}" for name in ("held_out", "policy")}
    assert "runlens.rules.evaluation.hockey_stick" in loaded
    assert not loaded & {"base64", "hashlib", "statistics", "tomllib"}


def test_readers_of_files_that_are_not_there_are_not_imported(tmp_path: Path) -> None:
    """A console log needs no reader of databases."""
    (tmp_path / "train.log").write_text("{'loss': 1.0, 'epoch': 0.1}\n" * 3, encoding="utf-8")
    loaded = loaded_by(f"import runlens; runlens.read_all({str(tmp_path)!r})")
    assert "runlens.sources.console" in loaded
    others = ("wandb_dir", "wandb_api", "stores", "stdin", "configs.model_card")
    assert not {f"runlens.sources.{name}" for name in others} & loaded
    assert "sqlite3" not in loaded
    alone = loaded_by(f"import runlens; runlens.read_all({str(tmp_path / 'train.log')!r})")
    named = ("tensorboard", "tables.csv_log", "tables.jsonl_log", "stores.sqlite_file")
    assert not {f"runlens.sources.{name}" for name in (*others, *named)} & alone
    tables = {f"runlens.sources.tables.{name}" for name in ("jsonl_log", "table", "whole_json")}
    (tmp_path / "trainer_state.json").write_text('{"log_history": []}', encoding="utf-8")
    assert not tables & loaded_by(f"import runlens; runlens.read_all({str(tmp_path)!r})")


def test_what_explains_is_not_imported_where_nothing_was_found(tmp_path: Path) -> None:
    """A healthy run needs no causes, fixes or advice; a rule that is not asked is not imported."""
    rows = ", ".join(f'{{"step": {at}, "loss": {2 - at / 99}}}' for at in range(1, 99))
    (tmp_path / "trainer_state.json").write_text(f'{{"log_history": [{rows}]}}', encoding="utf-8")
    (tmp_path / "own.toml").write_text('select = ["nan-loss"]', encoding="utf-8")
    more = f"'--no-html', '--config', {str(tmp_path / 'own.toml')!r}, {str(tmp_path)!r}"
    loaded = loaded_by(
        f"from runlens.cli import main; main(['diagnose', {more}], standalone_mode=False)"
    )
    assert "runlens.rules.numerics.nan_loss" in loaded
    parts = ("causes", "advice", "proposals", "cures", "rules.gradients", "rules.config")
    assert not {name for name in loaded if name.startswith(tuple(f"runlens.{p}" for p in parts))}
    ours = {name for name in loaded if name.startswith("runlens")}
    assert len(ours) <= MOST_OF_OURS, "each module takes 0.3 ms: import late what few runs need"


def test_commands_use_one_thread_for_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set before numpy is loaded, and only where the user has not."""
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    main(["--version"], standalone_mode=False)
    assert [os.environ[name] for name in THREADS] == ["1", "4", "1"]


def test_every_rule_file_is_registered() -> None:
    """A file with a RULE is named as its slug, lies in its family's folder, and is in RULES."""
    if faults := registered.faults():
        pytest.fail("\n".join(faults), pytrace=False)


def test_no_rule_imports_another() -> None:
    """What two rules share lies in a module of its own, or each change of one breaks the other."""
    rules = {f"{FOLDERS[rule.family]}.{rule.slug.replace('-', '_')}" for rule in RULES}
    shared = {
        f"{path.parent.name}.{path.stem}: {name}"
        for path in PACKAGE.glob("rules/*/*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runlens.rules.")
        for name in (
            f"{(node.module or '').removeprefix('runlens.rules.')}.{alias.name}"
            for alias in node.names
        )
        if rules.intersection({name, name.rpartition(".")[0]})
    }
    assert shared == set()


def test_slugs_are_unique() -> None:
    """One name for one rule."""
    slugs = [rule.slug for rule in RULES]
    assert len(set(slugs)) == len(slugs)


def test_no_module_is_too_long() -> None:
    """A file is about one thing."""
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert long == {}


def test_public_names_exist() -> None:
    """What `runlens` promises can be imported from it."""
    assert all(getattr(runlens, name) is not None for name in runlens.__all__)
