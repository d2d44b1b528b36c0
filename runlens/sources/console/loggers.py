"""What Python's logging writes before a message: a date, the level, the name of the logger."""

from runlens.patterns import lazy_re
from runlens.sources.console.mining.phrases import counter, split_of
from runlens.sources.console.telling import tells

_LEVEL = r"\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\]?"
_NAME = r"[A-Za-z_][\w.]*"
_APART = r"\s*(?:[-|:]\s*)?"
_LOGGED = lazy_re(  # "2020-11-11 20:21:25,273 - INFO - a.b - ", "[2020-11-11 20:21:25] a.b INFO: "
    r"(?:[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d[-/]\d\d[-/]\d{2,4})[ T_]"
    rf"\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?[\])]?{_APART}"
    rf"(?:{_LEVEL}\s*[-|:]\s*(?P<behind>{_NAME})\s*[-|:](?=\s)"
    rf"|(?P<before>{_NAME}){_APART}{_LEVEL}\s*[-|:](?=\s))"
    rf"|{_LEVEL}:(?P<alone>{_NAME}):)\s?"
)
_FIRST = frozenset("0123456789[(DIWEC")  # characters


def without_logger(line: str) -> str:
    """Return a line without its date and its logger, which never say anything of a message.

    A logger that is called after data or a measure does: ``- INFO - valid - loss 0.5``.

    >>> without_logger("2020-11-11 20:21:25,273 - INFO - my.trainer - Validating")
    'Validating'
    """
    found = _LOGGED.match(line) if line[:1] in _FIRST else None
    if not found:
        return line
    name = found["behind"] or found["before"] or found["alone"]
    says = "." not in name and (split_of(name) or counter(name) or tells(name))
    return line if says else line[found.end() :]
