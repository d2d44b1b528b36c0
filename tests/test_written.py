"""Files are whole or not there: what cannot be written leaves the old one."""

import os
import sys
from pathlib import Path

import pytest

from runlens.written import replaced, write_beside
from tests.cli.places import SICK, a_run, lens, shell


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    """Whatever is raised while it is written."""
    page = tmp_path / "page.html"
    page.write_text("old")

    def torn(path: Path) -> None:
        path.write_text("half of")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replaced(page, torn)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert page.read_text() == "old"


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    """As when a file is written over."""
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("old")
    page.chmod(0o640)
    link.symlink_to(page.name)
    write_beside(link, b"new")
    assert link.is_symlink()
    assert page.read_text() == "new"
    assert page.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX has them")
def test_what_is_no_file_is_written_as_it_stands() -> None:
    """No file comes in the place of /dev/null."""
    write_beside(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are of POSIX")
@pytest.mark.parametrize(
    "command",
    [("diagnose", "--format", "html", "-o"), ("diagnose", "-q", "-o"), ("export", "-o")],
)
def test_a_full_disk_leaves_the_old_page(command: tuple[str, ...], tmp_path: Path) -> None:
    """One line, exit code 2."""
    import resource

    name = "keep.csv" if command[0] == "export" else "keep.html"
    kept = tmp_path / name
    kept.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        result = shell(command[0], SICK, *command[1:], kept, PYTHONDONTWRITEBYTECODE="1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.returncode == 2
    assert b"cannot write" in result.stderr
    assert b"Traceback" not in result.stderr
    assert kept.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_quiet_with_an_output_writes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was asked for by name is not left out in silence."""
    monkeypatch.chdir(tmp_path)
    one, two = a_run(tmp_path / "runs" / "a"), a_run(tmp_path / "runs" / "b", 1)
    assert lens("diagnose", one, "-q", "-o", "page.html").stderr == ""
    assert lens("compare", one, two, "--quiet", "-o", "pair.html").stderr == ""
    for name in ("page.html", "pair.html"):
        assert "</html>" in (tmp_path / name).read_text()
    assert lens("diagnose", tmp_path / "runs", "-q", "-o", "both.html").exit_code == 0
    assert "</html>" in (tmp_path / "both.html").read_text()
