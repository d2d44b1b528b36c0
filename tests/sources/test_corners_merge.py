"""Corners of merging that no other test reaches."""

import json
from pathlib import Path

from runlens import read


def state(folder: Path, rows: list[dict[str, float]]) -> Path:
    """Write a trainer state of these rows."""
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": rows}))
    return folder


def test_two_names_of_one_metric_with_other_values_are_both_kept(tmp_path: Path) -> None:
    """TRL's two lengths of completions mean one metric; a loop of one's own logs both apart."""
    rows = [
        {
            "step": step,
            "loss": 1 / step,
            "completion_length": 100.0 + step,
            "completions/mean_length": 50.0 + step,
        }
        for step in range(1, 6)
    ]
    run = read(state(tmp_path, rows))
    lengths = {tuple(run.curve(name).value.tolist()) for name in run.history.metrics}
    assert (101, 102, 103, 104, 105) in lengths
    assert (51, 52, 53, 54, 55) in lengths


def test_a_longer_series_takes_the_name_and_the_other_keeps_its_own(tmp_path: Path) -> None:
    """Whichever was logged first."""
    rows = [{"step": step, "loss": 1 / step, "completions/mean_length": 7.0} for step in (1, 2)]
    rows[0]["completion_length"] = 9.0
    short_last = read(state(tmp_path, rows))
    rows[0] = {"step": 1, "completion_length": 9.0, **rows[0]}
    for run in (short_last, read(state(tmp_path, rows))):
        assert run.curve("len_mean").value.tolist() == [7.0, 7.0]
        assert run.curve("completion_length").value.tolist() == [9.0]


def test_the_same_numbers_under_two_names_are_one_metric(tmp_path: Path) -> None:
    """As TRL logs them for a while: nothing is counted twice."""
    rows = [
        {"step": s, "loss": 1 / s, "completion_length": 3.0 + s, "completions/mean_length": 3.0 + s}
        for s in range(1, 6)
    ]
    assert set(read(state(tmp_path, rows)).history.metrics) == {"train_loss", "len_mean"}
