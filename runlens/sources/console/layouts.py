"""The lines of known programs: a row a layout, with a line as it was printed, which is its test.

A line that none of these knows is read by the words in it (`counters`), else its layout is learned
from the whole log (`mining`). A row is needed where that goes wrong: where the counter has no name,
or a name that means something else, or where the numbers behind it have no telling names.

To add one: a row of `LAYOUTS`. In its `form` the groups `step`, `epoch` and `batch` (within the
epoch) are the counters; with an ``s`` behind the name they are the planned number. `part` is the
data that was measured on, `mean` marks the mean of an epoch. `line` is a real line, `counts` what
stands in it; `where` is "sure" where the names behind it (``L=2.3``) say nothing to others, and
`names` what they mean. ``pytest tests/sources/test_layouts.py`` reads the line by its row.
"""

from collections.abc import Mapping
from typing import Literal

from runlens.records import NamedTuple

Where = Literal["start", "sure", "behind"]


class Layout(NamedTuple):
    """How one program prints a row."""

    who: str
    form: str  # a regular expression, upper and lower case alike
    line: str
    counts: dict[str, int]
    # "behind" stamps, levels and ranks; at the "start" of the line; there, and so "sure" that the
    # numbers behind it are metrics whatever they are called
    where: Where = "behind"
    names: Mapping[
        str, str
    ] = {}  # as printed, behind the counter -> as `runlens/metrics.py` knows it


# both losses and both accuracies by their letters
_BOTH = {"tl": "train loss", "vl": "val loss", "ta": "train acc", "va": "val acc"}
_CNTK_EPOCH = r"Epoch\[ *(?P<epoch>\d+)(?: of (?P<epochs>\d+))?\]"

LAYOUTS = (
    Layout("XGBoost, LightGBM", r"\[(?P<step>\d+)\](?=\t[\w' -]+[:=])",
           "[10]\ttrain-logloss:0.31\teval-logloss:0.42", {"step": 10}, "sure"),
    Layout("CatBoost, which does not say what it measures",
           r"(?P<step>\d+):(?=\t(?:learn|test|bestTest): )",
           "12:\tlearn: 0.68\ttest: 0.69\tbest: 0.69 (12)\ttotal: 385ms\tremaining: 6m 24s",
           {"step": 12}, "sure"),
    Layout("CycleGAN, pix2pix", r"\(epoch: (?P<epoch>\d+), iters: (?P<batch>\d+),[^)]*\)",
           "(epoch: 2, iters: 400, time: 0.1, data: 0.3) G_GAN: 0.8 G_L1: 9.1 D_real: 0.4",
           {"epoch": 2, "batch": 400}, "sure"),
    Layout("letters for epoch, batch and loss",
           r"E[:=] ?(?P<epoch>\d+)[\s,;|]+B(?:at)?[:=] ?(?P<batch>\d+)[\s,;|]+(?=L(?:oss)?[:=])",
           "E:1 B:20 L:2.31 A:0.45", {"epoch": 1, "batch": 20}, "sure",
           {"L": "loss", "A": "accuracy"}),
    Layout("letters for epoch, batch and both losses",
           r"\s*ep?(?P<epoch>\d+)[\s,:|/]+(?:i|it|b|s)(?P<batch>\d+)[\s,:|]+"
           r"(?=(?:tl|vl|loss)[ :=]+-?[\dni])",
           "  e3 i20 tl 4.329 vl 4.401 ta 0.31 va 0.29", {"epoch": 3, "batch": 20}, "sure", _BOTH),
    Layout("letters for epoch and both losses, of their means",
           r"\s*ep?(?P<epoch>\d+)(?:/(?P<epochs>\d+))?[\s,:|]+(?:(?:mean|avg)\s+)?"
           r"(?=(?:tl|vl|ta|va)[ :=]+-?[\dni])",
           "E00/30 mean tl 3.5255 vl 3.61 ta 0.31 va 0.29  (9.1s)", {"epoch": 0, "epochs": 30},
           "sure", _BOTH),
    Layout("StyleGAN, EDM", r"tick (?P<step>\d+)(?= +kimg )",
           "tick 12    kimg 48.0     time 5m 01s      sec/tick 24.8    loss 0.31",
           {"step": 12}, "sure"),
    Layout("YOLACT", r"\[ *(?P<epoch>\d+)\] +(?P<step>\d+)(?= \|\| )",
           "[  1]    1440 || B: 5.495 | C: 3.668 | M: 6.919 | T: 17.647 || timer: 0.298",
           {"epoch": 1, "step": 1440}, "sure",
           {"B": "box_loss", "C": "cls_loss", "M": "mask_loss", "T": "total_loss"}),
    Layout("rl_games", r"(?=fps step: .*\bepoch: (?P<step>\d+)(?:/(?P<steps>\d+))?)",
           "fps step: 9801 fps step and policy inference: 9502 epoch: 4/500 frames: 65536",
           {"step": 4, "steps": 500}, "sure"),
    Layout("Darknet, whose first number is the loss of the step",
           r"\s*(?P<step>\d+): [-+.\w]+(?=, [-+.\w]+ avg(?: loss)?, )",
           "12: 4.301525, 5.270081 avg, 0.000125 rate, 0.190143 seconds, 768 images",
           {"step": 12}, "sure",
           {"avg": "loss", "avg loss": "loss", "rate": "learning_rate"}),
    Layout("PyTorch's tutorials", r"\[(?P<epoch>\d+), +(?P<batch>\d+)\](?= +loss)",
           "[1,  2000] loss: 2.187", {"epoch": 1, "batch": 2000}, "start"),
    Layout("PyTorch's ImageNet example, validation", r"\s*\*\s+(?=(?P<part>Acc|Prec)@1 )",
           " *   Acc@1 56.5 Acc@5 79.1", {}, "start"),
    Layout("char-rnn", r"(?P<step>\d+)/(?P<steps>\d+) \(epoch (?P<epoch>\d+)\),",
           "12/4000 (epoch 3), train_loss = 2.31, time/batch = 0.4",
           {"step": 12, "steps": 4000, "epoch": 3}, "start"),
    Layout("keras-rl", r"\s*(?P<step>\d+)/(?P<steps>\d+): episode: \d+,",
           "  200/10000: episode: 1, duration: 1.1s, episode reward: 20.0, loss: 0.5",
           {"step": 200, "steps": 10_000}, "start"),
    Layout("WeNet", r"(?P<part>TRAIN|CV) Batch (?P<epoch>\d+)/(?P<batch>\d+)(?= loss)",
           "2022-01-01 10:00:00,001 DEBUG TRAIN Batch 0/100 loss 120.5 lr 0.0002",
           {"epoch": 0, "batch": 100}),
    Layout("mmengine, by iterations", r"Iter\(train\)\s*\[\s*(?P<step>\d+)/\s*(?P<steps>\d+)\]",
           "2023/01/01 10:00:00 - mmengine - INFO - Iter(train) [   50/80000]  loss: 1.9",
           {"step": 50, "steps": 80_000}),
    Layout("mmengine",
           r"Epoch\(train\)\s*\[(?P<epoch>\d+)\]\s*\[\s*(?P<batch>\d+)/\s*(?P<batches>\d+)\]",
           "2023/01/01 10:00:00 - mmengine - INFO - Epoch(train)  [2][ 50/586]  loss: 1.9",
           {"epoch": 2, "batch": 50, "batches": 586}),
    Layout("mmengine, mmdetection, evaluation",
           r"(?:Iter|Epoch)\((?P<part>val|test)\)(?:\s*\[(?P<epoch>\d+)\])?\s*\[\s*\d+(?:/\s*\d+)?\]",
           "2023/01/01 10:00:00 - mmengine - INFO - Epoch(val) [2][78/78]  coco/bbox_mAP: 0.3",
           {"epoch": 2}),
    Layout("MXNet's Speedometer",
           r"Epoch\[(?P<epoch>\d+)\] Batch \[(?:\d+-)?(?P<batch>\d+)\]",
           "2018-10-11 09:16:22 INFO - Epoch[3] Batch [20-40]\tSpeed: 25.2 samples/sec\tAcc=0.9",
           {"epoch": 3, "batch": 40}),
    Layout("fairseq", r"epoch (?P<epoch>\d+):\s+(?P<batch>\d+) ?/ ?(?P<batches>\d+)(?= )",
           "2021-01-01 10:00:00 | INFO | train_inner | epoch 001:    100 / 1102 loss=12.3, ppl=50",
           {"epoch": 1, "batch": 100, "batches": 1102}),
    Layout("fairseq, end of an epoch",
           r"epoch (?P<epoch>\d+)(?= \| (?:(?P<part>valid) on '\w+' subset|(?P<mean>loss) ))",
           "2021-01-01 10:00:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 8.9",
           {"epoch": 1}),
    Layout("ESPnet",
           r"(?P<epoch>\d+)epoch:(?P<part>train|valid):\d+-(?P<batch>\d+)batch:(?!\d)",
           "[node] 2022-01-01 10:00:00 (trainer:753) INFO: 1epoch:train:1-100batch: loss=9.1",
           {"epoch": 1, "batch": 100}),
    Layout("ESPnet, end of an epoch",
           r"(?P<epoch>\d+)epoch results: \[train\].{0,4000}?\[(?P<part>valid)\]",
           "[node] 2022-01-01 10:00:00 (trainer:328) INFO: 1epoch results: [train] loss=9.1, "
           "total_count=200, [valid] acc=0.4, loss=8.2", {"epoch": 1}),
    Layout("OpenNMT before 0.2", r"Epoch +(?P<epoch>\d+), +(?P<batch>\d+)/ *(?P<batches>\d+);",
           "Epoch  2,   50/ 3907; acc:   5.01; ppl: 8513.41; 2093 src tok/s; 2146 tgt tok/s;",
           {"epoch": 2, "batch": 50, "batches": 3907}),
    Layout("FunASR",
           r"(?P<epoch>\d+)epoch:(?P<part>train|valid):[\d-]+batch:(?P<step>\d+)num_updates:",
           "[node] 2022-01-01 10:00:00 (trainer:753) INFO: 1epoch:train:1-50batch:50num_updates: "
           "loss=9.1", {"epoch": 1, "step": 50}),
    Layout("icefall", r"Epoch (?P<epoch>\d+), batch (?P<batch>\d+),",
           "2022-01-01 10:00:00,001 INFO [train.py:812] Epoch 0, batch 50, loss[loss=7.1]",
           {"epoch": 0, "batch": 50}),
    Layout("icefall, validation", r"Epoch (?P<epoch>\d+), (?P<part>validation)\b[^:]{0,40}:",
           "2022-01-01 10:00:00,001 INFO [train.py:842] Epoch 0, validation: loss=6.9",
           {"epoch": 0}),
    Layout("timm", r"Train: (?P<epoch>\d+) \[\s*(?P<batch>\d+)/(?P<batches>\d+)[^\]]*\]",
           "Train: 0 [  50/1251 (  4%)]  Loss: 6.93 (6.94)  LR: 1.0e-06",
           {"epoch": 0, "batch": 50, "batches": 1251}),
    Layout("PaddleOCR, evaluation, behind its logger", r"(?P<part>cur) metric,",
           "cur metric, acc: 0.3, norm_edit_dis: 0.5, fps: 95.2", {}),
    Layout("PaddleRec", r"epoch: (?P<epoch>\d+), batch_id: (?P<batch>\d+),",
           "2022-04-12 17:10:51,909 - INFO - epoch: 0, batch_id: 500, AUC:0.788134, loss:0.18541",
           {"epoch": 0, "batch": 500}),
    Layout("DCGAN",
           r"\[(?P<epoch>\d+)/(?P<epochs>\d+)\] ?\[(?P<batch>\d+)/(?P<batches>\d+)\]",
           "[0/25][50/782] Loss_D: 0.2 Loss_G: 5.1 D(x): 0.9",
           {"epoch": 0, "epochs": 25, "batch": 50, "batches": 782}),
    Layout("PyTorch-GAN", r"\[Epoch (?P<epoch>\d+)/(?P<epochs>\d+)\] "
           r"\[Batch (?P<batch>\d+)/(?P<batches>\d+)\]",
           "[Epoch 3/200] [Batch 10/938] [D loss: 0.6] [G loss: 0.7]",
           {"epoch": 3, "epochs": 200, "batch": 10, "batches": 938}),
    Layout("TensorFlow's Estimator, evaluation",
           r"Saving dict for (?P<part>global) step (?P<step>\d+):",
           "INFO:tensorflow:Saving dict for global step 300: accuracy = 0.7, loss = 0.72",
           {"step": 300}),
    Layout("CNTK", rf"{_CNTK_EPOCH}-Minibatch\[ *(?:\d+- *)?(?P<batch>\d+)(?:, *[\d.]+%)?\]",
           " Epoch[ 2 of 40]-Minibatch[ 401- 500, 25.00%]: CrossEntropyWithSoftmax = 1.31 * 25600; "
           "ClassificationError = 0.41 * 25600; time = 3.6s; samplesPerSecond = 7012.1",
           {"epoch": 2, "epochs": 40, "batch": 500},
           names={"CrossEntropyWithSoftmax": "loss", "ClassificationError": "error_rate"}),
    Layout("CNTK, end of an epoch",
           rf"Finished {_CNTK_EPOCH}: \[(?:(?P<part>Validate|Evaluate)|(?P<mean>Training))\]",
           "Finished Epoch[ 2 of 40]: [Validate] CrossEntropyWithSoftmax = 1.42 * 10000; "
           "ClassificationError = 0.43 * 10000", {"epoch": 2, "epochs": 40}),
    Layout("Kaldi, nnet3", r"LOG \(nnet3\S+ Average objective function for '\w+' for minibatches "
           r"\d+-(?P<step>\d+)(?= is )",
           "LOG (nnet3-train[5.5]:PrintStatsForThisPhase():nnet-training.cc:218) Average objective "
           "function for 'output' for minibatches 100-199 is -2.31 over 51200 frames.",
           {"step": 199}, "sure", {"is": "loglik"}),  # it is driven up
    Layout("Deeplearning4j, whose score is a loss",
           r"(?:\S{1,80} +){0,6}Score at iteration (?P<step>\d+)(?= is )",
           "10:11:11.111 [main] INFO o.d.o.l.ScoreIterationListener - Score at iteration 10 is 2.4",
           {"step": 10}, "sure", {"is": "loss"}),
    Layout("Tesseract, which counts three ways",
           r"(?:.{0,80}?\s)?At iteration (?P<step>\d+)/\d+/\d+(?=, )",
           "At iteration 2600/2700/2741, Mean rms=4.144%, delta=43.655%, char train=99.8%",
           {"step": 2600}, "sure",
           {"char train": "train error rate", "BCER train": "train error rate"}),
    Layout("DiT", r"\(step=(?P<step>\d+)\)",
           "[2023-01-01 10:00:00] (step=0000100) Train Loss: 0.2, Train Steps/Sec: 1.5",
           {"step": 100}),
    Layout("DINOv2", r"Training +\[ *(?P<step>\d+)/(?P<steps>\d+)\]",
           "I20230101 10:00:00 1 dinov2 helpers.py:103] Training  [   10/125000]  total_loss: 9.2",
           {"step": 10, "steps": 125_000}),
    Layout("Marian", r"Ep\. (?P<epoch>\d+) : Up\. (?P<step>\d+) :",
           "[2019-01-01 10:00:00] Ep. 1 : Up. 500 : Sen. 32,000 : Cost 8.1 : Time 60.1s",
           {"epoch": 1, "step": 500}),
    Layout("ML-Agents", r"[\w?=-]+(?:\.|:(?: [\w-]+:)?) Step: (?P<step>\d+)\.",
           "[INFO] Walker. Step: 30000. Time Elapsed: 60.1 s. Mean Reward: 1.2.", {"step": 30_000}),
    Layout("LitGPT, whose iterations are micro-batches",
           r"(?:Epoch (?P<epoch>\d+) \| )?iter \d+ step (?P<step>\d+)",
           "Epoch 1 | iter 40 step 10 | loss train: 1.2, val: n/a", {"epoch": 1, "step": 10}),
)  # fmt: skip
