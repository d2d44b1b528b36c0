"""Damages what a file with checksums holds and makes the checksums anew: no reader can know."""

import struct
from collections.abc import Callable

from tests.fuzz.mutations import Dice, Mutation
from tests.sources import event_files, wandb_files


def events(data: bytes, mutate: Mutation, dice: Dice, other: bytes) -> bytes:
    """Damage one event of a file of TensorBoard."""
    return b"".join(
        event_files.framed(event) for event in _damaged(_events(data), mutate, dice, other)
    )


def records(data: bytes, mutate: Mutation, dice: Dice, other: bytes) -> bytes:
    """Damage one record of a log of W&B."""
    return wandb_files.framed(_damaged(_records(data), mutate, dice, other))


def _damaged(parts: list[bytes], mutate: Mutation, dice: Dice, other: bytes) -> list[bytes]:
    if parts:
        at = dice.randrange(len(parts))
        part = bytearray(parts[at])
        mutate(part, dice, other)
        parts[at] = bytes(part)
    return parts


def _events(data: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        found.append(data[at + 12 : at + 12 + length])
        at += 16 + length
    return found


def _records(data: bytes) -> list[bytes]:
    """Return the records of a log; one that goes over into the next block is joined."""
    found, at = [b""], 7
    while at + 7 <= len(data):
        if (room := wandb_files.BLOCK - at % wandb_files.BLOCK) < 7:
            at += room
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        found[-1] += data[at + 7 : at + 7 + length]
        found += [b""] if kind in {1, 4} else []
        at += 7 + length
    return found[:-1]


SEALED: dict[str, Callable[[bytes, Mutation, Dice, bytes], bytes]] = {
    "tensorboard": events,
    "wandb": records,
}
