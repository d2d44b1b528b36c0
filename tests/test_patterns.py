"""Patterns are compiled late, and all of them can be."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import runlens
from runlens.patterns import lazy_re

PACKAGE = Path(runlens.__file__).parent


def test_compiles_at_the_first_call_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of text and of bytes, with the flags."""
    compiled, compile_ = [], re.compile

    def counted(pattern: str, flags: int) -> object:
        compiled.append((pattern, flags))
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    words, data = lazy_re(r"(a+)b", re.IGNORECASE), lazy_re(rb"\d")
    assert not compiled
    assert words.search("xAAb")
    assert words.sub(r"<\1>", "ab aab") == "<a> <aa>"
    assert data.findall(b"1 2") == [b"1", b"2"]
    assert compiled == [(r"(a+)b", re.IGNORECASE), (rb"\d", 0)]
    assert not hasattr(words, "nothing")


def test_every_pattern_of_the_package_compiles() -> None:
    """What is wrong in one must not wait for the log that needs it."""
    found = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        if "lazy_re(" in path.read_text(encoding="utf-8"):
            name = ".".join(("runlens", *path.relative_to(PACKAGE).with_suffix("").parts))
            for value in vars(import_module(name.removesuffix(".__init__"))).values():
                for one in value if isinstance(value, tuple | list) else [value]:
                    if type(one) is type(lazy_re("")):
                        re.compile(one.pattern, one.flags)
                        found += 1
    assert found > 100
