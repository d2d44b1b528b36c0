"""The commands of the README and the docs run; so do their Python, their TOML and their YAML."""

import ast
import glob
import json
import shutil
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from runlens import settings
from runlens.cli import COMMANDS, ExitCode, main
from tests.docs import written
from tests.docs.written import Command

FIXTURES = written.ROOT / "fixtures"
RUNS = {  # where the pages say that it lies -> a small run of ours
    "runs/my-run": FIXTURES / "hockey-stick",
    "runs/a": FIXTURES / "pairs" / "p01a",
    "runs/b": FIXTURES / "pairs" / "p02b",
    "runs/next": FIXTURES / "pairs" / "p01a",
    "runs/base": FIXTURES / "pairs" / "q01a",
    "runs/s1": FIXTURES / "pairs" / "q61a",
    "runs/s2": FIXTURES / "pairs" / "q62a",
    "runs/s3": FIXTURES / "pairs" / "q63a",
    "runs/new": FIXTURES / "pairs" / "q10a",
    "runs/main": FIXTURES / "pairs" / "p01a",
    "out/smoke": FIXTURES / "pairs" / "p02b",
    **{
        f"{group}/s{seed}": FIXTURES / "pairs" / f"q6{seed}a"
        for group in ("base", "new", "other")
        for seed in (1, 2, 3)
    },
}
LOG = "".join(f"{{'loss': {3 - at / 20:.3f}, 'epoch': {at / 10}}}\n" for at in range(1, 30))
OWN = ("runs/old.jsonl", "runs/new.jsonl", "sweep/1.jsonl", "sweep/2.jsonl")
# what these need is not here: a server, an installation of somebody else's, a value to fill in
ELSEWHERE = ("wandb:", "postgresql://", "https://", "/data", "/var/lib", "--notify", "--cluster")
OURS = {"runlens", "pandas"}  # imports of blocks that are executed, not only compiled
SHELL = {"", "sh", "bash", "console"}

FOUND = [command for page in written.PAGES for command in written.commands(page)]
FOUND = list({command[1:]: command for command in reversed(FOUND)}.values())


def stays_here(command: Command) -> bool:
    """Whether a command needs nothing but files, all of which are named."""
    if not command.arguments or command.arguments[0] == "mcp":  # the group; a server
        return False
    return not any(part in one or one.isupper() for one in command.arguments for part in ELSEWHERE)


def own_metrics(seed: int) -> str:
    """Return the log of a run with metrics of its own, 40 steps."""
    return "".join(
        json.dumps({
            "step": step,
            "train_loss": 3 - step / 20 + (step * 7 + seed) % 5 / 50,
            "val/mrr": 0.4 + step / 100 + (step * 3 + seed) % 7 / 200,
            "codebook_usage": 0.5 + step / 200 + (step * 5 + seed) % 3 / 100,
        }) + "\n"
        for step in range(40)
    )  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder in which lies what the pages name."""
    for name, run in RUNS.items():
        shutil.copytree(run, tmp_path / name)
    (tmp_path / "train.log").write_text(LOG, encoding="utf-8")
    for at, name in enumerate(OWN):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(own_metrics(at), encoding="utf-8")
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def expanded(arguments: tuple[str, ...]) -> list[str]:
    """Return the arguments as a shell hands them over; patterns after an option are quoted."""
    made: list[str] = []
    for before, one in zip(("", *arguments), arguments, strict=False):
        met = [] if before.startswith("--") else sorted(glob.glob(one))  # noqa: PTH207 - a shell's own
        made += met or [one]
    return made


def test_the_pages_have_commands_of_every_kind() -> None:
    """So that no test passes over pages in which it finds none."""
    asked = {command.arguments[0] for command in FOUND if command.arguments}
    assert asked >= {"diagnose", "compare", "audit", "rules", "sources", "export", "demo"}
    assert sum(map(stays_here, FOUND)) > len(FOUND) / 2


@pytest.mark.parametrize("command", FOUND, ids=lambda one: " ".join(one.arguments) or "runlens")
def test_every_command_is_one_that_runlens_takes(command: Command) -> None:
    """Commands, options and their values, as the command line parses them."""
    if not command.arguments:
        return
    name, *rest = command.arguments
    if name.startswith("-"):
        main.make_context("runlens", [name], resilient_parsing=True)
        return
    if name.startswith("runs/"):  # a place without a command is diagnosed
        name, rest = "diagnose", [*command.arguments]
    known = main.get_command(click.Context(main), name)
    assert known is not None, f"{command.page}: no command {name}"
    known.make_context(name, expanded(tuple(rest)))


@pytest.mark.parametrize(
    "command",
    [one for one in FOUND if stays_here(one)],
    ids=lambda one: " ".join(one.arguments),
)
def test_every_command_that_needs_no_server_runs(command: Command, place: Path) -> None:
    """In a folder with the runs that the pages name: a result, not an error."""
    piped = (place / command.piped).read_text(encoding="utf-8") if command.piped else None
    arguments = expanded(command.arguments)
    if "diagnose" in arguments and not any(Path(one).exists() or one == "-" for one in arguments):
        arguments.append("runs/my-run")  # the current folder, in which a run lies
    ran = CliRunner().invoke(main, arguments, input=piped, catch_exceptions=False)
    assert ran.exit_code in {ExitCode.OK, ExitCode.REACHED, ExitCode.UNDECIDED}, ran.output
    assert ran.output or Path(arguments[arguments.index("-o") + 1]).stat().st_size


@pytest.mark.parametrize("page", written.PAGES, ids=written.named)
def test_inline_commands_name_commands_that_exist(page: Path) -> None:
    """`runlens audit` and the like, in backticks."""
    for code in written.inline(page):
        first, *rest = code.split()
        if first == "runlens" and rest and not rest[0].startswith("-") and not rest[0].isupper():
            assert rest[0] in COMMANDS, f"{written.named(page)}: {code}"


def python_blocks() -> list[tuple[str, str]]:
    """Return (page, code) of the blocks of Python."""
    return [
        (written.named(page), block.body)
        for page in written.PAGES
        for block in written.blocks(page)
        if block.kind == "python"
    ]


@pytest.mark.parametrize(("page", "code"), python_blocks())
def test_python_of_the_pages_runs(page: str, code: str, place: Path) -> None:
    """What needs a trainer's library is compiled; everything else is executed."""
    tree = ast.parse(code, page)
    imports = {
        alias.name for one in ast.walk(tree) if isinstance(one, ast.Import) for alias in one.names
    }
    imports |= {one.module or "" for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    assert place.is_dir()
    if imports and imports <= OURS:
        exec(compile(tree, page, "exec"), {})  # noqa: S102 - our own pages


@pytest.mark.parametrize("page", written.PAGES, ids=written.named)
def test_settings_of_a_page_are_taken(page: Path, tmp_path: Path) -> None:
    """Blocks of TOML are files that RunLens reads; blocks of YAML are YAML."""
    made = CliRunner().invoke(main, ["rules", "--new", "my-rule"], catch_exceptions=False)
    own = tmp_path / "my_rules" / "my_rule.py"  # where the pages put a rule of one's own
    own.parent.mkdir()
    own.write_text(made.stdout, encoding="utf-8")
    for block in written.blocks(page):
        if block.kind == "toml" and "[project" not in block.body:
            file = tmp_path / "runlens.toml"
            file.write_text(block.body, encoding="utf-8")
            assert settings.load(file) != settings.Settings()
        if block.kind == "yaml":
            assert list(yaml.safe_load_all(block.body))
