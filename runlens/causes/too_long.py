"""Settings that count longer than the run: a warm-up, a copy of a target network."""

from runlens.causes import traces
from runlens.causes.hypothesis import SETTLES, Sign
from runlens.causes.patterns import STUCK
from runlens.causes.scene import Scene
from runlens.naming import words
from runlens.naming.settings import setting_by_words
from runlens.signals.phases import rises_throughout
from runlens.wording import count, percent, step
from runlens.wording import rate as as_rate

FACTORS = ("lrm", "lr_mult", "lr_multiplier", "lr_factor", "lr_scale")  # on a rate of each group
FEWEST = 3  # logged rates
REACHED = 0.2  # of the peak: what went up further may have moved the weights
SHARE = 0.1  # of the steps: 1 to 10 % are usual for a warm-up
COPIES = 100  # of a target network in a run: 1 in 10,000 of 1,000,000 is the default of SB3's DQN
TOO_LONG = "The warm-up is longer than the run"
NEVER_COPIED = "The target network is never updated"
_COPIED = frozenset({"update", "updates", "sync", "copy"})
_EVERY = frozenset({"interval", "freq", "frequency", "every", "period", "steps"})
_LENGTH = frozenset({"timesteps", "frames"})
_PER_STEP = ("gradient_steps", "utd", "utd_ratio", "updates_per_step")


def warm_up(scene: Scene) -> Sign | None:
    """Say that the rate was still at the foot of its warm-up when the run ended."""
    return _by_factor(scene) or _by_setting(scene)


def _by_factor(scene: Scene) -> Sign | None:
    """Say that the factor on the rate, which goes up to 1, never came near it."""
    name = next((key for key in FACTORS if len(scene.curve(key)) >= FEWEST), "")
    if not name:
        return None
    most, at = float(scene.curve(name).value.max()), scene.curve(name).step[-1]
    if most > REACHED:
        return None
    said = f"the rate's multiplier ({name}) was at most {most:g} up to step {step(float(at))}"
    return Sign(said, SETTLES, TOO_LONG, "Print the rate at each of the first steps")


def _by_setting(scene: Scene) -> Sign | None:
    """Say that a warm-up is set for many times the steps, and that the rate rose all along.

    Where it is counted in samples or the rows in epochs, the rate is past its peak by the end.
    """
    run, ran = scene.run, scene.run.last_step
    key, steps = _longest(scene, "warmup_steps")
    total = max(ran, run.state.planned_steps or 0)
    if not scene.has(*STUCK) or total <= 0 or total > REACHED * steps or not rises_throughout(run):
        return None
    last = float(scene.curve("learning_rate").value[-1])
    said = f"{key} is {steps:,.0f} and the run has {count(total, 'step')}, so the rate was still "
    said += f"rising at the end, at {as_rate(last)}, {percent(ran / steps)} of its peak"
    test = f"Repeat the run with {key} {max(round(SHARE * total), 1)}, a tenth of its steps"
    denied = "the loss falls no faster where the rate reaches its peak"
    return Sign(said, SETTLES, TOO_LONG, test, falsifier=denied)


def never_copied(scene: Scene) -> Sign | None:
    """Say that a target network is copied less often than once in all steps of the run.

    Only where a setting counts the steps as well, or the copies are logged: rows may count
    episodes or iterations, of which each has many steps.
    """
    run = scene.run
    if run.task != "rl" or any(len(scene.curve(name)) for name in traces.OF_ROLLOUTS):
        return None  # a policy that learns from its own rollouts copies no target
    key, every = "", 0.0
    for name in run.config:
        last = name.rpartition(".")[2]
        said = set(words(last))
        if "target" in said and said & _COPIED and said & _EVERY:
            key, every = last, run.number(name) or 0.0
    length = _length(scene)
    none = _no_copy_logged(scene)
    if not every or (not none and (not length or every <= length)):
        return None
    told = f"{key} is {every:,.0f}"
    told += f", and the run has {length:,.0f} steps" if every > length > 0 else ""
    copies = max(round((length or run.last_step) / COPIES), 1)
    return Sign(
        f"{told}; {none}" if none else told,
        SETTLES,
        NEVER_COPIED,
        f"Repeat the run with {key} {copies:,}, a hundredth of its steps",
        falsifier=f"the reward is no better with {key} {copies:,}",
    )


def _no_copy_logged(scene: Scene) -> str:
    """Return that a logged count of copies is 0 to the end; empty where none is logged."""
    for name in scene.run.history.metrics:
        said, value = set(words(name)), scene.curve(name).value
        if "target" in said and said & _COPIED and len(value) >= FEWEST and not value.any():
            return f"{name} is 0 at all {len(value)} points"
    return ""


def _length(scene: Scene) -> float:
    """Return the updates that a run can have by what is set; 0 where no setting counts them."""
    run = scene.run
    lengths = [run.number(name) or 0.0 for name in run.config if _LENGTH & set(words(name))]
    lengths.append(_longest(scene, "max_steps")[1])
    known = scene.number(*_PER_STEP)
    most = max(lengths)
    return max(most, run.last_step) * max(known[1] if known else 1.0, 1.0) if most else 0.0


def _longest(scene: Scene, asked: str) -> tuple[str, float]:
    """Return the setting of this meaning, in whatever section, with the largest value."""
    found = [
        (name.rpartition(".")[2], scene.run.number(name) or 0.0)
        for name in scene.run.config
        if asked in {name, setting_by_words(name.rpartition(".")[2])}
    ]
    return max(found, key=lambda one: one[1], default=("", 0.0))
