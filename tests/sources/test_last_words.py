"""Logs that end in an error before any row was logged: the run crashed before the first step."""

from pathlib import Path

import pytest

from runlens import diagnose, read
from runlens.diagnosis import Finding
from runlens.errors import NothingReadable
from runlens.knowledge.exceptions import missing_path
from runlens.run import State
from runlens.sources.console.error_lines import level, reason, says
from runlens.sources.console.last_words import last_words
from runlens.sources.reading import SourceReading
from runlens.sources.stores.tracked import take_console

BEGINS = "2026-03-02 09:14:07,331 - INFO - Reading the corpus\n"


def state(folder: Path, text: str) -> State:
    """Return the end of a run that left a log."""
    (folder / "train.log").write_text(text)
    return read(folder / "train.log").state


def crash(folder: Path, text: str) -> Finding:
    """Return the finding on a crash, of a folder with a log."""
    (folder / "train.log").write_text(text)
    (found,) = [one for one in diagnose(folder).findings if one.rule in {"crashed", "known-error"}]
    assert "before the first step" in found.title
    return found


def todo(found: Finding) -> str:
    """Return the first thing to do."""
    return found.fixes[0].what


def test_a_last_line_of_level_error_is_a_likely_crash(tmp_path: Path) -> None:
    """Only the level says so; an earlier launch that came to its end does not change it."""
    text = (
        f"{BEGINS}2026-03-02 09:14:08,002 - INFO - Training completed.\n"
        f"{BEGINS}2026-03-02 09:15:01,118 - ERROR - \u274c Stage 2 broke: Command 'mkshards --all' "
        "returned non-zero exit status 4.\n"
    )
    ended = state(tmp_path, text)
    assert (ended.kind, ended.sure) == ("crashed", "likely")
    assert ended.why.startswith("Stage 2 broke: Command 'mkshards --all'")
    found = crash(tmp_path, text)
    assert "by hand" in todo(found)
    assert "returned non-zero exit status 4" in found.seen
    assert found.confidence.reason == "the log ends with this error, without a traceback"


def test_frames_whose_exception_stands_above_them_are_a_crash(tmp_path: Path) -> None:
    """The nearest line above that says what failed is quoted, with the last frame."""
    text = (
        "2026-03-02 09:14:07: Building the vocabulary\n"
        "2026-03-02 09:14:08: Cannot build 'dev_set': the size 7 is refused by the sampler\n"
        'Trace:   File "/home/u/nets/build.py", line 31, in build\n'
        "    made = kind(*given)\n"
        '  File "/home/u/nets/sampler.py", line 8, in __init__\n'
        "    self.check(size)\n"
    )
    ended = state(tmp_path, text)
    assert (ended.kind, ended.sure) == ("crashed", "certain")
    found = crash(tmp_path, text)
    assert "Cannot build 'dev_set': the size 7 is refused by the sampler" in found.seen
    assert "sampler.py:8 in __init__" in str(found.evidence)
    assert found.evidence[0].where.endswith("train.log:2")
    assert todo(found)


def test_a_traceback_that_breaks_off_takes_its_reason_from_above(tmp_path: Path) -> None:
    """Without one, the exception stays unnamed."""
    frames = (
        "Traceback (most recent call last):\n"
        '  File "/home/u/fit.py", line 31, in main\n'
        "    net.load(path)\n"
    )
    known = state(
        tmp_path, f"{BEGINS}reading\nreading\nError: the weights are of a net of 7\n{frames}"
    )
    assert known.why.startswith("Error: the weights are of a net of 7")
    assert known.kind == "crashed"
    unknown = state(tmp_path, f"{BEGINS}a\nb\nc\n{frames}")
    assert unknown.why.startswith("an exception that the log does not name")


def test_frames_alone_are_an_unnamed_exception(tmp_path: Path) -> None:
    """No line above them says what failed, near enough."""
    above = "it failed long ago\n" + "".join(f"the part {n} of it\n" for n in "abcdefg")
    text = f'{above}  File "/home/u/fit.py", line 31, in main\n    net.load(path)\n'
    assert state(tmp_path, text).why.startswith(
        "an exception that the log does not name, in main()"
    )
    assert state(tmp_path, '  File "fit.py", line 3\n').why.startswith(
        "an exception that the log does not name, in"
    )


def test_a_backtrace_of_c_with_its_reason_below(tmp_path: Path) -> None:
    """Advice behind it is no sign that the program went on; the path is what to create."""
    text = (
        " The card is used\n"
        "Error!: No such file or directory\n"
        "backtrace (2 entries)\n"
        "1/2: ./yonet(fail+0x3d) [0x5581a2814e9d]\n"
        "2/2: /lib/libc.so.6(+0x29d90) [0x7eb4aaa29d90]\n"
        "\n"
        " Error: There is no /data/birds/held_out.txt file for the score!\n"
        " Leave the score out.\n"
        " Or name the file in birds.data \n"
    )
    ended = state(tmp_path, text)
    assert (ended.kind, ended.sure) == ("crashed", "certain")
    found = crash(tmp_path, text)
    assert "There is no /data/birds/held_out.txt file" in found.seen
    assert "/data/birds/held_out.txt" in todo(found)


@pytest.mark.parametrize(
    ("text", "why", "sure"),
    [
        ("Error: the class list is empty\n", "Error: the class list is empty", "likely"),
        ("ERROR: no images below that folder\n", "no images below that folder", "likely"),
        ("ERROR:root:no images below\n", "no images below", "likely"),
        ("[error] no images below that folder\n", "no images below that folder", "likely"),
        ("2026-03-02 09:14:07 | ERROR | fit:main:35 - no images\n", "no images", "likely"),
        ("2026-03-02 09:14:07 ERROR fit.py:35] no images\n", "no images", "likely"),
        ("09:14:07 fit ERROR: no images\n", "no images", "likely"),
        ("E0302 09:14:07.331000  4711 db.cpp:63] no images\n", "no images", "likely"),
        ("F0302 09:14:07.331000  4711 db.cpp:63] Check failed: a == b\n@ 0x7f12ab main\n",
         "Check failed: a == b", "certain"),
        ("Error: no images\n@ 0x7f12ab main\nAborted (core dumped)\n", "Error: no", "certain"),
        ("CRITICAL: no images\n", "no images", "certain"),
        ("ERROR:\n  the class list is empty\n", "the class list is empty", "likely"),
        ("ERROR - It broke:\n  the class list is empty\n", "It broke: the class list", "likely"),
        ("[09:14:07] Error while reading birds: bad line\n", "Error while reading", "likely"),
        ("Erreur : la liste est vide\n", "Erreur : la liste", "likely"),
        ("panic: index out of range\n", "panic: index out of range", "certain"),
        ("cannot map the file\nAborted\n----\n", "cannot map the file", "certain"),
        ("a\nfit.sh: line 3: 7 Segmentation fault ./net\n", "fit.sh: line 3", "certain"),
        ("Error: no images\nINFO - Exiting\nWARNING - 3 left\n", "Error: no images", "likely"),
    ],
)  # fmt: skip
def test_the_last_words(tmp_path: Path, text: str, why: str, sure: str) -> None:
    """By their level, their first word, or what they say of the process."""
    ended = state(tmp_path, f"the first line\n{text}")
    assert (ended.kind, ended.sure) == ("crashed", sure)
    assert ended.why.startswith(why)


@pytest.mark.parametrize(
    "text",
    [
        "09:14:08,002 - ERROR - no cache\n09:14:09,002 - INFO - Model built\n",
        "2026-03-02 09:14:08 Error: no cache\n2026-03-02 09:14:09 the model is built\n",
        "Error: no cache found\nDone\n",
        "Error: no cache found\nLoading the images\n",
        "Error: no cache found\nAll models written to out\n",
        "Error: no cache found, using the default\n",
        "ERROR - no cache found, skipping it\n",
        "CRITICAL:__main__:Starting the fine-tuning\n",
        "Error: no cache found\n" + "".join(f"the part {n} of it\n" for n in "abcdef"),
        "error: 0.31\n",
        "error: 12 %\n",
        "Error: none\n",
        "Error: mean 0.31 max 0.52\n",
        "ERROR: 0.31\n",
        "TEST ERROR 12 %\n",
        "0 errors\n",
        "test error 12 %\n",
        "no error\n",
        "the error of the model is small\n",
        "WARNING - error bars are off\n",
        "INFO - the job is closed\n",
    ],
)
def test_what_is_no_crash(tmp_path: Path, text: str) -> None:
    """A program that went on, and words that are a measure."""
    assert state(tmp_path, f"the first line\n{text}").kind != "crashed"


def test_a_log_with_rows_ends_as_before(tmp_path: Path) -> None:
    """So does a run with rows in a file beside it."""
    rows = "".join(f"epoch {n} loss {3 / n:.3f}\n" for n in range(1, 9))
    assert state(tmp_path, f"{rows}ERROR: the upload broke\n").kind != "crashed"
    (tmp_path / "train.log").write_text("ERROR: the upload broke\n")
    table = "".join(f"{n},{3 / n:.3f}\n" for n in range(1, 9))
    (tmp_path / "metrics.csv").write_text(f"epoch,loss\n{table}")
    assert read(tmp_path).state.kind != "crashed"


def test_a_message_of_an_end_from_outside_is_told_as_such(tmp_path: Path) -> None:
    """The scheduler's error names a limit, and no crash."""
    said = (
        "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-02T09:14:07 DUE TO TIME LIMIT ***"
    )
    assert state(tmp_path, f"the first line\n{said}\n").kind == "killed"


TOUCHED = "slurmstepd: error: Exceeded step memory limit at some point.\n"


@pytest.mark.parametrize(
    ("planned", "behind", "kind"),
    [
        (90, TOUCHED, "killed"),  # short of its plan: what was touched ended it
        (40, TOUCHED, "finished"),
        (40, f"Done, trained model saved at out/epoch_2.model\n{TOUCHED}", "finished"),
        (90, f"srun: error: n1: task 0: Killed\n{TOUCHED}", "killed"),
        (90, "slurmstepd: error: Detected 1 oom_kill event in StepId=17.batch\n", "killed"),
        (90, "ValueError: x\n", "crashed"),
    ],
)
def test_a_memory_limit_that_was_touched_ends_no_training(
    tmp_path: Path, planned: int, behind: str, kind: str
) -> None:
    """Page cache counts for it: it is the end only of a training short of its plan."""
    rows = "".join(f"step {n}/{planned}, loss: {1 + 3 / n:.3f}\n" for n in range(1, 41))
    assert state(tmp_path, rows + behind).kind == kind


def test_without_a_row_a_limit_that_was_touched_is_no_end(tmp_path: Path) -> None:
    """It is no error of the program either."""
    (tmp_path / "train.log").write_text(f"the first line\n{TOUCHED}step 1, loss: 2.0\n{TOUCHED}")
    assert read(tmp_path / "train.log").state.kind == "unknown"
    (tmp_path / "train.log").write_text(f"Loading the data\n{TOUCHED}")
    assert read(tmp_path / "train.log").state.kind == "unknown"


STOPPED = (
    'Traceback (most recent call last):\n  File "/u/fit.py", line 9, in <module>\n    go()\n{}\n'
)


def test_what_failed_behind_ctrl_c_in_a_later_launch_counts(tmp_path: Path) -> None:
    """The same script ended again, so it had been started again."""
    stopped, failed = (
        STOPPED.format(name) for name in ("KeyboardInterrupt", "x.BridgeError: it broke.\n: no s3")
    )
    text = f"fit 0 1\n{stopped}{failed}{stopped}{failed}{failed}"
    ended = state(tmp_path, text)
    assert (ended.kind, ended.by_hand) == ("crashed", False)
    assert ended.why.startswith("x.BridgeError: it broke. : no s3")
    assert state(tmp_path, f"fit 0 1\n{failed}{stopped}").kind == "killed"
    launcher = STOPPED.replace("/u/fit.py", "/bin/torchrun").format("ChildFailedError: fit.py")
    assert state(tmp_path, f"fit 0 1\n{stopped}{failed}{launcher}").kind == "killed"


def test_an_error_alone_in_a_folder_is_found(tmp_path: Path) -> None:
    """A short log of it; one that says nothing of the kind is none."""
    (tmp_path / "train.log").write_text("the first line\nFATAL - the class list is empty\n")
    assert read(tmp_path).state.kind == "crashed"
    (tmp_path / "train.log").write_text("the first line\n" * 9_000 + "FATAL - the list is empty\n")
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_nothing_said_has_no_last_words() -> None:
    """Nor has a log of nothing."""
    assert last_words([]) is None
    assert says("---- 12 ----") == "nothing"
    assert level("level=error the disk broke") == ("ERROR", "the disk broke")
    assert reason("09:14:07 Error: x") == "Error: x"


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("Cannot open file /data/birds/classes.names!", "/data/birds/classes.names"),
        ("[Errno 2] No such file or directory: 'in put/b.txt'", "in put/b.txt"),
        ("the folder out/run_7 does not exist.", "out/run_7"),
        ("user 7 does not exist", ""),
        ("the file in/b.txt is too long", ""),
        ("No npz files found in ../data/prepared", "../data/prepared"),
        ("Check failed: fd != -1 File not found: solver.prototxt", "solver.prototxt"),
        ("File not found: ask the owner", ""),
    ],
)
def test_the_path_that_an_error_misses(said: str, path: str) -> None:
    """In quotes, or with a slash; of another error it is not what to create."""
    assert missing_path(said) == path


def test_what_to_do_is_no_more_than_the_line_says(tmp_path: Path) -> None:
    """Without a path and a command there is the line, and what stands above it."""
    assert todo(crash(tmp_path, "first line\nError: the class list is empty\n")).startswith("Read")
    known = "Error: data.yaml 'names' length 11 and 'nc: 10' must match"
    assert todo(crash(tmp_path, f"first line\n{known}\n")).startswith("Set nc in the data file")
    at_a_line = "Error: size of tensor a (3) must match the size of tensor b (4)"
    assert "Print both shapes" not in todo(crash(tmp_path, f"first line\n{at_a_line}\n"))
    frames = 'Cannot build the net\n  File "/u/fit.py", line 3, in go\n    net()\n'
    assert todo(crash(tmp_path, f"first line\n{frames}")) == "Fix what that line names"


def test_the_console_of_a_tracker_is_no_witness(tmp_path: Path) -> None:
    """Its own records say how the run ended."""
    reading = SourceReading(tmp_path, "wandb")
    take_console(reading, "the first line\nERROR: the upload broke\n")
    assert reading.hints.traceback == ""
    take_console(reading, STOPPED.format("KeyError: 7"))
    assert reading.hints.traceback == "KeyError: 7"


ROWS = "".join(f"epoch {n} loss {2 / (n + 1):.4f}\n" for n in range(12))
OTHER_LANGUAGES = {
    "Java": 'Exception in thread "main" java.lang.NullPointerException\n\tat a.b.Main(Main.java:1)',
    "Julia": "ERROR: LoadError: DimensionMismatch\nStacktrace:\n [1] gemm! at a.jl:12",
    "Lua": "bin/luajit: train.lua:120: attempt to index a nil value\nstack traceback:\n\t"
    "train.lua:120: in main chunk",
    "R": "Error in fit(x) : \n  bad shape\nCalls: fit -> do.call\nExecution halted",
    "Rust": "thread 'main' panicked at 'index out of bounds', src/main.rs:12:5",
    "C++": "terminate called after throwing an instance of 'c10::Error'\n  what():  no such op",
    "Go": "panic: runtime error: index out of range\n\ngoroutine 1 [running]:",
    "JavaScript": "Error: Cannot find module 'fs'\n    at Function.load (internal/cjs.js:636:15)",
    "C#": "Unhandled exception. System.NullReferenceException: no object\n   at Foo.Main() in A.cs",
    "MATLAB": "Error using trainNetwork (line 150)\nInvalid training data.",
    "make": "make: *** [train] Error 1",
    "Caffe": "F0512 10:11:12.123 31 solver.cpp:56] Check failed: proto.Serialize(&output)\n"
    "*** Check failure stack trace: ***\n    @     0x7f  google::LogMessage::Fail()",
}


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_a_crash_in_another_language_behind_rows(tmp_path: Path, language: str) -> None:
    """No exception of Python is named, and yet the run did not end well."""
    ended = state(tmp_path, f"{ROWS}{OTHER_LANGUAGES[language]}\n")
    assert (ended.kind, ended.sure) == ("crashed", "certain")


@pytest.mark.parametrize(
    "said",
    [
        "Error: 0.031",
        "error while plotting: no display, skipping",
        "ERROR:root:could not write the plot",
        "Error in the last epoch: 0.02",
    ],
)
def test_an_error_that_may_be_none_is_no_crash_behind_rows(tmp_path: Path, said: str) -> None:
    """A program may print it and be done; its rows are there."""
    assert state(tmp_path, f"{ROWS}{said}\n").kind != "crashed"


def test_rows_behind_an_uncaught_exception_show_that_the_log_went_on(tmp_path: Path) -> None:
    """Another launch was appended."""
    assert state(tmp_path, f"{OTHER_LANGUAGES['Java']}\n{ROWS}").kind != "crashed"


def test_a_check_of_glog_fails_with_its_own_words(tmp_path: Path) -> None:
    """Caffe's: what failed stands above the stack trace, and a file that is missing is told so."""
    text = (
        "F0507 14:35:56.390044  6270 io.cpp:36] Check failed: fd != -1 (-1 vs. -1) "
        "File not found: solver.prototxt\n*** Check failure stack trace: ***\n"
        "    @     0x7ff93ea505cd  google::LogMessage::Fail()\n"
        "    @     0x7ff93f2639d8  caffe::ReadProtoFromTextFile()\n"
    )
    found = crash(tmp_path, text)
    assert "File not found: solver.prototxt" in found.title + found.seen
    cause = diagnose(tmp_path).incidents[0].findings[0].causes[0]
    assert cause.what == "A file or folder is not where the code looks for it"


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        ("", "The data do not fit in host memory as they are loaded"),
        (
            "".join(f"step {k} loss {3 - k / 10:.2f}\n" for k in range(1, 9)),
            "Host memory fills up: data that are kept, or copied by each worker",
        ),
    ],
)
def test_host_memory_is_no_memory_of_a_card(tmp_path: Path, rows: str, cause: str) -> None:
    """Neither batch nor model is blamed, and nothing is asked of a GPU."""
    text = (
        f"{rows}Traceback (most recent call last):\n"
        '  File "features.py", line 12, in <module>\n    frame["y"] = 0\nMemoryError\n'
    )
    (tmp_path / "train.log").write_text(text)
    told = diagnose(tmp_path)
    first = told.incidents[0].findings[0].causes[0]
    assert first.what == cause
    assert "without the model" in first.experiment
    assert not any("cuda" in what for what, _ in told.do_first.steps)
