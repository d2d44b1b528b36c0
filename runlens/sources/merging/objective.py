"""The curve that a run is judged by, where none is called a loss or a reward.

`nll`, `xent` or `train_mse` is the training loss of a run that logs no other, `success_rate` the
reward of an agent that logs none. Which was taken is kept, so that a user can object.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from runlens.history import Columns
from runlens.naming import Meaning, classify, words
from runlens.naming.agents import (
    explores,
    fitness,
    over_last,
    rate_of_wins,
    tells_of_agent,
    unsaid,
    won,
)
from runlens.naming.classify import AVERAGES, BY_LETTER
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.merging.by_values import (
    ALIKE,
    begin_alike,
    by_data,
    ends,
    falls,
    of_unnamed,
    rises,
    scores_of_games,
    shares_by_data,
    total,
)
from runlens.wording import listed

# a name of one's own for the training loss: "train_loss_local", "Train/total loss"
_OWN_LOSS = lazy_re(r"^(?!.*(?:eval|val|test|policy|value|actor|critic)).*\btrain.*loss")
# what is logged where no single loss measures success
OTHER_MEASURES = frozenset((
    "reward", "reward_raw", "value_loss", "policy_loss", "d_loss", "g_loss", "dpo_margin",
    "dpo_chosen",
))  # fmt: skip
PARTS_WITHOUT_LOSS = frozenset(("kl", "commit", "commitment", "perceptual", "adv", "adversarial"))
# a bound on the likelihood, as variational autoencoders have it, and what it is the sum of
BOUNDS = frozenset(("elbo", "nelbo", "vlb"))
OF_BOUNDS = frozenset(("kl", "recon", "rec", "nll", "bce", "mse"))
# of what a loss was taken over, or how long it took: "num_loss_tokens" is no part of it
COUNTED = frozenset(("num", "tokens", "samples", "count", "time", "sec", "ms"))
OF_LABELS = frozenset(("accuracy",))  # no agent has it: beside it a score is none of one
# names that stand beside the loss of a critic, and of no other
REWARDS = {("rewards",), ("reward",), ("episode", "rewards"), ("episode", "reward")}
MEASURES = frozenset(("train_loss", "train_loss_epoch", "eval_loss", "reward"))
TIMED = {"time", "data_time"}  # of an iteration, and of it what the data loader took: detectron2
NORMED = {"train_loss", "learning_rate", "norm"}  # as nanoGPT's followers print an update
LOGS_OF = {"train_loss": "train_ppl", "eval_loss": "eval_ppl"}
NONE: Mapping[str, str] = MappingProxyType({})
WORDS = {
    "train_loss": "training loss",
    "eval_loss": "evaluation loss",
    "reward": "reward",
    "d_loss": "discriminator loss",
    "train_accuracy": "training accuracy",
    "eval_accuracy": "evaluation accuracy",
}
OF_POLICY = frozenset(("kl", "len_mean"))
DISCRIMINATOR = frozenset(("d", "disc", "dis", "discriminator", "netd"))
OF_PAIRS = frozenset(("dpo_margin",))  # what a model of rewards logs beside its loss
LIKELIHOODS = frozenset(("nll", "nll loss", "ce", "ce loss"))
DRIVEN_UP = frozenset(("loglik", "elbo"))
MINIMISED = frozenset(("neg", "negative", "minus", "loss"))
OF_BATCHES = "eval_loss_step"  # where no other evaluation loss is logged, it is that
METERED = "energy"  # which falls where it is what is minimised, and adds up on a meter
MEAN = frozenset(("mean", "avg", "average"))


class Chosen(NamedTuple):
    """The metrics of a run with the ones it is judged by, and which names were taken for them."""

    metrics: dict[str, Columns]
    taken: dict[str, str]  # canonical -> the name that stood there
    negated: frozenset[str] = frozenset()  # names of which the negative was taken
    derived: Mapping[str, str] = NONE  # canonical -> of what it was computed, in words


def chosen(metrics: Mapping[str, Columns], *, of_agent: bool = False) -> Chosen:
    """Give a run that has no training loss, evaluation loss or reward the best that it logs.

    `of_agent` says that its logs count episodes, or steps of an environment.
    """
    known = {name: classify(name) for name in metrics}
    logs = {ours: ppl for ours, ppl in LOGS_OF.items() if _is_perplexity(metrics, ours, ppl)}
    scored = any(meaning.quantity in OF_LABELS for meaning in known.values())
    of_agent = of_agent or tells_of_agent(metrics) or _explores_less(metrics)
    of_agent = of_agent or scores_of_games(metrics)
    reward = "" if logs or scored else _reward(metrics, known, of_agent=of_agent)
    taken = {"reward": reward} if reward and of_agent else _losses(metrics, known)
    if not taken and reward:
        taken["reward"] = reward
    taken = {ours: name for ours, name in taken.items() if ours not in logs}
    taken |= {} if scored or reward else shares_by_data(metrics, taken.get("train_loss", ""))
    ours = {name: canonical for canonical, name in taken.items()}
    if generator := _through_both(metrics):
        ours[generator] = "g_loss"
    if only := _only_reward(metrics):
        ours[only] = "reward"
    if metrics.keys() >= TIMED and "step_time" not in metrics:
        ours["time"] = "step_time"
    if metrics.keys() >= NORMED and "grad_norm" not in metrics:
        ours["norm"] = "grad_norm"
    upward = {name for name in ours if _is_driven_up(name, metrics)}
    renamed = {
        ours.get(name, name): rows._replace(value=-rows.value) if name in upward else rows
        for name, rows in metrics.items()
    }
    derived = {}
    for loss, ppl in logs.items():
        renamed[loss] = metrics[ppl]._replace(value=np.log(metrics[ppl].value))
        derived[loss] = f"the logarithm of {ppl}"
    if halves := _halves_of_discriminator(renamed):
        real, fake = (renamed[name] for name in halves)
        renamed["d_loss"] = real._replace(value=(real.value + fake.value) / 2)
        derived["d_loss"] = f"the mean of {listed(halves)}"
    return Chosen(renamed, taken, frozenset(upward), derived)


def _only_reward(metrics: Mapping[str, Columns]) -> str:
    """Return the one reward function of a policy that logs no sum: it is all that is paid."""
    parts = [name for name in metrics if name.startswith("reward:")]
    policy = "reward" not in metrics and bool(OF_POLICY & metrics.keys())
    return parts[0] if policy and len(parts) == 1 else ""


def _losses(metrics: Mapping[str, Columns], known: Mapping[str, Meaning]) -> dict[str, str]:
    """Return the names that are the training loss and the evaluation loss, where none is so far."""
    taken: dict[str, str] = {}
    train = _training(metrics, known)
    if train:
        taken["train_loss"] = train
    if held_out := _held_out(metrics, known, train):
        taken["eval_loss"] = held_out
    measured = bool((OTHER_MEASURES | MEASURES) & metrics.keys())
    taken = taken or ({} if measured else by_data(metrics, known) or total(metrics))
    taken = (
        taken
        or _alone(metrics, known)
        or ({} if measured else _by_letter(metrics) or of_unnamed(metrics))
    )
    if taken or (OTHER_MEASURES | MEASURES) & metrics.keys() or _rewarded(metrics):
        return taken
    from runlens.sources.merging.wrong_answers import counted  # of no use to most runs

    return counted(metrics, known)


def _alone(metrics: Mapping[str, Columns], known: Mapping[str, Meaning]) -> dict[str, str]:
    if (OTHER_MEASURES | MEASURES) & metrics.keys():
        return {}
    from runlens.sources.merging.only_loss import of_one_model, only_loss  # of no use to most runs

    return only_loss(metrics, known) or of_one_model(metrics)


def _by_letter(metrics: Mapping[str, Columns]) -> dict[str, str]:
    from runlens.sources.merging.letters import by_letter  # of no use to most runs

    return by_letter(metrics)


def _explores_less(metrics: Mapping[str, Columns]) -> bool:
    """Whether an agent tries less at random from point to point; a budget of privacy rises."""
    return any(explores(name) and falls(rows) for name, rows in metrics.items())


def _through_both(metrics: Mapping[str, Columns]) -> str:
    if "d_loss" not in metrics:
        return ""
    from runlens.sources.merging.adversarial import through_both  # of no use to most runs

    return through_both(metrics)


def _halves_of_discriminator(metrics: Mapping[str, Columns]) -> tuple[str, ...]:
    if "d_loss" in metrics or "g_loss" not in metrics:
        return ()
    from runlens.sources.merging.adversarial import halves_of_discriminator

    return halves_of_discriminator(metrics)


def _is_driven_up(name: str, metrics: Mapping[str, Columns]) -> bool:
    """Whether the negative of a metric is a loss: a likelihood, or a bound on it, as it stands."""
    said = set(words(name))
    if MINIMISED & said or name.startswith("-"):
        return False
    value = metrics[name].value
    below = bool((value[np.isfinite(value)] < 0).all())
    up = rises(metrics[name])  # Kaldi's objective is a likelihood
    return up or below if DRIVEN_UP & said else "objective" in said and up and below


def _is_perplexity(metrics: Mapping[str, Columns], loss: str, ppl: str) -> bool:
    """Whether a run logs a perplexity, which is never below 1, and not the loss it is made of."""
    if OTHER_MEASURES & metrics.keys() or loss in metrics or ppl not in metrics:
        return False
    return bool(np.nanmin(metrics[ppl].value, initial=np.inf) >= 1)


def guessed(
    taken: Mapping[str, str], negated: Collection[str] = (), derived: Mapping[str, str] = NONE
) -> list[str]:
    """Say which names were taken for a loss or a reward that they do not say for sure.

    Of those among `negated` it is the negative that was taken; `derived` are computed of others.
    """
    said = {
        ours: f'{"the negative of " * (name in negated)}"{name}"'
        for ours, name in taken.items()
        if ours in WORDS and not classify(name).sure and not _OWN_LOSS.search(name.lower())
    }
    said |= derived
    return [
        f"does not name its {WORDS[ours]}, so {what} was used; if it is in another column, pass "
        f"--column {ours}=NAME"
        for ours, what in said.items()
    ]


def _training(metrics: Mapping[str, Columns], known: Mapping[str, Meaning]) -> str:
    """Return the name that is the training loss, "" where there is one already or none."""
    if "train_loss" in metrics:
        return ""
    own = [name for name in metrics if _OWN_LOSS.search(name.lower())]
    if len(own) == 1:
        return own[0]
    found = [n for n in _objectives(known) if known[n].split in {"", "train"}]
    if OTHER_MEASURES & metrics.keys():
        found = [n for n in found if _is_of_pairs(metrics, n, known[n].kind)]
    found = [n for n in found if not (known[n].kind == "error" and _rewarded(metrics))]
    found = [n for n in found if known[n].kind != METERED or falls(metrics[n])]
    best = min(found, key=lambda name: (known[name].rank, known[name].split == ""), default="")
    return "" if best and _is_a_part(best, known) else best


def _is_of_pairs(metrics: Mapping[str, Columns], name: str, kind: str) -> bool:
    """Whether a likelihood is that of which answer of a pair is better, and no part of a loss.

    It begins at the likelihood of the margin that stands beside it, as Bradley and Terry have it:
    ln 2 where the margin is none. That of the words of an answer is far above.
    """
    if kind not in LIKELIHOODS or OTHER_MEASURES & metrics.keys() != OF_PAIRS:
        return False
    begins, (margin,) = ends(metrics[name])[0], (ends(metrics[one])[0] for one in OF_PAIRS)
    told = float(np.logaddexp(0, -margin))
    return told / ALIKE <= begins <= told * ALIKE


def _rewarded(metrics: Mapping[str, Columns]) -> bool:
    """Whether anything is called a reward: errors beside it are those of an agent's tools."""
    return any({"reward", "rewards"} & set(words(name)) for name in metrics)


def _objectives(known: Mapping[str, Meaning]) -> list[str]:
    return [
        name
        for name, meaning in known.items()
        if meaning.quantity == "loss"
        and meaning.statistic in {*AVERAGES, "sum"}
        and not meaning.sure
    ]


def _is_a_part(best: str, known: Mapping[str, Meaning]) -> bool:
    """Whether another part of a loss stands beside one: its sum with that is not logged.

    A bound on the likelihood is the sum of both its parts, which may stand beside it.
    """
    return any(
        meaning.split in {"", "train"}
        and meaning.kind != known[best].kind
        and ("loss" in words(name) or PARTS_WITHOUT_LOSS & set(words(name)))
        and not COUNTED & set(words(name))
        and not (BOUNDS & {*known[best].kind.split()} and OF_BOUNDS & {*words(name)})
        for name, meaning in known.items()
        if name != best
    )


def _held_out(metrics: Mapping[str, Columns], known: Mapping[str, Meaning], train: str) -> str:
    """Return the name that is the evaluation loss: of the kind of the training loss."""
    measured = OTHER_MEASURES & metrics.keys()
    if "eval_loss" in metrics or (measured and not (train and measured <= OF_PAIRS)):
        return ""
    if OF_BATCHES in metrics:
        return OF_BATCHES
    of_kind = {known[train].kind} if train else set()
    plain = () if train else metrics.get("train_loss", ())
    found = [
        name
        for name in _objectives(known)
        if known[name].split in {"val", "test"}
        and (
            _allowed(known[name], of_kind) or _as_high(plain, metrics[name])
            if train or "train_loss" in metrics
            else True
        )
    ]
    best = min(found, key=lambda n: (known[n].split == "test", known[n].rank), default="")
    twin = train and "train" in metrics  # "test" is of the same as "train"
    plain = () if twin else metrics.get(train or "train_loss", ())
    return best or _beside_loss(metrics, known, plain)


def _beside_loss(
    metrics: Mapping[str, Columns], known: Mapping[str, Meaning], train: Columns | tuple[()]
) -> str:
    """Return the name of held-out data alone whose numbers are a loss: ``loss 0.52 val 0.61``.

    They begin where the training loss does, and no accuracy does: some are above 1, or they fall.
    """
    found = [
        name
        for name, rows in metrics.items()
        if known[name].split in {"val", "test"}
        and len(words(name)) == 1
        and not known[name].quantity
        and _as_high(train, rows)
        and (np.nanmax(rows.value, initial=0.0) > 1 or falls(rows))
    ]
    return min(found, key=lambda name: known[name].split == "test", default="")


def _as_high(train: Columns | tuple[()], held_out: Columns) -> bool:
    """Whether a held-out loss of a named kind begins where a training loss without one does."""
    if not train:
        return False
    return begin_alike(train, held_out)


def _allowed(meaning: Meaning, kinds: Collection[str]) -> bool:
    return meaning.kind in kinds or (meaning.rank == BY_LETTER and not meaning.kind)


def _reward(metrics: Mapping[str, Columns], known: Mapping[str, Meaning], *, of_agent: bool) -> str:
    """Return the name of what an agent is judged by, "" where there is none."""
    by_loss = any("loss" in words(name) for name in metrics)  # of parts too: spaCy's "LOSS NER"
    if "reward" in metrics:
        return ""
    if by_loss and not of_agent:
        return next((name for name in metrics if words(name) in REWARDS), "")
    found = [
        name
        for name, meaning in known.items()
        if meaning.quantity == "reward" and meaning.statistic in AVERAGES
    ]
    found.sort(key=lambda n: "rewards" in words(n))  # their mean, beside a return, is of steps
    best = min(found, key=lambda n: (known[n].rank, known[n].split != ""), default="")
    ranks = {name: rank for name in metrics if of_agent and (rank := won(name))}
    best = best or min(ranks, key=ranks.__getitem__, default="") or rate_of_wins(metrics)
    best = best or (over_last(metrics) if of_agent else "")
    if not best and of_agent and (mean := unsaid(metrics)) and rises(metrics[mean]):
        return mean
    evolved = "" if best else fitness(metrics)
    if evolved and falls(metrics[evolved]):
        return ""  # some evolution drives it down
    return best or evolved
