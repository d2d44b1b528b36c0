"""What findings on the end, the memory and the speed of runs blame and propose."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.rules.rule import Case, drawn, message
from runlens.rules.throughput import flops
from runlens.run import Event, Setting, State
from tests.rules.said import Said, ask, bad, check, explained

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
TIMEOUT = "Watchdog caught collective operation timeout"
ORDER = (
    "fix per_device_train_batch_size: 8 -> 4",
    "fix gradient_accumulation_steps: 2 -> 4",
    "fix gradient_checkpointing: None -> True",
    "fix optim: adamw_torch -> adamw_8bit",
    "fix max_length: 4096 -> 2048",
    "do Use flash attention",
)


def oom(**config: Setting) -> Case:
    """Return a run that ran out of memory at step 240."""
    return bad("oom-cliff", "after stable training", **config)


def hung(**config: Setting) -> Case:
    """Return a run whose collective timed out at step 160."""
    return bad("hang", "a collective times out", **config)


SAID = {
    "E1 a longer batch": Said(
        "oom-cliff",
        oom(max_length=4096),
        (
            "One batch with longer samples than the others",
            "do Truncate at max_length and pad to a multiple of 8",
        ),
        bad("oom-cliff", "in the first step"),
    ),
    "E2 E4 E7 the order against memory": Said(
        "oom-cliff",
        oom(
            per_device_train_batch_size=8,
            gradient_accumulation_steps=2,
            max_length=4096,
            optim="adamw_torch",
            num_processes=2,
        ),
        (
            "\n".join(ORDER),
            "do Shard the states over the GPUs (ZeRO-3 or FSDP), with offload",
        ),
    ),
    "E2 QLoRA and completions": Said(
        "oom-cliff",
        replace(oom(adapter="lora", max_completion_length=1024), task="grpo"),
        ("fix load_in_4bit: None -> True", "fix max_completion_length: 1024 -> 512"),
        oom(adapter="qlora", max_completion_length=1024),
    ),
    "A36 E3 E10 F9 memory needed": Said(
        "oom-cliff",
        oom(
            num_parameters=7e9,
            bf16=True,
            max_length=2048,
            per_device_train_batch_size=4,
            hidden_size=4096,
            num_hidden_layers=32,
            gradient_checkpointing=True,
        ),
        (
            "evidence Weights, estimated 13.0",
            "evidence Adam's states, estimated 78.2",
            "4 with bf16 moments, 2 in 8 bit",
            "evidence Activations, roughly 0.6",
            "quadratic in the length",
        ),
        oom(),
    ),
    "E10 memory of an adapter": Said(
        "oom-cliff",
        oom(num_parameters=7e9, adapter="lora", lora_r=64, bf16=True),
        ("evidence Adam's states, estimated 0.78",),
    ),
    "D12 logits of a GRPO batch": Said(
        "oom-cliff",
        replace(
            oom(
                per_device_train_batch_size=8,
                num_generations=16,
                max_completion_length=2048,
                vocab_size=151936,
            ),
            task="grpo",
        ),
        ("evidence Logits of the completions 74.1", "8 × 16 × 2048 × 151936 × 2 bytes"),
        oom(per_device_train_batch_size=8),
    ),
    "E5 fragmented or kept": Said(
        "oom-cliff",
        replace(
            oom(),
            events=(message(OOM, "oom", 1, 240, total_gib=24.0, reserved_gib=8.0),),
            curves={"train_loss": "0:2.2 240:1.4", "gpu_mem": "0:10 240:20"},
        ),
        (
            "Tensors or autograd graphs that are kept alive",
            "GPU memory had grown from",
            "expandable_segments:True",
        ),
        oom(),
    ),
    "E6 out of memory in an evaluation": Said(
        "oom-cliff",
        bad("oom-cliff", "in an evaluation"),
        (
            "cause most likely The logits of all evaluation batches are kept",
            "fix eval_accumulation_steps: None -> 8",
            "fix per_device_eval_batch_size: 16 -> 8",
        ),
        oom(eval_steps=200),
    ),
    "E9 find the allocation": Said(
        "oom-cliff", oom(framework="axolotl"), ("do Set profiler_steps: [1, 2]",), oom()
    ),
    "A37 a leak": Said(
        "memory-growth",
        bad("memory-growth", "leak"),
        (
            "Graph kept alive by a loss that is not detached",
            "do Log loss.item()",
            "do Record a memory snapshot",
        ),
    ),
    "A39 uneven ranks": Said(
        "memory-growth",
        Case(
            "two ranks",
            {"gpu_mem": "0:20 1000:34", "gpu_mem:rank1": "0:8 1000:8"},
            noise=0.001,
        ),
        ("Ranks are uneven: gpu_mem holds 2", "gpu_mem:rank1 8"),
        bad("memory-growth", "leak"),
    ),
    "A46 E34 save often": Said(
        "crashed",
        replace(
            bad("crashed", "traceback at the end"),
            state=State("crashed", "KeyError", "certain", done_steps=160, planned_steps=400),
        ),
        ("do Save a checkpoint every 40 steps and keep 5",),
        replace(
            bad("crashed", "traceback at the end"),
            events=(
                *bad("crashed", "traceback at the end").events,
                Event("checkpoint", 150, data={"path": "out/checkpoint-150"}),
            ),
        ),
    ),
    "E12 less memory of the machine": Said(
        "killed",
        bad("killed", "SIGKILL", dataset_num_proc=8, dataloader_num_workers=4),
        ("fix dataset_num_proc: 8 -> 4", "fix dataloader_num_workers: 4 -> 2"),
        bad("killed", "Ctrl-C", dataset_num_proc=8),
    ),
    "E25 prefetch in the background": Said(
        "hang",
        hung(async_prefetch=True),
        (
            "async_prefetch is set",
            "fix async_prefetch: True -> False",
        ),
        hung(),
    ),
    "E26 an uneven last batch": Said(
        "hang",
        replace(hung(), steps_per_epoch=160),
        (
            "it hung at the end of an epoch (an uneven last batch",
            "fix dataloader_drop_last: None -> True",
        ),
        replace(hung(), steps_per_epoch=110),
    ),
    "E26 E27 hung before the first step": Said(
        "hang",
        Case(
            "no start",
            {},
            state=State("crashed", TIMEOUT, "certain", planned_steps=400),
            events=(message(TIMEOUT, "hang", 27, None),),
        ),
        (
            "do Check MASTER_ADDR, MASTER_PORT and the world size",
            "do Run again with NCCL_DEBUG=INFO and TORCH_DISTRIBUTED_DEBUG=DETAIL",
        ),
        hung(),
    ),
    "A31 a GPU that waits": Said(
        "low-utilisation",
        bad("low-utilisation", "idles", dataloader_num_workers=0),
        (
            "Data loading does not keep up",
            "fix dataloader_num_workers: 0 -> 4",
            "fix dataloader_pin_memory: None -> True",
            "do Tokenize before training, and pack",
        ),
    ),
    "A32 E28 E29 F12 busy with little": Said(
        "low-utilisation",
        bad(
            "low-utilisation",
            "busy with little",
            per_device_train_batch_size=4,
            num_processes=8,
        ),
        (
            "fix per_device_train_batch_size: 4 -> 8",
            "fix bf16: None -> True",
            "do Use flash attention, torch.compile and a fused optimizer",
            "do Move .item() and print calls out of the training loop",
            "do Try ZeRO stage 2 in place of 3",
            "do Profile a few steps with nsys",
        ),
        bad("low-utilisation", "idles"),
    ),
    "E28 a run that slows down": Said(
        "throughput-drop",
        bad("throughput-drop", "drops to a third", dataloader_num_workers=0),
        ("The machine or the data loader slowed down", "fix dataloader_num_workers: 0 -> 4"),
    ),
    "E30 E31 optimizer not restored": Said(
        "resume-jump",
        bad("resume-jump", "optimizer lost"),
        ("Optimizer state not restored", "optimizer.pt, scheduler.pt and rng_state.pth"),
    ),
    "E32 data read again": Said(
        "resume-jump",
        bad("resume-jump", "optimizer lost", ignore_data_skip=True),
        ("so the early data are read again", "fix ignore_data_skip: True -> False"),
        bad("resume-jump", "optimizer lost"),
    ),
    "A3 A4 A39 what would separate open causes": Said(
        "missing-signal",
        bad("missing-signal", "a NaN in fp16, one rank of four"),
        (
            "loss_scale is not logged",
            "do Log the memory of every rank",
            "do Log gradient norms by layer",
            "do Log mfu",
            "do Log tokens per second",
        ),
        bad("missing-signal", "loss alone"),
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_finding_says(name: str) -> None:
    """All the words, and none of the first of them where nothing in the run calls for it."""
    check(SAID[name])


def test_data_that_began_again_at_a_resume_is_told() -> None:
    """E32: a loss that falls at the joint is no finding, but a word."""
    events = (Event("resume", 300),)
    run = drawn("again", train_loss="0:3 290:1.8 300:1.2 600:1.1", events=events).run()
    assert "the data may have begun again" in ask("resume-jump", run).reason
    same = drawn("goes on", train_loss="0:3 300:1.4 600:1.1", events=events).run()
    assert "began" not in ask("resume-jump", same).reason
    assert "begun" not in ask("resume-jump", same).reason


@pytest.mark.parametrize(
    ("card", "peak"),
    [
        ("NVIDIA H100 80GB HBM3", 989e12),
        ("NVIDIA A100-SXM4-80GB", 312e12),
        ("NVIDIA A10G", 125e12),
        ("NVIDIA L4", 121e12),
        ("NVIDIA L40S", 362e12),
        ("Tesla T4", 65e12),
        ("NVIDIA RTX A4000", None),
        ("NVIDIA GeForce GTX 1080 Ti", None),
    ],
)
def test_cards_are_known_by_their_names(card: str, peak: float | None) -> None:
    """A card that is not known has no peak, and none of a card with a similar name."""
    assert flops.peak(card) == peak


def test_speed_counted_wrongly_is_not_taken_for_work() -> None:
    """F14: tokens per second above what the card can do at all say nothing about its use."""
    config: dict[str, Any] = {"num_parameters": 7e9, "gpu": "A100", "num_processes": 1}
    absurd = drawn("absurd", throughput_tokens="0:5e6 600:5e6", config=config).run()
    assert ask("low-utilisation", absurd).status == "unmet"
    several = drawn(
        "several", throughput_tokens="0:500 600:500", config=config | {"num_processes": 8}
    )
    assert ask("low-utilisation", several.run()).status == "unmet"


@pytest.mark.parametrize(
    ("free", "idle", "told"),
    [(1.59, 2.5, True), (1.59, 2.3, False), (0.1, 6.0, True), (0.1, 4.7, True), (0.1, 2.5, False)],
)
def test_memory_that_lies_idle_is_named(free: float, idle: float, *, told: bool) -> None:
    """What was asked for fits beside what is in use, or much is reserved in vain."""
    sizes = {"tried_gib": 2.84, "total_gib": 24.0, "free_gib": free, "reserved_gib": idle}
    case = bad("oom-cliff", "after stable training")
    proof = case.events[0]._replace(data=dict(case.events[0].data) | sizes)
    (finding,) = ask("oom-cliff", replace(case, events=(proof,)).run()).findings
    assert any("expandable_segments" in fix.what for fix in finding.fixes) is told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Of the allocated memory 3.00 GiB is allocated by PyTorch", "Set PYTORCH_CUDA_ALLOC_CONF"),
        ("15.10 GiB already allocated; 6.00 GiB reserved in total by PyTorch)", "Use PyTorch 2.1"),
        (
            "15.10 GiB already allocated) If reserved memory is large set max_split_size_mb",
            "max_split_size_mb:128",
        ),
    ],
)
def test_idle_memory_is_used_as_the_pytorch_at_hand_can(said: str, told: str) -> None:
    """The wording of the message tells how old it is; an unknown setting ends the run."""
    sizes = {"tried_gib": 2.84, "total_gib": 24.0, "free_gib": 0.1, "reserved_gib": 6.0}
    case = bad("oom-cliff", "after stable training")
    data = dict(case.events[0].data) | sizes
    proof = case.events[0]._replace(text=f"CUDA out of memory. {said}", data=data)
    (finding,) = ask("oom-cliff", replace(case, events=(proof,)).run()).findings
    assert told in finding.fixes[0].what


def test_another_rate_in_mid_run_is_looked_for_not_planned_away() -> None:
    """25 times the configured rate off a constant one: no number of steps explains it."""
    case = drawn(
        "another",
        learning_rate="0:3e-4 300:3e-4 310:7.5e-3 600:7.5e-3",
        config={"learning_rate": 3e-4, "lr_scheduler_type": "linear"},
    )
    finding = explained("schedule-mismatch", case.run())
    assert finding.causes[0].kind == "rate-leaves-plan"
    assert "put it back to 3e-4" in finding.fixes[0].what
    assert not any("steps to the scheduler" in fix.what for fix in finding.fixes)
