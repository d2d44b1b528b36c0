"""Joining the settings that the sources of a run name: canonical keys, the more trusted first."""

from collections.abc import Sequence

from runlens.config_keys import GENERATED, GENERATION, betas, canonical_key
from runlens.run import Configured, Setting
from runlens.sources.merging.combine import FAR
from runlens.sources.reading import SourceReading, as_number

BEYOND = 2**1024  # float64
ROLLOUTS = {"gae_lambda", "clip_range", "n_steps"}  # settings of PPO, whose epochs are updates


def joined(readings: Sequence[SourceReading], sources: Sequence[str]) -> dict[str, Configured]:
    """Join the settings: the more trusted source first, a setting's own name before aliases."""
    known: dict[str, Configured] = {}
    for reading, source in zip(readings, sources, strict=True):
        own: dict[str, Configured] = {}
        of_updates = bool(ROLLOUTS & reading.config.keys())
        for key, value in reading.config.items():
            name = canonical_key(key)
            if of_updates and key == "n_epochs":
                name = "num_iterations"  # over one rollout, in stable-baselines3 and its kin
            if value is None or _says_nothing(name, value):
                continue
            if name not in own or name == key:
                own[name] = Configured(_held(value), source)
            for beta, size in betas(key, value).items():
                own.setdefault(beta, Configured(size, source))
        known |= {name: value for name, value in own.items() if name not in known}
    longest = known.get("max_length")
    if longest and longest.value == GENERATED and known.keys() >= GENERATION:
        del known["max_length"]  # the default of generation in a model's config, of no training
    if positive(known.get("warmup_ratio")) and not positive(known.get("warmup_steps")):
        known.pop("warmup_steps", None)  # 0 beside a ratio only means that the ratio counts
    return known


def _held(value: Setting) -> Setting:
    """Return a whole number that float64 cannot hold as infinity: nothing can reckon with it."""
    return as_number(value) if type(value) is int and abs(value) >= BEYOND else value


def _says_nothing(name: str, value: object) -> bool:
    """Whether a value only means "not set": max_steps -1."""
    return name in {"max_steps", "save_total_limit"} and (
        isinstance(value, int | float) and not isinstance(value, bool) and value <= 0
    )


def positive(known: Configured | None) -> float | None:
    """Return a setting as a number above 0; None for all else."""
    try:
        value = float(known.value or 0) if known else 0.0
    except (TypeError, ValueError, OverflowError):  # the last: whole, and beyond float64
        return None
    return value if 0 < value < FAR else None


def whole(known: Configured | None) -> int | None:
    """Return a setting as a whole number above 0; None for all else."""
    value = positive(known)
    return int(value) if value else None
