"""What can make a run go wrong: a cause as plain data, and one vocabulary of causes.

A cause is what was put in, or what happened, not the symptom that it shows.
"""

from typing import Literal

from runlens.records import NamedTuple

Rank = Literal["most likely", "likely", "possible", "unlikely"]
RANKS: tuple[Rank, ...] = ("most likely", "likely", "possible", "unlikely")

INTERRUPTED = "Interrupted (Ctrl-C or SIGINT)"
UNKNOWN = "unknown"
# kind -> what it means
KINDS: dict[str, str] = {
    "rate-too-high": (
        "learning rate (peak or constant) too high for model, optimizer, batch or method"
    ),
    "rate-too-low": "too low to learn in the steps given",
    "few-updates": "so few updates in all that nothing can be learned: plan, rows, accumulation",
    "rate-zero": "rate is 0 or decays to 0 long before the end of the plan",
    "rate-leaves-plan": (
        "schedule broken: rate grows, jumps, restarts or leaves what was configured"
    ),
    "warmup-missing": "no or too short warm-up",
    "clip-too-tight": "gradient clipping limit far below the usual norm",
    "clip-missing": "no clipping, or a limit that bounds nothing, where single gradients explode",
    "optimizer-setting": "beta, epsilon, momentum, weight decay out of their usual range",
    "batch-too-small": "noise of the batch hides the signal",
    "memorised": "too many passes over too few rows; capacity too large for the data (overfitting)",
    "data-order": "not shuffled, sorted, blocks or phases of different data (period in the loss)",
    "bad-batch": "one or few odd batches or samples (outliers, empty or fully masked rows)",
    "data-shift": "the data, task or environment changed during the run",
    "labels-wrong": "labels shuffled, noisy, misaligned with inputs",
    "labels-masked": "all (or nearly all) labels are ignored (-100), padding only",
    "leak": "evaluation rows in training, or the target in the inputs",
    "loss-function": "wrong, rescaled or sign-flipped loss; wrong reduction",
    "reward-function": "reward wrong, constant, hackable, at ceiling or floor; weights of parts",
    "kl-weight": "KL coefficient (beta) zero, too low or too high",
    "exploration": (
        "entropy bonus, temperature or clip range lets the policy become deterministic (or random)"
    ),
    "stale-policy": "samples of an older or other policy; importance ratio off",
    "length-limit": (
        "completion or sequence limit cuts what is needed; no penalty on length; end token "
        "not learned"
    ),
    "precision": "fp16/fp8 range, loss scale, numerics of a layer",
    "frozen-weights": (
        "nothing (or the wrong parameters) is trained: requires_grad off, optimizer holds "
        "other parameters, detached graph"
    ),
    "capacity": "model too small or badly initialized for the task",
    "resume-state": "optimizer, scheduler, data position or random state not restored",
    "memory": "GPU or host memory: batch, length, leak",
    "machine": "node, disk, network, driver, throttling, neighbors, data loader too slow",
    "time-limit": "scheduler's or cloud's limit, preemption, signal from outside",
    "by-hand": "stopped by a person (Ctrl-C) or as configured (early stopping)",
    "code-error": "exception of the user's code, configuration or a missing file",
    "library-defect": "known defect of a library version",
    "evaluation": "evaluation set, metric or mode (eval/train, wrong split) is at fault",
    "logging": "logging hides or distorts values (NaN filter, sums, aggregation)",
    "own-setting": "a setting that none of the runs beside it has which are well",
    "unknown": "the run's files do not tell",
}

# class of a message of a log -> kind, where its row of the table does not name its own
OF_CLASS = {
    "oom": "memory",
    "kill": "time-limit",
    "hang": "machine",
    "hardware": "machine",
    "known": "code-error",
    "config": "code-error",
    "data": "code-error",
    "fallback": "code-error",
}


class Cause(NamedTuple):
    """One possible cause, with what speaks for and against it in this run."""

    what: str  # noun phrase: "Learning rate too high"
    rank: Rank = "possible"
    evidence_for: str = ""
    against: str = ""
    kind: str = ""  # key of `KINDS`: "rate-too-high"; "unknown" if nothing tells
    falsifier: str = ""  # what would show that it is not this
    experiment: str = ""  # the cheapest thing to do that tells it from the others
    pointed: bool = False  # the experiment is of this very sign, not of its kind: it goes first
    answers: tuple[str, ...] = ()  # checks that it tells in other words
    proved: bool = False  # the log itself says it

    def to_dict(self) -> dict[str, str]:
        """Return its part of the JSON contract."""
        return {
            "what": self.what,
            "rank": self.rank,
            "for": self.evidence_for,
            "against": self.against,
            "kind": self.kind,
            "falsifier": self.falsifier,
            "experiment": self.experiment,
        }


class Domino(NamedTuple):
    """One step of the story of an incident: what happened, when, in which metric."""

    step: float
    what: str  # "gradient norm x10"
    metric: str = ""


class RuledOut(NamedTuple):
    """A reading of the curves that was tested and does not hold."""

    what: str
    why: str
