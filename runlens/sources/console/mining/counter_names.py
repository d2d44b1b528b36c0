"""Names of what counts in a line of a log, in English and in words of other languages."""

from typing import Literal

from runlens.naming.languages import counter_in_english, in_english
from runlens.patterns import lazy_re
from runlens.sources.console.mining.slots import BAR, CLOCK, THING

# "share" counts nothing and measures nothing: 45 % of the steps done, a number in a sentence
Kind = Literal["", "step", "epoch", "batch", "share"]

_COUNTERS: dict[str, Kind] = {
    **dict.fromkeys(
        (
            "step", "steps", "global_step", "global step", "globalstep", "iter", "iters", "it",
            "itr", "iteration", "iterations", "iterate", "update", "updates", "upd",
            "num_updates", "num updates", "example counter", "time_step", "time step",
            "round", "tick", "timestep", "timesteps", "total_timesteps", "total timesteps",
            "train step", "training step", "train_step", "train iter", "learning iteration",
            "policy update", "optimizer step", "cur_step", "current step", "comm_round",
            "communication round", "n_iter", "num_timesteps", "total steps", "i_step", "istep",
            "step number", "env_step", "env step", "frame", "frames", "number_of_trees",
        ),
        "step",
    ),
    **dict.fromkeys(
        (
            "epoch", "epochs", "ep", "e", "train epoch", "training epoch", "cur_epoch", "epoc",
            "epoch number", "episode", "episodes", "eps", "current epoch", "end of epoch",
            "epoch no", "epoch_num", "n_epoch", "generation", "gen", "epoca", "epoque", "epoche",
            "game", "games", "pass", "passes",
        ),
        "epoch",
    ),
    **dict.fromkeys(
        ("batch", "batches", "minibatch", "minibatches", "mini-batch", "batch_idx", "batch idx"),
        "batch",
    ),
}  # fmt: skip
# words of the name of a counter that say nothing else of it: "TotalEnvSteps", "timesteps so far"
_OF_COUNTERS = {
    "total", "num", "n", "no", "number", "nr", "cur", "curr", "current", "global", "train",
    "training", "env", "so", "far", "seen", "completed", "idx", "index", "i", "id", "#",
}  # fmt: skip
_HUMPS = lazy_re(r"(?<=[a-z])(?=[A-Z])")
MARKS = " \t:=-–—_.*#~>/\\\"'`!?|│┃+@&└├┌─" + BAR + CLOCK + THING


def counter(name: str) -> Kind:
    """Return what a name counts; empty: nothing that is known."""
    name = counter_in_english(counter_in_english(in_english(name)).strip(MARKS))
    if found := _COUNTERS.get(name.lower()):
        return found
    words = _HUMPS.sub(" ", name).lower().replace("_", " ").split()
    rest = [word for word in words if word not in _OF_COUNTERS]
    return _COUNTERS.get(rest[0], "") if len(rest) == 1 < len(words) else ""
