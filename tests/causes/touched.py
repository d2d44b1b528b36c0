"""Which lines of a module are reached, and which of them a small change needs."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any


class Touched:
    """The lines of which one must be reached before a change of a node can show."""

    def __init__(self, tree: ast.Module) -> None:
        """Find the statement of each node, and the statements that use each constant."""
        self.lines: dict[int, frozenset[int]] = {}
        self.users: dict[str, set[int]] = {}
        self.names: dict[int, set[str]] = {}  # node -> constants that its statement sets
        self._walk(tree, frozenset(), set())
        self.numbers = {number: id(node) for number, node in enumerate(ast.walk(tree))}

    def _walk(self, node: ast.AST, lines: frozenset[int], sets: set[str]) -> None:
        for child in ast.iter_child_nodes(node):
            here, named = lines, sets
            if isinstance(child, ast.stmt):
                here = _head(child)
                targets = getattr(child, "targets", [])
                if isinstance(node, ast.Module):
                    named = {
                        one.id
                        for to in targets
                        for one in ast.walk(to)
                        if isinstance(one, ast.Name)
                    }
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                self.users.setdefault(child.id, set()).update(here)
            self.lines[id(child)], self.names[id(child)] = here, named
            self._walk(child, here, named)

    def of(self, number: int) -> frozenset[int]:
        """Return the lines of the node with this number in the walk of the tree."""
        node = self.numbers[number]
        names, seen = set(self.names[node]), set[int](self.lines[node])
        for name in names:
            seen |= self.users.get(name, set())
        return frozenset(seen)


def _head(statement: ast.stmt) -> frozenset[int]:
    """Return the lines of a statement without those of its body."""
    body = getattr(statement, "body", None)
    last = statement.end_lineno or statement.lineno
    return frozenset(
        range(statement.lineno, max(body[0].lineno, statement.lineno + 1) if body else last + 1)
    )


def traced(file: Path, call: Callable[[], str]) -> tuple[str, set[int]]:
    """Return what a call says, and the lines of a file that it reached."""
    reached: set[int] = set()
    name = str(file)

    def local(frame: FrameType, *_: Any) -> Any:
        reached.add(frame.f_lineno)
        return local

    def every(frame: FrameType, *_: Any) -> Any:
        return local if frame.f_code.co_filename == name else None

    sys.settrace(every)
    try:
        said = call()
    finally:
        sys.settrace(None)
    return said, reached
