"""Lines that differ in their numbers alone follow the first of their kind, and give the same."""

from hypothesis import given
from hypothesis import strategies as st

from runlens.sources.console.lines import _parsed  # pyright: ignore[reportPrivateUsage]
from runlens.sources.console.templates import MOST_TEMPLATES, Templates, pieces

LAYOUTS = (
    "iter {a}: loss {x}, time {y}ms, mfu {z}%",
    "Epoch: [{a}][ {b}/5005]\tTime  {x} ( {y})\tLoss {z} (6.95e+00)\tAcc@1 {x} (0.10)",
    "[2024-05-0{d} 10:0{d}:00] iteration {a}/ 1000 | lm loss: {x} | eta: 0{d}:0{d}:00 | lr: {y} |",
    "Epoch {a}, validation: loss={x}, over {b} frames.",
    "epoch {a} - top-{b} accuracy: {x} - remaining time: {d}:00:00 loss: {y}",
    "step {x} loss {y}",
    "global_step={a}, episodic_return=[{x}] and {b} more: loss{b} {y}",
    "train Loss: {x} Acc: {y}%",
    "number of nan iterations: {a} | step: {b} | loss: {x}",
    "tick {a}  kimg {b}.0  time {d}m 0{d}s  loss {x}",
)
NUMBERS = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.floats(0, 1, width=16).map("{:.3e}".format),
    st.integers(-5, 10**7).map("{:,}".format),
    st.sampled_from(["nan", "-inf", "inf", "NaN", ".5", "-.039", "5.", "00012", "1001", "10.05"]),
)


@given(
    layout=st.sampled_from(LAYOUTS),
    rows=st.lists(
        st.tuples(st.integers(-3, 10**6), st.integers(0, 2000), NUMBERS, NUMBERS, NUMBERS),
        min_size=2,
        max_size=5,
    ),
)
def test_a_line_gives_what_it_gives_when_it_is_parsed_alone(
    layout: str, rows: list[tuple[int, int, str, str, str]]
) -> None:
    """Whatever the numbers are, and whichever line came first."""
    parse = Templates(_parsed)
    for number, (a, b, x, y, z) in enumerate(rows):
        line = layout.format(a=a, b=b, x=x, y=y, z=z, d=number)
        assert repr(parse(line)) == repr(_parsed(line)), line


def test_the_numbers_of_a_line_stand_between_its_texts() -> None:
    """Digits within words are no numbers; dates and times are one."""
    assert pieces("Acc@1 top-5 mAP50 x=1e-05, -3 at 10:05:00 on 2024-01-02 03:04:05,678 nan +NAN")[
        1::2
    ] == [
        "1e-05",
        "-3",
        "10:05:00",
        "2024-01-02 03:04:05,678",
        "nan",
        "+NAN",
    ]


def test_only_so_many_templates_are_remembered() -> None:
    """A log whose lines are all different costs no more memory for that."""
    calls: list[str] = []

    def parse(line: str) -> None:
        calls.append(line)

    templates: Templates[str] = Templates(parse)
    for number in range(MOST_TEMPLATES + 100):
        word = "a" * (number % 97 + 1) + "b" * (number // 97 + 1)
        assert templates(f"{word} 1") is None
    calls.clear()
    assert templates("ab 2") is None
    assert calls == []
    late = "c" + "d" * 9 + " 1"
    assert templates(late) is None
    assert calls == [late]
