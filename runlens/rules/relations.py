"""How a rule stands to the others: what it leads to and how soon, and what it says better.

Each rule says so itself; `runlens.incidents` reads it. Slugs are checked by a test.
"""

from collections.abc import Mapping
from math import inf
from typing import Literal

from msgspec import Struct

# windows as a share of the run: of one event seen twice, of an accident, of a policy that is lost
AT_ONCE, SOON, BY_AND_BY, ANY = 0.05, 0.20, 0.30, inf
# from the configuration to the end of the run: the earlier layer leads where onsets tie
Layer = Literal["setting", "data", "input", "update", "numbers", "course", "evaluation", "end", ""]
LAYERS: tuple[Layer, ...] = (
    "setting", "data", "input", "update", "numbers", "course", "evaluation", "end", ""
)  # fmt: skip
# groups of effects
CLIMBS = ("grad-explosion", "grad-spike", "loss-spike", "sawtooth", "oscillation", "divergence")
NAN = ("nan-loss", "hidden-nan")
UPSET = ("grad-explosion", "divergence", "loss-spike", "warmup-shock")
STUCK = ("not-learning", "plateau", "stuck-at-chance")
AFTER_NAN = (
    *("nan-grad", "nan-eval", "zero-loss", "grad-zero", "stuck-at-chance", "eval-flat"),
    *("eval-leak", "crashed", "stopped-early", "not-learning", "reward-collapse"),
    "entropy-collapse",
)
POLICY_LOST = (
    *("reward-collapse", "entropy-collapse", "length-growth", "length-collapse"),
    *("reward-hacking", "grad-explosion"),
)
# checks of the same fault: beside the finding, that they passed or could not run denies it
COVERS: Mapping[str, tuple[str, ...]] = {
    "killed": ("crashed", "oom-cliff", "stopped-early"),
    "stopped-early": ("crashed", "killed", "oom-cliff"),
    "oom-cliff": ("crashed", "killed", "stopped-early"),
    "known-error": ("crashed", "killed", "oom-cliff", "stopped-early"),
    "hang": ("crashed", "killed", "stopped-early"),
    "crashed": ("killed", "stopped-early"),
    "nan-loss": ("hidden-nan", "divergence"),
    "hidden-nan": ("nan-loss", "divergence"),
    "divergence": ("loss-spike", "hockey-stick", "eval-gap", "eval-flat"),
    "warmup-shock": ("divergence", "hockey-stick", "eval-gap", "eval-flat"),
    "resume-jump": ("divergence", "loss-spike"),
    "grad-explosion": ("grad-spike",),
    "not-learning": ("plateau", "eval-flat"),
    "stuck-at-chance": ("not-learning", "plateau", "eval-flat"),
    "zero-loss": ("plateau",),
    "lr-zero": ("not-learning", "plateau"),
    "grad-zero": ("not-learning", "plateau"),
    "preference-collapse": ("not-learning", "plateau", "stuck-at-chance"),
    "hockey-stick": ("eval-gap", "eval-flat"),
    "eval-flat": ("hockey-stick", "eval-gap"),
    "plateau": ("eval-flat",),
    "sawtooth": ("oscillation",),
    "reward-stuck-zero": ("reward-flat",),
    "reward-collapse": ("reward-flat",),
}
# checks whose pass denies nothing of the finding; of every finding where none is named
HOLDS_BESIDE: Mapping[str, tuple[str, ...]] = {
    "": ("no-clipping",),  # a limit that is too loose is a limit
    "known-error": ("oom-cliff",),
}
# checks of a setting that a kind of cause names
NAMED_BY: Mapping[str, str] = {
    "rate-too-high": "lr-out-of-range",
    "rate-too-low": "lr-out-of-range",
    "warmup-missing": "no-warmup",
    "clip-missing": "no-clipping",
    "clip-too-tight": "clip-saturation",
    "precision": "fp16-risk",
    "length-limit": "completions-clipped",
    "reward-function": "reward-hacking",
}
# what a rule that did not name it as its own title may have called this finding
DENIED_BY: Mapping[str, tuple[str, ...]] = {
    "grad-spike": ("single spike",),
    "hidden-nan": ("hidden nan",),
}
# checks of how a run ended that the state of the run answers
STATES: Mapping[str, tuple[str, ...]] = {
    "killed": ("killed", "stopped-early"),
    "crashed": ("crashed", "stopped-early"),
    "stopped_early": ("stopped-early",),
}


class Relations(Struct, frozen=True):
    """What a finding can bring about, by when it begins after it, and what it is another name of.

    `absorbs`: lesser readings of the same curve, which become a line of evidence. `brief`: it reads
    a place, not the whole curve; the better reading must begin near it. `early_sign`: seen before
    the entropy or the reward has fallen to its limit, of which `late` says that it is one.
    """

    at_once: tuple[str, ...] = ()
    soon: tuple[str, ...] = ()
    by_and_by: tuple[str, ...] = ()
    ever: tuple[str, ...] = ()
    absorbs: tuple[str, ...] = ()
    layer: Layer = ""
    brief: bool = False
    early_sign: bool = False
    late: bool = False

    def window(self, effect: str) -> float | None:
        """Return the share of the run within which an effect begins; None where it is none."""
        windows = (
            (self.at_once, AT_ONCE),
            (self.soon, SOON),
            (self.by_and_by, BY_AND_BY),
            (self.ever, ANY),
        )
        return next((share for effects, share in windows if effect in effects), None)

    @property
    def rank(self) -> int:
        """The place of its layer, the first 0."""
        return LAYERS.index(self.layer)
