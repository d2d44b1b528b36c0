"""The page of a comparison in a real browser: quiet, offline, on a phone, dark, printed."""

from dataclasses import replace
from pathlib import Path

import pytest

from runlens.report.html.comparison import render
from tests.report.browser import Browser, Page
from tests.report.comparisons import SHAPES, of_hostile, sweep, two

pytestmark = pytest.mark.browser

SHIFT = """window.shift = 0; new PerformanceObserver(list => {
  for (const one of list.getEntries()) window.shift += one.value;
}).observe({type: 'layout-shift', buffered: true});"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def opened(
    shape: str, browser: Browser, tmp_path: Path, width: int = 1280, *, dark: bool = False
) -> Page:
    """Return the page of a shape, opened."""
    path = tmp_path / "compare.html"
    path.write_text(render(SHAPES[shape]()), encoding="utf-8")
    return browser.open(path, width, dark=dark)


@pytest.mark.parametrize("shape", SHAPES)
def test_pages_load_in_silence(shape: str, browser: Browser, tmp_path: Path) -> None:
    """No console message, no refused script or style, no request but the file itself."""
    page = opened(shape, browser, tmp_path)
    assert page.complaints == []
    assert page.requests == [(tmp_path / "compare.html").as_uri()]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [360, 390, 768])
def test_pages_never_scroll_sideways(
    shape: str, width: int, browser: Browser, tmp_path: Path
) -> None:
    """Everything fits phones and a tablet, with all parts open."""
    page = opened(shape, browser, tmp_path, width)
    page.value("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.value(OVERFLOW) == 0
    assert page.value("innerWidth") == width


def test_hostile_words_are_inert(browser: Browser, tmp_path: Path) -> None:
    """The document holds no image, no stranger's script and no handler; nothing ran."""
    path = tmp_path / "compare.html"
    path.write_text(render(of_hostile()), encoding="utf-8")
    page = browser.open(path)
    assert page.value("document.querySelectorAll('img, iframe, a[href^=javascript]').length") == 0
    assert page.value("document.scripts.length") == 5  # first, data, page, workbench
    assert page.value("document.styleSheets.length") == 1
    assert "</script><script>alert(1)</script>" in page.value(
        "document.querySelector('h1').textContent"
    )
    assert page.complaints == []


PICTURE = "document.getElementById('bench-canvas').toDataURL()"


@pytest.mark.parametrize("shape", ["two", "twenty", "by tokens"])
def test_the_workbench_draws_what_is_chosen(shape: str, browser: Browser, tmp_path: Path) -> None:
    """Another metric, smoothing and fewer runs draw something else; the address keeps it."""
    page = opened(shape, browser, tmp_path)
    page.until("document.getElementById('bench').getClientRects().length === 1")
    change = (
        "document.getElementById('{}').{};"
        "document.getElementById('{}').dispatchEvent(new Event('input'))"
    )
    drawn = [page.value(PICTURE)]
    for name, what in (
        ("bench-metric", "selectedIndex = 1"),
        ("bench-smooth", "value = 0.9"),
        ("bench-log", "checked = true"),
    ):
        page.value(change.format(name, what, name))
        drawn.append(page.value(PICTURE))
    page.value("document.querySelector('[data-run=B]').click()")
    drawn.append(page.value(PICTURE))
    assert len(set(drawn)) >= 4
    assert min(map(len, drawn)) > 2_000
    kept = page.value("location.hash")
    assert kept.startswith("#bench&metric=")
    assert "smooth=0.9" in kept
    assert "log=1&off=B" in kept
    assert page.complaints == []
    assert page.requests[:1] == [(tmp_path / "compare.html").as_uri()]


BOARD = "[...document.querySelectorAll('#board-views canvas')].map(one => one.toDataURL())"


def test_settings_are_drawn_and_a_run_is_lifted_out_everywhere(
    browser: Browser, tmp_path: Path
) -> None:
    """Another setting is another scatter; a row of the table lifts its run out of all drawings."""
    page = opened("twenty", browser, tmp_path)
    page.until("document.getElementById('board-views').getClientRects().length === 1")
    before = page.value(BOARD)
    assert page.value("document.getElementById('board-key').options.length") == 2
    page.value(
        "(pick => { pick.selectedIndex = 1; pick.dispatchEvent(new Event('input')) })"
        "(document.getElementById('board-key'))"
    )
    other = page.value(BOARD)
    assert other[0] != before[0]
    assert other[1] == before[1]
    curves = page.value(PICTURE)
    row = "document.querySelector('#runs tr[data-row=\"3\"]')"
    page.value(f"{row}.dispatchEvent(new Event('pointerenter'))")
    assert page.value("document.querySelectorAll('tr.lit[data-row=\"3\"]').length") == 2
    assert page.value(PICTURE) != curves
    assert all(now != then for now, then in zip(page.value(BOARD), other, strict=True))
    page.value(f"{row}.dispatchEvent(new Event('pointerleave'))")
    assert page.value(PICTURE) == curves


def test_the_axis_is_switched_and_a_view_comes_back(browser: Browser, tmp_path: Path) -> None:
    """The curves move to epochs, and the address draws the same view again."""
    page = opened("twenty", browser, tmp_path)
    page.value(
        "(pick => { pick.value = 'epoch'; pick.dispatchEvent(new Event('input')) })"
        "(document.getElementById('bench-axis'))"
    )
    over_epochs = page.value(PICTURE)
    address = page.value("location.hash")
    assert "axis=epoch" in address
    page.value("location.hash = '#bench&metric=train_loss'")
    page.until("document.getElementById('bench-metric').value === 'Train loss'")
    page.value(f"location.hash = '{address}'")
    page.until("document.getElementById('bench-axis').value === 'epoch'")
    page.until(f"{PICTURE} === {over_epochs!r}")


BLUE = """(canvas => {
  const w = canvas.width, d = canvas.getContext('2d').getImageData(0, 0, w, canvas.height).data;
  const rows = [];
  for (let i = 0; i < d.length; i += 4) if (d[i] === 10 && d[i + 1] === 95 && d[i + 2] === 163)
    rows.push(Math.floor(i / 4 / w));
  return [rows[0], rows[rows.length - 1]];
})(document.getElementById('bench-canvas'))"""


def test_one_explosion_does_not_flatten_the_others(browser: Browser, tmp_path: Path) -> None:
    """The range of the axis is that of the usual runs, until the whole is asked for."""
    whole = sweep(6)
    wild = whole.curves["train_loss"][4]
    assert wild is not None
    loud = wild._replace(value=tuple(value * 1e6 for value in wild.value))
    some = tuple(loud if at == 4 else one for at, one in enumerate(whole.curves["train_loss"]))
    path = tmp_path / "compare.html"
    path.write_text(render(replace(whole, curves={"train_loss": some})), encoding="utf-8")
    page = browser.open(path)
    beside = page.value(BLUE)
    assert beside[1] - beside[0] > 100  # A is not flat
    page.value("document.querySelector('[data-run=E]').click()")
    assert page.value(BLUE) == beside
    page.value("document.querySelector('[data-run=E]').click()")
    page.value("document.getElementById('bench-all').click()")
    assert page.value(BLUE) != beside


def test_both_runs_are_read_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    """The curves take focus; End reads both runs and their difference at the last step."""
    page = opened("two", browser, tmp_path)
    page.value("document.querySelector('#cmp-box').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="End", code="End")
    said = page.value("document.getElementById('cmp-read').textContent")
    assert said.startswith("step 1,000A eval_loss 1.45")
    assert "B eval_loss 1.2" in said
    assert "B \u2212 A eval_loss \u22120.25" in said


def test_another_axis_is_read_in_its_unit(browser: Browser, tmp_path: Path) -> None:
    """A fraction of an epoch is not rounded away."""
    page = opened("by epoch", browser, tmp_path)
    page.value("document.querySelector('#cmp-box').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Home", code="Home")
    said = page.value("document.getElementById('cmp-read').textContent")
    assert said.startswith("epoch 0.03A eval_loss")


def test_the_row_of_a_run_opens_its_details(browser: Browser, tmp_path: Path) -> None:
    """A run in the table leads to what is known of it."""
    page = opened("twenty", browser, tmp_path)
    assert page.value("document.querySelector('#run-D > details').open") is False
    page.value("document.querySelector('a[href=\"#run-D\"]').click()")
    assert page.value("document.querySelector('#run-D > details').open") is True


@pytest.mark.parametrize("made", [two, sweep])
def test_without_scripts_the_page_is_complete(made, browser: Browser, tmp_path: Path) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """Tables and charts stand there; the button that would do nothing does not."""
    path = tmp_path / "compare.html"
    path.write_text(render(made()), encoding="utf-8")
    page = browser.open(path, scripts=False)
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    assert not any(_drawn(page, node) for node in _all(page, root, "button"))
    assert all(_drawn(page, node) for node in _all(page, root, "#cmp-box svg.w-only"))
    assert all(_drawn(page, node) for node in _all(page, root, "main > section table")[:1])


def _all(page: Page, root: int, selector: str) -> list[int]:
    found: list[int] = page.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]
    return found


def _drawn(page: Page, node: int) -> bool:
    try:
        return bool(page.call("DOM.getBoxModel", nodeId=node)["model"]["width"])
    except AssertionError:
        return False  # no box: it is not displayed


@pytest.mark.parametrize(("width", "shown", "hidden"), [(390, "n", "w"), (1280, "w", "n")])
def test_one_drawing_of_the_curves_is_shown(
    width: int, shown: str, hidden: str, browser: Browser, tmp_path: Path
) -> None:
    """Phones see the narrow drawing, wide screens the wide one."""
    page = opened("twenty", browser, tmp_path, width)
    box = "document.querySelector('#cmp-box svg.{}-only').getBoundingClientRect().width"
    assert page.value(box.format(shown)) > 300
    assert page.value(box.format(hidden)) == 0


@pytest.mark.parametrize("shape", ["two", "twenty with seeds"])
def test_lines_and_labels_follow_the_dark_scheme(
    shape: str, browser: Browser, tmp_path: Path
) -> None:
    """The curve of A, its label and the page change their colours together."""
    colours = [
        (
            page.value("getComputedStyle(document.body).backgroundColor"),
            page.value("getComputedStyle(document.querySelector('#cmp-box path.sa')).stroke"),
            page.value("getComputedStyle(document.querySelector('#cmp-box text.fa')).fill"),
        )
        for dark in (False, True)
        for page in [opened(shape, browser, tmp_path, dark=dark)]
    ]
    assert colours[0][1] == colours[0][2]
    assert colours[1][1] == colours[1][2]
    assert all(light != dark for light, dark in zip(*colours, strict=True))


@pytest.mark.parametrize("shape", ["two", "twenty"])
def test_paper_cuts_nothing(shape: str, browser: Browser, tmp_path: Path) -> None:
    """Printed on A4 nothing is wider than the paper; buttons and details of 19 pairs stay off."""
    page = opened(shape, browser, tmp_path, 695)  # pixels of A4 less its margins
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.value(OVERFLOW) == 0
    assert page.value("document.getElementById('bench').getClientRects().length") == 0
    folded = "[...document.querySelectorAll('#details > div > details')]"
    assert page.value(f"{folded}.every(one => !one.getClientRects().length)")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_workbench_has_its_place_before_the_script_fills_it(
    width: int, browser: Browser, tmp_path: Path
) -> None:
    """Nothing jumps while the page of many runs loads."""
    path = tmp_path / "compare.html"
    path.write_text(render(sweep(12)), encoding="utf-8")
    page = browser.open(path, width, first=SHIFT)
    assert page.value("document.getElementById('bench-canvas').width") > 0
    assert page.value("window.shift") < 0.01


def test_without_script_no_empty_workbench_stands_there(browser: Browser, tmp_path: Path) -> None:
    """The curves below it are complete; controls that do nothing are not shown."""
    path = tmp_path / "compare.html"
    path.write_text(render(sweep(12)), encoding="utf-8")
    page = browser.open(path, scripts=False)
    assert page.value("document.getElementById('bench').offsetHeight") == 0
    assert page.value("document.getElementById('board-views').offsetHeight") == 0
