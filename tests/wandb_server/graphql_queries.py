"""GraphQL as far as the W&B client speaks it: a query is answered from plain objects.

A field `historyLineCount` is the attribute `history_line_count` of an object, or a method that
takes the field's arguments, or a key of a mapping. A field that is not there is null and noted,
so that a newer client shows what it asks for.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from graphql import parse
from graphql.language import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)
from graphql.utilities import value_from_ast_untyped

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MISSING = object()


@lru_cache(maxsize=256)
def document(query: str) -> DocumentNode:
    """Parse a query; clients send the same few again and again."""
    return parse(query)


def operation(query: str) -> str:
    """Return the name of a query's operation."""
    name = _operation(document(query)).name
    return name.value if name else ""


def snake(name: str) -> str:
    """Return `historyLineCount` as `history_line_count`."""
    return _HUMP.sub("_", name).lower()


class Execution:
    """One query with its variables."""

    def __init__(self, query: str, variables: Mapping[str, Any], unknown: Counter[str]) -> None:
        """Take what is asked; fields that are not there are counted in `unknown`."""
        self._document = document(query)
        self._unknown = unknown
        defaults = {
            one.variable.name.value: value_from_ast_untyped(one.default_value)
            for one in _operation(self._document).variable_definitions or ()
            if one.default_value is not None
        }
        self._variables = defaults | dict(variables)
        self._fragments = {
            one.name.value: one.selection_set
            for one in self._document.definitions
            if isinstance(one, FragmentDefinitionNode)
        }

    def answer(self, root: object) -> dict[str, Any]:
        """Return the data for the query, beginning at an object."""
        return self._selected(root, _operation(self._document).selection_set)

    def _selected(self, thing: object, wanted: SelectionSetNode) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in wanted.selections:
            if not all(map(self._included, one.directives or ())):
                continue
            if isinstance(one, FieldNode):
                called = one.alias.value if one.alias else one.name.value
                found[called] = self._shaped(self._field(thing, one), one.selection_set)
            elif isinstance(one, FragmentSpreadNode):
                found |= self._selected(thing, self._fragments[one.name.value])
            elif isinstance(one, InlineFragmentNode):
                found |= self._selected(thing, one.selection_set)
        return found

    def _included(self, directive: DirectiveNode) -> bool:
        wanted = bool(value_from_ast_untyped((directive.arguments or ())[0].value, self._variables))
        return wanted != (directive.name.value == "skip")

    def _shaped(self, value: object, wanted: SelectionSetNode | None) -> object:
        if wanted is None or value is None:
            return value
        if isinstance(value, list):
            return [self._shaped(one, wanted) for one in value]
        return self._selected(value, wanted)

    def _field(self, thing: object, field: FieldNode) -> object:
        name = field.name.value
        if isinstance(thing, Mapping):
            found = thing.get(name, _MISSING)
        else:
            found = getattr(thing, snake(name), _MISSING)
        if found is _MISSING:
            self._unknown[f"{type(thing).__name__}.{name}"] += 1
            return None
        if not callable(found):
            return found
        given = {
            snake(one.name.value): value_from_ast_untyped(one.value, self._variables)
            for one in field.arguments or ()
        }
        return found(**given)


def _operation(parsed: DocumentNode) -> OperationDefinitionNode:
    return next(one for one in parsed.definitions if isinstance(one, OperationDefinitionNode))
