"""Words that are gone from what a user sees: the glossary of CONTRIBUTING as a test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runlens.crossrun import CROSS_RULES
from runlens.crossrun.rule import CrossRule
from runlens.diagnosis import Diagnosis
from runlens.report.facts import sentences
from runlens.rules import LISTED
from runlens.rules.rule import Listed
from tests.report.seen import NAMES, seen

ROOT = Path(__file__).parents[1] / "runlens"
LONGEST = 40  # characters of a rule's title
GONE = {
    "mend": r"\bmend(s|ed|ing)?\b",
    "alarm from N": r"\balarm (from|level|at or below)\b",
    "left its plan": r"\b(left|leaves) its plan\b",
    "closest match": r"\bclosest match\b",
    "learnt": r"\blearnt\b",
    "by heart": r"\bby heart\b",
    "was lost, of a loss": r"\bloss was lost\b",
    "leapt": r"\blea(pt|ps)\b",
    "anew": r"\banew\b",
    "felt": r"\b(not feel|loss felt|feels)\b",
    "is engaged": r"\b(is|was) engaged\b",
    "asked for, of memory": r"GiB asked for",
    "lies idle": r"\blies idle\b",
    "that are needed": r"\bonly .{1,60} that are needed\b",
    "What says so": r"What says so",
    "as of rows": r"\bas of rows\b",
    "surer": r"\bsurer\b",
    "parts from": r"\bparts from\b",
    "a prompt, a token, for per": r"\b(completions a prompt|nats a token|MiB a step)\b",
    "against a limit": r"\bagainst a limit of\b",
    "the most of": r"\bthe most (of|that is) (the )?usual\b",
    "where N is the least": r"\bis the least\b",
    "begun anew": r"\bbeg[au]n anew\b",
    "silence is no sign": r"\bsilence is no sign\b",
    "go on from, of a run": r"^Start again\b",
    "who, without the noun": r"^(this|that) is (the|a) (usual|default|tenth)",
    "not idiomatic": r"hidden NaN from step|outside what works|no checkpoint before it",
    "graded": r"\bGrade the reward\b",
    "off it": r"\bmoves the policy off\b",
    "tautology": r"100 % of its highest",
    "usual maximum of a range": r"the usual maximum \(",
    "suits, of a rate": r"Such a rate is right only",
    "stretch": r"in this stretch",
    "closing row": r"holds only its closing row",
    "names no step": r"its rows name",
    "means little": r"was found in them means",
    "over its level": r"over its level|End over start",
    "is there, of a message": r"message is there",
    "points of a metric": r"only \S+ points? of (memory|reward|the learning rate)\b",
    "who evaluates a metric": r"no metric of another task|records with a time",
    "usual rate is known": r"no usual learning rate is known for",
    "would stand out": r"would have stood out",
    "changed by": r"loss changed by",
    "follow the plan": r"must follow the plan",
    "looked up in": r"Look up why",
    "the most of usual": r"so little holds",
    "damage begins": r"[Tt]he damage begins",
    "step not shown": r"step that is not shown",
    "may fit": r"would fit into reserved|may fit into reserved",
    "fits the cause": r"fit the cause",
    "too short": r"too short to be judged|too short to judge its",
    "gone then": r"gone then",
    "gain lost again": r"was lost again",
    "twice by accumulation": r"times gradient_accumulation",
    "of a step, for at or from": r"\b(batch|batches|checkpoint) of steps? \{",
    "fine until": r"\bfine only until\b",
    "skipped, of a file": r"Skipped: ",
    "the last step N": r"\bat the last step \{",
    "equally lower": r"\bequally lower\b",
    "checkpoint missed": r"best checkpoint can be missed",
    "default of the Trainer": r"default of the Transformers",
    "last weights": r"\b[Uu]se the last weights",
    "settle it": r"would settle it",
    "more tightly": r"\bmore tightly\b",
    "fault is gone": r"\bfault is gone\b",
    "by then": r"\bBy then the learning rate",
    "the tracker says so": r"tracker says so",
    "British": r"\b(initialis|normalis|tokenis|regularis|penalis|destabilis|centred|labelled)\w* ",
    "so few can miss": r"So few evaluations",
    "as such": r", as such ",
    "train on examples": r"or train on examples",
    "drops at once": r"drops to exactly 0 at once",
    "building up": r"nothing was building up",
    "swings without a trend": r"swung without a trend",
}
PLACES = ("rules", "causes", "knowledge", "report", "cli", "crossrun", "comparing", "auditing")
FILES = [
    *(path for place in PLACES for path in sorted((ROOT / place).rglob("*.py"))),
    *sorted(ROOT.glob("*.py")),
    ROOT / "sources" / "console" / "messages.tsv",
]


def templates(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file with their lines; the fields of f-strings as ``{}``."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(source.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def gone(words: str) -> list[str]:
    """Return which of the words that are gone stand in a text."""
    return [name for name, pattern in GONE.items() if re.search(pattern, words)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_template_has_a_word_that_is_gone(path: Path) -> None:
    """In titles, evidence, causes, fixes, pages of rules, messages and labels."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}: {words[:80]}"
        for line, words in templates(path)
        for name in gone(words)
    ]
    assert found == []


@pytest.mark.parametrize(
    "words",
    [
        "the loss was lost at step 98",
        "Start again once the cause is fixed",
        "only 3 of the 10 gradient norms that are needed",
        "Generate more completions a prompt",
        "The training set is known by heart",
        "The peak rate is 0.1, 7.9 × the usual maximum (1e-5 to 5e-4)",
        "Over 400 steps train loss changed by 78 %",
        "The damage begins at step 90",
        "a newly initialised head of the model",
    ],
)
def test_a_word_that_is_gone_is_noticed(words: str) -> None:
    """So that the test above can fail."""
    assert gone(words)


@pytest.mark.parametrize("rule", [*LISTED, *CROSS_RULES], ids=lambda rule: rule.slug)
def test_a_title_is_short_and_no_slug(rule: Listed | CrossRule[Any]) -> None:
    """It stands in tables, in lanes of a chart and in the terminal's overview."""
    assert len(rule.title) <= LONGEST
    assert rule.title != rule.slug


def test_no_two_rules_have_one_title() -> None:
    """A user tells them apart by it."""
    titles = [*(rule.title for rule in LISTED), *(rule.title for rule in CROSS_RULES)]
    assert len(set(titles)) == len(titles)


QUOTE = re.compile(r'"[^"]*"')  # a line of a log speaks as it does
CHAIN = re.compile(r"[a-z0-9)]: [a-z0-9−]|;|→| \[|\w(Error|Exception):")
VERB = re.compile(
    r"\b(is|are|was|were|has|had|have|did|does|do|can|cannot|may|might|could|should|must|will|"
    r"rose|fell|went|came|began|stayed|ended|ran|hung|crashed|stopped|grew|collapsed|became|"
    r"diverged|spiked|swings|drops|widens|overfits|blew|broke|upset|climbed|jumped|reached|says?|"
    r"show|gives?|comes?|lay|means|falls|rises|follows?|reads?|writes?|wrote|overflow|skips|"
    r"logs?|got|gets?|slowed|runs|finished|memorized|concerns|took|kept|stands|would|lose|need|"
    r"cuts|clips|delay|separates|pulls|starts|left|sees|counts|fails|memorizes|look|names|bounds|recovered|repeats|"
    r"averages|restores|lies|lie|grow|made|halves|keeps|shows|holds|lets|frees|defaults|updates|check|uses?|"
    r"confirms|rules|suits|gave|mean|limits|explains|swung|cost|ends|hint|prove|changes|"
    r"(?!need)[a-z]{2,}[^e\\W]ed)\b"
)


def told_of(made: Diagnosis) -> Iterator[str]:
    """Yield each sentence of a diagnosis: verdict, findings, causes, and what to do first."""
    texts = [made.verdict.sentence, made.verdict.second]
    for finding in made.findings:
        texts += [finding.title, finding.seen]
        texts += [sentences(cause.evidence_for) for cause in finding.causes]
    texts += [sentences(why) for _, why in made.do_first.steps]
    for text in texts:
        plain = QUOTE.sub('"x"', text).replace("Also: ", "")
        yield from (one for one in re.split(r"(?<=[.])\s+", plain) if one)


@pytest.mark.parametrize("name", NAMES)
def test_each_sentence_is_one_with_a_verb_and_an_end(name: str) -> None:
    """No facts chained by colons and semicolons, no raw exception, no source in brackets."""
    strange = [
        one
        for one in told_of(seen(name))
        if not one.endswith(".") or not VERB.search(one) or CHAIN.search(one)
    ]
    assert strange == []


@pytest.mark.parametrize(
    "words",
    ["Divergence from step 310: train loss rose.", "No warm-up", "Raised KeyError: x was wrong."],
)
def test_what_is_no_sentence_is_noticed(words: str) -> None:
    """So that the test above can fail."""
    assert CHAIN.search(words) or not VERB.search(words)
