"""Rows whose place other lines tell: loops in loops, evaluations amid a training, bars beside."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from runlens import read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources.tables.launches import slack_of
from tests.sources.run_points import loss, points


def runs_of(folder: Path, text: str, name: str = "train.log") -> list[Run]:
    """Write a log and read it."""
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return read_all(folder / name)


def test_a_setting_above_the_first_block_is_none_of_it(tmp_path: Path) -> None:
    """The block is of the layout of all others."""
    blocks = "".join(f"Epoch:  {n}\nLoss:  {loss(n)}\n-----\n\n" for n in range(5))
    (run,) = runs_of(tmp_path, f"vocab size:  180\n{blocks}")
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(5)]


def test_blocks_of_which_none_comes_again(tmp_path: Path) -> None:
    """They are no layout, whatever stands above."""
    (run,) = runs_of(tmp_path, "Epoch: 1\nLoss size: 3\n-----\n" + "words\n" * 90)
    assert not run.history.metrics


def test_settings_that_pprint_sets_off(tmp_path: Path) -> None:
    """With ``indent=4`` it writes spaces behind the bracket."""
    head = "{   'batch_size': 64,\n    'max_epochs': 20,\n    'rho': 1}\n"
    rows = "".join(f"step {n}00, time 29s, loss {loss(n)}\n" for n in range(1, 9))
    (run,) = runs_of(tmp_path, head + rows)
    assert run.state.planned_epochs == 20
    assert run.config["per_device_train_batch_size"].value == 64


def test_a_count_before_the_word_epoch(tmp_path: Path) -> None:
    """``[   12 Epoch:[ 0/25] [  11/20]``: the word names the number behind it."""
    rows = "".join(
        f"[{n + 1:8d} Epoch:[{n // 20:2d}/25] [{n % 20:4d}/20] time: {n}.5, d_loss: {loss(n)}\n"
        for n in range(50)
    )
    (run,) = runs_of(tmp_path, rows)
    assert points(run, "d_loss") == [(n, loss(n)) for n in range(50)]
    assert run.state.planned_epochs == 25


def test_launches_that_came_not_far_are_no_echo() -> None:
    """Two processes that write by turns fall back to where the other is, a launch to the start."""
    turns = np.array([1, 1, 2, 3, 2, 3, 4, 4, 5, 6, 5, 6])
    launches = np.array([0, 1, 2, 0, 1, 0, 1, 2, 0, 1, 0, 0])
    assert slack_of(turns) > 0
    assert slack_of(launches) == 0
    assert slack_of(np.repeat(np.arange(9), 2)) > 0


def bars(epochs: int, *, value: object = None, total: int = 20) -> list[str]:
    """Return the bars of each epoch, with the loss of each batch or one value."""
    return [
        "".join(
            f"Epoch [{e}/9]: {5 * b:3d}%|##  | {b}/{total} [00:0{b % 9}<00:05, 3.9it/s, "
            f"loss={loss(e * total + b) if value is None else value}]\r"
            for b in range(1, total + 1)
        )
        for e in range(epochs)
    ]


def test_a_loss_that_is_in_bars_alone(tmp_path: Path) -> None:
    """Beside lines that count epochs, which stand at the step of the bar before them."""
    ends = [f"\nEpochs {e}, Test ACC: 0.{e + 1}\n" for e in range(3)]
    (run,) = runs_of(tmp_path, "".join(map("".join, zip(bars(3), ends, strict=True))))
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(1, 61)]
    assert points(run, "eval_accuracy") == [(20, 0.1), (40, 0.2), (60, 0.3)]
    assert run.state.planned_epochs == 9


def test_rows_that_came_in_a_bunch_share_the_way(tmp_path: Path) -> None:
    """Standard output was buffered, the bars were not."""
    ends = ["\n" + "Acc:0.5\nAcc:0.7\n" + f"Epochs {e}, Test ACC: 0.{e + 1}\n" for e in range(3)]
    (run,) = runs_of(tmp_path, "".join(map("".join, zip(bars(3), ends, strict=True))))
    steps = run.curve("train_accuracy").step.tolist()
    assert steps == [10, 20, 30, 40, 50, 60]


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (bars(3), "Epochs {e}, train loss: {loss}, Test ACC: 0.{e}"),  # the lines have it
        (bars(1), "Epochs {e}, Test ACC: 0.{e}"),  # few bars
        (bars(3, value="x"), "Epochs {e}, Test ACC: 0.{e}"),  # no value
    ],
)
def test_lines_that_need_no_bars(tmp_path: Path, shown: list[str], line: str) -> None:
    """They are read as without."""
    shown = [*shown, "", ""][:3] if len(shown) == 3 else [shown[0][:200], "", ""]
    ends = [f"\n{line.format(e=e, loss=loss(e))}\n" for e in range(3)]
    (run,) = runs_of(tmp_path, "".join(map("".join, zip(shown, ends, strict=True))))
    assert run.curve("eval_accuracy").step.tolist() == [0, 1, 2]


def test_bars_of_several_trainings_stay_apart(tmp_path: Path) -> None:
    """Where lines tell two, and where bars begin anew without a line that does."""
    ends = [f"\nEpochs {e}, Test ACC: 0.{e + 1}\n" for e in (0, 1, 2, 0, 1, 2)]
    text = "".join(map("".join, zip(bars(3) + bars(3), ends, strict=True)))
    assert len(runs_of(tmp_path, text)) == 2
    ends = [f"\nEpochs {e}, Test ACC: 0.{e + 1}\n" for e in range(6)]
    text = "".join(map("".join, zip(bars(3) + bars(3), ends, strict=True)))
    (run,) = runs_of(tmp_path, text)
    assert run.curve("eval_accuracy").step.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_bar_that_shows_what_the_epoch_before_did(tmp_path: Path) -> None:
    """Of each epoch only the end is left: it is a row whatever its value."""
    row = "Train Epoch {n}: 100%|####| 30/30 [00:04<00:00,  7.23it/s, Loss={loss}, Dice=0.1]\n"
    text = "".join(row.format(n=n, loss=0.5 if n in {3, 4} else loss(n)) for n in range(9))
    (run,) = runs_of(tmp_path, text)
    assert len(run.curve("train_loss")) == 9


def test_a_bar_without_a_rate(tmp_path: Path) -> None:
    """Its first value is no rate."""
    row = "Epoch {n}: 100%|####| 30/30 [00:35<00:00, loss={loss}, lr_s=3.00e-05]\n"
    (run,) = runs_of(tmp_path, "".join(row.format(n=n, loss=loss(n)) for n in range(4)))
    assert run.curve("train_loss").value.tolist() == [loss(n) for n in range(4)]


def halves(*, name: str = "Loss", first: int = 50, second: int = 8, epochs: int = 2) -> str:
    """Return a training whose evaluations are printed as its own rows are."""
    row = "Epoch: [{e}][{b:4d}/{of}]\t{name} {now:.4e} ({mean:.4e})\n"
    text = ""
    for e in range(epochs):
        for b in range(9, first, 10):
            now = loss(e * first + b)
            text += row.format(e=e, b=b, of=first, name="Loss", now=now, mean=now + 1)
        for b in range(3, second, 4):
            text += row.format(e=e, b=b, of=second, name=name, now=5 + e, mean=4 + e)
    return text


def test_the_second_half_of_each_epoch_is_an_evaluation(tmp_path: Path) -> None:
    """Its last row says what was measured on all of it: the mean in brackets."""
    (run,) = runs_of(tmp_path, halves(epochs=3))
    assert len(run.curve("train_loss")) == 15
    assert run.curve("eval_loss").value.tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    "text",
    [
        halves(name="Val loss"),  # it says so itself
        halves(epochs=1),  # a second data set, or a second training
        halves(epochs=2) + halves(second=9, epochs=1).replace("[0]", "[2]"),
        halves(epochs=2) + "Epoch: [2][   3/8]\tLoss 5.0 (4.0)\n",
    ],
)
def test_other_totals_are_no_evaluation(tmp_path: Path, text: str) -> None:
    """Rows stay what they say."""
    named = {name for run in runs_of(tmp_path, text) for name in run.history.metrics}
    assert "eval_loss" not in named or "Val loss" in text


def test_samples_of_an_evaluation_are_no_trainings(tmp_path: Path) -> None:
    """They are counted from the first again and again, while the steps go on."""
    text = ""
    for n in range(1, 7):
        text += "".join(
            f"Iters: {30 * n + i}/210 || Task Loss: {loss(30 * n + i)}\n" for i in (0, 10, 20)
        )
        text += "".join(
            f"Sample: {s}, Validation pixAcc: 0.{s}{n}, mIoU: 0.0{n}\n" for s in range(1, 8)
        )
    (run,) = runs_of(tmp_path, text)
    assert len(run.curve("train_loss")) == 18
    assert points(run, "eval_pix_acc") == [(30 * n + 20, float(f"0.7{n}")) for n in range(1, 7)]


@pytest.mark.parametrize(
    ("bracket", "taken"),
    [
        (lambda n: 2 + loss(n + 0.5), [2 + loss(n + 0.5) for n in range(6)]),  # the mean
        (lambda n: 2 + loss(n), [2 + loss(n) for n in range(6)]),  # the best so far
        (lambda n: 0.1 + n / 1000, [2 + loss(n) for n in range(6)]),  # a spread
    ],
)
def test_an_evaluation_is_the_mean_of_its_batches(
    tmp_path: Path, bracket: object, taken: list[float]
) -> None:
    """What stands in brackets behind that of the last one, if it may be a mean."""
    assert callable(bracket)
    text = "".join(
        f"Train: [{n}/6]\tlr 0.0003\tloss {loss(n):.4f} ({loss(n) + 0.1:.4f})\n"
        f"Validate: \tTime 0.{n}6 (0.16)\tLoss {2 + loss(n):.4f} ({bracket(n):.4f})\n"
        for n in range(6)
    )
    (run,) = runs_of(tmp_path, text)
    assert np.allclose(run.curve("eval_loss").value, taken, atol=1e-4)


def test_records_over_lines_of_any_names(tmp_path: Path) -> None:
    """Where the log is of nothing else."""
    text = "".join(
        f"REPORT\n  Batch = {n}00\n  alpha = {loss(n)}\n  Correct = {n}.15%\n\n"
        for n in range(1, 12)
    )
    (run,) = runs_of(tmp_path, text)
    assert [step for step, _ in points(run, "train_accuracy")] == [100 * n for n in range(1, 12)]
    assert np.allclose(run.curve("train_accuracy").value, [(n + 0.15) / 100 for n in range(1, 12)])


@pytest.mark.parametrize(
    "text",
    [
        # of much else
        "".join(f"Batch = {n}00\nalpha = {n}.5\n" + f"seen {n}.5 of it\n" * 9 for n in range(1, 9)),
        # not below each
        "".join(f"Batch = {n}00\n" for n in range(1, 9)) + "alpha = 1.5\n" * 8,
        "".join(f"Batch = {n}00\nalpha = 1.5\n" for n in range(1, 9)),  # a setting
        "".join(f"Batch = {n}00\n" + "alpha = 1.5\n" * (n % 3) for n in range(1, 9)),
    ],
)
def test_other_numbers_are_no_records(tmp_path: Path, text: str) -> None:
    """Counters with names of no metric beside them."""
    (run,) = runs_of(tmp_path, text)
    assert not run.history.metrics


@pytest.mark.parametrize(
    ("row", "rows"),
    [
        ("[Step 0/100] Loss: 5.0492 | Tokens/s: 25.51", 1),
        ("epoch 1/3, loss: 0.71", 1),
        ("loss: 5.0492", 0),  # of what, at which step?
    ],
)
def test_a_training_that_was_cut_behind_its_first_row(tmp_path: Path, row: str, rows: int) -> None:
    """A row that counts to a planned number is one, though it comes once."""
    head = "".join(f"loading module {chr(97 + n % 26)}{chr(97 + n // 26)}\n" for n in range(120))
    (tmp_path / "train.out").write_text(f"{head}{row}\n")
    try:
        (run,) = read_all(tmp_path / "train.out")
        assert len(run.curve("train_loss")) == rows
    except NothingReadable:
        assert not rows


def federated(rounds: int, clients: int = 10) -> str:
    """Return a loop over clients within one over rounds."""
    text = ""
    for r in range(1, rounds + 1):
        text += f"\n========== Round [{r}/{rounds}] ==========\n"
        for c in range(1, clients + 1):
            text += f"\n Client {c}/{clients}\nlogits: torch.Size([64, 10])\n"
            text += f"loss = {loss(r * clients + c)}\n"
        text += "".join(f"Client {c} Train Acc=0.{c}{r}\n" for c in range(clients))
        text += f"Round {r} Test Accuracy=0.0{r}\n"
    return text


def test_a_loop_within_a_loop_is_one_training(tmp_path: Path) -> None:
    """The outer one counts epochs, whatever it is called; two of them are two trainings."""
    (run,) = runs_of(tmp_path, federated(8))
    assert points(run, "train_loss") == [(n + 1, loss(n + 11)) for n in range(80)]
    assert len(run.curve("eval_accuracy")) == 8
    assert run.state.planned_epochs == 8
    assert len(runs_of(tmp_path, federated(8) * 2)) == 2


@pytest.mark.parametrize("inner", [lambda n: n * 2, lambda n: 1 + n % 12])
def test_heads_that_are_no_loops(tmp_path: Path, inner: Callable[[int], int]) -> None:
    """Two that go on side by side, and one that begins anew amid the steps of the other."""
    text = "".join(
        f"{f'== Round {1 + n // 10} ==' * (n % 10 == 0)}\n Client {inner(n)}/99\nloss = {loss(n)}\n"
        for n in range(60)
    )
    every = [run.curve("train_loss") for run in runs_of(tmp_path, text)]
    assert sum(map(len, every)) == 60


def test_a_constant_beside_rows_that_count_themselves(tmp_path: Path) -> None:
    """It is read over lines, but no row of anything."""
    text = "".join(
        f"Epoch {n}/69\n----\nbatch = 405\nnow_margin: 0.3000\ntrain Loss: {loss(n)} Reg: 0.0\n\n"
        for n in range(12)
    )
    (run,) = runs_of(tmp_path, text)
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(12)]


def test_a_few_batches_of_each_evaluation(tmp_path: Path) -> None:
    """As DETR and MAE print them: three rows of each are enough to know what they count."""
    text = ""
    for e in range(4):
        text += "".join(
            f"Epoch: [{e}]  [{b:3d}/40]  eta: 0:01:07  lr: 0.0001  loss: {loss(e + b)} (2.0)\n"
            for b in (0, 10, 20, 30)
        )
        text += "".join(
            f"Test:  [{b:3d}/25]  eta: 0:00:07  loss: {e + 2 + b / 100:.4f} ({e + 1.5:.4f})\n"
            for b in (0, 10, 20)
        )
    (run,) = runs_of(tmp_path, text)
    assert len(run.curve("train_loss")) == 16
    assert points(run, "eval_loss") == [(40 * e + 30, e + 1.5) for e in range(4)]


def test_rows_of_a_table_that_begin_with_words(tmp_path: Path) -> None:
    """The status that Ray Tune prints of a trial."""
    head = "| Trial name | status | loc | iter | total time (s) | ts | reward |\n"
    text = "".join(
        f"\n== Status ==\n{head}|---+---|\n"
        f"| PPO_Cart_00000 | RUNNING | host-a | {n} | {n * 12.5} | {4000 * n} | {20 + n * 7.5} |\n"
        for n in range(1, 9)
    )
    (run,) = runs_of(tmp_path, text)
    assert points(run, "reward") == [(n, 20 + n * 7.5) for n in range(1, 9)]


@pytest.mark.parametrize(("total", "runs"), [(40, 1), (90, 2)])
def test_a_counter_that_fell_short_was_cut(tmp_path: Path, total: int, runs: int) -> None:
    """Epochs that nobody named end where the counter does."""
    text = "".join(
        f"Step {step}/{total}; xent: {loss(launch * 3 + step / 40):.4f}; lr: 0.0000020\n"
        for launch in (0, 1)
        for step in range(0, 40, 2)
    )
    assert len(runs_of(tmp_path, text)) == runs


def stats(kind: str, **values: object) -> str:
    """Return a row as pycls and SlowFast print it."""
    row = json.dumps({"RAM": "1/2G", "_type": kind, "eta": "1:02:03", **values})
    return f"[05/01 10:00:02][INFO] logging.py:  99: json_stats: {row}\n"


def test_rows_of_pycls_count_in_texts(tmp_path: Path) -> None:
    """The means of an epoch, and the iterations of an evaluation, are no rows of the training."""
    text = ""
    for e in range(1, 5):
        for i in (10, 20, 30):
            row = {"epoch": f"{e}/9", "iter": f"{i}/35", "loss": loss(e * 30 + i), "lr": 0.1}
            text += stats("train_iter", **row)
        text += stats("train_epoch", epoch=f"{e}/9", loss=9.0, lr=0.1, big=10**400)
        text += stats("val_iter", epoch=f"{e}/9", iter="10/20", top1_err=99.0)
        text += stats("val_epoch", epoch=f"{e}/9", top1_err=50.0 - e)
    (run,) = runs_of(tmp_path, text)
    steps = [35 * (e - 1) + i for e in range(1, 5) for i in (10, 20, 30)]
    assert run.curve("train_loss").step.tolist() == steps
    assert set(run.curve("train_loss_epoch").value.tolist()) == {9.0}
    assert run.curve("eval_top1_err").value.tolist() == [49, 48, 47, 46]
    assert (run.state.planned_epochs, run.state.planned_steps) == (9, 9 * 35)


def test_epochs_alone_of_pycls(tmp_path: Path) -> None:
    """They are the training; what is damaged, or no row, costs only itself."""
    text = "".join(stats("train_epoch", epoch=f"{e}/9", loss=loss(e)) for e in range(1, 7))
    damaged = stats("train_epoch", epoch="7/9", loss=1.0).replace("}", "")
    odd = stats("train_epoch", epoch=7, loss=1.0) + stats("train_epoch", epoch="7/9")
    listed = '"_type": "train_epoch" {"_type": "words"}\n'
    (run,) = runs_of(tmp_path, text + damaged + odd + listed)
    assert points(run, "train_loss") == [(e, loss(e)) for e in range(1, 7)]


def test_other_rows_with_a_type_are_dicts_of_their_own(tmp_path: Path) -> None:
    """Counted in numbers."""
    text = "".join(
        json.dumps({"_type": "metrics", "step": n, "loss": loss(n)}) + "\n" for n in range(9)
    )
    (run,) = runs_of(tmp_path, text)
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(9)]


def scalars(*, by_epoch: bool, first: int = 0, mark: str = "epoch") -> str:
    """Return what mmengine writes: ten iterations an epoch."""
    rows: list[dict[str, float]] = [{"accuracy/top1": 0.5, "time": 1.0, "step": 0}] * first
    for n in range(1, 6):
        train = {"lr": 0.1, "loss": loss(n), "time": 0.07, "iter": 10 * n, "step": 10 * n}
        rows.append(train | ({mark: n} if by_epoch else {}))
        rows.append({"accuracy/top1": n / 10, "time": 1.0, "step": n if by_epoch else 10 * n})
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("by_epoch", [True, False])
def test_rows_of_evaluations_of_mmengine(tmp_path: Path, *, by_epoch: bool) -> None:
    """Their step is the epoch, or that of the row before; their times are their own."""
    (run,) = runs_of(tmp_path, scalars(by_epoch=by_epoch), "scalars.json")
    assert points(run, "eval_accuracy") == [(10 * n, n / 10) for n in range(1, 6)]
    assert points(run, "train_loss") == [(10 * n, loss(n)) for n in range(1, 6)]
    assert set(run.curve("eval_time").value.tolist()) == {1.0}
    assert not run.problems


@pytest.mark.parametrize(
    "text",
    [
        scalars(by_epoch=True, first=1),  # before any row of the training
        scalars(by_epoch=True, mark="pass"),  # a step of its own
        scalars(by_epoch=True).replace('"iter"', '"count"'),
        "".join(line for line in scalars(by_epoch=True).splitlines(True) if "loss" in line),
    ],
)
def test_other_rows_of_json_stay_as_they_are(tmp_path: Path, text: str) -> None:
    """No evaluation is told by them."""
    (run,) = runs_of(tmp_path, text, "scalars.json")
    assert "eval_accuracy" not in run.history.metrics
    assert len(run.curve("train_loss")) == 5


def test_names_of_splits_stay_as_they_are(tmp_path: Path) -> None:
    """Of an evaluation that says so in its names."""
    text = scalars(by_epoch=True).replace("accuracy/top1", "val/accuracy")
    (run,) = runs_of(tmp_path, text, "scalars.json")
    assert [step for step, _ in points(run, "eval_accuracy")] == [10, 20, 30, 40, 50]


def test_one_epoch_of_keras_is_not_all(tmp_path: Path) -> None:
    """Its batches are those of one of the epochs that are planned."""
    text = "Epoch 1/10\n" + "".join(
        f"{b:2d}/25 [{'=' * b}>{'.' * (25 - b)}] - ETA: {52 - b}s - loss: {loss(b):.4f}\n"
        for b in range(1, 26)
    )
    (run,) = runs_of(tmp_path, text)
    assert run.curve("train_loss").step.tolist() == list(range(1, 26))
    assert (run.state.planned_steps, run.state.planned_epochs) == (250, 10)
    assert run.state.kind != "finished"


def test_bold_cells_of_a_table_in_markdown(tmp_path: Path) -> None:
    """Numbers and names."""
    rows = "".join(f"| **{n}00** | {loss(n)} | 0.9{n} |\n" for n in range(1, 5))
    head = "| **Step** | **Train Loss** | Valid Loss |\n|---|---|---|\n"
    (run,) = runs_of(tmp_path, head + rows)
    assert points(run, "train_loss") == [(100 * n, loss(n)) for n in range(1, 5)]


def test_conversations_of_tinker_are_texts(tmp_path: Path) -> None:
    """Its episodes are answers, counted in tokens."""
    rows = [
        {
            "step": n,
            "env/all/total_episodes": 512,
            "env/all/ac_tokens_per_turn": 900.5 - n,
            "env/all/reward/total": n / 20,
            "optim/entropy": 0.5,
        }
        for n in range(9)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (run,) = runs_of(tmp_path, text, "metrics.jsonl")
    assert run.task == "grpo"
    assert points(run, "reward") == [(n, n / 20) for n in range(9)]
    assert {"len_mean", "entropy"} <= set(run.history.metrics)


def looped(*, starts: tuple[float, ...], word: str = "iter", iterations: int = 4) -> str:
    """Return trainings of some iterations of three epochs, each with its evaluation behind it."""
    lines = []
    for start in starts:
        loss = start
        for k in range(1, iterations + 1):
            for epoch in range(1, 4):
                loss *= 0.9
                lines.append(f"[epoch:{epoch}/3][part_loss:{loss:.4f}]")
            lines.append(f"[{word}:{k}/{iterations}][test_loss:{loss + 1:.4f}]")
    return "\n".join([*lines, ""])


def test_epochs_within_iterations_are_parts_of_them(tmp_path: Path) -> None:
    """Of one training: a row behind its epochs says which iteration they were."""
    (run,) = runs_of(tmp_path, looped(starts=(4.0,)))
    assert [step for step, _ in points(run, "part_loss")] == list(range(1, 13))
    assert [step for step, _ in points(run, "eval_loss")] == [3, 6, 9, 12]
    assert run.state.planned_epochs == 4
    first, second = runs_of(tmp_path, looped(starts=(4.0, 6.0), iterations=8))
    assert points(second, "part_loss")[0] == (1, 5.4)
    assert [step for step, _ in points(first, "eval_loss")] == list(range(3, 25, 3))
    cut = looped(starts=(4.0,)) + "[epoch:1/3][part_loss:0.9]\n[epoch:2/3][part_loss:0.8]\n"
    (run,) = runs_of(tmp_path, cut.replace("[iter:1/4][test_loss:3.9160]\n", ""))
    assert points(run, "part_loss")[-1] == (14, 0.8)


def test_epochs_of_folds_are_no_parts(tmp_path: Path) -> None:
    """Their values begin anew, and a row above the first epoch may be of anything."""
    text = "".join(
        looped(starts=(4.0,), iterations=1).replace("1/1]", f"{k}/4]") for k in range(1, 5)
    )
    assert [run.last_step for run in runs_of(tmp_path, text)] == [3] * 4
    rows = looped(starts=(4.0,))
    above = "[iter:1/4][test_loss:5.0000]\n" + rows
    assert all(run.state.planned_epochs != 4 for run in runs_of(tmp_path, above))
    few = runs_of(tmp_path, looped(starts=(4.0,), iterations=2))
    assert all(run.state.planned_epochs != 2 for run in few)


@pytest.mark.parametrize(("fold", "runs"), [("Task", 1), ("Fold", 6)])
def test_what_counts_to_less_than_was_done_is_no_step(tmp_path: Path, fold: str, runs: int) -> None:
    """``Task 2/6`` behind ten epochs: what was measured stands there, not at step 2."""
    lines, loss = [], 3.0
    for k in range(1, 7):
        loss = 3.0 if fold == "Fold" else loss
        for epoch in range(1, 11):
            loss *= 0.98
            lines.append(f"Epoch {epoch}/10 loss: {loss:.4f}")
        lines.append(f"{fold} {k}/6 test loss {loss * 1.1:.4f}")
    found = runs_of(tmp_path, "\n".join([*lines, ""]))
    steps = [step for run in found for step, _ in points(run, "eval_loss")]
    assert len(found) == runs
    assert steps == ([10] * 6 if runs > 1 else [10, 20, 30, 40, 50, 60])


@pytest.mark.parametrize(("data", "held_out"), [("validation_0", True), ("train", False)])
def test_what_closes_folds_is_of_the_data_of_their_rows(
    tmp_path: Path, data: str, held_out: bool
) -> None:
    """Boosting prints the error on held-out rows alone: the score of a fold is of these."""
    lines = []
    for fold in range(1, 4):
        lines += [f"=== Fold {fold}/3 ===", "  Train: 900 | Val: 300"]
        lines += [f"[{n}00]\t{data}-rmse:0.{90 - 3 * n - fold}" for n in range(5)]
        lines.append(f"  Fold {fold} | MAE=0.{41 + fold} R2=0.1{fold} took=0.5{fold}")
    found = runs_of(tmp_path, "\n".join([*lines, ""]))
    assert len(found) == 3
    assert [name in found[0].history.metrics for name in ("eval_mae", "took")] == [held_out, True]
