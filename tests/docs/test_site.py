"""The site is built, and every link in it is checked, where mkdocs is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.written import ROOT

pytest.importorskip("material", reason="needs the extra docs: pip install -e '.[docs]'")
pytest.importorskip("mkdocs", reason="needs the extra docs: pip install -e '.[docs]'")


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Pages outside the navigation, dead links and dead anchors are warnings; none is allowed."""
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    page = (tmp_path / "site" / "reference" / "rules" / "hockey-stick.html").read_text("utf-8")
    assert "<svg" in page
    assert "https://fonts" not in page
    assert 'src="https://' not in page
    assert "iframe-worker.js" in page  # the search works in a folder
    assert (tmp_path / "site" / "search" / "search_index.js").is_file()
    assert (tmp_path / "site" / "gallery" / "hockey-stick.html").stat().st_size > 10_000
    assert (tmp_path / "site" / "reference" / "diagnosis.schema.json").is_file()
