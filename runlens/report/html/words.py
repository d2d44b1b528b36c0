"""How the page writes values, limits, settings and metrics."""

from runlens.diagnosis import Evidence
from runlens.metrics import NAMES, base
from runlens.patterns import lazy_re
from runlens.report.html.element import Markup, cut, el, join
from runlens.report.values import evidence_value
from runlens.run import Setting

UNKNOWN = "Not recorded"
DASH = "–"
SETTING = 300  # characters of one setting's value
UNBROKEN = 18  # characters of a hyphenated word that a headline keeps on one line
SHORT = {
    "train_loss": "train",
    "eval_loss": "eval",
    "grad_norm": "norm",
    "learning_rate": "lr",
    "reward_std": "std",
    "kl": "KL",
    "kl_step": "KL",
    "kl_seq": "KL",
    "entropy_seq": "entropy",
    "len_mean": "length",
    "dpo_margin": "margin",
    "dpo_acc": "accuracy",
    "d_loss": "D",
    "g_loss": "G",
    "frac_zero_std": "no spread",
    "is_ratio_mean": "ratio",
    "gpu_mem": "memory",
    "throughput_tokens": "tokens/s",
}
SPOKEN = {
    "grad_norm": "Gradient norm",
    "kl": "KL",
    "kl_step": "KL, old against new policy",
    "kl_seq": "KL of a sequence",
    "entropy_seq": "Entropy of a sequence",
    "len_mean": "Completion length",
    "dpo_margin": "Reward margin",
    "dpo_acc": "Pairs ranked right",
    "reward_std": "Spread of the reward",
    "gpu_mem": "GPU memory",
    "gpu_util": "GPU utilization",
    "d_loss": "Discriminator loss",
    "g_loss": "Generator loss",
    "frac_zero_std": "Groups whose rewards are all equal",
    "is_ratio_mean": "Importance ratio, mean",
    "is_ratio_min": "Importance ratio, smallest",
    "is_ratio_max": "Importance ratio, largest",
    "len_clipped": "Completions cut at the limit",
    "clip_ratio": "Ratios that were clipped",
    "throughput_tokens": "Tokens per second",
    "mfu": "Model flops utilization",
}
_EXPONENT = lazy_re(r"e([+-]?)0*(\d+)$")
_HYPHENS = lazy_re(r"\b[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+\b")


def short(metric: str) -> str:
    """Return the name at the end of a line: ``train``, ``eval``, ``norm``."""
    known = SHORT.get(base(metric), base(metric).replace("_", " "))
    _, _, which = metric.partition(":")
    return cut(f"{known} {which}" if which else known, 14)


def spoken(metric: str) -> str:
    """Return a metric as a heading: ``Gradient norm``, ``Train loss``; unknown names as logged."""
    name = base(metric)
    if name not in NAMES:
        return cut(metric, 40)
    known = SPOKEN.get(name) or name.replace("_", " ").capitalize()
    _, _, which = metric.partition(":")
    return cut(f"{known}, {which}" if which else known, 40)


def limit(item: Evidence) -> str:
    """Return the limit with the side on which the pattern lies: ``≥ 5 %``; a dash for none."""
    if item.limit is None:
        return DASH
    return f"{'≥' if item.above else '≤'} {evidence_value(item, item.limit)}"


def setting(value: Setting) -> str:
    """Return a setting as its file writes it; ``Not recorded`` where it is not known."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return _EXPONENT.sub(r"e\1\2", repr(value)).replace("e+", "e")
    return cut(value, SETTING)


def place(where: str) -> str:
    """Return the end of a path: ``train.log:95``."""
    return where.rstrip("/").rpartition("/")[2]


def headline(words: str) -> Markup:
    """Return `words` with hyphenated terms kept on one line."""
    parts: list[str | Markup] = []
    position = 0
    for match in _HYPHENS.finditer(words):
        if len(match[0]) < UNBROKEN:
            parts += words[position : match.start()], el("span", match[0], class_="nb")
            position = match.end()
    return join(*parts, words[position:])
