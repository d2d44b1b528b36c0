"""Why a file is none that RunLens reads."""

from pathlib import Path

import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources.refusals import refusals, why_refused


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.log", b"", "is empty"),
        ("a.log", b" \n\n", "is empty"),
        ("a.log", b"\0\1\2" * 99, "is binary"),
        ("model", b"\x80\x04\x95junk", "which are not opened"),
        ("a.csv", b"it,quantile\n1,0.5\n2,0.4\n", "columns it, quantile: none is known"),
        (
            "a.tsv",
            b"a\tb\tc\td\te\tf\tg\th\n1\t2\t3\t4\t5\t6\t7\t8\n",
            "a, b, c, d, e, f and 2 more",
        ),
        ("a.json", b'{"foo": 1, "bar": [2]}', "keys foo, bar"),
        ("a.json", b'[\n{"foo": 1},\n{"foo": 2}\n]', "keys foo"),
        ("a.json", b"[1, 2]", "JSON without a metric by step"),
        ("a.json", b"{ no json\nfoo = 3", "of no layout that is known: 'foo = 3'"),
        ("a.txt", b"hello\nworld\n", "without numbers by name"),
        ("a.txt", "hello\r\nworld\r\n".encode("utf-16"), "without numbers by name"),
        (
            "a.txt",
            ("hello foo=3\r\n" + "x\r\n" * 99 + "bar=nan\r\n").encode("utf-16"),
            "'hello foo=3', and near its end 'bar=nan'",
        ),
        ("a.txt", b"hello\nfoo=3   bar=4\n", "of no layout that is known: 'foo=3 bar=4'"),
        (
            "a.txt",
            b"entering\nAction [6]: 12\nAction [7]: -nan\nleft\n",
            "of no layout that is known: 'Action [6]: 12', and near its end 'Action [7]: -nan'",
        ),
    ],
)
def test_a_file_is_refused_with_a_reason(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    """What it holds instead of a log."""
    file = tmp_path / name
    file.write_bytes(content)
    assert told in why_refused(file)


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    """It may be removed while it is looked for."""
    assert "cannot be opened" in why_refused(tmp_path / "gone.log")


def test_the_likeliest_files_are_told(tmp_path: Path) -> None:
    """Tables and logs first, no code, and not a hundred."""
    names = ["z.csv", "train.py", *(f"{n}.txt" for n in range(9))]
    for name in names:
        (tmp_path / name).write_text("hello\n")
    told = refusals({tmp_path: names})
    assert Path(told[0].where).name == "z.csv"
    assert len(told) == 5
    assert not any(one.where.endswith(".py") for one in told)


def test_nothing_readable_names_the_files(tmp_path: Path) -> None:
    """And why each was refused, with what settles it."""
    (tmp_path / "scores.tsv").write_text("it\tquantile\n1\t0.5\n2\t0.4\n")
    with pytest.raises(NothingReadable, match=r"scores.tsv is a table .* --column") as error:
        read(tmp_path)
    assert [Path(where).name for where, _ in error.value.problems] == ["scores.tsv"]
