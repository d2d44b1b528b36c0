"""What findings say is true of the run: sentences that were not, on real runs."""

from dataclasses import replace
from typing import Any

import pytest

from runlens import fixes
from runlens.diagnosis import Finding
from runlens.engine import diagnose
from runlens.rules.cases import drawn, message
from runlens.run import Run, State
from runlens.signals import Signals
from tests.rules.said import ask, explained, told

FALLING = "0:2.2 160:1.6"
SUMMARY = "the closing summary was written at step 200 of 1,000"


def finding(slug: str, run: Run) -> Finding:
    """Return what one rule finds in a run."""
    outcome = ask(slug, run)
    assert outcome.status == "found", outcome.reason
    return outcome.findings[0]


def killed(text: str, **more: Any) -> Run:
    """Draw a run that a line of the log ends."""
    return drawn(
        "killed",
        state=State("killed", text, "certain", done_steps=160, planned_steps=2_000),
        events=(message(text, "kill", 9, 160, cause="Told to end.", fix="Look at other ranks"),),
        train_loss=FALLING,
        **more,
    ).run()


def test_checkpoints_are_no_further_apart_than_a_tenth_of_the_run() -> None:
    """However fast the steps are: ten minutes were 11,200 steps of a run of 6,250."""
    assert "every 200 steps" in told(finding("killed", killed("Killed", seconds_per_step=0.05)))
    slow = told(finding("killed", killed("Killed", seconds_per_step=5.0)))
    assert "every 120 steps" in slow


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("SignalException: Process 3622651 got signal: 1", "The terminal that started it"),
        ("SignalException: Process 3622651 got signal: 15", "Told to end"),
        ("Received 1 death signal, shutting down workers", "setsid"),
    ],
)
def test_a_closed_terminal_is_told_from_other_signals(line: str, words: str) -> None:
    """Signal 1 is SIGHUP, which torchrun obeys under nohup too."""
    text = told(explained("killed", killed(line)))
    assert words in text
    assert ("tmux" in text) == ("15" not in line)


def test_a_run_that_wrote_its_closing_summary_is_no_longer_going() -> None:
    """Nor was it killed without a line; where the log breaks off, both may be."""
    state = State("stopped_early", SUMMARY, "certain", done_steps=200, planned_steps=1_000)
    closed = drawn(
        "closed", state=state, train_loss="0:2.2 200:1.6", learning_rate="0:1e-4 200:1e-4"
    )
    text = told(explained("stopped-early", closed.run()))
    assert "still going" not in text
    assert "kill without a line" not in text
    assert "still at its peak" in text
    cut = replace(closed, state=replace(state, sure="likely", why="train.log breaks off"))
    text = told(explained("stopped-early", cut.run()))
    assert "still going" in text
    assert "train.log breaks off. The" in text  # the name of a file keeps its letters


def test_too_short_names_a_limit_that_its_points_lie_below() -> None:
    """Eight points are enough; inside warm-up it is not the points that are missing."""
    few = finding("too-short", drawn("few", train_loss="0:2 40:1.9").run()).evidence[0]
    assert (few.value, few.limit) == (5.0, 7.0)
    warm = drawn("warm", train_loss="0:2 300:1.9", config={"warmup_steps": 1_000})
    inside = finding("too-short", warm.run()).evidence[0]
    assert (inside.what, inside.value, inside.limit) == ("Last step", 300.0, 999.0)


def test_a_lost_loss_does_not_end_in_its_last_finite_value() -> None:
    """Hidden-nan says which value it means."""
    run = drawn("lost", train_loss="0:2 300:1 310:nan 600:nan").run()
    assert "the last finite one is" in ask("hidden-nan", run).reason


def test_a_warm_up_that_is_seen_is_not_asked_for() -> None:
    """It may be too short; where it is long enough nothing is advised."""
    seen = drawn("warm", train_loss="0:2 1000:1", learning_rate="0:0 20:1e-4 1000:0").run()
    assert [fix.what for fix in fixes.longer_warmup(seen, "x")] == ["Warm up longer"]
    long = drawn("long", train_loss="0:2 1000:1", learning_rate="0:0 200:1e-4 1000:0").run()
    assert fixes.longer_warmup(long, "x") == ()
    none = drawn("none", train_loss="0:2 1000:1", learning_rate="0:1e-4 1000:0").run()
    assert [fix.what for fix in fixes.longer_warmup(none, "x")] == ["Warm the learning rate up"]


@pytest.mark.parametrize(
    ("loss", "noise", "words"),
    [
        ("0:2 900:1.8", 0.4, "The loss does not fall by more than its noise"),
        ("0:2 30:2 40:9 900:4", 0.02, "The loss does not fall below its start"),
        ("0:2.2 900:0.9", 0.02, "still learns"),
    ],
)
def test_clipping_says_what_the_loss_really_did(loss: str, noise: float, words: str) -> None:
    """A fall that hides in the noise is no loss above its start."""
    shaken = {"train_loss": noise, "grad_norm": 0.1}
    case = drawn("clip", noise=shaken, train_loss=loss, grad_norm="0:1.6 900:1.6")
    assert words in finding("clip-saturation", case.run()).seen


def test_without_a_loss_no_fault_is_no_finding() -> None:
    """An info about the machine says nothing of the training."""
    case = drawn("no curves", task="other", gpu_util="0:20 900:20", seconds_per_step=1.0)
    made = diagnose(case.run())
    assert "low-utilisation" in {one.rule for one in made.findings}
    assert made.verdict.sentence.startswith(
        "Cannot judge: no loss or reward is known up to step 900"
    )


def test_a_level_that_stays_is_said_once() -> None:
    """Not as a way from a value to itself."""
    run = drawn("flat", task="rl", noise=0.0, reward="0:-1 300:-1").run()
    run = replace(run, state=State("unknown", done_steps=300))
    sentence = diagnose(run).verdict.sentence
    assert "from" not in sentence.partition("reward")[2].partition("step")[0]


def test_a_disagreement_that_begins_later_is_not_from_the_start() -> None:
    """The step is named."""
    run = drawn(
        "later",
        task="grpo",
        is_ratio_mean="0:1 30:1 40:0.2 300:0.2 400:1 600:1",
        is_ratio_min="0:0.5 600:0.5",
        reward="0:0.5 600:0.5",
    ).run()
    text = told(finding("importance-ratio-divergence", run))
    assert "as early as step 40" in text
    assert "from the start" not in text


def test_the_last_digit_of_a_mean_is_no_rise() -> None:
    """A loss that is best at the end is said to be so."""
    run = drawn("best", noise=0.0, train_loss="0:2 100:1 140:1").run()
    assert ask("divergence", run).reason == "loss is best at the end"


def test_a_rate_beyond_the_usual_range_passes_with_the_reason() -> None:
    """Some times the usual is no finding yet."""
    run = drawn("high", task="pretrain", learning_rate="0:0 50:2e-3 600:0").run()
    assert "that is accepted" in ask("lr-out-of-range", run).reason
    usual = drawn("usual", task="pretrain", learning_rate="0:0 50:5e-4 600:0").run()
    assert "that is accepted" not in ask("lr-out-of-range", usual).reason


def test_a_rate_at_its_peak_is_not_100_percent_of_it() -> None:
    """And one below it is told by its share."""
    state = State("stopped_early", "train.log breaks off", "likely", done_steps=200,
                  planned_steps=1_000)  # fmt: skip
    run = drawn("cut", state=state, train_loss=FALLING, learning_rate="0:2e-4 200:1e-4").run()
    assert Signals(run).learning_rate_at(200) == pytest.approx(1e-4)
    assert "still at 50" in finding("stopped-early", run).seen


def test_a_loss_that_rises_while_accuracy_rises_is_over_confidence() -> None:
    """Fewer epochs would cost accuracy: they are not proposed."""
    run = drawn(
        "sure of itself",
        task="classification",
        train_loss="0:2 400:0.02",
        eval_loss="50:1.2 100:0.8 400:1.5",
        eval_accuracy="50:0.6 100:0.71 400:0.77",
    ).run()
    made = finding("hockey-stick", run)
    assert made.severity == "info"
    assert made.title.startswith("Over-confidence from step")
    assert "yet eval accuracy improved from" in made.title
    assert {fix.setting for fix in made.fixes} == {"", "label_smoothing_factor"}


def test_a_policy_without_a_reward_is_not_called_healthy_by_its_loss() -> None:
    """Its loss says nothing."""
    run = drawn("policy", task="ppo", train_loss="0:0.1 200:0.1", kl="0:0.01 200:0.02").run()
    made = diagnose(run)
    assert made.health in {"unknown", "info"}
    assert made.verdict.sentence.startswith("Cannot judge: no reward is known up to step 200")
