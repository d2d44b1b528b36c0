"""Infos beside which a run is healthy: a rule names a pattern, and knows that it costs nothing."""

from typing import Any

import pytest

from runlens import diagnose
from runlens.rules.rule import Case, drawn
from runlens.run import State

LOSS = "0:2.2 300:1.3 900:0.9"
NOISE = {"train_loss": 0.02, "grad_norm": 0.1, "reward": 0.0, "frac_zero_std": 0.0}
SPIKE = "0:1 390:1 400:40 410:1 900:1"
STAIRS = "0:1.8 299:1.78 300:1.4 599:1.38 600:1.05 900:1.03"
SIX_STAIRS = "0:2.6 149:2.58 150:2.2 299:2.18 300:1.8 449:1.78 450:1.4 599:1.38 600:1 900:0.9"
CLASSES = "0:1.6 300:0.3 600:0.002 900:0.001"


def case(rule: str, harmless: bool, why: str, **curves: Any) -> Any:
    """Return one row: what is drawn, the rule that names it, and whether it costs nothing."""
    return pytest.param(rule, drawn(why, noise=NOISE, **curves), harmless, id=f"{rule}: {why}")


@pytest.mark.parametrize(
    ("rule", "drawn_run", "harmless"),
    [
        case("clip-saturation", True, "the loss falls", train_loss=LOSS, grad_norm="0:4 900:4"),
        case("clip-saturation", True, "just below", train_loss=LOSS, grad_norm="0:9.4 900:9.4"),
        case(
            "clip-saturation", False, "above ten", train_loss=LOSS, grad_norm="0:12 900:12",
            config={"max_grad_norm": 1.0},
        ),
        case("clip-saturation", True, "not recorded", train_loss=LOSS, grad_norm="0:12 900:12"),
        case(
            "clip-saturation", True, "not recorded, and falls early", train_loss="0:3 40:1 300:0.9",
            grad_norm="0:55 300:55",
        ),
        case("clip-saturation", True, "not unscaled", train_loss=LOSS, grad_norm="0:2e5 900:3e5"),
        case(
            "clip-saturation", False, "shorter steps of SGD", train_loss=LOSS,
            grad_norm="0:4 900:4", config={"optim": "sgd", "max_grad_norm": 1.0},
        ),
        case("clip-saturation", False, "no scale", train_loss=LOSS, grad_norm="0:7e5 900:7e5"),
        case("clip-saturation", True, "the scale", train_loss=LOSS, grad_norm="0:6e5 900:6e5"),
        case("clip-saturation", False, "flat", train_loss="0:2 900:2", grad_norm="0:4 900:4"),
        case("clip-saturation", True, "by its share", train_loss=LOSS, clip_share="0:1 900:1"),
        case(
            "clip-saturation", False, "by its share, flat", train_loss="0:2 900:2",
            clip_share="0:1 900:1",
        ),
        case("grad-spike", True, "no reaction", train_loss=LOSS, grad_norm=SPIKE),
        case(
            "grad-spike", False, "the loss jumps", grad_norm=SPIKE,
            train_loss="0:2.2 300:1.3 390:1.2 400:3 410:1.2 900:0.9",
        ),
        case("grad-spike", False, "no loss to react", grad_norm=SPIKE, config={"task": "sft"}),
        case(
            "grad-spike", False, "at the end", train_loss=LOSS,
            grad_norm="0:1 890:1 900:300",
        ),
        case(
            "nan-grad", True, "a scaler probes", train_loss=LOSS, config={"fp16": True},
            grad_norm="0:1 390:1 400:nan 410:1 900:1",
        ),
        case(
            "nan-grad", False, "three in a row", train_loss=LOSS,
            grad_norm="0:1 290:1 300:nan 330:1 900:1",
        ),
        case("low-utilisation", True, "hours", train_loss=LOSS, gpu_util="0:30 900:30"),
        case(
            "throughput-drop", True, "a third slower", train_loss=LOSS,
            throughput_tokens="0:3000 400:3000 401:1900 900:1900",
        ),
        case(
            "throughput-drop", False, "to a third", train_loss=LOSS,
            throughput_tokens="0:3000 400:3000 401:1000 900:1000",
        ),
        case(
            "zero-loss", True, "classes that are separable", task="classification",
            train_loss=CLASSES, eval_loss="50:1.4 300:0.3 600:0.01 900:0.004",
        ),
        case(
            "zero-loss", True, "accuracy is full", task="classification", train_loss=CLASSES,
            eval_accuracy="50:0.4 300:0.9 600:1 900:1", steps_per_epoch=100,
        ),
        case(
            "zero-loss", True, "evaluation stays", task="classification", train_loss=CLASSES,
            eval_loss="50:1.4 300:0.6 900:0.5",
        ),
        case("zero-loss", True, "never evaluated", task="classification", train_loss=CLASSES),
        case(
            "zero-loss", True, "a row an epoch", task="classification", train_loss=CLASSES,
            steps_per_epoch=1,
        ),
        case(
            "zero-loss", False, "accuracy stays far behind", task="classification",
            train_loss=CLASSES, eval_accuracy="50:0.4 300:0.78 900:0.78",
        ),
        case(
            "zero-loss", True, "accuracy is near", task="classification",
            train_loss=CLASSES, eval_accuracy="50:0.4 300:0.82 900:0.82",
        ),
        case("zero-loss", True, "a test on a few batches", train_loss=CLASSES, steps_per_epoch=2),
        case(
            "eval-gap", True, "evaluation falls on", train_loss="0:2.4 200:1.6 800:0.7",
            eval_loss="50:2.2 300:1.9 800:1.4",
        ),
        case(
            "eval-gap", True, "four evaluations that only fall", train_loss="0:1.6 200:0.9 800:0.3",
            eval_loss="200:1.42 400:1.33 600:1.3 800:1.28 /200",
        ),
        case(
            "eval-gap", True, "evaluation gained late and kept it",
            train_loss="0:2.4 200:1.6 800:0.7", eval_loss="50:2.2 200:1.6 400:1.5 600:1.4 800:1.43",
        ),
        case(
            "eval-gap", False, "evaluation stands", train_loss="0:2.4 200:1.6 800:0.7",
            eval_loss="50:2.2 300:1.6 800:1.6",
        ),
        case(
            "eval-gap", True, "evaluation stands, and so does its score",
            train_loss="0:2.4 200:1.6 800:0.7", eval_loss="50:2.2 300:1.6 800:1.6",
            eval_accuracy="50:0.4 300:0.6 800:0.6",
        ),
        case(
            "eval-gap", False, "evaluation stands, its score falls",
            train_loss="0:2.4 200:1.6 800:0.7", eval_loss="50:2.2 300:1.6 800:1.6",
            eval_accuracy="50:0.4 300:0.6 800:0.5",
        ),
        case(
            "eval-leak", True, "augmentation may be why", task="classification",
            train_loss="0:1 300:0.4 900:0.3", eval_loss="50:1 300:0.2 900:0.06",
        ),
        case(
            "oscillation", True, "accuracy rises across it", task="classification",
            train_loss=LOSS, eval_loss="50:0.3 900:0.3 ~0.08/130",
            eval_accuracy="50:0.7 900:0.9",
        ),
        case(
            "oscillation", False, "nothing gets better", task="classification",
            train_loss=LOSS, eval_loss="50:0.3 900:0.3 ~0.08/130",
        ),
        case(
            "reward-stuck-zero", True, "the other function teaches it", task="grpo",
            **{"reward": "0:0.2 600:0.8", "reward:a": "0:0.2 600:0.8", "reward:b": "0:0 600:0"},
        ),
        case(
            "zero-loss", True, "an unknown task, never evaluated", task="other",
            train_loss="0:0.9 300:0.1 600:0.008 900:0.006",
        ),
        case(
            "hockey-stick", True, "more answers are right", task="classification",
            train_loss="0:0.7 600:0.05", eval_loss="50:0.6 200:0.4 600:0.46",
            eval_accuracy="50:0.7 200:0.8 600:0.9",
        ),
        case(
            "hockey-stick", False, "more are right, by a far surer model", task="classification",
            train_loss="0:0.7 600:0.05", eval_loss="50:0.6 200:0.4 600:0.7",
            eval_accuracy="50:0.7 200:0.8 600:0.9",
        ),
        case(
            "epoch-staircase", True, "the passes pay", train_loss=STAIRS, steps_per_epoch=300,
            eval_loss="50:1.8 300:1.5 600:1.3 900:1.1",
        ),
        case(
            "epoch-staircase", False, "evaluation came back up", train_loss=STAIRS,
            steps_per_epoch=300, eval_loss="50:1.8 300:1.3 600:1.35 900:1.36",
        ),
        case("epoch-staircase", True, "three passes", train_loss=STAIRS, steps_per_epoch=300),
        case("epoch-staircase", False, "six passes", train_loss=SIX_STAIRS, steps_per_epoch=150),
        case(
            "zero-reward-std", True, "solved", task="grpo", reward="0:0.2 300:1 900:1",
            frac_zero_std="0:0.1 300:1 900:1",
        ),
        case(
            "zero-reward-std", True, "nearly solved", task="grpo", reward="0:0.2 300:0.99 900:1",
            frac_zero_std="0:0.1 300:0.85 900:0.9",
        ),
        case(
            "zero-reward-std", False, "nothing gained", task="grpo", reward="0:0.3 900:0.3",
            frac_zero_std="0:0.85 900:0.85",
        ),
        case("lr-out-of-range", True, "advice", train_loss=LOSS, learning_rate="0:0.1 900:0.1"),
    ],
)  # fmt: skip
def test_what_costs_nothing_leaves_the_run_healthy(
    rule: str, drawn_run: Case, harmless: bool
) -> None:
    """And what may cost something does not."""
    said = diagnose(drawn_run.run())
    found = {finding.rule: finding for finding in said.findings}
    assert found[rule].harmless == harmless
    assert found[rule].to_dict()["harmless"] == harmless
    if harmless and all(one.harmless for one in said.findings):
        assert said.health in {"healthy", "unknown"}
    if not harmless:
        assert said.health != "healthy"


@pytest.mark.parametrize(
    ("planned", "said"), [(1800, "Nothing alarming was"), (920, "No fault was")]
)
def test_a_log_that_ends_within_the_plan_shows_no_whole_run(planned: int, said: str) -> None:
    """What was seen of it was not alarming; a run that did its plan had no fault."""
    state = State("stopped_early", "train.log", "guess", done_steps=900, planned_steps=planned)
    told = diagnose(drawn("cut", noise=NOISE, state=state, train_loss=LOSS).run()).verdict.sentence
    assert told.startswith(said)


@pytest.mark.parametrize(("top", "severity"), [(1.47, "info"), (1.56, "warning")])
def test_a_slight_shock_that_is_over_is_an_info(top: float, severity: str) -> None:
    """A rise by 5 % as the rate reaches its peak, and back; one by 11 % did some harm."""
    curve = f"0:1.45 200:1.4 400:{top} 600:1.4 6000:1.1"
    shock = drawn("shock", noise=0.003, train_loss=curve, learning_rate="0:0 400:1e-3 6000:0").run()
    (found,) = (one for one in diagnose(shock).findings if one.rule == "warmup-shock")
    assert (found.severity, found.harmless) == (severity, severity == "info")
