"""Tables whose first line names fewer columns than there are."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from tests.sources.test_final_results import values_of

SCORES = [3359.83, 6138.41, 8713.24, 10360.1, 11691.7, 12917.9, 13655.2, 14805.7]


def table(folder: Path, text: str, name: str = "scores.csv") -> dict[str, list[float]]:
    """Return what is read of a table that is alone in its folder; nothing where it is refused."""
    (folder / name).write_text(text)
    try:
        return values_of(read_all(folder))
    except NothingReadable:
        return {}


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_names_are_those_of_the_first_columns(mark: str, tmp_path: Path) -> None:
    """The last has none: a program came to log it later."""
    below = [f"{n * 1000},{one},{96 * n * n + 7}" for n, one in enumerate(SCORES)]
    text = "\n".join(["episode,mean", *below, ""]).replace(",", mark)
    found = table(tmp_path, text)
    assert found == {"reward": SCORES, "column 3": [float(96 * n * n + 7) for n in range(8)]}
    assert any("the first columns alone" in one.text for one in read(tmp_path).problems)


def test_what_numbers_the_rows_has_no_name(tmp_path: Path) -> None:
    """As R, and a frame without the name of its index, write it: the names begin behind it."""
    rows = (f"{n},{1000 * n},{one}\n" for n, one in enumerate(SCORES))
    found = table(tmp_path, f"episode,mean\n{''.join(rows)}")
    assert found["reward"] == SCORES
    assert not any(name.startswith("column") for name in found)


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("episode,mean", "{n},{one},1,2,3"),  # it names less than half of them
        ("episode,mean", "{n},{one},"),  # nothing stands in the last
        ("episode,mean", "{n},{one},good"),
        ("episode,mean,", "{n},{one},5,6"),
    ],
)
def test_other_rows_that_are_longer_keep_their_names(head: str, row: str, tmp_path: Path) -> None:
    """What is behind the names is no column of numbers."""
    rows = "".join(row.format(n=n, one=one) + "\n" for n, one in enumerate(SCORES))
    found = table(tmp_path, f"{head}\n{rows}")
    assert found == {"reward": SCORES}


def test_a_mean_of_no_agent_is_none(tmp_path: Path) -> None:
    """Nothing says that a training is counted."""
    rows = "".join(f"{n * 7 % 5},{one}\n" for n, one in enumerate(SCORES))
    assert table(tmp_path, f"day,mean\n{rows}") == {}


def stamped(*counts: int, stamp: str = "07-15-2023_18-{n:02d}") -> str:
    """Return rows of a time, a counter and what was measured."""
    rows = enumerate(counts)
    return "".join(f"{stamp.format(n=n)},{at},{700 + n * 37 % 11}.5,741.0\n" for n, at in rows)


@pytest.mark.parametrize("stamp", ["07-15-2023_18-{n:02d}", "2023-07-15 18:{n:02d}:07"])
def test_rows_behind_the_time_at_which_they_were_written(stamp: str, tmp_path: Path) -> None:
    """A counter that begins anew tells launches; what the others are nobody says."""
    found = table(tmp_path, stamped(0, *range(6), *range(5), stamp=stamp), "logs.csv")
    assert len(found["column 3"]) == len(found["column 4"]) == 12
    assert table(tmp_path, stamped(*range(9), stamp=stamp), "logs.csv")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (stamped(5, 3, 9, 2, 8, 1, 7), "logs.csv"),  # nothing counts on
        (stamped(*range(7)), "orders.csv"),
        (stamped(*range(7), stamp="order {n}"), "logs.csv"),
    ],
)
def test_other_rows_behind_a_text_are_refused(text: str, name: str, tmp_path: Path) -> None:
    """As they were."""
    assert table(tmp_path, text, name) == {}
