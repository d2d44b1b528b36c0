"""The nearest labeled runs, as text."""

from collections.abc import Iterator, Mapping

from runlens.errors import one_line
from runlens.similar.library import Answer

SHOWN = 5  # runs that are named
WIDTH = 60  # characters of a name


def text(name: str, answer: Answer, titles: Mapping[str, str]) -> str:
    """Return what the nearest runs were, some of them by name, and how often that is right."""
    return "\n".join(one_line(line) for line in _lines(name, answer, titles)) + "\n"


def _lines(name: str, answer: Answer, titles: Mapping[str, str]) -> Iterator[str]:
    asked = len(answer.nearest)
    yield f"Of {answer.of} labeled runs, the {asked} nearest to {name} were"
    for slug, count in answer.were:
        title = titles.get(slug, "")
        yield f"  {count:>3}  {slug}{f': {title}' if title else ''}"
    if answer.causes:
        known = ", ".join(f"{count} {slug.replace('-', ' ')}" for slug, count in answer.causes)
        yield f"Caused by: {known}"
    yield "Nearest"
    for run, distance in answer.nearest[:SHOWN]:
        place = run.name if len(run.name) <= WIDTH else f"...{run.name[-WIDTH:]}"
        yield f"  {distance:.2f}  {', '.join(run.answers)}  ({place})"
    yield str(answer.measured)
