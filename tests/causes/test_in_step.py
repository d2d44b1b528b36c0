"""What curves show together: one answer to all, a policy behind random actions, new weights."""

from typing import Any

import pytest

from runlens.cause import Cause
from runlens.causes.guesses import one_answer
from runlens.causes.scene import Scene
from runlens.diagnosis import Finding, Moment
from runlens.engine import diagnose
from runlens.rules.rule import drawn
from runlens.signals import Signals

UNITS = "0:1.0986 900:1.0986"


def first(**kwargs: Any) -> Cause:
    """Return the first cause of a drawn run."""
    return diagnose(drawn("x", **kwargs).run()).causes[0]


def alike(rule: str = "not-learning", **kwargs: Any) -> str:
    """Return what shows that a drawn run answers all inputs alike, beside a finding of `rule`."""
    run = drawn("x", task="other", **kwargs).run()
    found = Finding("info", "Flat.", "train_loss", Moment(0), (), rule=rule)
    said = one_answer(Scene(run, Signals(run), [found]))
    return said.seen if said else ""


@pytest.mark.parametrize(
    ("loss", "noise", "says"),
    [
        (UNITS, 0.002, "ln 3"),
        ("0:0.6931 900:0.6931", 0.002, "ln 2"),
        (UNITS, 0.04, ""),  # it tells its inputs apart
        ("0:1.12 900:1.12", 0.002, ""),  # no logarithm of a number
        ("0:1.3 300:1.0986 900:1.0986", 0.002, ""),  # it learned to get there
        ("0:3.0445 900:3.0445", 0.002, ""),  # ln 21: such lie too near to each other
    ],
)
def test_a_loss_that_stands_at_a_logarithm_gives_equal_odds(
    loss: str, noise: float, says: str
) -> None:
    """Of few classes alone, from the first point on, and hardly moved by the batch."""
    said = alike(train_loss=loss, noise=noise)
    assert says in said
    assert bool(says) == bool(said)


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ({"eval_recall": "50:0 900:0", "eval_f1": "50:0 900:0"}, "no sample is called positive"),
        ({"eval_recall": "50:0 900:0", "eval_f1": "50:0.4 900:0.4"}, ""),
        ({"eval_recall": "50:0.05 900:0.05", "eval_f1": "50:0.1 900:0.1"}, ""),
        (
            {
                "eval_recall": "50:0.99 900:0.99",
                "eval_precision": "50:0.51 900:0.51",
                "eval_accuracy": "50:0.52 900:0.52",
            },
            "nearly all samples are called positive",
        ),
        (
            {
                "eval_recall": "50:0.99 900:0.99",
                "eval_precision": "50:0.9 900:0.9",
                "eval_accuracy": "50:0.95 900:0.95",
            },
            "",
        ),
        ({"eval_auc": "50:0.5 900:0.5"}, "one answer for all"),
        ({"eval_auc": "50:0.51 900:0.51"}, ""),  # at chance, and not all alike
        ({"eval_r2": "50:0 900:0"}, "the mean for every input"),
        ({"eval_r2": "50:-0.1 900:-0.1"}, ""),
    ],
)
def test_scores_show_that_one_class_is_said_for_all(scores: dict[str, str], says: str) -> None:
    """Recall of 0 or 1, an area of exactly one half, an R² of exactly 0."""
    said = alike("stuck-at-chance", train_loss="0:0.7 900:0.7", noise=0.0, **scores)
    assert says in said
    assert bool(says) == bool(said)


def test_no_score_is_asked_of_a_run_that_learned() -> None:
    """An R² of 0 beside another fault proves nothing."""
    assert not alike("loss-spike", train_loss="0:3 900:1", eval_r2="50:0 900:0", noise=0.0)


FALLS = "0:500 200:400 900:150"


@pytest.mark.parametrize(
    ("reward", "epsilon", "kind"),
    [
        (FALLS, "0:1 900:0.2", "exploration"),
        (FALLS, "0:0.2 900:0.05", "unknown"),  # a clip range, not a share of actions
        (FALLS, "0:1 900:0.8", "unknown"),  # nearly all are random still
        ("0:100 400:500 500:500 900:50", "0:1 300:0.1 900:0.1", "unknown"),  # it learned, then fell
    ],
)
def test_a_policy_that_is_worse_than_random_actions(reward: str, epsilon: str, kind: str) -> None:
    """The reward falls as the share of random actions does; no entropy bonus is advised."""
    curves: Any = {"reward": reward, "epsilon": epsilon, "noise": {"reward": 0.05}}
    cause = first(task="rl", **curves)
    assert cause.kind == kind
    if kind == "exploration":
        assert cause.what == "A learned policy that is worse than random actions"
        assert "random actions alone" in cause.experiment
        assert "without random actions" in cause.falsifier
        made = diagnose(drawn("x", task="rl", **curves).run())
        assert not made.do_first.diff
        assert any("random actions alone" in what for what, _ in made.do_first.steps)


LEARNED = "0:0.06 "


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (LEARNED + "490:0.04 500:0.693 510:0.52 540:0.11 650:0.06", "resume-state"),
        (LEARNED + "490:0.04 500:0.694 900:0.69", "rate-too-high"),
        (LEARNED + "490:0.04 500:0.85 510:0.84 900:0.83", "unknown"),  # at no guess's level
    ],
)
def test_a_leap_to_the_loss_of_a_guess(loss: str, kind: str) -> None:
    """Learned again at once: new weights. There to the end: weights that large steps destroyed."""
    cause = first(task="classification", train_loss=loss, noise=0.01)
    assert cause.kind == kind


def test_what_language_models_start_at_is_said_of_losses_of_tokens_alone() -> None:
    """A loss of 1,180 is of no token: its targets are looked at, not its chat template."""
    cause = first(train_loss="0:1180 20:8 100:7.3 900:7.2")
    assert cause.kind == "unknown"
    assert "targets" in cause.experiment
    told = str(diagnose(drawn("x", train_loss="0:1180 20:8 100:7.3 900:7.2").run()).to_dict())
    assert "-100" not in told
    assert "pretrained model" not in told
    text = first(train_loss="0:18 20:8 100:7.3 900:7.2", config={"max_length": 1024})
    assert "pretrained model" in text.evidence_for


def test_prompts_are_left_out_where_prompts_are_answered() -> None:
    """A share of completed tasks makes no language model of an agent."""

    def steps(**logged: str) -> str:
        curves: Any = {"reward": "0:0.3 900:0.3", "framework": "unknown", **logged}
        return str(diagnose(drawn("x", task="grpo", noise=0.2, **curves).run()).to_dict())

    assert "Leave out prompts" in steps(len_mean="0:90 900:90")
    assert "Leave out prompts" not in steps(completed="0:17 900:17")
    assert "twenty rollouts" in steps(len_mean="0:90 900:90")
    assert "twenty rollouts" not in steps(completed="0:17 900:17")


@pytest.mark.parametrize(("task", "says"), [("rl", "episodes"), ("grpo", "rollouts")])
def test_the_experiment_is_of_the_kind_of_policy(task: Any, says: str) -> None:
    """An agent's episodes are watched; the completions of a language model are read."""
    kind = {"len_mean": "0:90 900:90"} if task == "grpo" else {}
    cause = first(task=task, reward="0:0.3 900:0.3", noise=0.2, **kind)
    assert says in cause.experiment


def test_a_reward_that_collapsed_is_not_blamed_on_what_it_pays_for() -> None:
    """The policy was better at it before."""
    cause = first(task="rl", reward="0:10 400:200 450:200 500:20 900:20", noise=0.05)
    assert cause.kind == "unknown"
    assert "does not measure" not in cause.evidence_for
    assert "seed" in cause.experiment


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        ("0:1.01 300:0.98 900:0.93", "unknown"),
        ("0:0.7 900:0.7", "rate-too-high"),
        ("0:0.72 900:0.692", "rate-too-high"),  # down to ln 2
    ],
)
def test_a_rate_at_its_ceiling_is_blamed_unless_the_loss_falls(loss: str, kind: str) -> None:
    """Steps that are too large throw a loss, or kill what learns; they do not lower it slowly.

    Down to where guessing is they do.
    """
    cause = first(
        task="classification",
        train_loss=loss,
        eval_accuracy="50:0.5 900:0.5",
        learning_rate="0:1e-2 900:1e-2",
        config={"learning_rate": 1e-2, "optim": "adam", "num_labels": 2},
        noise=0.004,
    )
    assert cause.kind == kind


@pytest.mark.parametrize(("right", "told"), [("0:0.24", True), ("0:0.11", False)])
def test_a_model_that_learned_in_the_epoch_of_its_nan_had_no_bad_first_batch(
    right: str, told: bool
) -> None:
    """Weights that are NaN answer as a guess does, so the batch that failed came later."""
    run = drawn(
        "x",
        task="classification",
        train_loss="0:nan",
        eval_loss="0:nan",
        train_accuracy=right,
        eval_accuracy="0:0.0995",
        noise=0.0,
    ).run()
    made = diagnose(run)
    assert ("had learned" in made.causes[0].evidence_for) == told
    assert any("each batch of the first epoch" in what for what, _ in made.do_first.steps) == told


@pytest.mark.parametrize(("score", "going"), [("50:0.5", False), ("50:0.5 900:0.5", True)])
def test_results_without_a_course_are_of_no_run_to_stop(score: str, going: bool) -> None:
    """A file of final scores was written when the run was over."""
    made = diagnose(drawn("x", task="other", eval_auc=score, noise=0.0).run())
    assert made.findings[0].rule == "stuck-at-chance"
    assert any(what.startswith("Stop this run") for what, _ in made.do_first.steps) == going


@pytest.mark.parametrize(
    ("train", "kind"),
    [("0:1.5 100:0.25 300:0.1", "evaluation"), ("0:6 100:3.6 300:0.1", "memorised")],
)
def test_what_was_seen_once_is_not_memorized(train: str, kind: str) -> None:
    """An evaluation far above training at the end of the first pass is of other data."""
    cause = first(
        task="sft",
        train_loss=train,
        eval_loss="100:3.5 200:5 300:5.6 /100",
        steps_per_epoch=100,
        noise=0.01,
    )
    assert cause.kind == kind


@pytest.mark.parametrize(
    ("reward", "says"), [("0:100 900:60", "too high"), ("0:100 900:100", "too low")]
)
def test_a_reward_that_falls_is_of_no_rate_that_is_too_low(reward: str, says: str) -> None:
    """Small steps leave a policy where it is."""
    cause = first(task="rl", reward=reward, noise=0.1)
    assert says in cause.evidence_for


def test_an_area_of_one_half_is_not_told_of_the_sizes_of_classes() -> None:
    """It does not depend on them, as recall does."""
    cases: tuple[tuple[dict[str, Any], bool], ...] = (
        ({}, True),
        ({"eval_auc": "50:0.5 900:0.5"}, False),
    )
    for scores, uneven in cases:
        run = drawn("x", task="other", noise=0.0, eval_recall="50:0 900:0", **scores).run()
        found = Finding("info", "Flat.", "train_loss", Moment(0), (), rule="not-learning")
        said = one_answer(Scene(run, Signals(run), [found]))
        assert said is not None
        assert ("unequal size" in said.usual) is uneven


def test_rounds_without_data_are_no_loss_that_came_to_zero() -> None:
    """Every second epoch has none: there is nothing to stop, and the batches are counted."""
    odd = " ".join(f"{10 * n}:{0 if n % 2 else 0.5 - 0.02 * n:g}" for n in range(16))
    right = " ".join(f"{10 * n}:{0 if n % 2 else 0.8:g}" for n in range(16))
    made = diagnose(drawn("x", noise=0, task="other", train_loss=odd, train_accuracy=right).run())
    assert "runs out of data" in made.causes[0].what
    assert made.do_first.steps[0][0].startswith("Count the batches")
    assert not any("Stop this run" in what for what, _ in made.do_first.steps)


def test_an_evaluation_of_nothing_is_counted_first() -> None:
    """A loss of exactly 0 beside a training that has far to go."""
    run = drawn("x", noise=0, task="other", train_loss="0:3 300:0.5", eval_loss="0:0 300:0").run()
    made = diagnose(run)
    assert made.causes[0].kind == "evaluation"
    assert made.do_first.steps[0][0].startswith("Count the batches and the labels")
