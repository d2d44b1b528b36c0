"""Reads a ``.wandb`` file with W&B's own SDK and prints the CPU seconds and the number of values.

    VENV/bin/python benchmarks/wandb_datastore_loop.py PATH [TIMES]

Run with the Python of an environment that has wandb <= 0.29, the last releases with a reader of
their own (``wandb.sdk.internal.datastore``). Of several times the median is printed; imports are
not counted.
"""

import json
import statistics
import sys
import time
from typing import Any

from wandb.proto.wandb_internal_pb2 import Record
from wandb.sdk.internal.datastore import DataStore


def history(path: str) -> dict[str, list[Any]]:
    """Return all values of each key."""
    store = DataStore()
    store.open_for_scan(path)
    columns: dict[str, list[Any]] = {}
    while (data := store.scan_data()) is not None:
        record = Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            for item in record.history.item:
                key = item.key or ".".join(item.nested_key)
                columns.setdefault(key, []).append(json.loads(item.value_json))
    return columns


def main() -> None:
    """Print the median of the CPU seconds, and how many values there are."""
    path, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    seconds, values = [], 0
    for _ in range(times):
        begin = time.process_time()
        columns = history(path)
        seconds.append(time.process_time() - begin)
        values = sum(map(len, columns.values()))
    print(f"{statistics.median(seconds):.3f} {values}")


if __name__ == "__main__":
    main()
