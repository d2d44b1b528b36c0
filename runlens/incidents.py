"""From findings to incidents: one accident is told once, its gravest finding leads.

The causal graph maps a cause to its effects, each with a window: the share of the run within which
the effect must begin after its cause. Readings of the same curve are merged into the one that says
most.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from runlens.diagnosis import MERGED, SEVERITIES, Evidence, Finding, Incident

# windows as a share of the run: of one event seen twice, of an accident, of a policy that is lost
AT_ONCE, SOON, BY_AND_BY, ANY = 0.05, 0.20, 0.30, inf
SEVERE_CLIMB = frozenset(
    {"grad-explosion", "grad-spike", "loss-spike", "sawtooth", "oscillation", "divergence"}
)

EVEN = 0.5  # confidence below which a finding is no emergency
# cause -> {effect: window as a share of the run}
LEADS_TO: Mapping[str, Mapping[str, float]] = {
    "fp16-risk": dict.fromkeys(("loss-scale-collapse", "nan-grad", "nan-loss", "hidden-nan"), ANY),
    **{
        slug: dict.fromkeys((*SEVERE_CLIMB, "warmup-shock", "nan-loss", "hidden-nan"), ANY)
        for slug in ("no-clipping", "lr-out-of-range")
    },
    "no-warmup": dict.fromkeys(
        (*SEVERE_CLIMB, "warmup-shock", "nan-loss", "hidden-nan", "plateau"), ANY
    ),
    "lr-zero": dict.fromkeys(("not-learning", "plateau", "reward-flat", "stopped-early"), ANY),
    "weight-decay-high": {"plateau": ANY},
    "warmup-shock": {
        "grad-explosion": AT_ONCE,
        "grad-spike": AT_ONCE,
        "divergence": SOON,
        "loss-spike": AT_ONCE,
        "plateau": ANY,
        "not-learning": ANY,
    },
    "resume-jump": {
        "grad-explosion": SOON,
        "grad-spike": SOON,
        "divergence": SOON,
        "loss-spike": SOON,
        "nan-loss": SOON,
        "schedule-mismatch": AT_ONCE,
        "warmup-shock": SOON,
    },
    "schedule-mismatch": {
        **dict.fromkeys(
            ("kl-blow-up", "reward-collapse", "entropy-collapse", "length-growth", "sawtooth"), SOON
        ),
        "grad-explosion": SOON,
        "divergence": SOON,
        "loss-spike": SOON,
        "warmup-shock": SOON,
    },
    "clip-saturation": {"sawtooth": ANY, "oscillation": ANY, "divergence": ANY},
    "grad-spike": {"loss-spike": AT_ONCE},
    "grad-explosion": {
        "nan-grad": SOON,
        "divergence": SOON,
        "nan-loss": SOON,
        "hidden-nan": SOON,
        "loss-spike": SOON,
        "not-learning": ANY,
        "stuck-at-chance": ANY,
    },
    "loss-spike": {"divergence": SOON, "nan-loss": SOON, "hidden-nan": SOON, "grad-spike": AT_ONCE},
    "loss-scale-collapse": dict.fromkeys(("nan-grad", "nan-loss", "hidden-nan", "plateau"), ANY),
    "nan-grad": {"nan-loss": AT_ONCE, "hidden-nan": AT_ONCE},
    **{
        slug: dict.fromkeys(
            (
                "nan-grad",
                "nan-eval",
                "zero-loss",
                "grad-zero",
                "stuck-at-chance",
                "eval-flat",
                "eval-leak",
                "crashed",
                "stopped-early",
                "not-learning",
                "reward-collapse",
                "entropy-collapse",
            ),
            ANY,
        )
        for slug in ("nan-loss", "hidden-nan")
    },
    "divergence": {
        "stuck-at-chance": ANY,
        "nan-loss": ANY,
        "hidden-nan": ANY,
        "stopped-early": ANY,
        "hockey-stick": ANY,
        "grad-explosion": SOON,
        "grad-zero": ANY,
    },
    "grad-zero": dict.fromkeys(("not-learning", "plateau", "stuck-at-chance", "eval-flat"), ANY),
    "epoch-staircase": dict.fromkeys(("hockey-stick", "zero-loss", "eval-gap"), ANY),
    "zero-loss": dict.fromkeys(("hockey-stick", "grad-zero", "not-learning"), ANY),
    "memory-growth": dict.fromkeys(("oom-cliff", "throughput-drop", "killed"), ANY),
    "throughput-drop": dict.fromkeys(("hang", "stopped-early", "killed"), ANY),
    "hang": dict.fromkeys(("killed", "stopped-early", "crashed"), ANY),
    **{
        slug: dict.fromkeys(("crashed", "stopped-early", "hang"), ANY)
        for slug in ("oom-cliff", "known-error")
    },
    "completions-clipped": dict.fromkeys(
        ("reward-stuck-zero", "zero-reward-std", "length-growth", "reward-flat"), ANY
    ),
    "length-growth": dict.fromkeys(("completions-clipped", "reward-flat"), ANY),
    "reward-stuck-zero": dict.fromkeys(
        ("zero-reward-std", "grad-zero", "reward-flat", "completions-clipped"), ANY
    ),
    "zero-reward-std": dict.fromkeys(("grad-zero", "reward-flat"), ANY),
    "importance-ratio-divergence": {
        "kl-blow-up": SOON,
        "clip-ratio-high": SOON,
        "reward-collapse": SOON,
    },
    **{
        slug: dict.fromkeys(
            (
                "reward-collapse",
                "entropy-collapse",
                "length-growth",
                "length-collapse",
                "reward-hacking",
                "grad-explosion",
            ),
            BY_AND_BY,
        )
        for slug in ("clip-ratio-high", "kl-blow-up")
    },
    "entropy-collapse": {
        "zero-reward-std": BY_AND_BY,
        "reward-flat": ANY,
        "reward-collapse": ANY,
        "grad-zero": ANY,
        "length-collapse": BY_AND_BY,
        "completions-clipped": BY_AND_BY,
    },
    "preference-collapse": dict.fromkeys(
        ("not-learning", "plateau", "divergence", "stuck-at-chance", "hockey-stick"), ANY
    ),
    "reward-collapse": dict.fromkeys(
        (
            "length-collapse",
            "entropy-collapse",
            "kl-blow-up",
            "length-growth",
            "completions-clipped",
        ),
        SOON,
    ),
    "reward-hacking": dict.fromkeys(("length-growth", "kl-blow-up", "reward-collapse"), ANY),
}

# a policy that is being lost shows it by these before its entropy or reward has fallen to the
# limit: they may begin as long before that cause as after it
EARLY_SIGNS = frozenset({"zero-reward-std", "completions-clipped", "length-growth"})
LATE_CAUSES = frozenset({"entropy-collapse", "reward-collapse"})

# (kept, dropped): two readings of one curve; the dropped one becomes evidence of the kept one.
# Groups without spread (zero-reward-std) are seen in another metric than a reward at its floor:
# they stay a finding of their own, in the same incident.
SAME_THING: tuple[tuple[str, str], ...] = (
    ("sawtooth", "oscillation"),
    ("not-learning", "plateau"),
    ("stuck-at-chance", "plateau"),
    ("divergence", "hockey-stick"),
    ("divergence", "loss-spike"),
    ("oom-cliff", "crashed"),
    ("reward-stuck-zero", "reward-flat"),
    ("reward-collapse", "reward-flat"),
)

# readings of a place, not of the whole curve: the other one must begin soon after or before it
BRIEF = frozenset({"loss-spike"})

# from configuration and data to the end of the run; the earlier layer leads where onsets tie
LAYERS = (
    ("fp16-risk", "no-clipping", "lr-out-of-range", "no-warmup", "weight-decay-high"),
    ("eval-leak", "zero-loss", "epoch-staircase"),
    ("lr-zero", "warmup-shock", "schedule-mismatch", "resume-jump"),
    ("grad-explosion", "grad-spike", "grad-zero", "clip-saturation", "loss-spike", "sawtooth"),
    ("loss-scale-collapse", "nan-grad", "nan-loss", "hidden-nan"),
    (
        "divergence",
        "not-learning",
        "stuck-at-chance",
        "plateau",
        "entropy-collapse",
        "kl-blow-up",
        "reward-stuck-zero",
    ),
    ("hockey-stick", "eval-flat", "eval-gap", "nan-eval"),
    ("known-error", "oom-cliff", "hang", "killed", "crashed", "stopped-early"),
)


def merged(findings: Sequence[Finding], covered: float) -> tuple[list[Finding], dict[str, str]]:
    """Drop the lesser of two readings of one curve; `covered` is the steps of the run.

    Returns the findings kept (a dropped one is now a line of evidence of its better reading)
    and, for each dropped rule, the reason.
    """
    by_rule = {finding.rule: finding for finding in findings}
    told: dict[str, Finding] = {}  # what is kept, with what was dropped as evidence
    dropped: dict[str, str] = {}
    for keep, drop in SAME_THING:
        if keep not in by_rule or drop not in by_rule or keep in dropped:
            continue
        better, lesser = by_rule[keep], by_rule[drop]
        if SEVERITIES.index(better.severity) > SEVERITIES.index(lesser.severity):
            continue  # an info must not hide a warning
        if drop in BRIEF and abs(better.begins - lesser.begins) > SOON * covered:
            continue  # another place of the same curve
        line = Evidence(f"Also matches {drop}", lesser.title.rstrip("."), where=lesser.metric)
        by_rule[keep] = told[keep] = replace(better, evidence=(*better.evidence, line))
        dropped[drop] = f"{MERGED}{keep}: {lesser.title}"
    return [told.get(f.rule, f) for f in findings if f.rule not in dropped], dropped


def louder(findings: Iterable[Finding]) -> list[Finding]:
    """Raise an info to a warning where a companion that it names was found in the same run.

    And no finding is critical of confidence below 0.5.
    """
    some = [
        replace(one, severity="warning")
        if one.severity == "critical" and one.confidence.value < EVEN
        else one
        for one in findings
    ]
    loud = {finding.rule for finding in some if finding.severity != "info"}
    return [
        replace(finding, severity="warning")
        if finding.severity == "info" and loud.intersection(finding.louder_with)
        else finding
        for finding in some
    ]


def incidents(findings: Iterable[Finding], covered: float, slack: float) -> tuple[Incident, ...]:
    """Join findings by the causal graph; severe incidents first, then by onset.

    `covered` is the number of steps of the run, `slack` one logging interval: an effect may be
    seen that much before its cause.
    """
    groups: list[list[Finding]] = []
    for finding in sorted(findings, key=_order):
        mine = [
            group
            for group in groups
            if any(_connected(other, finding, covered, slack) for other in group)
        ]
        if not mine:
            groups.append([finding])
            continue
        mine[0].append(finding)
        for other in mine[1:]:
            mine[0].extend(other)
            groups.remove(other)
    return tuple(sorted((_incident(group, covered, slack) for group in groups), key=gravity))


def causes_of(effect: Finding, all_: Iterable[Finding], covered: float, slack: float) -> list[str]:
    """Return the slugs of the findings that may have caused `effect`."""
    return [one.rule for one in all_ if one is not effect and _leads(one, effect, covered, slack)]


def _incident(group: list[Finding], covered: float, slack: float) -> Incident:
    """Put the gravest first: of those the earliest that none of them caused, early signs last."""
    gravest = min(SEVERITIES.index(one.severity) for one in group)
    grave = [one for one in group if SEVERITIES.index(one.severity) == gravest]
    free = [one for one in grave if not causes_of(one, grave, covered, slack)] or grave
    first = min(free, key=lambda one: (one.rule in EARLY_SIGNS, _order(one)))
    rest = sorted((one for one in group if one is not first), key=_order)
    return Incident((first, *rest), first.title)


def gravity(incident: Incident) -> tuple[int, bool, float]:
    """Return what incidents are sorted by: severity, early signs after faults, onset."""
    lead = incident.findings[0]
    return SEVERITIES.index(incident.severity), lead.rule in EARLY_SIGNS, lead.begins


def _connected(one: Finding, other: Finding, covered: float, slack: float) -> bool:
    return _leads(one, other, covered, slack) or _leads(other, one, covered, slack)


def _leads(cause: Finding, effect: Finding, covered: float, slack: float) -> bool:
    window = LEADS_TO.get(cause.rule, {}).get(effect.rule)
    if window is None:
        return False
    if cause.onset.step is None:  # a setting is in force all the time
        return window == ANY
    delay, latest = effect.begins - cause.begins, max(window * covered, slack)
    early = effect.rule in EARLY_SIGNS and cause.rule in LATE_CAUSES
    return -(latest if early else slack) <= delay <= latest


def _order(finding: Finding) -> tuple[float, int, float, str]:
    layer = next((n for n, slugs in enumerate(LAYERS) if finding.rule in slugs), len(LAYERS))
    return finding.begins, layer, -finding.confidence.value, finding.rule
