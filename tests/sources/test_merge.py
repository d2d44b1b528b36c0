"""Several sources of one run become one history; several runs stay several."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable, SeveralRuns
from runlens.run import Event
from runlens.sources.merging.combine import FAR, Clock
from runlens.sources.merging.merge import runs_of
from runlens.sources.reading import Series, SourceReading, series

RNG = np.random.default_rng(3)
LOSS = 2.0 - 0.01 * np.arange(1, 41) + RNG.normal(0, 0.02, 40)
STEPS = np.arange(10, 410, 10)


def reading(path: str, kind: str, curves: Mapping[str, Series], **more: Any) -> SourceReading:
    """Return a reading as a reader would hand it over."""
    return SourceReading(Path(path), kind, series=dict(curves), **more)


def state(folder: Path, rows: Sequence[Mapping[str, object]], **top: object) -> None:
    """Write a trainer_state.json."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"log_history": rows, **top})
    (folder / "trainer_state.json").write_text(text)


def rows(values: Iterable[float], every: int = 10) -> list[dict[str, float]]:
    """Return log rows of a training loss."""
    return [{"step": every * (n + 1), "loss": value} for n, value in enumerate(values)]


def test_one_observation_is_counted_once() -> None:
    """The precise source wins, and what only the other has is added."""
    exact = reading("r/trainer_state.json", "trainer_state", {"loss": series(STEPS, LOSS)})
    events = reading(
        "r/events",
        "tensorboard",
        {"train/loss": series(STEPS, LOSS.astype(np.float32), time=STEPS * 2.0 + 1e9)},
        precision="float32",
    )
    (run,) = runs_of(Path("r"), "r", [events, exact])
    curve = run.curve("train_loss")
    np.testing.assert_array_equal(curve.value, LOSS)
    np.testing.assert_array_equal(curve.time, STEPS * 2.0 + 1e9)
    assert run.problems == ()


def test_printed_values_only_add_what_lies_beyond() -> None:
    """A console log's inferred steps never double a point that another source has."""
    exact = reading(
        "r/trainer_state.json", "trainer_state", {"loss": series(STEPS[:30], LOSS[:30])}
    )
    shifted = series(STEPS + 1, np.round(LOSS, 4))
    log = reading(
        "r/train.log", "console", {"loss": shifted}, precision="rounded", steps_inferred=True
    )
    (run,) = runs_of(Path("r"), "r", [exact, log])
    assert run.curve("train_loss").step.tolist() == STEPS.tolist()


def test_a_log_without_steps_takes_them_from_its_rows_in_another_source() -> None:
    """Counted rows (1, 2, 3...) become steps 10, 20, 30; its events move along."""
    exact = reading("r/events", "tensorboard", {"train/loss": series(STEPS[:30], LOSS[:30])})
    message = Event("message", 40, text="Killed", data={"row": 5, "class": "kill", "last": True})
    log = reading(
        "r/output.log",
        "console",
        {"loss": series(np.arange(1, 41), np.round(LOSS, 4))},
        precision="rounded",
        steps_inferred=True,
        events=[message],
    )
    (run,) = runs_of(Path("r"), "r", [exact, log])
    assert run.curve("train_loss").step.tolist() == STEPS.tolist()
    assert [event.step for event in run.events_of("message")] == [400]


def test_sources_that_disagree_are_told() -> None:
    """Half of the points differ beyond rounding: the reader learns which were used."""
    other = LOSS.copy()
    other[20:] += 0.5
    sources = [
        reading("r/trainer_state.json", "trainer_state", {"loss": series(STEPS, LOSS)}),
        reading("r/run-1.wandb", "wandb", {"train/loss": series(STEPS, other)}),
    ]
    (run,) = runs_of(Path("r"), "r", sources)
    (problem,) = run.problems
    assert problem.lost == "its values at 20 of 40 points"
    assert "step 210" in problem.text


def test_a_resume_is_a_segment_and_its_start_an_event() -> None:
    """The second event file begins at the checkpoint; the discarded tail is kept apart."""
    first = reading(
        "r/a/events.1", "tensorboard", {"train/loss": series(STEPS[:25], LOSS[:25])}, started=1.0
    )
    again = LOSS.copy()
    again[20:25] += 0.001
    second = reading(
        "r/b/events.2", "tensorboard", {"train/loss": series(STEPS[20:], again[20:])}, started=2.0
    )
    whole = reading("r/trainer_state.json", "trainer_state", {"loss": series(STEPS, again)})
    (run,) = runs_of(Path("r"), "r", [first, second, whole])
    assert [(s.number, s.first_step, s.last_step) for s in run.segments] == [
        (0, 10, 250),
        (1, 210, 400),
    ]
    np.testing.assert_array_equal(run.curve("train_loss").value, again)
    assert [event.step for event in run.events_of("resume")] == [210]


def test_sibling_runs_stay_apart() -> None:
    """Same folder, same metrics, other values: two runs."""
    other = LOSS + RNG.normal(0, 0.05, 40)
    sources = [
        reading(f"r/{name}/trainer_state.json", "trainer_state", {"loss": series(STEPS, value)})
        for name, value in (("a", LOSS), ("b", other))
    ]
    runs = runs_of(Path("r"), "r", sources)
    assert [run.name for run in runs] == ["a", "b"]


def test_settings_of_the_folder_above_belong_to_every_run_below() -> None:
    """One configuration file, two runs."""
    sources = [
        reading(f"r/{name}/trainer_state.json", "trainer_state", {"loss": series(STEPS, value)})
        for name, value in (("a", LOSS), ("b", LOSS[::-1]))
    ]
    config = reading("r/config.yaml", "config", {}, config={"lr": 2e-4})
    runs = runs_of(Path("r"), "r", [*sources, config])
    assert [run.number("learning_rate") for run in runs] == [2e-4, 2e-4]


def test_trackers_ids_join_launches_and_part_runs() -> None:
    """Two W&B folders with one id are one run, whatever lies between them."""
    curve = {"train/loss": series(STEPS, LOSS)}
    same = [reading(f"w/{n}/run-x.wandb", "wandb", curve, run_id="x") for n in "ab"]
    other = reading("w/c/run-y.wandb", "wandb", curve, run_id="y")
    assert len(runs_of(Path("w"), "w", [*same, other])) == 2


def test_checkpoints_of_one_run_are_one_run(tmp_path: Path) -> None:
    """Each state repeats the rows of the one before it."""
    for step in (200, 400):
        state(tmp_path / f"checkpoint-{step}", rows(LOSS[: step // 10]), global_step=step)
    run = read(tmp_path)
    assert len(run.curve("train_loss")) == 40
    assert [step for step, _ in run.checkpoints] == [200, 400]
    assert run.state.kind == "unknown"  # snapshots say nothing about the end


def test_several_runs_are_an_error_for_read_that_names_them(tmp_path: Path) -> None:
    """`read_all` gives both."""
    state(tmp_path / "a", rows(LOSS))
    state(tmp_path / "b", rows(LOSS[::-1]))
    with pytest.raises(SeveralRuns, match=r"2 runs lie here \(a, b\)"):
        read(tmp_path)
    assert [run.name for run in read_all(tmp_path)] == ["a", "b"]


def test_epoch_and_time_are_filled_from_whoever_knows() -> None:
    """Only exact steps are filled; nothing is invented between."""
    clock = Clock.of([(np.array([1, 3]) + FAR, np.array([0.1, 0.3]))])
    filled = clock.fill(np.array([1, 2, 3]) + FAR, np.full(3, np.nan))
    np.testing.assert_array_equal(filled, [0.1, np.nan, 0.3])


def test_secrets_are_masked() -> None:
    """Keys never reach a report."""
    config: dict[str, Any] = {
        "hub_token": "hf_" + "a" * 30,
        "command_line": "train.py --api_key abcdef --lr 1e-4",
        "num_tokens": 5,
        "tokenizer": "gpt2",
    }
    source = reading("r/x", "config", {"loss": series(STEPS, LOSS)}, config=config)
    (run,) = runs_of(Path("r"), "r", [source])
    assert run.setting("hub_token") == "(hidden)"
    assert run.setting("command_line") == "train.py --api_key (hidden) --lr 1e-4"
    assert (run.setting("num_tokens"), run.setting("tokenizer")) == (5, "gpt2")


def test_entropy_of_fine_tuning_is_no_policy_entropy() -> None:
    """TRL's SFT logs `entropy` of its predictions: no rule may read it as a policy's."""
    curves = {"loss": series(STEPS, LOSS), "entropy": series(STEPS, LOSS),
              "mean_token_accuracy": series(STEPS, LOSS)}  # fmt: skip
    (run,) = runs_of(Path("r"), "r", [reading("r/x", "trainer_state", curves)])
    assert run.task == "sft"
    assert len(run.curve("pred_entropy")) == 40
    assert not len(run.curve("entropy"))


def test_events_that_two_sources_tell_are_told_once() -> None:
    """A checkpoint seen on disk and in the log is one checkpoint."""
    curve = {"loss": series(STEPS, LOSS)}
    saved = Event("checkpoint", 200, text="a", data={"path": "checkpoint-200"})
    sources = [
        reading("r/trainer_state.json", "trainer_state", curve, events=[saved]),
        reading("r/train.log", "console", curve, events=[saved._replace(text="Saving")]),
    ]
    (run,) = runs_of(Path("r"), "r", sources)
    assert len(run.events_of("checkpoint")) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("trainer_state.json", b"", "is empty (0 bytes)"),
        ("trainer_state.json", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("trainer_state.json", b'{"log_history": [{"step": 1, "lo', "no whole JSON"),
        ("trainer_state.json", b"[" * 100_000, "nested too deeply"),
        ("trainer_state.json", b'{"log_history": 3}', "holds no log_history"),
        ("notes.md", b"hello", "looked for trainer_state.json"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    """What, where, what to do; never a traceback."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NothingReadable) as caught:
        read(tmp_path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_place_and_an_empty_folder_are_told_apart(tmp_path: Path) -> None:
    """Both are one line that names the place."""
    with pytest.raises(NothingReadable, match="does not exist"):
        read(tmp_path / "nowhere")
    with pytest.raises(NothingReadable, match="is an empty directory"):
        read(tmp_path)


def test_siblings_of_one_seed_stay_apart_although_they_begin_alike() -> None:
    """Equal to the last digit for two thirds of the run; then a setting shows."""
    other = LOSS.copy()
    other[27:] += RNG.normal(0, 0.05, 13)
    sources = [
        reading(f"r/{name}/trainer_state.json", "trainer_state", {"loss": series(STEPS, value)})
        for name, value in (("a", LOSS), ("b", other))
    ]
    assert len(runs_of(Path("r"), "r", sources)) == 2


def test_a_resume_that_repeats_steps_with_other_values_is_one_run() -> None:
    """Event files alone, no two values of the repeated steps equal: told by start and place."""
    first = {"train/loss": series(STEPS[:30], LOSS[:30])}
    again = {"train/loss": series(STEPS[20:], LOSS[20:] + 0.03)}
    sources = [
        reading("r/runs/a/events.1", "tensorboard", first, started=1.0),
        reading("r/runs/b/events.2", "tensorboard", again, started=2.0),
    ]
    (run,) = runs_of(Path("r"), "r", sources)
    assert [segment.first_step for segment in run.segments] == [10, 210]


def test_three_hundred_runs_are_told_apart_in_good_time() -> None:
    """Comparing every pair stays affordable."""
    sources = [
        reading(
            f"r/{n}/trainer_state.json",
            "trainer_state",
            {"loss": series(STEPS, LOSS + RNG.normal(0, 0.05, 40))},
        )
        for n in range(300)
    ]
    assert len(runs_of(Path("r"), "r", sources)) == 300


def test_an_unreadable_file_among_several_runs_is_told_by_the_nearest(tmp_path: Path) -> None:
    """Nothing is dropped in silence."""
    state(tmp_path / "a", rows(LOSS))
    state(tmp_path / "b", rows(LOSS[::-1]))
    (tmp_path / "b" / "checkpoint-7").mkdir()
    (tmp_path / "b" / "checkpoint-7" / "trainer_state.json").write_bytes(b"")
    first, second = read_all(tmp_path)
    assert first.problems == ()
    assert [p.where for p in second.problems] == ["b/checkpoint-7/trainer_state.json"]


def test_tokens_in_a_log_are_masked() -> None:
    """The tail of a log and its messages reach the report without them."""
    line = "login with hf_" + "a" * 30
    log = reading(
        "r/train.log",
        "console",
        {"loss": series(STEPS, LOSS)},
        log_tail=(line,),
        events=[Event("message", 1, text=line, data={"row": 99, "class": "fallback"})],
    )
    (run,) = runs_of(Path("r"), "r", [log])
    assert run.log_tail == ("login with (hidden)",)
    assert [event.text for event in run.events] == ["login with (hidden)"]


def test_a_walk_that_was_cut_short_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More folders than are looked at: the run says so."""
    state(tmp_path / "a", rows(LOSS))
    monkeypatch.setattr("runlens.sources.MAX_FOLDERS", 2)
    (problem,) = read(tmp_path).problems
    assert problem.text == "has more than 2 folders; point at a run below it"
