"""Folders of a table or a text beside its settings, and names that only others beside them tell."""

import json
from pathlib import Path

import pytest

from runlens import diagnose, read, read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources.configs.plain_settings import settings_in
from runlens.sources.console.excerpts import shown_whole
from tests.sources.written import run_of, runs_of

EPOCHS = range(1, 13)
ARGS = "lr=0.3\nepochs=12\nbatch_size=8\n"


def folder(place: Path, table: str, settings: str = ARGS) -> Run:
    """Write a table beside settings, and read both."""
    (place / "args.txt").write_text(settings)
    (place / "mine.csv").write_text(table)
    return read(place)


def table(head: str, row: str) -> str:
    """Return a table of some rows."""
    return "\n".join([head, *(row.format(n, n / 20, 2 / n) for n in EPOCHS), ""])


def test_returns_by_update_beside_settings(tmp_path: Path) -> None:
    """What a policy got, update by update: the settings do not hide its table."""
    run = folder(tmp_path, table("update,avg_ret,H,baseline", "{0},{1},{2},{1}"))
    assert run.curve("reward").value.tolist() == [n / 20 for n in EPOCHS]
    assert len(run.curve("entropy")) == len(EPOCHS)
    assert run.number("learning_rate") == 0.3


def test_a_loss_without_a_step_beside_settings(tmp_path: Path) -> None:
    """The only other file of a folder is read as if a user had pointed at it."""
    run = folder(tmp_path, table("loss,acc", "{2},{1}"))
    assert len(run.curve("train_loss")) == len(EPOCHS)
    assert run.number("learning_rate") == 0.3


@pytest.mark.parametrize(
    ("head", "row"),
    [("open,close,return", "{0},{2},{1}"), ("sepal,petal,label", "{2},{1},1")],
)
def test_data_beside_settings_are_no_training(tmp_path: Path, head: str, row: str) -> None:
    """Prices, with what a share returned, and samples."""
    with pytest.raises(NothingReadable):
        folder(tmp_path, table(head, row))


def test_settings_below_headings(tmp_path: Path) -> None:
    """A small agent has few that are known; the steps of an episode are no plan of the training."""
    ini = "[env]\nmax_steps = 120\n; a remark\n[agent]\ngamma = 0.98\nlr = 0.1\n[run]\nseed = 3\n"
    (tmp_path / "settings.ini").write_text(ini)
    (tmp_path / "progress.csv").write_text(table("episode,mean_return", "{0},{1}"))
    run = read(tmp_path)
    assert (run.number("max_steps"), run.number("env.max_steps")) == (None, 120)
    assert (run.number("learning_rate"), run.number("seed")) == (0.1, 3)
    assert settings_in("[train]\nlr = 0.1\nseed = 1\n[eval]\nseed = 2\n") == {
        "lr": 0.1, "seed": 1, "eval.seed": 2,
    }  # fmt: skip
    (tmp_path / "settings.ini").rename(tmp_path / "desktop.ini")
    assert "seed" not in read(tmp_path).config


@pytest.mark.parametrize("off", [None, False, "off", "None"])
def test_a_limit_that_is_off(tmp_path: Path, off: object) -> None:
    """A loop's own ``clip: null`` says that nothing is clipped; it is no missing record."""
    settings = {"lr": 0.1, "epochs": 12, "batch_size": 8}
    (tmp_path / "log.csv").write_text(table("epoch,loss", "{0},{2}"))
    for key, value in (("clip", 0.0), ("grad_clip", 0.0), ("max_grad_norm", None)):
        (tmp_path / "args.json").write_text(json.dumps({**settings, key: off}))
        if key != "max_grad_norm" or off is None:
            assert read(tmp_path).number("max_grad_norm") == value
    (tmp_path / "args.json").write_text(json.dumps({**settings, "clip": 0.5}))
    assert read(tmp_path).number("max_grad_norm") == 0.5


def keras(last: int, of: int) -> str:
    """Return an issue with what Keras printed."""
    rows = (
        f"Epoch {n}/{of}\n8/8 - 1s - loss: {2 / n:.4f} - acc: 0.{n}" for n in range(1, last + 1)
    )
    return "My loss is odd\n\n```\n" + "\n".join(rows) + "\n```\nWhat is wrong?\n"


def test_a_whole_training_in_markdown_is_the_log_of_its_folder(tmp_path: Path) -> None:
    """From its first epoch to its last; a few of many are an example in a text."""
    issue = tmp_path / "issue.md"
    issue.write_text(keras(8, 8))
    assert len(read(tmp_path).curve("train_loss")) == 8
    for last, of in ((5, 100), (2, 2)):
        issue.write_text(keras(last, of))
        with pytest.raises(NothingReadable):
            read(tmp_path)
    assert not shown_whole(tmp_path / "gone.md")


def test_the_development_set_called_dv(tmp_path: Path) -> None:
    """Beside ``tr``; both names alone are its losses where an accuracy stands apart."""
    row = "ep {0} | tr {1:.3f} | dv {2:.3f} | dv-acc {3:.1f}"
    lines = [row.format(n, 2 / n, 2.1 / n, 40 + 3 * n) for n in EPOCHS]
    run = run_of(tmp_path, "log.txt", "\n".join(lines))
    assert run.curve("eval_accuracy").value[-1] == pytest.approx(0.76)
    assert run.curve("train_loss").value[0] == 2
    assert run.curve("eval_loss").value[0] == 2.1
    assert run.taken.items() >= {"train_loss": "tr", "eval_loss": "dv"}.items()
    alone = "\n".join(f"ep {n} | tr {2 / n:.3f} | dv-acc 0.{n}" for n in EPOCHS)
    assert "eval_accuracy" in run_of(tmp_path, "a.log", alone).history.metrics
    far = [row.format(n, 2 / n, 70 / n, 40 + 3 * n) for n in EPOCHS]
    assert "train_loss" not in run_of(tmp_path, "log.txt", "\n".join(far)).history.metrics


@pytest.mark.parametrize("head", ["epoch,loss,dv_loss,dv_acc", "epoch,loss,T-acc,lr"])
def test_a_derivative_and_a_lone_letter_are_no_data(tmp_path: Path, head: str) -> None:
    """A bound by Donsker and Varadhan without ``tr``; an accuracy of tokens."""
    run = run_of(tmp_path, "log.csv", table(head, "{0},{2},{1},{1}"))
    assert not {"eval_accuracy", "train_accuracy"} & set(run.history.metrics)
    assert "eval_loss" not in run.history.metrics


def test_accuracies_by_the_initials_of_their_data(tmp_path: Path) -> None:
    """As the losses beside them are called."""
    text = table("epoch,T-loss,T-acc,V-loss,V-acc", "{0},{2},{1},{2},{1}")
    run = run_of(tmp_path, "log.csv", text)
    ours = {f"{data}_{what}" for data in ("train", "eval") for what in ("loss", "accuracy")}
    assert set(run.history.metrics) == ours


def test_data_that_a_column_shortens(tmp_path: Path) -> None:
    """``tr``, ``va`` and ``te`` in a column of splits."""
    rows = [f"{n},{of},{2 / n:.3f}" for n in EPOCHS for of in ("tr", "va", "te")]
    run = run_of(tmp_path, "log.csv", "\n".join(["epoch,split,loss", *rows, ""]))
    assert len(run.curve("train_loss")) == len(run.curve("eval_loss")) == len(EPOCHS)


def test_the_successes_of_an_agent(tmp_path: Path) -> None:
    """In small letters no level of a message; its mean length is that of an episode."""
    row = "episodes {0}-{1}:\tsuccess {2:.3f}\tavg_len 60.0\teps {3:.2f}"
    lines = [row.format(200 * n + 1, 200 * n + 200, n / 20, 0.9**n) for n in EPOCHS]
    run = run_of(tmp_path, "qlearn.txt", "\n".join(lines))
    assert run.curve("reward").value.tolist() == [n / 20 for n in EPOCHS]
    assert "len_mean" not in run.history.metrics
    assert len(run.curve("episode_length")) == len(EPOCHS)


def test_a_policy_that_counts_its_answers_as_episodes(tmp_path: Path) -> None:
    """Beside a divergence from the reference a mean length is that of completions."""
    text = table("episode,reward,avg_len,kl", "{0},{1},60,0.1")
    assert "len_mean" in run_of(tmp_path, "log.csv", text).history.metrics


def test_the_level_success_is_no_name(tmp_path: Path) -> None:
    """In capitals, as loguru writes it."""
    lines = [f"2026-01-01 10:00:{n} | SUCCESS | epoch {n} loss {2 / n:.3f}" for n in range(10, 20)]
    assert set(run_of(tmp_path, "a.log", "\n".join(lines)).history.metrics) == {"train_loss"}


def test_an_error_of_values_is_the_loss_of_an_evaluated_policy(tmp_path: Path) -> None:
    """Held against the true values; beside a reward an agent is judged by that."""
    text = table("iter,max_abs_value,msve", "{0},{2},{0}")
    assert dict(run_of(tmp_path, "progress.csv", text).taken) == {"train_loss": "msve"}
    text = table("episode,reward,msve", "{0},{1},{0}")
    assert "train_loss" not in run_of(tmp_path, "progress.csv", text).history.metrics


@pytest.mark.parametrize(
    ("line", "begun"),
    [
        ("loaded ck/last.pt (it 60): model", True),
        ("$ python train.py --resume", True),
        ("$ python train.py --resume=none", False),
        ("loaded ck/best.pt (it 60)", False),
        ("loaded ema/other.pt (it 60)", False),
    ],
)
def test_what_was_loaded_between_rows(tmp_path: Path, line: str, begun: bool) -> None:
    """The last file with its step, or a command that resumes: the jump behind it is of that."""
    rows = [f"it {n}/120 nll {3 * 0.97**n + 1 + 0.01 * (n % 3):.4f}" for n in range(1, 61)]
    rows += [line, *(f"it {n}/120 nll {2.6 * 0.98 ** (n - 60) + 1.1:.4f}" for n in range(61, 121))]
    (tmp_path / "run.log").write_text("\n".join(rows) + "\n")
    found = [event.step for event in read(tmp_path).events if event.kind == "resume"]
    assert found == [61] * begun
    assert ("resume-jump" in {one.rule for one in diagnose(tmp_path).findings}) == begun


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("Train on 120 samples, validate on 500 samples", 120),
        ("train: 58 rows, 3 positive", 58),
        ("2026-02-08 06:20:37,296 - INFO - Training: 2560 samples", 2560),
        ("| data/gpl train 1,659 examples", 1659),
        ("Number of training samples: 4265", 4265),
        ("num_train=900", 900),
        ("training at 640 samples/sec", None),
        ("Training 640 samples/sec", None),
        ("Training: 640 samples, loss 0.52", None),
        ("Train samples: 12/90", None),
    ],
)
def test_how_many_rows_it_trains_on(tmp_path: Path, line: str, rows: int | None) -> None:
    """Said once above: no speed, and none so far."""
    log = "\n".join([line, *(f"epoch {n} loss {2 / n:.4f}" for n in EPOCHS)])
    assert run_of(tmp_path, "train.log", log).number("train_rows") == rows


def test_results_that_say_their_setting(tmp_path: Path) -> None:
    """Launches append them to one file: no course, whatever they share."""
    row = "Time: 2019080{0}-2041, Setting: ResNet18-base++ 5shot, Test Acc = 4{0}.6% +- 0.6%"
    results = "\n".join(row.format(n) for n in range(1, 9))
    runs = runs_of(tmp_path, "results.txt", results)
    assert [len(run.curve("eval_accuracy")) for run in runs] == [1] * 8
    assert "several trainings" in " ".join(one.text for one in runs[0].problems)
    course = "\n".join(f"epoch {n}: Setting: a, Test Acc = 4{n}.6%" for n in range(1, 9))
    assert len(run_of(tmp_path, "train.log", course).curve("eval_accuracy")) == 8


def test_scores_of_classes_below_a_result_are_parts_of_it(tmp_path: Path) -> None:
    """They are said to be those of each class."""
    head = "FINAL METRICS:\nBest Validation Accuracy: 97.00%\nFinal Training Accuracy: 98.86%\n\n"
    of_each = "".join(f"{one}:\n  Precision: 0.9{n}\n  Recall: 0.8{n}\n\n"
        for n, one in enumerate(("CALM", "ODD", "CHEATS")))  # fmt: skip
    (run,) = runs_of(tmp_path, "report.txt", f"{head}PER-CLASS METRICS:\n{of_each}")
    assert "Precision" not in run.history.metrics
    assert len(runs_of(tmp_path, "report.txt", head + of_each)) > 1
    for above in ("", "Report of today\n"):
        assert len(runs_of(tmp_path, "report.txt", f"{above}PER-CLASS METRICS:\n{of_each}")) > 1


def test_transcripts_beside_their_references_are_samples(tmp_path: Path) -> None:
    """Each row of such a table is one that was heard, and no training."""
    rows = [f"deep,a{n}.wav,yes we can,yes he can,0.{n},0.1" for n in range(1, 9)]
    head = "model_name,audio_file,reference,hypothesis,wer,cer"
    (tmp_path / "metrics.csv").write_text("\n".join([head, *rows, ""]))
    with pytest.raises(NothingReadable):
        read_all(tmp_path)
