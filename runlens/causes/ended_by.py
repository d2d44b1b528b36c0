"""What ended a run, in its own words: a check of the program's own, or a bare signal."""

from collections.abc import Sequence

from runlens.causes.hypothesis import HINT, LEADS, NO_SENDER, Sign
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import shortened
from runlens.run import BARE_KILL, GAVE_UP, Event
from runlens.wording import quoted, step, unstamped

QUOTED = 160  # characters of a line of the log
# a value beside the bound that it left, as a check of the program prints it
_WATCHED = lazy_re(
    r"(?P<name>[A-Za-z_][\w/%]*)(?: |=|: ?)[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)? ?"
    r"(?:[<>]=?|exceeds|above|below|over) ?[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
)


def no_sender(kills: Sequence[Event]) -> Sign | None:
    """Say that SIGKILL is all that is told of the end: it has three usual senders."""
    bare = bool(kills) and all(event.data.get("row") == BARE_KILL for event in kills)
    return Sign("", HINT, NO_SENDER) if bare else None


def gave_up(stop: Event) -> Sign:
    """Say that a patience ran out, or that a check of the program's own ended the run as lost."""
    if not GAVE_UP.search(stop.text):
        said = f"early stopping ended it at step {step(stop.step)}"
        return Sign(said, LEADS, "Early stopping, as configured")
    said = quoted(shortened(unstamped(stop.text), QUOTED))
    seen = _WATCHED.search(stop.text)  # "log_pi +0.003 > 0.0"
    what = f"A check of the program's own: {seen[0]}" if seen else "A check of the program's own"
    watched = seen["name"] if seen else "what that check watches"
    test = f"Plot {watched}, and look at where it left its usual range"
    denied = f"{seen['name'] if seen else 'what the check watches'} was in its usual range"
    return Sign(said, LEADS, what, test, falsifier=denied)
