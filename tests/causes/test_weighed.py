"""The cause step ranks and weighs as kept: a threshold that moves shows in a drawn run.

After a change that is meant, `python -m tests.causes.weighed` writes the rows anew.
"""

import numpy as np
import pytest

from tests.causes.weighed import Row, rows, told


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.slug}: {row.case}: {row.moves}")
def test_causes_are_ranked_and_weighed_as_kept(row: Row) -> None:
    """In their order, with how sure each is, and how much each sign says."""
    with np.errstate(all="ignore"):
        assert told(row.scene()) == row.causes


def test_each_row_names_a_cause() -> None:
    """A row that says nothing holds nothing."""
    assert all(row.causes.partition(";")[0] for row in rows())
