"""Groups of findings that causes explain: what a run does, whatever made it do so."""

LOST = frozenset({"nan-loss", "hidden-nan", "nan-grad"})
THROWN = frozenset(
    {
        "divergence",
        "loss-spike",
        "sawtooth",
        "oscillation",
        "grad-explosion",
        "grad-spike",
        "warmup-shock",
    }
)
FITTED_AFTER = 200  # steps in which a head or template that updates reach is fitted in part
STUCK = frozenset({"not-learning", "stuck-at-chance", "plateau"})
POLICY = frozenset(
    {
        "entropy-collapse",
        "reward-collapse",
        "kl-blow-up",
        "length-growth",
        "length-collapse",
        "completions-clipped",
        "clip-ratio-high",
        "importance-ratio-divergence",
        "reward-hacking",
        "reward-flat",
        "reward-stuck-zero",
        "zero-reward-std",
        "entropy-high",
        "ebft-diversity",
    }
)
PREFERENCE = frozenset({"preference-collapse"})
OVERFIT = frozenset({"hockey-stick", "eval-gap", "epoch-staircase", "zero-loss", "forgetting"})
EVALUATED = frozenset({"hockey-stick", "eval-gap", "eval-flat", "nan-eval", "eval-leak"})
MOVED = THROWN | LOST | STUCK | POLICY | PREFERENCE | {"clip-saturation", "nan-eval"}
