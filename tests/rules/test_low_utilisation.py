"""Low utilization: which cause comes first, and what is proposed."""

import pytest

from runlens.diagnosis import Finding
from runlens.engine import examine
from runlens.rules.rule import Case
from runlens.rules.throughput.low_utilisation import RULE
from runlens.run import Setting, Task
from runlens.signals import Signals


def said(config: dict[str, Setting], task: Task = "sft") -> Finding:
    """Return what is said of a GPU that is half idle."""
    run = Case("idle", {"gpu_util": "0:45 600:45"}, noise=0.05, task=task, config=config).run()
    return examine(RULE, run, Signals(run)).findings[0]


@pytest.mark.parametrize(
    ("config", "first", "why"),
    [
        ({}, "Data loading", ""),
        ({"per_device_train_batch_size": 32}, "Data loading", ""),
        ({"per_device_train_batch_size": 1}, "Model or batch too small", "train_batch_size is 1"),
        ({"num_parameters": 2e6}, "Model or batch too small", "2 million parameters"),
    ],
)
def test_a_tiny_batch_or_model_comes_before_the_loader(
    config: dict[str, Setting], first: str, why: str
) -> None:
    """One sample a step fills no GPU, however fast it is loaded."""
    cause = said(config).causes[0]
    assert cause.what.startswith(first)
    assert why in cause.evidence_for
    assert cause.rank == "most likely"


def test_a_tiny_batch_is_doubled_first() -> None:
    """The setting that is blamed is the setting that is changed."""
    fix = said({"per_device_train_batch_size": 1}).fixes[0]
    assert (fix.setting, fix.old, fix.new) == ("per_device_train_batch_size", 1, 2)


def test_policies_wait_for_their_samples() -> None:
    """No loader is blamed where completions are generated between the updates."""
    causes = [cause.what for cause in said({}, "grpo").causes]
    assert causes[0].startswith("Generation")
    assert not [what for what in causes if what.startswith("Data loading")]


@pytest.mark.parametrize(("gpu", "pinned"), [("NVIDIA A100", True), ("Apple M2 Max", False)])
def test_memory_is_pinned_for_cuda_alone(gpu: str, *, pinned: bool) -> None:
    """Apple's GPUs share the memory of the host."""
    settings = [fix.setting for fix in said({"gpu": gpu}).fixes]
    assert ("dataloader_pin_memory" in settings) is pinned


@pytest.mark.parametrize("key", ["torch_compile", "compile"])
def test_what_is_compiled_already_is_not_to_be_compiled(key: str) -> None:
    """The switch of nanoGPT is `compile`, the Trainer's `torch_compile`."""

    def advice(*, compiled: bool) -> str:
        columns = {"gpu_util": "0:92 600:92", "mfu": "0:0.05 600:0.05"}
        run = Case("busy", columns, task="sft", config={key: compiled}).run()
        return " ".join(fix.what for fix in examine(RULE, run, Signals(run)).findings[0].fixes)

    assert "Use flash attention and a fused optimizer" in advice(compiled=True)
    assert "torch.compile" in advice(compiled=False)
