"""Of which data an accuracy or another score is that names none, and what is R²."""

import re
from collections.abc import Collection, Mapping

import numpy as np

from runlens.history import Columns
from runlens.metrics import quality
from runlens.naming import classify, words
from runlens.naming.classify import says_right
from runlens.patterns import lazy_re

R_SQUARED = {"train_accuracy": "train_r2", "eval_accuracy": "eval_r2"}
COUNTS = {"train_accuracy": "train_right_answers", "eval_accuracy": "eval_right_answers"}
_APART = lazy_re(r"[^a-z0-9]+")
_AT = lazy_re(r"(?<=recall)@|(?<=hit)@|(?<=hits)@|(?<=hr)@")
_OF_DATA = lazy_re(r"(?:train|eval|val|test|dev)", re.IGNORECASE)
MANY = 12  # epochs, of which half lie behind the best and the last eighth has a median
KEPT, HALVED = 0.9, 0.5  # of the best accuracy, and of the loss beside it
RARE = 3  # training losses to an accuracy from which it is measured now and then
# of a ranking, which is made of held-out data wherever it stands: no program has one of a batch
RANKED = frozenset({"map", "ndcg", "mrr", "recall_at", "hit_at", "hits_at", "hr_at"})
MOST = 100.0  # per cent, above which no score is


def of_data(metrics: Mapping[str, Columns], logged: Collection[str]) -> dict[str, Columns]:
    """Return the metrics of a run with its accuracies by their data; `logged` are its own names."""
    right = _without_counts(_with_right_answers(metrics))
    with_scores = _with_held_out_scores(_with_held_out_accuracy(right, logged))
    return _without_negative_shares(_with_rankings(with_scores))


def _with_right_answers(metrics: Mapping[str, Columns]) -> dict[str, Columns]:
    """Call the share of answers that were right an accuracy: ``hits 296/1500``. A count is none."""
    told = {
        name: "eval_accuracy" if classify(name).split in {"val", "test"} else "train_accuracy"
        for name, rows in metrics.items()
        if says_right(name)
        and bool(((rows.value >= 0) & (rows.value <= 1)).all())
        and not (rows.value == np.floor(rows.value)).all()
    }
    twice = len(set(told.values())) < len(told) or not metrics.keys().isdisjoint(told.values())
    return {name if twice else told.get(name, name): rows for name, rows in metrics.items()}


def _without_counts(metrics: Mapping[str, Columns]) -> dict[str, Columns]:
    """Call what is called an accuracy and lies above any per cent what it is: ``Treffer 701``."""
    return {
        COUNTS[name] if name in COUNTS and np.nanmedian(rows.value) > MOST else name: rows
        for name, rows in metrics.items()
    }


def _with_rankings(metrics: Mapping[str, Columns]) -> dict[str, Columns]:
    """Call a score of a ranking one of evaluation: ``mAP``, ``NDCG@10``, ``Recall@20``.

    Not a single result, the best so far, one that names its data, one beyond what a share can be.
    """
    told: dict[str, str] = {}
    for name, rows in metrics.items():
        ours = f"eval_{_APART.sub('_', _AT.sub('_at_', name.lower())).strip('_')}"
        known = classify(name).split or _OF_DATA.match(name) or "best" in words(name)
        kind = None if known or len(rows.value) == 1 else quality(ours)
        share = 0 <= np.nanmin(rows.value, initial=MOST) <= np.nanmax(rows.value, initial=0) <= MOST
        free = ours not in metrics and ours not in told.values()
        drawn = kind and kind.kind == "map" and kind.of and "mAP" not in name  # a heat map
        if kind and kind.kind in RANKED and not drawn and share and free:
            told[name] = ours
    return {told.get(name, name): rows for name, rows in metrics.items()}


def _with_held_out_scores(metrics: Mapping[str, Columns]) -> dict[str, Columns]:
    """Call a score that names no data one of evaluation, if logged with each of its losses.

    ``Epoch 3, dev loss: 0.52, f1 score: 0.89``. Not an accuracy, which training logs as well.
    """
    evals = metrics.get("eval_loss")
    told: dict[str, str] = {}
    for name, rows in metrics.items() if evals is not None else ():
        said = _APART.sub("_", name.lower()).strip("_").removeprefix("score_")  # "Score (AUC)"
        ours = f"eval_{said}"
        kind = None if _OF_DATA.match(name) else quality(ours)
        same = evals is not None and np.array_equal(rows.step, evals.step)
        if kind and kind.kind != "accuracy" and same and ours not in metrics:
            told[name] = ours
    return {told.get(name, name): rows for name, rows in metrics.items()}


def _with_held_out_accuracy(
    metrics: Mapping[str, Columns], logged: Collection[str]
) -> dict[str, Columns]:
    """Call an accuracy that names no data one of evaluation, where it was logged as those are.

    At some of the steps of the training loss alone; or beside the best so far and an evaluation
    loss, as only what is held out has a best; or where it falls while the training loss halves.
    """
    known = [meaning for name in logged if (meaning := classify(name)).quantity == "accuracy"]
    told = any(meaning.split for meaning in known)
    if told or not {"train_loss", "train_accuracy"} <= metrics.keys():
        return dict(metrics)
    best = "eval_loss" in metrics and any(meaning.statistic == "best" for meaning in known)
    rare = RARE * len(metrics["train_accuracy"].step) <= len(metrics["train_loss"].step)
    if not (best or rare or _falls_beside(metrics)):
        return dict(metrics)
    ours = {"train_accuracy": "eval_accuracy"}
    return {ours.get(name, name): rows for name, rows in metrics.items()}


def _falls_beside(metrics: Mapping[str, Columns]) -> bool:
    """Whether an accuracy fell by a tenth behind its best while the loss of training halved.

    Of the same rows more are right when their loss falls so far: these are those of the evaluation
    loss that stands beside it.
    """
    train, right = metrics["train_loss"], metrics["train_accuracy"].value
    if "eval_loss" not in metrics or len(right) < MANY or len(train.value) != len(right):
        return False
    every = np.isfinite(right) & np.isfinite(train.value)
    best = int(np.argmax(np.where(every, right, -np.inf)))
    behind = every & (np.arange(len(right)) > best)
    if 2 * behind.sum() < every.sum():
        return False
    rest = np.flatnonzero(behind)[-(int(behind.sum()) // 4) :]
    fell = np.median(right[rest]) < KEPT * right[best]
    return bool(fell and 0 < np.median(train.value[rest]) < HALVED * train.value[best])


def _without_negative_shares(metrics: Mapping[str, Columns]) -> dict[str, Columns]:
    """Call what is called an accuracy and goes below zero R²: no share of right answers does."""
    return {
        R_SQUARED[name]
        if name in R_SQUARED
        and R_SQUARED[name] not in metrics
        and np.nanmin(rows.value, initial=0) < 0
        else name: rows
        for name, rows in metrics.items()
    }
