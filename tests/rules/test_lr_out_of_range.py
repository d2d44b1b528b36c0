"""Learning rate out of range: which range holds."""

import pytest

from runlens.engine import examine
from runlens.rules.config.lr_out_of_range import RULE
from runlens.rules.rule import Case
from runlens.run import Setting
from runlens.signals import Signals
from runlens.usual_rates import of_method


@pytest.mark.parametrize(
    ("adapter", "rate", "status"),
    [
        (None, "2e-4", "passed"),  # nothing says whether an adapter is trained
        (None, "1e-3", "found"),
        ("none", "2e-4", "found"),
        ("lora", "1e-3", "passed"),
        ("lora", "1e-2", "found"),
    ],
)
def test_an_adapter_on_an_encoder_takes_higher_rates(
    adapter: str | None, rate: str, status: str
) -> None:
    """PEFT's examples train encoders at 3e-4 to 1e-3; all weights stand a tenth of that."""
    config: dict[str, Setting] = {"model_name": "distilbert-base-uncased"}
    if adapter:
        config["adapter"] = adapter
    curves = {"learning_rate": f"0:{rate} 600:0"}
    run = Case("encoder", curves, task="classification", config=config).run()
    assert examine(RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(("first", "status"), [("10", "found"), ("2.5", "passed")])
def test_continued_pretraining_takes_lower_rates(first: str, status: str) -> None:
    """A first loss far below ln(vocabulary) is that of trained weights."""
    curves = {"learning_rate": "0:2e-5 600:0", "train_loss": f"0:{first} 600:2"}
    run = Case("continued", curves, task="pretrain").run()
    assert examine(RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(
    ("curve", "status"),
    [
        ("0:1e-7 600:1e-7", "found"),
        ("0:1e-9 600:4e-7", "unmet"),  # ends in warm-up
        ("500:4e-7 600:1e-8", "unmet"),  # begins late
        ("600:1e-7 610:1e-8", "unmet"),
    ],
)
def test_a_low_peak_must_have_been_seen(curve: str, status: str) -> None:
    """The last rows of a decay are low in every run; so is a warm-up that was cut."""
    run = Case("low", {"learning_rate": curve}).run()
    assert examine(RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(
    ("vocabulary", "first", "last", "what"),
    [
        (47, 3.9, 2.7, "pre-training"),
        (47, 3.4, 2.7, "continued pre-training"),
        (None, 3.9, 2.7, "continued pre-training"),
        (None, 3.9, 2.2, "pre-training"),  # what was trained before has not so much to learn
        (None, 3.2, 1.5, "continued pre-training"),
        (50257, 5.1, 2.7, "pre-training"),
    ],
)
def test_a_start_at_the_chance_of_a_small_vocabulary_is_from_scratch(
    vocabulary: int | None, first: float, last: float, what: str
) -> None:
    """At ln 47 = 3.85: a model of characters starts there, trained ones of any text below."""
    config: dict[str, Setting] = {"vocab_size": vocabulary} if vocabulary else {}
    curves = {"train_loss": f"0:{first} 900:{last}"}
    case = Case("characters", curves, noise=0.0, task="pretrain", config=config)
    usual = of_method(case.run())
    assert usual is not None
    assert usual.what == what
