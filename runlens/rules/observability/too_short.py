"""Too short: the log has too few points for its curves to be judged.

What is seen
    Fewer than eight points of the loss or the reward, or a run that ended inside its warm-up.
Why it matters
    Noise and trend cannot be told apart on so few points. Only NaN, the end of the run, settings
    and messages are judged; silence of all other checks is no sign of health.
Looks alike
    A run that has only just begun. A long run that logs every 500 steps: the interval is then
    the thing to change.
Limits
    fewest: points of the metric that the task is judged by.
Fixes
    logging_steps: 10, or 1 in reinforcement learning.
"""

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Confidence, Evidence, Finding, Fix, Moment, Outcome
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import count, step

BY_LOSS = ("train_loss", "eval_loss", "d_loss", "train_loss_epoch")
BY_REWARD = ("reward", "policy_loss", "value_loss")
OFTEN, IN_RL = 10, 1  # logging_steps: TRL's default, and what axolotl's page advises for GRPO


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 8


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Count the points of what the task is judged by."""
    names = BY_REWARD + BY_LOSS if run.task in RL_TASKS else BY_LOSS + BY_REWARD
    best = max(names, key=lambda name: len(run.curve(name)))
    points = len(run.curve(best))
    warm = signals.warmup
    ended = max(run.last_step, run.state.done_steps)
    inside = warm.present and warm.how == "config" and 0 < ended < warm.end
    if points >= limits.fewest and not inside:
        return passed(f"{count(points, 'point')} of {best}")
    if not points:
        return unmet("no loss or reward was found")
    until = f"up to step {step(run.last_step)}"
    what = (
        f"Only {count(points, f'{best} value')} {'was' if points == 1 else 'were'} logged {until}"
    )
    early = f"The run ended at step {step(ended)}, within its warm-up of {step(warm.end)} steps"
    why = early if inside else what
    return found(
        Finding(
            severity="info",
            title=f"{why}.",
            heading="" if inside else "Too few points",
            metric=best,
            onset=Moment(),
            evidence=(_inside(run, warm.end) if inside else _few(points, best, limits),),
            seen="A passed check means little on a run this short."
            if inside
            else "With so few points, a passed check means little.",
            fixes=_fixes(run, signals, best),
            confidence=Confidence(0.95, "the points are counted"),
        )
    )


def _few(points: int, metric: str, limits: Limits) -> Evidence:
    most = float(limits.fewest - 1)
    why = f"{limits.fewest} points separate a trend from noise"
    return Evidence("Points logged", float(points), most, why, metric, above=False)


def _inside(run: Run, end: int) -> Evidence:
    last, most = float(run.last_step), float(end - 1)
    return Evidence("Last step", last, most, "before the end of the warm-up", above=False)


def _fixes(run: Run, signals: Signals, metric: str) -> tuple[Fix, ...]:
    if metric.startswith("eval_"):  # logged at each evaluation, whatever the interval is
        return ()
    often = IN_RL if run.task in RL_TASKS else OFTEN
    apart = run.number("logging_steps") or signals.interval(metric)
    if apart <= often:
        return ()
    return (
        fixes.setting(run, "logging_steps", often, "Log more often", "this shows the trend sooner"),
    )


BAD = (
    drawn("five points", severity="info", train_loss="0:2 40:1.9"),
    drawn(
        "inside warm-up",
        severity="info",
        train_loss="0:2 300:1.9",
        config={"warmup_steps": 1000},
    ),
    drawn(
        "evaluated more often than logged",
        severity="info",
        train_loss="100:2 200:1.9 /100",
        eval_loss="50:2 200:1.9",
    ),
)
GOOD = (drawn("long enough", train_loss="0:2 600:1"),)

RULE = Rule(
    slug="too-short",
    title="Too short",
    family="OBS",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    bad=BAD,
    good=GOOD,
)
