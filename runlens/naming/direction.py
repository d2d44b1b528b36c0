"""Which way is better, by the words of a column's name."""

from collections.abc import Iterable

from runlens.naming import words

# in the spelling of `words`
LOWER = frozenset({
    "loss", "nll", "logloss", "ppl", "mse", "mae", "rmse", "error", "recon", "fid", "kid", "lpips",
    "wer", "cer", "eer", "hter", "acer", "mape", "rmsle", "mpjpe", "epe", "ade", "fde", "chamfer",
    "brier", "ece", "absrel",
})  # fmt: skip
HIGHER = frozenset({
    "acc", "acc1", "acc5", "f1", "hmean", "auc", "map", "iou", "miou", "dice", "bleu", "psnr",
    "ssim", "ndcg", "mrr", "auroc",
    "reward", "rewards", "return", "returns", "elbo", "likelihood", "likelihoods", "loglik",
    "successrate", "winrate", "recall@", "hit@", "hits@", "hr@",
})  # fmt: skip
# of a batch, and when something was logged: of these no direction is better
ENDS = frozenset({"min", "max", "std", "timestamp", "timestamps", "datetime"})


def better(name: str) -> float:
    """Return -1 for a column that should fall, 1 for one that should rise, 0 where nobody knows."""
    said = {word.rstrip("0123456789k") if word[:3] == "fid" else word for word in words(name)}
    at = {f"{word.rstrip('0123456789')}@" for word in said if word[-1:].isdigit()}
    said |= {word.rstrip("0123456789") for word in said} | at  # of the first so many, `ndcg20`
    return 0.0 if said & ENDS else -1.0 if said & LOWER else 1.0 if said & HIGHER else 0.0


def siblings(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ from one in a single word, which says no direction.

    ``acc_background`` of ``acc_tumor``: the same score of another class.
    """
    said, made = words(name), []
    for other in names:
        named = words(other)
        apart = [pair for pair in zip(said, named, strict=False) if pair[0] != pair[1]]
        if len(named) == len(said) and len(apart) == 1 and not any(map(better, apart[0])):
            made.append(other)
    return made
