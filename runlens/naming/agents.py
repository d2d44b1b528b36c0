"""What an agent is judged by where nothing is called a reward, and what says that there is one.

A score, a profit or a number of games won is a reward only in the log of an agent: that counts
episodes, games or steps of an environment, or whose exploration falls. In any other log it is not.
"""

from collections.abc import Iterable

from runlens.naming.classify import AVERAGES, classify
from runlens.naming.quantities import WON_BY_AGENTS
from runlens.naming.vocabulary import FILLERS, SPLITS, STATISTICS
from runlens.naming.words import words

WINS, GAMES_LOST = "wins", "games lost"
OF_AGENTS = frozenset(
    ("episode", "rollout", "env", "environment", "timesteps", "agent", "policy", "elo", WINS)
)
EXPLORING = frozenset(("epsilon", "epsilons", "eps", "exploration"))
FITNESS = "fitness"
GENERATIONS = frozenset(("generation", "generations", "gen"))
POPULATION = frozenset(("pop", "population"))
OF_POPULATION = ("mean", "", "max", "best")  # the surest first
MEANS_OF = frozenset(("reward", "return"))
RESCALED = frozenset(("adjusted", "shared", "scaled", "normalized"))  # within a species
OF_EACH = frozenset(("episode", "game"))
_COUNTS = frozenset(("num", "n", "number", "episode", "game", "games"))  # of what is won
_RANKS = {bag: rank for rank, bag in enumerate(WON_BY_AGENTS, 1)}


def tells_of_agent(names: Iterable[str]) -> bool:
    """Whether one of these names is of what only agents have: ``episode``, ``env_steps``."""
    return any(OF_AGENTS & set(words(name)) for name in names)


def explores(name: str) -> bool:
    """Whether a name is that of how often an agent tries something at random."""
    return bool(EXPLORING & set(words(name)))


def won(name: str) -> int:
    """Return how far a name is believed to be what an agent is judged by, 1 the most; 0: not."""
    if classify(name).statistic not in AVERAGES:
        return 0
    said = {word for word in words(name) if not (word in SPLITS or word.isdigit())}
    return _RANKS.get(frozenset(said - STATISTICS.keys() - FILLERS - _COUNTS), 0)


def unsaid(names: Iterable[str]) -> str:
    """Return the only name that says of its numbers no more than that they are a mean; or "".

    ``Avg`` beside ``Episode``; beside a loss it may be the mean of that.
    """
    known = list(names)
    if any({"loss", "error", "cost"} & set(words(name)) for name in known):
        return ""
    found = [
        name
        for name in known
        if (said := set(words(name))) <= FILLERS | STATISTICS.keys() | OF_EACH
        and said - OF_EACH
        and classify(name).statistic in AVERAGES
    ]
    return found[0] if len(found) == 1 else ""


def over_last(names: Iterable[str]) -> str:
    """Return the only mean of an agent over its last so many episodes: ``ret10``; or "".

    >>> over_last(["ret10", "td", "q"]), over_last(["ret10", "ret100"])
    ('ret10', '')
    """
    found = [
        name
        for name in names
        if (said := words(name))[1:] and said[0] in MEANS_OF and all(map(str.isdigit, said[1:]))
    ]
    return found[0] if len(found) == 1 else ""


def rate_of_wins(names: Iterable[str]) -> str:
    """Return the one win rate of a run, whoever wins: ``player0_winrate``; "" where several are.

    Each player has one of his own, and what one of them gains another loses.
    """
    rates = [name for name in names if "winrate" in words(name)]
    return rates[0] if len(rates) == 1 and classify(rates[0]).statistic in AVERAGES else ""


def fitness(names: Iterable[str]) -> str:
    """Return the name of the fitness of a population: the mean, else that of the fittest; or "".

    What a genetic algorithm drives up, generation by generation: ``Top Fitness,Mean Fitness``.
    """
    said = {name: set(words(name)) for name in names}
    of_all = {name: some for name, some in said.items() if FITNESS in some and not RESCALED & some}
    kind = {name: classify(name).statistic for name in of_all}
    ranks = {n: OF_POPULATION.index(kind[n]) for n in of_all if kind[n] in OF_POPULATION}
    return min(ranks, key=ranks.__getitem__, default="")


def of_population(names: Iterable[str], count: str) -> dict[str, str]:
    """Return what statistics without a name are where generations are counted: of the fitness.

    ``generation,best,mean,median``, ``gen,pop_mean,pop_max``.
    """
    if not GENERATIONS & set(words(count)):
        return {}
    known = POPULATION | STATISTICS.keys()
    return {
        name: f"{FITNESS} {name}"
        for name in names
        if (said := set(words(name))) <= known and said - POPULATION
    }


def counts_generations(names: Iterable[str]) -> dict[str, str]:
    """Return that ``gen`` counts generations, beside a mean or an extreme of a population.

    In other tables it is the loss of a generator.
    """
    known = list(names)
    told = any(
        POPULATION & set(words(name)) and of_population([name], "generation") for name in known
    )
    return {name: "generation" for name in known if told and name.lower() == "gen"}


def games_apart(names: Iterable[str]) -> dict[str, str]:
    """Return what ``losses`` are beside the wins: games that were lost."""
    known = list(names)
    if not any(WINS in words(name) for name in known):
        return {}
    return {name: GAMES_LOST for name in known if name.lower() in {"losses", "lost"}}
