"""An error as the last word behind the rows of a plan that was not done is the end of the run."""

from pathlib import Path

import pytest

from runlens import diagnose, read_all

ERROR = "2024-02-03 10:00:01,123 - ERROR - Training failed: index 7 is out of range"


@pytest.mark.parametrize(
    ("done", "last", "crashed"),
    [
        (7, ERROR, True),
        (7, "Error: no samples in data/val", True),
        (29, ERROR, False),  # all but done: it may be of what came after
        (7, "2024-02-03 10:00:01,123 - ERROR - bad sample 3, skipping it", False),
        (7, "Error: 0.31", False),  # measured
    ],
)
def test_an_error_that_ends_a_log_before_its_plan_is_a_crash(
    tmp_path: Path, done: int, last: str, *, crashed: bool
) -> None:
    """Of a plan that was done it may be of an export, or be printed and forgotten."""
    rows = [f"Epoch {at}/30 - loss: {2 / at:.4f}" for at in range(1, done + 1)]
    log = tmp_path / "train.log"
    log.write_text("\n".join(["Loading the data", *rows, last]) + "\n")
    found = {one.rule for one in diagnose(log).findings}
    assert bool(found & {"crashed", "known-error"}) == crashed
    assert (diagnose(log).state.kind == "crashed") == crashed


def test_where_no_plan_is_known_an_error_may_have_been_printed_and_done_with(
    tmp_path: Path,
) -> None:
    """Nothing says that more was to come."""
    rows = [f"step {at} loss {2 / at:.4f}" for at in range(1, 20)]
    log = tmp_path / "train.log"
    log.write_text("\n".join(["Loading the data", *rows, ERROR]) + "\n")
    assert diagnose(log).state.kind != "crashed"


@pytest.mark.parametrize(("done", "crashed"), [(12, False), (5, True)])
def test_an_alert_between_two_trainings_ends_none_that_was_done(
    tmp_path: Path, done: int, *, crashed: bool
) -> None:
    """What stands behind the rows of the first may be of the second, which was begun."""
    first, second = (
        [f"  step {at:2}/12  reward={at / n:+.3f}" for at in range(1, n + 1)] for n in (done, 12)
    )
    alert = "ALERT [CRITICAL]: pump 4 is out of its range, all valves are closed"
    log = tmp_path / "episodes.log"
    log.write_text("\n".join(["SCENARIO: one", *first, "SCENARIO: two", alert, *second]) + "\n")
    one, two = read_all(log)
    assert (one.state.kind == "crashed") == crashed
    assert two.state.kind != "crashed"
