"""Run every command once in this Python, and print what came of each as a line of JSON.

    python tests/try_commands.py FOLDER [--without PACKAGE ...]

FOLDER is empty and takes what is written. Packages behind --without cannot be imported, as if they
were not installed. The package runlens is the one that this Python finds. Needs nothing else.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Protocol

FIXTURES = Path(__file__).parents[1] / "fixtures"
RUN, OTHER = FIXTURES / "hockey-stick", FIXTURES / "healthy-pretrain"
FORMATS = ("text", "html", "json", "markdown", "github", "sarif", "junit")
SIDE_BY_SIDE = ("text", "html", "json", "markdown", "csv")
EXPORTS = ("csv", "json", "jsonl", "parquet")


class Finder(Protocol):
    """What is used of the entries of `sys.meta_path`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how a module is imported; None where this finder does not know it."""
        ...


class Hiding(NamedTuple):
    """A finder that does not know some packages."""

    finder: Finder
    packages: frozenset[str]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Ask the finder, unless the package is hidden."""
        if fullname.partition(".")[0] in self.packages:
            return None
        return self.finder.find_spec(fullname, path, target)

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        """Return the installed distributions of a name, as `importlib.metadata` asks for them."""
        if context.name in self.packages or not hasattr(self.finder, "find_distributions"):
            return []
        found: Iterable[Distribution] = self.finder.find_distributions(context)
        return found


def commands(folder: Path) -> Iterator[list[str]]:
    """Yield the arguments of each call."""
    run, other = str(RUN), str(OTHER)
    yield ["demo", "-o", str(folder / "demo.html")]
    for form in FORMATS:
        yield ["diagnose", run, "--format", form, "-o", str(folder / f"one.{form}")]
    for form in SIDE_BY_SIDE:
        yield ["compare", run, other, "--format", form, "-o", str(folder / f"two.{form}")]
    yield ["diagnose", run, "--share", str(folder / "case.json"), "-q"]
    yield ["diagnose", "wandb:acme/llm/1a2b3c4d"]
    yield ["fix", run, "-o", str(folder / "fixed.yaml")]
    yield ["confirm", run, other]
    yield ["watch", other]
    yield ["similar", run]
    yield ["rules"]
    yield ["rules", "hockey-stick"]
    yield ["trust", str(folder)]
    yield ["sources"]
    yield ["sources", run]
    for ending in EXPORTS:
        yield ["export", run, "-o", str(folder / f"table.{ending}")]
    store = str(folder / "a.db")
    yield ["audit", run, "--store", store, "-o", str(folder / "site"), "--jobs", "1"]
    yield ["audit", "ack", "3f9a", "--store", store]
    yield ["audit", run, "--store", store, "--cluster", "local:x"]
    yield ["audit", run, "--store", "postgresql://nobody@127.0.0.1:9/none"]
    yield ["mcp", str(FIXTURES)]


def main(arguments: list[str]) -> None:
    """Run each and print its arguments, exit code and the end of what it says on stderr."""
    folder, _, *hidden = [*arguments, ""] if len(arguments) == 1 else arguments
    sys.meta_path[:] = [Hiding(finder, frozenset(hidden)) for finder in sys.meta_path]
    from click.testing import CliRunner

    from runlens.cli import main as lens

    for command in commands(Path(folder)):
        ended = CliRunner().invoke(lens, command)
        fault = repr(ended.exception) if ended.exit_code not in range(5) else ""
        result = {"command": command, "code": ended.exit_code, "stderr": ended.stderr[-500:]}
        print(json.dumps(result | {"fault": fault}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
