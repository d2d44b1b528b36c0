"""How the page writes values, limits, moments, settings and metrics."""

import re

from runlens.diagnosis import Confidence, Evidence, Finding, Moment
from runlens.metrics import NAMES, base
from runlens.report.html.element import Markup, cut, el, join
from runlens.report.values import evidence_value
from runlens.run import Setting
from runlens.wording import number
from runlens.wording import step as step_words

UNKNOWN = "Not recorded"
DASH = "–"
SETTING = 300  # characters of one setting's value
UNBROKEN = 18  # characters of a hyphenated word that a headline keeps on one line
SURE = ((0.9, "very high"), (0.7, "high"), (0.5, "medium"), (0.0, "low"))
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
    "gpu_util": "GPU utilisation",
    "d_loss": "Discriminator loss",
    "g_loss": "Generator loss",
    "frac_zero_std": "Groups whose rewards are all equal",
    "is_ratio_mean": "Importance ratio, mean",
    "is_ratio_min": "Importance ratio, smallest",
    "is_ratio_max": "Importance ratio, largest",
    "len_clipped": "Completions cut at the limit",
    "clip_ratio": "Ratios that were clipped",
    "throughput_tokens": "Tokens per second",
    "mfu": "Model flops utilisation",
}
_EXPONENT = re.compile(r"e([+-]?)0*(\d+)$")
_WORD = re.compile(r"[a-z]+(?=[\s,;]|$)")
_HYPHENS = re.compile(r"\b[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+\b")


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


def moment(when: Moment) -> str:
    """Return ``step 600 (epoch 1.9)``."""
    if when.step is None:
        return "no single step"
    epoch = f" (epoch {number(when.epoch, 2)})" if when.epoch is not None else ""
    return f"step {step_words(when.step)}{epoch}"


def span(finding: Finding) -> str:
    """Return when a finding holds: ``step 600 to the end``."""
    if finding.onset.step is None:
        return "the whole run"
    if finding.end is None or finding.end.step is None:
        return f"{moment(finding.onset)} to the end"
    if finding.end.step == finding.onset.step:
        return moment(finding.onset)
    return f"{moment(finding.onset)} to {step_words(finding.end.step)}"


def confidence(sure: Confidence) -> str:
    """Return ``confidence high (0.8): 30 later evaluations agree``."""
    word = next((word for least, word in SURE if sure.value >= least), SURE[-1][1])
    reason = f": {sure.reason}" if sure.reason else ""
    value = "1.0" if sure.value >= 1 else number(sure.value, 2)
    return f"confidence {word} ({value}){reason}"


def setting(value: Setting) -> str:
    """Return a setting as its file writes it; ``Not recorded`` where it is not known."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return _EXPONENT.sub(r"e\1\2", repr(value)).replace("e+", "e")
    return cut(value, SETTING)


def sentence(words: str) -> str:
    """Return `words` with a capital and a stop; a name such as ``lora_r`` keeps its letters."""
    capital = words[:1].upper() + words[1:] if _WORD.match(words) else words
    return capital if words.endswith((".", "?")) else f"{capital}."


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
