"""What was put into a drawn run, and when it changed."""

import numpy as np
import pytest

from runlens.history import FloatArray, History, columns
from runlens.run import Configured, Event, Run, Setting, State
from runlens.signals import Signals
from runlens.signals.inputs import Inputs

STEP = np.arange(2, 401, 2)


def inputs(
    settings: dict[str, Setting] | None = None,
    planned: int | None = 400,
    events: tuple[Event, ...] = (),
    **curves: FloatArray,
) -> Inputs:
    """Return the inputs of a run of 400 steps with these settings and curves."""
    history = History({name: columns(STEP, value) for name, value in curves.items()})
    config = {key: Configured(value, "config.json") for key, value in (settings or {}).items()}
    state = State("finished", done_steps=400, planned_steps=planned)
    return Signals(Run("r", "r", history, config, state, events)).inputs


def linear(peak: float = 1e-3, warmup: int = 40, total: int = 400) -> FloatArray:
    """Return a rate that climbs, then falls to zero."""
    return peak * np.minimum(STEP / warmup, (total - STEP) / (total - warmup))


def cosine(floor: float) -> FloatArray:
    """Return a cosine from 1e-3 to a share of it."""
    return 1e-3 * (floor + (1 - floor) * (1 + np.cos(np.pi * STEP / 400)) / 2)


PLAN: dict[str, Setting] = {
    "learning_rate": 1e-3,
    "lr_scheduler_type": "linear",
    "warmup_steps": 40,
}


def test_a_rate_on_its_plan_has_not_left_it() -> None:
    """The configured plan, and one record before or after it."""
    rate = inputs(PLAN, learning_rate=np.roll(linear(), 1)).rate
    assert rate.plan is not None
    assert (rate.plan.form, rate.plan.source) == ("linear", "configuration")
    assert rate.left is None


def test_a_rate_that_grows_leaves_its_plan_at_a_step() -> None:
    """Dated between the last record on the plan and the first off it, with its largest factor."""
    grown = np.where(STEP > 100, 1e-3 * 1.03 ** (STEP - 100), 1e-3)
    what = inputs({"learning_rate": 1e-3, "lr_scheduler_type": "constant"}, learning_rate=grown)
    left = what.rate.left
    assert left is not None
    assert left.before.step in {102, 104}
    assert left.first.step == left.before.step + 2
    assert left.factor == pytest.approx(1.03**300, rel=0.01)
    assert not left.returned
    assert [change.kind for change in what.before(110)] == ["learning rate"]
    assert what.before(90) == ()


@pytest.mark.parametrize("floor", [0.0, 0.1, 0.3])
def test_a_floor_that_no_setting_names_is_no_departure(floor: float) -> None:
    """Most loops of one's own have one."""
    settings: dict[str, Setting] = {"learning_rate": 1e-3, "lr_scheduler_type": "cosine"}
    rate = inputs(settings, learning_rate=cosine(floor)).rate
    assert rate.left is None
    assert rate.plan is not None
    assert rate.plan.floor == pytest.approx(floor, abs=0.02)


@pytest.mark.parametrize("shape", [linear(), cosine(0.0), np.full(len(STEP), 1e-3)])
def test_a_plan_that_no_file_names_is_fitted(shape: FloatArray) -> None:
    """From the first half; a later leap is off it."""
    assert inputs(learning_rate=shape).rate.left is None
    jumped = np.where(STEP > 300, 20 * shape + 1e-4, shape)
    left = inputs(learning_rate=jumped).rate.left
    assert left is not None
    assert left.first.step == 302


def test_another_scheduler_than_configured_is_named_by_what_it_does() -> None:
    """Configured linear, logged constant."""
    rate = inputs(PLAN | {"warmup_steps": 0}, learning_rate=np.full(len(STEP), 1e-3)).rate
    assert rate.plan is not None
    assert rate.plan.form == "constant"
    assert rate.left is None


def test_a_rate_scaled_in_code_keeps_its_form() -> None:
    """Four devices, four times the rate."""
    rate = inputs(PLAN, learning_rate=4 * linear()).rate
    assert rate.over_configured == pytest.approx(4.0, rel=0.01)
    assert rate.left is None


def test_a_warm_restart_without_a_plan_is_dated() -> None:
    """A rate of no known form that rises again."""
    saw = 1e-3 * (1 - (STEP % 100) / 110) ** 3
    assert {change.kind for change in inputs(learning_rate=saw).changes} == {"learning rate"}


def test_passes_over_the_data_by_rows_and_batch() -> None:
    """Where no epoch is logged; with every process counted."""
    settings: dict[str, Setting] = {
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 2,
        "world_size": 2,
        "num_examples": 160,
    }
    what = inputs(settings, train_loss=np.ones(len(STEP)))
    assert what.batch is not None
    assert (what.batch.value, what.batch.source) == (16, "config.json")
    assert what.passes_at(100) == pytest.approx(10.0)
    assert inputs(train_loss=np.ones(len(STEP))).passes_at(100) is None


def test_launches_and_machine_are_on_one_timeline() -> None:
    """A resume, then a drop of the throughput."""
    resume = Event("resume", 151, where="log.txt:9")
    speed = np.where(STEP > 250, 40.0, 100.0) + np.random.default_rng(0).normal(0, 1, len(STEP))
    changes = inputs(events=(resume,), throughput_steps=speed).changes
    assert [(change.kind, change.after) for change in changes] == [
        ("launch", 151),
        ("throughput", 252),
    ]
    assert changes[1].factor == pytest.approx(0.4, abs=0.02)


def test_a_run_without_inputs_has_none() -> None:
    """Nothing known, nothing raised."""
    what = inputs()
    assert what.rate.plan is None
    assert what.rate.at(10) is None
    assert (what.batch, what.rows, what.precision, what.changes) == (None, None, None, ())


def test_a_rate_that_grows_by_one_factor_is_told_from_a_warm_up() -> None:
    """Per epoch or per step; a line adds the same each time, and half a run of it is no growth."""

    def growth(factors: FloatArray) -> float | None:
        return inputs(learning_rate=1e-3 * factors).rate.growth

    epoch = (STEP // 40).astype(float)
    assert growth(np.power(1.15, epoch)) == pytest.approx(1.15)
    assert growth(np.power(1.01, STEP / 2)) == pytest.approx(1.01)
    assert growth(1 + STEP / 100) is None
    assert growth(np.power(0.9, epoch)) is None
    assert growth(np.power(1.01, epoch)) is None
    assert growth(np.where(STEP < 200, np.power(1.15, epoch), 1.0)) is None


def test_a_rate_that_falls_by_one_factor_is_told_from_one_with_an_end() -> None:
    """StepLR holds its levels; a line, a cosine and a single drop have no factor."""

    def shrinks(factors: FloatArray) -> float | None:
        found = inputs(learning_rate=1e-3 * factors).rate.shrinks
        return found.factor if found else None

    last, drops = float(STEP[-1]), STEP // 100
    assert shrinks(np.power(0.2, drops)) == pytest.approx(0.2)
    assert shrinks(np.power(0.96, STEP / 2)) == pytest.approx(0.96)
    assert shrinks(np.power(0.98, STEP / 2)) is None
    assert shrinks(1 - STEP / (last + 1)) is None
    assert shrinks((1 + np.cos(np.pi * STEP / (last + 1))) / 2) is None
    assert shrinks(np.where(last / 2 > STEP, 1.0, 1e-3)) is None
    assert shrinks(np.where(STEP % 200 == 0, 0.9, 1.0) * np.power(0.2, drops)) is None
