"""Rows of XML: ``<epoch n="1"><loss>0.5</loss></epoch>``, each element set out in one line."""

from collections import Counter
from collections.abc import Iterator

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.pairs import names_metric
from runlens.sources.reading import as_number

LARGEST = 32 * 2**20  # bytes of a text that is looked at
FEWEST = 3  # elements of a name from which they are rows
DEEPEST = 50  # elements within one another: a log has a few
OF_A_ROW = 2  # numbers: with one it is a setting, or a part of a row
_BEGINS = lazy_re(rb"\s*<(?:\?xml|!--|[A-Za-z_])")
_TAG = lazy_re(
    rb"<(?P<close>/)?(?P<name>[A-Za-z_][\w.-]{0,60})(?P<said>[^<>]{0,2000}?)(?P<empty>/)?>"
    rb"(?P<text>[^<]{0,60})"
)
_ATTRIBUTE = lazy_re(rb"([A-Za-z_][\w.-]{0,60})\s?=\s?[\"']([^\"'<>]{1,60})[\"']")
_COUNTS = lazy_re(r"(?i)epoch|step|iter|episode|round|generation|update|loss")
_NUMBERS = {"n", "i", "id", "idx", "index", "no", "nr", "num", "number"}  # of an element


class _Element(NamedTuple):
    """An element that is open: its numbers, and those of the elements within it."""

    name: str
    own: dict[str, str]
    inner: dict[str, str]


def in_lines(data: bytes) -> bytes | None:
    r"""Return a text with a line for each element that holds several numbers; None: no such text.

    Those of the name that most of them have are the rows.

    >>> in_lines(b'<epoch n="3"><loss>0.5</loss></epoch>' * 3).splitlines()[0]
    b'epoch: 3, loss: 0.5'
    """
    if len(data) > LARGEST or b"</html>" in data.lower() or not _BEGINS.match(data):
        return None
    rows: dict[str, list[str]] = {}
    many: Counter[str] = Counter()
    for name, numbers in _elements(data):
        line = ", ".join(f"{key}: {number}" for key, number in numbers.items())
        rows.setdefault(name, []).append(line)
        many[name] += len(numbers)
    most = rows.get(max(rows, key=many.__getitem__, default=""), [])
    return "\n".join([*most, ""]).encode() if len(most) >= FEWEST else None


def _elements(data: bytes) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the elements with numbers in their attributes, and in the elements within them.

    Those within name their own: ``<epoch n="3"><val loss="0.5"/></epoch>``. One of them is a number
    by which trainings are judged, and one counts or is a loss.
    """
    open_ones: list[_Element] = []
    for tag in _TAG.finditer(data):
        name = tag["name"].decode()
        if len(open_ones) > DEEPEST:
            return
        if not tag["close"]:
            open_ones.append(_Element(name, dict(_attributes(name, tag["said"])), {}))
            text = tag["text"].decode(errors="replace").strip()
            if len(open_ones) > 1 and as_number(text) is not None:
                open_ones[-2].own[name] = text
        if (tag["close"] or tag["empty"]) and any(name == one.name for one in open_ones):
            while (ended := open_ones.pop()).name != name:
                pass
            if open_ones:
                open_ones[-1].inner.update({f"{name} {k}": n for k, n in ended.own.items()})
            numbers = {**ended.own, **ended.inner}
            told = any(map(names_metric, numbers)) and _COUNTS.search(" ".join([name, *numbers]))
            if told and len(numbers) >= OF_A_ROW:
                yield name, numbers


def _attributes(name: str, said: bytes) -> Iterator[tuple[str, str]]:
    for key, value in _ATTRIBUTE.findall(said):
        if as_number(number := value.decode(errors="replace").strip()) is not None:
            yield (name if key.decode().lower() in _NUMBERS else key.decode()), number
