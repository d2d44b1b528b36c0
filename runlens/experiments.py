"""What tells one cause from another where the log cannot: runs to repeat, data to look at.

Each is an action of a finding. They are those of common debugging guides, the cheapest first.
"""

from runlens import fixes
from runlens.diagnosis import Fix
from runlens.knowledge.in_force import reads_text
from runlens.run import Run
from runlens.wording import step

LONG_SAMPLE = 4_096  # tokens; where the limit of the run is not recorded
HALF = ("fp8", "fp16", "bf16")


def full_precision(run: Run, at: float) -> tuple[Fix, ...]:
    """Repeat the steps around `at` in fp32; nothing where no half precision is set."""
    half = next((key for key in HALF if run.flag(key)), "")
    if not half:
        return ()
    what = f"Repeat the steps around {step(at)} in fp32 ({half}: false)"
    why = (
        "if the fault is then gone, the precision is the cause; if not, look at the "
        "data and the learning rate"
    )
    return (fixes.look(what, why, "one run"),)


def one_process(run: Run) -> tuple[Fix, ...]:
    """Repeat on one GPU; nothing where one process is known, or none."""
    processes = run.number("num_processes")
    if not processes or processes < 2:  # noqa: PLR2004 - one is no group
        return ()
    why = (
        f"if the problem goes away, the {processes:g} processes are at fault (gradients not "
        "averaged, data order, precision)"
    )
    what = "Repeat the run on one GPU with one seed, to see whether the processes differ"
    return (fixes.look(what, why, "one run"),)


def batch_alone(at: float) -> Fix:
    """Find the operation and the layer that fail in the batch of a step."""
    return fixes.look(
        f"Run the batch at step {step(at)} alone on one GPU, with forward hooks and under "
        "torch.autograd.detect_anomaly",
        "this names the first layer and the operation that fail",
    )


def check_data(run: Run) -> Fix:
    """Count the samples that spoil training: empty, too long, twice there, without a label."""
    if not reads_text(run):
        return fixes.look(
            "Count empty and duplicate samples, and odd values", "the loss does not show them"
        )
    if run.task == "pretrain":  # windows of one stream of tokens, each of them a label
        return fixes.look(
            "Count empty and duplicate documents in the training text",
            "neither is visible in the loss curve",
        )
    longest = run.number("max_length") or LONG_SAMPLE
    return fixes.look(
        f"Count empty samples, samples over {longest:,.0f} tokens, samples with the same first "
        "200 characters, and samples whose labels are all -100",
        "none of these is visible in the loss curve",
    )


def memory_snapshot(run: Run) -> Fix:
    """Find the line that holds the memory."""
    if run.framework == "axolotl":
        what = "Set profiler_steps: [1, 2] and open the memory snapshot that it writes"
    else:
        begun = run.last_step or run.state.done_steps
        part = "of two steps" if begun else "up to the error"
        what = f"Record a memory snapshot {part} (torch.cuda.memory._record_memory_history)"
    return fixes.action(what, "this shows which lines hold the memory")
