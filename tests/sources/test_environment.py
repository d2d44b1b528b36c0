"""Where a run ran, as its tracker noted it."""

import json
from pathlib import Path

import pytest

from runlens.run import Configured
from runlens.sources import environment, wandb_dir

METADATA = {
    "python": "CPython 3.12.2",
    "host": "login-1",
    "docker": "registry/train:2.4",
    "gpu": "NVIDIA H100",
    "gpu_nvidia": [{"uuid": "GPU-b"}, {"uuid": "GPU-a"}, {}],
    "cudaVersion": "12.4",
    "git": {"remote": "https://git.example/x", "commit": "be99466"},
}


def test_what_wandb_notes() -> None:
    """Host, image, commit, GPUs by serial number."""
    assert environment.of_metadata(METADATA) == {
        "node": ("login-1",),
        "gpu_serial": ("GPU-a", "GPU-b"),
        "gpu": ("NVIDIA H100",),
        "image": ("registry/train:2.4",),
        "git_commit": ("be99466",),
        "cuda": ("12.4",),
        "python": ("3.12.2",),
    }
    odd: dict[str, object] = {
        "git": None,
        "gpu_nvidia": "H100",
        "slurm": [],
        "docker": {"a": 1},
        "host": "",
    }
    assert environment.of_metadata(odd) == {}


@pytest.mark.parametrize(
    ("listed", "nodes"),
    [
        ("node-17", ["node-17"]),
        ("n[01-03,07],gpu7", ["n01", "n02", "n03", "n07", "gpu7"]),
        ("a1,b2", ["a1", "b2"]),
        ("n[x-]", ["n", "x-"]),
    ],
)
def test_nodes_as_slurm_lists_them(listed: str, nodes: list[str]) -> None:
    """All nodes of a run, not only that of its first process."""
    assert environment.nodes(listed) == nodes
    found = environment.of_metadata({"host": "login", "slurm": {"job_nodelist": listed}})
    assert found["node"] == tuple(sorted(nodes))


def test_a_list_without_end_is_cut() -> None:
    """A billion nodes."""
    assert len(environment.nodes("n[0-999999999]")) == environment.MOST


def test_packages_on_which_a_training_rests() -> None:
    """Those of a requirements.txt; the others are hundreds."""
    text = "torch==2.6.0+cu124\nflash_attn==2.7\nblack==24.1\n-e git+https://x\n"
    assert environment.of_requirements(text) == {"torch": ("2.6.0+cu124",), "flash-attn": ("2.7",)}


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("events.out.tfevents.1710000000.gpu-3.cluster.12345.0", "gpu-3.cluster"),
        ("events.out.tfevents.1710000000.gpu-3", "gpu-3"),
        ("events.out.tfevents.1710000000.gpu-3.77.0.v2", "gpu-3"),
    ],
)
def test_the_node_in_the_name_of_an_event_file(name: str, node: str) -> None:
    """Nothing else is known of where a run of TensorBoard was."""
    assert environment.of_event_file(name) == {"node": (node,)}


def test_a_run_tells_where_it_ran(tmp_path: Path) -> None:
    """Its tracker first, then what it logged among its settings."""
    files = tmp_path / "run-20260301_020000-abcd1234" / "files"
    files.mkdir(parents=True)
    (files / "wandb-metadata.json").write_text(json.dumps(METADATA))
    (files / "wandb-summary.json").write_text('{"_step": 10, "train/loss": 1.0}')
    (files / "requirements.txt").write_text("torch==2.6.0\n")
    (files / "config.yaml").write_text(
        "hostname:\n  value: other\ndriver_version:\n  value: 550.54\n"
    )
    reading = wandb_dir.read(files.parent)
    settings = {key: Configured(one, "config.yaml") for key, one in reading.config.items()}
    known = environment.joined([reading], settings)
    assert known["node"] == ("login-1",)
    assert known["driver"] == ("550.54",)
    assert known["torch"] == ("2.6.0",)
