"""Where memory runs out before a row was logged: what is blamed, and what is not claimed."""

from pathlib import Path

import pytest

from runlens.diagnosis import Diagnosis
from runlens.engine import diagnose
from runlens.sources.console.messages import memory
from tests.sources.written import run_of

BEGINS = "device is set\nthe model is built\n" * 6  # else lines may be cut out of a log
ROWS = "".join(f"step {k}/100 loss {3 - k / 10:.2f}\n" for k in range(1, 9))
IDLE = (
    "RuntimeError: CUDA out of memory. Tried to allocate 2.93 GiB (GPU 0; 11.17 GiB total "
    "capacity; 5.54 GiB already allocated; 2.22 GiB free; 8.52 GiB reserved in total by PyTorch)\n"
)
FORWARD = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 36, in <module>\n    out = model(x)\n'
    '  File "/env/lib/python{}/site-packages/torch/nn/modules/module.py", line 889, in _call_impl\n'
    "    result = self.forward(*input, **kwargs)\n"
)
LOADED = (
    "Traceback (most recent call last):\n"
    '  File "models.py", line 241, in load\n    tok = AutoTokenizer.from_pretrained(name)\n'
    '  File "/env/lib/transformers/auto.py", line 9, in from_pretrained\n    x()\nMemoryError\n'
)
READ = (
    "Traceback (most recent call last):\n"
    '  File "fit.py", line 2, in run\n    d = load_dataset(p)\n'
    '  File "/env/lib/datasets/load.py", line 9, in load_dataset\n    x()\nMemoryError\n'
)
ELSEWHERE = (
    'Traceback (most recent call last):\n  File "f.py", line 2, in go\n    x()\nMemoryError\n'
)


def told(folder: Path, text: str, name: str = "train.log") -> tuple[Diagnosis, str, list[str]]:
    """Return the diagnosis of a log, its first cause with its rank, and all things to do."""
    made = diagnose(run_of(folder, name, text))
    found = made.incidents[0].findings[0]
    fixes = [fix.what for one in made.findings for fix in one.fixes]
    return made, f"{found.causes[0].what} ({found.causes[0].rank})", fixes


def test_idle_memory_of_a_first_forward_pass_is_no_fragmentation(tmp_path: Path) -> None:
    """It is what the allocator kept of the layers before: the batch is too large."""
    _, cause, fixes = told(tmp_path, BEGINS + FORWARD.format("3.9") + IDLE)
    assert cause == "Model and batch do not fit on the GPU (most likely)"
    assert not any("ALLOC_CONF" in what for what in fixes)


@pytest.mark.parametrize(("python", "offered"), [("3.9", True), ("3.6", False), ("3.10", True)])
def test_after_steps_that_fitted_it_may_be(tmp_path: Path, python: str, *, offered: bool) -> None:
    """A PyTorch that this Python cannot run is not offered."""
    _, cause, fixes = told(tmp_path, ROWS + FORWARD.format(python) + IDLE)
    assert cause.startswith("Fragmented memory")
    assert any("PyTorch 2.1" in what for what in fixes) is offered


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        (LOADED, "What is loaded before training does not fit in host memory (most likely)",
         "Load fewer or smaller models"),
        (READ, "The data do not fit in host memory as they are loaded (most likely)",
         "Use fewer data workers"),
        (ELSEWHERE, "The data do not fit in host memory as they are loaded (most likely)",
         "Use fewer data workers"),
    ],
)  # fmt: skip
def test_the_frames_tell_models_from_data(tmp_path: Path, text: str, cause: str, fix: str) -> None:
    """Where neither stands in the traceback, it is the data, which are larger."""
    _, first, fixes = told(tmp_path, text)
    assert first == cause
    assert any(what.startswith(fix) for what in fixes)


@pytest.mark.parametrize(
    ("name", "known"),
    [("err.txt", False), ("job-7.err.log", False), ("train.log", True), ("herring.log", True)],
)
def test_a_file_of_stderr_counts_no_steps(tmp_path: Path, name: str, *, known: bool) -> None:
    """Rows go to stdout: that none stands there says nothing of the steps that were done."""
    made, cause, _ = told(tmp_path, BEGINS + FORWARD.format("3.9") + IDLE, name)
    assert ("before the first step" in made.incidents[0].title) is known
    assert ("at an unknown step" in made.incidents[0].title) is not known
    assert cause.startswith("Model and batch" if known else "What one step needs")


def test_a_file_of_stderr_that_fails_at_an_import_ended_before_any_step(tmp_path: Path) -> None:
    """No step comes before it, wherever rows go."""
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n'
        "    import sklearn\nModuleNotFoundError: No module named 'sklearn'\n"
    )
    made = diagnose(run_of(tmp_path, "err.txt", text))
    assert "before the first step" in made.incidents[0].title


@pytest.mark.parametrize(("own", "reserved", "others"), [(6.23, 6.40, 9.49), (14.43, 14.89, 0.0)])
def test_what_an_old_message_does_not_account_for_is_of_others(
    own: float, reserved: float, others: float
) -> None:
    """Nothing is free, and the process has far less than the card: another one has the rest."""
    line = (
        f"CUDA out of memory. Tried to allocate 26.00 MiB (GPU 0; 15.90 GiB total capacity; {own} "
        f"GiB already allocated; 14.06 MiB free; {reserved} GiB reserved in total by PyTorch)"
    )
    assert memory(line).get("others_gib", 0.0) == pytest.approx(others, abs=0.01)
