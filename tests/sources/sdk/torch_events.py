"""Writes event files with PyTorch's writer: ``python torch_events.py FOLDER``."""

import sys

import torch
from logged import SETTINGS, STEPS, row
from torch.utils.tensorboard import SummaryWriter

with SummaryWriter(sys.argv[1]) as writer:
    for step in STEPS:
        for tag, value in row(step).items():
            writer.add_scalar(tag, value, step)
        writer.add_histogram("weights", torch.arange(9.0), step)
    writer.add_text("args", "learning_rate: 0.001")
    writer.add_image("picture", torch.zeros(3, 2, 2))
    plain = {name: value for name, value in SETTINGS.items() if isinstance(value, float | bool)}
    writer.add_hparams(plain, {"hp_metric": -1.0}, run_name=".")
