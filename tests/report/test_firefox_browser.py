"""The pages in Firefox, which refuses and draws by its own rules: quiet, offline, not too wide."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from runlens.report.html import render
from tests.report.diagnoses import SHAPES
from tests.report.firefox import Firefox, executable, running
from tests.report.seen import NAMES, seen

pytestmark = pytest.mark.browser

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOADED = "performance.getEntriesByType('resource').map(one => one.name)"
OPEN = "document.querySelectorAll('details').forEach(one => one.open = true)"


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    """Return a running Firefox; skip where none is installed."""
    if executable() is None:
        missing = "no Firefox on PATH; install firefox-esr to run the tests in it"
        if os.environ.get("RUNLENS_NEEDS_FIREFOX"):
            pytest.fail(missing)
        pytest.skip(missing)
    with running() as started:
        yield started


def silent(firefox: Firefox, page: str, folder: Path, width: int) -> None:
    """Open a page and ask that nothing was said, loaded, refused or drawn beside the screen."""
    path = folder / "run.html"
    path.write_text(page, encoding="utf-8")
    firefox.open(path, width)
    firefox.value(OPEN)
    assert firefox.complaints == []
    own = (path.as_uri(), "data:font")  # Firefox fetches a font of its own for its first page
    assert [one for one in firefox.requests if not one.startswith(own)] == []
    assert firefox.value(LOADED) == []
    assert firefox.value("window.refused") == []
    assert firefox.value(OVERFLOW) == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_page_is_quiet_on_a_phone(
    shape: str, firefox: Firefox, tmp_path: Path
) -> None:
    """Hostile names and crowded runs included."""
    silent(firefox, render(SHAPES[shape]()), tmp_path, 390)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_every_fixture_is_quiet(name: str, firefox: Firefox, tmp_path: Path) -> None:
    """No console line, no request, nothing that the policy refuses."""
    silent(firefox, render(seen(name)), tmp_path, 1280)


def test_a_word_on_the_console_is_noticed(firefox: Firefox, tmp_path: Path) -> None:
    """So that the tests above can fail: a script that is not ours is refused, a warning heard."""
    path = tmp_path / "run.html"
    path.write_text(render(seen(NAMES[0])), encoding="utf-8")
    firefox.open(path)
    firefox.value(
        "(() => {const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        "document.body.append(s); console.warn('heard')})()"
    )
    assert firefox.value("typeof window.ran") == "undefined"
    assert firefox.value("window.refused.length") > 0
    assert "heard" in firefox.complaints
