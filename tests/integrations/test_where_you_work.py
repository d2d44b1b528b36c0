"""docs/where-you-work.md and llms.txt: what they name exists, and is taken as it stands there."""

import asyncio
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from runlens.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "where-you-work.md"
LLMS = ROOT / "llms.txt"
_BLOCKS = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    """Return the blocks of the page that are written in one language."""
    text = PAGE.read_text(encoding="utf-8")
    return [found["body"] for found in _BLOCKS.finditer(text) if found["kind"] == kind]


def test_every_command_of_the_page_is_one_that_runlens_takes() -> None:
    """As the command line parses it; the one of the container too."""
    lines = [line for body in blocks("sh") for line in body.splitlines()]
    given = [shlex.split(line.rpartition("runlens ")[2], comments=True) for line in lines]
    found = [words for words in given if words and words[0] in COMMANDS]
    assert len(found) == 6
    for name, *arguments in found:
        command = main.get_command(click.Context(main), name)
        assert command
        command.make_context(name, arguments)


def test_the_workflow_uses_inputs_that_the_action_has(tmp_path: Path) -> None:
    """And its shape is GitHub's."""
    [workflow] = [body for body in blocks("yaml") if body.startswith("jobs:")]
    file = tmp_path / "workflow.yml"
    file.write_text(f"on: pull_request\n{workflow}", encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "github-workflows"]
    ended = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    [step] = [one for one in yaml.safe_load(workflow)["jobs"]["train"]["steps"] if "with" in one]
    assert set(step["with"]) <= set(action["inputs"])
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in (*action["outputs"], "runlens-report"))


def test_the_plugin_of_the_page_is_that_of_the_example() -> None:
    """The same line in both."""
    [block] = [body for body in blocks("yaml") if body.startswith("plugins:")]
    example = yaml.safe_load((ROOT / "examples" / "axolotl_config.yml").read_text(encoding="utf-8"))
    assert yaml.safe_load(block)["plugins"] == example["plugins"]


def test_the_container_runs_what_the_dockerfile_builds() -> None:
    """Its working folder is the one that is mounted."""
    [command] = [
        line for body in blocks("sh") for line in body.splitlines() if "docker run" in line
    ]
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert command in dockerfile
    mounted = re.search(r'\$PWD:(\S+)"', command)
    assert mounted
    assert f"WORKDIR {mounted[1]}\nENTRYPOINT" in dockerfile


def test_the_tools_of_the_page_are_those_of_the_server() -> None:
    """With all their arguments, and started by the command that is configured."""
    mcp = pytest.importorskip("mcp", reason="the package mcp is not installed")
    from runlens.integrations.mcp import server

    async def listed() -> dict[str, set[str]]:
        async with mcp.Client(server([ROOT])) as client:
            tools = (await client.list_tools()).tools
            return {tool.name: set(tool.input_schema["properties"]) for tool in tools}

    told = re.findall(r"^\| `(\w+)\((.*)\)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: {a for a in given.split(", ") if a} for name, given in told} == asyncio.run(
        listed()
    )
    [configured] = [json.loads(body)["mcpServers"]["runlens"] for body in blocks("json")]
    assert (configured["command"], configured["args"][0]) == ("runlens", "mcp")


def test_llms_txt_has_the_form_of_its_convention() -> None:
    """A title, a summary, sections of links (llmstxt.org); every link leads to a file."""
    lines = LLMS.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# RunLens"
    assert lines[2].startswith("> ")
    assert lines.count("## Optional") == 1
    links = re.findall(r"\]\(([^)]+)\)", "\n".join(lines))
    assert len(links) >= 10
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_llms_txt_names_commands_and_options_that_exist() -> None:
    """So that no model writes what is not taken."""
    text = LLMS.read_text(encoding="utf-8")
    named = set(re.findall(r"`runlens (\w+)", text))
    assert named <= set(COMMANDS)
    known = {
        option
        for name in named
        for param in main.get_command(click.Context(main), name).params  # type: ignore[union-attr]
        for option in param.opts
    }
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= known


SKILL = ROOT / "skills" / "runlens" / "SKILL.md"


def test_the_skill_has_the_form_of_its_convention() -> None:
    """A name that is its folder's, a description that says when; short enough to be read whole."""
    _, head, body = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["name"] == SKILL.parent.name
    assert "Use when" in about["description"]
    assert len(about["description"]) <= 1_024
    assert len(body.splitlines()) < 100


def test_the_skill_names_commands_and_options_that_exist() -> None:
    """As for llms.txt."""
    text = SKILL.read_text(encoding="utf-8")
    named = set(re.findall(r"`runlens (\w+)", text))
    assert {"diagnose", "fix", "confirm", "compare", "watch", "similar"} <= named <= set(COMMANDS)
    known = {
        option
        for name in named
        for param in main.get_command(click.Context(main), name).params  # type: ignore[union-attr]
        for option in param.opts
    } | {"--from"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known
