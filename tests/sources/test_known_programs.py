"""Logs of known programs, as they print them: tables with blanks, averages, NaN, ends."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from runlens import read_all
from runlens.run import Run
from tests.sources.run_points import loss, points

Line = Callable[[int], str]


def run_of(folder: Path, *lines: str) -> Run:
    """Write a log of one training and read it."""
    (folder / "train.log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (run,) = read_all(folder / "train.log")
    return run


def test_a_table_of_skorch_with_a_blank_cell(tmp_path: Path) -> None:
    """Its column of checkpoints is empty where none was saved."""
    rows = [
        f"{n:7d}  {loss(n):14.4f}  {2 * loss(n):14.4f}  {'+' if n % 3 else ' ':>4}  0.010{n % 10}"
        for n in range(1, 13)
    ]
    run = run_of(
        tmp_path,
        "  epoch      train_loss      valid_loss    cp     dur",
        "-------  --------------  --------------  ----  ------",
        *rows,
        "Stopping since valid_loss has not improved in the last 4 epochs.",
    )
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(1, 13)]
    assert points(run, "eval_loss") == [(n, 2 * loss(n)) for n in range(1, 13)]
    assert run.state.kind == "finished"
    assert run.events_of("early_stop")


def test_the_mean_is_the_loss_and_not_that_of_a_batch(tmp_path: Path) -> None:
    """AllenNLP's bar has both, the batch first."""
    rows = [
        f"accuracy: 0.7{n}, batch_loss: {loss(2 * n)}, loss: {loss(n)} ||:   1%|          | "
        f"{n}/90 [00:11<45:12,  2.16s/it]"
        for n in range(1, 9)
    ]
    assert points(run_of(tmp_path, *rows), "train_loss") == [(n, loss(n)) for n in range(1, 9)]


def test_the_message_of_xgboost_stands_below_its_clock(tmp_path: Path) -> None:
    """In lines of a narrow console, three of which are kept; what comes after is none of it."""
    run = run_of(
        tmp_path,
        *(f"[{n}] train-rmse:{loss(n)}" for n in range(6)),
        "Traceback (most recent call last):",
        '  File "fit.py", line 9, in <module>',
        "    model.fit(x, y)",
        "xgboost.core.XGBoostError: [09:08:07]",
        "/src/metric/rank.cu:11:",
        "Check failed: a == b (3 vs. 4) : sizes",
        "do not match",
        "bye",
    )
    assert run.state.kind == "crashed"
    (said,) = [one.data["exception"] for one in run.events if one.data.get("exception")]
    assert said.endswith("Check failed: a == b (3 vs. 4) : sizes do not match")


def test_a_row_that_no_name_is_above_is_none(tmp_path: Path) -> None:
    """A cell that neither begins nor ends where a name does belongs to none."""
    rows = [f"{n:5d}  {loss(n):10.4f}      0.5{n}1" for n in range(1, 7)]
    run = run_of(tmp_path, "epoch  train_loss     val_loss", *rows, "   77   0.5")
    assert len(points(run, "train_loss")) == 6


@pytest.mark.parametrize(
    "head",
    [
        "epoch  train_loss  valid_loss  accuracy  time",
        "epoch  trn_loss  val_loss  accuracy",
        "Epoch\tTraining Loss\tValidation Loss\tAccuracy",
    ],
)
def test_what_fastai_measures_is_of_the_held_out_data(tmp_path: Path, head: str) -> None:
    """Both losses stand before it."""
    time = "  00:03" if "time" in head else ""
    rows = [f"{n}  {loss(n)}  {loss(n) + 0.1:.4f}  0.8{n}{time}" for n in range(8)]
    rows = [row.replace("  ", "\t") if "\t" in head else row for row in rows]
    run = run_of(tmp_path, head, *rows)
    assert points(run, "eval_accuracy") == [(n, float(f"0.8{n}")) for n in range(8)]
    assert points(run, "train_accuracy") == []


def test_the_loss_of_darknet_has_no_name(tmp_path: Path) -> None:
    """Its average and the rate are named behind them."""
    lines: list[str] = []
    for n in range(1, 9):
        lines += [
            f"Region 16 Avg IOU: 0.4{n}, Class: 0.6, Obj: 0.2, No Obj: 0.1,  count: {n % 3}",
            f"{n}: {loss(n)}, {loss(n) + 1:.4f} avg, 0.002000 rate, 3.1 seconds, {n * 32} images",
            "Loaded: 0.000041 seconds",
        ]
    run = run_of(tmp_path, *lines)
    assert points(run, "train_loss") == [(n, round(loss(n) + 1, 4)) for n in range(1, 9)]
    assert run.logged("learning_rate")


def test_averages_of_an_evaluation_are_not_of_the_training(tmp_path: Path) -> None:
    """Those of both have the same names: ``Averaged stats: loss: 0.5 (0.6)``."""
    lines: list[str] = []
    for n in range(12):
        lines.append(
            f"Epoch: [{n // 4}]  [{5 * (n % 4):2d}/20]  eta: 0:00:09  lr: 0.0002  "
            f"loss: {loss(n)} ({loss(n)})  loss_box: 1.{n} (1.5)  time: 0.4"
        )
        if n % 4 == 3:
            lines += [
                f"Averaged stats: lr: 0.0002  loss: {loss(n)} ({loss(n)})  loss_box: 1.{n} (1.5)",
                "Test:  [0/6]  eta: 0:00:03  loss: 9.1 (9.1)  loss_box: 4.1 (4.1)  time: 0.2",
                f"Averaged stats: loss: 9.{n} (8.{n})  loss_box: 4.1 (4.1)",
            ]
    run = run_of(tmp_path, *lines)
    assert [value for _, value in points(run, "train_loss")] == [loss(n) for n in range(12)]
    assert {8.3, 8.7, 8.11} <= {value for _, value in points(run, "eval_loss")}


def test_epochs_that_the_data_count_are_no_batches(tmp_path: Path) -> None:
    """``train (3/9)`` and ``valid (3/9)`` by turns: all evaluations are kept."""
    lines: list[str] = []
    for n in range(1, 8):
        lines += [
            f"train ({n}/7)  | loss: {loss(n)} | lr: 0.02",
            f"valid ({n}/7)  | loss: {2 * loss(n)} | lr: 0.02",
            f"* Epoch ({n}/7) ",
        ]
    run = run_of(tmp_path, *lines)
    assert [value for _, value in points(run, "eval_loss")] == [2 * loss(n) for n in range(1, 8)]


def test_steps_between_a_loss_and_its_value_under_a_heading_of_epochs(tmp_path: Path) -> None:
    """``Train loss 12 2.31 Grad Norm 0.9``; a switch that is printed is no head of a table."""
    rows = [f"Train loss {n} {loss(n)} Grad Norm 1.{n} 2.1s/it" for n in range(20)]
    for n in (19, 9, 4):
        rows.insert(n + 1, f"Validation loss {n}:  {2 * loss(n):.4f}  ")
    run = run_of(tmp_path, "Dynamic Loss Scaling: True", "Epoch: 0", *rows)
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(20)]
    assert points(run, "eval_loss") == [(n, 2 * loss(n)) for n in (4, 9, 19)]


def test_a_section_goes_on_behind_a_change_in_brackets(tmp_path: Path) -> None:
    """``avg_loss: 2.1 (-0.4)`` counts nothing."""
    lines: list[str] = []
    for n in range(8):
        lines += [
            f" > EPOCH: {n}/200",
            f"   --> STEP: 9/10 -- GLOBAL_STEP: {10 * n + 9}",
            f"     | > loss: {loss(n)}  ({loss(n)})",
            " > EVALUATION ",
            "     | > avg_loader_time: 0.01 (+0)",
            f"     | > avg_loss: {2 * loss(n)} (-0.1)",
        ]
    run = run_of(tmp_path, *lines)
    assert [value for _, value in points(run, "eval_loss")] == [2 * loss(n) for n in range(8)]
    assert len(points(run, "train_loss")) == 8


def test_validations_of_marian(tmp_path: Path) -> None:
    """The data stand in brackets before a counter that is known."""
    lines: list[str] = []
    for n in range(1, 9):
        begin = f"Ep. 1 : Up. {100 * n}"
        lines += [
            f"[2020-01-01 10:00:0{n}] {begin} : Sen. {n},000 : Cost {loss(n)} : Time 9.1s",
            f"[2020-01-01 10:00:0{n}] [valid] {begin} : cross-entropy : {20 + loss(n)} : new best",
        ]
    run = run_of(tmp_path, *lines)
    assert points(run, "train_loss") == [(100 * n, loss(n)) for n in range(1, 9)]
    assert len(points(run, "eval_cross_entropy")) == 8


def test_perplexities_of_held_out_data(tmp_path: Path) -> None:
    """The word holds another one, which says nothing of it."""
    lines: list[str] = []
    for n in range(1, 9):
        lines += [
            f"[2020-01-01 10:00:0{n},5 INFO] Step {50 * n}/900; acc: 4{n}.1; xent: {loss(n)};",
            f"[2020-01-01 10:00:0{n},9 INFO] Validation perplexity: {10 + loss(n)}",
        ]
    run = run_of(tmp_path, *lines)
    assert len(points(run, "eval_ppl")) == 8


def test_nan_as_c_prints_it_on_windows(tmp_path: Path) -> None:
    """It is not 1."""
    lost = ["1.#QNAN", "-1.#IND00", "nan(ind)", "1.#INF", "Infinity"]
    rows = [f"Epoch {n}/30, loss = {loss(n)}" for n in range(1, 9)]
    run = run_of(tmp_path, *rows, *(f"Epoch {n}/30, loss = {x}" for n, x in enumerate(lost, 9)))
    values = [value for _, value in points(run, "train_loss")]
    assert values[:8] == [loss(n) for n in range(1, 9)]
    assert all(map(math.isnan, values[8:11]))
    assert values[11:] == [math.inf, math.inf]


@pytest.mark.parametrize(
    ("line", "planned"),
    [
        ("Época {n}/30 - Perda de Treino: {a}, Perda de Validação: {b}", 30),
        ("Epoca {n}/30 - perda do treino: {a}, perda da validacao: {b}", 30),
        ("Epoche {n} von 30: Trainingsverlust = {a}, Validierungsverlust = {b}", 30),
    ],
)
def test_losses_and_plans_in_other_languages(tmp_path: Path, line: str, planned: int) -> None:
    """Small words stand between them."""
    rows = [line.format(n=n, a=loss(n), b=2 * loss(n)) for n in range(1, 12)]
    run = run_of(tmp_path, *rows)
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(1, 12)]
    assert points(run, "eval_loss") == [(n, 2 * loss(n)) for n in range(1, 12)]
    assert run.state.planned_epochs == planned


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 00008: early stopping",
        "Early stopping, best iteration is:",
        "Stopped by overfitting detector  (20 iterations wait)",
        "Training loss did not improve more than tol=0.01 for 5 consecutive epochs. Stopping.",
        "Stopping. Best val: 9.902495 at epoch 4",
        "Stopped training: best epoch 3",
    ],
)
def test_sentences_of_early_stopping(tmp_path: Path, line: str) -> None:
    """Each program has its own."""
    run = run_of(tmp_path, *(f"Epoch {n}/90 loss: {loss(n)}" for n in range(1, 9)), line)
    assert run.state.kind == "finished"
    assert run.events_of("early_stop")[0].text == line


def test_the_epochs_of_a_workflow(tmp_path: Path) -> None:
    """OpenMMLab names them behind a word."""
    rows = [
        f"2022-02-02 10:00:00,1 - mmseg - INFO - Epoch [{1 + n // 4}][{10 * (n % 4 + 1)}/40]\t"
        f"lr: 0.1, loss: {loss(n)}"
        for n in range(8)
    ]
    run = run_of(tmp_path, "- INFO - workflow: [('train', 1)], max: 24 epochs", *rows)
    assert run.state.planned_epochs == 24


def test_returns_of_dopamine(tmp_path: Path) -> None:
    """Training and evaluation say it in a sentence."""
    lines: list[str] = []
    for n in range(6):
        lines += [
            f"I0101 10:00:00.1 1 a.c:9] Starting iteration {n}",
            f"I0101 10:00:00.1 1 a.c:2] Average undiscounted return per training episode: -9.{n}",
            f"I0101 10:00:00.1 1 a.c:5] Average undiscounted return per evaluation episode: 2.{n}",
        ]
    run = run_of(tmp_path, *lines)
    assert [value for _, value in points(run, "reward")] == [float(f"-9.{n}") for n in range(6)]
    assert len(points(run, "eval_reward")) == 6


def test_rows_of_several_ranks_in_one_log(tmp_path: Path) -> None:
    """The first rank's are those of the run; what another says alone is kept."""
    rows = [f"[rank{r}]: step {n}: loss={loss(n) + r:.4f}" for n in range(9) for r in (1, 0)]
    end = "[rank1]: RuntimeError: NCCL error: unhandled system error"
    run = run_of(tmp_path, *rows, "[rank1]: Traceback (most recent call last):", end)
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(9)]
    assert run.state.kind == "crashed"


@pytest.mark.parametrize(("label", "planned"), [("steps", 900), ("Loop", None)])
def test_a_bar_of_steps_that_has_the_loss_itself_tells_the_plan(
    tmp_path: Path, label: str, planned: int | None
) -> None:
    """What another label counts may be the batches of one epoch."""
    states = [
        f"{label}:   {n}%|#   | {n}/900 [00:0{n}<09:00,  1.1it/s, loss={loss(n)}]"
        for n in range(1, 9)
    ]
    run = run_of(tmp_path, "\r".join(states))
    assert points(run, "train_loss") == [(n, loss(n)) for n in range(1, 9)]
    assert run.state.planned_steps == planned


@pytest.mark.parametrize(
    ("line", "kind", "code"),
    [
        ("Segmentation fault (core dumped)", "crashed", 139),
        (
            "train.sh: line 7:  4711 Aborted                 (core dumped) python t.py",
            "crashed",
            134,
        ),
        ("Killed", "killed", 137),
        ("Terminated", "killed", 143),
    ],
)
def test_what_a_shell_says_of_a_signal(tmp_path: Path, line: str, kind: str, code: int) -> None:
    """It is the last line, and no rank or launcher says more."""
    run = run_of(tmp_path, *(f"epoch {n} loss {loss(n)}" for n in range(9)), line)
    assert (run.state.kind, run.state.exit_code) == (kind, code)


def test_a_network_that_caffe_prints_heads_no_rows(tmp_path: Path) -> None:
    """Its layers name the phase that they are of; what is trained stands below."""
    layer = 'layer {{\n  name: "data"\n  include {{\n    phase: {}\n  }}\n}}\n'
    network = "".join(layer.format(phase) for phase in ("TRAIN", "TEST") * 2)
    rows = "".join(
        f"I0426 17:0{n}:23.78  2338 solver.cpp:219] Iteration {n}00 (0 iter/s), loss = {2 / n}\n"
        f"I0426 17:0{n}:23.79  2338 sgd_solver.cpp:105] Iteration {n}00, lr = 0.0{n}\n"
        for n in range(1, 9)
    )
    run = run_of(tmp_path, "train.log", network + rows)
    assert run.curve("train_loss").value.tolist() == [2 / n for n in range(1, 9)]
    assert not len(run.curve("eval_loss"))


def evaluation(epoch: int, score: str) -> list[str]:
    """Write what fastNLP prints when it has evaluated."""
    return [
        f"Evaluate data in 0.5{epoch} seconds!",
        f"Evaluation on dev at Epoch {epoch}/4. Step:{50 * epoch}/200: ",
        score,
    ]


F1 = (0.5, 0.6, 0.7, 0.68)


def spans(score: float) -> str:
    """Write the scores of a tagger."""
    return f"SpanFPreRecMetric: f={score}, pre={score + 0.05}, rec={score - 0.05}"


def test_evaluations_of_fastnlp(tmp_path: Path) -> None:
    """What was best comes again, and what was measured of the test data is none of the course."""
    lines = [line for n, score in enumerate(F1, 1) for line in evaluation(n, spans(score))]
    run = run_of(
        tmp_path,
        "training epochs started 2021-03-02-10-11-12-000111",
        *lines,
        "Reloaded the best model.",
        "In Epoch:3/Step:150, got best dev performance:",
        spans(0.7),
        "Performance on test is:",
        "Evaluate data in 0.61 seconds!",
        "[tester] ",
        spans(0.66),
    )
    for name, apart in (("f1", 0.0), ("precision", 0.05), ("recall", -0.05)):
        wanted = [(50 * n, score + apart) for n, score in enumerate(F1, 1)]
        assert points(run, f"eval_{name}") == wanted
    assert run.state.planned_steps == 200
    assert len(run.history.metrics) == 3


def test_scores_of_classes_of_fastnlp(tmp_path: Path) -> None:
    """Each has its three."""
    score = "f-A=0.5, pre-A=0.5, rec-A=0.5, f=0.{n}, pre=0.{n}, rec=0.{n}"
    lines = [line for n in range(1, 5) for line in evaluation(n, score.replace("{n}", str(n)))]
    run = run_of(tmp_path, *lines)
    assert [value for _, value in points(run, "eval_f1")] == [0.1, 0.2, 0.3, 0.4]
    assert [value for _, value in points(run, "eval_precision_a")] == [0.5] * 4


@pytest.mark.parametrize(
    "line",
    [
        "step {n}: F=4.2, p=0.04, r=0.{n}",  # of a test
        "step {n}: F=0.5, p=0.5",
        "step {n}: f: 0.5, r: 0.5, loss: 0.{n}",
    ],
)
def test_letters_that_are_no_scores(tmp_path: Path, line: str) -> None:
    """They are as they stand."""
    lines = [line.replace("{n}", str(n)) for n in range(1, 7)]
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]))
    names = {name for run in read_all(tmp_path) for name in run.history.metrics}
    assert not {"f1", "precision", "recall"} & names
