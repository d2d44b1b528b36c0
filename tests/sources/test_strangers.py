"""What strangers' logs taught: encodings, bars by turns, episodes, numbers of Python."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from tests.sources.run_points import points


def runs_of(folder: Path, name: str, *lines: str, end: str = "\n") -> list[Run]:
    """Write a log and read it."""
    (folder / name).write_text("\n".join(lines) + end, encoding="utf-8")
    return read_all(folder / name)


@pytest.mark.parametrize(
    ("encoding", "line"),
    [
        ("gb18030", "当前Batch：{n}0/600 | 当前epoch:0/5 | 当前损失值：{loss} | 当前准确率：5.0%"),
        ("shift_jis", "エポック: {n} 訓練損失: {loss}"),
        ("euc_kr", "에폭 {n}/20 | 학습 손실: {loss}"),
        ("cp1251", "Эпоха {n}/20: потери на обучении {loss}"),
    ],
)
def test_a_log_in_the_encoding_of_windows(tmp_path: Path, encoding: str, line: str) -> None:
    """The one in which words of logs come out."""
    rows = [line.format(n=n, loss=f"{3 / n:.4f}") for n in range(1, 20)]
    (tmp_path / "train.log").write_bytes("\n".join([*rows, ""]).encode(encoding))
    (run,) = read_all(tmp_path / "train.log")
    losses = [float(f"{3 / n:.4f}") for n in range(1, 20)]
    assert run.curve("train_loss").value.tolist() == losses


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_letters_of_the_west_are_none_of_damaged_ones(tmp_path: Path, encoding: str) -> None:
    """Bytes alone are letters; one of them among those of UTF-8 is what is damaged."""
    rows = [f"Época {n} \u2014 pérdida: {3 / n:.4f}" for n in range(1, 20)]
    path = tmp_path / "train.log"
    path.write_bytes(b"caf\xe9\n" + "\n".join([*rows, ""]).encode(encoding))
    (run,) = read_all(path)
    assert points(run, "train_loss") == [(n, float(f"{3 / n:.4f}")) for n in range(1, 20)]


def test_bytes_of_no_encoding_are_read_as_before(tmp_path: Path) -> None:
    """A name with an accent of Latin-1 says nothing about the others."""
    rows = [f"epoch {n} loss: {3 / n:.4f}" for n in range(1, 20)]
    (tmp_path / "train.log").write_bytes("\n".join(["café", *rows, ""]).encode("latin-1"))
    (run,) = read_all(tmp_path / "train.log")
    assert len(run.curve("train_loss")) == 19


def test_digits_that_python_would_join(tmp_path: Path) -> None:
    """``1_1.8458`` is step 1 and 1.8458, not 11.8458."""
    (run,) = runs_of(tmp_path, "train_loss.txt", *(f"{n}_{2 / n:.4f}" for n in range(1, 30)))
    assert points(run, "train_loss") == [(n, float(f"{2 / n:.4f}")) for n in range(1, 30)]


def test_a_number_with_an_underscore_is_none_in_a_table(tmp_path: Path) -> None:
    """In a cell of its own too."""
    rows = [f"{n},1_{n * n}.5,{1 / n:.3f}" for n in range(1, 9)]
    (run,) = runs_of(tmp_path, "log.csv", "step,tag,loss", *rows)
    assert run.history.metrics == ("train_loss",)


@pytest.mark.parametrize(("last", "rows"), [("0.0480", 21), ("0.048", 20), ("", 20)])
def test_the_last_number_of_a_log_without_an_end(tmp_path: Path, last: str, rows: int) -> None:
    """It is whole where it has as many decimals as all before it."""
    lines = [f"epoch: {n}, Loss: {1 / n:.4f}" for n in range(1, 21)]
    (run,) = runs_of(tmp_path, "train.log", *lines, f"epoch: 21, Loss: {last}", end="")
    assert len(run.curve("train_loss")) == rows


def test_the_last_number_is_compared_with_lines_that_say_the_same(tmp_path: Path) -> None:
    """Not with others, and not where their decimals differ."""
    lines = [f"epoch: {n}, Loss: {1 / n}" for n in range(1, 21)]
    (run,) = runs_of(tmp_path, "train.log", *lines, "epoch: 21, Loss: 0.0480", end="")
    assert len(run.curve("train_loss")) == 20


def test_steps_of_each_episode_do_not_count(tmp_path: Path) -> None:
    """In a table and in lines: what rises by one from row to row counts."""
    steps = [200 - n * 37 % 100 for n in range(1, 61)]
    rows = [f"{n},{-1000 + n * n},{steps[n - 1]}" for n in range(1, 61)]
    (run,) = runs_of(tmp_path, "history.csv", "Episode,Reward,Steps", *rows)
    assert run.curve("reward").step.tolist() == list(range(1, 61))
    lines = [f"Episode {n}/60, Steps: {steps[n - 1]}, Reward: {n * n - 99}.5" for n in range(1, 61)]
    (run,) = runs_of(tmp_path, "train.log", *lines)
    assert run.curve("reward").step.tolist() == list(range(1, 61))


def test_what_rises_by_one_is_an_index_in_lines_too(tmp_path: Path) -> None:
    """A log of nothing else has no curve, and no fault comes of it."""
    lines = [f"Episode {n}/60, Steps: 9, Reward: {n - 99}.5" for n in range(1, 61)]
    (run,) = runs_of(tmp_path, "train.log", *lines)
    assert not run.history.metrics


def test_results_between_ticks_stand_at_them(tmp_path: Path) -> None:
    """The first tick of StyleGAN took no minute yet: it is a row as well."""
    lines = ["Training for 25000 kimg..."]
    for tick in range(9):
        took = f"1h {tick:02d}m 11s" if tick else "56s"
        lines.append(f"tick {tick}   kimg {4 * tick}.0   time {took}   sec/tick 9.{tick}")
        if tick % 4 == 0:
            lines.append(f'{{"results": {{"fid50k": {90.5 - tick}}}, "metric": "fid50k"}}')
    (run,) = runs_of(tmp_path, "train.log", *lines)
    assert run.curve("kimg").step.tolist() == list(range(9))
    (fid,) = (run.curve(name) for name in run.history.metrics if "fid" in name)
    assert (fid.step.tolist(), fid.value.tolist()) == ([0, 4, 8], [90.5, 86.5, 82.5])


def bar(total: int, loss: float) -> str:
    """Return a full bar."""
    return f"100%|##########| {total}/{total} [00:10<00:00, 9.9it/s, loss={loss:.3f}]"


def test_bars_by_turns_are_those_of_training_and_held_out_data(tmp_path: Path) -> None:
    """Each pair is an epoch, whose line below says all of it."""
    lines = []
    for n in range(1, 21):
        lines += [bar(30, 2 / n), bar(8, 3 / n), f"loss {2 / n:.4f} - val_loss {3 / n:.4f}"]
    (run,) = runs_of(tmp_path, "train.log", *lines)
    assert run.curve("train_loss").value.tolist() == [float(f"{2 / n:.4f}") for n in range(1, 21)]
    assert run.curve("eval_loss").value.tolist() == [float(f"{3 / n:.4f}") for n in range(1, 21)]


def test_bars_alone_go_on_from_epoch_to_epoch(tmp_path: Path) -> None:
    """Nobody names the epochs, and the second bar of each is none of the training."""
    lines = [text for n in range(1, 21) for text in (bar(30, 2 / n), bar(8, 3 / n))]
    (run,) = runs_of(tmp_path, "train.log", *lines)
    losses = [float(f"{2 / n:.3f}") for n in range(1, 21)]
    assert run.curve("train_loss").value.tolist() == losses
    assert run.curve("train_loss").step.tolist() == [30 * n for n in range(1, 21)]


def test_a_chinese_name_of_other_data_is_not_that_of_the_training(tmp_path: Path) -> None:
    """Its words count, not the Latin letters in it alone."""
    rows = [f"epoch {n} 测试集loss {2 / n:.4f} 其他 {n}.5" for n in range(1, 20)]
    (run,) = runs_of(tmp_path, "train.log", *rows)
    assert "eval_loss" in run.history.metrics
    assert "train_loss" not in run.history.metrics


def test_no_part_of_a_number_is_taken(tmp_path: Path) -> None:
    """``loss = 2.1/2.3`` is not 2.0."""
    rows = [f"step {n} loss = {2 / n:.4f}/{3 / n:.4f}" for n in range(3, 20)]
    try:
        runs = runs_of(tmp_path, "train.log", *rows)
    except NothingReadable:
        runs = []
    values = {float(f"{k / n:.4f}") for n in range(3, 20) for k in (2, 3)}
    for run in runs:
        for name in run.history.metrics:
            assert set(run.curve(name).value.tolist()) <= values


def test_a_table_of_data_under_a_head_of_data_alone(tmp_path: Path) -> None:
    """A line between its rows that is none of them is left out."""
    lines = []
    for n in range(1, 9):
        lines += [
            f"Epoch {n}",
            "Train | Val",
            f"loss | {2 / n:.4f} | {3 / n:.4f}",
            "time | 3 s | 4",
        ]
    (run,) = runs_of(tmp_path, "train.log", *lines)
    assert run.curve("eval_loss").value.tolist() == [float(f"{3 / n:.4f}") for n in range(1, 9)]


def test_a_number_without_a_name_has_that_of_its_file(tmp_path: Path) -> None:
    """Behind a counter too."""
    lines = [f"{n} tensor({2 / n:.4f}, grad_fn=<MseLossBackward>)" for n in range(1, 30)]
    (run,) = runs_of(tmp_path, "train_loss.txt", *lines)
    assert points(run, "train_loss") == [(n, float(f"{2 / n:.4f}")) for n in range(1, 30)]


def test_batches_that_a_known_layout_does_not_count(tmp_path: Path) -> None:
    """They do in the learned one, a loss that became NaN among them."""
    losses = [f"{9 / n:.2f}" if n < 15 else "nan" for n in range(1, 19)]
    lines = [
        f"| epoch {1 + n // 6:3d} | {200 * (1 + n % 6):5d}/ 1200 batches | lr 5.00 | loss {loss}"
        for n, loss in enumerate(losses)
    ]
    (run,) = runs_of(tmp_path, "train.log", *lines)
    assert run.curve("train_loss").step.tolist() == [200 * n for n in range(1, 19)]


def test_cells_that_stand_below_no_name(tmp_path: Path) -> None:
    """A row whose cells are set otherwise says nothing of them."""
    lines = ["epoch       train_loss   valid_loss   time"]
    lines += [f"{n:<10d}  {2 / n:.4f}                    1.00" for n in range(1, 9)]
    lines += ["   7   0.1"]
    (run,) = runs_of(tmp_path, "train.log", *lines)
    assert run.curve("train_loss").value.tolist() == [float(f"{2 / n:.4f}") for n in range(1, 9)]


def test_a_set_that_is_called_by_its_language_keeps_its_name(tmp_path: Path) -> None:
    """``de`` is German data, and no French word between two others."""
    rows = [f"{n},{2 / n:.4f},{3 / n:.4f}" for n in range(1, 20)]
    (run,) = runs_of(tmp_path, "metrics.csv", "step,loss,eval_de_loss", *rows)
    assert "eval_loss:de" in run.history.metrics


def test_the_networks_of_a_gan_stand_for_their_losses(tmp_path: Path) -> None:
    """Beside each other; one alone is a letter of its own."""
    both = [f"[{n:03}/100] D: 0.6{n} | G: 0.8{n} | g_lr=0.0002" for n in range(1, 9)]
    (run,) = runs_of(tmp_path, "train.log", "epoch | d_loss | g_loss | g_lr", "-" * 40, *both)
    assert points(run, "d_loss")[0] == (1, 0.61)
    assert points(run, "g_loss")[-1] == (8, 0.88)
    one = [f"[{n:03}/100] D: 0.6{n} | H: 0.8{n} | g_lr=0.0002" for n in range(1, 9)]
    (run,) = runs_of(tmp_path, "train.log", *one)
    assert {"D", "H"} <= set(run.history.metrics)


def test_the_mean_score_of_so_many_episodes_is_the_reward(tmp_path: Path) -> None:
    """As the mean reward of them is; each row was printed over the one before."""
    row = "Episode {n}\tFrame {f} \tAverage100 Score: {s:.2f}"
    rows = [row.format(n=n, f=20 * n, s=20 + n % 3) for n in range(1, 41)]
    (run,) = runs_of(tmp_path, "train.log", "\r".join(rows))
    assert points(run, "reward") == [(n, 20.0 + n % 3) for n in range(1, 41)]
    assert run.taken == {"reward": "Average100 Score"}


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        (
            "10:00 - INFO - Training for 2,000 steps with checkpointing every 100 steps",
            (2000, None),
        ),
        ("Start training for 50 epochs", (None, 50)),
        ("Training for 30 minutes", (None, None)),
    ],
)
def test_the_plan_that_a_sentence_tells(
    tmp_path: Path, said: str, plan: tuple[int | None, int | None]
) -> None:
    """Of steps, or of epochs."""
    rows = [f"Step {n}: loss = {2 / (n + 1):.3f}" for n in range(0, 900, 100)]
    (run,) = runs_of(tmp_path, "train.log", said, *rows)
    assert (run.state.planned_steps, run.state.planned_epochs) == plan


def test_the_plan_of_a_heading_is_that_of_the_rows_of_its_epoch(tmp_path: Path) -> None:
    """Rows that name their epoch themselves; a heading of another epoch tells them nothing."""
    rows = [
        f"10:00:0{n} - INFO - {line}"
        for n in range(1, 6)
        for line in (f"Epoch {n}/50 started", f"Average loss for epoch {n}: {2 / n:.3f}")
    ]
    (run,) = runs_of(tmp_path, "train.log", *rows)
    assert (run.state.done_epochs, run.state.planned_epochs) == (5, 50)
    rows = [row.replace(f"Epoch {n}/50", f"Epoch {n + 20}/50") for n, row in enumerate(rows)]
    (run,) = runs_of(tmp_path, "train.log", *rows[::2], *rows[1::2])
    assert run.state.planned_epochs is None


@pytest.mark.parametrize(("said", "trainings"), [("Training Session Started: 15:36", 4), ("", 1)])
def test_a_session_that_is_said_to_start_is_a_training(
    tmp_path: Path, said: str, trainings: int
) -> None:
    """Although its loss goes on where that of the one before ended."""
    rows = [
        line
        for begin in range(4)
        for line in (
            said,
            *(f"Episode {n}/8 | Loss: {9 / (8 * begin + n):.4f}" for n in range(1, 9)),
        )
    ]
    assert len(runs_of(tmp_path, "train.log", *rows)) == trainings
