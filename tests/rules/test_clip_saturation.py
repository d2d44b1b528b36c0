"""Constant gradient clipping: what the drawn cases cannot say."""

import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.gradients.clip_saturation import COMPANIONS, RULE, STUCK
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals

LOSS = "0:2.2 300:1.3 900:0.9"
NOISE = {"train_loss": 0.02, "grad_norm": 0.2}


def said(case: Case) -> Outcome:
    """Ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


@pytest.mark.parametrize(("norm", "companions"), [("1.6", ()), ("4", COMPANIONS)])
def test_companion_raises_only_from_twice_the_limit(norm: str, companions: tuple[str, ...]) -> None:
    """An unsteady loss beside norms just above the limit proves nothing."""
    norms = f"0:{norm} 900:{norm}"
    clip = {"max_grad_norm": 1.0}
    case = drawn("c" + norm, noise=NOISE, config=clip, train_loss=LOSS, grad_norm=norms)
    finding = said(case).findings[0]
    assert finding.severity == "info"
    assert finding.louder_with == companions


def test_framework_without_a_default_is_unmet() -> None:
    """Where nothing says what the limit is, nobody can tell."""
    case = drawn("u", framework="keras", train_loss=LOSS, grad_norm="0:20 900:20", noise=NOISE)
    assert said(case).status == "unmet"


def test_tiny_limit_of_a_quantised_adapter_is_meant() -> None:
    """QLoRA recipes clip at 0.1 to 0.3 on purpose."""
    curves = {"train_loss": LOSS, "grad_norm": "0:0.6 900:0.6"}
    tiny: dict[str, float | bool] = {"max_grad_norm": 0.1}
    loud = Case("l", curves, noise=NOISE, config=tiny)
    meant = Case("m", curves, noise=NOISE, config=tiny | {"load_in_4bit": True})
    assert said(loud).findings[0].severity == "warning"
    assert said(meant).findings[0].severity == "info"


def test_few_points_are_info_only() -> None:
    """Eight norms far above the limit are worth a word, not an alarm."""
    case = drawn("f", noise=NOISE, train_loss="0:2.2 120:1.2", grad_norm="0:30 120:30")
    finding = said(case).findings[0]
    assert finding.severity == "info"
    assert finding.louder_with == ()


def test_a_limit_far_below_the_norms_is_widened_first() -> None:
    """Twice the median norm: only outliers are cut then."""
    case = drawn(
        "w",
        noise=NOISE,
        config={"max_grad_norm": 0.1, "learning_rate": 1e-4},
        train_loss=LOSS,
        grad_norm="0:1.5 900:1.5",
    )
    first = said(case).findings[0].fixes[0]
    assert (first.setting, first.old) == ("max_grad_norm", 0.1)
    assert first.new == pytest.approx(3.0, rel=0.1)


def test_a_falling_loss_is_left_alone() -> None:
    """Neither a lower rate nor a wider limit: Adam divides the scale of the gradient out."""
    clip = {"max_grad_norm": 0.3, "learning_rate": 1e-4}
    case = drawn("x", noise=NOISE, config=clip, train_loss=LOSS, grad_norm="0:4 900:4")
    finding = said(case).findings[0]
    assert finding.severity == "info"
    assert not [fix for fix in finding.fixes if fix.setting]
    assert finding.louder_with == (*COMPANIONS, *STUCK)


def test_a_limit_is_widened_past_the_median_norm() -> None:
    """Below it every step would still be cut."""
    case = drawn(
        "s",
        noise=NOISE,
        config={"max_grad_norm": 0.1, "learning_rate": 1e-4},
        train_loss=LOSS,
        grad_norm="0:2 900:2",
    )
    fixes = said(case).findings[0].fixes
    assert [(fix.setting, fix.new) for fix in fixes] == [("max_grad_norm", 4.1)]


def test_the_steps_of_sgd_are_not_made_twenty_times_longer() -> None:
    """Its step is the rate times the limit: a wider limit alone would throw a run that learns."""
    case = drawn(
        "sgd",
        noise=NOISE,
        task="regression",
        config={"max_grad_norm": 1.0, "learning_rate": 1e-1, "optim": "sgd"},
        train_loss=LOSS,
        grad_norm="0:20 900:20",
    )
    finding = said(case).findings[0]
    assert finding.severity == "warning"
    assert not any(fix.setting for fix in finding.fixes)


def test_flat_loss_lowers_the_learning_rate_first() -> None:
    """Where nothing is learned the rate is the suspect."""
    case = drawn(
        "l",
        noise=NOISE,
        config={"max_grad_norm": 1.0, "learning_rate": 1e-4},
        train_loss="0:2.2 900:2.2",
        grad_norm="0:20 900:20",
    )
    first = said(case).findings[0].fixes[0]
    assert (first.setting, first.new) == ("learning_rate", 5e-5)


def test_share_that_the_framework_logs_is_read_directly() -> None:
    """The share of clipped updates alone (fairseq) is info: how far they were is unknown."""
    often = drawn("s", framework="fairseq", train_loss=LOSS, clip_share="0:0.9 900:0.9")
    assert said(often).findings[0].severity == "info"
    seldom = drawn("r", framework="fairseq", train_loss=LOSS, clip_share="0:0.1 900:0.1")
    assert said(seldom).status == "passed"


@pytest.mark.parametrize(("optim", "averaged"), [("sgd", True), ("adamw_torch", False)])
def test_a_sum_is_averaged_where_the_size_of_the_gradient_counts(
    optim: str, *, averaged: bool
) -> None:
    """Adam divides it out: beside a limit the mean takes the same steps as the sum."""
    case = drawn(
        "x",
        noise={"train_loss": 0.0, "grad_norm": 0.2},
        task="other",
        config={"max_grad_norm": 0.02, "learning_rate": 1e-3, "optim": optim},
        train_loss="0:400 900:40",
        grad_norm="0:40 900:40",
    )
    advice = " ".join(fix.what for fix in said(case).findings[0].fixes).lower()
    assert ("average the loss" in advice) is averaged


@pytest.mark.parametrize(("start", "mean"), [("12.4", True), ("12.6", False)])
def test_a_loss_below_that_of_guessing_any_token_is_a_mean(start: str, *, mean: bool) -> None:
    """Nothing of a language model is to be averaged or scaled then."""
    case = drawn(
        "sgd",
        noise={"train_loss": 0.0, "grad_norm": 0.2},
        task="pretrain",
        config={"max_grad_norm": 0.02, "learning_rate": 1.5, "optim": "sgd"},
        train_loss=f"0:{start} 60:{start} 900:4",
        grad_norm="0:0.4 900:0.4",
    )
    advice = " ".join(fix.what for fix in said(case).findings[0].fixes)
    assert ("Raise max_grad_norm, and divide" in advice) == mean
    assert ("Average the loss" in advice) != mean


@pytest.mark.parametrize(
    ("limit", "norm", "rate", "widened"),
    [
        (0.02, 1.4, 0.02, True),
        (0.001, 0.065, 0.5, True),
        (0.02, 40, 0.02, False),  # of a sum: the loss is at fault
        (0.02, 1.4, 1.5, False),  # a rate that was set to go with it
        (0.1, 1.4, 0.02, False),  # a limit that is in use
    ],
)
def test_a_limit_below_all_that_are_in_use_is_raised_first(
    limit: float, norm: float, rate: float, *, widened: bool
) -> None:
    """Where the norms are those of a mean loss, and the rate is one that SGD stands unclipped."""
    case = drawn(
        "sgd",
        noise={"train_loss": 0.02, "grad_norm": 0.2},
        task="other",
        config={"max_grad_norm": limit, "learning_rate": rate, "optim": "sgd"},
        train_loss="0:5.7 900:2.9",
        grad_norm=f"0:{norm} 900:{norm}",
    )
    first = said(case).findings[0].fixes[0]
    assert (first.setting == "max_grad_norm") is widened
    assert ("Raise the clipping limit" in first.what) is widened


@pytest.mark.parametrize(
    ("rate", "onset", "words"),
    [
        ("0:0 200:1e-4 900:1e-5", 200, "at every step after warm-up, from step 200 on."),
        ("0:1e-4 900:1e-5", 0, "at every step from step 0 on"),
    ],
)
def test_clipping_is_dated_after_warm_up(rate: str, onset: float, words: str) -> None:
    """Norms are high in warm-up as a rule; where there is none, from the first one on."""
    case = drawn("w", noise=0.0, train_loss=LOSS, grad_norm="0:4 900:6", learning_rate=rate)
    finding = said(case).findings[0]
    assert finding.onset.step == onset
    assert words in finding.title


def test_norms_that_were_low_in_warm_up_are_not_named() -> None:
    """They rose with the rate."""
    rate, norm = "0:0 200:1e-4 900:1e-5", "0:0.4 190:0.4 200:4 900:6"
    case = drawn("l", noise=0.0, train_loss=LOSS, grad_norm=norm, learning_rate=rate)
    assert "in warm-up" not in said(case).findings[0].title
