"""NaN evaluation: what the drawn cases cannot say."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.numerics.nan_eval import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Task
from runlens.signals import Signals

TRAIN = "0:2.2 300:1.3 900:0.9"


def said(case: Case) -> Outcome:
    """Ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_each_evaluation_set_is_looked_at() -> None:
    """One of several sets fails: the finding names it."""
    curves = {"train_loss": TRAIN, "eval_loss:en": "50:2 900:1", "eval_loss:de": "50:nan 900:nan"}
    assert said(Case("sets", curves)).findings[0].metric == "eval_loss:de"


def test_metric_of_the_best_model_is_looked_at() -> None:
    """What chooses the checkpoint must be a number."""
    case = drawn(
        "best",
        config={"metric_for_best_model": "eval_accuracy"},
        train_loss=TRAIN,
        eval_loss="50:2 900:1",
        eval_accuracy="50:nan 900:nan",
    )
    assert said(case).findings[0].metric == "eval_accuracy"


def test_value_loss_is_no_evaluation() -> None:
    """`value_loss` begins like `val_loss` and is another thing."""
    case = drawn("v", task="rl", eval_loss="50:2 900:1", value_loss="0:nan 900:nan")
    assert said(case).status == "passed"


def test_infinite_perplexity_of_a_finite_loss_is_no_fault() -> None:
    """exp() of a large loss overflows; the loss itself is told elsewhere."""
    case = drawn("p", train_loss=TRAIN, eval_loss="50:900 900:800", eval_ppl="50:inf 900:inf")
    assert said(case).status == "passed"


def test_all_evaluations_blame_the_data_and_half_precision_comes_first_if_set() -> None:
    """The causes follow what the run recorded."""
    always = said(drawn("d", train_loss=TRAIN, eval_loss="50:nan 900:nan")).findings[0]
    assert "masked" in always.causes[0].what
    config: dict[str, bool] = {"fp16_full_eval": True}
    half = said(drawn("h", config=config, train_loss=TRAIN, eval_loss="50:nan 900:nan"))
    assert "fp16" in half.findings[0].causes[0].what
    assert half.findings[0].fixes[0].setting == "bf16_full_eval"


def test_no_evaluation_is_unmet() -> None:
    """The reason says how to get one."""
    outcome = said(drawn("n", train_loss=TRAIN))
    assert outcome.status == "unmet"
    assert "eval_strategy" in outcome.reason


def test_masked_labels_are_a_cause_of_models_of_language_alone() -> None:
    """A detector whose evaluation is never a number was told to filter labels of -100."""
    tasks: tuple[tuple[Task, str], ...] = (("sft", "masked"), ("classification", "targets"))
    for task, word in tasks:
        lost = drawn("d", task=task, train_loss=TRAIN, eval_loss="50:nan 900:nan")
        told = said(lost).findings[0]
        assert word in told.causes[0].what
        assert ("-100" in told.fixes[0].what) is (word == "masked")


def test_best_so_far_begins_at_infinity() -> None:
    """An early stopping that writes `inf -> 0.9` has no evaluation before; one that rises had."""
    never = Case("best", {"train_loss": TRAIN, "eval_loss": "50:inf 100:2 900:1"}, noise=0.0)
    assert said(never).status == "passed"
    risen = Case("one", {"train_loss": TRAIN, "eval_loss": "50:inf 100:1 900:2"}, noise=0.0)
    assert said(risen).status == "found"
    second = Case("two", {"train_loss": TRAIN, "eval_loss": "50:3 100:inf 150:2 900:1"}, noise=0.0)
    assert said(second).status == "found"
    unknown = Case("nan", {"train_loss": TRAIN, "eval_loss": "50:nan 100:2 900:1"}, noise=0.0)
    assert said(unknown).status == "found"


def test_a_mean_over_nothing_is_not_infinite() -> None:
    """0 / 0 is NaN; one that is infinite each time overflowed, whatever the task is."""
    for bad, word in (("inf", "overflow"), ("nan", "masked")):
        lost = said(drawn("d", train_loss=TRAIN, eval_loss=f"50:{bad} 900:{bad}")).findings[0]
        assert word in lost.causes[0].what.lower()
        assert ("0 / 0, which is NaN" in (lost.fixes[0].why or "")) is (bad == "inf")
    mixed = said(drawn("m", train_loss=TRAIN, eval_loss="50:nan 60:inf 900:inf")).findings[0]
    assert "masked" in mixed.causes[0].what
