"""Diffs that would not help, each with the run that would have got it."""

from dataclasses import replace
from typing import Any

import pytest

from runlens import fixes
from runlens.cause import Cause
from runlens.diagnosis import Advice, Finding, Incident
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.knowledge.constraints import refused
from runlens.knowledge.dialects import place_of
from runlens.rules.loss import causes_of_zero
from runlens.rules.loss.kind_of_zero import Zero
from runlens.rules.rule import drawn, message
from runlens.run import Configured, Run, Setting, State
from runlens.signals import Signals

TURNS: dict[str, Any] = {"train_loss": "0:2 900:0.1", "eval_loss": "0:2 300:1.4 900:2.4 ~0.01/100"}
NEVER_BETTER: dict[str, Any] = {
    "train_loss": "0:2 900:0.1",
    "eval_loss": "0:1.4 100:1.39 900:2.4 ~0.001/100",
}


def configured(made: Run, **settings: tuple[Setting, str, str]) -> Run:
    """Return a run with settings: canonical key = (value, key as written, file)."""
    known = {key: Configured(one[0], one[2], one[1], one[2]) for key, one in settings.items()}
    return replace(made, config={**made.config, **known})


def shown(advice: Advice) -> list[str]:
    """Return the changed lines of a diff."""
    return [f"{sign} {text.strip()}" for sign, text in advice.diff if sign.strip()]


def test_a_sentence_of_a_log_is_no_place_to_change_a_setting() -> None:
    """``Train steps: 2115`` was printed; the argument is changed, and has no old value."""
    run = configured(
        drawn("x", framework="transformers", **TURNS).run(),
        max_steps=(2115, "Train steps", "02_train.log"),
    )
    place = place_of(run, "max_steps")
    assert place is not None
    assert (place.where, place.name, place.recorded) == ("TrainingArguments", "max_steps", False)


def test_a_file_that_holds_the_curves_is_no_place_to_change_a_setting() -> None:
    """The run wrote it at its end; the configuration beside it is the user's."""
    base = drawn("x", framework="pytorch", **TURNS).run()
    run = configured(base, weight_decay=(1e-5, "weight_decay", "results.json"))
    for sources, where in (
        (("results.json",), "the settings in results.json"),
        (("log.csv",), "results.json"),
    ):
        rows = {"train_loss": columns([0, 1], [2.0, 1.0])}
        place = place_of(replace(run, history=History(rows, sources)), "weight_decay")
        assert place is not None
        assert place.where == where


def test_steps_that_the_framework_worked_out_do_not_rule_over_epochs() -> None:
    """Only max_steps in the user's own YAML does."""
    base = drawn("x", framework="axolotl", **TURNS).run()
    epochs = (40, "num_epochs", "config.yaml")
    derived = configured(base, num_train_epochs=epochs, max_steps=(235, "max_steps", "r.wandb"))
    own = configured(base, num_train_epochs=epochs, max_steps=(235, "max_steps", "config.yaml"))
    for run, why in ((derived, False), (own, True)):
        settings = {key: one.value for key, one in run.config.items()}
        assert bool(refused(run, settings, frozenset({"num_train_epochs"}))) is why


@pytest.mark.parametrize(("curves", "better"), [(TURNS, False), (NEVER_BETTER, True)])
def test_a_best_model_that_learned_nothing_is_not_kept(curves: Any, *, better: bool) -> None:
    """Where the best evaluation is that before training, no number of steps helps."""
    run = drawn("x", **curves).run()
    run = configured(run, max_steps=(900, "max_steps", "config.json"))
    assert fixes.never_better(Signals(run)) is better
    made = diagnose(run).do_first
    assert any("max_steps" in line for line in shown(made)) is not better
    assert any("Use a checkpoint" in what for what, _ in made.steps) is not better


def test_a_gain_before_the_first_evaluation_is_not_known() -> None:
    """A run that is first evaluated after an epoch may have learned all before."""
    run = drawn("x", train_loss="0:2 900:0.1", eval_loss="100:1.4 900:2.4 ~0.01/100").run()
    assert not fixes.never_better(Signals(run))


@pytest.mark.parametrize(("every", "better"), [(1, False), (100, True)])
def test_a_row_of_each_epoch_that_counts_from_0_has_trained_already(
    every: int, *, better: bool
) -> None:
    """A loop that evaluates before it trains has steps between its rows."""
    train, evals = (
        f"0:{first} {9 * every}:{last} /{every}" for first, last in ((2, 0.1), (1.4, 2))
    )
    case = drawn("x", noise=0, train_loss=train, eval_loss=evals)
    assert fixes.never_better(Signals(case.run())) is better


def test_epochs_that_count_from_0_are_one_more_than_their_rows() -> None:
    """The best of six evaluations stands in the third row: after three epochs."""
    config = {"num_train_epochs": 6}
    curves: dict[str, Any] = {"train_loss": "0:2 5:0.1 /1", "eval_loss": "0:1.4 2:1.1 5:2.4 /1"}
    run = replace(drawn("x", config=config, **curves), steps_per_epoch=1).run()
    history = History(
        {
            name: columns(run.curve(name).step, run.curve(name).value, run.curve(name).step + 1.0)
            for name in curves
        },
        ("drawn",),
    )
    run = replace(run, history=history)
    (fix,) = fixes.shorter(run, Signals(run), 2)
    assert (fix.new, fix.why) == (3, "evaluation was best at step 2, after 3 epochs")


@pytest.mark.parametrize(("kind", "weights"), [("memorised", True), ("evaluation", False)])
def test_what_a_wrong_evaluation_calls_best_is_not_used(kind: str, *, weights: bool) -> None:
    """Fix the measure first."""
    from runlens.advice import first_steps

    run = drawn("x", **TURNS).run()
    lead = next(one for one in diagnose(run).findings if one.rule == "hockey-stick")
    cause = Cause("x", "most likely", "y", kind=kind)
    made = first_steps(run, Signals(run), [Incident((lead,))], (cause,))
    assert any("Use a checkpoint" in what for what, _ in made.steps) is weights


def test_a_rate_far_above_the_usual_goes_down_to_it() -> None:
    """Forty times too much, then twenty or four: still too much."""
    run = drawn("x", task="grpo", framework="unknown", reward="0:0.1 900:0.2").run()
    run = configured(run, learning_rate=(2e-3, "learning_rate", "config.json"))
    (fix,) = fixes.learning_rate(run, Signals(run), 1 / 2, "smaller updates")
    assert fix.new == 5e-5


@pytest.mark.parametrize("evaluated", [{}, {"eval_loss": "0:3 540:0.2 900:1.5"}])
def test_memorised_without_an_evaluation_goes_back_to_the_default(evaluated: Any) -> None:
    """Zero is reached long after the best step; only an evaluation knows where that was."""
    curves: dict[str, Any] = {"train_loss": "0:4 300:0.002 900:0.001", **evaluated}
    plan = State("finished", "", "certain", planned_steps=900, planned_epochs=100)
    run = drawn("x", task="sft", state=plan, **curves).run()
    run = configured(run, num_train_epochs=(100, "num_train_epochs", "x.wandb"))
    zero = Zero("memorised", "warning", "")
    told = causes_of_zero.cures(run, Signals(run), zero, 300.0)
    new = next(fix.new for fix in told if fix.setting == "num_train_epochs")
    assert (new == 3) is not bool(evaluated)


def kinds(**curves: Any) -> list[str]:
    """Return the kinds of the causes of a drawn run, the first one first."""
    return [cause.kind for cause in diagnose(drawn("x", **curves).run()).causes]


def test_memorised_needs_a_train_loss_that_fell_after_the_turn() -> None:
    """Both losses rise: nothing is memorised."""
    told = kinds(train_loss="0:3.5 300:3.2 900:3.45", eval_loss="0:3.6 300:3.3 900:3.7 ~0.01/100")
    assert "memorised" not in told


def oom(**memory: Any) -> list[Finding]:
    """Return what is found where the memory of the GPU ran out."""
    line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB."
    event = message(line, "oom", 1, 240, exception=line)
    made = drawn("x", events=(event,), train_loss="0:4 240:2", **memory).run()
    return list(diagnose(made).findings)


def test_growing_memory_of_the_host_does_not_fill_the_gpu() -> None:
    """Each memory is judged by its own curve."""
    assert not any("kept alive" in c.what for f in oom(host_mem="0:0.4 240:0.6") for c in f.causes)
    assert any("kept alive" in c.what for f in oom(gpu_mem="0:40 240:75") for c in f.causes)
