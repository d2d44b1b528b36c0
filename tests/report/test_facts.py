"""When, why, how sure and how many: the same in text, Markdown and on the page."""

from dataclasses import replace

import pytest

from runlens.diagnosis import (
    Cause,
    Confidence,
    Diagnosis,
    Evidence,
    Moment,
    Outcome,
    SettingRow,
)
from runlens.report import facts, markdown, overview, text
from runlens.report.html import render
from runlens.report.once import Once
from runlens.report.terminal import Options, cut
from runlens.run import Event, State
from tests.report.diagnoses import HOSTILE, crashed, diagnosis, finding, overfitting, with_values
from tests.report.markup import Document

WHY = "Too many epochs (most likely)."
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.75 GiB. GPU 0 has a total "
    "capacity of 79.33 GiB of which 1.59 GiB is free. Process 326926 "
)


def written(shown: Diagnosis) -> list[str]:
    """Return a diagnosis as text, as Markdown, and the text of its page."""
    page = Document(render(shown)).one("html").text
    return [text.render(shown, Options(120)), markdown.render(shown), page]


def test_every_report_says_when_and_why() -> None:
    """In the same words; a note is no fault, and has neither."""
    for report in written(overfitting()):
        assert "Step 500 (epoch 1.5) to the end." in report
        assert WHY in report
    assert "When: Step 500 (epoch 1.5) to the end.\nWhy:  Too many" in text.render(overfitting())
    for report in written(diagnosis(findings=(finding(severity="info"),)))[:2]:
        assert "When:" not in report
        assert "Why:" not in report


def test_every_report_counts_the_checks_alike() -> None:
    """Those of other tasks apart; one that is told with another finding is none that passed."""
    outcomes = {
        "a": Outcome("found"),
        "b": Outcome("passed", "0.1; 0.5 would count"),
        "c": Outcome("passed", "merged into a: it says the same"),
        "d": Outcome("unmet", "not logged: kl"),
        "e": Outcome("unmet", "holds for grpo, ppo; this run is sft"),
        "f": Outcome("error", "ZeroDivisionError: x"),
    }
    shown = diagnosis(outcomes=outcomes, findings=(finding(),))
    counted = ["1 could not run", "1 for other tasks", "1 broken"]
    for report in written(shown):
        assert "1 check passed, " in report
        assert ", ".join(counted) in report
    assert (
        "1 found something, 1 check passed, 1 covered above"
        in Document(render(shown)).one("html").text
    )


@pytest.mark.parametrize(
    ("causes", "cause"),
    [
        ((), facts.Certainty("cause", "not known", 0)),
        ((Cause("a", "likely"),), facts.Certainty("cause", "likely", 3, "the only one considered")),
        (
            (Cause("a", "most likely"), Cause("b"), Cause("c")),
            facts.Certainty("cause", "most likely", 4, "2 others considered"),
        ),
    ],
)
def test_a_sure_finding_is_no_sure_cause(causes: tuple[Cause, ...], cause: facts.Certainty) -> None:
    """The confidence is the finding's; no cause is as sure as what is logged."""
    made = facts.certainties(finding(causes=causes, confidence=Confidence(1.0, "it is logged")))
    assert made == [facts.Certainty("finding", "very high (1.0)", 5, "it is logged"), cause]


def test_what_was_lost_is_told_in_steps_hours_and_money() -> None:
    """Money where a price is set, hours where times are known; nothing where nothing is lost."""
    rows = (SettingRow("gpu_count", 4, "meta.json"),)
    lead = finding(onset=Moment(600.0, None, 1000.0), end=None)
    state = State("finished", done_steps=1000, last_time=1000.0 + 5400.0)
    shown = diagnosis(findings=(lead,), settings=rows, state=state, gpu_hour_price=2.5)
    gone = "400 of 1,000 steps (40\u202f%) · 1 h 30 min on 4 GPUs · 15.00 at 2.5 per GPU-hour"
    assert facts.lost(shown) == gone
    assert gone in Document(render(shown)).one("section", class_="verdict").text
    assert facts.lost(replace(shown, gpu_hour_price=None)).endswith("on 4 GPUs")
    assert facts.lost(diagnosis(findings=(replace(lead, end=Moment(700.0)),))) == ""
    assert facts.lost(diagnosis()) == ""
    for metric, kept in (("eval_bleu", True), ("eval_loss", False)):  # what measures may be wrong
        still = replace(lead, rule="eval-flat", metric=metric)
        made = diagnosis(findings=(still,), state=state)
        assert (facts.lost(made) == "") is kept


def test_a_long_reason_ends_where_a_sentence_or_a_word_does() -> None:
    """Never within a number; what has room stays whole."""
    assert facts.shortened(MESSAGE, 80).endswith("Tried to allocate 2.75 GiB. …")
    assert facts.shortened("one two three four", 12) == "one two …"
    assert facts.shortened("one", 12) == "one"
    assert len(facts.shortened("x" * 50, 12)) == 12


def test_a_message_is_told_once() -> None:
    """An incident's line brings news; two kinds of messages that know one line are one event."""
    first = Evidence("Last error in the log", MESSAGE, where="train.log:66")
    fault = finding(evidence=(first, Evidence("Asked for", 2.75, unit="GiB")))
    twice = tuple(
        Event("message", 8, None, MESSAGE, "train.log:66", {"row": row}) for row in (1, 9)
    )
    why = f"{MESSAGE}has 77, at step 8 of 200"
    shown = replace(
        diagnosis(findings=(fault,), events=twice), state=State("crashed", why, "certain")
    )
    told = " ".join(text.render(shown, Options(verbose=True)).split())
    assert "Asked for 2.75 GiB" in told
    assert told.count("CUDA out of memory") == 1 + ("CUDA out of memory" in told.split("End ")[1])
    assert Document(render(shown)).one("section", id="log").text.count("CUDA out of") == 1


def test_the_device_is_told_where_it_was_recorded() -> None:
    """With how many there were; its file stands in the provenance."""
    rows = (SettingRow("gpu", "NVIDIA A100", "meta.json"), SettingRow("gpu_count", 2, "meta.json"))
    page = Document(render(diagnosis(settings=rows)))
    assert "2 × NVIDIA A100" in page.one("section", class_="verdict").text
    assert "Device2 × NVIDIA A100meta.json" in page.one("section", id="provenance").text
    assert "Device" not in Document(render(diagnosis())).one("section", id="provenance").text


def test_settings_name_their_file_once() -> None:
    """Each file a heading, its settings below it."""
    rows = tuple(SettingRow(f"key_{i}", i, "out/a.json" if i % 2 else "b.yaml") for i in range(20))
    listed = Document(render(diagnosis(settings=rows))).one("section", id="settings").text
    assert listed.count("out/a.json") == listed.count("b.yaml") == 1
    assert listed.index("key_18") < listed.index("out/a.json") < listed.index("key_1 1")


def test_a_long_log_is_printed_in_part_and_says_so() -> None:
    """All lines are on the page; print has the last of them."""
    page = Document(render(replace(crashed(), log_tail=tuple(f"line {i}" for i in range(50)))))
    log = page.one("section", id="log").text
    assert "The last 16 of 40 lines are printed; the log itself has all." in log
    assert page.one("span", class_="noprint").text.splitlines()[-1] == "line 33"
    assert "line 49" in log


def test_the_machines_curves_are_folded_behind_the_trainings_own() -> None:
    """Those of a finding stay in sight; where there are no others the fold is open."""
    machine = {f"system/disk.{i}": [1.0, 2.0] for i in range(10)}
    both = {"train_loss": [2.0, 1.0], **machine, "weight_norm": [1.0, 1.0], "gpu_util": [9.0, 8.0]}
    fault = finding(metric="system/disk.7", evidence=(), chart=finding().chart._replace(kind=""))
    page = Document(render(with_values(both, findings=(fault,))))
    fold = next(one for one in page.all("details") if one.text.startswith("Machine, 10 curves"))
    assert "open" not in fold.attributes
    assert "weight_norm" not in fold.text
    alone = Document(render(with_values(machine)))
    assert [one for one in alone.all("details", class_="after") if "open" in one.attributes]


def test_an_underscore_within_a_name_needs_no_escape() -> None:
    """Markdown reads none there; at a word's edge it may."""
    assert markdown.escaped("train_loss, a_1") == "train_loss, a_1"
    assert markdown.escaped("_a_ a__b é_") == "&#95;a&#95; a&#95;&#95;b é&#95;"
    assert not any(sign in markdown.escaped(" ".join(HOSTILE)) for sign in "<>*`")


def test_markdown_gives_advice_as_its_sentence() -> None:
    """A noun phrase and words in two columns read as none."""
    advice = Evidence("entropy is not logged", "needed for: entropy collapse")
    shown = markdown.render(
        diagnosis(
            findings=(finding(severity="info", title="Entropy is not logged.", evidence=(advice,)),)
        )
    )
    assert "needed for" not in shown
    assert "| Entropy is not logged. |" in shown


def test_a_cut_name_keeps_its_folder_and_its_end() -> None:
    """The folder is the word that the user gave; the end tells siblings apart."""
    name = "run-thursday/wandb/run-20260119_193743-ugaeu18w"
    assert cut(name, 32) == "run-thursday/…19_193743-ugaeu18w"
    assert cut(name, 12) == "run-t…aeu18w"
    assert cut("short", 12) == "short"
    several = [diagnosis(run_name=name), diagnosis()]
    texts = (overview.overview(several, Options(width)) for width in (80, 120))
    narrow, wide = (text.partition("\n")[2].split() for text in texts)  # below the curves' name
    assert narrow[1] == "run-thur…ugaeu18w"
    assert wide[1] == name


def test_a_line_of_the_log_is_quoted_once() -> None:
    """However each place cuts it, and with or without the name of its exception."""
    once, line = Once(), "/opt/env/lib/python3.11/site-packages/flash_attn.so: undefined symbol"
    once.tell(f'The log says "ImportError: {line}: _ZN3c10 …".')
    assert once.new(f'the log says "{line}: _ZN3c1011StorageImpl …"') == ""
    assert once.new('the log says "RuntimeError: another line of it"') != ""
