"""Small files of each format that RunLens reads, to be damaged."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
LARGEST = 12_000  # bytes of a sample: what is found in a large file is found in a small one
FOUND = (
    ("fixtures", "**/trainer_state.json"),
    ("fixtures", "**/events.out.tfevents.*"),
    ("fixtures", "**/*.wandb"),
    ("tests/sources/data", "*.wandb"),
    ("tests/sources/data", "*.swanlab"),
    ("fixtures", "**/train.log"),
    ("fixtures", "**/output.log"),
    ("fixtures/hang", "**/config.json"),
)
ROWS = 40


@dataclass(frozen=True)
class Sample:
    """One file: what it holds, and how it is called in a folder of a run."""

    kind: str  # the reader's name
    name: str  # relative
    data: bytes
    beside: tuple[tuple[str, bytes], ...] = ()  # other files of the run, left as they are


@lru_cache(maxsize=1)
def samples() -> tuple[Sample, ...]:
    """Return all samples, those of the fixtures and those of formats without a fixture."""
    found = [
        Sample(_kind(path.name), path.name, path.read_bytes())
        for folder, pattern in FOUND
        for path in sorted((ROOT / folder).glob(pattern))
        if 200 < path.stat().st_size <= LARGEST and "pairs" not in path.parts
    ]
    return tuple(_beside_a_run(one) for one in (*found, *_logs(), *_databases(), *_settings()))


def _kind(name: str) -> str:
    if name.endswith((".wandb", ".swanlab")):
        return name.rpartition(".")[2]
    if "tfevents" in name:
        return "tensorboard"
    return {"trainer_state.json": "trainer_state", "config.json": "config"}.get(name, "console")


def _beside_a_run(sample: Sample) -> Sample:
    """Put a run beside settings, which alone are none."""
    if sample.kind != "config":
        return sample
    run = {"log_history": _rows(), "max_steps": 10 * ROWS, "global_step": 10 * ROWS}
    beside = (("trainer_state.json", json.dumps(run).encode()),)
    return Sample(sample.kind, sample.name, sample.data, beside)


def _rows() -> list[dict[str, float]]:
    return [
        {
            "step": 10 * number,
            "epoch": number / 20,
            "loss": round(1 + 3 / number, 4),
            "grad_norm": round(0.5 + 0.37 * number % 1.3, 4),
            "learning_rate": round(1e-4 * (1 - number / 100), 9),
        }
        for number in range(1, ROWS + 1)
    ]


def _logs() -> list[Sample]:
    rows, names = _rows(), list(_rows()[0])
    factory = [
        {"current_steps": row["step"], "total_steps": 400, **row, "elapsed_time": "0:01:02"}
        for row in rows
    ]
    table = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]
    steps = "".join(
        f"step {r['step']}/400 loss {r['loss']} lr {r['learning_rate']}\n" for r in rows
    )
    points = "".join(f"17000{r['step']:08} {r['loss']} {r['step']}\n" for r in rows)
    episodes = ['#{"t_start": 1.7e9, "env_id": "x"}', "r,l,t"]
    episodes += [f"{row['loss']},10,{row['step']}" for row in rows]
    meta = b"run_id: abc\nrun_name: one\nstatus: 3\nstart_time: 1700000000000\nname: x\n"
    return [
        Sample("jsonl", "metrics.jsonl", _lines(json.dumps(row) for row in rows)),
        Sample("jsonl", "trainer_log.jsonl", _lines(json.dumps(row) for row in factory)),
        Sample("csv", "metrics.csv", _lines(table)),
        Sample("csv", "val_log.tsv", _lines(line.replace(",", "\t") for line in table)),
        Sample("sb3_monitor", "0.monitor.csv", _lines(episodes)),
        Sample("sb3_evaluations", "evaluations.npz", _evaluations()),
        Sample("console", "dicts.log", _lines(str(row) for row in rows)),
        Sample("console", "steps.log", steps.encode()),
        Sample("mlflow", "0/abc/metrics/loss", points.encode(), (("0/abc/meta.yaml", meta),)),
        Sample("mlflow", "0/abc/meta.yaml", meta, (("0/abc/metrics/loss", points.encode()),)),
    ]


def _evaluations() -> bytes:
    file, rows = BytesIO(), range(ROWS)
    rewards = [[float(row), row + 0.5] for row in rows]
    np.savez(file, timesteps=[100 * row for row in rows], results=rewards, ep_lengths=rewards)
    return file.getvalue()


def _databases() -> list[Sample]:
    points = [(key, row[key], row["step"]) for row in _rows() for key in ("loss", "grad_norm")]
    trackio = "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name, timestamp, step, metrics)"
    rows = [(row["step"], json.dumps(row)) for row in _rows()]
    runs = "CREATE TABLE runs (run_uuid, status, start_time, lifecycle_stage, experiment_id)"
    metrics = "CREATE TABLE metrics (key, value FLOAT, timestamp, run_uuid, step, is_nan)"
    with sqlite3.connect(":memory:") as one:
        one.execute(trackio)
        one.executemany("INSERT INTO metrics VALUES (NULL, 'x', '2026-01-02T03:04:05', ?, ?)", rows)
        tracked = one.serialize()
    with sqlite3.connect(":memory:") as other:
        other.execute(runs)
        other.execute(metrics)
        other.execute("INSERT INTO runs VALUES ('a1', 'FINISHED', 1700000000000, 'active', 1)")
        other.executemany("INSERT INTO metrics VALUES (?, ?, 1700000000000, 'a1', ?, 0)", points)
        stored = other.serialize()
    one.close()
    other.close()
    return [Sample("trackio", "project.db", tracked), Sample("mlflow_db", "mlflow.db", stored)]


def _card(settings: str) -> str:
    head = "| Training Loss | Epoch | Step | Validation Loss |\n|:---:|:---:|:---:|:---:|\n"
    rows = "".join(f"| {r['loss']} | {r['epoch']} | {r['step']} | {r['loss']} |\n" for r in _rows())
    return f"axolotl version: `1`\n```yaml\n{settings}```\n\n- seed: 42\n\n{head}{rows}"


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _settings() -> list[Sample]:
    axolotl = (
        "base_model: some/model\nmicro_batch_size: 2\nlearning_rate: 2e-4\nsequence_len: 2048\n"
        "datasets:\n  - path: some/data\n    type: alpaca\nlr_scheduler: cosine\n"
        "deepspeed: {zero: 3, list: [1, 2, 3]}\nanchors: &a [x, y]\nagain: *a\nwhen: 2026-01-02\n"
    )
    peft = {"r": 16, "lora_alpha": 32, "target_modules": ["q_proj"], "peft_type": "LORA"}
    return [
        Sample("config", "config.yaml", axolotl.encode()),
        Sample("config", "hparams.yaml", b"lr: 0.001\nmodel: !!python/object:a.B\n  depth: 3\n"),
        Sample("model_card", "README.md", _card(axolotl).encode()),
        Sample("config", "adapter_config.json", json.dumps(peft, indent=2).encode()),
    ]
