"""A diagnosis as JSON: the contract, `runlens.diagnosis/1`, with its schema."""

from functools import cache
from importlib import resources
from typing import Any

import msgspec

from runlens.diagnosis import SCHEMA, Diagnosis, spell_out


def render(diagnosis: Diagnosis, *, full: bool = False) -> str:
    """Return the diagnosis as one JSON object; `full` adds curves, events, settings and log."""
    return written(diagnosis.to_dict(full=full))


def render_all(diagnoses: list[Diagnosis], *, full: bool = False) -> str:
    """Return several diagnoses as a list; one alone is an object."""
    documents = [diagnosis.to_dict(full=full) for diagnosis in diagnoses]
    return written(documents[0] if len(documents) == 1 else documents)


def unreadable(place: str, problems: list[tuple[str, str]]) -> str:
    """Return the object for a place of which nothing could be read: health `unknown`."""
    from runlens.version import __version__

    return written(
        {
            "schema": SCHEMA,
            "runlens_version": __version__,
            "run": {
                "id": place,
                "name": place,
                "framework": "unknown",
                "task": "other",
                "task_why": "",
                "state": {"kind": "unknown", "why": "", "sure": "guess", "exit_code": None},
                "steps": {"done": 0, "planned": None},
                "epochs": {"done": None, "planned": None},
                "sources": [],
            },
            "verdict": {"sentence": "Nothing readable here.", "second": "", "health": "unknown"},
            "do_first": {"steps": [], "diff": []},
            "findings": [],
            "incidents": [],
            "passed": {},
            "unmet": {},
            "errors": {},
            "problems": [{"where": where, "text": text, "lost": ""} for where, text in problems],
        }
    )


def written(document: Any) -> str:  # noqa: ANN401 - JSON is of any type
    """Return `document` as indented JSON that ends with a line break."""
    encoded = msgspec.json.encode(spell_out(document))
    return msgspec.json.format(encoded, indent=1).decode() + "\n"


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a diagnosis."""
    text = resources.files("runlens.report").joinpath("diagnosis.schema.json").read_bytes()
    known: dict[str, Any] = msgspec.json.decode(text)
    return known
