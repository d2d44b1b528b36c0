"""A training loss that comes again digit for digit: nothing is kept from one pass to the next."""

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.history import Curve
from runlens.rules.rule import drawn
from runlens.signals import Signals
from runlens.signals.shape import exact_period
from runlens.wording import number, step


def period(signals: Signals, train: Curve) -> int:
    """Return the points after which the loss repeats itself; 0 if it does not."""
    return signals.keep(("period", len(train)), lambda: exact_period(train.value))


def words(signals: Signals, train: Curve) -> str:
    """Say after how many steps it comes again; empty where it does not."""
    points = period(signals, train)
    if not points:
        return ""
    steps = float(train.step[-1] - train.step[-1 - points])
    return f"train loss repeats itself to the last digit every {step(steps)} steps"


def finding(signals: Signals, train: Curve) -> Finding:
    """Tell it."""
    points, said = period(signals, train), words(signals, train)
    onset = float(train.step[points])
    same = float((train.value[points:] == train.value[:-points]).mean())
    told = f"{said[0].upper()}{said[1:]}"
    return Finding(
        severity="warning",
        title=f"{told}, so nothing learned is kept.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Points equal to those one period before", same, where="train_loss", unit="%"),
            Evidence("Length of a period, in points", float(points), where="train_loss"),
        ),
        seen=f"It was {number(float(train.value[-1]))} at the end, and "
        f"{number(float(train.value[-1 - points]))} one period before.",
        fixes=(
            fixes.look(
                "Compare one weight of each layer before and after an epoch",
                "updates that reach no weight, and weights that are loaded again, look alike",
            ),
            fixes.look("Check that optimizer.step() is called, and on the model's parameters"),
        ),
        ruled_out=(RuledOut("A hard task", "weights that move give other losses"),),
        confidence=Confidence(0.95, f"{step(len(train) - points)} points compared"),
        chart=Chart("curves", ("train_loss",)),
    )


EPOCH = (0.9741, 1.3742, 1.239, 0.9672, 1.0391, 1.1681)
BAD = (
    drawn(
        "each epoch repeats the losses of the first, below 0",
        (60, 60),
        noise=0,
        task="other",
        severity="warning",
        train_loss=" ".join(f"{10 * at}:-{EPOCH[at % 6]}" for at in range(18)),
    ),
)
