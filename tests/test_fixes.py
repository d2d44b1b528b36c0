"""Fixes carry the numbers of this run, and never invent an old one."""

import math
from typing import Any

import pytest

from runlens import fixes
from runlens.diagnosis import Fix
from runlens.knowledge import in_force
from runlens.rules.rule import drawn
from runlens.run import Event, Run, State
from runlens.signals import Signals

RATE = "0:0 100:1e-3 1000:0"


def run(config: dict[str, Any] | None = None, **more: Any) -> Run:
    """Return a run of 1,000 steps with some settings."""
    return drawn("run", config=config, train_loss="0:3 1000:1", **more).run()


def changes(made: tuple[Fix, ...]) -> dict[str, tuple[Any, Any]]:
    """Return setting -> (old, new)."""
    return {fix.setting: (fix.old, fix.new) for fix in made}


def lower(of: Run) -> tuple[Fix, ...]:
    """Ask for a fifth of the learning rate."""
    return fixes.learning_rate(of, Signals(of), 1 / 5, "it climbed")


def test_learning_rate_is_that_of_the_settings_else_the_highest_logged() -> None:
    """Two digits; nothing where nobody knows it."""
    assert changes(lower(run({"learning_rate": 1e-4}))) == {"learning_rate": (1e-4, 2e-5)}
    assert changes(lower(run(learning_rate=RATE))) == {"learning_rate": (None, 2e-4)}
    assert lower(run()) == ()


@pytest.mark.parametrize("framework", ["", "transformers"])
def test_a_lower_rate_is_no_higher_than_what_is_usual(framework: str) -> None:
    """A tenth of 4e-3 is still eight times the usual maximum of GRPO, which the report quotes."""
    for now in (4e-3, 8e-4, 1e-4):
        made = lower(run({"learning_rate": now}, task="grpo", framework=framework))
        assert changes(made)["learning_rate"][1] <= 5e-5


@pytest.mark.parametrize("odd", [math.inf, math.nan, 0.0, "many"])
def test_a_learning_rate_that_is_none_is_not_changed(odd: object) -> None:
    """A fifth of infinity is no advice."""
    assert lower(run({"learning_rate": odd})) == ()


def test_a_schedule_that_left_its_settings_is_to_blame_itself() -> None:
    """Lowering the setting would not help."""
    (fix,) = lower(run({"learning_rate": 1e-4}, learning_rate=RATE))
    assert fix.setting == ""
    assert "1e-3" in fix.why
    assert "1e-4" in fix.why


@pytest.mark.parametrize(
    ("config", "norm", "framework", "new"),
    [
        ({"max_grad_norm": 5.0}, "0:0.4 1000:0.4", "", 0.8),
        ({"max_grad_norm": 0.0}, "0:0.4 1000:0.4", "", 0.8),
        ({"max_grad_norm": 1.0}, "0:3 1000:3", "", None),
        ({}, "0:3 1000:3", "transformers", None),
        ({}, "0:3 1000:3", "", 6.0),
        ({}, None, "", 1.0),
        ({"max_grad_norm": 5.0}, None, "", None),
    ],
)
def test_clipping_bounds_outliers_of_the_runs_own_norms(
    config: dict[str, Any], norm: str | None, framework: str, new: float | None
) -> None:
    """Twice the median; a limit below the usual norm, or without any norm logged, is a guess."""
    curves = {"grad_norm": norm} if norm else {}
    of = run(config, framework=framework, noise=0.0, **curves)
    made = fixes.clipping(of, Signals(of), "why")
    assert [fix.new for fix in made] == ([] if new is None else [pytest.approx(new)])


@pytest.mark.parametrize(
    ("config", "changed"),
    [
        ({"warmup_ratio": 0.01}, {"warmup_ratio": (0.01, 0.05)}),
        ({"warmup_ratio": 0.1}, {}),
        ({"warmup_steps": 5}, {"warmup_steps": (5, 50)}),
        ({"warmup_steps": 400}, {}),
        ({}, {"warmup_steps": (None, 50)}),
        ({"warmup_steps": 5, "warmup_ratio": 0.0}, {"warmup_steps": (5, 50)}),
    ],
)
def test_warmup_grows_in_the_unit_already_used(
    config: dict[str, Any], changed: dict[str, Any]
) -> None:
    """To 5 % of the run; a longer one stays."""
    assert changes(fixes.longer_warmup(run(config), "why")) == changed


def test_warmup_is_a_share_of_the_plan_not_of_what_was_done() -> None:
    """A run that stopped early was planned longer."""
    planned = run(state=State(planned_steps=4_000))
    assert changes(fixes.longer_warmup(planned, "why")) == {"warmup_steps": (None, 200)}


def test_half_precision_becomes_bf16_only_where_it_is_in_use() -> None:
    """Both settings, since both at once are refused."""
    assert changes(fixes.bf16(run({"fp16": True}), "why")) == {
        "bf16": (False, True),
        "fp16": (True, False),
    }
    assert fixes.bf16(run({"bf16": True}), "why") == ()
    assert fixes.bf16(run(), "why") == ()


@pytest.mark.parametrize(
    ("size", "steps", "new"), [(8, 2, (4, 4)), (8, 1, (4, 2)), (3, 2, (1, 6)), (5, 1, (2, 3))]
)
def test_a_smaller_batch_keeps_the_sum(size: int, steps: int, new: tuple[int, int]) -> None:
    """No sample less an update."""
    config = {"per_device_train_batch_size": size, "gradient_accumulation_steps": steps}
    made = changes(fixes.smaller_batch(run(config), "why"))
    half, accumulated = (made[key][1] for key in made)
    assert (half, accumulated) == new
    assert half * accumulated >= size * steps


def test_no_accumulation_is_invented() -> None:
    """Of a Trainer whose settings lack it the factor is named, no old and no new number."""
    half, more = fixes.smaller_batch(run({"per_device_train_batch_size": 8}), "why")
    assert (half.old, half.new) == (8, 4)
    assert not more.setting
    assert "2 times as many steps" in more.what
    (double,) = fixes.more_accumulation(run(), 2, "why")
    assert not double.setting


@pytest.mark.parametrize(
    ("config", "framework", "steps"),
    [
        ({"gradient_accumulation_steps": 4}, "trl", 4),
        ({"per_device_train_batch_size": 3, "total_train_batch_size": 6}, "trl", None),
        (
            {"per_device_train_batch_size": 3, "total_train_batch_size": 6, "num_processes": 1},
            "trl",
            2,
        ),
        ({}, "trl", None),
        ({}, "pytorch", 1),
    ],
)
def test_accumulation_is_known_or_follows(
    config: dict[str, Any], framework: str, steps: int | None
) -> None:
    """Recorded, or from the total batch; a loop of one's own adds none up."""
    assert in_force.accumulation(run(config, framework=framework)) == steps


def test_a_batch_of_one_cannot_be_halved() -> None:
    """Nor one that nobody knows."""
    assert fixes.smaller_batch(run({"per_device_train_batch_size": 1}), "why") == ()
    assert fixes.smaller_batch(run(), "why") == ()


def test_the_checkpoint_before_a_step_is_the_last_one() -> None:
    """By the name of its folder; None where all are later."""
    saved = tuple(Event("checkpoint", at, data={"path": f"a/b/checkpoint-{at}/"}) for at in (9, 5))
    with_some = run(events=saved)
    assert fixes.checkpoint_before(with_some, 9) == (9, "checkpoint-9")
    assert fixes.checkpoint_before(with_some, 8) == (5, "checkpoint-5")
    assert fixes.checkpoint_before(with_some, 4) is None


def test_a_checkpoint_over_whose_writing_the_run_crashed_is_none() -> None:
    """Its folder is there, and half of its files."""
    at = run().last_step
    places = ((at - 5, "a/checkpoint-1"), (at, "a/checkpoint-2"))
    saved = [Event("checkpoint", step, data={"path": path}) for step, path in places]
    for stage, kept in (("saving a checkpoint", 1), ("the backward pass", 2)):
        raised = Event("message", at, data={"stage": stage, "last": True})
        found = fixes.checkpoint_before(run(events=(*saved, raised)), at)
        assert found is not None
        assert found[1] == f"checkpoint-{kept}"


def test_a_checkpoint_that_was_written_over_is_none() -> None:
    """A loop that saves into one folder keeps the last weights alone."""
    saved = tuple(Event("checkpoint", at, data={"path": "out/best"}) for at in (4, 9))
    assert fixes.checkpoint_before(run(events=saved), 8) is None
    assert fixes.checkpoint_before(run(events=saved), 9) == (9, "the checkpoint in best")


@pytest.mark.parametrize(("value", "rounded"), [(6.6667e-05, 6.7e-05), (0.1, 0.1), (123.0, 120.0)])
def test_new_settings_have_two_digits(value: float, rounded: float) -> None:
    """More would look measured."""
    assert fixes.two_digits(value) == rounded


@pytest.mark.parametrize(
    ("config", "changed"),
    [
        ({}, {"dataloader_num_workers": (None, 4)}),
        ({"dataloader_num_workers": 0}, {"dataloader_num_workers": (0, 4)}),
        ({"dataloader_num_workers": 4}, {}),
    ],
)
def test_more_workers_only_where_there_are_fewer(
    config: dict[str, Any], changed: dict[str, tuple[Any, Any]]
) -> None:
    """Four a GPU; a loader that has them is not the bottleneck."""
    assert changes(fixes.more_workers(run(config))) == changed


@pytest.mark.parametrize(
    ("config", "changed"),
    [
        ({}, {}),
        ({"lora_dropout": 0.0}, {}),
        ({"lora_dropout": 0.0, "adapter": "lora"}, {"lora_dropout": (0.0, 0.05)}),
        ({"lora_dropout": 0.1}, {}),
    ],
)
def test_more_dropout_only_for_an_adapter_that_has_less(
    config: dict[str, Any], changed: dict[str, tuple[Any, Any]]
) -> None:
    """A run without an adapter has no such setting."""
    assert changes(fixes.more_dropout(run(config), "why")) == changed


def test_the_effective_batch_counts_accumulation() -> None:
    """Samples of one update of one process; unknown where the batch is."""
    config = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 8}
    assert in_force.effective_batch(run(config)) == 32
    assert in_force.effective_batch(run({"per_device_train_batch_size": 4})) is None
    loop = run({"per_device_train_batch_size": 4}, framework="pytorch")
    assert in_force.effective_batch(loop) == 4
    assert in_force.effective_batch(run()) is None


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (0, "you lose no steps"),
        (1, "you lose 1 step"),
        (1500, "you lose 1,500 steps"),
    ],
)
def test_going_back_says_what_it_costs(steps: float, words: str) -> None:
    """As a sentence, for one step and for many."""
    assert fixes.lost_steps(steps) == words


def test_a_step_to_stop_at_is_called_the_best_only_where_something_was_evaluated() -> None:
    """Without an evaluation it is where the data are memorized."""
    config = {"max_steps": 1000}
    blind, seen = run(config), run(config, eval_loss="100:2 400:1 1000:3")
    (first,) = fixes.shorter(blind, Signals(blind), 400.0)
    assert (first.what, first.why) == ("Stop earlier", "the data are memorized by step 400")
    (best,) = fixes.shorter(seen, Signals(seen), 400.0)
    assert (best.what, best.why) == ("Stop at the best step", "evaluation was best at step 400")
    (between,) = fixes.shorter(seen, Signals(seen), 405.0)
    assert between.what == "Stop earlier"
