"""What a rule is: a page, limits, a pure function, and drawn cases for and against it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from runlens.diagnosis import Finding, Outcome, Severity
from runlens.records import NamedTuple
from runlens.rules.cases import Case, drawn, message
from runlens.rules.relations import Relations
from runlens.run import LANGUAGE_TASKS, RL_TASKS, Run, Task
from runlens.signals import Signals

__all__ = [
    "ADVICE",
    "ALL_TASKS",
    "LANGUAGE_TASKS",
    "LOSS_TASKS",
    "PREFERENCE_TASKS",
    "RL_TASKS",
    "Asked",
    "Case",
    "Rule",
    "drawn",
    "found",
    "message",
    "passed",
    "unless",
    "unmet",
]

Limits = TypeVar("Limits")
Family = Literal["NUM", "LOS", "EVL", "GRD", "LRS", "RLX", "PRF", "RUN", "CFG", "OBS"]

FOLDERS: dict[Family, str] = {
    "NUM": "numerics",
    "LOS": "loss",
    "EVL": "evaluation",
    "GRD": "gradients",
    "LRS": "schedule",
    "RLX": "rl",
    "PRF": "throughput",
    "RUN": "lifecycle",
    "CFG": "config",
    "OBS": "observability",
}

ADVICE: frozenset[Family] = frozenset({"CFG", "OBS"})  # says nothing about a run's health
ALONE = Relations()
ALL_TASKS: frozenset[Task] = frozenset()  # empty: holds for every task
# tasks whose training loss has a level and a direction; others log a loss that means nothing
PREFERENCE_TASKS: frozenset[Task] = frozenset({"dpo", "reward-model"})
LOSS_TASKS: frozenset[Task] = (
    LANGUAGE_TASKS
    | PREFERENCE_TASKS
    | {"classification", "regression", "asr", "contrastive", "other"}
)


@dataclass(frozen=True)
class Rule(Generic[Limits]):
    """One pattern. `check` is pure: same run, same limits, same outcome.

    `needs` are metrics without which `check` is not called; ``"a|b"`` means one of them is
    enough. A run whose task is not in `tasks` is not judged either; empty means every task.
    """

    slug: str
    title: str
    family: Family
    severity: Severity  # the usual one; a finding may have another, with the reason
    page: str
    limits: Limits
    check: Callable[[Run, Signals, Limits], Outcome]
    needs: tuple[str, ...] = ()
    tasks: frozenset[Task] = ALL_TASKS
    relations: Relations = ALONE  # to the findings of other rules
    bad: tuple[Case, ...] = ()  # must be found
    good: tuple[Case, ...] = ()  # look alike, must pass
    preview: bool = False


SOURCES = "https://github.com/runlens/runlens/blob/main/runlens/rules"  # each begins with its page


class Listed(NamedTuple):
    """What the list of rules says of one; its file says the same, and is imported by `load`."""

    slug: str
    title: str
    family: Family
    needs: tuple[str, ...] = ()
    tasks: frozenset[Task] = ALL_TASKS
    preview: bool = False

    def load(self) -> Rule[Any]:
        """Import the rule."""
        rule: Rule[Any] = import_module(f"runlens.rules.{self._place.replace('/', '.')}").RULE
        return rule

    @property
    def address(self) -> str:
        """Where its page can be read."""
        return f"{SOURCES}/{self._place}.py"

    @property
    def _place(self) -> str:
        return f"{FOLDERS[self.family]}/{self.slug.replace('-', '_')}"


def values(limits: Any) -> dict[str, Any]:  # noqa: ANN401 - of any rule
    """Return the numbers of some limits by name, of a struct of ours or of a dataclass."""
    names = limits.__struct_fields__ if isinstance(limits, Struct) else vars(limits)
    return {name: getattr(limits, name) for name in names}


def limited(limits: Limits, own: Mapping[str, Any]) -> Limits:
    """Return limits with some of their numbers set."""
    return type(limits)(**{**values(limits), **own})


Asked = Rule[Any] | Listed


def loaded(rule: Asked) -> Rule[Any]:
    """Return the whole rule."""
    return rule.load() if isinstance(rule, Listed) else rule


def found(*findings: Finding) -> Outcome:
    """Say that the pattern is there."""
    return Outcome("found", findings=findings)


def unless(slugs: tuple[str, ...], reason: str, finding: Finding) -> Outcome:
    """Say that the pattern is there, unless one of the rules `slugs` finds its own.

    No rule may call a curve another rule's case and leave it at that: where the other finds
    nothing, this finding stands.
    """
    return Outcome("found", reason, (finding,), slugs)


def passed(reason: str, told_by: tuple[str, ...] = ()) -> Outcome:
    """Say that the pattern is not there, and by which number.

    Where one of the rules `told_by` found its own, that tells of the same and this did not pass.
    """
    return Outcome("passed", reason, yields_to=told_by)


def unmet(reason: str) -> Outcome:
    """Say that nobody can tell, and what is missing."""
    return Outcome("unmet", reason)
