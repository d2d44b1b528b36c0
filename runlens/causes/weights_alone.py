"""A training that was begun again at a later step from weights alone."""

from runlens.causes.hypothesis import LEADS, Sign
from runlens.causes.scene import Scene
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import shortened
from runlens.wording import quoted, step, unstamped

# settings that take the weights of a checkpoint and nothing else of it
OF_WEIGHTS = ("init_weights", "init_from", "init_checkpoint", "init_from_checkpoint")
# a loader's own words: "checkpoint has no key 'optimizer'", "optimizer state not found in ..."
_NOT_THERE = lazy_re(
    r"(?i)^(?=.*\b(?:checkpoint|ckpt|resum\w*|start\w* (?:\w+ )?fresh)\b)(?:"
    r".*\b(?:no|missing) (?:key )?\W?optimi[sz]er\b(?:[ _]states?(?:[ _]dict)?)?\W"
    r"|.*\boptimi[sz]er\W{1,2}(?:states?(?:_dict)? )?(?:was |is )?"
    r"not (?:found|in|loaded|restored)\b)"
)
# of `load_state_dict(strict=False)`, printed: "missing keys: ['head.weight', 'head.bias']"
_NOT_LOADED = lazy_re(r"(?i)\bmissing[_ ]keys?\b\W{0,4}\[\W?(?P<first>[A-Za-z_]\w*)[\w.]*\W")
WITH_SCHEDULE = "Optimizer and schedule not restored"
QUOTED = 120  # characters of a line
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
        WITH_SCHEDULE,
        falsifier="the script loads the states of optimizer and scheduler as well",
    )


def told_by_the_loader(scene: Scene) -> Sign | None:
    """Say that the log itself misses the optimizer in the checkpoint of a resume.

    Only of a fault that begins at the resume: a model that is tuned has no such state, and needs
    none.
    """
    if scene.launch is None:
        return None
    line = next((one for one in scene.run.log_tail if _NOT_THERE.search(one)), "")
    if not line:
        return None
    anew = scene.departure is not None or scene.restart is not None
    return Sign(
        quoted(shortened(unstamped(line).partition(";")[0], QUOTED)),
        LEADS + 1,
        WITH_SCHEDULE if anew else "Optimizer state not restored",
        "Save the states of optimizer and scheduler with the weights, and load all three",
        falsifier="the same happens where the checkpoint holds the optimizer",
    )


def not_loaded(scene: Scene) -> Sign | None:
    """Say that a resume found no weights for a part of the model, which started over.

    A model that is tuned lacks those of its new head; then nothing was trained before.
    """
    if scene.launch is None:
        return None
    told = ((line, _NOT_LOADED.search(line)) for line in scene.run.log_tail)
    line, found = next(((line, found) for line, found in told if found), ("", None))
    if not found:
        return None
    return Sign(
        quoted(shortened(unstamped(line), QUOTED)),
        LEADS + 2,
        f'Weights that the resume did not load: those of "{found["first"]}" started over',
        "Load the checkpoint with strict=True, and give its parameters the names of the model",
        falsifier="the loss jumps as well where no key is missing",
    )
