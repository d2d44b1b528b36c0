"""Named tuples of ours are those of `typing`, data classes those of `dataclasses`."""

import copy
import dataclasses
import functools
import pickle
import types
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


def made_by(maker: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """Return a frozen class, one that can be changed, and one that neither compares nor tells."""

    @maker(frozen=True)
    class Frozen:
        """It is completed when it is made."""

        name: str
        values: tuple[float, ...] = ()
        more: dict[str, int] = dataclasses.field(default_factory=dict, compare=False)
        doubled: int = dataclasses.field(default=0, repr=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "doubled", 2 * len(self.values))

        @functools.cached_property
        def first(self) -> float:
            return self.values[0]

    @maker
    class Open:
        """It is changed as it is read."""

        name: str
        parts: list[object] = dataclasses.field(default_factory=list)

    @maker(frozen=True, eq=False, repr=False)
    class Plain:
        """It is itself."""

        name: str = "plain"

    return Frozen, Open, Plain


def below(made: Any) -> Any:
    """Return a data class below another, by Python."""
    return dataclasses.dataclass(frozen=True)(types.new_class("Below", (made,)))


Made = tuple[Any, Any, Any]
CLASSES: dict[str, Callable[[Made], Any]] = {
    "repr": lambda of: (repr(of[0]("a", (1.0,))), repr(of[1]("a"))),
    "repr of itself": lambda of: (one := of[1]("a"), one.parts.append(one), repr(one))[2],
    "no repr": lambda of: " object at " in repr(of[2]()),
    "equal": lambda of: (of[0]("a") == of[0]("a", more={"b": 1}), of[0]("a") == of[0]("b")),
    "of another class": lambda of: (of[1]("a") == of[0]("a"), of[1]("a") == "a"),
    "itself": lambda of: (of[2]() == of[2](), (one := of[2]()) == one),
    "hash": lambda of: (hash(of[0]("a", (1.0,))), of[1].__hash__, len({of[2](), of[2]()})),
    "completed": lambda of: (of[0]("a", (1.0, 2.0)).doubled, of[0]("a", (1.0,)).first),
    "defaults are its own": lambda of: (of[1]("a").parts.append(1), of[1]("a").parts)[1],
    "changed": lambda of: (one := of[1]("a"), one.__setattr__("name", "b"), one.name)[2],
    "fields": lambda of: [
        (one.name, one.repr, one.compare) for cls in of for one in dataclasses.fields(cls)
    ],
    "replace": lambda of: repr(dataclasses.replace(of[0]("a"), values=(1.0,))),
    "as dict": lambda of: dataclasses.asdict(of[0]("a", (1.0,))),
    "is one": lambda of: [dataclasses.is_dataclass(one) for one in (*of, of[0]("a"))],
    "to JSON": lambda of: msgspec.json.encode(of[0]("a", (1.0,))),
    "from JSON": lambda of: repr(msgspec.json.decode(b'{"name": "b"}', type=of[1])),
    "copy": lambda of: copy.deepcopy(of[0]("a", (1.0,))) == of[0]("a", (1.0,)),
    "params": lambda of: [repr(one.__dataclass_params__) for one in of],
    "match": lambda of: [one.__match_args__ for one in of],
    "below": lambda of: below(of[0])("a").name,
}
REFUSED: dict[str, Callable[[Made], Any]] = {
    "set": lambda of: setattr(of[0]("a"), "name", "b"),
    "set another": lambda of: setattr(of[0]("a"), "other", "b"),
    "deleted": lambda of: delattr(of[2](), "name"),
    "missing": lambda of: of[0](),
    "unknown": lambda of: of[0]("a", other=1),
    "too many": lambda of: of[2]("a", "b"),
    "no hash": lambda of: hash(of[1]("a")),
}


@pytest.mark.parametrize("use", CLASSES.values(), ids=CLASSES)
def test_a_data_class_does_what_that_of_dataclasses_does(use: Callable[[Made], Any]) -> None:
    """Its fields, its comparisons, and what other packages make of it."""
    assert use(made_by(records.dataclass)) == use(made_by(dataclasses.dataclass))


@pytest.mark.parametrize("use", REFUSED.values(), ids=REFUSED)
def test_it_refuses_in_the_same_words(use: Callable[[Made], Any]) -> None:
    """What is frozen stays, what has no such field says so."""
    with pytest.raises((AttributeError, TypeError)) as told:
        use(made_by(dataclasses.dataclass))
    with pytest.raises(told.type) as ours:
        use(made_by(records.dataclass))
    assert str(ours.value) == str(told.value)
