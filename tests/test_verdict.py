"""The verdict: what leads it, what it leaves out, and when it may say that nothing is wrong."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens import diagnose, verdict
from runlens.diagnosis import Confidence, Finding, Incident, Moment, Outcome, Severity, Verdict
from runlens.history import History, columns
from runlens.rules.rule import drawn
from runlens.run import Run, State, Task
from runlens.signals import Signals
from runlens.verdict import NAMED
from runlens.wording import DOUBT

PASSED = {slug: Outcome("passed") for slug in verdict.DECIDING}
FALLS = "0:3 900:1"


def finding(
    rule: str, step: float = 100, severity: Severity = "critical", metric: str = "train_loss"
) -> Finding:
    """Return a finding with a title and what was seen."""
    said = f"{rule} at {step:g}."
    return Finding(
        severity, said, metric, Moment(step), (), seen=f"Seen {rule}.", rule=rule,
        confidence=Confidence(0.9),
    )  # fmt: skip


def incident(*findings: Finding) -> Incident:
    """Return an incident led by the first."""
    return Incident(findings, findings[0].title)


def of(
    run: Run, *made: Incident, outcomes: Mapping[str, Outcome] = PASSED, asked: tuple[str, ...] = ()
) -> Verdict:
    """Return the verdict on a run."""
    return verdict.of(run, Signals(run), made, outcomes, asked or verdict.DECIDING)


def run(task: Task = "sft", noise: float | dict[str, float] = 0.001, **curves: Any) -> Run:
    """Draw a run with little noise."""
    return drawn("verdict", noise=noise, task=task, **curves).run()


@pytest.mark.parametrize(
    ("other", "second"),
    [
        (finding("nan-loss", 300), "nan-loss at 300."),
        (finding("nan-loss", 146), "nan-loss at 146."),
        (finding("nan-loss", 145), "Seen divergence."),  # 5 % of 900 steps: one place
        (finding("nan-loss", 55), "Seen divergence."),
        (finding("nan-grad", 100, metric="grad_norm"), "nan-grad at 100."),  # another curve
        (finding("nan-loss", 300, "warning"), "Seen divergence."),  # less grave
    ],
)
def test_the_headline_is_followed_by_the_worst_that_came_of_it(other: Finding, second: str) -> None:
    """Unless it is another reading of the same place, or less grave than the lead."""
    made = of(run(train_loss=FALLS), incident(finding("divergence"), other))
    assert made.sentence == "divergence at 100."
    assert made.second == second
    assert made.health == "critical"


def test_a_fault_without_a_step_is_at_the_start() -> None:
    """A setting is in force from step 0 on: 5 % of the run after it is another place."""
    lead = replace(finding("divergence"), onset=Moment(None))
    assert of(run(train_loss=FALLS), incident(lead, finding("nan-loss", 46))).second == (
        "nan-loss at 46."
    )


def test_another_incident_is_named_beside_the_first() -> None:
    """Not one that is only information."""
    lead, quiet = incident(finding("divergence")), incident(finding("no-warmup", 0, "info"))
    other = incident(finding("throughput-drop", 10, "warning"))
    told = of(run(train_loss=FALLS), lead, other, quiet)
    assert told.second == "Seen divergence. Also: throughput-drop at 10."
    assert of(run(train_loss=FALLS), lead, quiet).second == "Seen divergence."


def test_four_points_are_judged_and_three_are_listed() -> None:
    """The fewest on which a rank test can say anything."""
    three = of(run(noise=0.0, train_loss="0:2 10:3 20:2"))
    assert three.sentence.endswith("3 points of train_loss up to step 20 (2.000, 3.000, 2.000).")
    assert three.health == "unknown"
    assert of(run(train_loss="0:3 30:1")).health == "healthy"


@pytest.mark.parametrize(
    ("curves", "quiet"),
    [
        ({"train_loss": "0:3 10:2 20:1.5"}, True),
        ({"train_loss": "0:3 10:2 20:2"}, False),
        ({"train_loss": "0:3 10:2 20:1.5", "eval_loss": "0:3 50:2"}, True),
        ({"train_loss": "0:3 10:2 20:1.5", "eval_loss": "0:2 50:3"}, False),
        ({"train_loss": "0:3 0:3"}, False),
        ({"dpo_acc": "0:0.5 10:0.7 20:0.9"}, True),
        ({"dpo_acc": "0:0.9 10:0.7 20:0.5"}, False),
        ({"d_loss": "0:0.9 10:0.3 20:0.01"}, False),
    ],
)
def test_few_points_that_get_better_each_time_are_not_alarming(
    curves: dict[str, Any], quiet: bool
) -> None:
    """Nor healthy: nothing could be checked. An evaluation that ends above its best says more."""
    told = of(run(noise=0.0, **curves))
    assert told.sentence.startswith("Nothing alarming was seen") == quiet
    assert told.health == "unknown"


@pytest.mark.parametrize(
    ("task", "curves", "quiet"),
    [
        ("sft", {"box_loss": "0:9 90:1", "dfl_loss": "0:4 90:2"}, True),
        ("sft", {"box_loss": "0:9 90:1", "dfl_loss": "0:4 90:5"}, False),
        ("sft", {"box_loss": "0:9 90:1", "adv_loss": "0:4 90:5"}, True),
        ("sft", {"eval_accuracy": "0:0.1 290:0.9"}, True),
        ("sft", {"log-likelihood": "0:-9 90:-4"}, True),
        ("sft", {"depth": "0:9 90:1"}, False),
        ("sft", {"run_auroc": "0:0.5 90:0.9"}, True),
        ("sft", {"pA": "0:0.2 90:0.6", "rA": "0:0.2 90:0.6", "fA": "0:0.2 90:0.6"}, True),
        ("sft", {"pA": "0:0.6 90:0.2", "rA": "0:0.6 90:0.2", "fA": "0:0.6 90:0.2"}, False),
        ("sft", {"pA": "0:0.2 90:0.6", "rA": "0:0.2 90:0.8", "fA": "0:0.3 90:0.9"}, False),
        ("sft", {"pA": "0:0.2 90:0.6", "rA": "0:0.2 90:0.6", "fA": "0:0.2 20:0.6"}, False),
        (
            "sft",
            {"A_P": "0:2 90:6", "A_R": "0:2 90:6", "A_F": "0:2 90:6", "loss A": "0:1 90:9"},
            True,
        ),
        (
            "sft",
            {"A_P": "0:6 90:2", "A_R": "0:6 90:2", "A_F": "0:6 90:2", "loss A": "0:9 90:1"},
            False,
        ),
        ("sft", {"custom_dice_loss": "0:0.3 90:0.9"}, False),
        ("grpo", {"value_loss": "0:9 90:1"}, False),
        ("grpo", {"ep_return_smooth": "0:1 90:9", "value_loss": "0:1 90:9"}, True),
    ],
)
def test_columns_whose_names_say_which_way_is_better_are_told(
    task: Task, curves: dict[str, Any], quiet: bool
) -> None:
    """Where all of them got better nothing alarming was seen; the others are listed."""
    told = of(run(task, noise=0.0, **curves))
    assert told.sentence.startswith("Nothing alarming was seen") == quiet, told.sentence
    assert quiet or task == "grpo" or "fA" in curves or "--column" in told.second
    assert told.health == "unknown"


def test_of_several_losses_none_is_judged() -> None:
    """Nothing says how much each counts, and one stays. Those of a policy are none."""
    losses = {"angle_loss": "0:7 90:1", "cls_loss": "0:0.85 90:0.85"}
    told = "The run cannot be judged. It logged 2 losses up to step 90 and not their total."
    assert of(run("sft", noise=0.0, **losses)).sentence == told
    assert "No loss or reward" in of(run("sft", noise=0.0, cls_loss="0:0.85 90:0.85")).sentence
    assert "No reward" in of(run("grpo", noise=0.0, **losses)).sentence


def test_a_column_that_became_nan_is_named_as_such() -> None:
    """Whatever it is, it is told with the step (issue threads paste a lone column)."""
    told = of(drawn("columns", noise=0.0, column_a="0:1 50:2 60:nan 90:nan").run())
    assert "column_a (1.000 to 2.000, not finite at 4 of 10 points from step 60 on)" in told.second


def test_without_a_loss_six_columns_are_named() -> None:
    """With their ranges, not one that counts rows and not one that never moves."""
    curves: dict[str, Any] = {f"column_{letter}": "0:1 90:2" for letter in "abcdefgh"}
    told = drawn("columns", noise=0.0, **curves, still="0:5 90:5", rows="0:0 90:9").run()
    said = of(told).second
    assert "column_a (1.000 to 2.000)" in said
    assert said.count(" to 2.000") == 6
    assert "and 2 more. If one of them is the train loss, pass --column train_loss=NAME." in said
    assert "still" not in said
    assert "rows" not in said
    few = drawn("few", noise=0.0, column_a="0:1 90:2").run()
    assert "column_a" in of(few).second
    assert "more" not in of(few).second


def test_a_column_that_is_called_a_loss_is_named_first() -> None:
    """It is the likelier one, wherever the log has it."""
    curves: dict[str, Any] = {f"column_{letter}": "0:1 90:2" for letter in "abcdefgh"}
    curves |= {"loss_target": "0:3 90:2", "vicreg_loss": "0:3 90:2"}
    said = of(drawn("columns", noise=0.0, **curves).run()).second
    assert (
        "The run logged loss_target (2.000 to 3.000), vicreg_loss (2.000 to 3.000), column_a"
        in said
    )
    assert "--column train_loss=loss_target" in said


def test_no_column_is_offered_as_a_loss_whose_name_says_that_it_is_none() -> None:
    """A time, a speed and a rate are no loss, and what got better is told already."""
    curves = {"eval_accuracy": "0:0.1 290:0.9", "time_cost": "0:3 290:4", "my_speed": "0:1 290:2"}
    told = of(drawn("named", noise=0.0, **curves).run())  # type: ignore[arg-type]
    assert told.sentence.startswith("Nothing alarming was seen up to step 290. Eval accuracy rose")
    assert told.second == ""


@pytest.mark.parametrize("name", ["support", "ID", "EpochsNum", "LambdaL1", "fold"])
def test_counts_and_settings_of_rows_are_not_offered_as_a_loss(name: str) -> None:
    """How many rows a class has, which row it is and what was set: none is measured."""
    curves: dict[str, Any] = {name: "0:3 290:7.5", "column_a": "0:1 90:2"}
    told = of(drawn("rows", noise=0.0, **curves).run())
    assert "If it is the train loss, pass --column train_loss=column_a" in told.second


def test_a_column_of_one_point_has_no_range() -> None:
    """And a policy is asked for its reward."""
    told = drawn("points", noise=0.0, task="grpo", one="0:1 0:1", two="0:1 10:3").run()
    assert "No reward was recognized" in of(told).sentence
    said = of(told).second
    assert "--column reward=two" in said
    assert "one 1" not in said


@pytest.mark.parametrize(
    ("curves", "said"),
    [
        ({"policy_loss": "0:1 90:2", "value_loss": "0:1 90:2"}, "value_loss (1.000 to 2.000)."),
        ({"policy_loss": "0:1 90:2"}, "The run logged one column, policy_loss (1.000 to 2.000)."),
        ({"policy_loss": "0:1 90:2", "entropy": "0:1 90:2", "my_gain": "0:1 90:2"},
         "If one of them is the reward, pass --column reward=my_gain."),
        ({"policy_loss": "0:1 90:2", "gain_a": "0:1 90:2", "gain_b": "0:1 90:2"},
         "If one of them is the reward, pass --column reward=NAME."),
        ({"policy_loss": "0:1 90:2", "smooth_return": "0:1 90:2"},
         "If one of them is the reward, pass --column reward=smooth_return."),
    ],
)  # fmt: skip
def test_a_loss_is_never_offered_as_a_reward(curves: dict[str, Any], said: str) -> None:
    """Nor an entropy; of several that may be it none is chosen."""
    assert of(run("rl", noise=0.0, **curves)).second.endswith(said)


@pytest.mark.parametrize(
    ("ends", "task", "told"),
    [("0:0.1 40:1e-13 900:1e-14", "rl", True), ("0:0.1 40:1e-6 900:1e-7", "rl", False),
     ("0:0 900:0", "rl", False), ("0:0.1 40:1e-13 900:1e-14", "other", False)],
)  # fmt: skip
def test_values_that_are_all_alike_are_told(ends: str, task: Task, *, told: bool) -> None:
    """What returns differ by is never predicted to the last digit; a constant is."""
    said = of(run(task, value_loss=ends, policy_loss="0:3 900:0.1")).sentence
    assert ("as where all its targets are the same" in said) is told


def test_several_evaluations_of_one_step_are_no_course() -> None:
    """As where a folder of models is evaluated one after the other."""
    at_once = {"eval_loss": columns([0] * 4, [3.1, 3.3, 3.2, 3.4])}
    told = of(Run("many", "many", History(at_once), task="classification")).sentence
    assert told.endswith("It logged 4 points of eval_loss at step 0 (3.100 to 3.400).")
    late = {"eval_loss": columns([0, 9, 9, 9], [3.1, 3.3, 3.2, 3.4])}
    told = of(Run("many", "many", History(late), task="classification")).sentence
    assert "4 points of eval_loss at 2 steps" in told
    lost = {"eval_loss": columns([0] * 4, [np.nan] * 4)}
    told = of(Run("many", "many", History(lost), task="classification")).sentence
    assert told.endswith("at step 0 (NaN).")


def test_an_accuracy_beside_no_loss_is_not_said_to_be_of_training() -> None:
    """A table of models has one as well; nothing says which rows it is of."""
    told = of(run("classification", noise=0.0, train_accuracy="0:0.5 90:0.9"))
    assert "Accuracy rose from 0.500 to 0.900" in told.sentence
    beside = {"train_accuracy": "0:0.5 90:0.9", "eval_accuracy": "/30 0:0.5 90:0.8"}
    both = of(run("classification", noise=0.0, **beside))
    assert "and train accuracy rose from 0.500 to 0.900" in both.sentence


def test_a_loss_that_fell_beyond_chance_did_not_fall_by_chance() -> None:
    """Where the log begins late, what is not known is what came before."""
    late = "1000:4.6 2000:3.9 6000:3.2"
    told = of(run(train_loss=late), outcomes={**PASSED, "not-learning": Outcome("unmet")})
    assert told.health == "unknown"
    assert told.sentence.endswith(" A fault before step 1,000 could not be ruled out.")


@pytest.mark.parametrize("slug", verdict.DECIDING)
@pytest.mark.parametrize("status", ["unmet", "error"])
def test_nobody_is_called_healthy_whom_a_deciding_rule_could_not_judge(
    slug: str, status: str
) -> None:
    """The sentence names the rule."""
    outcomes = {**PASSED, slug: Outcome(status)}  # type: ignore[arg-type]
    told = of(run(train_loss=FALLS), outcomes=outcomes)
    assert told.health == "unknown"
    assert told.sentence.startswith(
        "Nothing alarming was seen up to step 900. Train loss fell from "
    )
    missing = NAMED[slug][0].upper() + NAMED[slug][1:]
    assert told.sentence.endswith(f" {missing} could not be ruled out.")
    assert of(run(train_loss=FALLS), outcomes=outcomes, asked=("plateau",)).health == "healthy"


def test_healthy_needs_a_rule_that_passed() -> None:
    """A run that no rule could judge is unknown."""
    outcomes = {slug: Outcome("unmet") for slug in verdict.DECIDING}
    assert of(run(train_loss=FALLS), outcomes=outcomes).health == "unknown"
    assert of(run(train_loss=FALLS)).health == "healthy"


@pytest.mark.parametrize(
    ("evals", "lead"),
    [
        ("0:4 400:2.0 900:2.018", "No serious fault was found"),  # within 1 % of its best
        ("0:4 400:2.0 900:2.024", "eval-gap at 300."),
    ],
)
def test_a_gap_leads_only_where_the_evaluation_ends_above_its_best(evals: str, lead: str) -> None:
    """Else it only lags behind training."""
    made = drawn("gap", noise=0.0, train_loss="0:3 900:0.1", eval_loss=evals).run()
    told = of(made, incident(finding("eval-gap", 300, "info")))
    assert told.sentence.startswith(lead)
    assert "Train loss fell" in told.sentence + told.second


@pytest.mark.parametrize(("train", "parted"), [("0:4 900:1.25", False), ("0:4 900:0.8", True)])
def test_a_gap_leads_only_where_the_evaluation_ends_far_above_training(
    train: str, *, parted: bool
) -> None:
    """Twice the training loss; 1.6 times is a lag, 2.5 times is not."""
    made = drawn("parted", noise=0.0, train_loss=train, eval_loss="0:4 400:1.8 900:2").run()
    told = of(made, incident(finding("eval-gap", 300, "info")))
    assert (told.sentence == "eval-gap at 300.") is parted


def test_a_change_that_cannot_be_written_is_none() -> None:
    """A reward from 0.8921 to 0.8923 stayed."""
    told = of(drawn("still", noise=0.0, task="rl", reward="0:0.8921 600:0.8923").run())
    assert "Reward stayed at 0.892" in told.sentence
    assert told.health == "unknown"


def test_an_overfit_told_as_information_leads_a_quiet_verdict() -> None:
    """No fault was found would contradict it."""
    told = of(run(train_loss=FALLS), incident(finding("hockey-stick", 300, "info")))
    assert told.sentence == "hockey-stick at 300."
    assert told.second.startswith("Train loss fell from ")
    beside = of(run(train_loss=FALLS), incident(finding("no-warmup", 0, "info")))
    assert beside.sentence.startswith("No serious fault was found up to step 900. ")
    assert (beside.second, beside.health) == ("no-warmup at 0.", "info")


@pytest.mark.parametrize(
    ("curves", "said", "health"),
    [
        (
            {"train_loss": "0:1 900:1"},
            "learned anything up to step 900. Train loss stayed at 1.000 on",
            "",
        ),
        ({"train_loss": "0:1 900:2"}, "Train loss rose from 1.000 (step 0) to 2.000", ""),
        ({"train_loss": "0:3 450:1 900:1.9"}, "but it had been at 1.0", ""),
        ({"train_loss": "0:3 450:1 900:1.5"}, "No fault was found", "healthy"),
        (
            {"train_loss": FALLS, "eval_loss": "0:6 450:2 900:2.6"},
            "but eval loss ends at 2.600, above its best of 2.000",
            "",
        ),
        (
            {"train_loss": FALLS, "eval_loss": "0:3 400:2 800:2 850:2.6 900:2.7"},
            # the last two, not the last three
            "but eval loss ends at 2.700, above its best of 2.000",
            "",
        ),
        ({"train_loss": FALLS, "eval_loss": "0:6 450:2 900:2.3"}, "No fault was found", "healthy"),
        ({"train_loss": FALLS, "eval_loss": "0:1 50:1 100:3"}, "No fault was found", "healthy"),
        ({"eval_loss": "0:3 900:1"}, "Eval loss fell from 3.000", "healthy"),
    ],
)
def test_what_the_main_curve_did(curves: dict[str, Any], said: str, health: str) -> None:
    """In numbers as logged; a doubt that no rule names keeps the badge from being green."""
    told = of(drawn("quiet", noise=0.0, **curves).run())
    assert said in told.sentence
    assert told.health == (health or "unknown")


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_a_return_scatters_as_far_as_it_is_high(seed: int) -> None:
    """What begins near 0 and ends between 20 and 200 was learned, wherever the last points lie."""
    many = np.random.default_rng(seed).uniform(0.2, 2, 70) * np.linspace(5, 130, 70)
    many[-13:] *= 0.6
    logged = " ".join(f"{at}:{one:.2f}" for at, one in enumerate([1.7] * 60 + many.tolist(), 1))
    run = drawn("returns", task="rl", noise=0, reward=f"/1 {logged}").run()
    assert "No fault was found" in diagnose(run).verdict.sentence


def test_a_reward_is_told_by_the_medians_of_its_ends() -> None:
    """Single rewards scatter."""
    told = of(run("grpo", 0.3, reward="0:0.2 900:0.8"))
    assert "Reward rose from 0." in told.sentence
    assert told.sentence.endswith("(medians of the first and the last tenth).")
    down = of(run("grpo", reward="0:0.8 900:0.2"))
    assert "Reward fell from 0.7" in down.sentence
    assert of(run("grpo", 0.0, train_loss=FALLS)).health == "unknown"


@pytest.mark.parametrize(("end", "doubted"), [(-22_000, True), (-17_000, False)])
def test_a_third_of_a_return_that_is_lost_is_not_told_healthy(end: float, *, doubted: bool) -> None:
    """Single episodes scatter by more than the loss of the mean, which tenths of them show."""
    at, rng = np.arange(3_000), np.random.default_rng(3)
    level = np.interp(at, [0, 1_500, 2_000, 2_999], [-36_000, -13_500, -14_500, end])
    history = History({"reward": columns(at, level + rng.normal(0, 4_000, len(at)))})
    told = of(Run("agent", "agent", history, task="rl"))
    assert ("but the mean of a tenth had been" in told.sentence) is doubted


def test_a_reward_of_rare_wins_is_told_by_its_means() -> None:
    """A smoothed curve has its best where such wins come together: that is no loss."""
    rng = np.random.default_rng(7)
    won = rng.random(900) < np.linspace(0.02, 0.3, 900)
    history = History(
        {"reward": columns(np.arange(900), np.where(won, 500.0, rng.normal(0, 5, 900)))}
    )
    assert "mean of a tenth" not in of(Run("rare", "rare", history, task="rl")).sentence


@pytest.mark.parametrize(
    ("first", "last", "right", "doubted"),
    [
        (0.706, 0.682, 0.56, True),
        (0.706, 0.65, 0.56, False),  # more than noise gives
        (0.706, 0.682, 0.62, False),  # more than half of the answers are right
        (0.74, 0.69, 0.56, False),  # it did not begin as a guess
    ],
)
def test_two_classes_that_end_as_a_guess_are_not_told_healthy(
    first: float, last: float, right: float, doubted: bool
) -> None:
    """A loss that falls by 3 % in all, beside half of the answers right."""
    told = of(drawn("coin", task="classification", noise=0.003,
                    train_loss=f"0:{first} 900:{last}",
                    eval_accuracy=f"0:0.44 400:{right} 900:{right} /50").run())  # fmt: skip
    assert ("of what a guess has" in told.sentence) is doubted


@pytest.mark.parametrize(
    ("first", "last", "steps", "tokens", "doubted"),
    [
        (10.37, 9.4, 900, 32_000, True),
        (10.37, 8.6, 900, 32_000, False),  # below 0.85: tokens are not alike any more
        (9.0, 8.9, 900, 32_000, False),  # it did not begin as a guess
        (10.37, 9.4, 700, 32_000, False),  # cut before its plan
        (6.2, 5.6, 900, 500, False),  # 500 symbols may be drawn at random
    ],
)
def test_a_language_model_that_ends_near_a_guess_is_not_told_healthy(
    first: float, last: float, steps: int, tokens: int, doubted: bool
) -> None:
    """Perplexity 12,000 at the end of its plan: hardly anything was learned."""
    state = State("finished", done_steps=steps, planned_steps=900)
    curve = f"0:{first} 300:{(first + last) / 2} {steps}:{last}"
    config = {"vocab_size": tokens}
    told = of(drawn("guess", task="pretrain", noise=0.0, state=state, config=config,
                    train_loss=curve).run())  # fmt: skip
    assert ("of what a guess has" in told.sentence) is doubted
    assert (told.health == "unknown") is doubted


@pytest.mark.parametrize(
    ("first", "health", "start"),
    [(-9.0, "healthy", "−9.000 (step 0)"), (0.5, "unknown", "1.")],
)
def test_a_first_evaluation_far_below_all_others_is_the_untrained_policy(
    first: float, health: str, start: str
) -> None:
    """What was lost of a peak late in the run is little of what had been learned."""
    curve = f"0:{first} 10:1 80:1.1 200:2 250:2 300:1.7 350:1.6"
    told = of(drawn("first", noise=0.0, task="rl", reward=f"{curve} /10").run())
    assert told.health == health
    assert f"Reward rose from {start}" in told.sentence


def test_a_reward_that_a_finding_calls_flat_did_not_rise() -> None:
    """Above "did not clearly rise" the verdict never says that no fault was found."""
    up = run("grpo", 0.3, reward="0:0.2 900:0.8")
    flat = of(up, incident(finding("reward-flat", severity="info")))
    assert flat.sentence == "It is not clear whether the run learned anything up to step 900."
    assert (flat.second, flat.health) == ("reward-flat at 100.", "unknown")
    other = of(up, incident(finding("no-warmup", severity="info")))
    assert "Reward rose" in other.sentence
    assert other.health == "info"


def test_a_second_fault_without_a_step_is_at_the_start() -> None:
    """As the lead is: 5 % of 900 steps after it is another place."""
    other = replace(finding("nan-loss"), onset=Moment(None))
    assert of(run(train_loss=FALLS), incident(finding("divergence", 46), other)).second == (
        "nan-loss at 100."
    )
    assert of(run(train_loss=FALLS), incident(finding("divergence", 45), other)).second == (
        "Seen divergence."
    )


def test_a_tenth_of_a_reward_is_a_tenth() -> None:
    """Of twenty points two: 0.1 and 0.2 at first, 0.8 and 0.9 at last."""
    told = of(drawn("r", noise=0.0, task="grpo", reward="0:0.1 10:0.2 180:0.8 190:0.9").run())
    assert "Reward rose from 0.150 to 0.850 (medians" in told.sentence


def test_a_loss_that_only_scatters_did_not_fall() -> None:
    """A last value below the first is no fall where all points lie as far apart."""
    noisy = drawn("noise", noise=0.0, train_loss="0:2 900:1.99 ~0.6/70 ~0.4/110").run()
    told = of(noisy)
    assert "up and down" in told.sentence
    assert "without a trend" in told.sentence
    assert told.health == "unknown"


def test_the_first_value_as_logged_is_the_start() -> None:
    """Not the second, though that lies below the last."""
    told = of(drawn("ends", noise=0.0, train_loss="0:3 10:0.9 450:1.2 900:1").run())
    assert "Train loss fell from 3.000 (step 0) to 1.000 (step 900)" in told.sentence


@pytest.mark.parametrize(("first", "moved"), [(0.9, "fell from 1."), (0.1, "rose from 0.1")])
def test_a_first_row_that_is_easy_is_no_start(first: float, moved: str) -> None:
    """Rows of one sample each scatter: one below the first tenth by noise tells of no rise."""
    rows = 1.2 + 0.25 * np.cos(2.4 * np.arange(200)) - 0.0012 * np.arange(200)
    rows[0] = first
    points = " ".join(f"{at}:{value:.4f}" for at, value in enumerate(rows))
    told = of(drawn("easy", noise=0.0, train_loss=f"{points} /1").run())
    assert f"Train loss {moved}" in told.sentence


def test_a_loss_that_falls_by_less_than_it_is_written_with_stayed() -> None:
    """From 1.2001 to 1.2000 nothing was learned, though the points differ."""
    told = of(drawn("stayed", noise=0.0, train_loss="0:1.2001 900:1.2").run())
    assert "Train loss stayed at 1.200." in told.sentence
    assert told.health == "unknown"


def test_a_tenth_of_few_rewards_is_one() -> None:
    """Of eight points the first alone, which is told with its step."""
    told = of(drawn("few", noise=0.0, task="grpo", reward="0:0.1 10:0.9 70:0.95").run())
    assert "from 0.100 (step 0) to 0.950 (step 70)" in told.sentence


def test_an_evaluation_below_one_nat_is_looked_at_too() -> None:
    """Its rise by half above its best is told."""
    told = of(drawn("low", noise=0.0, train_loss=FALLS, eval_loss="0:0.6 450:0.2 900:0.3").run())
    assert "but eval loss ends at 0.300, above its best of 0.200" in told.sentence


@pytest.mark.parametrize(
    ("task", "curves", "words"),
    [
        ("grpo", {"reward": "0:1 900:2", "train_loss": "0:0.1 900:0.2"}, "Reward rose from 1"),
        ("sft", {"reward": "0:1 900:2", "train_loss": "0:3 900:1"}, "Train loss fell from 3.000"),
        ("sft", {"train_loss": "0:3", "reward": "0:1 900:2"}, "Reward rose from 1"),
        ("other", {"d_loss": "0:1 900:1"}, "up to step 900"),
        ("sft", {"train_loss": "0:1 900:2", "eval_accuracy": "0:0.1 900:0.9"}, "while train loss"),
        ("sft", {"eval_loss": "0:1 900:2", "eval_accuracy": "0:0.1 900:0.9"}, "Eval loss rose"),
        ("grpo", {"reward": "0:1 20:2"}, "Reward rose from point to point"),
        ("grpo", {"reward": "0:2 20:1"}, "too short to judge"),
        ("sft", {"train_loss": "0:2 20:1"}, "Train loss fell from point to point"),
    ],
)
def test_the_curve_of_the_task_is_told(task: Task, curves: dict[str, Any], words: str) -> None:
    """A reward of a policy, the loss of all else; what is not logged is not told."""
    assert words in of(run(task, 0.0, **curves)).sentence


def test_a_doubt_is_told_beside_an_overfit_too() -> None:
    """And says as much as a rule that could not judge."""
    rose = run(noise=0.0, train_loss="0:1 900:2")
    told = of(rose, incident(finding("hockey-stick", 300, "info")))
    assert told.second.startswith(DOUBT)
    worse = run(train_loss=FALLS, eval_loss="0:6 450:2 900:2.6")  # which the finding has explained
    surer = replace(finding("hockey-stick", 450, "info"), heading="Over-confident model")
    assert not of(worse, incident(surer)).second.startswith(DOUBT)
    unmet = {**PASSED, "divergence": Outcome("unmet")}
    assert NAMED["divergence"] not in of(rose, outcomes=unmet).sentence.lower()
    assert NAMED["divergence"] in of(run(train_loss=FALLS), outcomes=unmet).sentence.lower()


def test_an_info_that_harms_nothing_leaves_the_badge_green() -> None:
    """A harmful one does not, and a warning never."""
    for harmless, severity, health in (
        (True, "info", "healthy"),
        (False, "info", "info"),
        (True, "warning", "warning"),
    ):
        one = replace(finding("no-warmup", 0, severity), harmless=harmless)  # type: ignore[arg-type]
        assert of(run(train_loss=FALLS), incident(one)).health == health


@pytest.mark.parametrize(
    ("curves", "told"),
    [
        ({"column 2": "0:13 900:0.6", "column 1": "0:0 900:90"}, "Column 2 fell from "),
        ({"column 2": "0:13 900:0.6", "column 3": "0:12 900:3"}, "and column 3 fell from "),
        ({"column 2": "0:0.6 900:13"}, ""),  # a loss that rises, or a score that does
        ({"column 2": "0:13 900:0.6", "column 3": "0:12 500:3 900:9"}, ""),  # lost again
        ({"column 2": "0:13 900:0.6 ~0/40"}, "Column 2 fell from "),
        ({"column 2": "0:13 880:0.6 890:nan 900:nan"}, ""),
        ({"fid50k_full": "0:240 900:9"}, "Fid50k full fell from "),
        ({"TrueAverageReturn": "0:3 900:90", "TrueMinReturn": "0:9 900:2"}, "rose from "),
        ({"score_std": "0:3 900:1"}, ""),
    ],
)
def test_a_column_that_nobody_named_is_told_where_it_falls_for_good(
    curves: dict[str, Any], told: str
) -> None:
    """So does a loss; what rises, comes back or breaks off leaves it open."""
    said = of(run("other", 0.0, **curves), outcomes={})
    assert said.sentence.startswith("Nothing alarming was seen") == bool(told), said.sentence
    assert told in said.sentence
    assert said.health == "unknown"


def test_of_infos_the_one_that_costs_something_and_lies_on_the_loss_is_told_first() -> None:
    """A spike of the loss, not that of the norm which came before it; what is harmless last."""
    norm = finding("grad-spike", 90, "info", metric="grad_norm")
    spike, solved = finding("loss-spike", 100, "info"), finding("zero-loss", 10, "info")
    harmless = replace(solved, harmless=True)
    assert of(run(train_loss=FALLS), incident(norm, spike)).second == "loss-spike at 100."
    assert of(run(train_loss=FALLS), incident(harmless), incident(norm)).second == (
        "grad-spike at 90."
    )
    assert of(run(train_loss=FALLS), incident(harmless)).health == "healthy"
    grown = replace(finding("hockey-stick", 0, "info"), harmless=True)
    assert of(run(train_loss=FALLS), incident(grown)).health == "healthy"  # its score improved


def test_ends_of_few_returns_are_no_means() -> None:
    """Five episodes may lie close together by luck: their mean has no error that is known."""
    reward = (
        np.tile([-900.0, 900.0], 10).tolist() + [2_400.0 + n for n in range(15)] + [1_600.0] * 15
    )
    history = History({"reward": columns(np.arange(50), np.array(reward))})
    assert "mean of a tenth" not in of(Run("few", "few", history, task="rl")).sentence


def test_a_gap_leads_where_accuracies_are_all_that_is_logged() -> None:
    """That nothing alarming was seen is no first sentence above it."""
    gap = replace(finding("eval-gap", severity="info", metric="eval_accuracy"), harmless=False)
    run = drawn("accuracies", task="classification", eval_accuracy="0:0.5 900:0.6").run()
    assert of(run, incident(gap)).sentence == gap.title
    harmless = replace(gap, harmless=True)
    assert of(run, incident(harmless)).sentence != gap.title


@pytest.mark.parametrize(("last", "told"), [(12.0, True), (4.0, False)])
def test_evaluations_far_above_their_best_are_told_whatever_they_scatter(
    last: float, *, told: bool
) -> None:
    """0.48, 27.5, 0.53, 3.8, 20.4 and 12: their scatter hides any rise but not that."""
    evals = np.array([0.699, 0.48, 27.5, 0.527, 3.82, 1.7 * last, last])
    train = np.array([0.577, 0.475, 0.399, 0.328, 0.282, 0.241, 0.205])
    steps = np.arange(1, 8)
    curves = {"train_loss": columns(steps, train), "eval_loss": columns(steps, evals)}
    said = of(Run("far", "far", History(curves), task="other")).sentence
    assert ("above its best of 0.480" in said) == told


def test_one_value_each_is_told_with_all_of_them() -> None:
    """A file of results shows no course: the verdict says what is in it, the judged ones first."""
    scores: dict[str, Any] = {
        "mae": "3:8.1",
        "train_loss": "3:0.5",
        "r2": "3:0.87",
        "seconds": "3:12",
    }
    said = diagnose(drawn("x", **scores).run()).verdict.sentence
    assert said.startswith("The run is too short to judge. It logged one value each: train loss ")
    assert said.index("mae") < said.index("seconds")
    both = diagnose(drawn("x", **{**scores, "train_loss": "0:0.6 20:0.5"}).run()).verdict.sentence
    assert "one value each" not in both


@pytest.mark.parametrize(
    ("evals", "scores", "told"),
    [
        ((0.4, 0.3, 0.302), (), True),  # as near to its best as evaluations are read
        ((0.4, 0.3, 0.33), (), False),
        ((0.4, 0.3, 0.33), (0.8, 0.9, 0.91), True),
        ((0.4, 0.3, 0.33), (0.8, 0.92, 0.91), False),
        ((0.4, 0.3, 0.33), (0.9, 0.9, 0.9), False),
        ((0.4, 0.3, 0.45), (0.8, 0.9, 0.91), False),  # above its first
    ],
)
def test_few_points_that_fall_are_told_where_evaluations_do_not_speak_against_them(
    evals: tuple[float, ...], scores: tuple[float, ...], *, told: bool
) -> None:
    """A model that makes fewer errors may be a little surer of the last of them."""
    steps = np.arange(1, 4)
    curves = {"train_loss": columns(steps, [0.9, 0.5, 0.3]), "eval_loss": columns(steps, evals)}
    if scores:
        curves |= {"eval_f1": columns(steps, scores)}
    said = of(Run("few", "few", History(curves), task="classification"), outcomes={}).sentence
    assert said.startswith("Nothing alarming was seen") == told


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("BestFitness", (9.0, 4.0, 4.0, 1.5, 1.5, 0.5), "fell from 9.000 to 0.500"),
        ("best_score", (0.5, 0.5, 1.5, 4.0, 4.0, 9.5), "rose from 0.500 to 9.500"),
        ("BestFitness", (9.0, 4.0, 4.5, 1.5, 1.5, 0.5), ""),  # no best so far
        ("BestFitness", (9.0, 9.0, 9.0, 9.0, 9.0, 9.0), ""),
        ("BestFitness", (9.0, 4.0), ""),
        ("best_value", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), ""),  # it may count
        ("best_epoch", (0.5, 1.5, 2.5, 3.5, 4.5, 5.5), ""),
        ("best_lr", (0.1, 0.1, 0.01, 0.01, 0.01, 0.001), ""),
        ("fitness", (9.0, 4.0, 4.0, 1.5, 1.5, 0.5), ""),
    ],
)
def test_the_course_of_a_best_so_far_says_which_way_is_better(
    name: str, values: tuple[float, ...], told: str
) -> None:
    """It never gets worse, so a search that lowers it minimises it."""
    history = History({name: columns(np.arange(len(values)), np.array(values))})
    said = of(Run("search", "search", history, task="other"), outcomes={}).sentence
    assert said.startswith("Nothing alarming was seen") == bool(told), said
    assert told in said


def test_the_main_score_of_evaluation_is_told_where_no_loss_is() -> None:
    """Its ends, and its best where that is not the last, beside another that hardly moved."""
    other = {"eval_f1_macro": "0:0.7 900:0.69"}
    noise = {"eval_f1_macro": 0.05}
    curve = "0:0.2 600:0.8 900:0.75"
    told = of(run("other", noise=noise, eval_map=curve, eval_best_map=curve, **other)).sentence
    start = "No loss or reward was recognized up to step 900. Eval map rose from 0.200 to 0.750"
    assert told == f"{start}, and was best, 0.800 at step 600."
    told = of(run("other", noise=noise, eval_map="0:0.2 900:0.75", **other)).sentence
    assert told == f"{start}."
    losses = {"angle_loss": "0:7 900:7", "cls_loss": "0:0.85 900:0.85"}
    told = of(run("sft", noise=noise, eval_map=curve, **other, **losses)).sentence
    assert "and not their total. Eval map rose from 0.200 to 0.750, and was best" in told
