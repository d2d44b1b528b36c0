"""A run that ends far from its siblings is told of where they are listed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from runlens.cli import main
from runlens.comparing.apart import far_off, judged, odd_one, told
from runlens.diagnosis import Health, Verdict
from runlens.history import History, columns
from runlens.metrics import Better
from runlens.run import Problem, Run, Setting
from runlens.verdict import beside_siblings


@pytest.mark.parametrize(
    ("values", "better", "far"),
    [
        ([0.050, 0.044, 65.4, 0.046], "lower", [2]),
        ([147.3, 139.4, 137.8, 61.8], "higher", [3]),
        ([0.050, 0.044, 0.001, 0.046], "lower", []),  # it is better
        ([0.30, 0.52, 0.41, 0.75], "lower", []),  # all lie apart
        ([1.0000, 1.0001, 1.0000, 1.02], "lower", []),  # nobody minds 2 %
        ([-1.0, -1.1, -0.9, 4.0], "lower", [3]),  # no logarithm of these
        ([0.05, 60.0], "lower", []),  # of two nobody knows which is usual
    ],
)
def test_a_value_is_held_against_the_others(
    values: list[float], better: str, far: list[int]
) -> None:
    """By how far repeats of them would lie, and by how much it is worse."""
    assert far_off(values, "higher" if better == "higher" else "lower") == far


def test_repeats_are_seldom_told_to_lie_apart() -> None:
    """Of drawn families of seeds one in a hundred may, on the worse side alone half as many."""
    rng = np.random.default_rng(7)
    drawn = [np.exp(rng.normal(0, 0.05, rng.integers(3, 9))).tolist() for _ in range(400)]
    assert sum(bool(far_off(values, "lower")) for values in drawn) <= 4


@pytest.mark.parametrize(("last", "shown"), [(55.0, True), (0.051, False)])
def test_a_seed_that_went_wrong_is_told_beside_the_others(
    tmp_path: Path, last: float, shown: bool
) -> None:
    """Its curve alone may fall well."""
    for seed, end in enumerate((0.050, 0.044, last, 0.046)):
        rows = [f"{n},{end * (1 + 9 * 0.5**n):.5f}" for n in range(1, 16)]
        (tmp_path / f"seed_{seed}.csv").write_text("\n".join(["epoch,train_loss", *rows]))

    said = CliRunner().invoke(main, ["diagnose", str(tmp_path), "--no-html"]).output

    assert said.count("seed_2.csv: it ends far from 3 siblings: train loss 55") == shown
    assert ("WARNING  seed_2.csv step 15" in said.splitlines()[1]) is shown
    assert said.count("Ends far from its siblings") == shown
    assert ("1 warning, 3 healthy" in said) is shown
    health = {"seed_2.csv": "warning"} if shown else {}
    verdicts = _verdicts(str(tmp_path))
    for name, verdict in verdicts.items():
        assert verdict["health"] == health.get(name, "healthy")
        first = "It ends far from 3 siblings: train loss 55"
        assert verdict["sentence"].startswith(first) is (name in health)
    asked = _verdicts(str(tmp_path), "--run", "seed_2.csv")["seed_2.csv"]
    assert asked == verdicts["seed_2.csv"]  # asked about by itself, it has its siblings too
    if shown:
        assert asked["second"].startswith("Train loss fell from 302")
    page = (
        CliRunner()
        .invoke(main, ["diagnose", str(tmp_path), "--no-html", "--run", "seed_2.csv"])
        .output
    )
    assert ("Next: Compare it with one of them" in page) is shown


def test_the_setting_that_a_run_alone_has_outweighs_what_a_note_of_it_has(tmp_path: Path) -> None:
    """The cause of that note would contradict it."""
    for seed, (rate, end) in enumerate(((0.01, 0.23), (1.0, 12.0), (0.01, 0.24))):
        rows = [
            f"iter {5 * n}: bpc {end * (1 + 1.5 * 0.6**n):.4f}, gn {rate * norm:.3f}"
            for n in range(1, 16)
            for norm in [4 + (n + seed) % 5]
        ]
        text = "\n".join([f"vocab 28 lr {rate} clip 1.0", *rows])
        (tmp_path / f"gru_s{seed}.log").write_text(text)
    said = CliRunner().invoke(main, ["diagnose", str(tmp_path), "--run", "gru_s1.log", "--no-html"])
    assert "It alone has learning_rate 1 (theirs 0.01). That is likely the cause" in said.output
    assert "Gradients were clipped" in said.output
    assert "Why:" not in said.output
    assert "Next: Compare it with one of them" in said.output


def test_a_doubt_beside_siblings_stays_a_doubt() -> None:
    """What is told beside siblings makes no run louder than a note, and none quieter."""
    loud: tuple[Health, ...] = ("critical", "unknown")
    for health in loud:
        before = Verdict("Train loss diverged.", "", health)
        assert beside_siblings(before, "it ends far").health == health


@pytest.mark.parametrize(
    ("sentence", "second", "health", "made"),
    [
        (
            "No fault was found up to step 9. Train loss fell.",
            "",
            "healthy",
            Verdict("It ends far: 3.", "It alone has lr 9. Train loss fell.", "warning"),
        ),
        (
            "It is not clear whether the run learned anything.",
            "Flat.",
            "unknown",
            Verdict("It ends far: 3.", "It alone has lr 9. Flat.", "warning"),
        ),
        (
            "Train loss diverged.",
            "",
            "critical",
            Verdict("Train loss diverged.", "It ends far: 3. It alone has lr 9.", "critical"),
        ),
    ],
)
def test_what_is_grave_comes_first(
    sentence: str, second: str, health: Health, made: Verdict
) -> None:
    """Unless the run's own curves show a fault."""
    text = "it ends far: 3. It alone has lr 9"
    assert beside_siblings(Verdict(sentence, second, health), text, grave=True) == made


@pytest.mark.parametrize(
    ("ends", "better", "health"),
    [
        ((0.10, 0.11, 1.80, 0.10), "lower", "warning"),  # it learned next to nothing
        ((0.10, 0.11, 0.25, 0.10), "lower", "info"),  # it learned most of it: a worse setting
        ((0.90, 0.92, 0.15, 0.91), "higher", "warning"),
        ((0.90, 0.92, 0.70, 0.91), "higher", "info"),
        ((2.00, 2.01, 9.00, 2.02), "lower", "info"),  # the others learned nothing either
    ],
)
def test_less_than_half_of_what_the_others_gained(
    ends: tuple[float, ...], better: Better, health: Health
) -> None:
    """A run far off is at fault where it missed most of what can be learned."""
    start, name = (2.0, "eval_loss") if better == "lower" else (0.1, "eval_accuracy")
    steps = np.arange(20)
    runs = [
        Run(f"r{n}", f"r{n}", History({name: columns(steps, end + (start - end) * 0.5**steps)}))
        for n, end in enumerate(ends)
    ]
    far = (Problem("r2", "it ends far"),)
    made = judged(runs, [Verdict("No fault was found.", "", "healthy")] * 4, far, name, better)
    assert [one.health for one in made] == ["healthy", "healthy", health, "healthy"]
    assert judged(runs[2:3], made[:1], far, name, better)[0].health == "info"  # beside nothing


def _verdicts(*asked: str) -> dict[str, dict[str, str]]:
    """Return the verdicts of the JSON, by the name of the run."""
    said = CliRunner().invoke(main, ["diagnose", *asked, "--format", "json"]).output
    found = json.loads(said)
    documents = found if isinstance(found, list) else [found]
    return {one["run"]["name"]: one["verdict"] for one in documents}


@pytest.mark.parametrize(
    ("rates", "ends", "words"),
    [
        ((2, 25, 2), (0.380, 1.20, 0.388), "It alone has learning rate 25 (theirs 2)."),
        ((2, 0.02, 2), (0.380, 1.20, 0.388), "It alone has learning rate 2e-2 (theirs 2)."),
        ((2, 25, 2), (0.380, 0.39, 0.388), ""),  # as good as the others
        ((2, 25, 2), (0.380, 0.2, 0.388), ""),  # better
        ((2, 25, 2), (0.30, 1.20, 0.60), ""),  # the others lie apart too
        ((2, 2.1, 2), (0.380, 1.20, 0.388), ""),  # of one rate: two values bound no third
        ((2, 25, 8), (0.380, 1.20, 0.388), ""),  # a sweep
        ((2, 2, 2), (0.380, 1.20, 0.380), ""),  # two that are one
    ],
)
def test_one_run_at_another_rate(
    tmp_path: Path, rates: tuple[float, ...], ends: tuple[float, ...], words: str
) -> None:
    """It is known by its rate before any loss is seen, so that few siblings are enough."""
    for seed, (rate, end) in enumerate(zip(rates, ends, strict=True)):
        rows = [f"{n},{rate},{end * (1 + 9 * 0.5**n):.5f}" for n in range(1, 20)]
        text = "\n".join(["epoch,learning_rate,train_loss", *rows])
        (tmp_path / f"seed_{seed}.csv").write_text(text)

    said = " ".join(
        CliRunner().invoke(main, ["diagnose", str(tmp_path), "--no-html"]).output.split()
    )

    assert words in said
    assert ("siblings" in said) is bool(words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ([{"dropout": 0.1}, {"dropout": 0.9}, {"dropout": 0.1}], "dropout 0.9 (theirs 0.1)"),
        ([{}, {"a": 1, "b": 2, "c": 3}, {}], "a 1 (theirs not set) and b 2 (theirs not set)"),
        ([{"dropout": 0.1}, {"dropout": 0.9}, {"dropout": 0.5}], ""),
        ([{"dropout": 0.1}, {"dropout": 0.9}], ""),
    ],
)
def test_the_odd_one_by_its_settings(settings: list[dict[str, float]], words: str) -> None:
    """Where all others share theirs."""
    runs = [Run(f"r{n}", f"r{n}", History({})) for n in range(len(settings))]
    found = odd_one(runs, settings)
    assert (found.words if found else "").startswith(words)
    assert bool(found) is bool(words)
    if found:
        assert (found.at, "1 more setting" in found.words) == (1, len(settings[1]) > 2)


def test_a_sweep_tells_of_none() -> None:
    """Each of its runs is meant to end elsewhere, and one that stopped soon is not compared."""
    steps = np.arange(10)
    curves = [History({"train_loss": columns(steps[:n], 1.0 / (1 + steps[:n]))}) for n in (10, 3)]
    whole, short = (Run("r", "r", one) for one in curves)
    named = [replace(whole, name=name) for name in "ab"]
    alone = [*named, replace(short, name="c")]
    swept = [{"lr": n} for n in range(3)]
    assert told(alone, [0.1, 0.11, 9.0], "train_loss", "lower", swept) == ()
    odd: list[dict[str, Setting]] = [{"lr": 1}, {"lr": 1}, {"lr": 9}]
    assert told(alone, [0.1, 0.11, 9.0], "train_loss", "lower", odd) == ()


TRAINS, EVALS = (0.70, 0.65, 0.77, 0.80, 0.70), (1.50, 1.57, 1.50, 0.78, 1.38)


@pytest.mark.parametrize(
    ("name", "train", "held_out", "leaks"),
    [
        ("fold{}.log", TRAINS, EVALS, True),
        ("dropout{}.log", TRAINS, EVALS, False),  # a model that generalizes is no repeat
        ("fold{}.log", TRAINS, (1.50, 1.57, 1.50, 1.40, 1.38), False),
        ("fold{}.log", (0.70, 0.65, 0.77, 0.30, 0.70), EVALS, False),  # it learned more
        ("fold{}.log", (1.49, 1.55, 1.48, 0.80, 1.36), EVALS, False),  # in both: an easier fold
    ],
)
def test_a_fold_that_knows_its_held_out_rows(
    name: str, train: tuple[float, ...], held_out: tuple[float, ...], leaks: bool
) -> None:
    """Its training loss is as that of the others, its evaluation loss is as its training loss."""
    steps = np.arange(30)
    levels = zip(train, held_out, strict=True)
    runs = [
        Run(
            name.format(n),
            name.format(n),
            History(
                {
                    "train_loss": columns(steps, one + 2 * 0.5**steps),
                    "eval_loss": columns(steps, other + 2 * 0.5**steps),
                }
            ),
        )
        for n, (one, other) in enumerate(levels)
    ]
    errors = [0.6 + 0.01 * n for n in range(len(runs))]
    for found in (
        told(runs, held_out, "eval_loss", "lower"),
        told(runs, errors, "eval_error", "lower"),  # ranked by it, and judged by the losses
    ):
        assert any("may be among its training rows" in one.text for one in found) is leaks
