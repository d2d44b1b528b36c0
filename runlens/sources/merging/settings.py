"""Joining the settings that the sources of a run name: canonical keys, the more trusted first."""

from collections.abc import Sequence
from math import isclose

from runlens.config_keys import GENERATED, GENERATION, betas, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Configured, Setting
from runlens.sources.merging.combine import FAR
from runlens.sources.reading import SourceReading, as_number

BEYOND = 2**1024  # float64
FLOAT32 = 1e-6  # TensorBoard keeps hyperparameters with seven digits
OWN_FILE = "config"  # kind of the readings of files that a training was started with
OF_PEFT = "adapter_config.json"  # which PEFT writes itself
# settings of PPO, whose epochs are updates: of stable-baselines3, of ML-Agents
ROLLOUTS = {"gae_lambda", "clip_range", "n_steps", "hyperparameters.buffer_size"}
OVER_ROLLOUT = {"n_epochs", "hyperparameters.num_epoch"}
# beside these, `clip` alone bounds a ratio of policies; elsewhere it is that of gradients, as in
# PyTorch's own examples (`--clip 0.25`)
OF_POLICIES = {"gamma", "env", "env_id", "env_name", "lam", "epsilon", "ppo_epochs", "kl_coef"}
OF_POLICIES |= {"beta", "gae_lambda", "ent_coef", "entropy_coef", "vf_coef", "algo", *ROLLOUTS}

CLIP = "max_grad_norm"
NOTHING = {"none", "null", "off", "no", "false"}  # instead of a limit
# names that other settings have as well: each is taken where nothing else says the same, and its
# value and what stands beside it fit
RATE, SCHEDULE, MOMENTUM = "learning_rate", "lr_scheduler_type", "momentum"
# of the policy: a critic of its own rate follows what the policy does
_OF_POLICY = (
    *("pi_lr", "lr_pi", "actor_lr", "lr_actor", "policy_learning_rate", "actor_learning_rate"),
    *("pi_learning_rate", "learning_rate_actor", "lr_a"),
)
# StepLR's step_size is a whole number of epochs, DDIM's eta 0 or 1: as rates they are fractions
_OTHERS = ("step_size", "step size", "stepsize", "stepSize", "step-size", "eta", "eta0")
_MOMENTA = ("mom",)
LABELS, _CLASSES = "num_labels", "classes"
# below 1 as a rule: a comma in one sets no numbers apart
_FRACTIONS = {RATE, MOMENTUM, "weight_decay", "dropout", "label_smoothing_factor"}
_COMMA = lazy_re(r"0,\d{1,12}")
# beside these, eta shrinks the trees of a booster, and is 0.1 to 0.3 as a rule
_OF_TREES = {"objective", "max_depth", "booster", "num_leaves", "n_estimators", "num_boost_round"}


def joined(readings: Sequence[SourceReading], sources: Sequence[str]) -> dict[str, Configured]:
    """Join the settings: the more trusted source first, a setting's own name before aliases.

    Where a file that the training was started with says the same, that is where it is changed.
    """
    known: dict[str, Configured] = {}
    placed: set[str] = set()  # found in a file that the training was started with
    for reading, source in zip(readings, sources, strict=True):
        mine = reading.kind == OWN_FILE and reading.path.name != OF_PEFT
        for name, said in _settings(reading, source).items():
            at_hand = known.setdefault(name, said)
            better = not at_hand.key or (mine and name not in placed)
            if better and said.key and _same(at_hand.value, said.value):
                known[name] = at_hand._replace(key=said.key, file=said.file)
                placed |= {name} if mine else set()
    longest = known.get("max_length")
    if longest and longest.value == GENERATED and known.keys() >= GENERATION:
        del known["max_length"]  # the default of generation in a model's config, of no training
    if positive(known.get("warmup_ratio")) and not positive(known.get("warmup_steps")):
        known.pop("warmup_steps", None)  # 0 beside a ratio only means that the ratio counts
    return stood_in(known)


def _settings(reading: SourceReading, source: str) -> dict[str, Configured]:
    """Return what one source sets, by canonical names; `source` is its label."""
    own: dict[str, Configured] = {}
    of_updates = bool(ROLLOUTS & reading.config.keys())
    of_policies = bool(OF_POLICIES & reading.config.keys())
    for key, value in reading.config.items():
        name = canonical_key(key)
        if of_updates and key in OVER_ROLLOUT:
            name = "num_iterations"
        if key == "clip" and not of_policies:
            name = CLIP
        held = 0.0 if name == CLIP != key and _is_off(value) else value
        if held is None or _says_nothing(name, held):
            continue
        if name not in own or name == key:
            path = reading.paths.get(key, key)
            held = _with_comma(held) if name in _FRACTIONS else _held(held)
            own[name] = Configured(held, source, path, source if path else "")
        for beta, size in betas(key, value).items():
            own.setdefault(beta, Configured(size, source))
    return own


def _same(value: Setting, other: Setting) -> bool:
    """Whether two files say the same: ``2e-3`` is a text in YAML, and a number elsewhere."""
    one, two = as_number(value), as_number(other)
    return value == other if one is None or two is None else isclose(one, two, rel_tol=FLOAT32)


def _held(value: Setting) -> Setting:
    """Return a whole number that float64 cannot hold as infinity: nothing can reckon with it."""
    return as_number(value) if type(value) is int and abs(value) >= BEYOND else value


def _with_comma(value: Setting) -> Setting:
    """Return a fraction as a number where it is written with a comma: ``lr = 0,001``.

    Devices are lists: ``gpus=0,1``.
    """
    comma = isinstance(value, str) and _COMMA.fullmatch(value.strip())
    return float(value.replace(",", ".")) if comma and isinstance(value, str) else value


def _is_off(limit: Setting) -> bool:
    """Whether a loop of one's own has no limit: ``clip: null``, which is 0 elsewhere.

    Under the Trainer's name it is only not set there: axolotl then takes the default.
    """
    return limit is None or limit is False or str(limit).strip().lower() in NOTHING


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


def stood_in(known: dict[str, Configured]) -> dict[str, Configured]:
    """Return the settings with the rate and the momentum that only other names gave."""
    found = dict(known)
    if RATE not in found:
        names = [*_OF_POLICY, *(() if _OF_TREES & found.keys() else _OTHERS)]
        _take(found, names, RATE)
        style = found.get(SCHEDULE)  # "policy_lr" has the words of Caffe's lr_policy, a text
        if RATE not in found and style is not None and _fraction(style):
            found[RATE] = found.pop(SCHEDULE)
    if MOMENTUM not in found:
        _take(found, _MOMENTA, MOMENTUM)
    some = found.get(_CLASSES)  # a list of them says which, not how many
    if LABELS not in found and some is not None and type(some.value) is int and some.value > 1:
        found[LABELS] = found.pop(_CLASSES)
    return found


def _take(found: dict[str, Configured], names: Sequence[str], key: str) -> None:
    name = next((name for name in names if name in found and _fraction(found[name])), "")
    if name:
        found[key] = found.pop(name)


def _fraction(known: Configured) -> bool:
    """Whether a value is between 0 and 1, as a rate and a momentum are."""
    try:
        return 0 < float(known.value or 0) < 1
    except (TypeError, ValueError, OverflowError):
        return False
