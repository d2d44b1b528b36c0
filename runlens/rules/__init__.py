"""All rules, by hand: to add one, write its file and add it here."""

from typing import Any

from runlens.rules.evaluation import hockey_stick
from runlens.rules.lifecycle import (
    crashed,
    hang,
    killed,
    known_error,
    oom_cliff,
    stopped_early,
)
from runlens.rules.rule import Rule

RULES: tuple[Rule[Any], ...] = (
    hockey_stick.RULE,
    oom_cliff.RULE,
    crashed.RULE,
    killed.RULE,
    stopped_early.RULE,
    hang.RULE,
    known_error.RULE,
)
