"""On which terms runs are compared: the user's metric and delta, and whether they are repeats."""

from collections.abc import Mapping, Sequence

from runlens.comparing.canonical import Pair, Settings
from runlens.comparing.direction import better
from runlens.comparing.groups import group
from runlens.comparing.rows import recorded
from runlens.comparing.seed_groups import SeedGroups
from runlens.comparing.seeds import SeedNoise
from runlens.comparison import Align, SettingDifference
from runlens.errors import BadSettings
from runlens.metrics import Better, naming
from runlens.records import NamedTuple
from runlens.run import Run

# kinds of settings that make no other training: repeats differ in them alone
REPEATS = frozenset({"seed", "speed", "version", "nothing", "machinery"})
REPEATED = 0.98  # probability that runs are repeats, where what differs is of these kinds
NOT_RECORDED = 0.5  # the same where nothing is known to differ: what does is not recorded
DIRECTIONS: dict[str, Better] = {
    "max": "higher",
    "higher": "higher",
    "min": "lower",
    "lower": "lower",
}
TRAIN_OF_TASK = ("reward", "dpo_acc", "dpo_margin", "ebft_alignment", "token_accuracy")


class Terms(NamedTuple):
    """On which terms two runs are judged.

    `equal` is the probability, before the curves are seen, that their configurations are one: by
    the settings. `delta` and `metric` are the user's, `directions` as well.
    """

    noise: SeedNoise | None = None
    groups: SeedGroups | None = None
    equal: float = 0.0
    delta: float | None = None
    one_seed: bool = False  # both began alike, with one order of the data
    metric: str = ""
    directions: Mapping[str, Better] = {}

    def better(self, metric: str) -> Better:
        """Return which direction of a metric is better: the user's word first."""
        return self.directions.get(metric) or better(metric)


class Pairing(NamedTuple):
    """Two runs, and how they are compared."""

    a: Run
    b: Run
    kind: Align
    terms: Terms


def equal(a: Run, b: Run, settings: Sequence[SettingDifference]) -> float:
    """Return the probability, before the curves are seen, that two configurations are one."""
    if any(row.rank and group(row.key) not in REPEATS for row in settings):
        return 0.0
    both = all(recorded(Settings(run)) for run in (a, b))
    return REPEATED if both and any(row.rank for row in settings) else NOT_RECORDED


def one_seed(a: Run, b: Run) -> bool:
    """Whether both runs recorded the same seed."""
    one, two = Settings(a), Settings(b)
    keys = [key for key in one.known if group(key) == "seed" and key in two.known]
    pairs = [Pair(key, one.known[key], two.known[key]) for key in keys]
    return bool(pairs) and not any(pair.differs for pair in pairs)


def terms_of(
    metric: str, delta: float | None, noise: SeedNoise | None, runs: Sequence[Run]
) -> Terms:
    """Return the terms by what the user asked for, and what the runs were told of directions.

    Raises:
        BadSettings: a metric that no two runs have, or a direction that is none.

    """
    known = {name: better for run in runs for name, better in run.directions.items()}
    if not metric:
        return Terms(noise, delta=delta, directions=known)
    name, _, said = metric.rpartition(":")
    if said not in DIRECTIONS:
        name, said = metric, ""
    logged = {name for run in runs for name in run.history.metrics}
    chosen = next((one for one in (name, naming(name).metric) if one in logged), "")
    if not chosen:
        near = ", ".join(sorted(logged)[:8])
        raise BadSettings(f"no run has a metric {name!r}; they log {near}")
    directions = {**known, chosen: DIRECTIONS[said]} if said else known
    terms = Terms(noise, delta=delta, metric=chosen, directions=directions)
    if not terms.better(chosen):
        raise BadSettings(f"which direction of {name!r} is better? Give {name}:max or {name}:min")
    return terms
