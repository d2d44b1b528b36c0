"""What to do after a NaN: fixes by the branch of the tree, then what separates the causes left.

Guides agree on no order (the data first, or the learning rate first): the branch decides, which
rests on the evidence.
"""

from runlens import experiments, fixes
from runlens.diagnosis import Fix
from runlens.knowledge import in_force
from runlens.knowledge.in_force import reads_text
from runlens.knowledge.optimizer_settings import IMPOSSIBLE, outside
from runlens.run import RL_TASKS, Run
from runlens.signals import Signals
from runlens.wording import step

GUARD = fixes.action(
    "Guard log, root and division with an epsilon, and compute softmax in fp32",
    "log(0), 0 / 0 and the root of a negative number are NaN",
)
OF_NOTHING = fixes.action(
    "Leave that part out where it has no rows, and guard its log, root and division",
    "the mean of nothing is NaN, and one NaN is enough for the sum",
)


def cures(run: Run, signals: Signals, onset: float, branch: str) -> tuple[Fix, ...]:
    """Return the fixes of a branch of the tree in `causes`, then the experiments."""
    rate = fixes.learning_rate(run, signals, 1 / 5, "5 to 10 times lower is usual after a NaN")
    clip = fixes.clipping(run, signals, "this bounds a single step")
    warm = fixes.longer_warmup(run, "the first updates are then smaller")
    warm = () if in_force.past_warmup(run, onset) else warm
    half = fixes.bf16(run, "bf16 does not overflow at 65,504")
    look = _looked(run, onset)
    if branch == "epoch":
        look = fixes.look(
            "Print the loss of each batch of the first epoch, and stop at the first NaN",
            "the loss is logged by epoch, and hides the batch",
        )
        rest = experiments.full_precision(run, onset)
        return (look, *rate, *clip, *half, *rest)
    shown = _shown(run)
    alone = experiments.batch_alone(onset)
    rest = (*_ratio(run), *experiments.full_precision(run, onset), *experiments.one_process(run))
    if branch == "setting":
        back = [
            fixes.setting(run, key, bounds.usual, f"Set {key} as usual", bounds.why)
            for key, _, bounds in outside(run, IMPOSSIBLE)
        ]
        return (*back, *shown)
    if branch == "part":
        printed = f"Print what that part of the loss is computed from at step {step(onset)}"
        return (fixes.look(printed, "the other parts are numbers there"), OF_NOTHING, *shown)
    if branch == "start":
        check = fixes.look(
            "Print the optimizer as it was built: betas in [0, 1), epsilon above 0, learning rate",
            "the first updates are small, so it is hardly their size",
        )
        return (look, check, *half, *shown, alone, *rest)
    if branch == "data":
        late = rate if onset > 1 else ()
        return (*_zero_scale(run), look, *half, *shown, *late, alone, *rest)
    if branch in {"forward", "backward"}:
        return (look, *_zero_scale(run), *half, *shown, alone, GUARD, *rest)
    if branch == "scaler":
        return (*half, *rate, *clip, *shown, *rest)
    return (*rate, *clip, *warm, *half, *shown, look, *_from_before(run, onset), *rest)


def _looked(run: Run, onset: float) -> Fix:
    """Return what to look at first: of an agent no batch has targets."""
    if run.task == "rl":
        return fixes.look(
            f"Print observations, actions and rewards of the episode at step {step(onset)}",
            "the first of them that is NaN shows what broke",
            cures=fixes.DATA,
        )
    odd = "odd values and missing targets"
    if reads_text(run):
        odd = "empty labels, empty sequences, odd values, and token ids or labels out of range"
    elif run.task == "classification":
        odd = "odd values, and labels out of range"
    return fixes.look(
        f"Print the batch at step {step(onset)} and look for {odd}",
        "one bad sample is enough",
        cures=fixes.DATA,
    )


def _shown(run: Run) -> tuple[Fix, ...]:
    known = run.framework in in_force.TRAINER_FRAMEWORKS
    if not known or run.flag("logging_nan_inf_filter") is False:
        return ()
    why = "the log then shows the first NaN"
    return (fixes.setting(run, "logging_nan_inf_filter", False, "Log NaN as NaN", why),)


def _zero_scale(run: Run) -> tuple[Fix, ...]:
    if not run.flag("fp8"):
        return ()
    what = (
        "Give fp8 scales a floor above 0 (rows that are all padding have none), and clear "
        "~/.triton/cache after patching the kernel"
    )
    return (fixes.action(what, "max|x| / 448 of a row of zeros is 0, and 0 / 0 is NaN"),)


def _ratio(run: Run) -> tuple[Fix, ...]:
    ratios = any(len(run.curve(one)) for one in ("clip_ratio", "kl_step", "is_ratio_mean"))
    if run.task not in RL_TASKS or (run.task == "rl" and not ratios):
        return ()
    likely = "an action" if run.task == "rl" else "a token"
    what = "Clamp the difference of log-probabilities before exp, to ±20"
    return (fixes.action(what, f"exp overflows where {likely} is far less likely than before"),)


def _from_before(run: Run, onset: float) -> tuple[Fix, ...]:
    kept = fixes.checkpoint_before(run, onset - 1)
    if kept is None:
        return ()
    what = f"Run on from {kept[1]} with a tenth of the learning rate over the same batches"
    return (fixes.look(what, "still NaN: the data; finite: the learning rate", "one run"),)
