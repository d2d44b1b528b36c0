"""Small ways to print a row that research code has, each read with all that it says."""

from pathlib import Path

import pytest

import runlens
from tests.sources.written import run_of, runs_of


@pytest.mark.parametrize(
    ("row", "curves"),
    [
        ("resetting env. episode reward total was -{n}.5. running mean: -{n}.25",
         {"reward", "running mean"}),
        ("{n:03d} | trn 2.{left} | dev 3.{left} | 12s", {"train_loss", "eval_loss"}),
    ],
)  # fmt: skip
def test_a_row_of_words(tmp_path: Path, row: str, curves: set[str]) -> None:
    """A sentence that states a number, data without the name of what was measured on them."""
    path = tmp_path / "log.txt"
    path.write_text("".join(row.format(n=n, left=60 - n) + "\n" for n in range(11, 31)))
    run = runlens.read(path)
    assert curves <= set(run.history.metrics)
    assert all(len(run.curve(name)) == 20 for name in curves)


def test_results_behind_each_training(tmp_path: Path) -> None:
    """Of kinds of their own, few, at its last epoch: where the next begins, its epochs tell."""
    parts = "[{{12.py:8}} INFO - TimeNLL:0.2{n} MarksNLL:0.3{n} Acc:1.0000\n"
    results = "".join(
        f"[{{{{12.py:7}}}} INFO - {data}: 0.5{{n}}\n{parts}" for data in ("Train", "Val", "Test")
    )
    path = tmp_path / "log.txt"
    path.write_text(
        "".join(
            "".join(
                f"[{{36.py:45}} INFO - Epoch {n:4}, trlast = {2 / n + one:.3f}, val = {2 / n:.3f}\n"
                for n in range(1, last)
            )
            + results.format(n=one)
            for one, last in enumerate((20, 24, 16))
        )
    )
    assert len(runlens.read_all(path)) == 3


def test_an_accuracy_alone_in_a_bar(tmp_path: Path) -> None:
    """Its name begins with the data."""
    bar = "Epoch 0:  {n}%|##    | {n}/100 [00:10<00:20,  1.5it/s, v_num=3, train_acc=0.{n}]\n"
    path = tmp_path / "log.txt"
    path.write_text("".join(bar.format(n=n) for n in range(11, 31)))
    assert len(runlens.read(path).curve("train_accuracy")) == 20


@pytest.mark.parametrize("state", [" - {n}s - ", "200/200 [=====] - {n}s 4ms/step - "])
@pytest.mark.parametrize("fits", [2, 3, 9])
def test_keras_fits_of_one_epoch_are_epochs(tmp_path: Path, state: str, fits: int) -> None:
    """Each leaves one state below its header; that which was cut leaves none."""
    head = "Train on 200 samples, validate on 50 samples\nEpoch 1/1\n"
    rows = (head + state + "loss: 0.{n} - val_loss: 1.{n}\n\n").format
    run = run_of(tmp_path, "train.txt", "".join(rows(n=90 - n) for n in range(fits)) + head)
    curve = run.curve("train_loss")
    assert curve.step.tolist() == list(range(1, fits + 1))
    assert curve.value.tolist() == [(90 - n) / 100 for n in range(fits)]
    assert len(run.curve("eval_loss")) == fits
    assert run.state.planned_epochs is None


def test_keras_fits_whose_bars_are_drawn_are_no_epochs(tmp_path: Path) -> None:
    """Two states below one header are those of its batches."""
    bar = "{b}/200 [=====] - 9s 4ms/step - loss: 0.{n}\n"
    rows = ("Epoch 1/1\n" + bar.format(b=100, n="5{n}") + bar.format(b=200, n="4{n}")).format
    runs = runs_of(tmp_path, "train.txt", "".join(rows(n=9 - n) for n in range(2)))
    assert all(run.curve("train_loss").step.tolist() == [100, 200] for run in runs)


def test_what_a_scheduler_says_counts_nothing(tmp_path: Path) -> None:
    """PyTorch's counts its own calls, between lines that count the epochs of the training."""
    told = "Epoch {m:5}: reducing learning rate of group 0 to 5.0000e-04.\n"
    rows = (
        "===== Training epoch {n} =====\nTrain loss (approximate): 0.{a}\n"
        "===== Evaluating on validation set =====\nValidation loss (approx.): 0.{b}\n"
    )
    text = "".join(
        rows.format(n=n, a=90 - n, b=95 - n) + (told.format(m=n + 1) if n % 4 == 3 else "")
        for n in range(12)
    )
    run = run_of(tmp_path, "log.txt", text)
    assert set(run.history.metrics) == {"train_loss", "eval_loss"}
    for name in run.history.metrics:
        assert run.curve(name).step.tolist() == list(range(12))


@pytest.mark.parametrize("measured", ["eval_success=0.{n}", "Accuracy: 0.{n}"])
def test_a_row_of_the_training_behind_an_evaluation(tmp_path: Path, measured: str) -> None:
    """Each epoch has one, whether an evaluation stands before it or not."""
    row = "FPS: 12{n}, pi_loss=-0.{n}, loss=1.{n}\n"
    text = "".join(
        f"Epoch: {n - 10}, total_step={100 * (n - 10)}\n"
        + (f"Evaluating\n{measured.format(n=n)}\nmodel saved\n" if n % 5 == 0 else "")
        + row.format(n=n)
        for n in range(10, 40)
    )
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").value.tolist() == [(100 + n) / 100 for n in range(10, 40)]
    assert not [name for name in run.history.metrics if "loss" in name and "eval" in name]


@pytest.mark.parametrize(
    "evaluation",
    [
        "loss=0.{n}, acc=0.5\n",  # what the training measures is above it
        "samples: 500\nloss=0.{n}, acc=0.5\n",
    ],
)
def test_an_evaluation_that_measures_what_the_training_does(
    tmp_path: Path, evaluation: str
) -> None:
    """It stands beside the row of the training, of the same step."""
    text = "".join(
        f"Epoch: {n - 10}\nloss=1.{n}, acc=0.4\n"
        + ("Evaluating\n" + evaluation.format(n=n) if n % 5 == 0 else "")
        for n in range(10, 40)
    )
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").value.tolist() == [(100 + n) / 100 for n in range(10, 40)]
    assert run.curve("eval_loss").value.tolist() == [n / 100 for n in range(10, 40, 5)]


@pytest.mark.parametrize(
    ("row", "curves"),
    [
        ("loss at step {n}: 1.{n}, lr: 0.01", {"train_loss", "learning_rate"}),
        ("validation loss at step {n}: 1.{n}, the acc is: 0.5", {"eval_loss", "eval_accuracy"}),
        ("Validation loss at step {n} = 1.{n}", {"eval_loss"}),
        ("Evaluation at step {n}: loss 1.{n}, acc 0.5", {"eval_loss", "eval_accuracy"}),
        ("saving the best model at step {n}: loss 1.{n}", {"train_loss"}),
    ],
)
def test_a_step_amid_a_sentence(tmp_path: Path, row: str, curves: set[str]) -> None:
    """What stands before it names the number behind it; held-out data are those of all."""
    run = run_of(tmp_path, "log.txt", "".join(row.format(n=n) + "\n" for n in range(10, 30)))
    assert set(run.history.metrics) == curves
    loss = run.curve(max(curves))
    assert loss.step.tolist() == list(range(10, 30))
    assert loss.value.tolist() == [(100 + n) / 100 for n in range(10, 30)]


def test_a_counter_behind_an_epoch_goes_on_over_all(tmp_path: Path) -> None:
    """No word names it, and its data stand in brackets of Chinese; the evaluation has none."""
    head = "2022-06-26 03:38:58,{n} - INFO - main.py - train - "
    text = "".join(
        head.format(n=700 + n)
        + f"99 - \u3010train\u3011 epoch:{n // 30} {n}/90 loss:{9 - n / 20:.2f}\n"
        + (head.format(n=n) + f"105 - [eval] loss:{9.5 - n / 20:.2f} f1=0.5\n") * (n % 9 == 8)
        for n in range(90)
    )
    run = run_of(tmp_path, "bert.log", text)
    assert run.curve("train_loss").step.tolist() == list(range(90))
    assert run.curve("eval_loss").step.tolist() == list(range(8, 90, 9))
    assert run.state.planned_steps == 90


@pytest.mark.parametrize("behind", ["94{n}/10000 correct", "94{n}/10000 (94%)", "12/{n}/2020"])
def test_what_stands_behind_an_epoch_is_no_batch(tmp_path: Path, behind: str) -> None:
    """How many were right, a date."""
    row = f"Epoch {{n}} {behind}, loss 0.{{n}}\n"
    run = run_of(tmp_path, "log.txt", "".join(row.format(n=n) for n in range(10, 26)))
    assert run.curve("train_loss").step.tolist() == list(range(10, 26))


def test_a_total_set_to_the_right(tmp_path: Path) -> None:
    """What is done of it in per cent is no measure; another number without a name is one."""
    row = "[train] {share:.2f}% | {n:6}/   200 [0:00:03<0:11:10, 3.35s/it] | LOSS: 0.{a} | {b}\n"
    text = "".join(row.format(share=n / 2, n=n, a=90 - n, b=(n % 7) / 10) for n in range(1, 20))
    run = run_of(tmp_path, "log.txt", text)
    assert run.state.planned_steps == 200
    assert run.curve("train_loss").step.tolist() == list(range(1, 20))
    columns = [name for name in run.history.metrics if name.startswith("column")]
    assert [float(run.curve(name).value[0]) for name in columns] == [0.1]


def test_bars_of_rich_one_below_the_other(tmp_path: Path) -> None:
    """The outer one counts epochs, the inner one the batches of its last; a plan counts nothing."""
    bar = 8 * "\u2501"
    text = (
        "Training epochs: 20\n\n"
        f"  epochs    {bar} 20/20   \u2022 0:31:40 epoch 20 avg loss = 0.6101\n"
        f"    batches {bar} 50/50 \u2022 0:00:37 lr=0.02230  mse= 0.2212  avg= 0.61\n"
    )
    run = run_of(tmp_path, "result.txt", text)
    assert run.curve("mse").step.tolist() == [1000]
    assert run.curve("train_loss").step.tolist() == [950]  # above all batches of its epoch
    assert (run.state.planned_epochs, run.state.done_steps) == (20, 1000)


@pytest.mark.parametrize("episodes", [2, 3, 9])
def test_a_reward_of_episodes_is_none_of_their_steps(tmp_path: Path, episodes: int) -> None:
    """Within one it is the sum so far; two of them are no course."""
    text = "".join(
        "".join(f"step: {5 * n + k} Reward: -{k}.0 Loss: 0.5\n" for k in range(5))
        + f"episode: {n} Reward per episode: -2{n % 3}.5\n"
        for n in range(episodes)
    )
    run = run_of(tmp_path, "log.txt", text)
    whole = [-20.5 - n % 3 for n in range(episodes)]
    assert (run.curve("reward").value.tolist() == whole) is (episodes > 2)
