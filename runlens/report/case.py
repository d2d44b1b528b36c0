"""A run as a case: a file with its numbers and nothing that tells whose run it is.

In it: the values of the metrics with their steps and epochs, times counted from the first one,
the kind of task, the framework, how the run ended, at which steps something happened, which rules
fired, and the settings that rules ask for: numbers, switches and words that belong to nobody. Not
in it: names, paths, hosts, lines of logs, times of day, any other setting.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any

import msgspec
import numpy as np

from runlens.case import SCHEMA, Axis, Case, Ending, Fired, Happening, Launch, Number, Values
from runlens.config_keys import KNOWN_KEYS
from runlens.diagnosis import Diagnosis, spell_out
from runlens.history import Columns, FloatArray, History
from runlens.metrics import METRICS, NAMES, base, plain
from runlens.patterns import lazy_re
from runlens.run import Configured, Event, Run, Setting, State
from runlens.version import __version__

ALWAYS = "names, other settings, paths, hosts, lines of logs, times of day"
MACHINE = "system/"  # how the statistics of a machine begin that are no metric of ours
# clocks as logged, in seconds, milliseconds, microseconds or nanoseconds: 2001 to 2100
CLOCKS = tuple((1e9 * unit, 4.2e9 * unit) for unit in (1.0, 1e3, 1e6, 1e9))
# of an event's data: what the table of messages says of a line, sizes of memory, an exit's code
TOLD = frozenset(
    ("row", "last", "count", "handled", "code", "tried_gib", "total_gib", "free_gib",
     "allocated_gib", "reserved_gib", "others_gib")
)  # fmt: skip
ADDED = "added-rule"
CLASSES = frozenset(
    ("config", "data", "fallback", "hang", "hardware", "kill", "known", "noise", "num", "oom",
     "secondary")
)  # fmt: skip
FRAMEWORKS = frozenset(
    ("axolotl", "composer", "fairseq", "keras", "lightning", "llama-factory", "megatron",
     "ml-agents", "ms-swift", "nanogpt", "openrlhf", "stable-baselines3", "transformers", "trl",
     "ultralytics", "unknown", "unsloth", "verl")
)  # fmt: skip
BY_WORDS = "num"  # class of messages that rules judge by their words: useless without
# words of metric names that belong to nobody, beside those of the frameworks in `metrics.py`
PUBLIC = frozenset(
    ("arc", "bbh", "boolq", "bpb", "ceval", "challenge", "cmmlu", "commonsense", "easy", "eval",
     "format", "gpqa", "gsm8k", "hellaswag", "high", "human", "humaneval", "ifeval", "kto",
     "lambada", "logits", "low", "math500", "mbpp", "min", "mmlu", "nll", "openbookqa", "part",
     "per", "piqa", "runtime", "samples", "second", "siqa", "squad", "steps", "superglue", "test",
     "triviaqa", "truthfulqa", "val", "valid", "validation", "wikitext", "winogrande")
)  # fmt: skip
NAMING = frozenset(  # settings that say what is trained, where, or from what
    ("architectures", "gpu", "lora_target_modules", "model_name", "model_type",
     "optim_target_modules", "resume_from_checkpoint", "seed")
)  # fmt: skip
WORDS = frozenset(  # values of settings that frameworks define
    ("adafactor", "adam", "adamw", "adamw_8bit", "adamw_bnb_8bit", "adamw_hf", "adamw_torch",
     "adamw_torch_8bit", "adamw_torch_fused", "bnpo", "constant", "constant_with_warmup", "cosine",
     "cosine_with_min_lr", "cosine_with_restarts", "dapo", "dpo", "dr_grpo", "epoch", "full",
     "grpo", "hinge", "inverse_sqrt", "ipo", "kto", "linear", "lion", "lora", "muon", "no",
     "orpo", "paged_adamw_32bit", "paged_adamw_8bit", "polynomial", "ppo", "qlora",
     "reduce_lr_on_plateau", "rmsprop", "sequence", "sgd", "sigmoid", "simpo", "steps", "token",
     "warmup_stable_decay")
)  # fmt: skip
_KNOWN = PUBLIC.union(
    *(plain(name).split("_") for metric in METRICS for name in (metric.name, *metric.aliases))
)
_NUMBERED = lazy_re(r"[0-9]{1,2}|(?:rank|gpu|pg|top)[0-9]{1,3}")
_BETWEEN = lazy_re(r"([/_.: -])")


def render(run: Run, diagnosis: Diagnosis, rules: Collection[str]) -> str:
    """Return the case of a run as JSON, one line for each of its parts; `runlens.case/1`.

    `rules` are the slugs of RunLens: one that a user added is named `ADDED`.
    """
    case = made(run, diagnosis, rules)
    parts = (f'"{name}": {_json(getattr(case, name))}' for name in case.__struct_fields__)
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(part: object) -> str:
    return msgspec.json.encode(part).decode()


def made(run: Run, diagnosis: Diagnosis, rules: Collection[str]) -> Case:
    """Return the case of a run and of what was found in it; `rules` as for `render`."""
    rows = dict(_rows(run.history))
    machine = [name for name in rows if name.startswith(MACHINE)]
    clocks = [name for name in rows if name not in machine and _is_clock(name, rows[name].value)]
    shown = {name: rows[name] for name in rows if name not in {*machine, *clocks}}
    names = without_names(rows)
    began = _began(run)
    axes, metrics = _curves(shown, names, began)
    return Case(
        schema=SCHEMA,
        runlens_version=__version__,
        framework=run.framework if run.framework in FRAMEWORKS else "unknown",
        task=run.task,
        state=_ending(run.state, began),
        beginning_lost=any("earlier" in problem.lost for problem in run.problems),
        findings=[
            Fired(
                found.rule if found.rule in rules else ADDED,
                found.severity,
                _public(found.metric, names),
                found.onset.step,
                found.end.step if found.end else None,
            )
            for found in diagnosis.findings
        ],
        left_out=[
            ALWAYS,
            *([f"{len(machine)} statistics of the machine"] if machine else []),
            *([f"{len(clocks)} metrics that hold times of day"] if clocks else []),
        ],
        events=_happenings(run.events, began),
        launches=[
            Launch(one.number, one.first_step, one.last_step, _since(began, one.started))
            for one in run.segments
        ],
        axes=axes,
        metrics=metrics,
        settings=dict(_shareable(run.config)),
    )


def _shareable(config: Mapping[str, Configured]) -> Iterable[tuple[str, Setting]]:
    """Give the settings that have a name here and a value that tells nothing of whose run it is."""
    for key in sorted(KNOWN_KEYS.intersection(config) - NAMING):
        value = config[key].value
        if value is None or _plain(value) or str(value).lower() in WORDS:
            yield key, value


def without_names(metrics: Iterable[str]) -> dict[str, str]:
    """Map metrics to names that tell nothing: each word of one's own becomes ``name1``...

    Words of our canonical names, of the frameworks and of public benchmarks stay; so do numbers
    below 100 and ranks. Different metrics stay different, and one word is always the same one.

    >>> without_names(["eval_loss:acme_dev", "grad_norm"])
    {'eval_loss:acme_dev': 'eval_loss:name1_dev', 'grad_norm': 'grad_norm'}
    """
    parts = {metric: _BETWEEN.split(metric) for metric in sorted(metrics)}
    own: dict[str, str] = {}
    for words in parts.values():
        for word in words[::2]:
            if word and word.lower() not in _KNOWN and not _NUMBERED.fullmatch(word.lower()):
                own.setdefault(word, f"name{len(own) + 1}")
    return {
        metric: "".join(own.get(word, word) for word in words) for metric, words in parts.items()
    }


def _public(metric: str, names: Mapping[str, str]) -> str:
    """Return what a finding is about: a metric, or a setting that RunLens has a name for."""
    return names.get(metric, metric if metric in NAMES or metric in KNOWN_KEYS else "")


def _rows(history: History) -> Iterable[tuple[str, Columns]]:
    """Give the rows of each metric, those that a later launch discarded included."""
    start = 0
    for name, length in history.lengths.items():
        part = slice(start, start + length)
        yield name, Columns._make(column[part] for column in history.joined)
        start += length


def _is_clock(name: str, value: FloatArray) -> bool:
    finite = value[np.isfinite(value)]
    if base(name) in NAMES or not len(finite):
        return False
    low, high = finite.min(), finite.max()
    return any(first <= low and high <= last for first, last in CLOCKS)


def _began(run: Run) -> float:
    """Return the first time of anything in a run, in seconds since 1970; 0.0 where none is."""
    time = run.history.joined.time
    known = [event.time for event in run.events if event.time is not None]
    known += [] if run.state.last_time is None else [run.state.last_time]
    return float(min([*time[np.isfinite(time)], *known], default=0.0))


def _since(began: float, time: float | None) -> float | None:
    return None if time is None else time - began


def _curves(
    shown: Mapping[str, Columns], names: Mapping[str, str], began: float
) -> tuple[list[Axis], dict[str, Values]]:
    """Return the axes, each once, and the values; metrics of one log line share an axis."""
    places: dict[tuple[bytes, ...], int] = {}
    axes: list[Axis] = []
    metrics: dict[str, Values] = {}
    for name, rows in shown.items():
        columns = (rows.step, rows.epoch, rows.time, rows.segment)
        place = places.setdefault(tuple(column.tobytes() for column in columns), len(axes))
        if place == len(axes):
            axes.append(
                Axis(
                    rows.step.tolist(),
                    _numbers(rows.epoch) if np.isfinite(rows.epoch).any() else [],
                    _numbers(rows.time - began) if np.isfinite(rows.time).any() else [],
                    rows.segment.tolist() if rows.segment.any() else [],
                )
            )
        metrics[names[name]] = Values(place, _numbers(rows.value))
    return axes, metrics


def _numbers(column: FloatArray) -> list[Number]:
    numbers: list[Number] = column.tolist()
    return numbers if np.isfinite(column).all() else [spell_out(number) for number in numbers]


def _ending(state: State, began: float) -> Ending:
    known = {field.name: getattr(state, field.name) for field in fields(state)}
    del known["why"]
    return Ending(**known | {"last_time": _since(began, state.last_time)})


def _happenings(events: Iterable[Event], began: float) -> list[Happening]:
    return [
        Happening(
            event.kind,
            event.step,
            _since(began, event.time),
            _class(event),
            {key: value for key, value in event.data.items() if key in TOLD and _plain(value)},
        )
        for event in events
        if event.data.get("class") != BY_WORDS
    ]


def _class(event: Event) -> str:
    """Return the class of a message; a reader that was added may have classes of its own."""
    named = event.data.get("class", "")
    return named if event.kind == "message" and named in CLASSES else ""


def _plain(value: Any) -> bool:  # noqa: ANN401 - data of an event are of any type
    return isinstance(value, bool | int) or (isinstance(value, float) and bool(np.isfinite(value)))
