"""Layouts that stand close to known ones: the same numbers as other programs write them."""

import json
from pathlib import Path

import pytest

import runlens
from runlens.errors import NothingReadable
from runlens.sources.tables.cells import plain_text
from tests.sources.written import curve_of, runs_of

LOSS = [round(2.5 / n + 0.25, 4) for n in range(1, 15)]


ROUNDS = repr(list(enumerate(LOSS, 1)))


def nothing_in(folder: Path, name: str, text: str) -> bool:
    """Whether no number is read of a log."""
    try:
        found = runs_of(folder, name, text)
    except NothingReadable:
        return True
    return not any(run.history.metrics for run in found)


def rows(form: str) -> str:
    """Write a line for each loss."""
    return "".join(form.format(n=n, loss=loss, more=loss + 1) for n, loss in enumerate(LOSS))


def vector(values: list[float]) -> str:
    """Write numbers as R prints a vector."""
    lines = (f"[{n + 1}] " + " ".join(map(str, values[n : n + 5])) for n in range(0, 14, 5))
    return "\n".join(f" {line}" for line in lines) + "\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.csv", "lr,0.1\nbatch,64\n\nepoch,loss,acc\n" + rows("{n},{loss},0.5\n")),
        ("log.csv", "Training of net 4\n\nepoch,loss\n" + rows("{n},{loss}\n")),
        ("log.csv", "sep=;\nepoch;loss\n" + rows("{n};{loss}\n").replace(".", ",")),
        ("log.csv", rows("epoch,{n},loss,{loss},acc,0.5\n")),
        ("log.csv", rows("epoch,{n},loss,\"tensor({loss}, device='cuda:0')\"\n")),
        ("log.csv", "time,step,data\n" + rows('1.5,{n},"{{""loss"": {loss}, ""acc"": 0.5}}"\n')),
        ("log.csv", "epoch;metrics\n" + rows("{n};{{'a': {{'x': 'y'}}, 'loss': {loss}}}\n")),
        ("log.csv", "epoch,loss\n" + rows("{n},[{loss}]\n")),
        ("log.csv", "epoch,loss\n" + rows('{n},"array({loss}, dtype=float32)"\n')),
        (
            "log.csv",
            "metric," + ",".join(f"epoch {n}" for n in range(14)) + "\nloss," + str(LOSS)[1:-1],
        ),
        ("log.txt", "Start\n" + rows("Step, {n}, Loss, {loss}, PSNR, 9.5,\n")),
        ("loss.txt", rows("[array({loss}, dtype=float32)]\n")),
        ("log.txt", rows("Epoch\n{n}\nLoss\n{loss}\n")),
        ("log.txt", rows("Loss:\n{loss}\nAccuracy:\n0.5\n\n")),
        ("loss.txt", vector(LOSS)),
        ("train.log", "Done.\n$loss\n" + vector(LOSS) + "\n$val_loss\n" + vector(LOSS[::-1])),
        ("train.log", rows('[1] "Epoch {n} loss: {loss}"\n')),
        ("log.txt", rows("('Epoch:', {n}, '/', 14, ' loss: ', {loss})\n")),
        ("log.txt", rows("['loss', {loss}, 'acc', 0.5]\n")),
        ("log.txt", rows("('loss', array({loss}, dtype=float32))\n")),
        ("history.txt", repr({n: {"loss": v, "acc": 0.5} for n, v in enumerate(LOSS)})),
        ("loss.txt", rows("Epoch {n}\n{loss}\n")),
        ("train_loss.txt", rows('[1] "Epoch {n}"\n[1] {loss}\n')),
        ("log.txt", rows("mean squared error loss after {n} passes: {loss}\n")),
        (
            "loss.txt",
            "# Created by Octave\n# name: J\n# type: matrix\n# rows: 14\n# columns: 1\n"
            + rows(" {loss}\n"),
        ),
        ("train_loss.txt", rows("{loss}\nsaved\n")),
        ("losses.txt", f"Train Loss,{str(LOSS)[1:-1]}\nVal Loss,{str(LOSS)[1:-1]}\n"),
        ("log.txt", rows("[TRAIN] {loss} [VAL] {more}\n")),
        ("log.txt", "Start\n" + rows("train {loss}\nval {more}\n")),
        ("log.txt", "lr: 0.1\nbatch: 32\n\nloss acc\n" + rows("{loss} 0.5\n")),
        ("history.json", json.dumps(json.dumps({"loss": LOSS}))),
        ("log.json", json.dumps([{"config": {"lr": 0.1}, "history": {"loss": LOSS}}])),
        ("out.txt", "loss:\n" + rows("{loss}\n") + "val_loss:\n" + rows("{more}\n")),
        ("out.txt", f"Train losses : {LOSS} Val losses : {LOSS[::-1]}\n"),
        ("out.txt", f"train_loss = c({str(LOSS)[1:-1]})\n"),
        ("notes.txt", "Losses\n" + rows("  - {loss}\n")),
        ("loss.txt", rows("{n}\n{loss}\n")),
        ("loss.csv", "date,value\n" + rows("2024-01-01 10:{n:02d}:00,{loss}\n")),
        ("loss.csv", "index,0\n" + rows("{n},{loss}\n")),
        ("loss.csv", "0\n" + rows("{loss:.4f}\n")),
        ("loss.csv", '"x"\n' + rows('"{n}",{loss}\n')),
        ("loss.log", rows("INFO:root:{loss}\n")),
        (
            "run.html.txt",
            "<table>\n<tr>\n<th></th>\n<th>epoch</th>\n<th>loss</th>\n</tr>\n"
            + rows("<tr>\n<th>{n}</th>\n<td>{n}</td>\n<td><b>{loss}</b></td>\n</tr>\n"),
        ),
        ("loss.txt", rows("tensor([[{loss}]])\n")),
        ("loss.txt", "Start\n" + rows("tf.Tensor({loss}, shape=(), dtype=float32)\n")),
        ("out.log", "Start\n" + rows("loss: variable({loss})\n")),
        (
            "loss.txt",
            rows("Variable containing:\n {loss}\n[torch.cuda.FloatTensor of size 1 (GPU 0)]\n\n"),
        ),
        ("out.log", f"Done\nINFO fit: {{'loss': {ROUNDS}}}\n"),
        (
            "server.log",
            "INFO :  Rounds:\nINFO :  {'loss': " + ROUNDS.replace("), ", "),\nINFO :     ") + "}\n",
        ),
        (
            "metrics.json",
            json.dumps([{"name": "loss", "data": [{"x": n, "y": v} for n, v in enumerate(LOSS)]}]),
        ),
    ],
)
def test_every_loss_is_read(tmp_path: Path, name: str, text: str) -> None:
    """With its own number, under its own name."""
    assert curve_of(tmp_path, name, text, "train_loss") == LOSS


def test_losses_of_clients_are_of_their_evaluations(tmp_path: Path) -> None:
    """Flower has them of `evaluate`."""
    text = f"INFO | app.py:1 | fit: losses_distributed {ROUNDS}\n"
    assert curve_of(tmp_path, "server.log", text, "eval_loss") == LOSS


@pytest.mark.parametrize(
    "head",
    [
        "epoch   train     valid\n        loss      loss\n",
        "        train     valid\nepoch   loss      loss\n--------------------\n",
        "          train          valid\nepoch  loss  none    loss  none\n",
    ],
)
def test_names_in_two_lines(tmp_path: Path, head: str) -> None:
    """Each word stands above or below another one."""
    cells = "0.5 " if "none" in head else ""
    text = head + rows(f"{{n:5d}}   {{loss:.4f}}    {cells}{{more:.4f}} {cells}\n")
    assert curve_of(tmp_path, "log.txt", text, "train_loss") == LOSS
    assert curve_of(tmp_path, "log.txt", text, "eval_loss") == pytest.approx(
        [loss + 1 for loss in LOSS]
    )


def test_a_line_below_names_that_is_none_of_them(tmp_path: Path) -> None:
    """Its words stand below two names, or there are as many."""
    for line in ("      all of it in this table", "epoch   loss      loss"):
        text = f"epoch   loss      error\n{line}\n" + rows("{n:5d}   {loss:.4f}    0.5\n")
        assert len(runs_of(tmp_path, "log.txt", text)) == 1


def test_epochs_in_brackets_are_no_vector(tmp_path: Path) -> None:
    """Their numbers say not how many values stand before."""
    assert curve_of(tmp_path, "log.txt", rows("[{n}] {loss}\n"), "column 2") == LOSS


def test_the_data_of_a_row_stand_before_its_names(tmp_path: Path) -> None:
    """Rows of both data by turns, which count together."""
    text = rows("train,loss,{loss},epoch,{n}\nval,loss,{more},epoch,{n}\n")
    (run,) = runs_of(tmp_path, "log.csv", text + "val,broken\n")
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("eval_loss").step.tolist() == list(range(14))


@pytest.mark.parametrize(
    "text",
    [
        "Report, of\na,b\nc,d\nepoch,loss\n" + rows("{n},{loss}\n"),  # as many cells
        "lr,0.1\nname,loss,acc\n1,0.5\n2,0.4\n3,0.3\n",  # fewer below
    ],
)
def test_other_lines_above_are_no_preface(text: str) -> None:
    """They are rows, or nothing is certain."""
    assert plain_text(text.encode()) == text


def test_the_data_above_names_that_do_not_come_again(tmp_path: Path) -> None:
    """Nothing says which of the names are of which data."""
    for names in ("loss  error   loss  time", "loss  epoch   error  loss"):
        text = f"        train       valid\n{names}\n" + rows("{loss}  {n}  {more}  0.5\n")
        assert len(runs_of(tmp_path, "log.txt", text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        rows("Epoch {n}\n{n}\n"),  # whole numbers
        rows("Epoch 3 of {n}\n{loss}\n"),  # nothing counts
        rows("{loss}\nEpoch {n}\n"),  # nothing stands above the first
        "Epoch 1\n0.5\nEpoch 2\n0.25\n",
    ],
)
def test_numbers_between_other_lines_are_none(tmp_path: Path, text: str) -> None:
    """Only those below a counter are measured, again and again."""
    assert nothing_in(tmp_path, "log.txt", text)


def test_results_below_settings_are_of_several_trainings(tmp_path: Path) -> None:
    """A single point each, whatever else their lines say."""
    text = rows("Namespace(lr=0.{n}, epochs=20)\n10:00:{n:02d} net: seed-{n}, Best Acc: {loss}\n")
    found = runs_of(tmp_path, "results.txt", text)
    assert [float(run.curve("Best Acc").value[0]) for run in found] == LOSS
    assert "several trainings" in found[0].problems[0].text


@pytest.mark.parametrize("line", ["Best Acc: {loss}\n", "Namespace(lr=1)\n"])
def test_results_without_settings_of_their_own(tmp_path: Path, line: str) -> None:
    """They may be of one training."""
    assert nothing_in(tmp_path, "notes.txt", "Namespace(lr=1)\n" + rows(line))


SUMMARY = (
    "=== Summary ===\nExperiment     Updates   Avg Reward   Final Loss\n" + "-" * 40 + "\n"
) + rows("net_{n}             200     -{loss}    {more}\n")


def test_a_row_for_each_training_of_a_summary(tmp_path: Path) -> None:
    """Its first cell names the training, and its counter says how long it was."""
    found = runs_of(tmp_path, "run.log", SUMMARY)
    assert [-float(run.curve("reward").value[0]) for run in found] == LOSS
    assert {int(run.curve("reward").step[0]) for run in found} == {200}


@pytest.mark.parametrize(
    "text",
    [
        SUMMARY.replace("net_", "net    "),  # another number of cells
        "Layer    Loss weight   Size\n" + rows("conv    {loss}    12\n"),  # no training each
    ],
)
def test_other_tables_are_no_summary(tmp_path: Path, text: str) -> None:
    """Their rows are not below the names, or have no name of their own."""
    assert nothing_in(tmp_path, "run.log", text)


def test_rows_of_both_data_in_files_of_their_own(tmp_path: Path) -> None:
    """As many of both: they are logs, and one training; what falls in both is the loss."""
    for name, form in (("train", "{loss} 0.5\n"), ("test", "{more} 0.25\n")):
        (tmp_path / f"{name}.txt").write_text(rows(form), encoding="utf-8")
    (run,) = runlens.read_all(tmp_path)
    assert {"train_loss", "eval_loss", "column 2"} <= set(run.history.metrics)


@pytest.mark.parametrize("text", [rows("{loss} 0.5\n")[:40], rows("{n} 5\n"), "\udcff", "words"])
def test_sets_of_data_are_no_logs(tmp_path: Path, text: str) -> None:
    """They have another number of rows, or measure nothing."""
    (tmp_path / "train.txt").write_text(rows("{loss} 0.5\n"), encoding="utf-8")
    (tmp_path / "test.txt").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(NothingReadable):
        runlens.read_all(tmp_path)


@pytest.mark.parametrize("head", ["Epoch,A,B", "gen,avg,max"])
def test_what_goes_on_is_read_of_a_table_that_is_pointed_at(tmp_path: Path, head: str) -> None:
    """Whatever its columns are called, if one counts and says so."""
    text = f"{head}\n" + rows("{n},{loss},{more}\n")
    (run,) = runs_of(tmp_path, "results.csv", text)
    assert LOSS in [run.curve(name).value.tolist() for name in run.history.metrics]
    with pytest.raises(NothingReadable):
        runs_of(tmp_path, "results.csv", text.replace("Epoch", "Size").replace("gen", "Size"))


def test_pairs_that_do_not_count_are_no_curve(tmp_path: Path) -> None:
    """Their first numbers come again."""
    pairs = repr([(1, loss) for loss in LOSS])
    assert nothing_in(tmp_path, "server.log", f"Fit: losses_distributed {pairs} done\n")


def test_settings_in_columns(tmp_path: Path) -> None:
    """A value stands behind the blanks that its name leaves, or behind one."""
    names = {"cfg_file": "a.yaml", "batch_size": 6, "epochs": 70, "workers": 8}
    more = {"ckpt_save_interval": 2}
    lines = (f"10:00:00,042   INFO  {key:16} {value}\n" for key, value in {**names, **more}.items())
    (run,) = runs_of(tmp_path, "log_train.txt", "".join(lines) + rows("epoch {n} loss {loss}\n"))
    assert (run.state.planned_epochs, run.config["save_steps"].value) == (70, 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("out.txt", rows("i = {n}\n{loss} {more}\n")),
        ("history.json", json.dumps([LOSS, LOSS[::-1]])),
        ("log.txt", repr((LOSS, LOSS[::-1]))),
        ("log.txt", rows("{n}\n{loss}\n{more}\n")),
    ],
)
def test_numbers_without_a_name(tmp_path: Path, name: str, text: str) -> None:
    """They are read, and what they are nobody says."""
    (run,) = runs_of(tmp_path, name, text)
    assert LOSS in [run.curve(one).value.tolist() for one in run.history.metrics]


def test_trainings_in_a_list(tmp_path: Path) -> None:
    """Each with its settings, and its curve beside them."""
    text = json.dumps({"results": [{"lr": lr, "train_loss": LOSS} for lr in (0.1, 0.2)]})
    found = runs_of(tmp_path, "results.json", text)
    assert [run.curve("train_loss").value.tolist() for run in found] == [LOSS, LOSS]


@pytest.mark.parametrize(
    "text",
    [
        rows("Training: {n}, Validation: 5\n"),  # whole numbers
        rows("train {loss}\n"),  # of one of the data
        rows("train {loss}\n") + "val 0.5\n",  # fewer of the other
        rows("train {loss} this is\nval 0.5 all\n"),  # words as well
        rows("alpha {loss} beta {more}\n"),  # no data
    ],
)
def test_other_words_are_no_data(tmp_path: Path, text: str) -> None:
    """Nothing says what their numbers are."""
    assert nothing_in(tmp_path, "log.txt", text)


@pytest.mark.parametrize("more", ["", "words\n"])
def test_a_single_column_below_its_name(tmp_path: Path, more: str) -> None:
    """It is one list, and what stands behind it is none of several."""
    text = "loss\n" + rows("{loss}\n") + f"val_loss\n0.5\n{more}"
    assert len(runs_of(tmp_path, "loss.txt", text)) == 1


def test_words_among_the_numbers_below_a_name(tmp_path: Path) -> None:
    """They are no list."""
    text = "loss\n" + rows("{loss}\n") + "val_loss\n" + rows("{loss} of all\n")
    assert len(runs_of(tmp_path, "loss.txt", text)) == 1
