"""Which settings are used and whose rule files run: those of the user, and what the user trusted.

Rule files are code. Whoever got a run or a repository from others must not run their code by
diagnosing something in it. So they run where the settings file was named by hand, where it lies in
the user's own configuration folder, or after `runlens trust DIR`: then a hash of the settings and
of the rule files is kept in that folder, and what changes has to be trusted again.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from runlens.errors import BadSettings, one_line
from runlens.records import NamedTuple

STORE = "trusted.json"
FORMAT = 1
ROOT = 0  # uid
MOST_BESIDE = 200  # Python files beside a rule file, which it may use
DO = "look at it, then: runlens trust {folder}  (or name the file: --config {path})"


class Trusted(NamedTuple):
    """A folder whose settings and rule files the user trusted as they were."""

    folder: str
    digest: str
    files: int  # rule files


def own_folder() -> Path:
    """Return the user's configuration folder of RunLens; it need not exist.

    ``$XDG_CONFIG_HOME/runlens``, by default ``~/.config/runlens``; on Windows within ``%APPDATA%``.
    """
    variable, default = (
        ("APPDATA", "AppData/Roaming") if os.name == "nt" else ("XDG_CONFIG_HOME", ".config")
    )
    given = Path(os.environ.get(variable, ""))
    return (given if given.is_absolute() else Path("~").expanduser() / default) / "runlens"


def why_not_used(path: Path, places: Sequence[str | Path]) -> str:
    """Return why a settings file that was found is not used at all; empty where it is.

    One of another user is not, nor one that lies within what is read: in the folder of a place, or
    beside a file that is read.
    """
    if _is_own(path):
        return ""
    if owner := _stranger(path):
        return f"belongs to another user ({owner})"
    folder = path.resolve().parent
    if any(folder.is_relative_to(inside) for inside in _insides(places)):
        return "lies within what is read"
    return ""


def is_trusted(path: Path) -> bool:
    """Whether a settings file was trusted once, whatever became of it since."""
    return str(path.resolve().parent) in _store()


def why_not_run(path: Path, files: Iterable[str]) -> str:
    """Return why the rule files of a settings file are not run; empty where they are."""
    if _is_own(path):
        return ""
    known = _store().get(str(path.resolve().parent))
    if known is None:
        return "names rule files, which are code, and is not trusted"
    return (
        ""
        if known.digest == digest(path, files)
        else "or a rule file of it changed since it was trusted"
    )


def what_to_do(path: Path) -> str:
    """Return what a user does to have a settings file used as a whole."""
    return DO.format(folder=path.resolve().parent, path=path)


def digest(path: Path, files: Iterable[str]) -> str:
    """Return a digest of a settings file, its rule files and the Python files beside them."""
    from hashlib import sha256  # OpenSSL takes 3 ms, and few settings name a rule file

    files = sorted(files)
    beside = {
        str(one) for folder in {Path(file).parent for file in files} for one in _python(folder)
    }
    made = sha256()
    for file in (str(path.resolve()), *sorted({*files, *beside})):
        content = Path(file).read_bytes() if Path(file).is_file() else b""
        made.update(f"{len(file)} {len(content)} {file}\0".encode(errors="surrogatepass") + content)
    return made.hexdigest()


def trust(path: Path, files: Sequence[str]) -> Trusted:
    """Remember that the user trusts a settings file and these rule files as they are now."""
    folder = str(path.resolve().parent)
    made = Trusted(folder, digest(path, files), len(files))
    _save(_store() | {folder: made})
    return made


def trusted() -> list[Trusted]:
    """Return all that is trusted, by folder."""
    return [one for _, one in sorted(_store().items())]


def revoke(folder: Path) -> bool:
    """Forget that a folder is trusted; False where it was not."""
    known = _store()
    gone = known.pop(str(folder.resolve()), None) or known.pop(str(folder), None)
    if gone:
        _save(known)
    return gone is not None


def _is_own(path: Path) -> bool:
    return path.resolve().is_relative_to(own_folder().resolve())


def _stranger(path: Path) -> str:
    """Return the owner of a file who is neither this user nor root; empty where there is none."""
    if sys.platform == "win32":
        return ""
    sudo = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    owner = path.stat().st_uid
    own = {os.geteuid(), ROOT} | ({int(sudo)} if sudo.isdecimal() else set())
    return "" if owner in own else f"uid {owner}"


def _insides(places: Sequence[str | Path]) -> list[Path]:
    """Return the folders within which everything came with what is read."""
    from runlens.sources.addresses import STDIN

    paths = [Path(place).resolve() for place in places if str(place) != STDIN]
    return [path.parent if path.is_file() else path for path in paths]


def _python(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.py"))[:MOST_BESIDE]


def _store() -> dict[str, Trusted]:
    import json

    path = own_folder() / STORE
    try:
        document = json.loads(path.read_bytes())
        return {folder: Trusted(folder, *one) for folder, one in document["folders"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        why = "cannot be read; remove it and trust the folder again"
        raise BadSettings(one_line(f"{path}: {why}")) from None


def _save(known: Mapping[str, Trusted]) -> None:
    import json

    from runlens.written import write_beside

    path = own_folder() / STORE
    folders = {folder: [one.digest, one.files] for folder, one in sorted(known.items())}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_beside(path, json.dumps({"format": FORMAT, "folders": folders}, indent=1).encode())
    except OSError as error:
        why = error.strerror or str(error)
        raise BadSettings(one_line(f"{path}: cannot be written ({why})")) from None
