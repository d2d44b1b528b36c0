"""The step: ask the hypotheses, drop what is excluded, rank the rest by what speaks for them."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from runlens.cause import UNKNOWN, Cause, Domino, Rank, RuledOut
from runlens.causes import (
    batches,
    data,
    defects,
    ending,
    experiments,
    guesses,
    held,
    labels,
    model,
    optimiser,
    plan,
    policy,
    precision,
    rate,
    siblings,
)
from runlens.causes.hypothesis import HINT, SETTLES, SPEAKS, STRONG, UNTOLD, Hypothesis, Sign
from runlens.causes.scene import Scene
from runlens.causes.story import story
from runlens.causes.usual import usual_of
from runlens.diagnosis import Incident
from runlens.fixes import FIND_SETTER, FIX_SCHEDULE
from runlens.incidents import gravity
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.relations import NAMED_BY
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import uncapitalised

# of equal evidence the earlier one leads: inputs first, then what is common, then what is rare
HYPOTHESES: tuple[Hypothesis, ...] = (
    ending.RESUMED,
    rate.LEFT_ITS_PLAN,
    rate.GONE,
    optimiser.SETTINGS,
    siblings.OWN_SETTING,
    defects.DEFECT,
    ending.MEMORY,
    ending.PERSON,
    ending.LIMIT,
    ending.MACHINE,
    ending.CODE,
    labels.MASKED,
    model.FROZEN,
    plan.FEW,
    policy.REWARD,
    policy.LENGTH,
    data.MEMORISED,
    model.EVALUATION,
    data.LEAK,
    data.ORDER,
    batches.BATCH,
    rate.HIGH,
    rate.LOW,
    precision.PRECISION,
    optimiser.TIGHT_CLIP,
    policy.STALE,
    held.KL,
    policy.EXPLORE,
    labels.WRONG,
    data.SHIFT,
    optimiser.LOSS,
    optimiser.NO_CLIP,
    optimiser.BATCH,
    rate.COLD,
    model.SMALL,
)
# the name of a cause that is no noun as it stands: "learning rate too high"
_CLAUSE = lazy_re(r"^(?:the|all) \w+ (?:are|leaks) ")  # "the answer leaks into the input"
_NOUN = lazy_re(r"An? ")  # other names may be clauses: "The environment ends each episode"
_LACKS = lazy_re(r"^(?!too )(.+?) ((?:missing or )?too .+)")
# what a first cause says of others: a rate that left its plan was too high in the end, and one that
# is too high is not too low
SAID = {
    rate.LEFT_ITS_PLAN.kind: frozenset({rate.HIGH.kind, rate.LOW.kind}),
    rate.HIGH.kind: frozenset({rate.LOW.kind}),
}
# how much a finding's own evidence for a cause counts: a rule sees its own curve alone
OWN: dict[Rank, float] = {"most likely": SPEAKS, "likely": HINT, "possible": 0.5, "unlikely": 0.0}
# a rule's own word for a cause that another finding of the incident has
NO_CAUSE = {
    batches.BATCH.kind: "One bad batch",
    rate.GONE.kind: rate.LOW.what,
    data.SHIFT.kind: "A data change at an epoch boundary",
}
RATES = frozenset({rate.HIGH.kind, rate.LEFT_ITS_PLAN.kind})
SCHEDULE = "schedule-mismatch"
# settings of updates that do nothing about a rate that left its plan
OF_UPDATES = frozenset({
    "adam_beta2", "gradient_accumulation_steps", "max_grad_norm", "warmup_ratio", "warmup_steps",
})  # fmt: skip
EITHER = "a learning rate that is too low or too high"
NOTHING = "nothing in the logs points to one cause"
KEEP_THE_LOG = "Rerun it and keep the console output"
# agents differ by seed as much as by method: Henderson et al. 2018, section 4.4
OTHER_SEED = (
    "Repeat the run at a tenth of the learning rate, and once as it was with another seed. If both "
    "keep the reward, it was chance"
)
LARGEST_CHANCE = 14.0  # nats: ln of a vocabulary of 1.2 million; a mean loss above it is a sum
MOST = 4  # causes that are told
SAME = 40  # characters at the front of a line by which it is known again
SIGNS = 3  # of a cause
NAMED_WITHIN = 60  # characters of a name in brackets behind a sign: a sentence is none
CLEAR = 1.0  # evidence by which the first must lead to be the most likely


class Weighed(NamedTuple):
    """A hypothesis with its signs in this run, the strongest first."""

    hypothesis: Hypothesis
    signs: tuple[Sign, ...]

    @property
    def evidence(self) -> float:
        """The strongest sign counts whole, each further one a quarter: signs share their roots."""
        weights = sorted((sign.weight for sign in self.signs), reverse=True)
        return sum(weights[:1]) + sum(weights[1:]) / 4


class Explained(NamedTuple):
    """The incidents with their causes, and the story of the gravest."""

    incidents: tuple[Incident, ...]
    story: tuple[Domino, ...] = ()


def explained(run: Run, signals: Signals, made: Sequence[Incident]) -> Explained:
    """Give the lead of each incident its causes; of equal gravity the explained come first."""
    found = [one for incident in made for one in incident.findings]
    told = []
    for incident in made:
        scene = Scene(run, signals, incident.findings, found)
        causes, out = judge(scene)
        lead, *rest = (replace(one, causes=()) for one in incident.findings)
        lead = replace(lead, causes=causes, ruled_out=_undenied(scene, causes, out))
        gone = {one.kind for one in HYPOTHESES if one.what in {no.what for no in out}}
        gone |= _needless(causes) | ({batches.BATCH.kind} if batches.swings(scene) else set())
        made_ = incident._replace(findings=(lead, *rest))
        told.append((_without(made_, gone, causes), story(scene, causes), gone))
    told.sort(key=lambda one: _order(one[0]))
    if not told:
        return Explained(())
    first, how, gone = told[0]
    notes = (one if one.severity != "info" else _without(one, gone) for one, *_ in told[1:])
    return Explained((first, *notes), how)


def _undenied(
    scene: Scene, causes: Sequence[Cause], out: Sequence[RuledOut]
) -> tuple[RuledOut, ...]:
    """Return what the lead rules out, less what a finding or a cause of the report affirms."""
    denied = {
        one.what
        for one in HYPOTHESES
        if one.kind != rate.LOW.kind and NAMED_BY.get(one.kind) in scene.everywhere
    }
    fixes = (fix for one in scene.everywhere.values() for fix in one.fixes)
    if any(fix.cures == rate.LOW.kind for fix in fixes):
        denied.add(rate.LOW.what)
    named = {cause.kind for cause in causes}
    denied |= {word for kind, word in NO_CAUSE.items() if kind in named}
    return tuple(one for one in (*scene.lead.ruled_out, *out) if one.what not in denied)


def _needless(causes: Sequence[Cause]) -> set[str]:
    """Return whose fixes say nothing more: a batch, where the rate is to blame for what it does."""
    blamed = {one.kind for one in causes[:1] if one.rank in {"most likely", "likely"}}
    return {batches.BATCH.kind} if blamed & RATES else set()


def _without(incident: Incident, gone: Collection[str], causes: Sequence[Cause] = ()) -> Incident:
    """Leave out what fixes a cause that is excluded, and where `causes` are settled, any other."""
    off_plan = any(
        one.kind == rate.LEFT_ITS_PLAN.kind and one.rank in {"most likely", "likely"}
        for one in causes[:1]
    )
    dated = any(fix.what.startswith(FIND_SETTER) for one in incident.findings for fix in one.fixes)
    kept = (
        replace(
            one,
            fixes=tuple(
                fix
                for fix in one.fixes
                if fix.cures not in gone
                and not (off_plan and {fix.setting, fix.name} & OF_UPDATES)
                and not (dated and fix.what == FIX_SCHEDULE)
            ),
        )
        for one in incident.findings
    )
    return incident._replace(findings=tuple(kept))


def _order(incident: Incident) -> tuple[int, bool, bool, bool, float]:
    severity, early, begins = gravity(incident)
    first = incident.findings[0].causes[:1]
    # of notes, the verdict tells first that nothing was learned: a spike explains none of that
    aside = incident.severity == "info" and incident.findings[0].rule != "not-learning"
    # that a person stopped the run explains nothing of what it did
    unexplained = all(cause.kind in {UNKNOWN, ending.PERSON.kind} for cause in first)
    return severity, aside, unexplained, early, begins


def judge(scene: Scene) -> tuple[tuple[Cause, ...], tuple[RuledOut, ...]]:
    """Return the causes of an incident, the likeliest first, and what is excluded and why."""
    asked = [one for one in HYPOTHESES if one.explains.intersection(scene.rules)]
    against = ((one, one.against(scene) or siblings.cleared(scene, one.kind)) for one in asked)
    excluded = {one.kind: said for one, said in against if said}
    weighed = [_weighed(one, scene) for one in asked if one.kind not in excluded]
    weighed += [
        Weighed(one, (sign,))
        for one in HYPOTHESES
        if one not in asked and (sign := ending.in_words(scene, one.kind))
    ]
    standing = [one for one in weighed if one.evidence > 0]
    if scene.lead.rule == SCHEDULE:  # no symptom of it moves the rate
        standing = [one for one in standing if SCHEDULE in one.hypothesis.explains]
    ranked = sorted(standing, key=lambda one: -one.evidence)[:MOST]
    told = SAID.get(ranked[0].hypothesis.kind, frozenset()) if ranked else frozenset()
    left = [one for one in asked if one.kind in excluded and one.kind not in told]
    out = tuple(RuledOut(one.what, excluded[one.kind]) for one in left)
    return _causes(scene, ranked, [one for one in asked if one.kind not in excluded]), out


def _weighed(hypothesis: Hypothesis, scene: Scene) -> Weighed:
    of_run = hypothesis.signs(scene)
    beside = () if hypothesis is siblings.OWN_SETTING else siblings.signs(scene, hypothesis.kind)
    signs = [sign for sign in (*of_run, *beside) if sign is not None]
    signs += [
        Sign(
            cause.evidence_for,
            OWN[cause.rank] if cause.evidence_for else 0,
            cause.what,
            cause.experiment,
            answers=cause.answers,
        )
        for finding in scene.findings
        for cause in finding.causes
        if cause.kind == hypothesis.kind
        and (cause.evidence_for or cause.rank in {"most likely", "likely"})
    ]
    return Weighed(hypothesis, tuple(sorted(signs, key=lambda sign: -sign.weight)))


def _causes(
    scene: Scene, ranked: Sequence[Weighed], asked: Sequence[Hypothesis]
) -> tuple[Cause, ...]:
    """Return the causes in words; `unknown` first where none speaks clearly."""
    if ranked and ranked[0].evidence >= SETTLES:  # what would fit as well is no news then
        ranked = [one for one in ranked if one.evidence >= SPEAKS]
    told = [_cause(one, _rank(one, ranked), scene) for one in ranked]
    if ranked and ranked[0].evidence >= SPEAKS:
        return tuple(told)
    # what a log leaves open is told as that, and is no cause besides
    return (_unknown(scene, ranked, asked), *(one for one in told if one.what not in UNTOLD))


def _rank(one: Weighed, ranked: Sequence[Weighed]) -> Rank:
    if one.evidence < SPEAKS:
        return "possible"
    if one is not ranked[0]:
        return "likely" if one.evidence >= STRONG else "possible"
    clear = all(one.evidence - other.evidence >= CLEAR for other in ranked[1:])
    settled = one.evidence >= SETTLES or (one.evidence >= STRONG and clear)
    return "most likely" if settled else "likely"


def _cause(one: Weighed, rank: Rank, scene: Scene) -> Cause:
    named = next((sign for sign in one.signs if sign.what), None)
    what = named.what if named else one.hypothesis.what
    open_ = named is None or named.weight < SETTLES  # else no other name is told beside it
    told = [
        sign
        for sign in one.signs
        if sign.text and (sign.what in {"", what} or (open_ and sign.weight >= HINT))
    ]
    told = _distinct(told)[:SIGNS]
    return Cause(
        what,
        rank,
        "; ".join(_words(sign, what) for sign in told),
        kind=one.hypothesis.kind,
        falsifier=(named.falsifier if named else "") or one.hypothesis.falsifier,
        experiment=(named.test if named else "") or one.hypothesis.tried_by(scene),
        pointed=bool(named and named.test),
        answers=tuple(slug for sign in told for slug in sign.answers),
        proved=one.hypothesis is ending.CODE or bool(named and named.proved),
    )


def _distinct(signs: Sequence[Sign]) -> list[Sign]:
    """Leave out signs that begin as an earlier one does: one line of a log, quoted twice."""
    seen: list[Sign] = []
    for sign in signs:
        if not any(sign.text[:SAME] in other.text for other in seen):
            seen.append(sign)
    return seen


def _words(sign: Sign, what: str) -> str:
    """Return a sign, with its own name where that of the cause is another."""
    if sign.what in {"", what} or len(sign.what) > NAMED_WITHIN:
        return sign.text
    return f"{sign.text} ({uncapitalised(sign.what)})"


def _noun(cause: str) -> str:
    """Return the name of a cause for use in a sentence: ``a learning rate that is too low``."""
    return _LACKS.sub(r"a \1 that is \2", cause)


def _hinted(fits: Sequence[str]) -> str:
    """Name what fits and is not proved; a name may be a clause of its own."""
    fits = [_noun(one) for one in fits]
    if set(fits) == {_noun(uncapitalised(one.what)) for one in (rate.LOW, rate.HIGH)}:
        fits = [EITHER]
    if len(fits) == 1:
        return f"{fits[0]} would fit, but the logs do not prove it"
    first, second = fits
    stop = "," if ", " in first else ""  # what the comma opened
    return f"{first}{stop} would fit, and so would {second}; the logs do not show which"


def _fit(one: Weighed) -> str:
    """Return what fits as a noun: by its own name where that is one, ``a logarithm of 0``."""
    named = next((sign.what for sign in one.signs if _NOUN.match(sign.what)), "")
    return uncapitalised(named or one.hypothesis.what)


def _unknown(scene: Scene, ranked: Sequence[Weighed], asked: Sequence[Hypothesis]) -> Cause:
    """Say that the files do not tell, and which cheap experiment separates what is left."""
    common = usual_of(scene, asked)
    experiment = _separates(scene, ranked, common, asked)
    if ranked and (said := {one.what for one in ranked[0].signs} & UNTOLD):
        return Cause("Not known", "possible", said.pop(), kind=UNKNOWN, experiment=experiment)
    fits = [_fit(one) for one in ranked[:2]]
    alike = guesses.one_answer(scene)
    if same := siblings.alike(scene):
        hint = same
        experiment = "Repeat it with another seed. If it is well then, chance did it"
    elif fits:
        parts = [alike.seen if alike else "", _hinted(fits)]
        parts += [_cause(ranked[0], "possible", scene).evidence_for] if len(fits) == 1 else []
        hint = "; ".join(part for part in parts if part)
    elif alike:
        hint = f"{alike.seen}; the usual causes are {alike.usual}"
    else:
        hint = _named(common)
    return Cause("Not known", "possible", hint, kind=UNKNOWN, experiment=experiment)


def _named(common: Sequence[Hypothesis]) -> str:
    """Name the first two of the usual causes."""
    if not common:
        return NOTHING
    usual = [_noun(uncapitalised(one.what)) for one in common[:2]]
    usual = [EITHER] if common[:2] == [rate.LOW, rate.HIGH] else usual
    usual = [f"that {one}" if _CLAUSE.match(one) else one for one in usual]
    verb = "causes are" if len(usual) > 1 else "cause is"
    return f"{NOTHING}; the usual {verb} {' and '.join(usual)}"


def _separates(
    scene: Scene,
    ranked: Sequence[Weighed],
    common: Sequence[Hypothesis],
    asked: Sequence[Hypothesis],
) -> str:
    """Return the experiment that tells the first of what is left from the rest."""
    train = scene.curve("train_loss").value
    if any(np.isnan(scene.run.curve(name).value).any() for name in ("train_loss", "grad_norm")):
        return experiments.of_nan(scene)
    if not asked and len(train) and train.min() > LARGEST_CHANCE:
        return optimiser.LOSS.experiment
    first = ranked[0].hypothesis if ranked else next(iter(common or asked), None)
    if first is rate.HIGH and scene.run.task == "rl" and scene.lead.rule == "reward-collapse":
        return OTHER_SEED
    if ranked:
        return _cause(ranked[0], "possible", scene).experiment
    return first.tried_by(scene) if first else KEEP_THE_LOG
