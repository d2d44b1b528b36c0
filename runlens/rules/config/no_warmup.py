"""No warm-up: the first step is taken at the full, high learning rate.

What is seen
    The settings name no warm-up, or the learning rate is logged at its peak from the first step,
    and that rate is above the middle of the usual range.
Why it matters
    Adam knows nothing of the gradients yet, and fresh adapters have none of their scale: full
    steps in the first moments throw the weights about.
Looks alike
    Low rates need no warm-up. A resumed run goes on where it was. Runs of a hundred steps, and
    schedules with a warm-up of their own (one cycle, WSD) are not judged. A log that begins
    after the warm-up shows the peak in its first point: the first point must be early.
Limits
    shortest: steps of a run that is judged. early: the first point of the learning rate must lie
    within this share of the run. full: share of the peak that it must have there.
Fixes
    warmup_ratio: 0.05; 3 to 10 % are usual.
"""

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Outcome
from runlens.rules.config.method import advice, is_set
from runlens.rules.relations import CLIMBS, NAN, Relations
from runlens.rules.rule import LANGUAGE_TASKS, PREFERENCE_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.phases import rises_throughout
from runlens.usual_rates import usual_rates
from runlens.wording import rate, too_few

_WARMS_ITSELF = ("onecycle", "one_cycle", "wsd", "warmup_stable", "inverse_sqrt", "noam")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    shortest: int = 100
    early: float = 0.02
    full: float = 0.95


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at the settings and at the first point of the learning rate."""
    total = run.state.planned_steps or run.last_step
    if total < limits.shortest:
        return unmet(too_few(int(total), "step", limits.shortest, of="logged or planned"))
    if run.events_of("resume") or signals.partial:
        cut = "the first steps of the run were not logged"
        return unmet(cut if signals.partial else "resumed runs are not judged")
    if any(name in str(run.setting("lr_scheduler_type")).lower() for name in _WARMS_ITSELF):
        return passed("the schedule has a warm-up of its own")
    if signals.warmup.present:
        return passed(f"it warms up to step {signals.warmup.end}")
    none_set = (is_set(run, "warmup_steps") or is_set(run, "warmup_ratio")) and not (
        run.number("warmup_steps") or run.number("warmup_ratio")
    )
    begin, usual = _at_start(signals, total, limits), usual_rates(run)
    if not (none_set or _starts_full(signals, total, limits)):
        if rises_throughout(run):
            return passed("the learning rate rises to its last record")
        return unmet("no record shows whether there was a warm-up")
    if not begin or usual is None:
        return unmet("it is not known whether this learning rate needs a warm-up")
    if begin <= usual.middle:
        return passed(f"a learning rate of {rate(begin)} is low for {usual.what}")
    return found(
        advice(
            f"The run has no warm-up and began at a learning rate of {rate(begin)}.",
            "warmup_ratio",
            run.number("warmup_ratio") or 0.0,
            "Large first updates without a warm-up are a common cause of early divergence.",
            fixes.longer_warmup(run, "3 to 10 % of the steps are usual"),
        )
    )


def _at_start(signals: Signals, total: int, limits: Limits) -> float | None:
    """Return the rate of the first steps, where it is logged; else the configured one."""
    curve = signals.curve("learning_rate")
    early = len(curve) and curve.step[0] <= max(1.0, limits.early * total)
    return float(curve.value[0]) if early else signals.peak_learning_rate


def _starts_full(signals: Signals, total: int, limits: Limits) -> bool:
    curve = signals.curve("learning_rate")
    if not len(curve) or curve.step[0] > max(1.0, limits.early * total):
        return False
    return bool(curve.value[0] >= limits.full * curve.value.max())


BAD = (
    drawn(
        "LoRA from the peak",
        severity="info",
        learning_rate="0:3e-4 600:0",
        config={"adapter": "lora"},
    ),
    drawn(
        "none in the settings",
        severity="info",
        train_loss="0:2 600:1",
        config={"adapter": "full", "learning_rate": 5e-5, "warmup_steps": 0, "warmup_ratio": 0.0},
    ),
)
GOOD = (
    drawn("warms up", learning_rate="0:0 50:3e-4 600:0", config={"adapter": "lora"}),
    drawn("warms up to the end", learning_rate="0:3e-6 600:3e-4", config={"adapter": "lora"}),
    drawn("low rate", learning_rate="0:1e-5 600:0", config={"adapter": "full"}),
    drawn(
        "one cycle",
        learning_rate="0:3e-4 600:0",
        config={"adapter": "lora", "lr_scheduler_type": "onecycle"},
    ),
)

RULE = Rule(
    slug="no-warmup",
    title="No warm-up",
    family="CFG",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=(*CLIMBS, *NAN, "warmup-shock", "plateau"), layer="setting"),
    tasks=LANGUAGE_TASKS | PREFERENCE_TASKS | {"grpo", "ppo", "classification"},
    bad=BAD,
    good=GOOD,
)
