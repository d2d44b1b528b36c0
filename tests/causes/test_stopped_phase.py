"""An early stop is the cause of an end, and not of an exception behind it."""

import pytest

from runlens.engine import diagnose
from runlens.rules.cases import message
from runlens.rules.rule import drawn
from runlens.run import Event, State, StateKind

ERROR = "AttributeError: 'Lambda' object has no attribute 'layers'"


@pytest.mark.parametrize("crashed", [True, False])
def test_an_early_stop_of_a_phase_does_not_explain_a_later_exception(*, crashed: bool) -> None:
    """Of a training in two phases the first may stop early as configured."""
    stop = Event("early_stop", 140, text="Epoch 14: early stopping")
    behind = message(ERROR, "fallback", 99, 140, exception=ERROR, frame="train.py:84 in tune")
    kind: StateKind = "crashed" if crashed else "stopped_early"
    run = drawn(
        "phases",
        train_loss="0:2.2 140:0.4",
        events=(stop, behind) if crashed else (stop,),
        state=State(kind, ERROR if crashed else "early stopping", "certain", done_steps=140,
                    planned_steps=400),
    ).run()  # fmt: skip
    causes = [cause.what for i in diagnose(run).incidents for f in i.findings for cause in f.causes]
    assert ("Early stopping, as configured" in causes) is not crashed
