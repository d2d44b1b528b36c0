"""Files made to kill whoever reads them, in the place of each file that RunLens reads."""

import json
import os
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import read_all

LONG = 3.0  # CPU seconds that no file may take
DEEP = 100_000
DIGITS = "9" * 5_000
LOSSES = [3.0 - n / 10 for n in range(20)]

YAML = {
    "a tag": "!!python/object/apply:os.system ['touch owned']\n",
    "a tag inside": "learning_rate: 0.5\nevil: !!python/object/new:os.system ['touch owned']\n",
    "a tag of a module": "a: !!python/module:antigravity\nb: !!python/name:os.system\n",
    "depth": "a: " + "[" * DEEP,
    "depth in blocks": "- " * DEEP,
    "depth in braces": "{a: " * DEEP,
    "aliases": "a0: &a0 lol\n"
    + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "aliases of nothing": "a0: &a0 {}\n"
    + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "many merges": "a: &a {"
    + "".join(f"k{n}: 1, " for n in range(3_000))
    + "}\n"
    + "".join(f"b{n}: {{<<: *a}}\n" for n in range(3_000)),
    "a name of itself": "a: &a [*a, *a]\n",
    "digits": f"max_steps: {DIGITS}\nlearning_rate: {DIGITS}\nseed: 0x{DIGITS}\n",
    "one long line": "a: " + "x" * 2**20 + "\n",
    "a megabyte of settings": "".join(
        f"k{n}: {{a: {n}, b: [1, 2], c: t}}\n" for n in range(28_000)
    ),
    "one long key": "x" * 2**20 + ": 1\n",
}
JSON = {
    "depth": "[" * DEEP,
    "depth in braces": '{"a":' * DEEP,
    "closed depth": '{"a":' * DEEP + "1" + "}" * DEEP,
    "digits": f'{{"step": {DIGITS}, "loss": {DIGITS}, "max_steps": {DIGITS}, "log_history": []}}',
    "digits behind a point": f'{{"step": 1, "loss": 0.{DIGITS}, "lr": 1e{DIGITS}}}',
    "one long line": '{"a": "' + "x" * 2**20 + '"}',
    "one long key": '{"' + "x" * 2**20 + '": 1}',
    "a megabyte of settings": json.dumps({f"k{n}": {"a": [n, 1, 2]} for n in range(40_000)}),
}
YAML_FILES = (
    "config.yaml", "hparams.yaml", "README.md", ".hydra/overrides.yaml", "my_run.yaml",
    "mlruns/0/abc/meta.yaml", "wandb/run-20260101_000000-abc/files/config.yaml",
)  # fmt: skip
JSON_FILES = (
    "args.json", "config.json", "adapter_config.json", "ds_config.json", "all_results.json",
    "training_status.json", "metrics.jsonl", "trainer_log.jsonl", "metrics.json", "metrics.csv",
    "0.monitor.csv", "train.log", "checkpoint-1/trainer_state.json",
    "wandb/run-20260101_000000-abc/files/wandb-summary.json",
    "wandb/run-20260101_000000-abc/files/wandb-metadata.json",
)  # fmt: skip


def a_run(folder: Path) -> Path:
    """Write a run that the bomb lies beside."""
    log = [{"step": 10 * n, "epoch": n / 10, "loss": loss} for n, loss in enumerate(LOSSES)]
    (folder / "trainer_state.json").write_text(
        json.dumps({"log_history": log, "global_step": 190, "max_steps": 200})
    )
    return folder


def plant(folder: Path, name: str, content: str) -> None:
    """Write the bomb, in the words that its reader listens to."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == "README.md":
        content = f"axolotl version: `1`\n```yaml\nbase_model: x\ndatasets: y\n{content}\n```\n"
    elif name == "my_run.yaml":
        content = f"base_model: x\nmicro_batch_size: 1\nsequence_len: 1\n{content}"
    elif name.endswith(".csv"):
        head = '#{"t_start": 1}\nr,l,t\n' if "monitor" in name else "step,loss\n"
        content = f"{head}1,2,3\n{content}\n"
    elif name.endswith("jsonl"):
        content = f'{{"current_steps": 10, "total_steps": 200, "loss": {LOSSES[1]}}}\n{content}\n'
    elif name.endswith("meta.yaml"):
        (path.parent / "metrics").mkdir()
        (path.parent / "metrics" / "loss").write_text(f"1700000000000 {LOSSES[1]} 10\n")
    path.write_text(content)


def survived(folder: Path) -> None:
    """Read the run; its own curve has to be there."""
    began = time.process_time()
    runs = read_all(folder)
    assert time.process_time() - began < LONG
    own = {(10 * n, loss) for n, loss in enumerate(LOSSES)}
    curves = [run.curve("train_loss") for run in runs]
    points = [set(zip(c.step.tolist(), c.value.tolist(), strict=True)) for c in curves]
    assert any(own <= some for some in points)


@pytest.mark.parametrize("name", YAML_FILES)
@pytest.mark.parametrize("kind", YAML)
def test_yaml_bombs(kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tag is obeyed, nothing is built that has no bound."""
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    plant(a_run(run), name, YAML[kind])
    survived(run)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("name", JSON_FILES)
@pytest.mark.parametrize("kind", JSON)
def test_json_bombs(kind: str, name: str, tmp_path: Path) -> None:
    """In settings, in rows, in a checkpoint's state, in lines of other logs."""
    plant(a_run(tmp_path), name, JSON[kind])
    survived(tmp_path)


@pytest.mark.parametrize("kind", JSON)
def test_state_that_is_a_bomb_itself(kind: str, tmp_path: Path) -> None:
    """The other source of the run is read."""
    rows = "".join(f'{{"step": {10 * n}, "loss": {loss}}}\n' for n, loss in enumerate(LOSSES))
    (tmp_path / "metrics.jsonl").write_text(rows)
    (tmp_path / "trainer_state.json").write_text(JSON[kind])
    survived(tmp_path)


class Bomb:
    """An object that makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        """Remember which file."""
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.mark}",)


def test_pickles_are_left_alone(tmp_path: Path) -> None:
    """Those of torch, of numpy, and those that stand where another format should."""
    run = tmp_path / "run"
    run.mkdir()
    a_run(run)
    mark = tmp_path / "owned"
    bomb = pickle.dumps(Bomb(mark))
    for name in (
        "training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth", "policy.pkl",
        "config.json", "config.yaml", "hparams.yaml", "args.json", "metrics.jsonl", "metrics.csv",
        "progress.csv", "0.monitor.csv", "train.log", "README.md", "events.out.tfevents.1.h",
        "run-abc.wandb", "trainer_log.jsonl", "ds_config.json", "overrides.yaml",
    ):  # fmt: skip
        (run / name).write_bytes(bomb)
    array = np.array([Bomb(mark)], dtype=object)
    np.save(run / "losses.npy", array, allow_pickle=True)
    np.savez(run / "evaluations.npz", results=array)
    survived(run)
    assert not mark.exists()
    pickle.loads((run / "policy.pkl").read_bytes())  # noqa: S301 - to show that it would
    assert mark.exists()
