"""The lines that frameworks print: which values, steps and canonical names come out of them."""

from pathlib import Path

import numpy as np
import pytest

from runlens.sources import console
from tests.sources.console_logs import Points, canonical, each, reading

MEGATRON = each(
    " [2024-05-01 10:00:0{n}] iteration      {t}/    1000 | consumed samples:         1600 |"
    " elapsed time per iteration (ms): 420.8 | throughput per GPU (TFLOP/s/GPU): 130.1 |"
    " learning rate: 1.500000E-04 | global batch size:    16 | lm loss: 6.{n}00000E+00 |"
    " loss scale: 4096.0 | grad norm: 1.410 | number of skipped iterations:   0 |"
    " number of nan iterations:   1 |",
    1,
    2,
) + (
    "-----------------------------------------------------------------\n"
    " validation loss at iteration 20 on validation set | lm loss value: 4.9E+00 |"
    " lm loss PPL: 1.3E+02 | \n"
    " validation loss at iteration 20 on test set | lm loss value: 4.8E+00 |"
    " lm loss PPL: 1.2E+02 | \n"
)
DEEPSPEED = each(
    "steps: {t} loss: 1.{n}234 iter time (s): 0.3 samples/sec: 50.1\n"
    "[2023-01-01 00:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step={t}, skipped=1,"
    " lr=[0.001, 0.002], mom=[(0.9, 0.999), (0.9, 0.999)]",
    1,
    2,
)
FAIRSEQ = each(
    "2020-01-01 00:00:0{n} | INFO | train_inner | epoch 001:    {t} / 5000 loss={n}, nll_loss=2,"
    " ppl=3800.5, wps=1000.1, ups=1.2, wpb=1e3, num_updates={t}, lr=1.25e-05, gnorm=2.9, clip=50",
    1,
    2,
) + (
    "2020-01-01 00:00:09 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 8 |"
    " nll_loss 7.6 | ppl 194 | wps 100.5 | num_updates 20 | best_loss 8\n"
    "2020-01-01 00:00:09 | INFO | train | epoch 001 | loss 9.5 | ppl 540 | num_updates 20\n"
)
COMPOSER = each(
    "[batch={n}/100]:\n\t Train time/batch: 0\n\t Train loss/train/total: 10.{n}\n"
    "\t Train metrics/train/LanguageCrossEntropy: 10.1",
    1,
    2,
) + (
    "[Eval batch=1/2] Eval on eval data\n"
    "[Eval batch=2/2] Eval on eval data:\n\t Eval metrics/eval/LanguageCrossEntropy: 9.5\n"
)
OLMO = each(
    "[2024-01-01 00:00:0{n}] INFO     [olmo.train:123, rank=0] [step={n}/1000,epoch=0]\n"
    "    optim/total_grad_norm=1.2\n    train/CrossEntropyLoss=10.{n}\n"
    "    throughput/total_tokens=4,194,304",
    1,
    2,
)
TITAN = each(
    "[rank0]:[titan] 2025-06-01 00:00:0{n},123 - root - INFO - \x1b[31mstep:  {n}  "
    "\x1b[32mloss:  8.{n}  \x1b[33mmemory: 24.21GiB(30.50%)  tps: 1,234  mfu: 10.12%\x1b[39m",
    1,
    2,
)
NEMO = each(
    "Training epoch 0, iteration {n}/99 | lr: 1e-05 | global_step: {n} |"
    " reduced_train_loss: 10.{n} | train_step_timing in s: 0.5",
    1,
    2,
)
LITGPT = each(
    "Epoch 1 | iter {t} step {n} | loss train: 1.{n}, val: n/a | iter time: 400.12 ms (step)"
    " remaining time: 1:00:00",
    1,
    2,
)
LLM_C = each(
    "step   {n}/74 | loss 10.{n} (+nanz)| norm 15.3 (+0.12z)| lr 6.00e-04 | 1000.12 ms |"
    " 50.1% bf16 MFU | 524288 tok/s\nval loss 3.{n}",
    1,
    2,
)
MODDED = (
    each("step:{n}/1390 train_loss:10.{n} train_time:9000ms step_avg:78.12ms", 1, 2)
    + "step:125/1390 val_loss:4.3012 train_time:9000ms step_avg:78.12ms\n"
)
MARIAN = each(
    "[2020-01-01 00:00:0{n}] Ep. 1 : Up. {t} : Sen. 10,000 : Cost 7.{n} : Time 30.12s :"
    " 1000.12 words/s : gNorm 1.2 : L.r. 1.0000e-04",
    1,
    2,
)
TORCHTUNE = each("Step {n} | loss:1.{n} lr:2e-05 tokens_per_second_per_gpu:123 grad_norm:1.2", 1, 2)
TORCHTUNE_BAR = "\r".join(f"1|{n}|Loss: 1.{n}:  {n}%|_  | {n}/100 [00:10<10:00]" for n in (1, 2))
NANOGPT_BAR = "\r".join(
    f"Training:   1%|     | {n}/5000 [00:22<54:11, 1.5it/s, loss={loss}, lr=5.49e-04, step={n - 1}]"
    for n, loss in ((1, 10.5), (2, 10.5), (3, 10.4))
)
MAXTEXT = each("completed step: {n}, seconds: 1.200, total_weights: 100, loss: 10.{n}", 1, 2)
VERL = each(
    "\x1b[36m(TaskRunner pid=20)\x1b[0m step:{n} - actor/entropy:np.float64(1.{n})"
    " - critic/rewards/mean:0.{n} - response_length/clip_ratio:0.1 - timing_s/step:20.1",
    1,
    2,
)
ESPNET = each(
    "[host] 2022-01-01 00:00:00,123 (trainer:732) INFO: {n}epoch:train:1-100batch:"
    " iter_time=0.1, loss_ctc=10, acc=0.3, loss=7{n}.1, grad_norm=10.1",
    1,
    2,
)
ICEFALL = (
    each(
        "2022-01-01 00:00:00,123 INFO [train.py:903] (0/4) Epoch 1, batch {t}, loss[loss=0.{n},"
        " simple_loss=0.9, over 1000.00 frames. ], tot_loss[loss=0.6, over 2000.00 frames. ],"
        " batch size: 30, lr: 3.00e-03, grad_scale: 1.0",
        1,
        2,
    )
    + "2022-01-01 00:00:00,123 INFO [train.py:930] (0/4) Epoch 1, validation: loss=0.45, "
    "simple_loss=0.8, over 900000.00 frames. \n"
)

LANGUAGE: dict[str, tuple[str, dict[str, Points]]] = {
    "megatron": (
        MEGATRON,
        {
            "train_loss": [(10, 6.1), (20, 6.2)],
            "step_time": [(10, 0.4208), (20, 0.4208)],
            "loss_scale": [(10, 4096), (20, 4096)],
            "number of nan iterations": [(10, 1), (20, 1)],
            "eval_loss": [(20, 4.9)],
            "eval_loss:test": [(20, 4.8)],
        },
    ),
    "deepspeed": (
        DEEPSPEED,
        {
            "train_loss": [(10, 1.1234), (20, 1.2234)],
            "step_time": [(10, 0.3), (20, 0.3)],
            "throughput_samples": [(10, 50.1), (20, 50.1)],
            "learning_rate": [(10, 0.001), (20, 0.001)],
        },
    ),
    "fairseq": (  # bits become nats
        FAIRSEQ,
        {
            "train_loss": [(10, 0.693147), (20, 1.386294)],
            "eval_loss": [(20, 5.545177)],
            "grad_norm": [(10, 2.9), (20, 2.9)],
            "clip_share": [(10, 0.5), (20, 0.5)],
        },
    ),
    "fairseq-brief": (
        each("| epoch 001: {t}/500 loss=7.{n}, ppl=140.1", 1, 2),
        {"train_loss": [(10, 7.1), (20, 7.2)], "train_ppl": [(10, 140.1), (20, 140.1)]},
    ),
    "composer": (
        COMPOSER,
        {"train_loss": [(1, 10.1), (2, 10.2)], "eval_loss": [(2, 9.5)]},
    ),
    "composer-epochs": (
        COMPOSER.replace("[batch=", "[epoch=2][batch="),
        {"train_loss": [(101, 10.1), (102, 10.2)]},
    ),
    "olmo": (OLMO, {"train_loss": [(1, 10.1), (2, 10.2)], "grad_norm": [(1, 1.2), (2, 1.2)]}),
    "torchtitan": (
        TITAN,
        {
            "train_loss": [(1, 8.1), (2, 8.2)],
            "mfu": [(1, 0.1012), (2, 0.1012)],
            "throughput_tokens": [(1, 1234), (2, 1234)],
        },
    ),
    "nemo": (NEMO, {"train_loss": [(1, 10.1), (2, 10.2)], "step_time": [(1, 0.5), (2, 0.5)]}),
    "litgpt": (LITGPT, {"train_loss": [(1, 1.1), (2, 1.2)]}),
    "llm.c": (LLM_C, {"train_loss": [(1, 10.1), (2, 10.2)], "eval_loss": [(1, 3.1), (2, 3.2)]}),
    "modded-nanogpt": (
        MODDED,
        {"train_loss": [(1, 10.1), (2, 10.2)], "eval_loss": [(125, 4.3012)]},
    ),
    "marian": (
        MARIAN,
        {
            "train_loss": [(10, 7.1), (20, 7.2)],
            "grad_norm": [(10, 1.2), (20, 1.2)],
            "learning_rate": [(10, 1e-4), (20, 1e-4)],
        },
    ),
    "torchtune": (
        TORCHTUNE,
        {"train_loss": [(1, 1.1), (2, 1.2)], "grad_norm": [(1, 1.2), (2, 1.2)]},
    ),
    "torchtune-bar": (TORCHTUNE_BAR, {"train_loss": [(1, 1.1), (2, 1.2)]}),
    "nanogpt-bar": (NANOGPT_BAR, {"train_loss": [(0, 10.5), (2, 10.4)]}),
    "maxtext": (MAXTEXT, {"train_loss": [(1, 10.1), (2, 10.2)]}),
    "verl": (
        VERL,
        {
            "entropy": [(1, 1.1), (2, 1.2)],
            "reward": [(1, 0.1), (2, 0.2)],
            "len_clipped": [(1, 0.1), (2, 0.1)],
            "step_time": [(1, 20.1), (2, 20.1)],
        },
    ),
    "espnet": (ESPNET, {"train_loss": [(100, 71.1), (200, 72.1)]}),
    "icefall": (ICEFALL, {"train_loss": [(10, 0.1), (20, 0.2)], "eval_loss": [(20, 0.45)]}),
    "wenet": (
        each("2022-01-01 00:00:00,123 DEBUG TRAIN Batch 0/{t} loss 5.{n} lr 0.0001 rank 0", 1, 2),
        {"train_loss": [(10, 5.1), (20, 5.2)]},
    ),
    "joeynmt": (
        each("Epoch   1, Step:      {t}, Batch Loss:    3.{n}, Lr: 0.000200", 1, 2),
        {"train_loss": [(10, 3.1), (20, 3.2)]},
    ),
    "char-rnn": (
        each("{t}/1000 (epoch 1), train_loss = 3.{n}, time/batch = 0.123", 1, 2),
        {"train_loss": [(10, 3.1), (20, 3.2)]},
    ),
    "minGPT": (
        each("iter_dt 12.34ms; iter {t}: train loss 3.{n}", 1, 2),
        {"train_loss": [(10, 3.1), (20, 3.2)]},
    ),
}


@pytest.mark.parametrize("name", LANGUAGE)
def test_language_and_speech(name: str, tmp_path: Path) -> None:
    """Frameworks that train language and speech models."""
    text, expected = LANGUAGE[name]
    found = canonical(reading(tmp_path, text))
    assert console.find(tmp_path, {tmp_path: ["train.log"]}), "not found in a directory"
    for metric, points in expected.items():
        np.testing.assert_allclose(found[metric], points, rtol=1e-6, err_msg=metric)


@pytest.mark.parametrize(
    ("text", "planned"),
    [(MEGATRON, 1000), (COMPOSER, 100), (OLMO, 1000), (LLM_C, 74), (MODDED, 1390)],
)
def test_the_planned_steps_are_known(tmp_path: Path, text: str, planned: int) -> None:
    """A counter that says ``of N`` tells how long the run was to be."""
    assert reading(tmp_path, text).hints.planned_steps == planned


def test_the_mean_of_an_epoch_is_no_point_of_the_curve(tmp_path: Path) -> None:
    """At the end of an epoch fairseq prints its mean under the name of the loss."""
    curve = canonical(reading(tmp_path, FAIRSEQ))["train_loss"]
    assert [step for step, _ in curve] == [10, 20]


PROSE = (
    "Step 1: Calculate the loss of 3 apples and the reward of 12 dollars per day.",
    "Epoch 3 of our story had a loss of 5 points.",
    "epoch 1: {'name': 'a reward of 5', 'seed': 3}",
    "[2024-01-01 10:00:00] the loss was 12 at noon, the accuracy 3 at night",
    "Accuracy: 5 stars. Reward: 10 coins.",
    "Iteration 3 of the meeting: gain 5, loss 3",
    "warmup_steps: 100\nlearning_rate: 0.1\nmax_loss: 3",
    "Total: 3 boxes [=====] - loss: 5 kg",
    "1/2 of the reward: 5\n2/3 of the loss: 6",
)


def test_prose_and_settings_are_no_metrics(tmp_path: Path) -> None:
    """Numbers in sentences, exercises and dumps of settings do not become curves."""
    for text in PROSE:
        assert reading(tmp_path, text + "\n").series == {}, text
    assert reading(tmp_path, "\n".join(PROSE)).series == {}


def test_a_dump_of_settings_that_each_rank_prints_is_no_curve(tmp_path: Path) -> None:
    """The same block twice has one counter: it is no progress."""
    dump = "=====\nsteps: 100\nlearning_rate: 0.1\nloss_weight: 3\n=====\n"
    assert reading(tmp_path, dump * 4).series == {}


def test_a_layout_that_occurs_once_does_not_count(tmp_path: Path) -> None:
    """One line with a step and a loss may be anything."""
    assert reading(tmp_path, "hello\nstep 5 loss 3.2\nbye\n").series == {}
