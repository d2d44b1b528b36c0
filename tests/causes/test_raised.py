"""Exceptions of well-known libraries: what their messages mean, and what is done first."""

from pathlib import Path

import pytest

from runlens import diagnose
from runlens.knowledge.exceptions import meaning
from runlens.knowledge.raised import SAID, Said, said
from tests.sources.written import run_of

ROWS = "".join(f"Epoch {n} loss 0.{9 - n} acc 0.{5 + n}\n" for n in range(1, 4))
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 46, in step\n    x = f(b)\n'


@pytest.mark.parametrize("row", SAID, ids=lambda row: row.what[:30])
def test_each_row_knows_its_sample_and_no_row_above_does(row: Said) -> None:
    """As its library prints it, in any case of letters."""
    for text in (row.sample, row.sample.lower()):
        known = said(text)
        assert known is not None
        alike = row.what.partition("{")[0], row.todo.partition("{")[0]
        assert (known.what.startswith(alike[0]), known.todo.startswith(alike[1])) == (True, True)


def test_a_row_names_what_its_form_found() -> None:
    """So that the reader has no need of the message."""
    known = said("ValueError: Cannot use GPU, CuPy is not installed")
    assert known is not None
    assert known.todo.startswith("Install CuPy in")


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: learning rate must be positive",
        "ValueError: could not convert the config",
        "KeyError: 'loss'",
        "RuntimeError: shape mismatch",
        "AttributeError: module 'numpy' has no attribute 'foo'",
        "TypeError: train() got an unexpected keyword argument 'tokenizer'",
        "AssertionError: only one class of model is supported",
        "ValueError: not enough values to unpack (expected 2, got 1)",
        "ValueError: the table has info but no labels",
        "KeyError: 'nan'",
    ],
)
def test_look_alikes_are_told_by_their_class_alone(text: str) -> None:
    """A message that only resembles one is none."""
    assert said(text) is None


def test_a_message_comes_before_its_class(tmp_path: Path) -> None:
    """The report names what the array is, and not that some type is wrong."""
    last = "TypeError: only size-1 arrays can be converted to Python scalars"
    assert meaning(last, raised=False) == said(last)
    made = diagnose(run_of(tmp_path, "train.log", ROWS + TRACE + last + "\n"))
    assert made.do_first.steps[0][0].startswith("Print its shape in that line")


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (ROWS.replace(" loss", "/20 loss"), "crashed"),
        (ROWS.replace(" loss", "/3 loss"), "finished"),
        (ROWS, "unknown"),  # a helper process may say so while a program ends
    ],
)
def test_a_pipe_that_breaks_ends_a_run_that_was_not_done(
    tmp_path: Path, rows: str, kind: str
) -> None:
    """Behind the last of the planned epochs it is the noise of the exit."""
    text = rows + TRACE + "BrokenPipeError: [Errno 32] Broken pipe\n"
    assert run_of(tmp_path, "train.log", text).state.kind == kind


def test_a_file_that_is_no_whole_pickle_is_no_noise_of_an_exit(tmp_path: Path) -> None:
    """As the pipe between two processes that end is, which names no reason."""
    for last, kind in (("EOFError: Ran out of input", "crashed"), ("EOFError", "unknown")):
        assert run_of(tmp_path, "train.log", f"{ROWS}{TRACE}{last}\n").state.kind == kind


EMPTY = "ValueError: num_samples should be a positive integer value, but got num_samples=0"


@pytest.mark.parametrize(
    ("line", "error", "quoted"),
    [
        ("Found 0 matching directories", EMPTY, True),
        ("found 0 images in data/train", EMPTY, True),
        ("Found 40 images in data/train", EMPTY, False),
        ("Loss of step 0 rows", EMPTY, False),
        ("Found 0 images in data/hard", "ValueError: cannot convert float NaN to integer", False),
    ],
)
def test_the_search_that_found_nothing_is_quoted_beside_an_empty_data_set(
    tmp_path: Path, line: str, error: str, *, quoted: bool
) -> None:
    """It says where the rows were looked for; beside another error it says nothing."""
    found = diagnose(run_of(tmp_path, "train.log", f"{line}\n{TRACE}{error}\n"))
    told = " ".join(one.evidence_for for each in found.findings for one in each.causes)
    assert (line in told) is quoted


def test_lists_in_cells_are_no_rows_of_different_lengths() -> None:
    """NumPy says which of the two it is; old versions say the same of both."""
    ragged = said(
        "ValueError: setting an array element with a sequence. The requested array has an "
        "inhomogeneous shape after 1 dimensions. The detected shape was (2,) + inhomogeneous part."
    )
    assert ragged is not None
    assert ragged.what.startswith("Rows of different lengths")
    for text in (
        "ValueError: setting an array element with a sequence.",
        "TypeError: float() argument must be a string or a real number, not 'list'",
    ):
        cells = said(text)
        assert cells is not None
        assert cells.what == "A list where the array takes one number"
