"""What the objects in a pickle hold: the columns of a table of pandas, the curves of a history.

No object is made. pandas writes the blocks of a table, each with the places of its columns, and the
names of the columns behind them; one in which nothing tells of a training is data. Of any other
object only what trainings are judged by is taken: the weights of a model are lists of numbers too.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from runlens.sources.numpy_pickles import Array, Made

DEEPEST = 3  # dicts, lists and objects within each other
_TABLE = "DataFrame"
_STATE = "0.14.1"  # the version of pandas whose state of blocks later ones wrote up to 1.2
_OFFSET = np.dtype("<i8")  # of Arrow's large strings


def opened(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - what a pickle holds is of any type
    """Return a value with dicts in place of the objects in it; raise at what is of none known.

    A pickle may hold itself, so what lies deeper than `DEEPEST` is left as it is.
    """
    if depth > DEEPEST:
        return value
    if isinstance(value, Made) and value.name.endswith(_TABLE):
        columns = dict(_columns(value["_mgr"] if "_mgr" in value else _earlier(value["_data"])))
        return columns if _told("", columns) else {}
    if isinstance(value, dict):
        kept = value.items() if not isinstance(value, Made) else _curves(value)
        return {name: opened(one, depth + 1) for name, one in kept}
    if isinstance(value, list) and any(isinstance(one, Made) for one in value):
        return [opened(one, depth + 1) for one in value]
    return value


def _curves(made: Made) -> list[tuple[Any, Any]]:
    return [(name, one) for name, one in made.items() if _told(name, one)]


def _told(name: object, value: object) -> bool:
    from runlens.sources.console.telling import tells  # whose package reads pickles

    inner = value if isinstance(value, dict) and not isinstance(value, Made) else ()
    return any(tells(str(one)) for one in (name, *inner))


def _earlier(blocks: Made) -> Made:
    """Return the blocks of a table as pandas writes them since 1.3, of an earlier one."""
    state = blocks[_STATE]
    (names, *_), parts = state["axes"], state["blocks"]
    return Made(
        blocks.name, [[Made("", [one["values"], one["mgr_locs"]]) for one in parts], [names]]
    )


def _columns(blocks: Made) -> Iterator[tuple[str, list[float]]]:
    """Yield the columns of numbers of a table, in the order in which it has them."""
    parts, (names, *_) = blocks.args[:2]
    found = {
        place: column
        for part in parts
        for place, column in zip(_places(part.args[1]), part.args[0], strict=False)
    }
    for place, name in enumerate(_texts(names.args[1].get("data", []))):
        if isinstance(column := found.get(place), list):
            yield name, column


def _places(where: Made | Array) -> Sequence[int]:
    return range(*where.args) if isinstance(where, Made) else [int(place) for place in where]


def _texts(names: Made | list[Any]) -> list[str]:
    """Return texts that are an array of objects, or one of Arrow: all behind their offsets."""
    if not isinstance(names, Made):
        return [str(name) for name in names]
    ends, letters = _buffers(names["_pa_array"])
    offsets = np.frombuffer(ends, _OFFSET).tolist()
    return [letters[begin:end].decode() for begin, end in pairwise(offsets)]


def _buffers(held: object) -> Iterator[bytes]:
    """Yield the bytes that were handed on, in their order."""
    if isinstance(held, bytes | bytearray):
        yield bytes(held)
    for inner in held.args if isinstance(held, Made) else held if isinstance(held, list) else ():
        yield from _buffers(inner)
