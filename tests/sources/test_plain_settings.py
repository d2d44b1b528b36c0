"""Settings in plain text or JSON of any name, beside a curve."""

from pathlib import Path

import pytest

from runlens import read
from runlens.run import Run
from runlens.sources.configs import config_files, plain_settings

CURVE = "2.3021\n2.2875\n2.1903\n2.0544\n1.9731\n1.8012\n"


def run_in(folder: Path, name: str, text: str) -> Run:
    """Read a folder with a curve and another file."""
    (folder / "loss.txt").write_text(CURVE)
    (folder / name).write_text(text)
    return read(folder)


@pytest.mark.parametrize("name", ["setup.txt", "what_was_used.cfg", "run.conf", "my.args"])
@pytest.mark.parametrize(
    "text",
    [
        "lr 0.05\nbatch_size 64\nepochs 6\ntrain_images 800\n",
        "lr: 0.05\nbatch size: 64\nepochs: 6\nname: 'first try'\nuse_it: True\nother: None\n",
        "# of the second run\n[train]\nlr = 0.05\nbatch_size = 64;\n\nepochs = 6\n",
        "--lr 0.05\n--batch_size 64\n--epochs 6\n",
        "Used:\n-----\nlr -> 0.05\nbatch_size => 64\nepochs | 6\nseed -> 3\nby hand of me\n",
    ],
)
def test_settings_are_known_by_what_they_are(tmp_path: Path, name: str, text: str) -> None:
    """A name and a value a line, however they are set apart; the curve is what it was."""
    run = run_in(tmp_path, name, text)
    found = {key: setting.value for key, setting in run.config.items()}
    assert (found["learning_rate"], found["num_train_epochs"]) == (0.05, 6)
    assert found["per_device_train_batch_size"] == 64
    assert len(run.curve("train_loss")) == 6


def test_json_of_any_name(tmp_path: Path) -> None:
    """If it holds no lists of numbers: those are of something else."""
    run = run_in(tmp_path, "used.json", '{"lr": 0.05, "batch_size": 64, "epochs": 6}')
    assert run.config["learning_rate"].value == 0.05


def test_a_name_that_was_taken_is_told_of_the_log(tmp_path: Path) -> None:
    """Its settings have no losses."""
    (tmp_path / "a.json").write_text('{"lr": 0.05, "batch_size": 64, "epochs": 6}')
    rows = "".join(f"epoch {n} nll {2 / n:.4f}\n" for n in range(1, 9))
    (tmp_path / "train.log").write_text(rows)
    told = next(one for one in read(tmp_path).problems if "does not name" in one.text)
    assert told.where.endswith("train.log")


def test_yaml_of_any_name(tmp_path: Path) -> None:
    """With a line of each setting; that of a data set holds none."""
    run = run_in(
        tmp_path, "ppo_config.yaml", "lr: 0.05\nbatch_size: 64\nkl_target: null\nepochs: 6\n"
    )
    assert run.config["learning_rate"].value == 0.05
    (tmp_path / "data.yaml").write_text("train: images/train\nval: images/val\nnc: 80\n")
    assert plain_settings.sole(tmp_path, ["data.yaml"]) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("words.txt", "seed 1\nseed 2\nseed 3\nseed 4\n"),  # a name comes again
        ("words.txt", "red 1\ngreen 2\nblue 3\n"),  # no setting of a training
        ("words.txt", "lr 0.1\nepochs 3\nThese were the best of all that we tried so far.\n" * 2),
        ("words.txt", "lr 0.1\nbatch_size 8\nepochs 3\n" + "x" * plain_settings.LARGEST),
        ("x.json", '{"lr": [1, 2, 3, 4], "batch_size": 8, "epochs": 3}'),
        ("x.json", "[1, 2]"),
        ("x.json", "{not JSON"),
    ],
)
def test_other_texts_hold_none(tmp_path: Path, name: str, text: str) -> None:
    """Words, rows, sentences, what is too long, and what cannot be read."""
    (tmp_path / name).write_text(text)
    assert config_files.find(tmp_path, {tmp_path: [name]}) == []


def test_two_files_of_settings_are_of_nobody_knows_what(tmp_path: Path) -> None:
    """So they are of data, and where a file is called so it is the one."""
    text = "lr 0.05\nbatch_size 64\nepochs 6\n"
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(text)
    assert plain_settings.sole(tmp_path, ["a.txt", "b.txt"]) is None
    many = [f"{n}.txt" for n in range(plain_settings.MOST)]
    assert plain_settings.sole(tmp_path, ["a.txt", *many]) is None
    assert plain_settings.sole(tmp_path, ["a.txt", "gone.txt"]) == tmp_path / "a.txt"
    (tmp_path / "config.yaml").write_text("lr: 0.1\n")
    found = config_files.find(tmp_path, {tmp_path: ["a.txt", "config.yaml"]})
    assert found == [tmp_path / "config.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        "--lr 0.05 --batch_size 64 --epochs=6 --amp True\n",
        "python train.py \\\n    --lr 0.05 \\\n    --batch_size 64 --epochs '6'\n",
        'torchrun --standalone main.py --lr "0.05" --batch_size=64 --epochs 6 --amp\n',
    ],
)
def test_options_of_a_command_line_are_settings(tmp_path: Path, text: str) -> None:
    """What people paste beside their log."""
    run = run_in(tmp_path, "config.txt", text)
    assert (run.number("learning_rate"), run.number("num_train_epochs")) == (0.05, 6)


def test_a_text_that_only_mentions_options_holds_no_settings() -> None:
    """An explanation, options that come twice, and two of them."""
    for text in (
        "Use --lr to set the rate, --epochs for epochs and --batch_size for the size of a batch.",
        "--lr 0.1 --lr 0.2 --epochs 3 --batch_size 4",
        "--lr 0.1 --epochs 3",
    ):
        assert not plain_settings.settings_in(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("args.txt", "Namespace(lr=0.05, sizes=[64, 32], net='a, b', batch_size=64, epochs=6)"),
        ("cmd.sh", "#!/bin/bash\n# first try\npython t.py --lr 0.05 --batch-size 64 --epochs 6"),
        ("wandb-config.json", ('{"lr": {"value": 0.05, "desc": null}, "batch": {"value": 64},'
         ' "_wandb": {"value": {"cli_version": "0.17"}}, "epochs": {"value": 6}}')),
        ("ppo_config.yml", ("train:\n  epochs: 6\n  batch_size: 64\noptimizer:\n  name: adam\n"
         "  kwargs:\n    lr: 0.05\nmethod:\n  name: ppoconfig")),
        ("cfg.json", '{"epochs": 6, "batch": 64, "opt": {"lr": 0.05}, "stages": [{"until": 3}]}'),
        ("config.yml", "CartPole-v1:\n  lr: 0.05\n  batch_size: 64\n  epochs: 6"),
    ],
)  # fmt: skip
def test_settings_as_programs_write_them(tmp_path: Path, name: str, text: str) -> None:
    """What argparse prints, a script of one command, an export of W&B, sections, one section."""
    run = run_in(tmp_path, name, text)
    found = {key: setting.value for key, setting in run.config.items()}
    assert (found["learning_rate"], found["num_train_epochs"]) == (0.05, 6)
    assert found["per_device_train_batch_size"] == 64


def test_a_setting_below_one_name_is_changed_where_it_stands(tmp_path: Path) -> None:
    """Its key in the file has that name."""
    run = run_in(tmp_path, "config.yml", "CartPole-v1:\n  lr: 0.05\n  epochs: 6")
    assert run.config["learning_rate"].key == "CartPole-v1.lr"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("generation_config.json", '{"temperature": 0.6, "max_length": 20}'),  # of a model
        ("tokenizer_config.json", '{"model_max_length": 512, "vocab_size": 100}'),
        ("data_config.yaml", "nc: 80\nnames: [a, b]"),  # of data
        ("ds_config.json", '{"train_batch_size": "auto", "optimizer": {"type": "Adam"}}'),
        ("sweep.sh", ("python t.py --lr 0.05 --bs 64 --epochs 6\n"
         "python t.py --lr 0.5 --bs 64 --epochs 6")),  # of several
        ("run.sh", "python t.py --lr $LR --bs $BS --epochs $N"),  # written elsewhere
        ("notes.txt", "Namespace packages (PEP 420) need no __init__"),
    ],
)  # fmt: skip
def test_files_that_look_alike_are_no_settings(tmp_path: Path, name: str, text: str) -> None:
    """Those of a model, of its data, of several trainings, of variables."""
    (tmp_path / name).write_text(text)
    assert plain_settings.sole(tmp_path, [name]) is None


def test_a_small_dict_is_no_export(tmp_path: Path) -> None:
    """A setting that has a value and more is one of its own."""
    text = '{"lr": {"value": 0.1, "until": 3}, "batch_size": 8}'
    run = run_in(tmp_path, "cfg.json", text)
    assert run.config["lr.value"].value == 0.1


def test_a_comma_in_a_fraction_sets_nothing_apart(tmp_path: Path) -> None:
    """Devices are a list; so are classes, which say which, not how many."""
    text = "lr=0,05\nbatch_size=64\nepochs=6\ndevices=0,1\nclasses=5\n"
    found = run_in(tmp_path, "a.txt", text).config
    assert (found["learning_rate"].value, found["devices"].value) == (0.05, "0,1")
    assert found["num_labels"].value == 5


@pytest.mark.parametrize("classes", ["[0, 3]", "1", "'dog'", "null"])
def test_other_classes_are_no_number_of_them(tmp_path: Path, classes: str) -> None:
    """A list, one class, a name."""
    text = f"lr: 0.05\nbatch_size: 64\nepochs: 6\nclasses: {classes}\n"
    assert "num_labels" not in run_in(tmp_path, "config.yaml", text).config
