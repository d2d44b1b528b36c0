"""A training that was begun again at a later step from weights alone."""

from runlens.causes.hypothesis import LEADS, Sign
from runlens.causes.scene import Scene
from runlens.wording import step

# settings that take the weights of a checkpoint and nothing else of it
OF_WEIGHTS = ("init_weights", "init_from", "init_checkpoint", "init_from_checkpoint")
STARTS = ("start_step", "start_iter", "start_iteration", "initial_step")


def weights_alone(scene: Scene) -> Sign | None:
    """Say that the settings begin with weights alone at the step where the fault begins.

    Weights to begin with at step 0 are those of a model that is tuned, and no resume.
    """
    key = next((name for name in OF_WEIGHTS if scene.text(name)), "")
    start = scene.number(*STARTS)
    if not key or start is None or start[1] <= scene.run.first_step:
        return None
    if not 0 <= scene.symptom - start[1] <= 2 * scene.slack:
        return None
    said = f"{key} and {start[0]} take the weights alone to step {step(start[1])}, so the "
    return Sign(
        f"{said}optimizer and the schedule started over there",
        LEADS,
        "Optimizer and schedule not restored",
        falsifier="the script loads the states of optimizer and scheduler as well",
    )
