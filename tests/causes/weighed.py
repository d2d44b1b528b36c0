"""Drawn runs with findings, and how the cause step ranks the causes of each.

    python -m tests.causes.weighed [MODULE...] [--tries 300]

A row of weighed.tsv is a drawn case of a rule, the moves that change it, the findings that it is
given, and the causes in order with their ranks. The command looks for rows that notice a small
change of a module of the cause step (`benchmarks/mutants.py`), and keeps those that do.
"""

import argparse
import ast
import random
import re
import runpy
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import numpy as np

from runlens.causes import ranking
from runlens.causes.hypothesis import Hypothesis
from runlens.causes.scene import Scene
from runlens.diagnosis import Finding, Moment
from runlens.engine import diagnose
from runlens.run import Run
from runlens.signals import Signals
from tests.causes.test_hypotheses import CASES
from tests.causes.touched import Touched, traced
from tests.rules.edges import rules
from tests.rules.moves import KNOWN, Draws, changed

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("weighed.tsv")
MUTANTS = runpy.run_path(str(ROOT / "benchmarks/mutants.py"))
MODULES = (
    "rate",
    "data",
    "labels",
    "optimiser",
    "precision",
    "policy",
    "ending",
    "model",
    "defects",
    "ranking",
)
CAUSE = "cause"  # in place of a rule: a case of test_hypotheses.py
LENGTH = 3  # findings of an incident
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


class Row(NamedTuple):
    """A drawn run, its findings, and the causes that the step names."""

    slug: str
    case: str
    moves: str
    found: str  # "nan-loss 500 critical, grad-spike 400 warning"
    causes: str  # "rate-too-high likely, precision possible; 2 excluded"

    def scene(self) -> Scene:
        """Draw the run, and give it the findings."""
        return scene(changed(_drawn(self.slug, self.case), self.moves), self.found)


@cache
def _drawn(slug: str, name: str) -> Run:
    if slug == CAUSE:
        return CASES[name][1].run()
    rule = rules()[slug]
    return next(case for case in (*rule.bad, *rule.good) if case.name == name).run()


@cache
def _found_in(name: str) -> str:
    """Write what the rules find in a case that is drawn for a cause."""
    found = diagnose(_drawn(CAUSE, name)).findings
    return ", ".join(
        f"{one.rule} {'none' if one.onset.step is None else f'{one.onset.step:g}'} {one.severity}"
        for one in found[: LENGTH + 1]
    )


def scene(run: Run, found: str) -> Scene:
    """Return an incident of these findings, written as in a row."""
    findings = []
    for text in found.split(", "):
        rule, step, severity = text.split(" ")
        onset = Moment(None if step == "none" else float(step))
        findings.append(Finding(severity, f"{rule}.", "train_loss", onset, (), rule=rule))  # type: ignore[arg-type]
    return Scene(run, Signals(run), findings)


def told(one: Scene) -> str:
    """Return the causes of an incident, how sure each is, and how much each sign says."""
    ranked = ", ".join(f"{cause.kind} {cause.rank}" for cause in ranking.judge(one)[0])
    return f"{ranked}; " + weights(one, ranking.HYPOTHESES)


def weights(one: Scene, hypotheses: Iterable[Hypothesis]) -> str:
    """Return how much each sign of these hypotheses says and its numbers, or that they are out."""
    said = {
        hypothesis.kind: f"out{_numbers(why)}"
        if (why := hypothesis.against(one))
        else " ".join(
            f"{sign.weight:g}{_numbers(sign.text)}" for sign in hypothesis.signs(one) if sign
        )
        for hypothesis in hypotheses
        if hypothesis.explains.intersection(one.rules)
    }
    return ", ".join(f"{kind} {signs}" for kind, signs in said.items() if signs)


def _numbers(text: str) -> str:
    found = NUMBER.findall(text)
    return f":{'/'.join(found)}" if found else ""


def rows() -> list[Row]:
    """Read the rows that are kept."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [Row(*line.split("\t")) for line in lines if line and not line.startswith("#")]


class Changed(NamedTuple):
    """A module of the cause step with one small change."""

    what: str
    lines: frozenset[int]  # of which one must be reached
    module: ModuleType

    def says(self, one: Scene) -> str:
        """Return what the changed module says of an incident."""
        if hasattr(self.module, "judge"):
            return str(self.module.judge(one))
        return weights(one, own(self.module))


def own(module: ModuleType) -> list[Hypothesis]:
    """Return the hypotheses of a module."""
    return [one for one in vars(module).values() if isinstance(one, Hypothesis)]


def file_of(name: str) -> Path:
    """Return the file of a module of the cause step."""
    return ROOT / f"runlens/causes/{name}.py"


def loaded(name: str, code: CodeType) -> ModuleType:
    """Return a module that ran this code."""
    module = ModuleType(f"runlens.causes.{name}")
    module.__file__ = code.co_filename
    exec(code, module.__dict__)  # noqa: S102 - our own module
    return module


def small_changes(name: str) -> Iterator[Changed]:
    """Return every small change of a module that can be compiled and run."""
    file = file_of(name)
    tree = ast.parse(file.read_text(encoding="utf-8"))
    touched = Touched(tree)
    for one in MUTANTS["changes"](tree):
        what = f"{one.line} {one.what}"
        try:
            module = loaded(name, MUTANTS["mutated"](tree, one, str(file)))
        except Exception as error:  # noqa: BLE001 - a change that does not load is noticed
            print(f"  {what}: {error}")
            continue
        yield Changed(what, touched.of(one.node), module)


class Search:
    """Looks for rows that notice the small changes of one module."""

    def __init__(self, name: str, kept: Sequence[Row]) -> None:
        """Strike off what the kept rows notice."""
        self.random, self.file = random.Random(name), file_of(name)
        self.left = list(small_changes(name))
        self.total = len(self.left)
        self.source = self.file.read_text(encoding="utf-8")
        constants = [
            one.value for one in ast.walk(ast.parse(self.source)) if isinstance(one, ast.Constant)
        ]
        self.settings = [one for one in constants if one in KNOWN]
        self.limits = [one for one in constants if isinstance(one, int | float)]
        self.usual = Changed("", frozenset(), import_module(f"runlens.causes.{name}"))
        mine = own(self.usual.module) if name != "ranking" else ranking.HYPOTHESES
        self.explained = sorted({slug for one in mine for slug in one.explains})
        self.found: list[Row] = []
        self.starts: list[tuple[Row, set[int]]] = []  # with the lines that each reaches
        for row in kept:
            self.tried(row)
        for case in CASES:
            self.tried(Row(CAUSE, case, "", _found_in(case), ""))

    def tried(self, row: Row) -> None:
        """Keep a row that notices a change which none did before."""
        one = scene(changed(_drawn(row.slug, row.case), row.moves), row.found)
        now, reached = traced(self.file, lambda: self.usual.says(one))
        if not self.starts or not reached <= set().union(
            *(lines for _, lines in self.starts[-50:])
        ):
            self.starts.append((row, reached))
        left = [
            change for change in self.left if not change.lines & reached or _same(change, one, now)
        ]
        if len(left) < len(self.left):
            self.found.append(row._replace(causes=told(one)))
            self.starts.append((row, reached))
        self.left = left

    def tries(self, number: int) -> None:
        """Draw this many rows, until nothing is left."""
        for _ in range(number):
            if not self.left:
                return
            try:
                row = self.drawn()
                if row.moves.count(";") <= LENGTH:
                    self.tried(row)
            except (ValueError, IndexError, KeyError, TypeError, OverflowError):
                continue

    def drawn(self) -> Row:
        """Draw a row: one that reaches a change that is left, or the case of a rule, and moves."""
        wanted = self.random.choice(self.left).lines
        near = [row for row, lines in self.starts if lines & wanted]
        if near and self.random.random() < 0.8:
            row = self.random.choice(near)
        else:
            slug = self.random.choice([slug for slug in self.explained if slug in rules()])
            case = self.random.choice(rules()[slug].bad)
            first = "none" if case.onset is None else f"{sum(case.onset) / 2:g}"
            row = Row(slug, case.name, "", f"{slug} {first} {rules()[slug].severity}", "")
        run = changed(_drawn(row.slug, row.case), row.moves)
        if self.random.random() < 0.3:
            row = row._replace(found=self.findings(row.found, max(run.last_step, 10)))
        if self.settings and self.limits and self.random.random() < 0.25:
            pick = self.random.choice
            moves = f"put {pick(self.settings)} {pick(self.limits):g}"
        else:
            rule = rules().get(row.slug, rules()["plateau"])
            moves = Draws(rule, self.random.randrange(10**6), self.source).moves(run)
        return row._replace(moves="; ".join(filter(None, (row.moves, moves))))

    def findings(self, found: str, last: float) -> str:
        """Add a finding that the module explains, or leave out the last."""
        every = found.split(", ")
        if len(every) > LENGTH or (len(every) > 1 and self.random.random() < 0.3):
            return ", ".join(every[:-1])
        slug, first = self.random.choice(self.explained), every[0].split(" ")[1]
        step = self.random.choice([first, f"{self.random.uniform(0, last):.0f}"])
        return f"{found}, {slug} {step} {self.random.choice(('critical', 'warning', 'info'))}"


def _same(change: Changed, one: Scene, now: str) -> bool:
    try:
        return change.says(one) == now
    except Exception:  # noqa: BLE001 - that is noticed
        return False


def main() -> int:
    """Look for rows, module by module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(MODULES))
    parser.add_argument("--tries", type=int, default=300)
    parser.add_argument("--left", action="store_true", help="print what no row notices")
    wanted = parser.parse_args()
    with np.errstate(all="ignore"):
        kept = [row._replace(causes=told(row.scene())) for row in rows()]
    needed: set[Row] = set()
    for name in wanted.modules:
        with np.errstate(all="ignore"):
            search = Search(name, kept)
            search.tries(wanted.tries)
        new = [row for row in search.found if row not in kept]
        kept = list({row[:-1]: row for row in (*kept, *new)}.values())
        needed.update(search.found)
        print(
            f"{name}: {len(search.left)} of {search.total} unnoticed, {len(new)} rows", flush=True
        )
        for change in search.left if wanted.left else ():
            print(f"  {change.what}")
    if set(wanted.modules) >= set(MODULES):
        kept = [row for row in kept if row in needed]
    lines = ["\t".join(one) for one in sorted(kept)]
    head = "# rule, drawn case, moves, findings, causes"
    FILE.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
