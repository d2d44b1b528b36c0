"""Why a loss lies flat and high: what the schedule, the norms and the settings say."""

from runlens import experiments, fixes
from runlens.diagnosis import Fix
from runlens.history import Curve
from runlens.knowledge.optimizer_settings import HIGH_DECAY, UNUSUAL
from runlens.rules.loss import surroundings
from runlens.run import Run
from runlens.signals import Signals
from runlens.usual_rates import usual_rates

DECAY = UNUSUAL["weight_decay"]
GONE = 0.05  # of the peak: a learning rate below it moves nothing


def rate_gone(signals: Signals, train: Curve) -> float | None:
    """Return the step at which the rate fell for good below 5 % of its peak in the first half."""
    rate, peak = signals.curve("learning_rate"), signals.peak_learning_rate or 0.0
    alive = rate.step[rate.value > GONE * peak]
    gone = float(alive[-1]) if len(alive) else 0.0
    return gone if len(rate) and gone < 0.5 * float(train.step[-1]) else None


def no_warmup(run: Run, signals: Signals) -> bool:
    """Whether settings or the learning-rate curve show that the run did not warm up."""
    warm = signals.warmup
    named = "warmup_steps" in run.config or "warmup_ratio" in run.config
    return not warm.present and (warm.how != "assumed" or named)


def cures(run: Run, signals: Signals, train: Curve) -> tuple[Fix, ...]:
    """Return what to try, cheapest first."""
    made = list(surroundings.first_checks(run))
    usual, peak = usual_rates(run), signals.peak_learning_rate
    if rate_gone(signals, train) is not None:
        stretch = "Stretch the schedule over the planned steps"
        made.insert(0, fixes.action(stretch, "it ends early", cures="rate-zero"))
    elif usual and peak and peak > usual[1]:
        made += fixes.learning_rate(run, signals, 1 / 3, "the rate is above the usual range")
    elif usual and peak and peak < usual[0]:
        made += fixes.learning_rate(run, signals, 3, "the rate is below the usual range")
    decay, rank = run.number("weight_decay"), run.number("lora_r")
    if decay and decay > HIGH_DECAY and run.task in {"sft", "dpo"}:
        made.append(
            fixes.setting(run, "weight_decay", DECAY.usual, "Lower the weight decay", DECAY.why)
        )
    if rank and rank <= 8:  # noqa: PLR2004 - 8 to 32 is usual
        made.append(fixes.setting(run, "lora_r", 32, "Raise the LoRA rank", "more capacity"))
    if no_warmup(run, signals):
        made += surroundings.warmup_fix(run)
    return (*made, experiments.check_data(run))
