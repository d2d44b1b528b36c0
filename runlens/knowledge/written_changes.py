"""A change of settings as lines of a diff, in the way of writing of the place where it is made."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from runlens.config_keys import as_found, written
from runlens.knowledge.dialects import Place, Style
from runlens.records import NamedTuple
from runlens.run import Setting
from runlens.wording import listed

Numbers = Callable[[Setting], str]  # how a number is written: `written`, or `as_found`
Line = tuple[str, str]  # ("-", "+" or " ", text)


class Change(NamedTuple):
    """One setting that is changed, where, and from what; `old` is None where nothing names it."""

    place: Place
    setting: str  # canonical key
    old: Setting
    new: Setting


def lines(changes: Iterable[Change]) -> tuple[Line, ...]:
    """Return a diff, place by place: ``config.yaml``, ``- lr: 0.1``, ``+ lr: 0.01``."""
    made: list[Line] = []
    pasted = (one for one in changes if not one.place.told)
    for where, some in groupby(pasted, key=lambda one: one.place.where):
        made += _of_place(where, list(some))
    return tuple(made)


def told(changes: Iterable[Change]) -> str:
    """Return what stands in no file that is known in words: ``lr from 0.1 to 0.01``."""
    return listed(
        [
            f"{one.place.name} {'' if one.old is None else f'from {in_yaml(one.old, as_found)} '}"
            f"to {in_yaml(one.new)}"
            for one in changes
            if one.place.told
        ]
    )


def _of_place(where: str, changes: Sequence[Change]) -> list[Line]:
    style = changes[0].place.style
    if style == "arguments":
        inside = [line for change in changes for line in _pair(change, "    ")]
        return [(" ", f"{where}("), *inside, (" ", "    ...,"), (" ", ")")]
    made: list[Line] = [(" ", where)]
    shown: tuple[str, ...] = ()
    for change in changes:
        above = change.place.path[:-1]
        if style in {"yaml", "json"} and above != shown:
            made += [(" ", _opened(name, style, depth)) for depth, name in enumerate(above)]
            shown = above
        made += _pair(change, "  " * len(above) if style in {"yaml", "json"} else "")
    return made


def _opened(name: str, style: Style, depth: int) -> str:
    return "  " * depth + (f'"{name}": {{' if style == "json" else f"{name}:")


def _pair(change: Change, indent: str) -> list[Line]:
    if change.place.style == "flags" and isinstance(change.new, bool):
        return [("+" if change.new else "-", line_of(change.place, value=True))]  # there, or not
    old = () if change.old is None else (line_of(change.place, change.old, as_found),)
    return [
        *(("-", indent + line) for line in old),
        ("+", indent + line_of(change.place, change.new)),
    ]


def line_of(place: Place, value: Setting, number: Numbers = written) -> str:
    """Write one setting as its place does: ``lr: 0.1``, ``"lr": 0.1,``, ``--lr 0.1``."""
    name = place.path[-1]
    if place.style == "yaml":
        return f"{name}: {in_yaml(value, number)}"
    if place.style == "json":
        return f'"{name}": {_in_json(value, number)},'
    if place.style == "flags":
        flag = name if name.startswith("--") else f"--{name.replace('_', '-')}"
        return flag if value is True else f"{flag} {number(value)}"
    if place.style == "overrides":
        return f"{place.name}={in_yaml(value, number)}"
    if place.style == "python":
        return f"{name} = {_in_python(value, number)}"
    return f"{name}={_in_python(value, number)},"


def in_yaml(value: Setting, number: Numbers = written) -> str:
    """Write a setting for YAML 1.1, to which ``2e-4`` is a text and only ``2.0e-4`` a number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = number(value)
    mantissa, power, exponent = text.partition("e")
    if not isinstance(value, float) or not power:
        return text
    sign = "" if exponent.startswith("-") else "+"
    return f"{mantissa}{'' if '.' in mantissa else '.0'}e{sign}{exponent}"


def _in_json(value: Setting, number: Numbers) -> str:
    if value is None or isinstance(value, bool):
        return in_yaml(value, number)
    return f'"{value}"' if isinstance(value, str) else number(value)


def _in_python(value: Setting, number: Numbers) -> str:
    return repr(value) if value is None or isinstance(value, str | bool) else number(value)
