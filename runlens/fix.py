"""What to do about a cause: a fix, and the advice that is made of fixes, as plain data."""

from dataclasses import dataclass
from typing import Any, Literal

from runlens.records import NamedTuple
from runlens.run import Setting

Cost = Literal["minutes", "settings only", "one run", "days"]
# a setting to change; to resume, start again or take earlier weights; something to look at or try;
# a change of code, data or machine
FixKind = Literal["setting", "resume", "restart", "weights", "look", "code"]


@dataclass(frozen=True)
class Fix:
    """One thing to do, with the values of this run; with a `setting` it is of kind "setting"."""

    what: str  # imperative: "Lower the learning rate"
    setting: str = ""  # canonical key
    old: Setting = None  # None: not recorded
    new: Setting = None
    why: str = ""
    cost: Cost = "settings only"
    kind: FixKind = "code"
    cures: str = ""  # the kind of cause that it is for; empty: whatever is at fault
    name: str = ""  # the setting as the run's own files or its framework spell it
    where: str = ""  # that file, or the call

    def __post_init__(self) -> None:
        """Whatever sets a setting is of that kind."""
        if self.setting:
            object.__setattr__(self, "kind", "setting")


class Changed(NamedTuple):
    """One changed setting of a diff."""

    where: str  # the file, or the call, in which it stands
    name: str  # as the run spells it, dotted where it is nested
    setting: str  # canonical key
    old: Setting  # None: the run's files do not name it there
    new: Setting


@dataclass(frozen=True)
class Advice:
    """The box "Do this first": steps, and the diff of one lever in the run's own spelling."""

    steps: tuple[tuple[str, str], ...] = ()  # (imperative, reason with a number)
    diff: tuple[tuple[str, str], ...] = ()  # ("-" or "+" or " ", line)
    otherwise: tuple[tuple[str, str], ...] = ()  # the same, if that does not help
    changes: tuple[Changed, ...] = ()  # what `diff` shows
    carried_out: int = 0  # index of the step that `diff` carries out
    tries: tuple[str, ...] = ()  # settings that a step tries out, or that come next
    goes_on: bool = False  # whether a step says which weights to go on from, or to restart

    def to_dict(self) -> dict[str, Any]:
        """Return its part of the JSON contract."""
        return {
            "steps": [{"what": what, "why": why} for what, why in self.steps],
            "diff": [f"{sign} {line}" for sign, line in self.diff],
            "otherwise": [f"{sign} {line}" for sign, line in self.otherwise],
            "changes": [change._asdict() for change in self.changes],
        }
