"""Where event files lie, and what that says: folders as the frameworks leave them, read as runs."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from runlens.run import Run
from runlens.sources import read, read_all, tensorboard
from runlens.sources.files import walk
from tests.sources.event_files import NAME, START, curve, framed, scalar, tensor, written

HOUR = 3600


def name(launch: int) -> str:
    """Return the name of the event file of a launch; launches are an hour apart."""
    return f"events.out.tfevents.{int(START) + HOUR * launch}.box.{17 + launch}.0"


def lightning(place: Path) -> None:
    """Write what fit and test of Lightning leave in one folder, an hour apart."""
    fit = [*curve("train_loss", range(0, 200, 10)), *curve("val_loss", (50, 100, 150, 190))]
    epochs = [scalar("epoch", step, step // 50) for step in range(0, 200, 10)]
    written(place / "version_0", [*fit, *epochs, scalar("hp_metric", 0, -1)], name(0))
    test = [scalar("test_loss", 200, 9.0, START + HOUR), scalar("epoch", 200, 4, START + HOUR)]
    written(place / "version_0", test, name(1), START + HOUR)


def trainer(place: Path) -> None:
    """Write the Trainer's curves, and below them the file of hparams that PyTorch adds."""
    events = [*curve("train/loss", range(10, 210, 10)), *curve("eval/loss", (100, 200))]
    written(place / "runs/Nov21_box", events)
    written(place / "runs/Nov21_box/1700000001.5", [scalar("hp_metric", 0, -1)])


def keras(place: Path) -> None:
    """Write Keras' folders: the same tags in both."""
    for number, folder in enumerate(("train", "validation")):
        losses = [tensor("epoch_loss", n, np.float32(number + 1 / (n + 1))) for n in range(10)]
        written(place / "logs" / folder, losses, f"{NAME}.v2")


def yolo(place: Path) -> None:
    """Write a run of Ultralytics, whose first run is called train."""
    tags = ("train/box_loss", "val/box_loss", "metrics/mAP_0.5")
    written(place / "runs/detect/train", [event for tag in tags for event in curve(tag, range(3))])


def rl_games(place: Path) -> None:
    """Write curves of rl_games: each reward over three axes."""
    tags = ("losses/a_loss", "losses/c_loss", "rewards/step", "rewards/iter", "rewards/time")
    steps = range(0, 4096, 512)
    written(place / "summaries", [event for tag in tags for event in curve(tag, steps)])


def late(place: Path) -> None:
    """Write a run that goes on from a model trained elsewhere."""
    written(place, curve("train/loss", range(140_749, 141_749, 100)))


@pytest.mark.parametrize(
    ("layout", "framework", "points"),
    [
        (lightning, "lightning", {"train_loss": 20, "eval_loss": 4, "test_loss": 1}),
        (trainer, "unknown", {"train_loss": 20, "eval_loss": 2}),
        (keras, "keras", {"train_loss": 10, "eval_loss": 10}),
        (yolo, "unknown", {"box_loss": 3, "eval_box_loss": 3, "eval_map50": 3}),
        (rl_games, "rl_games", {"policy_loss": 8, "value_loss": 8, "reward": 8}),
        (late, "unknown", {"train_loss": 10}),
    ],
)
def test_one_run_in_the_folders_of_its_framework(
    layout: Callable[[Path], None], framework: str, points: dict[str, int], tmp_path: Path
) -> None:
    """One run with one segment; every point once, under its own name."""
    layout(tmp_path)
    run = read(tmp_path)
    assert {metric: len(run.curve(metric)) for metric in run.history.metrics} == points
    assert (run.framework, len(run.segments)) == (framework, 1)


def test_the_epoch_of_lightning_is_a_column_and_no_metric(tmp_path: Path) -> None:
    """It is logged as a scalar; here it tells where each loss stands."""
    lightning(tmp_path)
    assert read(tmp_path).curve("train_loss").epoch.tolist() == [n // 5 for n in range(20)]


def test_a_test_without_validation_is_the_evaluation(tmp_path: Path) -> None:
    """Only where a run has both are they kept apart; within one file too."""
    written(tmp_path / "one", [*curve("train_loss", range(9)), *curve("test_loss", range(9))])
    both = [*curve("test_loss", range(9)), *curve("val_loss", range(3))]
    written(tmp_path / "two", [*curve("train_loss", range(9)), *both])
    one, two = read(tmp_path / "one"), read(tmp_path / "two")
    assert [len(one.curve(metric)) for metric in ("eval_loss", "test_loss")] == [9, 0]
    assert [len(two.curve(metric)) for metric in ("eval_loss", "test_loss")] == [3, 9]


def rewards(run: Run) -> list[float]:
    """Return the reward of a run as logged."""
    return [float(value) for value in run.curve("reward").value]


def test_starts_of_different_experiments_are_never_one_zigzag(tmp_path: Path) -> None:
    """Four starts in one folder, each from step 0: four runs; one that wrote nothing is none."""
    for launch in range(4):
        events = [
            scalar("rollout/ep_rew_mean", step, (-10) ** launch + math.sin(step), START + step)
            for step in range(0, 2000, 100)
        ]
        written(tmp_path / "logs", events, name(launch), START + HOUR * launch)
    written(tmp_path / "logs", [], name(4), START + 4 * HOUR)
    runs = read_all(tmp_path)
    assert sorted(round(np.median(rewards(run))) for run in runs) == [-1000, -10, 1, 100]
    assert all(len(run.curve("reward")) == 20 for run in runs)


def test_starts_that_go_on_are_segments_of_one_run(tmp_path: Path) -> None:
    """Three starts, each where the one before had come to."""
    for launch in range(3):
        steps = range(10 + 200 * launch, 210 + 200 * launch, 10)
        events = [scalar("train/loss", s, 3 / (1 + s), START + HOUR * launch + s) for s in steps]
        written(tmp_path / "logs", events, name(launch), START + HOUR * launch)
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(10, 610, 10))
    assert [segment.first_step for segment in run.segments] == [10, 210, 410]


def test_steps_that_begin_anew_again_and_again_keep_every_point(tmp_path: Path) -> None:
    """SB3's learn() in a loop: 52 times from zero, in one file."""
    events = [
        scalar("rollout/ep_rew_mean", step, (20 * loop + step) / 4, START + 20 * loop + step)
        for loop in range(52)
        for step in range(20)
    ]
    written(tmp_path, events)
    assert sorted(rewards(read(tmp_path))) == [n / 4 for n in range(52 * 20)]


def test_many_values_at_one_step_are_all_kept_in_order(tmp_path: Path) -> None:
    """Every batch of a validation logged at the step of the training."""
    batches = [scalar("val/loss", 5, n / 4, START + n) for n in range(300)]
    written(tmp_path, [*curve("train/loss", range(9)), *batches])
    assert read(tmp_path).curve("eval_loss").value.tolist() == [n / 4 for n in range(300)]


def test_behaviours_of_ml_agents_are_told_apart(tmp_path: Path) -> None:
    """One folder a behaviour, the settings above them: each has its curves and the settings."""
    for behaviour, high in (("Goalie", 1.0), ("Striker", 5.0)):
        events = [
            scalar("Environment/Cumulative Reward", step, high, START + step)
            for step in range(1000, 9000, 1000)
        ]
        losses = curve("Losses/Value Loss", range(500, 9000, 500))
        written(tmp_path / "run1" / behaviour, [*events, *losses])
    (tmp_path / "run1" / "configuration.yaml").write_text("checkpoint_interval: 500\n")
    runs = read_all(tmp_path / "run1")
    assert sorted(rewards(run)[0] for run in runs) == [1.0, 5.0]
    assert all(run.framework == "ml-agents" and len(run.curve("value_loss")) == 17 for run in runs)
    assert all(run.config["save_steps"].value == 500 for run in runs)


def test_resumed_run_that_was_given_more_steps(tmp_path: Path) -> None:
    """The plan of its last launch counts, as far as it came."""
    for launch, (begin, planned) in enumerate(((1000, 5000), (6000, 20_000))):
        settings = tensor("Hyperparameters/text_summary", 0, [f"max_steps:\t{planned}"], "text")
        rewards = [
            scalar("Environment/Cumulative Reward", step, 1.0, START + HOUR * launch + step / 10)
            for step in range(begin, begin + 5000, 1000)
        ]
        written(tmp_path / "Cube", [settings, *rewards], name(launch), START + HOUR * launch)
    state = read(tmp_path).state
    assert (state.planned_steps, state.kind) == (20_000, "unknown")


def test_tags_of_any_length(tmp_path: Path) -> None:
    """Plain scalars and tensors: lengths at which protobuf's own lengths take a byte more too."""
    tags = ["t" * size for size in range(1, 140)]
    plain = [scalar(tag, step, 1.5) for tag in tags for step in range(9)]
    tensors = [tensor(tag, step, np.float32(1.5)) for tag in tags for step in range(9)]
    for folder, events in (("plain", plain), ("tensors", tensors)):
        found = tensorboard.read(written(tmp_path / folder, events)).series
        assert list(found) == tags
        assert all(series.step.tolist() == list(range(9)) for series in found.values())


def test_tensors_that_are_no_plain_number(tmp_path: Path) -> None:
    """A zero that was left out is a zero; complex numbers, no text and too many bytes are none."""
    about = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    protos = {
        "zero": TensorProto(dtype=1),
        "complex": TensorProto(dtype=8, scomplex_val=[1, 2]),
        "text": TensorProto(dtype=7),
        "long": TensorProto(dtype=1, tensor_content=bytes(8)),
    }
    events = [
        Event(step=1, summary=Summary(value=[Summary.Value(tag=tag, tensor=one, metadata=about)]))
        for tag, one in protos.items()
    ]
    series = tensorboard.read(written(tmp_path, events)).series
    assert {tag: found.value.tolist() for tag, found in series.items()} == {"zero": [0.0]}


def test_settings_that_are_told_twice_count_once(tmp_path: Path) -> None:
    """The first of two texts of one tag is taken."""
    texts = [
        tensor("args/text_summary", 0, [f'{{"learning_rate": {rate}}}'], "text")
        for rate in (0.5, 0.25)
    ]
    assert tensorboard.read(written(tmp_path, texts)).config == {"learning_rate": 0.5}


@pytest.mark.parametrize(
    "called",
    [
        "events.out.tfevents.1700000000.gpu-3.cluster.example.org.4711.0",
        "events.out.tfevents.1700000000.box",
        "events.out.tfevents.1700000000.box.17.0.v2",
    ],
)
def test_all_names_of_event_files_are_found(called: str, tmp_path: Path) -> None:
    """Hosts have dots; TensorFlow adds .v2, others leave out the process."""
    path = written(tmp_path, curve("train/loss", range(5)), called)
    assert tensorboard.find(tmp_path, walk(tmp_path)) == [path]
    assert len(read(tmp_path).curve("train_loss")) == 5


def test_a_file_cut_behind_its_settings_keeps_them(tmp_path: Path) -> None:
    """The Trainer writes its arguments first; what follows was cut."""
    args = tensor("args/text_summary", 0, ['{"learning_rate": 0.5}'], "text")
    path = written(tmp_path, [args])
    path.write_bytes(path.read_bytes() + framed(args.SerializeToString())[:30])
    reading = tensorboard.read(path)
    assert reading.config == {"learning_rate": 0.5}
    assert [problem.lost for problem in reading.problems] == [
        "30 bytes of an unfinished record at the end"
    ]
