"""A training run: the one type that sources make and everything after them reads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from runlens.errors import one_line
from runlens.history import Curve, History
from runlens.metrics import Better
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.views import view

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from runlens.signals.shape import Shape

SHAPES = "runlens.signals.shape"  # above this module: looked up when asked, as a view is
_WORDS = lazy_re(r"(?!nan|inf)[a-z]{3}", re.IGNORECASE)  # no number has three letters in a row
Setting = str | int | float | bool | None
StateKind = Literal["finished", "running", "crashed", "killed", "stopped_early", "unknown"]
# rows of the message table (messages.tsv of the console's reader) after which no handler of the
# run itself ran: SIGKILL, a time limit, preemption, the scheduler, a killed data worker
HARD_KILLS = frozenset({5, 10, 11, 12, 13, 67, 129})
BARE_KILL = 5  # row of a SIGKILL that does not say who sent it, nor why
BY_HAND = 14  # row of a Ctrl-C
# how a traceback is told that breaks off before its last line
UNNAMED = "an exception that the log does not name"
BEST_SAVED = "the best model that the log says was saved"  # a checkpoint of which no file is named
# what a program was doing when its exception was raised
SAVING = "saving a checkpoint"
LOADING = "loading the model"
PLACING = "moving the model to its device"
STATES = "an optimizer step"
# what a guard of the program's own says that it saw, as a patience that ran out does not
GAVE_UP = lazy_re(r"(?i)\bcollapsed?\b|\bdiverg\w+|\bexplod\w+|\bemergency\b|\bnan\b")
# of a log whose numbers have no course, and no step either
RESULTS_ALONE = (
    "holds final results and no training curve, so each number was read as a single point"
)
HEARTBEAT = "heartbeat"  # a tracker's system records: time that passed, whatever was trained
Sure = Literal["certain", "likely", "guess"]
EventKind = Literal["launch", "resume", "checkpoint", "evaluation", "message", "exit", "early_stop"]
Task = Literal[
    "sft",
    "pretrain",
    "classification",
    "regression",
    "asr",
    "dpo",
    "grpo",
    "ppo",
    "reward-model",
    "rl",
    "gan-diffusion",
    "contrastive",
    "other",
]

LANGUAGE_TASKS: frozenset[Task] = frozenset({"sft", "pretrain"})
RL_TASKS: frozenset[Task] = frozenset({"grpo", "ppo", "rl"})  # judged by reward, not by loss


def unnamed(where: str) -> str:
    """Name an exception whose traceback breaks off, by its last function or file."""
    return f"{UNNAMED}, in {where}{'()' if where.isidentifier() else ''}"


class Event(NamedTuple):
    """Something dated that is not a number: a resume, a checkpoint, an error in a log.

    `data` holds what the kind needs: a checkpoint its `path`; a message its `row`, `class`,
    `cause` and `fix` of the message table and `last` (bool: no training record follows it); an
    exit its `code`.
    """

    kind: EventKind
    step: int | None = None
    time: float | None = None  # seconds since 1970
    text: str = ""
    where: str = ""  # file, or file:line
    data: Mapping[str, Any] = {}


WHOLE_FILE = "the whole file"  # lost, where nothing of a file was read
LAST_TRAINING = "its last training"  # lost, where it is too short and the one before is judged


class Problem(NamedTuple):
    """Something lost or doubtful in the input."""

    where: str
    text: str
    lost: str = ""  # how much: "3 of 120 rows"


class Configured(NamedTuple):
    """One setting of the run, the file that says so, and where its user would change it.

    `key` is the path under which `file` names it ("trainer.optimizer.lr"); both are empty where no
    file sets it: a total that a trainer worked out is a fact, no setting.
    """

    value: Setting
    origin: str
    key: str = ""
    file: str = ""


class Segment(NamedTuple):
    """One launch of a run."""

    number: int
    first_step: int
    last_step: int
    started: float | None = None  # seconds since 1970


@dataclass(frozen=True)
class State:
    """How the run ended, as far as its files tell. A run directory rarely says so itself."""

    kind: StateKind = "unknown"
    why: str = "nothing in the files says how the run ended"
    sure: Sure = "guess"
    exit_code: int | None = None
    done_steps: int = 0
    planned_steps: int | None = None
    done_epochs: float | None = None
    planned_epochs: float | None = None
    last_time: float | None = None  # seconds since 1970
    by_hand: bool = False  # a person stopped it
    excerpt: bool = False  # known from a part of a log alone: its first and last lines are no ends

    @property
    def done_share(self) -> float | None:
        """Done over planned, 0 to 1; None where the plan is not known."""
        if self.planned_steps:
            return self.done_steps / self.planned_steps
        if self.planned_epochs and self.done_epochs is not None:
            return self.done_epochs / self.planned_epochs
        return None

    @property
    def settled(self) -> StateKind:
        """The kind; unknown where an end is a guess, as of a run that may still go on."""
        open_end = self.sure == "guess" and self.kind in {"finished", "stopped_early"}
        return "unknown" if open_end else self.kind


class Own(NamedTuple):
    """A setting of a run whose value none of its siblings that are well has."""

    key: str
    value: Setting
    theirs: tuple[Setting, ...]  # each value of the siblings once


class Family(NamedTuple):
    """The runs of one place that are well, beside one that is not."""

    well: tuple[str, ...]  # their names
    own: tuple[Own, ...] = ()
    known: int = 0  # settings that all of them record, seeds and names left out
    rates: tuple[float, ...] = ()  # peak learning rates at which they are well
    lost_at: tuple[
        float, ...
    ] = ()  # rates, its own too, at which all lose their loss where it does

    def rate_below(self, rate: float) -> float | None:
        """Return the highest rate below another one at which a sibling is well."""
        return max((one for one in self.rates if 0 < one < rate), default=None)

    def stands(self, rate: float) -> bool:
        """Whether a sibling is well at a rate as high."""
        return any(one >= rate for one in self.rates)


FULL = "full"
_ADAPTERS = ("adalora", "qlora", "lora", "dora", "loha", "lokr", "ia3", "adapter")
_ALL_WEIGHTS = ("full", "none", "false", "freeze")


def adapter_of(config: Mapping[str, Configured]) -> str | None:
    """Return the adapter that settings name, "full" where they say that all weights are trained.

    The kind that they name counts before a rank, of which some trainers keep a default.
    """
    known = config.get("adapter")
    kind = known.value.lower() if known and isinstance(known.value, str) else ""
    if named := next((name for name in _ADAPTERS if name in kind), ""):
        return named
    if any(word in kind for word in _ALL_WEIGHTS):
        return FULL
    rank = config.get("lora_r")
    ranked = rank is not None and isinstance(rank.value, int | float) and rank.value > 0
    return "lora" if ranked else None


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One training run, merged from all its sources."""

    id: str
    name: str
    history: History
    config: Mapping[str, Configured] = field(default_factory=dict)
    state: State = field(default_factory=State)
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()
    sources: tuple[str, ...] = ()
    framework: str = "unknown"
    task: Task = "other"
    task_why: str = ""
    segments: tuple[Segment, ...] = ()
    log_tail: tuple[str, ...] = ()
    # metrics that no name says for sure: "train_loss" -> "xent", which was taken for it
    taken: Mapping[str, str] = field(default_factory=dict)
    # which direction of a metric is better, where the run was told: "zog" -> "higher"
    directions: Mapping[str, Better] = field(default_factory=dict)
    # where it ran: "node" -> ("node-17",), "torch" -> ("2.6.0",); see `sources.environment`
    environment: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    family: Family | None = None  # of a run that is read with others

    def __repr__(self) -> str:
        return one_line(
            f"<Run {self.name}: {self.task}, {self.last_step} steps, {self.state.kind}>"
        )

    def curve(self, metric: str) -> Curve:
        """Return one metric by its canonical name; empty if it was not logged."""
        return self.history.curve(metric)

    def logged(self, metric: str) -> bool:
        """Whether a metric has a point, as a whole or of an evaluation set of its own."""
        parts = [name for name in self.history.metrics if name.startswith(f"{metric}:")]
        return any(len(self.curve(name)) for name in (metric, *parts))

    @property
    def speaks(self) -> bool:
        """Whether its log has words: lines of bare numbers tell nothing of how it ended."""
        return any(_WORDS.search(line) for line in self.log_tail)

    def shape(self, metric: str) -> "Shape":
        """Return what a metric does: falls, lies flat, rises, swings, is gone; made once.

        ``print(run.shape("train_loss").describe())`` says it in a sentence. A metric that was not
        logged, or at fewer than 4 points, has no phase, and its shape is false.
        """
        if metric not in self._shapes:
            curve = self.curve(metric)
            made: Shape = import_module(SHAPES).shape_of(curve.step, curve.value)
            self._shapes[metric] = made
        return self._shapes[metric]

    @cached_property
    def _shapes(self) -> dict[str, "Shape"]:
        return {}

    def plot(self, metric: str, *more: str, dark: bool | None = None) -> "Figure":
        """Return metrics by their canonical names as a plotly figure over optimizer steps.

        Losses share a panel. Every point is a point of the trace, NaN and infinities too; of more
        than 50,000 points the lowest and the highest of each stretch are. `dark` None: as
        plotly's default template.

        Raises:
            NothingToDraw: where a metric was not logged; it names the nearest that was.

        """
        made: Figure = view("plot")(self, metric, *more, dark=dark)
        return made

    def setting(self, key: str) -> Setting:
        """Return a setting by its canonical key; None where it is not known."""
        known = self.config.get(key)
        return known.value if known else None

    def number(self, key: str) -> float | None:
        """Return a numeric setting, or None where it is not known or not a number."""
        value = self.setting(key)
        try:
            return None if value is None else float(value)
        except (ValueError, OverflowError):  # a text; an integer of hundreds of digits
            return None

    def flag(self, key: str) -> bool | None:
        """Return a yes-or-no setting, or None where it is not known."""
        value = self.setting(key)
        if isinstance(value, str):
            return {"true": True, "yes": True, "false": False, "no": False}.get(value.lower())
        return None if value is None else bool(value)

    @property
    def adapter(self) -> str | None:
        """What is trained: "full" for all weights, "lora", "qlora"...; None where nothing says."""
        return adapter_of(self.config)

    @property
    def adapted(self) -> bool | None:
        """Whether an adapter is trained instead of all weights; None where nothing says so."""
        return None if self.adapter is None else self.adapter != FULL

    def events_of(self, kind: EventKind) -> list[Event]:
        """Return the events of one kind, in the order in which they happened."""
        return [event for event in self.events if event.kind == kind]

    def messages(self, *classes: str) -> list[Event]:
        """Return the log messages of these classes of the message table."""
        return [event for event in self.events_of("message") if event.data.get("class") in classes]

    @property
    def frame(self) -> "pd.DataFrame":
        """The history as a long pandas frame, one row an observation."""
        return self.history.frame

    @cached_property
    def last_step(self) -> int:
        """The last optimizer step at which anything was logged; 0 if nothing was."""
        logged = (int(self.curve(name).step[-1]) for name in self._trained)
        return max(logged, default=self.state.done_steps)

    @cached_property
    def first_step(self) -> int:
        """The first optimizer step at which anything was logged; 0 if nothing was."""
        return min((int(self.curve(name).step[0]) for name in self._trained), default=0)

    @property
    def _trained(self) -> list[str]:
        """The metrics of the training itself: a tracker's heartbeat goes on without it."""
        return [name for name in self.history.metrics if name != HEARTBEAT]

    @cached_property
    def checkpoints(self) -> tuple[tuple[int, str], ...]:
        """Saved checkpoints as (step, path), by step."""
        saved = [(e.step, str(e.data.get("path", e.text))) for e in self.events_of("checkpoint")]
        return tuple(sorted((step, path) for step, path in saved if step is not None))
