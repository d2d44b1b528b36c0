"""What is known around an incident: findings, dated inputs, rate, passes, levels; each once."""

from collections.abc import Sequence
from functools import cached_property
from math import inf

from msgspec import Struct

from runlens.arrays import median
from runlens.diagnosis import Finding
from runlens.history import Curve
from runlens.rules import related
from runlens.rules.evaluation import worst_score
from runlens.rules.observability.too_short import BY_LOSS, BY_REWARD
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.inputs import Dated, Departure
from runlens.signals.shape import Point
from runlens.usual_rates import Ceiling, Usual, ceiling, least, usual_rates

# findings that are inputs themselves: what they begin is no symptom
INPUTS = frozenset({"schedule-mismatch", "resume-jump", "lr-zero", "clip-saturation"})
LEFT = 1.5  # logged over planned rate, or the other way, from which a departure can be a cause
SLACK = 2.0  # logging intervals by which a cause may be seen after its symptom
NO_NORM = 1e-6  # of the largest norm: below it there was no gradient to climb from
BASE = 5  # gradient norms of a level


class Scene(Struct, frozen=True, eq=False, dict=True):
    """One incident of a run, and what a hypothesis may ask about it."""

    run: Run
    signals: Signals
    findings: Sequence[Finding]  # of the incident, its lead first
    others: Sequence[Finding] = ()  # of the whole run, these among them

    @cached_property
    def rules(self) -> dict[str, Finding]:
        """The findings of the incident by rule."""
        return {one.rule: one for one in reversed(self.findings)}

    @cached_property
    def everywhere(self) -> dict[str, Finding]:
        """The findings of the whole run by rule."""
        return {one.rule: one for one in reversed(self.others or self.findings)}

    @property
    def words_alone(self) -> bool:
        """Whether nothing but messages of the log can tell: its curves are too short to judge."""
        loud = {one.rule for one in self.everywhere.values() if one.severity != "info"}
        curves = any(len(self.run.curve(name)) for name in BY_LOSS + BY_REWARD)
        return ("too-short" in self.everywhere or not curves) and loud <= {"known-error"}

    @property
    def lead(self) -> Finding:
        """The gravest finding of the incident."""
        return self.findings[0]

    def has(self, *rules: str) -> bool:
        """Whether the incident holds a finding of one of these rules."""
        return any(rule in self.rules for rule in rules)

    @property
    def stands(self) -> bool:
        """Whether evaluation was best early and stands: what is evaluated was learned before."""
        flat, evals = self.rules.get("eval-flat"), self.curve("eval_loss")
        if flat is None or not len(evals):
            return False
        by_heart = any(cause.kind == "memorised" for cause in flat.causes[:1])
        return by_heart or (flat.onset.step or 0.0) > evals.step[0]

    @cached_property
    def never_found(self) -> str:
        """Say that a score of objects stayed low beside a gap; empty where it did not."""
        gap = self.has("eval-gap") and not self.has("hockey-stick")
        return worst_score.low(self.run, self.signals) if gap else ""

    def before(self, rule: str) -> Finding | None:
        """Return a finding of the incident that was there when the first symptom came."""
        found = self.rules.get(rule)
        return found if found and found.begins <= self.until else None

    @cached_property
    def guessed_loss(self) -> bool:
        """Whether the training loss has another name: it may be an error on held-out data."""
        name = self.run.taken.get("train_loss", "")
        return bool(name) and "loss" not in name.lower()

    def title(self, rule: str) -> str:
        """Return what a finding says; empty where it leads, as the reader knows it already."""
        return "" if self.lead.rule == rule else self.rules[rule].title.rstrip(".")

    @cached_property
    def symptom(self) -> float:
        """The step of the first loud symptom; that of the lead where there is none.

        What the run began with is no early sign of what its updates did.
        """
        loud = [one for one in self.findings if one.severity != "info"] or list(self.findings)
        start = self.run.first_step + self.slack
        begun = [one.rule for one in loud[1:] if one.begins <= start]
        loud = [one for one in loud if one.rule not in begun or not related(one.rule).early_sign]
        begins = [one.begins for one in loud if one.rule not in INPUTS and one.begins != inf]
        return min(begins, default=self.lead.begins)

    @cached_property
    def slack(self) -> float:
        """Steps by which a cause may be logged after its symptom."""
        names = ("train_loss", "reward", "learning_rate", "eval_loss")
        logged = [name for name in names if len(self.signals.curve(name)) > 1]
        return SLACK * max((self.signals.interval(name) for name in logged[:1]), default=1)

    def curve(self, metric: str) -> Curve:
        """Return the finite points of a metric."""
        return self.signals.curve(metric)

    @cached_property
    def launch(self) -> Dated | None:
        """The last launch or resume before the first symptom."""
        begun = [one for one in self.signals.inputs.launches if one.after <= self.until]
        return begun[-1] if begun else None

    @property
    def until(self) -> float:
        """The last step at which something may still have caused the first symptom."""
        at = self.symptom if self.symptom != inf else self.run.last_step
        return at + self.slack

    @cached_property
    def departure(self) -> Departure | None:
        """The first departure of the rate from its plan before the first symptom."""
        if self._restarted_schedule or self._skipped_updates:
            return None
        off = self.signals.inputs.rate.departures
        known = (
            one for one in off if one.first.step <= self.until and not 1 / LEFT < one.factor < LEFT
        )
        return next(known, None)

    @property
    def restart(self) -> tuple[Point, Point] | None:
        """Where the rate rose again about the first symptom, after it had fallen."""
        near = (
            (low, high)
            for low, high in self.signals.inputs.rate.rises
            if low.value >= 0 and abs(high.step - self.symptom) <= 3 * self.slack
        )
        return next(near, None)

    @property
    def _skipped_updates(self) -> bool:
        """Whether the loss scaler skipped updates, and the schedule stood still with each.

        What the rate then is was planned for an earlier step: it is not above the configured.
        """
        return "loss-scale-collapse" in self.everywhere and not self.over_configured

    @property
    def over_configured(self) -> float | None:
        """How many times the configured rate was reached, where that is too many."""
        over = self.signals.inputs.rate.over_configured
        return over if over and over >= LEFT else None

    @property
    def _restarted_schedule(self) -> bool:
        """Whether the configuration asks for restarts: they are the plan."""
        return "restart" in str(self.run.setting("lr_scheduler_type") or "").lower()

    @cached_property
    def usual(self) -> Usual | None:
        """The usual learning rates of this kind of training."""
        return usual_rates(self.run)

    @cached_property
    def least_rate(self) -> float | None:
        """The lower end of the usual learning rates, for small models too."""
        return least(self.run)

    @cached_property
    def ceiling(self) -> Ceiling | None:
        """The rate that is too high for any model with this optimizer."""
        return ceiling(self.run)

    @cached_property
    def rate(self) -> float | None:
        """The highest rate up to the first symptom; that of the run where it has no step."""
        logged = self.curve("learning_rate")
        before = logged.value[logged.step <= self.rate_until]
        return (float(before.max()) if len(before) else 0.0) or self.signals.peak_learning_rate

    @cached_property
    def rate_until(self) -> float:
        """The first symptom; where no rate above 0 was logged by then, what may come before it."""
        logged = self.curve("learning_rate")
        alive = logged.step[logged.value > 0]
        return self.symptom if len(alive) and alive[0] <= self.symptom else self.until

    @cached_property
    def rate_share(self) -> float | None:
        """The rate at the first symptom over the highest before it."""
        now = self.signals.learning_rate_at(min(self.symptom, self.run.last_step))
        return now / self.rate if now is not None and self.rate else None

    @cached_property
    def passes(self) -> float | None:
        """Passes over the data at the first symptom; None where they are not known."""
        if self.symptom == inf:
            return None
        return self.signals.inputs.passes_at(self.symptom)

    @cached_property
    def all_passes(self) -> float | None:
        """Passes over the data in all."""
        return self.signals.inputs.passes_at(self.run.last_step)

    @cached_property
    def norm_climb(self) -> float | None:
        """The largest gradient norm about the first symptom over its median before; None if few."""
        norm, at = self.curve("grad_norm"), self.symptom
        reach = 3 * self.slack
        base = norm.value[norm.step < at - reach]
        near = norm.value[(norm.step >= at - reach) & (norm.step <= at + self.slack)]
        level = float(median(base[-4 * BASE :])) if len(base) >= BASE and len(near) else 0.0
        if level <= NO_NORM * float(norm.value.max(initial=0.0)):  # of a norm that was gone before
            return None
        return float(near.max()) / level

    def text(self, key: str) -> str:
        """Return a setting as lower-case text; empty where it is not known."""
        value = self.run.setting(key)
        return "" if value is None else str(value).lower()

    def number(self, *keys: str) -> tuple[str, float] | None:
        """Return the first of these settings that is a number, with its name."""
        for key in keys:
            value = self.run.number(key)
            if value is not None:
                return key, value
        return None
