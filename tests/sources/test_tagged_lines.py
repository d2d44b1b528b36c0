"""Lines behind a bracket that says of which job of a script they are."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.sources.console.tagged import of_tags, with_tags_left_out


def _jobs(*settings: int, last: int = 10) -> list[str]:
    ends = [10] * (len(settings) - 1) + [last]
    return [
        f"[mf k={k}] {epoch:2d}/10 rmse_tr={0.7 - 0.03 * epoch:.3f} rmse_te={0.7 - 0.02 * epoch}"
        for k, end in zip(settings, ends, strict=True)
        for epoch in range(1, end + 1)
    ]


def test_jobs_that_one_log_holds_are_trainings_of_their_own(tmp_path: Path) -> None:
    """Each has its rows, its plan and its setting; one may have been stopped."""
    log = tmp_path / "sweep.log"
    log.write_text("\n".join(["== start", *_jobs(4, 8, 16, last=4), ""]))
    runs = read_all(log)
    assert [run.config["k"].value for run in runs] == [4, 8, 16]
    assert [run.last_step for run in runs] == [10, 10, 4]
    assert all(set(run.history.metrics) == {"train_loss", "eval_loss"} for run in runs)


@pytest.mark.parametrize(
    "lines",
    [
        # two jobs at once: their rows stand by turns
        [line for pair in zip(_jobs(4), _jobs(8), strict=True) for line in pair],
        # a number of the row, which changes
        [f"[mf t={n}] {n}/10 loss=0.{n}" for n in range(1, 9)],
        # what counts, what is measured, and data
        [f"[epoch=3] {n}/10 loss=0.{n}" for n in range(1, 9)],
        [f"[mf loss=3] {n}/10 acc=0.{n}" for n in range(1, 9)],
        [f"[val k=3] {n}/10 loss=0.{n}" for n in range(1, 9)],
        # no words
        [f"[k=3 !] {n}/10 loss=0.{n}" for n in range(1, 9)],
        # too few to be a job
        ["[mf k=4] 1/2 loss=0.5", "[mf k=4] 2/2 loss=0.4"],
    ],
)
def test_other_brackets_are_left_where_they_stand(lines: list[str]) -> None:
    """What a row counts or measures stands in brackets as well."""
    others = list(enumerate(lines))
    assert with_tags_left_out(others) == others


def test_lines_of_several_jobs_have_no_setting_of_their_own() -> None:
    """What one job was called says nothing of another."""
    assert of_tags(_jobs(4, 8)) == {}
    assert of_tags(_jobs(4)) == {"k": 4}
