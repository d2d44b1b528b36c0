"""Rows that are wider than what is looked at first, keys that stand twice, one endless line."""

import json
import resource
from pathlib import Path

import pytest

from runlens import diagnose, read, read_all
from runlens.errors import NothingReadable
from runlens.sources import reading
from runlens.sources.files import SNIFFED, WIDEST

WIDE = 9_000  # metrics a row: some 200 kB
ROWS = [
    {"step": n, "loss": 3 - n / 20} | {f"layer.{k}.weight_norm": 1.5 + k for k in range(WIDE)}
    for n in range(1, 5)
]


def memory() -> float:
    """Return the most memory that this process ever held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_wide_json_lines_in_a_folder_are_a_log(tmp_path: Path) -> None:
    """Their first row is longer than what is looked at of others."""
    lines = [json.dumps(row) for row in ROWS]
    assert len(lines[0]) > SNIFFED
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines))
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [row["loss"] for row in ROWS]
    assert len(run.history.metrics) > WIDE


def test_more_names_than_are_looked_at_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state of 200,000 keys a row took a minute and more; what matters has a short name."""
    monkeypatch.setattr(reading, "MOST_NAMES", 100)
    (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": ROWS}, sort_keys=True))
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [row["loss"] for row in ROWS]
    assert len(run.history.metrics) == 100
    told = [problem for problem in run.problems if "of the shortest names" in problem.text]
    assert [problem.lost for problem in told] == ["8,901 metrics"]


def test_a_wide_table_in_a_folder_is_a_log(tmp_path: Path) -> None:
    """Its header alone is longer than that."""
    lines = [",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]
    (tmp_path / "metrics.csv").write_text("\n".join(lines))
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [row["loss"] for row in ROWS]


def test_a_table_of_one_endless_line_is_told_and_takes_no_memory(tmp_path: Path) -> None:
    """It took ten times its size."""
    place = tmp_path / "metrics.csv"
    place.write_bytes(b"step,loss," * 4_000_000)
    before = memory()
    with pytest.raises(NothingReadable, match="csv begins with a line of more than 4 MiB"):
        read_all(place)
    assert memory() - before < 150
    place.write_bytes(b"step,loss\n1,2\n2,1\n" + b"3,1\n" * (WIDEST // 4))
    assert len(read(place).curve("train_loss"))


@pytest.mark.parametrize("longest", ["first", "last"])
def test_a_log_history_that_stands_twice_is_told(longest: str, tmp_path: Path) -> None:
    """Of such keys a parser keeps the last, which may be the empty one."""
    rows = json.dumps([{"step": n, "loss": 3 - n / 9} for n in range(1, 30)])
    logs = [rows, "[]"] if longest == "first" else ["[]", rows]
    (tmp_path / "trainer_state.json").write_text(
        '{{"log_history": {}, "log_history": {}, "max_steps": 29}}'.format(*logs)
    )
    run = read(tmp_path)
    assert len(run.curve("train_loss")) == 29
    assert [one.text for one in run.problems] == [
        "has log_history 2 times; the longest, 29 rows, was read"
    ]


def test_the_name_of_the_log_may_stand_elsewhere(tmp_path: Path) -> None:
    """As the key of an inner object, or as a text."""
    rows = [{"step": n, "loss": 3 - n / 9} for n in range(1, 30)]
    state = {"log_history": rows, "note": "log_history", "inner": {"log_history": []}}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    run = read(tmp_path)
    assert len(run.curve("train_loss")) == 29
    assert run.problems == ()


def test_an_endless_patience_is_no_setting(tmp_path: Path) -> None:
    """Infinity is a number in Python's JSON."""
    callback = {"args": {"early_stopping_patience": float("inf")}, "attributes": {}}
    state = {
        "log_history": [{"step": n, "loss": 3 - n / 9} for n in range(1, 30)],
        "stateful_callbacks": {"EarlyStoppingCallback": callback},
    }
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    assert read(tmp_path).problems == ()
    assert diagnose(tmp_path).problems == ()
