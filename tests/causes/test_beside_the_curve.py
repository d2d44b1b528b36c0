"""What stands beside a curve and tells the cause: settings, norms, places of layers, steps."""

from typing import Any

import numpy as np
import pytest

from runlens.cause import Cause
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.knowledge.raised import said
from runlens.run import Configured, Run, Task

NOISE = 0.01 * np.random.default_rng(3).standard_normal(80)
FALLS = 0.4 + 1.9 * np.exp(-np.arange(80) / 25) + NOISE


def made(
    task: Task = "classification",
    config: dict[str, Any] | None = None,
    every: dict[str, int] | None = None,
    **curves: Any,
) -> Run:
    """Make a run whose metrics have these values, ten steps apart or as `every` says."""
    series = {}
    for name, value in curves.items():
        gap = (every or {}).get(name, 10)
        series[name] = columns(np.arange(1, len(value) + 1) * gap, np.asarray(value, dtype=float))
    set_ = {key: Configured(value, "here") for key, value in (config or {}).items()}
    return Run("x", "x", History(series), task=task, config=set_)


def first(run: Run) -> Cause:
    """Return the first cause of the gravest incident."""
    return diagnose(run).incidents[0].findings[0].causes[0]


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"ema_decay": 0.9999}, True),
        ({"ema_decay": 0.99}, False),  # has long left its start
        ({"ema_decay": 0.9999, "use_ema": False}, False),
        ({"ema_decay": 0.9999, "ema_warmup": True}, False),  # counts its updates
        ({"ema_decay": "auto"}, False),
        ({"ema_gamma": 0.9}, False),
        ({}, False),
    ],
)
def test_an_average_that_is_still_its_start(config: dict[str, Any], *, named: bool) -> None:
    """Of 800 updates, 0.9999 leaves 92 % of the first weights."""
    flat = 2.303 + 0.001 * np.cos(np.arange(8))
    run = made(config=config, every={"eval_loss": 100}, train_loss=FALLS, eval_loss=flat)
    cause = first(run)
    assert cause.what.startswith("The evaluated weights are an average") is named
    if named:
        assert "still 92" in cause.evidence_for


GROWN = 40 * np.exp(0.02 * np.arange(40))


@pytest.mark.parametrize(
    ("norm", "named"),
    [
        (GROWN, True),
        (40 + 10 * np.sqrt(np.arange(40)), False),  # as gradients make weights grow
        (np.append(40 + 0.01 * np.arange(35), 41 * 3.0 ** np.arange(5)), False),  # thrown
        (40 * np.exp(0.005 * np.arange(40)), False),  # grew little
        (GROWN + 4 * np.sin(np.arange(40)), False),  # fell now and then
    ],
)
def test_weights_that_grow_by_one_factor(norm: Any, *, named: bool) -> None:
    """Up to where the run is lost."""
    lost = np.append(FALLS[:40], [np.nan] * 10)
    run = made(train_loss=lost, weight_norm=norm, grad_norm=np.append(np.ones(40), [np.nan] * 10))
    what = [one.what for one in diagnose(run).incidents[0].findings[0].causes]
    assert any("with the wrong sign" in one for one in what) is named


@pytest.mark.parametrize(
    ("last", "named"),
    [
        ([3e3, 4e9, 2e18, 8e26], True),
        ([2.0, 2.1, 2.0, 8e26], False),  # one leap, as of one batch
        ([2.0, 4.0, 8.0, 16.0], False),  # rises, but other causes do that too
    ],
)
def test_a_loss_that_is_multiplied_until_it_is_lost(last: list[float], *, named: bool) -> None:
    """Tenfold and more at three points in a row."""
    cause = first(made(train_loss=[2.6, 2.4, 2.3, *last, np.inf, np.nan, np.nan]))
    assert ("each update overshot" in cause.evidence_for) is named
    if named:
        assert cause.kind == "rate-too-high"


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"reg": 1.0}, True),
        ({"reg": 0.02}, False),
        ({"reg": 0.6}, False),  # less than the error
        ({"reg_lambda": 1.0}, False),  # the default of XGBoost
        ({"gamma": 1.0}, False),
    ],
)
def test_a_penalty_above_the_error(config: dict[str, Any], *, named: bool) -> None:
    """Beside a loss that stands."""
    stands = np.append([0.95, 0.8], 0.70 + 0.0001 * np.cos(np.arange(60)))
    causes = first(made("other", config, train_loss=stands))
    assert causes.what.startswith("A regularization that is too strong") is named


@pytest.mark.parametrize(("names", "named"), [(("g[0]", "g[-1]"), True), (("g[0]", "g[1]"), False)])
def test_gradients_of_layers_by_their_place(names: tuple[str, str], *, named: bool) -> None:
    """The first and the last of a list."""
    of = (np.full(80, 2e-7), np.full(80, 0.3))
    norms: dict[str, Any] = dict(zip(names, of, strict=True))
    run = made(config={"num_labels": 10}, train_loss=2.303 + 0.1 * NOISE, **norms)
    assert first(run).what.startswith("Gradients that vanish") is named


@pytest.mark.parametrize(
    ("error", "named"),
    [
        ("KeyError: 'é'", True),
        ("KeyError: '–'", True),
        (r"KeyError: '\n'", True),
        ("KeyError: 'x'", False),  # a key of the program's own
        ("KeyError: 'label'", False),
    ],
)
def test_a_character_that_is_no_key(error: str, *, named: bool) -> None:
    """Of a vocabulary of characters."""
    found = said(error)
    assert (found is not None and found.what.startswith("A character")) is named


@pytest.mark.parametrize(("rows", "batch"), [(240, "possible"), (4000, "most likely")])
def test_a_batch_of_rows_that_were_seen_before(rows: int, batch: str) -> None:
    """A row that makes a NaN does so in the first pass."""
    config = {"num_examples": rows, "per_device_train_batch_size": 1}
    lost = [*FALLS[:40], *[np.nan] * 10]
    run = made("other", config, train_loss=lost, grad_norm=[*(1 + NOISE[:40]), *[np.nan] * 10])
    ranks = {one.kind: one.rank for one in diagnose(run).incidents[0].findings[0].causes}
    assert ranks.get("bad-batch") == batch


ROSE = 0.3 + 3.2 * (1 - np.exp(-np.arange(80) / 10)) + NOISE
FELL = np.maximum(0.58 - 0.05 * np.arange(80), 0.0)


@pytest.mark.parametrize(
    ("score", "config", "kind"),
    [
        (FELL, {}, "reward-function"),
        (0.58 + 0.1 * NOISE, {}, "rate-too-high"),  # still as right as it was
        (0.58 + 0.1 * NOISE, {"model_name": "Qwen/Qwen2.5-7B"}, "rate-too-high"),
    ],
)
def test_a_reward_that_rises_as_right_answers_end(
    score: Any, config: dict[str, Any], kind: str
) -> None:
    """It is paid for something else, whatever the rate is."""
    run = made(
        "grpo",
        config,
        reward=ROSE,
        kl=0.6 * np.arange(80),
        learning_rate=np.full(80, 3e-3),
        eval_exact_match=score,
    )
    cause = first(run)
    assert cause.kind == kind
    if kind == "rate-too-high":  # which model is tuned must be known for more than likely
        assert cause.rank == ("most likely" if config else "likely")
