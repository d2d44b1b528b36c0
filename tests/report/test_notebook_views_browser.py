"""The frame of a notebook in a real browser: its own colours, its own links, no script."""

from pathlib import Path

import pytest

from tests.report.browser import Browser, Page
from tests.report.diagnoses import hostile, overfitting

pytestmark = pytest.mark.browser

# what a theme of a notebook may do to every element
THEME = """<style>*{color:red!important;background:lime!important;font-size:7px!important;
display:inline!important}table,h1,svg{display:none!important}iframe{display:block!important}
</style>"""
INSIDE = "document.querySelector('iframe').contentDocument"
STYLE = f"getComputedStyle({INSIDE}.querySelector('%s')).%s"
LIGHT_INK, DARK_INK = "rgb(22, 24, 27)", "rgb(233, 235, 238)"


def opened(
    html: str, browser: Browser, folder: Path, head: str = THEME, *, dark: bool = False
) -> Page:
    """Open a notebook with this output; the test may look into the frame, scripts still not."""
    path = folder / "notebook.html"
    seen = html.replace(" sandbox ", " sandbox='allow-same-origin' ", 1)
    path.write_text(f"<!doctype html><meta charset=utf-8>{head}{seen}", encoding="utf-8")
    page = browser.open(path, dark=dark)
    page.until(f"{INSIDE}.querySelector('h1') !== null")
    return page


@pytest.mark.parametrize(("dark", "ink"), [(False, LIGHT_INK), (True, DARK_INK)])
def test_a_theme_does_not_reach_into_the_frame(
    dark: bool, ink: str, browser: Browser, tmp_path: Path
) -> None:
    """Colours, sizes and layout are ours, in light and in dark."""
    page = opened(overfitting()._repr_html_(), browser, tmp_path, dark=dark)
    assert page.value(STYLE % ("h1", "color")) == ink
    assert page.value(STYLE % ("h1", "display")) == "block"
    assert page.value(STYLE % ("svg.ch", "display")) == "block"
    assert page.value(f"{INSIDE}.querySelector('svg.ch').getBoundingClientRect().width") > 300
    assert page.complaints == []


def test_the_frame_does_not_reach_into_the_notebook(browser: Browser, tmp_path: Path) -> None:
    """The rest of the notebook keeps its style."""
    head = "<p id=mine>text</p>"
    page = opened(overfitting()._repr_html_(), browser, tmp_path, head)
    assert page.value("getComputedStyle(document.querySelector('#mine')).maxWidth") == "none"
    assert page.value("document.querySelectorAll('style').length") == 0


def test_a_dark_notebook_makes_a_dark_frame(browser: Browser, tmp_path: Path) -> None:
    """The scheme of the page around it counts, not that of the system."""
    head = "<style>:root{color-scheme:dark}</style>"
    page = opened(overfitting()._repr_html_(), browser, tmp_path, head)
    page.call("Emulation.setEmulatedMedia", features=[])
    page.until(f"{STYLE % ('h1', 'color')} === '{DARK_INK}'")


def test_links_stay_inside_the_frame(browser: Browser, tmp_path: Path) -> None:
    """A link to a part of the report does not load the notebook into its own frame."""
    page = opened(overfitting()._repr_html_(), browser, tmp_path)
    link = f"(a => (a.href = '#checks', {INSIDE}.body.appendChild(a).click(), a.href))"
    assert page.value(f"{link}({INSIDE}.createElement('a'))") == "about:srcdoc#checks"
    page.until(f"{INSIDE}.location.hash === '#checks'")
    assert page.value(f"{INSIDE}.querySelector('h1') !== null")


def test_hostile_words_are_inert_in_a_notebook(browser: Browser, tmp_path: Path) -> None:
    """Nothing runs, nothing is loaded."""
    html = hostile('</iframe><img src="http://127.0.0.1:9/x" onerror="window.ran=1">')._repr_html_()
    page = opened(html, browser, tmp_path)
    assert page.value("window.ran === undefined")
    assert page.value("document.images.length") == 0
    assert page.value(f"{INSIDE}.images.length") == 0
    assert [one for one in page.requests if one.startswith("http")] == []
