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


def scored(kept: str) -> list[str]:
    """Write a log that tells its score again, by another name, in the rows that `kept` marks."""
    rows = []
    for epoch, (score, told) in enumerate(zip((20, 25, 23, 28, 35, 33, 39, 36), kept, strict=True)):
        rows.append(f"[ep {epoch + 1}/8] train_loss={1 / (epoch + 1):.3f}  val_f1=0.{score}50")
        rows += [f"    [BEST] best.pt saved (val_macro_f1=0.{score}50)"] if told == "x" else []
    return rows


def test_a_score_told_again_where_it_was_best_is_no_other_score(tmp_path: Path) -> None:
    """By the last of its numbers the run would have ended at its best."""
    (tmp_path / "train.log").write_text("\n".join([*scored("xx.xx.x."), ""]))
    run = read(tmp_path / "train.log")
    assert "eval_macro_f1" not in run.history.metrics
    assert run.curve("eval_f1").value.tolist()[-2:] == [0.39 + 0.0050, 0.365]


@pytest.mark.parametrize(
    ("kept", "changed"),
    [
        ("x.x.x.xx", ("", "")),  # not the best alone: told every other time
        ("xx.xx.x.", ("macro_f1=0.35", "macro_f1=0.36")),  # a number of its own
        ("xx.xx.x.", ("macro_f1", "macro_recall")),  # of another kind
    ],
)
def test_a_score_of_its_own_stays(kept: str, changed: tuple[str, str], tmp_path: Path) -> None:
    """One that falls as well, that differs, or that is called something else."""
    text = "\n".join([*scored(kept), ""]).replace(*changed) if changed[0] else ""
    (tmp_path / "train.log").write_text(text or "\n".join([*scored(kept), ""]))
    names = read(tmp_path / "train.log").history.metrics
    assert {"eval_macro_f1", "eval_macro_recall"} & {*names}


def test_a_count_in_chinese_is_told_again_by_nothing(tmp_path: Path) -> None:
    """Its name has no words that are known, and a rate beside it, in fewer rows, goes one way."""
    rows = [
        f"进度: {n}.0% | 批次: {n}/40 | 损失: {4 - n / 20:.4f} | 处理样本: {16 * n + n % 3}"
        + f" | LR: {n}e-05" * (n % 2)
        for n in range(1, 41)
    ]
    (tmp_path / "training.log").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert len(read(tmp_path).curve("train_loss").value) == len(rows)
