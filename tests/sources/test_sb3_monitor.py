"""Episodes of reinforcement learning, one environment a file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens import read
from runlens.sources.files import walk
from runlens.sources.tables import csv_log, sb3_monitor

HEAD = '#{"t_start": 1700000000.5, "env_id": "CartPole-v1"}\n'


def monitor(path: Path, *rows: str, head: str = HEAD, names: str = "r,l,t") -> Path:
    """Write a file of episodes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}{names}\n" + "".join(f"{row}\n" for row in rows))
    return path


def test_step_is_that_of_the_environment(tmp_path: Path) -> None:
    """The sum of the lengths up to each episode; times count from the start."""
    monitor(tmp_path / "monitor.csv", "9.0,10,1.5", "-8.5,20,2.5", "nan,30,3.5")
    run = read(tmp_path)
    reward, length = run.curve("reward"), run.curve("episode_length")
    assert reward.step.tolist() == [10, 30]
    assert reward.value.tolist() == [9.0, -8.5]
    assert length.step.tolist() == [10, 30, 60]
    assert length.time.tolist() == [1700000002.0, 1700000003.0, 1700000004.0]
    assert (run.framework, run.task) == ("stable-baselines3", "rl")
    assert run.config["env_id"].value == "CartPole-v1"
    assert not run.problems


def test_a_name_of_the_users_own(tmp_path: Path) -> None:
    """`Monitor(env, "model1_train2.csv")` keeps it; several of a folder are one run."""
    monitor(tmp_path / "train2.csv", "9.0,10,1.5", "8.5,20,2.5")
    assert read(tmp_path / "train2.csv").curve("reward").step.tolist() == [10, 30]
    monitor(tmp_path / "train1.csv", "7.0,5,0.5")
    (tmp_path / "prices.csv").write_text("r,torque\n1,2\n")
    assert read(tmp_path).curve("reward").value.tolist() == [7.0, 9.0, 8.5]


@pytest.mark.parametrize("names", ["r,l,t", "r,l,t,is_success"])
def test_a_table_without_its_comment_is_read(names: str, tmp_path: Path) -> None:
    """Nothing says when it began."""
    monitor(tmp_path / "monitor.csv", "0.0,45,1.5,0", "2.0,30,2.5,1", head="", names=names)
    run = read(tmp_path / "monitor.csv")
    assert run.curve("reward").step.tolist() == [45, 75]
    assert np.isnan(run.curve("reward").time).all()


def test_a_table_of_radii_lengths_and_torques_is_none(tmp_path: Path) -> None:
    """Its names only begin alike."""
    path = monitor(tmp_path / "monitor.csv", "1,10,1", head="", names="r,l,torque")
    assert sb3_monitor.find(tmp_path, walk(tmp_path)) == []
    assert csv_log.find(path, walk(path)) == [path]


def test_environments_of_one_run_are_joined_by_time(tmp_path: Path) -> None:
    """Their steps are those of all together; one file alone has its own."""
    monitor(tmp_path / "0.monitor.csv", "1.0,10,1.0", "3.0,10,3.0")
    monitor(tmp_path / "1.monitor.csv", "2.0,5,2.0", "4.0,5,4.0")
    run = read(tmp_path)
    assert run.curve("reward").value.tolist() == [1, 2, 3, 4]
    assert run.curve("reward").step.tolist() == [10, 15, 25, 30]
    one = read(tmp_path / "1.monitor.csv")
    assert one.curve("reward").step.tolist() == [5, 10]


def test_later_launch_that_appends_goes_on(tmp_path: Path) -> None:
    """Its clock begins again at zero; no episode is put before those of the first launch."""
    monitor(tmp_path / "monitor.csv", "1,10,5.0", "2,10,9.0", "3,10,0.5", "4,10,2.5")
    reward = read(tmp_path).curve("reward")
    assert reward.value.tolist() == [1, 2, 3, 4]
    assert (reward.time[1:] >= reward.time[:-1]).all()


def test_further_columns_are_kept(tmp_path: Path) -> None:
    """What `info_keywords` names."""
    path = monitor(tmp_path / "monitor.csv", "1,10,1,0,nan", names="r,l,t,is_success,x")
    series = sb3_monitor.read(path).series
    assert series["is_success"].value.tolist() == [0]
    assert "x" not in series


@pytest.mark.parametrize("beside", ["progress.csv", "PPO_1/events.out.tfevents.1.host.2.0"])
def test_episodes_beside_their_means_are_no_second_reward(beside: str, tmp_path: Path) -> None:
    """The logger's curve stays as it is; the episodes are there under a name of their own."""
    monitor(tmp_path / "monitor.csv", *(f"{n},10,{n}" for n in range(1, 9)))
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).write_text("rollout/ep_rew_mean,time/total_timesteps\n1.5,40\n2.5,80\n")
    series = sb3_monitor.read(tmp_path / "monitor.csv").series
    assert set(series) == {"monitor/r", "monitor/l"}
    if beside == "progress.csv":
        run = read(tmp_path)
        assert run.curve("reward").value.tolist() == [1.5, 2.5]
        assert len(run.curve("monitor/r")) == 8


def test_only_tables_of_episodes_are_taken(tmp_path: Path) -> None:
    """A table of another name or beginning is the CSV reader's."""
    other = tmp_path / "gpu_monitor.csv"
    other.write_text("step,loss\n1,0.5\n2,0.4\n")
    path = monitor(tmp_path / "0.monitor.csv", "1,10,1")
    names = walk(tmp_path)
    assert sb3_monitor.find(tmp_path, names) == [path]
    assert csv_log.find(tmp_path, names) == [other]
    assert csv_log.find(path, walk(path)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{HEAD}r,l,t\n1,10,1\n2,1", "ends in the middle of a row"),
        (f"{HEAD}a,b\n1,10\n", "has no episodes"),
        (f"{HEAD}", "has no episodes"),
        ("", "is empty"),
        (f"{HEAD}r,l,t\n1,-10,1\n", "cannot be summed up"),
        (f"{HEAD}r,l,t\n1,1e300,1\n", "cannot be summed up"),
        (f'{HEAD}r,l,t\n1,10,1\n"' + "x" * 200_000 + "\n", "cannot be read to its end"),
    ],
)
def test_what_is_lost_is_said(text: str, told: str, tmp_path: Path) -> None:
    """Episodes before the damage are kept."""
    (tmp_path / "monitor.csv").write_text(text)
    reading = sb3_monitor.read(tmp_path / "monitor.csv")
    assert any(told in problem.text for problem in reading.problems)
    if "1,10,1\n" in text:
        assert reading.series["episode_reward"].step.tolist()[0] == 10


def test_a_row_that_is_being_written_is_no_episode(tmp_path: Path) -> None:
    """Its length or its time may be half a number; those before keep their times."""
    path = monitor(tmp_path / "monitor.csv", "1,10,1.5", "2,20,2.5")
    for torn in ("3", "3,1", "3,15,", "3,15,3"):
        path.write_text(f"{HEAD}r,l,t\n1,10,1.5\n2,20,2.5\n{torn}")
        reading = sb3_monitor.read(path)
        reward = reading.series["episode_reward"]
        assert reward.step.tolist() == [10, 30]
        assert reward.time.tolist() == [1700000002.0, 1700000003.0]
        assert [problem.lost for problem in reading.problems] == ["the last row"]


def test_an_episode_without_a_time_lies_between_its_neighbours(tmp_path: Path) -> None:
    """One damaged cell does not cost the times of all others."""
    path = monitor(tmp_path / "monitor.csv", "1,10,1.5", "2,10,x", "3,10,3.5")
    time = sb3_monitor.read(path).series["episode_reward"].time
    assert time.tolist() == [1700000002.0, 1700000003.0, 1700000004.0]


def test_episodes_without_times_are_not_dated(tmp_path: Path) -> None:
    """They stay in the order of their rows; no time is made up."""
    path = monitor(tmp_path / "monitor.csv", "1,10", "2,20", names="r,l")
    reward = sb3_monitor.read(path).series["episode_reward"]
    assert reward.step.tolist() == [10, 30]
    assert np.isnan(reward.time).all()


@pytest.mark.parametrize("head", ["#{}\n", '#{"t_start": "x"\n', '#{"' + "[" * 9_999 + "\n"])
def test_head_that_says_nothing(head: str, tmp_path: Path) -> None:
    """The episodes are read without times."""
    reading = sb3_monitor.read(monitor(tmp_path / "monitor.csv", "1,10,1", head=head))
    assert reading.started is None
    assert reading.series["episode_reward"].step.tolist() == [10]


@given(st.binary(max_size=200))
def test_no_content_raises(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever stands below a header, the reader ends with a reading."""
    path = tmp_path_factory.mktemp("any") / "monitor.csv"
    path.write_bytes(f"{HEAD}r,l,t\n".encode() + data)
    for series in sb3_monitor.read(path).series.values():
        assert len(series.step) == len(series.value)
