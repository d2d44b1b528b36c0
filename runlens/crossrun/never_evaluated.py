"""Never evaluated: none of the runs of a group was evaluated while it trained.

What is seen
    Several runs of a group came to their end, and none of them logged an evaluation.
Why it matters
    Training loss alone cannot show memorization, a leak or a wrong template; no run can be
    said to be better than another.
Looks alike
    Reinforcement learning is judged by its reward. Runs may be evaluated by another job, which no
    log of theirs tells: hence an info. A single run is told by `eval-too-rare`. Short runs are
    trials.
Limits
    runs: that came to their end, all without an evaluation. steps: of each of them.
Fixes
    Hold 1 to 5 % of the data out; evaluate ten times a run or more (eval_strategy, eval_steps).
"""

from msgspec import Struct

from runlens import cost
from runlens.crossrun.rule import CrossFinding, CrossRule, Rows, done, together
from runlens.nights import EVALS, RunRow
from runlens.rules.rule import LOSS_TASKS
from runlens.wording import number


class Limits(Struct, frozen=True):
    """What may be tuned."""

    runs: int = 3
    steps: int = 200


def check(rows: Rows, limits: Limits, _now: float) -> tuple[CrossFinding, ...]:
    """Look at each group whose tasks have a loss."""
    found = []
    for place, some in together(rows).items():
        if place.task not in LOSS_TASKS or any(row.measures.get(EVALS) for row in some):
            continue
        # without the count of evaluations nothing was measured
        ended = [row for row in some if done(row) and row.measures.get(EVALS) == 0]
        ended = [row for row in ended if row.steps >= limits.steps and _learned(row)]
        if len(ended) >= limits.runs:
            ended.sort(key=lambda row: (-(cost.gpu_hours(row) or 0.0), row.key))
            longest = ended[0]
            found.append(
                CrossFinding(
                    "never-evaluated",
                    "info",
                    place.project,
                    place.group,
                    f"None of {len(ended)} runs of {place.group} was evaluated while it trained.",
                    tuple(row.key for row in ended),
                    f"{longest.name}: {number(longest.steps)} steps without an evaluation.",
                    f"{len(ended)} runs of {number(limits.steps)} steps or more (limit"
                    f" {limits.runs}), 0 evaluations.",
                )
            )
    return tuple(found)


def _learned(row: RunRow) -> bool:
    return "train_loss.end" in row.measures


RULE = CrossRule(
    slug="never-evaluated",
    title="Runs that were never evaluated",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
)
