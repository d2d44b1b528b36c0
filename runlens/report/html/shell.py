"""The page around every report: one file that loads nothing, with a policy that enforces it."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from runlens.faults import survived
from runlens.records import NamedTuple
from runlens.report.html import assets
from runlens.report.html.element import Markup, cut, el, join
from runlens.version import __version__

TITLE = 160  # characters in the title of the window
PLACE = 240  # characters of the name and the place in the head of the page

# before anything is drawn: what the script shows has its place from the start, and nothing jumps
ON = "document.documentElement.className='on'"
_STATIC = "default-src 'none'; style-src '{}'; base-uri about:; form-action 'none'"


class Section(NamedTuple):
    """One part of a page; with a `link` it is named in the navigation."""

    anchor: str
    body: Markup
    link: str = ""


def part(anchor: str, build: Callable[[], Markup], link: str = "") -> Section:
    """Return one part of a page; where it fails it says so, and the others are shown."""
    return Section(anchor, survived(build, lambda told: _failed(anchor, told)), link)


def _failed(anchor: str, told: str) -> Markup:
    return el("section", el("p", f"This part cannot be shown: {told}"), id=anchor)


class Embedded(NamedTuple):
    """A report without the page around it."""

    title: str
    sections: tuple[Section, ...]


def document(
    title: str,
    where: str,
    sections: Iterable[Section],
    data: Mapping[str, Any] | None = None,
    *,
    scripted: bool = True,
    tables: bool = True,
    bench: bool = False,
) -> str:
    """Return a whole page: policy, head, navigation, `sections`, footer, data and scripts.

    `data` must be finite numbers, strings, lists and dicts; the script reads it. Not `scripted`:
    neither data nor script travel along. With `tables` and `bench` the scripts of tables that sort
    and of the workbench do too.
    """
    shown = list(sections)
    more = ((assets.tables, tables), (assets.bench, bench))
    scripts = [assets.script(), *(one() for one, wanted in more if wanted)] if scripted else []
    first = [ON] if scripted and bench else []
    head = el(
        "head",
        el("meta", charset="utf-8"),
        _meta({"http_equiv": "Content-Security-Policy"}, policy([*first, *scripts])),
        _meta({"name": "generator"}, "RunLens"),
        _meta({"name": "viewport"}, "width=device-width,initial-scale=1"),
        _meta({"name": "referrer"}, "no-referrer"),
        _meta({"name": "robots"}, "noindex"),
        _meta({"name": "color-scheme"}, "light dark"),
        el("title", cut(title, TITLE)),
        el("style", _ours(assets.style())),
        [el("script", _ours(one)) for one in first],
    )
    body = el(
        "body",
        el("a", "Skip to the verdict", class_="skip", href="#main"),
        _top(where, shown),
        el("main", [part.body for part in shown], id="main", class_="wrap"),
        _footer(),
        _scripts(data or {}, scripts) if scripted else None,
    )
    return "".join(("<!doctype html>\n", el("html", head, body, lang="en"), "\n"))


def framed(report: Embedded, without: Collection[str] = ()) -> str:
    """Return the static body of a page, to stand in a frame: no script, head or navigation.

    Parts whose anchor is in `without` are left out, and it is said that they are.
    """
    head = el(
        "head",
        _meta({"http_equiv": "Content-Security-Policy"}, _STATIC.format(_style_hash())),
        _meta({"name": "color-scheme"}, "light dark"),
        # without it "#checks" would be a place in the page around the frame
        el("base", href="about:srcdoc"),
        el("title", cut(report.title, TITLE)),
        el("style", _ours(assets.style())),
    )
    gone = [part.link or part.anchor for part in report.sections if part.anchor in without]
    note = f"Left out here, so that the notebook stays small: {', '.join(gone).lower()}."
    body = [part.body for part in report.sections if part.anchor not in without]
    shown = el("main", body, el("p", note) if gone else None, class_="wrap")
    return "".join(("<!doctype html>", el("html", head, el("body", shown), lang="en")))


def policy(scripts: Sequence[str]) -> str:
    """Return the content security policy: our style sheet and scripts by hash, nothing else."""
    allowed = " ".join(f"'{assets.hash_of(one)}'" for one in scripts) or "'none'"
    return (
        f"default-src 'none'; style-src '{_style_hash()}'; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )


def _style_hash() -> str:
    return assets.hash_of(assets.style())


def _ours(content: str) -> Markup:
    """Mark text as safe that this package itself ships or made."""
    return Markup(content)


def _meta(attributes: Mapping[str, str], content: str) -> Markup:
    # quotes inside a double-quoted attribute are safe, and read better than &#39;
    return el("meta", **attributes, content=_ours(content))


def _top(where: str, sections: Iterable[Section]) -> Markup:
    links = [(el("a", part.link, href=f"#{part.anchor}"), " ") for part in sections if part.link]
    return el(
        "header",
        el(
            "div",
            el("span", "RunLens", class_="wm"),
            " ",
            el("bdi", cut(where, PLACE), class_="where"),
            " ",
            el("nav", links, aria_label="Sections"),
            class_="wrap",
        ),
        class_="top",
    )


def _footer() -> Markup:
    says = f"RunLens {__version__} · this file is complete: it loads nothing and sends nothing."
    return el("footer", el("div", says, class_="wrap"))


def _scripts(data: Mapping[str, Any], scripts: Sequence[str]) -> Markup:
    # ASCII only, so U+2028 is written as an escape; "<" too, so that nothing ends the element
    written = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return join(
        el("script", _ours(written), type="application/json", id="data"),
        *(el("script", _ours(script)) for script in scripts),
    )
