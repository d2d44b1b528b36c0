"""Divergence beside resumes, other data, unknown tasks and adversaries."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import diagnose, examine
from runlens.history import Columns, History, columns
from runlens.rules.loss.divergence import RULE
from runlens.rules.loss.loss_spike import RULE as SPIKES
from runlens.rules.loss.rise_forms import _onset
from runlens.rules.rule import drawn
from runlens.run import Event, Run
from runlens.signals import Signals
from runlens.signals.noise import smooth
from tests.rules.said import explained

JUMP = "0:3 400:1.5 401:4 800:4"


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


def test_jump_at_a_resume_is_left_to_the_resume() -> None:
    """The same jump is found without the resume and passed with it."""
    run = drawn("jump", train_loss=JUMP).run()
    assert ask(run).status == "found"
    outcome = ask(replace(run, events=(Event("resume", 400),)))
    assert outcome.status == "passed"
    assert "resume-jump" in outcome.reason


def test_new_data_are_no_divergence() -> None:
    """A jump that is mostly undone while the loss still falls is a new stage of the task."""
    stage = drawn("stage", train_loss="0:3 400:1.2 401:4 800:2.2").run()
    assert ask(stage).status == "passed"
    stays = drawn("stays", train_loss="0:3 400:1.2 401:4 800:3.6").run()
    assert ask(stays).findings[0].severity != "info"


def test_unknown_task_needs_twice_the_rise() -> None:
    """A rise that undoes a third of the fall is an info where nobody knows the loss."""
    curve = "0:4 400:2 900:2.7 1000:2.7"
    assert ask(drawn("known", train_loss=curve).run()).status == "found"
    unknown = ask(drawn("unknown", train_loss=curve, task="other").run())
    assert [one.severity for one in unknown.findings] == ["info"]
    assert ask(drawn("known", train_loss=curve).run()).findings[0].severity != "info"


def test_adversarial_loss_is_not_judged() -> None:
    """A discriminator's loss makes the run unmet."""
    run = drawn("gan", train_loss=JUMP, d_loss="0:1 800:0.2", task="gan-diffusion").run()
    assert ask(run).status == "unmet"


def test_a_discriminator_that_wins_early_has_won() -> None:
    """The generator's loss rises while it wins: its level is that of before."""
    run = drawn(
        "gan",
        d_loss="0:0.6 100:0.05 200:0.001 1000:0.0001",
        g_loss="0:1.2 50:4 100:6.5 200:8 1000:10",
        task="gan-diffusion",
    ).run()
    (found,) = ask(run).findings
    assert "discriminator has won" in found.title


def test_climbing_part_of_the_loss_is_named_as_cause() -> None:
    """The first cause of a composite loss that rises names its part."""
    run = drawn("parts", train_loss=JUMP, aux_loss="0:1 400:1 800:5").run()
    assert "aux_loss" in explained("divergence", run).causes[0].evidence_for


def test_zeros_in_place_of_nan_do_not_hide_it() -> None:
    """Exact zeros at the end are no loss; the rise before them is critical."""
    run = drawn("zeros", train_loss="0:4 300:1 500:3 600:3.2 610:0 620:0 800:0").run()
    assert ask(run).findings[0].severity == "critical"


def test_fix_goes_back_before_the_onset() -> None:
    """The checkpoint named is the last one before the rise, the rate a third of its peak."""
    saved = tuple(
        Event("checkpoint", at, data={"path": f"out/checkpoint-{at}"}) for at in (200, 300, 500)
    )
    run = drawn("saved", train_loss=JUMP, learning_rate="0:3e-4 800:3e-4", events=saved).run()
    fixes = ask(run).findings[0].fixes
    assert "checkpoint-300" in fixes[0].what
    assert (fixes[1].setting, fixes[1].old, fixes[1].new) == ("learning_rate", None, 1e-4)


def test_loss_without_a_level_is_not_judged() -> None:
    """Below 0, and for policy gradients, a rise has nothing that it could be a share of."""
    below = "0:-0.036 60:-0.038 200:-0.02 300:-0.02"
    outcome = ask(drawn("below", task="other", train_loss=below).run())
    assert outcome.status == "unmet"
    assert "below 0" in outcome.reason
    policy: dict[str, Any] = {"train_loss": JUMP, "policy_loss": "0:0 800:0", "reward": "0:1 800:2"}
    assert ask(drawn("policy", task="other", **policy).run()).status == "unmet"


def test_evaluation_that_gets_worse_too_is_no_reason_to_pass() -> None:
    """One set that improves does not outweigh another that gets worse."""
    curves: dict[str, Any] = {
        "train_loss": JUMP,
        "eval_loss:a": "50:2 800:1",
        "eval_loss:b": "50:2 800:6",
    }
    assert ask(drawn("two sets", **curves).run()).status == "found"


def test_a_loss_of_zero_that_rises_has_no_limit_to_be_a_multiple_of() -> None:
    """Of a rise from nothing the confidence says so."""
    value = np.concatenate([np.zeros(10), np.arange(1.0, 11.0)])
    history = History({"train_loss": columns(np.arange(10, 210, 10), value)})
    run = replace(drawn("from zero", train_loss="0:2 200:1").run(), history=history)
    (found,) = ask(run).findings
    assert found.confidence.reason == "it was zero before, 20 points"


def test_a_batch_as_high_as_the_noise_is_no_jump_behind_the_best() -> None:
    """Of 60 losses of scattered batches half are dated within a twentieth of where they rise."""
    level, right = np.interp(np.arange(180), [0, 60, 150, 155, 179], [1.0, 0.4, 0.4, 0.8, 0.8]), 0
    for seed in range(60):
        value = level + 0.17 * np.random.default_rng(seed).standard_normal(180)
        course = smooth(value)
        best = float(course.min())
        at, _ = _onset(value, int(np.argmin(course)), best, 0.8 - best, left=False)
        right += abs(at - 151) <= 9
    assert right >= 30


def test_a_likelihood_that_is_lost_many_times_over() -> None:
    """A loss below 0 has no level, but its own fall: five times that is no wandering."""
    falls = "0:-1500 400:-3800 500:-3800"
    for end, status in (("600:2e4 900:1e6", "found"), ("600:-3000 900:-1000", "unmet")):
        case = drawn("nll", task="other", noise=0.01, train_loss=f"{falls} {end}")
        assert ask(case.run()).status == status


def test_a_loss_that_grows_by_decades_outgrows_its_noise() -> None:
    """0.15 at best and 1e290 at the end: its scatter grows as fast, and excuses nothing."""
    value = np.concatenate([np.linspace(0.3, 0.15, 12), 0.15 * 10 ** np.arange(0, 290, 10.5)])
    history = History({"train_loss": columns(np.arange(len(value)), value)})
    (found,) = ask(Run("decades", "decades", history, task="other")).findings
    assert found.severity == "critical"


def test_what_never_learned_has_nothing_to_lose() -> None:
    """A loss at ln 3 that dipped by half a percent for some points."""
    rng = np.random.default_rng(4)
    value = np.log(3) + 3e-4 * rng.standard_t(2, 100)
    value[46:52] -= 0.008
    run = Run("flat", "flat", History({"train_loss": columns(np.arange(100), value)}), task="other")
    assert not ask(run).findings


def _staged(columns_: dict[str, Columns]) -> Run:
    """Draw a loss of 40 rows that jumps at row 25 and falls from there, beside other columns."""
    value = np.concatenate([np.linspace(0.6, 0.28, 25), np.linspace(3.1, 1.3, 15)])
    made = {"train_loss": columns(np.arange(1, 41), value), **columns_}
    return Run("staged", "staged", History(made), task="other")


def test_a_jump_where_other_scores_begin_is_a_new_stage() -> None:
    """The score of one task ends with the row before, that of the next begins: other data."""
    first = {"eval_bleu": columns(np.arange(1, 26), np.linspace(0.1, 0.2, 25))}
    second = {"eval_bleu_two": columns(np.arange(26, 41), np.linspace(0.1, 0.2, 15))}
    run = _staged({**first, **second})
    outcome = ask(run)
    assert outcome.reason.endswith("eval bleu ends there and eval bleu two begins")
    assert not examine(SPIKES, run, Signals(run)).findings
    for lone in (first, second, {}):
        assert ask(_staged(lone)).findings


def test_a_part_of_the_loss_that_begins_is_no_divergence() -> None:
    """It was exactly 0 up to the jump, and the sum stays where its beginning put it."""
    step, zeros = np.arange(1, 41), np.zeros(25)
    level = np.concatenate([np.full(25, 0.03) + 1e-3 * (step[:25] % 3), np.full(15, 0.31)])
    rises = np.concatenate([level[:25], np.linspace(0.31, 0.9, 15)])
    part = columns(step, np.concatenate([zeros, np.full(15, 0.7)]))
    for loss, found in ((level, False), (rises, True)):
        history = History({"train_loss": columns(step, loss), "pair_loss": part})
        outcome = ask(Run("part", "part", history, task="other"))
        assert bool(outcome.findings) is found
        assert found or "pair loss was 0 up to there and is 0.7" in outcome.reason
    early = columns(step, np.concatenate([zeros[:10], np.full(30, 0.7)]))
    gone = columns(step, np.concatenate([zeros, np.full(5, 0.7), np.zeros(10)]))
    silent = columns(step, np.zeros(40))
    for other in (early, gone, silent):
        history = History({"train_loss": columns(step, level), "pair_loss": other})
        assert ask(Run("part", "part", history, task="other")).findings


def test_a_first_step_that_comes_twice_is_of_another_start() -> None:
    """Its row stands before those of the training that was meant."""
    value = np.concatenate([[2.2], 3.2 + 4 * np.exp(-np.arange(14) / 3)])
    twice, once = np.concatenate([[0], 10 * np.arange(14)]), 10 * np.arange(15)
    for step, found in ((twice, False), (once, True)):
        history = History({"train_loss": columns(step, value)})
        outcome = ask(Run("start", "start", history, task="sft"))
        assert bool(outcome.findings) is found
        assert found or "step 0 comes a second time" in outcome.reason


def test_a_level_that_is_only_visited_was_never_reached() -> None:
    """Easier texts in an order: low twice for a few rows, and as high as the end all else."""
    rng = np.random.default_rng(3)
    value = 2.0 + rng.normal(0, 0.05, 1000)
    value[900:] -= 0.1
    twice = value.copy()
    twice[300:320] = twice[600:620] = 0.4
    for low, found in ((twice, False), (np.where(np.arange(1000) // 150 == 2, 0.4, value), True)):
        history = History({"train_loss": columns(np.arange(1000), low)})
        assert bool(ask(Run("texts", "texts", history, task="sft")).findings) is found


def test_the_best_is_no_single_odd_row() -> None:
    """A row of exactly 0 among losses of 0.75 is not where the loss rose from."""
    value = np.concatenate([np.full(30, 0.75), np.full(20, 3.5)]) + 0.02 * (np.arange(50) % 3)
    odd = value.copy()
    odd[15] = 0.0
    for curve in (value, odd):
        history = History({"train_loss": columns(np.arange(50), curve)})
        (found,) = ask(Run("odd", "odd", history, task="other")).findings
        assert "It rose from 0.7" in found.title


def test_a_loss_that_runs_off_below_zero_is_the_wrong_one() -> None:
    """Its cause is told, and the labels are to be looked at; a score that moves speaks for it."""
    losses = [0.6, -2.0, -90.0, -800.0, -9e3, -7e4]
    for last, wanted in ((0.25, ["critical"]), (0.29, [])):
        scores = [0.25, 0.25, 0.25, 0.25, 0.25, last]
        steps = np.arange(1, 7)
        history = History(
            {"train_loss": columns(steps, losses), "eval_accuracy": columns(steps, scores)}
        )
        said = diagnose(Run("off", "off", history, task="classification"))
        made = [one for one in said.findings if one.rule == "divergence"]
        assert [one.severity for one in made] == wanted
        assert [one.causes[0].kind for one in made] == ["loss-function"] * len(wanted)
        assert all("smallest and the largest label" in one.fixes[0].what for one in made)


@pytest.mark.parametrize(
    "losses",
    [
        [-2.0, -90.0, -800.0, -700.0, -9e3, -7e4],  # not at each point
        [-2.0, -90.0, -800.0, -9e3],
        [-2.0, -90.0, -800.0, -9e3, -7e4, 3.0],  # it came back
    ],
)
def test_what_swings_below_zero_does_not_run_off(losses: list[float]) -> None:
    """Nor is anything said of few points, or where no score is logged."""
    steps = np.arange(1, len(losses) + 1)
    curves = {"train_loss": columns(steps, losses)}
    scores = {"eval_accuracy": columns(steps, np.full(len(losses), 0.25))}
    for logged in (curves, curves | scores):
        run = Run("off", "off", History(logged), task="classification")
        assert all("ran off" not in one.title for one in diagnose(run).findings)


@pytest.mark.parametrize(
    ("values", "onset"),
    [
        ("0:0.54 10:0.52 20:0.5 30:0.55 40:0.68 50:1 60:1.8 70:8 80:200 90:8000", 40),
        ("0:3 10:2 20:1 30:1.3 40:1.15 50:1.28 60:5 70:7 80:9 90:9.5", 60),  # no orders
    ],
)
def test_few_points_that_rise_by_orders_of_magnitude_leave_their_level_first(
    values: str, onset: int
) -> None:
    """A tenth of such a rise is far above the level; of a plain one it is where the rise shows."""
    outcome = ask(drawn("few", noise=0, task="classification", train_loss=values).run())
    assert [found.onset.step for found in outcome.findings] == [onset]


def test_the_lowest_row_of_all_is_no_part_of_a_rise() -> None:
    """The smooth course leads by a row; what is told as the best lies before the onset."""
    values = "0:8 10:20 20:1.5 30:8000 40:6 50:300 60:30000 70:400 80:1.2 90:1.21 100:1.1 110:1.04 "
    values += "120:2.5 130:0.97 140:0.94 150:8e7 160:1.6e7 170:2300 180:550"
    found = ask(drawn("late", noise=0, task="classification", train_loss=values).run()).findings
    assert [one.onset.step for one in found] == [150]
    assert "from 0.940 at its best to 8e7 and ended at 550" in found[0].title


def test_levels_are_told_as_levels_throughout() -> None:
    """Beside a smoothed best stands a smoothed peak, and one high row is no peak to come from."""
    rng = np.random.default_rng(1)
    step = 10 * np.arange(1, 2001)
    value = (0.01 + step / 1e4) * np.exp(0.6 * rng.standard_normal(len(step)))
    value[:200] *= 0.2
    value[[5, 1900]] = 1e-4, 12.0
    history = History({"train_loss": columns(step, value)}, ("drawn",))
    found = ask(replace(drawn("r", train_loss=JUMP).run(), history=history)).findings[0]
    assert found.title.count("(smoothed)") == 2
    assert "12.0" not in found.title
    assert "did not recover" in found.seen


@pytest.mark.parametrize("came_back", [True, False])
def test_a_rise_that_was_undone_is_not_the_one_that_lasts(*, came_back: bool) -> None:
    """What is dated begins behind it; one that never came back is dated to its own beginning."""
    rows = "0:4 300:1.02 400:1.0 440:1.1 500:2.6 600:2.6 "
    rows += "660:1.06 800:1.06 860:3 1400:3" if came_back else "660:2.7 800:2.8 860:3 1400:3"
    run = drawn("two rises", noise=0.01, train_loss=rows).run()
    (finding,) = examine(RULE, run, Signals(run)).findings
    assert ((finding.onset.step or 0) > 700) is came_back


@pytest.mark.parametrize(
    ("last", "health"), [("610:0.4 900:0.25", "healthy"), ("610:0.4 900:0.41", "unknown")]
)
def test_a_loss_that_falls_on_its_last_level_is_learned(last: str, health: str) -> None:
    """The loss of a harder task lies above that of the first; that it falls there, is told."""
    run = drawn(
        "levels",
        task="other",
        noise={"train_loss": 0.01},
        train_loss=f"0:0.24 300:0.005 310:0.1 600:0.03 {last}",
        level="0:1 300:1 310:2 600:2 610:3 900:3",
    ).run()
    diagnosis = diagnose(run)
    assert diagnosis.health == health
    assert ("level goes from 2 to 3 at step 610" in str(diagnosis.verdict).lower()) is (
        health == "healthy"
    )
