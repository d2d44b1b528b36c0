"""The server for assistants, asked through the SDK's own client in memory, and over stdio."""

import asyncio
import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest

import runlens
from runlens.errors import NothingReadable
from runlens.integrations import brief, roots
from runlens.rules import RULES
from runlens.sources import files
from runlens.sources.stores import mlflow_dir
from tests.cli.places import FIXTURES, SICK, a_run, digest, lens

mcp = pytest.importorskip("mcp", reason="the package mcp is not installed")


def asked(folder: Path, tool: str, **arguments: Any) -> Any:
    """Call one tool of a server of one folder; return its answer as the client sees it."""
    from runlens.integrations.mcp import server

    async def ask() -> Any:
        async with mcp.Client(server([folder])) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(ask())


def answer(folder: Path, tool: str, **arguments: Any) -> Any:
    """Return what a tool answers; a refusal fails the test."""
    result = asked(folder, tool, **arguments)
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)


def refusal(folder: Path, tool: str, **arguments: Any) -> str:
    """Return the line with which a tool refuses."""
    result = asked(folder, tool, **arguments)
    assert result.is_error, result.content
    return str(result.content[0].text)


def test_the_tools_are_named_described_and_read_only() -> None:
    """An assistant decides by name, description and hints; every argument is described."""
    from runlens.integrations.mcp import server

    async def listed() -> Any:
        async with mcp.Client(server([FIXTURES])) as client:
            return (await client.list_tools()).tools, client.instructions

    tools, instructions = asyncio.run(listed())
    assert {tool.name for tool in tools} == {
        "list_runs",
        "diagnose",
        "next_experiment",
        "compare",
        "list_rules",
        "rule_page",
        "curve",
    }
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert not any(tool.annotations.open_world_hint for tool in tools)
    assert str(FIXTURES) in instructions
    for tool in tools:
        assert all(name.upper() in tool.description for name in tool.input_schema["properties"])


def test_a_diagnosis_is_the_json_contract() -> None:
    """What `runlens diagnose --format json` says."""
    told = answer(FIXTURES, "diagnose", place=SICK.name, detail="full")
    said = json.loads(lens("diagnose", SICK, "--format", "json").stdout)
    assert told["schema"] == "runlens.diagnosis/1"
    assert (told["verdict"], told["findings"]) == (said["verdict"], said["findings"])


RUNS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name != "pairs")


def test_every_brief_answer_fits_and_agrees_with_the_full_one() -> None:
    """1.5 kB for each fixture; the words are those of the contract."""
    for name in RUNS:
        found = runlens.diagnose(FIXTURES / name)
        made = brief.of_diagnosis(found)
        assert len(json.dumps(made, ensure_ascii=False).encode()) <= 1_700  # as spaced by json
        assert len(msgspec.json.encode(made)) <= brief.MOST_BYTES
        assert found.verdict.sentence.startswith(made["verdict"].removesuffix("…"))
        assert made["health"] == found.health
        assert made["incidents"] or not found.incidents
        if found.causes:
            assert found.causes[0].what.startswith(made["cause"]["what"].removesuffix("…"))


def test_a_hostile_name_does_not_burst_an_answer() -> None:
    """Whatever a run is called; a list of a thousand says how many are left."""
    made = brief.of_runs([{"place": "x" * 500 + str(n), "last_step": n} for n in range(1_000)])
    assert len(msgspec.json.encode(made)) <= brief.MOST_BYTES
    assert made["more"] + len(made["runs"]) == 1_000


def test_runs_are_listed_without_being_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their places lead on; the folder of the server is the default."""
    for name, seed in (("a", 1), ("b", 2)):
        a_run(tmp_path / name, seed)
    monkeypatch.setattr("runlens.engine.diagnose", None)
    rows = answer(tmp_path, "list_runs")["runs"]
    assert [row["place"] for row in rows] == [f"{tmp_path}#a", f"{tmp_path}#b"]
    assert {row["last_step"] for row in rows} == {290}


def test_the_next_experiment_is_that_of_runlens_fix() -> None:
    """How many steps, with what, and which sign; a healthy run has none."""
    told = answer(FIXTURES, "next_experiment", place="hockey-stick")
    shown = lens("fix", FIXTURES / "hockey-stick").stdout
    assert told["experiment"].removesuffix(".") in shown
    assert told["then"] == "runlens confirm hockey-stick NEWRUN"
    assert answer(FIXTURES, "next_experiment", place="healthy-grpo")["then"] == ""


def test_several_runs_are_an_overview_whose_places_can_be_asked(tmp_path: Path) -> None:
    """Worst first; PLACE#NAME leads to one."""
    for name, seed in (("a", 1), ("b", 2)):
        a_run(tmp_path / "sweep" / name, seed)
    rows = answer(tmp_path, "diagnose", place="sweep")["runs"]
    assert {row["place"] for row in rows} == {"sweep#a", "sweep#b"}
    assert answer(tmp_path, "diagnose", place="sweep#b")["run"] == "b"
    assert "no run 'c' here" in refusal(tmp_path, "diagnose", place="sweep#c")


def test_two_runs_are_compared(tmp_path: Path) -> None:
    """By place, or by name in a folder of several."""
    for name, seed in (("a", 1), ("b", 2)):
        a_run(tmp_path / "sweep" / name, seed)
    brief = answer(tmp_path, "compare", a="sweep/a", b="sweep#b")
    assert brief["runs"] == ["a", "b"]
    told = answer(tmp_path, "compare", a="sweep/a", b="sweep#b", align="step", detail="full")
    assert brief["verdict"] == told["verdict"]["sentence"]
    assert told["schema"] == "runlens.comparison/2"
    assert told["align"]["axis"] == "step"
    assert [run["name"] for run in told["runs"]] == ["a", "b"]


def test_groups_of_repeats_are_compared_by_the_metric_that_is_asked_for(tmp_path: Path) -> None:
    """With interval and probability; a side without a run is refused."""
    for seed in range(1, 7):
        a_run(tmp_path / "sweep" / f"s{seed}", seed)
    sides = {"a": [f"sweep#s{n}" for n in (1, 2, 3)], "b": [f"sweep#s{n}" for n in (4, 5, 6)]}
    told = answer(tmp_path, "compare", **sides, metric="train_loss:max")
    assert told["metric"] == "train_loss"
    assert told["interval"][0] < 0 < told["interval"][1]
    assert 0 < told["p_b_better"] < 1
    assert "a side without a run" in refusal(tmp_path, "compare", a=[], b="sweep#s1")


def test_rules_are_listed_and_have_their_page() -> None:
    """Each slug of the list leads to the page that `runlens rules SLUG` prints."""
    slugs = [rule["slug"] for rule in answer(FIXTURES, "list_rules")["rules"]]
    assert {rule.slug for rule in RULES} <= set(slugs)
    page = asked(FIXTURES, "rule_page", slug="hockey-stick").content[0].text
    assert page == lens("rules", "hockey-stick").stdout
    assert "did you mean 'hockey-stick'?" in refusal(FIXTURES, "rule_page", slug="hokey-stick")


def test_a_slice_of_a_curve_keeps_its_extremes(tmp_path: Path) -> None:
    """At most about as many points as asked for, the spike among them, NaN as a word."""
    rows = [f"{step},{9.0 if step == 777 else 1.0}" for step in range(1, 2001)]
    rows[899] = "900,nan"
    (tmp_path / "metrics.csv").write_text(
        "step,train_loss\n" + "\n".join([*rows, ""]), encoding="utf-8"
    )
    told = answer(
        tmp_path,
        "curve",
        place="metrics.csv",
        metric="train_loss",
        first_step=500,
        last_step=1500,
        most_points=50,
    )
    assert told["logged"] == {"points": 2000, "first_step": 1, "last_step": 2000}
    assert told["points_in_slice"] == 1001
    assert (told["step"][0], told["step"][-1]) == (500, 1500)
    assert len(told["step"]) < 80
    seen = dict(zip(told["step"], told["value"], strict=True))
    assert seen[777] == 9.0
    assert seen[900] == "NaN"


def test_a_metric_that_the_run_lacks_is_answered_with_those_it_has() -> None:
    """So that the next question is right."""
    said = refusal(FIXTURES, "curve", place=SICK.name, metric="train_los")
    assert "did you mean 'train_loss'?" in said
    assert "grad_norm" in said


# --- nothing outside the roots


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a run that lies beside the root."""
    (tmp_path / "root").mkdir()
    return a_run(tmp_path / "secret")


OUTSIDE: dict[str, Callable[[Path], str]] = {
    "absolute": str,
    "above": lambda _: "../secret",
    "through a folder of the root": lambda _: "run/../../secret",
    "home": lambda _: "~",
    "server": lambda _: "wandb:acme/llm/1",
    "address": lambda _: "https://wandb.ai/acme/llm/runs/1",
    "stdin": lambda _: "-",
    "name in a folder outside": lambda secret: f"{secret}#secret",
    "does not exist": lambda _: "../nothing",
    "NUL": lambda _: "a\0b",
    "empty": lambda _: "",
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_place_outside_is_refused(name: str, secret: Path) -> None:
    """In one line, which does not tell whether anything is there."""
    said = refusal(secret.parent / "root", "diagnose", place=OUTSIDE[name](secret))
    assert len(said.splitlines()) == 1
    assert any(why in said for why in ("outside", "no path below", "does not exist"))
    assert "secret/trainer_state.json" not in said


@pytest.mark.parametrize("place", ["link", "link#secret", "state.json", "link/trainer_state.json"])
def test_a_link_that_leads_out_is_refused(place: str, secret: Path) -> None:
    """A link to a folder, one to a file, and a path through one."""
    root = secret.parent / "root"
    (root / "link").symlink_to(secret)
    (root / "state.json").symlink_to(secret / "trainer_state.json")
    assert "outside" in refusal(root, "diagnose", place=place)


def test_what_a_reader_would_look_up_beside_the_root_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow keeps the name of the experiment above the run: here that is above the root."""
    run = tmp_path / "experiment" / ("a" * 32)
    (run / "metrics").mkdir(parents=True)
    (tmp_path / "experiment" / "meta.yaml").write_text("name: hidden\n", encoding="utf-8")
    (run / "meta.yaml").write_text(f"run_id: {'a' * 32}\nstatus: 3\n", encoding="utf-8")
    rows = "".join(f"{1000 * at} {3 - at / 30} {at}\n" for at in range(40))
    (run / "metrics" / "train_loss").write_text(rows, encoding="utf-8")
    opened: list[Path] = []

    def noted(path: Path, *limits: int) -> bytes:
        content = files.read_bytes(path, *limits)
        opened.append(path)
        return content

    monkeypatch.setattr(mlflow_dir, "read_bytes", noted)
    assert answer(run, "curve", place=".", metric="train_loss")["points_in_slice"] == 40
    assert opened
    assert all(path.is_relative_to(run) for path in opened)


def test_the_guard_lets_nothing_be_opened_or_listed_outside(secret: Path) -> None:
    """Neither a file nor a folder nor a database; and only while a tool runs."""
    kept = roots.Roots([secret.parent / "root"])
    database = secret / "a b.db"
    sqlite3.connect(database).close()
    with kept.only():
        with pytest.raises(PermissionError):
            (secret / "trainer_state.json").read_bytes()
        with pytest.raises(PermissionError):
            list(secret.iterdir())
        with pytest.raises(PermissionError):
            sqlite3.connect(f"file:{str(database).replace(' ', '%20')}?mode=ro", uri=True)
        assert list((secret.parent / "root").iterdir()) == []
        with TemporaryDirectory() as ours:
            (Path(ours) / "copy").write_text("of a database", encoding="utf-8")
            assert (Path(ours) / "copy").read_text(encoding="utf-8") == "of a database"
        assert Path(runlens.__file__).read_bytes()
    assert (secret / "trainer_state.json").read_bytes()


def test_nothing_is_written_into_the_roots(tmp_path: Path) -> None:
    """Read-only is true of the folder, not of the hint alone."""
    for name, seed in (("a", 1), ("b", 2)):
        a_run(tmp_path / name, seed)
    before = digest(tmp_path)
    answer(tmp_path, "diagnose", place="a")
    answer(tmp_path, "compare", a="a", b="b")
    assert digest(tmp_path) == before


# --- the command


def test_the_command_speaks_over_stdio(tmp_path: Path) -> None:
    """As an assistant starts it: a process, its stdin and its stdout."""
    a_run(tmp_path / "a")
    command = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "runlens", "mcp", str(tmp_path)]
    )

    async def ask() -> Any:
        async with mcp.Client(command) as client:
            return await client.call_tool("diagnose", {"place": "a"})

    assert json.loads(asyncio.run(ask()).content[0].text)["run"] == "a"


def test_a_folder_that_is_none_is_one_line() -> None:
    """Exit code 3, as for any place where nothing can be read."""
    ended = lens("mcp", "no/such/folder")
    assert ended.exit_code == 3
    assert ended.stderr == (
        "runlens: no/such/folder: is no folder; name the folders that hold runs\n"
    )


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install, in one line."""
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    ended = lens("mcp")
    assert ended.exit_code == 2
    assert "pip install 'runlens-training[mcp]'" in ended.stderr


def test_roots_must_be_folders(tmp_path: Path) -> None:
    """A file is none."""
    (tmp_path / "a").write_text("", encoding="utf-8")
    with pytest.raises(NothingReadable, match="is no folder"):
        roots.Roots([tmp_path / "a"])
