"""Learning rate out of range: the peak is far from what is usual for this kind of training.

What is seen
    The peak learning rate, logged or configured, is three times above or below the usual range
    of the method: full fine-tuning, LoRA, DPO, GRPO, PPO, pre-training, SGD on images.
Why it matters
    It is the first setting to look at when a run diverges, swings or does not learn.
Looks alike
    Small models take far higher rates, optimizers such as Adafactor, Lion or Muon have ranges of
    their own, and whether an adapter is trained is often not recorded: then the range holds
    both ways, or the check does not run. A log of a few points, one that ends in warm-up, or one
    that begins late has not seen the peak: where that is not configured a low rate is no sign.
    What the curves did counts for more than any range: a policy of a model that nothing names,
    whose reward rose all along at ten times the top and more, is no language model.
Limits
    beyond: how many times outside the range; within it runs are seen in health. fewest: logged
    rates, and late: share of the run before the first one, for a peak that is read off the curve.
Fixes
    The nearer end of the usual range, its middle where the rate is far out.
"""

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Outcome
from runlens.rules.config.method import advice
from runlens.rules.relations import CLIMBS, NAN, Relations
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.usual_rates import earned, of_no_model, usual_rates
from runlens.wording import number, rate, step, times, too_few

SUITS_HIGH = "suits only a very small model, a very large batch or prompt tuning"
FAR = 10.0  # times the top, where a reward that rises tells that the range is of other models
TOY = "no model is named, and the reward rose at a rate that no language model takes"
SUITS_LOW = "hardly changes the weights"


class Limits(Struct, frozen=True):
    """What may be tuned."""

    beyond: float = 3.0
    fewest: int = 5
    late: float = 0.2


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the peak with the range of the method."""
    peak = signals.peak_learning_rate
    configured = run.number("learning_rate")
    hidden = _peak_unseen(run, signals, limits)
    if peak and configured and hidden:
        peak = max(peak, configured)
    if not peak or peak < 0:
        known = configured is not None or len(signals.curve("learning_rate"))
        return unmet(f"no learning rate {'above 0 ' if known else ''}is logged or recorded")
    usual = usual_rates(run)
    if usual is None:
        return unmet("no usual range is known for this model, optimizer and task")
    spanned = f"{rate(usual.low)} to {rate(usual.high)} for {usual.what}"
    if usual.low / limits.beyond <= peak <= usual.high * limits.beyond:
        where = (
            ""
            if usual.low <= peak <= usual.high
            else f", up to {limits.beyond:g} × that is accepted"
        )
        return passed(f"the peak is {rate(peak)}; {spanned} are usual{where}")
    high = peak > usual.high
    if hidden and not high and not configured:
        return unmet(f"the peak is not configured, and {hidden}")
    edge = usual.high if high else usual.low
    learned = signals.levels("train_loss").fell or earned(run)
    toy = high and peak > FAR * edge and of_no_model(run) and earned(run)
    if toy or _borne(run, peak):
        return passed(TOY if toy else "runs beside it are well at a rate as high")
    side = f"{times(peak / edge)} the top of the usual range"
    if not high:
        side = f"1/{number(edge / peak, 2)} of the bottom of the usual range"
    return found(
        advice(
            f"The peak learning rate of {rate(peak)} is {side} ({spanned}).",
            "learning_rate",
            peak,
            f"A rate of {rate(peak)} {SUITS_HIGH if high else SUITS_LOW}.",
            ()
            if learned
            else fixes.learning_rate(run, signals, 1 / 3 if high else 3, f"usual for {usual.what}"),
            limit=edge,
            source=f"{spanned}: common practice",
            above=high,
            name="Peak learning rate",
        )
    )


def _borne(run: Run, peak: float) -> bool:
    """Whether a run beside this one is well at a rate as high: no table counts against it."""
    return run.family is not None and run.family.stands(peak)


def _peak_unseen(run: Run, signals: Signals, limits: Limits) -> str:
    """Say why the highest logged rate may not be the peak; empty where it is."""
    curve = signals.curve("learning_rate")
    if len(curve) < limits.fewest:
        return too_few(len(curve), "learning rate", limits.fewest)
    if curve.step[0] > limits.late * max(run.last_step, run.state.planned_steps or 0):
        return f"the log begins at step {step(float(curve.step[0]))}"
    if curve.value[-1] == curve.value.max() > curve.value[0]:
        return "it still rises at the end of the log"
    return ""


BAD = (
    drawn(
        "LoRA at 5e-3",
        severity="info",
        learning_rate="0:0 50:5e-3 600:0",
        config={"adapter": "lora", "learning_rate": 5e-3},
    ),
    drawn(
        "GRPO at 2e-4",
        task="grpo",
        severity="info",
        learning_rate="0:2e-4 600:2e-4",
    ),
    drawn(
        "GRPO at 1e-2 whose reward does not rise",
        task="grpo",
        severity="info",
        learning_rate="0:1e-2 600:1e-2",
        reward="0:0.4 600:0.4",
    ),
    drawn(
        "GRPO of a named model at 1e-2 whose reward rises",
        task="grpo",
        severity="info",
        learning_rate="0:1e-2 600:1e-2",
        reward="0:0.1 600:0.8",
        config={"model_name": "some/model-7b"},
    ),
    drawn(
        "full fine-tuning at 1e-7",
        severity="info",
        train_loss="0:2 600:1.9",
        config={"adapter": "full", "learning_rate": 1e-7},
    ),
)
GOOD = (
    drawn("LoRA", learning_rate="0:0 50:2e-4 600:0", config={"adapter": "qlora"}),
    drawn("adapter not recorded", learning_rate="0:0 50:3e-4 600:0"),
    drawn("falls to 0", learning_rate="0:2e-4 600:1e-8"),
    drawn(
        "one rate of the end of a schedule",
        learning_rate="580:2.9e-6 600:0",
        config={"adapter": "full", "learning_rate": 1e-5},
    ),
    drawn("GRPO", task="grpo", learning_rate="0:1e-6 600:1e-6"),
    drawn(
        "a toy policy that earns ever more",
        task="grpo",
        learning_rate="0:1.5 600:1.5",
        reward="0:0.1 600:0.8",
    ),
    drawn(
        "SGD",
        task="classification",
        learning_rate="0:0.1 600:0",
        config={"optim": "sgd", "per_device_train_batch_size": 256},
    ),
)

RULE = Rule(
    slug="lr-out-of-range",
    title="Learning rate out of range",
    family="CFG",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=(*CLIMBS, *NAN, "warmup-shock"), layer="setting"),
    bad=BAD,
    good=GOOD,
)
