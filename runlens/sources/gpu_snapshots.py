"""The pictures that ``nvidia-smi`` draws, one behind another: ``nvidia-smi -l 30 > gpu.txt``.

A date above each, and of each card two lines between bars: its number and name, then temperature,
power, memory and utilization.
"""

from collections.abc import Iterator, Sequence

from runlens.patterns import lazy_re

MARK = "| NVIDIA-SMI "
OTHER_LINES = 3  # a picture: its date, a word above it; a training's log has more beside it
COLUMNS = ("timestamp", "index", "temperature.gpu", "power.draw", "memory.used", "utilization.gpu")
_DATE = lazy_re(r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [\d:]{8}(?: [AP]M)? \d{4}\s*$")
_CARD = lazy_re(r"\|\s+(\d{1,4})\s+\S.*\|.*\|.*\|\s*$")
_STATE = lazy_re(
    r"\|.*?\s(\d+)C\s.*?\s(?:(\d+)W|N/A) */.*\|\s*(\d+)MiB\s*/\s*\d+MiB\s*\|\s*(?:(\d+)%|N/A)"
)


def alone(text: str) -> bool:
    """Whether a text is pictures: a training that prints one at its start is its own log."""
    other = [line for line in text.splitlines() if line.strip() and line[0] not in "|+"]
    return text.count(MARK) > 0 and len(other) <= OTHER_LINES * text.count(MARK) + 1


def rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of each card of each picture, in the order of COLUMNS."""
    date = card = ""
    for line in lines:
        if _DATE.match(line):
            date = line.strip()
        elif card and (state := _STATE.match(line)):
            yield [date, card, *(cell or "" for cell in state.groups())]
            card = ""
        elif found := _CARD.match(line):
            card = found[1]
