"""Whether a log without a metric is that of a training, and of no other program."""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from runlens.patterns import lazy_re
from runlens.sources.reading import SourceReading

# what tells the trouble of a training from that of any other program
_OF_TRAINING = lazy_re(
    r"torch|transformers|tensorflow|keras|\bjax\b|\bflax\b|accelerate|deepspeed|lightning"
    r"|\btrl\b|\bpeft\b|vllm|\bverl\b|megatron|paddle|mindspore|\bray\b|unsloth|axolotl|swift"
    r"|llama|xgboost|lightgbm|sklearn|\bcuda\b|\bgpus?\b|\bnccl\b|\bepochs?\b|\bwandb\b|slurm"
    r"|sbatch|\btrain(?:ing)?(?:\b|_|\d)|_train\b|fine_?-?tun|pre_?-?train|checkpoint",
    re.IGNORECASE,
)


def of_training(reading: SourceReading) -> bool:
    """Whether a log without a metric names a training: its library, its script, a checkpoint.

    Messages on gradients and labels are those of a training.
    """
    said = any(event.data.get("class") in {"num", "data"} for event in reading.events)
    return said or any(map(_OF_TRAINING.search, (reading.path.name, *reading.log_tail)))


def meant(folder: Path, readings: Sequence[SourceReading]) -> bool:
    """Whether logs without a metric are what a folder was pointed at for.

    One of them is that of a training, or the folder holds one file and nothing else: who points
    at it means that file, and the error in it.
    """
    logs = [one for one in readings if one.kind == "console" and not one.empty]
    held = [*islice(folder.iterdir(), 2)]
    return any(map(of_training, logs)) or (len(held) == 1 and held[0].is_file())
