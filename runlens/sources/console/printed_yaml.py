"""A configuration that a log prints as YAML: Hydra's ``OmegaConf.to_yaml``, nested by its spaces.

What stands before its first line (a stamp, a logger) is left out; a line that is no YAML ends it.
"""

from collections.abc import Sequence

from runlens.config_keys import KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Setting
from runlens.sources.files import Unreadable, flat

MAX_LINES = 400  # of one block
MAX_FIRST = 300  # characters of its first line
FEWEST = 6  # lines of one, two of them nested: fewer are a sentence with a list
NESTED = 2
KNOWN = 2  # settings that are known by name
_FIRST = lazy_re(r"(?:.*(?: - |\] ?))?([A-Za-z_]\w*:(?: \S.*)?)$")
_LINE = lazy_re(r" *(?:- )*(?:[A-Za-z_][\w.]*:(?: +\S.*)?|(?<=- )\S.*)$")
_DEEPER = lazy_re(r" +[A-Za-z_][\w.]*:")
_KEYS = {key.name for key in KEYS}


def printed_yaml(lines: Sequence[str], place: int) -> tuple[dict[str, Setting], int] | None:
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
    if len(block) < FEWEST or sum(_DEEPER.match(line) is not None for line in block) < NESTED:
        return None
    from runlens.sources.configs.plain_yaml import parse_yaml

    try:
        found = flat(parse_yaml("\n".join(block)))
    except Unreadable:
        return None
    known = sum(canonical_key(key) in _KEYS for key in found)
    return (found, place + len(block)) if known >= KNOWN else None
