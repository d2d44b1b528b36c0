"""Whether a log without a metric is that of a training, and of no other program."""

import re

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
