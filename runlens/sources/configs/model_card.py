"""Model cards: the ``README.md`` that the Trainer, axolotl and LLaMA-Factory write at the end.

Often the only history that is left: a table with a row for each evaluation. The training loss in
a row is the last one that had been logged by then ("No log" before the first), so it stands there
again and again until the next one is logged: these are no points of their own. Step 1 is an
evaluation before the training. Values have four digits.

The settings stand there twice: in axolotl's YAML, as they were given, and in a list, as the
Trainer had them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Problem, Setting
from runlens.sources.configs.config_files import framework_of, not_repeated
from runlens.sources.configs.plain_yaml import parse_yaml
from runlens.sources.files import Unreadable, flat, read_bytes
from runlens.sources.reading import SeriesBuilder, SourceReading, as_number, written_number

LOOKS_FOR = "README.md (model card)"
FRAMEWORK = "Hugging Face Trainer, axolotl, LLaMA-Factory"
NEEDS = ("PyYAML",)
NAME = "README.md"
MAX_CARD = 2**20  # bytes of a card that are read
MARKS = (b"Training Loss", b"Train Loss", b"### Training hyperparameters", b"axolotl version:")
MAX_STEP = 1e15
TAGS = ("axolotl", "llama-factory", "ms-swift", "unsloth", "trl")  # the most specific first
LISTED = "hyperparameters were used during training"
# the columns of the Trainer's table that are no evaluation; cards write "Training Loss"
COLUMNS = {
    "training_loss": "loss", "train_loss": "loss", "input_tokens_seen": "num_input_tokens_seen",
}  # fmt: skip
FENCE = "```"
_FRONT = lazy_re(r"\A\s*---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_SETTING = lazy_re(r"- ([A-Za-z][\w ]{0,60}): (.{1,300})")
_RULE = lazy_re(r"\|?[ \t:|-]+\|?")
_OPTIMIZER = lazy_re(
    r"(?:Use )?(?P<optim>[\w.]+) with betas=\((?P<beta1>[\d.e-]+), ?(?P<beta2>[\d.e-]+)\)"
    r" and epsilon=(?P<epsilon>[\d.e-]+)"
)


class Row(NamedTuple):
    """One row of the table of results."""

    step: int
    epoch: float
    values: dict[str, float]  # by column


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the cards that tell of a training, those of a checkpoint only where the run has none."""
    return not_repeated(
        folder / NAME for folder, files in names.items() if NAME in files and _tells(folder / NAME)
    )


def _tells(path: Path) -> bool:
    try:
        text = read_bytes(path, MAX_CARD)
    except Unreadable:
        return False
    return any(mark in text for mark in MARKS) or (b"axolotl" in text and b"```y" in text)


def read(path: Path) -> SourceReading:
    """Read one card."""
    reading = SourceReading(path, "model_card", precision="rounded", steps_inferred=True)
    try:
        text = read_bytes(path, MAX_CARD).decode("utf-8-sig", "replace").replace("\r\n", "\n")
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole card"))
        return reading
    text = _whole(text, reading)
    given = _given(text, reading)
    reading.config = {**_front(text, reading), **_listed(text), **given}
    rows = _rows(text)
    every = as_number(reading.config.get("logging_steps"))
    series = _evaluations(rows)
    for row in _training(rows, int(every) if every is not None and 1 <= every < MAX_STEP else 0):
        series.add("loss", row.step, row.values["loss"], row.epoch)
    reading.series = series.series()
    return reading


def _whole(text: str, reading: SourceReading) -> str:
    """Return a card without a row or setting at which it breaks off: 0.1 may be half of 0.125."""
    before, _, last = text.rpartition("\n")
    setting = last.startswith("- ") and ":" in last
    if not (last.startswith("|") or setting) or last.rstrip().endswith("|"):
        return text
    said = "ends in the middle of a line: it was cut off or is still being written"
    reading.problems.append(Problem(str(reading.path), said, "the last line"))
    return before


def _given(text: str, reading: SourceReading) -> dict[str, Setting]:
    """Return the settings in axolotl's YAML block."""
    for block in _yaml_blocks(text):
        try:
            value = parse_yaml(block)
        except Unreadable as error:
            reading.problems.append(Problem(str(reading.path), str(error), "a block of settings"))
            continue
        if isinstance(value, dict) and (framework := framework_of(value)):
            reading.framework = framework
            return flat(value)
    return {}


def _yaml_blocks(text: str) -> Iterator[str]:
    """Yield what stands between a fence that names YAML and the next one."""
    block: list[str] | None = None
    for line in text.split("\n"):
        if block is None:
            block = [] if line.rstrip() in {f"{FENCE}yaml", f"{FENCE}yml"} else None
        elif line.startswith(FENCE):
            yield "\n".join(block)
            block = None
        else:
            block.append(line)


def _front(text: str, reading: SourceReading) -> dict[str, Setting]:
    """Return the base model that the head of the card names; its tags tell who wrote it."""
    block = _FRONT.match(text)
    try:
        head = parse_yaml(block[1]) if block else None
    except Unreadable:  # says nothing about the training that is not said below
        head = None
    if not isinstance(head, dict):
        return {}
    tags = head.get("tags")
    known = [tag for tag in TAGS if isinstance(tags, list) and tag in tags]
    reading.framework = reading.framework or next(iter(known), "")
    model = head.get("base_model")
    model = model[0] if isinstance(model, list) and model else model
    return {"base_model": model} if isinstance(model, str) else {}


def _listed(text: str) -> dict[str, Setting]:
    """Return the settings in the Trainer's list."""
    _, _, below = text.partition(LISTED)
    found: dict[str, Setting] = {}
    for line in below.partition("\n#")[0].splitlines():
        if not (setting := _SETTING.fullmatch(line.strip())):
            continue
        name, value = setting[1].strip(), setting[2].strip()
        if name == "optimizer" and (optimizer := _OPTIMIZER.match(value)):
            found["optim"] = optimizer["optim"].rpartition(".")[2].lower()
            numbers = ("adam_beta1", "beta1"), ("adam_beta2", "beta2"), ("adam_epsilon", "epsilon")
            found |= {key: as_number(optimizer[part]) for key, part in numbers}
            continue
        number = written_number(value)
        found[name] = value if number is None else number
    return found


def _rows(text: str) -> list[Row]:
    """Return the rows of the first table of results, in the order of their steps."""
    for table in _tables(text):
        names = [_column(cell) for cell in table[0]]
        if "loss" not in names and "eval_loss" not in names:
            continue
        rows = [row for cells in table[1:] if (row := _row(names, cells)) is not None]
        if rows:
            return sorted(rows, key=lambda row: row.step)
    return []


def _tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the tables as rows of cells, without the line below their header."""
    table: list[list[str]] = []
    for line in (*text.splitlines(), ""):
        if line.lstrip().startswith("|"):
            if not _RULE.fullmatch(line.strip()):
                table.append([cell.strip(" *") for cell in line.strip().strip("|").split("|")])
        elif table:
            yield table
            table = []


def _column(cell: str) -> str:
    """Return what the Trainer logged as "Rewards/chosen": ``eval_rewards/chosen``."""
    name = cell.lower().replace(" ", "_")
    if name in {"epoch", "step"}:
        return name
    held_out = re.sub(r"^(?:validation|eval)_", "", name)
    return COLUMNS.get(name) or (name if name.startswith("train_") else f"eval_{held_out}")


def _row(names: Sequence[str], cells: Sequence[str]) -> Row | None:
    """Return one row; None for one without a step, or an epoch where there is no such column."""
    numbers = {
        name: number
        for name, cell in zip(names, cells, strict=False)
        if name and (number := as_number(cell.replace(",", ""))) is not None
    }
    epoch = numbers.pop("epoch", float("nan"))
    by_epoch = "step" not in names  # Keras has a row an epoch
    step = numbers.pop("step", epoch if by_epoch else -1.0)
    if not 0 <= step < MAX_STEP:
        return None
    return Row(int(step), epoch, numbers)


def _evaluations(rows: Sequence[Row]) -> SeriesBuilder:
    series = SeriesBuilder()
    for row in rows:
        for name, value in row.values.items():
            if name != "loss":
                series.add(name, row.step, value, row.epoch)
    return series


def _training(rows: Sequence[Row], every: int) -> list[Row]:
    """Return each training loss once, at the step at which it was logged.

    Where a loss is logged each `every` steps, that is the last multiple before the row; where
    that is not known (0) or not so, it is the first row that has the value.
    """
    known = [row for row in rows if "loss" in row.values]
    at = {row.step // every * every: row for row in reversed(known)} if every else {}
    fits = all(
        row.values["loss"] == at[row.step // every * every].values["loss"] for row in known if every
    )
    if every and fits and 0 not in at:
        return [
            Row(step, row.epoch * step / row.step, row.values) for step, row in sorted(at.items())
        ]
    return [
        row
        for before, row in zip([None, *known], known, strict=False)
        if before is None or before.values["loss"] != row.values["loss"]
    ]
