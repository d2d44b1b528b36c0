"""Writes runs with SwanLab, offline: ``python swanlab_runs.py FOLDER NAME``.

The run ``finished`` does so; ``crashed`` ends with an exception.
"""

import os
import sys

import swanlab
from logged import SETTINGS, STEPS, row

os.chdir(sys.argv[1])
NAME = sys.argv[2]
swanlab.init(project="llm-sft", experiment_name=NAME, config=SETTINGS, mode="offline")
print("said on the console")
for step in STEPS if NAME == "finished" else STEPS[:2]:
    swanlab.log({**row(step), "nested": {"deep": 1.5}}, step=step)
swanlab.log({"words": swanlab.Text("no number")}, step=60)
if NAME == "crashed":
    raise RuntimeError("boom")
swanlab.finish()
