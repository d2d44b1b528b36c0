"""What scores of the first evaluation say of data, labels and code that training does not share."""

from runlens.causes.hypothesis import HINT, LEADS, SETTLES, SPEAKS, Sign
from runlens.causes.scene import Scene
from runlens.history import Curve
from runlens.metrics import quality, spoken
from runlens.naming import words as words_of
from runlens.records import NamedTuple
from runlens.rules.evaluation import rare_class, worst_score
from runlens.rules.loss import one_embedding
from runlens.signals import held_out
from runlens.wording import loss, number, step

# of what can be had: what evaluates other labels, or in another way, finds none of the objects and
# knows no class better than the most frequent one, which has a half of the rows where two are equal
HALF_FOUND, MOST_KNOWN = 0.5, 0.75
TWICE = 2.0  # training over evaluation: rows that are new to both do not differ so
OF_CLASSES, WEIGHT = frozenset(("pos", "class")), frozenset(("weight", "weights"))
WEIGHS = frozenset(("focal", "balanced", "balance", "sampler", "oversample"))
FAR = 10.0  # losses of an untrained model on two sets of one kind lie within a part of themselves
LEAST = 0.1  # of training: a score of next to nothing is doubled by chance


class First(NamedTuple):
    """A score of the first evaluation that only right labels and right inputs give."""

    metric: str
    share: float  # of 1


def at_first(scene: Scene) -> First | None:
    """Return a good score of the first evaluation; None where there is none."""
    for name, curve in _scores(scene):
        kind = quality(name)
        of_objects = kind is not None and kind.kind in worst_score.OF_OBJECTS
        first = float(held_out.as_share(curve.value)[0])
        if first >= (HALF_FOUND if of_objects else MOST_KNOWN):
            return First(name, first)
    return None


def words(first: First | None) -> str:
    """Say that a score refutes what the loss beside it suggests; empty for none."""
    return f"; yet {spoken(first.metric)} was {number(first.share, 3)} there" if first else ""


def apart_at_once(scene: Scene) -> Sign | None:
    """Say that training scored twice what the first evaluation did, on rows as new to it.

    Where more than one pass was made before it, or nobody knows, memorized rows do the same.
    """
    if not scene.has("eval-flat", "not-learning"):
        return None
    for name, evals in _scores(scene):
        train = scene.curve(name.replace("eval_", "train_", 1))
        at = int(evals.step[0])
        until = train.value[train.step <= at]
        if not len(until):
            continue
        unit = 100.0 if max(train.value.max(), evals.value.max()) > 1 else 1.0
        ours, theirs = float(until[-1]), float(evals.value[0])
        stays = train.value[-1] >= TWICE * evals.value[-1]
        if ours < LEAST * unit or ours < TWICE * theirs or not stays:
            continue
        passes = scene.signals.inputs.passes_at(at)
        new = passes is not None and passes <= 1
        said = f"{spoken(name.replace('eval_', 'train_', 1))} was {number(ours, 3)} by step "
        said += f"{step(at)}, and {spoken(name)} {number(theirs, 3)}"
        return Sign(said, SPEAKS if new else HINT)
    return None


def far_above(scene: Scene) -> Sign | None:
    """Say that evaluation was at its best far above every training loss, the first one too.

    The first training losses are those of a model that had learned nothing yet: no memorizing puts
    the best of an evaluation so far above them. A sum beside a mean does, or other inputs.
    """
    found, train = scene.rules.get("hockey-stick"), scene.curve("train_loss").value
    if found is None or "loss" not in words_of(found.metric) or not len(train):
        return None
    evals, most = scene.curve(found.metric).value, float(train.max())
    if not len(evals) or not 0 < FAR * most <= evals.min():
        return None
    said = f"{spoken(found.metric)} was {loss(float(evals.min()))} at its best, and no train loss "
    return Sign(f"{said}was above {loss(most)}", LEADS)


def _scores(scene: Scene) -> list[tuple[str, Curve]]:
    """Return the scores of the whole evaluation set in which more is better."""
    named = [(name, quality(name)) for name in scene.run.history.metrics]
    held = [
        (name, scene.curve(name))
        for name, kind in named
        if kind and kind.sign > 0 and not kind.of and name.startswith("eval_")
    ]
    return [(name, curve) for name, curve in held if len(curve)]


def equal_embeddings(scene: Scene) -> Sign | None:
    """Say that the spread of the embeddings went to nothing together with the loss."""
    told = scene.rules.get("zero-loss")
    if told is None or told.heading != one_embedding.HEADING:
        return None
    return Sign(
        "loss and spread went to nothing together",
        SETTLES,
        "A loss that equal embeddings bring to 0",
        "Add a term for the variance of the embeddings, and repeat the run. The spread should stay",
        falsifier="the spread falls as far with a variance term in the loss",
    )


def rare_class_unweighted(scene: Scene) -> Sign | None:
    """Say that a class is rare which no answer ever names, and that no setting weighs it."""
    said = rare_class.words(scene.rules.get("eval-flat"))
    keys = [set(words_of(key)) for key in scene.run.config]
    if not said or any(WEIGHS & one or (OF_CLASSES & one and WEIGHT & one) for one in keys):
        return None
    return Sign(
        said,
        SETTLES,
        "One class is rare, and nothing weighs it",
        "Repeat the run with the rare class weighted by how rare it is. Its recall should rise",
        falsifier="recall of the rare class stays 0 when its rows are weighted",
    )
