"""What speaks for a NaN behind a loss of exactly zero, apart from the loss itself."""

import numpy as np

from runlens.history import Curve
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.wording import count, loss, number, step


class Launch(NamedTuple):
    """What one launch logged; empty curves where it did not."""

    loss: Curve  # finite points
    norm: Curve
    evals: Curve
    accuracy: Curve
    last: bool  # whether no later launch logged a loss


def launches(run: Run) -> list[Launch]:
    """Return the launches that logged a finite training loss."""
    names = ("train_loss", "grad_norm", "eval_loss", "token_accuracy")
    curves = [[run.history.segment(name, k) for name in names] for k in run.history.segments]
    known = [some for some in curves if len(some[0].finite())]
    return [
        Launch(loss_of.finite(), norm, evals, accuracy, k == len(known) - 1)
        for k, (loss_of, norm, evals, accuracy) in enumerate(known)
    ]


class Signs(NamedTuple):
    """What else speaks for a NaN, and against it."""

    nan: tuple[str, ...]  # only a NaN does that
    weak: tuple[str, ...]  # a NaN does that, and masked labels do as well
    against: str = ""


def norm_turned_nan(launch: Launch, onset: int, at: int) -> bool:
    """Whether the gradient norm is NaN from the zeros on, and was a number before, if anything."""
    norm = launch.norm
    after, before = norm.after(onset).value, norm.before(onset).value
    if not len(after) or np.isnan(after).mean() <= 0.5:  # noqa: PLR2004 - most of them
        return False
    return at == 0 or bool(np.isfinite(before).any())


def signs_of(run: Run, launch: Launch, onset: int) -> Signs:
    """Read what the gradient norm, the evaluations and the precision say after a step."""
    nan: list[str] = []
    weak: list[str] = []
    norm = launch.norm.after(onset).value
    if len(norm) and not np.isfinite(norm).all():
        lost = launch.norm.step[~np.isfinite(launch.norm.value)]  # those before the zeros too
        points = count(len(lost), "point")
        nan.append(f"the gradient norm was not finite at {points} from step {step(lost[0])} on")
    elif len(norm) > 1 and np.ptp(norm) == 0:
        weak.append(f"the gradient norm is {number(float(norm[0]))} at all {len(norm):,} points")
    evals = launch.evals.after(onset)
    blind = evals.step[~np.isfinite(evals.value)]
    if len(blind):
        nan.append(f"eval loss is NaN at step {step(int(blind[0]))}")
    accuracy = launch.accuracy.after(onset).value
    if len(accuracy) > 1 and (not np.isfinite(accuracy).all() or np.ptp(accuracy) == 0):
        weak.append(f"token accuracy is {number(float(accuracy[-1]))} throughout")
    weak += [f"{flag} is set" for flag in ("fp16", "fp8") if run.flag(flag)]
    clean = len(evals) > 0 and not len(blind)
    against = f"eval loss is finite after it: {loss(float(evals.value[-1]))}" if clean else ""
    return Signs(tuple(nan), tuple(weak), against)
