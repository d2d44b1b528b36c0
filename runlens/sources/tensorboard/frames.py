"""What event files hold besides scalars, as pandas frames, read by tbparse.

A diagnosis needs none of it. The numbers of images and sounds are left where they are: their
shapes are what a frame holds of them.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runlens.errors import NothingReadable
from runlens.extras import needed_by
from runlens.records import NamedTuple
from runlens.redaction import redacted
from runlens.run import Problem

if TYPE_CHECKING:
    import pandas as pd

EVERYTHING = 0  # TensorBoard's size guidance: no sampling
BY_TBPARSE = {"histograms", "tensors", "text", "hparams"}
KINDS = {  # field of the frames -> as tbparse calls it
    "histograms": "histograms",
    "texts": "text",
    "hparams": "hparams",
    "tensors": "tensors",
    "images": "images",
    "audio": "audio",
}
SHAPES = {"images": ("width", "height"), "audio": ("length_frames", "sample_rate")}


class EventFrames(NamedTuple):
    """One frame a kind, empty where nothing of it was written; `file` is the path of each row.

    `histograms` has step, tag, limits and counts (arrays); `texts` and `tensors` step, tag and
    value; `hparams` tag and value; `images` step, tag, width and height in pixels; `audio` step,
    tag, length_frames and sample_rate. `problems`: files that could not be read to their end.
    """

    histograms: "pd.DataFrame"
    texts: "pd.DataFrame"
    hparams: "pd.DataFrame"
    tensors: "pd.DataFrame"
    images: "pd.DataFrame"
    audio: "pd.DataFrame"
    problems: tuple[Problem, ...]


def event_frames(place: str | Path) -> EventFrames:
    """Read all event files at a place, whole; secrets in texts and settings are hidden.

    Raises:
        MissingPackage: where the extra `tensorboard` is not installed.
        NothingReadable: where no event file lies there.

    """
    from runlens import sources
    from runlens.sources import tensorboard

    with needed_by("event_frames()"):
        import pandas as pd
        import tbparse
    files = [path for reader, path in sources.find(place) if reader is tensorboard]
    if not files:
        raise NothingReadable(str(place), f"holds no event file ({tensorboard.LOOKS_FOR})")
    parts: dict[str, list[pd.DataFrame]] = {}
    problems: list[Problem] = []
    for path in files:
        damage = [one for one in tensorboard.read(path).problems if one.lost]  # tbparse tells none
        problems += damage
        try:
            with _quiet():
                found = _by_tbparse(tbparse, path) | _shapes(pd, path)
        except Exception as error:  # noqa: BLE001 - a damaged file costs itself alone
            text = f"{type(error).__name__}: {error}"
            problems += [] if damage else [Problem(str(path), text, "the whole file")]
            continue
        for kind, frame in found.items():
            if len(frame):
                parts.setdefault(kind, []).append(frame.assign(file=str(path)))
    whole = {kind: pd.concat(some, ignore_index=True) for kind, some in parts.items()}
    return EventFrames(
        **{name: whole.get(kind, pd.DataFrame()) for name, kind in KINDS.items()},
        problems=tuple(problems),
    )


def _by_tbparse(tbparse: Any, path: Path) -> "dict[str, pd.DataFrame]":  # noqa: ANN401 - a module
    reader = tbparse.SummaryReader(str(path), event_types=BY_TBPARSE)
    frames = {kind: getattr(reader, kind) for kind in sorted(BY_TBPARSE)}
    for kind in ("text", "hparams"):
        if len(frames[kind]):
            frames[kind] = frames[kind].assign(value=frames[kind]["value"].map(_hidden))
    return frames


def _hidden(value: object) -> object:
    return redacted(value) if isinstance(value, str) else value


def _shapes(pd: Any, path: Path) -> "dict[str, pd.DataFrame]":  # noqa: ANN401 - a module
    """Return the shapes of images and sounds, which tbparse would decode."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(path), dict.fromkeys((*SHAPES, "tensors"), EVERYTHING))
    events.Reload()
    asked: dict[str, Callable[[str], Any]] = {"images": events.Images, "audio": events.Audio}
    rows = {
        kind: [
            {"step": one.step, "tag": tag} | {name: getattr(one, name) for name in SHAPES[kind]}
            for tag in events.Tags()[kind]
            for one in of(tag)
        ]
        for kind, of in asked.items()
    }
    rows["images"] += _of_tensors(events)
    return {kind: pd.DataFrame(some) for kind, some in rows.items()}


def _of_tensors(events: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - TensorBoard has no types
    """Return the shapes of TensorFlow 2's images: a tensor of texts, width and height first."""
    tags = [
        tag
        for tag in events.Tags()["tensors"]
        if events.SummaryMetadata(tag).plugin_data.plugin_name == "images"
    ]
    return [
        {"step": one.step, "tag": tag, "width": int(shape[0]), "height": int(shape[1])}
        for tag in tags
        for one in events.Tensors(tag)
        if len(shape := one.tensor_proto.string_val) >= len(SHAPES["images"])
    ]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep TensorBoard from logging what becomes a problem here."""
    logger = logging.getLogger("tensorboard")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
