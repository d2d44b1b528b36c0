"""What a hypothesis about a cause is: which findings it explains, and which signs speak for it."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from runlens.causes.scene import Scene
from runlens.knowledge.in_force import answers_prompts
from runlens.records import NamedTuple

# how much a sign says, on one scale for all causes
HINT = 1.0  # fits, and fits others as well: never enough to name a cause
SPEAKS = 2.0  # is usual with this cause and unusual without it
STRONG = 3.0  # is rare without it
SETTLES = 4.0  # says it alone
LEADS = 6.0  # an input that went off schedule before the first symptom

# what a log may leave open: told instead of what would fit
NOT_NAMED = "The log breaks off before it names the exception"
NO_SENDER = (
    "SIGKILL comes from the kernel's out-of-memory killer, the job scheduler or a person. The log "
    "does not say which"
)
NO_REWARD = "Not one success was seen, and what the policy is rewarded for is not logged"
UNTOLD = {NOT_NAMED, NO_SENDER, NO_REWARD}


class Sign(NamedTuple):
    """One positive observation in this run that a cause predicts."""

    text: str  # with its numbers: "the peak rate of 0.1 is 100 x the usual most of 1e-3"
    weight: float
    what: str = ""  # how the cause is called where this sign is seen: "The disk is full"
    test: str = ""  # what to do first where this sign names the cause, not what its kind says
    answers: tuple[str, ...] = ()  # checks that it tells in other words: that they passed denies it
    falsifier: str = ""  # what would show that it is not this, where its kind says another thing
    proved: bool = False  # the log itself says so, and no other cause fits


Signs = Iterable[Sign | None]


class Hypothesis(Struct, frozen=True):
    """One way in which a run goes wrong.

    `explains`: the rules whose findings it can bring about; it is not asked about others.
    `signs`: what speaks for it in a run; `against`: what excludes it, or nothing.
    """

    kind: str  # key of `runlens.cause.KINDS`
    what: str  # noun phrase
    explains: frozenset[str]
    signs: Callable[[Scene], Signs]
    falsifier: str  # what would show that it is not this
    experiment: str  # the cheapest thing that tells it from the others
    against: Callable[[Scene], str] = lambda _: ""
    in_rl: str = ""  # the experiment for a policy that acts and writes no text

    def tried_by(self, scene: Scene) -> str:
        """Return the experiment for the kind of run."""
        acts = scene.run.task == "rl" or (
            scene.run.task == "grpo" and not answers_prompts(scene.run)
        )
        return self.in_rl if self.in_rl and acts else self.experiment
