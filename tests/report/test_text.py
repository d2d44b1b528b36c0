"""Text for terminals: fits the width, obeys nobody, the verdict first."""

import re
from dataclasses import replace

import pytest

from runlens.cause import UNKNOWN, Cause
from runlens.diagnosis import HEALTHS, Advice, Diagnosis, Fix, Incident, Verdict
from runlens.engine import diagnose
from runlens.fix import Changed
from runlens.report import facts
from runlens.report.overview import overview
from runlens.report.terminal import Options, clean
from runlens.report.text import LINES, render, verdict
from runlens.rules.evaluation.hockey_stick import RULE as HOCKEY_STICK
from runlens.rules.rule import drawn
from runlens.run import Problem, State
from tests.report.diagnoses import HOSTILE, diagnosis, finding
from tests.report.seen import NAMES, seen

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SPARK = re.compile("[▁▂▃▄▅▆▇█×]{3}")
MANY_WORDS = 7  # of a sentence that nobody wants to read twice
SPACES = "\n\u202f\u00a0"  # isprintable() takes only the usual space for printable
SICK = diagnosis(
    findings=(finding(),),
    verdict=Verdict("Overfitting from step 500.", "Eval loss was best there.", "warning"),
)


def breakable(line: str) -> bool:
    """Whether a line could have been broken: a long path could not, and a diff must not be."""
    diff = line.startswith(("       + ", "       - "))
    return not diff and max(map(len, line.split()), default=0) < 40


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [80, 120])
def test_every_line_of_every_fixture_fits(name: str, width: int) -> None:
    """In short and in full."""
    for verbose in (False, True):
        lines = render(seen(name), Options(width, verbose=verbose)).splitlines()
        assert [line for line in lines if len(line) > width and breakable(line)] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_short_report_is_one_screen(name: str) -> None:
    """Sixteen lines at 80 columns: when, why, the first step and a curve always; no slug alone."""
    one = seen(name)
    lines = render(one).splitlines()
    assert len(lines) <= LINES == 16
    for incident in facts.loud(one)[:1]:
        told = "\n".join(lines)
        assert "\nWhen: " in told
        assert "\nWhy:  " in told
        assert "  1. " in told
        assert incident.findings[0].metric not in one.curves or SPARK.search(told)
    assert not [line for line in lines[1:] for slug in one.titles if "-" in slug and slug in line]


def test_the_short_report_of_a_crash_quotes_its_exception() -> None:
    """What was raised is what its reader looks for first."""
    seen_ = 'The log says "ValueError: 10 is not a multiple of 4".'
    one = finding(rule="crashed", severity="critical", title="The run crashed.", seen=seen_)
    assert "ValueError: 10 is not a multiple of 4" in render(diagnosis(findings=(one,)))


def test_settings_that_differ_stand_under_the_overview() -> None:
    """With the runs that have each value; one run differs from nothing."""
    text = overview([seen("hockey-stick"), seen("nan-loss"), seen("healthy-grpo")])
    assert "  num_train_epochs: 45 (hockey-stick), 1 (nan-loss, healthy-grpo)" in text
    assert "Settings that differ" not in overview([seen("hockey-stick")])


@pytest.mark.parametrize("name", NAMES[::5])
def test_plain_characters_say_the_same(name: str) -> None:
    """ASCII and nothing unknown in it; the lines stay as they were."""
    plain = render(seen(name), Options(ascii_only=True))
    assert plain.isascii()
    assert plain.count("?") == render(seen(name)).count("?")
    assert len(plain.splitlines()) == len(render(seen(name)).splitlines())


@pytest.mark.parametrize("name", NAMES[::5])
def test_colour_adds_nothing_but_colour(name: str) -> None:
    """Everything is there without it."""
    coloured = render(seen(name), Options(color=True, verbose=True))
    assert COLOUR.sub("", coloured) == render(seen(name), Options(verbose=True))
    assert "\x1b" in coloured


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_comes_first(name: str) -> None:
    """Severity, name and step in the first line, the sentence in the next."""
    one = seen(name)
    text = render(one, Options(120, verbose=True))
    assert text.startswith(f"{one.health.upper()}  {one.run_name}")
    words = " ".join(text.split())
    assert words.index(one.verdict.sentence.split()[0]) < words.index(" Files ")
    assert " ".join(one.verdict.sentence.split()) in words


def test_losses_are_told_before_anything_else_is_said() -> None:
    """Where, what and how much; three of them, the rest by count."""
    lost = [Problem(f"file-{n}.json", "is cut", f"{n} of 9 rows") for n in range(4)]
    text = render(replace(SICK, problems=tuple(lost)))
    assert "! file-0.json is cut. Lost: 0 of 9 rows." in text
    assert "! 1 more problem (-v lists them)" in text
    assert text.index("! file-2") < text.index("1 check passed")
    assert "file-3.json" not in text
    assert "file-3.json" in render(replace(SICK, problems=tuple(lost)), Options(verbose=True))


def test_verbose_has_evidence_causes_fixes_and_checks() -> None:
    """All that the page has in words."""
    text = " ".join(render(SICK, Options(120, verbose=True)).split())
    for part in (
        "Confidence high (0.8)",
        "Rise of eval loss 20 % (threshold ≥ 5.0 %)",
        "Entropy 0.01 (threshold ≤ 0.05)",
        "Why: Too many epochs (most likely).",
        "Ruled out - Divergence",
        "- Train for fewer epochs. Change num_train_epochs from 3 to 2.",
        "- Keep the best model. Set load_best_model_at_end",
        "Eval loss was best at step 500 and has climbed since.",
        "Passed Divergence",
        "Could not run Throughput drop",
        "Not for this task Entropy collapse",
    ):
        assert part in text
    short = render(SICK)
    assert "onfidence" not in short
    assert "1 check passed" in short
    assert "(-v: all of it)" in short


def test_consequences_are_told_behind_the_first_mover() -> None:
    """Each finding of an incident, in its order."""
    both = Incident((finding(), finding(rule="eval-gap", severity="info")))
    text = render(diagnosis(incidents=(both,)), Options(verbose=True))
    assert re.search(r"WARNING +Overfitting(.|\n)*INFO +", text)


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_stands_once_in_a_report(name: str) -> None:
    """What stands at the top is not repeated where the finding has its evidence."""
    for verbose in (False, True):
        words = " ".join(render(seen(name), Options(verbose=verbose)).split())
        told = [one for one in re.split(r"(?<=[.])\s", words) if len(one.split()) > MANY_WORDS]
        assert [one for one in set(told) if words.count(one) > 1] == []


@pytest.mark.parametrize("hostile", [*HOSTILE, "\x9b31m", "\r\n", "\x7f\x08"])
def test_no_control_character_gets_through(hostile: str) -> None:
    """Names, sentences, problems, evidence, settings: all may come from a stranger."""
    bad = finding(title=hostile, seen=hostile, metric=hostile, rule="hockey-stick")
    made = diagnosis(
        findings=(bad,),
        run_name=hostile,
        sources=(hostile,),
        verdict=Verdict(hostile, hostile, "warning"),
        problems=(Problem(hostile, hostile, hostile),),
        task_why=hostile,
    )
    made = replace(made, state=replace(made.state, why=hostile))
    shown = [render(made), render(made, Options(verbose=True)), verdict(made), overview([made])]
    for text in shown:
        assert all(char.isprintable() or char in SPACES for char in text)


def test_clean_shows_what_it_takes_away() -> None:
    """As escapes, so that nothing is hidden."""
    assert clean("a\x1b[31m\nb\u202ec") == "a\\x1b[31m\\nb\\u202ec"
    assert clean("20\u202f% \u2212 é") == "20\u202f% \u2212 é"


def test_quiet_is_one_line_however_long() -> None:
    """For loops in a shell."""
    line = verdict(replace(SICK, verdict=Verdict("word " * 50 + "end.", "", "warning")))
    assert line.count("\n") == 1
    assert line.startswith("WARNING small run: word")
    assert line.endswith("end.\n")
    assert verdict(replace(SICK, run_name="é×"), Options(ascii_only=True)).isascii()


def named(name: str, health: str) -> Diagnosis:
    """Return a diagnosis for an overview."""
    made = diagnosis(run_name=name)
    return replace(made, verdict=Verdict(f"This run is {health}.", "", health))  # type: ignore[arg-type]


def test_overview_has_the_worst_first_and_the_counts_last() -> None:
    """By severity, then by name."""
    some = [named("b", "healthy"), named("z", "critical"), named("a", "info"), named("c", "info")]
    lines = overview(some, Options(100)).splitlines()
    assert lines[0].split() == ["train", "loss"], "what the curves are of"
    lines = [line for line in lines if line[:1].strip()]
    assert [line.split()[:2] for line in lines[:4]] == [
        ["CRITICAL", "z"],
        ["INFO", "a"],
        ["INFO", "c"],
        ["HEALTHY", "b"],
    ]
    assert lines[-1] == "4 runs: 1 critical, 2 info, 1 healthy"
    assert "This run is critical." in lines[0]


def test_a_change_that_is_told_in_words_stands_behind_no_other_step() -> None:
    """No file is known to paste it into, and the first step is which weights to go on from."""
    sick = seen("hockey-stick")
    (change,) = sick.do_first.changes
    steps = (("Keep the best weights", ""), ("Train for fewer epochs (epochs from 45 to 15)", ""))
    told = replace(sick.do_first, steps=steps, diff=(), carried_out=0, changes=(change,))
    text = overview([replace(sick, do_first=told), seen("healthy-grpo")], Options(80))
    assert "Keep the best weights.\n" in text
    assert "45 → 15" not in text


def test_overview_says_what_to_do_first_below_a_faulty_run() -> None:
    """With the setting that it changes; which curve is drawn is said where they differ."""
    lines = overview([seen("hockey-stick"), seen("healthy-grpo")], Options(80)).splitlines()
    first = "         For the next run, train for fewer epochs (num_train_epochs 45 → 15)."
    assert lines[2].startswith("         Too many passes over the data (most likely): ")
    assert first in lines[3:5]
    assert any(line.startswith("Main curve: ") for line in lines)


def test_overview_names_a_fault_by_its_title_where_it_began_and_how_the_run_ended() -> None:
    """As much as has room, and nothing cut; a quiet run keeps its sentence."""
    runs = [seen("hockey-stick"), seen("healthy-grpo")]
    for width, told in ((80, "Overfitting at step 90"), (120, "at step 90, train loss 0.680")):
        lines = overview(runs, Options(width)).splitlines()
        lines = [line for line in lines if line[:1].strip()]
        assert lines[0].endswith(told)
    assert "No serious fault was found" in lines[1]


def wandering() -> Diagnosis:
    """Return the diagnosis of a run whose evaluations go up and down by as much as they rise."""
    case = next(case for case in HOCKEY_STICK.bad if case.name.startswith("wanders"))
    return diagnose(case.run())


def test_a_note_that_leads_says_what_to_do_next_and_that_it_is_not_certain() -> None:
    """Nobody is sent to hunt an overfitting that wandering may be."""
    made = wandering()
    text = render(made, Options(80))
    assert made.health == "info"
    assert "The run may overfit from step" in text
    assert text.count("Next: ") == 1
    (line,) = [line for line in overview([made], Options(80)).splitlines() if line[:4] == "INFO"]
    assert line.endswith("Overfitting, not certain")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_overview_fits(width: int) -> None:
    """Sentences and names are cut where they must be."""
    lines = overview([seen(name) for name in NAMES], Options(width)).splitlines()
    assert max(map(len, lines)) <= width
    heads = [line for line in lines if line[:1].strip()][: len(NAMES)]
    assert all(line.split()[0].lower() in HEALTHS for line in heads)


def test_the_diff_stands_below_the_step_that_it_carries_out() -> None:
    """Once a lower learning rate stood under "Do not use the last weights"."""
    one = seen("oom-cliff")
    assert one.do_first.carried_out == 0
    assert "     See the diff with -v.\n  2. " in render(one)
    shorter = replace(one.do_first, diff=one.do_first.diff[:2], carried_out=1)
    told = render(replace(one, do_first=shorter))
    assert "  2. Use flash attention.\n         Training" in told


def test_the_head_counts_the_steps_after_the_last_row() -> None:
    """The trainer's record says how far it came, and the foot repeats it: so does the head."""
    state = State("finished", "the trainer wrote its closing summary", "certain", done_steps=691,
                  planned_steps=691)  # fmt: skip
    shown = replace(SICK, state=state, last_step=680)
    assert "finished, step 691" in render(shown, Options(80)).splitlines()[0]
    assert "680 of 691" not in render(shown, Options(80))


def test_the_head_of_a_run_without_a_step_names_its_plan() -> None:
    """One that died before its first row."""
    state = State("crashed", "ValueError: no", "certain", planned_steps=500)
    shown = replace(SICK, state=state, last_step=0, curves={}, incidents=())
    assert "crashed, 0 of 500 steps logged" in render(shown, Options(80)).splitlines()[0]


def test_a_setting_of_the_first_steps_is_given_no_second_value() -> None:
    """One value to set: that of the diff."""
    twice = replace(
        finding(), fixes=(Fix("Reuse less", "n_epochs", 20, 2), Fix("Look", "", None, None))
    )
    first = Advice(
        (("Use each batch once", ""),),
        (("-", "n_epochs: 20"), ("+", "n_epochs: 1")),
        changes=(Changed("config.json", "n_epochs", "n_epochs", 20, 1),),
    )
    shown = replace(diagnosis(findings=(twice,), verdict=SICK.verdict), do_first=first)
    text = render(shown, Options(80, verbose=True))
    assert "n_epochs: 1" in text
    assert "Reuse less" not in text
    assert "Look." in text


def test_a_run_that_cannot_be_judged_says_what_would_tell() -> None:
    """Where a note brings it; a run without one has no next step here."""
    unclear = drawn("x", noise=0.2, task="other", train_loss="0:2.3 900:2.25")
    text = render(diagnose(unclear.run()), Options())
    assert text.startswith("UNKNOWN")
    assert "Next: Overfit one batch of 8 samples." in text
    short = render(diagnose(drawn("x", train_loss="0:2.3 10:2.2").run()), Options())
    assert short.startswith("UNKNOWN")
    assert "Next: " not in short


@pytest.mark.parametrize(("kind", "said"), [("memorised", True), (UNKNOWN, False)])
def test_a_note_says_why_where_it_is_known(kind: str, said: bool) -> None:
    """Of a cause that is not known no experiment is asked for: a note is no fault."""
    cause = Cause("Too many passes over the data", "likely", "5 passes", kind=kind)
    note = replace(finding(), severity="info", causes=(cause,))
    told = diagnosis(verdict=Verdict("A note.", "", "info"), findings=(note,))
    assert ("Too many passes over the data (likely)" in "".join(render(told))) is said


def part(number: int, begins: float = 0) -> Diagnosis:
    """Return the diagnosis of a part of a file, whose fault begins so much later."""
    made = replace(seen("nan-loss"), run_name=f"train_everything.log ({number} of 20)")
    first = made.incidents[0]
    onset = first.findings[0].onset
    onset = onset._replace(step=(onset.step or 0) + begins)
    found = (replace(first.findings[0], onset=onset), *first.findings[1:])
    return replace(made, incidents=(first._replace(findings=found),))


def test_parts_of_one_file_with_one_fault_share_their_lines() -> None:
    """A hundred tasks of one program: two lines say it. Few parts have a line each."""
    many = [part(n) for n in range(10, 30)]
    lines = overview([*many, seen("hockey-stick")], Options(80)).splitlines()
    assert sum(line.startswith("CRITICAL") for line in lines) == 1 + 1
    (told,) = [line for line in lines if "more parts" in line]
    assert told.strip().startswith("19 more parts of this file: the same at step ")
    assert lines[-1].startswith("21 runs: ")
    few = overview(many[:5], Options(80))
    assert "more part" not in few
    assert " (14 of 20) " in few, "the number is whole"
    late = overview([part(n, n) for n in range(10, 30)], Options(80))
    assert "19 more parts of this file: the same from step " in late


def test_runs_of_their_own_have_a_line_each() -> None:
    """They are looked for by their names."""
    apart = [replace(part(n), run_name=f"runs/{n}") for n in range(10, 30)]
    assert "more part" not in overview(apart, Options(80))
    seeds = [replace(part(n), run_id=f"seed {n}", run_name=f"seed {n}") for n in range(10, 30)]
    assert "19 more parts of this file" in overview(seeds, Options(80))
