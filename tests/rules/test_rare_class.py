"""A rare class that no answer ever names: told, with what nothing weighs, and look-alikes."""

from typing import Any

import pytest

from runlens.engine import diagnose
from runlens.rules.evaluation.rare_class import HEADING
from runlens.rules.rule import drawn

RARE: dict[str, Any] = {
    "train_loss": "/50 50:0.53 300:0.16 900:0.137",
    "train_accuracy": "/50 50:0.967 900:0.967",
    "f1": "/50 50:0 900:0",
}


def told(**more: Any) -> tuple[str, str, str]:
    """Return the heading, the first cause and its rank of what leads."""
    lead = diagnose(drawn("rare", noise=0, task="classification", **{**RARE, **more}).run())
    one = lead.incidents[0].findings[0]
    return one.heading, one.causes[0].what if one.causes else "", lead.verdict.health


def test_one_class_is_rare_and_nothing_weighs_it() -> None:
    """F1 of exactly 0 beside one accuracy: it is the share of the frequent class."""
    heading, cause, verdict = told()
    assert heading == HEADING
    assert cause == "One class is rare, and nothing weighs it"
    assert verdict == "warning"
    assert told(train_accuracy="/50 50:96.7 900:96.7")[0] == HEADING


def test_a_first_evaluation_may_still_find_a_few() -> None:
    """A model that still answers at random is right now and then, also of tagged words."""
    first = {"f1": "50:0.016 100:0 900:0 /50", "train_accuracy": "50:0.961 100:0.967 900:0.967 /50"}
    assert told(**first)[0] == HEADING
    tagged: dict[str, Any] = {"f1": first["f1"], "token_accuracy": first["train_accuracy"]}
    run = drawn("rare", noise=0, train_loss=RARE["train_loss"], **tagged).run()
    headings = [one.heading for found in diagnose(run).incidents for one in found.findings]
    assert HEADING in headings


@pytest.mark.parametrize(
    "scores",
    [
        "50:0.016 100:0 650:0 700:0.02 900:0.3",  # it comes to find them
        "50:0.3 100:0 900:0",  # it had found them: lost, which is another fault
        "50:0.016 450:0.01 500:0 900:0",  # half of the evaluations found some
    ],
)
def test_look_alikes_of_a_first_evaluation_that_finds_a_few(scores: str) -> None:
    """What is found later, or was found, is no class that no answer names."""
    assert told(f1=f"{scores} /50")[0] != HEADING


@pytest.mark.parametrize("key", ["pos_weight", "class_weights", "focal_loss.gamma"])
def test_what_is_weighed_is_no_cause(key: str) -> None:
    """The finding stands, and what made it is not known."""
    heading, cause, _ = told(config={key: 2.0})
    assert heading == HEADING
    assert cause == "Not known"


@pytest.mark.parametrize("key", ["num_classes", "pos_embedding"])
def test_other_settings_weigh_nothing(key: str) -> None:
    """A number of classes is no weight of one."""
    assert told(config={key: 2})[1] == "One class is rare, and nothing weighs it"


@pytest.mark.parametrize(
    "more",
    [
        {"train_accuracy": "/50 50:0.95 900:0.99"},  # it moves: other answers than one are given
        {"train_accuracy": "/50 50:0.6 900:0.6"},  # neither class is rare
        {"train_accuracy": "/25 25:0.967 900:0.967"},  # of other moments
        {"f1": "/50 50:0.004 900:0.004"},  # some are found
        {"f1": "/50 50:0 450:0 500:0.4 900:0.6"},  # it comes to find them
    ],
)
def test_look_alikes_of_a_class_that_is_never_predicted(more: dict[str, str]) -> None:
    """Nothing says that all answers are one."""
    assert told(**more)[0] != HEADING


OF_SPACY: dict[str, Any] = {
    "train_loss": "/20 20:11.9 40:5 300:2.2",
    "eval_cats_f1_pos": "/20 0:6.69 20:0 300:0",
    "eval_cats_accuracy": "/20 0:7.9 20:96.6 300:96.6",
}


def test_a_first_evaluation_before_training_is_left_out() -> None:
    """Its answers are random: the F1 of the rare class is 0 from the second on."""
    lead = diagnose(drawn("spacy", noise=0, task="classification", **OF_SPACY).run())
    one = lead.incidents[0].findings[0]
    assert (one.heading, one.onset and one.onset.step) == (HEADING, 20)


@pytest.mark.parametrize(
    "more",
    [
        {"eval_cats_accuracy": "/20 0:7.9 20:96.6 160:96.6 180:97.1 300:97.1"},  # others are right
        {"eval_cats_f1_pos": "/20 0:0 20:0 160:0 180:12 300:40"},  # it comes to find them
        {"eval_cats_accuracy": "/20 0:7.9 20:66 300:66"},  # neither class is rare
        {name: curve.replace("300", "80") for name, curve in OF_SPACY.items()},  # too few
    ],
)
def test_look_alikes_of_a_class_without_an_answer(more: dict[str, str]) -> None:
    """Another accuracy, an F1 that rises, two frequent classes, or four evaluations."""
    case = drawn("spacy", noise=0, task="classification", **{**OF_SPACY, **more})
    found = [one for each in diagnose(case.run()).incidents for one in each.findings]
    assert HEADING not in {one.heading for one in found}


RECALL = "0:0.167 10:0 90:0 /10"
TURNS = "0:0.695 10:0.883 20:0.967 30:0.982 90:0.982 /10"  # to one answer, row by row


def by_recall(**more: str) -> list[str]:
    """Return the headings of a run that logs a recall and an accuracy."""
    logged: dict[str, Any] = {"train_loss": "/10 0:0.67 90:0.25", "recall": RECALL}
    logged = {
        key: said for key, said in {**logged, "train_accuracy": TURNS, **more}.items() if said
    }
    run = drawn("rare", noise=0, task="classification", **logged).run()
    return [one.heading for found in diagnose(run).incidents for one in found.findings]


def test_a_recall_of_nothing_beside_one_accuracy() -> None:
    """The accuracy climbs to the share of the frequent class while the last rows turn to it."""
    assert HEADING in by_recall()
    assert HEADING in by_recall(train_accuracy="", eval_accuracy=TURNS)
    assert HEADING in by_recall(recall="", eval_recall=RECALL)


@pytest.mark.parametrize(
    "more",
    [
        {"recall": "0:0.167 10:0 80:0 90:0.1 /10"},  # it comes to find them
        {"recall": "0:0.3 40:0.1 50:0 90:0 /10"},  # half of the evaluations found some
        {"recall": "", "recall@5": RECALL},  # of a search: accuracy is another thing
        {"recall": "", "macro_recall": RECALL},  # of a mean over classes
        {"train_accuracy": "0:0.6 90:0.6 /10"},  # neither class is rare
        {"train_accuracy": "0:0.9 90:0.99 /10"},  # it moves: other answers than one are given
        {"train_accuracy": "5:0.982 95:0.982 /10"},  # of other moments
        {"recall": "0:0 20:0 /10", "train_accuracy": "0:0.98 20:0.98 /10"},  # too early to say
    ],
)
def test_look_alikes_of_a_recall_of_nothing(more: dict[str, str]) -> None:
    """Of these no class is known to be never predicted."""
    assert HEADING not in by_recall(**more)
