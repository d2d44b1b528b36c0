"""Writes an offline run with W&B: ``python wandb_runs.py FOLDER``; it ends with an exception."""

import sys

import wandb
from logged import SETTINGS, STEPS, row

run = wandb.init(project="llm", name="crashed", dir=sys.argv[1], config=SETTINGS, mode="offline")
for at in STEPS:
    run.log({**row(at), "train/global_step": at})
raise RuntimeError("boom")
