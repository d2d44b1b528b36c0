"""The cross-entropy part of a mixed loss, judged in place of the whole.

The loss of EBFT is rl_coef * rl_loss + ce_coef * ce_loss: a policy-gradient loss, whose level and
direction mean nothing, plus a cross-entropy that reads like any other. axolotl logs the latter as
ebft/ce_loss, and as exact zeros where ce_coef is 0. A run without it has no loss to judge.

EBFT learns by its reward. What is wrong with the cross-entropy is a warning at most, and that it
keeps its level an info.
"""

from dataclasses import replace

from runlens.diagnosis import Finding, Outcome, Severity
from runlens.patterns import lazy_re
from runlens.rules.rule import Asked
from runlens.run import RL_TASKS, Run, Task

PART = "ebft_ce"
AS_LOGGED = "ebft/ce_loss"
AS_TASK: Task = "sft"  # its level and direction are those of fine-tuning
WANT_A_FALL = {"plateau", "not-learning", "stuck-at-chance"}
THE_LOSS = lazy_re(r"\b[Tt]rain(ing)?[ _]loss\b")


def judges(rule: Asked) -> bool:
    """Whether a rule reads the shape of a training loss."""
    return rule.family == "LOS" and AS_TASK in rule.tasks


def of(run: Run) -> Run | None:
    """Return the run with that part as its only loss; None where it has none to judge."""
    if run.task not in RL_TASKS or not run.curve(PART).value.any():
        return None
    kept = {name: name for name in run.history.metrics if "loss" not in name}
    history = run.history.renamed(kept | {PART: "train_loss"})
    return replace(run, history=history, task=AS_TASK)


def told(outcome: Outcome, slug: str) -> Outcome:
    """Name the part in what a rule said of it; `slug` is that of the rule."""
    reason = f"{AS_LOGGED}: {_worded(outcome.reason)}" if outcome.reason else ""
    findings = tuple(_told(finding, slug) for finding in outcome.findings)
    return outcome._replace(reason=reason, findings=findings)


def _told(finding: Finding, slug: str) -> Finding:
    loudest: Severity = "info" if finding.severity == "info" or slug in WANT_A_FALL else "warning"
    metrics = tuple(_named(metric) for metric in finding.chart.metrics)
    return replace(
        finding,
        severity=loudest,
        louder_with=() if loudest == "info" else finding.louder_with,
        title=_worded(finding.title),
        metric=_named(finding.metric),
        evidence=tuple(
            item._replace(what=_worded(item.what), where=_named(item.where))
            for item in finding.evidence
        ),
        seen=f"{_worded(finding.seen)} Of the loss of EBFT this part alone has a level.".strip(),
        chart=finding.chart._replace(metrics=metrics),
    )


def _named(metric: str) -> str:
    return PART if metric == "train_loss" else metric


def _worded(text: str) -> str:
    return THE_LOSS.sub(AS_LOGGED, text)
