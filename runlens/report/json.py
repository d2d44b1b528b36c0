"""A diagnosis as JSON: the contract, `runlens.diagnosis/1`, with its schema."""

import re
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from runlens.diagnosis import Diagnosis, spell_out
from runlens.errors import UNSEEN
from runlens.patterns import lazy_re

_UNSEEN = lazy_re(f"[{UNSEEN}]")  # which JSON lets stand


def render(diagnosis: Diagnosis, *, full: bool = False) -> str:
    """Return the diagnosis as one JSON object; `full` adds curves, events, settings and log."""
    return written(diagnosis.to_dict(full=full))


def render_all(diagnoses: list[Diagnosis], *, full: bool = False) -> str:
    """Return several diagnoses as a list; one alone is an object."""
    documents = [diagnosis.to_dict(full=full) for diagnosis in diagnoses]
    return written(documents[0] if len(documents) == 1 else documents)


def written(document: Any) -> str:  # noqa: ANN401 - JSON is of any type
    """Return `document` as indented JSON that ends with a line break."""
    plain = spell_out(document)
    try:
        encoded = msgspec.json.encode(plain, enc_hook=_number)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_whole(plain), enc_hook=_number)
    return _UNSEEN.sub(_escaped, msgspec.json.format(encoded, indent=1).decode()) + "\n"


def _escaped(found: re.Match[str]) -> str:
    r"""Return a character as JSON's escapes: ``\u009b``, two of them beyond the first 65,536."""
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _number(value: Any) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return one of numpy's numbers as Python's."""
    if not hasattr(value, "item"):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return spell_out(value.item())


def _whole(value: Any) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return `value` with halves of surrogate pairs, which UTF-8 cannot write, as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a diagnosis."""
    return shipped("diagnosis")


@cache
def shipped(name: str) -> dict[str, Any]:
    """Return one of the JSON Schemas that are part of the package."""
    text = resources.files("runlens.report").joinpath(f"{name}.schema.json").read_bytes()
    known: dict[str, Any] = msgspec.json.decode(text)
    return known
