"""Which runs may be compared, which are one job, and which of their settings bear on the result.

What the tracker says goes first: the runs of a sweep are a group, and so are those of one of W&B's
groups and job types. Else a group is (task, base model, data, framework); where the model or the
data are not recorded, the sweep, else the stem of the name: the name without what changes from
launch to launch. A job is that stem alone, or the tracker's group.
"""

import re
from collections.abc import Iterable, Mapping

from runlens.naming.bearing import DATA_KEYS, LISTED, MODEL_KEYS, bears, is_seed
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run, Setting
from runlens.wording import number

BETWEEN = " · "
SWEEP_KEYS = ("sweep_id", "wandb_sweep", "sweep")
LONGEST = 80  # characters of one part of a group's name
DATE_DIGITS = 6  # digits in a row that are a date, a time or a counter, never a size

_SCIENTIFIC = lazy_re(r"(?<!\d)\d+(?:\.\d+)?e[-+]?\d+(?![a-z0-9])")
_STAMP = lazy_re(r"\d{4}[-_.]?\d\d[-_.]?\d\d(?:[-_.tT ]?\d\d[-_.:h]?\d\d(?:[-_.:m]?\d\d)?z?)?")
_LAUNCH = lazy_re(r"run-\d{8}_\d{6}-[a-z0-9]{8}\b")  # directories of W&B
_MONTH = lazy_re(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\d{1,2}", re.IGNORECASE)
_HEX = lazy_re(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{6,40}")
_IDENT = lazy_re(r"(?=(?:.*\d){2})(?=.*[a-z])[a-z0-9]{8}")  # ids of W&B
_SEED = lazy_re(r"(?:seed|s|rng)\d*")
_COUNTED = lazy_re(r"([a-z]+)\d+(?:\.\d+)?")
_COUNTERS = frozenset(
    {"trial", "try", "attempt", "repeat", "rep", "exp", "job", "step", "steps", "epoch", "epochs"}
    | {"fold", "rank", "rerun", "retry", "version", "checkpoint", "ckpt", "run", "runs", "seed"}
)
# words of the formats, which name no job
_FORMATS = _COUNTERS | frozenset(
    {"wandb", "offline", "latest", "tfevents", "events", "out", "logs", "log", "mlruns", "output"}
    | {"outputs", "trainer", "state", "lightning", "results", "untitled", "unnamed"}
)
FEWEST_LETTERS = 3  # of a stem: fewer name no job
_SHORT = 3  # letters of an abbreviated setting: r16, bs32, lr3, v2
_MODELS = frozenset({"gpt", "t", "phi", "vit", "glm", "yi", "qwen", "llama", "gemma", "opt"})


class Grouping(NamedTuple):
    """Where a run belongs. An empty group: nothing says with which runs it may be compared."""

    group: str = ""
    job: str = ""
    sweep: str = ""


class Structure(NamedTuple):
    """Where a tracker puts a run."""

    group: str = ""
    job_type: str = ""
    sweep: str = ""

    @property
    def job(self) -> str:
        """What names the job: group and job type."""
        return BETWEEN.join(shortened(one) for one in (self.group, self.job_type) if one)

    @property
    def named(self) -> str:
        """What names the group of siblings; empty where the tracker knows none."""
        return f"sweep {shortened(self.sweep)}" if self.sweep else self.job


def of(run: Run, structure: Structure | None = None) -> Grouping:
    """Return the group, job and sweep of a run; `structure` is what a tracker says of it."""
    structure = structure or Structure()
    job = structure.job or stem(run.name)
    found = next((str(v) for key in SWEEP_KEYS if (v := run.setting(key))), "")
    sweep = structure.sweep or found
    model, data = model_of(run), data_of(run)
    if structure.named:
        known = run.framework if run.framework != "unknown" else ""
        parts: tuple[str, ...] = (run.task, structure.named, known)
    elif model and data:
        parts = (run.task, model, data, run.framework)
    elif sweep:
        parts = (run.task, f"sweep {shortened(sweep)}", run.framework)
    elif job:
        parts = (run.task, job, model or data, run.framework)
    else:
        parts = ()
    return Grouping(BETWEEN.join(part for part in parts if part), job, sweep)


def told(group: str) -> str:
    """Return a group as people read it: without a task that nothing tells."""
    return group.removeprefix(f"other{BETWEEN}")


def model_of(run: Run) -> str:
    """Return the base model, short: a hub's name as it is, of a path the end; empty if unknown."""
    return next((short for key in MODEL_KEYS if (short := _short(run.setting(key)))), "")


def data_of(run: Run) -> str:
    """Return the training data, short; several sets are joined by "+"; empty if unknown."""
    listed = [key for key in run.config if key.startswith("datasets.")]
    listed = sorted(key for key in listed if LISTED.fullmatch(key))
    if listed:
        return shortened("+".join(dict.fromkeys(_short(run.setting(key)) for key in listed)))
    return next((short for key in DATA_KEYS if (short := _short(run.setting(key)))), "")


def stem(name: str) -> str:
    """Return a run's name without dates, numbers, seeds, hashes and counters, in lower case.

    Sizes stay (``7b``, ``400m``), and numbers that belong to a model (``llama3``).
    """
    text = _SCIENTIFIC.sub("", _STAMP.sub("-", _LAUNCH.sub("", name.lower())))
    words = (_word(word) for word in re.split(r"[^a-z0-9.]+|(?<!\d)\.|\.(?!\d)", text))
    kept = "-".join(word for word in words if word and word not in _FORMATS)
    return shortened(kept) if sum(map(str.isalpha, kept)) >= FEWEST_LETTERS else ""


def _word(word: str) -> str:
    if not any("a" <= letter <= "z" for letter in word) or _SEED.fullmatch(word):
        return ""
    if _MONTH.fullmatch(word) or re.search(rf"\d{{{DATE_DIGITS}}}", word):
        return ""
    if _HEX.fullmatch(word) or (_IDENT.fullmatch(word) and not _COUNTED.fullmatch(word)):
        return ""
    counted = _COUNTED.fullmatch(word)
    if counted and counted[1] not in _MODELS:
        letters = counted[1]
        return letters if letters in _COUNTERS or len(letters) <= _SHORT else word
    return word


def shortened(text: str) -> str:
    """Return a name of at most 80 characters; the middle of a longer one is left out."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2 - 1
    return f"{text[:half]}…{text[-half:]}"


def _short(value: Setting) -> str:
    """Return a hub's ``owner/name`` as it is, and the last part of a path."""
    if not isinstance(value, str) or not (text := value.strip().rstrip("/\\")):
        return ""
    parts = re.split(r"[/\\]", text)
    local = text[0] in "./~\\" or text[1:2] == ":" or len(parts) > 2  # noqa: PLR2004 - owner/name
    if not local:
        return shortened(text)
    named = re.match(r"checkpoint|ckpt|final|last|best|model$", parts[-1].lower())
    return shortened("/".join(parts[-2:] if named and len(parts) > 1 else parts[-1:]))


def recipe(config: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return the recorded settings that may bear on the result."""
    return {key: value for key, value in config.items() if value is not None and bears(key)}


def signature(config: Mapping[str, Setting]) -> frozenset[tuple[str, type, Setting]]:
    """Return what is equal for equal recipes alone; 1 and True are two values."""
    return frozenset((key, type(value), value) for key, value in recipe(config).items())


def seeds(config: Mapping[str, Setting]) -> tuple[tuple[str, Setting], ...]:
    """Return the seeds of a run by key; empty where none is recorded."""
    return tuple(sorted((key, v) for key, v in config.items() if v is not None and is_seed(key)))


class Delta(NamedTuple):
    """One setting that differs; None: not recorded."""

    key: str
    before: Setting
    after: Setting

    def __str__(self) -> str:
        return f"{self.key}: {shown(self.before)} to {shown(self.after)}"


def deltas(before: Mapping[str, Setting], after: Mapping[str, Setting]) -> tuple[Delta, ...]:
    """Return the settings that bear on the result and differ, those that only one has last."""
    one, other = recipe(before), recipe(after)
    differing = [
        Delta(key, one.get(key), other.get(key))
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    ]
    return tuple(sorted(differing, key=lambda delta: delta.before is None or delta.after is None))


def named(items: Iterable[object], most: int = 3) -> str:
    """Return the first few of some things, and how many more there are."""
    some = [str(item) for item in items]
    more = f", and {len(some) - most} more" if len(some) > most else ""
    return ", ".join(some[:most]) + more


def shown(value: Setting) -> str:
    """Return a setting as a sentence has it."""
    if value is None:
        return "not recorded"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return shortened(str(value))
    return number(value)
