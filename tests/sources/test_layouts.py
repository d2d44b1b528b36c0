"""The table of layouts: each row reads the line that stands in it."""

from pathlib import Path

import pytest

from runlens.sources import console
from runlens.sources.console.counters import Counted, counted
from runlens.sources.console.layouts import LAYOUTS, Layout


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout.who for layout in LAYOUTS])
def test_every_layout_reads_its_line(layout: Layout) -> None:
    """Its counters, and no other."""
    found = counted(layout.line)
    assert found is not None, f"the form of {layout.who} is not where its line begins"
    known = zip(Counted._fields[:6], found[:6], strict=True)
    assert {name: number for name, number in known if number >= 0} == layout.counts, layout.who
    assert found.sure == (layout.where == "sure")


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout.who for layout in LAYOUTS])
def test_every_layout_has_numbers(tmp_path: Path, layout: Layout) -> None:
    """A log of two such lines has a metric."""
    path = tmp_path / "train.log"
    path.write_text(f"{layout.line}\n{layout.line}\n")
    found = console.read(path).series
    assert found, f'{layout.who} names no metric behind its counter: say "sure"'
    assert set(layout.names.values()) <= found.keys(), "names: as printed -> as a metric is called"
