"""Many runs by one metric: order, what the lead is worth, and which setting did it."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from runlens.cli.compare import command
from runlens.comparing.leaderboard import leaderboard
from runlens.comparing.places import filters_of
from runlens.engine import diagnose
from runlens.errors import BadSettings
from runlens.report.comparison import board as boards
from runlens.run import Run
from tests.comparing.drawn_runs import falling, run


def sweep(many: int = 24, effect: float = 0.1, *, twin: bool = False) -> list[Run]:
    """Return runs whose loss falls by `effect` with each doubling of the rate, and by no width."""
    rng = np.random.default_rng(0)
    rates, widths = (1e-3, 2e-3, 4e-3), (8, 16)
    made = []
    for index in range(many):
        rate, width = rates[index % 3], widths[index // 3 % 2]
        level = 2 - effect * np.log2(rate / 1e-3) + 0.01 * rng.normal()
        config = {"learning_rate": rate, "hidden_size": width, "seed": index}
        config |= {"weight_decay": 2 * rate} if twin else {}
        curve = falling(20) + level - falling(20)[-1]
        made.append(run({"eval_loss": curve}, f"run-{index}", config=config))
    return made


def test_runs_are_ranked_with_the_noise_between_repeats() -> None:
    """The best ones are those of the highest rate, and may all be as good as the first."""
    board = leaderboard(sweep())
    values = [row.value or 0.0 for row in board.rows]
    assert values == sorted(values)
    assert {row.settings["learning_rate"] for row in board.rows[:8]} == {4e-3}
    assert (board.metric, board.better, board.noise_from) == ("eval_loss", "lower", "seeds")
    assert board.noise == pytest.approx(0.01, rel=0.5)
    assert (board.rows[1].p_best or 0) > 0.05 > (board.rows[20].p_best or 0)
    assert (board.expected or 0) > (board.rows[0].value or 0)


def test_the_setting_that_did_it_is_named_with_its_effect() -> None:
    """The rate explains nearly all; the width, which does nothing, is not named."""
    effects = leaderboard(sweep()).effects
    assert [one.setting for one in effects] == ["learning_rate"]
    first = effects[0]
    assert first.share > 0.9
    assert (first.low, first.high) == (1e-3, 4e-3)
    assert first.interval is not None
    assert first.interval[0] < -0.2 < first.interval[1]


def test_settings_that_changed_together_are_one() -> None:
    """They cannot be told apart; too few runs tell of nothing."""
    board = leaderboard(sweep(twin=True))
    assert board.effects[0].setting == "learning_rate + weight_decay"
    assert "A run with learning_rate alone changed would" in boards.effect_words(
        board, board.effects[0]
    )
    assert leaderboard(sweep(4)).effects == ()


def test_a_run_without_a_number_comes_last() -> None:
    """And is counted; where none has one the headline says so."""
    lost = [run({"eval_loss": [2.0, float("nan")]}, name) for name in "ab"]
    board = leaderboard([*sweep(6), lost[0]])
    assert (board.rows[-1].run, board.rows[-1].value) == ("a", None)
    assert "no final eval_loss in 1 of 7" in board.problems[0].text
    assert boards.headline(leaderboard(lost)) == "None of 2 runs has a last eval loss."


def test_the_users_metric_ranks_and_less_than_two_runs_do_not() -> None:
    """A direction is asked for where the name says none."""
    runs = [run({"codes": [level, level]}, str(level)) for level in (0.2, 0.8)]
    assert leaderboard(runs, metric="codes:max").rows[0].run == "0.8"
    with pytest.raises(BadSettings, match="which direction"):
        leaderboard(runs, metric="codes")
    with pytest.raises(BadSettings, match="which is better"):
        leaderboard(runs)
    with pytest.raises(BadSettings, match="1 run lies there"):
        leaderboard(runs[:1])


def test_a_leaderboard_is_a_frame_and_a_contract() -> None:
    """A row a run, a column a setting that differs; numbers as they are."""
    board = leaderboard(sweep(6))
    frame = board.to_frame()
    assert list(frame["run"]) == [row.run for row in board.rows]
    assert {"learning_rate", "hidden_size", "eval_loss", "p_best"} <= set(frame)
    told = json.loads(boards.as_json(board))
    assert (told["schema"], told["best"]) == ("runlens.leaderboard/1", board.rows[0].run)
    assert boards.as_csv(board).splitlines()[0].startswith("run,eval_loss,p_best")
    assert boards.as_markdown(board).startswith("### run-")


def test_an_effect_that_is_bent_is_told_from_its_best() -> None:
    """The loss is least at a rate in the middle: from the worst value to the best one."""
    rng = np.random.default_rng(1)
    rates = 10 ** rng.uniform(-4, -1, 40)
    levels = 2 + 0.1 * np.log10(rates / 1e-3) ** 2 + 0.005 * rng.normal(size=40)
    made = [
        run({"eval_loss": falling(20) + level - falling(20)[-1]}, f"r{at}", config={"lr": rate})
        for at, (rate, level) in enumerate(zip(rates.tolist(), levels.tolist(), strict=True))
    ]
    (effect,) = leaderboard(made).effects
    assert effect.share > 0.9
    assert isinstance(effect.low, float)
    assert isinstance(effect.high, float)
    assert 5e-4 < effect.low < 2e-3
    assert effect.high == pytest.approx(rates.max())
    assert (effect.effect or 0) == pytest.approx(0.4, rel=0.15)


def test_health_is_that_of_the_diagnosis() -> None:
    """Asked of the rules alone, hundreds of runs are told as each is in full."""
    runs = [*sweep(3), run({"eval_loss": falling(20) * 3e3 ** np.linspace(0, 1, 20)}, "lost")]
    told = {row.run: row.health for row in leaderboard(runs).rows}
    assert told == {one.name: diagnose(one).health for one in runs}
    assert set(told.values()) > {"critical"}


@pytest.mark.parametrize(
    ("asked", "filters"),
    [
        ("tags=nightly&state=finished", {"tags": "nightly", "state": "finished"}),
        ("config.lr.value=0.1", {"config.lr.value": 0.1}),
        ('{"tags": {"$in": ["a"]}}', {"tags": {"$in": ["a"]}}),
    ],
)
def test_filters_of_a_project_are_read(asked: str, filters: dict[str, object]) -> None:
    """As W&B's API takes them."""
    assert filters_of(asked) == filters


@pytest.mark.parametrize("asked", ["nightly", "=x", "{tags"])
def test_a_filter_that_is_none_is_refused(asked: str) -> None:
    """With what to write."""
    with pytest.raises(BadSettings, match="write KEY=VALUE"):
        filters_of(asked)


def test_a_directory_is_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, CSV, and what a lone run is told."""
    for index in range(3):
        folder = tmp_path / "sweep" / f"run-{index}"
        folder.mkdir(parents=True)
        rows = [f"{step},{1 + index + 1 / step}" for step in range(1, 30)]
        (folder / "metrics.csv").write_text("\n".join(["step,eval_loss", *rows]))
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(command, [str(tmp_path / "sweep")])
    (page,) = tmp_path.glob("runlens-sweep.html")
    assert "run-0 is the best of 3: eval loss 1.03" in page.read_text(encoding="utf-8")
    assert found.output.startswith("run-0 is the best of 3: eval loss 1.03")
    csv = CliRunner().invoke(command, [str(tmp_path / "sweep"), "--format", "csv"]).output
    assert [line.split(",")[0] for line in csv.splitlines()] == ["run", "run-0", "run-1", "run-2"]
    alone = CliRunner().invoke(command, [str(tmp_path / "sweep" / "run-0")])
    assert alone.exit_code == 2
    assert "1 run lies there" in alone.output


def test_one_wild_configuration_does_not_make_all_others_as_good() -> None:
    """The chance to be the best counts the repeats of the two configurations alone."""

    def one(end: float, rate: float, seed: int) -> Run:
        curve = falling(20) + (end - falling(20)[-1])
        return run({"eval_loss": curve}, f"{rate}-{seed}",
                   config={"learning_rate": rate, "seed": seed})  # fmt: skip

    runs = [one(1.0 + rate + 0.01 * seed, rate, seed) for rate in (0.1, 0.3) for seed in range(3)]
    wild = [one(2.0, 3.0, 0), one(9.0, 3.0, 1)]
    chances = {row.run: row.p_best or 0.0 for row in leaderboard([*runs, *wild]).rows}
    assert max(chance for name, chance in chances.items() if name.startswith("0.3")) < 0.05


def test_a_run_that_lies_behind_is_not_likelier_the_best() -> None:
    """One run of a small model glides: what nobody knows of its noise is no chance to be best."""
    runs = sweep(12)
    config = {"learning_rate": 4e-3, "hidden_size": 2, "seed": 50}
    alone = run({"eval_loss": 2.4 + 6 / np.arange(1, 21)}, "small", config=config)
    chances = [row.p_best or 0.0 for row in leaderboard([*runs, alone]).rows]
    assert chances == sorted(chances, reverse=True)


def searched(many: int, noise: float) -> list[Run]:
    """Return a random search over rates, of which none is tried twice; the best is 1e-3."""
    rng = np.random.default_rng(3)
    made = []
    for index, rate in enumerate(10 ** rng.uniform(-4, -2, many)):
        level = 1 + abs(np.log10(rate) + 3) + noise * rng.normal()
        curve = falling(20, index) + level - falling(20, index)[-1]
        config = {"learning_rate": rate, "dropout": float(rng.choice([0, 0.1]))}
        made.append(run({"eval_loss": curve}, f"run-{index}", config=config))
    return made


def test_the_noise_of_a_random_search_is_that_between_near_settings() -> None:
    """No setting comes twice, and still half a nat behind the best is not as good."""
    board = leaderboard(searched(80, 0.01))
    assert board.noise_from == "neighbours"
    assert board.noise == pytest.approx(0.015, rel=0.5)
    assert "between runs of near settings" in boards.headline(board)
    behind = [row for row in board.rows if (row.value or 0) > 1.3]
    assert behind
    assert all(0 <= (row.p_best or 0) < 0.01 for row in behind)
    near = [row for row in board.rows[1:] if (row.value or 0) < 1.01]
    assert all((row.p_best or 0) > 0.05 for row in near)


@pytest.mark.parametrize(("many", "noise"), [(20, 0.01), (80, 3.0)])
def test_neighbours_that_are_few_or_far_apart_tell_nothing(many: int, noise: float) -> None:
    """Ten differences are no deviation; larger ones than curves show are those of the settings."""
    assert leaderboard(searched(many, noise)).noise_from == "prior"
