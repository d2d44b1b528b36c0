"""What a quiet verdict must not leave unsaid: columns lost again, codes that are empty."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from runlens.history import FloatArray, History, columns
from runlens.rules.rule import drawn
from runlens.run import Run, Task

EVEN = "0:0.693 900:0.693"
STEPS = np.arange(0, 4000, 10)


def run(task: Task, **curves: Any) -> Run:
    """Draw a run with little noise."""
    return drawn("doubts", noise=0.005, task=task, **curves).run()


def rewards(values: FloatArray) -> Run:
    """Return an agent with these rewards."""
    return replace(
        run("rl", reward="0:0 900:1"),
        history=History({"reward": columns(STEPS[: len(values)], values)}),
    )


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        ("0:200 300:40 600:150", "Fid was at 4"),
        ("0:200 300:40 600:40", "Nothing alarming was seen"),
    ],
)
def test_a_score_that_lost_its_gain_is_not_told_by_its_ends(curve: str, said: str) -> None:
    """Where no loss is logged the columns speak, and one of them went back most of its way."""
    sentence = diagnose(run("gan-diffusion", fid=curve)).verdict.sentence
    assert said in sentence
    assert ("It is not clear" in sentence) == ("was at" in said)


def test_the_loss_of_a_critic_has_no_best() -> None:
    """A critic of Wasserstein distances rises towards 0 as the generator learns."""
    critic = run("gan-diffusion", critic_loss="0:-9 900:-2")
    assert "not clear" not in diagnose(critic).verdict.sentence


@pytest.mark.parametrize(
    ("kl", "empty"), [("0:12 60:0.02 100:1e-5 900:1e-5", True), ("0:12 900:2", False),
                      ("0:0.05 900:1e-5", False)]
)  # fmt: skip
def test_a_code_that_carries_nothing_is_told(kl: str, empty: bool) -> None:
    """The reconstruction falls all the same: its decoder says the mean of all samples."""
    vae = run("gan-diffusion", train_loss="0:545 60:206 900:205", kl_loss=kl)
    told = diagnose(vae).verdict
    assert ("carries nothing" in told.sentence) == empty
    assert (told.health == "healthy") != empty


def test_a_small_fall_without_held_out_gain_is_doubted() -> None:
    """Training fell by a twentieth and the evaluation ends above its first value."""
    hardly = {"train_loss": "0:1.386 900:1.31", "eval_loss": "50:1.387 900:1.44"}
    told = diagnose(run("classification", **hardly)).verdict
    assert "above its first value" in told.sentence
    assert told.health == "unknown"
    more = {**hardly, "train_loss": "0:1.386 900:1.2"}
    assert "above its first" not in diagnose(run("classification", **more)).verdict.sentence


@pytest.mark.parametrize(
    ("evals", "doubted"),
    [
        ([0.47, 0.48, 0.475, 0.474, 0.475, 0.4699], True),  # as good as the first, once
        ([0.47, 0.46, 0.459, 0.458, 0.456, 0.455], False),
        ([0.47, 0.48, 0.475, 0.474, 0.475, 0.45], False),
    ],
)
def test_an_evaluation_that_ends_where_it_began_is_doubted(
    evals: list[float], *, doubted: bool
) -> None:
    """Beside a training loss that fell by little; more than scatters is a gain."""
    steps = np.arange(1, 7)
    train = columns(steps, [1.06, 1.05, 1.04, 1.03, 1.02, 1.01])
    history = History({"train_loss": train, "eval_loss": columns(steps, evals)})
    told = diagnose(Run("flat", "flat", history, task="other")).verdict
    assert ("no better than at first" in told.sentence) is doubted
    assert (told.health == "unknown") is doubted


@pytest.mark.parametrize(
    ("evals", "doubted"),
    [([0.47, 0.469, 0.471], True), ([0.47, 0.46, 0.471], False), ([0.47, 0.471, 0.469], False)],
)
def test_of_three_evaluations_the_last_decides(evals: list[float], *, doubted: bool) -> None:
    """Where none of them was much better than the first."""
    train = columns(np.arange(1, 13), np.linspace(1.06, 1.01, 12))
    history = History({"train_loss": train, "eval_loss": columns([4, 8, 12], evals)})
    told = diagnose(Run("flat", "flat", history, task="other")).verdict
    assert ("above its first value" in told.sentence) is doubted


@pytest.mark.parametrize(
    ("losses", "right", "doubted"),
    [
        ([0.70, 0.69, 0.67, 0.53], [0.49], True),
        ([0.70, 0.69, 0.67, 0.53], [0.49, 0.51], True),
        ([0.70, 0.69, 0.67, 0.53], [0.49, 0.56], False),
        ([0.70, 0.69, 0.67, 0.53], [0.2], False),  # all labels of a row, or another task
        ([1.10, 0.90, 0.80, 0.70], [0.49], False),  # of three classes
    ],
)
def test_an_accuracy_of_a_coin_is_told(
    losses: list[float], right: list[float], *, doubted: bool
) -> None:
    """The training loss left ln 2, and not an evaluation shows it."""
    curves = {
        "train_loss": columns(range(1, 5), losses),
        "eval_accuracy": columns(range(5 - len(right), 5), right),
    }
    told = diagnose(Run("coin", "coin", History(curves), task="classification")).verdict
    assert ("a guess of two classes has 0.5" in told.sentence) is doubted, told.sentence


@pytest.mark.parametrize(
    ("scores", "doubted"),
    [
        ({"eval_map50": "0:0.09 900:0.14"}, True),
        ({"eval_map50": "0:9 900:14"}, True),  # in percent
        ({"eval_map50": "0:0.02 900:0.14"}, False),  # on its way
        ({"eval_map50": "0:0.18 900:0.25"}, False),
        ({"eval_map50": "0:0.09 900:0.14", "eval_dice": "0:0.5 900:0.6"}, False),
        ({"eval_map10": "0:0.09 900:0.14"}, False),  # of a ranking
        ({"eval_accuracy": "0:0.09 900:0.14"}, False),  # of 100 classes
        ({"eval_map50": "/300 0:0.09 900:0.14"}, False),  # four evaluations
    ],
)
def test_objects_that_are_hardly_found_are_told(scores: dict[str, str], *, doubted: bool) -> None:
    """Training falls all the while, and of five boxes four are wrong to the end."""
    told = diagnose(run("other", train_loss="0:9 900:2", **scores)).verdict
    assert ("at best" in told.sentence) is doubted, told.sentence
    assert (told.health == "unknown") is doubted


@pytest.mark.parametrize(
    ("curves", "said"),
    [
        ({"explained_variance": "0:0 900:0.01"}, "Explained variance is 0"),
        ({"explained_variance": "0:0 900:0.9"}, ""),
        ({"std": "0:1 900:4"}, "The spread of its actions grew from 1.14 to 3.86"),
        ({"std": "0:1 900:2"}, ""),
        ({"std": "/90 0:1 900:4"}, ""),  # too few
        ({"reward_std": "0:1 900:4"}, ""),  # of rewards
    ],
)
def test_columns_beside_a_reward_that_rises_are_told(curves: dict[str, str], said: str) -> None:
    """It did rise, so it is no doubt; a critic that is blind, or wild actions, are no health."""
    told = diagnose(run("rl", reward="0:300 900:1500", **curves)).verdict
    assert said in told.sentence
    assert told.health == "healthy"
    assert ("No serious fault" in told.sentence) is bool(said), told.sentence
    other = diagnose(run("grpo", reward="0:0.3 900:0.8", std="0:1 900:4")).verdict
    assert "spread" not in other.sentence


def test_rewards_of_0_and_1_are_told_by_their_means() -> None:
    """The median of both ends is 1, and one in three attempts failed at first."""
    rng = np.random.default_rng(0)
    chance = np.clip(0.6 + np.arange(400) / 100, 0, 1)
    told = diagnose(rewards((rng.random(400) < chance).astype(float))).verdict
    assert "means of the first and the last tenth" in told.sentence
    assert told.health == "healthy"
    even = diagnose(rewards((rng.random(400) < 0.9).astype(float))).verdict
    assert "means of" not in even.sentence


def test_episodes_that_fail_more_often_are_told() -> None:
    """Two of five returns are -3 in the last third: the median holds, the mean does not."""
    rng = np.random.default_rng(1)
    value = 0.65 + rng.normal(0, 0.05, 400)
    value[:20] = -3
    failing = value.copy()
    failing[270:] = np.where(rng.random(130) < 0.4, -3.0, value[270:])
    found = [one for one in diagnose(rewards(failing)).findings if one.rule == "reward-collapse"]
    assert [one.severity for one in found] == ["info"]
    assert 2300 <= (found[0].onset.step or 0) <= 3200
    assert "reward-collapse" not in {one.rule for one in diagnose(rewards(value)).findings}


@pytest.mark.parametrize(
    ("target", "health", "said"),
    [
        ("0:0.3 100:0.62 900:0.33", "info", "Target acc was best at step 1"),
        ("0:0.3 100:0.62 900:0.5", "info", "Target acc was best at step 1"),
        ("0:0.3 100:0.62 900:0.605", "healthy", "No fault"),  # little of its gain is gone
        ("0:0.3 900:0.62", "healthy", "No fault"),
    ],
)
def test_an_accuracy_that_was_lost_is_told(target: str, health: str, said: str) -> None:
    """The losses are of the source alone, and fall."""
    falls = "0:1.6 900:0.25"
    adapted = run("other", train_loss=falls, eval_loss=falls, target_acc=target)
    told = diagnose(adapted).verdict
    assert (told.health, said in told.sentence) == (health, True), told.sentence


def test_two_networks_that_never_moved_are_doubted() -> None:
    """Both answer one half from the first row to the last; a pair at balance swings."""
    for noise, health in ((0.0005, "unknown"), (0.05, "healthy")):
        case = drawn("pair", noise=noise, task="gan-diffusion", d_loss=EVEN, g_loss=EVEN)
        assert diagnose(case.run()).health == health


@pytest.mark.parametrize(
    ("again", "said"),
    [
        (0.02, "fell from epoch to epoch at each of 3 places in it, at last to 1.421"),
        (0.0, "It is not clear"),
    ],
)
def test_batches_that_differ_hide_a_fall_from_epoch_to_epoch(again: float, said: str) -> None:
    """Each place of an epoch falls, while neighbors differ by more; without a fall nothing does."""
    at = np.arange(40, 52)
    value = np.array([1.5, 1.43, 1.67])[at % 3] - again * (at // 3 - 13) + 0.001 * (at % 2)
    losses = columns(at * 50, value, at / 3)
    one = Run("p", "p", History({"train_loss": losses}), task="other")
    assert said in diagnose(one).verdict.sentence


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.7, 0.8, 0.82, 0.9], "rose from 0.700 to 0.900."),
        ([0.1, *[0.9] * 38, 0.95], "rose from 0.100 to 0.900 (medians of the last tenth)."),
        ([0.5, 0.6, *np.linspace(0.6, 0.9, 38)], "(medians of the first and the last tenth)."),
        ([0.9, 0.8, 0.5, 0.4], "was at 0.867 (smoothed) and ends at 0.400."),
        ([*np.linspace(0.9, 0.4, 39), 0.5], "(median of the last tenth)."),
    ],
)
def test_ends_are_called_medians_only_where_they_are(values: list[float], said: str) -> None:
    """Of four rows a tenth is one row; a first value far below all others is told as logged."""
    history = History({"train_f1": columns(np.arange(len(values)), values)})
    sentence = diagnose(replace(run("classification", train_f1="0:0 900:1"), history=history))
    assert said in sentence.verdict.sentence


@pytest.mark.parametrize(
    ("tried", "said"),
    [([0.1, 0.3, 0.5, 0.7], "Its rows are values of threshold, no course."),
     ([0.7, 0.5, 0.3, 0.1], "Its rows are values of threshold, no course."),
     ([0.4, 0.5, 0.3, 0.6], "It is not clear"), ([0.1, 0.3, 0.5], "It is not clear")],
)  # fmt: skip
def test_rows_that_try_thresholds_are_no_course(tried: list[float], said: str) -> None:
    """The best threshold of each epoch goes up and down; three may rise by chance."""
    made = {"f1": columns(range(5), [0.8, 0.81, 0.7, 0.5, 0.2])}
    made["threshold"] = columns(range(len(tried)), tried)
    history = History(made)
    told = diagnose(replace(run("classification", f1="0:0 900:1"), history=history)).verdict
    assert said in told.sentence


@pytest.mark.parametrize(
    ("ends", "task", "doubted"),
    [("50:13.9 900:13.7", "pretrain", True), ("50:13.9 900:11", "pretrain", False),
     ("50:900 900:300", "pretrain", False), ("50:13.9 900:13.7", "regression", False)],
)  # fmt: skip
def test_an_evaluation_above_any_guess_is_doubted(ends: str, task: Task, *, doubted: bool) -> None:
    """Ln 256,000 = 12.45 is what guessing a token costs; beyond 104 it is a sum over tokens."""
    sentence = diagnose(run(task, eval_loss=ends)).verdict.sentence
    assert ("guesses among 256,000 tokens" in sentence) is doubted


@pytest.mark.parametrize(
    ("score", "said"), [("0:0 900:0.7", "rose from"), ("0:0.5 100:0.7 900:0.3", "f1 was at")]
)
def test_scores_count_for_more_than_the_loss_of_a_component(score: str, said: str) -> None:
    """A sum of losses between two rows rises as their weights do."""
    summed = {"loss ner": "0:900 60:1200 900:9000"}
    sentence = diagnose(run("other", eval_ents_f1=score, **summed)).verdict.sentence
    assert said in sentence
    assert "ner" not in sentence


@pytest.mark.parametrize(
    ("ppl", "told"), [([0.0, 0.0, 0.0, 0.0], True), ([1.9, 1.5, 1.2, 0.995], False)]
)
def test_a_perplexity_below_one_is_none(ppl: list[float], told: bool) -> None:
    """The exponential of a mean loss is 1 at the least: this loss has another sign."""
    at = np.arange(1, 11)
    series = {
        "train_loss": columns(at, np.linspace(-8e3, -8e4, 10)),
        "eval_loss": columns(at, np.linspace(-9e3, -8e4, 10)),
        "eval_ppl": columns(at[-4:], np.array(ppl)),
    }
    below = replace(run("other", train_loss="0:1 90:1"), history=History(series))
    verdict = diagnose(below).verdict
    assert ("none is below 1" in verdict.sentence) == told
    assert not told or verdict.health == "unknown"


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([0.21, 0.22, 0.0005], True),
        ([0.21, 0.04, 0.0005], False),  # it came down
        ([0.21, 0.22, 0.11], False),  # half of what was right is
        ([0.98, 0.46], True),
        ([0.46, 0.98], False),
    ],
)
@pytest.mark.parametrize("points", [3, 12])
def test_a_score_that_is_gone_at_the_last_look(
    scores: list[float], told: bool, points: int
) -> None:
    """Few rows or many: its scale is known, so that no noise need be."""
    at = np.arange(1, points + 1)
    falls = np.linspace(0.9, 0.4, points) - 0.01 * (at % 2)
    series = {
        "train_loss": columns(at, falls),
        "eval_f1": columns(at[-len(scores) :], np.array(scores)),
    }
    few = replace(run("other", train_loss="0:1 90:1"), history=History(series))
    verdict = diagnose(few).verdict
    assert any("the last look" in one for one in (verdict.sentence, verdict.second)) == told


@pytest.mark.parametrize(
    ("losses", "told"),
    [
        ((2.2e4, 3.2e5), "jumped from 22,000 to 320,000 at step 1, the last"),
        ((2.2e4, 9e4), ""),
        ((3.2e5, 2.2e4), ""),
    ],
)
def test_a_loss_that_leaps_from_its_first_row_on(losses: tuple[float, ...], told: str) -> None:
    """Rows of one loss do not scatter tenfold."""
    rows = columns(np.arange(len(losses)), np.array(losses))
    few = replace(run("other", train_loss="0:1 90:1"), history=History({"train_loss": rows}))
    verdict = diagnose(few).verdict
    assert told in verdict.second
    assert ("jumped" in verdict.second) == bool(told)


@pytest.mark.parametrize(
    ("curve", "told"),
    [
        ("0:0.45 300:0.96 1500:0.96 1510:0.5 1800:0.5 1810:0.96 3990:0.96", True),
        ("0:0.45 300:0.96 1500:0.96 1510:0.8 1800:0.8 1810:0.96 3990:0.96", False),
        ("0:0.45 300:0.96 1500:0.96 1510:0.5 1530:0.5 1540:0.96 3990:0.96", False),  # a few
    ],
)
def test_a_reward_that_was_lost_for_a_time(curve: str, told: bool) -> None:
    """Its ends do not show it, and it came back."""
    verdict = diagnose(run("rl", reward=curve)).verdict
    assert ("it had fallen to 0.5" in verdict.sentence) == told
    assert not told or verdict.health == "healthy"


@pytest.mark.parametrize(("precision", "quiet"), [(3 / 7, True), (9 / 49, False)])
def test_a_loss_that_falls_beside_one_answer_is_not_told_as_quiet(
    precision: float, *, quiet: bool
) -> None:
    """Where each precision is the square of its accuracy all answers are one."""
    step = np.array([4, 8, 12])
    series = {
        "eval_loss": columns(step, np.array([1.86, 1.77, 1.75])),
        "eval_accuracy": columns(step, np.full(3, 3 / 7)),
        "eval_precision": columns(step, np.full(3, precision)),
    }
    told = diagnose(Run("r", "r", History(series), task="classification")).verdict.sentence
    assert told.startswith("Nothing alarming") is quiet


@pytest.mark.parametrize("end", [-447_500, -440_000, -452_000])
def test_a_reward_that_hardly_rose_is_a_doubt(end: float) -> None:
    """However sure its trend is; of a share of 1 the last hundredth is all there is to gain."""
    verdict = diagnose(rewards(np.linspace(-450_000, end, 100))).verdict
    assert ("which is a rise of 0.5" in verdict.sentence) == (end == -447_500)
    solved = diagnose(rewards(np.linspace(0.985, 0.99, 100))).verdict
    assert "which is a rise" not in solved.sentence


def test_zeros_before_the_first_update_are_no_loss() -> None:
    """An agent that fills its buffer first logs 0 until then."""
    sentence = diagnose(run("other", train_loss="0:0 20:0 30:0.114 9000:0.041")).verdict.sentence
    assert "Train loss fell from 0.1" in sentence


@pytest.mark.parametrize(
    ("late", "told"),
    [
        ((1000.0, 4000.0), True),  # as far as it fell, and no longer down
        ((2300.0, 2700.0), False),  # a fall that the scatter does not hide
    ],
)
def test_a_loss_that_only_swings_is_not_told_by_its_ends(
    late: tuple[float, float], *, told: bool
) -> None:
    """After its first points it went up and down by as much as it had fallen."""
    low, high = late
    rng, levels = np.random.default_rng(3), np.linspace(low, high, 12)
    rest = np.concatenate([rng.permutation(levels) for _ in range(9)])  # each as often as any
    loss = np.concatenate([np.linspace(4500, 4100, 12), rest, [low]])
    swung = replace(
        run("other", train_loss="0:1 900:1"),
        history=History({"train_loss": columns(np.arange(len(loss)), loss)}),
    )
    sentence = diagnose(swung).verdict.sentence
    assert "Train loss fell from 4,500" in sentence
    assert ("but swung between" in sentence) is told


def test_a_loss_that_still_falls_does_not_only_swing() -> None:
    """Noise as wide as the fall hides no trend of many points."""
    at = np.arange(400)
    loss = 4.0 - 2.0 * at / 400 + np.random.default_rng(5).uniform(-1.2, 1.2, 400)
    falls = replace(
        run("other", train_loss="0:1 900:1"),
        history=History({"train_loss": columns(at, loss)}),
    )
    assert "swung" not in diagnose(falls).verdict.sentence


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [("0:0.5 900:0.8", "accuracy rose from"), ("0:0.5 900:0.5", "went up and down")],
)
def test_preferences_without_a_loss_are_told(accuracy: str, said: str) -> None:
    """A log with the accuracy of a reward model alone has a curve that tells something."""
    drawn_ = drawn("pairs", noise=0.02, task="dpo", dpo_acc=accuracy).run()
    assert said in diagnose(drawn_).verdict.sentence


def test_a_reward_that_never_moved_is_told_once() -> None:
    """The note on it has the numbers, so the sentence does not say them again."""
    stuck = rewards(np.zeros(17))
    verdict = diagnose(stuck).verdict
    told = f"{verdict.sentence} {verdict.second}"
    assert told.count("eward stayed at 0") == 1
