"""Names that mean something else than they say: by the framework, or by what stands beside them."""

from collections.abc import Mapping, Sequence

from runlens.naming.agents import explores
from runlens.patterns import lazy_re
from runlens.sources.console.averages import MARK

# names that are wrong as they stand, because the same word means something else elsewhere
_RENAMED = {
    "nanogpt": {"train loss": "eval_train_loss", "val loss": "val_loss", "time_ms": "dt_ms"},
    "megatron": {
        "lm loss value": "lm loss validation",
        "lm loss PPL": "validation ppl",
        "samples per second": "samples_per_sec",
    },
    # fb.resnet.torch and what was made of it: errors in per cent
    "torch7": {
        f"{of}{top}{mean}": f"{of}{top} error{mean}"
        for of in ("", "test/")
        for top in ("top1", "top5")
        for mean in ("", MARK)
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
# spaCy's columns: a sum of losses by component, the scores of its evaluation, and their mean
_SUMMED, _MEAN_SCORE = "LOSS ", "SCORE"
_SCORED = lazy_re(r"([A-Z]+(?:_[A-Z]+)*)_(F|P|R|ACC|AUC|UAS|LAS)(_[A-Z]+)?")
_ENDS = {"F": "f1", "P": "precision", "R": "recall", "ACC": "accuracy"}
_LENGTHS = {"len", "length", "L", "l", "ep_len", "steps"}  # of an episode
_FAIRSEQ = {"wps", "wpb", "nll_loss", "ups"}  # two of them
_STATISTICS = {"mean", "median", "stdev", "max", "min"}  # of the returns of some: ChainerRL


def framework_of(names: set[str]) -> str:
    """Return the framework that logs such names; empty for none that is known."""
    if "lm loss" in names and names & {"consumed samples", "loss scale", "global batch size"}:
        return "megatron"
    if any(name.startswith(("actor/", "critic/")) for name in names):
        return "verl"
    if len(names & _FAIRSEQ) > 1 and "ppl" in names:
        return "fairseq"
    if "G_GAN" in names or {"D_A", "G_A"} <= names:
        return "pix2pix"
    if {"train loss", "val loss"} <= names and "loss" in names:
        return "nanogpt"
    if {"loss", "mfu", "time_ms"} <= names:
        return "nanogpt"
    composer = "composer" if "loss/train/total" in names else ""
    return "torch7" if {"Err", "top1"} <= names else composer


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
    if _MEAN_SCORE in said and any(name.startswith(_SUMMED) for name in names):
        scored = {name: found for name in names if (found := _SCORED.fullmatch(name))}
        ours = {
            n: f"eval_{m[1]}_{_ENDS.get(m[2], m[2])}{m[3] or ''}".lower() for n, m in scored.items()
        }
        return {**ours, _MEAN_SCORE: "eval_score"}
    of_agent = _LENGTHS & said or any(map(explores, names))
    return {"R": "reward", "r": "reward"} if of_agent else {}
