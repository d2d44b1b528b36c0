"""What a program was doing is read off the frames of its traceback."""

import pytest

from runlens.sources.console.events import failures
from runlens.sources.console.stages import STAGES

FRAMES = {
    "saving a checkpoint": ("transformers/trainer.py", "_save_checkpoint"),
    "loading the model": ("transformers/modeling_utils.py", "from_pretrained"),
    "moving the model to its device": ("torch/nn/modules/module.py", "_apply"),
    "loading a checkpoint": ("transformers/trainer.py", "_load_from_checkpoint"),
    "loading data": ("torch/utils/data/dataloader.py", "_next_data"),
    "generating": ("transformers/generation/utils.py", "generate"),
    "computing a reward": ("trl/trainer/grpo_trainer.py", "_calculate_rewards"),
    "evaluating": ("transformers/trainer.py", "evaluation_loop"),
    "a collective of the ranks": ("torch/distributed/distributed_c10d.py", "all_reduce"),
    "the backward pass": ("torch/autograd/__init__.py", "backward"),
    "an optimizer step": ("torch/optim/adamw.py", "step"),
    "the forward pass": ("transformers/models/llama/modeling_llama.py", "forward"),
    "reading the settings": ("<string>", "__post_init__"),
    "importing": ("<frozen importlib._bootstrap>", "_find_and_load"),
}


@pytest.mark.parametrize("stage", [stage.name for stage in STAGES])
def test_each_stage_is_known_by_its_frames(stage: str) -> None:
    """The user's own code calls it; the exception comes from the library below."""
    file, function = FRAMES[stage]
    own = '  File "/home/me/train.py", line 9, in main'
    below = f'  File "/venv/lib/python3.11/site-packages/{file}", line 3, in {function}'
    if file.startswith("<"):
        below = f'  File "{file}", line 3, in {function}'
    lines = ["Traceback (most recent call last):", own, "    run()", below, "ValueError: no"]
    (failure,), _ = failures(lines, range(len(lines)))
    assert (failure.stage, failure.frame) == (stage, "train.py:9 in main")


def test_an_exception_of_the_users_own_code_has_no_stage() -> None:
    """Nothing is made up where no frame tells."""
    own = '  File "/home/me/train.py", line 9, in main'
    lines = ["Traceback (most recent call last):", own, "    1 / 0", "ZeroDivisionError: no"]
    (failure,), _ = failures(lines, range(len(lines)))
    assert failure.stage == ""


@pytest.mark.parametrize(
    ("source", "raised"),
    [
        ("raise NotImplementedError", True),
        ("raise ValueError(f'{n} groups')", True),
        ("raise torch.cuda.OutOfMemoryError('no')", True),
        ("raise error", False),
        ("raise value.as_instanceof_cause()", False),
        ("return table[name]", False),
    ],
)
def test_an_exception_that_the_code_raises_is_told_from_what_python_raises(
    source: str, *, raised: bool
) -> None:
    """The last frame quotes its line; one raised again was of others."""
    own = '  File "/home/me/train.py", line 9, in main'
    lines = ["Traceback (most recent call last):", own, "    raise ValueError", own]
    lines += [f"    {source}", "    ^^^^^", "ValueError: no"]
    (failure,), _ = failures(lines, range(len(lines)))
    assert failure.raised is raised
