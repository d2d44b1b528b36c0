"""The plan as a cause: so few updates that no rate and no data could show what they are worth."""

from runlens.causes.hypothesis import HINT, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import FITTED_AFTER, STUCK
from runlens.causes.scene import Scene
from runlens.knowledge.in_force import TRAINER_FRAMEWORKS
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


def updates(scene: Scene) -> int | None:
    """Return the updates of a plan that is done; None where it is not, or rows are no updates.

    The step of a Trainer counts its updates; that of a loop of one's own may count epochs.
    """
    state = scene.run.state
    if scene.run.framework not in TRAINER_FRAMEWORKS or not state.planned_steps:
        return None
    done = max(state.done_steps, scene.run.last_step)
    return done if done >= state.planned_steps else None


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
    said = f"the plan was {count(done, 'update')} in all{over}; a fine-tuning usually has hundreds"
    weights = ((FITTED_AFTER // TENTH, STRONG), (FITTED_AFTER // QUARTER, SPEAKS))
    weight = next((weight for most, weight in weights if done <= most), HINT)
    yield Sign(said, weight, TOO_FEW, TRAIN_ON if weight > HINT else "")


FEW = Hypothesis(
    "few-updates",
    TOO_FEW,
    STUCK | {"eval-flat"},
    _few,
    f"the loss is where it is now after {FITTED_AFTER} updates",
    TRAIN_ON,
)
