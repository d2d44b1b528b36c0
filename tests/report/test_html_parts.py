"""The parts of the page: what each says, and how it says what is missing."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.diagnosis import (
    Advice,
    Cause,
    Chart,
    Confidence,
    Evidence,
    Fix,
    Incident,
    Moment,
    Outcome,
    SettingRow,
    Verdict,
)
from runlens.report import facts, values
from runlens.report.html import render, words
from runlens.run import Event, Problem, State
from tests.report.diagnoses import (
    NAN,
    crashed,
    curve,
    diagnosis,
    finding,
    losses,
    overfitting,
    reinforcement,
    with_values,
)
from tests.report.markup import Document


def section(page: str, anchor: str) -> str:
    """Return the text of a part of the page."""
    return Document(page).one("section", id=anchor).text


LOOK = Fix("Print one row", kind="look")
CURES = Fix("Add rows", cures="memorised")
TRIED = Cause("Too many passes", "likely", kind="memorised", experiment="Train on twice the rows")
FACTS = ("When", "Why", "Ruled out", "Lost", "Certainty", "Next")


def test_the_verdict_says_what_when_why_and_how_sure() -> None:
    """Severity as word, counts, the sentence as h1, and the facts below it."""
    page = Document(render(overfitting()))
    top = page.one("section", class_="verdict").text
    assert page.one("h1").text == finding().title
    assert top.startswith("Warning Overfitting · SFT · trl · finished · step 1,000 of 1,000")
    assert "When Step 500 (epoch 1.5) to the end." in top
    assert "Why Too many epochs (most likely)." in top
    assert "Lost 500 of 1,000 steps" in top
    assert "Certainty finding ●●●●○ high (0.8) 10 later evaluations agree" in top


def test_doubts_about_the_input_stand_beside_the_verdict() -> None:
    """A reader of the first lines learns that sources disagree or were cut."""
    page = render(diagnosis(problems=(Problem("train.log:3", "not UTF-8", "3 of 9 lines"),)))
    assert "1 data problem" in Document(page).one("section", class_="verdict").text


def test_a_fault_without_a_known_cause_says_so() -> None:
    """The question is answered, not left out."""
    page = render(diagnosis(findings=(finding(causes=()),)))
    top = Document(page).one("section", class_="verdict").text
    assert "Why No cause is known from what was recorded." in top


def test_what_only_informs_is_a_note_and_no_incident() -> None:
    """A healthy run with a remark has no incident, and the remark's doubt is not the verdict's."""
    page = Document(render(diagnosis(findings=(finding(severity="info"),))))
    top = page.one("section", class_="verdict").text
    assert "Certainty" not in top
    assert [one.text for one in page.all("dt") if one.text in FACTS] == ["Next"]
    assert page.one("h2", id="h-incidents").text == "Note"


def note(**changes: Any) -> dict[str, Any]:
    """Return what makes a diagnosis that one note leads."""
    whole = finding(**{"severity": "info", "rule": "eval-gap", **changes})
    return {"findings": (whole,), "verdict": Verdict("A note.", "", "info")}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "Next Nothing to change."),
        ({"verdict": Verdict("Cannot judge.", "", "unknown")}, "Next Train for longer or log more"),
        (
            {"findings": (finding(severity="info"),), "verdict": Verdict("A note.", "", "info")},
            "Next Train for fewer epochs.",
        ),
        ({"findings": (finding(severity="info"),)}, "Next Nothing to change."),
        (note(fixes=(LOOK,), causes=(TRIED,)), "Next Train on twice the rows."),
        (note(fixes=(LOOK,), causes=(TRIED._replace(rank="possible"),)), "Next Print one row."),
        (note(fixes=(LOOK,), causes=(TRIED._replace(kind="unknown"),)), "Next Print one row."),
        (note(fixes=(LOOK, CURES), causes=(TRIED,)), "Next Add rows."),
        # which weights to use holds whatever the cause is
        (note(fixes=(LOOK,), causes=(TRIED,), rule="hockey-stick"), "Next Print one row."),
        (note(fixes=(), causes=(TRIED,)), "Next Train on twice the rows."),
        (note(fixes=(), causes=(TRIED,), harmless=True), "Next Nothing to change."),
    ],
)
def test_a_run_without_a_fault_says_what_is_next(changes: dict[str, Any], told: str) -> None:
    """Nothing, more data, or the first cure of a note."""
    assert told in Document(render(diagnosis(**changes))).one("section", class_="verdict").text


def test_a_column_that_no_row_fills_is_left_out() -> None:
    """Evidence without any limit has no column of dashes."""
    bare = finding(evidence=(Evidence("Exit code", 255),), chart=Chart())
    table = Document(render(diagnosis(findings=(bare,)))).one("table", class_="stack ev")
    assert table.text == "Evidence.MeasureValueExit code255"


def test_a_run_without_a_loss_shows_the_figures_it_has() -> None:
    """First and last of both losses of a GAN, where neither side of them is better."""
    page = render(with_values({"d_loss": [1.2, 0.8], "g_loss": [2.5, 3.5], "gpu_util": [50, 60]}))
    assert _figures(page)[:4] == [
        ("First discriminator loss", "1.2"),
        ("Last discriminator loss", "0.8"),
        ("First generator loss", "2.5"),
        ("Last generator loss", "3.5"),
    ]


def test_a_fault_behind_the_last_log_line_is_told_with_the_steps() -> None:
    """48 steps are logged and the run crashed at step 50: both are true, and said."""
    page = Document(render(diagnosis(findings=(finding(onset=Moment(1012.0)),))))
    assert "step 1,000 of 1,000, reached 1,012" in page.one("section", class_="verdict").text


@pytest.mark.parametrize(
    ("health", "word"), [("healthy", "Healthy"), ("unknown", "Cannot judge"), ("info", "Info")]
)
def test_each_health_has_its_word(health: str, word: str) -> None:
    """A run without an alarm says which kind of quiet it is."""
    verdict = Verdict("A sentence.", "", health)  # type: ignore[arg-type]
    assert (
        word in Document(render(diagnosis(verdict=verdict))).one("section", class_="verdict").text
    )


def test_copy_gives_the_new_settings_without_signs() -> None:
    """The removed line is shown and not copied."""
    page = Document(render(overfitting()))
    box = page.one("pre", id="diff")
    assert box.attributes["data-text"] == "num_epochs: 2"
    assert [one.text for one in page.all("del")] == ["- num_epochs: 3\n"]


def test_advice_without_a_diff_is_steps_alone() -> None:
    """No empty box beside the steps."""
    page = Document(render(diagnosis(do_first=Advice((("Do not resume", ""),)))))
    assert "Do not resume." in page.one("section", id="do-first").text
    assert not page.all("pre", id="diff")


def test_evidence_shows_value_limit_and_source() -> None:
    """The limit has its side, its unit and its source; bold rows are beyond it."""
    page = Document(render(overfitting()))
    rows = [row for row in page.all("tr") if "Rise of eval loss" in row.text]
    assert "20\u202f%" in rows[0].text
    assert "≥ 5.0\u202f%" in rows[0].text
    assert "rise of 5 %" in rows[0].text
    assert "eval_loss, step 1,000" in rows[0].text
    assert rows[0].attributes["class"] == "bad"
    below = next(row for row in page.all("tr") if row.text.startswith("Entropy0.01"))
    assert "≤ 0.05" in below.text


def test_fixes_show_old_and_new_and_invent_nothing() -> None:
    """An old value that is not recorded is not named; an action has no setting."""
    text = section(render(overfitting()), "incidents")
    assert "num_train_epochs: 3.0 to 2. The best is there." in text
    assert "load_best_model_at_end: true." in text
    assert "Use checkpoint-500" not in text  # it stands in "Do this first"


def test_causes_are_ranked_with_for_and_against() -> None:
    """What speaks against a cause is said, and nothing where nothing does; four causes at most."""
    some = [Cause(f"Cause {i}", "possible", "a number") for i in range(6)]
    causes = (some[0]._replace(against="another number"), *some[1:])
    text = section(render(diagnosis(findings=(finding(causes=causes),))), "incidents")
    assert "Cause 3 · possible" in text
    assert "Cause 4" not in text
    assert text.count("against") == text.count("against another number") == 1


def test_followers_are_folded_below_their_first_mover() -> None:
    """One fault is told once; what followed keeps its own evidence, closed."""
    page = Document(render(overfitting()))
    follower = next(one for one in page.all("details") if "epoch boundaries" in one.text)
    assert len(page.all("article")) == 1
    assert "open" not in follower.attributes
    assert "Followed from it" in page.one("article").text


def test_a_log_line_is_the_proof_where_no_curve_is() -> None:
    """Six lines at most, with the blamed one marked among them."""
    page = Document(render(crashed()))
    assert page.one("mark").text == "train.log:8  frame 8"
    assert page.all("pre")[0].text.startswith("train.log:4  frame 4")
    assert "3 more lines are left out" in page.one("section", class_="verdict").text
    assert "No curve was recorded" in page.one("section", id="timeline").text


def test_what_was_not_recorded_is_no_key_figure() -> None:
    """A run that died before its first row has no row of unknown losses."""
    assert "Not recorded" not in dict(_figures(render(crashed()))).values()
    assert len(_figures(render(diagnosis()))) == 5


def test_key_figures_of_a_healthy_run() -> None:
    """Best and last of train and eval loss, and the largest norm."""
    values = dict(_figures(render(diagnosis())))
    assert values["Best eval loss"] == "1.200"
    assert values["Last eval loss"] == "1.450"
    assert values["Largest gradient norm"] == "1.1"


def test_key_figures_of_a_reward_run() -> None:
    """Reward in place of the loss, higher being better; KL and entropy beside it."""
    values = dict(_figures(render(reinforcement())))
    assert values["Best reward"] == "2.1"
    assert {"Last reward", "Last KL", "Last entropy"} <= set(values)


def _figures(page: str) -> list[tuple[str, str]]:
    parsed = Document(page)
    values = [one.text for one in parsed.all("span", class_="v")]
    names = [one.text for one in parsed.all("dt") if one.text not in FACTS]
    return list(zip(names[: len(values)], values, strict=True))  # those of settings come after


def test_a_loss_that_ends_in_nan_says_its_last_number() -> None:
    """The figure is NaN, the note has the last finite value."""
    page = render(with_values({"train_loss": [2.0, 1.5, NAN]}))
    assert dict(_figures(page))["Last train loss"] == "NaN"
    assert "last finite: 1.500" in page


def test_duration_is_known_where_times_are() -> None:
    """From the first event to the last record; without times the sources stand there."""
    timed = diagnosis(events=(Event("launch", 0, 1000.0),), state=State(last_time=8200.0))
    assert dict(_figures(render(timed)))["Duration"] == "2 h"


def test_checks_add_up_and_give_their_reasons() -> None:
    """Found, passed, could not run and errors sum to the number of rules."""
    outcomes = {
        "a": Outcome("found"),
        "b": Outcome("passed", "0.1; 0.5 would count"),
        "c": Outcome("unmet", "kl is not logged"),
        "d": Outcome("unmet", "kl is not logged"),
        "e": Outcome("unmet", "holds for grpo, ppo; this run is sft"),
        "f": Outcome("error", "ZeroDivisionError: x"),
    }
    text = section(render(diagnosis(outcomes=outcomes, titles={"e": "Entropy"})), "checks")
    ended = "1 note, 1 check passed, 2 could not run, 1 for other tasks, 1 broken"
    assert ended in text
    assert "0.1; 0.5 would count" in text
    assert "c, dKl is not logged." in text
    assert "1 check holds for other tasks: Entropy." in text
    assert "ZeroDivisionError: x" in text


def test_settings_that_findings_name_come_first() -> None:
    """Blamed rows are open with the name of the finding; the rest is folded."""
    page = Document(render(overfitting()))
    folded = next(one for one in page.all("details") if one.text.startswith("All other"))
    assert "max_grad_norm" in folded.text
    assert "num_train_epochs" not in folded.text
    assert "Overfitting" in section(render(overfitting()), "settings")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(2e-05, "2e-5"), (0.002, "0.002"), (True, "true"), (2400, "2400"), (None, "Not recorded")],
)
def test_settings_are_written_as_in_a_file(value: float | None, shown: str) -> None:
    """No thousands comma, short exponents, lower-case booleans."""
    assert words.setting(value) == shown


def test_many_checkpoints_are_one_row() -> None:
    """Hundreds of checkpoints do not bury the resume between them."""
    events = [Event("checkpoint", 10 * i) for i in range(1, 100)] + [Event("resume", 500)]
    text = section(render(diagnosis(events=tuple(events))), "log")
    assert "10 to 99099 checkpoints" in text
    assert "500resume" in text


def test_data_problems_are_listed_and_their_absence_said() -> None:
    """Where, what, how much; or, beside the sources, that everything was read."""
    lost = diagnosis(problems=(Problem("train.log:3", "not UTF-8", "3 of 9 lines"),))
    assert "train.log:3not UTF-83 of 9 lines" in section(render(lost), "problems")
    whole = render(diagnosis())
    assert "Data problemsnoneevery source was read completely" in section(whole, "provenance")
    assert 'id="problems"' not in whole


def test_provenance_gives_reasons_for_task_and_state() -> None:
    """Sources, framework, task with its reason, the end with its reason and how sure it is."""
    text = section(render(crashed()), "provenance")
    assert "out/trainer_state.json" in text
    assert "sftmean_token_accuracy is logged" in text
    assert "crashed (likely)the log ends in a traceback; exit code 1" in text
    by_code = replace(diagnosis(), state=State("crashed", "exit code 1, at step 9", exit_code=1))
    assert section(render(by_code), "provenance").count("exit code 1") == 1


def test_numbers_behind_the_chart_hold_evaluations_and_cited_steps() -> None:
    """The table behind the timeline has a row for each evaluation and each step of a finding."""
    fault = finding(metric="train_loss", onset=Moment(510.0))
    page = Document(render(diagnosis(findings=(fault,))))
    numbers = page.one("div", role="region", class_="scroll").text
    assert "500" in numbers
    assert "510" in numbers
    assert "520" not in numbers


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [
        ("learning_rate", 0.002, "2e-3"),
        ("learning_rate", 0.0, "0"),
        ("learning_rate:1", 1.384e-3, "1.38e-3"),
        ("train_loss", 2.5, "2.500"),
        ("grad_norm", 0.002, "0.002"),
    ],
)
def test_values_are_written_in_the_way_of_their_metric(
    metric: str, value: float, shown: str
) -> None:
    """Losses with three decimals, learning rates with their power of ten."""
    assert values.value_of(metric, value) == shown


def test_words_become_sentences_and_names_stay() -> None:
    """A sentence has a capital and a stop; a setting or a file at its front keeps its letters."""
    assert facts.sentence("needs half the memory") == "Needs half the memory."
    assert facts.sentence("warm-up missing would fit") == "Warm-up missing would fit."
    assert facts.sentence("lora_r is 64") == "lora_r is 64."
    assert facts.sentence("train.py:8 in main") == "train.py:8 in main."


def test_long_paths_show_their_end() -> None:
    """The evidence names the file; the whole path is in the title of the cell."""
    item = Evidence("Asked for", 2.3, where="/home/me/run/train.log:95", unit="GiB")
    page = Document(render(diagnosis(findings=(finding(evidence=(item,)),))))
    cell = page.one("td", title="/home/me/run/train.log:95")
    assert cell.text == "train.log:95"


def test_a_crash_with_system_metrics_alone_has_no_timeline() -> None:
    """What a tracker records by itself is no sign that the training began."""
    page = render(with_values({"heartbeat": [1, 1], "host_mem": [0.7, 0.8]}))
    assert "No curve was recorded" in section(page, "timeline")
    assert "host_mem" in section(page, "metrics")
    assert "heartbeat" not in section(page, "metrics")


def test_spans_say_how_long_a_finding_holds() -> None:
    """To the end, to a step, one step, or the whole run."""
    assert facts.span(finding()) == "step 500 (epoch 1.5) to the end"
    assert facts.span(finding(end=Moment(700.0))) == "step 500 (epoch 1.5) to step 700"
    assert facts.span(finding(onset=Moment(5.0), end=Moment(5.0))) == "step 5"
    assert facts.span(finding(onset=Moment())) == "the whole run"


def test_incidents_keep_the_order_of_the_diagnosis() -> None:
    """The page does not sort again; an empty incident is no card; the first is the headline."""
    cards = (
        Incident((finding(title="First.", severity="critical"),)),
        Incident(()),
        Incident((finding(title="Second."),)),
    )
    page = Document(render(diagnosis(incidents=cards)))
    assert len(page.all("article", id="incident-1")) == 1
    assert page.one("div", id="incident-3").text.startswith("Warning Second.")
    assert not page.all("div", id="incident-2")


def test_text_evidence_and_low_confidence_are_told() -> None:
    """A value may be words; confidence has a word, a number and its reason."""
    fault = finding(
        evidence=(Evidence("Error", "torch.OutOfMemoryError", where="train.log:9"),),
        confidence=Confidence(0.3, "one point"),
        fixes=(Fix("Log more often"),),
        chart=Chart(),
    )
    page = Document(render(diagnosis(findings=(fault,))))
    assert "torch.OutOfMemoryError" in page.one("section", id="incidents").text
    assert "●●○○○ low (0.3) one point" in page.one("section", class_="verdict").text


def test_the_rest_of_a_reason_stands_in_its_sentence() -> None:
    """Of a reason whose first part was told the second has no capital and no stop of its own."""
    sure = Confidence(0.9, "it is loud; the gap is large")
    second = finding(title="It is loud.", confidence=sure)
    cards = (Incident((finding(title="First."),)), Incident((second,)))
    page = Document(render(diagnosis(incidents=cards)))
    said = page.one("div", id="incident-2").text
    assert "(0.9), the gap is large." in said


def test_what_was_not_recorded_has_no_part() -> None:
    """Neither settings nor a log that are not there."""
    bare = replace(diagnosis(), settings=(), events=(), log_tail=(), curves=losses())
    page = render(bare)
    assert 'id="settings"' not in page
    assert 'id="log"' not in page
    assert SettingRow("a", 1, "b").blamed == ""
    assert curve([1.0]).points == 1
