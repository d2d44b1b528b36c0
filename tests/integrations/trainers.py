"""What the Trainer of transformers does at the end of a training, as far as a callback sees it."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from tests.cli.places import history

EVENTS = ("on_init_end", "on_train_begin", "on_step_end", "on_log", "on_save", "on_train_end")


class TrainerCallback:
    """The base class of transformers: every event exists and does nothing."""

    def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Do nothing, like every event that a callback does not take."""

    on_train_begin = on_step_end = on_log = on_save = on_train_end = on_init_end


@dataclass
class Arguments:
    """Training arguments: where, and what else the run was given."""

    output_dir: str
    more: dict[str, Any] = field(default_factory=lambda: {"learning_rate": 1e-4})

    def to_json_string(self) -> str:
        """Return them as the Trainer writes them."""
        return json.dumps({"output_dir": self.output_dir, **self.more}, indent=2)


@dataclass
class State:
    """The state of a training, with the history that it logged."""

    content: dict[str, Any] = field(default_factory=history)
    is_world_process_zero: bool = True

    def save_to_json(self, json_path: str) -> None:
        """Write it as the Trainer does."""
        Path(json_path).write_text(json.dumps(self.content, indent=2), encoding="utf-8")


def train(callback: Any, args: Arguments, state: State) -> None:
    """Call every event in order, by name, as the Trainer's CallbackHandler does."""
    for event in EVENTS:
        getattr(callback, event)(args, state, object(), model=None)


@contextmanager
def transformers_installed() -> Iterator[None]:
    """Let `import transformers` find this module's TrainerCallback, whatever is installed."""
    library = ModuleType("transformers")
    vars(library)["TrainerCallback"] = TrainerCallback
    with mock.patch.dict(sys.modules, {"transformers": library}):
        yield
