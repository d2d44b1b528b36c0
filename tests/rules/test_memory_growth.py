"""Memory growth: what is recorded before training, and jumps."""

from runlens.engine import examine
from runlens.rules.rule import drawn
from runlens.rules.throughput.memory_growth import RULE
from runlens.signals import Signals

RAMP = "0:20 600:20 700:70 900:75 950:92"


def test_memory_before_the_first_training_record_does_not_count() -> None:
    """The model is loaded there, or others use the card."""
    case = drawn("loads", noise=0.0, gpu_mem=RAMP, train_loss="900:3 950:2 /50")
    run = case.run()
    outcome = examine(RULE, run, Signals(run))
    assert outcome.status == "unmet"


def test_a_staircase_is_a_climb() -> None:
    """Many jumps are a leak a round; two are longer batches."""
    stairs = " ".join(f"{100 * k}:{20 + 2 * k} {100 * k + 90}:{20 + 2 * k}" for k in range(11))
    for text, status in ((stairs, "found"), ("0:20 490:20 500:30 740:30 750:40 1000:40", "passed")):
        run = drawn("jumps", noise=0.001, gpu_mem=text).run()
        assert examine(RULE, run, Signals(run)).status == status
