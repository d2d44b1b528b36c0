"""What an event file holds besides scalars comes back as frames."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.plugins.hparams import plugin_data_pb2

import runlens
from runlens.errors import NothingReadable
from tests.sources.event_files import curve, framed, scalar, tensor, written

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def event(step: int, value: Summary.Value) -> Event:
    """Return an event of one value."""
    return Event(wall_time=1.7e9, step=step, summary=Summary(value=[value]))


def hparams(**values: float) -> Event:
    """Return the event that `SummaryWriter.add_hparams` begins with."""
    start = plugin_data_pb2.SessionStartInfo()
    for name, value in values.items():
        start.hparams[name].number_value = value
    content = plugin_data_pb2.HParamsPluginData(session_start_info=start).SerializeToString()
    made = tensor("_hparams_/session_start_info", 0, 0.0, plugin="hparams")
    made.summary.value[0].metadata.plugin_data.content = content
    return made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an event file of every kind."""
    folder = tmp_path_factory.mktemp("run")
    counts = HistogramProto(
        min=-1, max=2, num=6, sum=3, sum_squares=5, bucket_limit=[0, 1, 2], bucket=[1, 2, 3]
    )
    image = Summary.Image(width=4, height=3, colorspace=3, encoded_image_string=b"no PNG")
    sound = Summary.Audio(sample_rate=16_000, num_channels=1, length_frames=800)
    of_tensorflow = tensor("grid", 9, np.array([b"8", b"6", b"no PNG"]), plugin="images")
    written(
        folder,
        [
            *curve("train/loss", range(0, 50, 10)),
            event(10, Summary.Value(tag="weights", histo=counts)),
            event(20, Summary.Value(tag="weights", histo=counts)),
            event(10, Summary.Value(tag="sample", image=image)),
            event(10, Summary.Value(tag="voice", audio=sound)),
            of_tensorflow,
            tensor("args/text_summary", 0, np.array([b"hub_token=hf_" + b"a1B2" * 9]), "text"),
            tensor("attention", 30, np.ones((2, 2), dtype=np.float32), plugin="custom"),
            hparams(lr=0.25, epochs=3.0),
        ],
    )
    return folder


def test_every_kind_has_its_frame(place: Path) -> None:
    """Values as they were written; of pictures and sounds the shape alone."""
    found = runlens.event_frames(place)
    assert found.problems == ()
    assert list(found.histograms["step"]) == [10, 20]
    np.testing.assert_array_equal(found.histograms["counts"][0], [1, 2, 3])
    np.testing.assert_array_equal(found.histograms["limits"][0], [0, 1, 2])
    shapes = {row.tag: (row.step, row.width, row.height) for row in found.images.itertuples()}
    assert shapes == {"sample": (10, 4, 3), "grid": (9, 8, 6)}
    assert list(found.audio[["length_frames", "sample_rate"]].iloc[0]) == [800, 16_000]
    assert dict(zip(found.hparams["tag"], found.hparams["value"], strict=True)) == {
        "lr": 0.25,
        "epochs": 3.0,
    }
    rows = found.tensors[found.tensors["tag"] == "attention"]
    np.testing.assert_array_equal(rows["value"].iloc[0], np.ones((2, 2)))
    assert set(found.histograms["file"]) == {str(next(place.iterdir()))}


def test_secrets_in_texts_are_hidden(place: Path) -> None:
    """As everywhere."""
    (text,) = runlens.event_frames(place).texts["value"]
    assert "a1B2" not in text
    assert "(hidden)" in text


def test_a_file_of_scalars_alone_gives_empty_frames(tmp_path: Path) -> None:
    """And one that ends in the middle gives what it has."""
    path = written(tmp_path, [scalar("loss", 1, 2.0)])
    path.write_bytes(path.read_bytes()[:-5])
    found = runlens.event_frames(tmp_path)
    assert [len(frame) for frame in found[:-1]] == [0] * 6


def test_no_event_file_is_told(tmp_path: Path) -> None:
    """With what was looked for."""
    (tmp_path / "log.csv").write_text("step,loss\n1,2\n2,1\n3,1\n")
    with pytest.raises(NothingReadable, match=r"holds no event file \(events"):
        runlens.event_frames(tmp_path)


def odd_settings() -> bytes:
    """Return the record of settings that are none: only TensorBoard's own reader minds."""
    made = hparams(lr=0.1)
    made.summary.value[0].metadata.plugin_data.content = b"\xff"
    return framed(made.SerializeToString())


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"no event file at all" * 9, "is text, not an event file"),
        (framed(b"\xff" * 30), "records that cannot be decoded (record 1)"),
        (odd_settings(), "records that cannot be decoded (record 1)"),
    ],
    ids=["no record", "a record that is no event", "settings that are none"],
)
def test_a_damaged_file_costs_itself_alone(
    place: Path, tmp_path: Path, data: bytes, told: str
) -> None:
    """And that it did is told, once."""
    shutil.copytree(place, tmp_path / "run")
    bad = tmp_path / "run" / "events.out.tfevents.9.bad"
    bad.write_bytes(data)
    found = runlens.event_frames(tmp_path / "run")
    assert list(found.histograms["step"]) == [10, 20]
    (problem,) = found.problems
    assert (problem.where, told in problem.text) == (str(bad), True)
