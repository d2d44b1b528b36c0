"""Spikes beside resumes, epochs, averaging and unknown tasks."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.loss.humps import hump
from runlens.rules.loss.loss_spike import RULE
from runlens.rules.loss.spike_forms import setback
from runlens.rules.rule import drawn
from runlens.run import Event, Run, Task
from runlens.signals import Signals
from runlens.signals.shape import shape_of

SPIKE = "0:3 300:1.5 500:1.4 510:6 520:1.4 900:1.2"


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


def test_spike_at_a_resume_is_left_to_the_resume() -> None:
    """The same spike is found without the resume and passed with it."""
    run = drawn("spike", train_loss=SPIKE).run()
    assert ask(run).status == "found"
    assert ask(replace(run, events=(Event("resume", 500),))).status == "passed"


def test_partial_batches_at_the_ends_of_epochs_are_info() -> None:
    """One high point at each epoch boundary is no instability."""
    corners = "0:3 200:1.5 " + " ".join(f"{k - 10}:1.4 {k}:5 {k + 10}:1.4" for k in (300, 600, 900))
    run = drawn("last batch", steps_per_epoch=300, train_loss=corners + " 1100:1.3").run()
    finding = ask(run).findings[0]
    assert finding.severity == "info"
    assert "partial" in finding.ruled_out[0].why
    assert finding.harmless
    elsewhere = drawn("elsewhere", steps_per_epoch=470, train_loss=corners + " 1100:1.3").run()
    assert ask(elsewhere).findings[0].severity == "warning"


def test_unknown_task_needs_five_times() -> None:
    """Where nobody knows the loss, four times its level is passed."""
    assert ask(drawn("four", task="other", train_loss=SPIKE).run()).status == "passed"
    nine = SPIKE.replace("510:6", "510:13")
    assert ask(drawn("nine", task="other", train_loss=nine).run()).status == "found"


def test_a_jump_that_fades_within_a_thousandth_of_a_long_run() -> None:
    """Too wide for a point, too narrow for a hundredth of 30,000 points."""
    rng, at = np.random.default_rng(4), np.arange(30_000)
    value = 0.95 + 2 * np.exp(-at / 900) + 0.05 * rng.standard_normal(len(at))
    calm = Run("calm", "calm", History({"train_loss": columns(at, value)}), task="pretrain")
    assert ask(calm).status == "passed"
    value = value + np.where(at >= 14_700, 1.6 * np.exp(-(at - 14_700) / 60), 0)
    run = Run("fades", "fades", History({"train_loss": columns(at, value)}), task="pretrain")
    (finding,) = ask(run).findings
    assert finding.severity == "info"  # alone, below three times its level, and recovered
    assert abs((finding.onset.step or 0) - 14_700) < 60


def test_a_peak_is_told_with_its_own_step() -> None:
    """A spike begins before its peak: the value told stands in the log at the step told."""
    run = drawn(
        "climbs", noise=0, train_loss="0:3 300:1.5 500:1.4 510:4 520:6 530:1.4 900:1.2"
    ).run()
    finding = ask(run).findings[0]
    assert finding.title.startswith("Train loss spiked to 6.000 at step 520, ")
    assert finding.onset.step == 510
    assert finding.evidence[0].step == finding.chart.marks[0].step == 520


def test_scatter_of_a_low_loss_is_no_excursion() -> None:
    """While a loss falls its noise goes with its level: a high block among such is noise."""
    rng = np.random.default_rng(3)
    blocks = 0.08 * np.exp(-np.arange(100) / 40) * rng.lognormal(0, 0.5, 100)
    blocks[:10] += np.linspace(2.4, 0.3, 10)
    blocks[25:27] = 0.22, 0.16  # over levels of 0.04 to 0.1
    text = " ".join(f"{10 * k}:{v:.4f}" for k, v in enumerate(np.repeat(blocks, 7)))
    assert ask(drawn("scatter", noise=0, train_loss=text).run()).status == "passed"


def test_one_sample_is_no_range() -> None:
    """A batch of one is one sample."""
    one = {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1}
    run = drawn("one a batch", train_loss=SPIKE, config=one).run()
    said = [fix.what for fix in ask(run).findings[0].fixes]
    assert any("(sample 509, if the run has a single process)" in what for what in said)


@pytest.mark.parametrize(
    ("rows", "said"),
    [(120, "the batches of epoch 50"), (12, "the batch at step 50")],
)
def test_a_step_with_an_evaluation_each_is_an_epoch(rows: int, said: str) -> None:
    """Nobody evaluates after each update, so what is counted are passes over many batches."""
    run = drawn("spike", task="other", train_loss=SPIKE).run()
    at = np.arange(120)
    loss = 1.2 + np.exp(-at / 20) + 0.01 * (at % 3)
    loss[50] = 40
    evals = columns(at[:: 120 // rows], 2 * loss[:: 120 // rows])
    counted = History({"train_loss": columns(at, loss), "eval_loss": evals})
    spiked = ask(replace(run, history=counted)).findings[0]
    assert said in " ".join(fix.what for fix in spiked.fixes)


def test_windows_of_a_stream_of_tokens_have_no_numbers() -> None:
    """The loader of nanoGPT draws them at random."""
    config = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 1}
    run = drawn("stream", task="pretrain", train_loss=SPIKE, config=config).run()
    said = " ".join(fix.what for fix in ask(run).findings[0].fixes)
    assert "Look at the batch at step" in said
    assert "one process" not in said


RESTARTS = (
    "2.3 2.27 2.26 2.03 1.83 1.43 1.17 1.17 .85 .9 .7 .67 .65 .63 .6 .64 1.19 .97 1.15 1.08 1.2 "
    "1.3 1.02 .84 .68 .62 .52 .76 .55 .48 .45 .56 .82 .94 1.4 .93 .57 .84 .73 .57 .41 .57 .5 .34 "
    ".47 .69 .3 .65 1 .73 .86 .84 .81 .74 .66 .6 .62 .47 .52 .41 .46 .39 .35 .54 .92 .73 .85 .78 "
    ".93 .63 .62 .58 .49 .54 .43 .41 .52 .32"
)


def test_the_waves_of_a_schedule_with_restarts_are_no_excursions() -> None:
    """Loss rises after each restart by no more than it moves from block to block."""
    levels = np.repeat(np.array(RESTARTS.split(), dtype=float), 3)
    value = levels * np.random.default_rng(0).lognormal(0, 0.15, len(levels))
    text = " ".join(f"{4 * k}:{v:.4f}" for k, v in enumerate(value))
    run = drawn("restarts", noise=0, task="classification", train_loss=f"{text} /4").run()
    assert ask(run).status == "passed"


def test_a_loss_at_the_end_of_what_a_number_can_be_breaks_nothing() -> None:
    """Its running means are infinite, and no slow rise is read from them."""
    value = np.append(1e308, np.linspace(2.5, 1.0, 39))
    step = np.arange(10, 410, 10)
    run = Run("r", "r", History({"train_loss": columns(step, value)}), task="sft")
    with np.errstate(all="ignore"):
        assert examine(RULE, run, Signals(run)).status != "error"
        assert not hump(shape_of(step.astype(np.float64), value), RULE.limits).first.size


def test_a_hump_after_a_first_loss_of_zero_has_a_height() -> None:
    """The smoothed loss is above 0 there, the value as logged is not."""
    value = 1.0 + 3.0 * np.clip(1 - np.abs(np.arange(61) - 35.0) / 12, 0, None)
    value[0] = 0.0
    step = np.arange(0, 610, 10)
    seen = hump(shape_of(step.astype(np.float64), value), RULE.limits)
    assert seen.base.tolist() == [0.0]
    assert np.isfinite(seen.ratio).all()


@pytest.mark.parametrize(("top", "humps"), [(3, 0), (40, 1)])
def test_the_first_rows_of_a_running_mean_are_no_hump(top: int, humps: int) -> None:
    """A first batch that was easy, and the mean of it and of those behind comes down for long."""
    at = np.arange(1000)
    value = 0.7 + np.where(at < top, 6.6 * at / top, 6.6 * top / np.maximum(at, 1))
    shape = shape_of(at.astype(np.float64), value)
    assert len(hump(shape, RULE.limits).first) == humps


@pytest.mark.parametrize(
    ("task", "top", "status"),
    [("dpo", 0.018, "passed"), ("dpo", 0.025, "found"), ("regression", 0.018, "found")],
)
def test_points_next_to_nothing_are_no_spikes_of_a_loss_in_nats(
    task: Task, top: float, status: str
) -> None:
    """Preferences that are all right lose nothing in a point of 0.018; an error may."""
    corners = " ".join(f"{at - 10}:0.0012 {at}:{top} {at + 10}:0.0012" for at in (520, 1500, 2510))
    curve = f"0:0.54 100:0.0012 {corners} 3000:0.0012"
    assert (
        ask(drawn("next to nothing", noise=0.05, task=task, train_loss=curve).run()).status
        == status
    )


@pytest.mark.parametrize(("peak", "severity"), [(1.3, "info"), (1.7, "warning")])
def test_spikes_within_a_hundredth_of_what_was_learned_are_harmless(
    peak: float, severity: str
) -> None:
    """From 150 to 0.4: a point of 1.3 is three times the level, and nothing beside the fall."""
    spikes = " ".join(f"{at - 10}:0.4 {at}:{peak} {at + 10}:0.4" for at in (510, 610, 710))
    run = drawn("deep", task="regression", train_loss=f"0:150 30:0.4 {spikes} 2000:0.4").run()
    (found,) = ask(run).findings
    assert found.severity == severity
    assert found.harmless is (severity == "info")


def test_of_an_unknown_task_a_spike_that_fades_is_told() -> None:
    """One high point may be an odd batch; ten that fall back in order are none."""
    falls = "0:3 500:1.4"
    fading = f"{falls} 510:4.2 520:3.6 530:3.1 540:2.7 550:2.4 560:2.1 570:1.8 600:1.4 1500:1.1"
    short = f"{falls} 510:4.2 520:2 530:1.7 540:1.5 550:1.38 1500:1.1"  # two of them are high
    single = f"{falls} 510:4.2 520:1.4 1500:1.1"
    for curve, status in ((fading, "found"), (short, "found"), (single, "passed")):
        assert ask(drawn("fades", task="other", train_loss=curve).run()).status == status


def test_a_rise_at_a_restart_of_the_learning_rate_is_no_spike() -> None:
    """Cosine with restarts: the loss goes up with the rate, and comes back with it."""
    hump = {
        "train_loss": "0:3 400:1.4 460:1.4 500:2.2 600:2.1 700:1.4 1200:1.2",
        "eval_loss": "50:2.9 400:1.5 450:1.5 500:2.2 600:2.1 700:1.5 1200:1.3",
    }
    for rate, status in (
        ("0:1e-3 490:1e-6 500:1e-3 1200:1e-6", "passed"),
        ("0:1e-3 1200:1e-6", "found"),
    ):
        run = drawn("restart", learning_rate=rate, **hump).run()  # type: ignore[arg-type]
        assert ask(run).status == status


@pytest.mark.parametrize(
    ("curve", "onset"),
    [
        ("0:4 490:1.4 500:3.2 540:2.4 600:1.5 990:1", 500),
        ("0:4 490:1.4 500:3.2 510:1.4 990:1", None),  # a point that scatters
        ("0:4 490:1.4 500:1.8 540:1.7 600:1.5 990:1", None),  # too little of the gain
        ("0:2.4 60:1.1 70:2.4 80:2 90:1.7 130:1.2", None),  # so few: a stage of the task
    ],
)
def test_a_setback_of_an_unknown_task_that_lasts_is_told(curve: str, onset: float | None) -> None:
    """What it was nothing says: the update, other data, a stage. So it is an info."""
    findings = ask(drawn("back", noise=0.003, task="other", train_loss=curve).run()).findings
    assert [(one.severity, one.onset.step) for one in findings if one.onset] == (
        [] if onset is None else [("info", onset)]
    )


def _of(value: np.ndarray, task: Task = "other") -> Run:
    history = History({"train_loss": columns(np.arange(len(value)), value)})
    return Run("drawn", "drawn", history, task=task)


def test_a_loss_that_is_as_high_later_on_has_no_spike() -> None:
    """One that wanders over a factor of ten goes up and down at other times too."""
    rng = np.random.default_rng(5)
    slow = np.exp(np.interp(np.arange(4000), np.arange(0, 4001, 200), rng.normal(0.3, 0.7, 21)))
    slow[400:600] = 0.3
    slow[600:680] = 2.6
    value = slow * np.exp(rng.normal(0, 0.2, 4000))
    assert not ask(_of(value)).findings
    calm = np.where(np.arange(4000) < 680, value, 0.3 * np.exp(rng.normal(0, 0.2, 4000)))
    assert ask(_of(calm)).findings


@pytest.mark.parametrize(("peak", "found"), [(0.03, False), (0.5, True)])
def test_a_hinge_that_is_mostly_zero_has_only_its_start_for_a_level(
    peak: float, *, found: bool
) -> None:
    """It began at 0.09: above that a spell of losses is one, below it is the rest of the hinge."""
    rng = np.random.default_rng(6)
    value = np.where(rng.random(3000) < 0.35, rng.exponential(0.002, 3000), 0.0)
    value[:3] = 0.09, 0.08, 0.07
    value[2000:2040] = peak
    assert bool(ask(_of(value)).findings) is found


def test_a_setback_is_told_by_its_highest_loss() -> None:
    """It climbs by fits and starts: the first that is not topped at once is not its height."""
    climb = [0.69, 0.66, 0.65, 1.1, 3.0, 5.3, 5.2, 9.0, 8.9, 12.0, 11.9, 9.0, 6.0, 4.0, 2.5, 1.5]
    value = np.array([0.7, 0.7, 0.69, 0.7, 0.69, 0.68, *climb, 0.9, 0.8, 0.7, 0.64, 0.63, 0.62])
    assert setback(shape_of(np.arange(len(value)), value)).peak.tolist() == [12.0]


def test_the_sharpest_spike_is_called_highest_only_where_no_other_was_higher() -> None:
    """The level under a later one may be so low that the first reached more."""
    line = "0:9 90:6 290:2.4 300:8 310:2.4 590:0.5 600:3 610:0.5 790:0.5 800:2 810:0.5 900:0.4"
    (found,) = ask(drawn("lower and lower", train_loss=line).run()).findings
    assert found.seen.startswith("The sharpest reached ")
    line = "0:3 290:1.4 300:3.6 310:1.4 590:1.4 600:7 610:1.4 790:1.4 800:3.5 810:1.4 900:1.3"
    (found,) = ask(drawn("one level", train_loss=line).run()).findings
    assert found.seen.startswith("The highest reached ")
