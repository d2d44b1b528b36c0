"""One reader on one file, in a process of its own: CPU seconds, what it found, peak memory.

    python benchmarks/ingest_readers.py READER TIMES PATH [SMALL]

`benchmarks/ingest.py` calls it. SMALL is read first, so that imports are paid for. Prints JSON.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

BLOCK = 16 * 2**20  # bytes read at once
ALL = {"scalars": 0, "tensors": 0}  # TensorBoard's word for: no sampling
PATIENCE = 0.5  # seconds without work after which the data server has loaded all
LONGEST = 600  # seconds it may take


def runlens(path: Path) -> int:
    """From file to history, checksums verified, with RunLens."""
    from runlens import read

    return len(read(path).history)


def tbparse(path: Path) -> int:
    """From an event file to a long frame."""
    from tbparse import SummaryReader

    return len(SummaryReader(str(path)).scalars)


def accumulator(path: Path) -> int:
    """From an event file to lists of all points, with TensorBoard."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(path), ALL)
    events.Reload()
    return sum(len(events.Scalars(tag)) for tag in events.Tags()["scalars"])


def data_server(path: Path) -> int:
    """From an event file to lists of all points, with TensorBoard's Rust server and its client."""
    import tensorboard_data_server
    from tensorboard.context import RequestContext
    from tensorboard.data import grpc_provider
    from tensorboard.data.server_ingester import _make_stub
    from tensorboard.util.grpc_util import ChannelCredsType

    with tempfile.TemporaryDirectory() as folder:
        port = Path(folder) / "port"
        command = [
            tensorboard_data_server.server_binary(),
            f"--logdir={path.parent if path.is_file() else path}",
            f"--port-file={port}",
            "--port=0",
            "--reload=once",
            "--samples-per-plugin=scalars=all",
            "--die-after-stdin",
        ]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
            try:
                _wait(server.pid, port)
                address = f"localhost:{int(port.read_text())}"
                provider = grpc_provider.GrpcDataProvider(
                    address, _make_stub(address, ChannelCredsType.LOCAL)
                )
                found = provider.read_scalars(
                    RequestContext(), experiment_id="", plugin_name="scalars", downsample=2**30
                )
            finally:
                server.communicate()  # closes its input: it ends
    return sum(len(points) for tags in found.values() for points in tags.values())


def _wait(pid: int, port: Path) -> None:
    """Wait until a process listens and has worked no more for a while."""
    began, spent, since = time.monotonic(), -1.0, time.monotonic()
    while time.monotonic() - began < LONGEST:
        now = _cpu_of(pid)
        if now > spent:
            spent, since = now, time.monotonic()
        elif time.monotonic() - since > PATIENCE and port.exists():
            return
        time.sleep(0.05)
    raise TimeoutError("the data server did not come to rest")


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def json_loads(path: Path) -> int:
    """Read and parse a whole file with the standard library."""
    return len(json.loads(path.read_text(encoding="utf-8"))["log_history"])


def json_lines(path: Path) -> int:
    """Parse each line with the standard library."""
    with path.open(encoding="utf-8") as handle:
        return sum(len(json.loads(line)) for line in handle)


def lines(path: Path) -> int:
    """Iterate over the lines of a text file, as Python opens it."""
    with path.open(encoding="utf-8") as handle:
        return sum(1 for _ in handle)


def pandas_csv(path: Path) -> int:
    """Read a CSV with pandas."""
    import pandas as pd

    return int(pd.read_csv(path).size)


def plain_bytes(path: Path) -> int:
    """Read the bytes and do nothing with them."""
    size = 0
    with path.open("rb") as handle:
        while block := handle.read(BLOCK):
            size += len(block)
    return size


READERS: tuple[Callable[[Path], int], ...] = (
    runlens, tbparse, accumulator, data_server,
    json_loads, json_lines, lines, pandas_csv, plain_bytes,
)  # fmt: skip


def cpu() -> float:
    """Return the CPU seconds that this process and its ended children have spent."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Read and tell."""
    warnings.simplefilter("ignore")
    name, times, path, *small = sys.argv[1:]
    reader = next(reader for reader in READERS if reader.__name__ == name)
    for warm in small:
        reader(Path(warm))
    seconds, found = [], 0
    for _ in range(int(times)):
        before = cpu()
        found = reader(Path(path))
        seconds.append(cpu() - before)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "found": found, "peak_mb": peak}))


if __name__ == "__main__":
    main()
