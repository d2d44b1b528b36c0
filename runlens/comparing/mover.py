"""What parts first, and which class of causes that names: one sentence.

What could cause the rest comes first: a resume, the learning rate, the data of a step, then what
differs from the very first loss, then clipping; what has the same settings and seed is numerics.
"""

from collections.abc import Callable, Sequence

from runlens.comparing.changed import SAME
from runlens.comparing.groups import Group, group
from runlens.comparing.rows import BATCH
from runlens.comparing.signs import Signs, parts_at, whole_ratio
from runlens.comparison import Parting, SettingDifference
from runlens.run import Run
from runlens.wording import count, number, step, times

CALLED = {
    "train_loss": "train loss",
    "eval_loss": "eval loss",
    "grad_norm": "the gradient norm",
    "learning_rate": "the learning rate",
    "reward": "the reward",
}
UNKNOWN = "no setting that is recorded names the cause"
LATE = {"horizon", "resume", "clip"}  # kinds of settings that part no first step
CLASSES: dict[Group, str] = {
    "rate": "the learning rate",
    "warmup": "the warm-up",
    "schedule": "the schedule",
    "horizon": "the length of the run",
    "batch": "the batch",
    "data": "the data",
    "length_of_text": "the data",
    "seed": "initialization or order of the data",
    "model": "the model or its initialization",
    "loss": "the loss",
    "policy": "the loss",
    "precision": "numerics",
    "speed": "numerics",
    "version": "numerics",
    "optimiser": "the optimizer",
    "decay": "regularisation",
    "dropout": "regularisation",
    "clip": "gradient clipping",
    "resume": "the resume",
}


def mover(
    a: Run, b: Run, partings: Sequence[Parting], settings: Sequence[SettingDifference]
) -> str:
    """Return the sentence; empty where no metric parts."""
    signs = Signs(a, b, partings)
    if signs.only_speed:
        return "Nothing but speed and clocks differ: hardware, or what else ran on it."
    if not signs.partings:
        return ""
    ranked = [row for row in settings if row.rank]
    for told in _CLASSES:
        sentence = told(signs, ranked)
        if sentence:
            return sentence
    first = min(signs.partings, key=lambda one: parts_at(one) or 0.0)
    until = signs.equal_until if first.metric == signs.told_by else None
    since = f", after equal values up to step {step(until)}" if until is not None else ""
    return (
        f"{_name(first)} differs first, at step {step(parts_at(first))}{since}: {_class(ranked)}."
    )


def _name(parting: Parting) -> str:
    text = CALLED.get(parting.metric, parting.metric)
    return text[:1].upper() + text[1:] if parting.metric in CALLED else text


def _class(ranked: Sequence[SettingDifference]) -> str:
    """Return the class of causes of the settings that differ: that of one, or the likeliest."""
    if not ranked:
        return UNKNOWN
    first = ranked[0].key
    words = CLASSES.get(group(first), "")
    if len(ranked) == 1:
        return f"{words} ({first} alone differs)" if words else f"{first} alone differs"
    likeliest = f"{first} is the likeliest of {count(len(ranked), 'setting')} that differ"
    return f"{words} ({likeliest})" if words else likeliest


def _by_setting(ranked: Sequence[SettingDifference], *groups: Group) -> str:
    """Return the highest ranked setting of these kinds, in brackets; empty where none differs."""
    fitting = [row.key for row in ranked if group(row.key) in groups]
    return f" ({fitting[0]} differs)" if fitting else ""


def _resume(signs: Signs, _: Sequence[SettingDifference]) -> str:
    if signs.resumed_at is None:
        return ""
    resumed = [
        name for name, steps in zip("AB", signs.resumes, strict=True) if signs.resumed_at in steps
    ]
    return (
        f"The runs part where {' and '.join(resumed)} {'was' if len(resumed) == 1 else 'were'} "
        f"resumed, at step {step(signs.resumed_at)}: "
        "optimizer state, schedule or data position of the resume."
    )


def _evaluation(signs: Signs, _: Sequence[SettingDifference]) -> str:
    if not signs.evaluation_only:
        return ""
    first = min(signs.partings, key=lambda one: parts_at(one) or 0.0)
    return (
        f"Evaluation alone differs, {first.metric} from step {step(parts_at(first))}, while the "
        "training is the same: evaluation set or evaluation code."
    )


def _rate(signs: Signs, ranked: Sequence[SettingDifference]) -> str:
    rate = signs.rate
    if rate.kind in {"unknown", "equal"} or rate.step is None:
        return ""
    if signs.at is not None and signs.at < rate.step:
        return ""
    how = {
        "proportional": f"by {times(max(rate.peaks, 1 / rate.peaks))} throughout: the peak rate",
        "warm-up": "within warm-up most: the warm-up",
        "after warm-up": "after an equal warm-up: the schedule or its length",
        "shape": "in its course: the rate or its schedule",
    }[rate.kind]
    if rate.kind == "shape" and rate.other_peak:
        how = f"in its course, and its peak by {times(max(rate.peaks, 1 / rate.peaks))}: the rate"
    named = _by_setting(ranked, "rate", "warmup", "schedule", "horizon")
    return f"The learning rate differs first, at step {step(rate.step)}, {how}{named}."


def _scale(signs: Signs, _: Sequence[SettingDifference]) -> str:
    ratio = signs.loss_times
    whole = whole_ratio(ratio) if ratio and signs.from_start else None
    steps = [one.number("gradient_accumulation_steps") for one in signs.settings]
    if whole is None or not ratio or steps[0] == steps[1] or whole not in _ratios(steps):
        return ""
    larger = "B" if ratio > 1 else "A"
    return (
        f"The first train loss of {larger} is {whole} times the other: the loss is scaled, by "
        "gradient accumulation or by its reduction, not the training."
    )


def _ratios(steps: Sequence[float | None]) -> set[float]:
    known = [one for one in steps if one]
    return {*known, *(one / other for one in known for other in known)}


def _batch(signs: Signs, ranked: Sequence[SettingDifference]) -> str:
    if signs.data_ratio is None or abs(signs.data_ratio[0] - 1) <= SAME:
        return ""
    ratio, what = signs.data_ratio
    run, more = ("B", ratio) if ratio > 1 else ("A", 1 / ratio)
    unit = "the tokens" if what == "tokens" else "the share of an epoch"
    named = _by_setting(ranked, "batch", "data", "length_of_text")
    return f"A step of {run} takes {times(more)} {unit}: batch or data{named}."


def _start(signs: Signs, ranked: Sequence[SettingDifference]) -> str:
    if not signs.from_start or signs.loss is None:
        return ""
    if numerics := _numerics(signs, ranked):
        return numerics
    cause = "initialization, data or their order"
    if ranked and group(ranked[0].key) not in LATE:
        cause = _class(ranked)
    rate = ", at equal learning rates" if signs.rate.kind == "equal" else ""
    return f"{_name(signs.loss)} differs from the first logged step{rate}: {cause}."


def _clip(signs: Signs, ranked: Sequence[SettingDifference]) -> str:
    differs = any(group(row.key) == "clip" for row in ranked)
    norms = signs.norms
    if not differs or norms is None or norms.highest <= norms.tighter:
        return ""
    return (
        f"The runs part at step {step(signs.at)} with equal learning rates, and gradient norms up "
        f"to {number(norms.highest, 3)} pass the tighter limit of {number(norms.tighter)}: "
        "gradient clipping."
    )


def _numerics(signs: Signs, ranked: Sequence[SettingDifference]) -> str:
    seeds = [one.value("seed") for one in signs.settings]
    if ranked or None in seeds or seeds[0] != seeds[1]:
        return ""
    until = signs.equal_until
    since = (
        "from the first step" if until is None else f"after equal values up to step {step(until)}"
    )
    return (
        f"The runs part {since} with one seed and no setting that bears on the training: "
        "kernels, hardware or versions."
    )


def _same_batch(signs: Signs, ranked: Sequence[SettingDifference]) -> str:
    whole = signs.batches
    if not ranked or whole[0] is None or whole[0] != whole[1]:
        return ""
    if any(row.key not in BATCH for row in ranked):
        return ""
    until = signs.equal_until
    since = "from the first step" if until is None else f"after step {step(until)}"
    return (
        f"The runs part {since} with the same effective batch of {number(whole[0])}, made up "
        "otherwise: the rounding of its sums."
    )


_CLASSES: tuple[Callable[[Signs, Sequence[SettingDifference]], str], ...] = (
    _evaluation,
    _resume,
    _rate,
    _scale,
    _batch,
    _same_batch,
    _clip,
    _start,
    _numerics,
)
