"""How a reward that did not rise is told."""

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.history import Curve
from runlens.rules.rl import policy, random_start
from runlens.rules.rl.policy import Gain
from runlens.rules.rl.rise import Rise
from runlens.signals import Signals
from runlens.wording import count, number, step

FEW = 8  # points of which a tenth, of a few, is a single one


def leveled(gain: Gain, rise: Rise) -> bool:
    """Whether the first tenth lies so low that it would deny what the thirds show."""
    return not rise.fell and gain.end - gain.start >= rise.visible


def by_thirds(gain: Gain, rise: Rise) -> bool:
    """Whether it is thirds that tell, and tenths may tell another story."""
    return (rise.fell and rise.beyond_noise) or leveled(gain, rise)


def rows(gain: Gain, rise: Rise) -> tuple[Evidence, ...]:
    """Return the numbers of the headline."""
    if by_thirds(gain, rise):
        kind, part, first, last = "Mean", "third", rise.first, rise.last
    else:
        kind, part, first, last = gain.kind.capitalize(), "tenth", gain.start, gain.end
    return (
        Evidence(f"{kind} reward in the first {part}", first, where="reward"),
        Evidence(f"{kind} reward in the last {part}", last, where="reward"),
    )


def ends(gain: Gain, rise: Rise, points: int) -> str:
    """Say what was compared."""
    if by_thirds(gain, rise):
        first, last = number(rise.first, 3), number(rise.last, 3)
        return f"Its mean was {first} in the first third of the run and {last} in the last"
    start, end = number(gain.start, 3), number(gain.end, 3)
    few = f"It was {start} at the first of {points} points and {end} at the last"
    first, last = policy.compared(points)
    many = f"Its {gain.kind} was {start} over the {first} and {end} over the {last}"
    return few if points < FEW else many


def seen(signals: Signals, gain: Gain, rise: Rise) -> str:
    """Say what the noise of the reward explains or hides, and what random actions earned."""
    begun = random_start.of(signals)
    return " ".join(part for part in (_noise(gain, rise), begun.words if begun else "") if part)


def _noise(gain: Gain, rise: Rise) -> str:
    visible = number(rise.visible, 2)
    if not rise.fell:
        told = f"A rise smaller than {visible} would be lost in the noise of the reward."
        # by its thirds it is noise, by the numbers of the headline it would be none
        return told if gain.end - gain.start < rise.visible else ""
    if not rise.beyond_noise:
        return f"Its points fall in an order that chance hardly shows (p = {gain.p:.1g})."
    return f"Noise explains a fall of at most {visible}. This one is larger: the policy got worse."


def constant(reward: Curve) -> Finding:
    """Tell of a reward above zero that never changed: all there is, or not the policy's."""
    value, points = float(reward.value[0]), count(len(reward), "point")
    return Finding(
        severity="info",
        title=f"Reward was {number(value, 3)} at each of {points} from step "
        f"{step(float(reward.step[0]))} on: it never rose and never fell.",
        metric="reward",
        onset=Moment(float(reward.step[0])),
        evidence=(Evidence("Reward at every point", value, where="reward"),),
        seen="Either nothing that the policy does changes its reward, or it got all there is from "
        "the start. There was nothing to learn from.",
        fixes=(
            fixes.look(
                "Print the rewards of ten episodes with random actions",
                "if they are the same, the reward does not depend on the actions",
            ),
        ),
        confidence=Confidence(0.8, points),
        chart=Chart("curves", ("reward",)),
    )
