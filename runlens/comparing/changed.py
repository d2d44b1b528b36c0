"""The settings that differ, ranked by how much they bear on what differs in the curves.

Score = prior of the kind of setting x size of the change x fit to where the runs part. The fit is
one table for all runs (`_FITS`): 3 where the curves show the setting at work, 0.1 where they show
that it is not what parted them, 1 where they say nothing. A finding that only one of the runs has
and that names the setting adds half. Seeds come after all that may explain a difference.
"""

from collections.abc import Callable, Mapping, Sequence

from runlens.comparing.groups import PRIOR, Group, size
from runlens.comparing.rows import Row, rows
from runlens.comparing.signs import Signs, parts_at
from runlens.comparing.terms import REPEATS
from runlens.comparison import DiagnosisDiff, Parting, SettingDifference
from runlens.config_keys import canonical_key
from runlens.diagnosis import Finding
from runlens.records import NamedTuple
from runlens.run import Configured, Run
from runlens.wording import number, step, times

SHOWN, LIKELY, OPEN, UNLIKELY, EXCLUDED = 3.0, 1.5, 1.0, 0.4, 0.1
NAMED = 1.5  # factor of a setting that a finding names which only one run has
SAME = 0.02  # relative: a ratio of data a step nearer to 1 is none
NOTHING_SHOWS = "nothing that was logged ties it to the curves"


class Fit(NamedTuple):
    """How well a kind of setting explains where the runs part, and by which fact."""

    factor: float
    why: str = ""


class Scored(NamedTuple):
    """A setting with its fit and its score."""

    row: Row
    factor: float
    score: float
    why: str


def differing(
    a: Run, b: Run, partings: Sequence[Parting], diff: DiagnosisDiff
) -> tuple[SettingDifference, ...]:
    """Return the settings that differ, the one that bears most on the curves first.

    Rank 0, at the end: names, paths, logging. What only one run records is left out.
    """
    signs = Signs(a, b, partings)
    known = rows(signs)
    weighty = [_scored(row, signs, diff) for row in known if PRIOR[row.group]]
    others = any(map(_may_explain, weighty))
    weighty.sort(key=lambda one: (one.row.group == "seed" and others, -one.score, one.row.pair.key))
    names = [row for row in known if not PRIOR[row.group]]
    ranked = [_difference(one.row, rank, one.why) for rank, one in enumerate(weighty, 1)]
    return (*ranked, *(_difference(row, 0, "") for row in names))


def _may_explain(one: Scored) -> bool:
    """Whether a setting makes another training, and the curves do not show that it is not at work.

    A seed parts two runs from the first step on, whatever else differs; it makes none the better.
    """
    return one.row.group not in REPEATS and one.factor > EXCLUDED


def _difference(row: Row, rank: int, why: str) -> SettingDifference:
    a, b = (one or Configured(None, "") for one in row.pair[1:])
    return SettingDifference(row.pair.key, a.value, b.value, rank, why, a.origin, b.origin)


def _scored(row: Row, signs: Signs, diff: DiagnosisDiff) -> Scored:
    """Return the score of a setting that bears on the training, and why."""
    fit = Fit(EXCLUDED, row.excused) if row.excused else _fit(row, signs)
    named = _named(row.pair.key, diff)
    score = PRIOR[row.group] * size(row.pair, row.group) * fit.factor * (NAMED if named else 1.0)
    said = [part for part in (fit.why, row.note if row.note not in fit.why else "", named) if part]
    return Scored(row, fit.factor, score, "; ".join(said) or NOTHING_SHOWS)


def _fit(row: Row, signs: Signs) -> Fit:
    """Return how well a setting explains where the runs part, by the fits of its kind."""
    if signs.equal_throughout:
        return Fit(OPEN, "the losses are equal at all common steps")
    resumed = signs.resumed_at
    if resumed is not None and row.group not in {"resume", "batch", "rate", "data"}:
        return Fit(UNLIKELY, f"the runs part at the resume of step {step(resumed)}")
    return _FITS[row.group](row, signs) if row.group in _FITS else _of_others(row, signs)


def _of_others(_: Row, signs: Signs) -> Fit:
    """Return the fit of what leaves no trace of its own: optimizer, decay, numerics."""
    if signs.rate.kind == "equal" and signs.at is not None:
        return Fit(OPEN, f"the runs part at step {step(signs.at)} at equal learning rates")
    return Fit(OPEN)


def _when(signs: Signs) -> str:
    """Say from where the learning rates differ, and what the losses do by then."""
    at = signs.rate.step
    loss = parts_at(signs.loss) if signs.loss else None
    since = f"from step {step(at)}"
    if loss is None or at is None:
        return since
    if loss == at:
        return f"{since}, and so do the losses"
    if loss < at:
        return f"{since}, after the losses did at step {step(loss)}"
    return f"{since}, before the losses do at step {step(loss)}"


def _of_rate(_: Row, signs: Signs) -> Fit:
    rate = signs.rate
    if rate.kind == "unknown":
        return Fit(OPEN)
    if rate.kind == "equal":
        return Fit(EXCLUDED, "the logged learning rates are equal")
    if rate.other_peak:
        factor = SHOWN if not _after_loss(signs) else OPEN
        larger = max(rate.peaks, 1 / rate.peaks)
        return Fit(factor, f"the learning rates differ by {times(larger)} {_when(signs)}")
    return Fit(UNLIKELY, f"the learning rates have one peak and differ {_when(signs)}")


def _after_loss(signs: Signs) -> bool:
    """Whether the losses part before the learning rates do."""
    loss = parts_at(signs.loss) if signs.loss else None
    at = signs.rate.step
    return loss is not None and at is not None and loss < at


def _of_warmup(_: Row, signs: Signs) -> Fit:
    rate = signs.rate
    if rate.kind == "unknown":
        return Fit(OPEN)
    if rate.kind == "equal":
        return Fit(EXCLUDED, "the logged learning rates are equal")
    ends = [s.warmup.end for s in signs.signals if s.warmup.present]
    if rate.kind == "warm-up":
        said = f"the learning rates differ most within warm-up, {_when(signs)}"
        return Fit(SHOWN, said)
    if rate.kind == "proportional":
        return Fit(UNLIKELY, "the learning rates keep one ratio from the first step on")
    if rate.step is not None and ends and rate.step <= max(ends):
        return Fit(LIKELY, f"the learning rates differ {_when(signs)}, within warm-up")
    return Fit(UNLIKELY, f"the learning rates differ {_when(signs)}, after warm-up")


def _of_schedule(_: Row, signs: Signs) -> Fit:
    rate = signs.rate
    if rate.kind == "unknown":
        return Fit(OPEN)
    if rate.kind == "equal":
        return Fit(EXCLUDED, "the logged learning rates are equal")
    if rate.kind == "after warm-up":
        return Fit(SHOWN, f"the learning rates differ after warm-up, {_when(signs)}")
    if rate.kind == "shape":
        return Fit(LIKELY, f"the learning rates differ in their course, {_when(signs)}")
    return Fit(UNLIKELY, f"the learning rates differ {_when(signs)}, but not in their course")


def _of_horizon(row: Row, signs: Signs) -> Fit:
    if signs.rate.kind not in {"unknown", "equal", "proportional"} and not signs.rate.other_peak:
        said = f"the learning rates decay over different lengths, {_when(signs)}"
        return Fit(LIKELY, said)
    ends = signs.a.last_step, signs.b.last_step
    if ends[0] != ends[1]:
        at = parts_at(signs.loss) if signs.loss else None
        factor = UNLIKELY if at is not None and at < min(ends) else OPEN
        return Fit(factor, f"A ends at step {step(ends[0])}, B at step {step(ends[1])}")
    return Fit(UNLIKELY, "both end at the same step") if row.pair.key == "max_steps" else Fit(OPEN)


def _of_batch(row: Row, signs: Signs) -> Fit:
    data = signs.data_ratio
    if data is None:
        return Fit(OPEN, row.note)
    ratio, what = data
    if abs(ratio - 1) <= SAME:
        kept = "as many tokens" if what == "tokens" else "the same share of an epoch"
        return Fit(UNLIKELY, f"a step takes {kept} in both")
    more, run = (ratio, "B") if ratio > 1 else (1 / ratio, "A")
    unit = "the tokens" if what == "tokens" else "the share of an epoch"
    said = f"a step of {run} takes {times(more)} {unit}"
    return Fit(SHOWN, f"{said}: {row.note}" if row.note else said)


def _of_start(factor: float) -> Callable[[Row, Signs], Fit]:
    """Return the fit of what acts from the first step on: data, seeds, the model."""

    def fit(row: Row, signs: Signs) -> Fit:
        if signs.from_start is None:
            return Fit(OPEN)
        if signs.from_start:
            led = signs.rate.kind not in {"equal", "unknown"} and row.group == "seed"
            said = "the losses differ from the first logged step"
            if signs.rate.kind == "equal":
                said += " at equal learning rates"
            return Fit(OPEN if led else factor, said)
        if signs.boundary is not None and row.group == "data":
            return Fit(
                LIKELY, f"the losses part at the end of an epoch, step {step(signs.boundary)}"
            )
        return Fit(EXCLUDED, f"the losses are equal up to step {step(signs.equal_until)}")

    return fit


def _of_length(row: Row, signs: Signs) -> Fit:
    data = signs.data_ratio
    if data and data[1] == "tokens" and abs(data[0] - 1) > SAME:
        return _of_batch(row, signs)
    return _of_start(LIKELY)(row, signs)


def _of_clip(_: Row, signs: Signs) -> Fit:
    norms = signs.norms
    if norms is None:
        return Fit(OPEN)
    highest = f"the highest gradient norm is {number(norms.highest, 3)}"
    if norms.highest <= norms.tighter:
        return Fit(EXCLUDED, f"{highest}, below both limits")
    share = f"{number(100 * norms.clipped, 2)} % of the gradient norms lie above the tighter limit"
    if signs.rate.kind == "equal":
        return Fit(SHOWN, f"{share}, and the learning rates are equal")
    return Fit(LIKELY, share)


def _of_precision(_: Row, signs: Signs) -> Fit:
    scaled = [len(run.curve("loss_scale")) for run in (signs.a, signs.b)]
    if any(scaled) and not all(scaled):
        return Fit(LIKELY, f"{'A' if scaled[0] else 'B'} alone scales its loss")
    return _of_others(_, signs)


def _of_resume(_: Row, signs: Signs) -> Fit:
    if signs.resumed_at is not None:
        return Fit(SHOWN, f"the runs part at the resume of step {step(signs.resumed_at)}")
    return Fit(OPEN)


def _of_speed(_: Row, signs: Signs) -> Fit:
    return Fit(LIKELY, "nothing but speed and clocks differ") if signs.only_speed else Fit(OPEN)


def _of_loss(_: Row, signs: Signs) -> Fit:
    ratio = signs.loss_times
    if signs.from_start and ratio and max(ratio, 1 / ratio) > LIKELY:
        larger = max(ratio, 1 / ratio)
        return Fit(SHOWN, f"the first losses are {times(larger)} apart")
    return _of_start(OPEN)(_, signs)


_FITS: Mapping[Group, Callable[[Row, Signs], Fit]] = {
    "rate": _of_rate,
    "warmup": _of_warmup,
    "schedule": _of_schedule,
    "horizon": _of_horizon,
    "batch": _of_batch,
    "seed": _of_start(SHOWN),
    "data": _of_start(LIKELY),
    "model": _of_start(LIKELY),
    "dropout": _of_start(OPEN),
    "length_of_text": _of_length,
    "loss": _of_loss,
    "policy": _of_start(LIKELY),
    "clip": _of_clip,
    "precision": _of_precision,
    "resume": _of_resume,
    "speed": _of_speed,
}


def _named(key: str, diff: DiagnosisDiff) -> str:
    """Say which finding that only one run has names a setting; empty where none does."""
    for run, findings in (("A", diff.fixed), ("B", diff.new)):
        for finding in findings:
            if key in _settings_of(finding):
                return f"{finding.rule}, found in {run} alone, names it"
    return ""


def _settings_of(finding: Finding) -> set[str]:
    keys = {canonical_key(fix.setting) for fix in finding.fixes if fix.setting}
    if {"bf16", "fp16"} & keys:
        keys.add("precision")
    if finding.metric:
        keys.add(canonical_key(finding.metric))  # advice on a setting has its name there
    return keys
