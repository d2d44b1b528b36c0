"""Every kind of secret, planted in every source, is in no output of any command."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

import runlens
from runlens.integrations.mcp import Tools
from runlens.integrations.roots import Roots
from runlens.settings import Settings
from tests.cli.places import history, lens
from tests.secrets_drawn import KINDS
from tests.sources import wandb_files
from tests.sources.event_files import scalar, tensor, written
from tests.sources.test_mlflow_dir import lines as mlflow_lines
from tests.sources.test_mlflow_dir import store as mlflow_store

LINES = {name.replace(" ", "_").replace(",", ""): one.line for name, one in KINDS.items()}
ONE_LINE = {name: line for name, line in LINES.items() if "\n" not in line}
TRACE = 'Traceback (most recent call last):\n  File "/a/train.py", line 3, in main\n    go()\n'
Write = Callable[[Path], None]


def state(folder: Path) -> None:
    """Write the Trainer's log, with secrets among its names and beside them."""
    log = history(more=dict.fromkeys([*ONE_LINE.values()][:20], 1.0))
    (folder / "trainer_state.json").write_text(json.dumps(log | {"trial_params": LINES}))


def configs(folder: Path) -> None:
    """Write settings in YAML and JSON beside a run, nested and in lists."""
    state(folder)
    (folder / "config.yaml").write_text(yaml.safe_dump({"env": LINES, "args": [*LINES.values()]}))
    named = {"deep": {"api_key": "hunter2", "token": "abcdef12", "db": {"password": "s3-cr3t"}}}
    (folder / "args.json").write_text(json.dumps(LINES | named))


def console(folder: Path) -> None:
    """Write a log whose lines, command lines and last exception hold secrets."""
    rows = [f"{{'loss': {3 - n / 50}, 'epoch': {n / 10}}}" for n in range(40)]
    said = [f"WARNING: {line}" for line in LINES.values()]
    errors = [f"ERROR: RuntimeError: CUDA out of memory {line}" for line in ONE_LINE.values()]
    ended = f"{TRACE}requests.HTTPError: 401 for {ONE_LINE['password_in_a_url']}\n"
    command = f"$ python train.py --notes x {ONE_LINE['flag']} {ONE_LINE['assignment']}"
    saved = [f"Saving model checkpoint to out/{name}" for name in ("checkpoint-10",)]
    text = "\n".join([command, *said, *rows, *saved, *errors, *said[-60:], ended])
    (folder / "train.log").write_text(text)


def events(folder: Path) -> None:
    """Write for TensorBoard: tags and text summaries."""
    texts = [
        tensor("args/text_summary", 0, json.dumps(LINES), "text"),
        tensor("config/text_summary", 0, yaml.safe_dump(LINES), "text"),
    ]
    tags = [f"train/{line}" for line in [*ONE_LINE.values()][:30]]
    scalars = [scalar(tag, n, 2 - n / 50) for n in range(40) for tag in ("train/loss", *tags)]
    written(folder, [*texts, *scalars])


def wandb(folder: Path) -> None:
    """Write a W&B folder: settings, console, metadata, names of metrics."""
    config = {name: {"value": line} for name, line in LINES.items()}
    rows = [{"loss": 2 - n / 50, "eval": n / 9} for n in range(40)]
    output = [
        (wandb_files.OUTPUT, wandb_files.message((3, f"{line}\n"))) for line in LINES.values()
    ]
    settings = (wandb_files.CONFIG, wandb_files.items(dict(LINES), 1))
    run = wandb_files.run_folder(folder, "abc", settings, *wandb_files.rows(*rows), *output)
    (run / "files" / "config.yaml").write_text(yaml.safe_dump(config))
    metadata = {"program": "train.py", "args": ["--hub-token", "abcdef12", *ONE_LINE.values()]}
    (run / "files" / "wandb-metadata.json").write_text(json.dumps(metadata))
    (run / "files" / "output.log").write_text("\n".join([*LINES.values(), TRACE, "E: x\n"]))


def mlflow(folder: Path) -> None:
    """Write for MLflow: parameters, tags, names."""
    run = mlflow_store(folder, loss=mlflow_lines(*[3 - n / 50 for n in range(40)]))
    for kind in ("params", "tags"):
        (run / kind).mkdir()
        for name, line in LINES.items():
            (run / kind / name).write_text(line)
    (run / "tags" / "mlflow.runName").write_text(ONE_LINE["github"])
    (run / "params" / "api_key").write_text("hunter2")


def jsonl(folder: Path) -> None:
    """Write JSON Lines: names and texts."""
    named = dict.fromkeys([*ONE_LINE.values()][:20], 1.0)
    rows: list[dict[str, object]] = [{"step": n, "loss": 3 - n / 50, **named} for n in range(40)]
    rows[0] |= {name: line for name, line in LINES.items() if len(line) < 250}  # else no log
    (folder / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))


def table(folder: Path) -> None:
    """Write CSV: headings and cells that are no numbers."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["step", "train_loss", *list(ONE_LINE.values())[:30]])
    writer.writerows([n, 3 - n / 50, *[n] * 30] for n in range(40))
    writer.writerow([41, ONE_LINE["github"], *list(ONE_LINE.values())[:30]])
    (folder / "metrics.csv").write_text(text.getvalue())


def card(folder: Path) -> None:
    """Write a model card with hyperparameters and a configuration."""
    values = "".join(f"- {name}: {line}\n" for name, line in ONE_LINE.items())
    head = "The following hyperparameters were used during training:\n- learning_rate: 0.1\n"
    rows = "".join(f"| {2 - n / 9:.4f} | {n}.0 | {n * 10} | {2 - n / 10:.4f} |\n" for n in range(9))
    (folder / "README.md").write_text(
        "---\nbase_model: x/y\n---\n\n# A model\n\n<details><summary>See axolotl config</summary>"
        f"\n\naxolotl version: `0.9.1`\n```yaml\n{yaml.safe_dump(LINES)}```\n\n</details><br>\n\n"
        f"### Training hyperparameters\n\n{head}{values}\n### Training results\n\n"
        "| Training Loss | Epoch | Step | Validation Loss |\n|:--:|:--:|:--:|:--:|\n" + rows
    )


def damaged(folder: Path) -> None:
    """Write files that cannot be read, whose problems quote them."""
    state(folder)
    (folder / "config.yaml").write_text(f"a: [\n{ONE_LINE['github']}: {ONE_LINE['password']}\n")
    (folder / "metrics.jsonl").write_text(f'{{"step": 1, "loss": 2}}\n{ONE_LINE["npm"]}\n' * 9)


SOURCES: dict[str, Write] = {
    one.__name__: one
    for one in (state, configs, console, events, wandb, mlflow, jsonl, table, card, damaged)
}


def fragments() -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each part of a secret that nobody may see, of whatever is cut off."""
    for kind, (_, secret) in KINDS.items():
        for part in secret.replace("\\n", "\n").split("\n"):
            yield kind, part[:16]
            yield kind, part[-16:]


FRAGMENTS = list(fragments())


def leaked(text: str) -> set[str]:
    """Return the kinds of secrets in a text."""
    return {kind for kind, part in FRAGMENTS if part in text}


@pytest.mark.parametrize("source", SOURCES)
def test_no_output_holds_a_secret_of_a_source(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text, JSON, pages, formats of CI, comparisons, tables, cases, audits with all they keep."""
    outside = tmp_path / "out"
    outside.mkdir()
    monkeypatch.chdir(outside)
    run = tmp_path / "runs" / "a-run"
    run.mkdir(parents=True)
    SOURCES[source](run)
    outputs = {}
    for form in ("json", "markdown", "github", "sarif", "junit", "html"):
        outputs[form] = lens("diagnose", run, "--format", form, "--full", "-o", "-")
    outputs["text"] = lens("diagnose", run, "-v", "--no-html", COLUMNS="900")
    outputs["share"] = lens("diagnose", run, "-q", "--share", "case.json")
    outputs["case"] = lens("diagnose", "case.json", "--format", "json", "--full")
    for form in ("json", "text", "html", "markdown"):
        outputs[f"compare {form}"] = lens("compare", run, run, "--format", form, "-v", "-o", "-")
    outputs["export"] = lens("export", run, "-o", "history.csv")
    outputs["sources"] = lens("sources", run)
    outputs["audit"] = lens("audit", run.parent, "--store", "a.db", "-o", "site", "--jobs", "1")
    assistant = Tools(Roots([run.parent]), Settings())
    assert not leaked(repr([assistant.diagnose("a-run"), assistant.compare("a-run", "a-run")]))
    for name, result in outputs.items():
        assert result.exit_code == 0, (name, result.output)
        assert not leaked(result.stdout + result.stderr), name
    written_files = [path for path in outside.rglob("*") if path.is_file()]
    assert {path.name for path in written_files} >= {"a.db", "index.html", "case.json"}
    for path in written_files:
        assert not leaked(path.read_bytes().decode("utf-8", "replace")), path
    assert not leaked(repr(vars(runlens.read(run))))


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"private key, its head cut off"}))
def test_the_exception_that_ended_a_run_is_told_without_its_secret(
    kind: str, tmp_path: Path
) -> None:
    """It is the title of the page, the reason of the state, the first line of every format."""
    line, secret = KINDS[kind]
    rows = "".join(f"{{'loss': {3 - n / 50}, 'epoch': {n / 10}}}\n" for n in range(20))
    (tmp_path / "train.log").write_text(f"{rows}{TRACE}ValueError: refused with {line}\n")
    run = runlens.read(tmp_path)
    assert run.state.kind == "crashed"
    told = repr(vars(run)) + repr(runlens.diagnose(run))
    assert all(part not in told for part in secret.split("\n"))


def test_an_error_of_a_place_is_told_without_secrets(tmp_path: Path) -> None:
    """Nothing became a run, and the message quotes a file."""
    line, secret = KINDS["password in a url"]
    (tmp_path / "config.json").write_text(f'{{"a": "{line}", {line}')
    (tmp_path / f"{KINDS['github'].line.split()[1]}.csv").write_text("")
    result = lens("diagnose", tmp_path)
    assert result.exit_code == 3
    assert secret not in result.stderr
    assert KINDS["github"].secret not in result.stderr
