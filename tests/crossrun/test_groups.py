"""Names without what changes from launch to launch, and which settings bear on a result."""

import pytest

from runlens.crossrun import groups
from runlens.history import History
from runlens.run import Configured, Run, Setting


def run(name: str = "nightly-3", **config: Setting) -> Run:
    """Draw a run that has settings alone."""
    known = {key.replace("__", "."): Configured(value, "drawn") for key, value in config.items()}
    return Run("id", name, History({}), known, framework="trl", task="sft")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("sft-7b-base-s07-0031", "sft-7b-base"),
        ("nightly-2026-11-21", "nightly"),
        ("nightly_20261121T020000Z", "nightly"),
        ("Nov21_10-33-02_box", "box"),
        ("wandb/run-20261121_103302-qnolswhj", ""),
        ("1e7bi8wg", ""),
        ("a3f9c21", ""),
        ("llama3-lora-r16-lr1e-4-seed42", "llama3-lora-r-lr"),
        ("qwen2.5-0.5b_seed=3", "qwen2.5-0.5b"),
        ("asr-small-run12", "asr-small"),
        ("asr-small-run13", "asr-small"),
        ("checkpoint-500", ""),
        ("facade", "facade"),
        ("x1", ""),
        ("2026", ""),
    ],
)
def test_stem_keeps_what_names_the_job(name: str, stem: str) -> None:
    """Dates, counters, seeds and hashes go; words and sizes stay."""
    assert groups.stem(name) == stem


def test_group_is_task_model_data_and_framework() -> None:
    """Where the model lies on a disk makes no difference."""
    one = run(model_name="/home/ann/models/tiny-7b", dataset_name="acme/words")
    other = run("x", model_name="/data/tiny-7b/", dataset_name="acme/words")
    assert groups.of(one).group == "sft · tiny-7b · acme/words · trl" == groups.of(other).group


def test_several_data_sets_are_one_name() -> None:
    """Each entry of a list of data sets counts."""
    made = run(model_name="m", datasets__0__path="a/b", datasets__1__path="./local/c.jsonl")
    assert groups.of(made).group == "sft · m · a/b+c.jsonl · trl"


def test_without_model_or_data_the_sweep_is_the_group_else_the_name() -> None:
    """A model alone does not make runs comparable."""
    assert groups.of(run(model_name="m", sweep_id="k2")).group == "sft · sweep k2 · trl"
    assert groups.of(run("nightly-4", model_name="m")).group == "sft · nightly · m · trl"


def test_a_run_of_which_nothing_tells_what_it_is_has_no_group() -> None:
    """It is compared with none."""
    assert groups.of(run("2026-11-21")).group == ""


def test_settings_that_bear_on_no_loss_are_left_out() -> None:
    """Seeds, names, places and logging make no other recipe; the data does."""
    config: dict[str, Setting] = {
        "learning_rate": 1e-4,
        "dataset_dir": "data",
        "optimizer.name": "adamw",
        "seed": 1,
        "trainer.data_seed": 2,
        "output_dir": "out/3",
        "run_name": "x",
        "logging_steps": 5,
        "wandb_project": "p",
        "top_p": None,
    }
    assert set(groups.recipe(config)) == {"learning_rate", "dataset_dir", "optimizer.name"}
    assert groups.seeds(config) == (("seed", 1), ("trainer.data_seed", 2))


def test_what_changed_is_told_with_both_values() -> None:
    """Settings that only one run has come last."""
    before: dict[str, Setting] = {"learning_rate": 1e-4, "seed": 1}
    after: dict[str, Setting] = {"learning_rate": 2e-4, "seed": 2, "accelerate": "1.2"}
    said = [str(one) for one in groups.deltas(before, after)]
    assert said == ["learning_rate: 1e-4 to 2e-4", "accelerate: not recorded to 1.2"]
    assert groups.named(["a", "b", "c", "d", "e"]) == "a, b, c, and 2 more"


def test_a_long_name_keeps_both_ends() -> None:
    """No page breaks over a name."""
    short = groups.shortened("a" * 200 + "z")
    assert len(short) <= groups.LONGEST
    assert short.endswith("z")
