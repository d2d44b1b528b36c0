"""Embeddings that became one: the cause is a loss that allows it."""

from runlens.engine import diagnose
from runlens.rules.loss.one_embedding import BAD, HEADING


def test_the_loss_is_the_cause() -> None:
    """What equal embeddings bring to 0 is told, with what would show another."""
    lead = diagnose(BAD[0].run()).incidents[0].findings[0]
    assert lead.heading == HEADING
    assert (lead.causes[0].kind, lead.causes[0].rank) == ("loss-function", "most likely")
    assert "variance term" in lead.causes[0].falsifier
