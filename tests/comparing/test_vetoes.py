"""What forbids a claim: a lost run, metrics that disagree, other data."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from runlens.comparing.engine import compare
from runlens.comparing.vetoes import against
from runlens.comparison import Comparison, Measure
from runlens.run import Run, Setting, State
from tests.comparing.drawn_runs import Values, falling, run
from tests.report.diagnoses import finding


def measure(metric: str, outcome: str, **changes: object) -> Measure:
    """Return the end of a metric by which B is better or worse."""
    row = Measure(metric, f"Last {metric}", 1.0, 0.8, -0.2, better="lower", clear=True)
    return row._replace(outcome=outcome, **changes)  # type: ignore[arg-type]


def test_a_critical_run_is_not_better_by_its_training_loss() -> None:
    """By a held-out one it may be; and a critical loser changes nothing."""
    train, held_out = measure("train_loss", "better"), measure("eval_loss", "better")
    lost = [finding(severity="critical")]
    veto = against(train, (train,), ((), lost))
    assert veto is not None
    assert (veto.result, "B is critical" in veto.sentence) == ("cannot_tell", True)
    assert against(held_out, (held_out,), ((), lost)) is None
    assert against(train, (train,), (lost, ())) is None
    both = against(train, (train,), (lost, lost))
    assert both is not None
    assert "both are critical" in both.sentence


def test_metrics_of_one_weight_that_disagree_are_mixed() -> None:
    """Eval loss against eval accuracy; an aim such as MRR is not outvoted by a loss."""
    loss, accuracy = measure("eval_loss", "better"), measure("eval_accuracy", "worse")
    veto = against(loss, (loss, accuracy), ((), ()))
    assert veto is not None
    assert veto.result == "mixed"
    assert "eval accuracy" in veto.sentence
    assert against(loss, (loss, accuracy), ((), ()), asked=True) is None
    mrr = measure("eval_mrr", "worse")
    assert against(mrr, (mrr, loss), ((), ())) is None
    assert against(loss, (loss, accuracy._replace(outcome="cannot_tell")), ((), ())) is None


def pair(
    a: Mapping[str, Values], b: Mapping[str, Values], **config: tuple[Setting, Setting]
) -> Comparison:
    """Compare two runs with settings by their values in A and in B."""
    known = [{key: both[side] for key, both in config.items()} for side in (0, 1)]
    return compare(
        run(a, config={"hidden": 8, **known[0]}), run(b, config={"hidden": 8, **known[1]})
    )


def test_losses_on_other_data_are_not_compared() -> None:
    """Unless one evaluation set is named; the name may end in anything."""
    a, b = ({"train_loss": falling(200, seed), "eval_loss": falling(20, seed)} for seed in (1, 2))
    other = pair(a, b, dataset_name=("openwebtext", "fineweb"))
    assert other.verdict.result == "not_comparable"
    assert "dataset_name is openwebtext in A and fineweb in B" in other.verdict.sentence
    named = pair(a, b, dataset_name=("a", "b"), eval_file=("held.jsonl", "held.jsonl"))
    assert named.verdict.result != "not_comparable"


def test_one_training_that_is_logged_by_the_epoch_is_the_same() -> None:
    """Its values agree one by one, though its steps do not."""
    curves = {"train_loss": falling(100, 1), "eval_loss": falling(20, 2)}
    found = compare(run(curves, every=5), run(curves))
    assert found.verdict.result == "identical"


def test_runs_of_one_seed_that_stay_together_are_equivalent() -> None:
    """A weight decay that does nothing: seeds part by more than these two ever do."""
    curve = falling(60, 1, 0.01)
    near = curve * (1 + 1e-5 * np.random.default_rng(5).normal(size=60))
    found = pair({"eval_loss": curve}, {"eval_loss": near}, weight_decay=(0.0, 1e-4), seed=(1, 1))
    assert found.verdict.result == "equivalent"
    apart = pair({"eval_loss": curve}, {"eval_loss": near}, weight_decay=(0.0, 1e-4), seed=(1, 2))
    assert (apart.verdict.p_equal or 0) < (found.verdict.p_equal or 0)


def test_the_metric_that_the_user_asked_for_decides_alone() -> None:
    """Without it the loss says the opposite, and neither run is better."""
    step, accuracy = np.linspace(0, 0.2, 60), falling(60, 1, 0.001)
    a = {"eval_accuracy": 0.9 - accuracy / 10, "eval_loss": accuracy}
    b = {"eval_accuracy": 0.9 - accuracy / 10 - step, "eval_loss": accuracy * (1 - step)}
    one, two = run(a), run(b)
    assert compare(one, two).verdict.result == "mixed"
    asked = compare(one, two, metric="eval_accuracy").verdict
    assert (asked.result, asked.metric) == ("worse", "eval_accuracy")


def passes(epochs: float, end: float, seed: int) -> Run:
    """Draw a finished run of so many passes over 200 steps of data, its train loss at `end`."""
    loss = falling(int(200 * epochs), seed) * np.linspace(1, end, int(200 * epochs))
    state = State("finished", "the trainer said so", "certain", planned_epochs=epochs)
    return replace(run({"train_loss": loss}, f"{epochs}"), state=state)


def test_a_training_loss_of_more_passes_is_memory_too() -> None:
    """Lower at its own end and not at the equal end: no better run; of one pass it is."""
    verdict = compare(passes(1, 1.0, 1), passes(5, 0.5, 2)).verdict
    assert verdict.result == "cannot_tell"
    assert "asses over the data: 1 in A, 5 in B" in verdict.second
    assert compare(passes(1, 1.0, 1), passes(1, 0.5, 2)).verdict.result == "better"
