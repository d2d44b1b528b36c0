"""Loss scale collapse: what the drawn cases cannot say."""

import numpy as np

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.numerics.loss_scale_collapse import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Event, Run
from runlens.signals import Signals

LOSS = "0:2.2 300:1.3 900:0.9"


def said(case: Case) -> Outcome:
    """Ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def a_message(row: int, step: int, *, count: int = 1, last: bool = False) -> Event:
    """Make the event that a console reader makes of a line about the loss scale."""
    return Event("message", step, data={"row": row, "class": "num", "count": count, "last": last})


def test_minimum_as_the_last_word_is_critical() -> None:
    """The run ended by it."""
    event = a_message(43, 400, last=True)
    finding = said(drawn("m", train_loss=LOSS, events=(event,))).findings[0]
    assert finding.severity == "critical"
    assert finding.onset.step == 400


def test_a_doubling_at_the_bottom_is_no_beginning() -> None:
    """The scale fell before."""
    scale = np.array([64.0, 8, 4, 4, 0.1, 0.1, 0.1, 0.1, 0.2])
    step = np.arange(400, 1300, 100)
    series = {"loss_scale": columns(step, scale), "train_loss": columns(step, scale / 10 + 1)}
    run = Run("r", "r", History(series))
    (finding,) = examine(RULE, run, Signals(run)).findings
    assert finding.onset.step == 800
    assert "fell from 4 to 0.2" in f"{finding.title} {finding.seen}".replace("4.000", "4")


def test_repeated_message_counts_as_often_as_it_was_said() -> None:
    """Readers may fold equal lines into one event with a count."""
    folded = drawn("f", train_loss=LOSS, events=(a_message(44, 300, count=60),))
    assert said(folded).findings[0].onset.step == 300
    assert said(drawn("o", train_loss=LOSS, events=(a_message(44, 300),))).status == "passed"


def test_few_records_of_a_scale_at_its_floor_are_enough() -> None:
    """A log cut in the middle still shows that the scale ended at 1."""
    scale = columns([1, 2498, 2499, 2500], [32768.0, 1.0, 1.0, 1.0])
    run = Run("r", "r", History({"loss_scale": scale}))
    finding = examine(RULE, run, Signals(run)).findings[0]
    assert finding.onset.step == 2498
    assert "32,768 to 1" in finding.title


def test_bf16_passes_and_the_unknown_is_unmet() -> None:
    """Without fp16 there is no loss scale; where nothing is known nobody can tell."""
    assert said(drawn("b", config={"bf16": True}, train_loss=LOSS)).status == "passed"
    assert said(drawn("u", train_loss=LOSS)).status == "unmet"


def test_model_trained_in_bf16_is_the_first_cause() -> None:
    """Its activations leave the range of fp16."""
    case = drawn(
        "t",
        config={"model_name": "google/t5-v1_1-base", "fp16": True},
        train_loss=LOSS,
        loss_scale="0:65536 400:65536 410:64 420:1 900:1",
    )
    finding = said(case).findings[0]
    assert "bf16" in finding.causes[0].what
    assert {fix.setting for fix in finding.fixes} >= {"bf16", "fp16"}
