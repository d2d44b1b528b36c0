"""EBFT: of its loss only the cross-entropy part, ebft/ce_loss, is judged by its shape."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.diagnosis import Diagnosis, Finding
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.rules import RULES
from runlens.rules.cases import drawn
from runlens.run import Run
from runlens.sources.merging.task import typed

RISES_BY_DESIGN = "0:-0.2 300:0.6 600:1.4"  # a policy-gradient loss while the reward rises
SHAPES = {rule.slug for rule in RULES if rule.family == "LOS"}


def ebft(cross_entropy: str | None, loss: str = RISES_BY_DESIGN, **more: Any) -> Run:
    """Draw a run as axolotl's EBFT trainer logs it."""
    parts: dict[str, Any] = {"ebft_ce": cross_entropy} if cross_entropy else {}
    return drawn(
        "energy-based",
        task="grpo",
        framework="axolotl",
        train_loss=loss,
        reward="0:0.1 600:0.5",
        ebft_alignment="0:0.2 600:0.7",
        ebft_diversity="0:0.08 600:0.04",
        ebft_cfm="0:6 600:3",
        grad_norm="0:0.5 600:0.5",
        learning_rate="0:1e-6 600:1e-7",
        **parts,
        **more,
    ).run()


def of_shape(diagnosis: Diagnosis) -> list[Finding]:
    """Return what was found in the shape of a loss."""
    return [finding for finding in diagnosis.findings if finding.rule in SHAPES]


@pytest.mark.parametrize(
    "cross_entropy",
    ["0:1.4 600:1.1", "0:0 600:0", None],
    ids=["falls", "switched off", "not logged"],
)
def test_a_total_loss_that_rises_by_design_is_no_finding(cross_entropy: str | None) -> None:
    """Nor are the exact zeros of a cross-entropy whose weight is 0."""
    assert of_shape(diagnose(ebft(cross_entropy))) == []


def test_a_cross_entropy_that_diverges_is_found_under_its_own_name() -> None:
    """However well the total looks; a warning, for EBFT learns by its reward."""
    told = of_shape(diagnose(ebft("0:1.4 300:1.1 500:3 600:3", loss="0:1 600:0.2")))
    loud = [finding for finding in told if finding.severity != "info"]
    assert [(one.rule, one.severity, one.metric) for one in loud] == [
        ("divergence", "warning", "ebft_ce")
    ]
    onset = loud[0].onset.step
    assert onset is not None
    assert 280 <= onset <= 400
    assert "It rose from 1.0" in loud[0].title
    assert "ebft_ce" in loud[0].chart.metrics
    assert not any("rain loss" in text for text in (loud[0].title, loud[0].seen))


def test_a_spike_of_the_cross_entropy_is_found() -> None:
    """As in any fine-tuning."""
    told = of_shape(diagnose(ebft("0:1.4 300:1.2 310:6 320:1.2 600:1.1")))
    assert [(one.rule, one.severity) for one in told] == [("loss-spike", "warning")]


def test_a_cross_entropy_that_keeps_its_level_is_an_info() -> None:
    """In fine-tuning a warning; here the reward says whether the run learns."""
    run = ebft("0:5 600:5")
    assert [(one.rule, one.severity) for one in of_shape(diagnose(run))] == [
        ("not-learning", "info")
    ]
    curve = run.curve("ebft_ce")
    alone = History({"train_loss": columns(curve.step, curve.value)})
    tuned = diagnose(replace(run, task="sft", history=alone))
    assert ("not-learning", "info") not in [(one.rule, one.severity) for one in tuned.findings]
    assert tuned.health != "healthy"


def test_rules_of_fine_tuning_that_are_not_of_the_loss_stay_silent() -> None:
    """An evaluation is no part of it, and clipping is judged as in any policy's run."""
    outcomes = diagnose(ebft("0:1.4 600:1.1", eval_loss="0:1 300:1 600:3")).outcomes
    for slug in ("hockey-stick", "eval-gap", "clip-saturation", "warmup-shock"):
        assert outcomes[slug].reason.startswith("holds for "), slug


def test_what_ebft_does_not_log_is_not_asked_for() -> None:
    """Its blocks have one length; its spread is that of the advantages."""
    told = {one.rule: one.title for one in diagnose(ebft("0:1.4 600:1.1")).findings}
    assert "entropy" not in told["missing-signal"]
    assert "len_mean" not in told["missing-signal"]


@pytest.mark.parametrize(
    "sign",
    [{"ebft_alignment"}, {"ebft_diversity"}, {"ebft_cfm", "train_loss"}, {"ebft_ce", "train_loss"}],
)
def test_one_ebft_metric_makes_the_task(sign: set[str]) -> None:
    """It is judged by its reward, not by its loss."""
    assert typed(sign, 1.0, {}, "axolotl", sign)[0] == "grpo"
