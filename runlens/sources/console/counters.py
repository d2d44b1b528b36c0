"""How a row of a console log says where it stands: ``iter 10``, ``Epoch: [0][ 10/5005]``...

A counter stands at the start of a line, behind time stamps, levels and names of processes. The
forms of known programs (`layouts`) come before the general ones.
"""

import re
from collections.abc import Mapping, Sequence

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.layouts import LAYOUTS, Where
from runlens.sources.console.records import MAX_STEP

_PREFIXES = 16  # stamps, levels, names that are passed over before the counter
_PREFIX = lazy_re(
    r"\s+|\*{2,3}(?=[\[A-Za-z])|\((?:[\w. ]+ )?pid=\d+[^)]*\)|\[(?![^\]]*\d+/\d+)"
    r"(?!(?i:epoch|step|iter|batch))[^\]]{0,80}\]"
    r"|\(\w+\.py:? ?\d*\)|\(\w+:\d+\)|\(\d+/\d+\)(?= Epoch)"
    r"|\d{4}-\d\d-\d\d[ T,][\d:.,]+|\d\d(?:\d\d)?/\d\d/\d\d(?:\d\d)? [\d:]+"
    r"|\[\d\d/\d\d \d\d:\d\d:\d\d[^\]]{0,60}\]:?|\d\d[-/]\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?(?=\s)"
    r"|[IWEF]\d{4,8} [\d:.]+ +\d+ [\w. /]{1,60}:\d+\]"
    r"|INFO:tensorflow:|(?:INFO|WARNING|DEBUG|ERROR)(?::[\w.]*:|\b:?)"
    r"|[\w.]+(?:[/\\\\][A-Za-z][\w.]*)*(?= - )|[-|>*#:=]+(?=\s)"
    r"|rank ?\d+:?|\w+\.py:\d+\]?|(?:train_inner|train|valid)(?= \| epoch)|ppdet\.\w+(?= INFO)"
    r"|eta: (?:\d+ days?, )?[\d:]+(?=\s+iter:)|iter_dt [\d.]+ms;"
    # a picture, and no line of a box; which of several trainings it is; what quotes a paste
    r"|[\u2190-\u24ff\u25a0-\u2bff\U0001f000-\U0001faff]\ufe0f?(?=\s)"
    r"|(?i:fold|seed)[ :=#]{0,2}\d+(?:\s?/\s?\d+)?\s?[|,:-](?=\s)|`{1,3}"
)
_WHOLE = r"(\d{1,3}(?:,\d{3})+(?![,\d])|\d+)"  # whose thousands may be set apart
_OF = rf"(?:\s*(?:/|of)\s*{_WHOLE})?"
_BATCHES = lazy_re(  # epoch e of E, batch n of N
    r"\[?(?:train(?:ing)?[ :]*)?epoch[: ]*\[?\s*(\d+)" + _OF + r"\]?[\s,:|\-]*"
    r"(?:(?:step|batch|iter(?:ation)?)s?[: ]*)?[\[(]\s*(\d+)\s*/\s*(\d+)(?:\s*\(\d+%\))?[\])]"
    r"|train: \[(\d+)/(\d+)\]\[\s*(\d+)/(\d+)\]"
    r"|\[?epoch[: ]*\[?\s*(\d+)"
    + _OF
    + r"\s*\]?[\s,:|\[\-]*(?:(?:train|val|valid|eval|test)[\s,:|\-]+)?"
    + r"(?:(?:step|batch|iter(?:ation)?|update)s?[: ]+|(?:it|step|iter)=)"
    + r"\[?(\d{1,3}(?:,\d{3})+|\d+)(?![\d.]*[kKM]\b)"
    + _OF
    # "epoch:0 20/1965 loss:", no date, and not how many were right
    + r"|\[?epoch[: ]*\[?\s*(\d+)"
    + _OF
    + r"\s*\]?[\s,|\-]+(?<![\d/])(\d+) ?/ ?(\d+)(?![\d/.,%]|\s*(?:\(|[a-z]* ?correct|right))"
    # what was seen of an epoch so far: "[epoch 1,imgs   300]"
    + r"|\[epoch[: ]*(\d+)"
    + _OF
    + r",\s*(?:imgs|images|samples)[: ]\s*(\d+)"
    + _OF
    + r"\]",
    re.IGNORECASE,
)
_STEP = lazy_re(
    r"\[?(?:global[_ ]?|train(?:ing)?[_ ]?|completed )?(?:steps?|iter(?:ation)?s?|updates?"
    r"|num[_ ]updates|it|s|validation loss at iteration)"
    r"(?:\s*[:=#]\s*|\s+|\s*\[)(\d{1,3}(?:,\d{3})+|\d+)" + _OF + r"\]?(?![\d.]*[a-z%\d])",
    re.IGNORECASE,
)
# what runs to its end within each of them: "iteration:1 step:3/100"
_INNER = lazy_re(
    r"[\s,:|\-\]]*(?:step|batch|iter(?:ation)?|update)s?\s*[:= \[]\s*(\d+)\s*(?:/|of)\s*(\d+)\]?",
    re.IGNORECASE,
)
_EPOCH = lazy_re(
    r"\[?(?:train(?:ing)? |end (?:of )?)?(?:epoch|ep|episode)s?"
    r"(?:-|\s*[:=#]?\s*[\[(]?\s*)(\d+)" + _OF + r"[\])]?(?![\d.]*\d)"
    r"|train: \[(\d+)/(\d+)\]",
    re.IGNORECASE,
)
_GLUED = lazy_re(r"[a-z\d](?=\[epoch \d)", re.IGNORECASE)  # behind a message without an end
# what stands in brackets right before a counter: [Diff-Val(Test-Normal)] Epoch 7
_HELD_OUT = lazy_re(
    r"\[(?:[\w ()]*[- (])?(val|valid|validation|eval|evaluation|test|dev)"
    r"(?:[- ()][\w ()-]*)?\]\s*$",
    re.IGNORECASE,
)
# what a sentence says that begins with the data: Validation result at epoch 2, step 40: loss...;
# Validation at step 40: loss...; Validation loss at step 40: 0.5, acc...
_RESULT = lazy_re(
    r"(val|valid|validation|eval|evaluation|test|dev)"
    r" (?:(?:results?|scores?|metrics?)\b|(?:loss |acc(?:uracy)? )?(?:at|after|in|for) step )",
    re.IGNORECASE,
)
# a counter of its own: eval_step 200: loss=0.5
_ITS_OWN = lazy_re(
    r"(val|valid|validation|eval|evaluation|test|dev)_(?=(?:step|iter(?:ation)?|epoch)s?\b)",
    re.IGNORECASE,
)
_IN_EPOCH = lazy_re(r"\[(?:e|ep)[ :=#-]?(\d+)(?:/(\d+))?\]", re.IGNORECASE)
# data that the numbers behind it are of, set off from their names: "| val | loss 0.5"
_DATA_APART = lazy_re(
    r"(?<![\w/.])(?:train|val|valid|validation|test|eval|training|testing|evaluation|dev|validating"
    r"|evaluating)"
    r"(?:\s*[,:|\])\[(]|\s+-\s|\s{2}| \d+/\d)",
    re.IGNORECASE,
)
_VALUE = r"(?:[-+]?[\d.]+(?:e[-+]?\d+)?|nan|inf)(?: ?%|m?s\b)?"
_NAMES_BEHIND = lazy_re(  # "0.52 loss  81% acc", to the end of the line
    rf"[\s,;:|\-–—>()]*{_VALUE}(?:\s+[a-z_]+(?:[ /-][a-z_]+)*[\s,;|()]+{_VALUE})+\s+[a-z_ /-]+\W*$",
    re.IGNORECASE,
)
_OF_HELD_OUT = lazy_re(r"\b(?:val|valid|eval|test)\b", re.IGNORECASE)  # within a counter
_LATER_STEP = lazy_re(r"\b(?:(?:global_|total_)?step|num_updates)\s*[:= ]\s*(\d+)\b")
_SAID_AT = lazy_re(r"(?<=\w) (?:at|after|in|of|for) $", re.IGNORECASE)  # "loss at step 10: 0.5"
_GIVEN = lazy_re(r"\s*(?:[:=]|is\b|was\b)\s*[-+]?\.?\d", re.IGNORECASE)
_IN_THOUSANDS = lazy_re(r"(?i)\b(?:step|iter(?:ation)?)s?\s*[:= ]\s*\d+(?:\.\d+)?[km]\b")

Names = tuple[tuple[str, str], ...]


class Counted(NamedTuple):
    """A line with its counter; what is not in it is -1."""

    step: int = -1
    steps: int = -1  # planned
    epoch: int = -1
    epochs: int = -1
    batch: int = -1
    batches: int = -1
    rest: str = ""  # of the line
    part: str = ""  # what its names begin with: ``val/``, ``train_`` for the mean of an epoch
    sure: bool = False  # a form that nothing else has: the numbers behind it are metrics
    names: Names = ()  # of these numbers, and what they mean


_Forms = tuple[tuple[re.Pattern[str], Names], ...]


def _forms(where: Where) -> _Forms:
    known = (one for one in LAYOUTS if one.where == where)
    return tuple((lazy_re(one.form, re.IGNORECASE), tuple(one.names.items())) for one in known)


_SURE, _AT_START, _BEHIND = _forms("sure"), _forms("start"), _forms("behind")


def counted(line: str) -> Counted | None:
    """Find the counter at the start of a line, behind time stamps, levels and processes."""
    if known := _known(_SURE, line, 0):
        return known._replace(sure=True)
    if known := _known(_AT_START, line, 0):
        return known
    start = begin(line)
    if glued := _GLUED.search(line, start):
        start = glued.end()
    known = _known(_BEHIND, line, start)
    if known and not known.part and (data := _HELD_OUT.search(line, 0, start)):
        known = known._replace(part=f"{data[1].lower()}/")
    return known or _general(line, start)


def is_sure(line: str) -> bool:
    """Whether a line begins in a form whose numbers are metrics, whatever they are called."""
    return any(form.match(line) for form, _ in _SURE)


def _known(forms: _Forms, line: str, start: int) -> Counted | None:
    for form, names in forms:
        if found := form.match(line, start):
            return _named(found, line)._replace(names=names)
    return None


def begin(line: str) -> int:
    """Return where a line begins behind time stamps, levels and names of processes."""
    start = 0
    for _ in range(_PREFIXES):
        prefix = _PREFIX.match(line, start)
        if not prefix or prefix.end() == start:
            break
        start = prefix.end()
    return start


def _named(found: re.Match[str], line: str) -> Counted:
    groups = found.groupdict()
    data, mean = groups.pop("part", None), groups.pop("mean", None)
    part = "val/" if data and data.lower() != "train" else "train_" if mean else ""
    rest = line[found.end() :]
    if not groups.get("step") and (later := _LATER_STEP.search(rest)):
        groups["step"] = later[1]
    return with_numbers(groups)._replace(rest=rest, part=part)


def with_numbers(groups: Mapping[str, str | None]) -> Counted:
    """Return a counter of the numbers found under its names."""
    return of_counters([whole(groups.get(name)) for name in Counted._fields[:6]])


def of_counters(numbers: Sequence[int], part: str = "") -> Counted:
    """Return a counter of its six numbers."""
    step, steps, epoch, epochs, batch, batches = numbers
    return Counted(step, steps, epoch, epochs, batch, batches, part=part)


def _general(line: str, start: int) -> Counted | None:
    """Read a counter by its words; mined are data set off from names, names behind."""
    own = _ITS_OWN.match(line, start)
    count = _by_words(line, own.end() if own else start)
    if count and (_DATA_APART.search(count.rest) or _NAMES_BEHIND.match(count.rest)):
        return None
    data = own or _HELD_OUT.search(line, 0, start) or _RESULT.match(line, start)
    if count and data:
        return count._replace(part=f"{data[1].lower()}/")
    above = _IN_EPOCH.search(line, 0, start) if count and count.epoch < 0 <= count.step else None
    if count and above:  # whose steps it goes through: [E2] step 10
        return Counted(
            epoch=whole(above[1]),
            epochs=whole(above[2]),
            batch=count.step,
            batches=count.steps,
            rest=count.rest,
        )
    return count


def _by_words(line: str, start: int) -> Counted | None:
    if found := _BATCHES.match(line, start):
        epoch, epochs, batch, batches = next(
            found.group(n, n + 1, n + 2, n + 3) for n in (1, 5, 9, 13, 17) if found[n]
        )
        return Counted(
            epoch=whole(epoch),
            epochs=whole(epochs),
            batch=whole(batch),
            batches=whole(batches),
            rest=line[found.end() :],
            part="val/" if _OF_HELD_OUT.search(found[0]) else "",
        )
    if found := _STEP.match(line, start):
        if not found[2] and (inner := _INNER.match(line, found.end())):
            outer, batch, batches = (whole(text) for text in (found[1], inner[1], inner[2]))
            return Counted(epoch=outer, batch=batch, batches=batches, rest=line[inner.end() :])
        return Counted(whole(found[1]), whole(found[2]), rest=line[found.end() :])
    if found := _EPOCH.match(line, start):
        epoch, epochs = (found[1], found[2]) if found[1] else (found[3], found[4])
        rest = line[found.end() :]
        later = _LATER_STEP.search(rest)
        if not later and _IN_THOUSANDS.search(rest):
            return None  # it is mined
        step = whole(later[1]) if later else -1
        return Counted(step, -1, whole(epoch), whole(epochs), rest=rest)
    if later := _LATER_STEP.search(line, start):
        if (said := _SAID_AT.search(line, start, later.start())) and _GIVEN.match(
            line, later.end()
        ):
            rest = line[start : said.start()] + line[later.end() :]
            return Counted(whole(later[1]), rest=rest)
        return Counted(whole(later[1]), rest=line[start:])
    return None


def whole(text: str | None) -> int:
    """Return a counter as a number; -1 for what is none, or too large for one."""
    text = text.replace(",", "") if text else ""
    return int(text) if text and len(text) < 16 and int(text) < MAX_STEP else -1  # noqa: PLR2004 - more digits are no step
