"""Fixes with the numbers of this run: old value from its config, new value inside the sane range.

The factors and ranges are those of common practice in fine-tuning; where a framework's own default
or advice is meant, it is named. A fix whose old value is not recorded says what to set; it never
invents an old value.
"""

import math
from dataclasses import replace

from runlens.arrays import median
from runlens.diagnosis import Cost, Fix, FixKind
from runlens.knowledge.defaults import default_rate, small_model
from runlens.knowledge.dialects import place_of
from runlens.knowledge.in_force import (
    DEFAULT_CLIP,
    TRAINER_FRAMEWORKS,
    accumulation,
    clip_limit,
    patience,
    scale_matters,
)
from runlens.knowledge.optimizer_settings import USUAL_DECAY
from runlens.metrics import base
from runlens.run import BEST_SAVED, SAVING, Run
from runlens.signals import Signals, phases
from runlens.usual_rates import ceiling, limit_at_fault, usual_rates
from runlens.wording import number, rate
from runlens.wording import step as as_step

SCHEDULE = "rate-leaves-plan"
DATA = "bad-batch"
FIND_SETTER = "Find what set the learning rate"
FIX_SCHEDULE = "Find what raised the learning rate above its schedule"
NO_GROWTH = "Set the factor of the schedule (gamma) to 1 or less"
SCHEDULE_AT_FAULT = 1.5  # logged over configured peak, from which the schedule is to blame
RUNAWAY = 10.0  # last rate over the highest of the first quarter: no schedule grows so
LOADER_WORKERS, SMALL_RANK = 4, 8  # per GPU, to start with: 4 to 8 are usual; 8 to 32 are
DROPOUT = 0.05  # of LoRA adapters, to start with
TIGHTER_CLIP = 0.5  # the lower end used for LLM fine-tuning is 0.3
# a loop of one's own may train a model of any size: the ranges of methods are those of large ones
LARGE_MODELS = {*TRAINER_FRAMEWORKS, "verl", "megatron", "openrlhf"}
OUTLIERS = 2.0  # times the median norm: a limit that cuts outliers alone
VERY_LOW = 100.0  # times below a default, from which nothing moves
SOON_BEST, NEAR = 0.03, 0.9  # of the plan: a best step before or after is no length for a run
DIED = 50.0  # a median norm of the start over that of the run
BLOWN = 1_000.0  # a last loss over the highest before, a median norm over that of the start
TENTH = 10.0  # a rate that broke a run is seldom right within a factor of ten
SAME_EPOCH = 0.01  # of an epoch, as steps are rounded
OF_WEIGHTS = (".pt", ".pth", ".th", ".ckpt", ".h5", ".keras", ".pkl", ".bin")
FAR_OUT = 3.0  # times outside the usual range, from which its middle is proposed


def two_digits(value: float) -> float:
    """Round a computed setting to two significant digits: ``6.6667e-05`` -> ``6.7e-05``."""
    return float(f"{value:.1e}")


def one_digit(value: float) -> float:
    """Round what is usual to one significant digit: more would look measured."""
    return float(f"{value:.0e}")


def learning_rate(run: Run, signals: Signals, factor: float, why: str) -> tuple[Fix, ...]:
    """Bring the peak learning rate to what is usual, else multiply it by `factor`.

    First comes what a run beside it is well at, then the range of the method, or the default of
    the algorithm where the rate is far above it. Factors: 1/3, 1/5 when a NaN or divergence
    followed a climbing gradient norm, 1/2 for a mild case, 3 when it is below the range.
    """
    configured, peak = run.number("learning_rate"), signals.peak_learning_rate
    if factor < 1 and signals.inputs.rate.growth:
        return (action(NO_GROWTH, "the rate then falls or stays", cures=SCHEDULE),)
    if peak and (peak > SCHEDULE_AT_FAULT * configured if configured else _runs_away(signals)):
        known = f"the learning rate was at its highest, {rate(peak)}, when the run ended"
        if configured:
            known = f"the learning rate reached {rate(peak)}, and {rate(configured)} is configured"
        return (action(FIX_SCHEDULE, known, cures=SCHEDULE),)
    now = configured or peak
    if not now or not math.isfinite(now):
        return ()
    usual, known_rate = usual_rates(run), _usual(run, now, lower=factor < 1)
    stood = run.family.rate_below(now) if run.family and factor < 1 else None
    new, told = now * factor, why
    if usual and factor < 1 and now < usual.low:
        return ()  # what is too low already is not lowered
    if stood:
        new, told = stood, f"a run beside it is well at {rate(stood)}"
    elif known_rate and (known_rate[0] < new if factor < 1 else known_rate[0] > new):
        new, told = known_rate
    if usual and factor < 1 and not stood and usual.high < min(now, new):  # it is held to the range
        new, told = usual.high, f"{rate(usual.high)} is the usual maximum for {usual.what}"
    new = two_digits(new)
    what = f"{'Lower' if factor < 1 else 'Raise'} the learning rate"
    if configured is None:  # the highest that was logged is no setting
        what, told = f"{what} to {rate(new)}", f"{told}; the highest logged rate is {rate(now)}"
    cures = "rate-too-high" if factor < 1 else "rate-too-low"
    return (Fix(what, "learning_rate", configured, new, told, cures=cures),)


def _usual(run: Run, now: float, *, lower: bool) -> tuple[float, str] | None:
    """Return the usual rate to go to, and whose it is; None where `now` is not far from it."""
    usual, default = usual_rates(run), default_rate(run)
    large = run.framework in LARGE_MODELS and not small_model(run)
    if usual and (large or default is None):
        told = f"rates of {rate(usual.low)} to {rate(usual.high)} are usual for {usual.what}"
        if lower and now > usual.high:
            far = now > FAR_OUT * usual.high and not small_model(run)  # these take its upper end
            return (one_digit(usual.middle) if far else usual.high), told
        if not lower and now < usual.low:
            return (one_digit(usual.middle) if now < usual.low / FAR_OUT else usual.low), told
        return None
    if default and lower and now > FAR_OUT * default.rate:
        if default.rate > now / TENTH:  # too near to what broke the run
            return now / TENTH, "the rate that failed was ten times as high"
        return default.rate, f"{rate(default.rate)} is {default.name}"
    if usual and default and not lower and usual.high < default.rate:
        default = None  # what is called too high elsewhere is no advice
    if default and not lower and now < default.rate / VERY_LOW:
        return default.rate, f"{rate(default.rate)} is {default.name}"
    if usual and lower and now > TENTH * usual.high:
        told = f"rates of {rate(usual.low)} to {rate(usual.high)} are usual for {usual.what}"
        return now / TENTH, f"the rate that failed was ten times as high; {told}"
    most = ceiling(run)
    if most and lower and now > most.rate:
        return most.rate / 10, f"{most.why}; few models train at or above {rate(most.rate)}"
    return None


def _runs_away(signals: Signals) -> bool:
    """Whether the rate is at its peak at the end, ten times its level in the first quarter."""
    value = signals.curve("learning_rate").value
    early = value[: max(1, len(value) // 4)]
    return len(value) > 1 and value[-1] >= value.max() > RUNAWAY * early.max()


def clipping(run: Run, signals: Signals, why: str) -> tuple[Fix, ...]:
    """Bound single gradients at twice the run's own median norm; nothing where that is in force.

    Where no norm is logged, 1.0 (of transformers' Trainer) switches it on; a set limit stays.
    """
    limit, norms = clip_limit(run), signals.curve("grad_norm").value
    usual = float(median(norms)) if len(norms) else 0.0
    early = float(median(norms[: max(1, len(norms) // 10)])) if len(norms) else 0.0
    if 0 < early < usual / BLOWN:  # most of the run had exploded: that is not its usual norm
        usual = early
    off = limit is None or limit <= 0
    new = two_digits(OUTLIERS * usual) if usual > 0 else DEFAULT_CLIP
    if early > DIED * usual > 0 or (not off and (usual <= 0 or limit is None or limit <= new)):
        return ()  # a limit for norms that died out would cut all before
    what = "Clip gradients" if off else "Lower the clipping limit"
    told = f"{why}; the new limit is twice the usual norm of {number(usual)}" if usual > 0 else why
    old = run.number("max_grad_norm")
    return (Fix(what, "max_grad_norm", old, new, told, cures="clip-missing"),)


def wider_clipping(run: Run, signals: Signals) -> tuple[Fix, ...]:
    """Widen a limit that cuts most steps to twice the run's own median norm.

    Under SGD, while the loss falls, only of a limit that is at fault: its steps grow as much.
    """
    limit, norms = clip_limit(run), signals.curve("grad_norm").after(signals.settled_from).value
    usual = float(median(norms)) if len(norms) else 0.0
    new = two_digits(OUTLIERS * usual)
    keeps = scale_matters(run) and signals.levels("train_loss").fell
    faulty = limit is not None and limit_at_fault(run, signals.peak_learning_rate, limit, usual)
    if not limit or not 0 < limit < new or (keeps and not faulty):
        return ()
    why = f"{number(new)} is twice the median norm, so it clips only outliers"
    was, what = run.number("max_grad_norm"), "Raise the clipping limit"
    return (Fix(what, "max_grad_norm", was, new, why, cures="clip-too-tight"),)


def shorter(run: Run, signals: Signals, best: float, what: str = "evaluation") -> tuple[Fix, ...]:
    """Train up to the best step: by `max_steps` where that is set, else by whole epochs.

    Nothing where the best model is hardly better than an untrained one: no number of steps helps.
    Nor where early stopping is set, which ends the run there by itself.
    """
    if never_better(signals) or run.number("early_stopping_patience"):
        return ()
    epochs, per_epoch = run.number("num_train_epochs"), signals.steps_per_epoch
    place = place_of(run, "max_steps")
    known = any(best in run.curve(m).step for m in run.history.metrics if m.startswith("eval_"))
    told = f"{what} was best" if known else "the data are memorized"
    told += f" {'at' if known else 'by'} step {as_step(best)}"
    if place is not None and (place.recorded or not epochs) and best >= 1:
        if not SOON_BEST <= best / max(run.number("max_steps") or run.last_step, 1) <= NEAR:
            return ()  # no usable model, or no shorter run
        stop = "Stop at the best step" if known else "Stop earlier"
        return (setting(run, "max_steps", int(best), stop, told, cures="memorised"),)
    passes = signals.inputs.passes_at(best) or (best / per_epoch if per_epoch else 0.0)
    new = max(1, math.ceil(passes - SAME_EPOCH)) if per_epoch else 0
    if not epochs or not per_epoch or new >= epochs or (new > 1 and new > NEAR * epochs):
        return ()
    done = number(passes, 2)
    why = f"{told}, after {done} epoch{'' if done == '1' else 's'}"
    return (
        setting(run, "num_train_epochs", new, "Train for fewer epochs", why, cures="memorised"),
    )


def never_better(signals: Signals) -> bool:
    """Whether eval loss gained less than a tenth of what it lost after, from before step 1 on.

    Where each row has both losses, a row is an epoch, and the first has been trained.
    """
    evals, train = signals.curve("eval_loss"), signals.curve("train_loss")
    if len(evals) < 2 or evals.step[0] > 0:  # noqa: PLR2004 - what came before is not known
        return False
    if len(evals) == len(train) and evals.step[1] == train.step[1] == 1:
        return False
    first, best, last = (float(x) for x in (evals.value[0], evals.value.min(), evals.value[-1]))
    return TENTH * (first - best) < last - best


def longer_warmup(run: Run, why: str, share: float = 0.05) -> tuple[Fix, ...]:
    """Warm up over 5 % of the planned steps (3 to 10 % are usual), in the unit already used."""
    if run.task == "rl" or phases.rises_throughout(run):  # the libraries of rl have no warm-up
        return ()
    total = run.state.planned_steps or run.last_step
    ratio, steps = run.number("warmup_ratio"), run.number("warmup_steps")
    seen = phases.warmup(run)  # a rise of the logged rate is a warm-up, whatever is recorded
    risen = seen.end if seen.present and seen.how != "assumed" else 0
    what = "Warm up longer" if ratio or steps or risen else "Add a learning-rate warm-up"
    if not steps and ratio is not None:
        return (Fix(what, "warmup_ratio", ratio, share, why),) if ratio < share else ()
    new = max(10, round(share * total))
    old = None if steps is None else int(steps)
    short = (old or risen) < new <= total / 2  # over more of it there is no warm-up
    return (Fix(what, "warmup_steps", old, new, why),) if short else ()


def bf16(run: Run, why: str, *, proven: bool = False) -> tuple[Fix, ...]:
    """Go from fp16 to bf16 where it is in use: by what is recorded, or `proven` by overflows."""
    if not (run.flag("fp16") or (proven and run.flag("fp16") is None)):
        return ()
    return (
        Fix("Train in bf16 (Ampere or later)", "bf16", run.flag("bf16") or False, True, why),
        Fix("Switch fp16 off", "fp16", True, False, "the two exclude each other"),
    )


def smaller_batch(run: Run, why: str) -> tuple[Fix, ...]:
    """Halve the batch on the device and double the accumulation, so that the sum stays."""
    size = run.number("per_device_train_batch_size")
    if not size or size < 2:  # noqa: PLR2004 - a batch of one cannot be halved
        return ()
    half, steps = int(size) // 2, accumulation(run)
    what = f"{'Halve' if 2 * half == size else 'Lower'} the per-device batch size"
    fewer = Fix(what, "per_device_train_batch_size", int(size), half, why)
    keeps, key = "this keeps the effective batch", "gradient_accumulation_steps"
    if steps is None:
        more = f"Accumulate {size / half:g} times as many steps ({key}; today's is not recorded)"
        return fewer, action(more, keeps, "settings only")
    kept = math.ceil(steps * int(size) / half)
    return fewer, Fix("Accumulate over more steps", key, steps, kept, keeps)


def more_accumulation(run: Run, factor: int, why: str) -> tuple[Fix, ...]:
    """Average a step over more batches: noise falls with the root of the batch."""
    steps, key = accumulation(run), "gradient_accumulation_steps"
    twice = factor == 2  # noqa: PLR2004 - said in a word
    what = "Double the effective batch size" if twice else "Accumulate over more steps"
    if steps is None:
        more = f"Double {key}" if twice else f"Multiply {key} by {factor}"
        return (replace(action(more, why, "settings only"), name=key),)
    return (Fix(what, key, steps, factor * steps, why),)


def early_stopping(run: Run, metric: str) -> tuple[Fix, ...]:
    """Stop after evaluations without a gain in `metric`; nothing where a patience is set."""
    wait = patience(run, metric) if run.framework in TRAINER_FRAMEWORKS else 0
    if not wait or run.number("early_stopping_patience"):
        return ()
    why = f"this stops after {wait} evaluations without improvement"
    return (setting(run, "early_stopping_patience", wait, "Stop early", why, cures="memorised"),)


def smaller_rank(run: Run, why: str) -> tuple[Fix, ...]:
    """Halve the rank of LoRA, not below 8; nothing where it is that small or not known."""
    old = run.number("lora_r")
    if old is None or old <= SMALL_RANK:
        return ()
    new = max(SMALL_RANK, int(old) // 2)
    return (setting(run, "lora_r", new, "Lower the LoRA rank", why),)


def more_decay(run: Run, why: str) -> tuple[Fix, ...]:
    """Set weight decay to 0.01; nothing where as much is set, or nothing is recorded."""
    old = run.number("weight_decay")
    if old is None or old >= USUAL_DECAY:
        return ()
    return (setting(run, "weight_decay", USUAL_DECAY, "Add weight decay", why),)


def more_workers(run: Run) -> tuple[Fix, ...]:
    """Load data with 4 workers a GPU; nothing where as many are set."""
    old = run.number("dataloader_num_workers")
    if old is not None and old >= LOADER_WORKERS:
        return ()
    what, why = "Load data in parallel", "batches are then ready when the GPU is"
    return (setting(run, "dataloader_num_workers", LOADER_WORKERS, what, why),)


def fewer_readers(run: Run) -> tuple[Fix, ...]:
    """Halve the processes that read data; nothing for those not set, or set to one."""
    made = []
    processes = "Halve the processes of preprocessing"
    of_key = {"dataloader_num_workers": "Halve the data workers", "dataset_num_proc": processes}
    for key, what in of_key.items():
        old = run.number(key)
        if old and old > 1:
            why = "each of them ends up with a copy of the data"
            made.append(setting(run, key, int(old) // 2, what, why))
    return tuple(made)


def more_dropout(run: Run, why: str) -> tuple[Fix, ...]:
    """Raise the dropout of an adapter to 5 %; nothing where it is as high or not known."""
    old = run.number("lora_dropout")
    if not run.adapted or old is None or old >= DROPOUT:
        return ()  # configurations keep its default where no adapter is trained
    return (setting(run, "lora_dropout", DROPOUT, "Add dropout", why),)


def setting(
    run: Run,
    key: str,
    new: str | float | bool,
    what: str,
    why: str,
    cost: Cost = "settings only",
    *,
    cures: str = "",
) -> Fix:
    """Set one key, with its old value where it is recorded."""
    return Fix(what, key, run.setting(key), new, why, cost, cures=cures)


def action(
    what: str, why: str = "", cost: Cost = "minutes", *, kind: FixKind = "code", cures: str = ""
) -> Fix:
    """Do something that no setting does: change the code, the data, the machine."""
    return Fix(what.rstrip("."), why=why, cost=cost, kind=kind, cures=cures)


def look(what: str, why: str = "", cost: Cost = "minutes", *, cures: str = "") -> Fix:
    """Look at something that no log shows, or try something out: it changes nothing by itself."""
    return action(what, why, cost, kind="look", cures=cures)


def weights(what: str, why: str = "", cost: Cost = "minutes") -> Fix:
    """Take the weights of an earlier step."""
    return action(what, why, cost, kind="weights")


def blown(run: Run) -> tuple[float, str]:
    """Return (step, name) of a loss that ends far above all before; (infinity, "") for none.

    Weights from there on are worth nothing, whatever ended the run. A thousand times is no noise:
    an update that scatters so did not come back within the run.
    """
    ends = []
    for name in run.history.metrics:
        curve = run.curve(name).finite()
        if base(name).endswith("loss") and len(curve) >= 3:  # noqa: PLR2004 - two before it
            before, last = float(abs(curve.value[:-1]).max()), abs(float(curve.value[-1]))
            if last > BLOWN * before > 0:
                ends.append((float(curve.step[-1]), name.replace("_", " ")))
    return min(ends, default=(math.inf, ""))


def last_checkpoint(run: Run) -> tuple[int, str] | None:
    """Return (step, folder name) of the last checkpoint whose weights are worth resuming from."""
    return checkpoint_before(run, blown(run)[0] - 1)


def checkpoint_before(run: Run, step: float) -> tuple[int, str] | None:
    """Return (step, folder name) of the last checkpoint at or before `step`; None if there is none.

    A checkpoint that the run crashed over, while it wrote it, is none, nor one written over later.
    """
    latest = {path.rstrip("/"): at for at, path in run.checkpoints}
    saved = [(at, path.rpartition("/")[2]) for path, at in latest.items()]
    stages = [e.data.get("stage") for e in run.events_of("message") if e.data.get("last")]
    cut = run.last_step if SAVING in stages else math.inf
    whole = sorted(one for one in saved if one[0] <= step and one[0] < cut)
    whole = [one for one in whole if f"{one[1]}/" not in run.state.why]
    if not whole:
        return None
    at, name = whole[-1]
    named = any(map(str.isdigit, name)) or name.endswith(OF_WEIGHTS) or name == BEST_SAVED
    return at, name if named or "checkpoint" in name else f"the checkpoint in {name}"  # a folder


def lost_steps(steps: float) -> str:
    """Say what going back to a checkpoint costs: ``you lose no steps``, ``163 steps are lost``."""
    many = as_step(steps) if steps else "no"
    return f"you lose {many} step{'' if steps == 1 else 's'}"
