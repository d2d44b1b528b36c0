"""Which settings of two runs differ, and which of them bears most on the curves."""

import pytest

from runlens.comparing.gate import checks
from runlens.comparing.mover import mover
from runlens.comparing.parting import partings
from runlens.comparison import DiagnosisDiff
from runlens.diagnosis import Finding, Fix, Moment
from runlens.run import Event, Run, Setting, State
from tests.comparing.drawn_pairs import ARGUMENTS, LOSS, RATE, changed, ranked, run, with_

LATER = {"train_loss": "0:2.2 300:1.4 310:1.6 1000:1.4"}
OTHER_LOSS = "0:2.2 300:1.5 1000:1.3"


def rows(a: dict[str, Setting], b: dict[str, Setting]) -> list[str]:
    """Return the ranked keys of two runs with equal curves."""
    return ranked(run(a), run(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"learning_rate": "2e-4"}, {"learning_rate": 0.0002}),
        ({"bf16": "True"}, {"bf16": True}),
        ({"eval_strategy": "IntervalStrategy.STEPS"}, {"eval_strategy": "steps"}),
        (
            {"lora_target_modules": "q_proj, v_proj"},
            {"lora_target_modules": "['v_proj', 'q_proj']"},
        ),
        ({"max_steps": 300}, {"max_steps": 300.0}),
        ({"lr_scheduler_type": "SchedulerType.COSINE"}, {"lr_scheduler_type": "cosine"}),
        ({"model_name": "/home/me/models/Llama-3-8B"}, {"model_name": "/data/Llama-3-8B/"}),
        ({"deepspeed": "None"}, {}),
        ({"bf16": True, "mixed_precision": "bf16"}, {"bf16": True}),
        ({"model_config.n_embd": 64}, {"n_embd": 64}),
        ({"betas": "(0.9, 0.95)"}, {"adam_beta1": 0.9, "adam_beta2": 0.95}),
    ],
)
def test_one_value_in_two_writings_is_no_difference(
    a: dict[str, Setting], b: dict[str, Setting]
) -> None:
    """Neither as a setting that bears on the curves, nor as one that does not."""
    base = {key: value for key, value in ARGUMENTS.items() if not key.startswith("adam_beta")}
    assert changed(run({**base, **a}), run({**base, **b})) == []


def test_a_ratio_of_warmup_is_its_steps_by_the_plan() -> None:
    """0.05 of 1,000 steps is 50 steps; another ratio differs, in one row."""
    plan = State(planned_steps=1000)
    steps = run(with_(warmup_steps=50), state=plan)
    assert ranked(run(with_(warmup_ratio=0.05), state=plan), steps) == []
    (row,) = changed(run(with_(warmup_ratio=0.1), state=plan), steps)
    assert (row.key, row.a, row.b, row.rank) == ("warmup_steps", 100, 50, 1)


def test_equal_ratios_of_other_lengths_are_one_change() -> None:
    """The warm-up was not touched: the length was."""
    a = run(with_(warmup_ratio=0.1, max_steps=1000), state=State(planned_steps=1000))
    b = run(with_(warmup_ratio=0.1, max_steps=500), state=State(planned_steps=500))
    assert ranked(a, b) == ["max_steps"]


def test_steps_and_epochs_of_one_plan_are_no_difference() -> None:
    """300 steps are three epochs here."""
    plan = State(planned_steps=300, planned_epochs=3.0)
    a, b = run(with_(max_steps=300), state=plan), run(with_(num_train_epochs=3.0), state=plan)
    assert ranked(a, b) == []


def test_batches_that_multiply_to_the_same_are_shown_and_excused() -> None:
    """8 x 1 and 2 x 4; a real change stands before them."""
    parts: dict[str, Setting] = {
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 4,
    }
    found = changed(run(ARGUMENTS), run(with_(**parts, weight_decay=0.1)))
    assert found[0].key == "weight_decay"
    assert {row.key for row in found if row.rank} == {*parts, "weight_decay"}
    assert "effective batch is 8 in both: 8 × 1 against 2 × 4" in found[-1].why


def test_a_larger_batch_says_what_it_comes_to() -> None:
    """With the data of a step, where epochs were logged."""
    a = run(ARGUMENTS, steps_per_epoch=200.0)
    b = run(
        with_(per_device_train_batch_size=16), {"train_loss": OTHER_LOSS}, steps_per_epoch=100.0
    )
    (row,) = changed(a, b)
    assert row.why == "a step of B takes 2 × the share of an epoch: effective batch 8 against 16"


@pytest.mark.parametrize(
    ("a", "b", "shown"),
    [
        ({"fp16": True}, {"bf16": True}, ("fp16", "bf16")),
        ({"mixed_precision": "no"}, {"bf16": True}, ("fp32", "bf16")),
        ({"precision": "16-mixed"}, {"precision": "bf16-mixed"}, ("fp16", "bf16")),
        ({}, {"fp16": True}, ("fp32", "fp16")),
    ],
)
def test_precision_is_one_setting(
    a: dict[str, Setting], b: dict[str, Setting], shown: tuple[str, str]
) -> None:
    """However many switches it has."""
    (row,) = changed(run(with_(**a)), run(with_(**b)))
    assert (row.key, row.a, row.b) == ("precision", *shown)


def test_names_and_paths_have_rank_0_and_come_last() -> None:
    """Nothing of the tracker's own machinery is shown at all."""
    own: dict[str, Setting] = {
        "run_name": "two", "output_dir": "runs/x", "logging_dir": "tb/1", "hub_model_id": "me/m",
        "logging_steps": 5, "save_steps": 50, "eval_steps": 20, "dataloader_num_workers": 4,
        "report_to": "wandb", "_wandb.cli_version": "0.19", "hostname": "node7", "pid": 8123,
        "master_port": 29501, "timestamp": "2026-01-01T10:00", "wandb_project": "p",
    }  # fmt: skip
    other: dict[str, Setting] = {
        **dict.fromkeys(own, "other"),
        "seed": 43,
        "save_steps": 60,
        "eval_steps": 30,
    }
    found = changed(run(with_(**own)), run(with_(**other)))
    assert [row.rank for row in found] == [1, *[0] * (len(found) - 1)]
    assert found[0].key == "seed"
    shown = {row.key for row in found}
    assert {"run_name", "output_dir", "logging_steps", "save_steps", "eval_steps"} <= shown
    assert not {"_wandb.cli_version", "hostname", "pid", "master_port", "timestamp"} & shown


def test_what_one_run_does_not_record_is_no_difference() -> None:
    """A trainer state alone knows no arguments; nor does a log."""
    bare = run({"num_train_epochs": 3.0}, origin="trainer_state.json")
    assert ranked(run(ARGUMENTS), bare) == []
    log = run({**dict.fromkeys("abcdef", 1), "seed": 42}, origin="train.log")
    assert ranked(run({**dict.fromkeys("abcdefg", 1), "seed": 42}, origin="train.log"), log) == []


def test_what_a_complete_dump_lacks_was_not_set() -> None:
    """An argument whose default is None is in no dump: data_seed was given to B alone."""
    (row,) = changed(run(ARGUMENTS), run(with_(data_seed=7), origin="events.out.tfevents.1"))
    assert (row.key, row.a, row.b, row.origin_a) == ("data_seed", None, 7, "not set")


def test_what_one_of_two_like_files_lacks_was_left_at_its_default() -> None:
    """Two files of axolotl: a default that is written out is no change, another value is one."""
    keys: dict[str, Setting] = {"base": 1, "learning_rate": 2e-4, "micro_batch_size": 2, "seed": 1}
    one = run({**keys, "adapter": "lora", "weight_decay": 0.0}, origin="config.yaml")
    other = run({**keys, "adapter": "lora", "sample_packing_eff": 1.0}, origin="axolotl.yml")
    assert "weight_decay" not in ranked(one, other)
    (row,) = changed(run({**keys, "adapter": "lora", "weight_decay": 0.1}, origin="a.yaml"),
                     run({**keys, "adapter": "lora"}, origin="b.yaml"))  # fmt: skip
    assert (row.key, row.b, row.origin_b) == ("weight_decay", 0.0, "not set")


def test_a_proportional_rate_is_the_learning_rate() -> None:
    """And the words tie it to both curves."""
    b = run(
        with_(learning_rate=4e-4, seed=43, weight_decay=0.1),
        {"learning_rate": "0:0 50:4e-4 1000:0", "train_loss": "0:2.2 20:2.2 300:1.5 1000:1.3"},
    )
    found = changed(run(ARGUMENTS), b)
    assert found[0].key == "learning_rate"
    assert found[0].why.startswith("the learning rates differ by 2 × from step 10")


def test_rates_that_differ_in_warmup_name_the_warmup() -> None:
    """The peak is one: a change of the configured rate has less to do with it."""
    a = run(with_(warmup_steps=50))
    b = run(with_(warmup_steps=0, weight_decay=0.1), {"learning_rate": "0:2e-4 50:2e-4 1000:0"})
    found = changed(a, b)
    assert found[0].key == "warmup_steps"
    assert "within warm-up" in found[0].why


def test_rates_that_part_after_warmup_name_the_schedule() -> None:
    """A constant rate against a decay."""
    b = run(
        with_(lr_scheduler_type="constant_with_warmup", seed=43),
        {"learning_rate": "0:0 50:2e-4 1000:2e-4"},
    )
    assert ranked(run(ARGUMENTS), b)[0] == "lr_scheduler_type"


def test_a_configured_rate_that_the_curves_do_not_show_comes_last() -> None:
    """Equal learning rates were logged: a callback or a resume set them."""
    b = run(with_(learning_rate=4e-4, weight_decay=0.1), {"train_loss": OTHER_LOSS})
    assert ranked(run(ARGUMENTS), b)[-1] == "learning_rate"


def test_seeds_explain_a_difference_from_the_first_step_alone() -> None:
    """Where the losses are equal for a while, the seed did not part them."""
    late = "0:2.2 300:1.4 310:1.6 1000:1.4"
    first = run(with_(seed=43, weight_decay=0.1), noise="two")
    why = {row.key: row.why for row in changed(run(ARGUMENTS), first)}
    assert why["seed"].startswith("the losses differ from the first logged step")
    then = run(with_(seed=43, weight_decay=0.1), {"train_loss": late})
    found = changed(run(ARGUMENTS), then)
    assert [row.key for row in found if row.rank] == ["weight_decay", "seed"]
    assert found[1].why == "the losses are equal up to step 300"


def test_clipping_counts_only_where_norms_pass_a_limit() -> None:
    """All norms are below 2.5: limits of 5 and 10 are one."""
    loss = {"train_loss": "0:2.2 20:2.2 300:1.5 1000:1.3"}
    loose = run(with_(max_grad_norm=10.0))
    far = changed(loose, run(with_(max_grad_norm=5.0, weight_decay=0.1), loss))
    assert [row.key for row in far] == ["weight_decay", "max_grad_norm"]
    assert far[1].why.endswith("below both limits")
    near = changed(loose, run(with_(max_grad_norm=0.5, weight_decay=0.1), loss))
    assert near[0].key == "max_grad_norm"
    assert "100 % of the gradient norms lie above the tighter limit" in near[0].why


def test_a_resume_explains_a_parting_right_after_it() -> None:
    """It is no setting that a file records: the launches tell."""
    b = run(with_(seed=43), {"train_loss": "0:2.2 300:1.4 310:1.8 1000:1.3"},
            events=(Event("resume", 300),))  # fmt: skip
    found = changed(run(ARGUMENTS), b)
    assert (found[0].key, found[0].b) == ("resume_from_checkpoint", "at step 300")
    assert found[0].why == "the runs part at the resume of step 300"


def test_a_finding_that_one_run_has_raises_the_setting_it_names() -> None:
    """Weight decay against dropout, which weigh the same otherwise."""
    fix = (Fix("Add weight decay", "weight_decay", 0.0, 0.01),)
    finding = Finding(
        "warning", "Overfitting.", "eval_loss", Moment(300), (), fixes=fix, rule="hockey-stick"
    )
    a, b = run(with_(attention_dropout=0.0)), run(with_(attention_dropout=0.1, weight_decay=0.1))
    assert ranked(a, b) == ["attention_dropout", "weight_decay"]
    found = changed(a, b, DiagnosisDiff(fixed=(finding,)))
    assert found[0].key == "weight_decay"
    assert found[0].why.endswith("hockey-stick, found in A alone, names it")


@pytest.mark.parametrize(
    ("rate", "key", "values"),
    [
        ("0:0 50:4e-4 1000:0", "learning_rate", (2e-4, 4e-4)),
        ("0:0 200:2e-4 1000:0", "warmup_steps", (50, 200)),
        ("0:0 50:2e-4 1000:2e-4", "lr_scheduler_type", ("linear", "constant")),
    ],
)
def test_the_curve_of_the_rate_tells_what_no_file_records(
    rate: str, key: str, values: tuple[Setting, Setting]
) -> None:
    """Only a trainer state is there."""
    bare = {"num_train_epochs": 3.0}
    a = run(bare, origin="trainer_state.json")
    b = run(bare, {"learning_rate": rate}, origin="trainer_state.json")
    (row,) = changed(a, b)
    assert (row.key, row.a, row.b) == (key, *values)
    assert row.origin_a == row.origin_b == "shape of the learning rate"


def test_the_logged_points_near_a_peak_make_no_other_rate() -> None:
    """A longer decay is at another height at the same step; its peak is the same."""
    a = run({}, {"learning_rate": "0:2e-4 1000:0"}, state=State(planned_steps=1000))
    b = run({}, {"learning_rate": "0:2e-4 2000:0"}, state=State(planned_steps=2000))
    assert ranked(a, b) == ["max_steps"]


def test_epochs_a_step_tell_of_another_batch_or_another_set() -> None:
    """Nothing is recorded but the epochs; a policy's tokens a step are no setting."""
    a, b = run({}, steps_per_epoch=200.0), run({}, steps_per_epoch=100.0)
    (row,) = changed(a, b)
    assert (row.key, row.a, row.b) == ("steps_per_epoch", 200.0, 100.0)
    one = run({}, {"tokens": "0:0 1000:4e6"}, task="grpo")
    other = run({}, {"tokens": "0:0 1000:3e6"}, task="grpo")
    assert changed(one, other) == []


def test_a_configuration_of_thousands_of_settings_is_ranked() -> None:
    """The one that acts stands first."""
    many: dict[str, Setting] = {f"model.layers.{i}.width": i for i in range(3000)}
    other: dict[str, Setting] = {**many, "model.layers.7.width": 9}
    b = run({**ARGUMENTS, **other, "learning_rate": 4e-4}, {"learning_rate": "0:0 50:4e-4 1000:0"})
    assert ranked(run({**ARGUMENTS, **many}), b) == ["learning_rate", "model.layers.7.width"]


def test_a_run_has_no_settings_that_differ_from_its_own() -> None:
    """Not even derived ones."""
    one: Run = run(ARGUMENTS, {"train_loss": LOSS, "learning_rate": RATE}, steps_per_epoch=99.0)
    assert changed(one, one) == []


HOSTILE: tuple[Setting, ...] = (
    "", " ", "nan", float("nan"), float("inf"), -1e308, 1e308, 5e-324, 10**400, 0, -0.0, True, None,
    "[" * 500, "(,)", "x" * 300, "a, b, ", "/" * 40, "1e999", "\u202e<b>", "Enum.VALUE", "0.9, 1",
)  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_no_value_of_a_setting_breaks_the_ranking(value: Setting) -> None:
    """Whatever stands in a file: numbers out of bounds, texts of brackets, other types."""
    keys = (*ARGUMENTS, "warmup_steps", "warmup_ratio", "max_steps", "betas", "vocab_size", "rl",
            "num_processes", "model_name", "resume_from_checkpoint", "mixed_precision")  # fmt: skip
    a, b = run({**ARGUMENTS, "vocab_size": 5}), run(dict.fromkeys(keys, value), LATER)
    for one, other in ((a, b), (b, a), (b, b)):
        found = changed(one, other)
        assert [row.rank for row in found if row.rank] == list(
            range(1, 1 + sum(r.rank > 0 for r in found))
        )
        assert {check.ok for check in checks(one, other)} <= {True, False, None}
        assert isinstance(mover(one, other, partings(one, other, "step"), found), str)


@pytest.mark.parametrize(
    "corners",
    ["0:nan 1000:nan", "0:inf 500:1 1000:nan", "0:1e30 1000:1e-30", "0:0 1000:0", "0:1 0:1"],
)
def test_no_curve_breaks_the_ranking(corners: str) -> None:
    """Numbers out of bounds, none at all, a single point."""
    names = ("train_loss", "learning_rate", "grad_norm", "eval_loss", "tokens", "eval_runtime")
    b = run({}, dict.fromkeys(names, corners), steps_per_epoch=1e-300)
    for one, other in ((run(), b), (b, run()), (b, b)):
        found = changed(one, other)
        assert checks(one, other)
        assert isinstance(mover(one, other, partings(one, other, "step"), found), str)


def test_a_seed_is_not_the_likeliest_where_another_setting_may_be() -> None:
    """It parts the runs from the first step, and no run is better for it."""
    a = run(with_(seed=1, weight_decay=0.0), noise="one")
    b = run(with_(seed=2, weight_decay=0.1), noise="two")
    assert ranked(a, b) == ["weight_decay", "seed"]
    idle = {"grad_norm": "0:0.2 1000:0.1"}
    a = run(with_(seed=1, max_grad_norm=1.0), idle, noise="one")
    b = run(with_(seed=2, max_grad_norm=2.0), idle, noise="two")
    assert ranked(a, b) == ["seed", "max_grad_norm"]  # no norm is as high as either limit
