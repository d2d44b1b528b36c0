"""Late evaluation: the first evaluation comes when much of the run is over.

What is seen
    No evaluation in the first part of the run.
Why it matters
    Until then nobody sees that a run overfits or that its evaluation is broken.
Looks alike
    Short runs have time for one evaluation only, at their end.
Limits
    share: of the steps that may pass before the first evaluation; a habit of ours, no law.
    fewest: steps below which a run is too short for two evaluations.
Fixes
    Evaluate more often.
"""

from dataclasses import dataclass

from runlens.diagnosis import Evidence, Finding, Fix, Moment, Outcome
from runlens.rules.rule import Rule, drawn, found, passed
from runlens.run import Run
from runlens.signals import Signals


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    share: float = 0.5
    fewest: int = 200


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at the step of the first evaluation."""
    if run.last_step < limits.fewest:
        return passed(f"{run.last_step} steps: too short for two evaluations")
    first = int(signals.curve("eval_loss").step[0])
    share = first / run.last_step
    if share <= limits.share:
        return passed(f"the first evaluation is at step {first:,}")
    every = max(1, run.last_step // 10)
    return found(
        Finding(
            severity="info",
            title=f"The first evaluation comes at step {first:,} of {run.last_step:,}.",
            metric="eval_loss",
            onset=Moment(first),
            evidence=(
                Evidence(
                    "Steps before the first evaluation", share, limits.share, "habit", unit="%"
                ),
            ),
            fixes=(Fix("Evaluate more often", "eval_steps", run.setting("eval_steps"), every),),
        )
    )


BAD = (
    drawn(
        "one at three quarters",
        (450, 450),
        severity="info",
        train_loss="0:2 600:1",
        eval_loss="450:1.5 600:1.4",
    ),
)
GOOD = (
    drawn("from the start", train_loss="0:2 600:1", eval_loss="50:2 600:1.4"),
    drawn("short", train_loss="0:2 100:1", eval_loss="100:2 100:2"),
)

RULE = Rule(
    slug="late-eval",
    title="Late evaluation",
    family="EVL",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("eval_loss",),
    bad=BAD,
    good=GOOD,
)
