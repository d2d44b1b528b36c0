"""Losses and ends that no name says: what falls on both data, CatBoost's rows, reasons to stop."""

import json
from pathlib import Path

import pytest

import runlens
from tests.sources.written import run_of

LOSS = [round(2.5 / n + 0.25, 4) for n in range(1, 25)]


def rows(form: str) -> str:
    """Write rows, one for each loss."""
    return "".join(
        form.format(n=n, loss=loss, more=loss + 0.5, high=9 * loss, share=1 - loss / 9)
        for n, loss in enumerate(LOSS, 1)
    )


VAL = "Val   - Chamfer: {more}, Spectrum: {share}\n"
CLOCK = "\ttotal: {n}.5s\tremaining: 1m {n}s\n"


@pytest.mark.parametrize(
    ("form", "held_out"),
    [
        ("{n}:\tlearn: {loss}" + CLOCK, False),
        ("{n}:\tlearn: {loss}\ttotal: {n}8ms\tremaining: {n}us\n", False),
        ("{n}:\tlearn: {loss}\ttest: {more}\tbest: {more} ({n})" + CLOCK, True),
        ("{n}: learn: {loss} test: {more}\n", True),
        ("Epoch {n}/24  Train L={loss} A=4.0%  Val L={more} A=5.5%\n", True),
        (
            "Epoch {n}\nTrain - Chamfer: {loss}, Spectrum: {share}\n" + VAL,
            True,
        ),
    ],
)
def test_what_falls_is_the_loss_where_nothing_is_called_so(
    tmp_path: Path, form: str, held_out: bool
) -> None:
    """As is told, with how to say otherwise."""
    run = run_of(tmp_path, "train.log", rows(form))
    assert run.curve("train_loss").value.tolist() == LOSS
    assert ("eval_loss" in run.history.metrics) == held_out
    assert any("pass --column train_loss=NAME" in problem.text for problem in run.problems)
    assert not {"total", "remaining", "total_ms"} & set(run.history.metrics)


def test_the_highest_of_several_is_the_one_that_the_sum_follows(tmp_path: Path) -> None:
    """The others stay as they are called."""
    form = "Epoch {n}\nTrain - Spectrum: {loss}, Chamfer: {high}\n"
    run = run_of(tmp_path, "t.log", rows(form + "Val - Spectrum: {loss}, Chamfer: {high}\n"))
    assert run.curve("train_loss").value[0] == 9 * LOSS[0]
    assert "Spectrum" in run.history.metrics


@pytest.mark.parametrize(
    "form",
    [
        "{n}:\tlearn: {share}" + CLOCK,  # an accuracy, it may be
        "epoch {n} train_tau={loss} val_tau={more} acc_gap=0.1\n",  # a temperature
        "Epoch {n}\nTrain - Chamfer: {share}\nVal   - Chamfer: {share}\n",
    ],
)
def test_what_rises_or_is_a_setting_is_no_loss(tmp_path: Path, form: str) -> None:
    """Nothing is taken for one."""
    (tmp_path / "train.log").write_text(rows(form))
    for run in runlens.read_all(tmp_path / "train.log"):
        assert not {"train_loss", "eval_loss"} & set(run.history.metrics)


def test_losses_that_are_zero_throughout_keep_their_name(tmp_path: Path) -> None:
    """Avalanche names them by the stream."""
    form = "Epoch {n} ended.\n\tLoss_Epoch/train_phase/train_datasets_stream = 0.0000\n"
    assert not run_of(tmp_path, "train.log", rows(form)).curve("train_loss").value.any()


@pytest.mark.parametrize("name", ["solve_rates", "success_rates", "win_rate", "overall_success"])
def test_rates_of_what_an_agent_solved_are_its_reward(tmp_path: Path, name: str) -> None:
    """Beside the losses of its policy."""
    lists = {"iterations": [*range(24)], "policy_losses": LOSS, name: [1 - x / 9 for x in LOSS]}
    assert run_of(tmp_path, "metrics.json", json.dumps(lists)).curve("reward").value[-1] > 0.9


ROW = "Epoch {n} loss: {loss}\n"


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ("Manually exiting training\n", "finished"),
        ("Training was stopped by the user\n", "finished"),
        ("Early stopping is trigger at step: 5 log:0.125\n", "finished"),
        ("early stopping at 24, recall@20:0.13, best_epoch at 20\n", "finished"),
        ("early stopping at 24\nEpoch 20 loss: 0.375\n", "finished"),  # its best again
        ("early stopping counter: 3 of 5\n", "unknown"),
        ("early stopping at 24\nEpoch 25 loss: 0.3\nEpoch 26 loss: 0.3\n", "unknown"),
    ],
)
def test_ends_in_other_words(tmp_path: Path, last: str, kind: str) -> None:
    """A patience that ran out, or a person who left the loop."""
    assert runlens_state(tmp_path, rows(ROW) + last) == kind


def runlens_state(folder: Path, text: str) -> str:
    """Return how the last training of a log ended."""
    (folder / "train.log").write_text(text, encoding="utf-8")
    return runlens.read_all(folder / "train.log")[-1].state.kind


@pytest.mark.parametrize(
    "last",
    [
        'Videos with "Attention": error: argument -m/--model: expected one argument\nmv: no file\n',
        "My tool v2: error: the following arguments are required: --data\n",
        "ValueError: \nno such column\nin the table\n",
    ],
)
def test_errors_in_other_words(tmp_path: Path, last: str) -> None:
    """Of a program with a name of several words; of a narrow window."""
    assert runlens_state(tmp_path, f"Loading data\n{last}") == "crashed"


@pytest.mark.parametrize(
    ("beside", "kind"),
    [
        ({"stop_reason": "early_stopping_plateau"}, "finished"),
        ({"stopped_early": True}, "finished"),
        ({"early_stopping_triggered": True}, "finished"),
        ({"early_stopping": True}, "unknown"),  # a setting
        ({"stopped_early": False, "stop_reason": None}, "unknown"),
    ],
)
def test_what_stands_beside_a_history_says_that_it_was_stopped(
    tmp_path: Path, beside: dict[str, object], kind: str
) -> None:
    """By a word of its own or as the reason."""
    history = [{"epoch": n, "train_loss": loss} for n, loss in enumerate(LOSS, 1)]
    run = run_of(tmp_path, "history.json", json.dumps(beside | {"history": history}))
    assert run.state.kind == kind


SWUNG = [1.1, 1.7, 1.1, 0.8, 0.6, 0.5, 0.6, 1.8, 2.4, 1.3, 0.9, 1.2, 1.9, 1.5, 1.2, 1.3, 1.3, 1.3]


@pytest.mark.parametrize(
    ("values", "taken"),
    [
        (LOSS, True),
        (SWUNG, True),  # of a rate that is far too high
        ([1 - x / 9 for x in LOSS], False),  # driven up
        ([*SWUNG, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0], False),  # in the end
        ([x - 1 for x in SWUNG], False),  # a return below zero
        ([1.1, 1.2, 1.1, 1.15, 1.2, 1.15, 1.1, 1.15, 1.2, 1.15, 1.16], False),  # about a level
    ],
)
def test_a_cost_that_is_written_as_a_letter(
    tmp_path: Path, values: list[float], *, taken: bool
) -> None:
    """What is minimised comes down, or swings; a return of that letter ends at its height."""
    (tmp_path / "gd.txt").write_text("".join(f"k={n}\tJ={v}\n" for n, v in enumerate(values, 1)))
    run = runlens.read(tmp_path / "gd.txt")
    assert ("train_loss" in run.history.metrics) == taken
    assert any("does not name its training loss" in one.text for one in run.problems) == taken


def test_a_letter_on_held_out_data_is_its_evaluation(tmp_path: Path) -> None:
    """By the word behind it."""
    form = "step {n} J={loss} J_val={more}\n"
    run = run_of(tmp_path, "gd.txt", rows(form))
    assert run.curve("eval_loss").value[0] == LOSS[0] + 0.5
