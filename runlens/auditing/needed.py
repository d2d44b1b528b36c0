"""What the workers of an audit need from their first runs on: imported once, before they begin."""

from runlens.auditing import work
from runlens.rules import RULES
from runlens.sources import READERS
from runlens.sources.console import lines

__all__ = ["READERS", "RULES", "lines", "work"]
