"""What a run has of its own beside runs of the same place that are well, as a cause.

Where the others agree in a setting and this run alone has another, that is a comparison that
somebody made: all else is the same. In a sweep each run has a value of its own, so that the one
at fault has as well tells little.
"""

from runlens.causes.hypothesis import HINT, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import EVALUATED, LOST, MOVED, OVERFIT, THROWN
from runlens.causes.scene import Scene
from runlens.config_keys import written
from runlens.metrics import spoken
from runlens.run import Family, Own, Setting
from runlens.wording import count, listed, step
from runlens.wording import rate as as_rate

RATE = "learning_rate"
KIND = "own-setting"
SHOWN = 4  # values of siblings that are named
FAR = 10.0  # times beyond all that are well: a sweep goes by 2 to 3 a step as a rule
# the cause that a setting is where it is lower than the others' and where it is higher
LOWER = {RATE: "rate-too-low", "temperature": "exploration", "entropy_coef": "exploration"}
HIGHER = {RATE: "rate-too-high"}
OF_RATES = frozenset({"rate-too-low", "rate-too-high"})


def signs(scene: Scene, kind: str) -> Signs:
    """Yield what a setting that this run alone has says for a kind of cause."""
    family = scene.run.family
    for own in family.own if family else ():
        if family and kind == _kind(own):
            yield _sign(scene, family, own)


def cleared(scene: Scene, kind: str) -> str:
    """Say that a rate is no cause: others are well at one as high, or as low.

    Where nothing else is known to differ, chance may have hit this run at the edge of its rate.
    """
    family = scene.run.family
    if kind == "rate-too-high" and family and family.lost_at:
        return f"the loss is lost at the same step at a rate of {as_rate(family.lost_at[-1])}"
    mine = scene.run.number(RATE) or scene.signals.peak_learning_rate
    if kind not in OF_RATES or not family or not family.rates or not mine or not family.own:
        return ""
    if any(own.key == RATE for own in family.own):
        return ""
    high = kind == "rate-too-high"
    as_far = [rate for rate in family.rates if (rate >= mine if high else rate <= mine)]
    if not as_far:
        return ""
    runs = count(len(as_far), "run")
    verb = "is" if len(as_far) == 1 else "are"
    return f"{runs} beside it {verb} well at a rate {'as high' if high else 'as low'}"


def lost_together(scene: Scene) -> Sign | None:
    """Say that runs lose their loss at one step, whatever their rate: it is what they read there.

    Or what the program does at that step, so that it is no proof: data in another order tell.
    """
    family = scene.run.family
    if not family or not family.lost_at:
        return None
    at = step(scene.symptom)
    rates = listed([as_rate(rate) for rate in family.lost_at])
    return Sign(
        f"runs at {count(len(family.lost_at), 'rate')} ({rates}) all lose their loss at step {at}",
        SPEAKS,
        "One bad batch that all of these runs read",
        f"Print the batches up to step {at} and look for values that are not finite",
        falsifier="with the data in another order it is lost at the same step",
    )


def alike(scene: Scene) -> str:
    """Say that no setting tells this run from others that are well; empty where one does."""
    family = scene.run.family
    if not family or family.own or not family.known:
        return ""
    return (
        f"its {count(family.known, 'known setting')} are those of {_beside(family)}, so that the "
        "seed or something that is not recorded made the difference"
    )


def _beside(family: Family) -> str:
    number = len(family.well)
    return f"{count(number, 'run')} beside it that {'is' if number == 1 else 'are'} well"


def _kind(own: Own) -> str:
    of_numbers = _numbers((own.value, *own.theirs))
    if not of_numbers:
        return KIND
    mine, *theirs = of_numbers
    if mine > max(theirs):
        return HIGHER.get(own.key, KIND)
    return LOWER.get(own.key, KIND) if mine < min(theirs) else KIND


def _numbers(values: tuple[Setting, ...]) -> list[float]:
    """Return numbers; nothing where one of them is none."""
    some = [float(one) for one in values if isinstance(one, int | float) and one is not True]
    return some if len(some) == len(values) else []


def _sign(scene: Scene, family: Family, own: Own) -> Sign:
    name = spoken(own.key.rpartition(".")[2])
    theirs = ", ".join(written(one) for one in own.theirs[:SHOWN])
    more = ", ..." if len(own.theirs) > SHOWN else ""
    text = f"{name} is {written(own.value)} here, and {theirs}{more} in {_beside(family)}"
    what, test, falsifier = "", "", ""
    if _kind(own) == KIND:
        what = f"The setting that it alone has ({name} {written(own.value)})"
        test = f"Repeat the run with {name} {written(own.theirs[0])}, as beside it. If it is"
        test += " well then, the setting was the cause"
        falsifier = f"the same happens with {name} {written(own.theirs[0])}"
    return Sign(text, _weight(scene, family, own), what, test, falsifier=falsifier)


def _weight(scene: Scene, family: Family, own: Own) -> float:
    """Return how much a setting says; in a sweep little, but of a highest rate that threw a loss.

    That is what a rate does which is too high: nothing else differs from those that are well.
    """
    if len(family.own) > 1:
        return HINT
    if len(own.theirs) > 1:  # a sweep
        mine, *theirs = _numbers((own.value, *own.theirs)) or (0.0, 0.0)
        low, high = min(theirs), max(theirs)
        far = mine > FAR * high > 0 or 0 < mine < low / FAR
        thrown = _kind(own) == "rate-too-high" and scene.has(*THROWN, *LOST)
        return SPEAKS if far or (thrown and len(family.well) > 1) else HINT
    return STRONG if len(family.well) > 1 else SPEAKS


def _own(scene: Scene) -> Signs:
    yield from signs(scene, KIND)


OWN_SETTING = Hypothesis(
    KIND,
    "A setting that it alone has",
    MOVED | OVERFIT | EVALUATED,
    _own,
    "the same happens with the setting of the runs beside it",
    "Repeat the run with the setting of the runs beside it",
)
