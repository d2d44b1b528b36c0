"""A case: the same findings from the curves, and nothing that tells whose run it is."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens import diagnose, read
from runlens.case import SCHEMA, Case
from runlens.config_keys import KNOWN_KEYS
from runlens.diagnosis import SEVERITIES, Diagnosis, Finding
from runlens.metrics import NAMES
from runlens.report import case
from runlens.report.json import shipped
from runlens.rules import RULES
from runlens.run import Event, EventKind, Run, StateKind, Sure, Task
from runlens.sources.console.messages import MESSAGES
from runlens.version import __version__
from tests.cli.places import FIXTURES, history
from tests.report.seen import NAMES as RUNS
from tests.report.seen import seen

FIELDS = set(re.findall(r'"([a-z_]+)": \{', json.dumps(msgspec.json.schema(Case))))
SLUGS = {rule.slug for rule in RULES}
EACH = pytest.mark.parametrize("name", RUNS)
OURS = {"acme", "zeppelin", "hindenburg", "gpubox17", "quixotic", "s3cr3t"}  # whose run it is
BEGAN = 1_754_300_000.0
NOT_WORDS = re.compile(r"name[0-9]+|[0-9]{1,2}|(rank|gpu|pg|top)[0-9]{1,3}")


@cache
def known(name: str) -> tuple[Run, str]:
    """Return a fixture and its case."""
    run = read(FIXTURES / name)
    return run, case.render(run, seen(name), SLUGS)


def key(finding: Finding, names: dict[str, str] | None = None) -> tuple[object, ...]:
    """Return what makes two findings the same: rule, severity, metric, from where to where."""
    metric = (names or {}).get(finding.metric, finding.metric)
    end = finding.end.step if finding.end else None
    numbers = [item.value for item in finding.evidence if not isinstance(item.value, str)]
    return finding.rule, finding.severity, metric, finding.onset.step, end, repr(numbers)


def keys(diagnosis: Diagnosis, names: dict[str, str] | None = None) -> set[tuple[object, ...]]:
    """Return its findings."""
    return {key(finding, names) for finding in diagnosis.findings}


@EACH
def test_findings_that_rest_on_curves_alone_come_back(name: str, tmp_path: Path) -> None:
    """Those are the ones found both in the run and in its curves without all else."""
    run, text = known(name)
    names = case.without_names(run.history.metrics)
    bare = replace(run, config={}, events=(), problems=(), log_tail=())
    by_curves = keys(seen(name), names) & keys(diagnose(bare), names)
    path = tmp_path / "it.case.json"
    path.write_text(text, encoding="utf-8")
    again = diagnose(path)
    assert by_curves - keys(again) == set()
    assert (again.task, again.last_step) == (run.task, run.last_step)


OF_THE_LOG = {"stopped-early"}  # a line of the log says why: it stays with the run


@EACH
def test_a_case_is_judged_as_its_run(name: str, tmp_path: Path) -> None:
    """The same rules, severities and onsets, the first cause and the health."""
    run, text = known(name)
    path = tmp_path / "it.case.json"
    path.write_text(text, encoding="utf-8")
    again, before = diagnose(path), seen(name)
    names = case.without_names(run.history.metrics)
    assert {one[:4] for one in keys(again)} == {one[:4] for one in keys(before, names)}
    assert again.health == before.health
    causes = [one.causes[0].kind if one.causes else "" for one in (before, again)]
    assert causes[0] == causes[1] or name in OF_THE_LOG


def test_the_fixtures_leave_much_to_come_back() -> None:
    """Or the test above would hold for nothing."""
    told = 0
    for name in ("divergence", "entropy-collapse", "nan-loss", "throughput-drop"):
        bare = replace(known(name)[0], config={}, events=(), problems=(), log_tail=())
        told += name in {one[0] for one in keys(seen(name)) & keys(diagnose(bare))}
    assert told == 4


def strings(part: Any) -> Iterator[str]:
    """Give every text in a JSON value, keys included."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for inner in part:
            yield from strings(inner)
    elif isinstance(part, dict):
        for name, inner in part.items():
            yield name
            yield from strings(inner)


def numbers(part: Any) -> Iterator[float]:
    """Give every number in a JSON value."""
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from numbers(inner)
    elif isinstance(part, int | float):
        yield float(part)


def ours(text: str) -> bool:
    """Whether a text is one of RunLens or of the frameworks, and of no run."""
    words = {SCHEMA, __version__, "NaN", "Infinity", "-Infinity", "", *SEVERITIES, *case.TOLD}
    for kinds in (EventKind, StateKind, Sure, Task):
        words |= set(get_args(kinds))
    words |= {rule.slug for rule in RULES} | {one.kind for one in MESSAGES} | set(NAMES)
    words |= {"transformers", "trl", "axolotl"} | case.WORDS | (KNOWN_KEYS - case.NAMING)
    return text in words or all(
        word.lower() in case._KNOWN or NOT_WORDS.fullmatch(word.lower())  # noqa: SLF001 - its list
        for word in re.split(r"[/_.: -]", text)
    )


@EACH
def test_every_text_in_a_case_is_of_a_closed_list(name: str) -> None:
    """Nothing that a run brought along can be in it then."""
    document = json.loads(known(name)[1])
    assert document["left_out"][0] == case.ALWAYS
    told = {row["metric"] for row in document.pop("findings")}
    assert told <= {*document["metrics"], *KNOWN_KEYS, *NAMES, ""}
    del document["left_out"]
    assert [text for text in strings(document) if not ours(text) and text not in FIELDS] == []


def hostile(place: Path) -> Path:
    """Write a run that tells whose it is wherever a run can; return its folder."""
    place = place / "acme-zeppelin"
    place.mkdir(parents=True)
    state = history(3, 60, {"acme_score": 3.5, "rewards/quixotic_judge/mean": 0.5})
    for number, row in enumerate(state["log_history"]):
        row["_timestamp"] = BEGAN + number
        row["hindenburg/started_ms"] = 1e3 * (BEGAN + number)
        row["eval_s3cr3t_loss"] = 2.0 - number / 100
    (place / "trainer_state.json").write_text(json.dumps(state))
    settings = {"model_name_or_path": "acme/Zeppelin-70B", "learning_rate": 0.000123, "seed": 9137}
    (place / "config.json").write_text(json.dumps(settings))
    lines = [
        f"gpubox17 {{'loss': {row['loss']}, 'grad_norm': {row['grad_norm']}, "
        f"'learning_rate': 0.0001, 'epoch': {row['epoch']}}}"
        for row in state["log_history"]
    ]
    path = "/home/hindenburg/acme/train.py"
    lines += [
        "Traceback (most recent call last):",
        f'  File "{path}", line 3, in <module>',
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. (gpubox17 s3cr3t)",
    ]
    (place / "train.log").write_text("\n".join(lines))
    return place


def test_nothing_identifying_is_in_a_case(tmp_path: Path) -> None:
    """No name of a run, metric, set, reward, machine, path or model; no seed; no clock."""
    run = read(hostile(tmp_path))
    assert {"acme_score", "_timestamp"} <= set(run.history.metrics)
    text = case.render(run, diagnose(run), SLUGS)
    document = json.loads(text)
    assert {word for word in OURS if word in text.lower()} == set()
    assert "2025" not in text
    assert document["settings"] == {"learning_rate": 0.000123, "num_train_epochs": 3}
    assert 9137.0 not in set(numbers(document))
    assert [n for n in numbers(document["axes"]) if abs(n) > 1e8] == []
    assert [n for n in numbers(document["events"]) if abs(n) > 1e8] == []
    assert [n for n in numbers(document["state"]) if abs(n) > 1e8] == []
    assert "2 metrics that hold times of day" in document["left_out"]
    assert any(re.fullmatch(r"name\d+_score", name) for name in document["metrics"])
    assert len(document["metrics"]) == len(run.history.metrics) - 2


def test_what_plugins_name_is_not_named() -> None:
    """A framework, a rule, a class of messages and data of an event may be a user's own."""
    run, _ = known("divergence")
    told = Event("message", 3, None, "acme", "acme", {"class": "acme", "acme": 1, "row": "acme"})
    run = replace(run, framework="acme-trainer", events=(told,))
    made = case.made(run, seen("divergence"), SLUGS - {"divergence"})
    assert made.framework == "unknown"
    assert {case.ADDED} <= {found.rule for found in made.findings}
    assert "acme" not in case.render(run, seen("divergence"), SLUGS)


def test_the_closed_lists_are_those_of_the_readers() -> None:
    """A class of the table that is missing here would be lost in a case."""
    assert {message.kind for message in MESSAGES} == case.CLASSES


def test_times_count_from_the_first_one() -> None:
    """Their differences are what they were."""
    run, text = known("throughput-drop")
    made = msgspec.json.decode(text, type=Case)
    axis = made.axes[made.metrics["train_loss"].axis]
    assert min(float(t) for one in made.axes for t in one.time) == 0.0
    expected = np.diff(run.curve("train_loss").time)
    assert np.diff(np.array(axis.time, dtype=float)) == pytest.approx(expected, abs=1e-6)


@EACH
def test_a_case_is_valid_by_its_schema(name: str) -> None:
    """Of JSON as other languages read it, the schema being that of the code."""
    jsonschema.validate(json.loads(known(name)[1]), shipped("case"))


def test_the_shipped_schema_is_that_of_the_code() -> None:
    """A changed field changes the contract: write it anew with msgspec.json.schema(Case)."""
    there = shipped("case")
    made = msgspec.json.schema(Case)
    assert {name: there[name] for name in made} == json.loads(json.dumps(made))
    assert not jsonschema.Draft202012Validator(there).is_valid({"schema": SCHEMA})


def test_a_run_without_times_or_epochs_has_none_in_its_case() -> None:
    """Lists of nothing but unknowns would only be long."""
    made = msgspec.json.decode(known("divergence")[1], type=Case)
    assert all(axis.time == [] and axis.segment == [] for axis in made.axes)
    assert len(made.axes) < len(made.metrics)


NAMED = st.lists(
    st.sampled_from(["eval", "loss", "acme", "acmé", "name1", "name2", "12", "2024", "rank3", ""]),
    min_size=1,
    max_size=4,
)


@given(st.sets(st.tuples(NAMED, st.sampled_from("/_.:")).map(lambda n: n[1].join(n[0]))))
def test_different_metrics_stay_different(metrics: set[str]) -> None:
    """And no word of one's own is left."""
    names = case.without_names(metrics)
    assert len(set(names.values())) == len(metrics)
    assert not {
        word for name in names.values() for word in ("acme", "acmé", "2024") if word in name
    }


def test_public_words_stay() -> None:
    """Rules look for them: losses of sets, ranks, benchmarks, GANs."""
    kept = ["eval_loss:dev", "gpu_mem:rank12", "mmlu/acc", "val/bpb", "d_loss", "clip_ratio/high"]
    assert case.without_names(kept) == {name: name for name in kept}
