"""The pages of the JSON contracts, and the schemas themselves for download."""

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from docs.generate.markup import escaped, table

WRITTEN_BY = {
    "diagnosis": "runlens diagnose RUN --format json",
    "comparison": "runlens compare A B --format json",
    "audit": "runlens audit SOURCE --store PATH --format json",
}
DEEP = 2  # levels of a document that the table lists


def pages() -> Mapping[str, str]:
    """Return the page and the three schemas by path."""
    texts = {name: _text(name) for name in WRITTEN_BY}
    made = {f"reference/{name}.schema.json": text for name, text in texts.items()}
    parts = [
        "# JSON\n",
        (
            "JSON is the contract for programs. Fields may be added; none is taken away or changes"
            " its meaning without another number in `schema`. Numbers that are not finite are the"
            ' strings `"NaN"`, `"Infinity"` and `"-Infinity"`. Most fields are called as in the'
            " [Python API](python.md), which says what they hold.\n"
        ),
    ]
    for name, command in WRITTEN_BY.items():
        schema = json.loads(texts[name])
        parts += [
            f"## runlens.{name}/1\n",
            f"Written by `{command}`; [the schema]({name}.schema.json).\n",
            _listed(list(_rows(schema, schema))),
        ]
    return {"reference/schemas.md": "\n".join(parts), **made}


def _text(name: str) -> str:
    place = resources.files("runlens.report").joinpath(f"{name}.schema.json")
    return place.read_text(encoding="utf-8")


def _listed(rows: list[tuple[str, str, str]]) -> str:
    """Return the fields as a table; without the last column where the schema says no word."""
    if any(meaning for *_, meaning in rows):
        return table(("field", "type", "meaning"), rows)
    return table(("field", "type"), [row[:2] for row in rows])


def _rows(
    schema: Mapping[str, Any], root: Mapping[str, Any], path: str = "", depth: int = 0
) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each field down to `DEEP` levels, lists and definitions looked through."""
    for name, given in _object(schema, root).get("properties", {}).items():
        known = _resolved(given, root)
        yield f"`{path}{name}`", _type(known, root), escaped(str(known.get("description", "")))
        if depth + 1 < DEEP:
            mark = "[]" if "items" in known else ""
            yield from _rows(known, root, f"{path}{name}{mark}.", depth + 1)


def _object(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    known = _resolved(schema, root)
    return _resolved(known["items"], root) if "items" in known else known


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rpartition("/")[2]
    found: Mapping[str, Any] = root["$defs"][name]
    return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}


def _type(known: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if "const" in known:
        return f"`{json.dumps(known['const'])}`"
    if "enum" in known:
        return ", ".join(f"`{json.dumps(value)}`" for value in known["enum"])
    if "anyOf" in known:
        kinds = (_type(_resolved(one, root), root) for one in known["anyOf"])
        return ", ".join(dict.fromkeys(kinds))
    kind = known.get("type", "any")
    return ", ".join(kind) if isinstance(kind, list) else str(kind)
