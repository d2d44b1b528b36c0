"""Of which data an accuracy is that names none, and what is called one and is R²."""

from collections.abc import Collection, Mapping

import numpy as np

from runlens.history import Columns
from runlens.naming import classify

R_SQUARED = {"train_accuracy": "train_r2", "eval_accuracy": "eval_r2"}
RARE = 3  # training losses to an accuracy from which it is measured now and then


def of_data(metrics: Mapping[str, Columns], logged: Collection[str]) -> dict[str, Columns]:
    """Return the metrics of a run with its accuracies by their data; `logged` are its own names."""
    return _without_negative_shares(_with_held_out_accuracy(metrics, logged))


def _with_held_out_accuracy(
    metrics: Mapping[str, Columns], logged: Collection[str]
) -> dict[str, Columns]:
    """Call an accuracy that names no data one of evaluation, where it was logged as those are.

    At some of the steps of the training loss alone; or beside the best so far and an evaluation
    loss, as only what is held out has a best.
    """
    known = [meaning for name in logged if (meaning := classify(name)).quantity == "accuracy"]
    told = any(meaning.split for meaning in known)
    if told or not {"train_loss", "train_accuracy"} <= metrics.keys():
        return dict(metrics)
    best = "eval_loss" in metrics and any(meaning.statistic == "best" for meaning in known)
    rare = RARE * len(metrics["train_accuracy"].step) <= len(metrics["train_loss"].step)
    if not (best or rare):
        return dict(metrics)
    ours = {"train_accuracy": "eval_accuracy"}
    return {ours.get(name, name): rows for name, rows in metrics.items()}


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
