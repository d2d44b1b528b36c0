"""Named numbers in a line of text, whatever stands between name and number."""

import re

NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
_PAIR = re.compile(
    r"(?<![\w/@.'\"])([A-Za-z][\w/@.#+\-]*(?:[ ][A-Za-z(@][\w/@.\-()#+]*){0,5}?)\s*[:=]?\s*"
    r"\[?(?:np\.float\d+\(|tensor\()?(" + NUMBER + r"|(?:[-+]?(?:nan|inf|NaN|Inf)\b))"
    r"(?:\s?(ms|%|us|s|m|h|[KMGT]i?B|BPC|bpc|[kKMB](?![A-Za-z])))?(?![\w/])"
)
ANCHOR = re.compile(
    r"loss|nll|ppl|perplex|bpb|bpc|\bacc|accuracy|reward|return|\blr\b|learning[ _]rate|grad"
    r"|gnorm|\bkl"
    r"|entropy|\bwer\b|\bcer\b|bleu|\bf1|\bmap\b|\biou|psnr|\bfid\b|score|\btrl\b|\btel\b|error_rate",
    re.IGNORECASE,
)
_NOT_METRICS = {
    "eta",
    "pid",
    "total time",
    "epoch",
    "epochs",
    "gpu",
    "rank",
    "seed",
    "port",
    "v_num",
}
_NOT_METRICS |= {"step", "global_step", "global step"}


def pairs(text: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the named numbers in a text; none unless one of the names is that of a metric.

    Percentages become fractions, and milliseconds are named: ``time 35.10ms`` is `time_ms`.
    """
    found: dict[str, float] = {}
    anchored = False
    for name, number, unit in _PAIR.findall(text):
        key = name.strip(" -")
        if key.lower() in _NOT_METRICS or key in found:
            continue
        anchored = anchored or ANCHOR.search(key) is not None
        found[key + "_ms" if unit == "ms" else key] = _number(number, unit)
    return (tuple(found), tuple(found.values())) if anchored else ((), ())


def _number(text: str, unit: str) -> float:
    number = float(text.replace(",", ""))
    return number / 100.0 if unit == "%" else number
