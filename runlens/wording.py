"""Numbers as words, the same everywhere: in findings, on the page, on the terminal.

Our own code and never the machine's locale: the same input gives the same text.
"""

import math
from collections.abc import Callable, Sequence

from runlens.patterns import lazy_re

NARROW = "\u202f"  # narrow no-break space, before a percent sign
MINUS = "\u2212"
SMALL_LOSS = 10.0
DOUBT = "It is not clear whether the run learned anything"  # of a quiet run
DAY, HOUR, MINUTE = 86_400, 3_600, 60
# a progress bar before the words of a line
_BAR = lazy_re(r"^.*\d+%\|.*?\|\s*\d+/\d+\s*\[[^\]]*\]\s*(?=\S)")
# the date and the time that a logger writes before its words
_STAMP = lazy_re(r"^\W{0,3}\d{4}[-/.]\d\d[-/.]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?[\]):]*[ -]+")
# a word that begins a sentence and is no name
_PLAIN = lazy_re(
    r"(?!(?:Adam|Python|Keras|Lightning|Trainer)\b)[A-Z][a-z]*(?:-[a-z]+)*(?=[\s,;:]|$)"
)


def number(value: float, digits: int = 4) -> str:
    """Return `value` with `digits` significant digits: ``0.3452``, ``2,400``, ``2e-4``, ``NaN``."""
    special = _special(value)
    if special:
        return special
    if value == 0:
        return "0"
    size = abs(value)
    if size < 1e-3 or size >= 1e7:  # noqa: PLR2004 - beyond these, powers of ten read better
        mantissa, _, exponent = f"{size:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        text = f"{mantissa}e{int(exponent)}"
    elif size >= 10 ** (digits - 1):
        text = f"{size:,.0f}"
    else:
        decimals = max(0, digits - 1 - math.floor(math.log10(size)))
        text = f"{size:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return (MINUS if value < 0 else "") + text


def capitalised(words: str) -> str:
    """Return `words` as they begin a sentence."""
    return words[:1].upper() + words[1:]


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``; after a "not" the word is "or"."""
    if len(names) < 2:  # noqa: PLR2004 - one stands alone
        return "".join(names)
    return f" {word} ".join([", ".join(names[:-1]), names[-1]])


def quoted(line: str) -> str:
    """Return what a log says as a clause of its own: ``the log says "KeyError: 'x'"``.

    A progress bar that stands before the words on the same line is left out.
    """
    return f'the log says "{_BAR.sub("", line)}"'


def unstamped(line: str) -> str:
    """Return a line of a log without the date and the time that it begins with."""
    return _STAMP.sub("", line)


def uncapitalised(words: str) -> str:
    """Return `words` as they stand within a sentence; ``KL`` and ``KeyError`` keep capitals."""
    return words[:1].lower() + words[1:] if _PLAIN.match(words) else words


def loss(value: float) -> str:
    """Return a loss: three decimals below 10, two from there on; very small ones as powers."""
    special = _special(value)
    if special:
        return special
    size = abs(value)
    if 0 < size < 1e-2 or size >= 1e6:  # noqa: PLR2004 - decimals would say nothing
        return number(value, 3)
    whole = size >= 1e4 or (size >= 1e3 and float(size).is_integer())  # noqa: PLR2004 - as logged
    text = f"{size:,.3f}" if size < SMALL_LOSS else f"{size:,.{0 if whole else 2}f}"
    return (MINUS if value < 0 else "") + text


def rate(value: float) -> str:
    """Return a learning rate: ``2e-3``, ``1.46e-5``, ``0.1``; three digits."""
    if value and abs(value) < 0.09995 and math.isfinite(value):  # noqa: PLR2004 - as papers write it
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return number(value, 3)


def percent(share: float) -> str:
    """Return a share (0 to 1 is 0 to 100 %): one decimal below 10 % and just below 100 %."""
    special = _special(share)
    if special:
        return special
    size = abs(share) * 100
    if size >= 1e7:  # noqa: PLR2004 - so many digits read badly
        return f"{number(share * 100, 2)}{NARROW}%"
    text = f"{size:.1f}" if 0 < size < 9.95 else f"{size:,.0f}"  # noqa: PLR2004 - rounds to 10
    if size < 100 and text == "100":  # noqa: PLR2004 - what is not all is not told as all
        text = f"{min(size, 99.9):.1f}"
    return f"{MINUS if share < 0 and text.strip('0.') else ''}{text}{NARROW}%"


def times(ratio: float) -> str:
    """Return a ratio: ``28 ×``, ``1.4 ×``."""
    return f"{number(ratio, 2 if ratio < 100 else 3)} ×"  # noqa: PLR2004 - 1,234 × not 1,200 ×


def step(value: float | None) -> str:
    """Return a step exactly: ``1,501``; fractions only where a step has one."""
    if value is None:
        return "an unknown step"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def duration(seconds: float) -> str:
    """Return a time span: ``6.3 s``, ``42 min``, ``3 h 20 min``, ``2.1 d``."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds < DAY:
        hours, rest = divmod(round(seconds / MINUTE), 60)
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{seconds / DAY:.1f} d"


def count(amount: int, noun: str) -> str:
    """Return ``1 point`` or ``2,400 points``."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{amount:,} {noun}" + ("" if amount == 1 else ending)


def too_few(amount: int, noun: str, needed: int, *, of: str = "") -> str:
    """Return ``only 3 rewards; 8 needed``, or ``no finite reward; 8 needed``."""
    none = f"no {noun}" if of else f"no finite {noun}"
    many = f"only {count(amount, noun)}" if amount else none
    behind = f" {of}" if of and amount != 1 else ""  # a single one may be all there is
    return f"{many}{behind}; {needed} needed"


def moved(change: float, written: Callable[[float], str] = number) -> str:
    """Return ``rose by 0.2`` or ``fell by 0.2``, by the sign of what changed."""
    return f"{'fell' if change < 0 else 'rose'} by {written(abs(change))}"


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else f"{MINUS}Inf"
    return ""
