"""One accident is told once, and its gravest finding leads."""

from dataclasses import replace

import pytest

from runlens.diagnosis import Confidence, Evidence, Finding, Moment, Severity
from runlens.incidents import incidents, louder, merged


def finding(
    rule: str,
    step: float | None,
    severity: Severity = "critical",
    *,
    companions: tuple[str, ...] = (),
) -> Finding:
    """Return a finding as the engine completes it."""
    return Finding(
        severity,
        f"{rule} at {step}.",
        "train_loss",
        Moment(step),
        (Evidence("value", 1.0),),
        rule=rule,
        confidence=Confidence(0.8),
        louder_with=companions,
    )


def rules_of(*findings: Finding, covered: float = 1000.0) -> list[list[str]]:
    """Return the rules of each incident, in the order shown."""
    made = incidents(findings, covered, slack=10.0)
    return [[one.rule for one in incident.findings] for incident in made]


def test_effects_stand_under_their_cause() -> None:
    """A climbing gradient norm, NaN 40 steps later, a NaN evaluation: one incident."""
    found = [
        finding("nan-eval", 600),
        finding("nan-loss", 540),
        finding("grad-explosion", 500),
    ]
    assert rules_of(*found) == [["grad-explosion", "nan-loss", "nan-eval"]]


def test_an_effect_far_after_its_cause_is_another_incident() -> None:
    """The window of this edge is 20 % of the run."""
    assert rules_of(finding("grad-explosion", 100), finding("nan-loss", 900)) == [
        ["grad-explosion"],
        ["nan-loss"],
    ]


def test_an_effect_is_never_before_its_cause() -> None:
    """Apart from one logging interval."""
    assert rules_of(finding("nan-loss", 400), finding("grad-explosion", 500)) == [
        ["nan-loss"],
        ["grad-explosion"],
    ]
    assert len(rules_of(finding("nan-loss", 495), finding("grad-explosion", 500))) == 1


def test_a_setting_is_told_with_what_it_may_have_caused() -> None:
    """It has no onset: it was in force all the time, and the fault leads."""
    setting = finding("no-clipping", None, "info")
    assert rules_of(setting, finding("divergence", 500)) == [["divergence", "no-clipping"]]
    assert len(rules_of(setting, finding("oom-cliff", 500))) == 2


def test_severe_incidents_come_first() -> None:
    """Then the earlier ones."""
    found = [finding("throughput-drop", 10, "warning"), finding("nan-loss", 900)]
    assert rules_of(*found) == [["nan-loss"], ["throughput-drop"]]


def test_the_gravest_leads_and_gives_the_title() -> None:
    """A warning that came before it is told after it."""
    made = incidents([finding("nan-grad", 100, "warning"), finding("nan-loss", 110)], 1000, 10)
    assert [one.rule for one in made[0].findings] == ["nan-loss", "nan-grad"]
    assert made[0].title == "nan-loss at 110."


def test_two_readings_of_one_curve_become_one() -> None:
    """The lesser one is a line of evidence of the better one."""
    kept, dropped = merged(
        [finding("divergence", 300), finding("hockey-stick", 290, "warning")], 1000
    )
    assert [one.rule for one in kept] == ["divergence"]
    assert dropped["hockey-stick"].startswith("merged into divergence")
    assert kept[0].evidence[-1].what == "Also seen"


def test_an_info_hides_no_warning() -> None:
    """Merging never makes a run look better."""
    kept, _ = merged(
        [finding("divergence", 300, "info"), finding("hockey-stick", 290, "warning")], 1000
    )
    assert len(kept) == 2


def test_a_companion_makes_an_info_loud() -> None:
    """Only one that is loud itself."""
    info = finding("clip-saturation", 10, "info", companions=("sawtooth",))
    assert louder([info, finding("sawtooth", 50, "warning")])[0].severity == "warning"
    assert louder([info, finding("sawtooth", 50, "info")])[0].severity == "info"
    assert louder([info, finding("nan-loss", 50)])[0].severity == "info"


def test_a_spike_elsewhere_is_not_the_divergence() -> None:
    """Only one that begins near it became it."""
    near, _ = merged([finding("divergence", 300), finding("loss-spike", 320, "warning")], 1000)
    assert [one.rule for one in near] == ["divergence"]
    far, _ = merged([finding("divergence", 300), finding("loss-spike", 800, "warning")], 1000)
    assert [one.rule for one in far] == ["divergence", "loss-spike"]


def test_an_early_sign_of_a_lost_policy_does_not_lead() -> None:
    """Groups are equal before the entropy has fallen to its limit; within 30 % of the run."""
    lost = finding("entropy-collapse", 400, "warning")
    near, far = (finding("zero-reward-std", at, "warning") for at in (150, 50))
    assert rules_of(near, lost) == [["entropy-collapse", "zero-reward-std"]]
    assert rules_of(far, lost) == [["entropy-collapse"], ["zero-reward-std"]]


def test_a_sign_does_not_lead_over_what_is_worse() -> None:
    """Completions grew first, but the reward is what was lost: signs follow, of equals too."""
    grew = finding("length-growth", 300, "warning")
    assert rules_of(grew, finding("reward-collapse", 400)) == [["reward-collapse", "length-growth"]]
    limit = finding("completions-clipped", 10, "warning")
    assert rules_of(limit, finding("reward-stuck-zero", 100))[0] == [
        "reward-stuck-zero",
        "completions-clipped",
    ]


@pytest.mark.parametrize(
    ("cause", "effect", "inside", "outside"),
    [
        ("grad-spike", "loss-spike", 45, 60),  # one event, seen in two metrics
        ("grad-explosion", "nan-loss", 190, 240),  # an accident takes its course
        ("divergence", "grad-explosion", 190, 240),
        ("kl-blow-up", "reward-collapse", 290, 340),  # a policy is lost slowly
    ],
)
def test_an_effect_comes_within_the_window_of_its_cause(
    cause: str, effect: str, inside: int, outside: int
) -> None:
    """At once, soon, or by and by: shares of the run."""
    near, far = (finding(effect, 100 + delay) for delay in (inside, outside))
    assert len(rules_of(finding(cause, 100), near)) == 1
    assert len(rules_of(finding(cause, 100), far)) == 2


def test_a_spike_of_the_divergence_begins_within_a_fifth_of_the_run() -> None:
    """Of a curve that rises, and of a place in it."""
    for at, kept in ((490, 1), (540, 2)):
        left, _ = merged([finding("divergence", 300), finding("loss-spike", at, "warning")], 1000)
        assert len(left) == kept


def test_what_has_two_causes_joins_them() -> None:
    """Memory grew, a rank hung, and the run was killed: one accident."""
    found = [finding("memory-growth", 100), finding("hang", 200), finding("killed", 300)]
    assert rules_of(*found) == [["memory-growth", "hang", "killed"]]


@pytest.mark.parametrize(("sure", "severity"), [(0.45, "warning"), (0.55, "critical")])
def test_what_is_less_likely_than_not_is_no_emergency(sure: float, severity: Severity) -> None:
    """A finding below even odds is at most a warning; a warning stays one."""
    doubtful = replace(finding("divergence", 10), confidence=Confidence(sure))
    assert louder([doubtful])[0].severity == severity
    assert louder([replace(doubtful, severity="info")])[0].severity == "info"


def test_two_readings_alike_grave_become_one() -> None:
    """The better one is kept."""
    kept, _ = merged([finding("hockey-stick", 290), finding("divergence", 300)], 1000)
    assert [one.rule for one in kept] == ["divergence"]


def test_even_odds_are_no_doubt() -> None:
    """Only below them a critical finding becomes a warning."""
    even = replace(finding("divergence", 10), confidence=Confidence(0.5))
    assert louder([even])[0].severity == "critical"


def test_a_cause_leads_though_it_was_logged_after_its_effect() -> None:
    """Within one logging interval, its end included."""
    for at in (495, 490):
        found = [finding("nan-loss", at), finding("grad-explosion", 500)]
        assert rules_of(*found) == [["grad-explosion", "nan-loss"]]
    assert len(rules_of(finding("nan-loss", 489), finding("grad-explosion", 500))) == 2


def test_the_end_of_a_window_belongs_to_it() -> None:
    """A fifth of 1,000 steps after an explosion."""
    assert len(rules_of(finding("grad-explosion", 100), finding("nan-loss", 300))) == 1
    assert len(rules_of(finding("grad-explosion", 100), finding("nan-loss", 301))) == 2


def test_only_an_early_sign_comes_before_what_is_late() -> None:
    """A reward that was flat long before the entropy fell is another matter."""
    late = finding("entropy-collapse", 500)
    assert len(rules_of(late, finding("reward-flat", 495))) == 1
    assert len(rules_of(late, finding("reward-flat", 100))) == 2
