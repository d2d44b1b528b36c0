"""Whether a tag may be released: version, changelog and links agree with it.

    python tests/check_release.py v0.2.0 https://github.com/OWNER/REPOSITORY

Prints what does not agree and ends with 1; needs nothing but Python.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def wrong(tag: str, here: str, root: Path = ROOT) -> Iterator[str]:
    """Yield each thing that does not agree, as a sentence."""
    version = re.search(
        r'__version__ = "(.+?)"', (root / "runlens/version.py").read_text(encoding="utf-8")
    )
    known = version[1] if version else "unknown"
    if tag != f"v{known}":
        yield f"the tag is {tag}, runlens/version.py says {known}"
    heads = re.findall(
        r"^## (\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if not heads or heads[0].strip("[]") != known:
        yield f"CHANGELOG.md begins with {heads[0] if heads else 'nothing'}, not with {known}"
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    links = project["urls"]
    if links["Repository"] != here:
        yield f"pyproject.toml links to {links['Repository']}, this is {here}"


def main(arguments: list[str]) -> int:
    """Print what is wrong; return 1 where something is."""
    tag, here = arguments
    found = list(wrong(tag, here))
    print("\n".join(found) or f"{tag} may be released")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
