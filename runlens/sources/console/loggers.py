"""What Python's logging writes before a message: a date, the level, the name of the logger."""

from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.mining.phrases import split_of
from runlens.sources.console.telling import tells

SHORT = 60  # characters of a line in which its clock stands
_LEVEL = r"\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\]?"
_NAME = r"[A-Za-z_][\w.]*"
_APART = r"\s*(?:[-|:]\s*)?"
_LOGGED = lazy_re(  # "2020-11-11 20:21:25,273 - INFO - a.b - ", "[2020-11-11 20:21:25] a.b INFO: "
    r"(?:[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d[-/]\d\d[-/]\d{2,4})[ T_]"
    rf"\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?[\])]?{_APART}"
    rf"(?:{_LEVEL}\s*[-|:]\s*(?P<behind>{_NAME})\s*[-|:](?=\s)"
    rf"|(?P<before>{_NAME}){_APART}{_LEVEL}(?:\s*[-|:])?(?=\s))"
    rf"|{_LEVEL}:(?P<alone>{_NAME}):)\s?"
)
# a clock of half a day: "12/08/2022 01:36:38 AM ", "[INFO 12/08/2022 01:36:38 PM] "
_HALF_DAY = lazy_re(
    rf"\[?(?:{_LEVEL}\s*[-|:]?\s*)?(?:\d{{4}}[-/]\d\d[-/]\d\d|\d\d?[-/]\d\d?[-/]\d{{2,4}}),?[ T]"
    rf"\d\d?:\d\d:\d\d(?:[.,]\d{{1,9}})? ?[AP]M\b\]?{_APART}(?:{_LEVEL}(?=[\s:|-]){_APART})?"
)
_FIRST = frozenset("0123456789[(DIWEC")  # characters


def without_logger(line: str) -> str:
    """Return a line without its date and its logger, which never say anything of a message.

    A logger that is called after data or a measure does: ``- INFO - valid - loss 0.5``.

    >>> without_logger("2020-11-11 20:21:25,273 - INFO - my.trainer - Validating")
    'Validating'
    """
    if line[:1] not in _FIRST:
        return line
    if "M" in line[:SHORT] and (clock := _HALF_DAY.match(line)):
        return line[clock.end() :]
    found = _LOGGED.match(line)
    if not found:
        return line
    name = found["behind"] or found["before"] or found["alone"]
    says = "." not in name and (split_of(name) or counter(name) or tells(name))
    return line if says else line[found.end() :]
