"""What reports in use told wrongly: causes later than the fault, rows against the first cause."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import diagnose as diagnose_read
from runlens import read
from runlens.causes import ending
from runlens.causes.ranking import judge
from runlens.diagnosis import Diagnosis
from runlens.engine import diagnose
from runlens.history import Columns, History
from runlens.rules.rule import Case, drawn
from tests.causes.test_hypotheses import CASES
from tests.causes.weighed import scene

FLAT = "0:2.303 900:2.302"


def kinds(found: Diagnosis) -> list[str]:
    """Return the kinds of all causes of the first incident."""
    return [cause.kind for cause in found.causes]


def ruled_out(found: Diagnosis) -> set[str]:
    """Return what the first finding rules out."""
    return {one.what for one in found.findings[0].ruled_out}


def test_what_built_up_before_a_nan_is_no_odd_batch() -> None:
    """The loss rose from 430 on, and was NaN at 500: the level before the rise says nothing."""
    case = drawn(
        "x",
        train_loss="0:3 400:1.5 430:1.6 490:9 500:nan 900:nan",
        grad_norm="0:1 430:1 490:90 500:nan 900:nan",
    )
    found = diagnose(case.run())
    assert {"divergence", "nan-loss"} <= {one.rule for one in found.findings}
    assert "it had not been rising" not in str(found.causes)


def test_a_first_cause_is_not_ruled_out_by_another_name() -> None:
    """A rate that left its plan was too high in the end; one that is too high is not too low."""
    left = CASES["the rate leaves its plan"][1]
    config = {**left.config, "lora_r": 16, "learning_rate": 1e-4}
    rate = "0:1e-4 400:1e-4 500:2e-2"
    case = drawn("x", config=config, train_loss="0:3 400:1.5 500:4 900:9", learning_rate=rate)
    found = diagnose(case.run())
    assert kinds(found)[0] == "rate-leaves-plan"
    assert not {"Learning rate too high", "Learning rate too low"} & ruled_out(found)
    high = diagnose(CASES["a rate a hundred times above the usual"][1].run())
    assert kinds(high)[0] == "rate-too-high"
    assert "Learning rate too low" not in ruled_out(high)


def test_constant_clipping_is_no_first_symptom_of_a_divergence() -> None:
    """At step 10, where each step is clipped already, the rate is low; at 700 it is not."""
    run = drawn(
        "x", train_loss="0:0.7 690:0.3 710:0.9 900:0.9", learning_rate="0:1e-6 900:5e-5"
    ).run()
    one = scene(run, "divergence 700 critical, clip-saturation 10 warning")
    assert one.symptom == 700
    assert "Learning rate too high" not in {no.what for no in judge(one)[1]}


@pytest.mark.parametrize(("low", "first"), [(0.001, "leak"), (2.5, "memorised")])
def test_what_is_memorised_alone_does_not_lower_evaluation(low: float, first: str) -> None:
    """Nine passes, and eval loss at 0 as well: its rows are training rows, fewer passes no fix."""
    case = drawn(
        "x",
        noise=0.001,
        steps_per_epoch=100,
        train_loss="0:2 200:0.001 900:0.001",
        eval_loss=f"0:2 200:{low} 900:{low}",
    )
    causes, out = judge(scene(case.run(), "zero-loss 200 warning"))
    assert causes[0].kind == first
    assert any("as well" in no.why for no in out) is (first == "leak")


@pytest.mark.parametrize(
    ("train", "evals", "first"),
    [
        ("0:nan 900:nan", "0:nan 900:nan", "precision"),
        ("0:nan 900:nan", "50:nan 900:nan", "bad-batch"),  # updates came before it
        ("0:nan 900:nan", "0:2 50:nan 900:nan", "bad-batch"),  # the weights were whole
        ("0:nan 490:nan 500:2 900:2", "0:nan 900:nan", "bad-batch"),  # some batches are
    ],
)
def test_nan_before_any_update_is_of_the_forward_pass(train: str, evals: str, first: str) -> None:
    """No batch is odd where all are, and no weights were spoiled yet."""
    case = drawn("x", noise=0.0, train_loss=train, eval_loss=evals)
    found = judge(scene(case.run(), "nan-loss 0 critical, nan-eval 0 warning"))[0]
    assert found[0].kind == first


@pytest.mark.parametrize(
    ("optim", "found", "first"),
    [
        ("sgd", "plateau 100 warning", "clip-too-tight"),
        ("adamw", "plateau 100 warning", "unknown"),
        ("adamw", "clip-saturation 100 warning", "clip-too-tight"),
    ],
)
def test_adam_does_not_stand_still_for_a_clipping_limit(optim: str, found: str, first: str) -> None:
    """It divides the scale out, so a flat loss has another cause."""
    config: dict[str, float | str] = {"max_grad_norm": 1.0, "optim": optim}
    case = drawn("x", train_loss="0:3 100:2 900:2", grad_norm="0:9 900:9", config=config)
    assert judge(scene(case.run(), found))[0][0].kind == first


@pytest.mark.parametrize(("length", "ends"), [("0:1 900:1", True), ("0:1 900:2", False)])
def test_episodes_of_one_step_are_the_environments(length: str, ends: bool) -> None:
    """Nothing that the policy does counts."""
    curves = {"reward": "0:-100 900:-100", "rollout/ep_len_mean": length}
    noise = dict.fromkeys(curves, 0.0)
    run = Case("x", curves, noise=noise, task="rl").run()
    what = judge(scene(run, "reward-stuck-zero 0 warning"))[0][0].what
    assert what.startswith("The environment ends" if ends else "The reward is the same")


@pytest.mark.parametrize(("epoch", "passes"), [(0.0, None), (3.0, 3.0)])
def test_an_epoch_that_stays_zero_is_not_counted(epoch: float, passes: float | None) -> None:
    """An endless dataset has one epoch: passes over its rows are not known."""
    step = np.arange(1, 10)
    epochs = np.where(step < 9, 0.0, epoch)
    none = np.zeros(9, dtype=np.int16)
    columns = Columns(step, 3.0 / step, epochs, np.full(9, np.nan), none, none)
    run = replace(drawn("x").run(), history=History({"train_loss": columns}))
    assert scene(run, "hockey-stick 2 warning").all_passes == passes


def test_what_fits_is_tried_before_one_looks_around() -> None:
    """A tenth of the rate tells more than a batch that is overfitted at the same rate."""
    config: dict[str, float | str] = {"learning_rate": 3e-3, "optim": "adamw"}
    curves: dict[str, Any] = {"learning_rate": "0:3e-3", "train_loss": FLAT}
    curves["eval_accuracy"] = "0:0.1 900:0.1"
    dead = drawn("x", task="classification", noise=0.0005, config=config, **curves)
    assert kinds(diagnose(dead.run()))[0] == "rate-too-high"  # one answer to every batch
    noise = {"train_loss": 0.01, "eval_accuracy": 0.001, "learning_rate": 0.0}
    case = drawn("x", task="classification", noise=noise, config=config, **curves)
    found = diagnose(case.run())
    assert kinds(found)[:2] == ["unknown", "rate-too-high"]
    told = [what for what, _ in found.do_first.steps]
    assert told[1].startswith("Repeat the run at a tenth"), told


@pytest.mark.parametrize(("kl", "moved"), [(0.009, False), (0.011, True)])
def test_a_policy_that_hardly_moved_had_no_rate_that_is_too_high(kl: float, moved: bool) -> None:
    """Its KL to the reference tells; no warm-up makes a reward rise."""
    case = drawn("x", task="grpo", reward="0:0.3 900:0.3", kl=f"0:1e-4 300:{kl} 900:{kl}")
    one = scene(case.run(), "reward-flat 0 warning")
    causes, out = judge(one)
    named = {cause.kind for cause in causes}
    assert ("rate-too-low" in named) is not moved
    assert ("Learning rate too high" in {no.what for no in out}) is not moved
    assert "warmup-missing" not in named


def test_what_comes_after_the_first_symptom_did_not_cause_it() -> None:
    """The loss diverged at 100; the resume at 700 lost the schedule as well."""
    run = drawn("x", train_loss="0:0.5 90:0.4 100:5 200:9 900:9", learning_rate="0:1e-3").run()
    told = "resume-jump {} warning, schedule-mismatch {} warning"
    for later, blamed in ((700, set()), (90, {"resume-state", "rate-leaves-plan"})):
        one = scene(run, f"divergence 100 critical, {told.format(later, later)}")
        named = {cause.kind for cause in judge(one)[0]}
        assert named & {"resume-state", "rate-leaves-plan"} == blamed


def test_a_limit_is_a_default_only_where_there_is_one() -> None:
    """A loop of one's own clips nothing that it does not say."""
    for framework, said in (("unknown", False), ("transformers", True)):
        case = drawn(
            "x",
            task="classification",
            framework=framework,
            train_loss=FLAT,
            grad_norm="0:0.3 900:0.3",
        )
        assert ("Clipping limit too tight" in ruled_out(diagnose(case.run()))) is said


def test_a_default_limit_is_told_as_one() -> None:
    """Nobody wrote max_grad_norm."""
    for config, words in (
        ({}, "was above 1, at which clipping begins by default, at every step"),
        ({"max_grad_norm": 1.0}, "and max_grad_norm is 1"),
    ):
        case = drawn(
            "x", framework="transformers", train_loss=FLAT, grad_norm="0:9 900:9", config=config
        )
        (title,) = [
            one.title for one in diagnose(case.run()).findings if one.rule == "clip-saturation"
        ]
        assert words in title


AGENT = drawn(
    "agent",
    task="rl",
    reward="0:-30 300:20 900:40",
    entropy="0:0.69 60:0.02 900:0.02",
    learning_rate="0:7e-4 900:7e-4",
    config={"learning_rate": 7e-4, "warmup_steps": 0},
)


def test_an_agent_without_answers_has_none_that_are_cut_and_needs_no_warm_up() -> None:
    """Agents of Gym train at one rate; their episodes are no completions."""
    found = diagnose(AGENT.run())
    assert found.findings[0].rule == "entropy-collapse"
    assert "warmup-missing" not in kinds(found)
    assert "Answers cut by the length limit" not in ruled_out(found)


HUB = """Traceback (most recent call last):
  File "/srv/job/train.py", line 97, in load_data
    model = AutoModel.from_pretrained(name)
OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them \
in the cached files.
"""


def test_an_error_that_the_table_knows_is_no_second_cause(tmp_path: Path) -> None:
    """The Hub cannot be reached: the exception that says so is not one of the program."""
    (tmp_path / "train.log").write_text(HUB, encoding="utf-8")
    found = diagnose_read(read(tmp_path))
    assert kinds(found) == ["machine"]
    assert found.causes[0].rank == "most likely"


def test_the_end_of_a_run_on_windows_has_a_record_too() -> None:
    """No scheduler is known to be there."""
    assert "Windows" in ending.LIMIT.experiment
    assert "sacct" not in ending.LIMIT.experiment


def test_what_stands_still_was_not_thrown_by_a_rate_for_larger_batches() -> None:
    """A loss of zero at a usual rate: a batch of two says nothing of it."""
    config = {"lora_r": 16, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 1}
    run = drawn("x", train_loss="0:0", learning_rate="0:4e-4", config=config).run()
    for found, named in (("grad-zero 0 critical", False), ("divergence 400 critical", True)):
        assert ("samples per update" in str(judge(scene(run, found))[0])) is named


def test_the_norm_of_a_spike_is_no_climb_before_it() -> None:
    """One batch made both."""
    run = drawn("x", train_loss="0:2 900:1", grad_norm="0:1 390:1 400:90 410:1 900:1").run()
    for found, named in (("loss-spike 400 warning", False), ("divergence 400 critical", True)):
        assert ("norm climbed" in str(judge(scene(run, found))[0])) is named


def test_a_rate_above_the_configured_one_is_not_smooth() -> None:
    """Where restarts are planned, too: neither data nor a batch is blamed."""
    run = drawn(
        "x",
        noise=0.01,
        train_loss="0:1 490:1 500:1.6 900:1.6",
        learning_rate="0:1e-4 490:1e-4 500:4e-3 900:4e-3",
        config={"learning_rate": 1e-4, "lr_scheduler_type": "cosine_with_restarts"},
    ).run()
    one = scene(run, "divergence 500 critical")
    assert one.departure is None
    assert one.over_configured == 40
    told = judge(one)[0]
    assert told[0].kind == "rate-leaves-plan"
    assert "smooth" not in str(told)


@pytest.mark.parametrize(("per_epoch", "out"), [(45, True), (60, False)])
def test_rows_that_had_a_loss_have_labels(per_epoch: int, *, out: bool) -> None:
    """A loss that is 0 from step 100 on was not of masked labels in the passes before."""
    run = drawn("x", train_loss="0:2 90:2 100:0 900:0", steps_per_epoch=per_epoch).run()
    causes, ruled_out = judge(scene(run, "zero-loss 100 critical"))
    assert ("All labels are masked" in {no.what for no in ruled_out}) is out
    assert (causes[0].what == "A NaN that the log shows as 0") or not out


@pytest.mark.parametrize(("second", "apart"), [(1.06, False), (0.7, True)])
def test_one_batch_is_no_level_of_training(second: float, *, apart: bool) -> None:
    """The first of 16 rows had 0.69, the next 1.06: an eval loss of 0.98 is no other data."""
    train = f"0:0.69 10:{second} 20:0.7 100:0.6 900:0.01"
    curves: dict[str, Any] = {"train_loss": train, "eval_loss": "0:0.98 100:0.97 900:1.3"}
    case = drawn("x", noise=0.0, task="regression", steps_per_epoch=100, **curves)
    causes, _ = judge(scene(case.run(), "hockey-stick 100 warning"))
    assert ("evaluation" in {cause.kind for cause in causes}) is apart
