"""The error with which a log ends, where no exception of Python was printed with its traceback."""

from bisect import bisect_right
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.run import UNNAMED
from runlens.sources.console.events import MAX_EXCEPTION, Failure
from runlens.sources.console.last_words import last_words
from runlens.sources.console.messages import TOUCHED, Hit
from runlens.sources.console.unstarted import refused

# of a log of requests: "GET / HTTP/1.1" 200, "HTTP/1.1 GET /" - 404
_METHOD = r"(?:GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS)"
# of Flask and of what FastAPI is built on
_ANSWER = lazy_re(r"(?:werkzeug|starlette|fastapi|aiohttp)\.[\w.]*(?:exceptions?)\b")
_REQUEST = lazy_re(rf'"(?:HTTP/\d\S* )?{_METHOD} \S+(?: HTTP/\d\S*)?" (?:- )?[1-5]\d\d\b')
_TESTS = lazy_re(r"=+ test session starts =+\s*$")  # pytest's heading
_OUTSIDE = {"oom", "kill", "hang"}  # messages that tell of an end by themselves


def before_any_row(
    found: list[Failure], lines: Sequence[str], index: Sequence[int], hits: Sequence[Hit]
) -> list[Failure]:
    """Add what ended a log without a row where no exception does, or one that is not named.

    `index` holds where in the log each of `lines` stands; `hits` are the known messages in them.
    """
    if not found and (place := refused(lines)) >= 0:
        said = lines[place].strip()[:MAX_EXCEPTION]
        return [Failure(index[place], index[place], said, "", ignored=False)]
    unnamed = all(item.exception.startswith(UNNAMED) for item in found)
    told = any(hit.kind in _OUTSIDE for hit in hits)
    quiet = {hit.line for hit in hits if hit.message.row == TOUCHED}
    spoken = ["" if n in quiet else line for n, line in enumerate(lines)]
    words = last_words(spoken) if unnamed and not told else None
    if not words or (found and words.text.startswith(UNNAMED)):
        return found
    if found:
        return [found[-1]._replace(exception=words.text)]
    at, end = index[words.at], index[words.end]
    return [Failure(at, end, words.text, words.frame, ignored=False, words=words.sure)]


def of_tests(lines: Sequence[str]) -> bool:
    """Whether a log is of pytest: what it cannot collect, and what fails, is no training's end."""
    return any(map(_TESTS.match, lines))


def but_served(
    found: Sequence[Failure], lines: Sequence[str], index: Sequence[int]
) -> list[Failure]:
    """Mark what ended one request, not the server: it answers others before it and after it."""
    at = [index[n] for n, line in enumerate(lines) if _REQUEST.search(line)]
    went_on = [bool(at) and at[0] < item.at and item.end < at[-1] for item in found]
    return [
        item._replace(ignored=item.ignored or on) for item, on in zip(found, went_on, strict=True)
    ]


def but_answered(found: Sequence[Failure]) -> list[Failure]:
    """Mark what a web server raises to answer a request that it refuses: no program ends by it."""
    return [
        item._replace(ignored=item.ignored or _ANSWER.match(item.exception) is not None)
        for item in found
    ]


def behind_the_rows(
    lines: Sequence[str],
    index: Sequence[int],
    hits: Sequence[Hit],
    last: int,
    *,
    unfinished: bool,
    goes_on: bool,
) -> list[Failure]:
    """Return what ended a log behind its last row, at `last`: a crash of another language, mostly.

    An error that only its first words name counts where the plan is `unfinished`: else a program
    may have printed it and be done. So it does where the log `goes_on` with another training.
    """
    first = bisect_right(index, last)
    if any(hit.line >= first and hit.kind in _OUTSIDE for hit in hits):
        return []
    quiet = {hit.line for hit in hits if hit.kind == "noise"}
    words = last_words(["" if n in quiet else lines[n] for n in range(first, len(lines))])
    if words is None or words.text.startswith(UNNAMED):
        return []
    if (words.sure != "certain" or goes_on) and not unfinished:
        return []
    at, end = index[first + words.at], index[first + words.end]
    return [Failure(at, end, words.text, words.frame, ignored=False, words=words.sure)]
