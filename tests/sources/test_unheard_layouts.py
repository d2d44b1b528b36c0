"""Layouts of single programs that a general rule reads: cells of several names, rows by turns."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read, read_all
from runlens.run import Run


def put(folder: Path, *lines: str, name: str = "train.log") -> Path:
    """Write a log."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


GROUPS = "               |---- TRAIN -----|---- VALID ----|--- Best ---|----------|"
HEAD = "rate    epoch  | loss    top-1  | loss   top-1  |  so far    | time     |"


def cells(epoch: int) -> str:
    """Return a row of the table whose heading has two lines."""
    both = f"{2 / (epoch + 1):.3f}  {50 + epoch:.2f}  | {3 / (epoch + 1):.3f}  {40 + epoch:.2f} "
    return f"0.0100  {epoch}.0    | {both} |   {40 + epoch:.3f}   | 0 hr {4 + epoch:02d} min"


def test_cells_of_several_names_are_of_the_data_above_them(tmp_path: Path) -> None:
    """And each start, below its own heading, is a training."""
    lines = []
    for epochs in (2, 0, 6):
        lines += ["------ [START 2021-03-04 10:00:00] ------", "", GROUPS, HEAD, "-" * 70]
        lines += [cells(n) for n in range(epochs)]
    short, long = read_all(put(tmp_path, *lines))
    assert short.curve("train_loss").value.tolist() == [2, 1]
    assert long.curve("train_loss").step.tolist() == [0, 1, 2, 3, 4, 5]
    assert long.curve("eval_loss").value[:3].tolist() == [3, 1.5, 1]
    assert not {"loss", "top-1"} & set(long.history.metrics)


@pytest.mark.parametrize(
    "above",
    [
        "| a table | of | other | words | x |",
        "|-- TRAIN --|",
        "               |- TRAIN -|- VALID -|-- Best --|-- a --|-- b --|-- c --|",
    ],
)
def test_what_else_stands_above_a_heading_says_nothing_of_its_data(
    tmp_path: Path, above: str
) -> None:
    """Names without data stay as they are printed, the second of each with its number."""
    run = read(put(tmp_path, above, HEAD, *(cells(n) for n in range(6))))
    assert not len(run.curve("eval_loss"))


def test_rows_by_turns_without_a_counter_are_numbered(tmp_path: Path) -> None:
    """Where a colon stands behind the number, and all are of the first epoch; no clock is one."""
    lines = ["2024-01-02 03:04:05,600 - INFO - loaded the fonts"]
    for n in range(1, 40):
        stamp = f"2024-01-02 03:04:{n:02d},600 - INFO -"
        lines += [f"{stamp} chamfer {1 / n:.6f}:", f"{stamp} shape_loss {2 / n:.6f}:"]
        lines += [f"{stamp} elapsed {n / 7:.6f}:"] + [f"{stamp} Epoch 0:"] * (n in {20, 39})
    run = read(put(tmp_path, *lines))
    assert len(run.curve("chamfer")) == 39
    assert len(run.history.metrics) == 2
    assert any("numbered in order" in problem.text for problem in run.problems)


def test_layers_of_a_network_are_no_losses(tmp_path: Path) -> None:
    """Their names have the word, and behind it stands where each is; a resume builds them again."""
    lines = []
    for first in (0, 10):
        lines += [f"Rank:0: Setup: aux1/loss_{x}({n}) - 1 in, 1 out" for n, x in enumerate("abc")]
        for n in range(first, first + 10 + first, 2):
            lines += [f"I0603 04:24:{n:02d}.500432   822 solver.cpp:316] Iteration {n}, loss = 2.5"]
            lines += [f"I0603 04:24:{n:02d}.500432   822 solver.cpp:332]     Output #0: acc = 0.5"]
    (run,) = read_all(put(tmp_path, *lines))
    assert run.curve("train_loss").step.tolist() == list(range(0, 30, 2))
    assert not [name for name in run.history.metrics if "aux1" in name]


def test_a_rate_in_a_line_that_counts_is_part_of_no_name(tmp_path: Path) -> None:
    """So the line whose rate occurs once counts for the rows below it as all others do."""
    lines = []
    for last in (200, 400):
        lines += ["START", "start_epoch: 0", "**** EPOCH 000 / 149 ****"]
        for n in range(10, last, 10):
            took = 0.1 + n / 7919
            lines += [
                f"[TRAIN] Epoch 000 | batch {n:04d}/9000 ({n / 90:5.1f}%) | {took:.3f}s/batch"
            ]
            lines += [f"[TRAIN] mean acc: {n / 900:.6f}", f"[TRAIN] mean loss: {9 / n:.6f}"]
    runs = read_all(put(tmp_path, *lines))
    assert [run.curve("train_loss").step.tolist() for run in runs] == [
        list(range(10, 200, 10)),
        list(range(10, 400, 10)),
    ]


def _planned(folder: Path, *lines: str, row: str = "step={n} avg_score={v:.3f}") -> Run:
    rows = (row.format(n=100 * n, v=0.5 + n / 100) for n in range(1, 20))
    return read(put(folder, lines[0], *rows, *lines[1:]))


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("10:00:00 | INFO | [Train] поток, макс. шагов: 5000", 5000),
        ("max_iter: 5000", 5000),
        ("--max-steps=5000", 5000),
        ("max steps: 5000\nmax_iterations: 6000", None),
        ("eval max steps: 5000", None),
        ("max_steps: 0", None),
        ("max_steps", None),
    ],
)
def test_steps_that_are_named_above_the_rows_are_the_plan(
    tmp_path: Path, said: str, plan: int | None
) -> None:
    """What is said behind the last row is of another training."""
    assert _planned(tmp_path, said, "max steps: 9000").state.planned_steps == plan


@pytest.mark.parametrize("row", ["Epoch {n}: loss {v:.3f}", "loss {v:.3f}"])
def test_rows_that_count_no_steps_have_no_such_plan(tmp_path: Path, row: str) -> None:
    """Of an agent they are the steps of an episode."""
    assert _planned(tmp_path, "max_steps: 5000", row=row).state.planned_steps is None


def test_darknet_between_its_regions(tmp_path: Path) -> None:
    """The loss is the mean so far; a region without an object has no value."""
    region = "Region {n} Avg IOU: -nan, Class: -nan, Obj: -nan, No Obj: 0.5, .5R: -nan,  count: 0"
    lines = ["yolov3-tiny", "Learning Rate: 0.001, Momentum: 0.9, Decay: 0.0005"]
    for n in range(1, 30):
        lines += ["Loaded: 0.000034 seconds", *(region.format(n=k) for k in (16, 23, 30))]
        lines += [f"{n}: {90 / n:.6f}, {99 / n:.6f} avg, 0.000100 rate, 0.19 seconds, {n} images"]
    run = read(put(tmp_path, *lines))
    assert run.curve("train_loss").value[:2].tolist() == [99, 49.5]
    assert run.curve("train_loss").step.tolist() == list(range(1, 30))
    assert run.curve("learning_rate").value[0] == 1e-4


WABBIT = (
    "average  since         example        example        current        current  current",
    "loss     last          counter         weight          label        predict features",
)
ROWS_OF_WABBIT = (
    "0.910000 0.910000            1            1.0         1.0000         0.1000       12",
    "0.705000 0.500000            2            2.0        -1.0000         0.2000       12",
    "0.602500 0.500000            4            4.0         1.0000         0.3000       12",
)
HELD_OUT_OF_WABBIT = (
    "0.410000 0.410000            8            8.0         1.0000         0.3000       12 h",
    "0.390000 0.370000           16           16.0        -1.0000         0.3000       12 h",
)


def test_names_whose_words_stand_one_above_the_other(tmp_path: Path) -> None:
    """Vowpal Wabbit counts examples in its third column; its mark ``h`` is of held-out ones."""
    log = ("vw --passes 30 -k data.txt", "Num weight bits = 18", *WABBIT, *ROWS_OF_WABBIT)
    run = read(put(tmp_path, *log, *HELD_OUT_OF_WABBIT, "", "average loss = 0.39 h"))
    train, held_out = run.curve("train_loss"), run.curve("eval_loss")
    assert (train.step.tolist(), train.value.tolist()) == ([1, 2, 4], [0.91, 0.705, 0.6025])
    assert (held_out.step.tolist(), held_out.value.tolist()) == ([8, 16], [0.41, 0.39])


@pytest.mark.parametrize(
    "head",
    [
        ("average  since  weight", "loss     last   value"),  # none comes again: two lines of names
        ("a since a since", "loss counter"),
        ("average  since   average", "       loss     last   again"),  # below no word
        ("average  since  average", "loss  last  loss"),  # twice the same name
        ("average  since  average", "size     last   name"),  # names nothing of a training
        ("average  2since average", "loss     last   more"),
    ],
)
def test_lines_that_are_no_names_in_two_lines(tmp_path: Path, head: tuple[str, str]) -> None:
    """Their words are no pairs."""
    run = read(put(tmp_path, *head, *(f"0.{n}      0.{n}    {n}" for n in range(1, 6))))
    assert not any(name.startswith("average ") for name in run.history.metrics)


def test_rows_without_a_counter_beside_lines_of_an_epoch_have_no_step_below_zero(
    tmp_path: Path,
) -> None:
    """They are numbered in their order where several would stand at none."""
    lines = ["epochs used 7", "loss   last  weight"]
    lines += [f"{1 / n:.3f}  {2 / n:.3f}  {n - 3}.0" for n in range(1, 6)]
    run = read(put(tmp_path, *lines, "sum of loss = 1.25", "mean loss = 0.25"))
    assert all(run.curve(name).step.min() >= 0 for name in run.history.metrics)


def test_a_point_behind_a_counter_ends_its_sentence(tmp_path: Path) -> None:
    """Whatever the letter behind it; in backticks too."""
    lines = [f"`Frame {2560 * n}. reward: {100.5 + n * n % 7}`" for n in range(3, 9)]
    assert read(put(tmp_path, *lines)).curve("reward").step.tolist() == [
        2560 * n for n in range(3, 9)
    ]
    lines = [f"Frame {n}.5 loss {1 / n:.3f}" for n in range(3, 9)]  # counts nothing
    assert read(put(tmp_path, *lines)).curve("train_loss").step.tolist() == [1, 2, 3, 4, 5, 6]


def test_numbers_of_parts_are_named_after_them(tmp_path: Path) -> None:
    """So that each has one an epoch, as the bars have; steps and single parts are no such."""
    lines = []
    for epoch in (7, 8, 9):
        bar = f"20/20 [==============================] - 4s 200ms/step - loss: 0.{epoch}"
        lines += [f"STARTING EPOCH {epoch}  lr 0.001", bar]
        lines += [f"dice {0.1 * part + 0.01 * epoch:.3f} mask_{part}" for part in (1, 2)]
    run = read(put(tmp_path, *lines))
    assert run.curve("train_loss").step.tolist() == [7, 8, 9]
    assert run.curve("dice_mask_2").value.tolist() == [0.27, 0.28, 0.29]
    assert run.curve("dice_mask_2").step.tolist() == [7, 8, 9]
    lines = [line for line in lines if not line.endswith("mask_2")]
    assert "dice_mask_1" not in read(put(tmp_path, *lines)).history.metrics


@pytest.mark.parametrize("end", [" | 1 day,   03:04:05.123456", "", " | 00:01:07"])
def test_rows_with_pipes_below_names_without(tmp_path: Path, end: str) -> None:
    """A time behind them has no name."""
    rows = [f"0.{n}04 | 9{n} | 6.2{n}{end}" for n in range(1, 7)]
    run = read(put(tmp_path, "D_loss       acc     G_loss", *rows))
    assert run.curve("g_loss").value.tolist() == [6.21, 6.22, 6.23, 6.24, 6.25, 6.26]
    assert run.curve("d_loss").value[0] == 0.104


@pytest.mark.parametrize("end", [" | 7 | 8", " | 0.5"])
def test_rows_with_more_cells_than_names(tmp_path: Path, end: str) -> None:
    """What a number behind them is nothing says."""
    rows = [f"0.{n}04 | 9{n} | 6.2{n}{end}" for n in range(1, 7)]
    run = read(put(tmp_path, "D_loss       acc     G_loss", *rows))
    assert "d_loss" not in run.history.metrics


OF_BOTH = [(2.302, 2.4), (1.8, 2.1), (1.5, 1.95), (1.2, 1.9)]


def rows_of(both: list[tuple[float, float]], *, quotient: bool = True) -> list[str]:
    """Return rows of an epoch, two numbers, what the one is of the other, and seconds."""
    shares = (one / other if quotient else 0.5 for one, other in both)
    each = enumerate(zip(both, shares, strict=True), 41)
    return [
        f"  {n}    {a:.5f}    {b:.5f}    {share:.5f}  1.0{n % 7}s" for n, ((a, b), share) in each
    ]


def test_a_quotient_says_what_stands_before_it(tmp_path: Path) -> None:
    """The loss of the training, and that of held-out data, as nolearn prints them."""
    lost = [
        "  45    1.10000        nan        nan  1.04s",
        "  46        nan        nan        nan  1.04s",
    ]
    run = read(put(tmp_path, "output = softmax,", "", *rows_of(OF_BOTH), *lost))
    train, held_out = run.curve("train_loss"), run.curve("eval_loss")
    assert train.step.tolist() == held_out.step.tolist() == [41, 42, 43, 44, 45, 46]
    assert train.value[:5].tolist() == [2.302, 1.8, 1.5, 1.2, 1.1]
    assert held_out.value[:4].tolist() == [2.4, 2.1, 1.95, 1.9]
    assert np.isnan(train.value[5])
    assert np.isnan(held_out.value[4:]).all()
    head = "  epoch    train loss    valid loss    train/val  dur"
    rule = "-------  ------------  ------------  -----------  -----"
    headed = read(put(tmp_path, head, rule, *rows_of(OF_BOTH), *lost))
    for name in ("train_loss", "eval_loss"):
        np.testing.assert_array_equal(headed.curve(name).value, run.curve(name).value)
        np.testing.assert_array_equal(headed.curve(name).step, run.curve(name).step)


@pytest.mark.parametrize(
    "rows",
    [
        rows_of(OF_BOTH, quotient=False),
        rows_of(OF_BOTH[:2]),  # too few
        rows_of([(1024.0 * n, 2.0 + n) for n in range(1, 7)]),  # what is counted, in so long
        rows_of([(-1.5 * n, 2.5 + n) for n in range(1, 7)]),
        rows_of([(1.5 * n, 3.0 * n) for n in range(1, 7)]),  # always the same
    ],
)
def test_numbers_that_are_no_losses_by_their_quotient(tmp_path: Path, rows: list[str]) -> None:
    """They stay without a name."""
    run = read(put(tmp_path, "output = softmax,", "", *rows))
    assert not {"train_loss", "eval_loss"} & set(run.history.metrics)


@pytest.mark.parametrize("stamp", ["", "2021-03-04 10:11:12.000001 ---> "])
@pytest.mark.parametrize(("first", "at"), [(700, 650), (50, 0), (20, 0)])
def test_what_was_measured_above_the_first_row_stands_before_it(
    tmp_path: Path, stamp: str, first: int, at: int
) -> None:
    """One interval: at the start of a run, or where the part that is shown begins."""
    lines = [f"{stamp}Validation_loss: 1.5"]
    for n in range(6):
        lines.append(f"Step: {first + 50 * n}, Train_loss: {1 / (n + 1):.3f}")
        lines += [f"{stamp}Validation_loss: {1.4 - n / 10:.1f}"] * (n % 3 == 2)
    curve = read(put(tmp_path, *lines)).curve("eval_loss")
    assert curve.step.tolist() == [at, first + 100, first + 250]
    assert curve.value.tolist() == [1.5, 1.2, 0.9]


def test_what_is_said_once_above_the_first_row_is_a_setting(tmp_path: Path) -> None:
    """No row of its name comes later."""
    lines = [f"Step: {50 * n}, Train_loss: {1 / (n + 1):.3f}" for n in range(1, 8)]
    lines[3:3] = ["Validation_loss: 0.8"]
    lines += ["Validation_loss: 0.7"]
    run = read(put(tmp_path, "val_accuracy: 0.95", *lines))
    assert run.curve("eval_loss").value.tolist() == [0.8, 0.7]
    assert "eval_accuracy" not in run.history.metrics


def powers(losses: list[float], *, of: float = np.e) -> list[str]:
    """Return rows as RWKV writes them: epoch, loss, its exp, rate, time, epoch."""
    stamp = "2025-05-30 18:12:20.796917"
    each = enumerate(losses)
    return [f"{n} {one:.6f} {of**one:.4f} 0.00001000 {stamp} {n}" for n, one in each]


def test_a_perplexity_says_what_stands_before_it(tmp_path: Path) -> None:
    """A loss; what stands behind both is not named."""
    losses = [1.179688, 0.515625, 0.339844, 0.251953, 0.174805]
    run = read(put(tmp_path, "NEW RUN", *powers(losses), "5 nan nan 0.00001000 x 5"))
    assert run.curve("train_loss").value[:5].tolist() == losses
    assert run.curve("train_ppl").value[:2].tolist() == [3.2534, 1.6747]


@pytest.mark.parametrize(
    "rows",
    [
        powers([0.00091, 0.0007, 0.0005, 0.0003, 0.0001]),  # an accuracy of 1 all the way
        powers([1.2, 0.9, 0.6, 0.3, 0.2], of=1.5),
        powers([1.2, 0.9]),  # too few
        powers([900.5, 800.5, 790.5, 700.5], of=1.01),  # whose exp is too large
    ],
)
def test_numbers_whose_exp_is_not_beside_them(tmp_path: Path, rows: list[str]) -> None:
    """They stay without a name."""
    run = read(put(tmp_path, "NEW RUN", *rows))
    assert "train_loss" not in run.history.metrics


def test_a_comment_names_columns_and_settings_behind_them(tmp_path: Path) -> None:
    """Bars around a gradient are those of a norm, and no edges of cells."""
    rows = [f"{n * 2:4}   {3 / n:.4f}  {1 / n:.3f}" for n in range(1, 9)]
    path = put(tmp_path, "#upd   loss  |g|   clip=none  bptt=60", *rows)
    run = read(path)
    assert run.curve("train_loss").step.tolist() == [*range(2, 17, 2)]
    assert run.curve("grad_norm").value[0] == 1


def test_steps_of_each_tenth_episode_do_not_count(tmp_path: Path) -> None:
    """They fall where the episodes rise evenly; those of all rise with them."""
    lengths = [22, 16, 24, 16, 12, 10, 10, 13]
    said = "Episode {0}: Belohnung {1}; Zufall 0.{2}; Schritte {3}"
    rows = [said.format(n * 10, n / 10, 90 - n, one) for n, one in enumerate(lengths, 1)]
    run = read(put(tmp_path, *rows))
    assert run.curve("reward").value.tolist() == [n / 10 for n in range(1, 9)]
    rows = [said.format(n * 10, n / 10, 90 - n, n * 170) for n in range(1, 9)]
    assert read(put(tmp_path, *rows)).curve("reward").step.tolist() == [
        n * 170 for n in range(1, 9)
    ]
