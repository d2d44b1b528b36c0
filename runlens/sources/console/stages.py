"""What a program was doing when an exception was raised, by the frames of its traceback."""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import LOADING, PLACING, SAVING, STATES

BACKSLASH = "\\"


class Stage(NamedTuple):
    """One stage of a training and how its frames are known: `file:function`, innermost last."""

    name: str  # "saving a checkpoint"
    frame: str  # regular expression


# the first row of which any frame tells; what is done within another stage comes before it
STAGES = (
    Stage(SAVING, r":(_?save\w*|serialize_file|write_end_of_file|torch_save)$"),
    Stage(
        LOADING,
        r":(from_pretrained|load_state_dict|_load_pretrained_model|hf_hub_download|cached_files?)$",
    ),
    Stage(PLACING, r"/nn/modules/module\.py:(_apply|to_empty)$"),
    Stage(
        "loading a checkpoint",
        r":(_load_from_checkpoint|load_checkpoint|_load_optimizer_and_scheduler)$",
    ),
    Stage(
        "loading data",
        r":(_next_data|_try_get_data|_process_data|fetch|__getitem__|load_dataset|collate\w*)$"
        r"|/dataloader\.py:|/data_loader\.py:|/datasets/",
    ),
    Stage("generating", r":(generate|_generate\w*|_sample)$|/vllm/"),
    Stage("computing a reward", r":(_calculate_rewards|\w*reward\w*|\w*compute_score)$"),
    Stage("evaluating", r":(evaluate|evaluation_loop|prediction_step|_evaluate|validation_step)$"),
    Stage(
        "a collective of the ranks",
        r"/distributed_c10d\.py:"
        r"|:(all_reduce|all_gather\w*|broadcast\w*|barrier|init_process_group)$",
    ),
    Stage("the backward pass", r":(backward|_engine_run_backward|run_backward)$"),
    Stage(
        STATES,
        r"/optim/|:(optimizer_step|_(single|multi)_tensor_\w+|unscale_|clip_grad_norm_)$",
    ),
    Stage("the forward pass", r":(forward|compute_loss|_call_impl|training_step)$"),
    Stage("reading the settings", r":(__post_init__|parse_args\w*|_?validate\w*)$"),
    Stage("importing", r"<frozen importlib"),
)
_FRAMES = tuple((stage.name, lazy_re(stage.frame)) for stage in STAGES)


def stage_of(frames: Sequence[tuple[str, str, str]]) -> str:
    """Return the stage that frames (file, line, function) show; empty where none does."""
    named = [f"{file.replace(BACKSLASH, '/')}:{function}" for file, _, function in frames]
    for name, pattern in _FRAMES:
        if any(pattern.search(one) for one in named):
            return name
    return ""
