"""What changed between the last good and the first bad run of a job."""

from typing import Any

import pytest

from runlens.crossrun.changes import Since, since
from runlens.nights import RunRow
from tests.auditing.made import found, row


def runs(*drawn: tuple[bool, dict[str, Any]], **where: str) -> list[RunRow]:
    """Draw a run a night: whether it is well, and its settings."""
    return [
        row(
            f"r{night}",
            night,
            config=config,
            findings=[] if well else [found()],
            environment={name: (value,) for name, value in where.items()},
        )
        for night, (well, config) in enumerate(drawn)
    ]


def ask(rows: list[RunRow]) -> Since | None:
    """Ask of the broken ones."""
    return since(rows, {one.key for one in rows if one.findings})


OLD, NEW = {"learning_rate": 2e-4}, {"learning_rate": 5e-4}


def test_a_setting_that_changed_with_the_first_bad_run() -> None:
    """With both values, and the run that was well."""
    known = ask(runs((True, OLD), (True, OLD), (False, NEW), (False, NEW)))
    assert known is not None
    assert known.good == "runs/r1"
    assert [str(one) for one in known.changes] == ["learning_rate 2e-4 -> 5e-4"]


def test_where_a_run_ran_may_have_changed() -> None:
    """Image, commit, library; the node is another every night."""
    where = {"image": "a", "git_commit": "f" * 40, "torch": "2.6", "node": "n1"}
    before = runs((True, OLD), (True, OLD), **where)
    there = {"image": ("b",), "git_commit": ("e" * 40,), "torch": ("2.6",), "node": ("n2",)}
    after = [row("bad", 3, findings=[found()], config=OLD, environment=there)]
    known = ask([*before, *after])
    assert known is not None
    assert [str(one) for one in known.changes] == [
        "git commit ffffffffff -> eeeeeeeeee",
        "image a -> b",
    ]


@pytest.mark.parametrize(
    "drawn",
    [
        [(True, OLD), (True, OLD), (False, OLD)],
        [(True, OLD), (True, OLD), (False, NEW), (True, NEW)],
        [(True, OLD), (True, OLD), (False, NEW), (False, OLD)],
        [(True, {"learning_rate": 1e-4}), (True, OLD), (False, NEW)],
        [(True, OLD | {"seed": 1}), (True, OLD | {"seed": 1}), (False, OLD | {"seed": 2})],
    ],
    ids=["nothing changed", "good with it", "bad without it", "a sweep", "a seed"],
)
def test_look_alikes_are_no_suspects(drawn: list[tuple[bool, dict[str, Any]]]) -> None:
    """What good runs have too, or change from run to run."""
    known = ask(runs(*drawn))
    assert known is not None
    assert known.changes == ()


def test_without_two_good_runs_before_nothing_is_said() -> None:
    """Of one, nothing tells what is usual."""
    assert ask(runs((True, OLD), (False, NEW))) is None
    assert ask(runs((True, OLD), (True, OLD))) is None
