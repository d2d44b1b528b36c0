"""A test of a model that was trained before, batch by batch: one evaluation, and no course."""

from pathlib import Path

from runlens.engine import diagnose
from tests.sources.written import run_of, runs_of

SETTINGS = ["epochs: 100", "num_episode: 400", "print_freq: 1", "test: True"]


def batches(count: int, *, means: bool = True) -> list[str]:
    """Return the batches of a test, with the mean of the losses so far."""
    lines, done = [], 0.0
    for n in range(1, count + 1):
        loss = 0.7 + (n % 5) / 10
        done += loss
        mean = f" ({done / n:.4f})" if means else ""
        lines += [f"Test: [{n}/{count}] Loss {loss:.4f}{mean} Accuracy {n % 2}.0000."]
    return lines


def test_one_pass_over_a_test_set_is_one_evaluation(tmp_path: Path) -> None:
    """Its loss is the last mean; an accuracy without one is of the last batch, and no result."""
    run = run_of(
        tmp_path, "results.txt", "\n".join([*SETTINGS, *batches(100), "==>Test done!", ""])
    )
    assert run.curve("eval_loss").value.tolist() == [0.9]
    assert sorted(run.history.metrics) == ["eval_loss"]
    assert not [one for one in diagnose(run).findings if one.severity == "warning"]


def test_a_test_without_means_is_read_as_it_stands(tmp_path: Path) -> None:
    """The setting ``num_episode`` says how many there are, and not where its rows stand."""
    text = "\n".join([*SETTINGS, *batches(100, means=False), ""])
    loss = run_of(tmp_path, "results.txt", text).curve("eval_loss")
    assert loss.step.tolist() == list(range(1, 101))


def test_several_passes_are_no_single_evaluation(tmp_path: Path) -> None:
    """Nothing says what was between them."""
    text = "\n".join([*batches(20), *batches(30), ""])
    runs = runs_of(tmp_path, "results.txt", text)
    assert [len(run.curve("eval_loss")) for run in runs] == [20, 30]
