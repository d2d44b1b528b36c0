"""What names say wherever they are logged: as tags of event files, as columns of tables."""

from collections.abc import Iterable
from pathlib import Path

from runlens.naming import words
from runlens.naming.classify import split_of
from runlens.patterns import lazy_re

SAYS_SPLIT = lazy_re(r"(?:train|eval|val|valid|validation|test)(?:ing)?[/_]")
PLACEHOLDER = "hp_metric"  # Lightning logs -1 where no metric was named
FRAMEWORKS = (
    ("ml-agents", {"Environment/Cumulative Reward"}),
    ("ml-agents", {"Losses/Value Loss", "Policy/Learning Rate"}),
    ("stable-baselines3", {"rollout/ep_rew_mean"}),
    ("stable-baselines3", {"time/total_timesteps"}),
    ("rl_games", {"losses/a_loss", "losses/c_loss"}),
    ("lightning", {PLACEHOLDER}),
)
_TRAIN = ("train", "training")
_HELD_OUT = lazy_re(r"(?i:val|valid|validation|eval|evaluation|test|dev)")


def held_out_folder(path: Path) -> str:
    """Return the held-out data that the folder of a file is called after: val of val/loss.csv.

    The training has a file of the same name in a folder beside it; empty where it has not.
    """
    found = _HELD_OUT.fullmatch(path.parent.name)
    twins = (path.parent.with_name(word) / path.name for word in _TRAIN) if found else ()
    return path.parent.name.lower() if any(twin.is_file() for twin in twins) else ""


def of_both(names: Iterable[str]) -> bool:
    """Whether the columns tell both data apart themselves: ``xent_tr`` beside ``xent_dev``."""
    said = {split for name in names if (split := split_of(words(name)))}
    return "train" in said and len(said) > 1
