"""Evaluation loss that was best early and stands since, while training loss comes down on.

It ends where it was, so that nothing is lost, as overfitting would lose it; and what training
gained since carries over to none of many evaluations.
"""

from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Mark, Moment, Outcome, RuledOut
from runlens.history import Curve
from runlens.rules.evaluation.sets import MANY, evaluations, pair_of
from runlens.rules.rule import drawn, unless
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import count, loss, step

EARLY = 0.3  # share of the evaluations within which the best lies
ENDS = 0.05  # of the best, above which the end is overfitting (hockey-stick)
HALVED = 0.5  # of the training loss about the best: below it training goes on learning


def outcome(run: Run, signals: Signals) -> Outcome | None:
    """Return the finding; None where evaluation still gains, is lost, or training stands too."""
    evals = evaluations(signals, "eval_loss")
    if len(evals) < MANY or evals.value.min() <= 0 or not len(signals.curve("train_loss")):
        return None
    at = int(evals.value.argmin())
    since = evals.at(slice(at, None))
    pair = pair_of(signals, since)
    end = float(sorted(evals.value[-3:])[1])
    if not 0 < at <= EARLY * len(evals) or end > (1 + ENDS) * evals.value[at]:
        return None
    if not 0 < pair.last < HALVED * pair.first:
        return None
    told = _finding(run, signals, since, pair.first, pair.last)
    return unless(("hockey-stick", "zero-loss"), "training memorizes, and that is told", told)


def _finding(run: Run, signals: Signals, since: Curve, first: float, last: float) -> Finding:
    from runlens.rules.evaluation import overfit_advice

    onset, best = float(since.step[0]), float(since.value[0])
    many = count(len(since) - 1, "later evaluation")
    return Finding(
        severity="info",
        title=f"Eval loss did not improve from step {step(onset)} on. It was {loss(best)} "
        f"there, and none of {many} was lower, while train loss fell from {loss(first)} to "
        f"{loss(last)} (medians).",
        metric="eval_loss",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Train loss at the end, of that at the best evaluation",
                last / first,
                HALVED,
                "half",
                "train_loss",
                above=False,
            ),
            Evidence("Best eval loss", best, where="eval_loss", step=onset),
            Evidence("Evaluations after it", float(len(since) - 1), where="eval_loss"),
        ),
        seen="What training gained since then did not carry over.",
        fixes=overfit_advice.fixes_of(run, signals, onset),
        ruled_out=(RuledOut("Overfitting", "eval loss ends within 5 % of its best"),),
        confidence=Confidence(0.8, count(len(since) - 1, "evaluation")),
        chart=Chart("curves", ("train_loss", "eval_loss"), marks=(Mark(onset, best, loss(best)),)),
    )


def went(evals: Curve) -> str:
    """Say where evaluation went: "from" and "to" of a fall would read as an improvement."""
    first, last = float(evals.value[0]), float(evals.value[-1])
    low, high = loss(float(evals.value.min())), loss(float(evals.value.max()))
    risen = f"went from {loss(first)} to {loss(last)}"
    level = f"stayed at {low}" if low == high else f"stayed between {low} and {high}"
    return risen if last > first == evals.value.min() else level


BAD = (
    drawn(
        "training passes an evaluation that has no trend",
        (10, 10),
        noise={"train_loss": 0.005, "eval_loss": 0.04},
        task="other",
        severity="info",
        train_loss="/10 10:4.7 20:3.8 100:2.9 200:2.3",
        eval_loss="/10 10:3.9 200:3.9",
        steps_per_epoch=10,
    ),
    drawn(
        "best early, level since, and training loss falls on",
        (60, 300),
        severity="info",
        noise=0.002,
        task="other",
        train_loss="/10 0:0.04 50:0.006 300:0.0035 1000:0.001",
        eval_loss="/10 0:0.006 100:0.0031 190:0.0031 200:0.00299 210:0.0031 1000:0.00305",
    ),
)
GOOD = (
    drawn(
        "best early, level since, and training loss hardly falls",
        noise=0.002,
        task="other",
        train_loss="/10 0:0.04 50:0.006 300:0.0035 1000:0.003",
        eval_loss="/10 0:0.006 100:0.0031 190:0.0031 200:0.00299 210:0.0031 1000:0.00305",
    ),
    drawn(
        "evaluation comes down to the end",
        noise=0.002,
        task="other",
        train_loss="/10 0:0.04 50:0.006 300:0.0035 1000:0.001",
        eval_loss="/10 0:0.006 100:0.0031 200:0.00302 1000:0.0028",
    ),
)
