"""A diagnosis for GitHub: annotations of a workflow, and the Markdown of a job's summary.

GitHub shows ten errors, ten warnings and ten notices of a step and drops the rest in silence: the
ten worst incidents are told, and a notice says how many more there are. Infos are no annotations.
The runner cuts a message at 4,096 characters, and refuses a summary of more than 1 MiB
(docs.github.com, "Workflow commands", "Setting a job summary").
"""

from collections.abc import Sequence

from runlens.diagnosis import SEVERITIES, Diagnosis, Incident
from runlens.patterns import lazy_re
from runlens.report import locations, markdown
from runlens.report.terminal import clean
from runlens.wording import count

MOST = 10
LONGEST = 4_000  # characters of one message, and of one line of a summary that must be cut
LONGEST_TITLE = 255  # characters, as for annotations of a check run
MOST_SUMMARY = 2**20  # bytes
COMMANDS = {"critical": "error", "warning": "warning"}
LEFT_OUT = "\n\nThe rest is left out: GitHub takes 1 MiB of a step's summary.\n"
_FENCE = lazy_re("`{3,}")


def render_all(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the workflow commands, a line each; one notice where nothing loud was found.

    Worst first; of the same severity, the first incident of each run before the second of any.
    """
    loud = [
        (SEVERITIES.index(incident.severity), place, diagnosis, incident)
        for diagnosis in diagnoses
        for place, incident in enumerate(diagnosis.incidents)
        if incident.severity in COMMANDS
    ]
    loud.sort(key=lambda one: one[:2])
    lines = [_annotation(diagnosis, incident) for *_, diagnosis, incident in loud[:MOST]]
    if hidden := [incident.severity for *_, incident in loud[MOST:]]:
        kinds = [f"{hidden.count(one)} {one}" for one in COMMANDS if one in hidden]
        more = f"{count(len(hidden), 'more incident')} not shown: {', '.join(kinds)}"
        lines.append(f"::notice title=RunLens::{more}")
    if not lines:
        said = "; ".join(f"{one.run_name}: {one.verdict.sentence}" for one in diagnoses[:MOST])
        lines = [f"::notice title=RunLens::{_message(said)}"]
    return "\n".join(lines) + "\n"


def summary(diagnoses: Sequence[Diagnosis], room: int = MOST_SUMMARY) -> str:
    """Return the Markdown of a job's summary in at most `room` bytes of UTF-8.

    What is too long loses the ends of its longest lines, then its last lines, and says so.
    """
    text = markdown.render_all(diagnoses)
    if len(text.encode()) <= room:
        return text
    kept: list[str] = []
    fence, folded = "", False  # the block that is open, and whether it is within <details>
    left = room - len(LEFT_OUT) - len("\n\n\n</details>")
    for line in (line[:LONGEST] for line in text.splitlines()):
        left -= len(line.encode()) + 1
        if left < LONGEST:  # room for the end of a fence
            break
        kept.append(line)
        if found := _FENCE.match(line):
            fence = "" if fence else found[0]
        folded = line.startswith("<details>") or (folded and line != "</details>")
    return "\n".join(kept) + _closing(fence, folded=folded) + LEFT_OUT if kept else ""


def _closing(fence: str, *, folded: bool) -> str:
    return (f"\n{fence}" if fence else "") + ("\n\n</details>" if folded else "")


def _annotation(diagnosis: Diagnosis, incident: Incident) -> str:
    lead = incident.findings[0]
    at = locations.of(lead, diagnosis)
    place = {"title": f"{lead.rule} in {diagnosis.run_name}"[:LONGEST_TITLE]}
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
    return clean(text)[:LONGEST].replace("%", "%25")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
