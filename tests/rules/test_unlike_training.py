"""An evaluation loss that begins far above the training loss beside it was never as that."""

import pytest

from runlens.engine import diagnose
from runlens.rules.rule import drawn


@pytest.mark.parametrize(
    ("lowest", "heading"), [("50:70 900:294", "Evaluation unlike training"), ("50:1 900:4", "")]
)
def test_it_is_not_called_overconfident(lowest: str, heading: str) -> None:
    """Its score may creep up all the same; one beside the training loss grew too certain."""
    run = drawn(
        "unlike",
        task="classification",
        noise={"train_loss": 0.01},
        train_loss="0:2.2 300:1.1 900:0.7",
        eval_loss=f"{lowest} /50",
        eval_accuracy="50:0.14 450:0.26 900:0.29 /50",
    ).run()
    rules = {one.rule: one for one in diagnose(run).findings}
    found = rules["hockey-stick"]
    assert found.heading == (heading or "Over-confident model")
    assert (found.severity == "info") is (not heading)
    told = " ".join(one.what for one in found.fixes)
    assert ("running mean" in told) is bool(heading)
