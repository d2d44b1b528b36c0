"""Lists, totals and tables without a header: their course tells what the numbers are."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources.merging.by_values import total

LOSS = [round(2.9 / n + 0.013, 4) for n in range(1, 13)]
SHARE = [round(0.31 + n * 0.0273, 4) for n in range(12)]
OTHER = [round(0.29 + n * 0.0211, 4) for n in range(12)]


def printed(folder: Path, text: str, name: str = "log.txt") -> Run:
    """Read a file that holds a text."""
    (folder / name).write_text(text)
    return read(folder / name)


@pytest.mark.parametrize(
    "text",
    [
        f"{SHARE}\n{OTHER}\n{LOSS}\n",
        f"{tuple(SHARE)}\n{tuple(OTHER)}\n{tuple(LOSS)}\n",
        f"[{SHARE}, {OTHER}, {LOSS}]",
        f"[{SHARE},\n {OTHER},\n {LOSS}]\n",
        "\n".join(
            [
                f"[{', '.join(f'np.float64({n})' for n in SHARE)}]",
                str(OTHER),
                f"[{', '.join(f'tensor({n}, grad_fn=<NllLossBackward0>)' for n in LOSS)}]",
            ]
        ),
        f"array({SHARE})\narray({OTHER}, dtype=float32)\ntensor({LOSS})\n",
        "\n".join(
            f"[{' '.join(map(str, some[:7]))}\n {' '.join(map(str, some[7:]))}]"
            for some in (SHARE, OTHER, LOSS)
        ),
    ],
    ids=["lists", "tuples", "list of lists", "over lines", "scalars", "arrays", "numpy"],
)
def test_lists_without_names_are_curves(tmp_path: Path, text: str) -> None:
    """The one that falls from above 1 beside shares is the loss, and the guess is told."""
    run = printed(tmp_path, text)
    assert run.taken == {"train_loss": "column 3"}
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("column 1").value.tolist() == SHARE
    said = [problem.text for problem in run.problems]
    assert any("no names" in one for one in said)
    assert any('"column 3" was used' in one for one in said)


def test_of_two_lists_that_fall_the_first_is_of_the_training(tmp_path: Path) -> None:
    """As programs write them, one behind the other; the guess is told."""
    held = [round(one + 0.2, 4) for one in LOSS]
    run = printed(tmp_path, f"{LOSS}\n{held}\n{SHARE}\n")
    assert run.taken == {"train_loss": "column 1", "eval_loss": "column 2"}
    assert not printed(tmp_path, f"{LOSS}, {held}\n").taken  # with no share beside them


@pytest.mark.parametrize(
    ("train", "held"),
    [
        (f"Train: {LOSS}", f"Test: {LOSS}"),
        (f"train losses: {tuple(LOSS)}", f"val losses: {tuple(LOSS)}"),
        (f"train_loss = {[f'float32({n})' for n in LOSS]}".replace("'", ""), f"val_loss={LOSS}"),
    ],
)
def test_named_lists_tuples_and_scalars(tmp_path: Path, train: str, held: str) -> None:
    """By their data alone too."""
    run = printed(tmp_path, f"{train}\n{held}\n")
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("eval_loss").value.tolist() == LOSS


def test_a_loss_without_a_name_may_become_nan(tmp_path: Path) -> None:
    """Then the last number that there was tells where it went."""
    run = printed(tmp_path, f"{SHARE}\n{OTHER}\n{[*LOSS[:-2], float('nan'), float('nan')]}\n")
    assert run.taken == {"train_loss": "column 3"}


def test_a_list_that_breaks_off_is_read_so_far(tmp_path: Path) -> None:
    """That it does is told; the number behind which a comma stands is whole."""
    cut = str(LOSS)[1:40].rpartition(",")[0]
    run = printed(tmp_path, f"{SHARE}\n[{cut},")
    assert run.curve("train_loss").value.tolist() == [float(one) for one in cut.split(",")]
    assert len(run.curve("column 1")) == len(SHARE)
    assert any("breaks off" in problem.text for problem in run.problems)


@pytest.mark.parametrize("end", ["]", ", ", ""])
@pytest.mark.parametrize("quote", ["'", '"'])
def test_numbers_that_were_made_texts(tmp_path: Path, quote: str, end: str) -> None:
    """What `str(list)` makes of formatted losses; it may break off."""
    losses = [round(2 / n, 4) for n in range(1, 30)]
    (tmp_path / "loss.txt").write_text(
        "[" + ", ".join(f"{quote}{loss:.4f}{quote}" for loss in losses) + end
    )
    assert read(tmp_path / "loss.txt").curve("train_loss").value.tolist() == losses


def test_lists_in_files_called_after_their_data(tmp_path: Path) -> None:
    """Both fall: they are the losses."""
    slow = [round(5.6 - n / 11, 4) for n in range(9)]
    for name, some in (("train", slow), ("test", [one + 0.25 for one in slow])):
        (tmp_path / f"{name}.txt").write_text(str(some)[:-1] + ",")
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == slow
    assert len(run.curve("eval_loss")) == len(slow)
    assert sum("breaks off" in problem.text for problem in run.problems) == 2
    one = printed(tmp_path, str(LOSS), "val.txt")
    assert one.curve("eval_loss").value.tolist() == LOSS  # it fell to less than half


@pytest.mark.parametrize(
    "text",
    [
        f"{SHARE}\n",  # of what?
        f"{SHARE}\n{LOSS} seconds\n",
        f"{SHARE}\n{[*LOSS, 0.01]}\n",
        f"[{', '.join(['one', *map(str, LOSS)])}]\n{SHARE}\n",
        f"{list(range(9))}\n{list(range(3, 12))}\n",
        "\n".join(str(LOSS) for _ in range(12)),  # more than they are long: rows
        "[0.5, 0.4]\n[0.7, 0.2]\n",
        "[0, 0.5, 0.4, 0.3, 0.2, 0.1]\n[1, 0.6, 0.5, 0.4, 0.3, 0.2]\n",  # rows and their numbers
    ],
)
def test_other_lists_are_no_curves(tmp_path: Path, text: str) -> None:
    """Nothing says what they are."""
    (tmp_path / "log.txt").write_text(text)
    runs = read_all(tmp_path / "log.txt")
    assert not any("curve of a metric" in one.text for run in runs for one in run.problems)
    (tmp_path / "log.txt").rename(tmp_path / "train.txt")
    (tmp_path / "train.txt").write_text("0.5 0.25\n" * 9)  # data, and no list
    with pytest.raises(NothingReadable):
        read(tmp_path)


@pytest.mark.parametrize(
    "lists",
    [
        (SHARE, OTHER),
        (LOSS, [one + 9 for one in LOSS], SHARE),  # begins much higher
        (LOSS, LOSS, LOSS),
        ([one + 1 for one in SHARE], SHARE),  # rises
        (SHARE, LOSS[::-1]),
        (SHARE, [-one for one in SHARE], LOSS),
        ([0.9 - n / 50 for n in range(12)], [3 - n / 20 for n in range(12)]),  # both fall slowly
        (SHARE[:4], LOSS[:4]),
    ],
)
def test_where_several_columns_may_be_it_none_is_the_loss(
    tmp_path: Path, lists: tuple[list[float], ...]
) -> None:
    """It falls, it alone leaves what a share can be, and much."""
    text = "\n".join(map(str, lists))
    (tmp_path / "log.txt").write_text(text)
    assert not any("train_loss" in run.taken for run in read_all(tmp_path / "log.txt"))


def rows_of(names: str, *columns: list[float]) -> str:
    """Return a table."""
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([names, *rows, ""]).lstrip("\n")


EPOCHS = [float(n) for n in range(12)]


@pytest.mark.parametrize(
    ("names", "train", "held"),
    [
        ("train_total,val_total,train_nce2,train_diff2", "train_total", "eval_total"),
        ("Train/total,Test/total,a1,a2", "total", "eval_total"),
        ("overall,val_overall,a1,a2", "overall", "eval_overall"),
        ("avg_total,mean_val_total,a1,a2", "avg_total", ""),
    ],
)
def test_totals_of_training_and_of_held_out_data(
    tmp_path: Path, names: str, train: str, held: str
) -> None:
    """They are the losses, beside their parts."""
    some = [[one + n for one in LOSS] for n in (2, 3, 0, 1)]
    table = rows_of(f"epoch,lr,{names}", EPOCHS, [0.1] * 12, *some)
    run = printed(tmp_path, table, "metrics.csv")
    assert run.taken["train_loss"] == train
    assert run.curve("eval_loss").value.tolist() == some[1]
    assert not held or run.taken["eval_loss"] == held


def test_totals_are_read_in_any_table(tmp_path: Path) -> None:
    """Named by their data alone, as ``train,val`` are."""
    parts = [[one / 2 for one in LOSS], [one / 3 for one in LOSS]]
    table = rows_of("epoch,train_all,tr_a,tr_b,val_all", EPOCHS, LOSS, *parts, LOSS)
    run = printed(tmp_path, table, "mine.csv")
    assert run.curve("train_loss").value.tolist() == run.curve("eval_loss").value.tolist() == LOSS


@pytest.mark.parametrize(
    ("names", "back"),
    [
        ("train_total,val_total,other_x,other_y", True),  # rises
        ("train_total,train_overall,other_x,other_y", False),  # two
        ("val_total,a9,other_x,other_y", False),  # of no training
        ("train_total,learning_rate,grad_norm,accuracy", False),  # its parts are missing
    ],
)
def test_other_totals_are_no_losses(tmp_path: Path, names: str, back: bool) -> None:
    """Nothing says what they add up."""
    some = [LOSS[::-1] if back else LOSS] * 4
    run = printed(tmp_path, rows_of(f"epoch,lr,{names}", EPOCHS, [0.1] * 12, *some), "metrics.csv")
    assert "train_loss" not in run.taken
    assert total({}) == {}


SCORES = [2100.0, 1400, 2900, 1500, 2200, 3100, 2700, 3500, 2600, 3900, 4300, 4100]


def test_what_is_over_all_classes_is_no_total(tmp_path: Path) -> None:
    """It lies among theirs: an accuracy that falls."""
    some = [[round(one - n, 4) for one in OTHER[::-1]] for n in (0.05, 0.1, 0)]
    table = rows_of("epoch,overall,c_one,c_two", EPOCHS, *some)
    assert not printed(tmp_path, table, "metrics.csv").taken


def test_scores_of_generations_without_a_header(tmp_path: Path) -> None:
    """They rise in the end, and go up and down: the reward of a population."""
    groups = [n // 3 for n in range(12)]
    text = rows_of("", [float(n) for n in groups], SCORES).replace(".0", "")
    run = printed(tmp_path, text, "train_results.csv")
    assert run.taken == {"reward": "column 2"}
    assert run.curve("reward").value.tolist() == SCORES
    assert any("does not name its reward" in problem.text for problem in run.problems)


@pytest.mark.parametrize(
    ("groups", "scores"),
    [
        ([n // 3 for n in range(12)], sorted(SCORES)),  # counts on
        ([n // 3 for n in range(12)], SCORES[::-1]),
        ([n // 3 for n in range(12)], [one / 100 for one in SCORES]),
        ([n // 3 for n in range(12)], [one - 2000 for one in SCORES]),
        ([7 * (n // 3) for n in range(12)], SCORES),
        ([0] * 12, SCORES),
        ([n // 2 for n in range(4)], SCORES[:4]),
    ],
)
def test_other_columns_are_no_scores(
    tmp_path: Path, groups: list[int], scores: list[float]
) -> None:
    """Whole numbers may be anything."""
    text = rows_of("", [float(n) for n in groups], scores)
    (tmp_path / "train_results.csv").write_text(text)
    runs = read_all(tmp_path / "train_results.csv")
    assert not any("reward" in run.taken for run in runs)


def test_steps_of_each_episode_are_no_steps_of_the_run(tmp_path: Path) -> None:
    """Where episodes count on in each launch, one of which ended with its first."""
    launches = [(1, 50), (40, 500), (60, 500), (35, 200)]
    rows = [
        f"{n},{9 + n % 7 + n / 10},{0.9 - n / 100},{steps}"
        for many, steps in launches
        for n in range(many)
    ]
    (tmp_path / "training_metrics.csv").write_text(
        "\n".join(["episode,total_reward,epsilon,steps", *rows, ""])
    )
    runs = read_all(tmp_path / "training_metrics.csv")
    assert [len(run.curve("reward")) for run in runs] == [40, 60, 35]
    assert runs[-1].curve("reward").step[-1] == 34


def test_a_log_that_says_it_is_done_has_done_its_plan(tmp_path: Path) -> None:
    """Of steps from 0 that are logged each fifth, the row before the end is the last."""
    rows = [f"step {n}/20  loss {5 / (n + 1) + 1:.4f}  lr 0.01" for n in range(0, 20, 5)]
    done = "done: final loss 1.2012, wrote out/seed1"
    run = printed(tmp_path, "\n".join(["my program", *rows, done, ""]))
    assert (run.state.kind, run.state.done_steps) == ("finished", 20)
    run = printed(tmp_path, "\n".join(["my program", *rows[:3], done, ""]))
    assert run.state.kind == "stopped_early"


def test_rewards_of_episodes_in_other_languages(tmp_path: Path) -> None:
    """Spanish, Italian, Polish."""
    for name in ("Recompensa Episodio", "Rewards Episodi", "Nagroda epizod"):
        table = rows_of(f",{name},exploration_rates", EPOCHS, SCORES, LOSS)
        assert len(printed(tmp_path, table, "training_metrics.csv").curve("reward")) == 12


@pytest.mark.parametrize(("first", "runs"), [(30, 3), (4, 2)])
def test_a_start_that_logged_none_of_its_first_epochs(
    tmp_path: Path, first: int, runs: int
) -> None:
    """Its rows count on, far behind those of the start before it: the head of the log tells."""
    head = [f"using device: gpu{n}\nlayers {n}\nwidth 2{n}\nheads {n}\nstarting" for n in range(3)]

    def rows(begin: int) -> list[str]:
        return [
            f"batch {n % 2 + 1} of epoch {n // 2 + begin}, loss {9 / (n + 2):.4f}, accuracy 0.{n}"
            for n in range(12)
        ]

    parts = [head[0], *rows(1), head[1], *rows(1)[:6], head[2], *rows(first), ""]
    (tmp_path / "training.log").write_text("\n".join(parts))
    assert len(read_all(tmp_path / "training.log")) == runs


def test_histories_a_line_each_in_json(tmp_path: Path) -> None:
    """Each line is that of one training."""
    lines = (f'{{"loss": {LOSS[n:]}, "val_loss": {OTHER[n:]}}}\n' for n in (0, 1))
    (tmp_path / "history.json").write_text("".join(lines))
    runs = read_all(tmp_path / "history.json")
    assert [len(run.curve("train_loss")) for run in runs] == [12, 11]


def test_one_table_whose_rows_name_the_measure(tmp_path: Path) -> None:
    """Its head names the data; a row of other numbers, and one with words, say nothing."""
    table = "Training | Validation\nloss | 0.54 | 0.63\naccuracy | 0.72 | 0.66\n"
    run = printed(tmp_path, f"epoch 0 starts\n{table}loss | 0.5 | 0.6 | 0.7\nbest | a 1 | b 2\n")
    assert run.curve("train_loss").value.tolist() == [0.54]
    assert run.curve("eval_accuracy").value.tolist() == [0.66]


def test_settings_alone_in_their_lines(tmp_path: Path) -> None:
    """As trainers of policies print them above their rows."""
    rows = "".join(f"step {n} reward {n / 9:.3f}\n" for n in range(1, 13))
    run = printed(tmp_path, f"KL coef: 0.02\nRollouts per prompt: 4\n{rows}")
    assert (run.number("beta"), run.number("num_generations")) == (0.02, 4)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("rewards-v1.txt", "reward"),
        ("reward (3).csv", "reward"),
        ("loss_2.csv", "train_loss"),
        ("qv-v1.txt", "column 1"),
    ],
)
def test_the_number_of_a_file_says_nothing_of_its_curve(
    tmp_path: Path, name: str, metric: str
) -> None:
    """Of several copies it tells one from the other."""
    counts = name.endswith("csv")
    text = "".join(f"{n}," * counts + f"{2 / (n + 1):.6f}\n" for n in range(30))
    assert len(printed(tmp_path, text, name).curve(metric)) == 30


BOXED = (
    "+-------+---------+---------+--------+\n| pass  |  train  |   val   | val acc|\n"
    "+-------+---------+---------+--------+\n"
)
LEARNED = [round(1.4 * 0.7**n, 4) for n in range(20)]


@pytest.mark.parametrize(
    ("held_out", "taken"),
    [
        ([round(1.2 + 0.05 * abs(n - 4), 3) for n in range(20)], True),  # it overfits
        ([round(1.4 * 0.8**n, 3) for n in range(20)], True),
        ([round(0.5 + 0.02 * n, 3) for n in range(20)], False),  # a share
        ([round(4.2 + 0.05 * n, 3) for n in range(20)], False),  # far from that of the training
    ],
)
def test_losses_that_are_called_by_their_data_beside_a_score(
    tmp_path: Path, held_out: list[float], *, taken: bool
) -> None:
    """That of held-out data may rise where a run overfits."""
    (tmp_path / "log.txt").write_text(
        BOXED
        + "".join(
            f"|{n:6d} |  {one:.4f} |  {other:.4f} |  {0.3 + n / 100:.3f} |\n"
            for n, (one, other) in enumerate(zip(LEARNED, held_out, strict=True), 1)
        )
    )
    run = read(tmp_path / "log.txt")
    assert ("eval_loss" in run.history.metrics) == ("train_loss" in run.history.metrics) == taken
    assert "eval_accuracy" in run.history.metrics
