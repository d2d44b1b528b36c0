"""Which of several exceptions in a log ended its run."""

from pathlib import Path

import pytest

from runlens.engine import diagnose
from tests.sources.written import run_of

CLOCK = "2026-03-02 09:14:07,331"
AT_WORK = f"{CLOCK} - INFO - features are extracted (1000, 12)\n"


def trace(error: str, frame: str = "load") -> str:
    """Write a traceback."""
    head = f'Traceback (most recent call last):\n  File "/home/u/prep.py", line 7, in {frame}\n'
    return f"{head}    f(x)\n{error}\n"


def logged(error: str) -> str:
    """Write a traceback that a program printed with its logger."""
    return f"{CLOCK} - ERROR - it did not work: x\n{trace(error)}"


CAUGHT = "AttributeError: 'Connection' object has no attribute 'cursor'"
FATAL = "KeyError: \"['news_score'] not in index\""


def test_an_exception_that_was_logged_before_the_program_went_on_is_not_the_end(
    tmp_path: Path,
) -> None:
    """Headline and end name the same one, the last."""
    run = run_of(tmp_path, "train.log", AT_WORK + 2 * logged(CAUGHT) + AT_WORK + logged(FATAL))
    assert run.state.why.startswith("KeyError")
    made = diagnose(run)
    assert "KeyError" in made.incidents[0].findings[0].title
    assert not any("AttributeError" in one.title for one in made.findings)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        # the only one: on its way out a program logs as well
        (AT_WORK + logged(CAUGHT) + AT_WORK, "AttributeError"),
        # no logger printed it: a rank that failed, while another one went on to fail of it
        (AT_WORK + trace(CAUGHT) + AT_WORK + trace(FATAL, "step"), "AttributeError"),
        # nothing between them: the second is of the clean-up
        (AT_WORK + logged(CAUGHT) + logged(FATAL), "AttributeError"),
        # what follows is a consequence
        (AT_WORK + logged(FATAL) + AT_WORK + trace("ConnectionResetError: x"), "KeyError"),
        (AT_WORK + logged(FATAL) + AT_WORK + trace("DistNetworkError: Connection reset by y"),
         "KeyError"),
    ],
)  # fmt: skip
def test_else_the_first_counts(tmp_path: Path, text: str, why: str) -> None:
    """What comes behind the first failure follows from it."""
    assert run_of(tmp_path, "train.log", text).state.why.startswith(why)


def test_a_script_that_was_started_again_ends_with_its_last_error(tmp_path: Path) -> None:
    """Also where it is run with `python -m`; an earlier launch ended otherwise."""
    runner = '  File "/opt/python3.8/runpy.py", line 192, in _run_module_as_main\n    f(x)\n'
    first, last = (
        trace(f"ValueError: {word}", "<module>").replace("  File", f"{runner}  File", 1)
        for word in ("first", "last")
    )
    run = run_of(tmp_path, "err.txt", first + "UserWarning: slow\n" + last)
    assert run.state.why.startswith("ValueError: last")
    titles = [one.seen + one.title for one in diagnose(run).findings]
    assert any("last" in title for title in titles)
    assert not any('first"' in title for title in titles)


def test_ranks_that_a_launcher_ended_fail_of_the_first(tmp_path: Path) -> None:
    """They print the same frames, and then their launcher says that one failed."""
    text = trace("ValueError: first", "<module>") + trace("ValueError: last", "<module>")
    end = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: train.py FAILED"
    run = run_of(tmp_path, "train.log", text + trace(end, "launch"))
    assert run.state.why.startswith("ValueError: first")
