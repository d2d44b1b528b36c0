"""Names whose end stands in brackets: ``Loss (train): 0.5``."""

from runlens.patterns import lazy_re

_TAIL = lazy_re(r"\s*(?:is)?\s*[:=|│┃\t]?\s*[\[(]?$")  # between a name and its number
_OF_FUNCTION = lazy_re(r"(\w{1,40})\((\w{1,20}[\[(][^\[\]()]{1,30}[\])])\)$")  # Obj(log[P])
_OUTER_ENDS = ",;|│┃\t()[]{}<>:="
_LETTER = lazy_re(r"[^\W\d_]")


def bracketed(left: str) -> tuple[str, str] | None:
    """Return (outer, inner) of a text that ends like ``Loss (train):``; None for others.

    Without a pattern: one of both parts would go back over all brackets of a hostile line.
    """
    text = _TAIL.sub("", left, count=1)
    if not text.endswith((")", "]")):
        return None
    opened = max(text.rfind("(", 0, -1), text.rfind("[", 0, -1))
    if text.endswith(("])", "))")) and (of := _OF_FUNCTION.search(text)):
        return of[1], of[2]
    inner = text[opened + 1 : -1]
    begins = max(text.rfind(mark, 0, opened) for mark in _OUTER_ENDS) + 1 if opened > 0 else 0
    outer = text[begins:opened] if opened > 0 else ""
    plain = not any(mark in inner for mark in ")]")
    return (outer, inner) if plain and _LETTER.search(outer) and _LETTER.search(inner) else None
