"""What tbparse, which decodes with TensorBoard itself, finds in an event file, we find too."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens.sources import tensorboard

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(p for p in FIXTURES.rglob("events.out.tfevents.*") if "pairs" not in p.parts)
CLOSING = {"train/train_loss", "train/train_runtime", "train/total_flos"}
CLOSING |= {"train/train_samples_per_second", "train/train_steps_per_second"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FIXTURES).parts[0])
def test_scalars_equal_those_of_tbparse(path: Path) -> None:
    """Every tag but the closing summary, every step, every value to the last bit."""
    from tbparse import SummaryReader

    frame = SummaryReader(str(path)).scalars
    found = tensorboard.read(path).series
    tags = set(frame["tag"]) - CLOSING if len(frame) else set()
    assert set(found) == tags
    for tag in tags:
        rows = frame[frame["tag"] == tag]
        np.testing.assert_array_equal(found[tag].step, rows["step"])
        np.testing.assert_array_equal(found[tag].value, rows["value"].astype(np.float64))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FILES[:4], ids=lambda path: path.relative_to(FIXTURES).parts[0])
def test_settings_equal_the_text_that_tbparse_finds(path: Path) -> None:
    """The Trainer writes all its arguments as one text."""
    from tbparse import SummaryReader

    text = SummaryReader(str(path), event_types={"text"}).text
    (args,) = text[text["tag"] == "args"]["value"]
    known = json.loads(args)
    config = tensorboard.read(path).config
    for key in ("learning_rate", "max_grad_norm", "per_device_train_batch_size", "seed"):
        assert config[key] == known[key]
