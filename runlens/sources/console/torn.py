"""The number with which a log breaks off: ``0.1`` may be the half of ``0.125``."""

import re

from runlens.patterns import lazy_re
from runlens.sources.broken_off import COMPARED, is_whole
from runlens.sources.console.sorting import Sorted
from runlens.sources.console.text import Bar

_DECIMALS = lazy_re(r"(?<!\d)\d+\.(\d+)$")  # a file of bytes may be one line of digits
_NUMBERS = lazy_re(
    r"(?:[-+]?\d+(?:\.\d+)?[,;\s]\s?){0,50}\d+\.\d+"
    r"|(?!epoch|step|iter)[A-Za-z][A-Za-z0-9 _-]{0,30}\s?[:=]?\s\d+\.\d+",
    re.IGNORECASE,
)
# what was measured, by the last word of its name, and the decimals that were printed of it
_MEASURED = lazy_re(r"([A-Za-z]\w*)\s?[:=]?\s?[-+]?\d+\.(\d+)(?![\d.eE])")
FEWEST_DECIMALS = 3  # 0.5 beside 0.5 is no format: one of both may have been 0.53
_DIGITS = lazy_re(r"\d+(?:\.\d+)?")
_EXPONENT = lazy_re(r"\d[eE][-+]?\d")
_FOLLOWED = lazy_re(r", [-+]?\d+\.\d+(?:[eE][-+]?\d+)?,\s*$")
EXACT = 12  # decimals
_IN_NUMBERS = "-+.,0123456789eE"
_NUMBER_BEGINS = lazy_re(r"[-+]?[.\d]")


def without_torn_number(log: Sorted) -> tuple[list[tuple[int, str]], list[Bar]]:
    """Leave out the number with which a log breaks off: ``0.1`` may be the half of ``0.125``."""
    others, bars = log.others, list(log.bars)
    last = len(log.text) - 1
    if others and others[-1][0] == last and not _is_number(others):
        *before, (_, line) = others
        above = [text for _, text in before[-COMPARED:]]
        if not (_like_before(line, above) or _is_exact(line, above) or _is_followed(line)):
            left = _untorn(line)
            others = [*before, (last, left)] if left.strip() else before
    if bars and bars[-1].at == last:
        postfix = bars[-1].postfix
        above = [bar.postfix for bar in bars[-1 - COMPARED : -1]]
        no_bracket = log.text.line(last).endswith(postfix) and not _like_before(postfix, above)
        bars[-1] = bars[-1]._replace(postfix=_untorn(postfix) if no_bracket else postfix)
    return others, bars


def _is_number(others: list[tuple[int, str]]) -> bool:
    """Whether a file holds a number and nothing else, as a program writes its last result.

    Or several in its only line, with commas or blanks between them, or its name before it; or a
    row, in which the same was printed of other data, with as many decimals.
    """
    line = others[0][1].strip()
    return len(others) == 1 and (_NUMBERS.fullmatch(line) is not None or _like_twin(line))


def _like_twin(line: str) -> bool:
    """Whether a line ends in as many decimals as what else it measures under the same last word.

    >>> _like_twin("train loss 8.4952, val loss 8.4948"), _like_twin("loss 8.4952, val loss 8.4")
    (True, False)
    """
    *others, last = _MEASURED.findall(line) or [("", "")]
    alike = {len(decimals) for name, decimals in others if name.lower() == last[0].lower()}
    whole = alike == {len(last[1])} and len(last[1]) >= FEWEST_DECIMALS
    return whole and line.endswith(f".{last[1]}")


def _like_before(line: str, before: list[str]) -> bool:
    """Whether a line ends in as many decimals as all before it that say the same."""
    last = _DECIMALS.search(line)
    if not last:
        return False
    said = _DIGITS.sub("0", line[: last.start()])
    shown = [text.rstrip(" \b") for text in before]  # Keras goes back over what it drew
    ends = [(found, text) for text in shown if (found := _DECIMALS.search(text))]
    alike = [found[0] for found, text in ends if _DIGITS.sub("0", text[: found.start()]) == said]
    return is_whole(last[0], alike)


def _is_exact(line: str, before: list[str]) -> bool:
    """Whether a line ends in so many decimals that what may be lost of them changes nothing.

    Unless numbers above it have an exponent, which then may be lost too.
    """
    last = _DECIMALS.search(line)
    exact = last is not None and len(last[1]) >= EXACT
    return exact and not any(map(_EXPONENT.search, before))


def _is_followed(line: str) -> bool:
    """Whether the comma behind the last number of a list is there: the number is whole."""
    return _FOLLOWED.search(line) is not None


def _untorn(line: str) -> str:
    """Return a line without the number at its end, which may be the beginning of another."""
    kept = len(line.rstrip(_IN_NUMBERS))
    begins = _NUMBER_BEGINS.search(line, kept)
    return line[: begins.start()] if begins else line
