"""What every output must be, whatever the run holds."""

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from runlens.diagnosis import Diagnosis
from runlens.report import github, html, junit, markdown, overview, sarif, text
from runlens.report import json as json_report
from runlens.report.terminal import Options
from runlens.rules.rule import SOURCES

# C0 and C1 but tab and line feed, DEL, marks of direction, line ends of Unicode, tags
CONTROL = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\U000e0000-\\U000e007f]"
)
COMMANDS = ("::error", "::warning", "::notice")  # of GitHub, that we write ourselves


def outputs(diagnosis: Diagnosis) -> dict[str, str]:
    """Return a diagnosis in all formats."""
    return {
        "text": text.render(diagnosis, Options(verbose=True)),
        "verdict": text.verdict(diagnosis, Options()),
        "overview": overview.overview([diagnosis, diagnosis], Options()),
        "json": json_report.render(diagnosis, full=True),
        "markdown": markdown.render_all([diagnosis]),
        "github": github.render_all([diagnosis]),
        "sarif": sarif.render_all([diagnosis]),
        "junit": junit.render_all([diagnosis]),
        "html": html.render(diagnosis),
    }


FENCED = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)


def check_outputs(diagnosis: Diagnosis, secrets: Sequence[str] = ()) -> None:
    """Assert that no output breaks its form, and that nothing hostile stands in one."""
    for form, content in outputs(diagnosis).items():
        found = CONTROL.search(content)
        assert not found, f"{form}: {content[max(0, found.start() - 60) : found.end() + 20]!r}"
        told = [one for one in secrets if one in content]
        assert not told, f"{form} shows {told}"
        content.encode()
        if form in {"json", "sarif"}:
            json.loads(content, parse_constant=_no_constant)
        elif form == "junit":
            ET.fromstring(content)  # noqa: S314 - our own
        elif form == "github":
            odd = [line for line in content.splitlines() if not line.startswith(COMMANDS)]
            assert not odd, f"github: {odd[:3]}"
        elif form == "html":
            page = _Page()
            page.feed(content)
            assert not page.alive, f"{form}: {page.alive[:3]}"
        elif form == "markdown":
            alive = FENCED.sub("", content)  # no mark means anything between fences
            raw = re.search(r"(?<!\\)<(?!/?(?:details|summary)>)[a-z!/]|(?<!\\)\]\((?!#)", alive)
            assert not raw, f"{form}: {alive[max(0, raw.start() - 60) : raw.end() + 20]!r}"


PAGES = (f"{SOURCES}/",)  # of our rules


class _Page(HTMLParser):
    """Finds in a page what strangers could bring to life: handlers, addresses, scripts."""

    def __init__(self) -> None:
        """Begin with a page in which nothing was found."""
        super().__init__()
        self.alive: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep handlers and addresses of an element."""
        data = dict(attrs).get("type") == "application/json"
        self._script = tag in {"script", "style"} and not data
        for name, value in attrs:
            ours = (value or "").startswith(("#", *(PAGES if tag == "a" else ())))
            address = name in {"href", "src", "action"} and not ours
            if name.startswith("on") or (address and value != "about:srcdoc"):
                self.alive.append(f"<{tag} {name}={value!r}>")

    def handle_endtag(self, tag: str) -> None:
        """Leave a script."""
        del tag
        self._script = False

    def handle_data(self, data: str) -> None:
        """Keep what would be code."""
        if self._script and "canary" in data:
            self.alive.append(data[:100])


def _no_constant(name: str) -> None:
    raise AssertionError(f"JSON has no {name}")
