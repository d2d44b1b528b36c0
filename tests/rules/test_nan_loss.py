"""NaN loss: what the drawn cases cannot say."""

import math
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import diagnose, examine
from runlens.history import History, columns
from runlens.rules.numerics.nan_loss import RULE
from runlens.rules.rule import drawn
from runlens.run import Event, Run
from runlens.signals import Signals


def said(run: Run) -> Outcome:
    """Ask the rule."""
    return examine(RULE, run, Signals(run))


def a_log_line(text: str, step: int | None) -> Event:
    """Make the event that a console reader makes of a line about a NaN loss."""
    return Event("message", step, text=text, where="train.log:7", data={"row": 85, "class": "num"})


def test_log_line_alone_is_enough() -> None:
    """A console log without numbers still tells that the loss was NaN, and where it says so."""
    run = Run("r", "r", History({}), events=(a_log_line("loss: nan", 40),))
    finding = said(run).findings[0]
    assert finding.severity == "critical"
    assert finding.onset.step == 40
    assert finding.chart.log == (("train.log:7", "loss: nan", True),)


def test_log_line_about_the_evaluation_is_not_this_fault() -> None:
    """`eval_loss: nan` is nan-eval."""
    run = drawn("e", train_loss="0:2 500:1", events=(a_log_line("eval_loss: nan", 900),)).run()
    assert said(run).status == "passed"


def test_log_line_after_the_last_number_counts() -> None:
    """Numbers that end before the line do not contradict it."""
    run = drawn("e", train_loss="0:2 500:1", events=(a_log_line("loss: nan", 510),)).run()
    finding = said(run).findings[0]
    assert finding.onset.step == 510
    assert "1." in finding.title


def test_resume_from_before_the_nan_is_a_warning() -> None:
    """A later launch that went on from before has clean weights: nothing but time was lost."""
    step = np.concatenate([np.arange(0, 500, 10), np.arange(300, 900, 10)])
    value = np.full(len(step), 1.5)
    value[40:50] = math.nan
    segment = np.repeat([0, 1], [50, 60])
    run = Run("r", "r", History({"train_loss": columns(step, value, segment=segment)}))
    finding = said(run).findings[0]
    assert finding.severity == "warning"
    assert finding.onset.step == 400
    assert finding.end is not None
    assert finding.end.step == 490


def test_early_single_points_do_not_date_the_loss_for_good() -> None:
    """The onset is where the run was lost; the single point before is told."""
    case = drawn("s", train_loss="0:2 100:nan 110:2 800:1.2 810:nan 900:nan")
    finding = said(case.run()).findings[0]
    assert finding.onset.step == 810
    assert "the first at step 100" in finding.seen


def test_critic_stands_in_where_no_training_loss_is_logged() -> None:
    """RL loops log the loss of the value function only."""
    finding = said(drawn("v", task="rl", value_loss="0:5 200:nan 500:nan").run()).findings[0]
    assert finding.metric == "value_loss"
    assert finding.onset.step == 200


def test_no_loss_at_all_is_unmet() -> None:
    """The reason names what is missing."""
    outcome = said(drawn("n", learning_rate="0:1e-3 100:0").run())
    assert outcome.status == "unmet"
    assert "loss" in outcome.reason


def test_evidence_shows_what_stood_before() -> None:
    """The last finite losses and norms, the learning rate, and the waste are on the page."""
    case = drawn(
        "w",
        noise=0.0,
        train_loss="0:2 490:1 500:nan 1000:nan",
        grad_norm="0:1 490:1 500:nan 1000:nan",
        learning_rate="0:0 100:1e-3 1000:0",
        seconds_per_step=2.0,
    )
    rows = {row.what: str(row.value) for row in said(case.run()).findings[0].evidence}
    assert rows["Last finite losses"].endswith("1.000")
    assert rows["Gradient norms before the onset"].endswith("1.000")
    assert "after the peak" in rows["Schedule at the onset"]
    assert rows["Run after the onset"] == "500 of 1,000 steps, 17 min"


def test_a_normaliser_that_becomes_nan_is_a_matter_of_observations() -> None:
    """No learning rate and no precision makes an input NaN."""
    run = drawn(
        "normaliser",
        task="rl",
        reward="0:1 900:9",
        learning_rate="0:3e-4 900:3e-4",
        obs_rms="0:1 400:1 410:nan 900:nan",
    ).run()
    told = diagnose(run)
    assert told.findings[0].rule == "nan-loss"
    assert told.causes[0].what == "An observation that is not finite"
    assert not told.do_first.changes
    assert any("observations" in what for what, _ in told.do_first.steps)
    assert "learning rate" not in str(told.do_first.steps).lower()


def test_a_series_beside_the_loss_is_named_in_the_story() -> None:
    """Once a run without a loss was told that its loss became NaN."""
    run = drawn(
        "obs",
        task="rl",
        obs_rms_mean="0:0.5 500:0.4 510:nan 2000:nan",
        reward="0:10 300:100 500:100 600:5 2000:5",
    ).run()
    told = diagnose(run)
    stories = [domino.what for domino in told.story]
    assert "obs rms mean became NaN" in stories
    assert "the loss becomes NaN" not in stories
    assert all("Skip them" not in what for what, _ in told.do_first.steps)


def skipped(step: int, count: int, text: str = "NaN loss detected! Skipping batch.") -> Event:
    """Make the event that a console reader makes of a batch that was left out."""
    data = {"row": 125, "class": "num", "count": count}
    return Event("message", step, text=text, where="train.log:7", data=data)


def test_batches_that_were_skipped_are_a_warning_where_they_are_many() -> None:
    """The weights are whole: of few it is told in passing."""
    often = drawn("e", train_loss="0:2 500:1", events=(skipped(40, 30), skipped(460, 30))).run()
    finding = said(often).findings[0]
    assert finding.severity == "warning"
    assert (finding.onset.step, finding.end and finding.end.step) == (40, 460)
    assert "30 batches" in finding.title
    once = drawn("e", train_loss="0:2 500:1", events=(skipped(40, 1),)).run()
    finding = said(once).findings[0]
    assert finding.severity == "info"
    assert finding.title.startswith("A batch had a NaN loss")


def test_a_log_of_skipped_batches_alone_says_no_step() -> None:
    """Nothing is known of where they were."""
    event = skipped(0, 3)._replace(step=None)
    run = Run("r", "r", History({}), events=(event,))
    finding = said(run).findings[0]
    assert finding.onset.step is None
    assert finding.end is None


NAN = math.nan
GOOD_ROWS = (1.62, 1.63, 1.61, 1.62)


@pytest.mark.parametrize(
    ("metrics", "severity", "told"),
    [
        (
            {"column 2": (*GOOD_ROWS, 1.6, NAN, NAN), "column 3": (*GOOD_ROWS, NAN, NAN, NAN)},
            "critical",
            "So did column 2 at step 6",
        ),
        ({"column 2": (*GOOD_ROWS, math.inf, math.inf)}, "warning", "became infinite at step 5"),
        ({"column 2": (*GOOD_ROWS, NAN)}, "", ""),  # one row
        ({"column 2": (1.6, NAN, NAN, NAN)}, "", ""),  # one value
        ({"column 2": (1.6, NAN, 1.5, NAN, 1.4, NAN, NAN)}, "", ""),  # filled now and then
        ({"column 2": (*GOOD_ROWS, NAN, NAN, 1.6)}, "", ""),  # comes back
        ({"column 2": (NAN,) * 5}, "", ""),  # never computed
        ({"column 2": GOOD_ROWS}, "", ""),
        ({"precision of cats": (*GOOD_ROWS, NAN, NAN)}, "", ""),  # has a name, and no value
        ({"train_loss": (*GOOD_ROWS, 1.6, 1.5), "column 2": (*GOOD_ROWS, NAN, NAN)}, "", ""),
    ],
)
def test_columns_without_a_name(metrics: Any, severity: str, told: str) -> None:
    """Where no loss is known, a column that is lost for good is told whatever it is."""
    series = {
        name: columns(np.arange(1, len(row) + 1), np.array(row)) for name, row in metrics.items()
    }
    findings = said(Run("c", "c", History(series), task="other")).findings
    assert (findings[0].severity if findings else "") == severity
    assert not told or told in findings[0].title
