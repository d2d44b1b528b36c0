"""What an exception of Python says by its class, where its message is in no table."""

import re

from runlens.knowledge.raised import Meaning, said
from runlens.patterns import lazy_re

# what a TypeError says of a call, and not of a value
OF_A_CALL = lazy_re(r"argument|positional|keyword|takes|not callable")
WRONG_TYPE = Meaning("A value of the wrong type", "Print the type of the values in that line")
REFUSED = Meaning("A check in the code failed", "Fix the problem that the error message names")
# builtin exceptions: https://docs.python.org/3/library/exceptions.html
MEANINGS: dict[str, Meaning] = {
    "AssertionError": Meaning(
        "An assertion in the code failed", "Print the values that the assertion compares"
    ),
    "AttributeError": Meaning(
        "An attribute that the object does not have",
        "Set the attribute before that line, or correct its name",
    ),
    "FileExistsError": Meaning(
        "A file or folder of that name exists already",
        "Choose another name, or pass the option that resumes from it or overwrites it",
    ),
    "IndexError": Meaning(
        "An index beyond the end", "Print the index and the length before that line"
    ),
    "JSONDecodeError": Meaning(
        "Text that is not valid JSON", "Print the text that was parsed, and where it came from"
    ),
    "KeyError": Meaning(
        "A key that is missing",
        "Print the keys of that dictionary just before the failing line, and correct the key",
    ),
    "NameError": Meaning("A name that is not defined", "Define or import it before that line"),
    "NotImplementedError": Meaning(
        "A method or case that the code does not implement",
        "Define that method in the subclass, or pass the function a case that it knows",
    ),
    "TypeError": Meaning(
        "A call with the wrong number or type of arguments",
        "Compare that call with the signature in the installed version",
    ),
    "UnicodeDecodeError": Meaning(
        "A file in another encoding", "Pass the encoding of that file when it is opened"
    ),
    "UnboundLocalError": Meaning("A name that is not defined", "Set it on every path to that line"),
    "ZeroDivisionError": Meaning("A division by zero", "Print the divisor before that line"),
}


MISSING = Meaning(
    "A file or folder is not where the code looks for it",
    "List the parent folder and compare it with the path in the error",
)
_MISSING = lazy_re(
    r"\b(?:does not|doesn't) exist\b|\bno such file\b|\bfile not found\b"
    r"|\bno (?:\S+ )?files? (?:(?:was|were) )?found (?:in|at|under|for) \S*[/\\]"
    r"|\bthere is no (?!\w+://)\S*[/\\]\S"
    r"|\b(?:cannot|can't|could not|couldn't|unable to) (?:open|find) (?:the )?"
    r"(?:file |folder |directory )?(?!\w+://)\S*[/\\]\S",
    re.IGNORECASE,
)
# a path: what else does not exist is a column, a user, an operator
_PATH = lazy_re(r"[/\\][^\s/\\]+|\.\w{2,4}\b")


_QUOTED_PATH = lazy_re(r"""(['"\u2018])([^'"\u2019]*[/\\.][^'"\u2019]*)['"\u2019]""")
_NAMED_FILE = lazy_re(r"(?i)\bfile not found: ([\w.-]+\.\w{2,12})\b")
_BARE_PATH = lazy_re(r"(?<![\w/\\:.'\"])(?:[A-Za-z]:\\|[./~]*/)?[\w.-]+(?:[/\\][\w.-]+)+")


_OF_A_MODULE = lazy_re(r"\bmodule '[\w.]+' has no attribute\b")
ANOTHER_MODULE = Meaning(
    "A module of that name that is another one, or of another version",
    "Print the __file__ of that module: a file or folder of the project may have its name",
)
COMMAND = lazy_re(r"\bcommand\b.*\b(?:exit (?:status|code)|failed)\b", re.IGNORECASE)
FAILED = Meaning(
    "A command that the program runs failed", "Run that command by hand, and read what it prints"
)
_HINT = lazy_re(r"\bhint:\s*(\S.*)", re.IGNORECASE)


def hint(text: str) -> str:
    """Return what an error itself proposes: ``use merror or mlogloss``; empty for nothing."""
    found = _HINT.search(text)
    return found[1].rstrip(" .") if found else ""


def missing_path(text: str) -> str:
    """Return the path that an error misses: named, in quotes or the last with a slash; or ""."""
    if not _MISSING.search(text):
        return ""
    quoted = [found[2] for found in _QUOTED_PATH.finditer(text)]
    bare = [found[0].rstrip(".") for found in _BARE_PATH.finditer(text)]
    named = [found[1]] if (found := _NAMED_FILE.search(text)) else []
    return next(iter([*bare, *quoted, *named][::-1]), "")


def meaning(exception: str, *, raised: bool) -> Meaning | None:
    """Return what an exception means; None where neither its words, its class nor a `raise` tells.

    What its message says comes before its class. An own subclass is no class of Python:
    `SomeKeyError` is looked up by nothing.
    """
    missing = _MISSING.search(exception)
    if missing and ("file not found" in missing[0].lower() or _PATH.search(exception)):
        return MISSING
    if known := said(exception):
        return known
    called, _, message = exception.partition(":")
    name = called.rpartition(".")[2].strip()
    if COMMAND.search(exception):
        return FAILED
    if name == "AttributeError" and _OF_A_MODULE.search(message):
        return ANOTHER_MODULE
    if name == "TypeError" and message and not OF_A_CALL.search(message):
        return WRONG_TYPE
    return MEANINGS.get(name) or (REFUSED if raised else None)


def tells(known: Meaning, frame: str) -> bool:
    """Whether it can be done: what is looked up at the line that raised it needs that line."""
    return known is MISSING or bool(frame) or "line" not in known.todo


def fix_of_words(words: str, frame: str) -> str:
    """Return what to do about an error that is a line of the log, and no exception."""
    if path := missing_path(words):
        return f"Create {path}, or correct the path"
    if COMMAND.search(words):
        return FAILED.todo
    known = meaning(words, raised=False)
    if known and tells(known, frame):
        return known.todo
    return "Fix what that line names" if frame else "Read that line, and those above it in the log"
