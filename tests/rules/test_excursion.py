"""Evaluations that leave by decades for several rounds, and come back."""

from runlens import diagnose
from runlens.rules.loss.excursion import ROUNDS
from runlens.rules.rule import drawn

BACK = f"{ROUNDS} 650:2.9 700:1.2 750:1.2 800:1.1 850:1.2 900:1.3 950:1.2"


def test_it_is_named_with_its_score_and_no_batch_is_blamed() -> None:
    """Many updates lie between evaluations; swings all along are not told beside it."""
    score = "50:0.5 200:0.84 250:0.83 300:0.2 500:0.09 550:0.4 700:0.85 950:0.84"
    case = drawn("rounds", noise=0.0, task="classification", eval_loss=BACK, eval_accuracy=score)
    seen = diagnose(case.run()).findings
    first = next(one for one in seen if one.rule == "loss-spike")
    assert first.severity == "warning"
    assert "Eval accuracy went from 0.84 to 0.09." in first.seen
    assert not [one for one in first.causes if one.kind == "bad-batch"]
    assert "oscillation" not in {one.rule for one in seen}


def test_evaluations_far_off_now_and_then_are_none() -> None:
    """Single leaps with calm evaluations between them are no excursion."""
    apart = "50:2 100:1.8 150:1.7 200:90 250:1.6 300:1.5 350:300 400:1.5 450:1.4 500:800 550:1.4 "
    case = drawn("apart", noise=0.0, eval_loss=f"{apart}600:1.3 650:1.3 700:1.3")
    assert "in a row" not in str(diagnose(case.run()).findings)
