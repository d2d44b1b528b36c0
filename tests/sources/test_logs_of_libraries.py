"""Logs as well-known libraries print them, with what stands between their rows."""

from pathlib import Path

import pytest

from runlens.run import Run
from tests.sources.run_points import loss, points
from tests.sources.written import run_of as written
from tests.sources.written import runs_of

ROWS = range(1, 9)
LOSSES = [loss(n) for n in ROWS]


def run_of(folder: Path, *forms: str) -> Run:
    """Write the lines of each row, and read them."""
    lines = [
        form.format(n=n, loss=loss(n), twice=2 * loss(n), end=100 * n, begin=100 * n - 99)
        for n in ROWS
        for form in forms
    ]
    return written(folder, "train.log", "\n".join([*lines, ""]))


def values(run: Run, metric: str) -> list[float]:
    """Return the values of a metric."""
    return [value for _, value in points(run, metric)]


def test_errors_of_torch7_are_no_accuracies(tmp_path: Path) -> None:
    """What fb.resnet.torch calls top1 beside its loss is in per cent of wrong answers."""
    run = run_of(
        tmp_path,
        " | Epoch: [{n}][50/90]    Time 0.31  Data 0.01  Err {loss}  top1 6{n}.11  top5 3{n}.11",
        " | Test: [{n}][20/20]    Time 0.1  Data 0.0  top1 5{n}.2 (5{n}.3)  top5 2{n}.2 (2{n}.3)",
        " * Finished epoch # {n}     top1: 5{n}.3  top5: 2{n}.3",
    )
    assert values(run, "train_loss") == LOSSES
    assert not any(name.endswith("accuracy") for name in run.history.metrics)


def test_the_loss_of_darknet_among_its_layers(tmp_path: Path) -> None:
    """Each of them has losses of its own, of a part of the batch."""
    run = run_of(
        tmp_path,
        *(
            f"v3 (mse loss) Region {layer} Avg (IOU: 0.31), count: {{n}}, class_loss = {layer}.5, "
            f"iou_loss = 0.{{n}}, total_loss = {layer}.{{n}} "
            for layer in (82, 94, 106)
        ),
        " {n}: {twice}, {loss} avg loss, 0.00{n} rate, 2.1 seconds, 6{n} images, 1.{n} hours left",
    )
    assert points(run, "train_loss") == list(zip(ROWS, LOSSES, strict=True))


def test_steps_of_stanza_beside_its_evaluations(tmp_path: Path) -> None:
    """The loss is in both, and these are seldom."""
    lines = []
    for n in range(1, 17):
        lines.append(f"INFO: Finished STEP {20 * n}/5000, loss = {loss(n)} (0.1 sec/batch)")
        if n % 4 == 0:
            lines.append(f"INFO: step {20 * n}: train_loss = {loss(n)}, dev_score = 0.{n + 10}1")
    run = written(tmp_path, "train.log", "\n".join([*lines, ""]))
    assert points(run, "train_loss") == [(20 * n, loss(n)) for n in range(1, 17)]
    assert [step for step, _ in points(run, "eval_score")] == [80, 160, 240, 320]
    assert run.state.planned_steps == 5000


@pytest.mark.parametrize("epoch", ["", " Epoch[ 1 of 3]-"])
def test_batches_of_cntk_are_counted_to_their_last(tmp_path: Path, epoch: str) -> None:
    """With its epochs or without, a mean over some of them."""
    run = run_of(
        tmp_path,
        epoch + "Minibatch[{begin:4d}-{end:4d}]: CrossEntropyWithSoftmax = {loss} * 6400; "
        "ClassificationError = 0.{n} * 6400",
    )
    assert points(run, "train_loss") == [(100 * n, loss(n)) for n in ROWS]


def test_the_objective_of_kaldi_is_driven_up(tmp_path: Path) -> None:
    """It is the logarithm of a likelihood, and that of another output stands beside it."""
    said = "LOG (nnet3-train[5.5]:Print():x.cc:218) Average objective function for "
    run = run_of(
        tmp_path,
        said + "'output' for minibatches {begin}-{end} is -{loss} over 9 frames",
        said + "'output-xent' for minibatches {begin}-{end} is -{twice} over 9 frames",
    )
    assert points(run, "train_loss") == [(100 * n, loss(n)) for n in ROWS]


def test_rates_and_data_of_open_clip(tmp_path: Path) -> None:
    """What is of each GPU is no part of a name, and Eval alone is none."""
    train = "INFO | Train Epoch: {n} [ 512/2560 (20%)] Batch (t): 1.02, 250.7/s, 250.7/s/gpu "
    run = run_of(
        tmp_path,
        train + "LR: 0.00{n}00 Loss: {loss} ({loss})",
        "INFO | Eval Epoch: {n} imagenet-zeroshot-val-top1: 0.{n}1\tclip_val_loss: {twice}",
    )
    assert values(run, "eval_loss") == [2 * one for one in LOSSES]
    assert values(run, "learning_rate") == [n / 1000 for n in ROWS]
    assert values(run, "imagenet-zeroshot-val-top1") == [float(f"0.{n}1") for n in ROWS]


@pytest.mark.parametrize("numbered", [False, True])
def test_a_table_of_h2o_has_times_with_their_units(tmp_path: Path, numbered: bool) -> None:
    """Its rows are numbered in R; they count trees."""
    lines = [
        "Scoring History: ",
        "    timestamp            duration    number_of_trees  training_rmse  validation_rmse",
        "--  -------------------  ----------  ---------------  -------------  ---------------",
    ]
    for n in ROWS:
        time = f"2021-01-01 10:00:0{n}   {n}.012 sec  "
        lines.append(
            f"{n if numbered else ' '}   {time}{10 * n}.0             {loss(n):<13}  0.5{n}"
        )
    run = written(tmp_path, "train.log", "\n".join([*lines, ""]))
    assert points(run, "train_loss") == [(10 * n, loss(n)) for n in ROWS]
    assert values(run, "eval_loss") == [float(f"0.5{n}") for n in ROWS]


def test_the_last_row_of_an_evaluation_however_wide_its_count_is(tmp_path: Path) -> None:
    """DETR, MAE and others set a blank before a short one: ``[ 0/20]``, ``[10/20]``."""
    run = run_of(
        tmp_path,
        "Epoch: [{n}]  [10/20]  lr: 0.0{n}  loss: {loss} ({loss})  time: 0.41  data: 0.01",
        "Epoch: [{n}]  [19/20]  lr: 0.0{n}  loss: {loss} ({loss})  time: 0.41  data: 0.01",
        "Test:  [ 0/20]  eta: 0:00:12  loss: 9.5 (9.5)  time: 0.5  data: 0.3",
        "Test:  [10/20]  eta: 0:00:06  loss: 8.5 (9.0)  time: 0.5  data: 0.3",
        "Test:  [19/20]  eta: 0:00:00  loss: {twice} ({twice})  time: 0.5  data: 0.3",
    )
    assert values(run, "eval_loss") == [2 * one for one in LOSSES]


def test_a_star_behind_a_logger_is_of_an_evaluation(tmp_path: Path) -> None:
    """Swin's."""
    run = run_of(
        tmp_path,
        "[2022-01-01 10:00:0{n} s] (main.py 231): INFO Train: [{n}/9][50/90] loss {loss} ({loss})",
        "[2022-01-01 10:00:0{n} s] (main.py 288): INFO  * Acc@1 5{n}.5 Acc@5 8{n}.5",
    )
    assert values(run, "eval_accuracy") == [pytest.approx(0.505 + n / 100) for n in ROWS]
    assert "train_accuracy" not in run.history.metrics


def test_the_measure_of_a_score_stands_behind_it(tmp_path: Path) -> None:
    """AutoGluon's; it turns errors round."""
    form = "Fitting model: {of} ...\n\t{sign}0.8{n}\t = Validation score   ({sign}{name})\n"
    for sign, name, metric in (("", "accuracy", "eval_accuracy"), ("-", "log_loss", "")):
        text = "".join(
            form.format(of=of, n=n, sign=sign, name=name) for n, of in enumerate(("A", "B", "C"))
        )
        runs = runs_of(tmp_path, "fit.log", text)
        assert all(metric in run.history.metrics for run in runs) == bool(metric)
        assert not any("reward" in run.history.metrics for run in runs)


GRAPH = "Epoch: {n:03d}, Loss: {loss}, "


@pytest.mark.parametrize(
    "form", ["Train: 0.{n}5, Val: 0.{n}1, Test: 0.{n}0", "Train: {n}5.2%, Valid: {n}1.3%"]
)
def test_shares_that_rise_by_their_data_alone_are_accuracies(tmp_path: Path, form: str) -> None:
    """As the examples of PyG and OGB print them; and that is said."""
    run = run_of(tmp_path, GRAPH + form)
    assert len(run.curve("train_accuracy")) == len(run.curve("eval_accuracy")) == len(LOSSES)
    assert set(run.taken) == {"train_accuracy", "eval_accuracy"}
    assert any("training accuracy" in problem.text for problem in run.problems)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("Train: {loss}, Val: 0.{n}1", id="an error falls"),
        pytest.param("Train: 1{n}.5, Val: 0.{n}1", id="no share"),
        pytest.param("Val: 0.{n}1, Test: 0.{n}0", id="an error of held-out data may rise"),
        pytest.param("Train: 0.{n}5, Acc: 0.{n}1, Val: 0.{n}1", id="an accuracy has its name"),
    ],
)
def test_other_numbers_by_their_data_alone_are_none(tmp_path: Path, form: str) -> None:
    """What they are is not known."""
    assert not set(run_of(tmp_path, GRAPH + form).taken) & {"train_accuracy", "eval_accuracy"}


def test_the_rows_of_coqui_stand_at_its_global_steps(tmp_path: Path) -> None:
    """Its headings come again with each epoch."""
    lines = []
    for n in range(32):
        if n % 8 == 0:
            lines += [f" > EPOCH: {n // 8}/9", " --> /x/run", " > TRAINING (2022-01-01 10:00:00) "]
        lines += [f"   --> STEP: {50 * (n % 8)}/400 -- GLOBAL_STEP: {50 * n}"]
        lines += [f"     | > loss: {loss(n)}  ({loss(n)})", "     | > step_time: 0.51  (0.50)"]
        if n % 8 == 7:
            lines += [
                " > EVALUATION ",
                "  --> EVAL PERFORMANCE",
                f"     | > avg_loss: {loss(n)} (+0)",
            ]
    run = written(tmp_path, "train.log", "\n".join([*lines, ""]))
    assert points(run, "train_loss") == [(50 * n, loss(n)) for n in range(32)]
    assert values(run, "eval_loss") == [loss(n) for n in range(7, 32, 8)]
