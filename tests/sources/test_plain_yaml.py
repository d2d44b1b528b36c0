"""YAML that strangers wrote: plain values, in bounded time and memory."""

import time
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runlens.sources.configs import plain_yaml
from runlens.sources.configs.plain_yaml import parse_yaml
from runlens.sources.files import Unreadable, flat

LONG = 3.0  # CPU seconds that no file may take

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_what_was_written_comes_back(value: Any) -> None:
    """And as PyYAML's own loader has it."""
    text = yaml.safe_dump(value)
    assert parse_yaml(text) == value == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1_000\nb: 017\nc: 1:30\nd: yes\ne: ~\nf: 'yes'", [1000, 15, 90, True, None, "yes"]),
        ("a: .inf\nb: 2e-4\nc: 2.0e-4\nd: !!str 5\ne: !!int '5'", [
            float("inf"), "2e-4", 0.0002, "5", 5,
        ]),
        ("a: |\n  x\n  y\nb: >\n  x\n  y\n", ["x\ny\n", "x y\n"]),
        ("a: {p: 1, q: 2}\nb: &b {p: 3}\nc: {<<: *b, r: 4}\nd: {<<: [*b, *b], p: 5}", [
            {"p": 1, "q": 2}, {"p": 3}, {"p": 3, "r": 4}, {"p": 5},
        ]),
        ("a: 2001-99-99\nb: !!binary aGk=\nc: *missing", ["2001-99-99", "aGk=", None]),
        ("a: 1\n---\nb: [", [1]),
        ("a: 1\n? [x, y]\n: lost\nb: 2", [1, 2]),
    ],
)  # fmt: skip
def test_forms_of_yaml(text: str, value: list[Any]) -> None:
    """YAML 1.1, as the frameworks write it; only the first document."""
    assert list(parse_yaml(text).values()) == value


def test_half_a_character_is_a_reason() -> None:
    """As any other content that no YAML can have."""
    with pytest.raises(Unreadable, match="cannot be taken in"):
        parse_yaml("a: \ud800")


def bomb(inner: str) -> str:
    """Return nine levels, each of nine times the one below."""
    levels = (f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    return f"a0: &a0 {inner}\n{''.join(levels)}"


@pytest.mark.parametrize(
    "text",
    [
        bomb("lol"),
        bomb("{}"),
        bomb("[x]"),
        "a: &a {b: *a}\nc: &c [*c, *c]\n",
        "a: &a {" + "".join(f"k{n}: 1, " for n in range(4_000)) + "}\n" + "".join(
            f"b{n}: {{<<: *a}}\n" for n in range(4_000)
        ),
        "".join(f"k{n}: {{a: {n}, b: [1, 2, 3], c: text}}\n" for n in range(26_000)),
        "a: " + "x" * 2**20,
        "- " * 100_000,
        "[" * 100_000,
        "{a: " * 100_000,
        "a: " + "9" * 5_000,
        "!!python/object/apply:time.sleep [60]",
    ],
)  # fmt: skip
def test_bombs_do_not_go_off(text: str) -> None:
    """A megabyte, aliases that repeat aliases, depth: all end soon, as settings or as a reason."""
    began = time.process_time()
    with suppress(Unreadable):
        assert len(flat(parse_yaml(text))) <= 5_000
    assert time.process_time() - began < LONG


def test_without_the_c_parser_large_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML alone needs ten seconds for a megabyte; what is small is read."""
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert parse_yaml("a: [1, {b: 2}]") == {"a": [1, {"b": 2}]}
    with pytest.raises(Unreadable, match="without its C parser"):
        parse_yaml("a" * (plain_yaml.MAX_SLOW + 1))
