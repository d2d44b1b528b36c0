"""Sets of kinds of trainings for compare_families.py, in the order in which each was asked once.

A set is asked of code that was fixed before the set was written, and is in view from then on. Each
row is a mechanism, the metric whose truth is known, and four settings: the baseline, one far off,
one next to it, one between. `HARD` are single configurations of noise with a memory.
"""

from collections.abc import Callable

from further import further
from generated import families
from mechanisms import choices, fits, noises, returns, structure
from mechanisms.common import Curves
from networks import FITTED, KEPT
from planned import planned
from trainings import EQUAL, SEEN, UNSEEN, Family

Row = tuple[Callable[[int, float], Curves], str, tuple[float, ...]]


def _around(base: float) -> tuple[float, ...]:
    return base, 0.12 * base, 0.85 * base, 0.4 * base


def _table(*rows: Row) -> dict[str, Family]:
    return {train.__name__: Family(train, metric, values) for train, metric, values in rows}


def _hard(**named: Callable[[int, float], Curves]) -> dict[str, Family]:
    return {
        name.replace("_", " "): Family(train, "eval_loss" if "evals" in name else "train_loss", ONE)
        for name, train in named.items()
    }


ONE = (1.0,)
NEW = _table(  # no network, and no gradient descent on one
    (fits.boosting, "eval_rmse", (0.3, 0.05, 0.27, 0.15)),
    (structure.mixture, "eval_loss", (0.6, 0.05, 0.5, 0.2)),
    (returns.evolution, "reward", (0.1, 0.01, 0.09, 0.03)),
    (returns.cliff, "reward", (0.3, 0.02, 0.25, 0.08)),
    (choices.private, "eval_accuracy", (1.0, 0.02, 0.9, 0.2)),
    (structure.clusters, "eval_loss", (0.2, 0.005, 0.18, 0.05)),
    (fits.langevin, "eval_loss", (0.02, 0.002, 0.018, 0.006)),
    (choices.triplets, "eval_accuracy", (0.02, 0.0005, 0.017, 0.004)),
)
LAST = _table(  # after the doubt about the noise became a mixture
    (fits.reservoir, "eval_loss", (0.1, 0.01, 0.085, 0.03)),
    (structure.dictionary, "eval_loss", (0.2, 0.02, 0.17, 0.08)),
    (returns.annealing, "reward", (0.05, 0.005, 0.04, 0.015)),
    (structure.duel, "eval_mae", (0.05, 0.005, 0.04, 0.02)),
    (returns.traces, "reward", (0.2, 0.01, 0.17, 0.05)),
    (fits.quantiles, "eval_loss", (0.2, 0.02, 0.17, 0.08)),
    (choices.votes, "eval_accuracy", (0.05, 0.002, 0.04, 0.015)),
    (structure.diffusion, "eval_loss", (0.02, 0.002, 0.017, 0.006)),
)
FRESH = _table(  # after last evaluations were weighed with their halves
    (fits.recurrent, "eval_loss", _around(0.1)),
    (fits.counts, "eval_loss", _around(0.02)),
    (choices.preferences, "eval_accuracy", _around(0.4)),
    (fits.kernels, "eval_loss", _around(0.3)),
    (returns.regulator, "reward", _around(0.1)),
    (returns.hedge, "reward", _around(0.1)),
    (structure.machine, "eval_recon", _around(0.1)),
    (returns.genes, "reward", _around(0.03)),
    (choices.graph, "eval_accuracy", _around(0.5)),
    (structure.components, "eval_recon", _around(0.05)),
    (choices.dropped, "eval_accuracy", _around(1.0)),
    (fits.filters, "train_loss", _around(0.5)),
)
LATER = _table(  # after bends and samples were told as what they are
    (fits.attention, "eval_loss", _around(0.3)),
    (fits.adapter, "eval_loss", _around(0.1)),
    (choices.margins, "eval_accuracy", _around(0.2)),
    (structure.latent, "eval_loss", _around(0.02)),
    (fits.student, "eval_loss", _around(0.5)),
    (choices.federated, "eval_accuracy", _around(0.1)),
    (structure.hidden_states, "eval_loss", _around(0.4)),
    (choices.listwise, "eval_ndcg", _around(0.1)),
    (fits.hazards, "eval_loss", _around(0.03)),
    (choices.outlines, "eval_iou", _around(0.5)),
    (returns.groups_of_answers, "reward", _around(0.3)),
    (returns.matches, "reward", _around(0.2)),
)
OLD_HARD = _hard(
    AR_98_t_4=noises.correlated, EMA_99=noises.averaged, wandering_by_2_percent=noises.drifting
)
FRESH_HARD = (
    EQUAL
    | OLD_HARD
    | _hard(
        AR_2_that_swings=noises.ringing,
        average_of_averages=noises.twice_averaged,
        evals_that_stroll=noises.strolling,
    )
)
LATER_HARD = FRESH_HARD | _hard(telegraph=noises.telegraph, passes=noises.in_passes)
PLANNED_HARD = LATER_HARD | _hard(
    noise_of_all_lengths=noises.of_all_lengths,
    evals_with_AR_98=noises.evaluated_in_memory,
    means_of_50_steps=noises.smoothed_window,
    one_slow_wave=noises.one_wave,
)
FURTHER_HARD = PLANNED_HARD | _hard(
    noise_of_changing_size=noises.changing, evals_that_restart=noises.relaxing
)

SETS: dict[str, tuple[dict[str, Family], dict[str, Family]]] = {
    "fitted": ({**SEEN, **UNSEEN, **FITTED, **KEPT}, EQUAL),
    "drawn": ({**families(0, 90), **families(1_000, 60)}, OLD_HARD),
    "new": (NEW, OLD_HARD),
    "last": ({**LAST, **families(2_000, 30)}, OLD_HARD),
    "fresh": ({**FRESH, **families(3_000, 24)}, FRESH_HARD),
    "later": ({**LATER, **families(4_000, 24)}, LATER_HARD),
    # after two runs without settings were told by a jitter of any spacing
    "planned": (planned(0, 42), PLANNED_HARD),
    # after training curves were asked too: those mechanisms, by numbers that were not drawn before
    "planned again": (planned(42, 42), PLANNED_HARD),
    # after jitters were compared as well, and seeds were taken to end in another optimum at times
    "further": (further(0, 42), FURTHER_HARD),
}
