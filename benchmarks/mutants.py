"""Which small changes of the code no test notices: one change at a time, in a forked child.

    python benchmarks/mutants.py [MODULE...] [--number 30] [--seed 7]

A MODULE is a name of TARGETS, each with the tests that must notice; without one, all of them. A
change turns a comparison, an and/or, a sum, a number or a branch around; drawn cases, sentences
and annotations are left alone. Changes that no test noticed are printed with their line.
"""

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WHY = ("tests/causes", "tests/test_causes.py", "tests/test_right_levers.py")
# module -> the tests that must notice
TARGETS: dict[str, tuple[str, ...]] = {
    "runlens/incidents.py": ("tests/test_incidents.py", *WHY),
    "runlens/verdict.py": ("tests/test_verdict.py",),
    "runlens/causes/ranking.py": WHY,
    "runlens/causes/rate.py": WHY,
    "runlens/causes/rate_limits.py": WHY,
    "runlens/causes/data.py": WHY,
    "runlens/causes/labels.py": WHY,
    "runlens/causes/optimiser.py": WHY,
    "runlens/causes/precision.py": WHY,
    "runlens/causes/policy.py": WHY,
    "runlens/causes/ending.py": WHY,
    "runlens/sources/merging/likeness.py": (
        "tests/sources/test_likeness.py",
        "tests/sources/test_merge.py",
        "tests/sources/test_runs_apart.py",
        "tests/sources/test_launch_order.py",
        "tests/sources/test_corners_merge.py",
    ),
    "runlens/signals/onsets.py": ("tests/signals/test_onsets.py",),
    "runlens/rules/loss/plateau.py": (
        "tests/rules/test_plateau.py",
        "tests/rules/test_rules.py",
        "tests/rules/test_borders.py",
        "-k",
        "plateau",
    ),
}
SECONDS = 300  # of one child
ALLOWED = 0.15  # share that may survive
UNTOUCHED = {"BAD", "GOOD", "RULE", "__all__"}  # names whose values are cases, not decisions
NEXT: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPPOSITE: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}


class Change(NamedTuple):
    """One change: the number of the node in the walk of its tree, what is done, its line."""

    node: int
    what: str
    line: int
    apply: Callable[[ast.AST], None]


def untouched(tree: ast.Module) -> set[int]:
    """Return the ids of nodes that say something instead of deciding something."""
    left: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        named = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
        if isinstance(node, ast.JoinedStr) or named in UNTOUCHED:
            parts = [node]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args, *node.args.kwonlyargs]
            parts = [node.returns, *(one.annotation for one in arguments)]
        left |= {id(inner) for part in parts if part is not None for inner in ast.walk(part)}
    return left


def changes(tree: ast.Module) -> list[Change]:
    """Return every change that can be made to a module."""
    left = untouched(tree)
    return [
        Change(number, what, getattr(node, "lineno", 0), apply)
        for number, node in enumerate(ast.walk(tree))
        if id(node) not in left
        for what, apply in _of(node)
    ]


def _of(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in NEXT.get(type(op), ()):
                yield f"{type(op).__name__} -> {other.__name__}", _compares(place, other)
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {other_op.__name__}", _sets("op", other_op)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPPOSITE:
        opposite = OPPOSITE[type(node.op)]
        yield f"{type(node.op).__name__} -> {opposite.__name__}", _sets("op", opposite)
    elif isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        known = node.value
        new = known + 1 if isinstance(known, int) else (float(str(known)) or 1.0) * 1.5
        yield f"{known!r} -> {new}", _sets("value", lambda: new)
    elif isinstance(node, ast.If | ast.IfExp):
        yield "if -> if False", _sets("test", lambda: ast.Constant(value=False))


def _compares(place: int, other: type[ast.cmpop]) -> Callable[[ast.AST], None]:
    def apply(node: ast.AST) -> None:
        node.ops[place] = other()  # type: ignore[attr-defined]

    return apply


def _sets(field: str, value: Callable[[], object]) -> Callable[[ast.AST], None]:
    return lambda node: setattr(node, field, value())


def mutated(tree: ast.Module, change: Change, file: str) -> CodeType:
    """Return the code of a module with one change."""
    new = copy.deepcopy(tree)
    change.apply(list(ast.walk(new))[change.node])
    return compile(ast.fix_missing_locations(new), file, "exec")


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives out code of ours in place of one module."""

    def __init__(self, file: Path, code: CodeType) -> None:
        """Take the file that is replaced."""
        self.file, self.code = file, code
        self.name = ".".join(file.relative_to(ROOT).with_suffix("").parts)

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Find this module alone."""
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        module.__file__ = str(self.file)
        exec(self.code, module.__dict__)  # noqa: S102 - our own module


def passes(file: Path, code: CodeType | None, tests: Sequence[str]) -> bool:
    """Whether all tests pass in a child with this code."""
    child = os.fork()
    if not child:
        _in_child(file, code, tests)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _in_child(file: Path, code: CodeType | None, tests: Sequence[str]) -> None:
    import pytest

    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    signal.alarm(SECONDS)
    if code is not None:
        sys.meta_path.insert(0, Instead(file, code))
    try:
        quiet = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore")
        result = int(pytest.main([*quiet, *tests]))
    except BaseException:  # noqa: BLE001 - a change may break anything
        result = 9
    os._exit(result)


def main() -> int:
    """Print what survives, module by module; 1 where more than ALLOWED do in one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(TARGETS))
    parser.add_argument("--number", type=int, default=30, help="changes of each module")
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    os.chdir(ROOT)
    import hypothesis  # noqa: F401 - what is loaded once need not be loaded by each child
    import numpy  # noqa: F401, ICN001
    import pytest  # noqa: F401

    worst = 0.0
    for name in wanted.modules:
        file, tests = ROOT / name, TARGETS[name]
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if not passes(file, None, tests):
            print(f"{name}: its tests fail without a change")
            return 2
        every = changes(tree)
        random.Random(wanted.seed).shuffle(every)
        tried = every[: wanted.number]
        left = [one for one in tried if passes(file, mutated(tree, one, str(file)), tests)]
        for one in sorted(left, key=lambda change: change.line):
            print(f"  {name}:{one.line} {one.what}")
        worst = max(worst, len(left) / max(1, len(tried)))
        print(f"{name}: {len(left)} of {len(tried)} survive ({len(every)} possible)", flush=True)
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
