"""How much GPU memory a run needs, by common rules of thumb: estimates, never a verdict.

Weights take 2 bytes per parameter in half precision. Adam takes 12 bytes per trained parameter
where its moments and a master copy are fp32, 4 where the moments are bf16, 2 in 8 bit: guides
name one or the other. A LoRA adapter of rank r trains about r / 128 of 2 % of the parameters.
Activations are hidden size x layers x 4 bytes for each token, 15 % of that under gradient
checkpointing: a rough estimate, as its source says.
"""

from runlens.diagnosis import Evidence
from runlens.run import RL_TASKS, Run

GIB = 2.0**30
FULL, HALF, EIGHT_BIT, FOUR_BIT = 4.0, 2.0, 1.0, 0.5  # bytes per parameter
ADAM, ADAM_8_BIT = 12.0, 2.0  # bytes per trained parameter
LORA_SHARE, LORA_RANK = 0.02, 128.0  # of the parameters, at this rank
LEAST = 0.1  # GiB: less explains no lack of memory
KEPT = 0.15  # of the activations under gradient checkpointing


def estimates(run: Run) -> tuple[Evidence, ...]:
    """Return what the settings let one expect, in GiB a device; nothing for what they do not.

    Parts below a tenth of a GiB are left out.
    """
    made = (*_model(run), *_activations(run), *_logits(run))
    return tuple(row for row in made if float(row.value) >= LEAST)


def _model(run: Run) -> tuple[Evidence, ...]:
    size = run.number("num_parameters")
    if not size:
        return ()
    each = FULL
    if run.flag("bf16") or run.flag("fp16"):
        each = HALF
    if run.flag("load_in_8bit"):
        each = EIGHT_BIT
    if run.flag("load_in_4bit") or run.adapter == "qlora":
        each = FOUR_BIT
    trained, rank = size, run.number("lora_r")
    if run.adapted:
        trained = size * LORA_SHARE * (rank or LORA_RANK) / LORA_RANK
    optimizer = str(run.setting("optim") or "adamw").lower()
    moments = ADAM_8_BIT if "8bit" in optimizer or "8_bit" in optimizer else ADAM
    rows = [
        Evidence(
            "Weights, estimated",
            size * each / GIB,
            source=f"{each:g} bytes per parameter",
            unit="GiB",
        )
    ]
    if "adam" in optimizer:
        source = f"{moments:g} bytes per trained parameter; 4 with bf16 moments, 2 in 8 bit"
        rows.append(
            Evidence("Adam's states, estimated", trained * moments / GIB, source=source, unit="GiB")
        )
    return tuple(rows)


def _activations(run: Run) -> tuple[Evidence, ...]:
    known = [
        run.number(key)
        for key in ("max_length", "per_device_train_batch_size", "hidden_size", "num_hidden_layers")
    ]
    if not all(known):
        return ()
    size = 4.0
    for one in known:
        size *= one or 0.0
    kept = KEPT if run.flag("gradient_checkpointing") else 1.0
    source = "linear in the batch; attention without flash kernels is quadratic in the length"
    return (Evidence("Activations, roughly", size * kept / GIB, source=source, unit="GiB"),)


def _logits(run: Run) -> tuple[Evidence, ...]:
    keys = (
        "per_device_train_batch_size",
        "num_generations",
        "max_completion_length",
        "vocab_size",
    )
    known = [run.number(key) for key in keys]
    if run.task not in RL_TASKS or not all(known):
        return ()
    size = HALF
    for one in known:
        size *= one or 0.0
    words = " × ".join(f"{one:g}" for one in known)
    source = f"{words} × 2 bytes: batch, generations, tokens, vocabulary"
    return (Evidence("Logits of the completions", size / GIB, source=source, unit="GiB"),)
