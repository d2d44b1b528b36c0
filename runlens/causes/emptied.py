"""What a log says of a data set that turned out to have no row: the search that found nothing."""

from runlens.causes.hypothesis import STRONG, Sign
from runlens.causes.scene import Scene
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import shortened
from runlens.wording import quoted

_EMPTY = lazy_re(r"num_samples\s*=\s*0\b|dataset is empty|Dataset.{0,40}length 0\b")
_NOTHING = lazy_re(
    r"(?i)\b(?:found|loaded|read|matched|collected|kept) 0 (?:[a-z]+ )?(?:images?|files?|samples?"
    r"|rows?|folders?|director(?:y|ies)|examples?|videos?|records?|items?|pairs?)\b"
)
QUOTED = 160  # characters of a line of the log


def nothing_found(scene: Scene) -> Sign | None:
    """Quote the first line that says that a search for data found 0 of them.

    A line of another data set that is empty on purpose tells nothing of an error that is not of an
    empty one.
    """
    told = scene.run.events_of("message")
    if not any(_EMPTY.search(f"{one.text} {one.data.get('exception')}") for one in told):
        return None
    line = next((line for line in scene.run.log_tail if _NOTHING.search(line)), "")
    return Sign(quoted(shortened(line, QUOTED)), STRONG) if line else None
