"""What older libraries leave: glog's files and solvers of Caffe, Torch7's blocks, tables."""

from pathlib import Path

import pytest

from runlens import Run, read
from runlens.errors import NothingReadable

STEPS = range(0, 1200, 100)
ROW = "I1130 19:48:{:02}.508694 20817 solver.cpp:228] Iteration {}, loss = {}\n"
CAFFE = "".join(ROW.format(at // 100, at, 2 - at / 1e3) for at in STEPS)
SOLVER = (
    'net: "net.prototxt"\n# the rate\nbase_lr: 0.1\nmomentum: 0.9\nweight_decay: 0\nmax_iter: 99\n'
)


@pytest.mark.parametrize("name", ["caffe.INFO", "caffe.host.me.log.INFO.20161130-194436.20817"])
def test_a_log_of_glog_beside_its_solver(tmp_path: Path, name: str) -> None:
    """Its severity is the ending of its name."""
    (tmp_path / name).write_text(CAFFE)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    (tmp_path / "net.prototxt").write_text('layer {\n  name: "a"\n}\nlayer {\n  name: "b"\n}\n')
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(STEPS)
    assert run.config["learning_rate"].value == 0.1


@pytest.mark.parametrize("name", ["build.info", "PKG-INFO", "train.dat"])
def test_other_files_are_no_logs(tmp_path: Path, name: str) -> None:
    """Of a package, or the data themselves."""
    (tmp_path / name).write_text(CAFFE)
    (tmp_path / "notes.md").write_text("nothing\n")
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_losses_in_a_table_of_numbers(tmp_path: Path) -> None:
    """DeepXDE writes ``loss.dat``, its head behind a mark of a comment."""
    rows = "".join(f"{at:6} {2 - at / 1e3:.4e} {2.1 - at / 1e3:.4e}\n" for at in STEPS)
    (tmp_path / "loss.dat").write_text(f"# step, loss_train, loss_test\n{rows}")
    (tmp_path / "points.csv").write_text("x,y\n0,1\n1,0\n")
    assert len(read(tmp_path).curve("train_loss").value) == len(STEPS)


def of_deepxde(folder: Path, terms: int, metrics: int) -> Run:
    """Read losses of terms, of which those of the test begin a tenth higher."""
    rows = [
        [float(at), *_terms(1, terms, at), *_terms(1.1, terms, at), *[0.5] * metrics]
        for at in STEPS
    ]
    lines = [" ".join(f"{value:.18e}" for value in row) for row in rows]
    head = "# step, loss_train, loss_test, metrics_test"
    (folder / "loss.dat").write_text("\n".join([head, *lines, ""]))
    return read(folder)


def _terms(first: float, terms: int, at: int) -> list[float]:
    return [(n + first) * (2 - at / 1e3) for n in range(terms)]


@pytest.mark.parametrize(("terms", "metrics"), [(1, 0), (1, 1), (2, 1), (3, 0)])
def test_the_terms_of_a_loss_under_one_name(tmp_path: Path, terms: int, metrics: int) -> None:
    """Those of the training stand before those of the test, which began alike."""
    run = of_deepxde(tmp_path, terms, metrics)
    assert run.curve("train_loss").value[0] == pytest.approx(sum(_terms(1, terms, 0)))
    assert run.curve("eval_loss").value[0] == pytest.approx(sum(_terms(1.1, terms, 0)))
    assert run.curve("train_loss").step.tolist() == [*STEPS]
    assert run.framework == "deepxde"
    parts = {name for name in run.history.metrics if name[-1].isdigit()}
    assert len(parts) == (2 * terms if terms > 1 else 0)


def test_other_names_than_those_of_deepxde_stand_for_one_column_each(tmp_path: Path) -> None:
    """Where there are fewer of them than columns, these are numbered but for the one that falls."""
    rows = "".join(f"{at:.18e} {2 - at / 1e3:.18e} 5.0e-01 9.0e-01\n" for at in STEPS)
    (tmp_path / "loss.dat").write_text(f"# step, first, second\n{rows}")
    assert set(read(tmp_path).history.metrics) == {"train_loss", "column 3", "column 4"}


def test_terms_that_do_not_begin_alike_have_no_sum(tmp_path: Path) -> None:
    """Where two numbers are left over, what lies behind the first is no term."""
    run = of_deepxde(tmp_path, 1, 2)
    assert run.curve("train_loss").value[0] == 2
    assert "eval_metric" not in run.history.metrics


def test_blocks_of_torch7(tmp_path: Path) -> None:
    """What it minimises is called f(x), and an accuracy by what was right of all."""
    block = (
        "==> online epoch # {n} [batchSize = 32]\n\n==> time to learn 1 sample = 0.03{n}ms\n"
        "  + f(x) average: {a}\n + global correct: 1{n}.5% \n==> testing on test set:\n"
        " + global correct: 2{n}.5% [test]\n==> doing epoch on training data:\n"
    )
    (tmp_path / "train.out").write_text(
        "".join(block.format(n=n, a=2 - n / 10) for n in range(1, 9))
    )
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [2 - n / 10 for n in range(1, 9)]
    assert run.curve("train_accuracy").value[0] == pytest.approx(0.115)
    assert run.curve("eval_accuracy").value[0] == pytest.approx(0.215)


def test_other_values_of_a_function_are_no_loss(tmp_path: Path) -> None:
    """One that is maximised is called so too: nothing was averaged."""
    rows = "".join(f"iter {n}: f(x) = {n / 10}, lr = 0.1\n" for n in range(1, 9))
    (tmp_path / "search.log").write_text(rows)
    assert "train_loss" not in read(tmp_path).history.metrics
