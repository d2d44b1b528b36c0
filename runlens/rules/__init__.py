"""All rules, by hand: to add one, write its file and add it here."""

from typing import Any

from runlens.rules.evaluation import (
    eval_flat,
    eval_gap,
    eval_leak,
    hockey_stick,
)
from runlens.rules.gradients import (
    clip_saturation,
    grad_explosion,
    grad_spike,
    grad_zero,
)
from runlens.rules.lifecycle import (
    crashed,
    hang,
    killed,
    known_error,
    oom_cliff,
    resume_jump,
    stopped_early,
)
from runlens.rules.loss import (
    divergence,
    epoch_staircase,
    loss_spike,
    not_learning,
    oscillation,
    plateau,
    sawtooth,
    stuck_at_chance,
    zero_loss,
)
from runlens.rules.numerics import (
    hidden_nan,
    loss_scale_collapse,
    nan_eval,
    nan_grad,
    nan_loss,
)
from runlens.rules.rl import (
    clip_ratio_high,
    completions_clipped,
    entropy_collapse,
    entropy_high,
    importance_ratio_divergence,
    kl_blow_up,
    length_collapse,
    length_growth,
    preference_collapse,
    reward_collapse,
    reward_flat,
    reward_hacking,
    reward_stuck_zero,
    zero_reward_std,
)
from runlens.rules.rule import Rule
from runlens.rules.schedule import (
    lr_zero,
    schedule_mismatch,
    warmup_shock,
)
from runlens.rules.throughput import (
    low_utilisation,
    memory_growth,
    throughput_drop,
)

RULES: tuple[Rule[Any], ...] = (
    nan_loss.RULE,
    hidden_nan.RULE,
    nan_grad.RULE,
    nan_eval.RULE,
    loss_scale_collapse.RULE,
    divergence.RULE,
    loss_spike.RULE,
    plateau.RULE,
    not_learning.RULE,
    stuck_at_chance.RULE,
    sawtooth.RULE,
    oscillation.RULE,
    zero_loss.RULE,
    epoch_staircase.RULE,
    hockey_stick.RULE,
    eval_flat.RULE,
    eval_gap.RULE,
    eval_leak.RULE,
    grad_explosion.RULE,
    grad_spike.RULE,
    grad_zero.RULE,
    clip_saturation.RULE,
    lr_zero.RULE,
    warmup_shock.RULE,
    schedule_mismatch.RULE,
    entropy_collapse.RULE,
    reward_stuck_zero.RULE,
    reward_flat.RULE,
    reward_collapse.RULE,
    zero_reward_std.RULE,
    kl_blow_up.RULE,
    clip_ratio_high.RULE,
    length_growth.RULE,
    length_collapse.RULE,
    completions_clipped.RULE,
    importance_ratio_divergence.RULE,
    reward_hacking.RULE,
    preference_collapse.RULE,
    entropy_high.RULE,
    throughput_drop.RULE,
    low_utilisation.RULE,
    memory_growth.RULE,
    oom_cliff.RULE,
    crashed.RULE,
    killed.RULE,
    stopped_early.RULE,
    hang.RULE,
    known_error.RULE,
    resume_jump.RULE,
)
