"""YAML that strangers wrote, as plain values: bounded, no tag obeyed, whatever it says.

Values are built from the parser's events, in one pass and without recursion: the C parser dies
of deep nesting when it builds by itself, and PyYAML's constructors take ten seconds for a
megabyte.
"""

from pathlib import Path
from typing import Any

from runlens.sources.files import MAX_CONFIG, MAX_DEPTH, MAX_LEAVES, Unreadable, read_bytes

MAX_NODES = 16 * MAX_LEAVES  # of one document: values, and once more those in lists and mappings
MAX_SLOW = 256 * 2**10  # bytes that are parsed where PyYAML has no C parser: two seconds
CORE = "tag:yaml.org,2002:"
MERGE = "<<"


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - YAML is of any type
    """Return the YAML value in `path`; raise Unreadable."""
    return parse_yaml(read_bytes(path, MAX_CONFIG))


def parse_yaml(data: bytes | str) -> Any:  # noqa: ANN401 - YAML is of any type
    """Return the first YAML document in `data`; raise Unreadable.

    Depth and values are counted as they come. Tags are never obeyed, what they mark becomes a
    plain value; keys that are no scalar are left out with what they name.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", None)
    if loader is None and len(data) > MAX_SLOW:
        raise Unreadable("is too large for PyYAML without its C parser (libyaml)")
    builder = _Builder()
    try:
        for event in yaml.parse(data, Loader=loader or yaml.SafeLoader):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            builder.take(event)
    except yaml.YAMLError as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Unreadable(f"is no YAML ({what})") from None
    except (RecursionError, ValueError, OverflowError, MemoryError, TypeError) as error:
        raise Unreadable(f"holds YAML that cannot be taken in ({error})") from None
    return builder.value


class _Open:
    """A list or mapping whose end has not come yet."""

    def __init__(self, anchor: str | None, *, mapping: bool) -> None:
        self.anchor = anchor
        self.items: list[Any] = []  # of a mapping: key, value, key, value...
        self.mapping = mapping

    def closed(self) -> Any:  # noqa: ANN401 - YAML is of any type
        if not self.mapping:
            return self.items
        pairs = list(zip(self.items[::2], self.items[1::2], strict=False))
        merged: dict[Any, Any] = {}
        for key, value in pairs:
            if key == MERGE:
                parts = value if isinstance(value, list) else [value]
                for part in reversed(parts):
                    merged |= part if isinstance(part, dict) else {}
        own = {k: v for k, v in pairs if k != MERGE and not isinstance(k, dict | list)}
        return merged | own


class _Builder:
    """Builds the value of one document from its events."""

    def __init__(self) -> None:
        import yaml

        self.value: Any = None
        self._open: list[_Open] = []
        self._anchors: dict[str, Any] = {}
        self._nodes = self._aliases = 0
        self._yaml = yaml
        self._constructor: Any = yaml.constructor.SafeConstructor()
        self._patterns: Any = yaml.resolver.Resolver.yaml_implicit_resolvers

    def take(self, event: Any) -> None:  # noqa: ANN401 - PyYAML is untyped
        """Take the next event; raise Unreadable where a limit is passed."""
        events = self._yaml
        if isinstance(event, events.ScalarEvent):
            self._put(self._scalar(event), event.anchor)
        elif isinstance(event, events.CollectionStartEvent):
            mapping = isinstance(event, events.MappingStartEvent)
            self._open.append(_Open(event.anchor, mapping=mapping))
            if len(self._open) > MAX_DEPTH:
                raise Unreadable("is nested too deeply")
        elif isinstance(event, events.CollectionEndEvent):
            done = self._open.pop()
            value = done.closed()
            self._nodes += len(value)  # what is merged in many times is counted each time
            self._put(value, done.anchor)
        elif isinstance(event, events.AliasEvent):
            self._aliases += 1
            self._put(self._anchors.get(event.anchor), None)

    def _put(self, value: Any, anchor: str | None) -> None:  # noqa: ANN401 - YAML is of any type
        self._nodes += 1
        if self._nodes > MAX_NODES or self._aliases > MAX_LEAVES:
            raise Unreadable(f"is no configuration: it has more than {MAX_LEAVES:,} settings")
        if anchor is not None:
            self._anchors[anchor] = value
        if self._open:
            self._open[-1].items.append(value)
        else:
            self.value = value

    def _scalar(self, event: Any) -> Any:  # noqa: ANN401 - PyYAML is untyped
        text: str = event.value
        tag = self._resolved(text) if event.implicit[0] else event.tag or ""
        construct = self._constructor.yaml_constructors.get(tag)
        if not tag.startswith(CORE) or construct is None or tag in {f"{CORE}str", f"{CORE}binary"}:
            return text
        try:
            return construct(self._constructor, self._yaml.ScalarNode(tag, text))
        except (ValueError, KeyError, AttributeError, OverflowError, self._yaml.YAMLError):
            return text  # an integer of thousands of digits, a day 99 of a month

    def _resolved(self, text: str) -> str:
        """Return the tag that YAML 1.1 gives to a plain scalar; empty for a text."""
        for tag, pattern in self._patterns.get(text[:1], ()):
            if pattern.match(text):
                return str(tag)
        return ""
