"""The plan as a cause: so few updates that no rate and no data could show what they are worth."""

from runlens.causes.hypothesis import HINT, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import FITTED_AFTER, STUCK
from runlens.causes.scene import Scene
from runlens.knowledge.in_force import TRAINER_FRAMEWORKS, accumulation
from runlens.wording import count, percent

# updates of a fine-tuning that is usual: RTE, the smallest set of GLUE but WNLI, has 2,490 rows,
# which are 234 updates in three passes of batches of 32; `FITTED_AFTER` is of that size
QUARTER, TENTH = 4, 10  # of them
ONE_PASS = 1.0
TOO_FEW = "Too few updates to learn anything"
TRAIN_ON = (
    f"Train for {FITTED_AFTER} updates: raise num_train_epochs or max_steps, or accumulate fewer "
    "batches"
)
SMALLER = f"Train for {FITTED_AFTER} updates: with more epochs, or with smaller batches"


def updates(scene: Scene) -> int | None:
    """Return the updates of a plan that is done; None where it is not, or rows are no updates.

    The step of a Trainer counts its updates; that of a loop of one's own may count epochs.
    """
    state = scene.run.state
    if own := _of_own_loop(scene):
        return own
    if scene.run.framework not in TRAINER_FRAMEWORKS or not state.planned_steps:
        return None
    done = max(state.done_steps, scene.run.last_step)
    return done if done >= state.planned_steps else None


def _of_own_loop(scene: Scene) -> int | None:
    """Return the batches of an epoch, as the log counts them, times the epochs that were run."""
    run, add = scene.run, accumulation(scene.run)
    per, epochs = run.number("steps_per_epoch"), run.number("num_train_epochs")
    rows = len(scene.curve("train_loss"))
    if run.framework in TRAINER_FRAMEWORKS or not per or not epochs or rows < epochs or not add:
        return None
    return round(per * epochs / add)


def _few(scene: Scene) -> Signs:
    done = updates(scene)
    if done is None or not 0 < done < FITTED_AFTER:
        return
    passes = scene.signals.inputs.passes_at(done)
    over = ""
    if passes is not None and passes < ONE_PASS:
        over = f", over {percent(passes)} of the rows"
    elif passes is not None and passes >= done:
        over = ", one for each pass over the data"
    own = scene.run.framework not in TRAINER_FRAMEWORKS
    kind = "training" if own else "fine-tuning"
    said = f"the plan was {count(done, 'update')} in all{over}; a {kind} usually has hundreds"
    weights = ((FITTED_AFTER // TENTH, STRONG), (FITTED_AFTER // QUARTER, SPEAKS))
    weight = next((weight for most, weight in weights if done <= most), HINT)
    longer = SMALLER if own else TRAIN_ON
    yield Sign(said, weight, TOO_FEW, longer if weight > HINT else "")


FEW = Hypothesis(
    "few-updates",
    TOO_FEW,
    STUCK | {"eval-flat"},
    _few,
    f"the loss is where it is now after {FITTED_AFTER} updates",
    TRAIN_ON,
)
