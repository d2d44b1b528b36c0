"""Writes an event file with TensorBoard's own writer: ``python tensorboard_events.py FOLDER``.

Scalars in the old form and as tensors, and what must be skipped or kept beside them: text,
hyperparameters, a histogram, an image.
"""

import sys

import numpy as np
from logged import STEPS, row
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.tensorflow_stub import dtypes
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.plugins.text.summary import text_pb
from tensorboard.summary.writer.event_file_writer import EventFileWriter

BEGAN = 1_700_000_000.0  # seconds since 1970


def tensor(value: float) -> TensorProto:
    """Return a number as TensorFlow 2 writes it."""
    content = np.float32(value).tobytes()
    return TensorProto(dtype=dtypes.float32.as_datatype_enum, tensor_content=content)


writer = EventFileWriter(sys.argv[1])


def add(summary: Summary, step: int = 0) -> None:
    """Write one summary, its time a second a step."""
    writer.add_event(Event(wall_time=BEGAN + step, step=step, summary=summary))


for at in STEPS:
    for tag, value in row(at).items():
        add(Summary(value=[Summary.Value(tag=tag, simple_value=value)]), at)
    add(Summary(value=[Summary.Value(tag="tensor/loss", tensor=tensor(row(at)["train/loss"]))]), at)
add(text_pb("args", "learning_rate: 0.001"))
add(hparams_pb({"learning_rate": 0.001, "bf16": True}))
add(histogram_pb("weights", np.arange(9.0)))
picture = Summary.Image(height=1, width=1, colorspace=3, encoded_image_string=b"\x89PNG" * 9)
add(Summary(value=[Summary.Value(tag="picture", image=picture)]))
writer.flush()
writer.close()
