"""A reader whose files are not there is not imported; one whose files are there always is."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens import sources
from runlens.sources import console, sb3_evaluations, wandb_dir
from runlens.sources.configs import model_card
from runlens.sources.files import walk
from runlens.sources.stores import mlflow_dir, sqlite_file, swanlab_dir
from runlens.sources.tables import csv_log, jsonl_log, sb3_monitor, whole_json
from runlens.sources.tensorboard import tags
from tests.cli.places import FIXTURES

ENDINGS: dict[str, Iterable[str]] = {
    "csv_log": [*csv_log.ENDINGS, *csv_log.KNOWN_NAMES],
    "jsonl_log": [*jsonl_log.ENDINGS, whole_json.ENDING],
    "mlflow_db": sqlite_file.ENDINGS,
    "mlflow_dir": [mlflow_dir.META],
    "model_card": [model_card.NAME],
    "sb3_evaluations": [sb3_evaluations.ENDING],
    "sb3_monitor": [sb3_monitor.ENDING],
    "swanlab_dir": [swanlab_dir.ENDING],
    "tensorboard": [tags.EVENT_FILE],
    "trackio_db": sqlite_file.ENDINGS,
    "wandb_dir": [wandb_dir.LATEST, wandb_dir.SUMMARY, wandb_dir.METADATA, wandb_dir.CONFIG],
}


def asked(name: str) -> set[str]:
    """Return the kinds of readers that are asked where one file of a name lies."""
    return {sources.kind_of(one) for one in sources._readers({Path("run"): [name]})}  # noqa: SLF001


@pytest.mark.parametrize(
    ("kind", "ending"),
    [(kind, ending) for kind, some in ENDINGS.items() for ending in sorted(some)],
)
def test_a_reader_is_asked_for_names_that_it_knows(kind: str, ending: str) -> None:
    """In any case of letters, whatever stands before."""
    assert kind in asked(f"My-Run{ending}")
    assert kind in asked(ending.upper())


@given(st.from_regex(console._NAME.pattern, fullmatch=True))  # noqa: SLF001
def test_a_console_log_of_any_name_is_asked_for(name: str) -> None:
    """The pattern of the reader leads to more names than one thinks of."""
    assert "console" in asked(name)


@given(st.from_regex(whole_json._NAMED.pattern, fullmatch=True))  # noqa: SLF001
def test_a_history_in_json_of_any_name_is_asked_for(name: str) -> None:
    """As above."""
    assert "jsonl_log" in asked(name)


def test_the_fixtures_are_found_by_the_readers_that_are_asked() -> None:
    """As if all were."""
    for place in filter(Path.is_dir, FIXTURES.iterdir()):
        names = walk(place)
        every, some = sources._readers(), sources._readers(names)  # noqa: SLF001
        found = [chain.from_iterable(one.find(place, names) for one in of) for of in (every, some)]
        assert list(found[0]) == list(found[1]), place
