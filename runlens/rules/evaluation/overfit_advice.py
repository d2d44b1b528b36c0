"""What to do about a model that overfits, or that is only too sure of itself."""

from runlens import experiments, fixes
from runlens.diagnosis import Fix
from runlens.knowledge import in_force
from runlens.metrics import quality
from runlens.metrics import spoken as metric_words
from runlens.rules.evaluation.score import Score
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import step


def for_confidence(run: Run, score: Score) -> tuple[Fix, ...]:
    """Return what helps a model that is only too sure of itself: fewer steps would cost score."""
    old = run.setting("label_smoothing_factor")
    why = "a target below 1 keeps the model from becoming over-confident"
    what = "Keep the checkpoint with the best score, not the one with the best loss"
    made = (Fix(what, why=f"{metric_words(score.metric)} was best at step {step(score.best)}"),)
    if old:
        return made
    return (*made, Fix("Smooth the labels", "label_smoothing_factor", old, 0.1, why))


def of_the_evaluation() -> tuple[Fix, ...]:
    """Return what to look at where a loss rose farther than memorizing lifts one."""
    what = "Compute the loss of one training batch in model.train() and in model.eval()"
    stats = "Print the running mean and variance of the normalization layers"
    return (
        fixes.look(what, "losses that are far apart come from batch statistics or dropout"),
        fixes.look(stats, "a variance near 0 or far from that of a batch scales outputs up"),
    )


def keep_best(run: Run, score: str) -> tuple[Fix, ...]:
    """Keep the best model; by a score where that decides, which the Trainer has to be told."""
    what = f"Keep the model with the best {metric_words(score)}" if score else "Keep the best model"
    keep = fixes.setting(run, "load_best_model_at_end", True, what, "")
    if not score or ":" in score or run.framework not in in_force.TRAINER_FRAMEWORKS:
        return (keep,)
    chosen, what = score.removeprefix("eval_"), f"Choose the best model by {metric_words(score)}"
    made = (keep, fixes.setting(run, "metric_for_best_model", chosen, what, ""))
    if (kind := quality(score)) and kind.sign < 0:
        what = "Say that lower is better"
        return (*made, fixes.setting(run, "greater_is_better", False, what, ""))
    return made


def fixes_of(run: Run, signals: Signals, onset: float, score: str = "") -> tuple[Fix, ...]:
    """Return what to change where a run is best at step `onset`, by its loss or by a `score`."""
    made: list[Fix] = []
    told = metric_words(score or "eval_loss")
    if kept := fixes.checkpoint_before(run, onset):
        near = f"it is the nearest one saved before the best {told}"
        why = f"{told} was best there" if kept[0] == onset else near
        made.append(fixes.weights(f"Use {kept[1]}", why))
    made += fixes.shorter(run, signals, onset, metric_words(score) if score else "evaluation")
    if fixes.never_better(signals):
        why = "no later evaluation was much better than the first"
        made.append(
            fixes.action("Train on more rows, or train a smaller model", why, cures="memorised")
        )
    elif not in_force.keeps_best(run) and not _has_chosen(run, onset):
        made += keep_best(run, score)
        made += fixes.early_stopping(run, score or "eval_loss")
    per_epoch = signals.steps_per_epoch
    if not per_epoch or onset >= per_epoch:  # what was seen once was not memorised
        made += fixes.more_dropout(run, "single samples are then memorized less")
        made += fixes.smaller_rank(run, "less room to memorize samples; 8 to 32 is usual")
        made += fixes.more_decay(run, "this keeps the weights small; 0.01 to 0.1 is usual")
    if run.task in LANGUAGE_TASKS:
        made.append(experiments.check_data(run))
    if not fixes.never_better(signals):  # else it is said already
        what, why = "Add more training data", "more rows delay overfitting"
        made.append(fixes.action(what, why, "days", cures="memorised"))
    return tuple(made)


def _has_chosen(run: Run, best: float) -> bool:
    """Whether the Trainer's own best checkpoint is that of step `best`: it goes by the same."""
    return str(run.setting("best_model_checkpoint") or "").rstrip("/").endswith(f"-{best:.0f}")
