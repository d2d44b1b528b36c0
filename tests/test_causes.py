"""The tree of NaN causes takes the branch for which this run has evidence."""

from dataclasses import replace

import numpy as np
import pytest

from runlens import nan_causes
from runlens.cause import UNKNOWN, Cause
from runlens.history import History, columns
from runlens.knowledge.optimizer_settings import IMPOSSIBLE, outside
from runlens.rules.rule import Case, drawn
from runlens.run import Configured, Event, Run
from runlens.signals import Signals
from runlens.wording import NARROW
from tests.rules.said import explained

LOST = "0:2.2 490:1.2 500:nan 900:nan"


def tree(case: Case, onset: float = 500, first: float = 0) -> nan_causes.NanTree:
    """Ask the tree."""
    run = case.run()
    return nan_causes.of_nan(run, Signals(run), onset, first)


def causes_of(case: Case) -> tuple[Cause, ...]:
    """Return what the cause step says of a NaN."""
    return explained("nan-loss", case.run()).causes


@pytest.mark.parametrize(
    ("branch", "case"),
    [
        (
            "optimisation",
            drawn("up", train_loss=LOST, grad_norm="0:1 400:1 490:90 500:nan 900:nan"),
        ),
        ("optimisation", drawn("inf", train_loss=LOST, grad_norm="0:1 490:inf 500:nan 900:nan")),
        ("optimisation", drawn("loss up", train_loss="0:2.2 460:1.2 490:5 500:nan 900:nan")),
        ("forward", drawn("flat", train_loss=LOST, grad_norm="0:1 490:1 500:nan 900:nan")),
        ("backward", drawn("norm first", train_loss=LOST, grad_norm="0:1 400:1 410:nan 900:nan")),
        (
            "scaler",
            drawn("scale", train_loss=LOST, loss_scale="0:65536 450:65536 490:16 900:1"),
        ),
        ("resume", drawn("resume", train_loss=LOST, events=(Event("resume", 490),))),
        ("open", drawn("nothing", train_loss=LOST)),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else value,
)
def test_branch_follows_the_evidence(branch: str, case: Case) -> None:
    """What stood before the onset decides."""
    assert tree(case).branch == branch


def test_first_point_blames_the_data_and_leaves_the_learning_rate_alone() -> None:
    """A loss that is NaN before any update has nothing to do with the learning rate."""
    case = drawn("d", config={"learning_rate": 1e-3}, train_loss="1:nan 500:nan")
    found = tree(case, onset=1, first=1)
    assert found.branch == "data"
    assert "learning_rate" not in {fix.setting for fix in found.fixes}


def test_nan_after_the_first_update_blames_the_update() -> None:
    """A loss that rose at once, then none: learning rate or warm-up; one point tells of no rise."""
    case = drawn("u", train_loss="0:9 10:nan 500:nan")
    assert tree(case, onset=10).branch == "optimisation"
    assert causes_of(case)[0].kind == UNKNOWN
    rose = drawn("u", train_loss="0:9 10:12 20:nan 500:nan")
    assert "irst updates" in causes_of(rose)[0].what


def test_nan_in_a_warm_up_is_not_blamed_on_the_learning_rate() -> None:
    """At a tenth of its later peak the rate is the last to blame, and lowering it no fix."""
    case = drawn("w", train_loss="0:9 10:nan 500:nan", learning_rate="0:0 100:1e-3 500:9e-4")
    found = tree(case, onset=10)
    assert found.branch == "start"
    lead = explained("nan-loss", case.run())
    assert "rate-too-high" not in {cause.kind for cause in lead.causes}
    assert any("of its later peak" in why for _, why in lead.ruled_out)
    assert "learning_rate" not in {fix.setting for fix in found.fixes}


def test_a_setting_that_cannot_work_is_the_cause() -> None:
    """A negative beta2 has no root, whatever the learning rate is; usual ones are no cause."""
    wild = drawn("b", train_loss="0:9 10:nan 500:nan", config={"adam_beta2": -0.6})
    found = tree(wild, onset=10)
    assert found.branch == "setting"
    assert "adam_beta2 is -0.6" in causes_of(wild)[0].evidence_for
    first = found.fixes[0]
    assert (first.setting, first.old, first.new) == ("adam_beta2", -0.6, 0.999)
    assert not {"learning_rate", "max_grad_norm"} & {fix.setting for fix in found.fixes}
    usual = {"adam_beta1": 0.0, "adam_beta2": 0.95, "adam_epsilon": 0.0}
    calm = drawn("u", train_loss="0:9 10:nan 500:nan", config=usual)
    assert tree(calm, onset=10).branch != "setting"


@pytest.mark.parametrize(("written", "blamed"), [("eps", False), ("optimizer.eps", True)])
def test_a_name_that_means_other_things_is_no_setting_of_adam(written: str, blamed: bool) -> None:
    """``eps=1`` among arguments may be a radius: no epsilon of Adam can be so large."""
    lost = drawn("e", train_loss="0:9 10:nan 500:nan").run()
    config = {"adam_epsilon": Configured(1.0, "train.log: Namespace", written, "train.log")}
    said = outside(replace(lost, config=config), IMPOSSIBLE)
    assert bool(said) is blamed


def test_low_learning_rate_speaks_against_itself() -> None:
    """At 3 % of its peak the rate is excluded, and that is said."""
    case = drawn(
        "a",
        train_loss=LOST,
        grad_norm="0:1 400:1 490:90 500:nan",
        learning_rate="0:1e-3 300:1e-3 490:3e-5 900:0",
    )
    lead = explained("nan-loss", case.run())
    assert "rate-too-high" not in {cause.kind for cause in lead.causes}
    assert (
        "Learning rate too high",
        f"it had decayed to 2.9{NARROW}% of its peak",
    ) in lead.ruled_out


def test_sample_that_comes_back_each_epoch_is_found_by_its_place() -> None:
    """Single NaN steps one epoch apart are one sample."""
    step = np.arange(0, 1000)
    value = np.full(1000, 1.5)
    value[[130, 430, 730]] = np.nan
    norm = np.full(1000, 1.0)
    history = History(
        {"train_loss": columns(step, value, step / 300), "grad_norm": columns(step, norm)}
    )
    run = Run("s", "s", history)
    (first, *_) = explained("nan-loss", run).causes
    assert (first.kind, first.rank) == ("bad-batch", "most likely")
    assert "comes back each epoch" in first.what
    assert first.evidence_for.startswith("3 steps")


def test_precision_is_named_in_every_branch() -> None:
    """fp16 is a second cause beside a climbing norm, and ruled out in bf16."""
    curves = {"train_loss": LOST, "grad_norm": "0:1 400:1 490:90 500:nan 900:nan"}
    half = causes_of(Case("h", curves, config={"fp16": True}))
    assert "fp16 overflow" in {cause.what for cause in half[1:]}
    brain = tree(Case("b", curves, config={"bf16": True}))
    assert ("fp16 overflow", "bf16 is set") in brain.ruled_out


def test_ratio_alarm_of_rl_is_named() -> None:
    """A log-probability difference above 1 overflows in the ratio."""
    case = drawn("r", task="grpo", train_loss=LOST, logp_diff="0:0.01 480:0.01 490:4 900:4")
    assert any("ratio" in cause.what for cause in causes_of(case))


def test_separating_experiment_starts_at_the_checkpoint_before() -> None:
    """The last one saved before the onset, not the last one."""
    saved = tuple(
        Event("checkpoint", at, data={"path": f"out/checkpoint-{at}"}) for at in (300, 450, 600)
    )
    found = tree(drawn("k", train_loss=LOST, events=saved))
    assert any("checkpoint-450" in fix.what for fix in found.fixes)
