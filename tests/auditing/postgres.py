"""A PostgreSQL server for the tests: Debian's programs, on loopback, in a temporary folder."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "s3cret-of-the-test"  # noqa: S105 - of a server that lives for seconds
ACCOUNT = "postgres"  # the server refuses to be run by root


def programs() -> Path | None:
    """Return the folder of initdb and pg_ctl; None where PostgreSQL is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    somewhere = shutil.which("initdb")
    return Path(somewhere).resolve().parent if somewhere else None


@contextmanager
def running() -> Iterator[str]:
    """Start a server; hand out `postgresql://user:password@host:port/database`; stop it."""
    folder = Path(tempfile.mkdtemp(prefix="runlens-pg-"))
    (folder / "password").write_text(PASSWORD)
    if os.geteuid() == 0:
        for path in (folder, folder / "password"):
            shutil.chown(path, ACCOUNT)
    data = folder / "data"
    try:
        _run("initdb", "-D", data, "-U", "lead", "-A", "scram-sha-256", "--no-sync", "-E", "UTF8",
             "--locale=C.UTF-8", f"--pwfile={folder / 'password'}")  # fmt: skip
        port = _free_port()
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c fsync=off -k {folder}"
        _run("pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql://lead:{PASSWORD}@127.0.0.1:{port}/postgres"
        finally:
            _run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: str, *arguments: object) -> None:
    command = [str(_folder() / program), *map(str, arguments)]
    if os.geteuid() == 0:
        command = ["runuser", "-u", ACCOUNT, "--", *command]
    ran = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd="/", check=False
    )
    if ran.returncode:
        raise RuntimeError(f"{program}: {ran.stderr}")


def _folder() -> Path:
    folder = programs()
    assert folder is not None
    return folder


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
