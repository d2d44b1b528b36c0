"""Evaluations that get worse together with training loss: no overfitting, and no silence either."""

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Fix, Moment, Severity
from runlens.history import Curve
from runlens.rules.evaluation.climbs import BY_HEART, wanders
from runlens.rules.evaluation.score import Score
from runlens.rules.evaluation.sets import Bottom, Train, spoken
from runlens.rules.loss.falls import LEARNED
from runlens.rules.rule import LANGUAGE_TASKS, drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import loss, number, percent, step

TWICE = 2.0  # times its minimum: from there a loss rose so many-fold, below by so many percent
# times its minimum: the labelled runs that memorise end 1.05 to 4.1 times above it, one 21 times
BEYOND = 100.0
# times the training loss at the first evaluation, where that is the best: what one pass memorizes
# lies within a part of it
UNLIKE = 5.0
# rules that name a training loss that was lost; where one does, the evaluation only follows
LOST_WITH_TRAIN = (
    "divergence",
    "loss-spike",
    "grad-explosion",
    "warmup-shock",
    "resume-jump",
    "oscillation",
    "sawtooth",
    "not-learning",
    "stuck-at-chance",
    "preference-collapse",
    "nan-loss",
    "hidden-nan",
)


def finding(
    run: Run, evals: Curve, metric: str, bottom: Bottom, needed: float, train: Train | None
) -> Finding:
    """Build the finding of an evaluation that got worse together with the training loss."""
    onset = float(evals.step[bottom.at])
    name = spoken(metric)
    beside = (
        f" while train loss went from {loss(train.logged_then)} to {loss(train.logged_end)}"
        if train
        else ""
    )
    kept = fixes.checkpoint_before(run, onset)
    return Finding(
        severity="warning",
        title=f"{name.capitalize()} got worse from step {step(onset)} on. It went from "
        f"{loss(bottom.lowest)} to {loss(float(evals.value[-1]))}{beside}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            rise_row(evals, metric, bottom, needed),
            Evidence("Best eval loss, as logged", bottom.lowest, where=metric, step=onset),
        ),
        seen="This is not overfitting, because train loss did not fall over the same steps.",
        heading="Worsening evaluation",
        fixes=(
            fixes.weights(
                f"Use the weights in {kept[1]}", "it was saved before the best eval loss"
            ),
        )
        if kept
        else _never_better(train),
        confidence=confidence(bottom, needed, len(evals)),
        chart=Chart("curves", ("train_loss", metric)),
    )


def hardly_trained(signals: Signals, train: Train | None) -> str:
    """Say that training loss fell by less than counts as learning; empty if it did, or rose.

    Who memorizes rows comes to know them. The evaluation of a model that hardly learned wanders
    with it: of a regression that answers with its mean, a step of that mean is a rise.
    """
    if train is None or signals.partial or train.start <= 0:
        return ""
    fell = 1 - train.end / train.start
    if not 0 <= fell < LEARNED:
        return ""
    return f"train loss fell by only {percent(fell)} in all: nothing was memorized"


def _never_better(train: Train | None) -> tuple[Fix, ...]:
    """Return what to try where training loss rose from its start on: each update made it worse."""
    if train is None or train.end <= train.start + train.error:
        return ()
    what = "Train ten steps on one batch, at a tenth of the learning rate"
    return (fixes.look(what, "if its loss still rises, the sign of the update is wrong"),)


def rise_row(evals: Curve, metric: str, bottom: Bottom, needed: float) -> Evidence:
    """Return the rise that was judged beside the one that counts."""
    return Evidence(
        "Rise of eval loss since its best (smoothed)",
        bottom.end - bottom.best,
        needed,
        "5 % of the best, or three noise scales",
        metric,
        float(evals.step[-1]),
    )


def unlike(evals: Curve, train: Train | None) -> bool:
    """Whether an evaluation loss began at its best, and far above the training loss beside it.

    Then no certainty that grew lifted it, though some more answers may be right at the end.
    """
    first = float(evals.value[0])
    return bool(train and first <= evals.value.min() and first > UNLIKE * train.then > 0)


def heading(run: Run, signals: Signals, evals: Curve, train: Train | None, better: str) -> str:
    """Return the name of the pattern: what saw no row twice is not overfitted.

    Nor is what stood at a training loss that is not low: nothing more was memorized.
    """
    if unlike(evals, train) and not beyond_memorising(evals):
        return "Evaluation unlike training"
    if better:
        return "Over-confident model"
    if beyond_memorising(evals):
        return "Exploding evaluation"
    if train and train.end > train.then - train.error and train.end > BY_HEART * train.start:
        return "Worsening evaluation"
    passes = signals.inputs.passes_at(run.last_step)
    return "" if passes is None or passes >= 1 else "Worsening evaluation"


def confidence(bottom: Bottom, needed: float, count: int) -> Confidence:
    """Return how sure a rise of an evaluation over its best is, by its size and the evaluations."""
    margin = min(1.0, 0.6 + 0.4 * ((bottom.end - bottom.best) / needed - 1))
    points = min(1.0, 0.6 + 0.05 * count)
    return Confidence(
        round(margin * points, 2),
        f"{count} evaluations",
    )


def severity(
    run: Run,
    evals: Curve,
    bottom: Bottom,
    train: Train | None,
    score: Score | None,
    steep: float,
    *,
    few: bool,
) -> Severity:
    """Return how grave a rise is, by what it cost; `few`: single samples decide how far it went.

    One scale for all: nothing is lost where a score held, and nothing was memorized where training
    ends above the evaluation. Critical is what ends worse than the first evaluation, by loss and by
    score. A loss alone tells so much of language, whose quality it
    is, and where no memorizing lifts one so far; classes may be as right as they were.
    """
    below = train is not None and bottom.end < train.end and score is not None and score.held
    if below or wanders(evals.value, bottom):
        return "info"
    if few or (score and score.held):
        return "warning"
    lost = bottom.end > evals.value[0] and bottom.share > steep
    known = run.task in LANGUAGE_TASKS or beyond_memorising(evals) > 0
    return "critical" if lost and (score.lost > steep if score else known) else "warning"


def by(end: float, lowest: float) -> str:
    """Say by how much a loss rose: `` 18 %``, `` 3.8-fold``; nothing of a negative one."""
    if lowest <= 0:
        return ""
    ratio = end / lowest
    return f" {percent(ratio - 1)}" if ratio < TWICE else f" {number(ratio, 2)}-fold"


def came_to(train: Train) -> str:
    """Say what training loss came to, as logged."""
    moved = "fell to" if train.logged_end < train.logged_then else "ended at"
    return f"{moved} {loss(train.logged_end)}"


def beyond_memorising(evals: Curve) -> float:
    """Return how many times its minimum a loss ends at, where no memorizing lifts one so far."""
    if not len(evals) or evals.value.min() <= 0:
        return 0.0
    ratio = float(evals.value[-1] / evals.value.min())
    return ratio if ratio >= BEYOND else 0.0


def evidence(
    evals: Curve,
    metric: str,
    bottom: Bottom,
    needed: float,
    train: Train | None,
    score: Score | None,
    samples: int,
) -> tuple[Evidence, ...]:
    """Return what speaks for a rise: of the loss, and what train loss and score did beside it."""
    onset = float(evals.step[bottom.at])
    rows = [
        rise_row(evals, metric, bottom, needed),
        Evidence("Best eval loss, as logged", bottom.lowest, where=metric, step=onset),
        Evidence("Evaluations after the best", float(len(evals) - bottom.at - 1)),
    ]
    if samples:
        rows.append(Evidence("Samples in the evaluation set", float(samples)))
    if train:
        what = "Train loss at the best evaluation"
        rows.append(Evidence(what, train.logged_then, where="train_loss"))
    return (*rows, score.evidence) if score else tuple(rows)


GOOD = (
    drawn(
        "one evaluation far below those before and behind it, which go nowhere",
        noise=0,
        train_loss="0:2 800:0.5",
        eval_loss="0:8.5 70:0.137 140:0.0055 210:0.124 280:0.15 350:0.14 420:0.13 490:0.12 560:0.13"
        " 630:0.135 700:0.11 /70",
    ),
    drawn(
        "a regression that answers with its mean, and a first mean that fitted the evaluation",
        noise=0,
        task="other",
        train_loss="0:19.2 1:19.55 2:19.53 3:18.96 4:18.95 5:19.04 6:19.06 7:19.04 8:18.97 9:18.93 "
        "10:19.01 11:19 /1",
        eval_loss="0:16.41 1:14.25 2:14.91 4:14.98 6:15.05 9:14.91 10:15.1 11:15.11 /1",
    ),
)
