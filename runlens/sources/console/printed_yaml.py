"""A configuration that a log prints as YAML: Hydra's ``OmegaConf.to_yaml``, nested by its spaces.

What stands before its first line (a stamp, a logger) is left out; a line that is no YAML ends it.
"""

from collections.abc import Sequence

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Setting
from runlens.sources.files import Unreadable, flat

MAX_LINES = 400  # of one block
MAX_FIRST = 300  # characters of its first line
FEWEST = 6  # lines of one, two of them nested: fewer are a sentence with a list
NESTED = 2
LONG = 20  # lines from which a block is no record of an epoch, whatever it is called
KNOWN = 2  # settings that are known by name
_FIRST = lazy_re(r"(?:.*(?: - |\] ?))?([A-Za-z_]\w*:(?: \S.*)?)$")
_LINE = lazy_re(r" *(?:- )*(?:#.*|[A-Za-z_][\w.]*:(?: +\S.*)?|(?<=- )\S.*)$")
_NESTED = lazy_re(r"[A-Za-z_]\w*:$")
_PLAIN = lazy_re(r"[A-Za-z_]\w*:(?: \S.*)?")
_DEEPER = lazy_re(r" +[A-Za-z_][\w.]*:")


def printed_yaml(
    lines: Sequence[str], place: int, fewest: int = FEWEST
) -> tuple[dict[str, Setting], int] | None:
    """Return the settings of the block that begins at a line, and where it ends; None: it is none.

    >>> printed_yaml(["root - lr: 0.1", "seed: 1", "loss:", "  name: l1", "  eps: 1", "a: 2"], 0)
    ({'lr': 0.1, 'seed': 1, 'loss.name': 'l1', 'loss.eps': 1, 'a': 2}, 6)
    """
    first = _FIRST.match(lines[place]) if len(lines[place]) <= MAX_FIRST else None
    if not first:
        return None
    block = [first[1]]
    names = {first[1].partition(":")[0]}  # of settings that are not nested: each comes once
    for line in lines[place + 1 : place + MAX_LINES]:
        name = line.partition(":")[0]
        if not _LINE.match(line) or name in names:
            break
        names.update({name} if line[:1] not in " -" else ())
        block.append(line)
    if len(block) < fewest or sum(_DEEPER.match(line) is not None for line in block) < NESTED:
        return None
    from runlens.sources.configs.plain_yaml import parse_yaml

    try:
        found = flat(parse_yaml("\n".join(block)))
    except Unreadable:
        return None
    known = sum(canonical_key(key) in KNOWN_KEYS for key in found)
    return (found, place + len(block)) if known >= KNOWN else None


def without_yaml(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return the lines of a log without long printed configurations: ``TEST:`` is no heading.

    Nor is ``SCORE_THRESH_TEST: 0.05`` in it measured.
    """
    lines = [line for _, line in others]
    kept: list[tuple[int, str]] = []
    place = end = 0  # of the last block
    while place < len(lines):
        begins = _NESTED.match(lines[place]) and _DEEPER.match(
            "".join(lines[place + 1 : place + 2])
        )
        first = max(end, _first_of(lines, place)) if begins else place
        if begins and (found := printed_yaml(lines, first, LONG)):
            del kept[len(kept) - (place - first) :]
            place = end = found[1]
        else:
            kept.append(others[place])
            place += 1
    return kept


def _first_of(lines: Sequence[str], place: int) -> int:
    """Return where the settings begin right above the first that has others below it."""
    first = place
    while first and place - first < MAX_LINES and _PLAIN.fullmatch(lines[first - 1]):
        first -= 1
    return first
