"""Why a loss rises for good: schedule, norms, precision, or one part of a composite loss."""

from runlens import experiments, fixes
from runlens.arrays import median
from runlens.diagnosis import Fix
from runlens.rules.loss import surroundings
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall
from runlens.wording import number, times

PENALTY_WEIGHTS = {"kl_weight", "kl_beta", "kld_weight", "kl_coeff", "beta"}
FEWEST_PARTS = 12  # points of a part of the loss
GREW = 1.5  # end over onset from which a part climbs
STEADY = 0.5  # Kendall's tau of such a climb


def growing_penalty(run: Run) -> str:
    """Return the name of a logged penalty weight that grows, or an empty text."""
    for name in run.history.metrics:
        if name.rpartition("/")[2] in PENALTY_WEIGHTS:
            value = run.curve(name).finite().value
            if len(value) > 1 and value[-1] > value[0]:
                return name
    return ""


def component(run: Run, onset: float) -> tuple[str, float]:
    """Return (name, growth) of the part of a composite loss that adds most from the onset on.

    A part is a logged training metric with "loss" in its name; it must climb steadily and by
    half at least. ("", 1.0) where there is none.
    """
    best, most = ("", 1.0), 0.0
    for name in run.history.metrics:
        if name == "train_loss" or "loss" not in name or name.startswith(("eval", "grad")):
            continue
        part = run.curve(name).finite().after(int(onset)).value
        if len(part) < FEWEST_PARTS:
            continue
        width = max(3, len(part) // 10)
        before, end = (float(median(some)) for some in (part[:width], part[-width:]))
        grew = before > 0 and end > GREW * before
        if grew and end - before > most and mann_kendall(part)[0] > STEADY:
            best, most = (name, end / before), end - before
    return best


def cures(run: Run, signals: Signals, onset: float, climb: float | None) -> tuple[Fix, ...]:
    """Return what to do, checkpoint first."""
    made: list[Fix] = []
    margin = 0.02 * (run.last_step - run.first_step)
    if kept := fixes.checkpoint_before(run, onset - margin):
        why = "it is the last checkpoint saved before the fault"
        made.append(fixes.action(f"Go back to {kept[1]}", why, kind="resume"))
    part, growth = component(run, onset)
    if part:
        what = f"Check {part}: its weight in the sum, and what it penalizes"
        made.append(fixes.look(what, f"it rose {number(growth, 2)}-fold, and the sum with it"))
    strong = climb is not None and climb >= 10  # noqa: PLR2004 - a tenfold climb
    why = (
        f"gradient norm climbed {times(climb or 0.0)}"
        if strong
        else "loss rose and did not recover"
    )
    rate = fixes.learning_rate(run, signals, 1 / 5 if strong else 1 / 3, why)
    made += rate
    made += fixes.clipping(run, signals, "this bounds a single step")
    if not any(fix.cures == fixes.SCHEDULE for fix in rate):  # it left its schedule later
        made += surroundings.warmup_fix(run, onset)
    made += fixes.bf16(run, "bf16 does not overflow at 65,504")
    beta2 = run.number("adam_beta2")
    if run.task == "pretrain" and beta2 is not None and beta2 >= 0.99:  # noqa: PLR2004 - see causes()
        made.append(fixes.setting(run, "adam_beta2", 0.95, "Lower Adam's beta2", "reacts sooner"))
    made += experiments.full_precision(run, onset)
    return (*made, *experiments.one_process(run))
