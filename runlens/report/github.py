"""A diagnosis as annotations of a GitHub workflow: one an incident, worst first.

GitHub shows ten errors and ten warnings of a step and drops the rest in silence: the tenth says
how many more there are. Infos are no annotations.
"""

from collections.abc import Sequence

from runlens.diagnosis import Diagnosis, Incident
from runlens.report import locations
from runlens.report.terminal import clean
from runlens.wording import count

MOST = 10
COMMANDS = {"critical": "error", "warning": "warning"}


def render_all(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the workflow commands, a line each; one notice where nothing loud was found."""
    loud = [
        (diagnosis, incident)
        for diagnosis in diagnoses
        for incident in diagnosis.incidents
        if incident.severity in COMMANDS
    ]
    lines: list[str] = []
    for severity, command in COMMANDS.items():
        some = [pair for pair in loud if pair[1].severity == severity]
        lines += [_annotation(*pair) for pair in some[:MOST]]
        if len(some) > MOST:
            more = f"{count(len(some) - MOST + 1, f'more {severity} incident')} not shown"
            lines[-1] = f"::{command} title=RunLens::{more}"
    if not lines:
        said = "; ".join(f"{one.run_name}: {one.verdict.sentence}" for one in diagnoses[:MOST])
        lines = [f"::notice title=RunLens::{_message(said)}"]
    return "\n".join(lines) + "\n"


def _annotation(diagnosis: Diagnosis, incident: Incident) -> str:
    lead = incident.findings[0]
    at = locations.of(lead, diagnosis)
    place = {"title": f"{lead.rule} in {diagnosis.run_name}"}
    if at:
        place["file"] = at.file
    if at and at.line:
        place["line"] = str(at.line)
    said = ",".join(f"{key}={_property(value)}" for key, value in place.items())
    first = diagnosis.do_first.steps[:1] if incident is diagnosis.incidents[0] else ()
    advice = "".join(f" Do first: {what}{f' ({why})' if why else ''}." for what, why in first)
    told = _message((incident.title or lead.title) + advice)
    return f"::{COMMANDS[incident.severity]} {said}::{told}"


def _message(text: str) -> str:
    return clean(text).replace("%", "%25")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
