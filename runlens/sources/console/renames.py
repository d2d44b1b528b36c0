"""Names that mean something else than they say: by the framework, or by what stands beside them."""

from collections.abc import Mapping, Sequence

from runlens.naming.agents import explores

# names that are wrong as they stand, because the same word means something else elsewhere
_RENAMED = {
    "nanogpt": {"train loss": "eval_train_loss", "val loss": "val_loss", "time_ms": "dt_ms"},
    "megatron": {
        "lm loss value": "lm loss validation",
        "lm loss PPL": "validation ppl",
        "samples per second": "samples_per_sec",
    },
    "pix2pix": {"D": "d_loss", "D_A": "d_loss", "G_A": "g_loss", "G_GAN": "g_loss"},  # CycleGAN too
    "composer": {
        "loss/train/total": "train/loss",
        "metrics/eval/LanguageCrossEntropy": "eval/loss",
        "LanguageCrossEntropy": "train/LanguageCrossEntropy",
    },
}
_ANYWHERE = {  # llm.c, LitGPT, Marian
    "trl": "train_loss",
    "tel": "val_loss",
    "loss train": "train_loss",
    "Cost": "train_loss",
    "gNorm": "grad_norm",
    "L.r.": "learning_rate",
}
_GAN = {"D": "d_loss", "G": "g_loss"}
_LENGTHS = {"len", "length", "L", "l", "ep_len", "steps"}  # of an episode
_STATISTICS = {"mean", "median", "stdev", "max", "min"}  # of the returns of some: ChainerRL


def renamed(names: Sequence[str], framework: str) -> tuple[str, ...]:
    """Return the names of a row as `runlens/metrics.py` knows them."""
    known = {**_RENAMED.get(framework, {}), **_ANYWHERE, **_beside(names)}
    return tuple(known.get(name, name) for name in names)


def _beside(names: Sequence[str]) -> Mapping[str, str]:
    """Return what names that say nothing alone mean beside others of their row.

    Both networks of a GAN: their losses. ``R`` beside the length of an episode, and the mean beside
    the other statistics of some, or ``R`` beside a rate of exploration: what an agent got.
    """
    said = set(names)
    if said >= _GAN.keys():
        return _GAN
    if "episodes" in said and said >= _STATISTICS:
        return {"mean": "reward"}
    of_agent = _LENGTHS & said or any(map(explores, names))
    return {"R": "reward", "r": "reward"} if of_agent else {}
