"""Files of GPU tools beside a run: cards by time, and what only says what it is."""

import json
import pickle
from pathlib import Path

import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.run import Run

LOG = "".join(
    f"2024-05-01 10:{n:02d}:00,000 - INFO - step {n * 10} loss {2 / (n + 1):.4f}\n"
    for n in range(20)
)
NAMED = "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
UNNAMED = "timestamp, utilization.gpu [%], memory.used [MiB]\n"
DMON = (
    "#Date       Time        gpu    pwr     sm     fb\n"
    "#YYYYMMDD   HH:MM:SS    Idx      W      %     MB\n"
)


def samples(line: str) -> str:
    """Return a line for each of two cards, each minute; `{u}` is the utilisation."""
    return "".join(
        line.format(n=f"{n:02d}", c=card, u=98 - 80 * card) + "\n"
        for n in range(20)
        for card in (0, 1)
    )


def pictures() -> str:
    """Return what ``nvidia-smi -l 60`` prints of two cards."""
    text = ""
    for n in range(20):
        text += f"Wed May 01 10:{n:02d}:30 2024       \n+{'-' * 89}+\n"
        text += "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4  |\n"
        for card in (0, 1):
            text += (
                f"|   {card}  NVIDIA A100-SXM4-80GB    On  |   00000000:07:00.0 Off |      0 |\n"
            )
            text += "| N/A   41C    P0             98W /  400W |   51200MiB /  81920MiB |"
            text += f"     {98 - 80 * card:2d}%    Default |\n|                    |      |\n"
    return text


def test_a_training_that_prints_one_picture_is_its_own_log(tmp_path: Path) -> None:
    """As the records of modded-nanogpt begin."""
    one = pictures().partition("Wed May 01 10:01")[0]
    lines = "".join(f"step {n} train_loss {3 - n / 50:.4f}\n" for n in range(40))
    (tmp_path / "train_log.txt").write_text(f"Running pytorch 2.4.1\nnvidia-smi:\n{one}{lines}")
    assert len(read(tmp_path).curve("train_loss")) == 40


def beside(folder: Path, name: str, text: str, log: str = LOG) -> Run:
    """Read a log of cards beside a log of a training."""
    (folder / "train.log").write_text(log)
    (folder / name).write_text(text)
    return read(folder)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gpu.csv", NAMED + samples("2024/05/01 10:{n}:30.{c}23, {c}, {u} %, 51200 MiB, 98.1 W")),
        ("smi.log", UNNAMED + samples("2024/05/01 10:{n}:30.{c}03, {u} %, 51200 MiB")),
        ("nvidia-smi.txt", pictures()),
        ("dmon.txt", DMON + samples(" 20240501   10:{n}:30      {c}     43     {u}    51200")),
    ],
)
def test_cards_stand_beside_the_rows_of_their_time(tmp_path: Path, name: str, text: str) -> None:
    """Each card is a curve of its own, and no row of the training."""
    run = beside(tmp_path, name, text)
    first, second = run.curve("gpu_util"), run.curve("gpu_util:rank1")
    assert set(first.value) == {98.0}
    assert set(second.value) == {18.0}
    assert first.step.tolist() == [n * 10 for n in range(20)]
    assert run.curve("gpu_mem").value[0] == pytest.approx(50.0)  # GiB
    assert len(run.curve("train_loss")) == 20


@pytest.mark.parametrize(
    ("text", "log", "said"),
    [
        ("# gpu    pwr     sm\n# Idx      W      %\n" + samples("  {c}  4  {u}"), LOG, "dmon -o"),
        ("#Entity   GPUTL  FBUSD\nID\n" + samples("GPU {c}    {u}    70123"), LOG, "of 2 GPUs"),
        (NAMED + samples("2024/05/02 10:{n}:30.1, {c}, {u} %, 9 MiB, 9 W"), LOG, "time zones"),
        (NAMED + samples("[N/A], {c}, {u} %, 9 MiB, [N/A]"), LOG, "without a time"),
        (NAMED + samples("2024/05/01 10:{n}:30.1, {c}, {u} %, 9 MiB, 9 W"),
         "step 1 loss 2.5\nstep 2 loss 2.4\nstep 3 loss 2.3\n", "no times"),
    ],
)  # fmt: skip
def test_cards_without_a_place_are_told(tmp_path: Path, text: str, log: str, said: str) -> None:
    """Nothing is guessed where the clocks do not meet."""
    run = beside(tmp_path, "gpu.txt", text, log)
    assert not [name for name in run.history.metrics if "gpu" in name]
    assert any(said in problem.text for problem in run.problems)


def test_cards_alone_are_no_training(tmp_path: Path) -> None:
    """Their rows are never taken for those of a training."""
    path = tmp_path / "gpu.csv"
    path.write_text(NAMED + samples("2024/05/01 10:{n}:30.1, {c}, {u} %, 9 MiB, 9 W"))
    for place in (path, tmp_path):
        with pytest.raises(NothingReadable, match="samples of 2 GPUs and no training"):
            read(place)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.pt.trace.json", json.dumps({"traceEvents": [{"ts": 1}] * 9}).encode(), "profiler"),
        ("a.pt.trace.json.gz", b"\x1f\x8b\x08", "profiler"),
        ("mem.pickle", pickle.dumps({"segments": [], "device_traces": []}), "could run code"),
        ("nccl_trace_rank_0", pickle.dumps({"entries": [{"profiling_name": "x"}]}), "torchfrtrace"),
        ("r0.json", json.dumps({"entries": [{"profiling_name": "x"}] * 9}).encode(), "collective"),
    ],
)  # fmt: skip
def test_what_a_file_of_a_tool_is(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    """One line says what it is and what opens it; nothing of it is opened."""
    (tmp_path / name).write_bytes(data)
    for place in (tmp_path / name, tmp_path):
        with pytest.raises(NothingReadable, match=said):
            read(place)
