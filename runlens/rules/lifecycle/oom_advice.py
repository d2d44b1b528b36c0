"""Why memory ran out, and what to change: the least disruptive first, the batch as a whole kept."""

from math import inf

from runlens import experiments, fixes
from runlens.arrays import median
from runlens.cause import RANKS
from runlens.diagnosis import Cause, Fix, Rank
from runlens.knowledge.in_force import TRAINER_FRAMEWORKS
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import of_unknown_step, onset_step, plan_done, resume
from runlens.run import LOADING, PLACING, RL_TASKS, STATES, Event, Run
from runlens.wording import number, step

# reserved but not allocated, as a share of the card. The allocator keeps a few percent of any card
# that way: PyTorch's own message asks for "large" before it names fragmentation
FRAGMENTED = 0.1
MUCH = 0.2  # of the card: worth a try whatever was requested
GROWN = 1.1  # last over first record of memory
FEWEST = 5  # records of memory: fewer that grow may be of longer batches as well
FIRST_FULL = 2  # steps: states are there after the first update, so the second needs all at once
OF_OLD = "already allocated"  # in the message of PyTorch up to 2.0
HOST = 4  # row of the message table: memory of the machine, not of the card
SHORTEST = 512  # tokens: shorter sequences are not the problem
IN_EVALUATION = ("evaluation_loop", "prediction_step", "in evaluate", "validation_step")
WITHOUT_A_MODEL = (
    "Load the data alone, without the model, and log the memory of the process "
    "(psutil.Process().memory_info().rss)"
)
WITHOUT_THE_OTHERS = (
    "Load that model or tokenizer alone, and log the memory of the process before and after "
    "(psutil.Process().memory_info().rss)"
)
# in the path of a library in a traceback; PyTorch 2.1 needs Python 3.8
_OLD_PYTHON = lazy_re(r"\bpython3\.[3-7]\b")
CPU_ACCUMULATION = 8  # evaluation batches whose logits stay on the GPU


def causes(run: Run, proof: Event, long: float) -> tuple[Cause, ...]:
    """Rank what filled the memory; `long` is the share of the plan after which settings fit."""
    done = onset_step(run)
    if others := _of_others(run, proof):  # what they take says nothing of the settings
        why = f"they hold {others:.2f} GiB; without them, the request would have fit"
        return (Cause("Other processes on the same card", "most likely", why, kind="memory"),)
    if proof.data.get("row") == HOST:
        return (_of_host(done, _stage(run)),)
    made: list[Cause] = []
    if _fits(proof) and done > FIRST_FULL:
        sizes = _sizes(proof)
        unused = sizes["reserved_gib"] + sizes["free_gib"]
        why = f"{unused:.2f} GiB were free or reserved but not allocated, enough for the request"
        made.append(Cause("Fragmented memory", "most likely", why, kind="memory"))
    if why := _at_evaluation(run):
        made.append(Cause(_of_evaluation(run), "most likely", why, kind="memory"))
    if _stage(run) == PLACING:
        why = f"memory ran out while {PLACING}, before any batch"
        made.append(Cause("The model does not fit on the GPU", "most likely", why, kind="memory"))
    elif done <= FIRST_FULL:
        made.append(_of_first_steps(run, done))
    elif grown := _grown(run, proof):
        made.append(
            Cause("Tensors or autograd graphs that are kept alive", "likely", grown, kind="memory")
        )
    if done > FIRST_FULL:
        late = plan_done(run, long)
        why = "the earlier steps had enough memory"
        rank: Rank = "likely" if late and not made else "possible"
        made.append(Cause(_longer(run), rank, why, kind="memory"))
    return tuple(made)


def _of_first_steps(run: Run, done: float) -> Cause:
    """Say what fills the card where no more than two steps are known to have been done."""
    if of_unknown_step(run):
        why = "memory ran out within a step; which one it was, the files do not show"
        return Cause("What one step needs does not fit on the GPU", RANKS[1], why, kind="memory")
    what, why = "Model and batch do not fit on the GPU", "the run failed before the first step"
    if done >= 1:
        what = "Model, batch and optimizer states do not fit on the GPU together"
        why = f"the first update allocates the states, and step {step(done)} was the last"
    return Cause(what, RANKS[0], why if done >= 1 else f"{why} finished", kind="memory")


def _of_host(done: float, stage: str) -> Cause:
    """Say what fills the memory of the machine: a model, data, and what a run keeps of them."""
    if stage == LOADING:
        why = f"memory ran out while {LOADING}, before any data"
        what = "What is loaded before training does not fit in host memory"
        return Cause(what, RANKS[0], why, kind="memory", experiment=WITHOUT_THE_OTHERS)
    what, rank = "The data do not fit in host memory as they are loaded", RANKS[0]
    why = "memory ran out before they were trained on"
    if done > FIRST_FULL:
        what, rank = "Host memory fills up: data that are kept, or copied by each worker", RANKS[1]
        why = f"it sufficed for the first {step(done)} steps"
    return Cause(what, rank, why, kind="memory", experiment=WITHOUT_A_MODEL)


def _of_evaluation(run: Run) -> str:
    """Name what fills the memory in an evaluation; the Trainer itself keeps no graph there."""
    size, trained = (run.number(f"per_device_{of}_batch_size") or 0 for of in ("eval", "train"))
    if size > trained > 0:
        return f"The evaluation batch of {size:g} is larger than the training batch of {trained:g}"
    if run.framework in TRAINER_FRAMEWORKS:
        return "The logits of all evaluation batches are kept"
    return "Evaluation without no_grad, or with the logits of all batches kept"


def _longer(run: Run) -> str:
    if run.task not in RL_TASKS:
        return "One batch with longer samples than the others"
    lengths = run.curve("len_mean").finite().value
    grown = len(lengths) > 1 and lengths[-1] > GROWN * median(lengths)
    return "Completions longer than before" if grown else "A batch with longer prompts"


def _sizes(proof: Event) -> dict[str, float]:
    return {key: float(value) for key, value in proof.data.items() if str(key).endswith("_gib")}


def _of_others(run: Run, proof: Event) -> float:
    """Return the GiB that other processes hold, where the request would fit without them.

    The first of the optimizer's states fits soon; all the others are still to come.
    """
    if _stage(run) == STATES:
        return 0.0
    data = _sizes(proof)
    others, free = data.get("others_gib", 0.0), data.get("free_gib", 0.0)
    return others if others + free >= data.get("tried_gib", inf) else 0.0


def _fits(proof: Event) -> bool:
    """Whether what was asked for would fit into what is free and what is reserved in vain."""
    data = _sizes(proof)
    idle, free, wanted = (data.get(f"{of}_gib", 0.0) for of in ("reserved", "free", "tried"))
    large = idle >= FRAGMENTED * data.get("total_gib", inf)
    return large and free < wanted <= free + idle


def _much_idle(proof: Event) -> bool:
    """Whether much is reserved in vain, were it enough or not."""
    data = _sizes(proof)
    return data.get("reserved_gib", 0.0) > MUCH * data.get("total_gib", inf)


def _stage(run: Run) -> str:
    """Return what the program was doing when memory ran out; empty where no traceback tells."""
    raised = (e for e in run.events_of("message") if e.data.get("exception") and e.data.get("last"))
    return str(next((e.data.get("stage") for e in raised), "") or "")


def _at_evaluation(run: Run) -> str:
    """Say what shows that it happened in an evaluation; empty where nothing does."""
    done, every = onset_step(run), run.number("eval_steps")
    if any(word in line for line in run.log_tail[-60:] for word in IN_EVALUATION):
        return "the traceback runs through the evaluation"
    evals = run.curve("eval_loss").step
    due = bool(every and done >= every and done % every == 0)
    if due and (not len(evals) or evals[-1] < done):
        return f"step {step(done)} is one of an evaluation (eval_steps {every:g})"
    return ""


def _grown(run: Run, proof: Event) -> str:
    """Say by how much the memory that ran out had grown, where it is logged and had."""
    of_host = proof.data.get("row") == HOST
    value = run.curve("host_mem" if of_host else "gpu_mem").finite().value
    if len(value) < FEWEST or value[-1] <= GROWN * value[0]:
        return ""
    data = _sizes(proof)
    if value[-1] < data.get("tried_gib", 0.0):
        return ""  # the request alone is more than all that had grown
    if value[-1] > data.get("total_gib", inf) - data.get("free_gib", 0.0):
        return ""  # it had been freed by then
    where = "host memory" if of_host else "GPU memory"
    first, last = (number(float(one)) for one in (value[0], value[-1]))
    return f"the logged {where} had grown from {first} to {last} GiB by then"


def cures(run: Run, proof: Event) -> tuple[Fix, ...]:
    """Return what to change, with the values of this run."""
    if proof.data.get("row") == HOST and _stage(run) == LOADING:
        what = "Load fewer or smaller models at once, or free those that are no longer needed"
        return (fixes.action(what, "host memory was full", cures="memory"), *resume(run))
    if proof.data.get("row") == HOST:
        less = fixes.action("Use fewer data workers and stream the data", "host memory was full")
        return (less, *fixes.fewer_readers(run), *resume(run))
    if _of_others(run, proof):
        what = "End the other processes on this card (nvidia-smi lists them), or use a free card"
        free = fixes.action(what, "the request fits without them", cures="memory")
        return (free, *resume(run), experiments.memory_snapshot(run))
    if stage := _of_states(run):
        return (*stage, *resume(run))
    made = [*(_evaluation(run) if _at_evaluation(run) else ())]
    made += () if made else _less_at_once(run)  # an evaluation has a batch of its own
    if not run.flag("gradient_checkpointing"):
        why = "this saves memory and costs about a third more time"
        what = "Recompute activations (gradient checkpointing)"
        made.append(fixes.setting(run, "gradient_checkpointing", True, what, why))
    made += _smaller_numbers(run)
    made += _shorter(run)
    made.append(
        fixes.action(
            "Use flash attention",
            "its memory use grows only linearly with the sequence length",
            "one run",
        )
    )
    if (run.number("num_processes") or 1) > 1:
        what = "Shard the states over the GPUs (ZeRO-3 or FSDP), with offload if that is not enough"
        made.append(fixes.action(what, "each GPU then holds its part", "one run"))
    # in a first step it is what the allocator kept of the layers before
    if onset_step(run) > FIRST_FULL and (_fits(proof) or _much_idle(proof)):
        made = [*_allocator(run, proof.text), *made]
    if onset_step(run) > 1 and run.task not in RL_TASKS:
        what = "Truncate at max_length and pad to a multiple of 8"
        made.append(fixes.action(what, "no batch is then far larger than the others"))
    return (*made, *resume(run), experiments.memory_snapshot(run))


def _allocator(run: Run, said: str) -> tuple[Fix, ...]:
    """Return what makes use of idle memory, as the PyTorch that wrote the message knows it.

    Up to 2.0 it wrote "already allocated", and from 1.10 on named `max_split_size_mb` beside it.
    """
    what = "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    why = "this lets PyTorch use memory that is reserved but not allocated"
    if OF_OLD not in said:
        return (fixes.action(what, why),)
    if "max_split_size_mb" in said:
        what = "Set PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128"
        return (fixes.action(what, "larger blocks of the reserved memory are then kept whole"),)
    if any(map(_OLD_PYTHON.search, run.log_tail)):
        return ()
    what = "Use PyTorch 2.1 or later, with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    return (fixes.action(what, "it can use memory that is reserved but not allocated", "one run"),)


def _of_states(run: Run) -> tuple[Fix, ...]:
    """Return what helps where weights or Adam's states do not fit: no batch, no activation does."""
    stage = _stage(run)
    if stage not in {PLACING, STATES}:
        return ()
    made = [*_smaller_numbers(run)]
    if (run.number("num_processes") or 1) > 1:
        what = "Shard the states over the GPUs (ZeRO-3 or FSDP), with offload if that is not enough"
        made.append(fixes.action(what, "each GPU then holds its part", "one run"))
    elif stage == STATES:
        what = "Use an 8-bit optimizer, or offload its states to the CPU"
        made += () if made else (fixes.action(what, "they are allocated at the first step"),)
    if not run.adapted:
        smaller = "" if run.task == "pretrain" else "an adapter (LoRA) or "
        what = f"Train {smaller}a smaller model, or use a card with more memory"
        made.append(fixes.action(what, "a smaller batch does not make room for this", "one run"))
    return tuple(made)


def _less_at_once(run: Run) -> tuple[Fix, ...]:
    """Return the smaller batch; words where the size that is used is not recorded."""
    why = "activations and logits grow with the batch"
    if run.number("per_device_train_batch_size") is None:
        what = "Lower the per-device batch size, or shorten the sequences"
        return (fixes.action(what, why, "settings only"),)
    return fixes.smaller_batch(run, why)


def _evaluation(run: Run) -> tuple[Fix, ...]:
    made = []
    if run.framework not in TRAINER_FRAMEWORKS:  # these do by themselves
        why = "no graph is kept"
        made.append(fixes.action("Evaluate under torch.no_grad() and in eval mode", why))
    what, why = "Move evaluation logits to the CPU", "the logits of all batches are kept"
    made.append(fixes.setting(run, "eval_accumulation_steps", CPU_ACCUMULATION, what, why))
    size = run.number("per_device_eval_batch_size")
    if size and size > 1:
        trained = run.number("per_device_train_batch_size") or size
        new, what = int(min(trained, size // 2)), "Make the evaluation batch smaller"
        made.append(
            fixes.setting(
                run, "per_device_eval_batch_size", new, what, "there are then fewer logits"
            )
        )
    return tuple(made)


def _smaller_numbers(run: Run) -> tuple[Fix, ...]:
    """Quantize the frozen weights, or Adam's states where all weights are trained."""
    if run.adapted:
        if run.flag("load_in_4bit") or run.adapter == "qlora":
            return ()
        what, why = "Load the frozen weights in 4 bits (QLoRA)", "a quarter of their memory"
        return (fixes.setting(run, "load_in_4bit", True, what, why),)
    optimizer = str(run.setting("optim") or "").lower()
    if not optimizer.startswith(("adam", "paged_adam")) or "8bit" in optimizer:
        return ()
    what, why = (
        "Use an 8-bit optimizer",
        "its states take 2 bytes per parameter instead of 8 to 12",
    )
    return (fixes.setting(run, "optim", "adamw_8bit", what, why),)


def _shorter(run: Run) -> tuple[Fix, ...]:
    made = []
    policy = run.task in RL_TASKS
    keys = ("max_length", "max_completion_length") if policy else ("max_length",)
    for key in keys:
        length = run.number(key)
        if length and length >= SHORTEST:
            what = f"Halve the {'sequence' if key == 'max_length' else 'completion'} length"
            why = "activations and logits grow with the length"
            made.append(fixes.setting(run, key, int(length) // 2, what, why))
    if policy and not made:
        lengths = run.curve("len_mean").value
        one_length = len(lengths) > 0 and lengths.min() == lengths.max()
        capped = run.number("max_completion_length") or one_length
        what = "Cap prompts and completions (max_prompt_length, max_completion_length)"
        what = "Cap the prompts (max_prompt_length)" if capped else what
        why = "logits need memory in proportion to tokens × vocabulary"
        made.append(fixes.action(what, why, "settings only"))
    return tuple(made)
