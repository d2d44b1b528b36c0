"""Named tuples of ours are those of `typing`."""

import copy
import pickle
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Self, TypeVar

import msgspec
import pytest

from runlens import records

Value = TypeVar("Value")


class Theirs(NamedTuple):
    """By `typing`."""

    step: int
    name: str = "a"
    marks: tuple[float, ...] = ()

    @property
    def next(self) -> int:
        """The step after it."""
        return self.step + 1


class Ours(records.NamedTuple):
    """By `runlens.records`."""

    step: int
    name: str = "a"
    marks: tuple[float, ...] = ()

    @property
    def next(self) -> int:
        """The step after it."""
        return self.step + 1

    @classmethod
    def first(cls) -> "Ours":
        """Return that of step 0."""
        return cls(0)


class Below(Ours):
    """A class below one of ours, with a constructor of its own."""

    __slots__ = ()

    def __new__(cls, step: int) -> Self:
        """Double the step."""
        return super().__new__(cls, 2 * step)


class Held(records.NamedTuple, Generic[Value]):
    """Of any value."""

    value: Value


class Nothing(records.NamedTuple):
    """Without a field."""


USES: dict[str, Callable[[Any], Any]] = {
    "by place": lambda of: tuple(of(1, "b", (2.0,))),
    "by name": lambda of: tuple(of(name="b", step=1)),
    "defaults": lambda of: tuple(of(1)),
    "fields": lambda of: (of._fields, of._field_defaults, of.__match_args__, of.__slots__),
    "name": lambda of: (of.__new__.__name__, of(1).__class__.__module__),
    "attributes": lambda of: (of(1, "b").step, of(1, "b").name, of(1).next),
    "repr": lambda of: repr(of(1)).partition("(")[2],
    "replace": lambda of: tuple(of(1)._replace(name="c")),
    "make": lambda of: tuple(of._make([1, "b", ()])),
    "as dict": lambda of: of(1)._asdict(),
    "equal": lambda of: (of(1) == (1, "a", ()), hash(of(1)), of(1) < of(2), of(1) == of(1)),
    "copy": lambda of: (copy.copy(of(1)) == of(1), type(copy.deepcopy(of(1))) is of),
    "pickle": lambda of: [
        type(pickle.loads(pickle.dumps(of(1), kept))) is of  # noqa: S301 - what was just written
        for kept in range(6)
    ],
    "json": lambda of: msgspec.json.encode(of(1, "b")),
    "from json": lambda of: tuple(msgspec.json.decode(b'[1, "b"]', type=of)),
}

FAULTS: dict[str, Callable[[Any], Any]] = {
    "a field is missing": lambda of: of(),
    "a field too many": lambda of: of(1, "b", (), 3),
    "an unknown field": lambda of: of(1, other=2),
    "an unknown field to replace": lambda of: of(1)._replace(other=2),
    "too few to make one": lambda of: of._make([1]),
    "set a field": lambda of: setattr(of(1), "step", 2),
    "set another": lambda of: setattr(of(1), "other", 2),
    "another type in JSON": lambda of: msgspec.json.decode(b'["b"]', type=of),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_named_tuple_does_what_that_of_typing_does(use: Callable[[Any], Any]) -> None:
    """Whoever reads the code need not know the difference."""
    assert use(Ours) == use(Theirs)


@pytest.mark.parametrize("use", FAULTS.values(), ids=FAULTS)
def test_it_fails_as_that_of_typing(use: Callable[[Any], Any]) -> None:
    """With an error of the same kind."""
    with pytest.raises(Exception, match=r".") as told:
        use(Theirs)
    with pytest.raises(told.type):
        use(Ours)


def test_a_class_below_keeps_its_own_constructor() -> None:
    """Whichever of the two is called first."""
    assert Below(3) == (6, "a", ())
    assert Ours.first() == (0, "a", ())
    assert Below(3).step == 6


def test_generic_and_empty_ones() -> None:
    """Both are rare, and work."""
    assert Held[int](3).value == 3
    assert Nothing() == ()


def test_a_default_before_a_field_without_is_refused() -> None:
    """As `typing` refuses it."""
    with pytest.raises(TypeError, match="without a default"):

        class Odd(records.NamedTuple):
            """Of two fields."""

            step: int = 1
            name: str  # type: ignore[misc] # what is tested
