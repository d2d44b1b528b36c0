"""Settings that no file records but that the curves show.

A learning-rate curve has a peak, an end of warm-up and a form of decay; epochs and tokens a step
tell whether the batches differ. Clipping, weight decay and seeds leave no such trace.
"""

from collections.abc import Collection

import numpy as np

from runlens.comparing.canonical import Pair
from runlens.comparing.groups import group
from runlens.comparing.signs import SAME_DATA, Signs, a_step
from runlens.run import Configured, Setting
from runlens.signals import Signals

RATE_SHAPE = "shape of the learning rate"
PLAN = "plan of the run"
COUNTED = "counted a step"
FLAT = 0.01  # of the peak: a rate that falls less is constant
NEAR_FORM = 0.02  # of the peak, mean distance from a form of decay
FEWEST_OF_DECAY = 5
KEYS_OF_RATE = {"rate", "warmup", "schedule"}


def derived(signs: Signs, known: Collection[str]) -> list[Pair]:
    """Return what the curves show to differ and no row of `known` keys says."""
    kinds = {group(key) for key in known}
    found: list[Pair] = []
    if signs.rate.kind not in {"unknown", "equal"} and not kinds & KEYS_OF_RATE:
        found += _of_rate(signs, horizon="horizon" in kinds or "batch" in kinds)
    horizons = {"num_train_epochs", "max_steps"} & set(known)
    found += [] if horizons else _plans(signs, batch="batch" in kinds)
    found += [] if "resume" in kinds else _resumes(signs)
    explained = kinds & {"batch", "data", "length_of_text"}
    return found if explained else found + _a_step(signs)


def _resumes(signs: Signs) -> list[Pair]:
    """Return whether a run was resumed, where the other one was not."""
    steps = signs.resumes
    if bool(steps[0]) == bool(steps[1]):
        return []
    values = [f"at step {some[0]:,}" if some else None for some in steps]
    return [_pair("resume_from_checkpoint", (values[0], values[1]), "a second launch", signs)]


def _pair(key: str, values: tuple[Setting, Setting], origin: str, signs: Signs) -> Pair:
    """Return a derived setting; what a file records of it stands beside its origin."""
    known = [settings.known.get(key) for settings in signs.settings]
    shown = [
        one if one and one.value == value else Configured(value, origin)
        for one, value in zip(known, values, strict=True)
    ]
    return Pair(key, shown[0], shown[1])


def _of_rate(signs: Signs, *, horizon: bool) -> list[Pair]:
    a, b = signs.signals
    found = []
    peaks = a.peak_learning_rate, b.peak_learning_rate
    if signs.rate.other_peak and peaks[0] and peaks[1]:
        three = float(f"{peaks[0]:.2e}"), float(f"{peaks[1]:.2e}")
        found.append(_pair("learning_rate", three, RATE_SHAPE, signs))
    if (ends := _warmups(a, b)) is not None:
        found.append(_pair("warmup_steps", ends, RATE_SHAPE, signs))
    forms = _form(a), _form(b)
    if all(forms) and forms[0] != forms[1] and not horizon:
        found.append(_pair("lr_scheduler_type", forms, RATE_SHAPE, signs))
    return found


def _warmups(a: Signals, b: Signals) -> tuple[int, int] | None:
    """Return the steps of warm-up that the curves show, where they differ by more than a point."""
    warmups = a.warmup, b.warmup
    if any(one.how != "learning rate" for one in warmups):
        return None
    ends = [one.end if one.present else 0 for one in warmups]
    if abs(ends[0] - ends[1]) <= max(a.interval("learning_rate"), b.interval("learning_rate")):
        return None
    return ends[0], ends[1]


def _form(signals: Signals) -> str | None:
    """Return the form of the rate after its warm-up: constant, linear or cosine; None for others.

    A decay is laid to zero, or to its last value, at the planned end; it has a form where the mean
    distance from it is below NEAR_FORM of the peak and half that from the other form.
    """
    curve = signals.curve("learning_rate")
    after = curve.after(int(curve.step[int(np.argmax(curve.value))]))
    if len(after) < FEWEST_OF_DECAY or after.value[0] <= 0:
        return None
    level = after.value / after.value[0]
    if level.min() > 1 - FLAT:
        return "constant"
    end = max(signals.run.state.planned_steps or 0, int(after.step[-1]))
    past = (after.step - after.step[0]) / max(end - int(after.step[0]), 1)
    floor = float(level[-1]) if past[-1] > 0.95 else 0.0  # noqa: PLR2004 - it is at its end
    forms = {
        "linear": floor + (1 - floor) * (1 - past),
        "cosine": floor + (1 - floor) * 0.5 * (1 + np.cos(np.pi * past)),
    }
    off = {name: float(np.abs(level - form).mean()) for name, form in forms.items()}
    (best, least), (_, other) = sorted(off.items(), key=lambda one: one[1])
    return best if least < NEAR_FORM and least < other / 2 else None


def _plans(signs: Signs, *, batch: bool) -> list[Pair]:
    """Return the planned epochs, else the planned steps, where they differ unrecorded.

    Equal steps of other epochs are another batch or another set of data, and so are equal epochs
    of other steps: the data a step tells of them.
    """
    states = signs.a.state, signs.b.state
    steps, epochs = (
        tuple(getattr(state, name) for state in states)
        for name in ("planned_steps", "planned_epochs")
    )
    for key, values, other in (("num_train_epochs", epochs, steps), ("max_steps", steps, epochs)):
        recorded = all(key in settings.known for settings in signs.settings)
        if all(values) and values[0] != values[1] and not recorded:
            excused = all(other) and (other[0] == other[1] or key == "max_steps")
            ratio = signs.data_ratio[0] if signs.data_ratio else 0.0
            as_data = abs(float(values[1] or 0) / float(values[0] or 1) * ratio - 1) <= SAME_DATA
            excused |= key == "max_steps" and as_data
            return (
                []
                if excused or (batch and key == "max_steps")
                else [_pair(key, (values[0], values[1]), PLAN, signs)]
            )
    return []


def _a_step(signs: Signs) -> list[Pair]:
    """Return the data a step where it differs: another batch, or another set of data."""
    if signs.data_ratio is None or abs(signs.data_ratio[0] - 1) <= SAME_DATA:
        return []
    if signs.data_ratio[1] == "tokens":
        tokens = [round(a_step(run, "tokens") or 0) for run in (signs.a, signs.b)]
        return [_pair("tokens_per_step", (tokens[0], tokens[1]), COUNTED, signs)]
    steps = [one.steps_per_epoch for one in signs.signals]
    shown = [round(value, 1) if value else None for value in steps]
    return [_pair("steps_per_epoch", (shown[0], shown[1]), COUNTED, signs)]
