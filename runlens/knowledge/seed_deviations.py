"""How far repeats with other seeds lie apart, as published: by kind of metric, with sources.

A row is one group of repeats, or one table of groups. Of losses and returns the deviation is a
share of the mean, of accuracies it is absolute (0.01 is one point). What a new training may be
expected to do is the mean of the logarithms; its doubt is their deviation, and never less than
`LEAST_DOUBT`: another model on other data is not one of these.
"""

from functools import lru_cache
from typing import Literal

import numpy as np

from runlens.records import NamedTuple
from runlens.run import LANGUAGE_TASKS, Task

Kind = Literal["language loss", "accuracy", "return", "regression loss"]

LEAST_DOUBT = 0.8  # of a logarithm: a factor of 2.2


class Row(NamedTuple):
    """Deviations of the last value over seeds."""

    kind: Kind
    what: str
    seeds: int
    deviations: tuple[float, ...]
    source: str


_SPEEDRUN = "github.com/KellerJordan/modded-nanogpt/pull/"
_CLEANRL = "github.com/vwxyzjn/cleanrl docs/rl-algorithms/"
ROWS = (
    Row("language loss", "GPT-2 124M, FineWeb, 3.28", 10, (0.00044,), _SPEEDRUN + "322"),
    Row("language loss", "the same, another recipe", 13, (0.00042,), _SPEEDRUN + "322"),
    Row("language loss", "the same, FP8", 20, (0.00045,), _SPEEDRUN + "358"),
    Row("language loss", "the same, SOAP", 20, (0.00027,), _SPEEDRUN + "321"),
    Row("language loss", "the same, NorMuon", 10, (0.00022,), _SPEEDRUN + "276"),
    Row("language loss", "the same, Muon-NSR", 8, (0.00019,), _SPEEDRUN + "362"),
    Row("language loss", "16 MB model, bits per byte", 3, (0.00093, 0.00055),
        "github.com/openai/parameter-golf/pull/2117"),
    Row("language loss", "next character by three, 0.1 M weights", 24, (0.0055,),
        "trained for the labeled pairs of this project"),
    Row("language loss", "next of 24 symbols by one, Adam", 16, (0.0042, 0.0031, 0.0028, 0.0022),
        "benchmarks/trainings.py, bigrams"),
    Row("language loss", "small transformers: two pretrainings, one fine-tuning", 3,
        (0.0027, 0.0651, 0.0106), "fixtures/pairs: q10a, p01a, q01a and their repeats"),
    Row("accuracy", "BERT base fine-tuned on 36 tasks", 20, (
        0.0043, 0.0029, 0.0031, 0.0052, 0.0120, 0.1001, 0.0049, 0.0536, 0.0067, 0.0133, 0.1067,
        0.0014, 0.0046, 0.0023, 0.0161, 0.0140, 0.0090, 0.0075, 0.0054, 0.0047, 0.0204, 0.0042,
        0.0056, 0.0045, 0.0063, 0.0283, 0.0060, 0.0065, 0.0120, 0.0141, 0.0063, 0.0073, 0.0163,
        0.0641, 0.0455, 0.0024,
    ), "github.com/IBM/model-recycling bert-base-uncased_pretrain_scores_table.md"),
    Row("return", "SAC: HalfCheetah, Walker2d, Hopper, InvertedPendulum, Humanoid, Pusher", 3,
        (0.148, 0.254, 0.148, 0.061, 0.137, 0.023), _CLEANRL + "sac.md"),
    Row("return", "TD3: HalfCheetah, Walker2d, Hopper", 3, (0.120, 0.285, 0.068),
        _CLEANRL + "td3.md"),
    Row("return", "PPO: CartPole, Acrobot", 3, (0.038, 0.072), _CLEANRL + "ppo.md"),
    Row("regression loss", "flow about wings, two models", 9, (0.0128, 0.0078),
        "github.com/wandb/senpai/pull/1007 to 1009, 1332, 1398, 1399"),
)  # fmt: skip


class Expected(NamedTuple):
    """What repeats of a training of a kind may be expected to do."""

    deviation: float  # share of the level, absolute for accuracies
    doubt: float  # deviation of its logarithm
    of_level: bool
    of_span: bool = False  # or of how far the curve has come, where that is more: a return has no 0


def expected(task: Task | None, metric: str) -> Expected | None:
    """Return what was published of trainings of a task and metric; None where nothing was."""
    kind = _kind(task, metric)
    return None if kind is None else _of_kind(kind)


def _kind(task: Task | None, metric: str) -> Kind | None:
    name = metric.partition(":")[0]
    if task in LANGUAGE_TASKS and name == "eval_loss":  # that of a batch has another noise
        return "language loss"
    if name in {"eval_accuracy", "eval_f1"} and task == "classification":
        return "accuracy"
    if task == "rl" and name in {"reward", "eval_reward"}:
        return "return"
    return "regression loss" if task == "regression" and name == "eval_loss" else None


@lru_cache(maxsize=8)
def _of_kind(kind: Kind) -> Expected:
    logs = np.log([one for row in ROWS if row.kind == kind for one in row.deviations])
    doubt = max(LEAST_DOUBT, float(logs.std(ddof=1)))
    return Expected(float(np.exp(logs.mean())), doubt, kind != "accuracy", kind == "return")
