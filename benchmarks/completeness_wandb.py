"""Dumps what W&B's own SDK finds in .wandb files, one JSON line a file; paths come on stdin.

Run by completeness.py with the Python of an environment that has wandb <= 0.29, the last releases
with a reader of their own (``wandb.sdk.internal.datastore``).
"""

import json
import sys
from typing import Any

from wandb.proto import wandb_internal_pb2
from wandb.sdk.internal.datastore import DataStore


def items(found: Any) -> dict[str, str]:
    """Return the items of a message: the key, its levels joined by a dot, and the JSON text."""
    levels = (getattr(item, "nested_key", ()) for item in found)
    return {
        ".".join(level) or item.key: item.value_json
        for item, level in zip(found, levels, strict=True)
    }


def dump(path: str) -> dict[str, Any]:
    """Return the history rows and the system records of one file, and where the SDK stopped."""
    store, rows, stats, stopped = DataStore(), [], [], ""
    try:
        store.open_for_scan(path)
        while True:
            try:
                data = store.scan_data()
            except AssertionError as error:
                stopped = f"AssertionError {error}".strip()
                break
            if data is None:
                break
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            kind = record.WhichOneof("record_type")
            if kind == "history":
                rows.append(items(record.history.item))
            elif kind == "stats":
                stats.append(items(record.stats.item))
    except Exception as error:  # noqa: BLE001 - whatever the SDK makes of a damaged file
        stopped = f"{type(error).__name__} {error}".strip()
    return {"path": path, "rows": rows, "stats": stats, "stopped": stopped}


def main() -> None:
    """Answer each path on stdin with one line."""
    for line in sys.stdin:
        print(json.dumps(dump(line.rstrip("\n"))), flush=True)


if __name__ == "__main__":
    main()
