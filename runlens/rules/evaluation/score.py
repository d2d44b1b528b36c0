"""Whether a score of the evaluation went on improving after a step, as its noise lets tell.

Of several scores the one counts by which the run chooses its best model, then F1, BLEU, word
error rate and their like before accuracy, which a frequent class holds up.
"""

from collections.abc import Iterator

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Evidence
from runlens.history import Curve, FloatArray, IntArray
from runlens.metrics import Quality, base, naming, quality, spoken
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.evaluation.benchmarks import BENCHMARK
from runlens.rules.evaluation.sets import evaluations
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import mad
from runlens.signals.sample_counts import samples_on_grid
from runlens.signals.trend import mann_kendall
from runlens.wording import number, step

LEAST = 0.01  # the least gain that counts as improvement, one point of a hundred
ERRORS = 2.0  # standard errors from which a gain is seldom chance
PERCENT = 2.0  # scores with a median above this are written in percent
COARSE = {"accuracy", "acc"}
CARRIED = 0.25  # of what a score gains in training; of less an eye sees a flat line beside it
MENDED = 0.1  # of what was wrong: with less a model that is surer of its errors is no better one
BY_CHANCE = 0.05  # one-sided, of an order that only seems to rise
POOR = 0.1  # of such a score: below it the frequencies of the answers explain what is right
# where no other score is logged: "eval_error", "eval_err1", "eval_top1_error_rate"
ERROR_RATE = lazy_re(
    r"eval_(?:(?:top_?[15]|classification|class)_)?(?:err|error)(?:_rate)?(?:_?[15])?"
)
# what may stand before a score of the whole set; any other word is a class or another set
_WORD = (
    r"overall|mean|avg|average|macro|micro|weighted|balanced|binary|categorical|sparse|top|exact|"
    r"subset|roc|pr|generation|gen|pred|dpo|bertscore"
)
WHOLE = lazy_re(rf"(?:(?:{_WORD})\d*(?:_\d+)?(?:_|$))*")


class Score(NamedTuple):
    """How a score stood at one evaluation and at the end, as medians of 3."""

    metric: str
    then: float
    now: float
    gain: float  # positive is better
    needed: float  # the gain that counts
    least: float  # LEAST in the score's own unit
    samples: int  # of the evaluation set; 0 where unknown or where words are counted
    best: int  # step
    step: IntArray  # from that evaluation on
    better: FloatArray  # the score there, times its sign: higher is better

    @property
    def _levels(self) -> FloatArray:
        around = (self.better[max(0, at - 1) : at + 2] for at in range(len(self.better)))
        return np.array([float(median(values)) for values in around])

    @property
    def stood(self) -> float:
        """Return the step from which less than the least gain that counts was left."""
        left = float(median(self.better[-3:])) - self._levels
        return float(self.step[int(np.argmax(left <= self.least))])

    @property
    def peak(self) -> float | None:
        """Return the step at which it was best, where that is a gain that counts; else None.

        A gain by little counts where it shows in the order of the evaluations. One that is best of
        all at the last evaluation, by the least gain, is no reason to go back.
        """
        levels = self._levels
        top, then = int(np.argmax(levels)), float(np.copysign(self.then, levels[0]))
        tau, chance = mann_kendall(self.better)
        if levels[top] - then > self.needed or (tau > 0 and chance / 2 < BY_CHANCE):
            return float(self.step[top])
        last = self.better[-1] > self.better[:-1].max(initial=self.better[0] + self.least)
        return float(self.step[-1]) if last else None

    @property
    def improved(self) -> str:
        """Say by how much it improved; empty where it did not, as far as its noise lets tell."""
        if self.gain <= self.needed:
            return ""
        of = "" if _few(self.better) else " (medians of 3 evaluations)"
        return f"{spoken(self.metric)} improved from {number(self.then)} to {number(self.now)}{of}"

    @property
    def course(self) -> str:
        """Say how it stood at that evaluation, at the end, and at its best between, as logged."""
        then, *_, now = (number(value) for value in np.abs(self.better).tolist())
        said = f"{spoken(self.metric).capitalize()} was {then} there and {now} at the end"
        top = int(np.argmax(self.better))
        best = number(abs(float(self.better[top])))
        return (
            said if best in {then, now} else f"{said}, best at step {step(self.step[top])}: {best}"
        )

    @property
    def poor(self) -> bool:
        """Whether it is an accuracy that leaves nine of ten answers wrong, however it rose."""
        kind = quality(self.metric)
        return kind is not None and kind.kind in COARSE and self.now < POOR * self.least / LEAST

    @property
    def of_few(self) -> bool:
        """Whether its evaluations are too few for a level at both ends."""
        return _few(self.better)

    def outweighs(self, steepness: float) -> bool:
        """Whether its gain counts for more than a rise of the loss; 1.0: a steep one.

        Beside a steep one a tenth of the wrong answers must have become right, else as much less.
        """
        wrong = self.least / LEAST - self.then if self.better[0] > 0 else self.then
        return not self.poor and self.gain >= min(1.0, steepness) * MENDED * wrong

    def lags(self, signals: Signals) -> bool:
        """Whether the same score gained several times as much in training."""
        train = signals.curve(self.metric.replace("eval", "train", 1)).value
        gained = float(median(train[-3:]) - median(train[:3])) if len(train) else 0.0
        return self.gain < CARRIED * gained

    @property
    def held(self) -> bool:
        """Whether it did not get worse, as far as its noise lets tell."""
        return self.gain >= -self.needed

    @property
    def lost(self) -> float:
        """Return the share of what was right that is wrong at the end; of the errors, if no share.

        A rate of errors leaves the rest of 1 right; WER and the like may have more errors than 1.
        """
        right = self.then if self.better[0] > 0 else self.least / LEAST - self.then
        return -self.gain / (right if right > 0 else self.then)

    @property
    def evidence(self) -> Evidence:
        """Return the gain beside the gain that would count."""
        source = f"{ERRORS:g} times its noise, not below {self.least:g}"
        if self.samples:
            source = f"{ERRORS:g} standard errors of {self.samples:,} samples, or {source}"
        what = f"Improvement in {spoken(self.metric)} (medians of 3)"
        return Evidence(what, round(self.gain, 4), round(self.needed, 4), source, self.metric)


def since(signals: Signals, loss: str, onset: float, fewest: int) -> Score | None:
    """Return how the first score of the set of `loss` went from step `onset` to the end, if any."""
    return next(every(signals, loss, onset, fewest), None)


def to_keep(signals: Signals, loss: str, onset: float, fewest: int) -> tuple[Score, float] | None:
    """Return the first score that was best after step `onset`, and where; None for the best loss.

    Where another score is worse there than it was at that step, they disagree, and the loss says
    which evaluation was best.
    """
    found = ((one, one.peak) for one in every(signals, loss, onset, fewest))
    return next(
        (
            (one, at)
            for one, at in found
            if at is not None and not worse_at(signals, loss, onset, at)
        ),
        None,
    )


def every(signals: Signals, loss: str, onset: float, fewest: int) -> Iterator[Score]:
    """Yield how each score of the set of `loss` went from step `onset` to the end.

    What counts is the largest of LEAST, ERRORS times the noise of the score, and ERRORS binomial
    standard errors, sqrt(p (1 - p) / n), where it counts samples and their number n is known. A
    sample has many words: scores over words are held by their noise alone.
    """
    for metric, kind in _of(signals.run, loss):
        curve = _curve(signals, loss, metric)
        if len(curve) < fewest:
            continue
        at = max(0, len(curve.before(int(onset) + 1)) - 1)
        after = curve.at(slice(at, None))
        alone = _few(after.value)
        then = float(after.value[0] if alone else median(curve.value[max(0, at - 1) : at + 2]))
        now = float(after.value[-1] if alone else median(curve.value[-3:]))
        unit = 100.0 if float(median(curve.value)) > PERCENT else 1.0
        samples = 0 if kind.by_token else _samples(signals.run, loss, kind, curve.value / unit)
        share = then / unit
        chance = unit * (share * max(0.0, 1 - share) / samples) ** 0.5 if samples else 0.0
        noise = mad(np.diff(curve.value)) / 2**0.5
        needed = max(unit * LEAST, ERRORS * noise, ERRORS * chance)
        best = int(curve.step[int(np.argmax(kind.sign * curve.value))])
        gain = kind.sign * (now - then)
        better = kind.sign * after.value
        yield Score(
            metric, then, now, gain, needed, unit * LEAST, samples, best, after.step, better
        )


def _few(after: FloatArray) -> bool:
    """Whether medians of three at both ends would share an evaluation: then each stands alone."""
    return len(after) <= 4  # noqa: PLR2004 - the first with its next, and the last three


def worse_at(signals: Signals, loss: str, onset: float, later: float) -> bool:
    """Whether a score of the set is worse at a later evaluation than it was at step `onset`."""
    for metric, kind in _of(signals.run, loss):
        curve = _curve(signals, loss, metric)
        then, after = curve.before(int(onset) + 1).value, curve.before(int(later) + 1).value
        unit = 100.0 if len(curve) and float(median(curve.value)) > PERCENT else 1.0
        if len(then) and kind.sign * float(then[-1] - after[-1]) > LEAST * unit:
            return True
    return False


def _samples(run: Run, loss: str, kind: Quality, shares: FloatArray) -> int:
    """Return how many samples a score counts: as recorded, of accuracy by its grid; 0 unknown."""
    known = held_out.samples(run, loss)
    on_grid = samples_on_grid(shares) if kind.kind in COARSE and not known else None
    return round(known[0] if known else on_grid or 0)


def _curve(signals: Signals, loss: str, metric: str) -> Curve:
    """Return a score by step, without what was measured with other weights at the end."""
    curve, evals = signals.curve(metric), evaluations(signals, loss)
    if len(evals) == len(signals.curve(loss)):
        return curve
    first = np.unique(curve.step, return_index=True)[1]
    return curve.at(first).before(int(evals.step[-1]) + 1)


def _of(run: Run, loss: str) -> list[tuple[str, Quality]]:
    """Return the scores of the set of an evaluation loss, the one to ask first in front."""
    of_set = loss.partition(":")[2]
    logged = {name: kind for name in run.history.metrics if (kind := quality(name))}
    others = {name.partition(":")[2] for name in run.history.metrics if base(name) == "eval_loss"}
    parts = {name: _part(kind, of_set, others - {of_set, ""}) for name, kind in logged.items()}
    whole = [name for name, part in parts.items() if part is not None and WHOLE.fullmatch(part)]
    rest = [name for name, part in parts.items() if part is not None and name not in whole]
    single = [
        name for name in rest if sum(logged[one].kind == logged[name].kind for one in rest) == 1
    ]
    usable = [name for name in (*whole, *single) if name in whole or not BENCHMARK.search(name)]
    usable.sort(key=lambda name: (name not in whole, logged[name].kind in COARSE))
    usable = usable or ([] if of_set else _error_rates(run))
    logged |= {
        name: Quality("error", "", -1.0, by_token=False) for name in usable if name not in logged
    }
    chosen = {name: kind for name, kind in _chosen(run).items() if parts.get(name, "") is not None}
    ranked = chosen | {name: logged[name] for name in usable if name not in chosen}
    return list(ranked.items())


def _error_rates(run: Run) -> list[str]:
    """Return what is named an error of answers and lies between 0 and 1, as a share does."""
    named = [name for name in run.history.metrics if ERROR_RATE.fullmatch(name)]
    return [name for name in named if 0 <= run.curve(name).finite().value.max(initial=-1.0) <= 1]


def _part(kind: Quality, of_set: str, others: set[str]) -> str | None:
    """Return what a score measures within the set; None where it is of another set."""
    if of_set:
        inside = kind.of == of_set or kind.of.startswith(f"{of_set}_")
        return kind.of[len(of_set) + 1 :] if inside else None
    return None if kind.of in others else kind.of


def _chosen(run: Run) -> dict[str, Quality]:
    """Return the score by which the run chooses its best model, if it is no loss."""
    chosen = str(run.setting("metric_for_best_model") or "")
    if not chosen or chosen.endswith(("loss", "ppl", "perplexity")):
        return {}
    names = {naming(chosen).metric, naming(f"eval_{chosen}").metric} & set(run.history.metrics)
    sign = (
        -1.0 if run.flag("greater_is_better") is False else 1.0
    )  # the Trainer's default for all but losses
    made = {name: quality(name) or Quality(name, "", sign, by_token=True) for name in names}
    return {name: kind for name, kind in made.items() if name.startswith("eval_")}
