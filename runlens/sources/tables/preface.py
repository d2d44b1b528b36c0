"""Settings that a program writes above its table: ``# args: Namespace(lr=0.1, seed=3)``."""

from itertools import islice, takewhile

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.run import Setting

LONGEST = 100  # lines above a table that are looked at
KNOWN = 2  # settings that are known by name, as in a log: one word may be meant otherwise


def settings_above(data: bytes) -> dict[str, Setting]:
    """Return what the lines behind ``#`` above a table set; nothing where they only tell."""
    if not data.startswith(b"#"):
        return {}
    from runlens.sources.console.printed_settings import settings  # few tables have such lines

    above = takewhile(lambda line: line.startswith(b"#"), islice(data.splitlines(), LONGEST))
    lines = [line.decode("utf-8", "replace").lstrip("#").strip() for line in above]
    found = settings([line for line in lines if line])
    return found if sum(canonical_key(key) in KNOWN_KEYS for key in found) >= KNOWN else {}
