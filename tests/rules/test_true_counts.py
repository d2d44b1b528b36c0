"""What findings count and date fits what a reader counts in the log."""

from typing import Any

import pytest

from runlens.engine import diagnose
from runlens.rules.cases import drawn
from tests.rules.said import explained, told


@pytest.mark.parametrize(
    ("norm", "words"),
    [
        ("0:1 300:1 310:0 900:0", "from step 310 on, at all 60 points"),
        ("0:1 300:1 310:0 600:0 610:1 900:1", "from step 310 to step 600, at 30 points in a row"),
    ],
)
def test_norms_of_zero_are_counted_where_they_lie(norm: str, words: str) -> None:
    """Twelve in a row were told as 12 of 40 points from there on, of which 28 were zero."""
    run = drawn("x", noise=0.0, train_loss="0:2.2 900:2.2", grad_norm=norm).run()
    assert words in told(explained("grad-zero", run))


@pytest.mark.parametrize(
    ("length", "words"),
    [
        ("0:200 300:200 310:2 900:2", "2 (median from then on)"),
        ("0:200 300:200 310:2 600:2 610:200 900:200", "2 (median of these steps)"),
    ],
)
def test_a_length_that_came_back_is_not_short_from_then_on(length: str, words: str) -> None:
    """It ended at 207 tokens."""
    run = drawn("x", task="grpo", noise=0.01, reward="0:0.2 900:0.1", len_mean=length).run()
    assert words in told(explained("length-collapse", run))


@pytest.mark.parametrize(("task", "label"), [("sft", True), ("grpo", False)])
def test_rewards_have_no_label_masks(task: Any, *, label: bool) -> None:
    """What is generated has no -100."""
    flat: dict[str, Any] = {"grad_norm": "0:0 900:0", "train_loss": "0:2.2 900:2.2"}
    run = drawn("x", task=task, reward="0:0.2 900:0.2", **flat).run()
    assert ("-100" in told(explained("grad-zero", run))) is label


@pytest.mark.parametrize(("task", "words"), [("sft", "Tokenize"), ("asr", "Prepare the samples")])
def test_only_text_is_tokenised_before_training(task: Any, words: str) -> None:
    """Audio and pictures have no tokens to pack."""
    run = drawn("x", task=task, train_loss="0:2.2 900:1", gpu_util="0:20 900:20").run()
    assert words in told(explained("low-utilisation", run))


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("0:1e-3 400:1e-3 410:4e-3 900:4e-3", "was 1e-3 before step 410 and 4e-3 at step 410"),
        ("0:1e-3 400:1e-3 420:1.08e-3 430:4e-3 900:4e-3", "left its schedule by step 430"),
    ],
)
def test_a_rate_before_a_departure_is_named_where_it_was_as_planned(rate: str, words: str) -> None:
    """1.08e-3 before and four times the configured 1e-3 does not add up for a reader."""
    config: dict[str, Any] = {"learning_rate": 1e-3, "lr_scheduler_type": "constant"}
    loss = "0:2 400:1.5 500:1.6 900:9"
    run = drawn("x", config=config, train_loss=loss, learning_rate=rate).run()
    assert any(words in one.evidence_for for one in diagnose(run).causes)


@pytest.mark.parametrize(
    ("task", "words", "others"),
    [
        ("sft", "token ids or labels out of range", "missing targets"),
        ("classification", "odd values, and labels out of range", "token ids"),
        ("regression", "odd values and missing targets", "token ids"),
    ],
)
def test_a_batch_is_looked_at_for_what_it_can_hold(task: Any, words: str, others: str) -> None:
    """A regression has no token ids."""
    run = drawn("x", task=task, train_loss="0:2 500:1 510:nan 900:nan").run()
    said = told(explained("nan-loss", run))
    assert words in said
    assert others not in said


@pytest.mark.parametrize(
    ("per_epoch", "words"),
    [
        (200_000, "at step 500"),
        (62_500, "after 0.8\u202f% of the first pass"),
        (505, "after 99\u202f% of the first pass"),
        (501, "after the first pass"),
    ],
)
def test_a_first_evaluation_is_dated_by_what_was_seen(per_epoch: int, words: str) -> None:
    """Step 24 of 8,080 is not before any training, and 100 % of the first pass is all of it."""
    losses: dict[str, Any] = {"train_loss": "0:3 5000:0.5", "eval_loss": "500:6 1500:5 5000:9 /500"}
    run = drawn("x", steps_per_epoch=per_epoch, noise=0.001, **losses).run()
    causes = diagnose(run).causes
    assert any(words in one.evidence_for for one in causes), [one.evidence_for for one in causes]
