"""`runlens similar`: its library is small, its answers are those that it says they are."""

import json
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from runlens import read
from runlens.history import Columns, History
from runlens.run import Run
from runlens.similar import like
from runlens.similar.features import CURVES, WIDTH, features, groups
from runlens.similar.library import FILE, HEALTHY, NEAREST, library, near, scored
from tests.cli.places import FIXTURES, lens

MOST_BYTES = 2_000_000


def scaled(run: Run, factor: float) -> Run:
    """Return the run with every value of its losses multiplied, and its steps ten times as far."""
    history = run.history
    rows = Columns(*history.joined)
    rows = rows._replace(step=rows.step * 10, value=rows.value * factor)
    return replace(run, history=History.restored(history.lengths, rows, history.sources))


def test_what_it_says_of_itself_is_measured_on_what_is_shipped() -> None:
    """The right fault among the first three for 70 % at least, its own repository left out."""
    measured, known, table = library()
    assert scored(known, table) == measured
    assert measured.faulty_right >= 0.70 * measured.faulty
    assert measured.faulty >= 40
    assert measured.healthy_right >= 0.9 * measured.healthy


def test_the_library_holds_features_and_labels_alone() -> None:
    """Within its budget; whole thousandths, none of them a value that was logged."""
    _, known, table = library()
    assert len(resources.files("runlens.similar").joinpath(FILE).read_bytes()) <= MOST_BYTES
    finite = table[np.isfinite(table)]
    assert np.abs(finite).max() <= 4.0
    assert table.shape == (len(known), groups()[-1].stop)
    assert len({one.name for one in known}) > 300


def test_a_run_of_a_group_is_no_evidence_for_another() -> None:
    """As it is measured."""
    _, known, table = library()
    own = known[0].group
    assert all(one.group != own for one, _ in near(table[0], known, table, own))
    assert near(table[0], known, table)[0].distance == 0.0


def test_features_do_not_depend_on_scale() -> None:
    """A loss that is summed, and steps of another size, are the same run."""
    run = read(FIXTURES / "hockey-stick")
    one, two = features(run), features(scaled(run, 37.0))
    np.testing.assert_allclose(one, two, atol=0.06)


def test_a_curve_that_is_not_there_is_unknown_but_for_that() -> None:
    """Not zero: nobody knows what it would have done."""
    found = features(read(FIXTURES / "hockey-stick"))
    reward = slice(CURVES.index("reward") * WIDTH, (CURVES.index("reward") + 1) * WIDTH)
    assert found[reward][0] == 0.0
    assert np.isnan(found[reward][1:]).all()


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("hockey-stick", "hockey-stick"),
        ("entropy-collapse", "entropy-collapse"),
        ("zero-reward-std", "zero-reward-std"),
        ("healthy-pretrain", HEALTHY),
    ],
)
def test_a_plain_case_is_known(fixture: str, expected: str) -> None:
    """Of the first three answers one is right; fixtures are runs of the library."""
    answer = like(read(FIXTURES / fixture))
    assert expected in [slug for slug, _ in answer.were[:3]]
    assert len(answer.nearest) == NEAREST


def test_the_command_says_what_they_were_and_how_often_it_is_right() -> None:
    """In text and as JSON."""
    shown = lens("similar", FIXTURES / "hockey-stick")
    assert shown.exit_code == 0
    measured = library()[0]
    assert shown.stdout.splitlines()[-1] == str(measured)
    assert "hockey-stick: " in shown.stdout
    found = json.loads(lens("similar", FIXTURES / "hockey-stick", "--format", "json").stdout)
    assert found["measured"]["faulty"] == measured.faulty
    assert len(found["nearest"]) == NEAREST


def test_what_cannot_be_read_is_code_3(tmp_path: object) -> None:
    """As everywhere."""
    assert lens("similar", str(tmp_path)).exit_code == 3
