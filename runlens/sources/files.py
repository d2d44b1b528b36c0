"""Reading files that strangers wrote: bounded, and every failure as one line of text.

Nothing here unpickles, executes, follows a link out of the run, or raises for bad content.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runlens.run import Setting

MAX_TEXT = 512 * 2**20  # bytes of one text file that are read
MAX_CONFIG = 4 * 2**20  # bytes of one configuration file
MAX_DEPTH = 60  # of nested JSON or YAML
MAX_LEAVES = 5_000  # settings taken from one file
MAX_SETTING = 2_000  # characters kept of one setting
MAX_FOLDERS = 20_000  # folders walked below one place
LFS = b"version https://git-lfs"
SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "venv", "site-packages", ".cache"}


class Unreadable(Exception):  # noqa: N818 - "raise Unreadable" is a sentence
    """The file's fault, in words for the user."""


def walk(place: Path) -> dict[Path, list[str]]:
    """Map each folder at and below `place` to the sorted names of the regular files in it.

    Links to folders are not followed, links to files only where they stay below `place`.
    """
    if not place.is_dir():
        return {place.parent: [place.name]}
    root = place.resolve()
    found: dict[Path, list[str]] = {}
    for folder, folders, names in os.walk(place, onerror=None):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        here = Path(folder)
        found[here] = sorted(name for name in names if _regular(here / name, root))
        if len(found) >= MAX_FOLDERS:
            break
    return found


def _regular(path: Path, root: Path) -> bool:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            target = path.resolve(strict=True)
            return target.is_relative_to(root) and target.is_file()
        return stat.S_ISREG(mode)
    except (OSError, RuntimeError, ValueError):
        return False


def read_bytes(path: Path, limit: int = MAX_TEXT) -> bytes:
    """Return the first `limit` bytes; raise Unreadable with the reason in words."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("is not a regular file")
        with path.open("rb") as handle:
            data = handle.read(limit)
    except PermissionError:
        raise Unreadable("no permission to read it; try chmod +r, or another user") from None
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror or error})") from None
    if not data:
        raise Unreadable("is empty (0 bytes)")
    if data.startswith(LFS):
        raise Unreadable("is a git-lfs pointer, not the file; run git lfs pull")
    return data


def read_json(path: Path, limit: int = MAX_TEXT) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the JSON value in `path`, NaN and Infinity included; raise Unreadable."""
    return parse_json(read_bytes(path, limit))


def parse_json(data: bytes | str) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the JSON value in `data`; raise Unreadable for all that can be wrong with it."""
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        return _loaded(text)
    except UnicodeDecodeError:
        raise Unreadable("is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unreadable(f"is no whole JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise Unreadable("is nested too deeply") from None
    except (ValueError, OverflowError, MemoryError) as error:
        raise Unreadable(f"holds JSON that cannot be taken in ({error})") from None


def _loaded(text: str) -> Any:  # noqa: ANN401 - JSON is of any type
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer of thousands of digits
        return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int | str:
    """Return an integer; one of more digits than Python converts stays a text."""
    try:
        return int(digits)
    except ValueError:
        return digits


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - YAML is of any type
    """Return the YAML value in `path`; raise Unreadable."""
    return parse_yaml(read_bytes(path, MAX_CONFIG))


def parse_yaml(data: bytes | str) -> Any:  # noqa: ANN401 - YAML is of any type
    """Return the first YAML document in `data`; raise Unreadable.

    Depth is counted before anything is built: the C parser dies of deep nesting, and no
    exception would be raised then. Tags are never obeyed, they become plain values.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Plain(loader):  # type: ignore[misc]
        """Builds plain values whatever the tag says."""

    Plain.add_multi_constructor("", _untagged)
    Plain.add_constructor("tag:yaml.org,2002:int", _yaml_integer)
    try:
        depth = aliases = 0
        for event in yaml.parse(data, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            aliases += isinstance(event, yaml.AliasEvent)
            if depth > MAX_DEPTH or aliases > MAX_LEAVES:
                raise Unreadable("is nested too deeply")
        return yaml.load(data, Loader=Plain)  # noqa: S506 - builds plain values only
    except yaml.YAMLError as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Unreadable(f"is no YAML ({what})") from None
    except (RecursionError, ValueError, OverflowError, MemoryError, TypeError) as error:
        raise Unreadable(f"holds YAML that cannot be taken in ({error})") from None


def _yaml_integer(loader: Any, node: Any) -> Any:  # noqa: ANN401 - PyYAML is untyped
    try:
        return loader.construct_yaml_int(node)
    except ValueError:
        return loader.construct_scalar(node)


def _untagged(loader: Any, _suffix: str, node: Any) -> Any:  # noqa: ANN401 - PyYAML is untyped
    import yaml

    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


def flat(value: Any, prefix: str = "") -> dict[str, Setting]:  # noqa: ANN401 - of any type
    """Flatten nested settings to ``{"trl.beta": 0.1}``.

    Lists of plain values become one string. At most MAX_LEAVES settings are kept, each with at
    most MAX_SETTING characters; what is nested deeper than MAX_DEPTH is left out.
    """
    found: dict[str, Setting] = {}
    _flatten(value, prefix, found, 0)
    return found


def _flatten(
    value: Any,  # noqa: ANN401 - of any type
    prefix: str,
    found: dict[str, Setting],
    depth: int,
) -> None:
    if len(found) >= MAX_LEAVES or depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(inner, f"{prefix}.{key}" if prefix else str(key), found, depth + 1)
    elif isinstance(value, list | tuple):
        if all(isinstance(item, str | int | float | bool) or item is None for item in value):
            found[prefix] = ", ".join(str(item)[:MAX_SETTING] for item in value[:100])[:MAX_SETTING]
        else:
            for number, inner in enumerate(value[:100]):
                _flatten(inner, f"{prefix}.{number}", found, depth + 1)
    elif isinstance(value, str):
        found[prefix] = value[:MAX_SETTING]
    elif value is None or isinstance(value, bool | int | float):
        found[prefix] = value
    else:  # dates and the like
        found[prefix] = str(value)[:MAX_SETTING]


def step_in_name(name: str, prefix: str = "checkpoint-") -> int:
    """Return the number in ``checkpoint-1000``; -1 where there is none."""
    digits = name.removeprefix(prefix)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else -1  # noqa: PLR2004 - int64
