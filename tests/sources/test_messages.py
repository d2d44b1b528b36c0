"""The table of messages, on lines as they are printed, and on look-alikes."""

from pathlib import Path

import pytest

from runlens.run import Event
from runlens.sources import console
from runlens.sources.messages import MESSAGES, memory, search
from runlens.sources.reading import SourceReading

LINES = {
    1: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.75 GiB.",
    2: "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    3: "RuntimeError: MPS backend out of memory (MPS allocated: 17 GB)",
    4: "OSError: [Errno 12] Cannot allocate memory",
    5: "run.sh: line 7: 26655 Killed                  python train.py",
    6: "ERROR: Unexpected bus error encountered in worker.",
    7: "Segmentation fault (core dumped)",
    8: "  traceback : Signal 6 (SIGABRT) received by PID 5071",
    9: "slurm: Received signal 15",
    10: "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2024-01-01 DUE TO TIME LIMIT ***",
    11: "*** JOB 17 CANCELLED DUE TO PREEMPTION ***",
    12: "slurmstepd: error: Detected 1 oom_kill event in StepId=17.batch",
    13: "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2024-01-01 ***",
    14: "KeyboardInterrupt",
    15: "RuntimeError: CUDA error: device-side assert triggered",
    16: "Loss.cu:240: Assertion `t >= 0 && t < n_classes` failed.",
    17: "IndexError: Target 7 is out of bounds.",
    18: "RuntimeError: CUDA error: an illegal memory access was encountered",
    19: "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    20: "RuntimeError: CUDA driver version is insufficient for CUDA runtime version",
    21: "RuntimeError: CUDA error: unspecified launch failure",
    22: "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    23: "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    24: "NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception",
    25: "NVRM: Xid (PCI:0000:3b:00): 74, NVLink: fatal error detected",
    26: "RuntimeError: NCCL communicator was aborted on rank 1.",
    27: "[rank0]:[E] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
    28: "NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error, NCCL version 2.18.1",
    29: "RuntimeError: Detected mismatch between collectives on ranks.",
    30: "RuntimeError: [gloo/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:1 gloo",
    31: "RuntimeError: The server socket has failed to bind (errno: 98 - Address already in use).",
    32: "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    33: "RuntimeError: Expected to have finished reduction in the prior iteration",
    34: "RuntimeError: Expected to mark a variable ready only once.",
    35: "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: A different number",
    36: "RuntimeError: 'weight' must be 2-D",
    37: "AttributeError: 'DummyOptim' object has no attribute 'step'",
    38: "ValueError: Please correct the following DeepSpeed config values that mismatch",
    39: "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    40: "RuntimeError: Trying to backward through the graph a second time",
    41: "one of the variables needed for gradient computation has been modified by an inplace op",
    42: "RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.",
    43: "FloatingPointError: Minimum loss scale reached (0.0001).",
    44: "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536",
    45: "Exception: Current loss scale already at minimum - cannot decrease scale anymore.",
    46: "ValueError: Attempting to unscale FP16 gradients.",
    47: "RuntimeError: expected scalar type Half but found Float",
    48: "TypeError: Got unsupported ScalarType BFloat16",
    49: "RuntimeError: Error(s) in loading state_dict for LlamaForCausalLM:",
    50: "ValueError: Asking to pad but the tokenizer does not have a padding token.",
    51: "ValueError: expected sequence of length 12 at dim 1 (got 9)",
    52: "ValueError: Cannot use apply_chat_template because tokenizer.chat_template is not set",
    53: "ValueError: Content end boundary is before start boundary",
    54: "EOS token '</s>' not found in chat template",
    55: "jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'role'",
    56: "Token indices sequence length is longer than the specified maximum sequence length",
    57: "RuntimeError: Data processing error: CAS service error : ReqwestMiddleware Error",
    58: "huggingface_hub.errors.GatedRepoError: 401 Client Error.",
    59: "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files",
    60: "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
    61: "RuntimeError: PytorchStreamReader failed reading zip archive",
    62: "_pickle.UnpicklingError: Weights only load failed.",
    63: "RuntimeError: Some tensors share memory, this will lead to duplicate memory on disk",
    64: "OSError: [Errno 28] No space left on device",
    65: "OSError: [Errno 24] Too many open files",
    66: "PermissionError: [Errno 13] Permission denied: '/data'",
    67: "RuntimeError: DataLoader worker (pid 17) is killed by signal: Killed.",
    68: "RuntimeError: DataLoader worker (pid(s) 17) exited unexpectedly",
    69: "RuntimeError: received 0 items of ancdata",
    70: "KeyError: Caught KeyError in DataLoader worker process 0.",
    71: "ValueError: generation_batch_size (4) must be divisible by num_generations (8)",
    72: "unable to load strategy my_rewards.accuracy",
    73: "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
    74: "ValueError: No available memory for the cache blocks.",
    75: "ImportError: /lib/flash_attn_2_cuda.so: undefined symbol: _ZN3c10",
    76: "ModuleNotFoundError: No module named 'peft'",
    77: "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
    78: "ValueError: Your setup doesn't support bf16/gpu.",
    79: "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:",
    80: "triton.runtime.errors.OutOfResources: out of resource: shared memory",
    81: "ValueError: Target modules {'q'} not found in the base model.",
    82: "ValueError: You cannot perform fine-tuning on purely quantized models.",
    83: "trainable params: 0 || all params: 6,738,415,616 || trainable%: 0.0",
    84: "The current process just got forked, after tokenizers have been used.",
    85: "Warning: loss: nan detected",
    86: "Loss is too high, stopping training (loss_watchdog_threshold)",
    87: "wandb: Network error (ConnectionError), entering retry loop.",
    88: "ValueError: Can't find a valid checkpoint at out/checkpoint-5",
    89: "ValueError: loaded state dict contains a parameter group that doesn't match the size",
    90: "ValueError: Expected more than 1 value per channel when training, got [1, 8]",
    91: "ValueError: Input contains NaN.",
    101: "[watchdog] no new output for 75 s, sending SIGKILL to 28029",
    92: "ValueError: num_samples should be a positive integer value, but got num_samples=0",
    93: "KeyError: 'input_ids'",
    94: "ValueError: The model did not return a loss from the inputs, only logits.",
    95: "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
    96: "RuntimeError: scatter does not have a deterministic implementation",
    97: "OSError: We couldn't connect to 'https://huggingface.co' to load this file",
    98: "TypeError: Object of type bool_ is not JSON serializable",
    99: "Traceback (most recent call last):",
    100: "UserWarning: resource_tracker: There appear to be 4 leaked semaphore objects",
}
LOOK_ALIKES = [
    "[2024-01-01] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 17",
    "  9%|9         | 429/4800 [00:12<10:10, 6.51it/s]",
    "trainable params: 0.5M || all params: 7B",
    "We use 10% of the memory for the buffer to avoid memory errors",
    "exit code 0",
    "Permissions were set",
    "loss: 0.5, info: 3",
]


def reading(folder: Path, *lines: str) -> SourceReading:
    """Write a log of these lines and read it."""
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n")
    return console.read(path)


def messages(read: SourceReading) -> list[Event]:
    """Return the messages of a reading."""
    return [event for event in read.events if event.kind == "message"]


RECORDS = [f"step {n} loss 1.5" for n in range(1, 11)]
FAILED = [
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 12, in main',
    "    trainer.train()  # raise KeyboardInterrupt",
    '  File "/venv/lib/python3.11/site-packages/torch/nn/module.py", line 5, in forward',
    "    return x",
]


def test_every_row_has_a_sample() -> None:
    """The samples below cover the whole table."""
    assert {message.row for message in MESSAGES} == set(LINES)


@pytest.mark.parametrize("row", sorted(LINES))
def test_each_row_matches_its_line(row: int) -> None:
    """A line as it is printed finds its row, upper or lower case."""
    for line in (LINES[row], LINES[row].lower()):
        assert [hit.message.row for hit in search([line])] == [row]


@pytest.mark.parametrize("line", LOOK_ALIKES)
def test_look_alikes_match_nothing(line: str) -> None:
    """Lines that only resemble a message."""
    assert search([line]) == []


def test_every_row_says_why_and_what_to_do() -> None:
    """Cause and fix are sentences."""
    for message in MESSAGES:
        assert message.cause.endswith(".")
        assert message.fix.endswith(".")
        assert all(need == need.lower() for need in message.needs)


def test_sizes_of_memory_are_parsed() -> None:
    """Old and new forms of PyTorch's message, all in GiB."""
    new = (
        "CUDA out of memory. Tried to allocate 268.00 MiB. GPU 0 has a total capacity of "
        "23.68 GiB of which 158.81 MiB is free. Of the allocated memory 22.10 GiB is allocated by "
        "PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated."
    )
    old = (
        "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity; "
        "12.00 GiB already allocated; 1.50 GiB free; 13.00 GiB reserved in total by PyTorch)"
    )
    assert memory(new) == {
        "tried_gib": pytest.approx(0.2617, abs=1e-4),
        "total_gib": 23.68,
        "free_gib": pytest.approx(0.1551, abs=1e-4),
        "allocated_gib": 22.1,
        "reserved_gib": 0.5,
    }
    assert memory(old) == {
        "tried_gib": 2.0,
        "total_gib": 15.78,
        "free_gib": 1.5,
        "allocated_gib": 12.0,
        "reserved_gib": 13.0,
    }


def test_a_fatal_exception_ends_the_log(tmp_path: Path) -> None:
    """The last exception is a hint, with the last frame of the user's own code."""
    read = reading(tmp_path, *RECORDS, *FAILED, LINES[1])
    fallback, oom = sorted(messages(read), key=lambda event: -int(event.data["row"]))
    assert read.hints.traceback == LINES[1]
    assert fallback.data["frame"] == "train.py:12 in main"
    assert fallback.data["exception"] == LINES[1]
    assert fallback.data["last"]
    assert not fallback.data["handled"]
    assert oom.data["class"] == "oom"
    assert oom.data["tried_gib"] == 2.75
    assert (oom.step, oom.where) == (10, f"{tmp_path / 'train.log'}:16")


def test_an_exception_with_training_after_it_was_handled(tmp_path: Path) -> None:
    """An appended log with a failed start does not say that the run crashed."""
    read = reading(tmp_path, *FAILED, "ValueError: no GPU", *RECORDS)
    (event,) = messages(read)
    assert event.data["handled"]
    assert not event.data["last"]
    assert read.hints.traceback == ""


def test_source_lines_in_a_traceback_are_not_searched(tmp_path: Path) -> None:
    """The quoted line names KeyboardInterrupt, nobody interrupted."""
    rows = [event.data["row"] for event in messages(reading(tmp_path, *FAILED, "ValueError: x"))]
    assert rows == [99]


def test_a_chain_of_exceptions_is_one(tmp_path: Path) -> None:
    """The last one of the chain counts."""
    chain = [
        "KeyError: 'a'",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
    ]
    read = reading(tmp_path, *RECORDS, *FAILED, *chain, *FAILED, "ValueError: bad a")
    (event,) = messages(read)
    assert event.data["exception"] == "ValueError: bad a"


def test_the_last_line_alone_may_name_the_exception(tmp_path: Path) -> None:
    """Some captures keep only the last line of a traceback."""
    assert reading(tmp_path, "Exception: no data").hints.traceback == "Exception: no data"


def test_tracebacks_of_two_ranks_cut_through_each_other(tmp_path: Path) -> None:
    """The lines of each rank are put together; the rank that only lost its peer is no cause."""
    lost = "RuntimeError: [gloo] Connection closed by peer"
    both = [text for line in FAILED for text in (f"[rank0]: {line}", f"[rank1]: {line}")]
    read = reading(tmp_path, *RECORDS, *both, f"[rank0]: {lost}", "[rank1]: ValueError: bad batch")
    found = [event.data["exception"] for event in messages(read) if event.data["row"] == 99]
    assert sorted(found) == [lost, "ValueError: bad batch"]
    assert read.hints.traceback == "ValueError: bad batch"


def test_repeats_keep_first_and_last(tmp_path: Path) -> None:
    """A hundred skipped steps are two events and a count."""
    lines = [text for n in range(100) for text in (f"step {n} loss 1.5", LINES[44])]
    first, last = messages(reading(tmp_path, *lines))
    assert (first.step, last.step) == (0, 99)
    assert first.data["count"] == last.data["count"] == 100


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("  exitcode  : -9 (pid: 4711)", 137),
        ("run.sh: line 7: 26655 Killed                  python train.py", 137),
        ("[launch.py:325] Process 17 exits with return code = -15", 143),
        ("srun: error: n1: task 0: Exited with exit code 1", 1),
    ],
)
def test_exit_codes(tmp_path: Path, line: str, code: int) -> None:
    """Launchers and shells report codes in their own ways; the shell's way is kept."""
    assert reading(tmp_path, *RECORDS, line).hints.exit_code == code


def test_an_exit_code_before_the_training_is_not_the_runs(tmp_path: Path) -> None:
    """Something else ended with it."""
    assert reading(tmp_path, "make: exit code 2", *RECORDS).hints.exit_code is None


def test_a_launcher_that_ends_the_other_ranks_is_no_cause(tmp_path: Path) -> None:
    """SIGTERM to the other processes follows from the first failure."""
    line = "W0517 api.py:858] Sending process 17 closing signal SIGTERM"
    (event,) = messages(reading(tmp_path, *RECORDS, line))
    assert event.data["class"] == "secondary"
