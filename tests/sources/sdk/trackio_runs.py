"""Writes runs with Trackio: ``python trackio_runs.py FOLDER``; it ends with an exception."""

import os
import sys

os.environ |= {"TRACKIO_DIR": sys.argv[1], "HF_HUB_OFFLINE": "1", "TRACKIO_STORAGE_MODE": "sqlite"}

import trackio
from logged import RESUMED, SETTINGS, STEPS, row


def launch(name: str, steps: tuple[int, ...], number: int = 0, resume: str = "never") -> None:
    """Log the steps of one launch."""
    trackio.init(project="llm sft", name=name, config=SETTINGS, resume=resume)
    for step in steps:
        trackio.log({**row(step, number), "nested": {"deep": 1.5}, "flag": True}, step=step)


launch("finished", STEPS)
if hasattr(trackio, "log_system"):  # not in the old releases
    trackio.log_system({"gpu/0/utilization": 50.0, "gpu/0/allocated_memory": 2.0})
trackio.log({"table": trackio.Table(columns=["a"], data=[[1]]), "words": "no number"}, step=60)
trackio.finish()
launch("resumed", STEPS[:4])
trackio.finish()
launch("resumed", RESUMED, 1, resume="must")
trackio.finish()
trackio.init(project="llm sft", name="counted", config={})
for count in range(3):  # no step of its own: the Trainer's callback logs so
    trackio.log({"train/loss": 2.0 - count, "train/global_step": 25 * count + 25})
trackio.log({"train/train_loss": 1.0, "train/train_runtime": 60.0, "train/global_step": 75})
trackio.finish()
launch("crashed", STEPS[:2])
raise RuntimeError("boom")
