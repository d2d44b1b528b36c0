"""Missing core metric: a metric that would tell much about this run is not logged.

What is seen
    Of the metrics that runs of this kind should log, at least one that whole families of checks
    rest on is absent. What would separate causes that are open in this run is named besides: the
    loss scale in fp16, norms by layer after a NaN, the memory of the other ranks.
Why it matters
    What is not logged cannot be diagnosed: without grad_norm nobody sees why a loss jumped,
    without an evaluation nobody sees overfitting.
Looks alike
    A metric that the logger names in a way that is not known here. A console log beside which
    the tracker's files were not given. Older Trainers (before transformers 4.38) do not log
    grad_norm.
Limits
    fewest: points of the loss or reward below which the run is too short for the question.
Fixes
    The line or the setting that logs each of them.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes, layers
from runlens.diagnosis import Confidence, Evidence, Finding, Moment, Outcome
from runlens.how_to_log import how_to_log
from runlens.metrics import base, quality
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.config import method
from runlens.rules.rule import LANGUAGE_TASKS, PREFERENCE_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run, Task
from runlens.signals import Signals
from runlens.wording import listed, too_few

WITH_LOSS: frozenset[Task] = (
    LANGUAGE_TASKS | PREFERENCE_TASKS | {"classification", "regression", "asr"}
)
POLICY: frozenset[Task] = frozenset({"grpo", "ppo"})
JUDGED = WITH_LOSS | POLICY
OF_THE_POLICY = {"entropy", "len_mean"}  # EBFT logs neither: its blocks have one length
RANKS, LAYERS = "gpu_mem:rank1", "grad_norm/<layer>"


class Signal(NamedTuple):
    """A metric that runs should log: its names, for whom, and what rests on it."""

    names: tuple[str, ...]
    tasks: frozenset[Task]
    for_what: str
    core: bool = True  # whether its absence alone is worth a word
    vital: bool = True  # whether it is counted; others are named where they would help


def _named_only(name: str, for_what: str, *others: str) -> Signal:
    """Describe what is named only where it would separate causes that are open."""
    return Signal((name, *others), JUDGED, for_what, core=False, vital=False)


SIGNALS = (
    Signal(("train_loss",), WITH_LOSS, "all checks of the loss"),
    Signal(("grad_norm",), JUDGED, "exploding, vanishing and clipped gradients"),
    Signal(("learning_rate",), JUDGED, "the schedule, warm-up and restarts"),
    Signal(
        ("eval_loss", "eval_accuracy", "eval_wer", "dpo_acc"),
        WITH_LOSS,
        "overfitting and data leaks",
    ),
    Signal(("reward",), POLICY, "collapse, a lack of progress and hacking"),
    Signal(
        ("reward_std", "frac_zero_std", "ebft/advantages_std"),
        POLICY,
        "groups without a learning signal",
    ),
    Signal(("entropy", "entropy_seq"), POLICY, "entropy collapse"),
    Signal(("len_mean",), POLICY, "growing, collapsing and cut-off completions"),
    Signal(("kl", "kl_seq", "kl_step"), POLICY, "leaving the reference", core=False),
    Signal(
        ("throughput_tokens", "throughput_samples", "throughput_steps", "step_time"),
        JUDGED,
        "slow-downs",
        core=False,
    ),
    Signal(("gpu_mem", "gpu_mem_reserved"), JUDGED, "memory leaks", core=False),
    _named_only("mfu", "a GPU that waits or does little", "gpu_util"),
    _named_only("loss_scale", "whether fp16 overflows or the learning rate is too high"),
    _named_only(RANKS, "uneven data or model parts"),
    _named_only(LAYERS, "the layer in which a NaN or an explosion begins"),
)


# an evaluation, if under another name or not finite
_EVALUATED = lazy_re(r"(?:eval|val|valid|validation|test)[_/:.].*(?:loss|ppl|perplexity|bpb|nll)")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 8


def check(run: Run, _: Signals, limits: Limits) -> Outcome:
    """Name what runs of this kind should log and this one does not."""
    main = "reward" if run.task in POLICY else "train_loss"
    points = max(len(run.curve(main)), len(run.curve("learning_rate")), len(run.curve("grad_norm")))
    if points < limits.fewest:
        none = "no training curve is logged"
        return unmet(too_few(points, "logged value", limits.fewest) if points else none)
    wanted = [one for one in SIGNALS if run.task in one.tasks]
    missing = [one for one in wanted if not _logged(run, one)]
    if not any(one.core for one in missing):
        known = sum(one.vital and one not in missing for one in wanted)
        told_by = ("eval-too-rare",) if method.evaluation_off(run) else ()
        words = f"{known} of {sum(one.vital for one in wanted)} core metrics are logged"
        return passed(words, told_by)
    named = [one.names[0] for one in missing if one.vital or _how(one, run)]
    them = "it" if len(named) == 1 else "them"
    return found(
        Finding(
            severity="info",
            title=f"The run does not log {listed(named, 'or')}.",
            metric=missing[0].names[0],
            onset=Moment(),
            evidence=tuple(
                Evidence(f"{one.names[0]} is not logged", f"{_use(one)} {one.for_what}")
                for one in missing
            ),
            seen=f"The checks that need {them} could not run.",
            fixes=tuple(
                fixes.action(_how(one, run), f"this shows {one.for_what}")
                for one in missing
                if not (
                    "eval_loss" in one.names and any(map(_EVALUATED.match, run.history.metrics))
                )
            ),
            confidence=Confidence(0.8, "a name that RunLens does not know would be missed"),
        )
    )


def _how(signal: Signal, run: Run) -> str:
    text = how_to_log(signal.names, run.framework)
    return text[:1].upper() + text[1:]


def _use(signal: Signal) -> str:
    return "needed to see" if signal.vital else "would show"


def _logged(run: Run, signal: Signal) -> bool:
    if "kl" in signal.names and not run.number("beta"):
        return True  # without a reference there is nothing to log
    if "eval_loss" in signal.names and method.evaluation_off(run):
        return True  # eval-too-rare says so
    if _needless(run, signal.names[0]):
        return True
    if "step_time" in signal.names and _timed(run):
        return True
    scored = "eval_accuracy" in signal.names and any(quality(one) for one in run.history.metrics)
    return scored or any(run.logged(name) for name in signal.names)


def _needless(run: Run, name: str) -> bool:
    """Whether a metric would separate no cause that this run leaves open."""
    if name in OF_THE_POLICY:
        return any(metric.startswith("ebft_") for metric in run.history.metrics)
    if name == "loss_scale":
        return not run.flag("fp16")
    if name == RANKS:
        ranks = any(base(metric) == "gpu_mem" and ":" in metric for metric in run.history.metrics)
        return ranks or not len(run.curve("gpu_mem")) or (run.number("num_processes") or 1) <= 1
    if name == LAYERS:
        values = run.curve("train_loss").value, run.curve("grad_norm").value
        return all(np.isfinite(value).all() for value in values) or bool(layers.of_layers(run))
    return False


def _timed(run: Run) -> bool:
    """Whether the points carry times: speed follows from them."""
    curves = (run.curve(name) for name in ("train_loss", "reward", "learning_rate"))
    return any(np.isfinite(curve.time).any() for curve in curves)


BAD = (
    drawn("loss alone", severity="info", train_loss="0:2 600:1", eval_loss="0:2 600:1.2"),
    drawn(
        "GRPO without spread",
        task="grpo",
        severity="info",
        reward="0:0.1 600:0.5",
        entropy="0:0.4 600:0.3",
        len_mean="0:100 600:120",
        grad_norm="0:0.3 600:0.3",
        learning_rate="0:1e-6 600:1e-6",
    ),
    drawn(
        "a NaN in fp16, one rank of four",
        severity="info",
        train_loss="0:2 300:1 310:nan 600:nan",
        learning_rate="0:1e-4 600:0",
        gpu_mem="0:20 600:20",
        config={"fp16": True, "num_processes": 4},
    ),
)
GOOD = (
    drawn(
        "complete",
        train_loss="0:2 600:1",
        eval_loss="0:2 600:1.2",
        grad_norm="0:1 600:1",
        learning_rate="0:1e-4 600:0",
    ),
)

RULE = Rule(
    slug="missing-signal",
    title="Missing core metric",
    family="OBS",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    tasks=JUDGED,
    bad=BAD,
    good=GOOD,
)
