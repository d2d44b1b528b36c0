"""Seldom layouts: data by a word or two letters, both data behind one name, XML, two headers."""

import json
import math
from contextlib import suppress
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.run import Run

TRAIN = [2.4 / (1 + 0.4 * n) for n in range(8)]
HELD = [2.6 / (1 + 0.3 * n) for n in range(8)]
BOTH = list(enumerate(zip(TRAIN, HELD, strict=True), 1))


def put(folder: Path, *lines: str, name: str = "train.log") -> Path:
    """Write a log."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def has_both(run: Run, last: int | None = None) -> None:
    """Check the losses of both data."""
    train, held = run.curve("train_loss"), run.curve("eval_loss")
    assert train.value.tolist() == pytest.approx(TRAIN)
    assert held.value.tolist() == pytest.approx(HELD)
    assert last is None or int(train.step[-1]) == last


@pytest.mark.parametrize(
    "row",
    [
        "INFO|{n}|train|{l}\nINFO|{n}|valid|{v}",
        "DEBUG: {n}, train, {l}\nDEBUG: {n}, dev, {v}",
        "train - epoch {n} - {l}\nval - epoch {n} - {v}",
        "epoch {n} train: {l}\nepoch {n} test: {v}",
        "Train: {l} 0.5{n}1\nEval: {v} 0.4{n}1",
        "train:\n{l}\ntest:\n{v}",
        "epoch {n} train/val loss: {l} / {v}",
        "epoch {n}, Train & Val Loss: {l} & {v}",
        "Epoch {n}: train/valid/test loss: {l}/{v}/3.1{n}",
        "Epoch {n}\nEntrenamiento: pérdida {l}\nValidación: pérdida {v}",
        "e:{n}/8 loss:{l} val:{v}",
        "Epoch {n}: loss = {l} (val {v})",
        "E{n:02d} tl={l} vl={v} va=0.5",
        "Epoch: {n} | Train Loss: {l} Vali Loss: {v} Test Loss: 3.1{n}",
        "== EPOCH {n} ==\nTR  loss={l}  acc=0.1\nVA  loss={v}  acc=0.2",
        "Эпоха {n}/8\nОбучение: потери {l}\nВалидация: потери {v}",
        "Treino - Época {n}: perda={l}\nTeste - Época {n}: perda={v}",
        "train_step {n}: loss={l} grad_norm=1.2\neval_step {n}: loss={v} acc=0.5",
        "{n}エポック目: 訓練損失 {l} テスト損失 {v}",
    ],
)
def test_losses_of_both_data(tmp_path: Path, row: str) -> None:
    """Whatever the words are by which a row says which of them it is."""
    lines = [row.format(n=n, l=train, v=held) for n, (train, held) in BOTH]
    has_both(read(put(tmp_path, *lines)), 8)


@pytest.mark.parametrize(
    ("row", "metric"),
    [
        ("E:{n} B:10 L:{l}", "train_loss"),
        ("T={n} L={l} acc=0.5", "train_loss"),
        ("The loss of the {n}th epoch: {l}", "train_loss"),
        ("Episode {n} finished after 20 timesteps with reward {l}", "reward"),
        ("Run {n} ended with reward {l} after 100 steps", "reward"),
        ("{{'epoch': {n}, 'loss': tensor({l}, device='cuda:0', grad_fn=<A>)}}", "train_loss"),
        ("ep {n} | step {n}k | loss {l}", "train_loss"),
    ],
)
def test_one_curve(tmp_path: Path, row: str, metric: str) -> None:
    """By a letter, within a sentence, in a call."""
    run = read(put(tmp_path, *(row.format(n=n, l=train) for n, (train, _) in BOTH)))
    assert run.curve(metric).value.tolist() == pytest.approx(TRAIN)


def test_steps_in_thousands_beside_an_epoch(tmp_path: Path) -> None:
    """They count over the run; no four of them are batches."""
    run = read(put(tmp_path, *(f"ep {n} | step {4 * n}k | loss {t}" for n, (t, _) in BOTH)))
    assert run.curve("train_loss").step.tolist() == [4_000 * n for n in range(1, 9)]


@pytest.mark.parametrize(
    "row",
    [
        "INFO|{n}|request|{l}",
        "request {n}: {l}\nanswer {n}: {v}",
        "TR {n} {l}",
        "L={l} M={v}",
        "words train/train loss: {l} / {v}",
        "words train/val loss: {l} / 1.5 / 2.5",
    ],
)
def test_what_names_no_two_data(tmp_path: Path, row: str) -> None:
    """It is no loss of held-out data."""
    lines = [row.format(n=n, l=train, v=held) for n, (train, held) in BOTH]
    try:
        runs = read_all(put(tmp_path, *lines))
    except NothingReadable:
        return
    assert not any(len(run.curve("eval_loss")) for run in runs)


@pytest.mark.parametrize(
    ("beside", "value"),
    [("val", 0.1), ("val", 0.2), ("val accuracy", 1.5)],
)
def test_held_out_numbers_beside_a_loss_that_are_none(
    tmp_path: Path, beside: str, value: float
) -> None:
    """A share that rises far below the loss, and what has a name of its own."""
    lines = [f"epoch {n} loss {t} {beside} {value + n / 100}" for n, (t, _) in BOTH]
    assert not len(read(put(tmp_path, *lines)).curve("eval_loss"))


@pytest.mark.parametrize(
    "text",
    [
        "<log>{rows}</log>|<epoch n='{n}'><loss>{l}</loss><val_loss>{v}</val_loss></epoch>",
        '<history>\n{rows}</history>|  <epoch index="{n}" loss="{l}" val_loss="{v}"/>\n',
        "{rows}|<row><epoch>{n}</epoch><loss>{l}</loss><val_loss>{v}</val_loss><br></row>",
        '<r>{rows}</r>|<e epoch="{n}"><train loss="{l}"/><val loss="{v}" acc="0.1"/></e>',
        (
            "<table><tr><th>Epoch</th><th>Training Loss</th><th>Validation Loss</th></tr>"
            "{rows}</table>"
            "|<tr><td>{n}</td><td>{l}</td><td>{v}</td></tr>"
        ),
    ],
)
def test_rows_of_xml_and_html_in_one_line(tmp_path: Path, text: str) -> None:
    """Each element, or row, is a row."""
    whole, row = text.split("|")
    rows = "".join(row.format(n=n, l=train, v=held) for n, (train, held) in BOTH)
    has_both(read(put(tmp_path, whole.format(rows=rows), name="log.xml")), 8)


@pytest.mark.parametrize(
    "text",
    [
        "<items>{rows}</items>|<item n='{n}'><price>{l}</price></item>",
        "<suite>{rows}</suite>|<case name='t{n}' time='{l}'><score>{v}</score></case>",
        (
            "<table><tr><th>Name</th><th>Price</th></tr>{rows}</table>"
            "|<tr><td>{n}</td><td>{l}</td></tr>"
        ),
        "{rows}|<epoch><loss>",
        "<epoch n='3'><loss>0.5</loss></epoch></b></c>{rows}|<!-- -->",
    ],
)
def test_other_xml_is_no_training(tmp_path: Path, text: str) -> None:
    """Prices, reports of tests, what is nested without an end."""
    whole, row = text.split("|")
    rows = "".join(row.format(n=n, l=train, v=held) for n, (train, held) in BOTH * 9)
    path = put(tmp_path, whole.format(rows=rows), name="log.xml")
    with suppress(NothingReadable):
        assert not any(run.history.metrics for run in read_all(path))


NAMES = [
    ["loss,loss,acc,acc", "train,val,train,val"],
    [",train,train,val,val", "epoch,loss,acc,loss,acc"],
    [",loss,loss,acc,acc", ",train,val,train,val", "epoch,,,,"],
    [",Train,,Val,", "Epoch,Loss,Acc,Loss,Acc"],
    ["Epoch,Loss,Loss,Acc,Acc", ",Train,Test,Train,Test"],
]


@pytest.mark.parametrize("names", NAMES)
def test_a_table_whose_names_stand_in_two_lines(tmp_path: Path, names: list[str]) -> None:
    """Of pandas with two levels, and of Excel with cells that were joined."""
    by_data = names[-1].lower().endswith("acc")
    rows = [
        [f"{n}"] * ("poch" in "".join(names))
        + ([f"{t}", "0.1", f"{v}", "0.2"] if by_data else [f"{t}", f"{v}", "0.1", "0.2"])
        for n, (t, v) in BOTH
    ]
    has_both(read(put(tmp_path, *names, *map(",".join, rows), name="results.csv")))


@pytest.mark.parametrize(
    "names",
    [
        [",inside,,outside,", "time,temp,hum,temp,hum"],
        ["epoch,loss,val_loss,acc,lr", "[-],[mse],[mse],[%],[-]"],
        ["train,val,test,a,b", "1,2,3,4,5"],
        ["train,train,val,val,val", "loss,loss,loss,acc,acc"],
    ],
)
def test_a_second_line_that_names_nothing(tmp_path: Path, names: list[str]) -> None:
    """Units, other tables, names that come twice for one data: the first line stays as it is."""
    rows = [f"{n},{t},{v},0.1,0.2" for n, (t, v) in BOTH]
    try:
        run = read(put(tmp_path, *names, *rows, name="log.csv"))
    except NothingReadable:
        return
    assert not any(name.startswith(("inside", "outside")) for name in run.history.metrics)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("losses.txt", "{l} {v}"),
        ("loss.csv", "{l},{v}"),
        ("train_log.csv", "{n},{l},{v}"),
        ("loss.csv", "{n},{l},{v}"),
    ],
)
def test_two_columns_of_losses_without_names(tmp_path: Path, name: str, rows: str) -> None:
    """They begin alike and fall: that of the training stands first, and is told as a guess."""
    lines = [rows.format(n=n, l=train, v=held) for n, (train, held) in BOTH]
    run = read(put(tmp_path, *lines, name=name))
    has_both(run)
    assert any("no " in problem.text for problem in run.problems)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("points.csv", "{l},{v}"),
        ("losses.txt", "{v} {l}"),
        ("val_loss.txt", "{l} {v}"),
        ("losses.txt", "{l} 9{v}"),
        ("losses.txt", "{l} {n}"),
        ("losses.csv", "{l},"),
    ],
)
def test_two_other_columns_without_names(tmp_path: Path, name: str, rows: str) -> None:
    """Points, what ends the other way round, of one data, far apart, a count."""
    lines = [rows.format(n=n, l=train, v=held) for n, (train, held) in BOTH]
    try:
        run = read(put(tmp_path, *lines, name=name))
    except NothingReadable:
        return
    assert not (len(run.curve("train_loss")) and len(run.curve("eval_loss")))


def test_models_of_json_with_their_epochs(tmp_path: Path) -> None:
    """A list of them under a key that counts elsewhere; and what is planned beside lists."""
    whole = [
        {"name": name, "epochs": [{"epoch": n, "train_loss": t + k} for n, (t, _) in BOTH]}
        for k, name in enumerate(("cnn", "mlp"))
    ]
    path = put(tmp_path, json.dumps(whole), name="models.json")
    assert [len(run.curve("train_loss")) for run in read_all(path)] == [8, 8]
    beside = {"epochs": 20, "note": True, "train_loss": TRAIN, "val_loss": HELD}
    run = read(put(tmp_path, json.dumps(beside), name="one.json"))
    has_both(run)
    assert run.state.planned_epochs == 20


def test_the_only_file_of_a_folder(tmp_path: Path) -> None:
    """It is read as if it were pointed at, where it is of a training."""
    lines = [json.dumps({"loss": value}) for value in TRAIN]
    put(tmp_path, *lines, name="metrics.jsonl")
    assert len(read(tmp_path).curve("train_loss")) == 8
    put(tmp_path, "a note", name="notes.txt")
    with pytest.raises(NothingReadable):
        read(tmp_path)


@pytest.mark.parametrize("name", ["points.csv", "empty.json"])
def test_the_only_file_of_a_folder_is_of_none(tmp_path: Path, name: str) -> None:
    """Numbers without a name that tells."""
    put(tmp_path, *(f"{t},{v}" for t, v in zip(TRAIN, HELD, strict=True)), name=name)
    with pytest.raises(NothingReadable):
        read_all(tmp_path)


def test_paddleocr_says_what_was_measured_last(tmp_path: Path) -> None:
    """``cur metric`` is of the evaluation."""
    lines = []
    for n, (train, _) in BOTH:
        head = f"[2022/03/01 10:00:{n:02d}] ppocr INFO:"
        lines += [f"{head} epoch: [{n}/500], global_step: {n * 10}, acc: 0.1, loss: {train}"]
        lines += [f"{head} cur metric, acc: {n / 10}, norm_edit_dis: 0.5, fps: 100"]
        lines += [f"{head} best metric, acc: 0.9, start_epoch: 0, best_epoch: {n}"]
    run = read(put(tmp_path, *lines))
    assert run.curve("eval_accuracy").value.tolist() == pytest.approx([n / 10 for n, _ in BOTH])
    assert math.isclose(run.curve("train_loss").value[-1], TRAIN[-1])


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("log.csv", "{n},{l}{k}"),
        ("log.jsonl", '{{"global_step": {n}, "episodic_return": {l}{k}}}'),
    ],
)
def test_environments_side_by_side_have_an_episode_each(
    tmp_path: Path, name: str, row: str
) -> None:
    """Of one step; a loss of several processes counts once."""
    head = ["global_step,episodic_return"] * name.endswith("csv")
    rows = [row.format(n=n * 512, l=t, k=k) for n, (t, _) in BOTH for k in range(3)]
    assert len(read(put(tmp_path, *head, *rows, name=name)).curve("reward")) == 24
    losses = [f"{n * 512},{t + k}" for n, (t, _) in BOTH for k in range(3)]
    run = read(put(tmp_path, "step,loss", *losses, name="loss.csv"))
    assert len(run.curve("train_loss")) == 8
    assert any("several processes" in problem.text for problem in run.problems)


def test_held_out_rows_behind_all_of_the_training(tmp_path: Path) -> None:
    """They begin at the first step again, and are no launch; the next of the same data are."""
    train = [f"train,{n * 10},{t}" for n, (t, _) in BOTH]
    held = [f"val,{n * 10},{v}" for n, (_, v) in BOTH]
    has_both(read(put(tmp_path, "phase,step,loss", *train, *held, name="log.csv")), 80)
    twice = put(tmp_path, "phase,step,loss", *train, *held, *train, *held, name="two.csv")
    assert sum(len(run.curve("train_loss")) for run in read_all(twice)) == 16


def test_average_precision_of_boxes_and_of_masks(tmp_path: Path) -> None:
    """Each table has curves of its own; of one kind the name stays as it is printed."""

    def table(kind: str, value: float) -> list[str]:
        where = "IoU=0.50:0.95 | area=   all | maxDets=100"
        return [f"IoU metric: {kind}", f" Average Precision  (AP) @[ {where} ] = {value:.3f}"]

    both = [line for n in range(8) for k in ("bbox", "segm") for line in table(k, n / 10)]
    run = read(put(tmp_path, *both))
    assert sorted(len(run.curve(name)) for name in run.history.metrics) == [8, 8]
    one = read(put(tmp_path, *(line for n in range(8) for line in table("bbox", n / 10))))
    assert [len(one.curve(name)) for name in one.history.metrics] == [8]
    assert not any("bbox" in name for name in one.history.metrics)


def test_a_letter_beside_a_rate_of_exploration_is_a_reward(tmp_path: Path) -> None:
    """``R``; without one, and without a length, it is not."""
    rows = [f"Ep {n}  R={n * 3.5}  eps={0.9**n:.3f}" for n in range(8)]
    assert len(read(put(tmp_path, *rows)).curve("reward")) == 8
    rows = [f"Epoch {n}  loss={9 - n}  R={n * 3.5}  P=0.5" for n in range(8)]
    assert not len(read(put(tmp_path, *rows)).curve("reward"))


def test_what_a_sentence_has_counted_so_far(tmp_path: Path) -> None:
    """No number of iterations is a loss."""
    rows = [f"Training loss after {n * 100} iterations = {t}" for n, (t, _) in BOTH]
    train = read(put(tmp_path, *rows)).curve("train_loss")
    assert train.value.tolist() == pytest.approx(TRAIN)
    assert int(train.step[-1]) == 800


def test_a_table_with_a_cell_in_each_line(tmp_path: Path) -> None:
    """As the text of a notebook is copied; short ones, and other lists, are none."""
    head = ["Saved.", "Step", "Training Loss", "Validation Loss"]
    cells = [c for n, (t, v) in BOTH for c in (f"{n * 10}", f"{t}", f"{v}")]
    has_both(read(put(tmp_path, *head, *cells, "done", "Saved.", "Bye.")), 80)
    cells[1] = "No log"
    run = read(put(tmp_path, *head, *cells))
    assert run.curve("train_loss").value.tolist() == pytest.approx(TRAIN[1:])
    for broken in (head[:2], ["Step", "Words", "More"], ["Step", *["Loss"] * 14]):
        with suppress(NothingReadable):
            assert not len(read(put(tmp_path, *broken, *cells[:6])).curve("eval_loss"))


@pytest.mark.parametrize(
    "row",
    [
        "Epoka {n}\nTrening: strata {l}\nWalidacja: strata {v}",
        "轮数{n} 训练 loss={l}\n轮数{n} 验证 loss={v}",
        "[T] {n} loss {l}\n[V] {n} loss {v}",
        "train {n} loss {l}\nval {n} loss {v}",
        "epoch {n} | rank 0 | loss {l} | val {v}\nepoch {n} | rank 1 | loss 7.5 | val 7.5",
        "GPU {n} MB\nepoch {n} loss {l} val {v}",
    ],
)
def test_rows_of_data_and_of_ranks(tmp_path: Path, row: str) -> None:
    """None is mixed with those of the other."""
    lines = [row.format(n=n, l=train, v=held) for n, (train, held) in BOTH]
    has_both(read(put(tmp_path, *lines)), 8)


def test_other_ranks_are_sizes(tmp_path: Path) -> None:
    """Of a factorization: each row counts."""
    rows = [f"epoch {n} | rank {k} | loss {t + k}" for k in (4, 8) for n, (t, _) in BOTH]
    runs = read_all(put(tmp_path, *rows))
    assert sum(len(run.curve("train_loss")) for run in runs) == 16


@pytest.mark.parametrize("name", ["vloss", "v_loss", "val_loss", "te_loss"])
def test_a_letter_names_the_data_behind_the_count_of_an_epoch(tmp_path: Path, name: str) -> None:
    """``epoch 3 | loss 0.25 | vloss 0.3``: no loss of a value function is beside it."""
    rows = [f"epoch {n} | loss {1 / n:.3f} | {name} {1.1 / n:.3f}" for n in range(1, 13)]
    (tmp_path / "train.log").write_text("\n".join(rows) + "\n")
    run = read(tmp_path / "train.log")
    assert run.curve("eval_loss").value[-1] == 0.092
