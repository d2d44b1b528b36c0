"""Names of general benchmarks: measures of other tasks than the one that is trained."""

import re

from runlens.patterns import lazy_re

BENCHMARK = lazy_re(
    r"mmlu|hellaswag|\barc[_-]?(?:easy|challenge|[ce])\b|winogrande|truthfulqa|gsm8k|humaneval"
    r"|human_eval|mbpp|boolq|piqa|lambada|\bbbh\b|big[_-]?bench|ifeval|wikitext|openbookqa|siqa"
    r"|commonsense|triviaqa|naturalqs|nq_open|math500|gpqa|\bceval\b|cmmlu|\bsquad\b|superglue",
    re.IGNORECASE,
)
