"""The files in docs/nightly.md are what the machines that read them accept.

Each block that is named by the line above it is a file; what is checked with a tool that is not
here is skipped with its reason.
"""

import configparser
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from runlens.cli.audit import command

PAGE = Path(__file__).parents[1] / "docs" / "nightly.md"
BASH = shutil.which("bash") or ""
SYSTEMD = shutil.which("systemd-analyze") or ""
BINARY = "/opt/runlens/bin/runlens"
# `name`, perhaps more words, an empty line, and the block
_FILES = re.compile(
    r"^`(?P<name>[^`\n]+)`[^`]*?:\n\n```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_BLOCKS = re.compile(r"^```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """Return the files of the page by name."""
    text = PAGE.read_text(encoding="utf-8")
    return {found["name"]: found["body"] for found in _FILES.finditer(text)}


def commands() -> list[list[str]]:
    """Return the arguments of every `runlens audit` on the page."""
    made = []
    for block in _BLOCKS.finditer(PAGE.read_text(encoding="utf-8")):
        for line in block["body"].splitlines():
            _, found, rest = line.partition("runlens audit ")
            if found and not line.lstrip().startswith(("#", "journalctl", "Description")):
                made.append(shlex.split(rest, comments=True))
    container = cronjob()["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    return [*made, container["args"][2:]]


def cronjob() -> dict[str, Any]:
    """Return the spec of the CronJob."""
    spec: dict[str, Any] = yaml.safe_load(files()["runlens-cronjob.yaml"])["spec"]
    return spec


def test_the_page_has_these_files() -> None:
    """So that no other test passes over a file that it does not find."""
    assert set(files()) == {
        "/etc/cron.d/runlens",
        "/etc/runlens/env",
        "/etc/systemd/system/runlens-audit.service",
        "/etc/systemd/system/runlens-audit.timer",
        ".github/workflows/runlens.yml",
        "runlens-cronjob.yaml",
        "runlens-secret.yaml",
    }


def test_every_command_is_one_that_runlens_takes() -> None:
    """Options are parsed as the command line parses them."""
    found = commands()
    assert len(found) == 6
    for arguments in found:
        until = [("2099-12-01" if one == "2026-12-01" else one) for one in arguments]
        context = command.make_context("audit", until, resilient_parsing=False)
        assert context.params.get("sources") or context.params["issue"], arguments
        assert context.params["store"]


def test_every_option_that_the_page_names_exists() -> None:
    """In its prose, too."""
    named = set(re.findall(r"`(--[a-z-]+)", PAGE.read_text(encoding="utf-8")))
    known = {name for one in command.params if isinstance(one, click.Option) for name in one.opts}
    assert named
    assert named <= known


def test_the_crontab_is_one() -> None:
    """Variables, then lines of a time, a user and a command; percent signs would end one."""
    croniter = pytest.importorskip("croniter", reason="croniter is not installed")
    lines = [line for line in files()["/etc/cron.d/runlens"].splitlines() if line[:1] != "#"]
    jobs = [line for line in lines if not re.match(r"[A-Z]+=\S+$", line)]
    assert len(jobs) == 1
    *when, user, told = jobs[0].split(maxsplit=6)
    assert croniter.croniter.is_valid(" ".join(when))
    assert user == "runlens"
    assert "%" not in told


@pytest.mark.skipif(not BASH, reason="no bash here")
@pytest.mark.parametrize("name", ["/etc/cron.d/runlens", "/etc/runlens/env"])
def test_shell_lines_are_shell(name: str) -> None:
    """By bash -n."""
    body = files()[name]
    if "cron" in name:
        body = body.splitlines()[-1].split(maxsplit=6)[6]
    ran = subprocess.run([BASH, "-n"], input=body, text=True, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_same_variables_are_told_everywhere() -> None:
    """The environment file, the secret and the workflow name what RunLens reads."""
    env = dict(line.split("=", 1) for line in files()["/etc/runlens/env"].splitlines())
    secret = yaml.safe_load(files()["runlens-secret.yaml"])["stringData"]
    assert set(env) == {"WANDB_API_KEY", "RUNLENS_NOTIFY"}
    assert set(secret) == {*env, "PGPASSWORD"}
    notify = next(one for one in command.params if one.name == "notify")
    assert notify.envvar == "RUNLENS_NOTIFY"


@pytest.mark.skipif(not SYSTEMD, reason="no systemd-analyze here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """By systemd-analyze verify, which warns of keys that it does not know."""
    paths = []
    for name, body in files().items():
        if name.startswith("/etc/systemd/"):
            path = tmp_path / Path(name).name
            path.write_text(body.replace(BINARY, sys.executable), encoding="utf-8")
            paths.append(str(path))
    ran = subprocess.run(
        [SYSTEMD, "verify", "--man=no", *paths],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in ran.stderr.splitlines() if "runlens-audit" in line]
    assert said == []
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(not SYSTEMD, reason="no systemd-analyze here")
def test_the_timer_goes_off_at_two() -> None:
    """By systemd-analyze calendar."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(files()["/etc/systemd/system/runlens-audit.timer"])
    ran = subprocess.run(
        [SYSTEMD, "calendar", unit["Timer"]["OnCalendar"]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "02:00:00" in ran.stdout


def test_github_takes_the_workflow(tmp_path: Path) -> None:
    """By the schema of workflows that check-jsonschema ships; every job has a time limit."""
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    path = tmp_path / "runlens.yml"
    path.write_text(files()[".github/workflows/runlens.yml"], encoding="utf-8")
    for schema in ("vendor.github-workflows", "custom.github-workflows-require-timeout"):
        ran = subprocess.run(
            [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_workflow_keeps_its_store() -> None:
    """What is restored is what is saved, also after a red night."""
    workflow = yaml.safe_load(files()[".github/workflows/runlens.yml"])
    steps = workflow["jobs"]["audit"]["steps"]
    restored, saved = (
        next(step for step in steps if step.get("uses", "").startswith(f"actions/cache/{which}@"))
        for which in ("restore", "save")
    )
    assert restored["with"]["path"] == saved["with"]["path"] == "store.db"
    assert restored["with"]["key"] == saved["with"]["key"]
    assert saved["with"]["key"].startswith(restored["with"]["restore-keys"])
    assert saved["if"] == "always()"
    croniter = pytest.importorskip("croniter", reason="croniter is not installed")
    # YAML 1.1 reads the key "on" as true
    assert all(croniter.croniter.is_valid(one["cron"]) for one in workflow[True]["schedule"])


@pytest.mark.parametrize("name", ["runlens-cronjob.yaml", "runlens-secret.yaml"])
def test_kubernetes_takes_the_manifests(name: str) -> None:
    """By the schemas of the API that kubernetes-validate ships; unknown keys are refused."""
    validate = pytest.importorskip(
        "kubernetes_validate", reason="kubernetes-validate is not installed"
    )
    version = validate.latest_version()
    validate.validate(yaml.safe_load(files()[name]), version, strict=True)


def test_the_cron_job_mounts_what_it_uses() -> None:
    """Every mount has its volume; the paths in the arguments are mounted."""
    pod = cronjob()["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert set(mounts) == {one["name"] for one in pod["volumes"]}
    assert {"/data/runs", "/page"} <= set(mounts.values())
    secret = yaml.safe_load(files()["runlens-secret.yaml"])["metadata"]["name"]
    assert container["envFrom"][0]["secretRef"]["name"] == secret
    croniter = pytest.importorskip("croniter", reason="croniter is not installed")
    assert croniter.croniter.is_valid(cronjob()["schedule"])
    # the API checks these words, its schema does not
    assert cronjob()["concurrencyPolicy"] == "Forbid"
    assert pod["restartPolicy"] == "Never"
