"""Plain readers of each format: what a loop over the file's own library finds in it.

They share no code with RunLens. Event files: TensorBoard's EventAccumulator with nothing
down-sampled. ``trainer_state.json`` and JSON Lines: ``json``. CSV: ``csv``. ``.wandb``: the SDK's
DataStore, in an environment of its own. Console: a pattern for dicts, ``ast`` and ``json``.
"""

import ast
import csv
import io
import json
import math
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

CLOSING = "closing row of the Trainer: the end of the run, no point of a curve"
PLACEHOLDER = "hp_metric -1: Lightning's placeholder where no metric was named"
AXIS = "the step, epoch or time of the row, or another counter of them"
OTHER_AXIS = "the same curve once more over another axis (rl_games, Megatron)"
TIMINGS = "profiling/*: TRL's own timings, many rows a step"
BOOKKEEPING = "W&B's own _step, _runtime, _timestamp: columns of every observation"
MEDIA = "parts of media (images, tables, histograms)"
PROGRESS = "LLaMA-Factory's and ms-swift's progress fields: plan and share of it"
AGAIN_HISTORY = "last line of ms-swift: the whole history once more"
AFTERWARDS = "LLaMA-Factory's evaluation after the training, with a count of its own"
BEST = "LLaMA-Factory's evaluation of the best model, loaded again after the training"
PRINTED_AGAIN = "the same row printed again (ranks, progress bars)"
NULL = "null where a gradient norm was not finite, read as NaN"

STEPPED = re.compile(r"step|iter|epoch|batch|sample|episode|frame|update|timestep", re.IGNORECASE)
IS_AXIS = re.compile(
    r"(?:.*[/_ ])?(?:global_?|total_?|max_|training_|current_)?(?:steps?|iter(?:ation)?s?|epochs?"
    r"|time|timesteps?|time_?stamp|wall_?time|elapsed_time|frames?|episodes?|updates?)",
    re.IGNORECASE,
)
DICT = re.compile(r"\{[^{}\r\n]*\}")
NOT_PYTHON = re.compile(r"(?<=: )(-?(?:nan|inf|NaN|Infinity))(?=[,}])")
LARGEST = 2**53
ROW = "number of the row"
STEP_NAMES = ("step", "global_step", "num_updates")


class Observation(NamedTuple):
    """One number that a plain reader finds."""

    name: str
    value: float
    steps: Mapping[str, int] | None = None  # what may be its step, by column; None: nothing
    why: str = ""  # why it may be left out


@dataclass
class Found:
    """What a plain reader finds in one file."""

    form: str
    observations: list[Observation] = field(default_factory=list)
    other: Counter[str] = field(default_factory=Counter)  # what is no number, by its kind
    stopped: str = ""  # why it did not come to the end
    partial: str = ""  # why RunLens may find more than it


def number(value: object) -> float | None:
    """Return what `float` makes of a number or of text; booleans are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
    except OverflowError:
        return math.inf


def kind(value: object) -> str:
    """Say what a value is that is no number."""
    names = {bool: "yes or no", type(None): "null", str: "text", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)


def whole(value: float | None) -> list[int]:
    """Return the number as a list of one step; an empty list where it can be none."""
    return [int(value)] if value is not None and 0 <= value < LARGEST and value % 1 == 0 else []


def events(path: Path) -> Found:
    """Read an event file with TensorBoard's EventAccumulator: scalars, tensors of one number."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    found = Found("event file", partial="EventAccumulator stops at damage, without a word")
    sizes = dict.fromkeys(("scalars", "tensors"), 0) | dict.fromkeys(
        ("images", "audio", "histograms", "compressedHistograms"), 1
    )
    accumulator = EventAccumulator(str(path), size_guidance=sizes, purge_orphaned_data=False)
    try:
        accumulator.Reload()
    except Exception as error:  # noqa: BLE001 - whatever it makes of a damaged file
        found.stopped = f"{type(error).__name__} {error}".strip()
        return found
    rows: dict[str, list[tuple[int, float]]] = {}
    for tag in accumulator.Tags()["scalars"]:
        rows[tag] = [(event.step, event.value) for event in accumulator.Scalars(tag)]
    for tag in accumulator.Tags()["tensors"]:
        for event in accumulator.Tensors(tag):
            array = tensor_util.make_ndarray(event.tensor_proto)
            if array.size == 1 and array.dtype.kind in "fiu":
                rows.setdefault(tag, []).append((event.step, float(array.reshape(())[()])))
            else:
                found.other["text or a tensor of several numbers"] += 1
    closing = {step for step, _ in rows.get("train/train_runtime", ())}
    for tag, points in rows.items():
        why = _of_tag(tag, points, rows)
        for step, value in points:
            closes = step in closing and tag.startswith(("train/train_", "train/total_flos"))
            said = Observation(tag, value, {"step": step}, CLOSING if closes else why)
            found.observations.append(said)
    return found


def _of_tag(tag: str, points: list[tuple[int, float]], rows: Mapping[str, Any]) -> str:
    if tag == "hp_metric" and {value for _, value in points} == {-1.0}:
        return PLACEHOLDER
    base, _, axis = tag.rpartition("/")
    again = f"{base}/step" if axis in {"iter", "time"} else tag.removesuffix(" vs samples")
    same = again != tag and [v for _, v in rows.get(again, ())] == [v for _, v in points]
    return OTHER_AXIS if same else ""


def trainer_state(path: Path) -> Found:
    """Read log_history with json."""
    found = Found("trainer_state.json", partial="json gives up a cut file, whole rows are salvaged")
    try:
        log = json.loads(path.read_bytes())["log_history"]
    except Exception as error:  # noqa: BLE001 - whatever json makes of a damaged file
        found.stopped = f"{type(error).__name__} {error}"
        return found
    for row in log:
        closing = CLOSING if "train_runtime" in row and "loss" not in row else ""
        for name, value in row.items():
            if name in {"step", "epoch"}:
                found.other[AXIS] += 1
            elif (logged := number(value)) is not None:
                why = closing or (PROGRESS if name == "total_flos" else "")
                said = Observation(name, logged, {"step": int(row["step"])}, why)
                found.observations.append(said)
            elif value is None and name == "grad_norm":
                said = Observation(name, math.nan, {"step": int(row["step"])}, NULL)
                found.observations.append(said)
            else:
                found.other[kind(value)] += 1
    return found


def _flat(row: Mapping[str, Any], between: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, between, f"{prefix}{key}{between}")
        else:
            yield f"{prefix}{key}", value


class Steps:
    """What may be the step of a row, by column: whole numbers under a name that says so.

    A row that has no such number belongs to the row before it.
    """

    def __init__(self) -> None:
        """Begin before the first row."""
        self._last: dict[str, int] = {ROW: -1}

    def of(self, row: Mapping[str, float | None]) -> dict[str, int]:
        """Return what may be the step of the next row."""
        self._last[ROW] += 1
        for name, value in row.items():
            if STEPPED.search(name):
                self._last.update((name, step) for step in whole(value))
        return dict(self._last)


def _rows(
    found: Found,
    rows: Iterable[tuple[Mapping[str, Any], str]],
    reason: Callable[[str, Mapping[str, Any]], str],
) -> Found:
    """Take the numbers out of rows of named values; with each row why it may be left out."""
    steps = Steps()
    for row, why in rows:
        numbers = {name: number(value) for name, value in row.items()}
        step = steps.of(numbers)
        for name, value in row.items():
            logged = numbers[name]
            if logged is None:
                found.other[kind(value) if value != "" else "empty cell"] += 1
            else:
                found.observations.append(Observation(name, logged, step, why or reason(name, row)))
    return found


class _Closing:
    """Knows which rows of a Trainer's JSON Lines come after the training."""

    def __init__(self) -> None:
        """Begin before the first row."""
        self._planned: Any = None
        self._evaluated: set[float] = set()
        self._closed = False

    def of(self, row: Mapping[str, Any]) -> str:
        """Return why the next row may be left out."""
        if "train_runtime" in row and "loss" not in row:
            return CLOSING
        loss, eval_loss = row.get("loss"), row.get("eval_loss")
        self._planned = self._planned or row.get("total_steps")
        if loss is None and row.get("total_steps") != self._planned:
            return AFTERWARDS
        best = self._closed and eval_loss in self._evaluated
        self._evaluated |= {eval_loss} - {None}
        self._closed = loss is None and (self._closed or eval_loss is None)
        return BEST if best else ""


def jsonl(path: Path) -> Found:
    """Read each line with json."""
    found = Found("JSON Lines")

    def rows() -> Iterator[tuple[dict[str, Any], str]]:
        said = _Closing()
        for line in path.read_bytes().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                found.other["a line that is no JSON"] += 1
                continue
            if "log_history" in row:
                found.other[AGAIN_HISTORY] += 1
            elif isinstance(row, dict):
                progress = str(row.get("global_step/max_steps", "")).partition("/")[0]
                step = {"step": int(progress)} if progress else {}
                yield dict(_flat(row, "/")) | step, said.of(row)

    def reason(name: str, _row: Mapping[str, Any]) -> str:
        if name in {"percentage", "total_steps", "total_flos", "remaining_time"}:
            return PROGRESS
        return AXIS if IS_AXIS.fullmatch(name) else ""

    return _rows(found, rows(), reason)


def table(path: Path) -> Found:
    """Read rows with csv."""
    found = Found("CSV")
    text = path.read_bytes().decode("utf-8-sig", "replace")
    lines = [line for line in io.StringIO(text) if line.strip() and not line.startswith("#")]
    delimiter = max(",;\t", key=lines[0].count) if lines else ","
    rows = csv.DictReader(lines, delimiter=delimiter, skipinitialspace=True)
    named = (({str(n).strip(): v for n, v in row.items() if n}, "") for row in rows)
    return _rows(found, named, lambda name, _: AXIS if IS_AXIS.fullmatch(name) else "")


def mlflow(path: Path) -> Found:
    """Read a metric of MLflow's file store: lines ``milliseconds value step``."""
    found = Found("MLflow file store")
    parts = path.parts
    name = "/".join(parts[parts.index("metrics") + 1 :])
    for line in path.read_text().splitlines():
        _, value, step = line.split()
        found.observations.append(Observation(name, float(value), {"step": int(step)}))
    return found


def _evaluated(text: str) -> Mapping[str, Any] | None:
    for parse in (ast.literal_eval, json.loads):
        try:
            value = parse(NOT_PYTHON.sub(r"'\1'", text) if parse is ast.literal_eval else text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return value
    return None


def console(path: Path) -> Found:
    """Read the dicts that a trainer printed: those with an epoch or a step and a number."""
    found = Found("console dicts", partial="other lines than dicts have no plain reader")
    before = ""
    for text in DICT.findall(path.read_bytes().decode("utf-8", "replace")):
        row = _evaluated(text)
        if row is None or not {"epoch", *STEP_NAMES} & row.keys():
            continue
        why = CLOSING if "train_runtime" in row and "loss" not in row else ""
        why = PRINTED_AGAIN if text == before else why
        before = text
        step = {name: s for name in STEP_NAMES for s in whole(number(row.get(name)))}
        for name, value in row.items():
            logged = number(value)
            if logged is None:
                found.other[kind(value)] += 1
            else:
                axis = AXIS if IS_AXIS.fullmatch(name) else PROGRESS if name == "total_flos" else ""
                found.observations.append(Observation(name, logged, step or None, why or axis))
    return found


class Sdk:
    """W&B's SDK, in a process of its own."""

    def __init__(self, python: Path) -> None:
        """Start it with the Python of its environment."""
        script = Path(__file__).with_name("completeness_wandb.py")
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([python, script], stdin=pipe, stdout=pipe, text=True)

    def read(self, path: Path) -> Found:
        """Read history rows and machine statistics with the SDK's DataStore."""
        assert self._process.stdin
        assert self._process.stdout
        print(path, file=self._process.stdin, flush=True)
        said = json.loads(self._process.stdout.readline())
        found = Found(".wandb", partial="the SDK stops at damage")
        found.stopped = said["stopped"]
        rows = [_flat(_decoded(row, found), ".") for row in said["rows"]]
        media = {
            name.rpartition(".")[0]
            for row in said["rows"]
            for name in row
            if name.endswith("._type")
        }

        def reason(name: str, row: Mapping[str, Any]) -> str:
            if any(name.startswith(f"{one}.") for one in media):
                return MEDIA
            if name.startswith("_"):
                return BOOKKEEPING
            if name.startswith("profiling/"):
                return TIMINGS
            if re.fullmatch(
                r"(?:train/)?(?:train_(?:loss|runtime|\w+_per_second)|total_flos)", name
            ):
                return CLOSING if {"train/train_runtime", "train_runtime"} & row.keys() else ""
            return AXIS if IS_AXIS.fullmatch(name) else ""

        _rows(found, [(dict(row), "") for row in rows], reason)
        for stats in said["stats"]:
            for name, text in stats.items():
                logged = number(json.loads(text))
                if logged is not None:
                    found.observations.append(Observation(f"system/{name}", logged, None, ""))
        return found


def _decoded(row: Mapping[str, str], found: Found) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, text in row.items():
        try:
            values[name] = json.loads(text)
        except ValueError:
            found.other["no JSON"] += 1
    return {
        name: value
        for name, value in values.items()
        if not (isinstance(value, dict) and "_type" in value)
    }


def form_of(path: Path) -> str:
    """Return the format of a file by its name; empty where no plain reader is for it."""
    name = path.name.lower()
    if "tfevents" in name and not name.endswith((".meta", ".profile-empty")):
        return "events"
    if name == "trainer_state.json":
        return "trainer_state"
    if "metrics" in path.parts and any((up / "meta.yaml").exists() for up in path.parents[:4]):
        return "mlflow"
    if path.suffix in {".wandb", ".jsonl"}:
        return path.suffix[1:]
    if path.suffix in {".csv", ".tsv"}:
        return "table"
    text = path.suffix in {".log", ".out", ".txt", ".err"} or name.startswith(("nohup", "std"))
    of_sdk = path.parent.name == "logs" and any(path.parents[1].glob("*.wandb"))
    return "console" if text and not of_sdk else ""


READERS: dict[str, Callable[[Path], Found]] = {
    "events": events, "trainer_state": trainer_state, "mlflow": mlflow, "jsonl": jsonl,
    "table": table, "console": console,
}  # fmt: skip
