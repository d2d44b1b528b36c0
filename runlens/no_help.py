"""Advice that another finding of the same run rules out, or makes no use of.

Each finding brings what usually helps. Beside another one some of it cannot: no rate settles a
policy that was never rewarded, and no overfitted batch tells more where no gradient arrives.
"""

from collections.abc import Sequence

from runlens.cause import RANKS
from runlens.diagnosis import Finding, Fix, Incident

FROZEN = "Check requires_grad"
BATCH, SAMPLES, RANGE = "Overfit one batch", "Print 20 ", "Run a learning-rate range test"
UNFROZEN = "Frozen parameters"  # how a cause that is ruled out begins
STUCK = frozenset({"not-learning", "stuck-at-chance", "plateau"})
# a rule that was found loud -> of which findings, and how the advice begins
IDLE: dict[str, tuple[tuple[frozenset[str], tuple[str, ...]], ...]] = {
    "grad-zero": ((STUCK, (FROZEN, BATCH, SAMPLES, RANGE)),),
    "grad-explosion": ((STUCK, (FROZEN,)),),
    "divergence": ((STUCK, (FROZEN,)),),
    "hockey-stick": ((frozenset({"zero-loss"}), ("Train for fewer epochs",)),),
    "reward-stuck-zero": (
        (frozenset({"entropy-high"}), ("Lower the learning rate", "Check that better")),
        (frozenset({"zero-reward-std"}), ("Generate more completions",)),
    ),
}


def useful(finding: Finding, made: Sequence[Incident]) -> tuple[Fix, ...]:
    """Return the fixes of a finding that help beside all that was found."""
    everything = [one for incident in made for one in incident.findings]
    loud = {one.rule for one in everything if one.severity != "info"}
    idle = [
        begins
        for rule in loud & IDLE.keys()
        for rules, many in IDLE[rule]
        if finding.rule in rules
        for begins in many
    ]
    if any(_moves(one) for one in everything):
        idle.append(FROZEN)
    return tuple(fix for fix in finding.fixes if not fix.what.startswith(tuple(idle)))


def _moves(finding: Finding) -> bool:
    """Whether a finding shows that the weights moved: a rate broke them, or they are not frozen."""
    first = finding.causes[:1]
    broke = any(one.kind == "rate-too-high" and one.rank == RANKS[0] for one in first)
    return broke or any(out.what.startswith(UNFROZEN) for out in finding.ruled_out)
