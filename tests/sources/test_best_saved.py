"""A best model that a log says was saved, and the plan of a policy in timesteps."""

import json
from pathlib import Path

import pytest

from runlens.engine import diagnose
from runlens.run import BEST_SAVED
from runlens.sources import read

LOSSES = (0.30, 0.27, 0.29, 0.28, 0.28, 0.58, 0.54, 0.47, 0.50, 0.47, 0.61, 0.52)


def log(said: str) -> str:
    """Write a log that saves its best model until the fifth epoch, overfitted from the sixth on."""
    rows = []
    for epoch, loss in enumerate(LOSSES, 1):
        rows.append(f"Epoch: {epoch}, train loss: {0.5 / epoch:.4f}, dev loss: {loss}")
        rows += [said] if epoch < 6 else []
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    "said",
    [
        "--------Save best model!--------",
        "Best checkpoint was saved",
        "saved new best model",
        "        [BEST] best.pt guncellendi (val_macro_f1=0.2056)",
    ],
)
def test_a_best_model_without_a_file_is_a_checkpoint(said: str, tmp_path: Path) -> None:
    """It is written over: what is left is the last."""
    (tmp_path / "train.log").write_text(log(said))
    run = read(tmp_path / "train.log")
    assert {path for _, path in run.checkpoints} == {BEST_SAVED}
    steps = diagnose(run).do_first.steps
    assert steps[0][0] == f"Use {BEST_SAVED}, last at step 5"


def test_timesteps_are_the_plan_of_stable_baselines(tmp_path: Path) -> None:
    """Its rows count what learn() was asked for."""
    rows = "\n".join(f"{n * 1000},{200 + n},{5 * n},-0.5" for n in range(1, 20))
    head = "time/total_timesteps,rollout/ep_rew_mean,time/iterations,train/entropy_loss"
    (tmp_path / "progress.csv").write_text(f"{head}\n{rows}\n")
    config = {"algo": "PPO", "total_timesteps": 40_000, "learning_rate": 3e-4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    run = read(tmp_path)
    assert run.framework == "stable-baselines3"
    assert run.state.planned_steps == 40_000
