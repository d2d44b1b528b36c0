"""Names so short that only others beside them say what they are: ``R`` beside ``KL`` and ``len``.

Alone ``R`` may be a recall or a correlation, ``len`` the length of an episode, ``r+`` what an agent
won. Nothing is renamed for which the run logs its own.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import numpy as np

from runlens.history import Columns
from runlens.metrics import canonical
from runlens.naming import words
from runlens.naming.agents import explores, tells_of_agent
from runlens.naming.classify import AVERAGES, BY_LETTER, classify
from runlens.naming.languages import in_english
from runlens.naming.vocabulary import FILLERS, SPLITS, STATISTICS
from runlens.sources.merging.by_values import FEWEST, ROUNDED, begin_alike, falls

OF_POLICY = frozenset(("entropy", "kl_step", "clip_ratio", "policy_loss", "value_loss"))
LENGTHS = tuple(
    frozenset(said.split())
    for said in (
        "len",
        "length",
        "resp len",
        "gen len",
        "gen length",
        "tokens answer",
        "tokens completion",
        "tokens response",
    )
)
SCORE = frozenset(("score",))  # of a policy that is held to another, by how far it went from that
REWARDS = (frozenset(("r",)), frozenset(("rm",)), SCORE)  # of a policy; of a model of rewards
FROM_REFERENCE = frozenset(("kl", "kl_seq"))
VALUES = frozenset(("q", "adv", "advantage", "h", "ent"))  # of what a critic says, and entropy
COURSE = frozenset(("start", "end", "decay", "min", "final", "initial", "frac"))
RETURN, ENTROPY = "G", frozenset(("h", "ent"))  # as books write it, of a policy
OF_A_PLAYER = frozenset(("d", "disc", "discriminator"))  # beside them it is a generator
RECALL = frozenset(("p", "precision", "f1", "f", "auc", "acc", "map"))  # beside them R is none
# of completions: how they are called, and that they were cut off
OF_TEXTS = frozenset(("rm", "completion", "completions", "response", "gold", "ref", "tokens"))
CUT = tuple(
    frozenset(said.split())
    for said in (
        "at limit",
        "at cap",
        "cut",
        "cut at max new",
        "cut at max",
        "cut at limit",
        "truncated",
        "trunc",
        "truncation",
        "hit max",
        "hit limit",
    )
)
SHARE = frozenset(("rate", "frac", "share", "ratio"))  # which may stand behind them
LENGTH, OF_EPISODE = "len_mean", "episode_length"
OF_COMPLETIONS = FROM_REFERENCE | {"len_clipped", "len_max", "len_term", "reward_std"}
# of a pair, what was preferred and what was not
PAIRS = (("r+", "r-"), ("r_w", "r_l"), ("rw", "rl"), ("r_pos", "r_neg"), ("chosen", "rejected"),
    ("win", "lose"), ("r_win", "r_lose"), ("r_chosen", "r_rejected"),
    ("rw_chosen", "rw_rejected"))  # fmt: skip
# log-probabilities of both answers of a pair, as the paper of DPO calls these: the winner y_w, the
# loser y_l
OF_ANSWERS = tuple(
    tuple(f"{said}{mark}" for mark in marks)
    for said in ("logp", "logps", "lp")
    for marks in (
        ("_w", "_l"),
        ("_win", "_lose"),
        ("_pos", "_neg"),
        ("+", "-"),
        ("_preferred", "_dispreferred"),
    )
)
# words of the loss of such a training, where it is the only one
OBJECTIVES = frozenset(("dpo", "ipo", "simpo", "orpo"))
OF_ITS_LOSS = OBJECTIVES | {"loss", "train"}
OF_PREFERENCES = frozenset(("dpo_acc", "dpo_margin"))
JUDGED = {"acc": "eval_accuracy", "score": "eval_score", "reward": "eval_reward"}
# of an actor and its critic, of a discriminator and a generator
LOSSES_OF_TWO = {
    ("policy_loss", "value_loss"): (("lpi", "lv"), ("l_pi", "l_v"), ("lpolicy", "lv")),
    ("d_loss", "g_loss"): (("ld", "lg"), ("l_d", "l_g")),
}
DATA = ("T", "V")
TRAIN, DEV = "tr", "dv"
DEVS = (DEV,)
LOG = "log"  # of which two columns without names are the losses of both data
DRIVEN = frozenset(("loss", "ppl", "reward"))
NORMS = frozenset(("grad", "grads", "gradient", "gradients", "|g|", "|grad|", "g norm"))
# units of a loss, over one symbol: characters, tokens, pixels
UNITS = frozenset(("nats", "bits", "nll", "bit", "nat"))
SYMBOLS = frozenset(("char", "chars", "character", "characters", "tokens", "byte", "bytes", "dim",
    "word", "words", "pixel", "symbol"))  # fmt: skip
IN_ONE = frozenset(("bpc", "bpb", "bpd"))
# as formulas write them
LETTERS = {"H": "entropy", "L": "train_loss", "ent": "entropy", "g": "grad_norm"}
RATED = frozenset(("learning_rate", "train_loss"))


def told_beside(metrics: Mapping[str, Columns], settings: Collection[str] = ()) -> dict[str, str]:
    """Return our names by those that stand there, of what others beside them tell.

    `settings`: the names of what the run was given, ``eps_start`` by which an agent explores.
    """
    found: dict[str, str] = {}
    rules = (
        _of_two,
        _of_data,
        _of_dev,
        _by_initials,
        _pair,
        partial(_reward, explored=any(map(_of_exploring, settings))),
        _of_completions,
        _letters,
        _per_symbol,
        _norm,
        _rate,
    )
    for told in rules:
        known = {found.get(name, name): rows for name, rows in metrics.items()}
        found |= {n: ours for n, ours in told(known).items() if ours not in known}
    return found


def _of_two(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return both losses of two that train together, each by its letter: ``Ld`` beside ``Lg``.

    One alone may be anything: ``Lv`` beside ``L`` is that of held-out data.
    """
    said = {in_english(name).replace(" ", "").lower(): name for name in metrics}
    found: dict[str, str] = {}
    for ours, written in LOSSES_OF_TWO.items():
        both = ([said[one] for one in pair if one in said] for pair in written)
        found |= dict(zip(next((n for n in both if len(n) == len(ours)), []), ours, strict=False))
    return found


def _of_data(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the losses that are called by the initials of their data: ``T 1.23 V 1.45``.

    They begin alike, fall, and that of the training ends lower, as no temperature beside a value
    does.
    """
    both = [metrics[name] for name in DATA if name in metrics]
    if len(both) != len(DATA) or any(classify(name).quantity in DRIVEN for name in metrics):
        return {}
    from runlens.sources.tables.unnamed import of_both  # a reader of files, which import this

    alike = len(both[0].value) == len(both[1].value)
    told = of_both(np.column_stack([rows.value for rows in both]), LOG) if alike else ()
    return dict(zip(DATA, ("train_loss", "eval_loss"), strict=True)) if told else {}


def _of_dev(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return what is of the development set, short ``dv``, beside ``tr``; else dv is a derivative.

    Beside an accuracy of it both names alone are a loss, if they begin alike.
    """
    if not any(words(name)[:1] == (TRAIN,) for name in metrics):
        return {}
    said = {name: classify(f"dev{name[len(DEV) :]}") for name in metrics if words(name)[:1] == DEVS}
    found = {name: canonical(meaning) for name, meaning in said.items() if meaning.sure}
    if "eval_accuracy" in found.values() and {TRAIN, DEV} <= metrics.keys():
        alike = begin_alike(metrics[TRAIN], metrics[DEV])
        found |= {TRAIN: "train_loss", DEV: "eval_loss"} if alike else {}
    return found


def _by_initials(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the accuracies that are called by the initials of their data: ``T-acc`` and ``V-acc``.

    One alone may be any other: that of tokens, of vision.
    """
    told = {name: classify(name) for name in metrics}
    found = {
        name: canonical(meaning)
        for name, meaning in told.items()
        if meaning.rank == BY_LETTER and meaning.quantity == "accuracy"
    }
    return found if sorted(found.values()) == ["eval_accuracy", "train_accuracy"] else {}


def _bag(name: str) -> frozenset[str]:
    """Return the words of a name without its statistic; of an extreme nothing."""
    if classify(name).statistic not in AVERAGES:
        return frozenset()
    return frozenset(words(name)) - STATISTICS.keys() - FILLERS


def _pair(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return both rewards of a preference training: its share of pairs ranked right stands there.

    Or its loss does, called by its objective alone: ``dpo=0.69 acc=0.61``. Then an accuracy that
    names no data is that share.

    Log-probabilities are called so too, and are far below 0 from the start; rewards begin at it.
    They have names of their own as well, and under these nothing above 0 is one.
    """
    named_so = [name for name in metrics if len(words(name)) == 1 and OBJECTIVES & {*words(name)}]
    if not OF_PREFERENCES & metrics.keys() and len(named_so) != 1:
        return {}
    said = {name.lower(): name for name in metrics}
    found: dict[str, str] = {}
    for pairs, ours, below in (
        (PAIRS, ("dpo_chosen", "dpo_rejected"), False),
        (OF_ANSWERS, ("logp_chosen", "logp_rejected"), True),
    ):
        both = ([said[name] for name in pair if name in said] for pair in pairs)
        named = (names for names in both if len(names) == len(ours))
        names = next((n for n in named if _far_below(metrics, n) == below), [])
        found |= dict(zip(names, ours, strict=False))
    if not found and not OF_PREFERENCES & metrics.keys():
        return {}
    if named_so and "train_accuracy" in metrics and "dpo_acc" not in metrics:
        found["train_accuracy"] = "dpo_acc"
    losses = named_so + [name for name in metrics if "loss" in words(name)]
    alone = len(losses) == 1 and OF_ITS_LOSS.issuperset(words(losses[0]))
    return found | (dict.fromkeys(losses, "train_loss") if alone else {})


def _far_below(metrics: Mapping[str, Columns], names: Collection[str]) -> bool:
    return all((metrics[name].value < 0).all() for name in names)


def _of_exploring(setting: str) -> bool:
    """Whether a setting says how the share of random actions begins, falls or ends.

    Alone ``eps`` may be what an optimizer or a norm adds.
    """
    return explores(setting) and bool(COURSE & set(words(setting)))


def _reward(metrics: Mapping[str, Columns], *, explored: bool) -> dict[str, str]:
    """Return what ``R`` is where a policy is trained; a recall stands beside a precision."""
    said = {word for one in metrics for word in words(one)}
    (name, *others) = [n for n in metrics if _bag(n) in REWARDS and not _data(n)] or [""]
    if not name and RETURN in metrics and not OF_A_PLAYER & said:
        name = RETURN if ENTROPY & said or {"policy_loss", "entropy"} & metrics.keys() else ""
    if not name or others or RECALL & said:
        return {}
    if _bag(name) == SCORE and not FROM_REFERENCE & metrics.keys():
        return {}
    lengths = any(_bag(one) in LENGTHS for one in metrics)
    acts = OF_POLICY & metrics.keys() or VALUES & said or any(map(explores, metrics)) or lengths
    acts = acts or explored
    return {name: "reward"} if acts else {}


def _data(name: str) -> bool:
    return not SPLITS.keys().isdisjoint(words(name))


def _of_completions(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the lengths of completions, the share that was cut, and what they are held against.

    Of an agent a length is that of an episode, and what was truncated is one.
    """
    said = {word for name in metrics for word in words(name)}
    rewarded = "reward" in metrics and (FROM_REFERENCE & metrics.keys() or OF_TEXTS & said)
    if not rewarded or _acts(metrics):
        return {}
    lengths = [name for name in metrics if _bag(name) in LENGTHS]
    found = dict.fromkeys(lengths[:1], "len_mean")
    cut = [name for name in metrics if _bag(name) - SHARE in CUT or _at_most(name)]
    shares = [name for name in cut if _within(metrics[name], 1)]
    found |= dict.fromkeys(shares[:1], "len_clipped") if lengths or "len_mean" in metrics else {}
    for name in metrics:
        bag = _bag(name)
        if "gold" in bag and len(bag) > 1 and (ours := JUDGED.get(next(iter(bag - {"gold"})))):
            found[name] = ours
    return found


def of_episodes(metrics: Mapping[str, Columns], columns: Sequence[str]) -> dict[str, Columns]:
    """Return the metrics of a run that counts episodes: a mean length is of these, not of texts.

    Where completions are measured, or one of the `columns` that were logged is of tokens, an
    episode is a prompt that was answered.
    """
    names = (*metrics, *columns)
    texts = OF_COMPLETIONS & metrics.keys() or any(OF_TEXTS & {*words(name)} for name in names)
    return {name if texts or name != LENGTH else OF_EPISODE: r for name, r in metrics.items()}


def _at_most(name: str) -> bool:
    """Whether a name says that the most was reached: ``hit_max``, of which "max" is a statistic."""
    return frozenset(words(name)) - SHARE in CUT


def _acts(metrics: Collection[str]) -> bool:
    """Whether an agent plays: it counts episodes, or tries at random."""
    return tells_of_agent(metrics) or any(map(explores, metrics))


def _within(rows: Columns, high: float) -> bool:
    value = rows.value[np.isfinite(rows.value)]
    return len(value) > 0 and bool(value.min() >= 0 and value.max() <= high)


def _letters(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the entropy beside a reward, and the loss beside the rewards of pairs, which falls.

    ``|g|`` loses its bars before a sign of equality; beside a rate and a loss it is the norm.
    """
    may: Mapping[str, Callable[[], bool]] = {
        "H": lambda: "reward" in metrics and _within(metrics["H"], np.inf),
        "ent": lambda: "reward" in metrics and _within(metrics["ent"], np.inf),
        "g": lambda: metrics.keys() >= RATED and _within(metrics["g"], np.inf),
        "L": lambda: "dpo_chosen" in metrics and falls(metrics["L"]),
    }
    return {name: LETTERS[name] for name, told in may.items() if name in metrics and told()}


def _per_symbol(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the losses that are called by their unit, ``nats/char``, where none is by its name."""
    if any(classify(name).quantity in DRIVEN for name in metrics):
        return {}
    found: dict[str, str] = {}
    for name in metrics:
        bag = _bag(name) - SPLITS.keys()
        by_unit = bag & UNITS and bag & SYMBOLS and bag <= UNITS | SYMBOLS
        if by_unit or (len(bag) == 1 and bag <= IN_ONE):
            held_out = classify(name).split in {"val", "test"}
            found.setdefault("eval_loss" if held_out else "train_loss", name)
    return {name: ours for ours, name in found.items()} if "train_loss" in found else {}


def _norm(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the gradient of which one number is left, never below 0: its norm."""
    alone = [name for name in metrics if name.lower() in NORMS]
    norm = len(alone) == 1 and _within(metrics[alone[0]], np.inf)
    return {alone[0]: "grad_norm"} if norm else {}


def _rate(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the rate that is called by its Greek letter: ``eta``, as XGBoost does.

    The time that is left is called so too: it shrinks from row to row, and comes to 0. A rate
    stands for most rows, or goes on from one to the next by one factor.
    """
    if "eta" not in metrics or "learning_rate" in metrics:
        return {}
    value = metrics["eta"].value
    if len(value) < FEWEST or not _within(metrics["eta"], 1) or not (value > 0).all():
        return {}
    stands = np.mean(value[1:] == value[:-1]) > 0.5  # noqa: PLR2004 - most of them
    factors = value[1:] / value[:-1]
    return {"eta": "learning_rate"} if stands or np.ptp(factors) <= ROUNDED else {}
