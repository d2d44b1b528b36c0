"""Reads pages back for the tests: elements, texts, and the points of SVG paths."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "base", "br", "img", "link", "input"}
FAMILIES = re.compile(r"M(-?[\d.]+) (-?[\d.]+)l([^MHVzZ]*)")
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


@dataclass
class Element:
    """One element with its attributes and the text directly or indirectly inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Document(HTMLParser):
    """A parsed page; `unbalanced` names end tags that close nothing."""

    page: str
    elements: list[Element] = field(default_factory=list)
    unbalanced: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.page)
        self.close()
        self.unbalanced += [element.tag for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element."""
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        """Add text to all open elements."""
        for element in self._open:
            element.text += data

    def handle_comment(self, data: str) -> None:
        """Note a comment; our pages have none."""
        self.comments.append(data)

    def all(self, tag: str, **wanted: str) -> list[Element]:
        """Return the elements of a name whose attributes have these values."""
        need = {name.rstrip("_").replace("_", "-"): want for name, want in wanted.items()}
        return [
            element
            for element in self.elements
            if element.tag == tag and need.items() <= element.attributes.items()
        ]

    def one(self, tag: str, **wanted: str) -> Element:
        """Return the only such element."""
        found = self.all(tag, **wanted)
        assert len(found) == 1, f"{len(found)} elements {tag} {wanted}"
        return found[0]


def svg(page: str, title_id: str) -> Document:
    """Return one chart of a page by the id of its title."""
    charts: list[str] = re.findall(r"<svg class=\"ch.*?</svg>", page, re.DOTALL)
    return Document(next(chart for chart in charts if f'id="{title_id}"' in chart))


def lines(chart: Document, class_: str) -> list[list[tuple[float, float]]]:
    """Return the pieces of the lines of a class, as absolute pixels."""
    data = "".join(path.attributes["d"] for path in chart.all("path", class_=class_))
    return [_points(*match) for match in FAMILIES.findall(data)]


def _points(x: str, y: str, moves: str) -> list[tuple[float, float]]:
    places = [(float(x), float(y))]
    numbers = [float(number) for number in NUMBER.findall(moves)]
    for across, down in zip(numbers[::2], numbers[1::2], strict=True):
        places.append((places[-1][0] + across, places[-1][1] + down))
    return places
