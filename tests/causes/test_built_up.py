"""A spike that builds up over several points: steps that are too large, and no odd batch."""

import pytest

from runlens.engine import diagnose
from runlens.rules.rule import drawn

BEFORE, AFTER = "0:600 500:400", "600:420 900:380"
BUILT = "510:420 520:540 530:690 540:960 550:2830 560:5450 570:2700 580:1400 590:700"
AT_ONCE = "510:400 520:402 530:398 540:401 550:399 560:5450 570:400 580:402 590:399"
BY_TWO = "510:400 520:402 530:398 540:401 550:2700 560:5450 570:400 580:402 590:399"


@pytest.mark.parametrize(("course", "kind"), [(BUILT, "rate-too-high"), (AT_ONCE, "bad-batch")])
def test_what_builds_up_over_several_points_is_no_odd_batch(course: str, kind: str) -> None:
    """One batch, or two, lift the loss at once."""
    run = drawn(
        "spike", noise=0.002, task="other", train_loss=f"{BEFORE} {course} {AFTER}"
    ).run()  # fmt: skip
    causes = diagnose(run).causes
    assert causes[0].kind == kind
    assert causes[0].rank in {"likely", "most likely"}
    likely = {one.kind for one in causes if one.rank in {"likely", "most likely"}}
    assert len(likely) == 1


def test_two_points_in_a_row_build_nothing_up() -> None:
    """Two neighbouring batches may be odd."""
    run = drawn("spike", noise=0.002, task="other", train_loss=f"{BEFORE} {BY_TWO} {AFTER}").run()
    assert all(
        "in a row" not in cause.evidence_for and cause.kind != "rate-too-high"
        for cause in diagnose(run).causes
        if cause.rank in {"likely", "most likely"}
    )
