"""No gradient: what the drawn cases cannot say."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.gradients.grad_zero import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def said(case: Case) -> Outcome:
    """Ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_norm_read_after_zero_grad_is_unmet() -> None:
    """Zero throughout while the loss falls: the norm is not the gradient's."""
    outcome = said(drawn("z", train_loss="0:2.2 300:1.3 900:0.9", grad_norm="0:0 900:0"))
    assert outcome.status == "unmet"
    assert "zero_grad" in outcome.reason


def test_frozen_embeddings_under_checkpointing_are_named() -> None:
    """The fix is the call that this combination needs."""
    case = drawn(
        "f",
        config={"gradient_checkpointing": True, "adapter": "lora"},
        train_loss="0:2.2 600:2.2",
        grad_norm="0:0 600:0",
    )
    finding = said(case).findings[0]
    assert "frozen embeddings" in finding.causes[0].evidence_for
    assert any("enable_input_require_grads" in fix.what for fix in finding.fixes)


def test_policy_with_spread_but_no_gradient_is_critical() -> None:
    """Groups that differ must give a gradient."""
    case = drawn(
        "p",
        task="grpo",
        noise={"reward_std": 0.1},
        train_loss="0:0.01 600:0.01",
        grad_norm="0:0 600:0",
        reward_std="0:0.3 600:0.3",
    )
    assert said(case).findings[0].severity == "critical"


def test_policy_of_unknown_spread_is_info() -> None:
    """Where the spread is not logged, groups without advantage cannot be ruled out."""
    case = drawn("u", task="grpo", train_loss="0:0.01 600:0.01", grad_norm="0:0 600:0")
    assert said(case).findings[0].severity == "info"


def test_stretch_that_ends_has_an_end() -> None:
    """A gradient that comes back later is said so."""
    case = drawn(
        "e",
        train_loss="0:2.2 190:1.6 500:1.6",
        grad_norm="0:1 190:1 200:0 400:0 410:1 500:1",
    )
    finding = said(case).findings[0]
    assert finding.end is not None
    assert finding.end.step == 400


def test_what_is_nothing_beside_one_in_float32_is_zero() -> None:
    """Norms of 1e-8 scatter, and move no weight; 1e-6 may."""
    for norm, status in (("6e-8", "found"), ("1e-6", "passed")):
        case = drawn(
            "tiny", task="other", train_loss="0:1.38 900:1.38", grad_norm=f"0:{norm} 900:{norm}"
        )
        assert said(case).status == status
