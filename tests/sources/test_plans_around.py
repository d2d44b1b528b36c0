"""Plans in epochs that no row of a log names: what stands around the rows says them."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.run import Run

ROWS = tuple(f"Epoch {n}: loss {2 / n:.4f} acc {n / 20:.3f}" for n in range(1, 9))


def _run(tmp_path: Path, *lines: str) -> Run:
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines) + "\n")
    (run,) = read_all(path)
    return run


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("   Epochs: 40", 40),
        ("    'max_epochs': 40,", 40),
        ("Running with --epochs 40 --warmup-epochs 5", 40),
        ("args: (lr=0.1, num_epochs=40, eval_epochs=3)", 40),
        ("2024-01-01 10:00:00 - INFO - training.epochs: 40", 40),
        ("| epochs | 40 |", 40),
        ("Train the model for up to 40 epochs on cpu", 40),
        ("Starting training: 40 epochs", 40),
        ("epochs=0", None),
        ("warmup epochs: 40", None),
        ("local_epochs=40", None),
        ("epochs: 1-40", None),
        ("epochs: 4.5", None),
        ("epochs: 40\nn_epochs=50", None),
        ("epochs: 3", None),  # which the rows passed
        ("INFO:root:{'gpu': '0', 'epoch': 40, 'lr': 0.1, 'batch_size': 9, 'eval_size': 5}", 40),
        ("Namespace(batch_size=9, epoch=40, lr=0.1)", 40),
        ("Namespace(lr=0.1, epoch=40)", None),  # of what, is not said
        ("{'batch_size': 9, 'epoch': 40, 'val_loss': 0.3}", None),  # it came as far
        ("best: Namespace(batch_size=9, epoch=40, loss=0.3)", None),
    ],
)
def test_a_setting_that_a_log_names_once(tmp_path: Path, said: str, plan: int | None) -> None:
    """Only where nothing before it says that it is of something else, and none disagrees."""
    assert _run(tmp_path, said, *ROWS).state.planned_epochs == plan


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("End of epoch {n} / 40 \t Time Taken: 9 sec", 40),
        ("Saved at epoch [{n}/40].", 40),
        ("Saved at local epoch [{n}/40].", None),
        ("took {n} s: epoch 9/4", None),
        ("it was epoch {n}/40 of {n}, or epoch {n}/50", None),
        ("Ended epoch {n}9/400", None),  # of something else: rows are not as far
    ],
)
def test_a_counter_in_lines_between_the_rows(tmp_path: Path, said: str, plan: int | None) -> None:
    """A counter is above a setting, and below what the rows say."""
    between = [line for n, row in enumerate(ROWS, 1) for line in (row, said.format(n=n))]
    assert _run(tmp_path, *between).state.planned_epochs == plan
    rows = [row.replace(":", "/30:") for row in between]
    assert _run(tmp_path, "epochs: 90", *rows).state.planned_epochs == 30


def _bar(label: str, done: int, total: int, unit: str = "it") -> str:
    return f"{label}: {100 * done // total}%|###   | {done}/{total} [00:26<04:01, 26.86s/{unit}]"


def test_labels_of_bars_whose_numbers_stand_in_lines(tmp_path: Path) -> None:
    """They tell it up to the last row: what follows is another training, whose rows say nothing."""
    lines = [line for n, row in enumerate(ROWS, 1) for line in (_bar(f"Epoch {n}/8", 9, 9), row)]
    state = _run(tmp_path, *lines, _bar("Fine-tune epoch 1/3", 5, 5)).state
    assert (state.done_epochs, state.planned_epochs) == (8, 8)


@pytest.mark.parametrize(("label", "unit"), [("Epochs", "it"), ("10:00:00 - INFO - ", "epoch")])
def test_a_bar_that_counts_epochs(tmp_path: Path, label: str, unit: str) -> None:
    """By its label, or by the unit of its rate."""
    lines = [line for n, row in enumerate(ROWS) for line in (_bar(label, n, 20, unit), row)]
    assert _run(tmp_path, _bar("Loading", 0, 7), *lines).state.planned_epochs == 20


def test_the_bar_of_an_epoch_is_none_of_the_run(tmp_path: Path) -> None:
    """Where nothing was measured, the bar of epochs says how far the run came."""
    lines = [_bar("Epoch", 0, 3)]
    for epoch in (1, 2, 3):
        lines += [_bar("Iteration", n, 50) for n in range(0, 51, 10)] + [_bar("Epoch", epoch, 3)]
    state = _run(tmp_path, *lines).state
    assert (state.planned_steps, state.done_epochs, state.planned_epochs) == (None, 3, 3)
    whole = [_bar("Epoch", n // 50, 3) + "\n" + _bar("Iteration", n, 150) for n in (0, 70, 150)]
    state = _run(tmp_path, *whole).state
    assert (state.done_steps, state.planned_steps) == (150, 150)


def test_one_epoch_without_a_length_is_not_done(tmp_path: Path) -> None:
    """Nothing says how many steps the only epoch has."""
    rows = [f"epoch: 1 step: {n} loss: {2 - n / 900:.2f}" for n in range(0, 300, 100)]
    state = _run(tmp_path, "epochs=1", *rows).state
    assert (state.done_epochs, state.planned_epochs, state.kind) == (None, 1, "unknown")


def test_rows_that_are_dicts_name_their_epochs_themselves(tmp_path: Path) -> None:
    """A Trainer's: what it plans it says in its own words."""
    rows = [f"{{'loss': {2 / n:.4f}, 'learning_rate': 1e-4, 'epoch': {n}.0}}" for n in range(1, 9)]
    state = _run(tmp_path, "stage=train epochs=16", *rows).state
    assert (state.done_epochs, state.planned_epochs) == (8, None)


@pytest.mark.parametrize(
    ("behind", "done"), [("", 0.036), ("\nanother bar: 10%|# | 1/10 [00:01]", 0.036)]
)
def test_the_bar_of_the_first_epoch_says_how_much_of_it_is_done(
    tmp_path: Path, behind: str, done: float
) -> None:
    """Where the rows are logged in its own lines; another bar says nothing of it."""
    bars = (
        f"acc: 0.{70 + n}, loss: 0.{90 - n} ||:   {n}%|{n} | {n * 4}/1000 [00:{n:02}<09:59, 3s/it]"
        for n in range(1, 10)
    )
    state = _run(tmp_path, "Epoch 0/9", *bars, behind).state
    assert state.done_epochs == pytest.approx(done)
    assert state.kind == "stopped_early"


CONFIG = (
    "{} {{\n  # steps: 99040 # 1238 * 120\n  optimizer {{\n    steps: 7\n  }}\n  {} # 464 * 50\n}}"
)


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("Starting training..., iters: 600", 600),
        ("Start of training: total steps = 600", 600),
        ("Start training. warmup steps: 600", None),
        ("Start of training, steps: 600/900", None),
        (CONFIG.format("train_config:", "steps: 600"), 600),
        (CONFIG.format("train_config", "num_steps: 600"), 600),
        (CONFIG.format("eval_config", "num_steps: 600"), None),
        (CONFIG.format("train_input_reader", "steps: 600"), None),
        ("}\n" + CONFIG.format("train_config", "eval_steps: 600"), None),
    ],
)
def test_steps_that_stand_above_the_rows(tmp_path: Path, said: str, plan: int | None) -> None:
    """Where the training begins, or in its block of a configuration; ``#`` says what is off."""
    rows = [f"Iter {n}: Train loss {2 / n:.3f}, Learning Rate 1e-4" for n in range(20, 340, 20)]
    assert _run(tmp_path, said, *rows).state.planned_steps == plan


@pytest.mark.parametrize(
    ("named", "plan"), [("epoch: 5", 5), ("epoch: 5\nmax_epochs: 9", 9), ("epoch: all", None)]
)
def test_the_epoch_of_a_list_of_settings(tmp_path: Path, named: str, plan: int | None) -> None:
    """How many there are to be; a setting that says so wins."""
    settings = f"Settings:\nlearning_rate: 0.001\nbatch_size: 8\n{named}\noptim: rmsprop\nseed: 3\n"
    rows = [f"Epoch: 0 Iteration: {n} Loss: {2 / n:.4f}" for n in (100, 200, 300)]
    assert _run(tmp_path, settings, *rows).state.planned_epochs == plan


def test_epochs_that_are_done_settle_what_a_line_counts_in_rounds(tmp_path: Path) -> None:
    """30 epochs in each of 40 rounds: the first rounds are whole, the last is not."""
    epochs = [f"[epoch:{n}/30][loss:{2 / n:.6f}][pair_loss:{1 / n:.6f}]" for n in range(1, 31)]
    lines = [
        line
        for done in range(1, 4)
        for line in (*epochs, f"[iter:{done}/40][code_length:12][mAP:0.{done}1]")
    ]
    path = tmp_path / "train.log"
    path.write_text("\n".join([*lines, *epochs[:3]]))
    kinds = [run.state.kind for run in read_all(path)]
    assert kinds[:3] == ["finished"] * 3
    assert kinds[3:] != ["finished"]


@pytest.mark.parametrize(
    ("said", "row", "plan"),
    [
        ("Training the agent for 400 episodes...", "Episode {n} | reward {a:.3f}", 400),
        ("Starting to train for 1,000 episodes", "Episode {n} | reward {a:.3f}", 1000),
        ("num_episodes=400", "Episode {n} | reward {a:.3f}", 400),
        ("Number of episodes: 400", "[12:00:01] episode: {n}, reward: {a:.3f}", 400),
        ("eval_episodes: 400", "Episode {n} | reward {a:.3f}", None),
        ("updates the target every 400 episodes", "Episode {n} | reward {a:.3f}", None),
        ("episodes: 400", "Epoch {n} | reward {a:.3f}", None),  # within each of them
        ("episodes: 400", "Epoch {n} | episode 9 | reward {a:.3f}", None),
    ],
)
def test_a_plan_in_episodes(tmp_path: Path, said: str, row: str, plan: int | None) -> None:
    """It is one where the rows count episodes, and is named as one of epochs is."""
    rows = [row.format(n=n, a=n / 7) for n in range(10, 200, 10)]
    assert _run(tmp_path, said, *rows).state.planned_epochs == plan


@pytest.mark.parametrize(
    ("step", "said", "plan"), [("", 400, None), ("", 410, 410), ("'step': {n}, ", 400, 400)]
)
def test_rows_that_are_numbered_are_not_held_against_a_plan_in_updates(
    tmp_path: Path, step: str, said: int, plan: int | None
) -> None:
    """Each may stand for 25 updates: "step 16 of 400" would be a run that was cut."""
    rows = [
        f"{{'loss': {3 - n / 20}, {step.format(n=n)}'epoch': {n / 8:.2f}}}" for n in range(1, 17)
    ]
    run = _run(tmp_path, f"  Total optimization steps = {said}", *rows)
    assert run.state.planned_steps == plan
