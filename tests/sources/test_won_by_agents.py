"""What an agent is judged by under other names: scores, profits, games won, in any language."""

import json
from pathlib import Path

import pytest

from runlens import read
from runlens.naming.agents import won
from runlens.run import Run

ROWS = range(1, 41)


def of_table(folder: Path, *columns: str, name: str = "metrics.csv") -> Run:
    """Read a table: ``loss`` and ``epsilon`` fall, ``accuracy`` and all others rise."""
    lines = [",".join(columns)]
    for row in ROWS:
        value = {
            "episode": 10 * row, "epoch": row, "env_steps": 500 * row, "loss": 3 / row,
            "epsilon": 0.9**row, "privacy_epsilon": row / 9, "accuracy": row / 50,
            "losses": 80 - row, "draws": 3,
        }  # fmt: skip
        lines.append(",".join(f"{value.get(one, 2 * row + row % 3):g}" for one in columns))
    (folder / name).write_text("\n".join([*lines, ""]))
    return read(folder)


@pytest.mark.parametrize(
    ("columns", "reward"),
    [
        ("episode,score,epsilon,loss", "score"),
        ("episode,mean_score,loss", "mean_score"),
        ("episode,epsilon,win_rate,loss", "win_rate"),
        ("episode,total_profit,loss", "total_profit"),
        ("epoch,utility,num_wins,loss", "utility"),
        ("epoch,profit,epsilon,loss", "profit"),
        ("env_steps,score,loss", "score"),
        ("episode,revenue", "revenue"),
        ("episode,total_income,loss", "total_income"),
        ("episode,win_ratio,loss", "win_ratio"),
        ("episode,success_fraction", "success_fraction"),
        ("episode,avg", "avg"),
        ("episode,mean,std,max", "mean"),
        ("episode,wins,losses,draws", "wins"),
    ],
)
def test_it_is_the_reward_where_the_table_tells_of_an_agent(
    tmp_path: Path, columns: str, reward: str
) -> None:
    """By episodes, steps of an environment, or an exploration that falls; and that is said."""
    run = of_table(tmp_path, *columns.split(","))
    assert (run.task, dict(run.taken)) == ("rl", {"reward": reward})
    assert len(run.curve("reward")) == len(ROWS)
    assert bool(len(run.curve("train_loss"))) == ("loss" in columns.split(","))


@pytest.mark.parametrize(
    "columns",
    [
        "epoch,loss,score",
        "epoch,loss,profit",
        "epoch,loss,accuracy,score,epsilon",
        "episode,loss,accuracy,score",
        "epoch,loss,score,privacy_epsilon",
        "episode,loss,best_score",
        "episode,loss,avg",
        "episode,avg,mean",
        "epoch,avg",
        "epoch,revenue",
    ],
)
def test_it_is_none_in_any_other_log(tmp_path: Path, columns: str) -> None:
    """Nor beside an accuracy, which no agent has; a budget of privacy rises."""
    assert "reward" not in of_table(tmp_path, *columns.split(",")).history.metrics


def test_scores_in_a_file_whose_name_says_nothing(tmp_path: Path) -> None:
    """A table of episodes; lists as long as the number of episodes beside them."""
    run = of_table(tmp_path, "episode", "profit", "epsilon", name="snake.csv")
    assert run.curve("reward").step[-1] == 10 * ROWS[-1]
    (tmp_path / "snake.csv").unlink()
    stats = {"episodes": 40, "best_score": 9, "scores": [row // 5 for row in ROWS]}
    (tmp_path / "stats.json").write_text(json.dumps(stats, indent=1))
    run = read(tmp_path)
    assert (run.task, run.curve("reward").step[-1], len(run.curve("reward"))) == ("rl", 40, 40)
    (tmp_path / "stats.json").write_text(
        json.dumps({"episode": 40, "best": 9, "history": stats["scores"]})
    )
    assert read(tmp_path / "stats.json").curve("reward").value.tolist() == stats["scores"]
    falls = {"episode": 40, "best": 9, "history": [*reversed(range(40))]}
    (tmp_path / "stats.json").write_text(json.dumps(falls))
    assert "reward" not in read(tmp_path / "stats.json").history.metrics
    (tmp_path / "stats.json").write_text(json.dumps(stats | {"episodes": 41}))
    (tmp_path / "metrics.csv").write_text("episode,loss\n1,0.5\n2,0.4\n")
    assert "reward" not in read(tmp_path).history.metrics


def test_a_header_that_lacks_a_name_at_its_end(tmp_path: Path) -> None:
    """Its first number is that of its first name: it counts, and no number of the row is added."""
    rows = [f"{500 * n},{0.9**n:.4f},{90 + 3 * n},{2 * n},7" for n in ROWS]
    (tmp_path / "log.csv").write_text("\n".join(["episode,epsilon,wins,chips", *rows, ""]))
    run = read(tmp_path)
    assert run.curve("reward").value[0] == 93
    assert run.curve("epsilon").value[0] == 0.9
    assert run.last_step == 500 * ROWS[-1]


@pytest.mark.parametrize(
    "line",
    [
        "Episode {n} | Reward moyen (100 ep): {value} | perte: 0.5",
        "Épisode {n}/40 - Récompense moyenne : {value}",
        "Episodio {n}, recompensa media: {value}",
        "Episode {n}: mittlere Belohnung {value}",
        "Episodio {n}: ricompensa media = {value}, perdita 0.4",
        "Game {n} Score {value} mean loss: 0.3",
        "Episode {n}: profit {value}, loss: 0.25",
        "Episode: {n}   Avg: {value}   BestAvg: 9.5   std: 0.3  |  Secs: 12",
        "эпизод {n}: score {value}, loss: 0.25",
        "after cycle={n} avg(utility)={value} avg(num_wins)=0.5",
    ],
)
def test_lines_of_episodes_in_any_language(tmp_path: Path, line: str) -> None:
    """What is counted in them, or right above them, tells of an agent."""
    rows = [line.format(n=n, value=f"{n + n % 4 / 3:.2f}") for n in ROWS]
    (tmp_path / "train.log").write_text("\n".join([*rows, ""]), encoding="utf-8")
    run = read(tmp_path)
    assert (run.task, len(run.curve("reward"))) == ("rl", len(ROWS))
    assert run.curve("reward").value[0] == pytest.approx(1.33)


def test_an_extreme_is_no_reward() -> None:
    """Nor is a number of something else."""
    assert won("Mean score (100 games)") == won("score") > 0
    assert won("total wins") > won("utility")
    assert won("Agent Ep NAV") > 0 == won("Market Ep NAV") == won("Agent CumSum NAV")
    assert [won(name) for name in ("best score", "max wins", "score threshold")] == [0, 0, 0]


def test_the_sum_of_rewards_is_what_an_agent_got(tmp_path: Path) -> None:
    """Where nothing better is logged."""
    rows = [f"episode:{n},reward_sum:{10.0 + n % 7}" for n in ROWS]
    (tmp_path / "dqn.log").write_text("\n".join(rows) + "\n")
    assert len(read(tmp_path / "dqn.log").curve("reward")) == len(ROWS)
    both = [f"episode:{n},reward:{n % 5 + 0.5},reward_sum:{10.0 * n}" for n in ROWS]
    (tmp_path / "dqn.log").write_text("\n".join(both) + "\n")
    assert read(tmp_path / "dqn.log").curve("reward").value[:2].tolist() == [1.5, 2.5]


def _lone(folder: Path, name: str, values: list[float]) -> Run:
    (folder / name).write_text("".join(f"{value}\n" for value in values))
    return read(folder / name)


GAMES = [20.0 * (row % 7 + row % 3) for row in ROWS]  # whole, up and down
RATED = [2.0 * (row % 4) + 4 for row in ROWS]  # 10 at most
LEARNED = [8.5 * row - 210 + 30 * (row % 2) for row in ROWS]


@pytest.mark.parametrize("name", ["scores.txt", "game_scores.txt"])
@pytest.mark.parametrize("values", [GAMES, LEARNED, [3 * one + 0.5 for one in LEARNED]])
def test_scores_of_games_alone_are_a_reward(tmp_path: Path, name: str, values: list[float]) -> None:
    """Nothing else is in the file, and no rating and no share goes so far."""
    run = _lone(tmp_path, name, values)
    assert run.task == "rl"
    assert run.curve("reward").value.tolist() == values


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("scores.txt", RATED),
        ("scores.txt", [one / 200 for one in GAMES]),  # shares
        ("scores.txt", sorted(GAMES)),  # a ranking
        ("scores.txt", [one + 0.5 for one in GAMES]),  # of samples: nothing was learned
        ("scores.txt", [one or float("nan") for one in GAMES]),
        ("scores.txt", GAMES[:4]),
        ("test_scores.txt", GAMES),
    ],
)
def test_other_scores_alone_are_none(tmp_path: Path, name: str, values: list[float]) -> None:
    """Ratings, shares, what is sorted, what is measured of samples, too few, of held-out data."""
    assert "reward" not in _lone(tmp_path, name, values).history.metrics


def test_scores_beside_something_else_are_none(tmp_path: Path) -> None:
    """A table with another column may be of anything."""
    lines = [f"{score:g},{row / 40}" for row, score in enumerate(GAMES)]
    (tmp_path / "log.csv").write_text("\n".join(["scores,width", *lines, ""]))
    assert "reward" not in read(tmp_path / "log.csv").history.metrics
