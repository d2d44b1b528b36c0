"""Results below headings that come by turns: ``evaluation for task 0`` above ``Test acc: 0.5``.

A training that is evaluated on one task after the other, again and again, has a curve of each: no
number goes on from that of another task.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter

_HEADING = lazy_re(
    r"\W{0,20}(?:[a-z]{2,20} ){0,4}(?P<of>task|domain|data ?set|environment|language|subset|client)"
    r"[ :#_-]{0,2}(?P<number>\d{1,3})\W{0,20}",
    2,  # re.IGNORECASE
)
_RESULT = lazy_re(
    r"\s*(?P<name>[A-Za-z][\w /.@-]{0,60}?)\s*[:=]\s*"
    r"[-+]?(?:\d[\d.]*(?:e[-+]?\d{1,3})?|nan|inf)\s?%?\s*"
)
_Line = tuple[int, str]


def with_tasks_named(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines of results with the heading above them, where such headings come by turns.

    Tasks that are trained one after the other never come back, and what counts below a heading is
    a row of its training.

    >>> lines = ["task 0", "loss: 2.5", "task 1", "loss: 0.5", "task 0", "loss: 2.4"]
    >>> [line for _, line in with_tasks_named(list(enumerate(lines)))][1::2]
    ['task_0/loss: 2.5', 'task_1/loss: 0.5', 'task_0/loss: 2.4']
    """
    heads = {n: said for n, (_, line) in enumerate(others) if (said := _HEADING.fullmatch(line))}
    numbers = [int(said["number"]) for said in heads.values()]
    if len(set(numbers)) < 2 or numbers == sorted(numbers):  # noqa: PLR2004 - one has no turn
        return others
    named = list(others)
    for head, said in heads.items():
        for n in range(head + 1, len(others)):
            at, line = others[n]
            result = _RESULT.fullmatch(line)
            if result is None:
                break
            if counter(result["name"]):
                return others
            named[n] = at, f"{said['of'].lower()}_{said['number']}/{line.strip()}"
    return named
