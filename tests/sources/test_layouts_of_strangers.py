"""Logs of many makes, each in the form that its program prints, read to the last row."""

import json
from pathlib import Path
from pprint import pformat

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources.decimals import log_with_points

EPOCHS = range(1, 9)


def logged(folder: Path, lines: list[str], name: str = "train.log") -> Run:
    """Write a log and read it."""
    (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return read(folder / name)


def test_lists_under_a_line_of_the_epoch(tmp_path: Path) -> None:
    """VITS prints its losses, the step and the rate as a list, and names none."""
    lines = ["INFO:base:Saving model and optimizer state at iteration 1 to ./G_0.pth"]
    for n in EPOCHS:
        lines.append(f"INFO:base:Train Epoch: {1 + n // 4} [{n % 4 * 25}%]")
        lines.append(f"INFO:base:[2.5, 2.25, {n / 4}, {40 / n}, 1.75, 1.5, {100 * n}, 0.0002]")
    lines.append("INFO:base:[1.0, 2.0, 3.0, 4, 5.0]")
    run = logged(tmp_path, lines)
    curve = run.curve("loss_mel")
    assert curve.step.tolist() == [100 * n for n in EPOCHS]
    assert (curve.value[0], curve.value[-1]) == (40, 5)
    assert run.curve("learning_rate").value[-1] == 0.0002
    other = [line.replace(", 1.5, ", ", ") for line in lines]
    assert len(logged(tmp_path, other).curve("loss 4")) == len(EPOCHS)


@pytest.mark.parametrize(
    ("row", "epochs"),
    [
        ("Epok {n}/8 - Eğitim Kaybı: {a} - Doğrulama Kaybı: {b}", True),
        ("Epoka {n}/8: strata treningowa {a}, strata walidacyjna {b}", True),
        ("Epoca {n}/8, perdita {a}, perdita validazione {b}", True),
        ("Vòng lặp {n}/8: mất mát huấn luyện {a} | mất mát kiểm định {b}", True),
        ("第{n}轮/共8轮 训练损失: {a} 验证损失: {b}", True),
        ("第 {n}/8 轮 训练损失: {a} 验证损失: {b}", True),
        ("第{n}步 训练损失: {a} 验证损失: {b}", False),
    ],
)
def test_more_languages(tmp_path: Path, row: str, epochs: bool) -> None:
    """Words of Turkish, Polish, Italian, Vietnamese; Chinese rounds of so many."""
    run = logged(tmp_path, [row.format(n=n, a=2 / n, b=2 / n + 0.5) for n in EPOCHS])
    for name, ends in (("train_loss", (2, 0.25)), ("eval_loss", (2.5, 0.75))):
        curve = run.curve(name)
        assert (len(curve), curve.value[0], curve.value[-1]) == (8, *ends)
    assert (run.state.planned_epochs == 8) == epochs


def test_columns_of_a_polish_table(tmp_path: Path) -> None:
    """With a comma in its numbers, and a letter that has no accent to lose."""
    lines = [
        "epoka;strata;dokładność",
        *(f"{n};{2 / n:.3f};0.{n}".replace(".", ",") for n in EPOCHS),
    ]
    run = logged(tmp_path, lines, "wyniki.csv")
    assert run.curve("train_loss").value[-1] == 0.25
    assert run.curve("train_accuracy").value[-1] == 0.8


def test_milliseconds_of_milliseconds(tmp_path: Path) -> None:
    """``time=11.5ms/ 2.5ms`` are two times, and no number that comes once in each line."""
    row = "| Epoch {n}, time={t}ms/ {u}ms | Train: loss={a:.3f}, acc={b:.1f}% |"
    lines = [row.format(n=n, t=900.5 + n, u=90.5 - n, a=2 / n, b=10 * n) for n in EPOCHS]
    assert logged(tmp_path, lines).curve("train_loss").value[-1] == 0.25


@pytest.mark.parametrize(
    ("above", "row", "planned"),
    [
        ("Start Training, total 9 epochs", "Epoch {n} loss {a}", (None, 9)),
        ("max_epoch\t9", "Epoch {n} loss {a}", (None, 9)),
        ("# epoch: 9", "Epoch {n} loss {a}", (None, 9)),
        ("config: ServerConfig(num_rounds=9, timeout=1)", "round {n} loss {a}", (9, None)),
        ("    Global Rounds   : 9", "round {n} loss {a}", (9, None)),
    ],
)
def test_plans_around(
    tmp_path: Path, above: str, row: str, planned: tuple[int | None, int | None]
) -> None:
    """Settings in the forms of Torch7, Chainer, and servers of federated training."""
    state = logged(tmp_path, [above, *(row.format(n=n, a=2 / n) for n in EPOCHS)]).state
    assert (state.planned_steps, state.planned_epochs) == planned


def test_the_server_of_flower(tmp_path: Path) -> None:
    """Its rounds are tuples, in which the loss has no name."""
    row = "INFO flwr | server.py:116 | fit progress: ({n}, {a}, {{'accuracy': 0.{n}}}, 21.{n})"
    run = logged(tmp_path, [row.format(n=n, a=2 / n) for n in EPOCHS])
    assert run.curve("train_loss").value.tolist() == [2 / n for n in EPOCHS]
    assert len(read_all(tmp_path / "train.log")) == 1


@pytest.mark.parametrize(
    ("row", "ends"),
    [
        ("Epoche {n:2d}/8 | Verlust {a:.3f} | Genauigkeit 1{n}.5 %", (2, 0.25)),
        ("epoch {n}: loss = {a:.2f}", (2, 0.25)),
    ],
)
def test_decimals_behind_a_comma(tmp_path: Path, row: str, ends: tuple[float, float]) -> None:
    """As C#, R or Excel print them where it is used; ``1,000`` of others are thousands."""
    lines = [row.format(n=n, a=2 / n).replace(".", ",") for n in EPOCHS]
    curve = logged(tmp_path, lines).curve("train_loss")
    assert (curve.value[0], curve.value[-1]) == ends
    lines = [f"step {n},000 reward {10 * n}" for n in EPOCHS]
    assert logged(tmp_path, lines).curve("reward").step.tolist() == [1000 * n for n in EPOCHS]
    mixed = [f"step {n} | loss {2 / n:.4f} | eta 0,{n} h" for n in EPOCHS]
    assert logged(tmp_path, mixed).curve("train_loss").value[-1] == 0.25


def test_few_lines_with_a_point_among_commas(tmp_path: Path) -> None:
    """Where points come as well, nothing says which of both stands before decimals."""
    lines = [f"epoch {n} loss {2 / n:.3f}, 0,5 of it" for n in EPOCHS]
    late = [f"Epoche {n} Verlust 0,{n}" for n in EPOCHS] + [f"x {n} y 0,5 z 0.5" for n in EPOCHS]
    assert logged(tmp_path, lines).curve("train_loss").value[-1] == 0.25
    text = "\n".join(late).encode()
    assert log_with_points(text) == text
    counted = "".join(f"{n},{10 * n}\n" for n in EPOCHS).encode()
    assert log_with_points(counted) == counted  # two columns of whole numbers


def test_games_of_so_many_steps(tmp_path: Path) -> None:
    """What a game took is no counter of the training: it goes up and down."""
    lines = []
    for n in range(1, 31):
        took = 900 + n * 37 % 101
        lines += ["-" * 20, f"Game #{n}", f"  Final score : {n - 9}", f"  Steps       : {took}"]
    curve = logged(tmp_path, lines).curve("Final score")
    assert (curve.step.tolist(), curve.value[-1]) == (list(range(1, 31)), 21)


def test_epochs_glued_to_their_letter(tmp_path: Path) -> None:
    """``e007`` counts epochs."""
    run = logged(tmp_path, [f"e{n:03d}  trn {2 / n:.5f}  tst {2 / n + 1:.5f}" for n in EPOCHS])
    assert [len(run.curve(name)) for name in run.history.metrics] == [8, 8]


def test_boxes_that_count_iterations(tmp_path: Path) -> None:
    """A table of a name and a number a line, in which no steps stand."""
    lines = []
    for n in EPOCHS:
        rule = "-" * 20
        lines += [rule, f"|  Itr | {n} |", f"|  AverageEpRet | {10 * n} |", f"| LossQ | 1.{n} |"]
        lines.append(rule)
    curve = logged(tmp_path, lines).curve("reward")
    assert (curve.step.tolist(), curve.value[-1]) == (list(EPOCHS), 80)


def test_a_bar_between_others_of_the_same_length(tmp_path: Path) -> None:
    """Each epoch has a bar that counts anew, and games are played in between."""
    lines = []
    for n in EPOCHS:
        lines.append("Self Play: 100%|####| 50/50 [10:12<00:00,  6.1s/it]")
        lines.append(f"EPOCH ::: {n}")
        for done in (25, 50):
            loss = f"Loss_pi={2 / n + 0.1 - done / 500:.3f}"
            lines.append(f"Training Net: {2 * done}%|##| {done}/50 [00:05<00:05, 9.8it/s, {loss}]")
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines))
    (run,) = read_all(path)
    curve = run.curve("policy_loss")
    assert (len(curve), curve.step[-1], curve.value[-1]) == (16, 400, 0.25)


def test_the_bar_of_the_training_beside_lines_of_evaluations(tmp_path: Path) -> None:
    """Gaussian splatting: a few lines that the bar has not leave it the bar of the run."""
    lines = []
    for n in range(1, 41):
        bar = f"Training progress: {n}%|#| {10 * n}/1000 [00:01<00:09, 9.1it/s, Loss={2 / n:.6f}]"
        lines += [bar, f"[ITER {10 * n}] Evaluating test: L1 0.{n} PSNR 2{n}.5"][
            : 1 + (n % 20 == 0)
        ]
    run = logged(tmp_path, lines)
    assert (run.state.planned_steps, len(run.curve("train_loss"))) == (1000, 40)


def test_exponents_of_fortran(tmp_path: Path) -> None:
    """L-BFGS-B of SciPy prints them with a D."""
    lines = []
    for n in EPOCHS:
        lines += ["", f"At iterate    {n}    f=  {2 / n:.5f}D+01    |proj g|=  {1 / n:.5f}D-02"]
    curve = logged(tmp_path, lines).curve("f")
    assert (curve.step[-1], curve.value[-1]) == (8, 2.5)


def test_a_bar_that_names_its_epoch_in_brackets(tmp_path: Path) -> None:
    """``[3/8] loss 0.5:  50%|##   | 30/60`` is of the third of eight epochs."""
    lines = []
    for n in EPOCHS:
        for done in (30, 60):
            label = f"[{n}/8] loss {2 / n + 0.1 - done / 600:.4f} acc 0.{n}"
            lines.append(f"{label}: {done * 100 // 60}%|## | {done}/60 [00:15<00:15, 2.01it/s]")
        lines.append(f"    val loss {2 / n + 1:.4f} val acc 0.5")
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines))
    (run,) = read_all(path)
    assert run.state.planned_epochs == 8
    assert run.curve("train_loss").value[-1] == 0.25


def test_the_plan_in_the_bar_of_chainer(tmp_path: Path) -> None:
    """It says the epochs in words of their own."""
    lines = ["epoch       iteration   main/loss   elapsed_time"]
    for n in EPOCHS:
        lines += [f"{n:<10d}  {60 * n:<10d}  {2 / n:<10.6f}  {n * 5:<12d}"]
        lines += ["     total [###....] 50.00%", f"      {60 * n + 9} iter, {n} epoch / 12 epochs"]
    assert logged(tmp_path, lines).state.planned_epochs == 12


@pytest.mark.parametrize("key", ["message", "msg"])
def test_messages_of_a_logger_that_writes_json(tmp_path: Path, key: str) -> None:
    """What was printed stands in the text of each row, and no number beside it."""
    said = ["12 layers", *(f"epoch {n}/8 - loss: {2 / n}" for n in EPOCHS)]
    rows = [json.dumps({"level": "INFO", "name": "train", key: text}) for text in said]
    run = logged(tmp_path, rows, "train.jsonl")
    assert (len(run.curve("train_loss")), run.state.planned_epochs) == (8, 8)


@pytest.mark.parametrize("row", [{"text": "epoch 3 loss: 0.5"}, {"message": "epoch 3 loss: 0.5"}])
def test_texts_that_no_logger_wrote(tmp_path: Path, row: dict[str, str]) -> None:
    """They are data that tell of trainings."""
    (tmp_path / "data.jsonl").write_text("\n".join([json.dumps(row)] * 9))
    with pytest.raises(NothingReadable):
        read(tmp_path / "data.jsonl")


def test_rows_of_latex(tmp_path: Path) -> None:
    """Cells between ampersands, below a head with a rule."""
    lines = [r"\begin{tabular}{c|cc}", r"\hline", r"Epoch & Train Loss & Val Acc (\%) \\ \hline"]
    lines += [rf"{n} & {2 / n:.3f} & {80 + n}.5 \\[2pt]" for n in EPOCHS]
    run = logged(tmp_path, [*lines, r"\hline", r"\end{tabular}"])
    assert run.curve("train_loss").value[-1] == 0.25
    assert run.curve("eval_accuracy").value[-1] == 0.885


def test_a_head_of_data_behind_a_stamp(tmp_path: Path) -> None:
    """AllenNLP prints its table with the name of the logger before each line, others too."""
    lines = []
    for n in EPOCHS:
        stamp = f"2021-06-01 10:0{n}:00,113 - INFO - allennlp."
        lines.append(f"{stamp}training.trainer - Epoch {n - 1}/7")
        lines.append(f"{stamp}training.callbacks -                Training |  Validation")
        lines.append(f"{stamp}training.callbacks - loss       |     {2 / n:.3f}  |  {3 / n:.3f}")
        lines.append(f"{stamp}training.checkpointer - Copying weights to 'best.th'.")
    run = logged(tmp_path, lines)
    assert run.curve("train_loss").value[-1] == 0.25
    assert run.curve("eval_loss").value[-1] == 0.375


def test_lists_in_the_cells_of_a_table(tmp_path: Path) -> None:
    """DeepXDE prints a loss for each of its conditions under one name."""
    lines = ["Step      Train loss              Test loss               Test metric"]
    cells = "{n:<10d}[{a:.2e}, {b:.2e}]    [{a:.2e}, 1.00e-02]    []  "
    lines += [cells.format(n=1000 * n, a=2 / n, b=1 / n) for n in EPOCHS]
    run = logged(tmp_path, lines)
    assert run.curve("train_loss").step.tolist() == [1000 * n for n in EPOCHS]
    assert run.curve("train_loss").value[-1] == 0.25
    assert run.curve("Train loss[1]").value[-1] == 0.125


def test_names_dealt_behind_the_data_of_their_line(tmp_path: Path) -> None:
    """``training episodes`` are the data of all four."""
    lines = []
    for n in EPOCHS:
        lines.append(f"Updates {10 * n}, num timesteps {640 * n}, FPS 8{n}0 ")
        reward = f"mean/median reward {2 * n}.5/{n}.1, min/max reward 0.5/9.5"
        lines += [f" Last 10 training episodes: {reward}", ""]
    run = logged(tmp_path, lines)
    assert run.curve("reward").value[-1] == 16.5
    assert "Last" not in run.history.metrics
    assert {"min reward", "max reward"} <= {*run.history.metrics}


@pytest.mark.parametrize(
    "row",
    [
        "10:11:1{n}.111 [main] INFO o.d.o.l.ScoreIterationListener - Score at iteration {n} is {a}",
        "Epoch #{n} Error:{a}",
        "第{n}次迭代，训练误差：{a}",
    ],
)
def test_errors_and_scores_that_are_minimised(tmp_path: Path, row: str) -> None:
    """Encog's error is no level of a message, and the score of Deeplearning4j is a loss."""
    run = logged(tmp_path, [row.format(n=n, a=2 / n) for n in EPOCHS])
    assert run.curve("train_loss").value.tolist() == [2 / n for n in EPOCHS]


def test_the_mean_of_the_last_hundred(tmp_path: Path) -> None:
    """How many the mean is of is no measure."""
    row = "Episode {n} | Reward {a} | Average reward (last 100): {b}"
    run = logged(tmp_path, [row.format(n=n, a=3 * n, b=n + 0.5) for n in EPOCHS])
    assert all(len(set(run.curve(name).value.tolist())) > 1 for name in run.history.metrics)


def test_a_counter_in_chinese_begins_every_line(tmp_path: Path) -> None:
    """It is no prefix of theirs; the steps are those of each game."""
    row = "回合:{n}/40, 奖励:{a:.2f}, 步数:{took}, 探索率:0.{n:02d}"
    lines = [row.format(n=n, a=3 * n - 50, took=100 + n * 37 % 101) for n in range(1, 41)]
    run = logged(tmp_path, ["使用GPU训练", *lines])
    curve = run.curve("reward")
    assert (curve.step.tolist(), curve.value[-1]) == (list(range(1, 41)), 70)
    assert run.state.planned_epochs == 40


def test_a_history_with_its_data_above(tmp_path: Path) -> None:
    """As pprint breaks it into lines."""
    parts = {"train": 2.0, "val": 3.0}
    history = {
        data: {"loss": [a / n for n in EPOCHS], "acc": [0.5] * 8} for data, a in parts.items()
    }
    run = logged(tmp_path, [pformat(history, width=50)], "history.txt")
    assert run.curve("train_loss").value[-1] == 0.25
    assert run.curve("eval_loss").value[-1] == 0.375


def test_how_many_were_right(tmp_path: Path) -> None:
    """``Epoch 3: 9412 / 10000`` is an accuracy, where each epoch has but one."""
    lines = [f"Epoch {n}: {9000 + 50 * n} / 10000, took 5.{n} seconds" for n in EPOCHS]
    curve = logged(tmp_path, lines).curve("train_accuracy")
    assert (curve.step.tolist(), curve.value[-1]) == (list(EPOCHS), 0.94)
    for others in (
        [f"Epoch {n}: {50 * k} / 400" for n in EPOCHS for k in range(1, 9)],
        [f"Epoch {n}: {50 * n} / {400 + n}" for n in EPOCHS],
    ):
        path = tmp_path / "batches.log"
        path.write_text("\n".join(others))
        names = {name for run in read_all(path) for name in run.history.metrics}
        assert not {name for name in names if "accuracy" in name}


@pytest.mark.parametrize(
    "line",
    [
        "epoch {n} Loss: train {a} val {b} | Acc: train {c} val {d}",
        "epoch : {n}/9 - loss = {a}\nAccuracy Train:{c}, Dev:{d} ; Time:12",
        "epoch {n} loss train: {a}, val: {b}, acc train: {c}, val: {d}",
    ],
)
def test_what_is_measured_on_the_data_that_are_named_alone(tmp_path: Path, line: str) -> None:
    """The first of them says it, or what stands before it."""
    rows = [line.format(n=n, a=1 + 1 / n, b=1.25 + 1 / n, c=n / 10, d=n / 20) for n in range(1, 10)]
    (tmp_path / "train.log").write_text("\n".join([*rows, ""]))
    run = read(tmp_path / "train.log")
    assert run.curve("train_loss").value[-1] == pytest.approx(1 + 1 / 9)
    assert run.curve("train_accuracy").value.tolist() == [n / 10 for n in range(1, 10)]
    assert run.curve("eval_accuracy").value.tolist() == [n / 20 for n in range(1, 10)]
