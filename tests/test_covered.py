"""What a finding tells by another name is neither passed nor unmet in a report."""

from dataclasses import replace

from runlens.cause import Cause, RuledOut
from runlens.diagnosis import Finding, Incident, Moment
from runlens.engine import diagnose
from runlens.incidents import consistent, covered
from runlens.report.facts import checks, covering
from runlens.report.terminal import Options
from runlens.report.text import render
from runlens.rules import LISTED
from runlens.rules.cases import drawn
from runlens.rules.relations import COVERS, DENIED_BY, NAMED_BY, STATES
from runlens.run import State

SLUGS = {rule.slug for rule in LISTED}


def test_the_tables_name_rules() -> None:
    """A slug that is misspelt would cover nothing."""
    named = {*COVERS, *NAMED_BY.values(), *DENIED_BY}
    named |= {slug for table in (COVERS, STATES) for slugs in table.values() for slug in slugs}
    assert named <= SLUGS
    assert not any(slug in slugs for slug, slugs in COVERS.items())


def test_a_flat_loss_has_not_passed_the_check_for_plateaus() -> None:
    """Not learning covers it; the counts still add up."""
    run = drawn("x", task="sft", noise=0.01, train_loss="0:2.3 900:2.3").run()
    made = diagnose(run)
    assert "not-learning" in {one.rule for one in made.findings}
    ended = checks(made)
    assert ended.covered["plateau"] == "not-learning"
    assert "eval-flat" in ended.lacking, "without an evaluation nothing of it is told"
    assert not ended.covered.keys() & (ended.passed.keys() | ended.lacking.keys())
    counted = ended.found + sum(
        map(len, (ended.passed, ended.covered, ended.lacking, ended.other, ended.broken))
    )
    assert counted == len(made.outcomes)
    assert "Plateau (see Not learning)" in covering(ended, made)
    assert "Covered above" in render(made, Options(verbose=True))


def test_the_end_of_a_run_answers_the_checks_of_its_end() -> None:
    """A kill that no finding tells is told by the state; a finished run leaves all as it is."""
    outcomes = diagnose(drawn("x", task="sft", train_loss="0:2.3 400:1.5").run()).outcomes
    assert not covered(outcomes, (), State("finished", sure="certain"))
    killed = covered(outcomes, (), State("killed", sure="certain"))
    assert killed == {"killed": "", "stopped-early": ""}


def test_a_clean_early_end_was_no_kill() -> None:
    """A log that only ends may have been killed; a trainer that closed was not."""
    outcomes = diagnose(drawn("x", task="sft", train_loss="0:2.3 400:1.5").run()).outcomes
    stopped = Finding("warning", "Stopped.", "", Moment(400), (), rule="stopped-early")
    ends = State("finished", sure="certain"), State("finished", sure="likely")
    clean, open_ = (covered(outcomes, (Incident((stopped,)),), end) for end in ends)
    assert "killed" not in clean
    assert open_["killed"] == "stopped-early"


def test_a_cause_says_which_checks_it_tells_in_other_words() -> None:
    """A signal ended the run, or its rate was far too high: neither check passed."""
    outcomes = diagnose(drawn("x", task="sft", train_loss="0:2.3 400:1.5").run()).outcomes
    signal = Cause("A signal from another process", "most likely", answers=("killed",))
    stopped = Finding("warning", "Stopped.", "", Moment(400), (), rule="stopped-early")
    ended = Incident((replace(stopped, causes=(signal,)),))
    assert covered(outcomes, (ended,), State("finished", sure="certain"))["killed"] == stopped.rule
    high = Cause("Learning rate too high", "possible", answers=("lr-out-of-range",))
    rose = Finding("warning", "Rose.", "", Moment(9), (), rule="divergence", causes=(high,))
    made = covered(outcomes, (Incident((rose,)),), State("finished", sure="certain"))
    assert made["lr-out-of-range"] == "divergence"
    made = covered(outcomes, (Incident((replace(rose, causes=()),)),), State("finished"))
    assert "lr-out-of-range" not in made


def test_nothing_that_was_found_is_ruled_out_by_another_name() -> None:
    """With or without its article."""
    out = (RuledOut("An epoch staircase", "x"), RuledOut("Batch noise", "x"))
    swings = Finding("warning", "Swings.", "", Moment(0), (), rule="sawtooth", ruled_out=out)
    (kept,) = consistent([swings], {"Epoch staircase": "found"})
    assert [one.what for one in kept.ruled_out] == ["Batch noise"]


def test_a_constant_reward_is_covered_by_rewards_that_are_identical() -> None:
    """Neither a constant nor a flat reward nor a gradient of 0 passed; nor is an OOM covered."""
    run = drawn(
        "x",
        task="grpo",
        noise=0,
        frac_zero_std="0:1 600:1",
        reward="0:1 600:1",
        grad_norm="0:0 600:0",
    ).run()
    ended = checks(diagnose(run))
    for slug in ("reward-stuck-zero", "reward-flat", "grad-zero"):
        assert ended.covered[slug] == "zero-reward-std"


def test_what_was_memorised_was_learned() -> None:
    """A loss that came down to zero passed the check for runs that do not learn."""
    run = drawn("x", task="sft", train_loss="0:2.3 300:0.002 900:0.002", noise=0.01).run()
    made = diagnose(run)
    assert "zero-loss" in {one.rule for one in made.findings}
    assert "not-learning" in checks(made).passed
