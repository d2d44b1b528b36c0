"""Whole numbers beyond int64 and float64, in each place that a file has for a number."""

import json
from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest

from runlens import diagnose, read_all
from runlens.report import json as json_report
from runlens.report import text
from runlens.report.terminal import Options
from runlens.sources.reading import as_number

NUMBERS = (
    *("9" * digits for digits in (16, 19, 20, 309, 400, 4_301)),
    ".inf",
    "1e999",
    "-.inf",
)  # 2**63 has 19, the largest float64 309; Python reads 4,300
ROWS = [{"step": 10 * n, "epoch": n / 10, "loss": 3 - n / 10} for n in range(20)]
KEYS = (
    "num_train_epochs", "max_steps", "seed", "learning_rate", "warmup_steps", "logging_steps",
        "per_device_train_batch_size", "warmup_ratio", "gradient_accumulation_steps", "vocab_size",
)  # fmt: skip


def test_a_whole_number_beyond_float64_is_infinite() -> None:
    """With its sign; Python does not even write out the last of these."""
    assert (as_number(10**400), as_number(-(10**400))) == (inf, -inf)
    assert as_number(16**5_000) == inf


def _bar(folder: Path, number: str, bar: str) -> None:
    rows = "".join(f"{row}\n {bar.format(number)} [00:01<00:19, 1.0it/s]\n" for row in ROWS)
    (folder / "train.log").write_text(rows)


def _state(folder: Path, number: str) -> None:
    fields = ", ".join(
        f'"{key}": {number}' for key in (*KEYS, "global_step", "epoch", "best_metric")
    )
    (folder / "trainer_state.json").write_text(f'{{"log_history": {json.dumps(ROWS)}, {fields}}}')


def _row(folder: Path, number: str) -> None:
    row = ", ".join(f'"{key}": {number}' for key in ("step", "epoch", "loss", "grad_norm", "total"))
    lines = [*(json.dumps(one) for one in ROWS), f"{{{row}}}"]
    (folder / "metrics.jsonl").write_text("\n".join(lines))


def _beside(folder: Path, name: str, content: str) -> None:
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": ROWS}))
    (folder / name).write_text(content)


def _yaml(folder: Path, number: str) -> None:
    _beside(folder, "config.yaml", "".join(f"{key}: {number}\n" for key in KEYS))


def _json(folder: Path, number: str) -> None:
    fields = ", ".join(f'"{key}": {number}' for key in (*KEYS, "hidden_size", "train_steps"))
    _beside(folder, "config.json", f'{{"model_type": "gpt2", {fields}}}')


def _card(folder: Path, number: str) -> None:
    listed = "".join(f"- {key}: {number}\n" for key in KEYS)
    head = "<!-- This model card has been generated automatically -->\n"
    asked = "The following hyperparameters were used during training:\n"
    _beside(folder, "README.md", f"{head}### Training hyperparameters\n\n{asked}{listed}")


def _mlflow(folder: Path, number: str) -> None:
    run = folder / "0" / "abc"
    for name in ("metrics", "params"):
        (run / name).mkdir(parents=True)
    (run / "meta.yaml").write_text("run_id: abc\nstatus: 3\nstart_time: 1700000000000\n")
    points = "".join(f"1700000000000 {row['loss']} {row['step']}\n" for row in ROWS)
    (run / "metrics" / "loss").write_text(points + f"{number} {number} {number}\n")
    for key in KEYS:
        (run / "params" / key).write_text(number)


PLACES: dict[str, Callable[[Path, str], None]] = {
    "bar": lambda folder, number: _bar(folder, number, "5%|5    | {}/100"),
    "total of a bar": lambda folder, number: _bar(folder, number, "5%|5    | 5/{}"),
    "state": _state,
    "row": _row,
    "yaml": _yaml,
    "json": _json,
    "model card": _card,
    "mlflow": _mlflow,
}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("place", PLACES)
def test_a_huge_number_costs_nothing_else(tmp_path: Path, place: str, number: str) -> None:
    """What stands beside it is read, judged and shown."""
    PLACES[place](tmp_path, number)
    (run,) = read_all(tmp_path)
    assert len(run.curve("train_loss")) >= len(ROWS)
    diagnosis = diagnose(run, preview=True)
    assert not [name for name, said in diagnosis.outcomes.items() if said.status == "error"]
    text.render(diagnosis, Options(verbose=True))
    json.loads(json_report.render(diagnosis, full=True))
