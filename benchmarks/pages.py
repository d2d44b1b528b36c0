"""What the pages weigh, how soon they answer, and what axe-core says of them.

    python benchmarks/pages.py [--axe axe.min.js]

Draws a run of 40 metrics x 200,000 steps, diagnoses it, writes its page with script and without,
and opens both in headless Chromium, with a comparison of twelve runs and a night of 2,000 runs:
bytes, seconds until the keyboard reads values (best and worst of five loads), requests beside the
page, console messages, layout shift, points of a phone's width that scroll sideways. With the file
of the npm package axe-core its violations are counted as well (WCAG 2.x A and AA, best practice),
wide, on a phone and in the dark, all folded parts open. Prints a Markdown table; needs Chromium.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from runlens.engine import diagnose
from runlens.history import Columns, FloatArray, History, columns
from runlens.report.html import render
from runlens.report.html.audit import render as audit_page
from runlens.report.html.comparison import render as comparison_page
from runlens.run import Run, State
from tests.report import audits, comparisons
from tests.report.browser import Browser, Page, running

STEPS, METRICS, LOADS = 200_000, 40, 5
EVALUATIONS = 100
PHONE, WIDE = 390, 1280
# begun before the page: the shift of its layout, and when the keyboard reads values
WATCH = """
window.shift = 0;
new PerformanceObserver(list => {
  for (const one of list.getEntries()) window.shift += one.value;
}).observe({type: 'layout-shift', buffered: true});
addEventListener('DOMContentLoaded', () => {
  const box = document.querySelector('[data-cross]'), said = document.querySelector('.read');
  if (box && document.querySelector('script')) {  // of a page with script
    box.focus();
    box.dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}));
    window.answered = said.querySelector('b') !== null;
  }
  requestAnimationFrame(() => setTimeout(() => { window.ready = performance.now(); }));
});
"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
AXE = """axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa',
  'best-practice']}).then(said => said.violations.map(one => one.id + ': ' + one.nodes[0].html))"""


class Measured(NamedTuple):
    """What one page costs."""

    size: int  # bytes
    seconds: tuple[float, float]  # until it answers, best and worst
    requests: int
    messages: int
    shift: float
    overflow: int  # pixels at the width of a phone


def draw() -> Run:
    """Return a pretraining of 200,000 logged steps with 40 metrics, a NaN gap and a late rise."""
    rng = np.random.default_rng(11)
    step = np.arange(1, STEPS + 1)
    done = step / STEPS

    def rows(value: FloatArray, noise: float) -> Columns:
        return columns(step, value * (1 + noise * rng.normal(size=STEPS)), 3 * done)

    loss = 2.2 + 8 * np.exp(-done / 0.02) + 0.6 * np.maximum(0, done - 0.8)
    norms = 0.7 * np.exp(0.3 * rng.normal(size=STEPS))
    norms[STEPS // 2 : STEPS // 2 + 50] = np.nan
    metrics = {
        "train_loss": rows(loss, 0.03),
        "grad_norm": rows(norms, 0.0),
        "learning_rate": rows(3e-4 * np.minimum(done / 0.02, 1 - done), 0.0),
    }
    held_out = step[:: STEPS // EVALUATIONS]
    metrics["eval_loss"] = columns(held_out, loss[held_out - 1] + 0.1)
    for number in range(METRICS - len(metrics)):
        metrics[f"layer.{number}/activation_norm"] = rows(1 + done * number / 40, 0.2)
    state = State("finished", planned_steps=STEPS, done_steps=STEPS)
    return Run("drawn", "drawn", History(metrics), state=state, framework="lightning", task="sft")


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page with its name, and say what writing the largest took."""
    diagnosis = diagnose(draw())
    before = time.process_time()
    whole = render(diagnosis)
    print(
        f"Writing the page of 40 metrics x 200,000 steps: {time.process_time() - before:.2f} s.\n"
    )
    yield "run, 40 metrics x 200,000 steps", whole
    yield "the same, `--static`", render(diagnosis, static=True)
    yield "comparison of twelve runs", comparison_page(comparisons.sweep(12), static=True)
    yield "night of 2,000 runs", audit_page(audits.many(2000))


def opened(browser: Browser, path: Path, width: int, *, dark: bool = False) -> Page:
    """Open a page that is watched from its first byte."""
    return browser.open(path, width, dark=dark, first=WATCH)


def measure(browser: Browser, path: Path) -> Measured:
    """Return what a page costs, loaded a few times."""
    spent, shift = [], 0.0
    for _ in range(LOADS):
        page = opened(browser, path, WIDE)
        page.until("window.ready !== undefined")
        spent.append(page.value("window.ready") / 1000)
        if page.value("window.answered") is False:
            raise SystemExit(f"{path.name}: the End key reads no value")
        page.value("scrollTo(0, document.body.scrollHeight)")
        shift = max(shift, page.value("window.shift"))
    phone = opened(browser, path, PHONE)
    return Measured(
        path.stat().st_size,
        (min(spent), max(spent)),
        len(page.requests) - 1,
        len(page.complaints),
        shift,
        phone.value(OVERFLOW),
    )


def violations(browser: Browser, path: Path, axe: str) -> list[str]:
    """Return what axe-core objects to: wide, on a phone, in the dark."""
    found: list[str] = []
    for width, dark in ((WIDE, False), (WIDE, True), (PHONE, False)):
        page = browser.open(path, width, dark=dark)
        page.value("document.querySelectorAll('details').forEach(part => part.open = true)")
        page.value(f"{axe};0")
        found += page.value(AXE)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--axe", type=Path, help="axe.min.js of the npm package axe-core")
    given = parser.parse_args()
    axe = given.axe.read_text(encoding="utf-8") if given.axe else ""
    rows, objections = [], []
    with tempfile.TemporaryDirectory() as place, running() as browser:
        for number, (name, text) in enumerate(pages()):
            path = Path(place) / f"{number}.html"
            path.write_text(text, encoding="utf-8")
            one = measure(browser, path)
            said = violations(browser, path, axe) if axe else []
            objections += [f"{name}: {words}" for words in said]
            rows.append(
                f"| {name} | {one.size / 1e3:,.0f} kB | {one.seconds[0]:.2f} to "
                f"{one.seconds[1]:.2f} s | {one.requests} | {one.messages} | {one.shift:.3f} | "
                f"{one.overflow} px | {len(said) if axe else 'not run'} |"
            )
    print("| page | size | answers after | requests | console | shift | sideways | axe |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join([*rows, "", *objections]))


if __name__ == "__main__":
    main()
