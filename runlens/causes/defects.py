"""Known defects of library versions that spoil a training without an error, with their source."""

from collections.abc import Callable

import numpy as np

from runlens.causes.hypothesis import HINT, SETTLES, SPEAKS, Hypothesis, Sign, Signs
from runlens.causes.patterns import LOST, MOVED
from runlens.causes.scene import Scene
from runlens.knowledge import in_force
from runlens.records import NamedTuple
from runlens.wording import loss

SUMMED = 0.25  # share of the accumulation steps by which train over eval loss may miss them
DEEP_STAGE = ("zero_stage", "zero_optimization.stage", "deepspeed.zero_optimization.stage")


class Defect(NamedTuple):
    """A defect of the versions from `first` on and before `fixed`."""

    library: str  # the setting `LIBRARY_version` holds the version
    first: tuple[int, ...]
    fixed: tuple[int, ...]
    what: str
    applies: Callable[[Scene], Sign | None]  # what shows that it is met here
    source: str


def _accumulated(scene: Scene) -> Sign | None:
    """Say that the training loss is the sum over the batches of an update, not their mean."""
    steps = in_force.accumulation(scene.run)
    if not steps or steps < 2:  # noqa: PLR2004 - nothing is added up
        return None
    train, evals = scene.curve("train_loss"), scene.curve("eval_loss")
    if len(train) and len(evals) and evals.value[0] > 0:
        beside = float(np.interp(evals.step[0], train.step, train.value))
        over = beside / float(evals.value[0])
        if abs(over / steps - 1) <= SUMMED:
            said = f"train loss {loss(beside)} is {over:.1f} times eval loss, with {steps} batches "
            return Sign(f"{said}an update", SETTLES)
    return Sign(f"{steps} batches per update, whose losses are added up, not averaged", SPEAKS)


def _stage_two(scene: Scene) -> Sign | None:
    known = scene.number(*DEEP_STAGE)
    weight = SPEAKS if scene.has(*LOST) else HINT
    return Sign("ZeRO stage 2 is set", weight) if known and known[1] == 2 else None  # noqa: PLR2004 - the stage


def _soft_capped(scene: Scene) -> Sign | None:
    run = scene.run
    named = f"{scene.text('model_type')} {scene.text('model_name')} {scene.text('architectures')}"
    flash = run.flag("flash_attention") or any(
        "flash" in str(known.value).lower()
        for key, known in run.config.items()
        if key.rpartition(".")[2] in {"attn_implementation", "_attn_implementation"}
    )
    if not flash or not any(name in named for name in ("gemma2", "gemma-2")):
        return None
    return Sign("Gemma-2 is trained with flash attention", SPEAKS)


DEFECTS = (
    Defect(
        "transformers",
        (4, 46),
        (4, 48),
        "The loss is summed over accumulated batches",
        _accumulated,
        "huggingface/transformers #34263, #35207, #35556",
    ),
    Defect(
        "deepspeed",
        (0, 12, 4),
        (0, 14, 1),
        "Gradients of ZeRO stage 2 become NaN",
        _stage_two,
        "deepspeedai/DeepSpeed #5242, #5347",
    ),
    Defect(
        "deepspeed",
        (0, 17, 6),
        (0, 18, 3),
        "Gradients of ZeRO stage 2 are wrong",
        _stage_two,
        "deepspeedai/DeepSpeed #7718",
    ),
    Defect(
        "flash_attn",
        (0,),
        (2, 6, 2),
        "Flash attention has no backward pass of soft-capping",
        _soft_capped,
        "Dao-AILab/flash-attention #1065, huggingface/transformers #32309",
    ),
)


def version_of(scene: Scene, library: str) -> tuple[int, ...]:
    """Return the recorded version of a library as numbers; empty where it is not known."""
    told = scene.text(f"{library}_version").lstrip("v")
    numbers = []
    for part in told.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def _known(scene: Scene) -> Signs:
    for one in DEFECTS:
        version = version_of(scene, one.library)
        if version and one.first <= version < one.fixed and (met := one.applies(scene)):
            told = ".".join(map(str, version))
            fixed = ".".join(map(str, one.fixed))
            said = f"{one.library} {told}, fixed in {fixed} ({one.source}); {met.text}"
            yield Sign(said, met.weight, one.what)


DEFECT = Hypothesis(
    "library-defect",
    "A known defect of a library version",
    MOVED,
    _known,
    "the same happens with a version in which it is fixed",
    "Run 20 steps with a version in which it is fixed",
)
