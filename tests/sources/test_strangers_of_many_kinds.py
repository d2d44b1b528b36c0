"""Logs that nobody described, as strangers leave them; each beside one that must not be read so."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.run import Run
from runlens.sources.console.mining.heads import head, row


def run_of(folder: Path, *lines: str) -> Run:
    """Read lines."""
    (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(folder / "train.log")


def names_of(folder: Path, *lines: str) -> set[str]:
    """Return the names of all curves."""
    (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name for run in read_all(folder / "train.log") for name in run.history.metrics}


def values(run: Run, name: str) -> list[float]:
    """Return the values of a curve."""
    found: list[float] = run.curve(name).value.tolist()
    return found


def steps(run: Run, name: str) -> list[int]:
    """Return the steps of a curve."""
    found: list[int] = run.curve(name).step.tolist()
    return found


def test_names_behind_their_values_are_theirs(tmp_path: Path) -> None:
    """To the end of the line; else a name stands before its value."""
    rows = [
        f"epoch {n:2d}:  {2 / n:.3f} loss  {n * 10:.1f}% acc  4.{n}s elapsed" for n in (1, 2, 3)
    ]
    run = run_of(tmp_path, *rows)
    assert values(run, "train_loss") == [2.0, 1.0, 0.667]
    assert values(run, "train_accuracy") == pytest.approx([0.1, 0.2, 0.3])
    rows = [f"epoch {n}: 0.{n} loss 2.{n} acc 0.5{n}" for n in (1, 2, 3)]
    assert values(run_of(tmp_path, *rows), "train_loss") == [2.1, 2.2, 2.3]


def test_an_infinity_is_a_number_wherever_it_is_the_only_one(tmp_path: Path) -> None:
    """Java spells it out, behind a counter that is marked by a hash; a name begins so too."""
    rows = [
        f"Iteration #{n} - cost: {v}" for n, v in enumerate(("4.2", "9e3", "Infinity", "NaN"), 1)
    ]
    assert steps(run_of(tmp_path, *rows), "train_loss") == [1, 2, 3, 4]
    rows = [f"Iteration #{n} - cost: {0.5 + n} - Information gain" for n in range(1, 5)]
    assert values(run_of(tmp_path, *rows), "train_loss") == [1.5, 2.5, 3.5, 4.5]


def test_a_stamp_without_a_year_stands_before_a_row(tmp_path: Path) -> None:
    """As mmengine prints it; a fraction is no day."""
    rows = [
        f"07/12 10:1{n}:12 - mmengine - INFO - "
        f"Epoch(train)   [3][ {n}50/1000]  lr: 2.0e-03  loss: 0.{n}"
        for n in (2, 3)
    ]
    run = run_of(tmp_path, *rows)
    assert steps(run, "train_loss") == [2250, 2350]
    assert set(run.history.metrics) == {"train_loss", "learning_rate"}
    rows = [f"07/12 loss: 0.{n}" for n in (2, 3)]
    assert steps(run_of(tmp_path, *rows), "train_loss") != [2250, 2350]


@pytest.mark.parametrize("batches", [1, 2])
def test_the_mean_of_an_epoch_is_one_whatever_it_is_called(tmp_path: Path, batches: int) -> None:
    """The example of a VAE; where there is but one row an epoch the same name is the same curve."""
    lines = [
        line
        for n in (1, 2, 3)
        for line in (
            *(
                f"Train Epoch: {n} [{b * 300}/600 ({b * 50}%)]\tLoss: {n}{b}.5"
                for b in range(batches)
            ),
            f"====> Epoch: {n} Average loss: {n}7.2",
            f"====> Test set loss: {n}9.1",
        )
    ]
    run = run_of(tmp_path, *lines)
    assert values(run, "train_loss_epoch") == [17.2, 27.2, 37.2]
    assert values(run, "eval_loss") == [19.1, 29.1, 39.1]
    assert len(run.curve("train_loss")) == 3 * batches
    same = [line.replace("Average loss", "Loss") for line in lines]
    means = "train_loss_epoch" in run_of(tmp_path, *same).history.metrics
    assert means == (batches > 1)


def test_rows_of_both_data_stand_below_a_bar_with_the_loss_of_each_batch(tmp_path: Path) -> None:
    """The training loss among them is that of the epoch; one alone is what the bar showed."""
    lines = ["Loading"]
    for n in (1, 2, 3):
        lines += [
            f"Epoch {n}/3: {k:3d}%|###   | {k}/100 [00:0{k // 20}<00:05, 9it/s, loss={n + k / 200}]"
            for k in (25, 50, 75, 100)
        ]
        lines += [f"train loss 0.{n} valid loss 0.{n}5"]
    run = run_of(tmp_path, *lines)
    assert values(run, "eval_loss") == [0.15, 0.25, 0.35]
    assert values(run, "train_loss_epoch") == [0.1, 0.2, 0.3]
    assert len(run.curve("train_loss")) == 12
    alone = [line.partition(" valid")[0] for line in lines]
    assert set(run_of(tmp_path, *alone).history.metrics) == {"train_loss"}


def test_few_rows_that_name_nothing_but_both_data(tmp_path: Path) -> None:
    """How many examples there are of each is no measure."""
    rows = ["My results:", *(f"- Epoch {n}: train 2.{n}1, val 2.3{n}" for n in (1, 2, 3)), "- ..."]
    run = run_of(tmp_path, *rows, "- Epoch 20: train 0.22, val 3.91")
    assert [len(run.curve(name)) for name in run.history.metrics] == [4, 4]
    assert steps(run, next(iter(run.history.metrics))) == [1, 2, 3, 20]
    folds = (f"Epoch {n}: train {800 + n}, val {200 - n}" for n in (1, 2, 3))
    assert names_of(tmp_path, *folds) == set()


def test_an_excerpt_of_little_else_than_rows_that_count(tmp_path: Path) -> None:
    """Whatever their names, if all was computed; what took time, or was counted, is no curve."""
    rows = [f"it {n}00  recon 0.2{n}11  adv 0.{n}931" for n in (1, 2, 3)]
    run = run_of(tmp_path, "<pre>", *rows, "</pre>")
    assert values(run, "recon") == [0.2111, 0.2211, 0.2311]
    assert steps(run, "adv") == [100, 200, 300]
    assert names_of(tmp_path, *(f"it {n}00  files {n}3  dirs {n}" for n in (1, 2, 3))) == set()
    assert names_of(tmp_path, *(f"it {n}00  took 0.{n}3" for n in (1, 2, 3))) == set()
    assert names_of(tmp_path, *rows[:2]) == set()


def test_a_single_row_of_two_computed_numbers(tmp_path: Path) -> None:
    """One of them is a loss; a loss in a sentence is none."""
    run = run_of(tmp_path, "RuntimeWarning: overflow", "iter 4200 | loss 6.9078 | grad norm 0.0000")
    assert steps(run, "train_loss") == [4200]
    assert names_of(tmp_path, "see iter 4200 where loss 6 has files 3") == set()


def test_items_of_a_list_number_no_rows(tmp_path: Path) -> None:
    """Where a counter stands behind; else they count."""
    rows = [f"{n}. epoch {n} → loss 0.9{n}, dice 0.1{n}" for n in (1, 2, 3)]
    run = run_of(tmp_path, *rows)
    assert set(run.history.metrics) == {"train_loss", "dice"}
    rows = [f"{n}. loss 0.9{n}, dice 0.1{n}" for n in (1, 2, 3)]
    assert values(run_of(tmp_path, *rows), "train_loss") == [0.91, 0.92, 0.93]


def test_how_long_a_row_took_is_no_second_value(tmp_path: Path) -> None:
    """Set off by its unit; numbers of one unit are a list."""
    rows = [f"#{n:02d} RMSE(train)=1.{n} RMSE(probe)=1.{n}5 [1.{n}s]" for n in range(6)]
    assert len(names_of(tmp_path, *rows)) == 2
    rows = [f"#{n:02d} RMSE(train)=1.{n} times=[1.{n}s, 2.{n}s]" for n in range(6)]
    assert len(names_of(tmp_path, *rows)) == 3


def test_rows_by_turns_are_told_apart_by_their_words(tmp_path: Path) -> None:
    """Behind what counts without a name, or below a heading; one that comes now and then is not."""
    rows = [f"[{n}/8] {who}: loss=0.{n}" for n in range(1, 9) for who in ("teacher", "student")]
    run = run_of(tmp_path, *rows)
    assert steps(run, "teacher loss") == steps(run, "student loss") == list(range(1, 9))
    assert run.state.planned_steps == 8
    sets = [
        line
        for n in (1, 2, 3)
        for line in (
            f"=== Epoch {n} ===",
            f"train: avg_loss=1.{n}",
            f"dev-clean: wer=0.{n} cer=0.1{n}",
            f"dev-other: wer=0.{n}5 cer=0.2{n}",
        )
    ]
    run = run_of(tmp_path, *sets)
    found = {name: values(run, name) for name in run.history.metrics}
    assert [0.1, 0.2, 0.3] in found.values()
    assert [0.15, 0.25, 0.35] in found.values()
    now = [f"[{n}/8] {'slow' if n in {2, 5} else 'fast'}: loss=0.{n}" for n in range(1, 9)]
    assert steps(run_of(tmp_path, *now), "train_loss") == list(range(1, 9))


def test_a_client_is_no_measure(tmp_path: Path) -> None:
    """The number of one that trains; what it has is."""
    rows = [
        line
        for n in range(1, 5)
        for line in (
            f"--- Communication Round {n}/4 ---",
            *(f"Client {c} local loss: {n}.{c}" for c in (3, 7)),
            f"Global test accuracy: 0.{n}, test loss: 1.{n}",
        )
    ]
    names = names_of(tmp_path, *rows)
    assert "Client" not in names
    assert "train_loss" in names  # where no better one is logged


def test_means_of_both_data_that_no_batch_tells(tmp_path: Path) -> None:
    """ESPnet's ends of epochs, its batches left out; where they are there they are the training."""
    head = "[c04] 2021-04-05 1{n}:00:00,123 (trainer:338) INFO: "
    ends = (
        "{n}epoch results: [train] loss=8{n}.5, time=2 minutes and 1.2 seconds, total_count=4, "
        "[valid] loss=9{n}.5, total_count=2"
    )
    run = run_of(tmp_path, *((head + ends).replace("{n}", str(n)) for n in (1, 2, 3)))
    assert values(run, "train_loss") == [81.5, 82.5, 83.5]
    assert values(run, "eval_loss") == [91.5, 92.5, 93.5]
    assert not any("minutes" in name for name in run.history.metrics)
    batches = "{n}epoch:train:1-100batch: loss=7{n}.5"
    both = ((head + line).replace("{n}", str(n)) for n in (1, 2, 3) for line in (batches, ends))
    assert values(run_of(tmp_path, *both), "train_loss") == [71.5, 72.5, 73.5]


@pytest.mark.parametrize(
    ("said", "epochs", "steps_planned"),
    [
        ("`Trainer.fit` stopped: `max_epochs=4` reached.", 4, None),
        ("`Trainer.fit` stopped: `max_steps=40` reached.", None, 40),
        ("`Trainer.fit` stopped: `max_time=4` reached.", None, None),
    ],
)
def test_what_was_reached_was_the_plan(
    tmp_path: Path, said: str, epochs: int | None, steps_planned: int | None
) -> None:
    """Lightning's last line says it, whatever stands above."""
    bars = [
        f"Epoch {n}: 100%|##########| 10/10 [00:12<00:00,  6.91it/s, loss=0.{9 - n}, v_num=3]"
        for n in range(4)
    ]
    run = run_of(tmp_path, *bars, said)
    assert (run.state.planned_epochs, run.state.planned_steps) == (epochs, steps_planned)


def test_a_pass_in_german_counts_with_its_plan(tmp_path: Path) -> None:
    """At the beginning of a line; a word for anything else that is done again is none."""
    rows = [
        f"Durchlauf {n} von 12: Trainingsfehler 1.{n} | Genauigkeit {n}5 %" for n in range(1, 6)
    ]
    run = run_of(tmp_path, *rows)
    assert run.state.planned_epochs == 12
    rows = [row.replace("Durchlauf", "Datei") for row in rows]
    assert run_of(tmp_path, *rows).state.planned_epochs is None


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ("converged", "finished"),
        ("Total time: 12 seconds", "finished"),
        ("Shrink model to first 1035 iterations.", "finished"),
        ("L-BFGS terminated with the stopping criteria", "finished"),
        ("not converged", "unknown"),
    ],
)
def test_ends_of_other_programs(tmp_path: Path, last: str, kind: str) -> None:
    """R's nnet, Mallet, CatBoost, CRFsuite."""
    rows = ["Data loaded.", *(f"iteration {n} loss: {9.0 / n:.3f}" for n in range(1, 8)), last]
    assert run_of(tmp_path, *rows).state.settled == kind


def test_a_title_names_the_numbers_below_it(tmp_path: Path) -> None:
    """As Flower prints its history, metrics of the same rounds beside it; until another text."""
    rounds = [f"INFO :      \t\tround {n}: 1.{9 - n}" for n in (1, 2, 3)]
    lines = ["INFO :      Starting Flower server", "INFO :      \tHistory (loss, distributed):"]
    metrics = "INFO :      {'accuracy': [(1, 0.26), (2, 0.39), (3, 0.47)]}"
    run = run_of(tmp_path, *lines, *rounds, "INFO :      History (metrics):", metrics)
    assert values(run, "train_accuracy") == [0.26, 0.39, 0.47]
    assert values(run, "train_loss") == [1.8, 1.7, 1.6]
    alone = run_of(tmp_path, lines[0], metrics.replace("(1,", "(0,"))
    dated = [f"2024-05-06 07:08:09,123 flwr {line.replace(' :', '')}" for line in (*lines, *rounds)]
    apart = ["{'accuracy': [(1, 0.26),", "              (2, 0.39),", "              (3, 0.47)]}"]
    logged = [*dated, *(f"{dated[0].partition('INFO')[0]}INFO \t{line}" for line in apart)]
    assert values(run_of(tmp_path, *logged), "train_accuracy") == [0.26, 0.39, 0.47]
    assert steps(alone, "train_accuracy") == [0, 2, 3]
    later = run_of(tmp_path, *lines, *rounds, metrics.replace("(1,", "(0,"))
    assert set(later.history.metrics) == {"train_loss"}
    rows = ["The loss of each epoch:", *(f"epoch {n}: 0.{n}" for n in range(1, 7))]
    assert names_of(tmp_path, *rows) == {"train_loss"}
    rows[3:3] = ["epoch 2 took: 12 s of 30"]
    assert len(values(run_of(tmp_path, *rows), "train_loss")) == 6
    rows[3:3] = ["Something else follows"]
    assert names_of(tmp_path, *rows) == {"column 2"}
    named = ["Loss:", *(f"epoch {n} dice: 0.{n}" for n in range(1, 7))]
    assert names_of(tmp_path, *named) == {"dice"}


def test_decimals_make_a_measure_of_few_rows(tmp_path: Path) -> None:
    """Whole ones of a sentence are none."""
    rows = [f"reward: {-200 + n % 2}.0" for n in range(4)]
    assert names_of(tmp_path, *rows) == {"reward"}
    assert names_of(tmp_path, *(row[:-2] for row in rows)) == set()


def test_units_with_a_slash_end_rows_with_names_behind(tmp_path: Path) -> None:
    """The last is a clock."""
    rows = [f"ep {n:>3}   2.{n} nats   4.{n}1 ppl   1{n} ms/step" for n in range(1, 6)]
    run = run_of(tmp_path, *rows)
    assert values(run, "nats") == [2.1, 2.2, 2.3, 2.4, 2.5]


def test_numbers_behind_a_step_of_so_many(tmp_path: Path) -> None:
    """In an excerpt of nothing else; one that was counted is no measure."""
    rows = [f"{n}00/1000: -{n}.2e+00" for n in range(1, 5)]
    run = run_of(tmp_path, "(venv) u@h:~/x$ ./train.sh", *rows)
    assert run.state.planned_steps == 1000
    assert [len(run.curve(name)) for name in run.history.metrics] == [4]
    assert names_of(tmp_path, *(f"{n}00/1000: {n}{n}7" for n in range(1, 5))) == set()


def test_numbers_with_arrows_between_are_a_list(tmp_path: Path) -> None:
    """What went from one to another is none."""
    run = run_of(tmp_path, "train_loss: 0.69 -> 0.68 -> 0.66", "val_loss: 0.69 → 0.7 → 0.74")
    assert values(run, "train_loss") == [0.69, 0.68, 0.66]
    assert values(run, "eval_loss") == [0.69, 0.7, 0.74]
    run = run_of(tmp_path, "train_loss: 0.69 -> 0.68", "layers: 3 -> 64 -> 128")
    assert values(run, "train_loss") == [0.69]
    assert set(run.history.metrics) == {"train_loss"}


def test_a_traceback_right_behind_a_row(tmp_path: Path) -> None:
    """Without an end between; one in a line by itself is none of the row."""
    rows = [f"Episode {n}00   Average Score: -{n}.25" for n in (1, 2, 3)]
    raised = ["Traceback (most recent call last):", "ValueError: too many values to unpack"]
    for lines in ([*rows[:2], rows[2] + raised[0], raised[1]], [*rows, *raised]):
        run = run_of(tmp_path, *lines)
        assert values(run, "reward") == [-1.25, -2.25, -3.25]
        assert run.state.kind == "crashed"


def test_few_rows_of_both_data_that_count_nothing(tmp_path: Path) -> None:
    """In an excerpt of little else; how many there are of each is no measure."""
    run = run_of(tmp_path, "# A", *(f"train: 1.{n} valid: 1.3{n}" for n in (3, 2, 1)))
    assert [len(run.curve(name)) for name in run.history.metrics] == [3, 3]
    assert names_of(tmp_path, *(f"train: {n}800 valid: {n}200" for n in (3, 2, 1))) == set()


def test_the_label_of_a_bar_counts_behind_its_data(tmp_path: Path) -> None:
    """``Train 3``; a number before more words is no epoch."""
    bars = [
        f"{{}} {n}{{}}: 100%|##########| 50/50 [00:05<00:00,  9.1it/s, loss=0.{9 - n}]"
        for n in range(4)
    ]
    run = run_of(tmp_path, *(bar.format("Train", "") for bar in bars))
    assert values(run, "train_loss") == [0.9, 0.8, 0.7, 0.6]
    assert steps(run, "train_loss") == [50, 100, 150, 200]
    other = run_of(tmp_path, *(bar.format("Train", " models") for bar in bars))
    assert steps(other, "train_loss") != [50, 100, 150, 200]


def test_a_cell_of_two_names_and_one_number_is_one_value() -> None:
    """Two blanks in a head part names where as many numbers stand below."""
    names = head("| epoch | val  loss | acc |")
    one, two = row("| 3 | 1.5 | 0.3 |", names), row("| 3 | 1.2  1.5 | 0.3 |", names)
    assert one is not None
    assert two is not None
    assert [slot.value for slot in one[1]] == [3.0, 1.5, 0.3]
    assert [slot.value for slot in two[1]] == [3.0, 1.2, 1.5, 0.3]


@pytest.mark.parametrize(
    "moved", ["({a} --> {b}).  Saving model ...", "{a} -> {b}", "from {a} to {b}"]
)
@pytest.mark.parametrize("stamped", ["", "[2022-03-01 10:00:00] - "])
def test_how_far_a_loss_fell_is_said_again(tmp_path: Path, moved: str, stamped: str) -> None:
    """Below its row; alone, the second number is that of now."""
    above = ["inf", *(f"{2 / n:.4f}" for n in range(1, 9))]
    rows = [f"Epoch {n} train loss {3 / n:.3f} val loss {2 / n:.4f}" for n in range(1, 9)]
    said = [
        f"{stamped}Validation loss decreased {moved.format(a=a, b=2 / n)}"
        for n, a in enumerate(above[:-1], 1)
    ]
    both = run_of(tmp_path, *(line for some in zip(rows, said, strict=True) for line in some))
    assert set(both.history.metrics) == {"train_loss", "eval_loss"}
    assert values(both, "eval_loss") == [round(2 / n, 4) for n in range(1, 9)]
    alone = run_of(tmp_path, *said)
    assert values(alone, "eval_loss") == pytest.approx([2 / n for n in range(1, 9)])


def test_of_how_many_the_best_count_is_no_number(tmp_path: Path) -> None:
    """Where the words behind it have their own."""
    rows = [f"Epoch {n} - metric top 5 head: 0.{n}1, lr: 0.001" for n in range(1, 9)]
    run = run_of(tmp_path, *rows)
    assert values(run, "metric top5 head")[0] == 0.11
    assert "metric top" not in run.history.metrics
    rows = [f"Epoch {n} - metric top 5 head: 0.{n}1" for n in range(1, 9)]
    assert values(run_of(tmp_path, *rows), "metric top 5 head")[0] == 0.11
    rows = [f"Epoch {n} - top {n + 30} bottom {n + 11}, loss: 0.{n}1" for n in range(1, 9)]
    assert values(run_of(tmp_path, *rows), "top")[0] == 31


def test_a_word_that_has_loss_in_it_names_none(tmp_path: Path) -> None:
    """Numbers below it are of something else."""
    rows = [f"iteration {n} loss {9 - n}" for n in range(8)]
    names = ["name:  apple-blossoms-pie", "0.03 0.05"] * 40
    assert names_of(tmp_path, *rows, *names, *rows[-1:]) == {"train_loss"}
    assert head("sample glossary", "") is None
    assert head("sample gloss", "") is not None


def test_what_a_program_returns_is_no_reward(tmp_path: Path) -> None:
    """Its source stands in the log: ``return 28;``."""
    rows = [f"Local error rate: 0.{n}" for n in range(1, 9)]
    code = ["int f(int n) {", "  if (n) return 28;", "  return 7; // or 9", "}", "return -1; }"] * 9
    assert "reward" not in names_of(tmp_path, *rows, *code, *rows)
    played = [f"episode {n} return {n * 1.5}" for n in range(1, 9)]
    assert "reward" in names_of(tmp_path, *played)


def test_a_table_of_markdown_may_have_a_column_of_remarks(tmp_path: Path) -> None:
    """An empty cell at the end is one, and a remark with numbers says nothing of its row."""
    table = [
        "| Epoch | Train Loss | Val Loss | Notes |",
        "|---|---|---|---|",
        "| 1 | — | **3.148** | start |",
        "| 2 | 0.493 | **0.629** | ⭐ lowest |",
        "| 3 | 0.343 | 0.679 | |",
        "| 4 | 0.140 | 0.733 | Early Stop 1/2 |",
        "| 5 | 0.114 | 0.784 | |",
    ]
    run = run_of(tmp_path, *table)
    assert values(run, "train_loss") == [0.493, 0.343, 0.14, 0.114]
    assert values(run, "eval_loss") == [3.148, 0.629, 0.679, 0.733, 0.784]
    assert steps(run, "eval_loss") == [1, 2, 3, 4, 5]


def test_a_cell_with_a_range_does_not_spoil_its_row(tmp_path: Path) -> None:
    """Both ends of the range are read, and what stands beside them."""
    rows = [f"| {n}00 | 0.0{9 - n}–0.{20 - n} | {1 / n:.3f} |" for n in range(1, 6)]
    run = run_of(tmp_path, "| Step | Loss | Grad Norm |", "|---|---|---|", *rows)
    assert values(run, "train_loss") == [0.08, 0.07, 0.06, 0.05, 0.04]
    assert values(run, "grad_norm") == [1.0, 0.5, 0.333, 0.25, 0.2]


@pytest.mark.parametrize("word", ["epoch", "ep", "Ep:", "ep="])
def test_an_evaluation_on_a_line_of_its_own_is_of_the_epoch_above(
    tmp_path: Path, word: str
) -> None:
    """However the epoch is called."""
    rows = []
    for n in range(20):
        rows.append(f"{word} {n}, total_loss: {2.5 / (n + 1):.3f}, acc: {0.5 + n / 100:.3f}")
        rows += [f"val_loss: {2.6 / (n + 1):.3f}"] * (n % 5 == 4)
    run = run_of(tmp_path, *rows)
    assert steps(run, "train_loss") == list(range(20))
    assert steps(run, "eval_loss") == [4, 9, 14, 19]


@pytest.mark.parametrize("head_", ["epoch-{n}", "Epoch({n})", "Epoch: [{n}]", "Train Epoch: {n}"])
def test_an_epoch_is_one_in_whatever_brackets(tmp_path: Path, head_: str) -> None:
    """Each fourth has an evaluation, which is of its epoch, and no row of training is lost."""
    rows = []
    for n in range(1, 21):
        rows.append(f"{head_.format(n=n)} -> loss {2.5 / n:.4f}")
        rows += [f"val_loss: {2.6 / n:.4f}"] * (n % 4 == 0)
    run = run_of(tmp_path, *rows)
    assert steps(run, "train_loss") == list(range(1, 21))
    assert steps(run, "eval_loss") == [4, 8, 12, 16, 20]


def test_a_number_without_a_name_above_an_evaluation_is_read(tmp_path: Path) -> None:
    """It is of the training; where it has a name it is that."""
    rows = []
    for n in range(1, 13):
        rows.append(f"Epoch {n}: {2.5 / n:.4f}")
        rows += [f"val_loss: {2.6 / n:.4f}"] * (n % 4 == 0)
    run = run_of(tmp_path, *rows)
    assert steps(run, "column 2") == list(range(1, 13))
    assert steps(run, "eval_loss") == [4, 8, 12]
    named = [row.replace(": ", ": loss ", 1) if "Epoch" in row else row for row in rows]
    assert steps(run_of(tmp_path, *named), "train_loss") == list(range(1, 13))


def test_a_row_of_another_width_is_none_of_its_table() -> None:
    """Nor is one that lacks a cell in the middle of its frame."""
    names = head("| Epoch | Loss | Acc |")
    assert row("| 1 | 0.5 | 0.9 |", names)
    assert not row("| 1 | 0.5 |", names)
