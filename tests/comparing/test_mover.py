"""What parts first, in one sentence, and the class of causes that it names."""

import pytest

from runlens.comparing.mover import mover
from runlens.comparing.parting import partings
from runlens.comparison import Parting
from runlens.run import Event, Run, Setting
from tests.comparing.drawn_pairs import ARGUMENTS, changed, run, with_

LATER = {"train_loss": "0:2.2 300:1.4 310:1.6 1000:1.4"}


def told(a: Run, b: Run) -> str:
    """Return the sentence about two runs."""
    where = partings(a, b, "step")
    return mover(a, b, where, changed(a, b, parted=where))


AFTER_WARMUP = (
    "at step 60, after an equal warm-up: the schedule or its length (lr_scheduler_type differs)"
)


def test_nothing_is_said_where_nothing_parts() -> None:
    """Equal runs, and runs without a common metric."""
    assert told(run(), run()) == ""
    assert mover(run(), run(), (), ()) == ""


@pytest.mark.parametrize(
    ("settings", "rate", "words"),
    [
        ({"learning_rate": 4e-4}, "0:0 50:4e-4 1000:0",
         "at step 10, by 2 × throughout: the peak rate (learning_rate differs)"),
        ({"warmup_steps": 0}, "0:2e-4 50:2e-4 1000:0",
         "at step 0, within warm-up most: the warm-up (warmup_steps differs)"),
        ({"lr_scheduler_type": "constant"}, "0:0 50:2e-4 1000:2e-4", AFTER_WARMUP),
    ],
)  # fmt: skip
def test_a_rate_that_parts_first_is_named(
    settings: dict[str, Setting], rate: str, words: str
) -> None:
    """With how it differs, and the setting that does."""
    loss = "0:2.2 60:2 300:1.5 1000:1.3"
    b = run(with_(**settings), {"learning_rate": rate, "train_loss": loss})
    a = run(ARGUMENTS, {"train_loss": "0:2.2 60:2 300:1.4 1000:1.1"})
    assert told(a, b) == f"The learning rate differs first, {words}."


def test_a_rate_that_parts_later_is_not_the_mover() -> None:
    """The losses parted before."""
    b = run(with_(seed=7), {"learning_rate": "0:0 50:2e-4 1000:2e-4"}, noise="two")
    assert told(run(ARGUMENTS), b).startswith("Train loss differs from the first logged step")


def test_more_data_a_step_is_batch_or_data() -> None:
    """By the epochs that were logged."""
    a = run(ARGUMENTS, steps_per_epoch=200.0)
    b = run(with_(per_device_train_batch_size=16), noise="two", steps_per_epoch=100.0)
    assert told(a, b) == (
        "A step of B takes 2 × the share of an epoch: batch or data "
        "(per_device_train_batch_size differs)."
    )


def test_one_batch_made_up_otherwise_is_rounding() -> None:
    """8 x 1 against 2 x 4."""
    parts = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4}
    assert told(run(ARGUMENTS), run(with_(**parts), LATER)) == (
        "The runs part after step 300 with the same effective batch of 8, made up otherwise: "
        "the rounding of its sums."
    )


def test_another_seed_differs_from_the_first_step() -> None:
    """At equal learning rates."""
    assert told(run(ARGUMENTS), run(with_(seed=7), noise="two")) == (
        "Train loss differs from the first logged step, at equal learning rates: "
        "initialization or order of the data (seed alone differs)."
    )


def test_a_setting_that_acts_later_does_not_explain_the_first_step() -> None:
    """Other epochs part no first loss: neither is said to be the cause."""
    b = run(with_(num_train_epochs=5.0), noise="two")
    assert told(run(ARGUMENTS), b) == (
        "Train loss differs from the first logged step, at equal learning rates: "
        "initialization, data or their order."
    )


def test_a_loss_times_the_accumulation_is_scaled() -> None:
    """Not worse."""
    b = run(with_(gradient_accumulation_steps=4), {"train_loss": "0:8.8 300:5.6 1000:4.4"})
    assert told(run(ARGUMENTS), b).startswith("The first train loss of B is 4 times the other")


def test_one_seed_and_one_configuration_that_part_are_numerics() -> None:
    """Equal for a while, then not."""
    assert told(run(ARGUMENTS), run(ARGUMENTS, LATER)) == (
        "The runs part after equal values up to step 300 with one seed and no setting that bears "
        "on the training: kernels, hardware or versions."
    )


def test_clipping_is_named_where_norms_pass_the_tighter_limit() -> None:
    """And only there."""
    a = run(with_(max_grad_norm=10.0))
    assert "gradient clipping" in told(a, run(with_(max_grad_norm=0.5), LATER))
    assert "pass the tighter limit" not in told(a, run(with_(max_grad_norm=5.0), LATER))


def test_a_parting_at_a_resume_is_the_resume() -> None:
    """One that comes long before or after it is not."""
    b = run(ARGUMENTS, LATER, events=(Event("resume", 300),))
    assert told(run(ARGUMENTS), b).startswith("The runs part where B was resumed, at step 300")
    early = run(ARGUMENTS, LATER, events=(Event("resume", 100),))
    assert "resumed" not in told(run(ARGUMENTS), early)


def test_evaluation_alone_is_its_set_or_its_code() -> None:
    """The training is the same."""
    a = run(ARGUMENTS, {"eval_loss": "50:1.9 1000:1.2"})
    b = run(ARGUMENTS, {"eval_loss": "50:2.9 1000:2.2"})
    assert told(a, b) == (
        "Evaluation alone differs, eval_loss from step 50, while the training is the same: "
        "evaluation set or evaluation code."
    )


def test_speed_alone_is_hardware() -> None:
    """No metric of the training parts."""
    speed = (Parting("throughput_tokens", None, clear=100.0),)
    assert mover(run(), run(), speed, ()).startswith("Nothing but speed and clocks differ")
