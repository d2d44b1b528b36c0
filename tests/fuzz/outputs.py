"""What every output must be, whatever the run holds."""

import json
import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from runlens.diagnosis import Diagnosis
from runlens.report import github, html, junit, markdown, sarif, text
from runlens.report import json as json_report
from runlens.report.terminal import Options

# C0 and C1 but line feed, DEL, marks of direction, line ends of Unicode, tags
CONTROL = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\U000e0000-\\U000e007f]"
)
COMMANDS = ("::error", "::warning", "::notice")  # of GitHub, that we write ourselves


def outputs(diagnosis: Diagnosis) -> dict[str, str]:
    """Return a diagnosis in all formats."""
    return {
        "text": text.render(diagnosis, Options(verbose=True)),
        "verdict": text.verdict(diagnosis, Options()),
        "overview": text.overview([diagnosis, diagnosis], Options()),
        "json": json_report.render(diagnosis, full=True),
        "markdown": markdown.render_all([diagnosis]),
        "github": github.render_all([diagnosis]),
        "sarif": sarif.render_all([diagnosis]),
        "junit": junit.render_all([diagnosis]),
        "html": html.render(diagnosis),
        "static": html.render(diagnosis, static=True),
    }


def check_outputs(diagnosis: Diagnosis, secrets: Sequence[str] = ()) -> None:
    """Assert that no output breaks its form, and that nothing hostile stands in one."""
    for form, content in outputs(diagnosis).items():
        own = content.partition('<script id="plotly')[0] if form == "html" else content
        found = CONTROL.search(own)
        assert not found, f"{form}: {own[max(0, found.start() - 60) : found.end() + 20]!r}"
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
        elif form in {"html", "static", "markdown"}:
            raw = re.search(r"<(script|img|svg)[^>]*>?canary|onerror=canary\(\)>", own)
            assert not raw, f"{form}: {own[max(0, raw.start() - 60) : raw.end() + 20]!r}"


def _no_constant(name: str) -> None:
    raise AssertionError(f"JSON has no {name}")
