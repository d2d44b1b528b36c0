"""Over how many a mean was taken, in brackets behind its name: ``ret(20) 21.5``."""

import re
from collections.abc import Sequence

from runlens.naming import classify
from runlens.naming.classify import OF_EPISODES
from runlens.naming.words import words
from runlens.patterns import lazy_re

FEWEST = 3  # lines in a row that say the same number: which of several it is changes from each
_Line = tuple[int, str]
# behind a name, never behind a value, "3.2 (3.4)"; and before a value
_WINDOW = lazy_re(
    r"(?<![\w.])([A-Za-z][A-Za-z_]{0,30}) ?\((\d{1,6})\)"
    r"(?=\s{0,8}[:=]\s{0,8}[-+.\dn]|\s{1,8}[-+.\dn])"
)


def with_windows_left_out(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines without the window of a mean, which is the same wherever its name stands.

    Only of what is a mean by its name, or is taken of episodes: a number behind another name may
    be that of a layer, a class or a head. Two windows of one name stay apart.

    >>> with_windows_left_out([(n, f"frame {n} | ret(20)  2{n}.5") for n in range(3)])[0]
    (0, 'frame 0 | ret  20.5')
    """
    found = [(at, said) for at, line in others if "(" in line for said in _WINDOW.finditer(line)]
    windows: dict[str, list[str]] = {}
    for _, said in found:
        windows.setdefault(said[1], []).append(said[2])
    known = {
        name
        for name, some in windows.items()
        if len(some) >= FEWEST and len(set(some)) == 1 and _mean(name)
    }
    if not known:
        return others
    mine = {at for at, said in found if said[1] in known}
    return [(at, _WINDOW.sub(lambda s: _named(s, known), line) if at in mine else line)
            for at, line in others]  # fmt: skip


def _named(said: re.Match[str], known: set[str]) -> str:
    return said[1] if said[1] in known else said[0]


def _mean(name: str) -> bool:
    return classify(name).statistic == "mean" or not OF_EPISODES.isdisjoint(words(name))
