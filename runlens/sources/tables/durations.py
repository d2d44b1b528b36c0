"""How long something took, as programs write it into a table."""

from runlens.patterns import lazy_re

_CLOCK = lazy_re(r"(?:(\d{1,9}) days?, )?(\d{1,9}):(\d\d):(\d\d)")
_WORDS = lazy_re(r"(?:(\d{1,9})d ?)?(?:(\d{1,9})h ?)?(?:(\d{1,9})m ?)?(?:(\d{1,9})s)?")


def seconds(text: str) -> float | None:
    """Return a duration: ``6:35:21``, ``3 days, 17:51:32``, ``1h 2m 3s``; None for others."""
    found = _CLOCK.fullmatch(text) or _WORDS.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, rest = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest
