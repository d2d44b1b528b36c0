"""Why no attempt is rewarded, and what to look at."""

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Fix
from runlens.patterns import lazy_re
from runlens.rules.rl import policy, unrewarded
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import percent

# a measure of success that stands for a reward which is not logged, as the reading tells it
_BY_SCORE = lazy_re(r"(?i)its reward, so \"[^\"]*(?:\bwin|_win|success|solved|accuracy)")
SERVED = {"verl", "openrlhf"}  # which always sample from a server of their own


def _shown(run: Run) -> tuple[Fix, ...]:
    if run.task != "grpo" or run.flag("log_completions") or run.flag("trl.log_completions"):
        return ()
    what, why = "Log the completions", "this shows what is rewarded, and what is not"
    return (fixes.setting(run, "log_completions", True, what, why),)


def _clipped(signals: Signals) -> float | None:
    value = signals.curve("len_clipped").value
    return float(median(value)) if len(value) else None


def by_score(run: Run) -> bool:
    """Whether what was read for the reward is a share of wins or successes: it may pay for more."""
    return any(_BY_SCORE.search(problem.text) for problem in run.problems)


def causes(run: Run, signals: Signals) -> tuple[Cause, ...]:
    """Return why nothing is rewarded, the most likely first."""
    if run.task == "rl":
        return (
            Cause("Success too rare to be met by chance", "most likely", kind="reward-function"),
            Cause("A reward that the environment never sends", "likely", kind="reward-function"),
        )
    cut = _clipped(signals)
    is_cut = cut is not None and cut > 0.8 and not policy.runs_on(signals)  # noqa: PLR2004 - axolotl's
    why = f"{percent(cut or 0)} of the completions (median) are cut at the limit"
    return policy.ranked(
        Cause("Completion limit too short for the task", "most likely", why, kind="length-limit")
        if is_cut
        else None,
        Cause(
            "Reward function that does not match the completions",
            "likely" if is_cut else "most likely",
            "not one was rewarded" if signals.curve("reward").value.max(initial=0) <= 0 else "",
            kind="reward-function",
        ),
    )


def cures(run: Run, signals: Signals, *, dense: bool) -> tuple[Fix, ...]:
    """Return what to look at; `dense`: every episode got the same sum of many rewards."""
    if run.task == "rl" and dense:
        why = "a policy at the bounds of its actions gets one return"
        return (fixes.look("Print the actions of two episodes", why),)
    if run.task == "rl" and by_score(run):
        why = "where they rise alone, the policy learns and success is still too far away"
        easy = "Score the policy on an easier task or against a weaker opponent"
        return (
            fixes.look("Log the reward that the policy is trained by, and its loss", why),
            fixes.look(easy, "a score of 0 hides all progress"),
        )
    if run.task == "rl":
        steps = unrewarded.length(run)
        longer = (
            fixes.action(
                f"Repeat the run with episodes of up to {2 * steps} steps",
                "if one is rewarded then, the limit was too short",
                cost="one run",
            )
            if steps
            else None
        )
        return (
            fixes.look(
                "Check the reward of one attempt that must succeed, made by hand or by a script",
                "0 there means that no success is ever paid; else the task is too hard so far",
            ),
            *((longer,) if longer else ()),
            fixes.action("Give a reward for progress, not only for success", cost="one run"),
        )
    made = [
        fixes.look(
            "Call the reward function on a known-correct answer", "it must return more than 0"
        ),
        *_shown(run),
        fixes.look("Print ten completions next to what the reward function looks for"),
        fixes.look("Print the arguments of the reward function", "every column must arrive"),
    ]
    if run.flag("use_vllm") or run.framework in SERVED:
        made.append(fixes.look("Check which checkpoint the inference server serves"))
    limit, cut = policy.length_limit(run, signals), _clipped(signals)
    is_cut = cut is not None and cut > 0.8  # noqa: PLR2004 - axolotl's alarm value
    if limit and cut is not None and is_cut and not policy.runs_on(signals):
        new, why = int(2 * limit.tokens), f"{percent(cut)} of the completions are cut"
        made.insert(
            0,
            Fix("Raise the completion limit", "max_completion_length", int(limit.tokens), new, why),
        )
    easier = "Start with easier prompts, or run SFT on solved examples first"
    return (*made, fixes.action(easier, "the first successes come by chance", "one run"))
