"""Tracebacks that Windows PowerShell broke at the width of its console."""

from pathlib import Path

from runlens.sources.console.wrapped import unwrapped
from tests.sources.written import run_of

MARK = "    + FullyQualifiedErrorId : NativeCommandError"
BROKEN = [
    MARK,
    "Training:   0%|          | 0/2837 [00:00<?, ?it/s]Traceback (most recent call l",
    "ast):",
    '  File "E:\\\u516c\u5f0f\\project\\train.py", line 200, in train_epoch',
    "    output = self.model(",
    "             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    "^^^^",
    '  File "D:\\python\\Lib\\site-packages\\torch\\nn\\modules\\module.py", line 1739, in ',
    "_wrapped_call_impl",
    "    return self._call_impl(*args, **kwargs)",
    '  File "D:\\python\\Lib\\site-packages\\torch\\nn\\modules\\loss.py", line 1982, in fo',
    "rward",
    "    return F.ctc_loss(",
    "RuntimeError: Expected tensor to have size at least 192 at dimension 1, but got",
    " size 50 for argument #2 'targets'",
    "graphs: 1",
]


def test_frames_and_messages_are_whole_again(tmp_path: Path) -> None:
    """Each of the three places at which it breaks: a name, a word, the message."""
    made = unwrapped(BROKEN)
    assert len(made) == len(BROKEN)
    assert any(line.endswith("in _wrapped_call_impl") for line in made)
    assert any(line.endswith("in forward") for line in made)
    assert made[-1] == "graphs: 1"
    run = run_of(tmp_path, "train.log", "\n".join(BROKEN) + "\n")
    assert run.state.why.startswith(
        "RuntimeError: Expected tensor to have size at least 192 at dimension 1, but got size 50"
    )


def test_words_are_joined_behind_their_blank() -> None:
    """A path with a blank in it is broken there."""
    lines = [
        MARK,
        "Traceback (most recent call last):",
        '  File "D:\\Face Mask ',
        'Classification\\train.py", line 7, in <module>',
        "    from sklearn.model_selection import ",
        "train_test_split",
        "ModuleNotFoundError: No module named 'sklearn'",
        "done",
    ]
    made = unwrapped(lines)
    assert '  File "D:\\Face Mask Classification\\train.py", line 7, in <module>' in made
    assert made[-2:] == lines[-2:]


def test_a_chain_and_another_traceback_stay_apart() -> None:
    """What Python writes at the start of a line begins a line."""
    one = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "KeyError: 'x'"]
    lines = [MARK, *one, "During handling of the above exception, another occurred:", *one]
    assert list(unwrapped(lines)) == lines
    open_end = [MARK, *one[:2], *one]
    assert list(unwrapped(open_end)) == open_end


def test_a_log_of_another_shell_is_left_as_it_is() -> None:
    """There a line that begins without a blank is of someone else."""
    assert unwrapped(BROKEN[1:]) == BROKEN[1:]


RECORD = [
    "At line:1 char:1",
    "    + CategoryInfo",
    "         : NotSpecifi",
    "  ed: (Trace:String)",
    " [], Re",
    "moteException",
    "    + FullyQualifiedEr",
    "   rorId : NativeComm",
    "  andError",
]
TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "D:\\crowd\\venv\\lib\\utils.py", line 329, in check',
    "    raise FileNotFoundError(path)",
    "FileNotFoundError: Dataset 'security_data/data.yaml' images not found",
]


def test_a_console_of_few_columns_breaks_the_record_too(tmp_path: Path) -> None:
    """The shell's own exception is none of the program; the message comes whole."""
    first, *others = [line[n : n + 23] for line in TRACEBACK for n in range(0, len(line), 23)]
    text = "\n".join([first, others[0], *RECORD, *others[1:], ""])
    run = run_of(tmp_path, "train.log", text)
    assert run.state.why.startswith(TRACEBACK[-1])


def test_a_raise_that_is_broken_off_begins_no_message() -> None:
    """Behind its blank stands what is raised."""
    broken = [MARK, TRACEBACK[0], TRACEBACK[1], "    raise ", "ValueError(m)", "ValueError: no"]
    assert unwrapped(broken)[3] == "    raise ValueError(m)"
