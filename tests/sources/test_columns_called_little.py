"""Tables and files of numbers whose columns are called by a number, by a plan or by nothing."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.run import Run
from runlens.sources.tables.unnamed import named_by_course

ROWS = 40
FALLING = [round(8 / n, 3) for n in range(1, 7)]


def put(folder: Path, name: str, *lines: str) -> Path:
    """Write lines."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def noisy(n: int) -> float:
    """Return what falls and goes up and down."""
    return 11 / (n + 1) + 0.1 * (n % 2)


def rows_of(folder: Path, name: str, row: Callable[[int], str]) -> Run:
    """Read rows without a header."""
    return read(put(folder, name, *(row(n) for n in range(ROWS))))


def test_a_score_before_words_is_a_row_of_a_log(tmp_path: Path) -> None:
    """Later rows may go on with more words."""
    lines = ["0.145,0,pool,0,pool", "0.4288,0,pool,0,conv", "0.4294,0,conv,0,pool,0,conv"]
    run = read(put(tmp_path, "train_history.csv", *lines))
    assert run.curve("column 1").value.tolist() == [0.145, 0.4288, 0.4294]
    with pytest.raises(Exception, match="no header row"):
        read(put(tmp_path, "networks.csv", *lines))


def test_columns_called_by_settings(tmp_path: Path) -> None:
    """A curve for each number; names that fall are cells of a row."""
    below = [f"{n},{2 / (n + 1):.4f},{3 / (n + 1):.4f}" for n in range(9)]
    run = read(put(tmp_path, "train_loss.csv", ",5,15", *below))
    assert run.curve("column 5").value[-1] == pytest.approx(0.2222)
    assert run.curve("column 15").value[-1] == pytest.approx(0.3333)
    with pytest.raises(Exception, match="no header row"):
        read(put(tmp_path, "train_loss.csv", ",15,5", *below))


def test_the_only_column_that_falls_is_the_loss(tmp_path: Path) -> None:
    """Of a schedule that falls as well it is told apart by its noise."""
    for rate in (0.001, 0.1):
        lines = (
            f"{n},{noisy(n):.4f},{9e4 + n},{rate / (n * (rate > 0.01) + 1)}" for n in range(ROWS)
        )
        run = read(put(tmp_path, "loss_history.txt", *lines))
        assert run.curve("train_loss").value.tolist()[:2] == [11, 5.6]
    names = ("column 2", "column 3", "column 4")
    smooth = [[9 / n, 9.5, 0.01 / n] for n in range(1, ROWS)]
    assert named_by_course(names, smooth, "loss") == names


def test_columns_of_other_files_have_no_name(tmp_path: Path) -> None:
    """Neither in a file of another name, nor of few rows."""
    run = rows_of(tmp_path, "numbers.txt", lambda n: f"{n},{noisy(n)},{9e4 + n},{n % 3}.5")
    assert "train_loss" not in run.history.metrics
    few = read(
        put(tmp_path, "loss.txt", *(f"{n},{noisy(n)},{9e4 + n},{n % 3}.5" for n in range(9)))
    )
    assert "train_loss" not in few.history.metrics


def test_two_rows_in_a_file_that_is_called_a_loss(tmp_path: Path) -> None:
    """Elsewhere they are no rows."""
    run = read(put(tmp_path, "loss.txt", "19.4197 0.3148", "19.0694 -1.3738"))
    assert run.curve("column 2").value.tolist() == [0.3148, -1.3738]
    run = read(put(tmp_path, "shape.txt", "19.4197 0.3148", "19.0694 -1.3738"))
    assert not run.history.metrics


def test_scores_below_zero_are_won(tmp_path: Path) -> None:
    """Those between 0 and 1 may be shares of what was right."""
    run = rows_of(tmp_path, "scores.csv", lambda n: f"{n},{-100.5 + 7 * n + 9 * (n % 3)}")
    assert len(run.curve("reward")) == ROWS
    run = rows_of(tmp_path, "scores.csv", lambda n: f"{n},{(n + 1) / 50}")
    assert "reward" not in run.history.metrics


def test_whole_numbers_beside_what_was_got(tmp_path: Path) -> None:
    """One column of them has no name; launches begin anew. Of two nobody knows."""

    def got(n: int) -> str:
        return f"{n % 30 + 1},50,{-40.5 + 9 * (n % 5)},{n % 3 - 1}.0"

    runs = read_all(put(tmp_path, "episode_rewards.csv", *(got(n) for n in range(ROWS))))
    assert [len(run.curve("reward")) for run in runs] == [30, 10]
    assert all("column 4" in run.history.metrics for run in runs)
    two = [f"{got(n)},{n % 4 - 2}.0" for n in range(30)]
    assert "reward" not in read(put(tmp_path, "episode_rewards.csv", *two)).history.metrics


def test_an_epoch_that_each_of_its_steps_says(tmp_path: Path) -> None:
    """It counts no rows; one of a few rows does."""
    rows = [f"{11 + n // 100},{4 + math.sin(n)}" for n in range(500)]
    curve = read(put(tmp_path, "train_loss.csv", *rows)).curve("train_loss")
    assert len(curve) == 500
    assert curve.epoch[-1] == 15


def test_a_plan_is_no_loss(tmp_path: Path) -> None:
    """It is that of each training in the table."""
    rows = [f"{r},{n},{5 * r},{2 / (n + 1)}" for r in (1, 2) for n in range(5)]
    runs = read_all(put(tmp_path, "train_loss.csv", "run,epoch,total_epochs,train_loss", *rows))
    assert [run.state.planned_epochs for run in runs] == [5, 10]
    assert all(set(run.history.metrics) == {"train_loss"} for run in runs)


def results(folder: Path, epochs: Sequence[int], **more: str) -> Run:
    """Read results of trainings, a row each."""
    lines = [{"mean_iou": 0.8 + n / 100, "epochs": e} | more for n, e in enumerate(epochs)]
    return read(put(folder, "history.jsonl", *map(json.dumps, lines)))


def test_epochs_that_stand_still_are_a_plan(tmp_path: Path) -> None:
    """Those that go on are a count; so are those of a training and its evaluation."""
    run = results(tmp_path, [16, 16])
    assert run.state.planned_epochs == 16
    assert len(run.curve("mean_iou")) == 2
    assert results(tmp_path, [1, 2, 3]).curve("mean_iou").step.tolist() == [1, 2, 3]
    assert results(tmp_path, [3, 3], split="val").state.planned_epochs is None


def test_epochs_with_lists_of_their_batches(tmp_path: Path) -> None:
    """Rows that count on are epochs, where a mean stands beside each list; else trainings."""
    rows = [f'{n},{n + 1},"{FALLING}",{8 / (n + 1)}' for n in range(6)]
    curve = read(put(tmp_path, "losses.csv", ",epoch,losses,mean", *rows)).curve("train_loss")
    assert curve.value.tolist() == [8 / (n + 1) for n in range(6)]
    rows = [f'{10 * n + 10},"{FALLING}",{8 / (n + 1)}' for n in range(6)]
    assert len(read_all(put(tmp_path, "losses.csv", "epochs,losses,mean", *rows))) == 6


def test_scores_of_positions_are_no_curve(tmp_path: Path) -> None:
    """The result beside them is one row; a curve is one of steps."""
    whole = {"val_metrics": {"f1": 0.9}, "best_accuracy": 0.95}
    told = whole | {"val_position_accuracy": [0.9, 0.8, 0.7]}
    run = read(put(tmp_path, "metrics.json", json.dumps(told)))
    assert all(len(run.curve(name)) == 1 for name in run.history.metrics)
    run = read(put(tmp_path, "metrics.json", json.dumps(whole | {"val_accuracy": [0.9, 0.8, 0.7]})))
    assert len(run.curve("eval_accuracy")) == 3


def batches(folder: Path, rows: Sequence[tuple[int, int, int]]) -> list[Run]:
    """Read rows of an epoch, a batch and a phase."""
    lines = [
        f"{epoch},{batch},{phase},{2 / (n + 1)}" for n, (epoch, batch, phase) in enumerate(rows)
    ]
    return read_all(put(folder, "log.csv", "epoch,batch,phase,loss", *lines))


def test_batches_begin_anew_in_each_phase(tmp_path: Path) -> None:
    """And where the training is launched again, which is another run."""
    phases = [(e, b, p) for e in range(4) for p in (0, 1) for b in range(5)]
    (run,) = batches(tmp_path, phases)
    assert run.curve("train_loss").step.tolist() == list(range(40))
    again = [(e, b, 0) for e in (0, 1, 2, 0, 1, 2) for b in range(5)]
    assert [run.curve("train_loss").step[-1] for run in batches(tmp_path, again)] == [14, 14]
    twice = [(e, b, 0) for e in range(3) for _ in range(2) for b in range(5)]
    (run,) = batches(tmp_path, twice)
    assert any("numbered row by row" in problem.text for problem in run.problems)


def test_repeats_of_a_reward(tmp_path: Path) -> None:
    """They lie between the same ends; what has a scale of its own is none, nor is a loss."""
    run = rows_of(
        tmp_path, "reward.csv", lambda n: f"{n},{n / 2 - 9.5},{n / 2 - 7.25},{n / 2.5 - 8}"
    )
    assert run.curve("reward").value[:2].tolist() == [-9.5, -9.0]
    assert run.curve("reward (3)").value[:2].tolist() == pytest.approx([-8, -7.6])
    apart = rows_of(tmp_path, "reward.csv", lambda n: f"{n},{n / 2 - 9.5},{0.1 + n % 7 / 50}")
    assert set(apart.history.metrics) == {"column 2", "column 3"}
    losses = rows_of(
        tmp_path, "loss.csv", lambda n: f"{n},{9.5 - n / 8},{9.25 - n / 8},{9 - n / 9}"
    )
    assert set(losses.history.metrics) == {"column 2", "column 3", "column 4"}


def test_what_was_won_may_be_true(tmp_path: Path) -> None:
    """Or 0, in the same column; of other columns no words are numbers."""
    lines = [f"{n},{n / 2},{n % 3 == 0},{n % 2 == 0}" for n in range(8)] + ["8,4.5,0,0"]
    run = read(put(tmp_path, "train.csv", "Episode,Reward,Success,Odd", *lines))
    assert run.curve("Success").value.tolist() == [1, 0, 0, 1, 0, 0, 1, 0, 0]
    assert run.curve("Odd").value.tolist() == [0]


@pytest.mark.parametrize("first", ["iterations", "Epoch"])
def test_a_step_that_counts_unevenly_beside_names_of_ones_own(tmp_path: Path, first: str) -> None:
    """Who points at such a table has its columns; one that falls, or numbers samples, has none."""
    at = [50, 100, 150, 250, 400, 450]
    lines = [f"{n},{0.5 * n - 90:.1f},{90 / n:.2f}" for n in at]
    run = read(put(tmp_path, "cfr.csv", f"{first},bb100_vs_rules,spread", *lines))
    assert run.curve("bb100_vs_rules").step.tolist() == at
    for header, rows in (
        (f"{first},bb100_vs_rules,spread", [*lines, "60,1.5,0.5"]),
        ("frame,bb100_vs_rules,spread", lines),
    ):
        with pytest.raises(Exception, match="no column of what trainings log"):
            read(put(tmp_path, "cfr.csv", header, *rows))


def test_rows_before_the_first_step_that_is_named(tmp_path: Path) -> None:
    """Stand as far before it as the rows are apart, as at a launch that goes on; none below 0."""
    for begin, steps in ((500, [490, 500, 510, 520]), (10, [0, 10, 20, 30]), (4, [0, 4, 14, 24])):
        lines = [f"{n},1.5,{n}.25" for n in range(begin, begin + 30, 10)]
        table = put(tmp_path, "progress.csv", "train/n_updates,train/loss,reward", ",,5.5", *lines)
        assert read(table).curve("reward").step.tolist() == steps


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("train_val_loss.csv", ["train_loss", "eval_loss"]),
        ("loss_test_train.csv", ["eval_loss", "train_loss"]),
    ],
)
def test_a_file_may_name_both_losses_in_their_order(
    tmp_path: Path, name: str, held: list[str]
) -> None:
    """However far apart they begin."""
    run = rows_of(tmp_path, name, lambda n: f"{n},{noisy(n):.4f},{3 * noisy(n):.4f}")
    assert run.curve(held[0]).value[0] == 11
    assert run.curve(held[1]).value[0] == 33


@pytest.mark.parametrize("row", ["{n},{a:.4f},{m}", "{n},{a:.4f},{a:.4f},{a:.4f}"])
def test_no_more_than_two_columns_are_of_both(tmp_path: Path, row: str) -> None:
    """Nor is a count a loss."""
    run = rows_of(tmp_path, "train_val_loss.csv", lambda n: row.format(n=n, m=n % 3, a=noisy(n)))
    assert not run.logged("eval_loss")


def test_a_list_of_objects_alone_in_a_folder_is_read_by_its_keys(tmp_path: Path) -> None:
    """Each names a model of its own, of which it has the scores."""
    models = [{"model_name": f"m{n}", "r_squared": n / 9, "rmse": 9 - n + 0.5} for n in range(6)]
    (tmp_path / "metrics.json").write_text(json.dumps(models, indent=1))
    runs = read_all(tmp_path)
    assert [run.name for run in runs] == [f"model_name m{n}" for n in range(6)]
