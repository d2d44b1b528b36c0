"""Secrets are hidden where text of others enters: keys, tokens, passwords, cookies.

`redacted` takes a text, `redacted_setting` a setting with its name, `purged` anything that holds
either, such as all that a reader made of a source. What is known by its form is in `forms`, what
by its name in `names`. All leave the rest of a text as it was, and a second time changes nothing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

from runlens.patterns import lazy_re
from runlens.redaction.forms import BASE64, FORMS, HIDDEN, PEM, PEM_MARK, Form, compiled
from runlens.redaction.names import is_secret, says

MASKED = "(hidden)"
LONG_KEY = 60  # characters of a word from which it may be a key in BASE64
SHORTEST = 16  # characters of the shortest text that holds a form without a URL
_STEMS = (
    "key",
    "token",
    "secret",
    "pass",
    "pwd",
    "auth",
    "cred",
    "cookie",
    "dsn",
    "sig",
    "bearer",
    "-k ",
)
_VALUE = (
    r"""[bru]?(?:(?P<open>\\?["'])(?P<quoted>.*?)(?=(?P=open)|\n|\Z)|(?P<bare>[^\s"'&;]{1,500}))"""
)
_NAME = r"(?P<name>[A-Za-z_][\w.-]{0,119})"
_GAP = r"[ \t]{0,3}"
_ASSIGNED = rf"""(?<![\w.-])-{{0,2}}{_NAME}(?:\\?["'])?\]?{_GAP}(?:=>|:=|==?|:){_GAP}"""
_FLAGGED = rf"""(?<![\w-])--?{_NAME}["']?(?:{_GAP},{_GAP}|[ \t]{{1,3}})(?!--?[A-Za-z])"""
LONG_PART = 12  # characters
_MARKED = [(mark, form) for form in FORMS for mark in form.marks.split()]
_T = TypeVar("_T")


def redacted(text: str) -> str:
    """Return a text with each secret in it as ``(hidden)``."""
    return text if _harmless(text) else _redacted(text)


def _harmless(text: str) -> bool:
    return len(text) < SHORTEST and "@" not in text and not _stem(text.lower())


@lru_cache(maxsize=4_096)
def _redacted(text: str) -> str:
    return _without(text, _MARKED, long=len(text) > LONG_KEY)


def _without(text: str, marked: Iterable[tuple[str, Form]], *, long: bool) -> str:
    """Return a text without its secrets.

    `marked` are the forms whose marks it may hold; `long`: it may have a word as long as a key.
    """
    lower = text.lower()
    if PEM_MARK in lower:
        text = _pattern(PEM).sub(MASKED, text)
    for form in [form for mark, form in marked if mark in lower]:
        text = compiled(form.pattern, alone=form.alone).sub(_hidden, text)
    if long and len(text) > LONG_KEY:
        text = _pattern(BASE64).sub(_hidden_base64, text)
    if not _stem(lower):
        return text
    return _valued(_valued(text, _ASSIGNED), _FLAGGED)


def redacted_setting(name: str, value: _T) -> _T | str:
    """Return a setting; hidden where its name, or its own form, says that it is a secret."""
    if isinstance(value, str):
        return MASKED if is_secret(name, value) else redacted(value)
    number = isinstance(value, int) and not isinstance(value, bool) and value > 1
    return MASKED if number and says(name) == "secret" else value


def redacted_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Return lines that follow each other; a private key may stand in several of them."""
    whole = "\n".join(lines)
    return _redacted_lines(whole) if whole else tuple(lines)


@lru_cache(maxsize=64)
def _redacted_lines(whole: str) -> tuple[str, ...]:
    lower = whole.lower()
    if PEM_MARK in lower:
        whole = _pattern(PEM).sub(MASKED, whole)
    words = set(lower.split())  # no mark has a space: what no word holds is nowhere
    known = "\n".join(words)
    marked = [(mark, form) for mark, form in _MARKED if mark in known]
    long = max(map(len, words), default=0) >= LONG_KEY
    return tuple(
        line if _harmless(line) else _without(line, marked, long=long) for line in whole.split("\n")
    )


def purged(value: _T) -> _T:
    """Return the same with every text in it redacted, however deep: by construction, none is left.

    Mappings (a text under a key is a setting of that name), lists, tuples and dataclasses are gone
    through; paths and arrays stay as they are. Two keys that become one are told apart.
    """
    return cast(_T, _purged(value))


def _purged(value: Any) -> Any:  # noqa: ANN401 - of any type
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return _purged_mapping(value)
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            return type(value)(*map(_purged, value))
        texts = len(value) > 1 and all(isinstance(one, str) for one in value)
        return redacted_lines(value) if texts else tuple(map(_purged, value))
    if isinstance(value, list):
        return [_purged(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{one.name: _purged(getattr(value, one.name)) for one in fields(value)}
        )
    return value


def _purged_mapping(value: Mapping[Any, Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, inner in value.items():
        name = free = redacted(key) if isinstance(key, str) else key
        number = 2
        while free in made and name != key:
            free, number = f"{name} {number}", number + 1
        plain = isinstance(inner, str | int) and isinstance(key, str)
        made[free] = redacted_setting(key, inner) if plain else _purged(inner)
    return made


def _valued(text: str, pattern: str) -> str:
    """Hide what stands behind each name that says so: ``name=value``, ``--name value``."""
    parts, end = [], 0
    for found in _pattern(pattern).finditer(text):
        if found.start() < end or says(found["name"]) == "nothing":
            continue
        value = _pattern(_VALUE).match(text, found.end())
        if not value:
            continue
        start, stop = value.span("quoted" if value["bare"] is None else "bare")
        if value["bare"] is not None:
            stop = start + _bare_end(value["bare"])
        if _prose(found.group(), text[start:], quoted=value["bare"] is None):
            continue
        if stop > start and is_secret(found["name"], text[start:stop]):
            parts += [text[end:start], MASKED]
            end = stop
    return "".join([*parts, text[end:]]) if parts else text


def _bare_end(value: str) -> int:
    """Return where a value without quotes ends: before the next of a list, or its bracket."""
    one = _pattern(r",(?=[\w.-]+[=:])").split(value, maxsplit=1)[0].rstrip(",)]}")
    return len(one if one.startswith("<") else one.rstrip(">"))


def _prose(name: str, rest: str, *, quoted: bool) -> bool:
    """Whether a name with a colon is the beginning of a sentence: "password: must be ..."."""
    colon = name.rstrip().endswith(":")
    return colon and not quoted and bool(_pattern(r"[A-Za-z]+,? [a-z]+\b").match(rest))


def _hidden(found: re.Match[str]) -> str:
    """Return a match with its secret hidden; what is hidden already stays."""
    if HIDDEN not in found.groupdict():
        return MASKED
    start, stop = (at - found.start() for at in found.span(HIDDEN))
    whole = found.group()
    return whole if MASKED in whole[start:stop] else whole[:start] + MASKED + whole[stop:]


def _hidden_base64(found: re.Match[str]) -> str:
    """Hide a line of a key: each part between slashes of some length is mixed, as no word is."""
    text = found.group()
    parts = [part for part in text.split("/") if len(part) >= LONG_PART]
    return MASKED if parts and all(map(_mixed, parts)) else text


def _mixed(part: str) -> bool:
    return all(any(map(kind, part)) for kind in (str.islower, str.isupper, str.isdigit))


def _stem(lower: str) -> bool:
    """Whether a text may hold a telling name with a value behind it."""
    joined = "=" in lower or ":" in lower or " " in lower or "," in lower
    return joined and bool(
        [stem for stem in _STEMS if stem in lower]
    )  # a list: three times as fast as any()


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return lazy_re(text)
