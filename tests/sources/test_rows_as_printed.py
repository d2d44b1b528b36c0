"""Rows whose names, counters or numbers stand where few programs print them."""

import json
from pathlib import Path

import pytest

import runlens
from tests.sources.written import curve_of, run_of, runs_of

LOSS = [round(2.5 / n + 0.25, 4) for n in range(1, 13)]


def rows(form: str) -> str:
    """Write a line for each loss."""
    return "".join(form.format(n=n, loss=loss, more=loss + 1) for n, loss in enumerate(LOSS))


@pytest.mark.parametrize(
    ("name", "text", "metric"),
    [
        # objects
        ("log.txt", rows("Namespace(epoch={n}, loss={loss}, name='a')\n"), "train_loss"),
        ("log.txt", rows("namespace(step={n}, val_loss={loss})\n"), "eval_loss"),
        (
            "log.txt",
            rows("OrderedDict([('epoch', {n}), ('train_loss', {loss})])\nsaved {n}\n"),
            "train_loss",
        ),
        # the number of a row in its name, or beside it
        ("log.txt", rows("loss_step_{n}0: {loss}\n"), "train_loss"),
        ("log.txt", rows("loss{n}: {loss}\n"), "train_loss"),
        ("log.txt", rows("epoch{n}_val_loss = {loss}\nsome words\n"), "eval_loss"),
        ("metrics.txt", rows("train_loss,{n},{loss}\nval_loss,{n},{more}\n"), "train_loss"),
        ("metrics.csv", rows("train_loss,{n},{loss}\nval_loss,{n},{more}\n"), "train_loss"),
        # an array is no single number
        (
            "log.txt",
            f"train_losses = array({LOSS})\nval_losses = array({LOSS[::-1]})\n",
            "train_loss",
        ),
        ("log.txt", rows("epoch {n} loss array([[{loss}]], dtype=float32)\n"), "train_loss"),
        ("val_loss.txt", rows("{loss} %\n"), "eval_loss"),
        # over how many a mean was taken
        (
            "log.txt",
            rows("Iteration {n}00 of 1100 (1%): average loss over last 100 = {loss}, 0:00:12\n"),
            "train_loss",
        ),
        ("log.txt", rows("mean loss over the last 50: {loss} (step {n})\n"), "train_loss"),
        # a sentence
        (
            "log.txt",
            rows("At epoch {n} we got a loss of {loss} and an accuracy of 0.5 or so\n"),
            "train_loss",
        ),
        (
            "log.txt",
            rows("\nEpoch {n:05d}: val_loss improved from {more} to {loss}, saving\n"),
            "eval_loss",
        ),
        (
            "log.txt",
            rows("Epoch {n}: loss: {loss}\nval loss decreased from {more} to 0.{n}, saved\n"),
            "train_loss",
        ),
        (  # the parts of a loss, and lists by what they are of
            "log.txt",
            rows(
                "Epoch {n} [3.1s]: train==[9.5=0.3 + 0.1], recall=[{loss}, 0.3], hit=[0.1, 0.2]\n"
            ),
            "recall",
        ),
        # seconds and shares count nothing
        ("log.txt", rows("Elapsed: {n}0s Epoch: {n} Loss: {loss}\n"), "train_loss"),
        ("log.txt", rows("{n}% ({n} of 100) |##  | ETA: 0:01:00 loss: {loss}\n"), "train_loss"),
        # a counter that is set off, and a rate at the end
        (
            "log.txt",
            rows("{n}000: done 3 games, loss {loss}, eps 0.9, speed 120.11 f/s\n"),
            "train_loss",
        ),
        (
            "history.json",
            json.dumps({f"Epoch {n}": [loss, 0.5 * n] for n, loss in enumerate(LOSS)}),
            "train_loss",
        ),
        # what the label of a bar says is of both data
        (
            "log.txt",
            "".join(
                f"\rtrain loss = {loss} | test acc = 0.5{n}: 50%|## | {n}/24 [00:02<00:03, 1.0it/s]"
                for n, loss in enumerate(LOSS)
            ),
            "train_loss",
        ),
    ],
)
def test_every_row_is_read(tmp_path: Path, name: str, text: str, metric: str) -> None:
    """With its own number."""
    assert curve_of(tmp_path, name, text, metric) == pytest.approx(LOSS)


@pytest.mark.parametrize(
    "text",
    [
        rows("Namespace(epochs=100, loss={loss}, batch=32)\n"),  # it counts nothing
        "Namespace(epoch=1, loss=0.5)\n" * 2,
        "OrderedDict([('epoch', 3), broken\n" * 5,
        "head_loss1: 0.5\nhead_loss2: 0.4\nhead_loss3: 0.3\n",  # of three networks
        rows("layer{n}: {loss}\n"),
        "lr: 0.1\nmin_value: 0.25\nbatch_size: 32\nmax_value: 0.75\nseed: 1\ntarget: 0.5\n",
        rows("train_loss,7,{loss}\n") + "and words,7\n" * 9,
    ],
)
def test_settings_are_no_rows(tmp_path: Path, text: str) -> None:
    """Nor are the parts of one loss, and lines without a counter that goes on."""
    runs = runs_of(tmp_path, "log.txt", f"some words\n{text}")
    curves = [run.curve(name) for run in runs for name in run.history.metrics]
    assert not any(len(curve) > 1 and curve.step[-1] > len(LOSS) for curve in curves)


@pytest.mark.parametrize(
    "form", ["Elapsed: {n}0s Epoch: {n} Loss: {loss}\n", "{n}% ({n} of 99) loss {loss}\n"]
)
def test_the_counter_is_the_step(tmp_path: Path, form: str) -> None:
    """And no time, and no share of what is done."""
    assert run_of(tmp_path, "log.txt", rows(form)).curve("train_loss").step[-1] == 11


def test_an_epoch_is_set_off_from_the_last_by_a_bar(tmp_path: Path) -> None:
    """In brackets."""
    text = rows("\nEpoch: [{n} | 40] LR: 0.1\nProcessing |###| (391/391) Loss: {loss}\n")
    assert run_of(tmp_path, "log.txt", text).state.planned_epochs == 40


def test_a_bar_of_epochs_is_behind_its_label(tmp_path: Path) -> None:
    """It is drawn at some of the epochs that its label counts."""
    bars = [(n, n - n % 4) for n in range(12)]
    text = "".join(
        f"\repoch:{n} | tr: {LOSS[n]} | val: {LOSS[n] + 1}: 10%|#  | {done}/12 [00:01<00:02, 3it/s]"
        for n, done in [(0, 0), *bars, (11, 12)]
    )
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_loss").step.tolist() == list(range(12))
    assert run.state.planned_epochs == 12 or run.state.planned_steps == 12


def test_a_bar_counts_the_epochs_in_its_label(tmp_path: Path) -> None:
    """From one on, so their number is the plan."""
    text = "".join(
        f"\rEpoch {n} loss {loss}: 10%|#  | {n}/40 [00:01<00:02, 3.0it/s]"
        for n, loss in enumerate(LOSS, 1)
    )
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.state.planned_epochs == 40


def test_a_bar_that_stands_still_is_of_an_epoch(tmp_path: Path) -> None:
    """Each time at the same batch."""
    text = "".join(
        f"\rEpoch {n}:  42%|##  | 84/198 [00:01<00:02, 2.1it/s, loss={loss}]"
        for n, loss in enumerate(LOSS)
    )
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").step.tolist() == [84 + 198 * n for n in range(12)]


@pytest.mark.parametrize(
    ("form", "metric"),
    [
        (
            (
                "[I 2023-01-01 00:00:00,123] Trial {n} finished with value: {loss} and "
                "parameters: {{'lr': 0.00{n}, 'layers': 2}}. Best is trial 0 with value: 0.5.\n"
            ),
            "finished with value",
        ),
        ("tried: {{'lr': 0.0{n}, 'units': {n}}}\ninstance_result: {loss}\nKilling 221\n", ""),
        ("lr=0.00{n} hidden=16 gain=0.1 -> best val acc: {loss}\n", "best val acc"),
    ],
)
def test_each_trial_of_a_search_is_a_training(tmp_path: Path, form: str, metric: str) -> None:
    """Of a single point: nothing shows how it went."""
    runs = runs_of(tmp_path, "search.log", rows(form))
    values = [run.curve(metric or "instance_result").value.tolist() for run in runs]
    assert values == [[loss] for loss in LOSS]


@pytest.mark.parametrize("folder", ["val", "Validation"])
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("loss.csv", "{n},{loss}\n"),
        ("log.csv", "{n},{loss}\n"),
        ("log.txt", "epoch {n} loss {loss}\n"),
    ],
)
def test_a_folder_is_of_held_out_data(tmp_path: Path, folder: str, name: str, form: str) -> None:
    """Where the training has a file of the same name beside it."""
    head = {"loss.csv": "step,value\n", "log.csv": "epoch,loss\n"}.get(name, "")
    for place, shown in (("train", form), (folder, form.replace("loss}", "more}"))):
        (tmp_path / place).mkdir()
        (tmp_path / place / name).write_text(head + rows(shown), encoding="utf-8")
    (run,) = runlens.read_all(tmp_path)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("eval_loss").value.tolist() == [loss + 1 for loss in LOSS]


def test_a_folder_alone_says_nothing(tmp_path: Path) -> None:
    """It may be what a run is called."""
    (tmp_path / "test").mkdir()
    path = tmp_path / "test" / "log.csv"
    path.write_text("epoch,loss\n" + rows("{n},{loss}\n"), encoding="utf-8")
    (run,) = runlens.read_all(tmp_path)
    assert run.curve("train_loss").value.tolist() == LOSS


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("epoch,loss\n" + rows("Epoch {n},{loss}\n"), "train_loss"),
        ("epoch,loss\n" + rows("{n}/11,{loss}\n"), "train_loss"),
        ("0,1,2\n" + rows("{n},{loss},{more}\n"), "column 2"),  # as pandas calls columns
        ("0,1\n" + rows("{loss},{more}\n"), "column 1"),
        ("0,1\n" + rows("{n},{n}\n").replace("3,3", f"3,{LOSS[0]}"), ""),
    ],
)
def test_cells_that_count_hold_words(tmp_path: Path, text: str, metric: str) -> None:
    """And names that number the columns are none."""
    run = run_of(tmp_path, "found.csv", text)
    if metric:
        assert run.curve(metric).value.tolist() == LOSS
        assert run.curve(metric).step[-1] == 11
    assert all(len(run.curve(name)) >= 12 for name in run.history.metrics)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("log.csv", "{data},{n},{loss},0.5\n"),
        ("log.csv", "{n},{data},{loss}\n"),
        ("loss.csv", "{n},{data},{loss}\n"),
        ("log.txt", "{data} {n} {loss}\n"),
        ("log.txt", "{data},{n},{loss},0.5\n"),
    ],
)
def test_a_word_in_each_row_is_its_data(tmp_path: Path, name: str, form: str) -> None:
    """Nothing else has a name."""
    text = "".join(
        form.format(data=data, n=n, loss=loss + more)
        for n, loss in enumerate(LOSS)
        for data, more in (("train", 0), ("val", 1))
    )
    run = run_of(tmp_path, name, text)
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("eval_loss").value.tolist() == [loss + 1 for loss in LOSS]
    assert run.curve("eval_loss").step[-1] == 11


def test_words_that_are_no_data_are_numbered(tmp_path: Path) -> None:
    """A column of one word, or of other ones, says nothing of what was measured."""
    for word in ("mlp", "val"):
        run = run_of(tmp_path, "losses.csv", rows(f"{word},{{n}},{{loss}}\n"))
        assert run.curve("column 3").value.tolist() == LOSS


def test_a_line_of_names_is_believed(tmp_path: Path) -> None:
    """Its rows begin with their data."""
    text = "Data\tEpoch\tLoss\tF1\n" + rows("train\t{n}\t{loss}\t0.5\neval\t{n}\t{more}\t0.4\n")
    assert len(run_of(tmp_path, "log.txt", text).curve("F1")) >= 12


def test_a_row_with_more_is_a_row(tmp_path: Path) -> None:
    """Every other one has what was measured on held-out data as well."""
    form = "Epoch {n} loss: {loss}{val}\n"
    text = "".join(
        form.format(n=n, loss=loss, val=f" val: {loss + 1}" if n % 2 else "")
        for n, loss in enumerate(LOSS)
    )
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").value.tolist() == LOSS


def test_settings_in_the_keys_are_of_trainings(tmp_path: Path) -> None:
    """``lr_0.1`` is no curve of the rate."""
    parts = {f"lr_{rate}": {"train_loss": LOSS, "val_loss": LOSS} for rate in (0.1, 0.01)}
    assert len(runs_of(tmp_path, "history.json", json.dumps(parts))) == 2
