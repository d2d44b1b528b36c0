"""Event files: the same numbers as TensorBoard, settings, names, launches, foreign files."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.plugins.hparams import plugin_data_pb2

from runlens.sources import tensorboard
from runlens.sources.files import walk
from runlens.sources.reading import SourceReading
from runlens.sources.tensorboard import scalars as event_scalars
from tests.sources.event_files import NAME, START, framed, scalar, tensor, written

EVERYTHING = dict.fromkeys(("scalars", "tensors", "histograms", "images"), 0)


def read(folder: Path, *events: Event) -> SourceReading:
    """Write the events into a file and read it."""
    return tensorboard.read(written(folder, events))


def ones(tag: str, *steps: int) -> list[Event]:
    """Return one event a step."""
    return [scalar(tag, step, 1.0) for step in steps]


def same_as_tensorboard(path: Path) -> int:
    """Assert that values, steps and times are TensorBoard's bit for bit; return their number."""
    oracle = EventAccumulator(str(path), EVERYTHING, purge_orphaned_data=False)
    oracle.Reload()
    ours, tags = tensorboard.read(path).series, oracle.Tags()["scalars"]
    assert sorted(ours) == sorted(tags)
    for tag in tags:
        points = oracle.Scalars(tag)
        assert ours[tag].value.tobytes() == np.array([p.value for p in points]).tobytes()
        assert ours[tag].time.tobytes() == np.array([p.wall_time for p in points]).tobytes()
        assert ours[tag].step.tolist() == [p.step for p in points]
    return sum(len(ours[tag].step) for tag in tags)


def test_scalars_equal_those_of_tensorboard(tmp_path: Path) -> None:
    """Odd steps, values and names come out as TensorBoard reads them."""
    steps = [*range(0, 400, 7), -1, -300, 2**40, 2**62]
    values = [0.0, -0.0, 1e-42, 3.4e38, float("inf"), float("-inf"), float("nan"), 0.1]
    tags = ["x", "train/loss", "ünit rate", "Losses/Value Loss", "a" * 113, "b" * 127, "c" * 300]
    events = [
        scalar(tag, step, values[(number + step) % len(values)], START + number / 7)
        for number, step in enumerate(steps)
        for tag in tags
    ]
    assert same_as_tensorboard(written(tmp_path, events)) == len(steps) * len(tags)


def test_many_tags_of_one_length_are_kept_apart(tmp_path: Path) -> None:
    """Hundreds of metrics whose names are equally long stay hundreds of metrics."""
    events = [scalar(f"layer_{n:03}/norm", step, n) for step in range(4) for n in range(200)]
    assert same_as_tensorboard(written(tmp_path, events)) == 800


def test_the_order_of_logging_is_kept(tmp_path: Path) -> None:
    """Steps that alternate between short and long stay in the order in which they were logged."""
    steps = [1, 1000, 2, 100_000, 3, 70] * 20
    assert read(tmp_path, *ones("loss", *steps)).series["loss"].step.tolist() == steps


def test_several_values_in_one_event(tmp_path: Path) -> None:
    """One event can hold several values."""
    values = [Summary.Value(tag=f"t{n}", simple_value=n) for n in range(3)]
    event = Event(wall_time=START, step=5, summary=Summary(value=values))
    assert {tag: (s.step[0], s.value[0]) for tag, s in read(tmp_path, event).series.items()} == {
        "t0": (5, 0.0),
        "t1": (5, 1.0),
        "t2": (5, 2.0),
    }


@pytest.mark.parametrize(
    "dtype",
    ["f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"],
)
@pytest.mark.parametrize("number", [0, 1, 100.3, -7.7])
def test_tensors_of_tensorflow_2_are_scalars(tmp_path: Path, dtype: str, number: float) -> None:
    """A tensor of one number is that number, whatever its type."""
    value = np.array(abs(number) if dtype[0] in "u?" else number).astype(dtype)
    found = read(tmp_path, tensor("epoch_loss", 3, value)).series["epoch_loss"]
    assert (found.step.tolist(), found.value.tolist()) == ([3], [float(value)])


def test_tensors_written_as_bytes_are_scalars(tmp_path: Path) -> None:
    """TensorFlow 2 itself writes the number as bytes; bfloat16 is the upper half of a float32."""
    event, half = tensor("a", 1, np.float32(0)), tensor("b", 1, np.float32(0))
    event.summary.value[0].tensor.ClearField("float_val")
    event.summary.value[0].tensor.tensor_content = struct.pack("<f", 2.5)
    half.summary.value[0].tensor.dtype = 14
    half.summary.value[0].tensor.tensor_content = struct.pack("<f", 2.5)[2:]
    series = read(tmp_path, event, half).series
    assert [series["a"].value[0], series["b"].value[0]] == [2.5, 2.5]


def test_many_tensors_are_read_as_each_of_them_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tags, types and other records of one length among each other, by columns or one by one."""
    odd = [0.0, -0.0, float("inf"), float("nan"), 1e-42, 0.1, 3e38]
    events = [
        tensor(tag, step, np.array(odd[step % 7] if tag == "a" else step % 70 / 7, dtype))
        for step in (*range(300), -5, 2**31)
        for tag, dtype in (("a", "f4"), ("b", "f4"), ("accu", "f8"), ("n", "i4"), ("v", "f4"))
    ]
    for number in range(0, len(events), 9):
        events[number] = tensor("w", number, np.arange(float(number % 4)).astype("f4"))
    path = written(tmp_path, events)
    fast = tensorboard.read(path)
    monkeypatch.setattr(event_scalars, "FEW", 10**9)
    slow = tensorboard.read(path)
    assert sorted(fast.series) == sorted(slow.series) == ["a", "accu", "b", "n", "v", "w"]
    for tag, one in fast.series.items():
        for column, other in zip(one, slow.series[tag], strict=True):
            np.testing.assert_array_equal(column, other)
    assert fast.problems == slow.problems == []


def test_what_is_no_scalar_is_stepped_over(tmp_path: Path) -> None:
    """Histograms, vectors and graphs take nothing away, and are no problem beside scalars."""
    histogram = Summary(value=[Summary.Value(tag="h", histo=HistogramProto(num=3))])
    others = [Event(step=1, summary=histogram), Event(graph_def=b"\x0a\x02\x0a\x00")]
    vector = tensor("v", 1, np.arange(3.0))
    reading = read(tmp_path / "a", *others, vector, scalar("loss", 1, 2))
    assert (list(reading.series), reading.problems) == (["loss"], [])
    alone = read(tmp_path / "b", *others)
    assert alone.problems[0].text == "holds no scalars, only: 1 version, 1 histogram, 1 graph"


def test_arguments_of_the_trainer_become_settings(tmp_path: Path) -> None:
    """The Trainer's arguments are settings; of the model's configuration only plain facts are."""
    args = {"per_device_train_batch_size": 8, "max_grad_norm": 0.3, "lr_scheduler_kwargs": None}
    model = {"model_type": "gpt2", "temperature": 1.0, "id2label": {"0": "a", "1": "b", "2": "c"}}
    reading = read(
        tmp_path,
        tensor("args/text_summary", 0, [json.dumps(args, indent=2)], "text"),
        tensor("model_config/text_summary", 0, [json.dumps(model)], "text"),
    )
    assert reading.framework == "transformers"
    assert reading.problems == []
    assert reading.config == {
        **args,
        "model_type": "gpt2",
        "num_labels": 3,
        "model_config.temperature": 1.0,
        "model_config.id2label.0": "a",
        "model_config.id2label.1": "b",
        "model_config.id2label.2": "c",
    }


@pytest.mark.parametrize(("max_steps", "plan"), [(400, (400, None)), (-1, (None, 3.0))])
def test_the_plan_of_the_trainer(
    tmp_path: Path, max_steps: int, plan: tuple[int | None, float | None]
) -> None:
    """Planned steps, where given, are the plan; else the epochs are."""
    args = {"per_device_train_batch_size": 8, "max_steps": max_steps, "num_train_epochs": 3.0}
    hints = read(tmp_path, tensor("args/text_summary", 0, [json.dumps(args)], "text")).hints
    assert (hints.planned_steps, hints.planned_epochs) == plan


@pytest.mark.parametrize(
    ("tag", "text", "settings"),
    [
        (
            "Hyperparameters/text_summary",
            "\ttrainer_type:\tppo\n\thyperparameters:\t\n\t  batch_size:\t2048\n\t  beta:\t0.005",
            {
                "trainer_type": "ppo",
                "hyperparameters.batch_size": 2048,
                "hyperparameters.beta": 0.005,
            },
        ),
        (
            "hyperparameters/text_summary",
            "|param|value|\n|-|-|\n|learning_rate|0.00025|\n|total|100|\n|cuda|True|\n|id|a|b|",
            {"learning_rate": 0.00025, "total": 100, "cuda": True, "id": "a|b"},
        ),
        ("args/text_summary", '{"cut": ', {}),
        ("args/text_summary", "[1, 2]", {}),
        ("samples/text_summary", '{"learning_rate": 1}', {}),
    ],
)
def test_text_summaries(tmp_path: Path, tag: str, text: str, settings: dict[str, object]) -> None:
    """ML-Agents' indented lines and Markdown tables are settings; other texts are none."""
    assert read(tmp_path, tensor(tag, 0, [text], "text")).config == settings


def test_hparams_become_settings(tmp_path: Path) -> None:
    """What add_hparams and Lightning write with the hparams plugin is in the settings."""
    data = plugin_data_pb2.HParamsPluginData()
    for key, value in {"lr": 2e-4, "layers": 4.0}.items():
        data.session_start_info.hparams[key].number_value = value
    data.session_start_info.hparams["optim"].string_value = "adamw"
    data.session_start_info.hparams["amp"].bool_value = True
    data.session_start_info.hparams["none"].null_value = 0
    data.session_start_info.group_name = "sweep"
    event = Event(wall_time=START)
    plugin = event.summary.value.add(tag="_hparams_/session_start_info").metadata.plugin_data
    plugin.plugin_name, plugin.content = "hparams", data.SerializeToString()
    reading = read(tmp_path, event, scalar("hp_metric", 0, -1), scalar("val_loss", 9, 1.5))
    expected = {"lr": 2e-4, "layers": 4, "optim": "adamw", "amp": True, "none": None}
    assert reading.config == expected
    assert list(reading.series) == ["val_loss"]
    assert reading.framework == "lightning"


def test_the_closing_row_is_no_ones(tmp_path: Path) -> None:
    """The Trainer's last row shows that it came to its end; train_loss in it is a mean."""
    last = ["train_loss", "train_runtime", "train_steps_per_second", "total_flos", "epoch"]
    closing = [scalar(f"train/{name}", 20, 7) for name in last]
    reading = read(tmp_path, *ones("train/loss", 10, 20), *closing)
    assert sorted(reading.series) == ["train/epoch", "train/loss"]
    assert reading.hints.summary


def test_a_curve_called_train_loss_stays(tmp_path: Path) -> None:
    """Without the Trainer's run time, train/train_loss is a curve like any other."""
    reading = read(tmp_path, *ones("train/train_loss", 1, 2, 3))
    assert list(reading.series) == ["train/train_loss"]
    assert not reading.hints.summary


@pytest.mark.parametrize(
    ("tags", "framework", "left"),
    [
        (["Environment/Cumulative Reward", "Losses/Value Loss"], "ml-agents", None),
        (["rollout/ep_rew_mean", "train/value_loss"], "stable-baselines3", None),
        (
            ["rewards/step", "rewards/iter", "rewards/time", "losses/a_loss", "losses/c_loss"],
            "rl_games",
            ["rewards/step", "losses/a_loss", "losses/c_loss"],
        ),
        (["lm loss", "lm loss vs samples"], "", ["lm loss"]),
        (["performance/iter", "rewards/time"], "", None),
    ],
)
def test_who_wrote_it(
    tmp_path: Path, tags: list[str], framework: str, left: list[str] | None
) -> None:
    """Tags tell the framework; a curve that is there again over another axis is left out."""
    reading = read(tmp_path, *(scalar(tag, 1, 1) for tag in tags))
    assert reading.framework == framework
    assert list(reading.series) == (left or tags)


def test_keras_folders_are_splits(tmp_path: Path) -> None:
    """In Keras' folders train and validation the same tag is the training and the other loss."""
    events = [tensor("epoch_loss", epoch, np.float32(2)) for epoch in range(3)]
    steps = tensor("evaluation_loss_vs_iterations", 1500, np.float32(1))
    train = tensorboard.read(written(tmp_path / "train", events))
    held_out = tensorboard.read(written(tmp_path / "validation", [*events, steps]))
    assert (list(train.series), train.framework) == (["train/loss"], "keras")
    assert sorted(held_out.series) == ["eval/loss", "evaluation_loss_vs_iterations"]
    assert train.series["train/loss"].epoch.tolist() == [1, 2, 3]


def test_a_folder_called_train_need_not_be_a_split(tmp_path: Path) -> None:
    """The folder counts only if the other split has event files too."""
    path = written(tmp_path / "train", [scalar("loss", 1, 1), scalar("val/loss", 1, 1)])
    assert sorted(tensorboard.read(path).series) == ["loss", "val/loss"]
    written(tmp_path / "val", ones("loss", 1))
    assert sorted(tensorboard.read(path).series) == ["train/loss", "val/loss"]
    other = tmp_path / "val" / NAME
    assert sorted(tensorboard.read(other).series) == ["eval/loss"]


@pytest.mark.parametrize(
    ("folder", "name"), [("validation", "eval/accuracy"), ("eval", "accuracy")]
)
def test_a_folder_called_validation_is_one_alone(tmp_path: Path, folder: str, name: str) -> None:
    """Nothing else is named so; eval may be the name of a run."""
    path = written(tmp_path / folder, ones("accuracy", 1))
    assert list(tensorboard.read(path).series) == [name]


def test_an_eval_folder_below_the_run_is_a_split(tmp_path: Path) -> None:
    """TensorFlow's estimators write evaluations into a folder below the training's events."""
    written(tmp_path, ones("loss", 1))
    path = written(tmp_path / "eval", ones("loss", 1))
    assert list(tensorboard.read(path).series) == ["eval/loss"]


def test_folders_of_add_scalars(tmp_path: Path) -> None:
    """PyTorch's add_scalars puts the key of each curve into a folder name."""
    for key, name in {"val": "eval/a/loss", "best": "best/a/loss"}.items():
        path = written(tmp_path / f"a_loss_{key}", ones("a/loss", 1, 2))
        assert list(tensorboard.read(path).series) == [name]


def test_a_restart_inside_one_file_is_a_launch(tmp_path: Path) -> None:
    """Where all steps begin anew, the next launch begins with the first of them."""
    once = [e for s in (1, 2, 3, 4) for e in (*ones("loss", s), *ones("lr", s))]
    reading = read(tmp_path, *once, scalar("eval", 4, 1), *once[:4], scalar("eval", 2, 1))
    assert reading.series["loss"].launch.tolist() == [0, 0, 0, 0, 1, 1]
    assert reading.series["lr"].launch.tolist() == [0, 0, 0, 0, 1, 1]
    assert reading.series["eval"].launch.tolist() == [0, 1]


def test_batches_counted_anew_each_epoch_are_no_restart(tmp_path: Path) -> None:
    """A tag that goes back while others go on counts something else than the run's steps."""
    epochs = [[*ones("batch_loss", *range(9)), scalar("eval", epoch, 1)] for epoch in range(4)]
    reading = read(tmp_path, *(event for epoch in epochs for event in epoch))
    assert reading.series["batch_loss"].launch.tolist() == [0] * 36


def test_many_restarts_are_none(tmp_path: Path) -> None:
    """Fifty returns to the first step are episodes, not launches."""
    reading = read(tmp_path, *ones("loss", *[1, 2, 3] * 50))
    assert not reading.series["loss"].launch.any()


def test_tensorflow_1_says_where_a_session_starts(tmp_path: Path) -> None:
    """A session that starts after the first scalar is a launch, also from a checkpoint."""
    start = Event(wall_time=START, step=2, session_log=SessionLog(status=SessionLog.START))
    events = [start, *ones("loss", 1, 2, 3), start, *ones("loss", 2, 3, 4)]
    assert read(tmp_path, *events).series["loss"].launch.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_start_is_the_time_of_the_first_record(tmp_path: Path) -> None:
    """A reading starts when its file was begun."""
    reading = read(tmp_path, scalar("loss", 1, 1, START + 60))
    assert (reading.started, reading.precision, reading.kind) == (
        START - 1,
        "float32",
        "tensorboard",
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is empty (0 bytes)"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git-lfs pointer"),
        (b"fileFormatVersion: 2\nguid: 0\n", "is text, not an event file"),
        (bytes(range(256)) * 90, "is not an event file"),
        (framed(b"\x09" + bytes(8))[:20], "ends within its first record"),
        (b"\x18\x00", "ends within its first record"),
    ],
)
def test_files_that_are_no_event_file(tmp_path: Path, content: bytes, text: str) -> None:
    """One clear problem, and nothing else."""
    path = tmp_path / NAME
    path.write_bytes(content)
    reading = tensorboard.read(path)
    assert reading.empty
    assert [text in problem.text for problem in reading.problems] == [True]
    assert reading.problems[0].lost == "the whole file"


def test_only_a_version_record(tmp_path: Path) -> None:
    """A file that was begun and never written to says so."""
    assert read(tmp_path).problems[0].text == "holds no scalars, only: 1 version"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A file that vanished between finding and reading is a problem, not an exception."""
    assert "cannot be read" in tensorboard.read(tmp_path / NAME).problems[0].text


def test_find_lists_event_files(tmp_path: Path) -> None:
    """All files with the name, also below; not what only lies beside an event file."""
    wanted = [written(tmp_path, []), written(tmp_path / "eval", [])]
    for name in (f"{NAME}.meta", "events.out.tfevents.17.box.profile-empty", "trainer_state.json"):
        (tmp_path / name).write_text("x")
    assert tensorboard.find(tmp_path, walk(tmp_path)) == wanted


def test_find_lists_a_companion_without_its_log(tmp_path: Path) -> None:
    """Where only Unity's text file is left of a log, the user is told what it is."""
    path = tmp_path / f"{NAME}.meta"
    path.write_text("fileFormatVersion: 2\n")
    assert tensorboard.find(tmp_path, walk(tmp_path)) == [path]


def test_reading_loads_no_tensorboard(tmp_path: Path) -> None:
    """Neither TensorBoard nor pandas nor protobuf is loaded to read an event file."""
    path = written(tmp_path, [scalar("loss", 1, 1), tensor("acc", 1, np.float32(1))])
    code = (
        "import pathlib, sys; from runlens.sources import tensorboard as t; "
        "assert len(t.read(pathlib.Path(sys.argv[1])).series) == 2; "
        "heavy = {'tensorboard', 'tbparse', 'pandas', 'google.protobuf'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=environment)


def test_a_text_that_tells_of_early_stopping_ends_the_run(tmp_path: Path) -> None:
    """As a loop writes it beside its scalars; a text on the patience alone says nothing."""
    said = "Early stopping triggered with patience 6 at epoch 43"
    stopped = tensor("Info early stopping /text_summary", 9, [said], "text")
    assert read(tmp_path / "a", *ones("loss", 1, 2), stopped).hints.early_stopping == said
    plan = tensor("Info/text_summary", 0, ["early stopping with patience 6"], "text")
    assert not read(tmp_path / "b", *ones("loss", 1, 2), plan).hints.early_stopping
