"""Logs of frameworks whose layout has no reader of its own, each in the form that it prints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runlens import read_all


def loss(n: int) -> float:
    """Return the loss of a row: it falls."""
    return round(2 / (n + 1), 4)


def lines(row: Callable[[int], str], first: int = 0, last: int = 30) -> str:
    """Return a row for each number."""
    return "".join(f"{row(n)}\n" for n in range(first, last))


DETR = lines(lambda n: json.dumps({
    "train_lr": 1e-4, "train_class_error": 50.0, "train_loss": loss(n), "test_loss": loss(n) + 0.1,
    "test_coco_eval_bbox": [0.1, 0.2], "epoch": n, "n_parameters": 41302368,
}))  # fmt: skip
NNUNET_1 = lines(lambda n: (
    f"2023-09-04 02:43:29.744022: \nepoch:  {n}\n"
    f"2023-09-04 02:45:00.1: train loss : {loss(n):.4f}\n"
    f"2023-09-04 02:45:09.2: validation loss: {loss(n):.4f}\n"
    "2023-09-04 02:45:10.3: Average global foreground Dice: [0.8, 0.7]"
))  # fmt: skip
NNUNET_2 = lines(lambda n: (
    f"2024-01-01 10:00:00.0: Epoch {n} \n2024-01-01 10:00:01.0: Current learning rate: 0.00991 \n"
    f"2024-01-01 10:05:00.0: train_loss {loss(n):.4f} \n"
    f"2024-01-01 10:05:00.1: val_loss {loss(n):.4f} \n"
    "2024-01-01 10:05:00.2: Pseudo dice [0.81, 0.7] \n2024-01-01 10:05:00.3: Epoch time: 99.5 s"
))  # fmt: skip
MMENGINE = "".join(
    f"2023/06/01 10:00:{i:02d} - mmengine - INFO - Epoch(train)  [{e}][{i:3d}/60]  lr: 1.0000e-02  "
    f"eta: 0:10:00  time: 0.5  data_time: 0.01  memory: 5000  loss: {loss(60 * e + i):.4f}\n"
    for e in (1, 2, 3)
    for i in (20, 40, 60)
)
MMDET_JSON = lines(
    lambda n: json.dumps({
        "mode": "train", "epoch": 1, "iter": 50 * (n + 1), "lr": 0.02, "memory": 100,
        "loss_cls": 0.5, "loss_bbox": 0.4, "loss": loss(n), "time": 0.3,
    })
)  # fmt: skip
BASICSR = lines(
    lambda n: (
        f"2022-01-01 10:00:00,1 INFO: [EDSR..][epoch: {n // 10:2d}, iter:{100 * (n + 1):8,d}, "
        f"lr:(1.000e-04,)] [eta: 1 day, 2:03:04, time (data): 0.3 (0.01)] l_pix: {loss(n):.4e} "
    )
)
KAIR = lines(
    lambda n: (
        f"21-01-01 10:00:00.1 : <epoch:{n // 10:3d}, iter:{200 * (n + 1):8,d}, lr:1.000e-04> "
        f"G_loss: {loss(n):.3e} "
    )
)
LEROBOT = lines(
    lambda n: (
        f"INFO 2024-10-01 12:00:00 train.py:295 step:{n + 1}K smpl:{32 * (n + 1)}K ep:90 "
        f"epch:1.5 loss:{loss(n):.3f} grdn:6.2 lr:1.0e-05 updt_s:0.1 data_s:0.0"
    )
)
COLBERT = lines(lambda n: f"[Mar 30, 10:51:41] {n + 1} {loss(n):.6f}")
COQUI = "".join(
    f"\n > EPOCH: {e}/100\n --> runs/a\n\n > TRAINING (2023-01-01 10:00:00) \n"
    + "".join(
        f"\n   --> TIME: 2023-01-01 10:0{i}:00 -- STEP: {10 * i}/40 "
        f"-- GLOBAL_STEP: {40 * e + 10 * i}\n"
        f"     | > loss: {loss(4 * e + i):.5f}  (1.5)\n     | > grad_norm: 1.5  (1.5)\n"
        for i in range(1, 4)
    )
    for e in range(4)
)
DEEPSPEED_CHAT = lines(
    lambda n: (
        f"Epoch: 0 | Step: {n} | PPO Epoch: 1 | Actor Loss: {loss(n)} | Critic Loss: "
        f"{loss(n)} | Unsupervised Loss: 0.0\nEnd-to-End => Latency: 7.3s\n"
        f"Average reward score: {n / 10 - 1.0}\n------------------"
    )
)
BASELINES = lines(
    lambda n: (
        "----------------------------------\n"
        f"| epoch              | {n}     |\n| stats_g/mean       | 0.5      |\n"
        f"| test/episode       | {10 * (n + 1)} |\n| test/success_rate  | {n / 40:.3f} |\n"
        "----------------------------------"
    )
)
THEANO = lines(lambda n: f"epoch {n + 1}, minibatch 120/120, validation error {90 / (n + 1):.4f} %")
VERL = lines(
    lambda n: (
        f"(TaskRunner pid=123) step:{n + 1} - actor/entropy:0.5 - actor/pg_loss:{loss(n)} - "
        f"critic/rewards/mean:{n / 30:.4f} - critic/rewards/max:1.0 - actor/grad_norm:0.3"
    )
)
RLLIB = lines(lambda n: json.dumps({
    "episode_reward_mean": 10.0 * n, "training_iteration": n + 1, "timesteps_total": 4000 * (n + 1),
    "info": {"learner": {"default_policy": {"learner_stats": {"total_loss": loss(n)}}}},
}))  # fmt: skip
RL4CO = "epoch,step,train/loss,train/reward,val/reward\n" + lines(
    lambda n: f"{n},{50 * (n + 1) - 1},{loss(n)},{-8 + n / 10:.3f},{-7.9 + n / 10:.3f}"
)
LOSS_CSV = "epoch,train_loss,val_loss\n" + lines(lambda n: f"{n + 1},{loss(n)},{loss(n)}")

FORMATS = [
    ("DETR", "log.txt", DETR, "train_loss", 30, 29),
    ("nnU-Net 1", "training_log_2023.txt", NNUNET_1, "train_loss", 30, 29),
    ("nnU-Net 2", "training_log_2024.txt", NNUNET_2, "train_loss", 30, 29),
    ("mmengine", "20230601.log", MMENGINE, "train_loss", 9, 180),
    ("mmdetection", "20230601.log.json", MMDET_JSON, "train_loss", 30, 1500),
    ("BasicSR", "train_EDSR.log", BASICSR, "train_loss", 30, 3000),
    ("KAIR", "train.log", KAIR, "g_loss", 30, 6000),
    ("LeRobot", "train.log", LEROBOT, "train_loss", 30, 30_000),
    ("ColBERT", "train.log", COLBERT, "column 2", 30, 30),
    ("Coqui", "trainer_0_log.txt", COQUI, "train_loss", 12, 150),
    ("DeepSpeed-Chat", "training.log", DEEPSPEED_CHAT, "reward", 30, 29),
    ("baselines", "log.txt", BASELINES, "reward", 30, 300),
    ("Theano", "slurm.out", THEANO, "eval_loss", 30, 3600),
    ("verl", "verl.log", VERL, "reward", 30, 30),
    ("RLlib", "result.json", RLLIB, "reward", 30, 120_000),
    ("RL4CO", "metrics.csv", RL4CO, "reward", 30, 1499),
    ("own loops", "loss.csv", LOSS_CSV, "train_loss", 30, 30),
]


@pytest.mark.parametrize(
    ("name", "text", "metric", "rows", "last"),
    [one[1:] for one in FORMATS],
    ids=[one[0] for one in FORMATS],
)
@pytest.mark.parametrize("where", ["file", "folder"])
def test_every_row_is_read(
    where: str, name: str, text: str, metric: str, rows: int, last: int, tmp_path: Path
) -> None:
    """As one training, each row at the step that it shows."""
    path = tmp_path / name
    path.write_text(text)
    (run,) = read_all(path if where == "file" else tmp_path)
    curve = run.history.curve(metric)
    assert (len(curve), int(curve.step[-1])) == (rows, last)


STATS = {"total_loss": 0.5, "vf_loss": 0.25, "kl": 0.01, "entropy": 1.5, "cur_lr": 1e-3}
NEWER = {"vf_explained_var": 0.5, "mean_kl_loss": 0.02, "target_entropy": -2.0}


@pytest.mark.parametrize(
    ("learnt", "metrics"),
    [
        (
            {"info": {"learner": {"default_policy": {"learner_stats": STATS}}}},
            {"train_loss", "value_loss", "kl_step", "entropy", "learning_rate"},
        ),
        (
            {"learners": {"red": NEWER}},
            {"explained_variance", "kl_step", "learners/red/target_entropy"},
        ),
    ],
    ids=["old", "new"],
)
def test_what_a_policy_of_rllib_learns(
    tmp_path: Path, learnt: dict[str, Any], metrics: set[str]
) -> None:
    """In the layout of old and in the newer one; a target is no entropy."""
    path = tmp_path / "result.json"
    row = {"episode_reward_mean": 1.5, **learnt}
    path.write_text(lines(lambda n: json.dumps({"training_iteration": n, **row})))
    (run,) = read_all(path)
    assert set(run.history.metrics) == {"reward", *metrics}
