"""Rows of an audit, drawn by hand: what the tests of the audit share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from runlens.diagnosis import Severity
from runlens.nights import FoundRow, RunRow
from runlens.run import Setting

DAY, HOUR = 86_400.0, 3_600.0
START = 1.7e9
RECIPE: Mapping[str, Setting] = {
    "learning_rate": 2e-4,
    "lora_r": 16,
    "lora_alpha": 32,
    "bf16": True,
    "per_device_train_batch_size": 8,
    "num_train_epochs": 3,
    "model_name": "acme/tiny",
    "dataset_name": "acme/words",
    "weight_decay": 0.0,
}


def found(
    rule: str = "nan-loss",
    severity: Severity = "critical",
    onset: float | None = 500,
    time: float | None = None,
    *,
    leads: bool = True,
) -> FoundRow:
    """Draw a finding."""
    return FoundRow(rule, severity, f"{rule} from step {onset}.", "train_loss", onset, time, leads)


def row(
    name: str,
    night: float = 0.0,
    *,
    loss: float = 1.0,
    eval_loss: float | None = None,
    error: float = 0.002,
    findings: Sequence[FoundRow] = (),
    config: Mapping[str, Setting] | None = None,
    **more: Any,
) -> RunRow:
    """Draw a healthy finished run of four hours on two GPUs, started on a night.

    `loss` is where training loss ends, `eval_loss` the same by default; with `findings` it is as
    healthy as they say.
    """
    ends = {"train_loss": loss, "eval_loss": loss if eval_loss is None else eval_loss}
    measures = {f"{metric}.end": value for metric, value in ends.items()} | {"eval.points": 10.0}
    started = START + night * DAY
    worst = sorted((one.severity for one in findings), key=["critical", "warning", "info"].index)
    made = RunRow(
        key=f"runs/{name}",
        place=f"runs/{name}",
        name=name,
        project="runs",
        group="sft · acme/tiny · acme/words · trl",
        job="nightly",
        task="sft",
        framework="trl",
        state="finished",
        health=worst[0] if worst else "healthy",
        steps=1000,
        started=started,
        ended=started + 4 * HOUR,
        gpus=2,
        config={**RECIPE, "seed": 1} | dict(config or {}),
        measures=measures,
        noises=dict.fromkeys(("train_loss.end", "eval_loss.end"), error),
        findings=tuple(findings),
    )
    return replace(made, **more)
