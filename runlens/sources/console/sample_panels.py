"""Panels in which rich shows texts beside the log: prompts, completions, what tools answered.

TRL prints some at each step, ``╭─── Step 7 ───╮`` above a table in a frame. What an environment
answers in them, ``Step 3/50 | Reward: 0.55``, begins anew in each sample: it is a text of the
data, no row of the training, and an error in it is none of the run. Other panels are left.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re

FRAME = "┃"  # of a heading: without it there is no such table
_COLUMNS = lazy_re(rf"\s*│\s*{FRAME}.*\b(?:prompt|completion|response)s?\b", 2)  # re.IGNORECASE
_TOP, _EDGE, _BOTTOM = "╭", "│", "╰"
_Line = tuple[int, str]


def without_samples(lines: Sequence[_Line]) -> list[_Line]:
    """Return lines without what stands in panels of samples, to their edge or the end of the log.

    >>> panel = ["╭─ Step 7 ─╮", "│ ┃ Prompt ┃ Completion ┃ │", "│ │ Go │ Step 1 Reward: 2 │ │"]
    >>> without_samples(list(enumerate([*panel, "╰──────────╯", "step 7 loss 0.5"])))
    [(4, 'step 7 loss 0.5')]
    """
    tops = [n for n, (_, line) in enumerate(lines) if line.lstrip().startswith(_TOP)]
    inside: set[int] = set()
    for top in tops:
        panel = _panel(lines, top)
        if any(_COLUMNS.match(lines[n][1]) for n in panel):
            inside.update(panel)
    return [one for n, one in enumerate(lines) if n not in inside]


def _panel(lines: Sequence[_Line], top: int) -> range:
    """Return the numbers of the lines of a panel, its lower edge among them where it has one."""
    end = top + 1
    while end < len(lines) and lines[end][1].lstrip().startswith(_EDGE):
        end += 1
    closed = end < len(lines) and lines[end][1].lstrip().startswith(_BOTTOM)
    return range(top, end + closed)
