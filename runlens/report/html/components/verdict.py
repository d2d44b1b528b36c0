"""The top of the page: severity, counts, the sentence, and what to do first."""

from collections.abc import Iterator

from runlens.diagnosis import UNTESTED, Advice, Diagnosis, Finding
from runlens.report.facts import (
    GRADES,
    Certainty,
    certainties,
    device,
    end_words,
    lost,
    loud,
    named,
    next_step,
    sentence,
)
from runlens.report.html.components.proof import lead_of, proof_of
from runlens.report.html.components.signs import tag
from runlens.report.html.components.tables import folded, words
from runlens.report.html.element import NOTHING, Child, Markup, cut, el
from runlens.report.html.words import headline
from runlens.report.once import Top
from runlens.wording import count, uncapitalised
from runlens.wording import step as step_words

SENTENCE = 400  # characters of the headline; rules write 130
TITLE = 60  # ... and of the short name of what was found
OUT = 3  # readings that were ruled out
ACRONYMS = frozenset({"sft", "dpo", "kto", "orpo", "grpo", "ppo", "rl"})


def verdict(diagnosis: Diagnosis) -> Markup:
    """Return the verdict: severity, run, headline, and the proof beside what is known of it."""
    said = diagnosis.verdict
    lead = lead_of(diagnosis)
    proof = proof_of(lead, diagnosis, "hero", tall=True) if lead else NOTHING
    top = Top.of(diagnosis)
    told = el(
        "div",
        el("p", top.second, class_="lede") if top.second else None,
        el("dl", [_fact(*one) for one in _facts(diagnosis, top)], class_="facts"),
    )
    return el(
        "section",
        tag(said.health),
        " ",
        el("span", words(about(diagnosis)), class_="mut"),
        el("h1", headline(cut(said.sentence, SENTENCE)), id="h-verdict"),
        el("div", proof, told, class_="hero") if proof else told,
        class_="verdict",
        aria_labelledby="h-verdict",
    )


def about(diagnosis: Diagnosis) -> list[str]:
    """Return what was found by its short name, and what kind of run it is: ``SFT``, its end."""
    lead = lead_of(diagnosis)
    found = named(lead, diagnosis) if lead else ""
    task = "" if diagnosis.task == "other" else diagnosis.task
    framework = "" if diagnosis.framework == "unknown" else diagnosis.framework
    onset = diagnosis.findings[0].onset.step if diagnosis.findings else None
    behind = onset is not None and onset > diagnosis.last_step
    reached = f", reached {step_words(onset or 0)}" if behind else ""
    return [
        cut(found, TITLE),
        task.upper() if task in ACRONYMS else task,
        framework,
        end_words(diagnosis.state),
        f"step {steps(diagnosis)}{reached}",
        device(diagnosis)[0],
        count(len(diagnosis.problems), "data problem") if diagnosis.problems else "",
    ]


def steps(diagnosis: Diagnosis) -> str:
    """Return how far the run came: ``242 of 500``."""
    done = f"{step_words(diagnosis.last_step)}"
    planned = diagnosis.state.planned_steps
    return f"{done} of {step_words(planned)}" if planned else done


def _facts(diagnosis: Diagnosis, top: Top) -> Iterator[tuple[str, Child]]:
    """Return when and why the fault came, what it cost, and how sure that is."""
    faults = loud(diagnosis)
    if not faults:
        yield from top.facts or (("Next", sentence(next_step(diagnosis))),)
        return
    lead = faults[0].findings[0]
    yield from top.facts
    if against := _not(lead):
        yield "Ruled out", against
    if gone := lost(diagnosis):
        yield "Lost", gone
    yield "Certainty", [_certainty(one) for one in certainties(lead)]


def _not(lead: Finding) -> str:
    """Return what was tested and does not hold, by name; the card of the incident says why."""
    out = [item.what for item in lead.ruled_out if not item.why.startswith(UNTESTED)]
    return sentence("; ".join([*out[:1], *map(uncapitalised, out[1:OUT])])) if out else ""


def _certainty(one: Certainty) -> Markup:
    dots = "●" * one.grade + "○" * (GRADES - one.grade)
    why = el("span", one.reason, class_="mut") if one.reason else None
    return el(
        "p",
        one.of,
        " ",
        el("span", dots, class_="dots", aria_hidden="true"),
        " ",
        one.word,
        " " if why else None,
        why,
    )


def _fact(name: str, told: Child) -> Markup:
    return el("div", el("dt", name), " ", el("dd", told))


def do_first(top: Top, advice: Advice) -> Markup:
    """Return the box "Do this first": at most three steps, and the settings to paste."""
    steps_ = [
        el("li", el("b", _stopped(what)), f" {why}" if why else None) for what, why in top.steps
    ]
    left = el("div", el("h2", "Do this first", id="h-do-first"), el("ol", steps_))
    right = _diff(advice.diff, "diff", "Settings for the next run") if advice.diff else None
    if advice.otherwise:
        other = _diff(advice.otherwise, "otherwise", "Settings to try second")
        right = el("div", right, folded("If this does not help", "", other, class_="plain"))
    class_ = "first" if right else "first one"
    return el("section", left, right, class_=class_, id="do-first", aria_labelledby="h-do-first")


def _stopped(what: str) -> str:
    return what if what.endswith((".", "?", ":")) else f"{what}."


def _diff(lines: tuple[tuple[str, str], ...], uid: str, title: str) -> Markup:
    """Return changed settings; Copy gives the new ones without their signs."""
    new = "\n".join(line.strip() for sign, line in lines if sign == "+")
    button = el(
        "button",
        "Copy",
        class_="js",
        hidden=True,
        data_copy=uid,
        type="button",
        aria_label=f"Copy: {title.lower()}",
    )
    shown = el(
        "pre",
        [_diff_line(sign, line) for sign, line in lines],
        id=uid,
        data_text=new,
        tabindex=0,
        role="region",
        aria_label=title,
    )
    head = el("div", el("span", title), button, class_="cap")
    return el("div", head, shown, class_="codebox")


def _diff_line(sign: str, line: str) -> Markup:
    kind, class_ = {"+": ("ins", None), "-": ("del", None)}.get(sign, ("span", "ctx"))
    return el(kind, f"{sign} {line}\n", class_=class_)
