"""Comparisons made by hand from diagnoses, one for each shape that a page must stand."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from runlens.comparison import (
    MOST_RUNS,
    BoardRow,
    Both,
    Check,
    CompareVerdict,
    Comparison,
    DiagnosisDiff,
    Difference,
    Effect,
    Knots,
    Leaderboard,
    Measure,
    Pair,
    Parting,
    Result,
    SettingDifference,
    Unjudged,
)
from runlens.diagnosis import Diagnosis, ThinCurve
from runlens.run import Problem
from tests.report.diagnoses import HOSTILE, curve, diagnosis, finding, hostile, losses, overfitting
from tests.report.seen import seen

CHECKS = (
    Check("Evaluation set", ok=True, why="both evaluated 400 samples", hard=True),
    Check("Tokenizer", ok=None, why="neither run names its tokenizer", hard=True),
    Check("Precision", ok=False, why="bf16 in A, fp16 in B"),
)
SETTINGS = (
    SettingDifference("dropout", 0.0, 0.3, 1, "bears on overfitting", "config.yaml", "args.json"),
    SettingDifference("learning_rate", 4e-3, 1.5e-3, 2, "the rates differ from the first step"),
    SettingDifference("weight_decay", 0.0, 0.01, 3, "bears on overfitting"),
    SettingDifference("warmup_steps", 10, None, 4),
    SettingDifference("output_dir", "out/a", "out/b"),
)
PARTINGS = (
    Parting("learning_rate", 10.0, 0.03, 10.0, "lower", "different from the first step"),
    Parting("eval_loss", 600.0, 1.8, 700.0, "lower", "3 blocks in a row beyond the noise"),
    Parting("grad_norm", 130.0, None, None, "higher"),
)


def measure(**changes: Any) -> Measure:
    """Return the last eval loss of both runs, B clearly better."""
    return Measure(
        "eval_loss", "Last eval loss", 1.45, 1.2, -0.25, 0.05, "seeds", 2.0, (-0.35, -0.15),
        "lower", clear=True, decides=True, outcome="better",
    )._replace(**changes)  # fmt: skip


MEASURES = (
    measure(),
    measure(
        what="Best eval loss", a=1.201, b=1.2, difference=-0.001, interval=(-0.1, 0.1),
        clear=False, outcome="cannot_tell", decides=False, note="at steps 500 and 900",
    ),
    measure(
        metric="throughput_tokens", what="Tokens per second", a=2000.0, b=1500.0,
        difference=-500.0, noise=None, noise_from="", interval=None, better="higher",
        clear=False, decides=False,
    ),
    measure(what="Gap", a=None, difference=None, noise=None, interval=None, decides=False),
)  # fmt: skip


def pair(a: Diagnosis, b: Diagnosis, **changes: Any) -> Pair:
    """Return a pair in which B is better."""
    known: dict[str, Any] = {
        "verdict": verdict("better"),
        "align_why": "both have the same steps",
        "checks": CHECKS,
        "measures": MEASURES,
        "partings": PARTINGS,
        "mover": "The learning rate differs first: a setting of the schedule differs",
        "settings": SETTINGS,
        "diff": DiagnosisDiff(
            fixed=(finding(),),
            both=(
                Both(
                    finding(rule="clip-saturation", severity="info"),
                    finding(rule="clip-saturation", onset=finding().onset._replace(step=700.0)),
                ),
            ),
            unjudged=(Unjudged(finding(rule="plateau"), "A", "eval_loss is not logged"),),
        ),
        "differences": {"eval_loss": difference()},
    }
    return Pair(a, b, **(known | changes))


def verdict(result: Result) -> CompareVerdict:
    """Return a verdict with this result."""
    sentences = {
        "better": "B is better at the end: eval_loss 1.200 against 1.450, 5.0 times the noise.",
        "worse": "A is better at the end: eval_loss 1.700 against 1.450, 5.0 times the noise.",
        "equivalent": "A and B are equivalent at the end: eval_loss 1.440 against 1.450.",
        "cannot_tell": "Cannot tell which is better at the end: eval_loss 1.440 against 1.450.",
        "mixed": "B is better by eval loss, A by eval accuracy.",
        "identical": "A and B are identical: 300 values of 4 metrics agree.",
        "not_comparable": "Losses of A and B cannot be compared: the tokenizers differ.",
    }
    return CompareVerdict(sentences[result], "Fixed in B: hockey-stick.", result)


def difference(points: int = 10) -> Difference:
    """Return a difference that leaves its noise half way."""
    where = tuple(1000.0 * (i + 1) / points for i in range(points))
    return Difference(where, tuple(-0.25 * max(0.0, x / 500 - 1) for x in where), -0.1, 0.1)


def comparison(*runs: Diagnosis, **changes: Any) -> Comparison:
    """Return a comparison of runs with all curves of theirs, each pair as `pair` makes it."""
    pairs = changes.pop("pairs", None) or tuple(pair(runs[0], one) for one in runs[1:])
    metrics = dict.fromkeys(name for run in runs for name in run.curves)
    curves = {name: tuple(run.curves.get(name) for run in runs) for name in metrics}
    return Comparison(runs, pairs, curves, **changes)


def two(**changes: Any) -> Comparison:
    """Return an overfitting run beside one that does not."""
    a, b = overfitting(), better()
    return comparison(a, b, pairs=(pair(a, b, **changes),))


def better() -> Diagnosis:
    """Return a run whose eval loss falls to the end."""
    falls = curve([1.7 - 0.05 * i for i in range(1, 11)], every=100)
    return diagnosis(
        run_name="with dropout", run_id="run-2", curves=losses() | {"eval_loss": falls}
    )


def real() -> Comparison:
    """Return two fixtures as they are diagnosed."""
    a, b = seen("hockey-stick"), seen("healthy-pretrain")
    return comparison(a, b)


def forbidden() -> Comparison:
    """Return two runs with different tokenizers."""
    checks = (Check("Tokenizer", ok=False, why="gpt2 in A, llama in B", hard=True), *CHECKS)
    return two(verdict=verdict("not_comparable"), checks=checks)


def sweep(runs: int = MOST_RUNS, points: int = 200, **changes: Any) -> Comparison:
    """Return a baseline and runs at other learning rates, one of them broken."""
    every = 1000 / points
    made = [_of_sweep(index, runs, points, every) for index in range(runs)]
    pairs = tuple(_pair_of_sweep(made[0], run, index) for index, run in enumerate(made[1:], 1))
    known: dict[str, Any] = {
        "board": board(made),
        "axes": {"epoch": [_epochs(one) for one in made]},
    }
    return comparison(*made, pairs=pairs, **(known | changes))


def board(runs: Sequence[Diagnosis]) -> Leaderboard:
    """Return the runs by their last eval loss, each at a rate of its own."""
    rows = [
        BoardRow(
            one.run_name, one.curves["eval_loss"].value[-1], 1000, "finished", str(one.health),
            {"learning_rate": (at + 1) * 1e-4, "optim": ("adamw", "lion")[at % 2]}, 0.5, at, at,
        )
        for at, one in enumerate(runs)
    ]  # fmt: skip
    rows.sort(key=lambda row: row.value or 0.0)
    rate = Effect("learning_rate", 0.92, 1e-4, 5e-4, -0.31, (-0.4, -0.2))
    return Leaderboard("eval_loss", "lower", tuple(rows), 0.02, "seeds", 1.2, (rate,))


def _epochs(run: Diagnosis) -> Knots:
    last = run.curves["eval_loss"].step[-1]
    return (0.0, last), (0.0, 3.0)


def _of_sweep(index: int, runs: int, points: int, every: float) -> Diagnosis:
    low = 1.0 + 0.6 * ((7 * index) % runs) / runs
    train = curve(
        [
            low + 2 * math.exp(-5 * i / points) + 0.1 * math.sin(i * i + index)
            for i in range(points)
        ],
        every=every,
    )
    noisy = curve([0.5 + 0.2 * math.sin(i * i * (index + 1)) for i in range(points)], every=every)
    rate = curve([(index + 1) * 1e-4 * (1 - i / points) for i in range(points)], every=every)
    evals = curve([low + 0.2 + math.exp(-0.4 * i) for i in range(1, 21)], every=50)
    if index == 5:
        train = ThinCurve(train.step[: points // 3], (*train.value[: points // 3 - 1], math.nan), 9)
        evals = ThinCurve(evals.step[:6], evals.value[:6], 6)
    return diagnosis(
        run_name=f"lr-{index + 1}e-4",
        run_id=f"run-{index}",
        curves={
            "train_loss": train, "eval_loss": evals, "grad_norm": noisy, "learning_rate": rate
        },
    )  # fmt: skip


def _pair_of_sweep(a: Diagnosis, b: Diagnosis, index: int) -> Pair:
    ends = [run.curves["eval_loss"].value[-1] for run in (a, b)]
    moved = ends[1] - ends[0]
    clear = abs(moved) > 0.1
    result: Result = "cannot_tell" if not clear else "worse" if moved > 0 else "better"
    if index == 7:
        result = "not_comparable"
    outcome = ("worse" if moved > 0 else "better") if clear else "cannot_tell"
    one = measure(
        a=ends[0], b=ends[1], difference=moved, interval=None, clear=clear, outcome=outcome
    )
    where = b.curves["eval_loss"].step
    values = tuple(moved * x / 1000 for x in where)
    new = round((index + 1) * 1e-4, 6)
    rate = SettingDifference("learning_rate", 1e-4, new, 1, "the rates differ")
    return pair(
        a, b, verdict=verdict(result), measures=(one,), settings=(rate,),
        differences={"eval_loss": Difference(where, values, -0.1, 0.1)},
    )  # fmt: skip


def heavy(runs: int = MOST_RUNS, points: int = 5000) -> Comparison:
    """Return runs of 5,000 points in ten metrics."""
    made = sweep(runs, points)
    noisy = [
        curve([1 + math.sin(i * i + k) for i in range(points)], every=2.0) for k in range(runs)
    ]
    extra = {f"metric_{number}": tuple(noisy) for number in range(6)}
    return replace(made, curves={**made.curves, **extra})


def of_hostile(words: str = "") -> Comparison:
    """Return a comparison in which every string of a run is `words`, by default all of HOSTILE."""
    bad = words or " ".join(HOSTILE)
    a = b = hostile(words)
    shown = replace(finding(), title=bad, rule=bad)
    whole = pair(
        a,
        b,
        verdict=CompareVerdict(bad, bad, "not_comparable"),
        align_why=bad,
        checks=(Check(bad, ok=False, why=bad, hard=True), Check(bad, ok=None, why=bad)),
        measures=(measure(metric=bad, what=bad, note=bad), measure(what=bad)),
        partings=(Parting(bad, 5.0, how=bad), Parting("train_loss", 5.0, clear=500.0)),
        mover=bad,
        settings=(SettingDifference(bad, bad, bad, 1, bad, bad, bad), SettingDifference(bad, 1, 2)),
        diff=DiagnosisDiff((shown,), (shown,), (Both(shown, shown),), (Unjudged(shown, "A", bad),)),
        differences={bad: difference(), "train_loss": difference()},
        problems=(Problem(bad, bad, bad),),
    )
    rows = [BoardRow(bad, 1.0, 5, bad, "healthy", {bad: bad}, 0.5, 0, at) for at in range(2)]
    return comparison(
        a, b, pairs=(whole,), seeds=(bad,), problems=(Problem(bad, bad),),
        board=Leaderboard(bad, "lower", tuple(rows), effects=(Effect(bad, 0.5, bad, bad),)),
    )  # fmt: skip


def of_hostile_many(words: str = "") -> Comparison:
    """Return three such runs."""
    both = of_hostile(words)
    curves = {name: (*some, some[0]) for name, some in both.curves.items()}
    return replace(
        both, runs=(*both.runs, both.runs[0]), pairs=(*both.pairs, both.pairs[0]), curves=curves
    )


def aligned(align: str, factor: float) -> Comparison:
    """Return two runs over another axis."""
    whole = two(align=align)
    curves = {
        name: tuple(one and one._replace(step=tuple(x * factor for x in one.step)) for one in some)
        for name, some in whole.curves.items()
    }
    return replace(whole, align=align, curves=curves)  # type: ignore[arg-type]


def bare(values: Iterable[float] | None = None) -> Comparison:
    """Return two runs without anything but, at most, one curve."""
    curves = {} if values is None else {"odd/name": curve(values)}
    a = b = diagnosis(curves=curves, settings=(), sources=(), epochs=(), events=())
    empty = pair(
        a, b, verdict=verdict("not_comparable"), checks=(), measures=(), partings=(), mover="",
        settings=(), diff=DiagnosisDiff(), differences={},
    )  # fmt: skip
    return comparison(a, b, pairs=(empty,))


SHAPES: dict[str, Callable[[], Comparison]] = {
    "two": two,
    "real": real,
    "not comparable": forbidden,
    "identical": lambda: two(verdict=verdict("identical"), settings=(), partings=()),
    "by tokens": lambda: aligned("tokens", 5e4),
    "by epoch": lambda: aligned("epoch", 3e-3),
    "by time": lambda: aligned("time", 30.0),
    "hostile": of_hostile,
    "many hostile": of_hostile_many,
    "nothing known": bare,
    "one odd metric": lambda: bare([1, 2, math.nan]),
    "no number at all": lambda: bare([math.nan] * 30),
    "three": lambda: sweep(3),
    "twenty": sweep,
    "twenty with seeds": lambda: sweep(seeds=("s1", "s2", "s3")),
    "many without curves": lambda: replace(sweep(3), curves={}),
    "many not comparable": lambda: replace(
        sweep(3),
        pairs=tuple(replace(one, verdict=verdict("not_comparable")) for one in sweep(3).pairs),
    ),
}
