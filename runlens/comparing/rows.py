"""The settings that differ, one row each, with those joined that mean one thing.

Precision is one setting however many switches it has, warm-up one in steps or as a ratio, the
length of a run one in steps or epochs. Batches that multiply to the same leave the update as it is.
"""

import math
from collections.abc import Sequence

from runlens.comparing.align import batches
from runlens.comparing.canonical import NOT_SET, Pair, Settings, kind, number, paired, pairs, typed
from runlens.comparing.groups import PRIOR, Group, group, size
from runlens.comparing.shape import PLAN, derived
from runlens.comparing.signs import Signs
from runlens.records import NamedTuple
from runlens.run import Configured, Setting
from runlens.wording import count
from runlens.wording import number as as_number

SWITCHES = ("bf16", "fp16", "fp8", "mixed_precision", "precision")
WEIGHTS = ("torch_dtype", "dtype")
BATCH = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "num_processes",
    "total_train_batch_size",
)
ON = (True, "auto", "full")
_PRECISIONS = {
    "bf16": "bf16", "bfloat16": "bf16", "bf16-mixed": "bf16", "bf16-true": "bf16", "fp16": "fp16",
    "float16": "fp16", "16-mixed": "fp16", "16-true": "fp16", "16": "fp16", "half": "fp16",
    "fp32": "fp32", "float32": "fp32", "32": "fp32", "32-true": "fp32", "no": "fp32", "fp8": "fp8",
    "64": "fp64", "float64": "fp64", "64-true": "fp64",
}  # fmt: skip


class Row(NamedTuple):
    """One setting that differs. `excused` says why it does not act; empty where it may."""

    pair: Pair
    group: Group
    excused: str = ""
    note: str = ""  # what the numbers come to: "effective batch 8 against 16"


def rows(signs: Signs) -> list[Row]:
    """Return the settings that differ, unranked; what only machines and trackers set left out."""
    a, b = signs.settings
    joined = {*SWITCHES, "warmup_steps", "warmup_ratio", "max_steps", "num_train_epochs"}
    differing = [one for one in pairs(a, b) if one.differs]
    precision = _precision(a, b)
    if precision:
        joined |= set(WEIGHTS)
    made = [Row(one, group(one.key)) for one in differing if one.key not in joined]
    made = [row for row in made if row.group != "machinery"]
    made += [Row(one, group(one.key)) for one in (precision, *_warmup(a, b)) if one]
    made += _horizon(a, b)
    made = _batches([row for row in made if not _repeats(row, made)], signs)
    known = [row.pair.key for row in made if not row.excused]
    return made + [Row(one, group(one.key)) for one in derived(signs, known)]


def _repeats(row: Row, others: Sequence[Row]) -> bool:
    """Whether a setting stands there twice, once deeper in a section."""
    section, _, leaf = row.pair.key.rpartition(".")
    return bool(section) and any(
        other.pair.key == leaf and other.pair.values == row.pair.values for other in others
    )


def precision(settings: Settings) -> Configured | None:
    """Return the precision of the training: fp32, bf16, fp16 or fp8; None where not known."""
    for key in ("mixed_precision", "precision"):
        known = settings.get(key)
        if known and (said := _PRECISIONS.get(_text(known.value))):
            return Configured(said, known.origin)
    switches = {key: settings.get(key) for key in ("fp8", "bf16", "fp16")}
    for key, known in switches.items():
        if known and typed(known.value) in ON:
            return Configured(key, known.origin)
    for key in WEIGHTS:
        known = settings.get(key)
        if known and (said := _PRECISIONS.get(_text(known.value))):
            return Configured(said, known.origin)
    half = switches["fp16"]
    return Configured("fp32", half.origin) if half and switches["bf16"] else None


def _text(value: Setting) -> str:
    plain = number(value)
    return f"{plain:g}" if plain is not None else str(typed(value)).lower()


def _precision(a: Settings, b: Settings) -> Pair | None:
    pair = Pair("precision", precision(a), precision(b))
    return pair if pair.differs else None


def planned(settings: Settings) -> float | None:
    """Return the optimizer steps that a run was to make; None where not known."""
    return settings.run.state.planned_steps or settings.number("max_steps")


def warmup(settings: Settings) -> Configured | None:
    """Return the steps of warm-up, from a ratio by the planned steps; None where not known."""
    steps, ratio = settings.get("warmup_steps"), settings.get("warmup_ratio")
    by_steps = number(steps.value) if steps else None
    by_ratio = number(ratio.value) if ratio else None
    if steps and by_steps and by_steps >= 1:
        return Configured(int(by_steps), steps.origin)
    share, total = by_ratio or by_steps, planned(settings)
    if share is None or not 0 <= share <= 1 or (share and not total):
        return None
    said = ratio if by_ratio else steps or ratio
    return Configured(math.ceil(share * (total or 0)), said.origin if said else NOT_SET)


def _warmup(a: Settings, b: Settings) -> list[Pair]:
    """Return warm-up where it differs, in the unit in which both wrote it."""
    raw = paired(("warmup_steps", "warmup_ratio"), a, b)
    steps = Pair("warmup_steps", warmup(a), warmup(b))
    differing = [one for one in raw if one.differs]
    if steps.a and steps.b:
        whole = all(one.a and one.b for one in raw if one.a or one.b)
        if not steps.differs or (whole and not differing):
            return []
        return differing if len(differing) == 1 else [steps]
    return differing


def _horizon(a: Settings, b: Settings) -> list[Row]:
    """Return how long the runs were to last, where that differs; steps decide over epochs."""
    steps, epochs = paired(("max_steps", "num_train_epochs"), a, b)
    set_a, set_b = (one is not None and number(one.value) is not None for one in steps[1:])
    if set_a and set_b:
        found = [Row(steps, "horizon")] if steps.differs else []
        excuse = "max_steps decides over it in both"
        return found + ([Row(epochs, "horizon", excuse)] if epochs.differs else [])
    if not (set_a or set_b):
        return [Row(epochs, "horizon")] if epochs.differs else []
    plans = planned(a), planned(b)
    if plans[0] and plans[1]:
        if plans[0] == plans[1]:
            excuse = f"both plan {count(int(plans[0]), 'step')}"
            return [Row(epochs, "horizon", excuse)] if epochs.differs else []
        known = [
            one if is_set else Configured(int(plan or 0), PLAN)
            for one, is_set, plan in zip(steps[1:], (set_a, set_b), plans, strict=True)
        ]
        return [Row(Pair("max_steps", known[0], known[1]), "horizon")]
    return [Row(one, "horizon") for one in (steps, epochs) if one.differs]


def _batches(made: list[Row], signs: Signs) -> list[Row]:
    """Tell what the batch comes to; parts of it that cancel are excused."""
    whole_a, whole_b = signs.batches
    if whole_a is None or whole_b is None:
        return made
    if whole_a == whole_b:
        parts = " against ".join(_product(one) for one in signs.settings)
        said = f"the effective batch is {as_number(whole_a)} in both"
        said += f": {parts}" if batches((signs.a, signs.b)) == (whole_a, whole_b) else ""
        return [r._replace(excused=said) if r.pair.key in BATCH else r for r in made]
    note = f"effective batch {as_number(whole_a)} against {as_number(whole_b)}"
    return [r._replace(note=note) if r.pair.key in BATCH else r for r in made]


def _product(settings: Settings) -> str:
    parts = [settings.number(key) for key in BATCH[:3]]
    kept = [as_number(part or 1.0) for part in parts[:2]]
    if parts[2] and parts[2] > 1:
        kept.append(as_number(parts[2]))
    return " × ".join(kept)


def listed(differing: Sequence[Row]) -> list[str]:
    """Return the keys that may act, weighty ones first: no names, nothing that cancels."""
    acting = [row for row in differing if PRIOR[row.group] and not row.excused]
    acting.sort(key=lambda row: -PRIOR[row.group] * size(row.pair, row.group))
    return list(dict.fromkeys(row.pair.key for row in acting))


def recorded(settings: Settings) -> bool:
    """Whether a run has settings at all, logs apart."""
    return any(kind(known.origin) != "log" for known in settings.known.values())
