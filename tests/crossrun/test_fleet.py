"""Runs that break go with where they ran."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.crossrun.fleet import RULE, Limits
from runlens.crossrun.rule import CrossFinding
from runlens.nights import RunRow
from tests.auditing.made import DAY, HOUR, START, found, row

NIGHTS = 7


def ask(rows: list[RunRow], limits: Limits = RULE.limits) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, limits, START + NIGHTS * DAY)


def runs(bad: int, good: int, night: int = 0, rule: str = "nan-loss", **where: Any) -> list[RunRow]:
    """Draw runs of one night in an environment, the first of which are broken."""
    group = where.pop("group", "")
    began = START + night * DAY
    drawn = [
        row(
            f"{night}-{rule}-{group}-{'-'.join(map(str, where.values()))}-{at}",
            night,
            findings=[found(rule, time=began + HOUR)] if at < bad else (),
            environment={name: (value,) for name, value in where.items()},
        )
        for at in range(bad + good)
    ]
    return [replace(one, group=group or one.group) for one in drawn]


def fleet(*others: RunRow) -> list[RunRow]:
    """Draw a week of 30 runs a night on ten nodes, three of which broke, and some more runs."""
    made = [one for night in range(NIGHTS) for node in range(10) for one in
            runs(int(night in {1, 3, 6} and node == 2), 3, night, node=f"node-{node}")]  # fmt: skip
    return [*made, *others]


def test_runs_on_one_node_broke() -> None:
    """In these words, with what they cost."""
    bad = [one for night in range(6) for one in runs(1, int(night == 2), night, node="node-17")]
    (finding,) = ask(fleet(*bad))
    assert finding.title == "6 of 7 runs on node-17 broke; 3 of 213 elsewhere."
    assert finding.group == "node node-17"
    assert finding.severity == "critical"  # as what broke there
    assert len(finding.runs) == 6
    assert finding.gpu_hours == pytest.approx(6 * 6)
    assert "among runs of one recipe and of one day" in finding.why
    assert "Faults: NaN loss 6." in finding.why


def test_what_always_goes_together_is_named_together() -> None:
    """One node, its driver: nothing tells them apart."""
    bad = [one for night in range(6) for one in runs(1, 0, night, node="n17", driver="550")]
    (finding,) = ask(fleet(*bad))
    assert "on n17 broke" in finding.title
    assert "Not to be told apart from it: with driver 550." in finding.why


def test_one_fault_goes_with_a_version_where_many_others_are_about() -> None:
    """Half of all runs diverge; those of one version run out of memory."""
    rows = [
        one
        for night in range(NIGHTS)
        for one in (
            *runs(4, 0, night, "oom-cliff", torch="2.7.0"),
            *runs(2, 2, night, "divergence", torch="2.6.0"),
        )
    ]
    (finding,) = ask(rows)
    assert (
        finding.title
        == "28 of 28 runs with torch 2.7.0 broke (Out of memory); 0 of 28 with others."
    )


def test_the_runs_of_a_cause_are_no_evidence_for_another() -> None:
    """Runs of a bad node have GPUs of their own: they are not blamed beside it."""
    bad = [
        replace(one, environment={"node": ("n17",), "gpu_serial": (f"GPU-{night % 2}",)})
        for night in range(NIGHTS)
        for one in runs(2, 0, night, node="n17")
    ]
    assert [one.group for one in ask(fleet(*bad))] == ["node n17"]


@pytest.mark.parametrize(
    "rows",
    [
        fleet(*runs(2, 0, node="n17")),
        fleet(*(one for night in range(6) for one in runs(2, 0, night, node="n17", group="own"))),
        fleet(*(one for node in range(10) for one in runs(4, 1, 5, node=f"node-{node}")),
              *runs(4, 1, 5, node="n17")),
        fleet(*(one for night in range(6) for one in runs(1, 0, night, "killed", node="n17"))),
        [*fleet(), *runs(9, 0, 6, image="train:2.4")],
        [one for night in range(6) for one in runs(5, 0, night, node="n17")],
    ],
    ids=["two runs", "a job that ran nowhere else", "a night on which all broke", "stopped",
         "an image of one night", "all runs"],
)  # fmt: skip
def test_look_alikes_pass(rows: list[RunRow]) -> None:
    """Nothing tells that the node or the image did it."""
    assert ask(rows) == ()


def test_a_recipe_that_came_with_the_image_is_no_fault_of_the_image() -> None:
    """Runs are compared with those of their own recipe."""
    bad = [
        replace(one, config={**one.config, "learning_rate": 5e-2})
        for night in (4, 5, 6)
        for one in runs(5, 0, night, image="new")
    ]
    others = [one for night in range(NIGHTS) for one in runs(0, 5, night, image="old")]
    well = [one for night in (4, 5, 6) for one in runs(0, 2, night, image="new")]
    assert ask([*others, *well, *bad]) == ()
    same = [replace(one, config=others[0].config) for one in bad]
    assert [one.group for one in ask([*others, *well, *same])] == ["image new"]


def gone_bad(*others: RunRow) -> list[RunRow]:
    """Draw a node that was good for three nights and breaks all runs of three jobs since."""
    jobs = ("a", "b", "c")
    made = [
        one
        for night in range(NIGHTS)
        for job in jobs
        for node in range(5)
        for one in runs(int(night > 2 and node == 1), 1, night, group=job, node=f"n{node}")
    ]
    return [*made, *others]


def test_a_node_that_went_bad_is_told_with_the_day() -> None:
    """The runs before it, and those of the same days elsewhere, are not mixed with it."""
    rows = [one for one in gone_bad() if one.environment["node"] != ("n1",) or one.findings]
    before = [one for night in (0, 1, 2) for one in runs(0, 3, night, group="a", node="n1")]
    (finding,) = ask([*rows, *before])
    assert finding.title == "12 of 12 runs on n1 broke since 2023-11-17; 0 of 48 elsewhere."
    assert ask([*before, *(one for one in rows if not one.findings)]) == ()


def test_a_recipe_that_breaks_everywhere_is_not_counted_for_a_node() -> None:
    """Its owner is not told of a node when the fault is in a setting."""
    recipe = {"learning_rate": 5e-2}
    hopeless = [
        replace(one, config={**one.config, **recipe}, user="anna")
        for night in range(2, NIGHTS)
        for node in range(5)
        for one in runs(1, 0, night, group="anna", node=f"n{node}")
    ]
    (with_it,) = ask(gone_bad(*hopeless))
    (without,) = ask(gone_bad())
    assert with_it.title == without.title
    assert not {one.key for one in hopeless} & set(with_it.runs)


def test_a_node_is_one_finding_whichever_fault_goes_with_it_best() -> None:
    """Else it were fixed and new on one night."""
    first = gone_bad()
    mixed = [
        replace(one, findings=(found("divergence", time=one.started),))
        if one.findings and at % 3 == 0
        else one
        for at, one in enumerate(first)
    ]
    assert {(one.group, one.about) for one in (*ask(first), *ask(mixed))} == {("node n1", "broke")}
    (finding,) = ask(mixed)
    assert "nan-loss" in finding.worst  # the usual fault is quoted, whatever the others cost


def test_it_is_over_when_chance_does_not_explain_the_runs_that_are_well() -> None:
    """The node was repaired; and what is older than a month does not count."""
    bad = [one for night in range(5) for one in runs(2, 0, night, node="n17")]
    assert ask(fleet(*bad))
    assert ask(fleet(*bad, *runs(0, 4, 6, node="n17"))) == ()
    assert ask(fleet(*bad), Limits(days=1)) == ()
