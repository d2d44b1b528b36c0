"""The reference of the Python API, from signatures, docstrings and the comments of fields."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cached_property

import runlens
from docs.generate.markup import cell, code, escaped, prose, table
from runlens import errors
from runlens.diagnosis import Cause, Confidence, Evidence, Finding, Fix, Incident, Moment, Verdict
from runlens.history import Curve
from runlens.run import Event, Problem, State

_FIELD = re.compile(r"^    (\w+): (.+?)(?: = .+?)?(?:  # (.+))?$", re.MULTILINE)

HELD = (
    Finding,
    Moment,
    Evidence,
    Cause,
    Fix,
    Confidence,
    Incident,
    Verdict,
    Curve,
    State,
    Event,
    Problem,
)
LONGEST = 40  # characters of a default
WIDTH = 76  # characters of a signature in one line
_QUOTED = re.compile(r"'([A-Za-z_.]*[A-Z][\w.\[\], |]*)'")  # a type that is named before it exists
_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z_a-z])")


class _Shortened:
    """A default that is too long to be shown."""

    def __repr__(self) -> str:
        return "..."


def page() -> str:
    """Return the page: functions first, then what they return, what that holds, and errors."""
    named = {name: getattr(runlens, name) for name in runlens.__all__ if not name.startswith("_")}
    functions = {name: one for name, one in named.items() if inspect.isfunction(one)}
    classes = {name: one for name, one in named.items() if inspect.isclass(one)}
    wrong = [
        (cell(name), escaped((inspect.getdoc(one) or "").split("\n")[0]))
        for name, one in vars(errors).items()
        if inspect.isclass(one) and issubclass(one, errors.RunLensError)
    ]
    parts = [
        "# Python API\n",
        "What may change, and when, is told in [Extend](../extending.md#what-is-public).\n",
        *(_function(name, one) for name, one in functions.items()),
        *(_class(name, one) for name, one in classes.items()),
        *(_class(one.__name__, one) for one in HELD),
        "## Errors\n",
        "All are in `runlens.errors`.\n",
        table(("error", "when"), wrong),
    ]
    return "\n".join(parts)


def _function(name: str, one: Callable[..., object]) -> str:
    told = _sections(inspect.getdoc(one) or "")
    return f"## {name}\n\n{code(f'runlens.{name}{_signature(one)}', 'python')}\n{told}"


def _class(name: str, one: type) -> str:
    parts = [f"## {name}\n", prose(inspect.getdoc(one) or "")]
    fields = list(_fields(one))
    if fields:
        parts.append(table(("field", "type", "meaning"), fields))
    members = list(_members(one))
    if members:
        parts.append(table(("member", "what it does"), members))
    return "\n".join(parts)


def _fields(one: type) -> Iterator[tuple[str, str, str]]:
    if not (is_dataclass(one) or hasattr(one, "_fields")):
        return
    head = inspect.getsource(one).split("\n    def ")[0]
    for name, kind, note in _FIELD.findall(head):
        yield cell(name), cell(kind), escaped(note)


def _members(one: type) -> Iterator[tuple[str, str]]:
    """Yield public methods and properties with the first line of their docstring."""
    homes = [base for base in reversed(one.__mro__) if base.__module__.startswith("runlens.")]
    members = {name: member for home in homes for name, member in vars(home).items()}
    for name, member in members.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property | cached_property):
            says = inspect.getdoc(member.fget if isinstance(member, property) else member.func)
            call = name
        elif inspect.isfunction(member):
            says, call = inspect.getdoc(member), name + _bare(str(_known(member)))
        else:
            continue
        yield cell(call), escaped((says or "").split("\n")[0])


def _known(one: Callable[..., object]) -> inspect.Signature:
    """Return a signature without `self` and without long defaults."""
    known = inspect.signature(one)
    parameters = [
        item.replace(default=_Shortened()) if len(repr(item.default)) > LONGEST else item
        for name, item in known.parameters.items()
        if name != "self"
    ]
    return known.replace(parameters=parameters)


def _signature(one: Callable[..., object]) -> str:
    """Return a signature without modules; one parameter a line where it is long."""
    known = _known(one)
    whole = _bare(str(known))
    if len(whole) <= WIDTH:
        return whole
    parameters = list(known.parameters.values())
    lines = [f"    {_bare(str(item))},\n" for item in parameters]
    first = next((at for at, item in enumerate(parameters) if item.kind is item.KEYWORD_ONLY), None)
    if first is not None and all(item.kind is not item.VAR_POSITIONAL for item in parameters):
        lines.insert(first, "    *,\n")
    return f"(\n{''.join(lines)}) -> {whole.rpartition(' -> ')[2]}"


def _bare(signature: str) -> str:
    """Return types by their names alone."""
    return _MODULES.sub("", _QUOTED.sub(r"\1", signature))


def _sections(docstring: str) -> str:
    """Return a docstring with its Args and Raises as lists."""
    lines = []
    for line in docstring.splitlines():
        entry = re.fullmatch(r"    (\w+): (.+)", line)
        if re.fullmatch(r"(Args|Raises|Returns):", line):
            lines.append(f"**{line.rstrip(':')}**\n")
        elif entry:
            lines.append(f"- `{entry[1]}`: {escaped(entry[2])}")
        elif line.startswith("     "):
            lines.append("  " + escaped(line.strip()))
        else:
            lines.append(escaped(line.strip()))
    return "\n".join(lines) + "\n"
