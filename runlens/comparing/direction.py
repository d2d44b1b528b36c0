"""What the name of a metric says: which direction is better, whether it is held out, its rank.

Names that RunLens itself knows come first, then single words of the name: ``val/hits@10`` has the
word ``hits``, of which more is better. Where no word is known there is no direction, and the
metric decides nothing unless the user says so.
"""

from functools import lru_cache

from runlens.metrics import NAMES, Better, base, plain
from runlens.patterns import lazy_re

LOWER = frozenset({
    "loss", "nll", "ce", "err", "error", "errors", "mse", "mae", "rmse", "mape", "rmsle", "huber",
    "ppl", "perplexity", "bpc", "bpb", "bits", "wer", "cer", "ter", "fid", "kid", "lpips", "fvd",
    "recon", "reconstruction", "distance", "ece", "brier", "regret", "violations", "divergence",
    "toxicity", "eer", "hter", "acer", "dcf", "mindcf", "epe", "chamfer", "kld", "dist", "mpjpe",
    "hallucination", "hallucinations",
})  # fmt: skip
HIGHER = frozenset({
    "acc", "accuracy", "f1", "mrr", "hits", "hit", "ndcg", "map", "ap", "auc", "auroc", "auprc",
    "bleu", "sacrebleu", "chrf", "rouge", "rouge1", "rouge2", "rougel", "meteor", "bertscore",
    "recall", "precision", "r2", "reward", "return", "returns", "score", "scores", "win", "winrate",
    "wins", "success", "psnr", "ssim", "iou", "miou", "dice", "mmlu", "gsm8k", "humaneval", "mbpp",
    "arc", "hellaswag", "piqa", "winogrande", "boolq", "truthfulqa", "squad", "em", "exact",
    "pass", "elo", "spearman", "pearson", "corr", "correlation", "mcc", "kappa", "alignment",
    "elbo", "likelihood", "topk", "top1", "top5", "inception", "solved", "bench", "benchmark",
})  # fmt: skip
# of predictions from the truth where they are evaluated; elsewhere the size of the weights
DISTANCES = frozenset({"l1", "l2", "linf"})
HELD_OUT = frozenset({
    "eval", "evaluation", "val", "valid", "validation", "test", "dev", "heldout", "benchmark",
    "bench", "holdout",
})  # fmt: skip
# scores for which a training is done at all, and which its loss only stands for
AIMS = (
    "mrr", "ndcg", "map", "hits", "wer", "cer", "ter", "bleu", "sacrebleu", "chrf", "rougel",
    "rouge", "rouge1", "rouge2", "meteor", "fid", "mmlu", "gsm8k", "humaneval", "mbpp", "arc",
    "hellaswag", "reward", "return", "returns", "winrate", "miou", "dice", "elo", "benchmark",
)  # fmt: skip
# parts of a loss, and what is measured on the way: never what a training is for
ASIDE = frozenset({
    "train", "step", "grad", "norm", "lr", "rate", "ratio", "weight", "weights", "entropy", "kl",
    "std", "min", "max", "runtime", "time", "samples", "epoch", "per", "usage", "length", "len",
})  # fmt: skip
_WORDS = lazy_re(r"[a-z]+[0-9]*[a-z]*|[0-9]+")


@lru_cache(maxsize=4096)
def words(metric: str) -> frozenset[str]:
    """Return the words of a metric's name, in lower case."""
    return frozenset(_WORDS.findall(plain(base(metric)))) | frozenset(
        _WORDS.findall(plain(metric.partition(":")[2]))
    )


@lru_cache(maxsize=4096)
def better(metric: str) -> Better:
    """Return which direction of a metric is better; empty where its name does not tell."""
    known = NAMES.get(base(metric))
    if known is not None:
        return known.better
    said = words(metric)
    if "rate" in said and said & {"win", "success", "pass", "solve"}:
        return "higher"
    if said & {"std", "grad", "lr", "time", "runtime", "step", "epoch", "weight"}:
        return ""
    if said & LOWER or (said & DISTANCES and is_held_out(metric) and not said & ASIDE):
        return "lower"
    return "higher" if said & HIGHER else ""


def is_held_out(metric: str) -> bool:
    """Whether a metric is measured now and then, on held-out data."""
    return metric.startswith("eval_") or bool(words(metric) & HELD_OUT)


def rank(metric: str) -> tuple[int, int, str]:
    """Return the place of a held-out metric in the order in which they decide; lowest first.

    Scores that a training is done for come before its loss; then losses; then accuracies and all
    else with a direction, by name.
    """
    said = words(metric)
    aims = [place for place, word in enumerate(AIMS) if word in said]
    if aims and "loss" not in said:
        return 0, aims[0], metric
    if base(metric) == "eval_loss":
        return 1, 0, metric
    if metric in _OF_TASK:
        return 2, _OF_TASK.index(metric), metric
    return (3 if better(metric) == "lower" else 4), bool(said & ASIDE), metric


_OF_TASK = ("eval_accuracy", "eval_f1", "eval_dpo_acc")
