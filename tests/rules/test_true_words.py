"""What findings say is true of the run: sentences that were not, on real runs."""

from dataclasses import replace
from typing import Any

import pytest

from runlens import fixes
from runlens.causes.rate import _high as rate_too_high
from runlens.causes.scene import Scene
from runlens.diagnosis import Finding, Moment
from runlens.engine import diagnose
from runlens.experiments import check_data
from runlens.rules.cases import drawn, message
from runlens.rules.lifecycle import crashed
from runlens.rules.loss.surroundings import first_checks
from runlens.run import Event, Run, State
from runlens.signals import Signals
from runlens.wording import rate
from tests.rules.said import BY_SLUG, ask, bad, explained, told

FALLING = "0:2.2 160:1.6"
SUMMARY = "the trainer wrote its closing summary at step 200 of 1,000"


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
        ("SignalException: Process 3622651 got signal: 1", "The terminal that started the run"),
        ("SignalException: Process 3622651 got signal: 15", "Told to end"),
        ("Received 1 death signal, shutting down workers", "setsid"),
    ],
)
def test_a_closed_terminal_is_told_from_other_signals(line: str, words: str) -> None:
    """Signal 1 is SIGHUP, which torchrun obeys under nohup too."""
    text = told(explained("killed", killed(line)))
    assert words in text
    assert ("tmux" in text) == ("15" not in line)


def test_what_a_scheduler_says_of_memory_is_acted_on() -> None:
    """Though the shell says last that the program was killed; without it, on the Killed alone."""
    limit = message(
        "TERM_MEMLIMIT", "kill", 129, 160, cause_kind="memory", fix="Request more for the job"
    )
    last = message("line 8: 38119 Killed", "kill", 5, 160, fix="Use a smaller dataset_num_proc")
    state = State("killed", "Killed", "certain", done_steps=160, planned_steps=2_000)
    for events, begins in (((limit, last), "Request more"), ((last,), "Use a smaller")):
        run = drawn("killed", state=state, events=events, train_loss=FALLING).run()
        assert f"do {begins}" in told(finding("killed", run))


def test_a_run_that_wrote_its_closing_summary_is_no_longer_going() -> None:
    """Nor was it killed without a line; where the log breaks off, both may be."""
    state = State("stopped_early", SUMMARY, "certain", done_steps=200, planned_steps=1_000)
    closed = drawn(
        "closed", state=state, train_loss="0:2.2 200:1.6", learning_rate="0:1e-4 200:1e-4"
    )
    text = told(explained("stopped-early", closed.run()))
    assert "still running" not in text
    assert "kill without a line" not in text
    assert "still at its peak" in text
    cut = replace(closed, state=replace(state, sure="likely", why="train.log breaks off"))
    text = told(explained("stopped-early", cut.run()))
    assert "still running" in text
    assert "train.log breaks off. At" in text  # the name of a file keeps its letters


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
    assert [fix.what for fix in fixes.longer_warmup(none, "x")] == ["Add a learning-rate warm-up"]
    all_along = drawn("rising", train_loss="0:2 1000:1", learning_rate="0:1e-6 1000:1e-4").run()
    assert fixes.longer_warmup(all_along, "x") == ()


@pytest.mark.parametrize(
    ("loss", "noise", "words"),
    [
        ("0:2 900:1.8", 0.4, "he loss did not clearly fall"),
        ("0:2 30:2 40:9 900:4", 0.02, "he loss did not fall below its start"),
        ("0:2.2 900:0.9", 0.02, "does little harm"),
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
        "The run cannot be judged. No loss or reward was recognized up to step 900"
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
    assert "it was in range before step 40" in text
    assert "as early as" not in text


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
    assert made.title.startswith("The model became over-confident from step")
    assert "yet eval accuracy improved from" in made.title
    assert {fix.setting for fix in made.fixes} == {"", "label_smoothing_factor"}


def test_a_policy_without_a_reward_is_not_called_healthy_by_its_loss() -> None:
    """Its loss says nothing."""
    run = drawn("policy", task="ppo", train_loss="0:0.1 200:0.1", kl="0:0.01 200:0.02").run()
    made = diagnose(run)
    assert made.health in {"unknown", "info"}
    assert made.verdict.sentence.startswith(
        "The run cannot be judged. No reward was recognized up to step 200"
    )


def test_a_run_too_short_to_save_in_is_not_told_to_save() -> None:
    """Without a plan the run's own length counts: every 430 steps never came in one of 77."""
    state = State("killed", "Killed", "certain", done_steps=160)
    short = replace(killed("Killed", seconds_per_step=5.0), state=state)  # 13 minutes
    assert "Save a checkpoint" not in told(finding("killed", short))
    long = replace(killed("Killed", seconds_per_step=8.0), state=state)  # 21 minutes
    assert "Save a checkpoint every 70 steps" in told(finding("killed", long))


@pytest.mark.parametrize(
    ("stage", "where"),
    [
        ("reading the settings", "before the first step"),
        ("the forward pass", "at an unknown step"),
    ],
)
def test_an_error_of_the_settings_came_before_the_first_step(stage: str, where: str) -> None:
    """A log without rows may be an excerpt; where it was raised says more."""
    error = "ValueError: 10 must be divisible by 4"
    raised = message(error, "known", 50, None, cause="No multiple.", exception=error, stage=stage)
    state = State("crashed", error, "certain", excerpt=True)
    case = drawn("settings", (0, 0), state=state, events=(raised,))
    for slug in ("known-error", "crashed"):
        assert where in finding(slug, case.run()).title
    assert "step that failed" not in told(explained("crashed", case.run()))


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"max_grad_norm": 0.0}, "nothing bounds the step"),
        ({"max_grad_norm": 1.0}, "limits it to 1."),
        ({"framework": ""}, "does not say"),
    ],
)
def test_clipping_bounds_a_step_only_where_it_is_on(limit: dict[str, Any], said: str) -> None:
    """The norm is that before clipping, whatever becomes of the step."""
    case = bad("grad-explosion", "climbs and the loss follows", **limit)
    assert said in finding("grad-explosion", case.run()).seen


def test_a_loss_that_became_nan_did_not_end_at_its_last_finite_value() -> None:
    """Zeros that hide a NaN count as NaN."""
    climbs = "0:3 400:1 600:4"
    for rest in ("601:nan 900:nan", "601:0 900:0"):
        lost = finding("divergence", drawn("x", train_loss=f"{climbs} {rest}").run())
        assert "became NaN at step 610" in lost.title
        assert "ended" not in lost.title
    assert "ended" in finding("divergence", drawn("x", train_loss=climbs).run()).title


def test_a_rate_in_warm_up_is_not_called_its_peak() -> None:
    """The highest logged rate is no peak where it was still rising."""
    run = drawn(
        "cut in warm-up",
        train_loss=FALLING,
        learning_rate="0:1e-8 160:2e-7",
        state=State(
            "stopped_early", "the log breaks off", "likely", done_steps=160, planned_steps=5100
        ),
    ).run()
    assert "At the end the learning rate was still rising." in finding("stopped-early", run).seen


def test_a_loss_that_became_infinite_is_not_called_nan() -> None:
    """One word in all places, that of the value at the step told; NaN may come later."""
    norms = "0:1 400:1 600:400 610:nan 900:nan"
    run = drawn("x", train_loss="0:3 400:1 600:4 601:inf 650:nan 900:nan", grad_norm=norms).run()
    assert "became infinite at step 610" in finding("divergence", run).title
    assert finding("nan-loss", run).title.startswith("The loss became infinite at step 610")
    assert "NaN at step 610" not in str(diagnose(run))


def test_the_length_of_a_schedule_is_not_read_off_the_row_that_shows_its_end() -> None:
    """The rate was zero at some step between two rows: the later of them is not its length."""
    run = drawn(
        "short", train_loss="0:6 170:4.7 400:4.7", learning_rate="0:2e-3 165:1e-5 170:0 400:0 /20"
    ).run()
    said = [fix.what for fix in finding("lr-zero", run).fixes]
    assert "Build the schedule for all 400 steps" in said


def test_the_largest_norm_is_called_finite_where_others_are_not() -> None:
    """A norm that rose to infinity has no largest value."""
    case = bad("grad-explosion", "climbs and the loss follows", max_grad_norm=0.0)
    assert "the largest norm was" in told(explained("grad-explosion", case.run()))
    norms = f"{case.curves['grad_norm']} 901:inf 910:inf"
    lost = replace(case, curves={**case.curves, "grad_norm": norms})
    assert "the largest finite norm was" in told(explained("grad-explosion", lost.run()))


def test_a_small_fall_of_the_reward_is_no_collapse() -> None:
    """From 10 to 9.4 is a fall; half of the level, or of the gain, is a collapse."""
    small = drawn("x", task="rl", noise=0.002, reward="0:10 300:10 400:9.4 900:9.4").run()
    assert "Reward fell" in finding("reward-collapse", small).title
    gone = drawn("x", task="rl", noise=0.002, reward="0:9 300:10 400:9.4 900:9.4").run()
    assert "Reward collapsed" in finding("reward-collapse", gone).title


def test_a_rate_too_low_is_not_excused_by_a_small_model() -> None:
    """Small models take higher rates than others."""
    low = bad("lr-out-of-range", "full fine-tuning at 1e-7")
    assert "small model" not in told(finding("lr-out-of-range", low.run()))
    high = bad("lr-out-of-range", "LoRA at 5e-3")
    assert "small model" in told(finding("lr-out-of-range", high.run()))


def test_a_short_run_is_told_an_interval_that_gives_ten_evaluations() -> None:
    """Every 50 of 180 steps would be three again; what is off is not done more often."""
    evals: dict[str, Any] = {"eval_loss": "60:1.4 180:1.3 /60", "train_loss": "0:2 180:1"}
    case = drawn("x", (0, 180), config={"eval_strategy": "steps", "eval_steps": 60}, **evals)
    text = told(finding("eval-too-rare", case.run()))
    assert "fix eval_steps: 60.0 -> 18" in text
    off = finding("eval-too-rare", bad("eval-too-rare", "off").run())
    assert all("more often" not in fix.what for fix in off.fixes)


def test_a_shock_names_the_rate_at_which_it_came() -> None:
    """The peak comes later."""
    for case in (one for one in BY_SLUG["warmup-shock"].bad if "learning_rate" in one.curves):
        run = case.run()
        shock = finding("warmup-shock", run)
        at = run.curve("learning_rate").before(int(shock.begins) + 1).value[-1]
        assert f"rate of {rate(float(at))} " in shock.title


def test_nobody_resumes_from_weights_whose_loss_is_far_above_all_before() -> None:
    """A value loss from 1.2 to 8e8 in the last row: the checkpoint after it is worth nothing."""
    saved = tuple(Event("checkpoint", at, data={"path": f"run/c-{at}"}) for at in (80, 160))
    line = message("Killed", "kill", 9, 160, cause="Told to end.", fix="Look at other ranks")
    state = State("killed", "Killed", "certain", done_steps=160, planned_steps=2_000)
    curves: dict[str, Any] = {"train_loss": FALLING, "value_loss": "0:2 150:1 160:1"}
    sound = drawn("x", state=state, events=(line, *saved), **curves)
    assert "Resume from c-160" in told(finding("killed", sound.run()))
    blown = replace(sound, curves={**curves, "value_loss": "0:2 150:1 160:1e9"})
    assert "Resume from c-80" in told(finding("killed", blown.run()))
    assert "c-160" not in str(diagnose(blown.run()).do_first)
    late = replace(blown, events=(line, saved[1])).run()
    assert "value loss is far above all earlier values" in str(diagnose(late).do_first)


def test_growth_of_memory_is_no_sign_where_a_person_ended_the_run() -> None:
    """Half a GiB that became 0.9 did not press Ctrl-C."""
    grew: dict[str, Any] = {"host_mem": "0:0.5 160:0.9"}
    assert "host memory had grown from" in told(explained("killed", killed("Killed", **grew)))
    assert "host memory had grown from" not in told(
        explained("killed", killed("KeyboardInterrupt", **grew))
    )


def test_nothing_is_memorised_before_it_is_seen_twice() -> None:
    """Eval loss that turns within the first pass has another cause."""
    losses: dict[str, Any] = {"train_loss": "0:3 900:0.5", "eval_loss": "0:3 300:2 900:3.5 /60"}
    for per_epoch, blamed in ((100, True), (600, False)):
        run = drawn("x", steps_per_epoch=per_epoch, **losses).run()
        causes = explained("hockey-stick", run).causes
        assert any("train loss fell" in one.evidence_for for one in causes) is blamed


def test_the_story_leaves_out_what_came_after_the_symptom() -> None:
    """A rate that is gone at step 90 did not keep the loss at chance from step 1 on."""
    gone = "0:1e-4 300:1e-4 310:1e-7 900:1e-7"
    flat: dict[str, Any] = {"train_loss": "0:6.9 900:6.9", "eval_loss": "0:6.9 900:6.9 /100"}
    case = drawn("x", task="pretrain", noise=0.0005, learning_rate=gone, **flat)
    found = diagnose(case.run())
    assert "rate-zero" not in [one.kind for one in found.causes]
    assert not any("below 5 %" in one.what for one in found.story)


def test_pretraining_has_neither_samples_nor_labels_that_are_masked() -> None:
    """Each token of a stream is a label."""
    run = drawn("text", task="pretrain", train_loss=FALLING).run()
    samples = replace(run, task="sft")
    assert "-100" not in check_data(run).what + check_data(run).why
    assert "-100" in check_data(samples).what
    assert "label mask" not in first_checks(run)[1].what
    assert "label mask" in first_checks(samples)[1].what


@pytest.mark.parametrize(("end", "words"), [(90, "had risen at step 20 already"), (100, "rose at")])
def test_a_shock_that_was_over_is_told_as_an_earlier_one(end: int, words: str) -> None:
    """What came long before the fault is no rise at the fault."""
    rate = "0:1e-5 50:1e-4 900:1e-4"
    run = drawn("shock", train_loss="0:2 900:4", learning_rate=rate).run()
    fault = Finding("critical", "Fault.", "train_loss", Moment(100), (), rule="divergence")
    shock = replace(fault, rule="warmup-shock", onset=Moment(20), end=Moment(end))
    signs = rate_too_high(Scene(run, Signals(run), (fault,), (fault, shock)))
    assert any(words in sign.text for sign in signs if sign)


def test_a_run_that_did_all_its_steps_is_not_told_to_save_more_often() -> None:
    """What crashed behind them has nothing left to save."""
    early, late = (case.run() for case in crashed.BAD[:2])
    assert "Save a checkpoint every 40 steps" in told(finding("crashed", early))
    assert "Save a checkpoint" not in told(finding("crashed", late))


def test_words_before_a_colon_that_are_no_class_are_an_error() -> None:
    """Argparse writes the name of the script there."""
    state = State("crashed", "exit code 2", "certain", 2, done_steps=160, planned_steps=400)
    said = "train.py: error: too few arguments"
    raised = message(said, "fallback", 99, 160, exception=said)
    made = diagnose(replace(crashed.BAD[0].run(), state=state, events=(raised,)))
    assert made.causes[0].what == "An error in the program"
