"""Counters of a letter, episodes a second, rounds of Chinese logs, tables called after seeds."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.sources.console.letter_counters import with_letters_spelled
from tests.sources.written import run_of

LOSS = [round(2 / n + 0.1234, 4) for n in range(1, 13)]
SHARE = [round(1 - 0.7 / n, 3) for n in range(1, 13)]


@pytest.mark.parametrize(
    "row", ["s{n}5 xent {l}", "[k{n}5] loss: {l}", "i{n}5 | mse={l}", "@{n}5 loss={l}"]
)
def test_a_letter_before_its_number(tmp_path: Path, row: str) -> None:
    """It is the step, and lines between tell what an epoch ended with."""
    lines = [row.format(n=n, l=one) for n, one in enumerate(LOSS, 1)]
    lines[6:6] = ["== epoch 0 done, holdout acc 0.170 =="]
    run = run_of(tmp_path, "steps.log", "\n".join([*lines, "== epoch 1 done, holdout acc 0.3 =="]))
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_loss").step.tolist() == [10 * n + 5 for n in range(1, 13)]
    assert run.curve("eval_accuracy").value.tolist() == [0.17, 0.3]


@pytest.mark.parametrize(
    "lines",
    [
        [f"b{n % 3} loss 0.{n}" for n in range(12)],  # blocks, again and again
        [f"{'st'[n % 2]}{n} loss 0.{n}" for n in range(12)],  # two letters
        [f"s{n} seen 0.{n}" for n in range(12)],  # nothing that trainings are judged by
        [f"s{n} loss 0.{n}" for n in range(4)],  # in order by chance
        [f"x{n} loss 0.{n}" for n in range(12)],  # a coordinate
    ],
)
def test_a_letter_that_counts_nothing(lines: list[str]) -> None:
    """Lines stay as they are."""
    others = list(enumerate(lines))
    assert with_letters_spelled(others) == others


def test_a_bar_that_counts_episodes(tmp_path: Path) -> None:
    """A score in it is what an agent got; in a bar of steps it is not known of whom."""
    bar = "Train:  {n}%|##  | {n}/99 [00:0{s}<00:14, 9.30{u}, score={a}, loss={l}]\n"
    for unit in ("ep/s", "it/s"):
        text = "".join(
            bar.format(n=10 + n, s=n % 10, u=unit, a=a, l=b)
            for n, (a, b) in enumerate(zip(SHARE, LOSS, strict=True))
        )
        run = run_of(tmp_path, f"{unit[:2]}.txt", text)
        assert ("reward" in run.history.metrics) == (unit == "ep/s")


@pytest.mark.parametrize(
    ("row", "counted"),
    [
        ("第{n}回合 奖励:{a} 损失:{l} 探索率:0.5 Q均值:0.2", "reward"),
        ("第 {n} 局/共12局 奖励:{a} 损失:{l} 探索率:0.5", "reward"),
        ("第{n}轮 准确率:{a} 损失:{l}", "train_accuracy"),
        ("第{n}步 训练准确率:{a} 损失:{l}", "train_accuracy"),
    ],
)
def test_what_chinese_logs_count(tmp_path: Path, row: str, counted: str) -> None:
    """The number amid the word is the step."""
    text = "".join(
        row.format(n=n, a=a, l=b) + "\n"
        for n, (a, b) in enumerate(zip(SHARE, LOSS, strict=True), 1)
    )
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve(counted).value.tolist() == SHARE
    assert run.curve(counted).step.tolist() == list(range(1, 13))


def _table(path: Path, *columns: list[float]) -> None:
    rows = enumerate(zip(*columns, strict=True), 1)
    path.write_text("".join("\t".join(map(str, [n, *row])) + "\n" for n, row in rows))


def test_tables_that_are_called_after_seeds(tmp_path: Path) -> None:
    """The first number counts, the next is the loss, of the others nothing is said."""
    for seed in range(3):
        _table(
            tmp_path / f"seed_{seed}.tsv",
            *([one + seed / 9 for one in some] for some in (LOSS, SHARE)),
        )
    runs = read_all(tmp_path)
    assert len(runs) == 3
    assert runs[0].curve("train_loss").value.tolist() == LOSS
    assert runs[0].curve("train_loss").step.tolist() == list(range(1, 13))
    said = [problem.text for problem in runs[0].problems]
    assert said == [
        "has no header row that names its columns: they were taken for step, loss, column 3"
    ]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("houses.tsv", (LOSS, SHARE)),  # data of any kind
        ("seed_1.tsv", (SHARE, LOSS)),  # what comes first rises
        ("seed_1.tsv", (LOSS, [float(n % 2) for n in range(12)])),  # classes
    ],
)
def test_other_tables_are_no_training(
    tmp_path: Path, name: str, columns: tuple[list[float], ...]
) -> None:
    """In a folder, where nobody points at them."""
    _table(tmp_path / name, *columns)
    _table(tmp_path / f"more_{name}", *columns)
    with pytest.raises(NothingReadable):
        read_all(tmp_path)


def test_a_loss_of_both_data_behind_a_stroke(tmp_path: Path) -> None:
    """``bce 0.67 / test 0.61``: what is called by the data alone is as high as the loss."""
    rows = enumerate(zip(LOSS, SHARE, strict=True), 1)
    text = "".join(f"{n}) bce {a} / test {a - 0.01:.4f}  acc {b}\n" for n, (a, b) in rows)
    run = run_of(tmp_path, "clf.out", text)
    assert run.taken == {"train_loss": "bce", "eval_loss": "test"}
    assert read(tmp_path / "clf.out").curve("eval_loss").step.tolist() == list(range(1, 13))
