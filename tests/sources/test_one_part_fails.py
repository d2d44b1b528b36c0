"""What one part of a place costs when it cannot be read: itself, and a word to the user."""

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.metrics import naming
from runlens.sources.console import messages
from runlens.sources.merging import likeness, merge
from runlens.sources.tables import jsonl_log
from runlens.sources.wandb_api import client

ROWS = "epoch,loss,odd\n" + "".join(f"{n},{2 / n},{n * n}\n" for n in range(1, 9))
FAULT = "an internal fault: please report it"


def failing(*_given: object) -> object:
    """Fail, as only a fault of our own does."""
    raise RuntimeError("nobody thought of this")


def folder(place: Path) -> Path:
    """Write one run as a table."""
    (place / "metrics.csv").write_text(ROWS)
    return place


def told(place: Path) -> str:
    """Return the problems of the run at a place."""
    return "\n".join(problem.text for problem in read(place).problems)


def test_a_format_that_cannot_be_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other formats are read all the same."""
    (folder(tmp_path) / "notes.jsonl").write_text("{}\n")
    monkeypatch.setattr(jsonl_log, "looks_like_log", failing)
    assert "could not be searched for trainer_log.jsonl" in told(tmp_path)
    assert len(read(tmp_path).curve("train_loss")) == 8


def test_a_name_that_cannot_be_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The metric keeps the name that it was logged under."""

    def one_fails(logged: str, framework: str = "") -> object:
        return failing() if logged == "odd" else naming(logged, framework)

    monkeypatch.setattr(likeness, "naming", one_fails)
    assert "odd keeps its name" in told(folder(tmp_path))
    assert len(read(tmp_path).curve("odd")) == 8


def test_a_metric_that_cannot_be_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are."""
    metric = merge._metric  # noqa: SLF001 - what a fault of our own would be in

    def one_fails(name: str, *given: object) -> object:
        return failing() if name == "odd" else metric(name, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(merge, "_metric", one_fails)
    assert FAULT in told(folder(tmp_path))
    assert read(tmp_path).history.metrics == ("train_loss",)


def test_sources_that_cannot_be_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a run of its own; where one alone cannot be made, there is none."""
    (folder(tmp_path) / "train.log").write_text(
        "".join(f"Epoch {n} loss: {2 / n:.4f}\n" for n in range(1, 9))
    )
    run = merge._run  # noqa: SLF001 - as above

    def two_fail(at: Path, given: str, group: list[object], *rest: object, **how: bool) -> object:
        return failing() if len(group) > 1 else run(at, given, group, *rest, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(merge, "_run", two_fail)
    runs = read_all(tmp_path)
    assert len(runs) == 2
    assert any("could not be merged" in problem.text for problem in runs[0].problems)
    monkeypatch.setattr(merge, "_run", lambda *_given, **_named: failing())
    with pytest.raises(NothingReadable, match="could not be merged"):
        read_all(tmp_path / "metrics.csv")


def test_a_step_that_is_no_number(tmp_path: Path) -> None:
    """Its value is left out."""
    curve = {"steps": [1, "x", 2], "values": [2.0, 1.9, 1.5]}
    (tmp_path / "history.json").write_text(json.dumps({"loss": curve}))
    assert read(tmp_path).curve("train_loss").value.tolist() == [2.0, 1.5]


def test_a_long_text_that_was_piped_is_no_excerpt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end may be that of a run."""
    text = "".join(f"step {n} loss: {2 / n:.5f}\n" for n in range(1, 101))
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
    assert not read("-").state.excerpt


def test_memory_of_other_processes_and_of_old_versions() -> None:
    """Which process is ours, what it allocated tells; what was reserved held that too."""
    old = (
        "CUDA out of memory. Tried to allocate 576.00 MiB (GPU 0; 22.17 GiB total capacity; "
        "3.00 GiB already allocated; 153.81 MiB free; 5.00 GiB reserved in total by PyTorch)"
    )
    found = messages.memory(old)
    assert (found["allocated_gib"], found["reserved_gib"]) == (3.0, 2.0)
    new = (
        "CUDA out of memory. Process 11 has 20.00 GiB memory in use. Process 12 has 5.00 GiB "
        "memory in use. Of the allocated memory 4.50 GiB is allocated by PyTorch, and 200.00 MiB "
        "is reserved by PyTorch but unallocated."
    )
    assert messages.memory(new)["others_gib"] == 20.0
    hidden = (
        "CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of {0} GiB of "
        "which 101.62 MiB is free. Process 4881 has 0 bytes memory in use. Of the allocated memory "
        "20.45 GiB is allocated by PyTorch, and 17.19 MiB is reserved by PyTorch but unallocated."
    )  # from within a container no other process is seen
    assert messages.memory(hidden.format("47.40"))["others_gib"] == pytest.approx(26.83, abs=0.01)
    assert "others_gib" not in messages.memory(hidden.format("22.00"))  # what CUDA itself needs
    seen = hidden.format("47.40").replace("has 0 bytes", "has 20.50 GiB")
    assert "others_gib" not in messages.memory(seen)


@pytest.mark.parametrize(("owner", "kept"), [("1", True), ("999999999", False), ("me", True)])
def test_what_a_killed_process_left_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str, kept: bool
) -> None:
    """Not what one that lives still needs, nor what is of somebody else."""
    left = tmp_path / f"{client.HOME}{owner}-x"
    left.mkdir()
    monkeypatch.setattr(client, "gettempdir", lambda: str(tmp_path))
    client._clear_left()  # noqa: SLF001 - a start of the client in another process
    assert left.is_dir() is kept


def test_what_a_process_of_somebody_else_uses_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it lives is all that the system tells."""
    left = tmp_path / f"{client.HOME}999999999-x"
    left.mkdir()

    def refused(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(client, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("os.kill", refused)
    client._clear_left()  # noqa: SLF001 - a start of the client in another process
    assert left.is_dir()
