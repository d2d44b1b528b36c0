"""`NamedTuple` of `typing`, made in a tenth of the time.

A diagnosis loads some hundred and seventy named tuples. `typing` takes 0.15 ms for each, to check
its annotations and to compile its constructor from text. Here nothing is checked, which mypy does,
and all of as many fields share one compiled constructor, which gets the names when it is first
called.
"""

import sys
from collections.abc import Iterable
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, cast

__all__ = ["NamedTuple"]

if TYPE_CHECKING or sys.version_info >= (3, 14):
    from typing import NamedTuple  # noqa: TID251 - since 3.14 annotations are read late, by `typing` alone
else:
    from collections import _tuplegetter

    @cache
    def _form(count: int) -> FunctionType:
        """Compile a constructor of so many fields, whose names do not matter yet."""
        fields = "".join(f"_{at}, " for at in range(count))
        names = {"_new": tuple.__new__, "__builtins__": {}}
        made = eval(f"lambda _cls, {fields}: _new(_cls, ({fields}))", names)  # noqa: S307 - numbered
        return cast("FunctionType", made)

    def _first(cls: type, /, *values: object, **named: object) -> object:
        """Put the constructor in its place, and call it."""
        owner = next(one for one in cls.__mro__ if "_fields" in vars(one))
        form = _form(len(owner._fields))
        code = form.__code__.replace(
            co_varnames=("_cls", *owner._fields),
            co_name="__new__",
            co_qualname=f"{owner.__qualname__}.__new__",
        )
        defaults = tuple(owner._field_defaults.values())
        made = FunctionType(code, form.__globals__, "__new__", defaults)
        owner.__new__ = staticmethod(made)
        return made(cls, *values, **named)

    class _Record(tuple):
        """What all have."""

        __slots__ = ()

        @classmethod
        def _make(cls, values: Iterable[object]) -> Self:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **named: object) -> Self:
            made = self._make(map(named.pop, self._fields, self))
            if named:
                kind = TypeError if sys.version_info >= (3, 13) else ValueError
                raise kind(f"Got unexpected field names: {list(named)!r}")
            return made

        __replace__ = _replace  # of `copy.replace`, since 3.13

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            pairs = zip(self._fields, self, strict=True)
            return f"{type(self).__name__}({', '.join(f'{name}={one!r}' for name, one in pairs)})"

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)

    class _Maker(type):
        """Makes a class of the fields that are annotated; no instance of itself."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
            fields = tuple(space.get("__annotations__", ()))
            defaults = {field: space.pop(field) for field in fields if field in space}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"a field of {name} without a default follows one with a default")
            space |= {
                field: _tuplegetter(at, f"Alias for field number {at}")
                for at, field in enumerate(fields)
            }
            space |= {"__slots__": (), "__new__": _first, "__match_args__": fields}
            space |= {"_fields": fields, "_field_defaults": defaults}
            return type(name, (_Record, *bases[1:]), space)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
