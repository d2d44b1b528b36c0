"""How causes are weighed against each other: which leads, how sure, and in which words."""

from collections.abc import Callable

import msgspec
import pytest

from runlens.cause import Cause
from runlens.causes import ranking, usual
from runlens.causes.hypothesis import HINT, SETTLES, SPEAKS, STRONG, Hypothesis, Sign
from runlens.causes.ranking import _hinted as hinted
from runlens.causes.scene import Scene
from runlens.diagnosis import Finding, Incident, Moment
from runlens.engine import diagnose
from runlens.rules.rule import drawn
from runlens.signals import Signals
from runlens.wording import uncapitalised
from tests.causes.weighed import scene

Judge = Callable[..., list[Cause]]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Return a judge of causes a, b, c by nothing but the signs that are given."""

    def judge(*signs: tuple[Sign, ...], own: tuple[Cause, ...] = ()) -> list[Cause]:
        asked = tuple(_hypothesis(*one) for one in zip("abcdef", signs, strict=False))
        monkeypatch.setattr(ranking, "HYPOTHESES", asked)
        run = drawn("x", train_loss="0:3 900:3").run()
        found = Finding("warning", "Flat.", "train_loss", Moment(9), (), causes=own, rule="plateau")
        return list(ranking.judge(Scene(run, Signals(run), [found]))[0])

    return judge


def _hypothesis(kind: str, signs: tuple[Sign, ...]) -> Hypothesis:
    flat = frozenset({"plateau"})
    return Hypothesis(kind, f"Cause {kind}", flat, lambda _: signs, "", "")


def one(weight: float, text: str = "seen", what: str = "") -> tuple[Sign, ...]:
    """Return a single sign."""
    return (Sign(text, weight, what),)


@pytest.mark.parametrize(
    ("first", "second", "ranks"),
    [
        (SETTLES, SETTLES, ["most likely", "likely"]),  # it says it alone
        (STRONG, SPEAKS, ["most likely", "possible"]),  # clearly ahead
        (STRONG, STRONG, ["likely", "likely"]),
        (SPEAKS, HINT, ["likely", "possible"]),
        (SPEAKS, SPEAKS, ["likely", "possible"]),
        (STRONG, STRONG - 0.5, ["likely", "possible"]),
    ],
)
def test_the_rank_is_that_of_the_evidence(
    judged: Judge, first: float, second: float, ranks: list[str]
) -> None:
    """The first is the most likely where one sign settles it, or where it is clearly ahead."""
    assert [cause.rank for cause in judged(one(first), one(second))] == ranks


def test_a_hint_never_names_a_cause(judged: Judge) -> None:
    """Unknown comes first, with what fits behind it."""
    told = judged(one(HINT))
    assert [cause.kind for cause in told] == ["unknown", "a"]
    assert "cause a would fit, but the logs do not prove it" in told[0].evidence_for


def test_further_signs_count_a_quarter(judged: Judge) -> None:
    """They share their roots: three hints are no sign that speaks."""
    told = judged((*one(HINT, "x"), *one(HINT, "y"), *one(HINT, "z")), one(SPEAKS))
    assert [cause.kind for cause in told] == ["b", "a"]


def test_the_strongest_leads_whatever_the_order(judged: Judge) -> None:
    """Of equal evidence the earlier one does."""
    assert [c.kind for c in judged(one(SPEAKS), one(STRONG))] == ["b", "a"]
    assert [c.kind for c in judged(one(STRONG), one(STRONG))] == ["a", "b"]


def test_a_cause_has_the_name_of_its_strongest_named_sign(judged: Judge) -> None:
    """A further sign tells its own name, a weaker one than a hint is not told."""
    signs = (
        *one(STRONG, "at the peak", "The rate"),
        *one(SPEAKS, "2 of 3", "Another name"),
        *one(HINT, "KeyError: x", "KeyError of a row"),
        *one(0.5, "faint", "Faint name"),
    )
    (told,) = judged(signs)
    assert told.what == "The rate"
    assert (
        told.evidence_for == "at the peak; 2 of 3 (another name); KeyError: x (KeyError of a row)"
    )


def test_what_settles_it_by_more_than_a_sign_is_told_alone(judged: Judge) -> None:
    """An input that left its plan needs no other name beside it."""
    (told,) = judged((*one(SETTLES + 2, "left its plan", "Plan"), *one(STRONG, "other", "Other")))
    assert told.evidence_for == "left its plan"


def test_a_line_is_not_quoted_twice(judged: Judge) -> None:
    """A message and the exception that repeats it begin alike."""
    line = "OSError: [Errno 28] No space left on device, while saving"
    (told,) = judged((*one(STRONG, line), *one(SPEAKS, f"{line} a checkpoint")))
    assert told.evidence_for == line


def test_the_evidence_of_a_finding_counts_and_its_mere_name_does_not(judged: Judge) -> None:
    """A rule sees its own curve alone: likely is a hint, most likely speaks."""
    named = Cause("Named", "most likely", "it is high", kind="a")
    assert judged((), own=(named,))[0].kind == "a"
    assert judged((), own=(named._replace(rank="likely"),))[0].kind == "unknown"
    (told,) = judged((), own=(named._replace(evidence_for=""),))
    assert told.kind == "unknown"


def test_a_cause_answers_the_checks_of_the_signs_that_are_told(judged: Judge) -> None:
    """The fourth sign is not told; what the log proves is proved by the sign that names it."""
    signs = [Sign(f"seen {n}", SPEAKS, answers=(f"check-{n}",)) for n in range(4)]
    (told,) = judged(tuple(signs))
    assert told.answers == ("check-0", "check-1", "check-2")
    assert not told.proved
    (told,) = judged((Sign("no space", SETTLES, "The disk is full", proved=True),))
    assert told.proved


def test_four_causes_are_told_the_strongest_first(judged: Judge) -> None:
    """A fifth would be a list."""
    told = judged(*(one(weight) for weight in (2, 3, 2.5, 3.5, 4)))
    assert [cause.kind for cause in told] == ["e", "d", "b", "c"]


def test_a_sign_is_told_thrice_at_most(judged: Judge) -> None:
    """Each after the first says little more."""
    (told,) = judged(tuple(Sign(f"seen {n}", SPEAKS) for n in range(4)))
    assert told.evidence_for == "seen 0; seen 1; seen 2"


def test_lines_that_begin_with_the_same_forty_characters_are_one(judged: Judge) -> None:
    """Thirty-nine are not enough."""
    front = "x" * 39
    (told,) = judged((*one(STRONG, f"{front}ab"), *one(SPEAKS, f"{front}ac")))
    assert told.evidence_for == f"{front}ab"
    (told,) = judged((*one(STRONG, f"{front}a"), *one(SPEAKS, f"{front}b")))
    assert told.evidence_for == f"{front}a; {front}b"


def test_a_long_name_in_brackets_would_be_a_sentence(judged: Judge) -> None:
    """The sign is told without it."""
    for name, said in (("N" * 60, f" ({'N' * 60})"), ("N" * 61, "")):
        (told,) = judged((*one(STRONG, "seen", "Cause"), *one(SPEAKS, "too", name)))
        assert told.evidence_for == f"seen; too{said}"


def test_of_equal_incidents_the_explained_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cause that is only suggested explains nothing, though its incident began earlier."""
    flat = Hypothesis("a", "A", frozenset({"plateau"}), lambda _: one(HINT), "", "")
    torn = Hypothesis("b", "B", frozenset({"loss-spike"}), lambda _: one(STRONG), "", "")
    monkeypatch.setattr(ranking, "HYPOTHESES", (flat, torn))
    run = drawn("x", train_loss="0:3 900:3").run()
    made = [
        Incident((Finding("warning", "T.", "train_loss", Moment(at), (), rule=rule),))
        for rule, at in (("plateau", 9), ("loss-spike", 90))
    ]
    told = ranking.explained(run, Signals(run), made).incidents
    assert [incident.findings[0].rule for incident in told] == ["loss-spike", "plateau"]


@pytest.mark.parametrize(
    ("level", "rule", "words"),
    [
        ("0:15 900:15", "throughput-drop", "by hand"),  # above any chance level: a sum
        ("0:14 900:14", "throughput-drop", "console output"),
        ("0:3 800:3 810:nan 900:nan", "throughput-drop", "fp32"),
        ("0:15 900:15", "plateau", "8 samples"),  # what is common has its own experiment
    ],
)
def test_where_nothing_is_known_an_experiment_is_named(
    monkeypatch: pytest.MonkeyPatch, level: str, rule: str, words: str
) -> None:
    """One that fits the loss, else the log of another run."""
    silent = [msgspec.structs.replace(one, signs=lambda _: ()) for one in ranking.HYPOTHESES]
    silent = [one for one in silent if "throughput-drop" not in one.explains]
    common = [one for one in silent if one.kind == usual.COMMON[0].kind]
    monkeypatch.setattr(usual, "COMMON", tuple(common))
    monkeypatch.setattr(ranking, "HYPOTHESES", tuple(silent))
    run = drawn("x", noise=0.0, train_loss=level).run()
    found = Finding("warning", "T.", "train_loss", Moment(9), (), rule=rule)
    (told,) = ranking.judge(Scene(run, Signals(run), [found]))[0]
    assert (told.kind, told.rank) == ("unknown", "possible")
    assert words in told.experiment


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("Learning rate too high", "a learning rate that is too high would fit"),
        ("Warm-up missing or too short", "a warm-up that is missing or too short would fit"),
        ("Too many passes over the data", "too many passes over the data would fit"),
        ("An odd batch", "an odd batch would fit"),
    ],
)
def test_what_fits_is_named_by_a_noun(what: str, told: str) -> None:
    """The name of a cause that is a noun with what is wrong with it gets its article."""
    assert hinted([uncapitalised(what)]).startswith(told)


@pytest.mark.parametrize(
    ("found", "at"),
    [
        ("entropy-collapse 300 warning, completions-clipped 0 warning", 300),
        ("entropy-collapse 300 warning, completions-clipped 100 warning", 100),
        ("completions-clipped 0 warning, entropy-collapse 300 warning", 0),
    ],
)
def test_what_the_run_began_with_is_no_first_symptom(found: str, at: int) -> None:
    """Unless it leads: completions that were cut before any update tell of none."""
    run = drawn("x", task="grpo", entropy="0:2 300:0.02 900:0.01", reward="0:0.4 900:0.4").run()
    assert scene(run, found).symptom == at


def test_the_first_cause_is_that_of_what_the_verdict_tells() -> None:
    """Of notes alone, a spike with its cause explains nothing of a loss that hardly fell."""
    run = drawn(
        "stands and spikes",
        noise=0.01,
        task="other",
        train_loss="0:73.4 100:73.4 110:130 120:73.4 600:73.3",
    ).run()
    told = diagnose(run)
    assert {one.severity for one in told.incidents} == {"info"}
    assert told.incidents[0].findings[0].rule == "not-learning"
    assert all(cause.kind != "bad-batch" for cause in told.causes)
