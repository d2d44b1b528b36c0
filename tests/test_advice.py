"""The box "Do this first": short, of this run, and never a checkpoint from after the damage."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens import advice, fixes
from runlens.advice import MOST_STEPS
from runlens.diagnosis import Advice, Cause, Finding, Fix, Incident, Moment
from runlens.history import History
from runlens.rules.rule import drawn
from runlens.run import Configured, Event, Run, State
from runlens.signals import Signals
from tests.report.seen import NAMES, seen


def first_steps(of: Run, incidents: Sequence[Incident], *causes: Cause) -> Advice:
    """Ask for the box of a run without curves."""
    return advice.first_steps(of, Signals(of), incidents, causes)


SAVED = tuple(
    Event("checkpoint", at, data={"path": f"/data/out/checkpoint-{at}"}) for at in (100, 300, 500)
)


PARTNERS = {"max_steps", "save_steps", "save_strategy", "weight_decay", "momentum", "adam_beta2"}


def run(**more: Any) -> Run:
    """Return a run that crashed at step 600, with three checkpoints."""
    state = State("crashed", "a traceback ends the log", "certain", 1, 600, 1_000)
    known: dict[str, Any] = {"events": SAVED, "state": state, "framework": "transformers"} | more
    return Run("r", "r", History({}), **known)


def one(rule: str, *fixes: Fix, severity: str = "critical", step: float = 400.0) -> Incident:
    """Return an incident of one finding."""
    found = Finding(severity, "Bad.", "train_loss", Moment(step), (), fixes=fixes, rule=rule)  # type: ignore[arg-type]
    return Incident((found,))


def test_nothing_loud_needs_no_advice() -> None:
    """An info is worth knowing, not worth doing."""
    lower = Fix("Lower it", "learning_rate", 1e-3, 1e-4)
    box = first_steps(run(), [one("grad-spike", lower, severity="info")])
    assert (box.steps, box.diff) == ((), ())
    assert first_steps(run(), []).steps == ()


def test_weights_from_before_the_damage_are_named() -> None:
    """The last checkpoint before the onset, by its folder's name."""
    (what, _), *_ = first_steps(run(), [one("nan-loss")]).steps
    assert "checkpoint-300" in what
    assert "/data" not in what


def test_best_weights_that_were_written_over_are_named_with_their_step() -> None:
    """A file that keeps the best model by another score is of another step."""
    saved = (Event("checkpoint", 500, data={"path": "out/ckpt_best.pth"}),)
    rose = one("hockey-stick", severity="warning")
    (_, why), *_ = first_steps(run(events=saved), [rose]).steps
    assert why == "the earliest known checkpoint, ckpt_best.pth, is from step 500"


def test_a_checkpoint_of_the_onset_itself_is_too_late() -> None:
    """It was saved with the damage in it."""
    (what, _), *_ = first_steps(run(), [one("divergence", step=300)]).steps
    assert "checkpoint-100" in what


def test_without_a_checkpoint_nothing_is_resumed() -> None:
    """And that is said."""
    (what, why), *_ = first_steps(run(events=()), [one("nan-loss")]).steps
    assert what.startswith("Do not")
    assert "no checkpoint from before step" in why


def test_a_crash_resumes_from_the_last_checkpoint() -> None:
    """Nothing was wrong with the weights."""
    (what, why), *_ = first_steps(run(), [one("crashed", step=600)]).steps
    assert what.startswith("Resume from checkpoint-500")
    assert why


def test_a_checkpoint_that_the_run_crashed_over_is_none() -> None:
    """It was being written; the one before it is whole, and where there is none that is said."""
    why = "RuntimeError: out/checkpoint-500/model.pt cannot be opened"
    torn = State("crashed", why, "certain", done_steps=600)
    (what, _), *_ = first_steps(run(state=torn), [one("crashed", step=600)]).steps
    assert what.startswith("Resume from checkpoint-300")
    (what, why), *_ = first_steps(
        run(state=torn, events=SAVED[-1:]), [one("crashed", step=600)]
    ).steps
    assert what.startswith("Restart")
    assert why == "the only checkpoint was being written when it crashed"


def test_settings_are_one_step_and_a_diff() -> None:
    """Of the worst finding first, by its recorded name and value; one lever, no more."""
    first = one("nan-loss", Fix("Lower it", "learning_rate", 1e-3, 1e-4, "the norm climbed"))
    again = one(
        "loss-spike",
        Fix("Lower it a little", "learning_rate", 1e-3, 5e-4),
        Fix("Clip", "max_grad_norm", 1.0, 1.0),
        severity="warning",
    )
    known = {"learning_rate": Configured(1e-3, "a.wandb", "learning_rate", "a.wandb")}
    box = first_steps(run(config=known), [first, again])
    assert box.diff == (
        (" ", "TrainingArguments("),
        ("-", "    learning_rate=0.001,"),
        ("+", "    learning_rate=1e-4,"),
        (" ", "    ...,"),
        (" ", ")"),
    )
    assert sum(what == "Before you resume, lower it" for what, _ in box.steps) == 1


def test_the_box_stays_small() -> None:
    """Three steps, four settings."""
    fixes = [Fix(f"Set {n}", "max_grad_norm", n, n + 1.5) for n in range(9)]
    fixes += [Fix(f"Look at {n}") for n in range(9)]
    box = first_steps(run(), [one("nan-loss", *fixes)])
    assert len(box.steps) <= MOST_STEPS
    assert len(box.changes) == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_loud_fixture_has_something_to_do(name: str) -> None:
    """In at most three different steps; the diff is of settings that a finding names."""
    made = seen(name)
    loud = [finding for finding in made.findings if finding.severity != "info"]
    steps = [what for what, _ in made.do_first.steps]
    assert bool(steps) == bool(loud)
    assert len(set(steps)) == len(steps) <= MOST_STEPS
    assert all(not what.endswith(".") for what in steps)
    named = {fix.setting for finding in loud for fix in finding.fixes if fix.setting}
    assert {change.setting for change in made.do_first.changes} <= named | PARTNERS


def test_what_follows_from_an_accident_of_the_schedule_needs_no_settings() -> None:
    """A rate that jumped collapsed the reward: the schedule is mended, the KL term left alone."""
    mend = Fix("Hand 150 steps to the scheduler")
    penalty = Fix("Strengthen the KL term", "beta", 0.0, 0.04)
    jumped = one("schedule-mismatch", mend, severity="warning", step=72).findings[0]
    fell = one("reward-collapse", penalty, step=81).findings[0]
    box = first_steps(run(), [Incident((jumped, fell))])
    assert box.diff == ()
    assert any(what == mend.what for what, _ in box.steps)
    alone = first_steps(run(), [Incident((fell,))])
    assert any("beta" in fix for fix, _ in alone.steps)


def test_a_broken_schedule_is_mended_not_dampened() -> None:
    """Clipping and warm-up cure no rate of ten billion."""
    mend = Fix("Fix the schedule: it reached 1.48e10", cures="rate-leaves-plan")
    clip = Fix("Clip the gradient", "max_grad_norm", None, 0.8)
    box = first_steps(run(), [one("nan-loss", mend, clip)])
    assert box.diff == ()
    assert any(what == mend.what for what, _ in box.steps)
    assert first_steps(run(), [one("nan-loss", clip)]).diff


def test_weights_that_were_never_saved_are_not_sent_for() -> None:
    """Overfitting without a checkpoint, and a setting that says why there is none."""
    never = {"save_strategy": Configured("no", "args.json")}
    (what, why), *_ = first_steps(run(events=(), config=never), [one("hockey-stick")]).steps
    assert what == "Retrain up to step 400"
    assert "save_strategy: no" in why


@pytest.mark.parametrize(
    "cure",
    ["Use autocast and one torch_dtype", "Save to another disk", "Resume from a whole folder"],
)
def test_a_cure_is_told_whatever_word_it_begins_with(cure: str) -> None:
    """Its kind decides what stands beside the weights to go on from, not its wording."""
    ended = one("crashed", Fix("Resume from checkpoint-500", kind="resume"), step=600)
    known = one("known-error", Fix(cure), step=600)
    incident = Incident((known.findings[0], ended.findings[0]))
    steps = [what for what, _ in first_steps(run(), [incident]).steps]
    assert steps == [cure, "Resume from checkpoint-500 once the cause is fixed"]


def test_a_fix_of_a_setting_is_of_that_kind() -> None:
    """Also one that a package of its own builds, which names no kind."""
    assert Fix("Lower it", "learning_rate", 1e-3, 1e-4).kind == "setting"
    assert Fix("Resume").kind == "code"


def test_a_setting_that_is_told_in_words_must_pull_at_the_cause() -> None:
    """No file names it, so it stands among the actions: it is no second lever all the same."""
    decay = Fix("Add weight decay: 0.01", name="weight_decay")
    look = Fix("Read ten completions", kind="look")
    found = one("reward-collapse", decay, look)
    rate = Cause("Learning rate too high", "possible", kind="rate-too-high")
    memorised = Cause("Too many passes", "possible", kind="memorised")
    assert all("decay" not in what for what, _ in first_steps(run(), [found], rate).steps)
    assert any("decay" in what for what, _ in first_steps(run(), [found], memorised).steps)


def test_a_cause_that_is_no_more_than_possible_has_no_diff() -> None:
    """What tells the causes apart comes first."""
    lower = Fix("Lower the learning rate", "learning_rate", None, 1e-5)
    guess = Cause("Learning rate too high", "possible", kind="rate-too-high", experiment="Try it")
    box = first_steps(run(), [one("plateau", lower)], guess)
    assert box.diff == ()
    assert any(what == "Try it" for what, _ in box.steps)
    sure = guess._replace(rank="likely")
    assert first_steps(run(), [one("plateau", lower)], sure).diff


def test_the_cure_of_a_message_is_no_step_where_memory_was_the_cause(tmp_path: Path) -> None:
    """NCCL fails on every rank once one is out of memory: the network is not looked at first."""
    lines = (
        "Traceback (most recent call last):",
        '  File "train.py", line 88, in main',
        "    dist.barrier()",
        (
            "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3356, "
            "unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2"
        ),
        "ncclUnhandledCudaError: Call to CUDA function failed.",
        "Last error:",
        "Cuda failure 2 'out of memory'",
    )
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    told = runlens.diagnose(runlens.read(tmp_path))
    assert told.causes[0].kind == "memory"
    assert not any("NCCL" in what for what, _ in told.do_first.steps)


@pytest.mark.parametrize("cured", [True, False])
def test_where_the_cause_has_a_remedy_followers_have_no_say(cured: bool) -> None:
    """What a follower would do for any cause stands only where nothing is known of the first."""
    mend = fixes.action("Fix the schedule", cures=fixes.SCHEDULE)
    lead = one("reward-collapse", *([mend] if cured else [])).findings
    follower = one("length-growth", fixes.action("Add a penalty"), step=450.0).findings
    cause = Cause("The rate left its plan", "most likely", "811 times", kind=fixes.SCHEDULE)
    told = [what for what, _ in first_steps(run(), [Incident((*lead, *follower))], cause).steps]
    assert ("Fix the schedule" in told) is cured
    assert ("Add a penalty" in told) is not cured


@pytest.mark.parametrize(
    ("kind", "cures", "order"),
    [
        ("length-limit", "", ["Try it", "Call the reward function"]),
        ("frozen-weights", "frozen-weights", ["Call the reward function"]),
        ("exploration", "", ["Call the reward function"]),
    ],
)
def test_a_cause_is_tried_out_before_looks_that_are_for_others(
    kind: str, cures: str, order: list[str]
) -> None:
    """Completions that are all at the limit are not the reward function's fault."""
    look = fixes.look("Call the reward function", cures=cures)
    cause = Cause("Limit too short", "most likely", kind=kind, experiment="Try it")
    box = first_steps(run(), [one("reward-stuck-zero", look)], cause)
    assert [
        what for what, _ in box.steps if what != "Stop this run if it is still running"
    ] == order


@pytest.mark.parametrize(
    ("kind", "why"),
    [("length-limit", "this confirms the cause or rules it out"), ("by-hand", "")],
)
def test_an_experiment_confirms_a_cause_that_the_program_had(kind: str, why: str) -> None:
    """Who stopped it is no experiment."""
    cause = Cause("Limit too short", "most likely", kind=kind, experiment="Try it")
    box = first_steps(run(), [one("reward-stuck-zero")], cause)
    assert dict(box.steps)["Try it"] == why


def test_what_the_log_proves_is_looked_at_before_the_code() -> None:
    """The disk failed: no frame of the program says more, and no experiment confirms it."""
    look = fixes.action("Read the exception and the last frame of your own code")
    cause = Cause("Writing to disk failed", "most likely", kind="machine", experiment="Try it")
    box = first_steps(run(), [one("crashed", look)], cause)
    assert box.steps[0][0] == look.what
    box = first_steps(run(), [one("crashed", look)], cause._replace(proved=True))
    assert box.steps[0] == ("Try it", "")


@pytest.mark.parametrize(
    ("rule", "kind", "asked"),
    [
        ("known-error", "machine", False),
        ("known-error", "memory", True),
        ("crashed", "machine", True),
    ],
)
def test_a_known_error_says_itself_what_to_do(rule: str, kind: str, *, asked: bool) -> None:
    """Nobody looks at dmesg as the Hub was out of reach."""
    cure = fixes.action("Reinstall it", cures="machine")
    cause = Cause("x", "most likely", kind=kind, experiment="Look at dmesg")
    box = first_steps(run(), [one(rule, cure)], cause)
    assert any(what == "Look at dmesg" for what, _ in box.steps) is asked


@pytest.mark.parametrize(("first", "resumed"), [(90, False), (100, True)])
def test_a_log_that_begins_late_was_resumed_itself(first: int, *, resumed: bool) -> None:
    """From ten logging intervals without a row on, a checkpoint of an earlier launch exists."""
    late = drawn("late", train_loss=f"{first}:2 {first + 200}:1.5").run()
    box = first_steps(late, [one("killed")])
    assert any("this run started from" in what for what, _ in box.steps) is resumed
