"""Regular expressions that are compiled when they are first used.

The readers know some three hundred; a log needs a few dozen of them, and compiling all costs more
than the rest of a small diagnosis.
"""

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class _Lazy:
    """Stands for a compiled pattern, and takes over its methods at the first call of one."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_re(pattern: AnyStr, flags: int = 0) -> "re.Pattern[AnyStr]":
    """Return what `re.compile` returns, but compile only when a method of it is first called."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
