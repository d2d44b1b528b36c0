"""A loss that came to nothing because all inputs got one embedding: their spread went with it.

A loss of two views of one input is 0 where all embeddings are equal. The spread of the features
tells it from one that is solved: that keeps inputs apart. An encoder of a VAE has a spread of its
own, of what it is unsure of, which falls as it learns: beside a KL term nothing is said, nor where
a score gets better.
"""

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.history import Curve
from runlens.metrics import quality, spoken
from runlens.naming import words
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import kendall
from runlens.wording import capitalised, count, loss, number, step

FEATURES = frozenset((
    "feat", "feats", "feature", "features", "emb", "embs", "embed", "embedding", "embeddings",
    "repr", "representation", "representations", "z", "proj", "projection",
))  # fmt: skip
SPREAD = {"std": 1.0, "stddev": 1.0, "var": 2.0, "variance": 2.0}  # and its power of a distance
ALLOWED = frozenset(("mean", "avg", "train", "batch", "dim", "per", "of", "the"))
HEADING = "One embedding for all inputs"
GONE = (
    0.02  # of its start: a fiftieth. Features that are scaled down by decay keep a tenth and more
)
FEWEST = 8  # points: of so many one order in 1,000 falls so far through
FALLS = -0.7  # Kendall's: five pairs of six in order


def finding(run: Run, signals: Signals) -> Finding | None:
    """Return what is found of embeddings that became one; None where no such spread is logged."""
    train, names = signals.curve("train_loss"), run.history.metrics
    if not _gone(train, GONE) or any("kl" in words(name) or quality(name) for name in names):
        return None
    for name in names:
        said = set(words(name))
        power = next((SPREAD[word] for word in said if word in SPREAD), 0.0)
        of = said - SPREAD.keys() - ALLOWED
        spread = signals.curve(name)
        if power and of and of <= FEATURES and _gone(spread, GONE**power):
            return _told(name, spread, train, GONE**power)
    return None


def _gone(curve: Curve, share: float) -> bool:
    """Whether a curve fell in order to at most so much of its first value."""
    value = curve.value
    if len(value) < FEWEST or value.min() < 0 or not value[0]:
        return False
    return _end(curve) <= share * float(value[0]) and kendall(value) <= FALLS


def _end(curve: Curve) -> float:
    return float(median(curve.value[-max(3, len(curve) // 10) :]))


def _told(name: str, spread: Curve, train: Curve, share: float) -> Finding:
    first, last = float(spread.value[0]), float(spread.value[-1])
    onset = float(spread.step[int((spread.value <= share * first).argmax())])
    fell = f"train loss fell from {loss(float(train.value[0]))} to {loss(float(train.value[-1]))}"
    gone = f"{spoken(name)} fell from {number(first, 3)} to {number(last, 3)}"
    return Finding(
        severity="critical",
        heading=HEADING,
        title=f"The embeddings collapsed: {gone} while {fell}.",
        metric=name,
        onset=Moment(onset),
        evidence=(
            Evidence(
                f"{capitalised(spoken(name))} at the end, as a share of its start",
                *(_end(spread) / first, share, "a fiftieth of the distance", name),
                step=float(spread.step[-1]),
                above=False,
            ),
            Evidence("Train loss at the end", _end(train), where="train_loss"),
        ),
        seen=f"From step {step(onset)} on all inputs have nearly the same embedding, and such a "
        "loss is then near 0 whatever they are.",
        fixes=(
            fixes.action(
                "Add negatives, a stop-gradient on one branch, or a variance term",
                "without one of them equal embeddings are the best answer",
            ),
            fixes.look("Print the distances between embeddings of 20 inputs of a batch"),
        ),
        confidence=Confidence(0.9, f"{count(len(spread), 'point')} of the spread"),
        chart=Chart("curves", (name, "train_loss")),
    )


FALL = "0:0.035 25:5e-3 50:2e-3 100:4e-4 200:5e-5 300:2e-5 400:9e-6 475:3e-6"
BAD = (
    drawn(
        "all inputs get one embedding",
        (150, 350),
        noise=0,
        task="other",
        severity="critical",
        train_loss=FALL,
        feat_std="0:0.074 25:0.026 100:6e-3 200:2e-3 300:1e-3 475:5e-4",
    ),
)
GOOD = (
    drawn(
        "a loss that comes to nothing while inputs stay apart",
        noise=0,
        task="other",
        train_loss=FALL,
        feat_std="0:0.074 25:0.06 475:0.05",
    ),
    drawn(
        "an encoder that becomes sure",
        noise=0,
        task="other",
        train_loss=FALL,
        z_std="0:1 25:0.3 100:0.06 200:0.03 475:0.01",
        kl="0:0.1 100:2 475:9",
    ),
    drawn(
        "features that are scaled down while a probe of them gets better",
        noise=0,
        task="other",
        train_loss=FALL,
        feat_std="0:0.074 25:0.026 100:6e-3 200:2e-3 300:1e-3 475:5e-4",
        eval_accuracy="0:0.1 100:0.5 475:0.8",
    ),
)
