"""Writes runs into MLflow's SQLite store: ``python mlflow_runs.py FOLDER sqlite``.

With ``file`` as the second word into its file store.
"""

import os
import sys
from pathlib import Path

os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}

import mlflow
from logged import RESUMED, SETTINGS, STEPS, row

folder = Path(sys.argv[1]).resolve()
os.chdir(folder)
if sys.argv[2] == "file":
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    mlflow.set_tracking_uri((folder / "mlruns").as_uri())
else:
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
mlflow.set_experiment("speech recognition")


def log(steps: tuple[int, ...], number: int = 0) -> None:
    """Log the steps of one launch into the run that is active."""
    for step in steps:
        mlflow.log_metrics(row(step, number), step=step)


with mlflow.start_run(run_name="finished"):
    mlflow.log_params({"learning_rate": 0.001, "trl.beta": 0.1, "bf16": True, "none": None})
    log(STEPS)
    mlflow.log_metric("system/gpu_0_utilization_percentage", 55.0, step=0)
    mlflow.log_text("text", "notes.txt")
with mlflow.start_run(run_name="resumed") as run:
    mlflow.log_params(SETTINGS)
    log(STEPS[:4])
with mlflow.start_run(run_id=run.info.run_id):
    log(RESUMED, 1)
with mlflow.start_run(run_name="gone") as run:
    log(STEPS)
mlflow.delete_run(run.info.run_id)
mlflow.start_run(run_name="killed")
log(STEPS[:2])
mlflow.end_run("KILLED")
mlflow.start_run(run_name="alive")
log(STEPS[:2])
mlflow.end_run("RUNNING")
with mlflow.start_run(run_name="crashed"):
    log(STEPS[:2])
    raise RuntimeError("boom")
