"""Published deviations between seeds, and what they add to what a curve shows."""

import numpy as np
import pytest

from runlens.comparing.ends import End
from runlens.comparing.spread import prior
from runlens.knowledge.seed_deviations import LEAST_DOUBT, ROWS, Expected, expected

GLIDES = End(2.0, 0.0, 0.01, 0.0, 1.0, 2.0, 20, 1, 2.0)


def test_every_row_says_where_it_is_from() -> None:
    """Deviations are shares, of three seeds or more."""
    for row in ROWS:
        assert row.source
        assert row.seeds >= 3
        assert all(0 < deviation < 0.5 for deviation in row.deviations)


@pytest.mark.parametrize(
    ("task", "metric", "least", "most"),
    [
        ("pretrain", "eval_loss", 0.0004, 0.002),
        ("sft", "eval_loss:code", 0.0004, 0.002),
        ("classification", "eval_accuracy", 0.005, 0.02),
        ("rl", "reward", 0.05, 0.2),
        ("regression", "eval_loss", 0.005, 0.02),
    ],
)
def test_what_is_expected_lies_among_the_rows(
    task: str, metric: str, least: float, most: float
) -> None:
    """The mean of the logarithms; never surer than a factor of two."""
    found = expected(task, metric)  # type: ignore[arg-type]
    assert found is not None
    assert least < found.deviation < most
    assert found.doubt >= LEAST_DOUBT
    assert found.of_level == (metric != "eval_accuracy")


def test_nothing_is_expected_where_nothing_was_published() -> None:
    """Of unknown tasks, and of metrics of other kinds."""
    assert expected("other", "eval_loss") is None
    assert expected(None, "eval_loss") is None
    assert expected("pretrain", "grad_norm") is None
    assert expected("grpo", "reward") is None


def test_what_was_published_is_weighed_by_how_much_is_known() -> None:
    """Equal doubts: the middle of both logarithms, and the doubt falls by the root of two."""
    alone = prior((GLIDES, GLIDES))
    beside = prior((GLIDES, GLIDES), Expected(0.001, alone.doubt, True))
    assert beside.deviation == pytest.approx((alone.deviation * 0.002) ** 0.5)
    assert beside.doubt == pytest.approx(alone.doubt / 2**0.5)
    absolute = prior((GLIDES, GLIDES), Expected(0.001, alone.doubt, False))
    assert absolute.deviation == pytest.approx((alone.deviation * 0.001) ** 0.5)
    chance = GLIDES._replace(turning=0.6)
    moved = np.log([beside.deviation / alone.deviation,
                    prior((chance, chance), Expected(0.001, 1.4, True)).deviation
                    / prior((chance, chance)).deviation])  # fmt: skip
    assert abs(moved[1]) < abs(moved[0])  # a curve that shows its own chance is believed first


def test_a_return_of_nearly_nothing_is_no_small_one() -> None:
    """From -50 to 1 a tenth is 5; a loss from 10 to 2 is one of 2."""
    published = expected("rl", "reward")
    assert published is not None
    assert published.of_span
    assert not Expected(0.1, 1.0, True).of_span
    nearly = GLIDES._replace(value=1.0, span=50.0)
    alone = prior((nearly, nearly))
    beside = prior((nearly, nearly), published._replace(deviation=0.1, doubt=alone.doubt))
    assert beside.deviation == pytest.approx((alone.deviation * 5.0) ** 0.5)
    by_level = prior((nearly, nearly), Expected(0.1, alone.doubt, True))
    assert by_level.deviation == pytest.approx((alone.deviation * 0.1) ** 0.5)
    large = GLIDES._replace(value=100.0)
    most = prior((large, large), published._replace(deviation=0.1, doubt=alone.doubt))
    assert most.deviation == pytest.approx((prior((large, large)).deviation * 10.0) ** 0.5)
