"""What rules about settings share: whether one is recorded, and the form of an advice."""

from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Fix, Moment
from runlens.run import Run, Setting, Task

LLM_TUNING: frozenset[Task] = frozenset({"sft", "dpo", "grpo", "ppo", "reward-model"})


def is_set(run: Run, key: str) -> bool:
    """Whether a setting is recorded, be it as null."""
    return key in run.config


def evaluation_off(run: Run) -> bool:
    """Whether the settings switch evaluation off; not where nothing is recorded."""
    return str(run.setting("eval_strategy")).lower() in {"no", "evalstrategy.no"}


def advice(
    title: str,
    key: str,
    value: Setting,
    seen: str,
    fix: tuple[Fix, ...],
    *,
    limit: float | None = None,
    source: str = "",
    above: bool = True,
    name: str = "",
    heading: str = "",
    sure: Confidence = Confidence(0.7, "the settings alone"),
) -> Finding:
    """Make the finding of a setting: an info about the whole run, without an onset."""
    shown = value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    return Finding(
        severity="info",
        title=title,
        heading=heading,
        metric=key,
        onset=Moment(),
        evidence=(Evidence(name or key, shown, limit, source, key, above=above),),
        seen=seen,
        fixes=fix,
        confidence=sure,
        chart=Chart(),
    )
