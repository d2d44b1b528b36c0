"""What to do about clipping that is engaged all the time."""

from runlens import fixes
from runlens.diagnosis import Fix
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import times

WIDEST = 5.0  # 0.3 to 1.0 is usual for language models, larger norms want a lower rate first
LARGE = 100.0  # norm over limit that no learning rate explains: a sum, or a loss scale


def cures(
    run: Run, signals: Signals, limit: float, ratio: float, *, fell: bool, loud: bool
) -> tuple[Fix, ...]:
    """Return what to change; nothing where the loss falls and the norms are only a little high.

    `limit` is max_grad_norm in force, `ratio` the median norm over it, `fell` whether the loss
    ended below its start, `loud` whether the norms alone are a warning.
    """
    lower = fixes.learning_rate(run, signals, 1 / 2, "shorter steps need less clipping")
    tight = limit <= fixes.TIGHTER_CLIP
    if fell and not loud and not tight:
        if ratio >= LARGE:
            what = "Unscale the gradient before clipping, and average the loss over tokens"
            return (fixes.action(what, f"the norm is {times(ratio)} the limit"),)
        what = "Leave max_grad_norm as it is while the loss falls"
        return (fixes.action(what, "Adam rescales the gradient anyway"),)
    if not (fell or tight) or limit >= WIDEST:
        return lower
    new = min(fixes.two_digits(2 * ratio * limit), WIDEST)
    why = "twice the median norm: only outliers are cut" if new < WIDEST else "no wider than usual"
    wide = Fix("Widen the clipping limit", "max_grad_norm", limit, new, why)
    return (wide, *lower) if tight else (*lower, wide)
