"""Evaluations that stable-baselines3's EvalCallback keeps beside a training."""

import io
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.sources import sb3_evaluations
from runlens.sources.files import walk

STEPS = np.arange(1_000, 11_000, 1_000)
REWARDS = np.random.default_rng(0).normal(STEPS[:, None] / 100, 5.0, (10, 5))
LENGTHS = np.arange(50).reshape(10, 5)
BOMB = 2**28  # bytes of zeros that 300 KiB unpack to
MORE = 2**27  # bytes that reading may take at most


def evaluations(path: Path, *, save: Callable[..., None] = np.savez, **arrays: Any) -> Path:
    """Write what the callback writes, or some of it otherwise; None leaves an array out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {"timesteps": STEPS, "results": REWARDS, "ep_lengths": LENGTHS} | arrays
    with path.open("wb") as file:
        save(file, **{key: value for key, value in known.items() if value is not None})
    return path


def npy(values: np.ndarray[Any, Any]) -> bytes:
    """Return an array as it stands in the archive."""
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def archive(path: Path, members: dict[str, bytes]) -> Path:
    """Write an archive of members that NumPy would not write."""
    known = {"timesteps": npy(STEPS), "results": npy(REWARDS)} | members
    with zipfile.ZipFile(path, "w") as file:
        for name, data in known.items():
            file.writestr(f"{name}.npy", data)
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("shape", [(10, 5), (10, 5, 1)])
def test_an_evaluation_is_the_mean_of_its_episodes(
    shape: tuple[int, ...], save: Callable[..., None], tmp_path: Path
) -> None:
    """At the step of the environment; the spread is a metric of its own."""
    solved = np.eye(10, 5, dtype=bool)
    evaluations(
        tmp_path / "evaluations.npz", save=save, results=REWARDS.reshape(shape), successes=solved
    )
    run = read(tmp_path)
    assert (run.framework, run.task) == ("stable-baselines3", "rl")
    assert run.config["n_eval_episodes"].value == 5
    reward = run.curve("reward")
    assert reward.step.tolist() == STEPS.tolist()
    assert np.allclose(reward.value, REWARDS.mean(axis=1))
    assert np.allclose(run.curve("eval_std_reward").value, REWARDS.std(axis=1))
    assert run.curve("eval_mean_ep_length").value.tolist() == LENGTHS.mean(axis=1).tolist()
    assert run.curve("eval_success_rate").value.tolist() == solved.mean(axis=1).tolist()
    assert not run.problems


def test_one_episode_has_no_spread(tmp_path: Path) -> None:
    """Written as one column, or as none."""
    for results in (REWARDS[:, :1], REWARDS[:, 0]):
        evaluations(tmp_path / "evaluations.npz", results=results, ep_lengths=None)
        series = sb3_evaluations.read(tmp_path / "evaluations.npz").series
        assert list(series) == ["eval/mean_reward"]
        assert series["eval/mean_reward"].value.tolist() == REWARDS[:, 0].tolist()


def test_an_array_by_columns_is_the_same(tmp_path: Path) -> None:
    """As NumPy writes what was transposed."""
    evaluations(tmp_path / "evaluations.npz", results=np.asfortranarray(REWARDS))
    assert np.allclose(read(tmp_path).curve("reward").value, REWARDS.mean(axis=1))


def test_steps_that_go_back_begin_a_launch(tmp_path: Path) -> None:
    """One callback that was given to `learn` twice."""
    evaluations(tmp_path / "evaluations.npz", timesteps=[*STEPS[:5], *STEPS[:5]])
    launch = sb3_evaluations.read(tmp_path / "evaluations.npz").series["eval/mean_reward"].launch
    assert launch.tolist() == [0] * 5 + [1] * 5


def test_a_reward_that_is_no_number_is_kept(tmp_path: Path) -> None:
    """As the callback logs it: the mean is none either."""
    rewards = REWARDS.copy()
    rewards[3, 0], rewards[4, 0] = np.nan, np.inf
    evaluations(tmp_path / "evaluations.npz", results=rewards)
    with np.errstate(all="ignore"):
        series = sb3_evaluations.read(tmp_path / "evaluations.npz").series
    value = series["eval/mean_reward"].value
    assert np.isnan(value[3])
    assert np.isinf(value[4])
    assert np.isfinite(value[5:]).all()


@pytest.mark.parametrize("place", ["", "eval", "PPO_1"])
def test_it_belongs_to_the_log_beside_which_it_lies(place: str, tmp_path: Path) -> None:
    """What the logger has too is there once, and the reward is that of the rollouts."""
    evaluations(tmp_path / place / "evaluations.npz")
    rows = "".join(
        f"{step},{step / 90},{mean}\n"
        for step, mean in zip(STEPS, REWARDS.mean(axis=1), strict=True)
    )
    (tmp_path / "progress.csv").write_text(
        f"time/total_timesteps,rollout/ep_rew_mean,eval/mean_reward\n{rows}"
    )
    run = read(tmp_path)
    assert len(run.sources) == 2
    assert np.allclose(run.curve("reward").value, STEPS / 90)
    assert np.allclose(run.curve("eval_reward").value, REWARDS.mean(axis=1))
    assert run.curve("eval_std_reward").step.tolist() == STEPS.tolist()


def test_it_belongs_to_the_episodes_beside_which_it_lies(tmp_path: Path) -> None:
    """As rl-baselines3-zoo lays them."""
    evaluations(tmp_path / "evaluations.npz")
    episodes = "".join(f"{n**1.5},200,{n}\n" for n in range(50))
    (tmp_path / "0.monitor.csv").write_text(f'#{{"t_start": 1.7e9}}\nr,l,t\n{episodes}')
    run = read(tmp_path)
    assert len(run.curve("reward")) == 50
    assert run.curve("eval_reward").step.tolist() == STEPS.tolist()


def test_evaluations_of_two_trainings_are_two_runs(tmp_path: Path) -> None:
    """Each in a folder of its own."""
    evaluations(tmp_path / "a" / "evaluations.npz")
    evaluations(tmp_path / "b" / "evaluations.npz", results=REWARDS[::-1])
    assert len(read_all(tmp_path)) == 2


def test_other_archives_of_a_folder_are_no_runs(tmp_path: Path) -> None:
    """Data sets lie there; a user may point at any of them, under any name."""
    path = evaluations(tmp_path / "my-evals.npz")
    assert sb3_evaluations.find(tmp_path, walk(tmp_path)) == []
    assert sb3_evaluations.find(path, walk(path)) == [path]
    assert len(read(path).curve("reward")) == 10


HEADER = npy(REWARDS)[:128]
NESTED = b"\x93NUMPY\x01\x00\xe8\x03" + b"(" * 999 + b"\n"
LATER = b"\x93NUMPY\x02\x00" + npy(REWARDS)[8:]


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"results": npy(REWARDS)[:-8]}, "has results of another size than its header says"),
        ({"results": HEADER.replace(b"(10, 5)", b"(10**9)")}, "damaged"),
        ({"results": HEADER.replace(b"(10, 5)", b"(9**9,)")}, "damaged"),
        ({"results": HEADER.replace(b"(10, 5)", b"(9999,)")}, "another size"),
        ({"results": HEADER.replace(b"(10, 5)", b"(-5,-1)") + bytes(40)}, "damaged"),
        ({"results": HEADER.replace(b"<f8", b"|V8") + bytes(400)}, "no numbers"),
        ({"results": NESTED}, "damaged"),
        ({"results": LATER}, "damaged"),
        ({"results": b""}, "damaged"),
        ({"results": b"words"}, "damaged"),
        ({"results": npy(REWARDS[:4])}, "has results of 4 x 5 for 10 evaluations"),
        ({"results": npy(REWARDS[:, :0])}, "has results of 10 x 0 for 10 evaluations"),
        ({"results": npy(np.array(1.0))}, "has results of one number for 10 evaluations"),
        ({"timesteps": npy(REWARDS)}, "has timesteps that are no steps"),
        ({"timesteps": npy(STEPS[:0])}, "has timesteps that are no steps"),
        ({"timesteps": npy(STEPS * np.nan)}, "has timesteps that are no steps"),
        ({"timesteps": npy(-STEPS)}, "has timesteps that are no steps"),
        ({"timesteps": npy(STEPS * 1e15)}, "has timesteps that are no steps"),
        ({f"x{n}": b"" for n in range(63)}, "holds more than 64 arrays"),
    ],
)
def test_what_is_no_evaluation_is_one_line(
    members: dict[str, bytes], told: str, tmp_path: Path
) -> None:
    """Nothing is taken, nothing raises."""
    reading = sb3_evaluations.read(archive(tmp_path / "evaluations.npz", members))
    (problem,) = reading.problems
    assert told in problem.text
    assert not reading.series
    with pytest.raises(NothingReadable, match=r"evaluations\.npz"):
        read(tmp_path)


def test_an_archive_of_other_arrays_says_which(tmp_path: Path) -> None:
    """A data set, as most such files are."""
    np.savez(tmp_path / "mnist.npz", x_train=REWARDS, y_train=STEPS)
    with pytest.raises(NothingReadable) as raised:
        read(tmp_path / "mnist.npz")
    said = "is an npz archive of x_train, y_train, without timesteps and results: no evaluations"
    assert said in str(raised.value)
    np.savez(tmp_path / "empty.npz")
    (problem,) = sb3_evaluations.read(tmp_path / "empty.npz").problems
    assert "archive of nothing" in problem.text


def test_objects_are_not_opened(tmp_path: Path) -> None:
    """Episodes of unequal number, which older releases of NumPy pickle."""
    ragged = np.array([[1.0], [1.0, 2.0]] * 5, dtype=object)
    reading = sb3_evaluations.read(evaluations(tmp_path / "evaluations.npz", results=ragged))
    (problem,) = reading.problems
    assert problem.text == "has results that are no numbers, which are not opened"


def test_a_part_that_is_damaged_costs_only_itself(tmp_path: Path) -> None:
    """Of other evaluations than those of the rewards, where some had no word of success."""
    path = evaluations(tmp_path / "evaluations.npz", successes=np.ones((4, 5)))
    reading = sb3_evaluations.read(path)
    assert len(reading.series) == 3
    (problem,) = reading.problems
    assert (problem.text, problem.lost) == (
        "has successes of 4 x 5 for 10 evaluations",
        "eval/success_rate",
    )


def test_what_was_cut_off_is_said(tmp_path: Path) -> None:
    """At whatever byte."""
    path = evaluations(tmp_path / "evaluations.npz")
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        (problem,) = sb3_evaluations.read(path).problems
        assert problem.text.startswith(("is no whole npz archive: damaged", "is empty"))


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte more than is read; one less is not."""
    path = evaluations(tmp_path / "evaluations.npz")
    size = path.stat().st_size
    monkeypatch.setattr(sb3_evaluations, "LARGEST", size)
    assert sb3_evaluations.read(path).series
    monkeypatch.setattr(sb3_evaluations, "LARGEST", size - 1)
    (problem,) = sb3_evaluations.read(path).problems
    assert "too large for evaluations" in problem.text


@pytest.mark.parametrize("how", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("says", [BOMB, 400])
def test_a_bomb_is_not_unpacked(says: int, how: int, tmp_path: Path) -> None:
    """Whether the list of contents says what it unpacks to, or less."""
    path = tmp_path / "evaluations.npz"
    with zipfile.ZipFile(path, "w", how) as file:
        file.writestr("timesteps.npy", npy(STEPS))
        with file.open("results.npy", "w", force_zip64=True) as member:
            member.write(HEADER)
            for _ in range(BOMB // 2**24):
                member.write(bytes(2**24))
        file.getinfo("results.npy").file_size = says if says == BOMB else len(HEADER) + says
    tracemalloc.start()
    (problem,) = sb3_evaluations.read(path).problems
    assert tracemalloc.get_traced_memory()[1] < MORE
    tracemalloc.stop()
    assert problem.text.startswith(("unpacks to 268,435,456", "is no whole npz archive"))


@given(st.binary(max_size=300), st.integers(0, 1_500))
def test_no_content_raises(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, place: int
) -> None:
    """Whatever stands in the middle of an archive, the reader ends with a reading."""
    path = evaluations(tmp_path_factory.mktemp("any") / "evaluations.npz")
    whole = path.read_bytes()
    path.write_bytes(whole[:place] + data + whole[place + len(data) :])
    with np.errstate(all="ignore"):
        for series in sb3_evaluations.read(path).series.values():
            assert len(series.step) == len(series.value)
