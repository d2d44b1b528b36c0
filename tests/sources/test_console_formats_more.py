"""The lines of Keras, of vision and reinforcement learning, and tables with a line of names."""

from pathlib import Path

import numpy as np
import pytest

from runlens.sources import console
from tests.sources.console_logs import Points, canonical, each, reading


def keras(states: str, end: str, epochs: int = 3) -> str:
    """Return what Keras prints: states of a bar that is rewritten, then the epoch's last line."""
    return "".join(
        f"Epoch {epoch}/{epochs}\n"
        + "".join(states.replace("{b}", f"{b:4d}").replace("{n}", str(b // 500)) for b in (1, 1000))
        + end.replace("{n}", str(epoch))
        + "\n"
        for epoch in range(1, epochs + 1)
    )


KERAS_2 = keras(
    "\r{b}/1875 [===>..........................] - ETA: 4s - loss: 9.{n}00 - accuracy: 0.1000",
    "\r1875/1875 [==============================] - 4s 2ms/step - loss: 0.{n} - accuracy: 0.91"
    " - val_loss: 0.1{n} - val_accuracy: 0.95 - lr: 1.0000e-03",
)
KERAS_2_BACKSPACES = keras(
    "{b}/1875 [===>..........................] - ETA: 4s - loss: 9.{n}00" + "\b" * 60,
    "1875/1875 [==============================] - 4s 2ms/step - loss: 0.{n} - val_loss: 0.1{n}",
)
KERAS_3 = keras(
    "\r\x1b[1m{b}/1875\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m━━━━━━━━\x1b[0m \x1b[1m1s\x1b[0m 2ms/step"
    " - accuracy: 0.1000 - loss: 9.{n}00" + "\b" * 70,
    "\r\x1b[1m1875/1875\x1b[0m \x1b[32m━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m4s\x1b[0m 2ms/step"
    " - accuracy: 0.91 - loss: 0.{n} - val_accuracy: 0.95 - val_loss: 0.1{n}",
)
KERAS_NO_BAR = keras("", "1875/1875 - 4s - loss: 0.{n} - val_loss: 0.1{n} - 4s/epoch - 2ms/step")
KERAS_OLD = keras("", " - 4s - loss: 0.{n} - val_loss: 0.1{n}")


@pytest.mark.parametrize(
    "text", [KERAS_2, KERAS_2_BACKSPACES, KERAS_3, KERAS_NO_BAR, KERAS_OLD], ids=range(5)
)
def test_keras_counts_one_point_an_epoch(tmp_path: Path, text: str) -> None:
    """Its bar shows the mean since the epoch began; the steps are the epochs as printed."""
    read = reading(tmp_path, text)
    found = canonical(read)
    assert found["train_loss"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    assert found["eval_loss"] == [(1, 0.11), (2, 0.12), (3, 0.13)]
    assert read.framework == "keras"
    assert read.hints.planned_epochs == read.hints.ended_step == 3
    assert read.series["loss"].epoch.tolist() == [1, 2, 3]


def test_keras_states_count_where_there_is_one_epoch(tmp_path: Path) -> None:
    """A single long epoch has no other curve than that of its bar."""
    first = KERAS_2[: KERAS_2.index("Epoch 2/3")]
    assert canonical(reading(tmp_path, first))["train_loss"] == [(1, 9), (1000, 9.2), (1875, 0.1)]


def test_keras_that_starts_again_is_a_second_launch(tmp_path: Path) -> None:
    """Two calls of fit in one log."""
    assert reading(tmp_path, KERAS_2 * 2).series["loss"].launch.tolist() == [0, 0, 0, 1, 1, 1]


def test_keras_cut_in_its_second_epoch_keeps_the_last_state(tmp_path: Path) -> None:
    """What the bar showed last stands for the epoch that did not end."""
    cut = KERAS_3[: KERAS_3.rindex("Epoch 3/3")].rpartition("\r")[0]
    read = reading(tmp_path, cut)
    assert canonical(read)["train_loss"] == [(1, 0.1), (2, 9.2)]
    assert read.hints.planned_epochs == 3


IMAGENET = "".join(
    f"Epoch: [{epoch}][{batch:4d}/5005]\tTime  0.123 ( 0.456)\tData  0.001 ( 0.100)\t"
    f"Loss {6 - epoch}.9e+00 (6.9500e+00)\tAcc@1  {batch}.00 (  0.10)\n"
    for epoch in (0, 1)
    for batch in (0, 10)
) + (
    "Test: [  0/196]\tTime  1.2 (  1.2)\tLoss 1.0e+00 (1.0e+00)\tAcc@1  70.0 ( 70.0)\n"
    "Test: [ 10/196]\tTime  1.2 (  1.2)\tLoss 1.0e+00 (1.0e+00)\tAcc@1  70.0 ( 70.0)\n"
    " *   Acc@1 56.500 Acc@5 79.100\n"
)
MMENGINE = each(
    "2023/01/01 00:00:01 - mmengine - INFO - Epoch(train)  [{n}][  50/1000]  lr: 1.0000e-02"
    "  eta: 1:02:03  time: 0.3123  memory: 4321  grad_norm: 3.21  loss: 2.{n}  loss_cls: 0.5\n"
    "2023/01/01 00:00:09 - mmengine - INFO - Epoch(val) [{n}][100/100]    coco/bbox_mAP: 0.3{n}"
    "  data_time: 0.01  time: 0.1",
    1,
    2,
)
MM_ITERATIONS = each(
    "2023/01/01 00:00:01 - mmengine - INFO - Iter(train) [   {t}/80000]  base_lr: 9.9900e-03"
    " lr: 9.9900e-03  eta: 1 day, 1:02:03  time: 0.3123  loss: 2.{n}  decode.loss_ce: 0.5",
    1,
    2,
)
MMCV = each(
    "2021-01-01 00:00:01,123 - mmdet - INFO - Epoch [{n}][50/100]\tlr: 1.978e-03, eta: 8:02:21,"
    " time: 0.329, memory: 3500, loss_cls: 0.7, acc: 90.1, loss: 2.{n}",
    1,
    2,
)
DETECTRON = each(
    "[01/01 00:00:0{n} d2.utils.events]:  eta: 1:00:00  iter: {t}9  total_loss: 2.{n}  loss_cls: 1"
    "  time: 0.2500  last_time: 0.26  lr: 0.00020  max_mem: 4321M",
    1,
    2,
)
TIMM = each(
    "Train: 0 [  {t}/5004 ( 10%)]  Loss: 6.{n} (6.95)  Time: 1.234s,  103.70/s"
    "  LR: 1.000e-06  Data: 0.512 (0.512)",
    1,
    2,
)
DEIT = each(
    "Epoch: [0]  [  {t}/1251]  eta: 1:00:00  lr: 0.000001  loss: 6.{n} (6.9088)  time: 1.2", 1, 2
)
SWIN = each(
    "[2022-01-01 00:00:01 swin_tiny] (main.py 220): INFO Train: [0/300][{t}/1251]\teta 0:10:00"
    " lr 0.000001\t wd 0.0500\ttime 0.5 (0.6)\tloss 6.{n} (6.91)\tgrad_norm 1.2 (1.3)",
    1,
    2,
)
DINO = each(
    "I20230101 00:00:01 123 dinov2 helpers.py:103] Training  [{t}0/125000]  eta: 2 days, 1:00:00"
    "  lr: 0.0001 (0.0001)  total_loss: 12.{n} (12.1)  time: 1.2",
    1,
    2,
)
DETECTION_API = each(
    "I0101 00:00:00.123456 140 model_lib_v2.py:705] Step {t} per-step time 0.512s\n"
    "I0101 00:00:00.123456 140 model_lib_v2.py:708] {'Loss/classification_loss': 0.5,\n"
    " 'Loss/total_loss': 1.{n},\n 'learning_rate': 0.01}",
    1,
    2,
)
MODEL_GARDEN = each(
    "I0101 00:00:00.123456 140 controller.py:480] train | step:    {t} | steps/sec:    5.1 |"
    " output: \n    {'learning_rate': 0.1, 'training_loss': 2.{n}}",
    1,
    2,
)
RSL_RL = each(
    "#" * 80 + "\n                 \x1b[1m Learning iteration {n}/500 \x1b[0m\n\n"
    "               Computation: 50000 steps/s (collection: 0.3s, learning 0.1s)\n"
    "  Mean value_function loss: 0.1{n}\n       Mean surrogate loss: -0.01\n"
    "               Mean reward: 12.{n}\n" + "-" * 80 + "\n"
    "           Total timesteps: {t}00\n            Iteration time: 0.45s\n"
    "                       ETA: 219.5s\n",
    0,
    1,
)
SPINNING_UP = each(
    "-"
    * 39
    + "\n|             Epoch |               {n} |\n|      AverageEpRet |            2{n}.1 |\n"
    "|          LossPi   |           -0.01 |\n| TotalEnvInteracts |           {n}000 |\n"
    + "-"
    * 39,
    1,
    2,
)
ML_AGENTS = each(
    "[INFO] Walker. Step: {t}000. Time Elapsed: 10.1 s. Mean Reward: 1.{n}. Std of Reward: 0.5."
    " Training.",
    1,
    2,
)
SPLATTING = (
    "\r".join(
        f"Training progress:  {n}0%|_  | {n}000/30000 [00:10<01:30, 10it/s, Loss=0.05{n}]"
        for n in (1, 2, 3)
    )
    + "\n[ITER 1000] Evaluating test: L1 0.0123 PSNR 25.1\n"
    "[ITER 3000] Evaluating test: L1 0.0100 PSNR 27.1\n"
)

OTHERS: dict[str, tuple[str, dict[str, Points]]] = {
    "imagenet": (
        IMAGENET,
        {
            "train_loss": [(0, 6.9), (10, 6.9), (5005, 5.9), (5015, 5.9)],
            "train_accuracy": [(0, 0), (10, 0.1), (5005, 0), (5015, 0.1)],
            "eval_accuracy": [(5015, 0.565)],
        },
    ),
    "mmengine": (
        MMENGINE,
        {
            "train_loss": [(50, 2.1), (1050, 2.2)],
            "grad_norm": [(50, 3.21), (1050, 3.21)],
            "eval_coco_bbox_map": [(50, 0.31), (1050, 0.32)],
        },
    ),
    "mmengine-iterations": (MM_ITERATIONS, {"train_loss": [(10, 2.1), (20, 2.2)]}),
    "mmcv": (MMCV, {"train_loss": [(50, 2.1), (150, 2.2)]}),
    "detectron2": (DETECTRON, {"train_loss": [(109, 2.1), (209, 2.2)]}),
    "timm": (TIMM, {"train_loss": [(10, 6.1), (20, 6.2)]}),
    "deit": (DEIT, {"train_loss": [(10, 6.1), (20, 6.2)]}),
    "swin": (SWIN, {"train_loss": [(10, 6.1), (20, 6.2)], "grad_norm": [(10, 1.2), (20, 1.2)]}),
    "dinov2": (DINO, {"train_loss": [(100, 12.1), (200, 12.2)]}),
    "detection-api": (DETECTION_API, {"train_loss": [(10, 1.1), (20, 1.2)]}),
    "model-garden": (MODEL_GARDEN, {"train_loss": [(10, 2.1), (20, 2.2)]}),
    "edm": (
        each("tick {n}     kimg {n}.0      loss 0.{n}  time 5m 03s       sec/tick 30.1", 1, 2),
        {"train_loss": [(1, 0.1), (2, 0.2)], "kimg": [(1, 1), (2, 2)]},
    ),
    "dcgan": (
        each("[0/5][{t}/1583]\tLoss_D: 0.5\tLoss_G: 4.{n}\tD(x): 0.8\tD(G(z)): 0.2 / 0.05", 1, 2),
        {"d_loss": [(10, 0.5), (20, 0.5)], "g_loss": [(10, 4.1), (20, 4.2)]},
    ),
    "pytorch-gan": (
        each("[Epoch 0/200] [Batch {t}/938] [D loss: 0.69] [G loss: 0.{n}]", 1, 2),
        {"d_loss": [(10, 0.69), (20, 0.69)], "g_loss": [(10, 0.1), (20, 0.2)]},
    ),
    "cyclegan": (
        each(
            "(epoch: 1, iters: {t}0, time: 0.2, data: 0.3) D_A: 0.{n} G_A: 0.5 cycle_A: 1.2", 1, 2
        ),
        {"d_loss": [(100, 0.1), (200, 0.2)], "cycle_A": [(100, 1.2), (200, 1.2)]},
    ),
    "pytorch-tutorial": (
        each("[1,  {t}00] loss: 2.{n}", 1, 2),
        {"train_loss": [(1000, 2.1), (2000, 2.2)]},
    ),
    "dit": (
        each("[2023-01-01 00:00:01] (step=00000{t}) Train Loss: 0.{n}, Train Steps/Sec: 1.2", 1, 2),
        {"train_loss": [(10, 0.1), (20, 0.2)]},
    ),
    "splatting": (
        SPLATTING,
        {
            "eval_psnr": [(1000, 25.1), (3000, 27.1)],
            "train_loss": [(1000, 0.051), (2000, 0.052), (3000, 0.053)],
        },
    ),
    "rsl_rl": (
        RSL_RL,
        {
            "reward": [(0, 12.0), (1, 12.1)],
            "value_loss": [(0, 0.1), (1, 0.11)],
            "policy_loss": [(0, -0.01), (1, -0.01)],
            "step_time": [(0, 0.45), (1, 0.45)],
        },
    ),
    "rl_games": (
        each(
            "fps step: 500 fps step and policy inference: 40{n} fps total: 300 epoch: {n}/500"
            " frames: {t}",
            1,
            2,
        ),
        {"fps step and policy inference": [(1, 401), (2, 402)], "frames": [(1, 10), (2, 20)]},
    ),
    "spinning-up": (SPINNING_UP, {"reward": [(1000, 21.1), (2000, 22.1)]}),
    "ml-agents": (ML_AGENTS, {"reward": [(10000, 1.1), (20000, 1.2)]}),
    "cleanrl": (
        each("global_step={t}, episodic_return=[{n}2.0]\nSPS: 1024", 1, 2),
        {"reward": [(10, 12), (20, 22)]},
    ),
    "keras-rl": (
        each(
            "  {t}/50000: episode: {n}, duration: 0.930s, episode reward: 18{n}.000, loss: 4.9,"
            " mean_q: 64.78",
            1,
            2,
        ),
        {"reward": [(10, 181), (20, 182)], "train_loss": [(10, 4.9), (20, 4.9)]},
    ),
    "counter-among-the-numbers": (
        each(
            "=====\ntime elapsed: 0:33:45\nnum of updates: {t}\nret loss: 0.{n}\nexp loss: 0", 1, 2
        ),
        {"ret loss": [(10, 0.1), (20, 0.2)], "exp loss": [(10, 0), (20, 0)]},
    ),
    "xgboost": (
        each("[{n}]\ttrain-auc:0.6{n}\ttest-auc:0.7{n}", 0, 1),
        {"train-auc": [(0, 0.6), (1, 0.61)], "eval_auc": [(0, 0.7), (1, 0.71)]},
    ),
    "lightgbm": (
        each("[{n}]\ttraining's l2: 0.6\tvalid_1's l2: 0.7{n}", 1, 2),
        {"training l2": [(1, 0.6), (2, 0.6)], "eval_1_l2": [(1, 0.71), (2, 0.72)]},
    ),
    "lightgbm-of-r": (
        each("[1] \"[{n}]:  train's auc:0.9  test's auc:0.7{n}\"", 1, 2),
        {"train auc": [(1, 0.9), (2, 0.9)], "eval_auc": [(1, 0.71), (2, 0.72)]},
    ),
    "accelerate-example": (
        each("12/01/2023 00:00:01 - INFO - __main__ - epoch {n}: {'accuracy': 0.8{n}}", 0, 1),
        {"eval_accuracy": [(0, 0.8), (1, 0.81)]},
    ),
    "two-labels-a-line": (
        "".join(
            f"Epoch {n}/9\n----------\ntrain Loss: 0.5 Acc: 0.8{n}\nval Loss: 0.6 Acc: 0.7{n}\n"
            for n in (0, 1)
        ),
        {"train_accuracy": [(0, 0.8), (1, 0.81)], "eval_accuracy": [(0, 0.7), (1, 0.71)]},
    ),
    "fastai": (
        "epoch     train_loss  valid_loss  accuracy  time    \n"
        + each("{n}         0.9       0.8{n}      0.5{n}     00:10", 0, 1),
        {"train_loss": [(0, 0.9), (1, 0.9)], "eval_loss": [(0, 0.8), (1, 0.81)]},
    ),
    "notebook": (
        "Step\tTraining Loss\tValidation Loss\n10\tNo log\t2.400000\n20\t2.200000\t2.300000\n",
        {"train_loss": [(20, 2.2)], "eval_loss": [(10, 2.4), (20, 2.3)]},
    ),
    "spacy": (
        (
            "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE \n"
            "---  ------  ------------  --------  ------  ------\n"
            "  0       0          0.00     40.20    0.20    0.00\n"
            "  1     200         20.10    900.20   50.20    0.50\n"
        ),
        {
            "LOSS NER": [(0, 40.2), (200, 900.2)],
            "eval_score": [(0, 0), (200, 0.5)],
            "eval_ents_f1": [(0, 0.2), (200, 50.2)],
        },
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_frameworks(name: str, tmp_path: Path) -> None:
    """Vision, generative models, reinforcement learning, boosting, and tables."""
    text, expected = OTHERS[name]
    found = canonical(reading(tmp_path, text))
    assert console.find(tmp_path, {tmp_path: ["train.log"]}), "not found in a directory"
    for metric, points in expected.items():
        np.testing.assert_allclose(found[metric], points, rtol=1e-6, err_msg=metric)


YOLO = "".join(
    "\n      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
    f"\r      {e}/3      2.3G      9.9      9.9      9.9         12        640:   2%|_ | 1/50"
    " [00:00<00:40,  1.2it/s]"
    f"\r      {e}/3      2.3G      1.{e}      2.345      1.1         12        640: 100%|__| 50/50"
    " [00:10<00:00,  4.8it/s]\n"
    "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95):"
    " 100%|__| 4/4 [00:01<00:00,  3.5it/s]\n"
    f"                   all        128        929      0.64      0.53      0.6{e}      0.44\n"
    for e in (1, 2, 3)
)
YOLO_V5 = "".join(
    "     Epoch   gpu_mem       box       obj       cls    labels  img_size\n"
    f"\r     {e}/2     2.33G    0.0{e}   0.06   0.01        12       640: 100%|__| 50/50"
    " [00:10<00:00,  4.8it/s]\n"
    "               Class     Images     Labels          P          R     mAP@.5 mAP@.5:.95:"
    " 100%|__| 4/4 [00:01<00:00,  3.5it/s]\n"
    f"                 all        128        929      0.64      0.53      0.6{e}      0.44\n"
    for e in (0, 1, 2)
)


def test_yolo_has_its_numbers_in_the_bar(tmp_path: Path) -> None:
    """Names and steps are those of results.csv; only the last state of a bar counts."""
    read = reading(tmp_path, YOLO)
    found = canonical(read)
    assert found["box_loss"] == [(1, 1.1), (2, 1.2), (3, 1.3)]
    assert found["eval_map50"] == [(1, 0.61), (2, 0.62), (3, 0.63)]
    assert "train/Instances" not in read.series
    assert (read.framework, read.hints.planned_steps) == ("ultralytics", 3)


def test_yolov5_names_its_columns_otherwise(tmp_path: Path) -> None:
    """It counts epochs from 0 and leaves ``_loss`` out."""
    read = reading(tmp_path, YOLO_V5)
    assert set(read.series) == {
        *(f"train/{name}" for name in ("box_loss", "obj_loss", "cls_loss")),
        *(f"metrics/{name}" for name in ("precision", "recall", "mAP_0.5", "mAP_0.5:0.95")),
    }
    assert read.series["metrics/mAP_0.5"].step.tolist() == [0, 1, 2]


PROSE = (
    "Name   Age   Score\nAnna   12    3.5\nBert   13    4.5",
    "Step   Reward   Task\n1   a coin   cook\n2   a medal   clean",
    "all 128 929 0.64 0.53 0.61 0.44\n" * 2,
    "Epoch 1/3\n12/20 [the loss: 5 of them]\nEpoch 2/3\n13/20 [the loss: 6 of them]",
    "loss: 5\nloss: 6\nloss: 7",
    "[1] a footnote on loss: 5\n[2] another on loss: 6",
    "====\nname: x\nage: 5\nreward: 3\n====\nname: y\nage: 6\nreward: 4\n====",
    "(epoch: the 3rd) the loss: 5",
    "| item | price |\n|------|-------|\n| loss | 5 |\n| gain | 6 |",
)


@pytest.mark.parametrize("text", PROSE)
def test_tables_and_lists_of_other_things_are_no_metrics(tmp_path: Path, text: str) -> None:
    """Without a counter that goes on, numbers with names are no curves."""
    assert reading(tmp_path, text + "\n").series == {}
