"""Drawn runs with findings, and how the cause step ranks the causes of each.

    python -m tests.causes.weighed [MODULE...] [--tries 300]

A row of weighed.tsv is a drawn case of a rule, the moves that change it, the findings that it is
given, and the causes in order with their ranks. The command looks for rows that notice a small
change of a module of the cause step (`benchmarks/mutants.py`), and keeps those that do.
"""

import argparse
import ast
import random
import runpy
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from runlens.causes import ranking
from runlens.causes.hypothesis import Hypothesis
from runlens.causes.scene import Scene
from runlens.diagnosis import Finding, Moment
from runlens.engine import diagnose
from runlens.run import Run
from runlens.signals import Signals
from tests.causes.test_hypotheses import CASES
from tests.rules.edges import rules
from tests.rules.moves import Draws, changed

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("weighed.tsv")
MUTANTS = runpy.run_path(str(ROOT / "benchmarks/mutants.py"))
MODULES = ("rate", "data", "optimiser", "policy", "ending", "model", "defects", "ranking")
CAUSE = "cause"  # in place of a rule: a case of test_hypotheses.py
LENGTH = 3  # findings of an incident


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
    weights = {
        hypothesis.kind: "out"
        if hypothesis.against(one)
        else " ".join(f"{sign.weight:g}" for sign in hypothesis.signs(one) if sign)
        for hypothesis in ranking.HYPOTHESES
        if hypothesis.explains.intersection(one.rules)
    }
    return f"{ranked}; " + ", ".join(f"{kind} {said}" for kind, said in weights.items() if said)


def rows() -> list[Row]:
    """Read the rows that are kept."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [Row(*line.split("\t")) for line in lines if line and not line.startswith("#")]


class Changed(NamedTuple):
    """A module of the cause step with one small change."""

    name: str
    what: str
    code: CodeType

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Return all hypotheses, those of this module changed."""
        module = ModuleType(f"runlens.causes.{self.name}")
        module.__file__ = self.code.co_filename
        exec(self.code, module.__dict__)  # noqa: S102 - our own module
        own = {one.kind: one for one in vars(module).values() if isinstance(one, Hypothesis)}
        return tuple(own.get(one.kind, one) for one in ranking.HYPOTHESES)


def small_changes(name: str) -> Iterator[Changed]:
    """Return every small change of a module that can be compiled and run."""
    file = ROOT / f"runlens/causes/{name}.py"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for one in MUTANTS["changes"](tree):
        yield Changed(name, f"{one.line} {one.what}", MUTANTS["mutated"](tree, one, str(file)))


class Search:
    """Looks for rows that notice the small changes of one module."""

    def __init__(self, name: str, kept: Sequence[Row]) -> None:
        """Strike off what the kept rows notice."""
        self.random, self.usual = random.Random(name), ranking.HYPOTHESES
        self.left: list[tuple[str, tuple[Hypothesis, ...]]] = []
        for one in small_changes(name):
            try:
                self.left.append((one.what, one.hypotheses()))
            except Exception as error:  # noqa: BLE001 - a change that does not load is noticed
                print(f"  {one.what}: {error}")
        source = (ROOT / f"runlens/causes/{name}.py").read_text(encoding="utf-8")
        own = [one for one in self.usual if f'"{one.kind}"' in source] or self.usual
        self.explained = sorted({slug for one in own for slug in one.explains})
        self.words = source
        self.found: list[Row] = []
        for row in kept:
            self.tried(row)

    def tried(self, row: Row) -> None:
        """Keep a row that notices a change which none did before."""
        run = changed(_drawn(row.slug, row.case), row.moves)
        one = scene(run, row.found)
        ranking.HYPOTHESES = self.usual
        now = told(one)
        left = []
        for what, hypotheses in self.left:
            ranking.HYPOTHESES = hypotheses
            try:
                same = told(one) == now
            except Exception:  # noqa: BLE001 - that is noticed
                same = False
            if same:
                left.append((what, hypotheses))
        ranking.HYPOTHESES = self.usual
        if len(left) < len(self.left):
            self.found.append(row._replace(causes=now))
        self.left = left

    def tries(self, number: int) -> None:
        """Draw this many rows, until nothing is left."""
        every = rules()
        slugs = [slug for slug in self.explained if slug in every]
        for _ in range(number):
            if not self.left:
                return
            if self.found and self.random.random() < 0.5:
                start = self.random.choice(self.found)
                slug, name, before, found = start.slug, start.case, start.moves, start.found
            elif self.random.random() < 0.6:
                slug, before, name = CAUSE, "", self.random.choice(list(CASES))
                found = _found_in(name)
            else:
                slug, before = self.random.choice(slugs), ""
                case = self.random.choice(every[slug].bad)
                name, found = case.name, self.findings(slug, case)
            try:
                run = changed(_drawn(slug, name), before)
                draws = Draws(
                    every.get(slug, every["plateau"]), self.random.randrange(10**6), self.words
                )
                moves = "; ".join(filter(None, (before, draws.moves(run))))
                if moves.count(";") > LENGTH:
                    continue
                self.tried(Row(slug, name, moves, found, ""))
            except (ValueError, IndexError, KeyError, TypeError, OverflowError):
                continue

    def findings(self, slug: str, case: Any) -> str:
        """Give a case its own finding, and one or two that the module explains."""
        first = "none" if case.onset is None else f"{sum(case.onset) / 2:g}"
        severity = rules()[slug].severity
        told = [f"{slug} {first} {severity}"]
        last = max(_drawn(slug, case.name).last_step, 10)
        while len(told) < LENGTH and self.random.random() < 0.4:
            step = self.random.choice([first, f"{self.random.uniform(0, last):.0f}"])
            told.append(f"{self.random.choice(self.explained)} {step} {severity}")
        return ", ".join(told)


def main() -> int:
    """Look for rows, module by module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(MODULES))
    parser.add_argument("--tries", type=int, default=300)
    wanted = parser.parse_args()
    kept = rows() if FILE.exists() else []
    for name in wanted.modules:
        with np.errstate(all="ignore"):
            search = Search(name, kept)
            search.tries(wanted.tries)
        new = [row for row in search.found if row not in kept]
        kept = list({row[:-1]: row for row in (*kept, *new)}.values())
        total = sum(1 for _ in small_changes(name))
        print(f"{name}: {len(search.left)} of {total} unnoticed, {len(new)} rows", flush=True)
        lines = ["\t".join(one) for one in sorted(kept)]
        head = "# rule, drawn case, moves, findings, causes"
        FILE.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
