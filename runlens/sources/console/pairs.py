"""Named numbers in a line of text, whatever stands between name and number."""

import re
from functools import lru_cache

from runlens.naming.vocabulary import LOSS
from runlens.patterns import lazy_re

NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
_PAIR = lazy_re(
    r"(?<![\w/@.'\"])([A-Za-z][\w/.#+\-]*"
    r"(?:(?:@(?:0?\.\d+:0?\.\d+)?|(?<=_0\.5):(?=0\.95))[\w/.#+\-]*)*"
    r"(?:[ ][A-Za-z(@][\w/@.\-()#+]*){0,5}?)"
    r"(?:\s*[:=]\s*|\s+|(?=\[))\[?(?:np\.float\d+\(|(?:tf\.)?[Tt]ensor\()?("
    + NUMBER
    + r"|(?:[-+]?(?:nan|[iI]nf(?:inity)?|NaN|NAN|INF)\b(?:\.0)?(?! iterations)))"
    r"(?:\s?(ms|%|us|s|m|h|[KMGT]i?B|BPC|bpc|[kKMB](?![A-Za-z])))?(?![\w/]|\.\d)(?!:\s*[-+]?[\d.]|\s\d\ds\b)"
)
# what is no number of a pair: a day, as C's ctime writes it, and the share of what was counted
_DAY = lazy_re(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d+ [\d:]{5,}(?: \d{4})?\b")
IN_PERCENT = lazy_re(r"(?i)(?:acc|prec)\w*@\d+\W{0,4}$")  # by its name already
# CatBoost's clock
_CLOCK = lazy_re(r"\b(?:total|remaining): [\d.]+(?:us|ms|s|m|h|d)(?: \d+[smh])?(?=\s|$)")
# over how many a mean was taken: "Average reward (last 100): 12.5"
_OVER = lazy_re(
    r"(?<=\w) ?(?:\((?:over )?(?:the )?(?:last|past) \d{1,6}(?: \w{1,12})?\)"
    r"|over (?:the )?(?:last|past) \d{1,6}(?: \w{1,12})?)(?=\s*[:=])",
    re.IGNORECASE,
)
# which of several it is, at the end of a name: "Accuracy (class 3): 0.5"
_WHICH = lazy_re(r"(?<=\w) ?\(([A-Za-z][\w /-]{0,40}?)[ =](\d{1,6})\)(?=:)")
# what numpy prints of several numbers: "[31. 71.  1.]"
_VECTOR = lazy_re(rf"\[\s*{NUMBER}(?:\s+{NUMBER})+\s*\]")
_NORM = lazy_re(
    r"(?:\|\||\u2016)([A-Za-z]\w*)(?:\|\||\u2016)(?:_\w{1,3})?(?=\s*[:= ])"
    r"|(?<![\w|])\|(g|grads?)\|(?=\s*[:= ]\s*[-+\d.ni])"
)
_SHARE = lazy_re(r"(?<=[:=] )(\d{1,12})/(\d{1,12}) \(\d+(?:\.\d+)?%\)")
# "hits 296/1500", "correct tensor(701) / 1500": of all, and no more is said of it
_RIGHT = lazy_re(
    r"(?i)(\b(?:\w+_)?(?:correct|hits)(?:\s*[:=]\s*|\s+))(?:tensor\()?(\d{1,12})\)? ?/ ?(\d{1,12})"
    r"(?![\d/.]|\s?\()"
)
# val loss is 0.5, average loss so far is 0.5, loss exploded to nan
_SAID = lazy_re(r"(?<=\w) (?:(?:so far )?(?:is|was)|exploded to|became)$")
# another sentence before a name: "done. train loss"; no short form as in "Avg. loss"
_SENTENCE = lazy_re(r"^.*?(?<!\w)(?!(?:train|valid|eval)\.)(?:\w{4,}|env)[.!?] ", re.IGNORECASE)
_WHEN = lazy_re(r" (?:at|after|for|in) (?:step|epoch|iter(?:ation)?)s?$", re.IGNORECASE)
# what a sentence says before a name: "finished after 20 timesteps with reward 21"
_WITH = lazy_re(r"(?i)^(.*\w) with (?:an? |the |its )?(\w.*)$")
# what stands behind "top" and of how many: words, as in top 5 accuracy, or any with their number
OF_TOP = (
    r"(?:\d{1,3}(?=[ _-](?:acc|err|prec|recall))"
    r"|\d{1,2}(?=(?: [a-z]\w*){1,2}(?:: ?| )\d(?:\.\d+)?(?:e-\d+)?(?![\w.])))"
)
_TOP = lazy_re(rf"\b([Tt]op)[ -]({OF_TOP})")
_COUNTS = lazy_re(
    r"(?:(?:at|current|total|global|training|train|iteration|optimi[sz]er)[ _])?"
    r"(?:step|iter|iteration|epoch|batch|update)s?",
    re.IGNORECASE,
)
_METRICS = (  # in lower case, wherever they stand: to look for words takes less than for a form
    "nll", "ppl", "perplex", "bpb", "bpc", "accuracy", "reward", "return", "learning rate",
    "learning_rate", "grad", "gnorm", "samplespersec", "entropy", "bleu", "psnr", "score",
    "error_rate",
)  # fmt: skip
_LOSS = lazy_re(LOSS)
_SHORT = lazy_re(  # which are parts of other words too
    r"\b(?:acc|lr\b|kl|xent\b|bce\b|cost\b|wer\b|cer\b|f1|hmean\b|m?iou|rmse\b|mse\b|fid\b|trl\b|tel\b)"
    r"|(?:\b|_)map(?:\b|_?50)|_acc(?:\b|_)"
)
_NOT_METRICS = {
    "eta", "pid", "total time", "gpu", "rank", "seed", "port", "v_num", "over", "num_updates",
    "loss for final step",
}  # fmt: skip


@lru_cache(1_024)
def names_metric(text: str) -> bool:
    """Whether a metric is named in a text; the rows of a log have the same few names."""
    lower = text.lower()
    if "loss" in lower and _LOSS.search(lower):
        return True
    for word in _METRICS:  # in half the time of any()
        if word in lower:
            return True
    return _SHORT.search(lower) is not None


def pairs(text: str, *, sure: bool = False) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the named numbers in a text; none unless one of the names is that of a metric.

    Percentages become fractions, and milliseconds are named: ``time 35.10ms`` is `time_ms`.
    Where it is `sure` that the numbers are metrics their names may be any.
    """
    found: dict[str, float] = {}
    anchored = sure
    text = _DAY.sub("", _TOP.sub(r"\1\2", text))
    text = _CLOCK.sub("", text) if "remaining: " in text else text
    text = _VECTOR.sub("", text) if "[" in text else text
    text = _SHARE.sub(_share, text) if "%)" in text else text
    text = _RIGHT.sub(_right, text) if "/" in text else text
    text = _OVER.sub("", text) if "ast " in text else text
    text = _WHICH.sub(_which, text) if "):" in text else text
    text = norms_named(text)
    for name, number, unit in _PAIR.findall(text):
        key = of_sentence(_SAID.sub("", name.strip(" -")))
        key += "-" * (name == f"{key}-" and f"{key}+" in text)  # r- beside r+
        if key.lower() in _NOT_METRICS or key in found or _COUNTS.fullmatch(key):
            continue
        if _WHEN.search(key):
            continue
        anchored = anchored or names_metric(key)
        found[key + "_ms" if unit == "ms" else key] = _number(number, unit, key)
    return (tuple(found), tuple(found.values())) if anchored else ((), ())


def of_sentence(name: str) -> str:
    """Return a name without the words of the sentence that it closes, or of another before it.

    >>> of_sentence("done. train loss"), of_sentence("Avg. loss")
    ('train loss', 'Avg. loss')
    >>> of_sentence("timesteps with reward"), of_sentence("loss with KL")
    ('reward', 'loss with KL')
    >>> of_sentence("the acc")
    'acc'
    """
    name = _SENTENCE.sub("", name).removeprefix("the ")
    said = _WITH.match(name) if " with " in name else None
    return said[2] if said and names_metric(said[2]) and not names_metric(said[1]) else name


def norms_named(text: str) -> str:
    """Return a text with the words of the norms in it, which formulas write in bars.

    >>> norms_named("loss=0.5, |g|=1.2, ||z||_2: 2")
    'loss=0.5, g norm=1.2, z norm: 2'
    """
    if "|g" in text or "||" in text or "\u2016" in text:
        return _NORM.sub(lambda said: f"{said[1] or said[2]} norm", text)
    return text


def _which(said: re.Match[str]) -> str:
    """Join the words and the number in brackets of a name; leave out what counts the row."""
    return "" if _COUNTS.fullmatch(said[1]) else f" ({said[1]}_{said[2]})"


def _share(counted: re.Match[str]) -> str:
    """Write ``9813/10000 (98%)`` as 0.9813."""
    whole = int(counted[2])
    return str(int(counted[1]) / whole) if whole else counted[0]


def _right(counted: re.Match[str]) -> str:
    """Write ``hits 296/1500`` as ``hits 0.1973``."""
    whole = int(counted[3])
    return f"{counted[1]}{int(counted[2]) / whole}" if whole else counted[0]


def _number(text: str, unit: str, name: str) -> float:
    if text[-5:-2].lower() in {"nan", "inf"}:  # Lightning's bar writes nan.0
        text = text[:-2]
    number = float(text.replace(",", ""))
    return number / 100.0 if unit == "%" and not IN_PERCENT.search(name) else number
